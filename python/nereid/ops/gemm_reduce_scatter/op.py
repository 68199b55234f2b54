# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GemmReduceScatter: this rank's rows of the sum over all ranks of A times B."""

from __future__ import annotations

from typing import Any

import nereid
from nereid.ops.core import arrays
from nereid.ops.core.gemm import GemmOperator, blocks_for
from nereid.ops.core.group import Group
from nereid.ops.core.operator import Call, Plan, make_plan
from nereid.ops.core.shards import Shards, equal_shares
from nereid.ops.gemm_reduce_scatter.kernel import gemm_reduce_scatter_kernel


class GemmReduceScatter(GemmOperator):
    """``GemmReduceScatter(m, n, k, dtype)(a, b) -> (rows, n)``.

    a: (ranks * rows, k), this rank's columns of A; b: (k, n), this rank's rows of B, or (n, k) with
    `trans_b`; k may differ between ranks. Part r of the rows of the sum over all ranks of a @ b is the
    result on rank r; rows <= m, the same on all ranks, or `rows_of`. fp16, bf16, fp32, fp64. Partial
    sums travel as fp32 (fp64), or as `wire`, which rounds each once.
    """

    @classmethod
    def memory_for(cls, ranks: int, m: int, n: int, dtype: Any, wire: Any = None, blocks: Any = None,
                   rows_of: Any = None, nodes: bool = False) -> int:
        """Bytes of payload on each rank, signals not counted: whole tiles of all ranks' parts."""
        name = arrays.dtype_name(dtype)
        shards = Shards("GemmReduceScatter", ranks, m, rows_of)
        bm, bn, _ = blocks_for(shards.most, n, 1, blocks, dtype)
        tiles = -(-max(shards.most, 1) // bm) * -(-n // bn)
        return ranks * tiles * bm * bn * arrays.SIZES[arrays.dtype_name(wire or arrays.ACCUMULATORS[name])] * (1 + nodes)

    def __init__(self, m: int, n: int, k: int, dtype: Any = "float32", *, out_dtype: Any = None, trans_b: bool = False,
                 wire: Any = None, rows_of: Any = None, blocks: Any = None, epilogue: Any = None, group: Any = None,
                 programs: int | None = None):
        name = self.checked("GemmReduceScatter", dtype, m=m, n=n, k=k)
        self.wire = arrays.dtype_name(wire or arrays.ACCUMULATORS[name])
        if self.wire not in arrays.FLOATS:
            raise nereid.ArgumentError(f"GemmReduceScatter: wire is {', '.join(arrays.FLOATS)}, not {self.wire}")
        nereid.init()
        self.group = Group.of(group)
        self.m = int(m)
        self.shards = Shards("GemmReduceScatter", self.group.size, m, rows_of)
        self._uneven = rows_of is not None
        self.blocks = blocks_for(self.shards.most, n, k, blocks, dtype)
        self._max_tiles = -(-max(self.shards.most, 1) // self.blocks[0]) * -(-int(n) // self.blocks[1])
        super().__init__(
            self.group, f"GemmReduceScatter {self.shards.text.replace('rows=', 'm=')} n={n} {name} wire={self.wire}", m, n, k, name,
            out_dtype, trans_b, blocks, epilogue, programs, lambda g: g.size * (self._max_tiles + 1),
            lambda g: self.memory_for(g.size, m, n, name, self.wire, self.blocks, rows_of, g.reach == "put"))
        self._payload = self._workspace.payload(self.wire)
        self._starts = {self.shards.total: self.shards.table(1)} if self._uneven else {}

    def plan(self, total: int, n: int, k: int) -> Plan:
        """For a with `total` rows and k columns on this rank."""
        plan = self._plans.get((total, n, k))
        if plan is None:
            ranks = self.group.size
            plan = self._plans[total, n, k] = make_plan(
                f"GemmReduceScatter {self.shards.text if self._uneven else f'm={total // ranks}'} n={n} {self.dtype}",
                "direct", "the only one", self.programs,
                (total - (self.shards.rows[max(self.group.me, 0)] if self._uneven else total // ranks)) * n * arrays.SIZES[self.wire],
                self._constants(self.blocks),
                dict(me=self.group.me, n=ranks, N=n, K=k, max_tiles=self._max_tiles))
        return plan

    def _checked(self, a: Any, b: Any, out: Any, extra: Any) -> Call:
        operands = self._operands(a, b, extra)
        ranks, total = self.group.size, operands.m
        if self._uneven:
            if total != self.shards.total:
                raise self.fail(f"a has {total} rows, the sum of rows_of is {self.shards.total}")
        elif total % ranks:
            raise self.fail(f"a has {total} rows, which {ranks} ranks cannot share equally; make it with "
                            f"rows_of={equal_shares(total, ranks)} or pad")
        elif not 1 <= total // ranks <= self.m:
            raise self.fail(f"a has {total} rows, {total // ranks} for each rank; this operator was made for 1 to {self.m} "
                            f"(m={self.m}); make it with m={max(total // ranks, 1)}")
        starts = self._starts.get(total)
        if starts is None:
            starts = self._starts[total] = Shards("GemmReduceScatter", ranks, total // ranks, None).table(1)
        me = max(self.group.me, 0)
        rows = int(starts[me + 1] - starts[me])
        self._output(out, (rows, operands.n), a, b, dtype=self.out_dtype)
        call = self._product(gemm_reduce_scatter_kernel, self.plan(total, operands.n, operands.k), operands, rows,
                             starts_ptr=starts)
        self._calls.add(call, a, b, out, extra)
        return call
