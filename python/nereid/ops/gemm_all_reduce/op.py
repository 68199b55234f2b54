# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GemmAllReduce: the sum over all ranks of A times B, on all ranks."""

from __future__ import annotations

from typing import Any

import nereid
from nereid.ops.core import arrays, choice
from nereid.ops.core.gemm import GemmOperator, blocks_for, gemm_trials
from nereid.ops.core.operator import Call, Plan, make_plan
from nereid.ops.gemm_all_reduce.kernel import one_shot_kernel, two_shot_kernel


class GemmAllReduce(GemmOperator):
    """``GemmAllReduce(m, n, k, dtype)(a, b) -> (rows, n)``, the same bits on all ranks.

    a: (rows, k), this rank's columns of A, rows <= m; b: (k, n), this rank's rows of B, or (n, k) with
    `trans_b`; k may differ between ranks. fp16, bf16, fp32, fp64. `algorithm`: "one_shot" (few rows),
    "two_shot" or "auto".
    """

    @classmethod
    def memory_for(cls, ranks: int, m: int, n: int, dtype: Any, algorithm: str = "auto", blocks: Any = None) -> int:
        """Bytes of payload on each rank, signals not counted: whole tiles in the type of the sums."""
        bm, bn, _ = blocks_for(m, n, 1, blocks, dtype)
        tiles = -(-m // bm) * -(-n // bn)
        one, two = ranks * tiles, ranks * -(-tiles // ranks) + 2 * tiles
        places = {"one_shot": one, "two_shot": two, "auto": max(one, two)}[algorithm]
        return places * bm * bn * arrays.SIZES[arrays.ACCUMULATORS[arrays.dtype_name(dtype)]]

    @classmethod
    def trials(cls, ranks: int, nbytes: int) -> dict[str, Any]:
        """`nbytes` are the result in the type of the sums; 512 columns."""
        rows = max(1, nbytes // (4 * 512))
        return gemm_trials(cls, "algorithm", ("one_shot", "two_shot"), rows, 512, max(1, 512 // ranks))

    def __init__(self, m: int, n: int, k: int, dtype: Any = "float32", *, out_dtype: Any = None, trans_b: bool = False,
                 algorithm: str = "auto", blocks: Any = None, epilogue: Any = None, group: Any = None, programs: int | None = None):
        name = self.checked("GemmAllReduce", dtype, m=m, n=n, k=k)
        if algorithm not in ("auto", "one_shot", "two_shot"):
            raise nereid.ArgumentError(f"GemmAllReduce: algorithm is auto, one_shot or two_shot, not {algorithm!r}")
        self.m, self.algorithm = int(m), algorithm
        self.blocks = blocks_for(m, n, k, blocks, dtype)
        self._max_tiles = tiles = -(-self.m // self.blocks[0]) * -(-int(n) // self.blocks[1])
        super().__init__(
            group, f"GemmAllReduce m={m} n={n} {name} {algorithm}", m, n, k, name, out_dtype, trans_b, blocks, epilogue, programs,
            lambda g: g.size + max(g.size * tiles, g.size * -(-tiles // g.size) + tiles),
            lambda g: self.memory_for(g.size, m, n, name, algorithm, self.blocks))
        self._payload = self._workspace.payload(self.acc)

    def plan(self, m: int, n: int, k: int) -> Plan:
        plan = self._plans.get((m, n, k))
        if plan is not None:
            return plan
        ranks, nbytes = self.group.size, m * n * arrays.SIZES[self.acc]
        if self.algorithm != "auto":
            chosen = choice.Choice(self.algorithm, "asked for")
        else:
            alpha, beta = choice.machine()
            chosen = choice.measured("GemmAllReduce", ranks, nbytes, ("one_shot", "two_shot")) or choice.cheapest({
                "one_shot": alpha + 2 * ranks * nbytes / beta, "two_shot": 2 * alpha + 4 * nbytes / beta})
        sent = (ranks - 1) * nbytes if chosen.name == "one_shot" else 2 * (ranks - 1) * nbytes // ranks
        plan = self._plans[m, n, k] = make_plan(
            f"GemmAllReduce m={m} n={n} {self.dtype} {chosen.name}", chosen.name, chosen.reason, self.programs, sent,
            self._constants(self.blocks), dict(me=self.group.me, n=ranks, M=m, N=n, K=k, max_tiles=self._max_tiles))
        return plan

    def _checked(self, a: Any, b: Any, out: Any, extra: Any) -> Call:
        operands = self._operands(a, b, extra)
        if not 1 <= operands.m <= self.m:
            raise self.fail(f"a has {operands.m} rows, this operator was made for 1 to {self.m} (m={self.m})"
                            + (f"; make it with m={operands.m}" if operands.m else ""))
        self._output(out, (operands.m, operands.n), a, b, dtype=self.out_dtype)
        plan = self.plan(operands.m, operands.n, operands.k)
        call = self._product(one_shot_kernel if plan.algorithm == "one_shot" else two_shot_kernel, plan, operands, operands.m)
        self._calls.add(call, a, b, out, extra)
        return call
