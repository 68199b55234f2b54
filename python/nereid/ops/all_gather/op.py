# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AllGather: every rank gets the rows of all."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import nereid
from nereid.ops.all_gather.kernel import all_gather_kernel
from nereid.ops.core import arrays, choice
from nereid.ops.core.group import Group
from nereid.ops.core.operator import Call, Operator, Plan, block_elements, known_dtype, make_plan, most_pieces, piece_elements
from nereid.ops.core.shards import Shards, checked_shape


class AllGather(Operator):
    """``AllGather(rows, row_shape, dtype)(x) -> (sum of all ranks' rows, *row_shape)``.

    x: (rows, *row_shape), this rank's rows. `rows_of`: every rank's rows where they differ.
    The rows of member 0 of the group come first. `out` takes the result; `view=True` returns the
    operator's own memory instead, valid until its next call on this rank (push only).
    `direction`: "push", "pull" or "auto". Bits are copied, never rounded.
    """

    @classmethod
    def memory_for(cls, ranks: int, rows: int, row_shape: tuple[int, ...], dtype: Any, rows_of: Any = None) -> int:
        """Bytes of payload on each rank, signals not counted: 2 halves of the whole result."""
        shards = Shards("AllGather", ranks, rows, rows_of)
        return 2 * shards.total * arrays.count(tuple(row_shape)) * arrays.SIZES[arrays.dtype_name(dtype)]

    @classmethod
    def trials(cls, ranks: int, nbytes: int) -> dict[str, Any]:
        def trial(direction: str) -> Any:
            x = np.ones(max(1, nbytes // 4), np.float32)
            op, out = cls(x.size, (), "float32", direction=direction), np.empty(x.size * ranks, np.float32)
            return op, lambda: op(x, out=out)

        return {name: functools.partial(trial, name) for name in ("push", "pull")}

    def __init__(self, rows: int, row_shape: tuple[int, ...] = (), dtype: Any = "float32", *, rows_of: Any = None,
                 group: Any = None, direction: str = "auto", programs: int | None = None):
        name = known_dtype("AllGather", arrays.dtype_name(dtype))
        if direction not in ("auto", "push", "pull"):
            raise nereid.ArgumentError(f"AllGather: direction is auto, push or pull, not {direction!r}")
        nereid.init()
        self.group = Group.of(group)
        self.row_shape = checked_shape("AllGather", "row_shape", row_shape)
        self.shards = Shards("AllGather", self.group.size, rows, rows_of)
        self.direction = direction
        row = arrays.count(self.row_shape)
        self._size = arrays.SIZES[name]
        self._max_pieces = most_pieces(self.shards.most * row * self._size)
        super().__init__(
            self.group, f"AllGather {self.shards.text} row_shape={self.row_shape} {name}", name, programs,
            lambda g: 2 * g.size * self._max_pieces,
            lambda g: self.memory_for(g.size, rows, self.row_shape, name, rows_of))
        self._starts = self.shards.table(row)
        self._total = self.shards.total * row
        self._payload = self._workspace.payload(name)
        self._result_shape = (self.shards.total, *self.row_shape)

    def plan(self, view: bool = False) -> Plan:
        plan = self._plans.get(view)
        if plan is not None:
            return plan
        n, row = self.group.size, arrays.count(self.row_shape)
        most = self.shards.most * row * self._size
        if view or self.group.reach == "put" or self.direction == "push":
            chosen = choice.Choice("push", "a view is the operator's own memory" if view else
                                   "asked for" if self.direction == "push" else "members lie on several nodes")
            if self.direction == "pull":
                raise self.fail("direction='pull' " + ("has no view" if view else "does not reach other nodes"))
        elif self.direction == "pull":
            chosen = choice.Choice("pull", "asked for")
        else:
            alpha, beta = choice.machine()
            chosen = choice.measured("AllGather", n, most, ("push", "pull")) or choice.cheapest({
                "push": alpha + (2 * n - 1) * most / beta, "pull": alpha + (n + 1) * most / beta + n * alpha / 4})
        plan = self._plans[view] = make_plan(
            f"{self.text}{' view' if view else ''}", chosen.name, chosen.reason, self.programs,
            (n - 1) * self.shards.rows[max(self.group.me, 0)] * row * self._size,
            dict(DIRECTION=chosen.name, VIEW=view, REACH=self.group.reach, BLOCK=block_elements(most // self._size)),
            dict(me=self.group.me, n=n, piece=piece_elements(most, self._size, self.programs),
                 max_pieces=self._max_pieces, capacity=self._total))
        return plan

    def explain(self, x: Any = None, view: bool = False) -> str:
        return self.plan(view).explain()

    def __call__(self, x: Any, out: Any = None, *, view: bool = False) -> Any:
        return self._call_or_view(x, out, view, self._total)

    def _checked(self, x: Any, out: Any, view: bool) -> Call:
        self._input(x, "x", (self.shards.rows[max(self.group.me, 0)], *self.row_shape), " on this rank")
        self._output(out, self._result_shape, x)
        call = self._prepared(all_gather_kernel, self.plan(view), ("x_ptr", "out_ptr"), self._result_shape,
                              starts_ptr=self._starts)
        self._calls.add(call, x, out, view)
        return call
