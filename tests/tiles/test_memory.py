# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads and stores of tiles: masks, strides, overlap, memory that may not be touched."""

import ml_dtypes
import numpy as np
import pytest

import nereid
import nereid.language as tl

BLOCKS = [1, 2, 3, 7, 16, 20, 23, 64, 100, 130, 1000, 1024]


@nereid.jit
def scale_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=mask) * 2, mask=mask)


@pytest.mark.parametrize("block", BLOCKS)
def test_masked_lanes_touch_nothing(block, rng, fenced):
    for n in {1, block - 1 or 1, block, block + 1, 2 * block + block // 2 + 1}:
        x, y = fenced(n), fenced(n)
        x[:] = rng.standard_normal(n)
        scale_kernel[(nereid.cdiv(n, block) + 1,)](x, y, n, BLOCK=block)
        np.testing.assert_array_equal(y, x * 2)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("shift", [0, 1, 5, 16, 17, -1, -3, -16, -40])
def test_overlap(block, shift, rng):
    """A tile is read whole before any of it is written."""
    n = int(rng.integers(1, block + 1))
    memory = rng.standard_normal(n + 100).astype(np.float32)
    expected = memory.copy()
    expected[50 + shift:50 + shift + n] = memory[50:50 + n] * 2
    scale_kernel[(1,)](memory[50:], memory[50 + shift:], n, BLOCK=block)
    np.testing.assert_array_equal(memory, expected)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64, np.float16, ml_dtypes.bfloat16,
                                   np.float32, np.float64])
@pytest.mark.parametrize("block", [1, 5, 33, 64, 100])
def test_types(dtype, block, rng, fenced):
    x = (rng.standard_normal(block) * 20).astype(dtype)
    y = fenced(block, dtype)
    scale_kernel[(1,)](x, y, block, BLOCK=block)
    np.testing.assert_array_equal(y, (x * dtype(2)).astype(dtype))


@nereid.jit
def matrix_kernel(x_ptr, y_ptr, m, n, sxm, sxn, sym, syn, M: tl.constexpr, N: tl.constexpr, KIND: tl.constexpr,
                  keep_ptr):
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    inside = (rows < m)[:, None] & (columns < n)[None, :]
    mask = inside
    if KIND == "causal":
        mask = inside & (rows[:, None] >= columns[None, :])
    if KIND == "lower":
        mask = inside & (columns[None, :] >= 3) & (rows[:, None] > 0)
    if KIND == "loaded":
        mask = inside & (tl.load(keep_ptr + columns, mask=columns < n, other=0) != 0)[None, :]
    if KIND == "either":
        mask = inside & ((rows[:, None] == 0) | (columns[None, :] % 3 == 1))
    if KIND == "reversed":
        mask = (m > rows)[:, None] & (n - 1 >= columns)[None, :]
    x = tl.load(x_ptr + rows[:, None] * sxm + columns[None, :] * sxn, mask=mask, other=-1.0)
    tl.store(y_ptr + rows[:, None] * sym + columns[None, :] * syn, x, mask=inside)


