# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention: forward in two stages with block pointers, backward, paged keys and values,
decoding split over the keys with a reduction by atomics or by a second kernel."""

import ml_dtypes
import numpy as np
import pytest

import nereid as triton
import nereid.language as tl
from nereid.testing import assert_close


def softmax_reference(q, k, v, scale, causal):
    scores = np.einsum("hmd,hnd->hmn", q, k) * scale
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[1:], bool)), scores, -np.inf)
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    return p, np.einsum("hmn,hnd->hmd", p, v)


@triton.jit
def attention_inner(
    acc, l_i, m_i, q, k_block, v_block, start_m, scale, offs_m, offs_n, CTX,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, STAGE: tl.constexpr,
):
    """STAGE 1: keys below the diagonal; 2: the diagonal; 3: all keys."""
    if STAGE == 1:
        lo, hi = 0, start_m * BLOCK_M
    elif STAGE == 2:
        lo, hi = start_m * BLOCK_M, min((start_m + 1) * BLOCK_M, CTX)
        lo = tl.multiple_of(lo, BLOCK_M)
    else:
        lo, hi = 0, CTX
    k_block = tl.advance(k_block, (0, lo))
    v_block = tl.advance(v_block, (lo, 0))
    for start_n in range(lo, hi, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        k = tl.load(k_block, boundary_check=(0, 1), padding_option="zero")
        qk = tl.dot(q, k) * scale
        inside = start_n + offs_n[None, :] < CTX
        if STAGE == 2:
            inside = inside & (offs_m[:, None] >= start_n + offs_n[None, :])
        qk = tl.where(inside, qk, -1.0e6)
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.math.exp2(qk - m_ij[:, None])
        p = tl.where(inside, p, 0.0)
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(v_block, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(p.to(v.dtype), v, acc)
        m_i = m_ij
        v_block = tl.advance(v_block, (BLOCK_N, 0))
        k_block = tl.advance(k_block, (0, BLOCK_N))
    return acc, l_i, m_i


@triton.jit
def attention_forward(
    Q, K, V, scale, M, Out, stride_h, stride_m, stride_d, CTX,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):
    start_m = tl.program_id(0)
    head = tl.program_id(1)
    offset = head.to(tl.int64) * stride_h
    q_block = tl.make_block_ptr(base=Q + offset, shape=(CTX, HEAD_DIM), strides=(stride_m, stride_d),
                                offsets=(start_m * BLOCK_M, 0), block_shape=(BLOCK_M, HEAD_DIM), order=(1, 0))
    k_block = tl.make_block_ptr(base=K + offset, shape=(HEAD_DIM, CTX), strides=(stride_d, stride_m), offsets=(0, 0),
                                block_shape=(HEAD_DIM, BLOCK_N), order=(0, 1))
    v_block = tl.make_block_ptr(base=V + offset, shape=(CTX, HEAD_DIM), strides=(stride_m, stride_d), offsets=(0, 0),
                                block_shape=(BLOCK_N, HEAD_DIM), order=(1, 0))
    o_block = tl.make_block_ptr(base=Out + offset, shape=(CTX, HEAD_DIM), strides=(stride_m, stride_d),
                                offsets=(start_m * BLOCK_M, 0), block_shape=(BLOCK_M, HEAD_DIM), order=(1, 0))
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    log2_scale = scale * 1.4426950408889634
    q = tl.load(q_block, boundary_check=(0,), padding_option="zero")
    if CAUSAL:
        acc, l_i, m_i = attention_inner(acc, l_i, m_i, q, k_block, v_block, start_m, log2_scale, offs_m, offs_n, CTX,
                                        BLOCK_M, BLOCK_N, 1)
        acc, l_i, m_i = attention_inner(acc, l_i, m_i, q, k_block, v_block, start_m, log2_scale, offs_m, offs_n, CTX,
                                        BLOCK_M, BLOCK_N, 2)
    else:
        acc, l_i, m_i = attention_inner(acc, l_i, m_i, q, k_block, v_block, start_m, log2_scale, offs_m, offs_n, CTX,
                                        BLOCK_M, BLOCK_N, 3)
    acc = acc / l_i[:, None]
    tl.store(M + head * CTX + offs_m, m_i + tl.math.log2(l_i), mask=offs_m < CTX)
    tl.store(o_block, acc.to(Out.type.element_ty), boundary_check=(0,))


@triton.jit
def attention_backward(
    Q, K, V, DO, M, D, DQ, DK, DV, scale, stride_h, CTX,
    HEAD_DIM: tl.constexpr, BLOCK: tl.constexpr, CAUSAL: tl.constexpr,
):
    """dK and dV of one block of keys; dQ is added up by atomics."""
    start_n = tl.program_id(0) * BLOCK
    head = tl.program_id(1)
    offset = head * stride_h
    offs_n = start_n + tl.arange(0, BLOCK)
    offs_d = tl.arange(0, HEAD_DIM)
    n_mask = (offs_n < CTX)[:, None]
    at_n = offset + offs_n[:, None] * HEAD_DIM + offs_d[None, :]
    k = tl.load(K + at_n, mask=n_mask, other=0.0)
    v = tl.load(V + at_n, mask=n_mask, other=0.0)
    dk = tl.zeros([BLOCK, HEAD_DIM], tl.float32)
    dv = tl.zeros([BLOCK, HEAD_DIM], tl.float32)
    first = start_n if CAUSAL else 0
    for start_m in range(first, CTX, BLOCK):
        offs_m = start_m + tl.arange(0, BLOCK)
        m_mask = (offs_m < CTX)[:, None]
        at_m = offset + offs_m[:, None] * HEAD_DIM + offs_d[None, :]
        q = tl.load(Q + at_m, mask=m_mask, other=0.0)
        do = tl.load(DO + at_m, mask=m_mask, other=0.0)
        lse = tl.load(M + head * CTX + offs_m, mask=offs_m < CTX, other=0.0)
        delta = tl.load(D + head * CTX + offs_m, mask=offs_m < CTX, other=0.0)
        qk = tl.dot(q, tl.trans(k)) * (scale * 1.4426950408889634)
        keep = m_mask & (offs_n < CTX)[None, :]
        if CAUSAL:
            keep &= offs_m[:, None] >= offs_n[None, :]
        p = tl.where(keep, tl.math.exp2(qk - lse[:, None]), 0.0)
        dv += tl.dot(tl.trans(p).to(do.dtype), do)
        dp = tl.dot(do, tl.trans(v))
        ds = (p * (dp - delta[:, None]) * scale).to(q.dtype)
        dk += tl.dot(tl.trans(ds), q)
        tl.atomic_add(DQ + at_m, tl.dot(ds, k), mask=m_mask)
    tl.store(DK + at_n, dk, mask=n_mask)
    tl.store(DV + at_n, dv, mask=n_mask)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 2e-5), (np.float16, 5e-3), (ml_dtypes.bfloat16, 4e-2)])
def test_forward_and_backward(rng, dtype, tolerance, causal):
    heads, context, dim, block = 2, int(rng.integers(1, 100)), 32, 16
    q, k, v, do = (rng.standard_normal((heads, context, dim)).astype(dtype) for _ in range(4))
    out, lse = np.empty_like(q), np.empty((heads, context), np.float32)
    scale = dim**-0.5
    attention_forward[(triton.cdiv(context, block), heads)](
        q, k, v, scale, lse, out, context * dim, dim, 1, context, HEAD_DIM=dim, BLOCK_M=block, BLOCK_N=16,
        CAUSAL=causal)
    q64, k64, v64, do64 = (x.astype(np.float64) for x in (q, k, v, do))
    p, want = softmax_reference(q64, k64, v64, scale, causal)
    assert_close(out, want, atol=tolerance, rtol=tolerance)

    delta = (do64 * out.astype(np.float64)).sum(axis=-1).astype(np.float32)
    dq, dk, dv = (np.zeros((heads, context, dim), np.float32) for _ in range(3))
    attention_backward[(triton.cdiv(context, block), heads)](
        q, k, v, do, lse, delta, dq, dk, dv, scale, context * dim, context, HEAD_DIM=dim, BLOCK=block, CAUSAL=causal)
    dp = np.einsum("hmd,hnd->hmn", do64, v64)
    ds = p * (dp - (dp * p).sum(axis=-1, keepdims=True)) * scale
    for got, expected in (
        (dq, np.einsum("hmn,hnd->hmd", ds, k64)), (dk, np.einsum("hmn,hmd->hnd", ds, q64)),
        (dv, np.einsum("hmn,hmd->hnd", p, do64)),
    ):
        assert_close(got, expected, atol=5 * tolerance, rtol=5 * tolerance)


# ---- paged keys and values


@triton.jit
def paged_attention_kernel(
    out_ptr, q_ptr, k_cache_ptr, v_cache_ptr, table_ptr, lengths_ptr, scale, table_stride,
    PAGE: tl.constexpr, HEADS: tl.constexpr, GROUP: tl.constexpr, HEAD_DIM: tl.constexpr,
):
    """One query per sequence; GROUP query heads share a head of keys."""
    sequence = tl.program_id(0)
    kv_head = tl.program_id(1)
    heads = kv_head * GROUP + tl.arange(0, GROUP)
    offs_d = tl.arange(0, HEAD_DIM)
    offs_p = tl.arange(0, PAGE)
    q = tl.load(q_ptr + (sequence * HEADS * GROUP + heads[:, None]) * HEAD_DIM + offs_d[None, :])
    length = tl.load(lengths_ptr + sequence)
    m = tl.full([GROUP], float("-inf"), tl.float32)
    l = tl.zeros([GROUP], tl.float32)  # noqa: E741
    acc = tl.zeros([GROUP, HEAD_DIM], tl.float32)
    for page in range(tl.cdiv(length, PAGE)):
        block = tl.load(table_ptr + sequence * table_stride + page).to(tl.int64)
        at = ((block * PAGE + offs_p) * HEADS + kv_head)[:, None] * HEAD_DIM + offs_d[None, :]
        inside = page * PAGE + offs_p < length
        k = tl.load(k_cache_ptr + at, mask=inside[:, None], other=0.0)
        v = tl.load(v_cache_ptr + at, mask=inside[:, None], other=0.0)
        scores = tl.where(inside[None, :], tl.dot(q, k.T) * scale, float("-inf"))
        m_new = tl.maximum(m, tl.max(scores, axis=1))
        p = tl.exp(scores - m_new[:, None])
        alpha = tl.exp(m - m_new)
        l = l * alpha + tl.sum(p, axis=1)  # noqa: E741
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        m = m_new
    out = acc / l[:, None]
    tl.store(out_ptr + (sequence * HEADS * GROUP + heads[:, None]) * HEAD_DIM + offs_d[None, :], out)


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-5), (np.float16, 5e-3)])
def test_paged(rng, dtype, tolerance):
    sequences, heads, group, dim, page = 3, 2, 4, 16, 8
    lengths = rng.integers(1, 60, sequences).astype(np.int32)
    pages = triton.cdiv(int(lengths.max()), page)
    table = rng.permutation(sequences * pages).reshape(sequences, pages).astype(np.int32)
    keys, values = (rng.standard_normal((sequences * pages, page, heads, dim)).astype(dtype) for _ in range(2))
    q = rng.standard_normal((sequences, heads * group, dim)).astype(dtype)
    out = np.empty_like(q)
    paged_attention_kernel[(sequences, heads)](
        out, q, keys, values, table, lengths, dim**-0.5, pages, PAGE=page, HEADS=heads, GROUP=group, HEAD_DIM=dim)
    for s, length in enumerate(lengths):
        k, v = (c[table[s]].reshape(-1, heads, dim)[:length].astype(np.float64) for c in (keys, values))
        for h in range(heads * group):
            _, want = softmax_reference(
                q[None, s, h, None].astype(np.float64), k[None, :, h // group], v[None, :, h // group], dim**-0.5, False)
            assert_close(out[s, h], want[0, 0], atol=tolerance, rtol=tolerance)


# ---- decoding split over the keys


@triton.jit
def decode_split_kernel(
    q_ptr, k_ptr, v_ptr, partial_ptr, max_ptr, sum_ptr, top_ptr, N, scale,
    HEAD_DIM: tl.constexpr, BLOCK: tl.constexpr, SPLITS: tl.constexpr,
):
    head, split = tl.program_id(0), tl.program_id(1)
    offs_d = tl.arange(0, HEAD_DIM)
    q = tl.load(q_ptr + head * HEAD_DIM + offs_d).to(tl.float32)
    each = tl.cdiv(tl.cdiv(N, SPLITS), BLOCK) * BLOCK
    lo = split * each
    hi = min(lo + each, N)
    m = -float("inf")
    l = 0.0  # noqa: E741
    acc = tl.zeros([HEAD_DIM], tl.float32)
    for start in range(lo, hi, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        at = (head * N + offs)[:, None] * HEAD_DIM + offs_d[None, :]
        k = tl.load(k_ptr + at, mask=(offs < hi)[:, None], other=0.0).to(tl.float32)
        v = tl.load(v_ptr + at, mask=(offs < hi)[:, None], other=0.0).to(tl.float32)
        scores = tl.where(offs < hi, tl.sum(q[None, :] * k, axis=1) * scale, -float("inf"))
        m_new = tl.maximum(m, tl.max(scores))
        p = tl.exp(scores - m_new)
        l = l * tl.exp(m - m_new) + tl.sum(p)  # noqa: E741
        acc = acc * tl.exp(m - m_new) + tl.sum(p[:, None] * v, axis=0)
        m = m_new
    tl.store(partial_ptr + (head * SPLITS + split) * HEAD_DIM + offs_d, acc)
    tl.store(max_ptr + head * SPLITS + split, m)
    tl.store(sum_ptr + head * SPLITS + split, l)
    tl.atomic_max(top_ptr + head, m)


@triton.jit
def decode_merge_kernel(
    out_ptr, total_ptr, partial_ptr, max_ptr, sum_ptr, top_ptr, HEAD_DIM: tl.constexpr, SPLITS: tl.constexpr,
):
    """Every split adds its share; the division is for the host."""
    head, split = tl.program_id(0), tl.program_id(1)
    offs_d = tl.arange(0, HEAD_DIM)
    weight = tl.exp(tl.load(max_ptr + head * SPLITS + split) - tl.load(top_ptr + head))
    acc = tl.load(partial_ptr + (head * SPLITS + split) * HEAD_DIM + offs_d)
    tl.atomic_add(out_ptr + head * HEAD_DIM + offs_d, acc * weight)
    tl.atomic_add(total_ptr + head, tl.load(sum_ptr + head * SPLITS + split) * weight)


@pytest.mark.parametrize("splits", [1, 4, 7])
@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-5), (np.float16, 1e-3), (ml_dtypes.bfloat16, 1e-2)])
def test_split_decoding(rng, dtype, tolerance, splits):
    heads, n, dim = 3, int(rng.integers(1, 200)), 32
    q = rng.standard_normal((heads, dim)).astype(dtype)
    k, v = (rng.standard_normal((heads, n, dim)).astype(dtype) for _ in range(2))
    partial = np.zeros((heads, splits, dim), np.float32)
    tops, sums = np.zeros((heads, splits), np.float32), np.zeros((heads, splits), np.float32)
    top, total = np.full(heads, -np.inf, np.float32), np.zeros(heads, np.float32)
    out = np.zeros((heads, dim), np.float32)
    decode_split_kernel[(heads, splits)](
        q, k, v, partial, tops, sums, top, n, dim**-0.5, HEAD_DIM=dim, BLOCK=16, SPLITS=splits)
    decode_merge_kernel[(heads, splits)](out, total, partial, tops, sums, top, HEAD_DIM=dim, SPLITS=splits)
    _, want = softmax_reference(*(x.astype(np.float64) for x in (q[:, None], k, v)), dim**-0.5, False)
    assert_close(out / total[:, None], want[:, 0], atol=tolerance, rtol=tolerance)
