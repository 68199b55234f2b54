# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, scans, shapes, loops that carry tiles, products."""

import ml_dtypes
import numpy as np
import pytest

import nereid
import nereid.language as tl


@nereid.jit
def reduce_kernel(x_ptr, sum_ptr, max_ptr, argmin_ptr, xor_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr,
                  AXIS: tl.constexpr, SIZE: tl.constexpr):
    offs = (tl.arange(0, A)[:, None, None] * B + tl.arange(0, B)[None, :, None]) * C + tl.arange(0, C)[None, None, :]
    x = tl.load(x_ptr + offs)
    out = tl.arange(0, SIZE)
    tl.store(sum_ptr + out, tl.reshape(tl.sum(x, AXIS), (SIZE,)))
    tl.store(max_ptr + out, tl.reshape(tl.max(x, AXIS), (SIZE,)))
    tl.store(argmin_ptr + out, tl.reshape(tl.argmin(x, AXIS), (SIZE,)))
    tl.store(xor_ptr + out, tl.reshape(tl.xor_sum((x * 100).to(tl.int32), AXIS), (SIZE,)))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 1, 7), (3, 5, 7), (2, 17, 6), (1, 40, 1), (4, 1, 130), (33, 2, 3),
                                   (8, 16, 32), (1, 5, 100)])
def test_reductions(shape, axis, rng):
    x = rng.standard_normal(shape).astype(np.float32)
    size = x.size // shape[axis]
    total, top = np.zeros(size, np.float32), np.zeros(size, np.float32)
    low, bits = np.zeros(size, np.int32), np.zeros(size, np.int32)
    reduce_kernel[(1,)](x, total, top, low, bits, A=shape[0], B=shape[1], C=shape[2], AXIS=axis, SIZE=size)
    # fp32 sums of n terms of size 1: within n ulp.
    np.testing.assert_allclose(total, x.astype(np.float64).sum(axis).ravel(), rtol=1e-5, atol=1e-6 * shape[axis])
    np.testing.assert_array_equal(top, x.max(axis).ravel())
    np.testing.assert_array_equal(low, x.argmin(axis).ravel())
    np.testing.assert_array_equal(bits, np.bitwise_xor.reduce((x * 100).astype(np.int32), axis).ravel())


@nereid.jit
def scan_kernel(x_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    offs = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(y_ptr + offs, tl.cumsum(tl.load(x_ptr + offs), AXIS, reverse=REVERSE))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(1, 1), (5, 20), (17, 3), (1, 33), (40, 1), (8, 64)])
def test_scans(shape, axis, reverse, rng):
    x = rng.standard_normal(shape).astype(np.float32)
    y = np.zeros_like(x)
    scan_kernel[(1,)](x, y, A=shape[0], B=shape[1], AXIS=axis, REVERSE=reverse)
    ordered = np.flip(x, axis) if reverse else x
    expected = np.cumsum(ordered.astype(np.float64), axis)
    np.testing.assert_allclose(y, np.flip(expected, axis) if reverse else expected, rtol=1e-5, atol=1e-5)


@nereid.jit
def loop_kernel(x_ptr, y_ptr, n, A: tl.constexpr, B: tl.constexpr):
    offs = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    a = tl.load(x_ptr + offs)
    b = a * 2
    total = tl.zeros((A, B), dtype=tl.float32)
    i = 0
    while i < n:
        # A swap, a tile that reads itself in another order, a branch with tiles.
        a, b = b, a + total
        if i % 3 == 1:
            total = tl.reshape(tl.trans(total), (A, B)) + tl.sum(a, 1)[:, None]
        else:
            total = total + b
        i += 1
    for _ in range(n):
        total = tl.reshape(tl.trans(total), (A, B)) * 0.5
    tl.store(y_ptr + offs, total + a - b)


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (4, 4), (5, 20), (16, 16), (33, 18)])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
def test_carried_tiles(shape, n, rng):
    x = rng.standard_normal(shape).astype(np.float32)
    y = np.zeros_like(x)
    loop_kernel[(1,)](x, y, n, A=shape[0], B=shape[1])
    a, b, total = x.astype(np.float64), x.astype(np.float64) * 2, np.zeros(shape)
    for i in range(n):
        a, b = b, a + total
        total = total.T.reshape(shape) + a.sum(1, keepdims=True) if i % 3 == 1 else total + b
    for _ in range(n):
        total = total.T.reshape(shape) * 0.5
    np.testing.assert_allclose(y, total + a - b, rtol=1e-4, atol=1e-4 * max(1, np.abs(total).max()))


@nereid.jit
def shape_kernel(x_ptr, y_ptr, z_ptr, A: tl.constexpr, B: tl.constexpr):
    offs = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    x = tl.load(x_ptr + offs)
    pairs = tl.join(x, x + 1)
    first, second = tl.split(pairs)
    flat = tl.reshape(tl.permute(pairs, (2, 1, 0)), (2 * A * B,))
    tl.store(y_ptr + tl.arange(0, 2 * A * B), flat)
    tl.store(z_ptr + offs, first * 10 + second)


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (16, 16), (5, 20), (33, 18), (64, 2)])
def test_shapes(shape, rng):
    x = rng.standard_normal(shape).astype(np.float32)
    y, z = np.zeros(2 * x.size, np.float32), np.zeros_like(x)
    shape_kernel[(1,)](x, y, z, A=shape[0], B=shape[1])
    np.testing.assert_array_equal(y, np.stack([x, x + 1], -1).transpose(2, 1, 0).ravel())
    # The sum cancels near x = -1/11, and may be fused.
    np.testing.assert_allclose(z, x * 10 + (x + 1), rtol=1e-6, atol=1e-5)


