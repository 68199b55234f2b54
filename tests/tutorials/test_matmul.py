# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of matrices: grouped order with epilogues, grouped GEMM through arrays of
addresses, persistent programs with descriptors, split K with atomics, int8."""

import ml_dtypes
import numpy as np
import pytest

import nereid as triton
import nereid.language as tl
from nereid import TensorDescriptor
from nereid.testing import assert_close

DTYPES = [(np.float32, 1e-4), (np.float16, 5e-3), (ml_dtypes.bfloat16, 4e-2)]


def operands(rng, dtype, top=90):
    m, n, k = (int(size) for size in rng.integers(1, top, 3))
    a, b = (rng.standard_normal(shape).astype(dtype) for shape in ((m, k), (k, n)))
    return a, b, a.astype(np.float64) @ b.astype(np.float64)


@triton.jit
def leaky_relu(x, slope=0.01):
    return tl.where(x >= 0, x, slope * x)


@triton.autotune(
    configs=[triton.Config({"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 16, "GROUP_M": 4}, num_stages=3, num_warps=8)],
    key=["M", "N", "K"],
)
@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, bias_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
    ACTIVATION: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    num_m = tl.cdiv(M, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * num_n
    first_m = pid // in_group * GROUP_M
    rows = min(num_m - first_m, GROUP_M)
    pid_m = first_m + pid % in_group % rows
    pid_n = pid % in_group // rows
    tl.assume(pid_m >= 0)
    tl.assume(stride_am > 0)
    offs_m = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_n = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if bias_ptr is not None:
        acc += tl.load(bias_ptr + offs_n)[None, :].to(tl.float32)
    if ACTIVATION == "leaky_relu":
        acc = leaky_relu(acc)
    offs_cm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + stride_cm * offs_cm[:, None] + stride_cn * offs_cn[None, :]
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=(offs_cm[:, None] < M) & (offs_cn[None, :] < N))


@pytest.mark.parametrize("activation", ["", "leaky_relu"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype, tolerance", DTYPES)
def test_grouped_order_with_epilogues(rng, dtype, tolerance, bias, activation):
    a, b, want = operands(rng, dtype)
    if rng.random() < 0.5:  # a transposed operand
        b = np.ascontiguousarray(b.T).T
    (m, k), n = a.shape, b.shape[1]
    c = np.empty((m, n), dtype)
    add = rng.standard_normal(n).astype(dtype) if bias else None
    matmul_kernel[lambda meta: (triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)](
        a, b, c, add, m, n, k, k, 1, *(s // b.itemsize for s in b.strides), n, 1, ACTIVATION=activation)
    if bias:
        want = want + add.astype(np.float64)
    if activation:
        want = np.where(want >= 0, want, 0.01 * want)
    assert_close(c, want, atol=tolerance * np.sqrt(k), rtol=tolerance)


def test_int8(rng):
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((37, 51), (51, 22)))
    c = np.empty((37, 22), np.int32)

    @triton.jit
    def kernel(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
        m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
        x = tl.load(a_ptr + m[:, None] * K + k, mask=(m[:, None] < M) & (k < K), other=0)
        y = tl.load(b_ptr + k[:, None] * N + n, mask=(k[:, None] < K) & (n < N), other=0)
        tl.store(c_ptr + m[:, None] * N + n, tl.dot(x, y), mask=(m[:, None] < M) & (n < N))

    kernel[(1,)](a, b, c, 37, 22, 51, BM=64, BN=32, BK=64)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


# ---- grouped GEMM


@triton.jit
def grouped_gemm_kernel(
    a_ptrs, b_ptrs, c_ptrs, sizes_ptr, strides_ptr, num_gemms,
    DTYPE: tl.constexpr, NUM_PROGRAMS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    tile = tl.program_id(0)
    last_end = 0
    for g in range(num_gemms):
        M = tl.load(sizes_ptr + g * 3)
        N = tl.load(sizes_ptr + g * 3 + 1)
        K = tl.load(sizes_ptr + g * 3 + 2)
        num_m = tl.cdiv(M, BLOCK_M)
        num_n = tl.cdiv(N, BLOCK_N)
        num_tiles = num_m * num_n
        while tile >= last_end and tile < last_end + num_tiles:
            lda = tl.load(strides_ptr + g * 3)
            ldb = tl.load(strides_ptr + g * 3 + 1)
            ldc = tl.load(strides_ptr + g * 3 + 2)
            a_ptr = tl.load(a_ptrs + g).to(tl.pointer_type(DTYPE))
            b_ptr = tl.load(b_ptrs + g).to(tl.pointer_type(DTYPE))
            c_ptr = tl.load(c_ptrs + g).to(tl.pointer_type(DTYPE))
            here = tile - last_end
            offs_m = here // num_n * BLOCK_M + tl.arange(0, BLOCK_M)
            offs_n = here % num_n * BLOCK_N + tl.arange(0, BLOCK_N)
            offs_k = tl.arange(0, BLOCK_K)
            acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for k in range(0, K, BLOCK_K):
                tl.multiple_of(a_ptr, [4])
                a = tl.load(a_ptr + offs_m[:, None] * lda + (k + offs_k)[None, :],
                            mask=(offs_m[:, None] < M) & ((k + offs_k)[None, :] < K), other=0.0)
                b = tl.load(b_ptr + (k + offs_k)[:, None] * ldb + offs_n[None, :],
                            mask=((k + offs_k)[:, None] < K) & (offs_n[None, :] < N), other=0.0)
                acc += tl.dot(a, b)
            tl.store(c_ptr + offs_m[:, None] * ldc + offs_n[None, :], acc.to(DTYPE),
                     mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))
            tile += NUM_PROGRAMS
        last_end = last_end + num_tiles


@pytest.mark.parametrize("dtype, name, tolerance", [(np.float32, tl.float32, 1e-4), (np.float16, tl.float16, 5e-3)])
def test_grouped_gemm(rng, dtype, name, tolerance):
    groups = [operands(rng, dtype) for _ in range(4)]
    outputs = [np.empty(want.shape, dtype) for _, _, want in groups]
    address = lambda arrays: np.array([x.ctypes.data for x in arrays], np.int64)  # noqa: E731
    sizes = np.array([(a.shape[0], b.shape[1], a.shape[1]) for a, b, _ in groups], np.int32)
    strides = np.array([(a.shape[1], b.shape[1], b.shape[1]) for a, b, _ in groups], np.int32)
    grouped_gemm_kernel[(3,)](
        address([a for a, _, _ in groups]), address([b for _, b, _ in groups]), address(outputs), sizes, strides,
        len(groups), DTYPE=name, NUM_PROGRAMS=3, BLOCK_M=32, BLOCK_N=16, BLOCK_K=16)
    for (a, _, want), c in zip(groups, outputs):
        assert_close(c, want, atol=tolerance * np.sqrt(a.shape[1]), rtol=tolerance)


# ---- persistent programs with descriptors


@triton.jit
def tile_position(tile, num_m, num_n, GROUP_M: tl.constexpr):
    in_group = GROUP_M * num_n
    first_m = tile // in_group * GROUP_M
    rows = min(num_m - first_m, GROUP_M)
    return first_m + tile % rows, tile % in_group // rows


@triton.jit
def persistent_kernel(
    a_desc, b_desc, c_desc, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
    SPLIT: tl.constexpr,
):
    dtype = c_desc.dtype
    num_m = tl.cdiv(M, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), num_m * num_n, tl.num_programs(0), flatten=True, warp_specialize=False):
        pid_m, pid_n = tile_position(tile, num_m, num_n, GROUP_M)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(tl.cdiv(K, BLOCK_K)):
            a = a_desc.load([pid_m * BLOCK_M, k * BLOCK_K])
            b = b_desc.load([pid_n * BLOCK_N, k * BLOCK_K])
            acc = tl.dot(a, b.T, acc)
        if SPLIT:
            halves = tl.permute(tl.reshape(acc, (BLOCK_M, 2, BLOCK_N // 2)), (0, 2, 1))
            left, right = tl.split(halves)
            c_desc.store([pid_m * BLOCK_M, pid_n * BLOCK_N], left.to(dtype))
            c_desc.store([pid_m * BLOCK_M, pid_n * BLOCK_N + BLOCK_N // 2], right.to(dtype))
        else:
            c_desc.store([pid_m * BLOCK_M, pid_n * BLOCK_N], acc.to(dtype))


@triton.jit
def persistent_device_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
    SPLIT: tl.constexpr,
):
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[N, K], strides=[K, 1], block_shape=[BLOCK_N, BLOCK_K])
    c_desc = tl.make_tensor_descriptor(
        c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BLOCK_M, BLOCK_N // 2 if SPLIT else BLOCK_N])
    persistent_kernel(a_desc, b_desc, c_desc, M, N, K, BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M, SPLIT)


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("made_on", ["host", "device"])
@pytest.mark.parametrize("dtype, tolerance", DTYPES)
def test_persistent_with_descriptors(rng, dtype, tolerance, made_on, split):
    a, b, want = operands(rng, dtype, 120)
    b = np.ascontiguousarray(b.T)
    (m, k), n = a.shape, b.shape[0]
    c = np.zeros((m, n), dtype)
    blocks = dict(BLOCK_M=16, BLOCK_N=32, BLOCK_K=16, GROUP_M=2, SPLIT=split)
    if made_on == "host":
        described = [
            TensorDescriptor(a, a.shape, [k, 1], [16, 16]), TensorDescriptor(b, b.shape, [k, 1], [32, 16]),
            TensorDescriptor.from_tensor(c, [16, 16 if split else 32]),
        ]
        persistent_kernel[(3,)](*described, m, n, k, **blocks)
    else:
        triton.set_allocator(lambda size, alignment, stream: np.empty(size, np.int8))
        persistent_device_kernel[(3,)](a, b, c, m, n, k, **blocks)
    assert_close(c, want, atol=tolerance * np.sqrt(k), rtol=tolerance)


# ---- split K


@triton.jit
def split_k_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT_K: tl.constexpr,
):
    pid = tl.program_id(0)
    pid_k = tl.program_id(1)
    num_n = tl.cdiv(N, BLOCK_N)
    offs_m = pid // num_n * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid % num_n * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(pid_k * BLOCK_K, K, BLOCK_K * SPLIT_K):
        offs_k = k + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + offs_m[:, None] * K + offs_k[None, :],
                    mask=(offs_m[:, None] < M) & (offs_k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + offs_k[:, None] * N + offs_n[None, :],
                    mask=(offs_k[:, None] < K) & (offs_n[None, :] < N), other=0.0)
        acc += tl.dot(a, b, out_dtype=tl.float32)
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    tl.atomic_add(c_ptr + offs_m[:, None] * N + offs_n[None, :], acc, mask=mask, sem="relaxed")


@pytest.mark.parametrize("split", [1, 3])
def test_split_k(rng, split):
    a, b, want = operands(rng, np.float32)
    (m, k), n = a.shape, b.shape[1]
    c = np.zeros((m, n), np.float32)
    split_k_kernel[(triton.cdiv(m, 16) * triton.cdiv(n, 16), split)](
        a, b, c, m, n, k, BLOCK_M=16, BLOCK_N=16, BLOCK_K=16, SPLIT_K=split)
    assert_close(c, want, atol=1e-4, rtol=1e-4)


# ---- block-scaled operands


@triton.jit
def block_scaled_kernel(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, M, N, K,
    A_FORMAT: tl.constexpr, B_FORMAT: tl.constexpr, A_PACK: tl.constexpr, B_PACK: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    """a is M x K, b is stored as N x K; PACK elements of e2m1 share a byte; one scale (a power
    of two, e8m0) for 32 elements along K."""
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    rows, cols = (offs_m < M)[:, None], (offs_n < N)[:, None]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        offs_a = k // A_PACK + tl.arange(0, BLOCK_K // A_PACK)
        offs_b = k // B_PACK + tl.arange(0, BLOCK_K // B_PACK)
        offs_s = k // 32 + tl.arange(0, BLOCK_K // 32)
        a = tl.load(a_ptr + offs_m[:, None] * (K // A_PACK) + offs_a[None, :], mask=rows, other=0)
        b = tl.load(b_ptr + offs_n[:, None] * (K // B_PACK) + offs_b[None, :], mask=cols, other=0)
        a_scale = tl.load(a_scale_ptr + offs_m[:, None] * (K // 32) + offs_s[None, :], mask=rows, other=127)
        b_scale = tl.load(b_scale_ptr + offs_n[:, None] * (K // 32) + offs_s[None, :], mask=cols, other=127)
        acc = tl.dot_scaled(a, a_scale, A_FORMAT, b.T, b_scale, B_FORMAT, acc)
    tl.store(c_ptr + offs_m[:, None] * N + offs_n[None, :], acc, mask=rows & (offs_n < N)[None, :])


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def scaled_operand(rng, kind, rows, k):
    """(elements as stored, scales, values in float64)."""
    scales = rng.integers(123, 131, (rows, k // 32)).astype(np.uint8)
    factor = np.repeat(2.0 ** (scales.astype(np.float64) - 127), 32, axis=1)
    if kind == "e2m1":
        codes = rng.integers(0, 16, (rows, k)).astype(np.uint8)
        return (codes[:, 0::2] | (codes[:, 1::2] << 4)), scales, E2M1[codes] * factor
    dtype = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}[kind]
    values = rng.standard_normal((rows, k)).astype(np.float32).astype(dtype)
    return values, scales, values.astype(np.float64) * factor


@pytest.mark.parametrize("a_format, b_format", [("e4m3", "e4m3"), ("e5m2", "e4m3"), ("e2m1", "e2m1"), ("e4m3", "e2m1")])
def test_block_scaled(rng, a_format, b_format):
    m, n, k = int(rng.integers(1, 50)), int(rng.integers(1, 50)), 64 * int(rng.integers(1, 4))
    a, a_scale, a64 = scaled_operand(rng, a_format, m, k)
    b, b_scale, b64 = scaled_operand(rng, b_format, n, k)
    c = np.empty((m, n), np.float32)
    block_scaled_kernel[(triton.cdiv(m, 16), triton.cdiv(n, 32))](
        a, a_scale, b, b_scale, c, m, n, k, A_FORMAT=a_format, B_FORMAT=b_format,
        A_PACK=2 if a_format == "e2m1" else 1, B_PACK=2 if b_format == "e2m1" else 1,
        BLOCK_M=16, BLOCK_N=32, BLOCK_K=64)
    want = a64 @ b64.T
    assert_close(c, want, atol=1e-5 * np.abs(want).max() + 1e-6, rtol=1e-5)
