# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Row-wise kernels: softmax over persistent programs, layer norm forward and backward with
spin locks, RMS norm, cross entropy with its gradient."""

import ml_dtypes
import numpy as np
import pytest

import nereid as triton
import nereid.language as tl
from nereid.testing import assert_close

DTYPES = [(np.float32, 1e-5), (np.float16, 2e-3), (ml_dtypes.bfloat16, 2e-2)]


def shape_of(rng, rows=70, columns=300):
    return int(rng.integers(1, rows)), int(rng.integers(1, columns))


# ---- softmax


@triton.jit
def softmax_kernel(out_ptr, in_ptr, in_stride, out_stride, n_rows, n_cols, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    start, step = tl.program_id(0), tl.num_programs(0)
    cols = tl.arange(0, BLOCK)
    for row in tl.range(start, n_rows, step, num_stages=STAGES):
        x = tl.load(in_ptr + row * in_stride + cols, mask=cols < n_cols, other=-float("inf"))
        x = x - tl.max(x, axis=0)
        numerator = tl.exp(x.to(tl.float32))
        result = numerator / tl.sum(numerator, axis=0)
        tl.store(out_ptr + row * out_stride + cols, result, mask=cols < n_cols)


@pytest.mark.parametrize("dtype, tolerance", DTYPES)
def test_softmax(rng, dtype, tolerance):
    for _ in range(3):
        rows, columns = shape_of(rng)
        x = (5 * rng.standard_normal((rows, columns))).astype(dtype)
        y = np.empty_like(x)
        programs = min(rows, triton.runtime.driver.active.utils.get_device_properties(0)["multiprocessor_count"] * 2)
        softmax_kernel[(programs, 1, 1)](
            y, x, columns, columns, rows, columns, BLOCK=triton.next_power_of_2(columns), STAGES=2)
        e = np.exp(x.astype(np.float64) - x.astype(np.float64).max(axis=1, keepdims=True))
        assert_close(y, e / e.sum(axis=1, keepdims=True), atol=tolerance, rtol=tolerance)


# ---- layer norm


@triton.jit
def layer_norm_fwd(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * stride
    y_ptr += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + cols, mask=cols < N, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / N
    square = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < N, other=0.0).to(tl.float32)
        x = tl.where(cols < N, x - mean, 0.0)
        square += x * x
    rstd = 1 / tl.sqrt(tl.sum(square, axis=0) / N + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        mask = cols < N
        x = tl.load(x_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        y = (x - mean) * rstd * tl.load(w_ptr + cols, mask=mask) + tl.load(b_ptr + cols, mask=mask)
        tl.store(y_ptr + cols, y, mask=mask)


@triton.jit
def layer_norm_bwd_dx(
    dx_ptr, dy_ptr, dw_ptr, db_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, lock_ptr, stride, N,
    GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):
    """Adds the row's part of dw and db to one of GROUPS buffers, each under a lock."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    group = row % GROUPS
    lock_ptr += group
    count_ptr = lock_ptr + GROUPS
    dw_ptrs = dw_ptr + group * N + cols
    db_ptrs = db_ptr + group * N + cols
    x = tl.load(x_ptr + row * stride + cols, mask=mask, other=0).to(tl.float32)
    dy = tl.load(dy_ptr + row * stride + cols, mask=mask, other=0).to(tl.float32)
    w = tl.load(w_ptr + cols, mask=mask, other=0).to(tl.float32)
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    xhat = tl.where(mask, (x - mean) * rstd, 0.0)
    wdy = tl.where(mask, w * dy, 0.0)
    c1 = tl.sum(xhat * wdy, axis=0) / N
    c2 = tl.sum(wdy, axis=0) / N
    tl.store(dx_ptr + row * stride + cols, (wdy - (xhat * c1 + c2)) * rstd, mask=mask)
    partial_dw = dy * xhat
    partial_db = dy
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


