# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fused attention, forward: online softmax, two dots in a loop, causal masks."""

import ml_dtypes
import numpy as np
import pytest

import nereid
import nereid.language as tl


@nereid.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, scale,
    stride_qh, stride_qm, stride_kh, stride_kn, stride_vh, stride_vn, stride_oh, stride_om,
    num_queries, num_keys,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):
    start_m = tl.program_id(0)
    head = tl.program_id(1)
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, HEAD_DIM)
    q_ptrs = q_ptr + head * stride_qh + offs_m[:, None] * stride_qm + offs_d[None, :]
    k_ptrs = k_ptr + head * stride_kh + offs_n[None, :] * stride_kn + offs_d[:, None]
    v_ptrs = v_ptr + head * stride_vh + offs_n[:, None] * stride_vn + offs_d[None, :]
    m_i = tl.full([BLOCK_M], float("-inf"), tl.float32)
    l_i = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], tl.float32)
    q = tl.load(q_ptrs, mask=offs_m[:, None] < num_queries, other=0.0)
    qk_scale = scale * 1.44269504
    end = num_keys
    if CAUSAL:
        end = min((start_m + 1) * BLOCK_M, num_keys)
    for start_n in range(0, end, BLOCK_N):
        inside = (start_n + offs_n) < num_keys
        k = tl.load(k_ptrs + start_n * stride_kn, mask=inside[None, :], other=0.0)
        qk = tl.dot(q, k) * qk_scale
        if CAUSAL:
            qk = tl.where((offs_m[:, None] >= start_n + offs_n[None, :]) & inside[None, :], qk, float("-inf"))
        else:
            qk = tl.where(inside[None, :], qk, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.math.exp2(qk - m_new[:, None])
        alpha = tl.math.exp2(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(v_ptrs + start_n * stride_vn, mask=inside[:, None], other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc)
        m_i = m_new
    acc = acc / l_i[:, None]
    out_ptrs = out_ptr + head * stride_oh + offs_m[:, None] * stride_om + offs_d[None, :]
    tl.store(out_ptrs, acc.to(out_ptr.dtype.element_ty), mask=offs_m[:, None] < num_queries)
    tl.store(lse_ptr + head * num_queries + offs_m, m_i + tl.math.log2(l_i), mask=offs_m < num_queries)


def reference(q, k, v, scale, causal):
    scores = np.einsum("hmd,hnd->hmn", q, k) * scale
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[1:], bool)), scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    p = np.exp(scores - top)
    total = p.sum(axis=-1, keepdims=True)
    return np.einsum("hmn,hnd->hmd", p / total, v), (top + np.log(total))[..., 0] / np.log(2)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype, tolerance", [(np.float16, 3e-3), (ml_dtypes.bfloat16, 2e-2), (np.float32, 2e-5)])
@pytest.mark.parametrize("head_dim, block_m, block_n", [(64, 64, 32), (32, 16, 64), (128, 32, 32)])
def test_attention(rng, causal, dtype, tolerance, head_dim, block_m, block_n):
    heads, queries = 2, int(rng.integers(1, 150))
    keys = queries if causal else int(rng.integers(1, 150))
    q, k, v = (rng.standard_normal((heads, n, head_dim)).astype(dtype) for n in (queries, keys, keys))
    out = np.empty_like(q)
    lse = np.empty((heads, queries), np.float32)
    strides = [step // x.itemsize for x in (q, k, v, out) for step in x.strides[:2]]
    scale = head_dim**-0.5
    attention_kernel[(nereid.cdiv(queries, block_m), heads)](
        q, k, v, out, lse, scale, *strides, queries, keys,
        HEAD_DIM=head_dim, BLOCK_M=block_m, BLOCK_N=block_n, CAUSAL=causal)
    want, want_lse = reference(*(x.astype(np.float64) for x in (q, k, v)), scale, causal)
    nereid.testing.assert_close(out, want, atol=tolerance, rtol=tolerance)
    nereid.testing.assert_close(lse, want_lse, atol=1e-3, rtol=1e-3)
