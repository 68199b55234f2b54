# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads, stores, block pointers, descriptors, shapes of tiles, atomics, random numbers, control flow."""

import collections

import numpy as np
import pytest

import nereid
import nereid.language as tl


@nereid.jit
def copy_2d(x_ptr, y_ptr, rows, cols, sx0, sx1, sy0, sy1, R: tl.constexpr, C: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)
    c = tl.program_id(1) * C + tl.arange(0, C)
    mask = (r < rows)[:, None] & (c < cols)[None, :]
    x = tl.load(x_ptr + r[:, None] * sx0 + c[None, :] * sx1, mask=mask)
    tl.store(y_ptr + r[:, None] * sy0 + c[None, :] * sy1, x, mask=mask)


def steps(x):
    return tuple(step // x.itemsize for step in x.strides)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.float16, np.float32, np.int64, np.float64])
@pytest.mark.parametrize("tile", [(1, 1), (4, 64), (32, 8), (7, 13)])
def test_copies_with_any_strides(rng, dtype, tile):
    base = (rng.standard_normal((61, 83)) * 50).astype(dtype)
    views = [base, base.T, base[::2, 1::3], base[::-1], base[:, ::-1], base[3:4], base[:, 5:6], base[7:, 9:].T]
    for x in views:
        for y in (np.zeros(x.shape, dtype), np.zeros(x.shape[::-1], dtype).T, np.zeros((x.shape[0], 2 * x.shape[1]), dtype)[:, ::2]):
            grid = (nereid.cdiv(x.shape[0], tile[0]), nereid.cdiv(x.shape[1], tile[1]))
            copy_2d[grid](x, y, *x.shape, *steps(x), *steps(y), R=tile[0], C=tile[1])
            np.testing.assert_array_equal(y, x)


def test_nothing_outside_the_mask_is_touched(rng):
    """Arrays that end at the end of a page whose successor cannot be touched."""
    import ctypes
    import mmap

    libc = ctypes.CDLL(None, use_errno=True)
    for dtype in (np.uint8, np.float16, np.float32, np.float64):
        for count in (1, 3, 17, 100):
            area = mmap.mmap(-1, 2 * mmap.PAGESIZE)
            start = ctypes.addressof(ctypes.c_char.from_buffer(area))
            assert libc.mprotect(ctypes.c_void_p(start + mmap.PAGESIZE), mmap.PAGESIZE, 0) == 0
            size = count * np.dtype(dtype).itemsize
            x = np.frombuffer(area, dtype, count, mmap.PAGESIZE - size)
            x[:] = np.arange(count)
            copy_2d[(1, nereid.cdiv(count, 32))](x, x, 1, count, count, 1, count, 1, R=1, C=32)
            copy_2d[(nereid.cdiv(count, 32), 1)](x, x, count, 1, 1, count, 1, count, R=32, C=1)
            np.testing.assert_array_equal(x, np.arange(count).astype(dtype))
            assert libc.mprotect(ctypes.c_void_p(start + mmap.PAGESIZE), mmap.PAGESIZE, 3) == 0


@nereid.jit
def gather_scatter(x_ptr, i_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    i = tl.load(i_ptr + offs, mask=mask, other=0)
    x = tl.load(x_ptr + i, mask=mask & (i >= 0), other=-1)
    tl.store(y_ptr + n - 1 - offs, x, mask=mask)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_indirect_access(rng, index):
    x = rng.integers(0, 1000, 50).astype(np.int16)
    i = rng.integers(-5, 50, 333).astype(index)
    y = np.zeros(333, np.int16)
    gather_scatter[(nereid.cdiv(333, 100),)](x, i, y, 333, BLOCK=100)
    np.testing.assert_array_equal(y, np.where(i < 0, -1, x[np.maximum(i, 0)])[::-1])


@nereid.jit
def block_pointers(x_ptr, y_ptr, rows, cols, row, col, R: tl.constexpr, C: tl.constexpr, PAD: tl.constexpr):
    p = tl.make_block_ptr(x_ptr, (rows, cols), (cols, 1), (row - R, col), (R, C), (1, 0))
    p = tl.advance(p, (R, 0))
    x = tl.load(p, boundary_check=(0, 1), padding_option=PAD)
    q = tl.make_block_ptr(y_ptr, (R, C), (C, 1), (0, 0), (R, C), (1, 0))
    tl.store(q, x)


@pytest.mark.parametrize("pad", ["zero", "nan"])
def test_block_pointers_at_the_borders(rng, pad):
    x = rng.standard_normal((13, 21)).astype(np.float32)
    for row, col in [(0, 0), (10, 3), (3, 18), (12, 20), (13, 0), (-2, 0), (0, -3), (20, 30)]:
        y = np.full((8, 16), 7, np.float32)
        block_pointers[(1,)](x, y, 13, 21, row, col, R=8, C=16, PAD=pad)
        padded = np.full((60, 80), 0 if pad == "zero" else np.nan, np.float32)
        padded[20:33, 20:41] = x
        np.testing.assert_array_equal(y, padded[20 + row:28 + row, 20 + col:36 + col])


@nereid.jit
def descriptors(x_ptr, y_ptr, rows, cols, row, col, R: tl.constexpr, C: tl.constexpr):
    d = tl.make_tensor_descriptor(x_ptr, shape=[rows, cols], strides=[cols, 1], block_shape=[R, C])
    x = d.load([row, col])
    e = tl.make_tensor_descriptor(y_ptr, shape=[rows, cols], strides=[cols, 1], block_shape=[R, C])
    e.store([row, col], x + 1)


def test_descriptors(rng):
    x = rng.standard_normal((13, 21)).astype(np.float32)
    for row, col in [(0, 0), (8, 16), (12, 0), (5, 20)]:
        y = np.zeros_like(x)
        descriptors[(1,)](x, y, 13, 21, row, col, R=4, C=8)
        want = np.zeros_like(x)
        want[row:row + 4, col:col + 8] = x[row:row + 4, col:col + 8] + 1
        np.testing.assert_array_equal(y, want)


@nereid.jit
def shapes(x_ptr, y_ptr, WHAT: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 24))
    if WHAT == "reshape":
        y = x.reshape(2, 3, 4)
    elif WHAT == "trans":
        y = tl.trans(x.reshape(4, 6))
    elif WHAT == "permute":
        y = tl.permute(x.reshape(2, 3, 4), (2, 0, 1))
    elif WHAT == "broadcast":
        y = tl.broadcast_to(tl.load(x_ptr + tl.arange(0, 4))[None, :], (6, 4))
    elif WHAT == "join":
        y = tl.join(x.reshape(3, 8), x.reshape(3, 8) * 2)
    elif WHAT == "split":
        a, b = x.reshape(12, 2).split()
        y = a - b
    elif WHAT == "interleave":
        y = tl.interleave(x, -x)
    elif WHAT == "cat":
        y = tl.cat(x, x + 100, can_reorder=True)
    elif WHAT == "flip":
        y = tl.flip(x.reshape(3, 8), 1)
    elif WHAT == "expand":
        y = tl.expand_dims(x.reshape(4, 6), 1) + tl.expand_dims(x.reshape(4, 6), 0) * 0
    elif WHAT == "ravel":
        y = x.reshape(4, 6).T.ravel()
    numel: tl.constexpr = y.numel
    tl.store(y_ptr + tl.arange(0, numel), y.reshape(numel))


SHAPES = {
    "reshape": lambda x: x, "trans": lambda x: x.reshape(4, 6).T, "permute": lambda x: x.reshape(2, 3, 4).transpose(2, 0, 1),
    "broadcast": lambda x: np.broadcast_to(x[:4], (6, 4)), "join": lambda x: np.stack([x, 2 * x], -1),
    "split": lambda x: x[::2] - x[1::2], "interleave": lambda x: np.stack([x, -x], -1),
    "cat": lambda x: np.concatenate([x, x + 100]), "flip": lambda x: x.reshape(3, 8)[:, ::-1],
    "expand": lambda x: x.reshape(4, 1, 6) + 0 * x.reshape(1, 4, 6), "ravel": lambda x: x.reshape(4, 6).T,
}


@pytest.mark.parametrize("what", SHAPES)
def test_shapes(rng, what):
    x = rng.standard_normal(24).astype(np.float32)
    want = SHAPES[what](x)
    y = np.zeros(want.size, np.float32)
    shapes[(1,)](x, y, WHAT=what)
    np.testing.assert_array_equal(y, want.ravel())


@nereid.jit
def atomics(x_ptr, old_ptr, v_ptr, n, WHAT: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    v = tl.load(v_ptr + offs, mask=mask)
    p = x_ptr + offs % 3
    if WHAT == "add":
        old = tl.atomic_add(p, v, mask=mask)
    elif WHAT == "max":
        old = tl.atomic_max(p, v, mask=mask)
    elif WHAT == "min":
        old = tl.atomic_min(p, v, mask=mask)
    elif WHAT == "and":
        old = tl.atomic_and(p, v, mask=mask)
    elif WHAT == "or":
        old = tl.atomic_or(p, v, mask=mask)
    elif WHAT == "xor":
        old = tl.atomic_xor(p, v, mask=mask)
    else:
        old = tl.atomic_xchg(p, v, mask=mask)
    tl.store(old_ptr + offs, old, mask=mask)


ATOMICS = [
    ("add", np.add, [np.int32, np.uint32, np.int64, np.uint64, np.float16, np.float32, np.float64]),
    ("max", np.maximum, [np.int32, np.uint32, np.int64, np.uint64, np.float32]),
    ("min", np.minimum, [np.int32, np.uint32, np.int64, np.uint64, np.float32]),
    ("and", np.bitwise_and, [np.int32, np.uint32, np.int64]), ("or", np.bitwise_or, [np.int32, np.uint64]),
    ("xor", np.bitwise_xor, [np.int32, np.int64]),
]


@pytest.mark.parametrize("what, reference, dtype", [(w, r, d) for w, r, types in ATOMICS for d in types])
def test_atomics(rng, what, reference, dtype):
    n = 200
    v = rng.integers(0, 50, n).astype(dtype)
    if np.issubdtype(dtype, np.signedinteger) or dtype == np.float32:
        v -= 25
    if dtype == np.float16:
        v = (v / 8).astype(dtype)  # sums stay exact
    x = rng.integers(0, 50, 3).astype(dtype)
    got, old = x.copy(), np.zeros(n, dtype)
    atomics[(nereid.cdiv(n, 16),)](got, old, v, n, WHAT=what, BLOCK=16)
    want = x.copy()
    for i in range(n):
        want[i % 3] = reference(want[i % 3], v[i])
    np.testing.assert_array_equal(got, want)


@nereid.jit
def exchange(x_ptr, seen_ptr):
    old = tl.atomic_xchg(x_ptr, tl.program_id(0) + 1)
    tl.store(seen_ptr + tl.program_id(0), old)


def test_every_exchange_sees_another_value():
    x, seen = np.zeros(1, np.int32), np.zeros(300, np.int32)
    exchange[(300,)](x, seen)
    assert sorted([*seen.tolist(), int(x[0])]) == list(range(301))


@nereid.jit
def locked_increment(lock_ptr, count_ptr, rounds):
    for _ in range(rounds):
        while tl.atomic_cas(lock_ptr, 0, 1) == 1:
            pass
        tl.store(count_ptr, tl.load(count_ptr, volatile=True) + 1)
        tl.atomic_xchg(lock_ptr, 0)


def test_spin_locks():
    lock, count = np.zeros(1, np.int32), np.zeros(1, np.int64)
    locked_increment[(40,)](lock, count, 25)
    assert count[0] == 1000 and lock[0] == 0


@nereid.jit
def random_kernel(y_ptr, seed, n, WHAT: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if WHAT == "rand":
        tl.store(y_ptr + offs, tl.rand(seed, offs), mask=offs < n)
    elif WHAT == "randn":
        tl.store(y_ptr + offs, tl.randn(seed, offs), mask=offs < n)
    else:
        tl.store(y_ptr + offs, tl.randint(seed, offs), mask=offs < n)


def philox(seed, offsets, rounds=10):
    """First word of Philox 4x32 for counters (offset, 0, 0, 0)."""
    mask = 0xFFFFFFFF
    c = [offsets.astype(object), *(np.zeros(len(offsets), object) for _ in range(3))]
    k0, k1 = seed & mask, seed >> 32 & mask
    for _ in range(rounds):
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(b // 2**32) ^ c[1] ^ k0, b & mask, (a // 2**32) ^ c[3] ^ k1, a & mask]
        k0, k1 = (k0 + 0x9E3779B9) & mask, (k1 + 0xBB67AE85) & mask
    return c[0].astype(np.uint32)


@pytest.mark.parametrize("seed", [0, 5, 123456789, 2**40 + 17])
def test_random_numbers(seed):
    n = 5000
    bits = np.zeros(n, np.int32)
    random_kernel[(5,)](bits, seed, n, WHAT="randint", BLOCK=1000)
    np.testing.assert_array_equal(bits.view(np.uint32), philox(seed, np.arange(n)))
    y = np.zeros(n, np.float32)
    random_kernel[(5,)](y, seed, n, WHAT="rand", BLOCK=1000)
    assert 0 <= y.min() and y.max() < 1 and abs(y.mean() - 0.5) < 0.02
    random_kernel[(5,)](y, seed, n, WHAT="randn", BLOCK=1000)
    assert abs(y.mean()) < 0.06 and abs(y.std() - 1) < 0.05


# ---- control flow and calls

Range = collections.namedtuple("Range", "start stop")


@nereid.jit
def divmod_(a, b):
    return a // b, a % b


@nereid.jit
def collatz(x_ptr, y_ptr, limits, STEP: tl.constexpr = 1, scale=2):
    i = tl.program_id(0)
    n = tl.load(x_ptr + i)
    count = 0
    while (n > 1) & (count < limits.stop):
        half, odd = divmod_(n, 2)
        if odd == 0:
            n = half
        else:
            n = 3 * n + 1
        count += STEP
    bonus = 0
    for j in tl.static_range(3):
        bonus += j * scale
    for k in range(limits.start, 10, 3):
        if k == 7:
            bonus += 100
        elif k > 7:
            bonus -= k
    tl.store(y_ptr + i, count + (bonus if i % 2 == 0 else -bonus))


def test_control_flow(rng):
    x = rng.integers(1, 1000, 32).astype(np.int64)
    y = np.zeros(32, np.int32)
    collatz[(32,)](x, y, Range(1, 10000))

    def steps_of(n):
        count = 0
        while n > 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    bonus = (0 + 1 + 2) * 2 + 100
    want = [steps_of(int(n)) + (bonus if i % 2 == 0 else -bonus) for i, n in enumerate(x)]
    np.testing.assert_array_equal(y, want)


@nereid.jit
def grid_kernel(y_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    nx, ny, nz = tl.num_programs(0), tl.num_programs(1), tl.num_programs(2)
    tl.store(y_ptr + (z * ny + y) * nx + x, x + 10 * y + 100 * z + 1000 * nz)


def test_programs_of_a_grid():
    y = np.zeros((4, 3, 5), np.int32)
    grid_kernel[(5, 3, 4)](y)
    z, r, x = np.indices((4, 3, 5))
    np.testing.assert_array_equal(y, x + 10 * r + 100 * z + 4000)
