# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What operators that multiply matrices share: dtypes, blocks, checks of a and b."""

from __future__ import annotations

import functools
from typing import Any, Callable, NamedTuple

import numpy as np

import nereid
from nereid._base import targets
from nereid.ops.core import arrays, choice
from nereid.ops.core.epilogue import checked_epilogue, named
from nereid.ops.core.group import Group
from nereid.ops.core.shards import is_number
from nereid.ops.core.operator import Call, Operator, Plan, known_dtype, positive


class Operands(NamedTuple):
    """Sizes and strides (in elements) of one call."""

    m: int  # rows of a
    n: int
    k: int
    stride_am: int
    stride_ak: int
    stride_bk: int
    stride_bn: int


def blocks_for(m: int, n: int, k: int, blocks: Any, dtype: Any) -> tuple[int, int, int]:
    """Rows, columns and inner size of a tile: the target's for this dtype, or smaller ones for small
    matrices."""
    if blocks is not None:
        if not isinstance(blocks, (tuple, list)) or len(blocks) != 3 or any(
                not is_number(size) or size < 16 or size & (size - 1) for size in blocks):
            raise nereid.ArgumentError(f"blocks are three powers of two from 16 on, not {blocks!r}")
        return tuple(int(size) for size in blocks)
    best = choice.table(targets.active())["blocks"][str(arrays.SIZES[arrays.dtype_name(dtype)])]
    return tuple(min(most, max(16, nereid.next_power_of_2(size))) for most, size in zip(best, (m, n, k)))


def options_for(dtype: Any) -> dict[str, Any]:
    """Launch options of kernels with such tiles, on targets that have some."""
    return choice.table(targets.active()).get("options", {}).get(str(arrays.SIZES[arrays.dtype_name(dtype)]), {})


def gemm_trials(kind: Any, option: str, names: tuple[str, ...], m: int, n: int, k: int, parts: int = 1) -> dict[str, Any]:
    """Operator.trials() of a product whose result has `parts` * m rows."""
    def trial(name: str) -> Any:
        op = kind(m, n, k, "float32", **{option: name})
        a, b, out = np.ones((m, k), np.float32), np.ones((k, n), np.float32), np.empty((parts * m, n), np.float32)
        return op, lambda: op(a, b, out=out)

    return {name: functools.partial(trial, name) for name in names}


class GemmOperator(Operator):
    """Base of operators with a (rows, k), b (k, n), or (n, k) with `trans_b`, and a result (rows, n)
    of `out_dtype`, by default that of a and b; `epilogue` (nereid.ops.core.epilogue), with the array `extra` of a call, makes of
    a tile what is written. Sums are made in fp32, for fp64 in fp64. Sizes of a call may be smaller than those that the
    operator was made for. a and b may have any strides."""

    def __init__(self, group: Any, text: str, m: int, n: int, k: int, dtype: str, out_dtype: Any, trans_b: bool,
                 blocks: Any, epilogue: Any, programs: int | None, signals: Callable[[Group], int],
                 payload: Callable[[Group], int]):
        self.n, self.k = int(n), int(k)
        self.trans_b = bool(trans_b)
        self.out_dtype = known_dtype(type(self).__name__, arrays.dtype_name(out_dtype or dtype), arrays.FLOATS)
        self.acc = arrays.ACCUMULATORS[dtype]
        self._epilogue = checked_epilogue(type(self).__name__, epilogue)
        super().__init__(group, text + named(epilogue), dtype, programs, signals, payload)

    @staticmethod
    def checked(operator: str, dtype: Any, **sizes: Any) -> str:
        """The name of the dtype, when the sizes are positive."""
        positive(operator, **sizes)
        return known_dtype(operator, arrays.dtype_name(dtype), arrays.FLOATS)

    def _constants(self, blocks: tuple[int, int, int]) -> dict[str, Any]:
        return dict(REACH=self.group.reach, ACC=arrays.language_dtype(self.acc), BLOCK_M=blocks[0], BLOCK_N=blocks[1],
                    BLOCK_K=blocks[2], GROUP_M=4, EPILOGUE=self._epilogue)

    def _operands(self, a: Any, b: Any, extra: Any = None) -> Operands:
        self._check_extra(self._epilogue, extra)
        first, second = arrays.facts(a, self.name, "a"), arrays.facts(b, self.name, "b")
        self._has_dtype(first, "a")
        self._has_dtype(second, "b")
        for facts, argument in ((first, "a"), (second, "b")):
            if len(facts.shape) != 2:
                raise self.fail(f"{argument} is a matrix, but its shape is {facts.shape}")
        (m, k), (bk, bn) = first.shape, second.shape
        stride_bk, stride_bn = second.strides
        if self.trans_b:
            bk, bn, stride_bk, stride_bn = bn, bk, stride_bn, stride_bk
        if k != bk:
            raise self.fail(f"a has {k} columns, b has {bk} {'columns' if self.trans_b else 'rows'}: "
                            "the inner sizes must agree")
        for size, most, what in ((bn, self.n, f"b has {bn} columns" if not self.trans_b else f"b has {bn} rows"),
                                 (k, self.k, f"a has {k} columns")):
            if not 1 <= size <= most:
                name = "n" if most is self.n and what.startswith("b") else "k"
                raise self.fail(f"{what}, this operator was made for 1 to {most} ({name}={most}); make it with {name}={size}"
                                if size else f"{what}: there is nothing to multiply")
        return Operands(m, bn, k, *first.strides, stride_bk, stride_bn)

    def explain(self, a: Any, b: Any) -> str:
        operands = self._operands(a, b)
        return self.plan(operands.m, operands.n, operands.k).explain()

    def __call__(self, a: Any, b: Any, out: Any = None, *, extra: Any = None) -> Any:
        call = self._find(a, b, out, extra)
        if call is None:
            call = self._checked(a, b, out, extra)
        if out is None:
            out = arrays.new(call.shape, call.dtype, a)
        self._run(call, a, b, out, extra)
        return out

    def _product(self, kernel: Any, plan: Plan, operands: Operands, rows: int, **fixed: Any) -> Call:
        """For calls whose result has `rows` rows."""
        _, n, _, *strides = operands
        given = dict(zip(("stride_am", "stride_ak", "stride_bk", "stride_bn"), strides))
        names = ("a_ptr", "b_ptr", "c_ptr", "extra_ptr", *(("gathered_ptr",) if "gathered_ptr" in kernel.arg_names else ()))
        return self._prepared(kernel, plan, names, (rows, n), self.out_dtype, options_for(self.dtype), stride_cm=n, stride_cn=1,
                              **given, **fixed)