@triton.jit
def layer_norm_bwd_sum(dw_ptr, db_ptr, out_w_ptr, out_b_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    dw = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    db = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in range(0, M, BLOCK_M):
        rows = i + tl.arange(0, BLOCK_M)
        mask = (rows[:, None] < M) & (cols[None, :] < N)
        dw += tl.load(dw_ptr + rows[:, None] * N + cols[None, :], mask=mask, other=0.0)
        db += tl.load(db_ptr + rows[:, None] * N + cols[None, :], mask=mask, other=0.0)
    tl.store(out_w_ptr + cols, tl.sum(dw, axis=0), mask=cols < N)
    tl.store(out_b_ptr + cols, tl.sum(db, axis=0), mask=cols < N)


@pytest.mark.parametrize("dtype, tolerance", DTYPES)
def test_layer_norm(rng, dtype, tolerance):
    rows, columns = shape_of(rng)
    columns += 1
    x = (rng.standard_normal((rows, columns)) * 2 - 1).astype(dtype)
    w, b = rng.random(columns).astype(dtype), rng.random(columns).astype(dtype)
    dy = (0.1 * rng.standard_normal((rows, columns))).astype(dtype)
    y, dx = np.empty_like(x), np.empty_like(x)
    mean, rstd = np.empty(rows, np.float32), np.empty(rows, np.float32)
    layer_norm_fwd[(rows,)](x, y, w, b, mean, rstd, columns, columns, 1e-5, BLOCK=64)

    x64, w64, dy64 = (a.astype(np.float64) for a in (x, w, dy))
    deviation = 1 / np.sqrt(x64.var(axis=1, keepdims=True) + 1e-5)
    xhat = (x64 - x64.mean(axis=1, keepdims=True)) * deviation
    assert_close(y, xhat * w64 + b.astype(np.float64), atol=2 * tolerance, rtol=tolerance)
    assert_close(mean, x64.mean(axis=1), atol=1e-5)
    assert_close(rstd, deviation[:, 0], rtol=1e-5)

    groups = 4
    locks = np.zeros(2 * groups, np.int32)
    dw, db = np.zeros((groups, columns), np.float32), np.zeros((groups, columns), np.float32)
    layer_norm_bwd_dx[(rows,)](
        dx, dy, dw, db, x, w, mean, rstd, locks, columns, columns, GROUPS=groups,
        BLOCK=triton.next_power_of_2(columns))
    final_dw, final_db = np.empty(columns, np.float32), np.empty(columns, np.float32)
    layer_norm_bwd_sum[(triton.cdiv(columns, 32),)](
        dw, db, final_dw, final_db, min(groups, rows), columns, BLOCK_M=32, BLOCK_N=32)
    wdy = w64 * dy64
    want_dx = (wdy - xhat * (xhat * wdy).mean(axis=1, keepdims=True) - wdy.mean(axis=1, keepdims=True)) * deviation
    scale = np.abs(want_dx).max() + 1
    assert_close(dx, want_dx, atol=2 * tolerance * scale, rtol=tolerance)
    assert_close(final_dw, (dy64 * xhat).sum(axis=0), atol=1e-3, rtol=1e-4)
    assert_close(final_db, dy64.sum(axis=0), atol=1e-4, rtol=1e-4)
    assert not locks[:groups].any() and locks[groups : groups + min(groups, rows)].all()


# ---- RMS norm


@triton.jit
def rms_norm_kernel(x_ptr, res_ptr, w_ptr, y_ptr, stride, N, eps, HAS_RESIDUAL: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offs = tl.arange(0, BLOCK)
    mask = offs < N
    x = tl.load(x_ptr + row * stride + offs, mask=mask, other=0.0).to(tl.float32)
    if HAS_RESIDUAL:
        x += tl.load(res_ptr + row * stride + offs, mask=mask, other=0.0).to(tl.float32)
        tl.store(res_ptr + row * stride + offs, x.to(res_ptr.dtype.element_ty), mask=mask)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / N + eps)
    w = tl.load(w_ptr + offs, mask=mask).to(tl.float32)
    tl.store(y_ptr + row * stride + offs, (x * scale * w).to(y_ptr.dtype.element_ty), mask=mask)


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("dtype, tolerance", DTYPES)
def test_rms_norm(rng, dtype, tolerance, residual):
    rows, columns = shape_of(rng)
    x, r = (rng.standard_normal((rows, columns)).astype(dtype) for _ in range(2))
    w, y = rng.standard_normal(columns).astype(dtype), np.empty_like(x)
    h = x.astype(np.float64) + (r.astype(np.float64) if residual else 0)
    rms_norm_kernel[(rows,)](
        x, r if residual else None, w, y, columns, columns, 1e-6, HAS_RESIDUAL=residual,
        BLOCK=triton.next_power_of_2(columns))
    want = h / np.sqrt((h * h).mean(axis=1, keepdims=True) + 1e-6) * w.astype(np.float64)
    assert_close(y, want, atol=tolerance, rtol=2 * tolerance)
    if residual:
        assert_close(r, h, atol=tolerance, rtol=tolerance)


# ---- cross entropy


@triton.jit
def cross_entropy_kernel(
    logits_ptr, targets_ptr, loss_ptr, stride, N, ignore, smoothing, inverse_count,
    BLOCK: tl.constexpr,
):
    """Online softmax over blocks of columns; the gradient replaces the logits."""
    row = tl.program_id(0).to(tl.int64)
    logits_ptr += row * stride
    target = tl.load(targets_ptr + row)
    if target == ignore:
        for i in range(0, N, BLOCK):
            offs = i + tl.arange(0, BLOCK)
            tl.store(logits_ptr + offs, 0.0, mask=offs < N)
        tl.store(loss_ptr + row, 0.0)
        return
    m = float("-inf")
    d = 0.0
    total = 0.0
    at_target = tl.load(logits_ptr + target).cast(tl.float32)
    for i in range(0, N, BLOCK):
        offs = i + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + offs, mask=offs < N, other=float("-inf")).cast(tl.float32)
        total += tl.sum(tl.where(offs < N, x, 0.0))
        m_new = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new))
        m = m_new
    lse = m + tl.log(d)
    loss = (1 - smoothing) * (lse - at_target) + smoothing * (lse - total / N)
    tl.store(loss_ptr + row, loss * inverse_count)
    for i in range(0, N, BLOCK):
        offs = i + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + offs, mask=offs < N, other=float("-inf")).cast(tl.float32)
        gradient = tl.exp(x - lse) - smoothing / N
        gradient = tl.where(offs == target, gradient - (1 - smoothing), gradient)
        tl.store(logits_ptr + offs, gradient * inverse_count, mask=offs < N)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("dtype, tolerance", DTYPES)
def test_cross_entropy(rng, dtype, tolerance, smoothing):
    rows, classes = shape_of(rng)
    classes += 2
    x = (3 * rng.standard_normal((rows, classes))).astype(dtype)
    targets = rng.integers(0, classes, rows)
    targets[rng.integers(0, rows, rows // 4)] = -100
    count = max(1, int((targets != -100).sum()))
    x64, gradient, loss = x.astype(np.float64), x.copy(), np.empty(rows, np.float32)
    cross_entropy_kernel[(rows,)](gradient, targets, loss, classes, classes, -100, smoothing, 1 / count, BLOCK=64)
    lse = np.log(np.exp(x64).sum(axis=1))
    safe = np.where(targets == -100, 0, targets)
    each = (1 - smoothing) * (lse - x64[np.arange(rows), safe]) + smoothing * (lse - x64.mean(axis=1))
    want = np.exp(x64 - lse[:, None]) - smoothing / classes
    want[np.arange(rows), safe] -= 1 - smoothing
    alive = (targets != -100)
    assert_close(loss, np.where(alive, each, 0) / count, atol=1e-4, rtol=1e-4)
    assert_close(gradient, want * alive[:, None] / count, atol=tolerance, rtol=2 * tolerance)
