# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packed operands of dots that programs of a launch hand on: never older than they may be."""

import ml_dtypes
import numpy as np
import pytest

import nereid
import nereid.language as tl


@nereid.jit
def product_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, am, ak, bk, bn, cm,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, ROWS_FIRST: tl.constexpr,
    ACC: tl.constexpr = tl.float32,
):
    pid = tl.program_id(0)
    if ROWS_FIRST:
        tile_m, tile_n = pid % tl.cdiv(M, BLOCK_M), pid // tl.cdiv(M, BLOCK_M)
    else:
        tile_m, tile_n = pid // tl.cdiv(N, BLOCK_N), pid % tl.cdiv(N, BLOCK_N)
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), ACC)
    for k in range(0, K, BLOCK_K):
        at = k + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + rows[:, None] * am + at[None, :] * ak, (rows < M)[:, None] & (at < K)[None, :], 0)
        b = tl.load(b_ptr + at[:, None] * bk + columns[None, :] * bn, (at < K)[:, None] & (columns < N)[None, :], 0)
        acc = tl.dot(a, b, acc, out_dtype=ACC)
    tl.store(c_ptr + rows[:, None] * cm + columns[None, :], acc, (rows < M)[:, None] & (columns < N)[None, :])


def strides(x):
    return tuple(step // x.itemsize for step in x.strides)


def matrix(rng, shape, dtype, transposed=False):
    shape = shape[::-1] if transposed else shape
    x = rng.integers(-9, 10, shape).astype(dtype)  # sums of products are exact
    return x.T if transposed else x


def product(a, b, block, rows_first, out=np.float32, acc=tl.float32):
    (m, k), n = a.shape, b.shape[1]
    c = np.full((m, n), 77, out)
    tiles = nereid.cdiv(m, block[0]) * nereid.cdiv(n, block[1])
    product_kernel[(tiles,)](a, b, c, m, n, k, *strides(a), *strides(b), n, BLOCK_M=block[0], BLOCK_N=block[1],
                             BLOCK_K=block[2], ROWS_FIRST=rows_first, ACC=acc)
    return c


def exact(a, b):
    return a.astype(np.float64) @ b.astype(np.float64)


@pytest.mark.parametrize("rows_first", [True, False])
@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("dtype, out, acc", [
    (np.float32, np.float32, tl.float32), (np.float16, np.float32, tl.float32),
    (ml_dtypes.bfloat16, np.float32, tl.float32), (np.float64, np.float64, tl.float64), (np.int8, np.int32, tl.int32),
])
def test_many_programs(rng, dtype, out, acc, layout, rows_first):
    """Every order of tiles, more rounds than some of the operands have slots."""
    block = tuple(int(size) for size in rng.choice([16, 32, 64, 128], 3))
    m, n = (int(block[d] * rng.integers(1, 5) + rng.integers(0, 2) * rng.integers(block[d])) for d in (0, 1))
    k = int(rng.choice([block[2], 300, 1000]))
    a, b = matrix(rng, (m, k), dtype, layout[0] == "t"), matrix(rng, (k, n), dtype, layout[1] == "t")
    assert np.array_equal(product(a, b, block, rows_first, out, acc), exact(a, b)), (m, n, k, block)


def test_more_rounds_than_slots(rng):
    a, b = matrix(rng, (48, 16 * 300 + 5), np.float32), matrix(rng, (16 * 300 + 5, 33), np.float32)
    for rows_first in (True, False):
        assert np.array_equal(product(a, b, (16, 16, 16), rows_first), exact(a, b))


def test_nothing_outlives_the_launch(rng):
    """The same addresses with other contents, launch after launch; one tile of columns, so that the
    next launch asks for what the last one left."""
    a, b = matrix(rng, (64, 96), np.float32), matrix(rng, (96, 32), np.float32)
    for _ in range(4):
        assert np.array_equal(product(a, b, (32, 32, 32), True), exact(a, b))
        a[...], b[...] = matrix(rng, a.shape, a.dtype), matrix(rng, b.shape, b.dtype)
    # Another kernel has the same scratch memory in between.
    other_a, other_b = matrix(rng, (64, 96), np.float16), matrix(rng, (96, 32), np.float16)
    for _ in range(3):
        assert np.array_equal(product(a, b, (32, 32, 32), True), exact(a, b))
        assert np.array_equal(product(other_a, other_b, (32, 32, 32), True), exact(other_a, other_b))
        b[...] += 1
        other_b[...] += 1


@nereid.jit
def steps_kernel(a_ptr, b_ptr, c_ptr, index_ptr, N, K, STEPS: tl.constexpr, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """C[s] = A @ B, then the program changes B, step after step."""
    rows = tl.arange(0, BLOCK)
    for step in range(0, STEPS):
        acc = tl.zeros((BLOCK, BLOCK), tl.float32)
        for k in range(0, K, BLOCK):
            a = tl.load(a_ptr + rows[:, None] * K + (k + rows)[None, :])
            b = tl.load(b_ptr + (k + rows)[:, None] * N + rows[None, :])
            acc = tl.dot(a, b, acc)
        tl.store(c_ptr + step * BLOCK * BLOCK + rows[:, None] * BLOCK + rows[None, :], acc)
        if HOW == "row":
            tl.store(b_ptr + step * N + rows, acc.sum(0))
        elif HOW == "column":
            tl.store(b_ptr + rows * N + step, acc.sum(1))
        elif HOW == "scalar":
            tl.store(b_ptr + step * N + step, tl.sum(acc))
        elif HOW == "scattered":
            tl.store(b_ptr + tl.load(index_ptr + step * BLOCK + rows), acc.sum(1))
        elif HOW == "masked":
            tl.store(b_ptr - 2 * N + step + (rows * N)[:, None] + rows[None, :], acc, (rows >= 2 + step)[:, None])
        elif HOW == "atomic":
            tl.atomic_add(b_ptr + step * N + rows, acc.sum(0))


@pytest.mark.parametrize("how", ["row", "column", "scalar", "scattered", "masked", "atomic", "none"])
def test_a_program_sees_what_it_stored(rng, how):
    block, n, k, steps = 16, 24, 64, 6
    a, b = matrix(rng, (block, k), np.float32), matrix(rng, (k, n), np.float32)
    # Small enough that sums of products of all steps are exact: each row of A has few entries.
    a *= rng.random(a.shape) < 0.05
    a = np.sign(a).astype(np.float32)
    index = np.stack([rng.choice(k * n, block, replace=False) for _ in range(steps)]).astype(np.int32)
    got, old = np.zeros((steps, block, block), np.float32), b.copy()
    want = np.zeros(got.shape, np.float64)
    model = b.astype(np.float64)
    for step in range(steps):
        want[step] = acc = a.astype(np.float64) @ model[:, :block]
        flat = model.reshape(-1)
        if how == "row":
            model[step, :block] = acc.sum(0)
        elif how == "column":
            model[:block, step] = acc.sum(1)
        elif how == "scalar":
            model[step, step] = acc.sum()
        elif how == "scattered":
            flat[index[step]] = acc.sum(1)
        elif how == "masked":
            for row in range(2 + step, block):
                start = (row - 2) * n + step
                flat[start:start + block] = acc[row]
        elif how == "atomic":
            model[step, :block] += acc.sum(0)
    steps_kernel[(1,)](a, b, got, index, n, k, STEPS=steps, HOW=how, BLOCK=block)
    scale = np.abs(want).max(axis=(1, 2), keepdims=True) + 1
    assert (np.abs(got - want) <= 1e-5 * scale).all()
    assert np.array_equal(b, old) == (how == "none")


@nereid.jit
def chain_kernel(x_ptr, N, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    """One buffer for all: X[s + 1] = X[0] @ X[s], each store next to what was read."""
    at = tl.arange(0, BLOCK)
    for step in range(0, STEPS):
        acc = tl.zeros((BLOCK, BLOCK), tl.float32)
        for k in range(0, 2):
            a = tl.load(x_ptr + at[:, None] * 2 * BLOCK + (k * BLOCK + at)[None, :])
            b = tl.load(x_ptr + (step % 2 + 1) * 2 * BLOCK * BLOCK + (k * BLOCK + at)[:, None] * BLOCK + at[None, :])
            acc = tl.dot(a, b, acc)
        for k in range(0, 2):
            tl.store(x_ptr + ((step + 1) % 2 + 1) * 2 * BLOCK * BLOCK + (k * BLOCK + at)[:, None] * BLOCK + at[None, :],
                     acc + k)


def test_two_halves_of_one_buffer(rng):
    block, steps = 16, 7
    x = np.zeros((3, 2 * block * block), np.float32)
    a = (rng.random((block, 2 * block)) < 0.05).astype(np.float32)
    b = matrix(rng, (2 * block, block), np.float32)
    x[0], x[1] = a.ravel(), b.ravel()
    halves = [b.astype(np.float64), np.zeros_like(b, np.float64)]
    for step in range(steps):
        acc = a @ halves[step % 2]
        halves[(step + 1) % 2] = np.concatenate([acc, acc + 1])
    chain_kernel[(1,)](x, block, STEPS=steps, BLOCK=block)
    for got, want in zip(x[1:], halves):
        nereid.testing.assert_close(got.reshape(want.shape), want, rtol=1e-5, atol=1e-5)
