# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pointers that loops move: what the compiler makes of them is what the kernel says.

Each kernel copies elements that its loop walks over; numpy computes the same addresses.
"""

import os

import numpy as np
import pytest

import nereid
import nereid.language as tl

SEED = int(os.environ.get("NEREID_TEST_SEED", "0"))


@pytest.fixture
def rng(request):
    return np.random.default_rng([SEED, *request.node.name.encode()])


@nereid.jit
def for_loop(x, out, steps, step, BLOCK: tl.constexpr):
    p = x + tl.arange(0, BLOCK)
    q = out + tl.arange(0, BLOCK)
    for _ in range(steps):
        tl.store(q, tl.load(p))
        p += step
        q += BLOCK
    tl.store(q, tl.load(p))  # where the loop left them


def test_for_loop(rng):
    block, steps, step = 8, int(rng.integers(0, 9)), int(rng.integers(1, 12))
    x = rng.standard_normal(block + steps * step).astype(np.float32)
    out = np.zeros((steps + 1) * block, np.float32)
    for_loop[(1,)](x, out, steps, step, BLOCK=block)
    expected = np.concatenate([x[i * step:i * step + block] for i in range(steps + 1)])
    np.testing.assert_array_equal(out, expected)


@nereid.jit
def backwards(x, out, steps, BLOCK: tl.constexpr):
    offsets = steps * BLOCK + tl.arange(0, BLOCK)
    for i in range(steps):
        offsets = offsets - BLOCK
        tl.store(out + i * BLOCK + tl.arange(0, BLOCK), tl.load(x + offsets))


def test_backwards(rng):
    block, steps = 4, int(rng.integers(1, 9))
    x = rng.integers(-100, 100, block * steps).astype(np.int32)
    out = np.zeros_like(x)
    backwards[(1,)](x, out, steps, BLOCK=block)
    np.testing.assert_array_equal(out, x.reshape(steps, block)[::-1].reshape(-1))


@nereid.jit
def varying_step(x, out, steps, BLOCK: tl.constexpr):
    p = x + tl.arange(0, BLOCK)
    for i in range(steps):
        p += i * i
        tl.store(out + i * BLOCK + tl.arange(0, BLOCK), tl.load(p))


def test_step_that_changes(rng):
    block, steps = 5, int(rng.integers(1, 8))
    x = rng.standard_normal(block + sum(i * i for i in range(steps))).astype(np.float32)
    out = np.zeros(steps * block, np.float32)
    varying_step[(1,)](x, out, steps, BLOCK=block)
    starts = np.cumsum([i * i for i in range(steps)])
    np.testing.assert_array_equal(out, np.concatenate([x[s:s + block] for s in starts]))


@nereid.jit
def nested(x, out, rows, columns, skip, BLOCK: tl.constexpr):
    p = x + tl.arange(0, BLOCK)
    q = out + tl.arange(0, BLOCK)
    for _ in range(rows):
        for _ in range(columns):
            tl.store(q, tl.load(p))
            p += BLOCK
            q += BLOCK
        p += skip


def test_nested_loops(rng):
    block, rows, columns, skip = 3, *(int(n) for n in rng.integers(1, 6, 3))
    x = rng.standard_normal((rows, columns * block + skip)).astype(np.float32)
    out = np.zeros((rows, columns * block), np.float32)
    nested[(1,)](x, out, rows, columns, skip, BLOCK=block)
    np.testing.assert_array_equal(out, x[:, :columns * block])


@nereid.jit
def branches(x, take, out, steps, step, BLOCK: tl.constexpr):
    p = x + tl.arange(0, BLOCK)
    for i in range(steps):
        tl.store(out + i * BLOCK + tl.arange(0, BLOCK), tl.load(p))
        if tl.load(take + i) != 0:
            p += step


def test_movement_in_one_branch(rng):
    block, steps, step = 8, int(rng.integers(1, 9)), int(rng.integers(1, 9))
    take = rng.integers(0, 2, steps).astype(np.int32)
    x = rng.standard_normal(block + steps * step).astype(np.float32)
    out = np.zeros(steps * block, np.float32)
    branches[(1,)](x, take, out, steps, step, BLOCK=block)
    starts = np.concatenate([[0], np.cumsum(take)[:-1]]) * step
    np.testing.assert_array_equal(out, np.concatenate([x[s:s + block] for s in starts]))


@nereid.jit
def while_loop(x, out, n, BLOCK: tl.constexpr):
    p = x + tl.arange(0, BLOCK)
    q = out + tl.arange(0, BLOCK)
    left = n
    while left > 0:
        tl.store(q, tl.load(p, mask=tl.arange(0, BLOCK) < left), mask=tl.arange(0, BLOCK) < left)
        p += BLOCK
        q += BLOCK
        left -= BLOCK


def test_while_loop(rng):
    n = int(rng.integers(0, 100))
    x = rng.standard_normal(n).astype(np.float32)
    out = np.zeros(n + 1, np.float32)
    while_loop[(1,)](x, out, n, BLOCK=16)
    np.testing.assert_array_equal(out[:n], x)
    assert out[n] == 0


@nereid.jit
def lane_steps(x, out, steps, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    p = x + lane
    for i in range(steps):
        tl.store(out + i * BLOCK + lane, tl.load(p))
        p += lane * 2


def test_lanes_with_steps_of_their_own(rng):
    block, steps = 6, int(rng.integers(1, 7))
    x = rng.standard_normal(block * (1 + 2 * steps)).astype(np.float32)
    out = np.zeros((steps, block), np.float32)
    lane_steps[(1,)](x, out, steps, BLOCK=block)
    lane = np.arange(block)
    np.testing.assert_array_equal(out, np.stack([x[lane + 2 * i * lane] for i in range(steps)]))


@nereid.jit
def wrapping(out, start, step, steps, BLOCK: tl.constexpr):
    value = start + tl.arange(0, BLOCK)
    for i in range(steps):
        tl.store(out + i * BLOCK + tl.arange(0, BLOCK), value)
        value += step


def test_integers_wrap_as_they_did(rng):
    block, steps, start, step = 4, 7, 2**31 - 9, int(rng.integers(1, 2**30)) * 2 + 1
    out = np.zeros((steps, block), np.int32)
    wrapping[(1,)](out, start, step, steps, BLOCK=block)
    exact = start + np.arange(block)[None, :] + step * np.arange(steps, dtype=np.int64)[:, None]
    np.testing.assert_array_equal(out, exact.astype(np.int32))


@nereid.jit
def block_pointers(x, out, m, n, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_block_ptr(x, (m, n), (n, 1), (0, 0), (BM, BN), (1, 0))
    target = tl.make_block_ptr(out, (n, m), (1, n), (0, 0), (BN, BM), (0, 1))
    for _ in range(0, m, BM):
        for _ in range(0, n, BN):
            tile = tl.load(source, boundary_check=(0, 1), padding_option="zero")
            tl.store(target, tl.trans(tile) * 2, boundary_check=(0, 1))
            source = tl.advance(source, (0, BN))
            target = tl.advance(target, (BN, 0))
        source = tl.advance(source, (BM, -((n + BN - 1) // BN) * BN))
        target = tl.advance(target, (-((n + BN - 1) // BN) * BN, BM))


def test_block_pointers(rng):
    m, n = (int(size) for size in rng.integers(1, 30, 2))
    x = rng.standard_normal((m, n)).astype(np.float32)
    out = np.zeros((m, n), np.float32)  # seen as its transpose by the kernel
    block_pointers[(1,)](x, out, m, n, BM=4, BN=8)
    np.testing.assert_array_equal(out, x * 2)


@nereid.jit
def late_accumulate(a, b, out, K, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    pa = a + i[:, None] * K + i[None, :]
    pb = b + i[:, None] * BLOCK + i[None, :]
    acc = tl.full((BLOCK, BLOCK), 1.0, tl.float32)
    for _ in range(0, K, BLOCK):
        acc = tl.dot(tl.load(pa), tl.load(pb)) + acc
        pa += BLOCK
        pb += BLOCK * BLOCK
    tl.store(out + i[:, None] * BLOCK + i[None, :], acc)


def test_product_added_to_the_accumulator(rng):
    block, k = 16, 16 * int(rng.integers(1, 6))
    a = rng.standard_normal((block, k)).astype(np.float32)
    b = rng.standard_normal((k, block)).astype(np.float32)
    out = np.zeros((block, block), np.float32)
    late_accumulate[(1,)](a, b, out, k, BLOCK=block)
    np.testing.assert_allclose(out, 1 + a.astype(np.float64) @ b, rtol=1e-5, atol=1e-5)
