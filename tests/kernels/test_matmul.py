# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products: dtypes, layouts, epilogues, split-K, batches, block pointers, persistent."""

import ml_dtypes
import numpy as np
import pytest

import nereid
import nereid.language as tl


@nereid.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@nereid.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, bias_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
    ACTIVATION: tl.constexpr = None, ACC: tl.constexpr = tl.float32,
):
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    num_pid_in_group = GROUP_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_M)
    pid_m = first_pid_m + ((pid % num_pid_in_group) % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m
    offs_am = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_bn = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=ACC)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_K, other=0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0)
        accumulator = tl.dot(a, b, accumulator, out_dtype=ACC)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if bias_ptr is not None:
        accumulator += tl.load(bias_ptr + offs_bn)[None, :]
    if ACTIVATION is not None:
        accumulator = ACTIVATION(accumulator)
    offs_cm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + stride_cm * offs_cm[:, None] + stride_cn * offs_cn[None, :]
    tl.store(c_ptrs, accumulator.to(c_ptr.dtype.element_ty), mask=(offs_cm[:, None] < M) & (offs_cn[None, :] < N))


def element_strides(x):
    return tuple(step // x.itemsize for step in x.strides)


def random_matrix(rng, shape, dtype, transposed=False):
    shape = shape[::-1] if transposed else shape
    if np.issubdtype(dtype, np.integer):
        x = rng.integers(-100, 100, shape).astype(dtype)
    else:
        x = rng.standard_normal(shape).astype(dtype)
    return x.T if transposed else x


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("dtype, out, accumulator, tolerance", [
    (np.float32, np.float32, tl.float32, 1e-6), (np.float16, np.float16, tl.float32, 1e-3),
    (np.float16, np.float32, tl.float32, 1e-6), (ml_dtypes.bfloat16, ml_dtypes.bfloat16, tl.float32, 8e-3),
    (np.float64, np.float64, tl.float64, 1e-14), (np.int8, np.int32, tl.int32, 0),
])
def test_matmul(rng, layout, dtype, out, accumulator, tolerance):
    m, n, k = (int(size) for size in rng.integers(1, 200, 3))
    a = random_matrix(rng, (m, k), dtype, layout[0] == "t")
    b = random_matrix(rng, (k, n), dtype, layout[1] == "t")
    c = np.zeros((m, n), out)
    block_m, block_n, block_k = (int(rng.choice([16, 32, 64])) for _ in range(3))
    grid = lambda meta: (nereid.cdiv(m, meta["BLOCK_M"]) * nereid.cdiv(n, meta["BLOCK_N"]),)  # noqa: E731
    matmul_kernel[grid](
        a, b, c, None, m, n, k, *element_strides(a), *element_strides(b), *element_strides(c),
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP_M=4, ACC=accumulator)
    a64, b64 = a.astype(np.float64), b.astype(np.float64)
    bound = tolerance * (np.abs(a64) @ np.abs(b64)).max()
    nereid.testing.assert_close(c, a64 @ b64, atol=bound, rtol=0)


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("activation", [None, leaky_relu])
def test_epilogues(rng, with_bias, activation):
    m, n, k = 75, 33, 129
    a, b = random_matrix(rng, (m, k), np.float16), random_matrix(rng, (k, n), np.float16)
    bias = rng.standard_normal(n).astype(np.float32) if with_bias else None
    c = np.zeros((m, n), np.float16)
    matmul_kernel[(nereid.cdiv(m, 32) * nereid.cdiv(n, 32),)](
        a, b, c, bias, m, n, k, *element_strides(a), *element_strides(b), *element_strides(c),
        BLOCK_M=32, BLOCK_N=32, BLOCK_K=32, GROUP_M=8, ACTIVATION=activation)
    want = a.astype(np.float64) @ b.astype(np.float64) + (0 if bias is None else bias)
    if activation is not None:
        want = np.where(want >= 0, want, 0.01 * want)
    nereid.testing.assert_close(c, want, atol=2e-2, rtol=2e-3)


@nereid.jit
def masked_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, ACC: tl.constexpr,
):
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    mask_m, mask_n = (offs_m < M)[:, None], (offs_n < N)[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), ACC)
    for k in range(0, K, BLOCK_K):
        at = k + offs_k
        a = tl.load(a_ptr + offs_m[:, None] * stride_am + at[None, :] * stride_ak, mask_m & (at[None, :] < K), 0)
        b = tl.load(b_ptr + at[:, None] * stride_bk + offs_n[None, :] * stride_bn, (at[:, None] < K) & mask_n, 0)
        acc = tl.dot(a, b, acc, out_dtype=ACC)
    tl.store(c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn, acc, mask_m & mask_n)


