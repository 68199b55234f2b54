# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scans, sorting and selection: prefix sums over many blocks, arg max, top k, sort, a
selective scan with pairs, histogram, a top-k softmax router."""

import ml_dtypes
import numpy as np
import pytest

import nereid as triton
import nereid.language as tl
from nereid.testing import assert_close


# ---- prefix sums of long vectors: blocks wait for the one before


@triton.jit
def chained_cumsum_kernel(x_ptr, y_ptr, carry_ptr, flag_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    local = tl.cumsum(x, axis=0)
    before = tl.full((), 0, local.dtype)
    if pid > 0:
        while tl.atomic_add(flag_ptr + pid - 1, 0) == 0:
            pass
        before = tl.load(carry_ptr + pid - 1)
    tl.store(carry_ptr + pid, before + tl.sum(x, axis=0))
    tl.debug_barrier()
    tl.atomic_xchg(flag_ptr + pid, 1)
    tl.store(y_ptr + offs, local + before, mask=offs < n)


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-4), (np.int32, 0), (np.int64, 0), (np.float64, 1e-12)])
def test_chained_prefix_sums(rng, dtype, tolerance):
    n = int(rng.integers(1, 900))
    x = (rng.integers(-50, 50, n) if tolerance == 0 else rng.standard_normal(n)).astype(dtype)
    blocks = triton.cdiv(n, 64)
    y, carry, flags = np.empty_like(x), np.zeros(blocks, dtype), np.zeros(blocks, np.int32)
    chained_cumsum_kernel[(blocks,)](x, y, carry, flags, n, BLOCK=64)
    assert_close(y, np.cumsum(x.astype(np.float64)), atol=tolerance * n, rtol=0)


# ---- selective scan


@triton.jit
def combine(a_left, b_left, a_right, b_right):
    """h = a * h + b, one step after the other."""
    return a_left * a_right, a_right * b_left + b_right


@triton.jit
def selective_scan_kernel(
    u_ptr, delta_ptr, a_ptr, b_ptr, c_ptr, d_ptr, y_ptr, LENGTH, CHANNELS,
    STATES: tl.constexpr, BLOCK_T: tl.constexpr,
):
    """One channel: the states are columns of a block that is scanned along time; the last
    row is carried to the next block."""
    channel = tl.program_id(0)
    states = tl.arange(0, STATES)
    a = tl.load(a_ptr + channel * STATES + states)
    d = tl.load(d_ptr + channel)
    h = tl.zeros([STATES], tl.float32)
    steps = tl.arange(0, BLOCK_T)
    for start in range(0, LENGTH, BLOCK_T):
        t = start + steps
        inside = t < LENGTH
        u = tl.load(u_ptr + t * CHANNELS + channel, mask=inside, other=0.0).to(tl.float32)
        delta = tl.load(delta_ptr + t * CHANNELS + channel, mask=inside, other=0.0).to(tl.float32)
        b = tl.load(b_ptr + t[:, None] * STATES + states[None, :], mask=inside[:, None], other=0.0).to(tl.float32)
        c = tl.load(c_ptr + t[:, None] * STATES + states[None, :], mask=inside[:, None], other=0.0).to(tl.float32)
        decay = tl.exp(delta[:, None] * a[None, :])
        drive = (delta * u)[:, None] * b
        product, own = tl.associative_scan((decay, drive), axis=0, combine_fn=combine)
        hidden = own + product * h[None, :]
        y = tl.sum(hidden * c, axis=1) + d * u
        tl.store(y_ptr + t * CHANNELS + channel, y.to(y_ptr.dtype.element_ty), mask=inside)
        h = tl.sum(tl.where((steps == BLOCK_T - 1)[:, None], hidden, 0.0), axis=0)


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-4), (np.float16, 5e-3), (ml_dtypes.bfloat16, 4e-2)])
def test_selective_scan(rng, dtype, tolerance):
    length, channels, states = int(rng.integers(1, 100)), int(rng.integers(1, 8)), 4
    u, delta = rng.standard_normal((length, channels)).astype(dtype), rng.random((length, channels)).astype(dtype)
    a, d = -rng.random((channels, states)).astype(np.float32), rng.standard_normal(channels).astype(np.float32)
    b, c = (rng.standard_normal((length, states)).astype(dtype) for _ in range(2))
    y = np.empty_like(u)
    selective_scan_kernel[(channels,)](u, delta, a, b, c, d, y, length, channels, STATES=states, BLOCK_T=16)
    u64, delta64, b64, c64 = (x.astype(np.float64) for x in (u, delta, b, c))
    h, want = np.zeros((channels, states)), np.empty((length, channels))
    for t in range(length):
        h = np.exp(delta64[t][:, None] * a) * h + (delta64[t] * u64[t])[:, None] * b64[t]
        want[t] = (h * c64[t]).sum(axis=1) + d * u64[t]
    assert_close(y, want, atol=tolerance, rtol=tolerance)


# ---- arg max, sort, top k


@triton.jit
def argmax_kernel(x_ptr, value_ptr, index_ptr, N, BLOCK: tl.constexpr):
    """Over columns in blocks, with the first of equal ones."""
    row = tl.program_id(0)
    best = float("-inf")
    where = 0
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=float("-inf")).to(tl.float32)
        value, index = tl.max(x, axis=0, return_indices=True)
        if value > best:
            best = value
            where = start + index
    tl.store(value_ptr + row, best)
    tl.store(index_ptr + row, where)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_argmax(rng, dtype):
    rows, n = int(rng.integers(1, 20)), int(rng.integers(1, 300))
    x = rng.integers(-9, 9, (rows, n)).astype(dtype)
    values, indices = np.empty(rows, np.float32), np.empty(rows, np.int64)
    argmax_kernel[(rows,)](x, values, indices, n, BLOCK=32)
    np.testing.assert_array_equal(values, x.max(axis=1).astype(np.float32))
    np.testing.assert_array_equal(indices, x.argmax(axis=1))


@triton.jit
def sort_kernel(x_ptr, sorted_ptr, top_ptr, N, LIMIT: tl.constexpr, K: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=LIMIT)
    tl.store(sorted_ptr + row * BLOCK + cols, tl.sort(x))
    lowest = tl.load(x_ptr + row * N + cols, mask=cols < N, other=-LIMIT)
    tl.store(top_ptr + row * K + tl.arange(0, K), tl.topk(lowest, K))


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float16, np.int64])
def test_sort_and_top_k(rng, dtype):
    rows, n, k = int(rng.integers(1, 9)), int(rng.integers(8, 100)), 8
    block = triton.next_power_of_2(n)
    x = rng.integers(-500, 500, (rows, n)).astype(dtype)
    ordered, top = np.empty((rows, block), dtype), np.empty((rows, k), dtype)
    sort_kernel[(rows,)](x, ordered, top, n, LIMIT=1000, K=k, BLOCK=block)
    np.testing.assert_array_equal(ordered[:, :n], np.sort(x, axis=1))
    np.testing.assert_array_equal(top, -np.sort(-x, axis=1)[:, :k])


@triton.jit
def router_kernel(logits_ptr, weight_ptr, expert_ptr, count_ptr, EXPERTS, TOP: tl.constexpr, BLOCK: tl.constexpr):
    """Softmax over the experts, the best TOP of them one by one, and how often each was
    chosen."""
    token = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    logits = tl.load(logits_ptr + token * EXPERTS + cols, mask=cols < EXPERTS, other=float("-inf")).to(tl.float32)
    p = tl.softmax(logits)
    total = 0.0
    for i in tl.static_range(TOP):
        value, index = tl.max(p, axis=0, return_indices=True)
        tl.store(weight_ptr + token * TOP + i, value)
        tl.store(expert_ptr + token * TOP + i, index)
        tl.atomic_add(count_ptr + index, 1)
        total += value
        p = tl.where(cols == index, -1.0, p)
    for i in tl.static_range(TOP):
        tl.store(weight_ptr + token * TOP + i, tl.load(weight_ptr + token * TOP + i) / total)


def test_router(rng):
    tokens, experts, top = int(rng.integers(1, 60)), int(rng.integers(3, 30)), 3
    logits = rng.standard_normal((tokens, experts)).astype(np.float32)
    weights, chosen = np.empty((tokens, top), np.float32), np.empty((tokens, top), np.int32)
    counts = np.zeros(experts, np.int32)
    router_kernel[(tokens,)](
        logits, weights, chosen, counts, experts, TOP=top, BLOCK=triton.next_power_of_2(experts))
    order = np.argsort(-logits, axis=1)[:, :top]
    np.testing.assert_array_equal(chosen, order)
    e = np.exp(np.take_along_axis(logits.astype(np.float64), order, axis=1))
    assert_close(weights, e / e.sum(axis=1, keepdims=True), atol=1e-6)
    np.testing.assert_array_equal(counts, np.bincount(order.ravel(), minlength=experts))


@triton.jit
def histogram_kernel(x_ptr, bins_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    counts = tl.histogram(x, BINS, mask=offs < n)
    tl.atomic_add(bins_ptr + tl.arange(0, BINS), counts)


def test_histogram(rng):
    n = int(rng.integers(1, 2000))
    x, bins = rng.integers(0, 16, n).astype(np.int32), np.zeros(16, np.int32)
    histogram_kernel[(triton.cdiv(n, 128),)](x, bins, n, BINS=16, BLOCK=128)
    np.testing.assert_array_equal(bins, np.bincount(x, minlength=16))
