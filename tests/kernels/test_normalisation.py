# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layer normalisation forward and backward (with a lock), RMS norm, softmax variants."""

import ml_dtypes
import numpy as np
import pytest

import nereid
import nereid.language as tl

DTYPES = [(np.float32, 2e-5), (np.float16, 5e-3), (ml_dtypes.bfloat16, 3e-2)]


@nereid.jit
def layernorm_forward(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * stride
    y_ptr += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, n, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + cols, mask=cols < n, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / n
    variance = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, n, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < n, other=0.0).to(tl.float32)
        x = tl.where(cols < n, x - mean, 0.0)
        variance += x * x
    rstd = 1 / tl.sqrt(tl.sum(variance, axis=0) / n + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for off in range(0, n, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        mask = cols < n
        w = tl.load(w_ptr + cols, mask=mask)
        b = tl.load(b_ptr + cols, mask=mask)
        x = tl.load(x_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(y_ptr + cols, (x - mean) * rstd * w + b, mask=mask)


@nereid.jit
def layernorm_backward(
    dx_ptr, dy_ptr, dw_ptr, db_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, lock_ptr, stride, n,
    GROUP: tl.constexpr, BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x_ptr += row * stride
    dy_ptr += row * stride
    dx_ptr += row * stride
    lock_id = row % GROUP
    lock_ptr += lock_id
    count_ptr = lock_ptr + GROUP
    dw_ptrs = dw_ptr + lock_id * n + cols
    db_ptrs = db_ptr + lock_id * n + cols
    x = tl.load(x_ptr + cols, mask=mask, other=0).to(tl.float32)
    dy = tl.load(dy_ptr + cols, mask=mask, other=0).to(tl.float32)
    w = tl.load(w_ptr + cols, mask=mask).to(tl.float32)
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    xhat = tl.where(mask, (x - mean) * rstd, 0.0)
    wdy = tl.where(mask, w * dy, 0.0)
    c1 = tl.sum(xhat * wdy, axis=0) / n
    c2 = tl.sum(wdy, axis=0) / n
    tl.store(dx_ptr + cols, (wdy - (xhat * c1 + c2)) * rstd, mask=mask)
    partial_dw = (dy * xhat).to(w.dtype)
    partial_db = dy.to(w.dtype)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    count = tl.load(count_ptr)
    if count == 0:
        tl.atomic_xchg(count_ptr, 1)
    else:
        partial_dw += tl.load(dw_ptrs, mask=mask)
        partial_db += tl.load(db_ptrs, mask=mask)
    tl.store(dw_ptrs, partial_dw, mask=mask)
    tl.store(db_ptrs, partial_db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@pytest.mark.parametrize("dtype, tolerance", DTYPES)
@pytest.mark.parametrize("block", [64, 1024])
def test_layernorm(rng, dtype, tolerance, block):
    rows, n = int(rng.integers(1, 40)), int(rng.integers(1, 700))
    x, dy = (rng.standard_normal((rows, n)).astype(dtype) for _ in range(2))
    w, b = (rng.standard_normal(n).astype(np.float32) for _ in range(2))
    y, dx = np.empty_like(x), np.empty_like(x)
    mean, rstd = np.empty(rows, np.float32), np.empty(rows, np.float32)
    layernorm_forward[(rows,)](x, y, w, b, mean, rstd, x.strides[0] // x.itemsize, n, 1e-5, BLOCK=block)
    x64 = x.astype(np.float64)
    want_mean, want_rstd = x64.mean(1), 1 / np.sqrt(x64.var(1) + 1e-5)
    xhat = (x64 - want_mean[:, None]) * want_rstd[:, None]
    nereid.testing.assert_close(mean, want_mean, atol=1e-5, rtol=1e-4)
    nereid.testing.assert_close(rstd, want_rstd, atol=1e-5, rtol=1e-3)
    nereid.testing.assert_close(y, xhat * w + b, atol=tolerance * (1 if n > 4 else 200), rtol=tolerance)
    if n < 5:
        return  # the backward pass divides by tiny variances there
    group = 3
    locks = np.zeros(2 * group, np.int32)
    dw, db = np.zeros((group, n), np.float32), np.zeros((group, n), np.float32)
    layernorm_backward[(rows,)](
        dx, dy, dw, db, x, w, mean, rstd, locks, n, n, GROUP=group, BLOCK=nereid.next_power_of_2(n))
    dy64 = dy.astype(np.float64)
    wdy = dy64 * w
    c1, c2 = (xhat * wdy).mean(1, keepdims=True), wdy.mean(1, keepdims=True)
    scale = want_rstd.max()
    nereid.testing.assert_close(dx, (wdy - (xhat * c1 + c2)) * want_rstd[:, None], atol=4 * tolerance * scale, rtol=tolerance)
    nereid.testing.assert_close(dw.sum(0), (dy64 * xhat).sum(0), atol=1e-2, rtol=1e-3)
    nereid.testing.assert_close(db.sum(0), dy64.sum(0), atol=1e-3, rtol=1e-4)
    assert (locks[:group] == 0).all()


@nereid.jit
def rmsnorm_kernel(x_ptr, w_ptr, y_ptr, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / n + eps)
    w = tl.load(w_ptr + cols, mask=cols < n, other=0.0)
    tl.store(y_ptr + row * n + cols, (x * scale * w).to(y_ptr.dtype.element_ty), mask=cols < n)


@pytest.mark.parametrize("dtype, tolerance", DTYPES)
def test_rmsnorm(rng, dtype, tolerance):
    for _ in range(3):
        rows, n = int(rng.integers(1, 20)), int(rng.integers(1, 1200))
        x, w = rng.standard_normal((rows, n)).astype(dtype), rng.standard_normal(n).astype(np.float32)
        y = np.empty_like(x)
        rmsnorm_kernel[(rows,)](x, w, y, n, 1e-6, BLOCK=nereid.next_power_of_2(n))
        x64 = x.astype(np.float64)
        want = x64 / np.sqrt((x64**2).mean(1, keepdims=True) + 1e-6) * w
        nereid.testing.assert_close(y, want, atol=tolerance, rtol=tolerance)


@nereid.jit
def softmax_rows(x_ptr, y_ptr, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, COLS)
    mask = (r[:, None] < rows) & (c[None, :] < cols)
    offs = r[:, None] * cols + c[None, :]
    x = tl.load(x_ptr + offs, mask=mask, other=float("-inf")).to(tl.float32)
    x = x - tl.max(x, axis=1, keep_dims=True)
    e = tl.where(mask, tl.exp(x), 0.0)
    y = e / tl.sum(e, axis=1)[:, None]
    tl.store(y_ptr + offs, y.to(y_ptr.dtype.element_ty), mask=mask)


@pytest.mark.parametrize("dtype, tolerance", DTYPES)
@pytest.mark.parametrize("block_rows", [1, 3, 8])
def test_softmax_of_several_rows(rng, dtype, tolerance, block_rows):
    rows, cols = int(rng.integers(1, 50)), int(rng.integers(1, 300))
    x = (5 * rng.standard_normal((rows, cols))).astype(dtype)
    y = np.empty_like(x)
    softmax_rows[(nereid.cdiv(rows, block_rows),)](x, y, rows, cols, ROWS=block_rows, COLS=cols)
    e = np.exp(x.astype(np.float64) - x.astype(np.float64).max(1, keepdims=True))
    nereid.testing.assert_close(y, e / e.sum(1, keepdims=True), atol=tolerance, rtol=tolerance)