@nereid.jit
def dot_kernel(a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr,
               BK: tl.constexpr, OUT: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    a_ptrs = a_ptr + (rows % M)[:, None] * sam + depth[None, :] * sak
    b_ptrs = b_ptr + depth[:, None] * sbk + columns[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=OUT)
    for k in range(0, tl.cdiv(K, BK)):
        left = K - k * BK
        a = tl.load(a_ptrs, mask=(depth < left)[None, :], other=0)
        b = tl.load(b_ptrs, mask=(depth < left)[:, None] & (columns < N)[None, :], other=0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BK * sak
        b_ptrs += BK * sbk
    mask = (rows < M)[:, None] & (columns < N)[None, :]
    tl.store(c_ptr + rows[:, None] * scm + columns[None, :] * scn, acc, mask=mask)


def strides(array):
    return tuple(s // array.itemsize for s in array.strides)


@pytest.mark.parametrize("block", [(1, 1, 1), (16, 16, 16), (5, 12, 7), (48, 80, 24), (64, 64, 32), (32, 130, 16)])
@pytest.mark.parametrize("dtype, out", [(np.float32, "float32"), (np.float16, "float32"),
                                        (ml_dtypes.bfloat16, "float32"), (np.int8, "int32"), (np.float64, "float64")])
@pytest.mark.parametrize("layout", ["rrr", "ccc", "rcr", "crc"])
def test_products(block, dtype, out, layout, rng, fenced):
    BM, BN, BK = block
    m, n, k = (int(rng.integers(1, 2 * b + 2)) for b in block)

    def matrix(order, rows, columns, kind):
        area = fenced(rows * columns, kind)
        return area.reshape(rows, columns) if order == "r" else area.reshape(columns, rows).T

    a, b = matrix(layout[0], m, k, dtype), matrix(layout[1], k, n, dtype)
    a[:] = (rng.standard_normal(a.shape) * 4).astype(dtype)
    b[:] = (rng.standard_normal(b.shape) * 4).astype(dtype)
    c = matrix(layout[2], m, n, np.dtype(out))
    dot_kernel[(nereid.cdiv(m, BM), nereid.cdiv(n, BN))](a, b, c, m, n, k, *strides(a), *strides(b), *strides(c),
                                                        BM=BM, BN=BN, BK=BK, OUT=getattr(tl, out))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    # fp32 accumulation of k products of size 16.
    np.testing.assert_allclose(c, exact, rtol=1e-5, atol=0 if out == "int32" else 2e-5 * k)


@nereid.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, o_ptr, length, HEAD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    head = tl.arange(0, HEAD)
    q = tl.load(q_ptr + rows[:, None] * HEAD + head[None, :], mask=(rows < length)[:, None], other=0.0)
    top = tl.full((BM,), float("-inf"), tl.float32)
    norm = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, HEAD), tl.float32)
    for start in range(0, length, BN):
        columns = start + tl.arange(0, BN)
        inside = (columns < length)[:, None]
        k = tl.load(k_ptr + columns[:, None] * HEAD + head[None, :], mask=inside, other=0.0)
        v = tl.load(v_ptr + columns[:, None] * HEAD + head[None, :], mask=inside, other=0.0)
        s = tl.dot(q, tl.trans(k)) * 0.125
        s = tl.where((columns < length)[None, :] & (rows[:, None] >= columns[None, :]), s, -1e30)
        new_top = tl.maximum(top, tl.max(s, 1))
        alpha = tl.exp(top - new_top)
        p = tl.exp(s - new_top[:, None])
        norm = norm * alpha + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        top = new_top
    tl.store(o_ptr + rows[:, None] * HEAD + head[None, :], acc / norm[:, None], mask=(rows < length)[:, None])


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 2e-5), (np.float16, 4e-3)])
@pytest.mark.parametrize("head, bm, bn", [(16, 16, 16), (24, 20, 40), (64, 32, 16), (64, 64, 64)])
def test_attention(dtype, tolerance, head, bm, bn, rng):
    length = int(rng.integers(1, 150))
    q, k, v = (rng.standard_normal((length, head)).astype(dtype) for _ in range(3))
    o = np.zeros((length, head), np.float32)
    attention_kernel[(nereid.cdiv(length, bm),)](q, k, v, o, length, HEAD=head, BM=bm, BN=bn)
    s = q.astype(np.float64) @ k.astype(np.float64).T * 0.125
    s = np.where(np.tri(length, dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(1, keepdims=True))
    np.testing.assert_allclose(o, p / p.sum(1, keepdims=True) @ v.astype(np.float64), atol=tolerance)
