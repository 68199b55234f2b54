# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AllReduce: every rank gets the sum (max, min, average) over all ranks."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import nereid
from nereid.ops.all_reduce.kernel import one_shot_kernel, ring_kernel, two_shot_kernel
from nereid.ops.core import arrays, choice
from nereid.ops.core.epilogue import checked_epilogue, named
from nereid.ops.core.group import Group
from nereid.ops.core.operator import Call, Operator, Plan, block_elements, known_dtype, make_plan, most_pieces, piece_elements, positive
from nereid.ops.core.reductions import accumulator

KERNELS = {"one_shot": one_shot_kernel, "one_shot_pull": one_shot_kernel, "two_shot": two_shot_kernel, "ring": ring_kernel}


class AllReduce(Operator):
    """``AllReduce(max_elements, dtype)(x) -> an array of x's shape``, on all ranks the same bits.

    x: any shape, contiguous; more than `max_elements` are reduced in rounds. Parts are added in the
    order of the ranks: 16-bit and 32-bit floats in fp32, fp64 in fp64, integers in their own type,
    wrapping. `op`: "sum", "max", "min" (a NaN in any part is in the result), "avg" (floats).
    `algorithm`: "one_shot", "one_shot_pull", "two_shot", "ring" (parts are added in the order of the ring) or "auto", which
    never takes the ring. `epilogue`: a device function of the result, (value, offs, mask, extra_ptr) -> value
    (nereid.ops.core.epilogue), `extra` of a call is its array.
    """

    @classmethod
    def memory_for(cls, ranks: int, max_elements: int, dtype: Any, algorithm: str = "auto") -> int:
        """Bytes of payload on each rank, signals not counted."""
        size = arrays.SIZES[arrays.dtype_name(dtype)]
        part = -(-max_elements // ranks)
        if algorithm == "ring":
            return 2 * (2 * ranks - 1) * part * arrays.SIZES[accumulator("AllReduce", "sum", arrays.dtype_name(dtype))]
        return 2 * size * max(ranks * max_elements if algorithm in ("auto", "one_shot") else 0,
                              2 * ranks * part if algorithm in ("auto", "two_shot") else 0,
                              max_elements)

    @classmethod
    def trials(cls, ranks: int, nbytes: int) -> dict[str, Any]:
        def trial(algorithm: str) -> Any:
            x = np.ones(max(1, nbytes // 4), np.float32)
            op, out = cls(x.size, "float32", algorithm=algorithm), np.empty_like(x)
            return op, lambda: op(x, out=out)

        return {name: functools.partial(trial, name) for name in ("one_shot", "one_shot_pull", "two_shot")}

    def __init__(self, max_elements: int, dtype: Any = "float32", *, op: str = "sum", algorithm: str = "auto",
                 epilogue: Any = None, group: Any = None, programs: int | None = None):
        name = known_dtype("AllReduce", arrays.dtype_name(dtype))
        self._acc = accumulator("AllReduce", op, name)
        positive("AllReduce", max_elements=max_elements)
        if algorithm not in ("auto", *KERNELS):
            raise nereid.ArgumentError(f"AllReduce: algorithm is auto, {', '.join(KERNELS)}, not {algorithm!r}")
        self.op, self.algorithm, self.max_elements = op, algorithm, int(max_elements)
        self._epilogue = checked_epilogue("AllReduce", epilogue)
        #: What travels, by the ring unrounded sums.
        self.wire = self._acc if algorithm == "ring" else name
        self._size = arrays.SIZES[self.wire]
        self._max_pieces = most_pieces(self.max_elements * self._size)
        super().__init__(
            group, f"AllReduce {op} max_elements={max_elements} {name} {algorithm}{named(epilogue)}", name, programs,
            lambda g: 4 * g.size * self._max_pieces, lambda g: self.memory_for(g.size, max_elements, name, algorithm))
        if algorithm == "one_shot_pull" and self.group.reach == "put":
            raise self.fail("algorithm='one_shot_pull' does not reach other nodes; take one_shot or two_shot")
        self._payload = self._workspace.payload(self.wire)
        self._capacity = self.memory_for(self.group.size, max_elements, name, algorithm) // self._size // 2

    def plan(self, elements: int) -> Plan:
        """For a call with so many elements; a longer one takes rounds of max_elements."""
        elements = min(elements, self.max_elements)
        plan = self._plans.get(elements)
        if plan is None:
            plan = self._plans[elements] = self._make_plan(elements)
        return plan

    def _make_plan(self, elements: int) -> Plan:
        n, me, reach = self.group.size, self.group.me, self.group.reach
        nbytes = elements * self._size
        if self.algorithm != "auto":
            chosen = choice.Choice(self.algorithm, "asked for")
        else:
            alpha, beta = choice.machine()
            # What a rank reads or writes, in contributions; two-shot within a node: sends all parts but its own, reads
            # one of each, keeps the sum, fetches the others.
            costs = {"one_shot": alpha + (2 * n - 1) * nbytes / beta,
                     "one_shot_pull": alpha + (n + 1) * nbytes / beta + n * alpha / 4,
                     "two_shot": 2 * alpha + ((4 * n - 2) if reach == "put" else (3 * n - 1)) / n * nbytes / beta}
            if reach == "put":
                del costs["one_shot_pull"]
            chosen = choice.measured("AllReduce", n, nbytes, tuple(costs)) or choice.cheapest(costs)
        common = dict(OP=self.op, EPILOGUE=self._epilogue, ACC=arrays.language_dtype(self._acc), REACH=reach)
        sizes = dict(me=me, n=n, size=elements, max_pieces=self._max_pieces, capacity=self._capacity)
        if chosen.name in ("two_shot", "ring"):
            part = -(-elements // n)
            sizes.update(part=part, piece=piece_elements(part * self._size, self._size, self.programs))
            common.update(BLOCK=block_elements(part))
            sent = 2 * (n - 1) * part * self._size
        else:
            sizes.update(piece=piece_elements(nbytes, self._size, self.programs))
            common.update(BLOCK=block_elements(elements), DIRECTION="pull" if chosen.name == "one_shot_pull" else "push")
            sent = (n - 1) * nbytes
        return make_plan(f"AllReduce {self.op} {elements} x {self.dtype} {chosen.name}", chosen.name, chosen.reason, self.programs,
                    sent, common, sizes)

    def explain(self, x: Any) -> str:
        return self.plan(arrays.count(arrays.facts(x, "AllReduce", "x").shape)).explain()

    def __call__(self, x: Any, out: Any = None, *, extra: Any = None) -> Any:
        call = self._find(x, out, extra)
        if call is None:
            call = self._checked(x, out, extra)
        if out is None:
            out = arrays.new(call.shape, call.dtype, x)
        if call.launch is None:
            self._rounds(x, out)
        else:
            self._run(call, x, out, extra)
        return out

    def _checked(self, x: Any, out: Any, extra: Any) -> Call:
        facts = self._input(x, "x")
        self._check_extra(self._epilogue, extra)
        in_place = self.group.reach != "put" or self.algorithm in ("two_shot", "ring")
        if out is x and not in_place:
            raise self.fail("out=x between nodes needs algorithm='two_shot' or 'ring': a put may read x after it was overwritten")
        self._output(out, facts.shape, x, in_place=in_place)
        elements = arrays.count(facts.shape)
        plan = self.plan(elements)
        if elements > self.max_elements:
            if self._epilogue is not None:
                raise self.fail(f"x has {elements} elements, with an epilogue at most {self.max_elements}; make it with "
                                f"max_elements={elements}")
            call = Call(plan, None, facts.shape, self.dtype)
        else:
            call = self._prepared(KERNELS[plan.algorithm], plan, ("x_ptr", "out_ptr", "extra_ptr"), facts.shape)
        self._calls.add(call, x, out, extra)
        return call

    def _rounds(self, x: Any, out: Any) -> None:
        elements = arrays.count(tuple(x.shape))
        for first in range(0, elements, self.max_elements):
            last = min(first + self.max_elements, elements)
            self(arrays.piece(x, first, last), arrays.piece(out, first, last))
