# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators as functions: ``nereid.ops.all_reduce(x)``.

Operators are kept by kind, group, dtype and what else cannot change; one whose sizes a call exceeds is
replaced by a larger one. Making and replacing is collective over the job, so all ranks of the job call these
functions alike: in the same order with the same sizes, those of other groups too.
"""

from __future__ import annotations

from typing import Any, Callable

import nereid
from nereid.ops.all_gather.op import AllGather
from nereid.ops.all_gather_gemm.op import AllGatherGemm
from nereid.ops.all_reduce.op import AllReduce
from nereid.ops.all_to_all.op import AllToAll
from nereid.ops.core import arrays
from nereid.ops.core.group import Group
from nereid.ops.core.operator import Operator
from nereid.ops.gemm_all_reduce.op import GemmAllReduce
from nereid.ops.gemm_reduce_scatter.op import GemmReduceScatter
from nereid.ops.reduce_scatter.op import ReduceScatter

#: Elements that the first AllReduce of a kind is made for.
_FEWEST = 1 << 16
_kept: dict[Any, tuple[tuple[int, ...], Operator]] = {}


def kept(kind: type, group: Any, fixed: tuple, sizes: tuple[int, ...], make: Callable[..., Operator]) -> Operator:
    """The operator of this kind, group and `fixed` properties that is large enough for `sizes`;
    ``make(group, *sizes)`` makes one. Collective over the job when there is none."""
    nereid.init()
    group = Group.of(group)
    key = (kind, group, fixed)
    have, op = _kept.get(key, (None, None))
    if op is not None and not op.usable:  # closed, of another process, or of a job that has ended
        have, op = None, None
    if op is None or any(size > most for size, most in zip(sizes, have)):
        if op is not None:
            sizes = tuple(max(size, most) for size, most in zip(sizes, have))
            op.close()
        _kept[key] = sizes, make(group, *sizes)
    return _kept[key][1]


def clear() -> None:
    """Closes all operators that are kept. Collective over the job."""
    for _, op in _kept.values():
        if op.usable:
            op.close()
    _kept.clear()


def _facts(array: Any, function: str, argument: str, dimensions: int) -> arrays.Facts:
    facts = arrays.facts(array, function, argument)
    if len(facts.shape) < dimensions:
        raise nereid.ArgumentError(f"{function}: {argument} needs {dimensions} dimension{'s' * (dimensions > 1)}, its shape is {facts.shape}")
    return facts


def all_gather(x: Any, *, group: Any = None, out: Any = None) -> Any:
    """The rows of all ranks, who pass equally many: (ranks * rows, ...)."""
    facts = _facts(x, "all_gather", "x", 1)
    return kept(AllGather, group, (facts.dtype, facts.shape), (),
                lambda g: AllGather(facts.shape[0], facts.shape[1:], facts.dtype, group=g))(x, out)


def reduce_scatter(x: Any, *, op: str = "sum", group: Any = None, out: Any = None) -> Any:
    """This rank's rows of the reduction of x (ranks * rows, ...) over all ranks."""
    facts, group = _facts(x, "reduce_scatter", "x", 1), _known(group)
    if facts.shape[0] % group.size:
        raise nereid.ArgumentError(f"reduce_scatter: x has {facts.shape[0]} rows, which {group.size} ranks cannot share equally; "
                                   "make nereid.ops.ReduceScatter with rows_of=, or pad")
    rows = facts.shape[0] // group.size
    return kept(ReduceScatter, group, (facts.dtype, facts.shape, op), (),
                lambda g: ReduceScatter(rows, facts.shape[1:], facts.dtype, op=op, group=g))(x, out)


def all_reduce(x: Any, *, op: str = "sum", group: Any = None, out: Any = None) -> Any:
    """The reduction of x over all ranks."""
    facts = _facts(x, "all_reduce", "x", 0)
    size = max(_FEWEST, nereid.next_power_of_2(max(1, arrays.count(facts.shape))))
    return kept(AllReduce, group, (facts.dtype, op), (size,), lambda g, most: AllReduce(most, facts.dtype, op=op, group=g))(x, out)


def all_to_all(x: Any, *, group: Any = None, out: Any = None) -> Any:
    """Block r of every rank's x (ranks, rows, columns), by rank."""
    facts = _facts(x, "all_to_all", "x", 3)
    return kept(AllToAll, group, (facts.dtype, facts.shape[2]), (max(1, facts.shape[1]),),
                lambda g, rows: AllToAll(rows, facts.shape[2], facts.dtype, group=g))(x, out=out)


def _product(kind: type, function: str, a: Any, b: Any, group: Any, out: Any, trans_b: bool, shares: bool, **options: Any) -> Any:
    group = _known(group)
    first, second = _facts(a, function, "a", 2), _facts(b, function, "b", 2)
    m = -(-first.shape[0] // group.size) if shares else first.shape[0]
    sizes = tuple(max(1, size) for size in (m, second.shape[0 if trans_b else 1], first.shape[1]))
    fixed = (first.dtype, trans_b, *sorted(options.items()))
    return kept(kind, group, fixed, sizes,
                lambda g, m, n, k: kind(m, n, k, first.dtype, trans_b=trans_b, group=g, **options))(a, b, out)


def all_gather_gemm(a: Any, b: Any, *, trans_b: bool = False, gathered: bool = False, group: Any = None, out: Any = None) -> Any:
    """All ranks' rows of A times b; with `gathered` also all of A."""
    return _product(AllGatherGemm, "all_gather_gemm", a, b, group, out, trans_b, False, gathered=gathered)


def gemm_reduce_scatter(a: Any, b: Any, *, trans_b: bool = False, group: Any = None, out: Any = None) -> Any:
    """This rank's rows of the sum over all ranks of a @ b."""
    return _product(GemmReduceScatter, "gemm_reduce_scatter", a, b, group, out, trans_b, True)


def gemm_all_reduce(a: Any, b: Any, *, trans_b: bool = False, group: Any = None, out: Any = None) -> Any:
    """The sum over all ranks of a @ b."""
    return _product(GemmAllReduce, "gemm_all_reduce", a, b, group, out, trans_b, False)


def _known(group: Any) -> Group:
    nereid.init()
    return Group.of(group)
