# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels whose instructions test_instructions.py counts beside those of bench/cases."""

import nereid
import nereid.language as tl


@nereid.jit
def product(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        at = k + tl.arange(0, BLOCK_K)
        x = tl.load(a + rows[:, None] * K + at[None, :], (rows < M)[:, None] & (at < K)[None, :], 0.0)
        y = tl.load(b + at[:, None] * N + columns[None, :], (at < K)[:, None] & (columns < N)[None, :], 0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c + rows[:, None] * N + columns[None, :], acc, (rows < M)[:, None] & (columns < N)[None, :])


@nereid.jit
def attention(q, k, v, out, n, HEAD: tl.constexpr, BLOCK: tl.constexpr):
    rows, d = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.arange(0, HEAD)
    query = tl.load(q + rows[:, None] * HEAD + d[None, :])
    top = tl.full((BLOCK,), -float("inf"), tl.float32)
    total, acc = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK, HEAD), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        scores = tl.dot(query, tl.load(k + at[None, :] * HEAD + d[:, None]))
        scores = tl.where(rows[:, None] >= at[None, :], scores, -float("inf"))
        new = tl.maximum(top, tl.max(scores, 1))
        weights, old = tl.exp2(scores - new[:, None]), tl.exp2(top - new)
        total = total * old + tl.sum(weights, 1)
        acc = tl.dot(weights, tl.load(v + at[:, None] * HEAD + d[None, :]), acc * old[:, None])
        top = new
    tl.store(out + rows[:, None] * HEAD + d[None, :], acc / total[:, None])
