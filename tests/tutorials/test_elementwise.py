# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dropout with seeds, device libraries, rotary embedding, gated activations, embedding
gather and its gradient, quantisation to int8 and fp8, a convolution and a stencil."""

import ml_dtypes
import numpy as np
import pytest

import nereid as triton
import nereid.language as tl
from nereid.language.extra import libdevice
from nereid.testing import assert_close

DTYPES = [(np.float32, 1e-5), (np.float16, 2e-3), (ml_dtypes.bfloat16, 2e-2)]


# ---- dropout


@triton.jit
def seeded_dropout(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    keep = tl.rand(seed, offs) > p
    tl.store(out_ptr + offs, tl.where(keep, x / (1 - p), 0.0), mask=mask)


def philox(seed, offsets, rounds=10):
    """The first word of Philox 4x32."""
    c = [np.asarray(offsets, np.uint32), *(np.zeros(len(offsets), np.uint32) for _ in range(3))]
    k0, k1 = np.uint32(seed & 0xFFFFFFFF), np.uint32((seed >> 32) & 0xFFFFFFFF)
    for _ in range(rounds):
        a, b = c[0].astype(np.uint64) * np.uint64(0xD2511F53), c[2].astype(np.uint64) * np.uint64(0xCD9E8D57)
        high_a, high_b = (a >> np.uint64(32)).astype(np.uint32), (b >> np.uint64(32)).astype(np.uint32)
        c = [high_b ^ c[1] ^ k0, b.astype(np.uint32), high_a ^ c[3] ^ k1, a.astype(np.uint32)]
        with np.errstate(over="ignore"):
            k0, k1 = k0 + np.uint32(0x9E3779B9), k1 + np.uint32(0xBB67AE85)
    return c[0]


@pytest.mark.parametrize("dtype, tolerance", DTYPES)
def test_seeded_dropout(rng, dtype, tolerance):
    n, p = int(rng.integers(1, 3000)), float(np.float32(rng.random() * 0.9))
    x = rng.standard_normal(n).astype(dtype)
    outputs = []
    for seed in (123, 123, 2**40 + 7):
        y = np.empty_like(x)
        seeded_dropout[(triton.cdiv(n, 256),)](x, y, n, p, seed, BLOCK=256)
        word = philox(seed, np.arange(n)).view(np.int32)
        uniform = np.where(word < 0, ~word, word).astype(np.float32) * np.float32(4.6566127342e-10)
        assert_close(y, np.where(uniform > np.float32(p), x.astype(np.float64) / (1 - p), 0), rtol=tolerance)
        outputs.append(y)
    np.testing.assert_array_equal(outputs[0], outputs[1])


# ---- device libraries


@triton.jit
def library_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, libdevice.asin(x) + libdevice.pow(x, 2.0) * libdevice.tanh(x), mask=offs < n)


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-6), (np.float64, 1e-12)])
def test_library(rng, dtype, tolerance):
    x = (2 * rng.random(int(rng.integers(1, 500))) - 1).astype(dtype)
    y = np.empty_like(x)
    library_kernel[(triton.cdiv(x.size, 128),)](x, y, x.size, BLOCK=128)
    wide = x.astype(np.float64)
    assert_close(y, np.arcsin(wide) + wide**2 * np.tanh(wide), atol=5 * tolerance, rtol=5 * tolerance)


# ---- rotary embedding


@triton.jit
def rotary_kernel(
    x_ptr, cos_ptr, sin_ptr, stride_token, HEADS, HALF, BACKWARD: tl.constexpr, INTERLEAVED: tl.constexpr,
    BLOCK_H: tl.constexpr, BLOCK_D: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64)
    heads = tl.arange(0, BLOCK_H)
    d = tl.arange(0, BLOCK_D)
    cos = tl.load(cos_ptr + token * HALF + d, mask=d < HALF, other=0.0)
    sin = tl.load(sin_ptr + token * HALF + d, mask=d < HALF, other=0.0)
    if BACKWARD:
        sin = -sin
    base = x_ptr + token * stride_token + heads[:, None] * (2 * HALF)
    mask = (heads[:, None] < HEADS) & (d[None, :] < HALF)
    first = base + (d * 2 if INTERLEAVED else d)[None, :]
    second = first + (1 if INTERLEAVED else HALF)
    a = tl.load(first, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(second, mask=mask, other=0.0).to(tl.float32)
    tl.store(first, a * cos - b * sin, mask=mask)
    tl.store(second, b * cos + a * sin, mask=mask)


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("dtype, tolerance", DTYPES)
def test_rotary_embedding(rng, dtype, tolerance, interleaved):
    tokens, heads, half = (int(n) for n in rng.integers(1, 20, 3))
    x = rng.standard_normal((tokens, heads, 2 * half)).astype(dtype)
    angles = rng.random((tokens, half)) * 6
    cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    y = x.copy()
    options = dict(INTERLEAVED=interleaved, BLOCK_H=triton.next_power_of_2(heads), BLOCK_D=triton.next_power_of_2(half))
    rotary_kernel[(tokens,)](y, cos, sin, heads * 2 * half, heads, half, BACKWARD=False, **options)
    x64, c, s = x.astype(np.float64), np.cos(angles)[:, None], np.sin(angles)[:, None]
    a, b = (x64[..., 0::2], x64[..., 1::2]) if interleaved else (x64[..., :half], x64[..., half:])
    want = np.empty_like(x64)
    parts = (a * c - b * s, b * c + a * s)
    if interleaved:
        want[..., 0::2], want[..., 1::2] = parts
    else:
        want[..., :half], want[..., half:] = parts
    assert_close(y, want, atol=tolerance, rtol=tolerance)
    rotary_kernel[(tokens,)](y, cos, sin, heads * 2 * half, heads, half, BACKWARD=True, **options)
    assert_close(y, x64, atol=4 * tolerance, rtol=4 * tolerance)


# ---- gated activations


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def gelu_tanh(x):
    return 0.5 * x * (1 + libdevice.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


@triton.jit
def gated_kernel(x_ptr, y_ptr, N, ACTIVATION: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offs = tl.arange(0, BLOCK)
    gate = tl.load(x_ptr + row * 2 * N + offs, mask=offs < N, other=0).to(tl.float32)
    up = tl.load(x_ptr + row * 2 * N + N + offs, mask=offs < N, other=0)
    tl.store(y_ptr + row * N + offs, ACTIVATION(gate).cast(up.dtype) * up, mask=offs < N)


@pytest.mark.parametrize("activation", [silu, gelu_tanh], ids=["silu", "gelu"])
@pytest.mark.parametrize("dtype, tolerance", DTYPES)
def test_gated_activation(rng, dtype, tolerance, activation):
    rows, n = (int(size) for size in rng.integers(1, 90, 2))
    x, y = rng.standard_normal((rows, 2 * n)).astype(dtype), np.empty((rows, n), dtype)
    gated_kernel[(rows,)](x, y, n, ACTIVATION=activation, BLOCK=triton.next_power_of_2(n))
    gate, up = x[:, :n].astype(np.float64), x[:, n:].astype(np.float64)
    if activation is silu:
        gate = gate / (1 + np.exp(-gate))
    else:
        gate = 0.5 * gate * (1 + np.tanh(0.7978845608028654 * (gate + 0.044715 * gate**3)))
    assert_close(y, gate * up, atol=2 * tolerance, rtol=2 * tolerance)


# ---- embedding


@triton.jit
def embedding_kernel(out_ptr, ids_ptr, table_ptr, N, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    row = tl.load(ids_ptr + token)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + token * N + cols, tl.load(table_ptr + row * N + cols, mask=cols < N), mask=cols < N)


@triton.jit
def embedding_grad_kernel(grad_table_ptr, grad_ptr, ids_ptr, N, padding, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    row = tl.load(ids_ptr + token)
    if row != padding:
        cols = tl.arange(0, BLOCK)
        grad = tl.load(grad_ptr + token * N + cols, mask=cols < N, other=0.0)
        tl.atomic_add(grad_table_ptr + row * N + cols, grad, mask=cols < N)


@pytest.mark.parametrize("id_type", [np.int32, np.int64])
@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-5), (np.float16, 2e-2)])
def test_embedding(rng, dtype, tolerance, id_type):
    tokens, rows, n = (int(size) for size in rng.integers(2, 50, 3))
    ids = rng.integers(0, rows, tokens).astype(id_type)
    table, grad = rng.standard_normal((rows, n)).astype(dtype), rng.standard_normal((tokens, n)).astype(dtype)
    out = np.empty((tokens, n), dtype)
    embedding_kernel[(tokens, triton.cdiv(n, 16))](out, ids, table, n, BLOCK=16)
    np.testing.assert_array_equal(out, table[ids])
    got, want = np.zeros((rows, n), dtype), np.zeros((rows, n))
    embedding_grad_kernel[(tokens,)](got, grad, ids, n, 1, BLOCK=triton.next_power_of_2(n))
    np.add.at(want, ids[ids != 1], grad[ids != 1].astype(np.float64))
    assert_close(got, want, atol=tolerance, rtol=tolerance)


# ---- quantisation


@triton.jit
def quantise_kernel(x_ptr, q_ptr, scale_ptr, N, LIMIT: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + offs, mask=offs < N, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(x)), 1e-10) / LIMIT
    q = x / scale
    if q_ptr.dtype.element_ty == tl.int8:
        q = libdevice.rint(q)
    q = tl.clamp(q, -LIMIT, LIMIT)
    tl.store(q_ptr + row * N + offs, q.to(q_ptr.dtype.element_ty), mask=offs < N)
    tl.store(scale_ptr + row, scale)


@triton.jit
def dequantise_kernel(q_ptr, scale_ptr, y_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    q = tl.load(q_ptr + rows[:, None] * N + cols[None, :], mask=mask)
    scale = tl.load(scale_ptr + rows, mask=rows < M)
    tl.store(y_ptr + rows[:, None] * N + cols[None, :], q.to(tl.float32) * scale[:, None], mask=mask)


@pytest.mark.parametrize("dtype, limit, step", [
    (np.int8, 127.0, 0.5 / 127), (ml_dtypes.float8_e4m3fn, 448.0, 2.0**-4), (ml_dtypes.float8_e5m2, 57344.0, 2.0**-3),
])
def test_quantisation(rng, dtype, limit, step):
    rows, n = (int(size) for size in rng.integers(1, 90, 2))
    x = rng.standard_normal((rows, n)).astype(np.float32)
    q, scale, y = np.empty((rows, n), dtype), np.empty(rows, np.float32), np.empty((rows, n), np.float32)
    quantise_kernel[(rows,)](x, q, scale, n, LIMIT=limit, BLOCK=triton.next_power_of_2(n))
    x64 = x.astype(np.float64)
    assert_close(scale, np.maximum(np.abs(x64).max(axis=1), 1e-10) / limit, rtol=1e-6)
    exact = x64 / scale[:, None].astype(np.float64)
    if dtype is np.int8:
        # Quotients that lie within rounding of a half may go either way.
        assert (np.abs(q - exact) <= 0.5 + 1e-4).all()
    else:
        near = exact.astype(np.float32).astype(dtype).astype(np.float64)
        assert (np.abs(q.astype(np.float64) - exact) <= np.abs(near - exact) * (1 + 1e-3) + 1e-5).all()
    dequantise_kernel[(triton.cdiv(rows, 16), triton.cdiv(n, 32))](q, scale, y, rows, n, BLOCK_M=16, BLOCK_N=32)
    assert_close(y, q.astype(np.float64) * scale[:, None], rtol=1e-6)
    assert (np.abs(y - x64) <= step * np.abs(x64).max(axis=1, keepdims=True) * 1.01).all()


# ---- convolution and stencil


@triton.jit
def conv2d_kernel(
    x_ptr, w_ptr, y_ptr, C, H, W, OUT_C, OUT_H, OUT_W, STRIDE, PAD,
    KH: tl.constexpr, KW: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_O: tl.constexpr, BLOCK_C: tl.constexpr,
):
    """As a product of matrices: pixels by channels of the output, tap by tap."""
    pixel = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    out_c = tl.program_id(1) * BLOCK_O + tl.arange(0, BLOCK_O)
    image = tl.program_id(2)
    oh, ow = pixel // OUT_W, pixel % OUT_W
    acc = tl.zeros([BLOCK_P, BLOCK_O], tl.float32)
    for kh in tl.static_range(KH):
        for kw in tl.static_range(KW):
            h, w = oh * STRIDE - PAD + kh, ow * STRIDE - PAD + kw
            inside = (pixel < OUT_H * OUT_W) & (h >= 0) & (h < H) & (w >= 0) & (w < W)
            for c0 in range(0, C, BLOCK_C):
                c = c0 + tl.arange(0, BLOCK_C)
                x = tl.load(x_ptr + ((image * C + c)[None, :] * H + h[:, None]) * W + w[:, None],
                            mask=inside[:, None] & (c < C)[None, :], other=0.0)
                weight = tl.load(w_ptr + ((out_c[None, :] * C + c[:, None]) * KH + kh) * KW + kw,
                                 mask=(out_c < OUT_C)[None, :] & (c < C)[:, None], other=0.0)
                acc += tl.dot(x, weight)
    tl.store(y_ptr + (image * OUT_C + out_c)[None, :] * (OUT_H * OUT_W) + pixel[:, None], acc,
             mask=(out_c < OUT_C)[None, :] & (pixel < OUT_H * OUT_W)[:, None])


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-4), (np.float16, 1e-2)])
@pytest.mark.parametrize("kernel, stride, pad", [((3, 3), 1, 1), ((1, 5), 2, 0), ((2, 3), 1, 2)])
def test_convolution(rng, dtype, tolerance, kernel, stride, pad):
    images, channels, outputs = 2, int(rng.integers(1, 12)), int(rng.integers(1, 20))
    height, width = (int(size) for size in rng.integers(5, 14, 2))
    x = rng.standard_normal((images, channels, height, width)).astype(dtype)
    w = rng.standard_normal((outputs, channels, *kernel)).astype(dtype)
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=(2, 3))[:, :, ::stride, ::stride]
    want = np.einsum("nchwij,ocij->nohw", windows, w.astype(np.float64))
    y = np.empty(want.shape, np.float32)
    out_h, out_w = want.shape[2:]
    conv2d_kernel[(triton.cdiv(out_h * out_w, 32), triton.cdiv(outputs, 16), images)](
        x, w, y, channels, height, width, outputs, out_h, out_w, stride, pad, KH=kernel[0], KW=kernel[1], BLOCK_P=32,
        BLOCK_O=16, BLOCK_C=8)
    assert_close(y, want, atol=tolerance * 4, rtol=tolerance)


@triton.jit
def stencil_kernel(x_ptr, y_ptr, H, W, alpha, BLOCK_H: tl.constexpr, BLOCK_W: tl.constexpr):
    h = (tl.program_id(0) * BLOCK_H + tl.arange(0, BLOCK_H))[:, None]
    w = (tl.program_id(1) * BLOCK_W + tl.arange(0, BLOCK_W))[None, :]
    mask = (h < H) & (w < W)
    center = tl.load(x_ptr + h * W + w, mask=mask, other=0.0)
    around = tl.load(x_ptr + (h - 1) * W + w, mask=mask & (h > 0), other=0.0)
    around += tl.load(x_ptr + (h + 1) * W + w, mask=mask & (h + 1 < H), other=0.0)
    around += tl.load(x_ptr + h * W + w - 1, mask=mask & (w > 0), other=0.0)
    around += tl.load(x_ptr + h * W + w + 1, mask=mask & (w + 1 < W), other=0.0)
    tl.store(y_ptr + h * W + w, center + alpha * (around - 4 * center), mask=mask)


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-5), (np.float64, 1e-7)])
def test_stencil(rng, dtype, tolerance):
    for _ in range(3):
        shape = tuple(int(size) for size in rng.integers(1, 60, 2))
        x = rng.standard_normal(shape).astype(dtype)
        y = np.empty_like(x)
        stencil_kernel[(triton.cdiv(shape[0], 8), triton.cdiv(shape[1], 32))](x, y, *shape, 0.25, BLOCK_H=8, BLOCK_W=32)
        p = np.pad(x.astype(np.float64), 1)
        c = p[1:-1, 1:-1]
        assert_close(y, c + 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * c), atol=tolerance)