def part_of_larger(rng, shape, dtype, transposed, row_bytes):
    """A matrix whose rows (columns, if transposed) lie `row_bytes` apart, NaN around it where there is one."""
    inner = shape[::-1] if transposed else shape
    x = random_matrix(rng, inner, dtype)
    whole = np.full((inner[0] + 2, max(row_bytes // x.itemsize, inner[1] + 3)), np.nan if x.dtype.kind != "i" else 99)
    whole = whole.astype(dtype)
    view = whole[1 : 1 + inner[0], 1 : 1 + inner[1]]
    view[...] = x
    return view.T if transposed else view


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("dtype, out, accumulator, tolerance", [
    (np.float32, np.float32, tl.float32, 1e-6), (np.float64, np.float64, tl.float64, 1e-14),
    (np.float16, np.float32, tl.float32, 1e-6), (ml_dtypes.bfloat16, np.float32, tl.float32, 1e-6),
    (np.int8, np.int32, tl.int32, 0),
])
def test_inside_and_at_the_edge(rng, layout, dtype, out, accumulator, tolerance):
    """Tiles that lie whole in the matrix and others: the first are read in place where that pays."""
    for block in [(16, 16, 16), (32, 32, 32), (64, 64, 32), (16, 128, 16), (128, 64, 64), (8, 32, 4)]:
        m, n, k = (int(size * rng.integers(1, 3) + rng.choice([0, 0, -1, 1, size // 2])) for size in block)
        row_bytes = int(rng.choice([0, 4096]))
        a = part_of_larger(rng, (m, k), dtype, layout[0] == "t", row_bytes)
        b = part_of_larger(rng, (k, n), dtype, layout[1] == "t", row_bytes)
        c = np.zeros((m, n), out)
        masked_kernel[(nereid.cdiv(m, block[0]), nereid.cdiv(n, block[1]))](
            a, b, c, m, n, k, *element_strides(a), *element_strides(b), *element_strides(c),
            BLOCK_M=block[0], BLOCK_N=block[1], BLOCK_K=block[2], ACC=accumulator)
        a64, b64 = a.astype(np.float64), b.astype(np.float64)
        bound = tolerance * (np.abs(a64) @ np.abs(b64)).max()
        nereid.testing.assert_close(c, a64 @ b64, atol=bound, rtol=0)


@nereid.jit
def split_k_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK: tl.constexpr, SPLIT: tl.constexpr):
    pid_m, pid_n, pid_k = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    offs_m = pid_m * BLOCK + tl.arange(0, BLOCK)
    offs_n = pid_n * BLOCK + tl.arange(0, BLOCK)
    offs_k = pid_k * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(pid_k * BLOCK, K, BLOCK * SPLIT):
        a = tl.load(a_ptr + offs_m[:, None] * K + offs_k[None, :], (offs_m[:, None] < M) & (offs_k[None, :] < K), 0.0)
        b = tl.load(b_ptr + offs_k[:, None] * N + offs_n[None, :], (offs_k[:, None] < K) & (offs_n[None, :] < N), 0.0)
        acc += tl.dot(a, b)
        offs_k += BLOCK * SPLIT
    tl.atomic_add(c_ptr + offs_m[:, None] * N + offs_n[None, :], acc, (offs_m[:, None] < M) & (offs_n[None, :] < N))


@pytest.mark.parametrize("split", [1, 3, 4])
def test_split_k(rng, split):
    m, n, k = (int(size) for size in rng.integers(1, 150, 3))
    a, b = random_matrix(rng, (m, k), np.float32), random_matrix(rng, (k, n), np.float32)
    c = np.zeros((m, n), np.float32)
    split_k_kernel[(nereid.cdiv(m, 32), nereid.cdiv(n, 32), split)](a, b, c, m, n, k, BLOCK=32, SPLIT=split)
    nereid.testing.assert_close(c, a.astype(np.float64) @ b.astype(np.float64), atol=1e-4, rtol=1e-5)


@nereid.jit
def block_pointer_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    a_block = tl.make_block_ptr(a_ptr, (M, K), (stride_am, stride_ak), (pid_m * BLOCK_M, 0), (BLOCK_M, BLOCK_K), (1, 0))
    b_block = tl.make_block_ptr(b_ptr, (K, N), (stride_bk, stride_bn), (0, pid_n * BLOCK_N), (BLOCK_K, BLOCK_N), (1, 0))
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_block, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(b_block, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(a, b, acc)
        a_block = tl.advance(a_block, (0, BLOCK_K))
        b_block = tl.advance(b_block, (BLOCK_K, 0))
    c_block = tl.make_block_ptr(
        c_ptr, (M, N), (stride_cm, stride_cn), (pid_m * BLOCK_M, pid_n * BLOCK_N), (BLOCK_M, BLOCK_N), (1, 0))
    tl.store(c_block, acc.to(c_ptr.dtype.element_ty), boundary_check=(0, 1))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_block_pointers(rng, dtype):
    m, n, k = (int(size) for size in rng.integers(1, 150, 3))
    a, b = random_matrix(rng, (m, k), dtype), random_matrix(rng, (k, n), dtype, transposed=True)
    c = np.zeros((m, n), dtype)
    block_pointer_kernel[(nereid.cdiv(m, 32), nereid.cdiv(n, 64))](
        a, b, c, m, n, k, *element_strides(a), *element_strides(b), *element_strides(c),
        BLOCK_M=32, BLOCK_N=64, BLOCK_K=16)
    tolerance = 1e-4 if dtype == np.float32 else 2e-2
    nereid.testing.assert_close(c, a.astype(np.float64) @ b.astype(np.float64), atol=tolerance, rtol=tolerance)


@nereid.jit
def batched_kernel(a_ptr, b_ptr, c_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    ob = tl.arange(0, B)[:, None, None]
    om, ok, on = tl.arange(0, M), tl.arange(0, K), tl.arange(0, N)
    a = tl.load(a_ptr + ob * (M * K) + om[None, :, None] * K + ok[None, None, :])
    b = tl.load(b_ptr + ob * (K * N) + ok[None, :, None] * N + on[None, None, :])
    tl.store(c_ptr + ob * (M * N) + om[None, :, None] * N + on[None, None, :], tl.dot(a, b))


@pytest.mark.parametrize("shape", [(1, 16, 16, 16), (4, 16, 32, 16), (3, 5, 7, 9), (2, 1, 1, 1), (2, 33, 17, 65)])
def test_batches_and_odd_tiles(rng, shape):
    batch, m, n, k = shape
    a, b = random_matrix(rng, (batch, m, k), np.float32), random_matrix(rng, (batch, k, n), np.float32)
    c = np.zeros((batch, m, n), np.float32)
    batched_kernel[(1,)](a, b, c, B=batch, M=m, N=n, K=k)
    nereid.testing.assert_close(c, a.astype(np.float64) @ b.astype(np.float64), atol=1e-5, rtol=1e-5)
