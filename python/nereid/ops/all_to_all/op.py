# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AllToAll: block t of every rank's array goes to rank t."""

from __future__ import annotations

from typing import Any

import numpy as np

import nereid
from nereid.ops.all_to_all.kernel import all_to_all_kernel, all_to_all_splits_kernel
from nereid.ops.core import arrays
from nereid.ops.core.operator import Call, Operator, Plan, block_elements, known_dtype, make_plan, most_pieces, piece_elements, positive


class AllToAll(Operator):
    """``AllToAll(max_rows, columns, dtype)(x) -> y``, both (ranks, rows, columns) with rows <= max_rows:
    ``y[s]`` is block r of rank s's x, on rank r.

    With ``splits``, an int64 array with the rows for each rank (each at most max_rows), x is (sum of
    splits, columns) and the result ``(y, received)``: received[s] rows from rank s, packed in
    y, (ranks * max_rows, columns), by source. What stands behind them in y is undefined.
    `out` takes the result, with splits ``(y, received)``; ``view=True`` (without splits) returns
    the operator's own memory, valid until its next call on this rank.
    """

    _dtypes = {1: "int64"}

    @classmethod
    def memory_for(cls, ranks: int, max_rows: int, columns: int, dtype: Any) -> int:
        """Bytes of payload on each rank, signals not counted: 2 halves of all ranks' blocks."""
        return 2 * ranks * max_rows * columns * arrays.SIZES[arrays.dtype_name(dtype)]

    def __init__(self, max_rows: int, columns: int, dtype: Any = "float32", *, group: Any = None,
                 programs: int | None = None):
        name = known_dtype("AllToAll", arrays.dtype_name(dtype))
        positive("AllToAll", max_rows=max_rows, columns=columns)
        self.max_rows, self.columns = int(max_rows), int(columns)
        self._size = arrays.SIZES[name]
        self._block = self.max_rows * self.columns
        self._max_pieces = most_pieces(self._block * self._size)
        super().__init__(
            group, f"AllToAll max_rows={max_rows} columns={columns} {name}", name, programs,
            lambda g: 2 * g.size * self._max_pieces, lambda g: self.memory_for(g.size, max_rows, columns, name))
        self._payload = self._workspace.payload(name)
        self._splits: Call | None = None  # for calls with splits

    def plan(self, rows: int | None, view: bool = False) -> Plan:
        """For blocks of `rows` rows; None: with splits."""
        plan = self._plans.get((rows, view))
        if plan is not None:
            return plan
        n = self.group.size
        size = self._block if rows is None else rows * self.columns
        sizes = dict(me=self.group.me, n=n, piece=piece_elements(size * self._size, self._size, self.programs),
                     max_pieces=self._max_pieces, capacity=n * self._block)
        constants: dict[str, Any] = dict(REACH=self.group.reach, BLOCK=block_elements(size))
        if rows is None:
            sizes.update(columns=self.columns, block=self._block)
        else:
            sizes.update(size=size)
            constants.update(VIEW=view)
        what = "splits" if rows is None else f"rows={rows}"
        plan = self._plans[rows, view] = make_plan(
            f"AllToAll {what} columns={self.columns} {self.dtype}{' view' if view else ''}", "push", "the only one",
            self.programs, (n - 1) * size * self._size, constants, sizes)
        return plan

    def explain(self, x: Any, splits: Any = None) -> str:
        return self.plan(arrays.facts(x, "AllToAll", "x").shape[1] if splits is None else None).explain()

    def __call__(self, x: Any, splits: Any = None, out: Any = None, *, view: bool = False) -> Any:
        if splits is not None:
            if view:
                raise self.fail("view=True is for calls without splits: with splits rows must be packed")
            return self._with_splits(x, splits, out)
        return self._call_or_view(x, out, view, self.group.size * self._block)

    def _checked(self, x: Any, out: Any, view: bool) -> Call:
        facts, n = self._input(x, "x"), self.group.size
        if len(facts.shape) != 3 or facts.shape[0] != n or facts.shape[2] != self.columns:
            raise self.fail(f"x has the shape {facts.shape}, wanted is ({n}, rows, {self.columns})")
        rows = facts.shape[1]
        if rows > self.max_rows:
            raise self.fail(f"x has {rows} rows for each rank, this operator was made for at most {self.max_rows}; "
                            f"make it with max_rows={rows}")
        self._output(out, facts.shape, x)
        call = self._prepared(all_to_all_kernel, self.plan(rows, view), ("x_ptr", "out_ptr"), facts.shape)
        self._calls.add(call, x, out, view)
        return call

    def _with_splits(self, x: Any, splits: Any, out: Any) -> tuple[Any, Any]:
        facts, n = self._input(x, "x"), self.group.size
        described = arrays.facts(splits, "AllToAll", "splits")
        if described.shape != (n,) or described.dtype != "int64" or not described.contiguous:
            raise self.fail(f"splits is a contiguous int64 array of {n} numbers, one for each rank, but it has the shape "
                            f"{described.shape} and the dtype {described.dtype}")
        rows = arrays.values(splits)
        if rows.min() < 0 or rows.max() > self.max_rows:
            raise self.fail(f"splits are {rows.tolist()}, each may be 0 to {self.max_rows}; make it with "
                            f"max_rows={max(int(rows.max()), 1)} or split otherwise")
        if facts.shape != (int(rows.sum()), self.columns):
            raise self.fail(f"x has the shape {facts.shape}, the splits ask for ({int(rows.sum())}, {self.columns})")
        shape = (n * self.max_rows, self.columns)
        if out is None:
            out, received = arrays.new(shape, self.dtype, x), arrays.new((n,), "int64", x)
        else:
            if not isinstance(out, tuple) or len(out) != 2:
                raise self.fail("with splits out is a tuple of two arrays, for the rows and for the numbers received")
            out, received = out
            self._output(out, shape, x, splits)
            self._output(received, (n,), x, splits, out, dtype="int64", name="the second of out")
        if self._splits is None:
            self._splits = self._prepared(all_to_all_splits_kernel, self.plan(None),
                                          ("x_ptr", "splits_ptr", "out_ptr", "received_ptr"), shape)
        self._run(self._splits, x, splits, out, received)
        return out, received
