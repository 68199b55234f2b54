# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Forms of code that are there for speed alone give the same numbers: loads that are read again instead of
copied, choices that the fast loop does not look at, strided and numbered loads, scans along the lanes."""

import ctypes
import mmap

import numpy as np
import pytest

import nereid
import nereid.language as tl


@nereid.jit
def normalise(x, w, out, n, STORE_FIRST: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < n
    values = tl.load(x + at, inside, 0.0)
    mean = tl.sum(values, 0) / n
    if STORE_FIRST:
        tl.store(out + tl.program_id(0) * n, mean)
    centred = tl.where(inside, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 0) / n + 1e-5)
    tl.store(out + at, centred * scale * tl.load(w + tl.arange(0, BLOCK), inside) + values, inside)


def normalised(x, w):
    x = x.astype(np.float64)
    centred = x - x.mean(1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5) * w + x


@pytest.mark.parametrize("n", [1, 15, 16, 17, 64, 77, 1000, 1024])
@pytest.mark.parametrize("where", ["apart", "in place", "shifted"])
def test_rows_that_are_read_again(n, where):
    rng = np.random.default_rng(n)
    memory = rng.uniform(-1, 1, 4 * n + 3).astype(np.float32)
    x = memory[: 4 * n].reshape(4, n)
    w = rng.uniform(-1, 1, n).astype(np.float32)
    # Shifted, a row is written over what the next one reads: one row at a time then.
    out = {"apart": np.zeros((4, n), np.float32), "in place": x, "shifted": memory[3: 4 * n + 3].reshape(4, n)}[where]
    rows = range(4) if where == "shifted" else [None]
    for row in rows:
        want = normalised(x, w)
        if row is None:
            normalise[(4,)](x, w, out, n, STORE_FIRST=False, BLOCK=nereid.next_power_of_2(n))
            got = out
        else:
            want = want[row]
            normalise[(1,)](x[row], w, out[row], n, STORE_FIRST=False, BLOCK=nereid.next_power_of_2(n))
            got = out[row]
        np.testing.assert_allclose(got, want, atol=1e-4)


def test_a_store_between_two_uses_is_not_seen_by_the_second():
    x = np.random.default_rng(0).uniform(-1, 1, (1, 100)).astype(np.float32)
    want = normalised(x, np.ones(100))
    normalise[(1,)](x, np.ones(100, np.float32), x, 100, STORE_FIRST=True, BLOCK=128)
    np.testing.assert_allclose(x, want, atol=1e-4)


@nereid.jit
def strided(x, out, n, STEP: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + STEP * at, at < n), at < n)


def before_a_hole(count: int, dtype) -> tuple[np.ndarray, mmap.mmap]:
    """An array whose last element ends a page, behind which nothing may be read."""
    size = mmap.PAGESIZE * (2 + count * np.dtype(dtype).itemsize // mmap.PAGESIZE)
    memory = mmap.mmap(-1, size + mmap.PAGESIZE)
    whole = np.frombuffer(memory, np.uint8)
    protect = ctypes.CDLL(None).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert protect(whole.ctypes.data + size, mmap.PAGESIZE, 0) == 0
    return whole[size - count * np.dtype(dtype).itemsize: size].view(dtype), memory


@pytest.mark.parametrize("step", [2, 3, 4, 5, -2])
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "int64"])
@pytest.mark.parametrize("n", [64, 128, 100])
def test_strided_loads_read_nothing_behind_the_last_element(step, dtype, n):
    count = abs(step) * (n - 1) + 1
    x, memory = before_a_hole(count, dtype)
    x[:] = np.random.default_rng(step + 5).integers(-100, 100, count)
    out = np.zeros(n, dtype)
    strided[(nereid.cdiv(n, 64),)](x if step > 0 else x[count - 1:], out, n, STEP=step, BLOCK=64)
    np.testing.assert_array_equal(out, x[::step])


@nereid.jit
def numbered(x, index, out, n, BASE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + BASE + tl.load(index + at, at < n, 0), at < n, 7), at < n)


@pytest.mark.parametrize("kind", ["random", "consecutive", "equal", "backwards", "both"])
@pytest.mark.parametrize("index_type", ["int32", "int64"])
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64"])
def test_numbered_loads(kind, index_type, dtype):
    rng = np.random.default_rng(1)
    n = 200
    index = {"random": rng.integers(-500, 500, n), "consecutive": np.arange(n) - 300, "equal": np.full(n, 17),
             "backwards": 100 - np.arange(n), "both": np.where(np.arange(n) < 100, np.arange(n), rng.integers(-500, 500, n))}[kind]
    index = index.astype(index_type)
    x = rng.integers(-100, 100, 1001).astype(dtype)
    out = np.zeros(n, dtype)
    numbered[(4,)](x, index, out, n, BASE=500, BLOCK=64)
    np.testing.assert_array_equal(out, x[500 + index])


@nereid.jit
def largest(a, b):
    return tl.maximum(a, b)


@nereid.jit
def recurrence(a1, b1, a2, b2):
    return a1 * a2, a2 * b1 + b2


@nereid.jit
def scans(x, sums, tops, n, REVERSE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * n + tl.arange(0, BLOCK)[None, :]
    inside = (tl.arange(0, BLOCK) < n)[None, :] & (tl.arange(0, ROWS) >= 0)[:, None]
    values = tl.load(x + at, inside, 0)
    tl.store(sums + at, tl.cumsum(values, 1, reverse=REVERSE), inside)
    tl.store(tops + at, tl.associative_scan(values, 1, largest, reverse=REVERSE), inside)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", ["int32", "float32", "float16", "int64"])
@pytest.mark.parametrize("n", [1, 7, 16, 40, 64, 1000, 5000])
def test_scans_along_the_lanes(n, dtype, reverse):
    rng = np.random.default_rng(n)
    x = rng.integers(0, 9, (2, n)).astype(dtype) if "int" in dtype else rng.uniform(0, 1, (2, n)).astype(dtype)
    sums, tops = np.zeros_like(x), np.zeros_like(x)
    scans[(1,)](x, sums, tops, n, REVERSE=reverse, ROWS=2, BLOCK=nereid.next_power_of_2(n))
    order = slice(None, None, -1 if reverse else 1)
    exact = np.cumsum(x.astype(np.float64)[:, order], 1)[:, order]
    bound = {"float32": 1e-6, "float16": 1e-3}.get(dtype, 0)
    np.testing.assert_allclose(sums.astype(np.float64), exact, rtol=bound)
    np.testing.assert_array_equal(tops, np.maximum.accumulate(x[:, order], 1)[:, order])


@nereid.jit
def chained(a, b, out, n, REVERSE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x, y = tl.load(a + at, at < n, 1.0), tl.load(b + at, at < n, 0.0)
    _, result = tl.associative_scan((x, y), 0, recurrence, reverse=REVERSE)
    tl.store(out + at, result, at < n)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("n", [5, 32, 300, 4096])
def test_a_recurrence_along_the_lanes(n, reverse):
    rng = np.random.default_rng(n)
    a, b = rng.uniform(-1, 1, n).astype(np.float32), rng.uniform(-1, 1, n).astype(np.float32)
    out = np.zeros(n, np.float32)
    chained[(1,)](a, b, out, n, REVERSE=reverse, BLOCK=nereid.next_power_of_2(n))
    want, state = np.zeros(n), 0.0
    for i in reversed(range(n)) if reverse else range(n):
        state = float(a[i]) * state + float(b[i])
        want[i] = state
    np.testing.assert_allclose(out, want, atol=1e-5)


@nereid.jit
def chosen(x, out, n, low, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    values = tl.load(x + at)
    picked = tl.where((at < n) & (at >= low), values, 2 * values)
    tl.store(out, tl.sum(picked, 0))
    tl.store(out + 1 + at, tl.where(at < n, picked, -1))


@pytest.mark.parametrize("n", [-5, 0, 1, 63, 64, 100, 127, 128, 1000])
@pytest.mark.parametrize("low", [-3, 0, 5, 200])
def test_choices_by_a_bound(n, low):
    x = np.random.default_rng(3).integers(-9, 9, 128).astype(np.int32)
    out = np.zeros(129, np.int32)
    chosen[(1,)](x, out, n, low, BLOCK=128)
    at = np.arange(128)
    picked = np.where((at < n) & (at >= low), x, 2 * x)
    assert out[0] == picked.sum()
    np.testing.assert_array_equal(out[1:], np.where(at < n, picked, -1))