def strides(array):
    return tuple(s // array.itemsize for s in array.strides)


@pytest.mark.parametrize("kind", ["none", "causal", "lower", "loaded", "either", "reversed"])
@pytest.mark.parametrize("block", [(1, 1), (4, 4), (5, 20), (33, 18), (16, 64), (64, 16), (1, 40), (40, 1), (128, 3)])
def test_masks(kind, block, rng, fenced):
    M, N = block
    for m, n in {(M, N), (1, 1), (max(1, M // 2), max(1, N - 1)), (M + 3, N + 5)}:
        keep = rng.integers(0, 2, n).astype(np.int32)
        rows, columns = np.arange(m)[:, None], np.arange(n)[None, :]
        on = {"none": np.ones((m, n), bool), "reversed": np.ones((m, n), bool), "causal": rows >= columns,
              "lower": (columns >= 3) & (rows > 0), "loaded": np.broadcast_to(keep != 0, (m, n)),
              "either": (rows == 0) | (columns % 3 == 1)}[kind]
        for transposed in (False, True):
            x = fenced(m * n).reshape((n, m) if transposed else (m, n))
            x[:] = rng.standard_normal(x.shape)
            x = x.T if transposed else x
            y = fenced(m * n).reshape(m, n)
            y[:] = -7
            matrix_kernel[(1,)](x, y, m, n, *strides(x), *strides(y), M=M, N=N, KIND=kind, keep_ptr=keep)
            expected = np.full((m, n), -7, np.float32)
            expected[:M, :N] = np.where(on, x, -1)[:M, :N]
            np.testing.assert_array_equal(y, expected)


@nereid.jit
def indirect_kernel(x_ptr, index_ptr, y_ptr, z_ptr, n, rows, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    index = tl.load(index_ptr + offs, mask=mask, other=0)
    x = tl.load(x_ptr + index, mask=mask & (index % 5 != 2), other=3.0)
    tl.store(y_ptr + index, x + 1, mask=mask & (index % 2 == 0))
    wrapped = (offs + 3) % rows
    tl.store(z_ptr + offs, tl.load(x_ptr + wrapped), mask=mask)


@pytest.mark.parametrize("block", [1, 6, 16, 50, 128])
def test_indirect(block, rng, fenced):
    for n in {1, block // 2 or 1, block}:
        x = fenced(n)
        x[:] = rng.standard_normal(n)
        index = rng.permutation(n).astype(np.int32)
        y, z = fenced(n), fenced(n)
        y[:] = -7
        indirect_kernel[(1,)](x, index, y, z, n, n, BLOCK=block)
        values = np.where(index % 5 != 2, x[index], np.float32(3)) + 1
        expected = np.full(n, -7, np.float32)
        expected[index[index % 2 == 0]] = values[index % 2 == 0]
        np.testing.assert_array_equal(y, expected)
        np.testing.assert_array_equal(z, x[(np.arange(n) + 3) % n])


@nereid.jit
def order_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(x_ptr + offs, x + 1)
    tl.store(y_ptr + offs, x)
    again = tl.load(x_ptr + offs)
    tl.store(x_ptr + (BLOCK - 1 - offs), again)
    tl.store(y_ptr + BLOCK + offs, again)


@pytest.mark.parametrize("block", [1, 4, 21, 64])
def test_program_order(block, rng):
    x = rng.standard_normal(block).astype(np.float32)
    old, y = x.copy(), np.zeros(2 * block, np.float32)
    order_kernel[(1,)](x, y, BLOCK=block)
    np.testing.assert_array_equal(y, np.concatenate([old, old + 1]))
    np.testing.assert_array_equal(x, (old + 1)[::-1])


@nereid.jit
def same_address_kernel(x_ptr, BLOCK: tl.constexpr):
    where = tl.arange(0, BLOCK) * 0
    tl.store(x_ptr + where, tl.load(x_ptr + where) + 1)


def test_all_lanes_at_one_address():
    x = np.array([5, 7], np.float32)
    same_address_kernel[(1,)](x, BLOCK=40)
    np.testing.assert_array_equal(x, [6, 7])


@nereid.jit
def atomic_kernel(counts_ptr, old_ptr, index_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    index = tl.load(index_ptr + offs, mask=mask, other=0)
    old = tl.atomic_add(counts_ptr + index, 1, mask=mask)
    tl.store(old_ptr + offs, old, mask=mask)


@pytest.mark.parametrize("block", [1, 7, 64])
def test_atomics(block, rng):
    n, bins = 500, 13
    index = rng.integers(0, bins, n).astype(np.int32)
    counts, old = np.zeros(bins, np.int32), np.zeros(n, np.int32)
    atomic_kernel[(nereid.cdiv(n, block),)](counts, old, index, n, BLOCK=block)
    np.testing.assert_array_equal(counts, np.bincount(index, minlength=bins))
    for b in range(bins):
        np.testing.assert_array_equal(np.sort(old[index == b]), np.arange((index == b).sum()))
