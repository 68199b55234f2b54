# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention with a causal mask against the same in parts, products by OpenBLAS on fp32 and the softmax of
bench/peers between them, and against torch's."""

from __future__ import annotations

import ctypes

import harness
import numpy as np
from cases import matmul

import nereid
import nereid.language as tl

HEADS, LENGTH, TILE = 4, 1024, 64


@nereid.jit
def attention_kernel(q, k, v, out, n, scale, HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    start = tl.program_id(0) * BLOCK_M
    base = tl.program_id(1) * n * HEAD
    rows, columns, d = start + tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_N), tl.arange(0, HEAD)
    query = tl.load(q + base + rows[:, None] * HEAD + d[None, :])
    top = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, HEAD), tl.float32)
    for at in range(0, start + BLOCK_M, BLOCK_N):
        keys = tl.load(k + base + (at + columns)[None, :] * HEAD + d[:, None])
        scores = tl.dot(query, keys) * scale
        scores = tl.where(rows[:, None] >= (at + columns)[None, :], scores, -float("inf"))
        new = tl.maximum(top, tl.max(scores, 1))
        weights = tl.exp2(scores - new[:, None])
        old = tl.exp2(top - new)
        total = total * old + tl.sum(weights, 1)
        values = tl.load(v + base + (at + columns)[:, None] * HEAD + d[None, :])
        acc = tl.dot(weights.to(v.dtype.element_ty), values, acc * old[:, None])
        top = new
    tl.store(out + base + rows[:, None] * HEAD + d[None, :], acc / total[:, None])


def causal(dtype: str, head: int) -> harness.Case:
    rng = np.random.default_rng(head)
    q, k, v = (rng.uniform(-1, 1, (HEADS, LENGTH, head)).astype(dtype) for _ in range(3))
    q32, k32, v32 = (x.astype(np.float32) for x in (q, k, v))
    out = np.zeros((HEADS, LENGTH, head), np.float32)
    scale = head**-0.5
    exact = np.einsum("hmd,hnd->hmn", q32.astype(np.float64), k32.astype(np.float64)) * scale
    exact = np.where(np.tri(LENGTH, dtype=bool), exact, -np.inf)
    exact = np.exp(exact - exact.max(2, keepdims=True))
    exact = exact / exact.sum(2, keepdims=True) @ v32.astype(np.float64)

    def ours():
        attention_kernel[(LENGTH // TILE, HEADS)](q, k, v, out, LENGTH, scale * 1.4426950408889634, HEAD=head, BLOCK_M=TILE,
                                                  BLOCK_N=TILE)
        return out

    def in_parts():
        softmax, label = harness.loops().causal_softmax, matmul.numpy_blas_label()
        scores = np.zeros((LENGTH, LENGTH), np.float32)

        def call():
            for i in range(HEADS):
                np.matmul(q32[i], k32[i].T, out=scores)
                softmax(ctypes.c_void_p(scores.ctypes.data), ctypes.c_float(scale), ctypes.c_long(LENGTH))
                np.matmul(scores, v32[i], out=out[i])
            return out

        return [harness.Side(f"{label} and a C++ softmax", call)]

    def in_torch():
        torch = harness.torch()
        tensors = [torch.from_numpy(x)[None] for x in (q, k, v)]
        attend = torch.nn.functional.scaled_dot_product_attention

        def call():
            return attend(*tensors, is_causal=True)[0].float().numpy()

        return [harness.Side(f"torch {torch.__version__}", call, rounding=40)]

    bound = 1e-4 if dtype == "float32" else 4e-3
    work = 4.0 * HEADS * head * LENGTH * (LENGTH + 1) / 2
    return harness.Case(harness.Side("nereid", ours), {"openblas": in_parts, "torch": in_torch},
                        lambda got, rounding: harness.within(got, exact, bound * rounding), (work, "FLOP/s"))
