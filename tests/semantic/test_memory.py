# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads, stores, block pointers, tensor descriptors and atomics, also across many
programs that run at the same time. Everything but sums of floats is exact."""

import numpy as np
import pytest
from evaluate import DTYPES, EPSILON, assert_close, random_array, run

ALL = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
       "float64"]  # fmt: skip


def bits(array):
    return array.view(f"u{array.dtype.itemsize}")


@pytest.mark.parametrize("dtype", [*ALL, "float8e5"])
def test_masks(dtype, rng):
    block, n = int(rng.choice([1, 7, 16, 20, 33])), int(rng.integers(0, 34))
    x, out = random_array(rng, (block,), dtype), random_array(rng, (block,), dtype)
    before = out.copy()
    filled = np.zeros(block, DTYPES[dtype])
    run("""
        offs = tl.arange(0, B)
        value = tl.load(p0 + offs, mask=offs < N)
        tl.store(p1 + offs, value)
        tl.store(p2 + offs, value, mask=offs >= 3)
        """, x, filled, out, B=block, N=n)  # fmt: skip
    i = np.arange(block)
    expected = np.where(i < n, bits(x), np.zeros_like(bits(x)))
    np.testing.assert_array_equal(bits(filled), expected)
    np.testing.assert_array_equal(bits(out), np.where(i >= 3, expected, bits(before)))


def test_other_and_broadcast_masks(rng):
    m, n = int(rng.integers(1, 18)), int(rng.integers(1, 18))
    x = random_array(rng, (m, n), "float32")
    out = np.zeros((m, n), np.float32)
    rows, columns = int(rng.integers(0, m + 1)), int(rng.integers(0, n + 1))
    run("""
        i = tl.arange(0, M)[:, None]
        j = tl.arange(0, N)[None, :]
        value = tl.load(p0 + i * N + j, mask=(i < R) & (j < C), other=-1.5)
        tl.store(p1 + i * N + j, value)
        """, x, out, M=m, N=n, R=rows, C=columns)  # fmt: skip
    inside = (np.arange(m)[:, None] < rows) & (np.arange(n) < columns)
    np.testing.assert_array_equal(out, np.where(inside, x, np.float32(-1.5)))


def test_gathered_and_scattered_addresses(rng):
    n = int(rng.integers(1, 40))
    x, out = random_array(rng, (64,), "float32"), np.zeros(n, np.float32)
    source = random_array(rng, (n,), "int32", 0, 63)
    target = rng.permutation(n).astype(np.int64)
    run("""
        i = tl.arange(0, N)
        tl.store(p3 + tl.load(p2 + i), tl.load(p0 + tl.load(p1 + i)))
        """, x, source, target, out, N=n)  # fmt: skip
    expected = np.zeros_like(out)
    expected[target] = x[source]
    np.testing.assert_array_equal(out, expected)


def test_strides_and_transposition(rng):
    m, n = int(rng.integers(1, 20)), int(rng.integers(1, 20))
    x = random_array(rng, (m, n), "int16")
    out = np.zeros((n, m), np.int16)
    run("""
        i = tl.arange(0, M)
        j = tl.arange(0, N)
        tl.store(p1 + j[None, :] * M + i[:, None], tl.load(p0 + i[:, None] * N + j[None, :]))
        """, x, out, M=m, N=n)  # fmt: skip
    np.testing.assert_array_equal(out, x.T)


def test_booleans_are_bytes(rng):
    x = rng.integers(0, 2, 19).astype(np.bool_)
    out = np.zeros(19, np.bool_)
    run("""
        i = tl.arange(0, 19)
        x = tl.load(p0 + i)
        tl.store(p1 + i, not x)
        """, x, out)  # fmt: skip
    np.testing.assert_array_equal(out, ~x)


@pytest.mark.parametrize("padding", ["", "zero", "nan"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
def test_block_pointers(padding, dtype, rng):
    if padding == "nan" and dtype == "int32":
        pytest.skip("integers have no NaN")
    m, n = int(rng.integers(1, 30)), int(rng.integers(1, 30))
    row, column = int(rng.integers(-3, 20)), int(rng.integers(-3, 20))
    x = random_array(rng, (m, n), dtype)
    tile = np.zeros((5, 8), DTYPES[dtype])
    copy = x.copy()
    run("""
        source = tl.make_block_ptr(p0, (M, N), (N, 1), (0, 0), (5, 8), (1, 0))
        source = tl.advance(source, (ROW, COLUMN))
        value = tl.load(source, boundary_check=(0, 1), padding_option=PADDING)
        tl.store(p1 + tl.arange(0, 5)[:, None] * 8 + tl.arange(0, 8)[None, :], value)
        target = tl.make_block_ptr(p2, (M, N), (N, 1), (ROW, COLUMN), (5, 8), (1, 0))
        tl.store(target, value + value, boundary_check=(0, 1))
        """, x, tile, copy, M=m, N=n, ROW=row, COLUMN=column, PADDING=padding)  # fmt: skip
    i, j = row + np.arange(5)[:, None], column + np.arange(8)
    inside = (i >= 0) & (i < m) & (j >= 0) & (j < n)
    picked = x[np.clip(i, 0, m - 1), np.clip(j, 0, n - 1)]
    fill = np.array(np.nan if padding == "nan" else 0).astype(DTYPES[dtype])
    np.testing.assert_array_equal(tile, np.where(inside, picked, fill))
    expected = x.copy()
    with np.errstate(over="ignore"):
        expected[max(row, 0):max(row + 5, 0), max(column, 0):max(column + 8, 0)] *= 2
    np.testing.assert_array_equal(copy, expected)


def test_tensor_descriptors(rng):
    m, n = int(rng.integers(1, 30)), int(rng.integers(4, 30))
    row, column = int(rng.integers(0, 20)), int(rng.integers(0, 20))
    x, tile, total = random_array(rng, (m, n), "float32"), np.zeros((6, 8), np.float32), np.ones((m, n), np.float32)
    run("""
        source = tl.make_tensor_descriptor(p0, (M, N), (N, 1), (6, 8))
        value = source.load([ROW, COLUMN])
        tl.store(p1 + tl.arange(0, 6)[:, None] * 8 + tl.arange(0, 8)[None, :], value)
        target = tl.make_tensor_descriptor(p2, (M, N), (N, 1), (6, 8))
        target.store([ROW, COLUMN], value * 3)
        target.atomic_add([ROW, COLUMN], value)
        """, x, tile, total, M=m, N=n, ROW=row, COLUMN=column)  # fmt: skip
    i, j = row + np.arange(6)[:, None], column + np.arange(8)
    inside = (i < m) & (j < n)
    picked = x[np.clip(i, 0, m - 1), np.clip(j, 0, n - 1)]
    np.testing.assert_array_equal(tile, np.where(inside, picked, np.float32(0)))
    expected = np.ones_like(x)
    expected[row:row + 6, column:column + 8] = (x * np.float32(3) + x)[row:row + 6, column:column + 8]
    np.testing.assert_array_equal(total, expected)


# ---- atomics ------------------------------------------------------------------

ATOMICS = {
    "add": (lambda a, b: a + b, ALL), "max": (np.maximum, ALL), "min": (np.minimum, ALL),
    "xchg": (lambda a, b: b, ALL), "and": (np.bitwise_and, ALL[:8]), "or": (np.bitwise_or, ALL[:8]),
    "xor": (np.bitwise_xor, ALL[:8]),
}  # fmt: skip


@pytest.mark.parametrize("name", ATOMICS)
def test_atomics_return_the_old_value(name, rng):
    function, dtypes = ATOMICS[name]
    for dtype in dtypes:
        n = int(rng.choice([1, 5, 16, 19]))
        memory, value = random_array(rng, (n,), dtype), random_array(rng, (n,), dtype)
        mask = rng.integers(0, 2, n).astype(np.int32)
        before, old = memory.copy(), np.zeros(n, DTYPES[dtype])
        run(f"""
            i = tl.arange(0, N)
            m = tl.load(p2 + i) != 0
            old = tl.atomic_{name}(p0 + i, tl.load(p1 + i), mask=m)
            tl.store(p3 + i, old, mask=m)
            """, memory, value, mask, old, N=n)  # fmt: skip
        with np.errstate(over="ignore"):
            expected = np.where(mask != 0, function(before, value), before)
        np.testing.assert_array_equal(memory.astype(np.float64), expected.astype(np.float64), err_msg=dtype)
        np.testing.assert_array_equal(bits(old), np.where(mask != 0, bits(before), bits(before) * 0), err_msg=dtype)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "float32", "float64", "float16", "bfloat16"])
def test_concurrent_sums(dtype, rng):
    programs = 64
    total = np.zeros(3, DTYPES[dtype])
    run("""
        i = tl.arange(0, 3)
        tl.atomic_add(p0 + i, (i + 1).to(p0.dtype.element_ty))
        """, total, grid=(programs,))  # fmt: skip
    # Sums of small integers are exact in every dtype.
    np.testing.assert_array_equal(total.astype(np.float64), programs * np.array([1, 2, 3]))


def test_duplicate_addresses_in_one_block():
    total = np.zeros(1, np.int32)
    run("tl.atomic_add(p0 + tl.arange(0, 37) * 0, 1)", total)
    assert total[0] == 37


@pytest.mark.parametrize("dtype", ["int16", "int32", "int64", "uint64"])
def test_compare_and_swap(dtype, rng):
    memory, compare, value = (random_array(rng, (9,), dtype, 0, 1) for _ in range(3))
    value += 5
    before, old = memory.copy(), np.zeros(9, DTYPES[dtype])
    run("""
        i = tl.arange(0, 9)
        tl.store(p3 + i, tl.atomic_cas(p0 + i, tl.load(p1 + i), tl.load(p2 + i)))
        """, memory, compare, value, old)  # fmt: skip
    np.testing.assert_array_equal(old, before)
    np.testing.assert_array_equal(memory, np.where(before == compare, value, before))


def test_spin_lock():
    """Every program takes a lock, adds to a plain sum and gives the lock back."""
    lock, total = np.zeros(1, np.int32), np.zeros(4, np.float32)
    run("""
        i = tl.arange(0, 4)
        while tl.atomic_cas(p0, 0, 1, sem="acquire") == 1:
            pass
        tl.store(p1 + i, tl.load(p1 + i) + 1.0)
        tl.debug_barrier()
        tl.atomic_xchg(p0, 0, sem="release")
        """, lock, total, grid=(50,))  # fmt: skip
    np.testing.assert_array_equal(total, np.full(4, 50))


def test_float_extremes_with_mixed_signs(rng):
    values = random_array(rng, (40,), "float32")
    bounds = np.zeros(2, np.float32)
    run("""
        x = tl.load(p0 + tl.program_id(0))
        tl.atomic_max(p1, x)
        tl.atomic_min(p1 + 1, x)
        """, values, bounds, grid=(40,))  # fmt: skip
    np.testing.assert_array_equal(bounds, [max(values.max(), 0), min(values.min(), 0)])


def test_half_precision_accumulation(rng):
    x = random_array(rng, (64, 8), "float16")
    total = np.zeros(8, np.float16)
    run("""
        i = tl.arange(0, 8)
        tl.atomic_add(p1 + i, tl.load(p0 + tl.program_id(0) * 8 + i), sem="relaxed")
        """, x, total, grid=(64,))  # fmt: skip
    bound = 64 * EPSILON["float16"] * np.abs(x.astype(np.float64)).sum(0)
    assert_close(total, x.astype(np.float64).sum(0), 0, bound.max())


def test_program_ids():
    out = np.zeros((3, 4, 5, 4), np.int32)
    run("""
        x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
        place = p0 + ((x * tl.num_programs(1) + y) * tl.num_programs(2) + z) * 4
        tl.store(place, x)
        tl.store(place + 1, y)
        tl.store(place + 2, z)
        tl.store(place + 3, tl.num_programs(0))
        """, out, grid=(3, 4, 5))  # fmt: skip
    x, y, z = np.meshgrid(np.arange(3), np.arange(4), np.arange(5), indexing="ij")
    np.testing.assert_array_equal(out, np.stack([x, y, z, np.full_like(x, 3)], -1))
