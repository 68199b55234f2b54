# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AllGatherGemm: the product of all ranks' rows of A with this rank's B."""

from __future__ import annotations

from typing import Any

import nereid
from nereid.ops.all_gather_gemm.kernel import all_gather_gemm_kernel
from nereid.ops.core import arrays, choice
from nereid.ops.core.gemm import GemmOperator, Operands, blocks_for, gemm_trials
from nereid.ops.core.group import Group
from nereid.ops.core.operator import Call, Plan, make_plan
from nereid.ops.core.shards import Shards, is_number


class AllGatherGemm(GemmOperator):
    """``AllGatherGemm(m, n, k, dtype)(a, b) -> (ranks * rows, n)``.

    a: (rows, k), this rank's rows of A, rows <= m and the same on all ranks; with `rows_of` (every
    rank's rows) they differ. b: (k, n), this rank's own, or (n, k) with `trans_b`. fp16, bf16, fp32,
    fp64. `gathered=True` returns (c, A) with the gathered A. `form`: "pull" (peers' rows are read
    where they lie; one node), "gate" (rows are pushed, by `movers` programs, 0: by all) or "auto".
    `blocks`: rows, columns and inner size of a tile.
    """

    @classmethod
    def memory_for(cls, ranks: int, m: int, k: int, dtype: Any, rows_of: Any = None) -> int:
        """Bytes of payload on each rank, signals not counted: all of A, or two halves of a shard."""
        shards = Shards("AllGatherGemm", ranks, m, rows_of)
        return max(shards.total, 2 * shards.most) * k * arrays.SIZES[arrays.dtype_name(dtype)]

    @classmethod
    def trials(cls, ranks: int, nbytes: int) -> dict[str, Any]:
        """`nbytes` are a rank's rows of A; 512 columns."""
        rows = max(1, nbytes // (4 * 512))
        return gemm_trials(cls, "form", ("pull", "gate"), rows, 512, 512, ranks)

    def __init__(self, m: int, n: int, k: int, dtype: Any = "float32", *, out_dtype: Any = None, trans_b: bool = False,
                 gathered: bool = False, rows_of: Any = None, form: str = "auto", movers: int = 0, blocks: Any = None,
                 epilogue: Any = None, group: Any = None, programs: int | None = None):
        name = self.checked("AllGatherGemm", dtype, m=m, n=n, k=k)
        if form not in ("auto", "pull", "gate"):
            raise nereid.ArgumentError(f"AllGatherGemm: form is auto, pull or gate, not {form!r}")
        if not is_number(movers):
            raise nereid.ArgumentError(f"AllGatherGemm: movers is a number of programs, not {movers!r}")
        nereid.init()
        self.group = Group.of(group)
        self.m, self.form, self.movers, self.gathered = int(m), form, int(movers), bool(gathered)
        self.shards = Shards("AllGatherGemm", self.group.size, m, rows_of)
        self._uneven = rows_of is not None
        self.blocks = blocks_for(self.shards.most, n, k, blocks, dtype)
        self._max_blocks = -(-max(self.shards.most, 1) // self.blocks[0])
        super().__init__(
            self.group, f"AllGatherGemm {self.shards.text.replace('rows=', 'm=')} n={n} k={k} {name}", m, n, k, name, out_dtype,
            trans_b, blocks, epilogue, programs, lambda g: (2 * self._max_blocks + 1) * g.size,
            lambda g: self.memory_for(g.size, m, k, name, rows_of))
        if form == "pull" and self.group.reach == "put":
            raise self.fail("form='pull' does not reach other nodes; take form='gate'")
        if not 0 <= self.movers < self.programs and self.movers:
            raise self.fail(f"movers={movers} of {self.programs} programs leave none to multiply")
        self._payload = self._workspace.payload(name)
        self._starts = {self.shards.most: self.shards.table(1)} if self._uneven else {}

    def plan(self, rows: int, n: int, k: int) -> Plan:
        """For shards of `rows` rows."""
        plan = self._plans.get((rows, n, k))
        if plan is not None:
            return plan
        ranks, size = self.group.size, arrays.SIZES[self.dtype]
        if self.form != "auto":
            chosen = choice.Choice(self.form, "asked for")
        elif self.group.reach == "put" or self.movers:
            chosen = choice.Choice("gate", "members lie on several nodes" if self.group.reach == "put" else "movers push")
        else:
            shard = rows * k * size
            _, beta = choice.machine()
            chosen = choice.measured("AllGatherGemm", ranks, shard, ("pull", "gate")) or choice.cheapest(
                {"pull": 2 * shard / beta, "gate": (ranks + 1) * shard / beta})
        constants = dict(FORM=chosen.name, GATHERED=self.gathered, MOVERS=self.movers if chosen.name == "gate" else 0,
                         BLOCK=min(512, max(16, nereid.next_power_of_2(k))), **self._constants(self.blocks))
        what = self.shards.text if self._uneven else f"m={rows}"
        mine = self.shards.rows[max(self.group.me, 0)] if self._uneven else rows
        plan = self._plans[rows, n, k] = make_plan(
            f"AllGatherGemm {what.replace('rows=', 'm=')} k={k} {self.dtype} {chosen.name}", chosen.name, chosen.reason, self.programs,
            (ranks - 1) * mine * k * size, constants,
            dict(me=self.group.me, n=ranks, N=n, K=k, max_blocks=self._max_blocks, capacity=self.shards.most * self.k))
        return plan

    def _rows(self, operands: Operands) -> int:
        """Rows of this call's shards, checked; what the plan is keyed by."""
        if self._uneven:
            mine = self.shards.rows[self.group.me]
            if operands.m != mine:
                raise self.fail(f"a has {operands.m} rows, rows_of says {mine} for this rank")
            return self.shards.most
        if not 1 <= operands.m <= self.m:
            raise self.fail(f"a has {operands.m} rows, this operator was made for 1 to {self.m} (m={self.m}); "
                            f"make it with m={operands.m}" if operands.m else "a has no rows; pass rows_of= if ranks differ")
        return operands.m

    def __call__(self, a: Any, b: Any, out: Any = None, *, extra: Any = None) -> Any:
        if not self.gathered:
            call = self._find(a, b, out, extra)
            if call is None:
                call = self._checked(a, b, out, extra)
            if out is None:
                out = arrays.new(call.shape, call.dtype, a)
            self._run(call, a, b, out, extra, a)
            return out
        c, gathered = self._pair(out)
        call = self._find(a, b, c, extra, gathered)
        if call is None:
            call = self._checked(a, b, c, extra, gathered)
        if c is None:
            c = arrays.new(call.shape, call.dtype, a)
        if gathered is None:
            gathered = arrays.new((call.shape[0], call.plan.sizes["K"]), self.dtype, a)
        self._run(call, a, b, c, extra, gathered)
        return c, gathered

    def _pair(self, out: Any) -> tuple[Any, Any]:
        if out is None:
            return None, None
        if not isinstance(out, tuple) or len(out) != 2:
            raise self.fail("with gathered=True out is a tuple of two arrays, for the product and for the gathered A")
        return out

    def _checked(self, a: Any, b: Any, out: Any, extra: Any, gathered: Any = None) -> Call:
        operands = self._operands(a, b, extra)
        rows = self._rows(operands)
        starts = self._starts.get(rows)
        if starts is None:
            starts = self._starts[rows] = Shards("AllGatherGemm", self.group.size, rows, None).table(1)
        total = int(starts[-1])
        self._output(out, (total, operands.n), a, b, dtype=self.out_dtype)
        self._output(gathered, (total, operands.k), a, b, *(() if out is None else (out,)), name="the second of out")
        call = self._product(all_gather_gemm_kernel, self.plan(rows, operands.n, operands.k), operands, total,
                             starts_ptr=starts)
        self._calls.add(call, a, b, out, extra, *((gathered,) if self.gathered else ()))
        return call
