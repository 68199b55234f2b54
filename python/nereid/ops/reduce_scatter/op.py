# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ReduceScatter: every rank gets its rows of the sum over all ranks."""

from __future__ import annotations

from typing import Any

import nereid
from nereid.ops.core import arrays, choice
from nereid.ops.core.group import Group
from nereid.ops.core.operator import Call, Operator, Plan, block_elements, known_dtype, make_plan, most_pieces, piece_elements
from nereid.ops.core.reductions import accumulator
from nereid.ops.core.shards import Shards, checked_shape, equal_shares
from nereid.ops.reduce_scatter.kernel import reduce_scatter_kernel


class ReduceScatter(Operator):
    """``ReduceScatter(rows, row_shape, dtype)(x) -> (rows, *row_shape)``.

    x: (ranks * rows, *row_shape) on every rank. Part r of the rows, summed over all ranks in their
    order, is the result on member r. `rows_of`: every rank's rows where they differ. 16-bit
    and 32-bit floats are summed in fp32, fp64 in fp64, integers in their own type, wrapping.
    `op`: "sum", "max", "min", "avg" (floats). `wire`: the dtype in which parts travel,
    "bfloat16" halves the traffic of fp32 and rounds every part once; one node only.
    """

    @classmethod
    def memory_for(cls, ranks: int, rows: int, row_shape: tuple[int, ...], dtype: Any, rows_of: Any = None,
                   wire: Any = None) -> int:
        """Bytes of payload on each rank, signals not counted: 2 halves of all ranks' parts."""
        shards = Shards("ReduceScatter", ranks, rows, rows_of)
        return 2 * ranks * shards.most * arrays.count(tuple(row_shape)) * arrays.SIZES[arrays.dtype_name(wire or dtype)]

    def __init__(self, rows: int, row_shape: tuple[int, ...] = (), dtype: Any = "float32", *, op: str = "sum",
                 wire: Any = None, rows_of: Any = None, group: Any = None, programs: int | None = None):
        name = known_dtype("ReduceScatter", arrays.dtype_name(dtype))
        self._acc = accumulator("ReduceScatter", op, name)
        self.wire = arrays.dtype_name(wire or name)
        if self.wire != name and not (self.wire in arrays.FLOATS and name in arrays.FLOATS):
            raise nereid.ArgumentError(f"ReduceScatter: {name} cannot travel as {self.wire}; wire is for floats")
        nereid.init()
        self.group = Group.of(group)
        if self.wire != name and self.group.reach == "put":
            raise nereid.ArgumentError(f"ReduceScatter: wire={self.wire!r} needs a group on one node; leave wire= out for a group of several")
        self.row_shape, self.op = checked_shape("ReduceScatter", "row_shape", row_shape), op
        self.shards = Shards("ReduceScatter", self.group.size, rows, rows_of)
        row = arrays.count(self.row_shape)
        size = arrays.SIZES[self.wire]
        most = self.shards.most * row
        self._max_pieces = most_pieces(most * size)
        super().__init__(
            self.group, f"ReduceScatter {op} {self.shards.text} row_shape={self.row_shape} {name} wire={self.wire}", name,
            programs, lambda g: 2 * g.size * self._max_pieces,
            lambda g: self.memory_for(g.size, rows, self.row_shape, name, rows_of, self.wire))
        self._starts = self.shards.table(row)
        self._payload = self._workspace.payload(self.wire)
        n, me = self.group.size, self.group.me
        self._plan = make_plan(
            self.text, "scatter", "the only one", self.programs,
            (self.shards.total - self.shards.rows[max(me, 0)]) * row * size,
            dict(OP=op, ACC=arrays.language_dtype(self._acc), REACH=self.group.reach, BLOCK=block_elements(most)),
            dict(me=me, n=n, piece=piece_elements(most * size, size, self.programs), max_pieces=self._max_pieces, capacity=most))

    def plan(self) -> Plan:
        return self._plan

    def explain(self, x: Any = None) -> str:
        return self._plan.explain()

    def __call__(self, x: Any, out: Any = None) -> Any:
        call = self._find(x, out)
        if call is None:
            call = self._checked(x, out)
        if out is None:
            out = arrays.new(call.shape, call.dtype, x)
        self._run(call, x, out)
        return out

    def _checked(self, x: Any, out: Any) -> Call:
        whole, n = arrays.facts(x, "ReduceScatter", "x").shape, self.group.size
        if whole[1:] == self.row_shape and whole and whole[0] != self.shards.total and whole[0] % n:
            raise self.fail(f"x has {whole[0]} rows, which {n} ranks cannot share equally; make it with "
                            f"rows_of={equal_shares(whole[0], n)} or pad")
        self._input(x, "x", (self.shards.total, *self.row_shape))
        shape = (self.shards.rows[max(self.group.me, 0)], *self.row_shape)
        self._output(out, shape, x)
        call = self._prepared(reduce_scatter_kernel, self._plan, ("x_ptr", "out_ptr"), shape, starts_ptr=self._starts)
        self._calls.add(call, x, out)
        return call
