# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FlashDecode: attention of one new token over K and V that are split among ranks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import nereid
from nereid._job import memory
from nereid.ops.core import arrays
from nereid.ops.core.operator import Call, Operator, Plan, known_dtype, make_plan, positive
from nereid.ops.flash_decode.kernel import flash_decode_kernel


class FlashDecode(Operator):
    """``FlashDecode(batch, heads_q, heads_kv, dim, dtype)(q, k, v, lengths) -> (batch, heads_q, dim)``.

    q: (batch, heads_q, dim), the same on all ranks. k, v: (batch, positions, heads_kv, dim), this rank's
    positions, of which ``lengths`` (batch, int32) are there; every position lies on one rank, in any order. With
    `page` k and v are (pages, page, heads_kv, dim) and ``block_table`` (batch, columns, int32) names the
    pages of a batch. Any strides but the last, which is 1. Sums in fp32; a batch of which no rank has a position
    gives 0. `splits`: programs that share the positions of one K/V head; `scale`: default 1 / sqrt(dim).
    """

    _dtypes = {3: "int32", 4: "int32"}

    @classmethod
    def memory_for(cls, ranks: int, batch: int, heads_q: int, dim: int, splits: int = 1) -> int:
        """Bytes of payload on each rank, signals not counted: o and lse in fp32 of all ranks twice, and of splits."""
        return (2 * ranks + splits) * batch * heads_q * (dim + 1) * 4

    def __init__(self, batch: int, heads_q: int, heads_kv: int, dim: int, dtype: Any = "float16", *, page: int | None = None,
                 splits: int | None = None, scale: float | None = None, group: Any = None, programs: int | None = None):
        name = known_dtype("FlashDecode", arrays.dtype_name(dtype), ("float16", "bfloat16", "float32"))
        positive("FlashDecode", batch=batch, heads_q=heads_q, heads_kv=heads_kv, dim=dim)
        if heads_q % heads_kv:
            raise nereid.ArgumentError(f"FlashDecode: {heads_q} query heads cannot share {heads_kv} K/V heads equally")
        if scale is not None and not isinstance(scale, (int, float, np.floating)):
            raise nereid.ArgumentError(f"FlashDecode: scale is a number, not {scale!r}")
        if page is not None:
            positive("FlashDecode", page=page)
        if splits is not None:
            positive("FlashDecode", splits=splits)
        nereid.init()
        self.batch, self.heads_q, self.heads_kv, self.dim = int(batch), int(heads_q), int(heads_kv), int(dim)
        self.page, self.scale = page, float(scale if scale is not None else dim ** -0.5)
        threads = programs or nereid.job_info()["programs"]
        self.splits = splits or max(1, threads // (self.batch * self.heads_kv))
        tasks = self.batch * self.heads_kv
        text = (f"FlashDecode batch={batch} heads_q={heads_q} heads_kv={heads_kv} dim={dim} {name} scale={self.scale:.6g}"
                f"{'' if page is None else f' page={page}'}")
        super().__init__(group, text, name, programs, lambda g: (2 * g.size + self.splits) * tasks,
                         lambda g: self.memory_for(g.size, self.batch, self.heads_q, self.dim, self.splits))
        self._payload = self._workspace.payload("float32")
        self._no_table = memory.constant(np.zeros(1, np.int32))
        each = self.heads_q // self.heads_kv
        self._plan = make_plan(
            self.text, "parity", "the only one", self.programs,
            (self.group.size - 1) * self.batch * self.heads_q * (self.dim + 1) * 4,
            dict(PAGE=page or 0, GROUP=each, REACH=self.group.reach, BLOCK_G=nereid.next_power_of_2(each), BLOCK_N=64,
                 BLOCK_D=nereid.next_power_of_2(self.dim), BLOCK=min(2048, nereid.next_power_of_2(each * (self.dim + 1)))),
            dict(me=self.group.me, n=self.group.size, batch=self.batch, heads_kv=self.heads_kv, splits=self.splits,
                 dim=self.dim, scale=self.scale))

    def plan(self) -> Plan:
        return self._plan

    def explain(self, *inputs: Any) -> str:
        return self._plan.explain()

    def _cache(self, array: Any, name: str) -> arrays.Facts:
        facts = arrays.facts(array, "FlashDecode", name)
        self._has_dtype(facts, name)
        if len(facts.shape) != 4 or facts.shape[2:] != (self.heads_kv, self.dim):
            first = "batch, positions" if self.page is None else "pages, page"
            raise self.fail(f"{name} has the shape {facts.shape}, wanted is ({first}, {self.heads_kv}, {self.dim})")
        if self.page is None and facts.shape[0] != self.batch:
            raise self.fail(f"{name} holds {facts.shape[0]} batches, this operator was made for {self.batch}")
        if self.page is not None and facts.shape[1] != self.page:
            raise self.fail(f"{name} has pages of {facts.shape[1]} positions, this operator was made for page={self.page}")
        if self.dim > 1 and facts.strides[3] != 1:
            raise self.fail(f"the last dimension of {name} is not contiguous (strides {facts.strides}); pass np.ascontiguousarray({name}) or "
                            f"{name}.contiguous()")
        return facts

    def _numbers(self, array: Any, name: str, dimensions: int, shape_text: str) -> arrays.Facts:
        facts = arrays.facts(array, "FlashDecode", name)
        if facts.dtype != "int32" or not facts.contiguous or len(facts.shape) != dimensions or facts.shape[0] != self.batch:
            raise self.fail(f"{name} is a contiguous int32 array of shape {shape_text}, but it has the shape {facts.shape} and "
                            f"the dtype {facts.dtype}")
        return facts

    def __call__(self, q: Any, k: Any, v: Any, lengths: Any, block_table: Any = None, out: Any = None) -> Any:
        call = self._find(q, k, v, lengths, block_table, out)
        if call is None:
            call = self._checked(q, k, v, lengths, block_table, out)
        self._values(lengths, block_table, k.shape)
        if out is None:
            out = arrays.new(call.shape, call.dtype, q)
        self._run(call, q, k, v, lengths, self._no_table if block_table is None else block_table, out)
        return out

    def _checked(self, q: Any, k: Any, v: Any, lengths: Any, block_table: Any, out: Any) -> Call:
        shape = (self.batch, self.heads_q, self.dim)
        self._input(q, "q", shape)
        keys, values = self._cache(k, "k"), self._cache(v, "v")
        if keys.shape != values.shape:
            raise self.fail(f"k has the shape {keys.shape}, v has {values.shape}: they must agree")
        self._numbers(lengths, "lengths", 1, f"({self.batch},)")
        columns = 0
        if self.page is None and block_table is not None:
            raise self.fail("block_table is for operators made with page=")
        if self.page is not None:
            if block_table is None:
                raise self.fail(f"this operator was made with page={self.page}: pass block_table, (batch, columns) int32")
            columns = self._numbers(block_table, "block_table", 2, f"({self.batch}, columns)").shape[1]
        self._output(out, shape, q, k, v)
        strides = zip(("stride_kb", "stride_ks", "stride_kh", "stride_vb", "stride_vs", "stride_vh"),
                      (*keys.strides[:3], *values.strides[:3]))
        call = self._prepared(flash_decode_kernel, self._plan, ("q_ptr", "k_ptr", "v_ptr", "lengths_ptr", "table_ptr", "out_ptr"),
                              shape, stride_table=columns, **dict(strides))
        self._calls.add(call, q, k, v, lengths, block_table, out)
        return call

    def _values(self, lengths: Any, block_table: Any, cache: tuple[int, ...]) -> None:
        """Checks what stands in the arrays, in every call; `cache` is the shape of k."""
        there = arrays.values(lengths)
        room = cache[1] if self.page is None else block_table.shape[1] * self.page
        if there.min() < 0 or there.max() > room:
            raise self.fail(f"lengths are {there.tolist()}, each may be 0 to {room}, the positions that this rank holds")
        if self.page is None:
            return
        pages = arrays.values(block_table)
        for b in range(self.batch):
            used = pages[b, :math.ceil(int(there[b]) / self.page)]
            if used.size and (used.min() < 0 or used.max() >= cache[0]):
                raise self.fail(f"block_table names page {int(used.max() if used.max() >= cache[0] else used.min())} "
                                f"for batch {b}; there are pages 0 to {cache[0] - 1}")
