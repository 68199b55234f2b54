# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, scans, sorting, histograms, gathers against numpy."""

import ml_dtypes
import numpy as np
import pytest

import nereid
import nereid.language as tl

SHAPES = [(1,), (7,), (64,), (100,), (1, 1), (3, 5), (16, 32), (5, 1), (1, 9), (33, 17), (2, 3, 5), (4, 1, 7)]
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
INTS = [np.int8, np.uint8, np.int32, np.uint32, np.int64]


@nereid.jit
def offsets(SHAPE: tl.constexpr):
    """Row-major offsets of a whole tile of up to three dimensions."""
    if len(SHAPE) == 1:
        return tl.arange(0, SHAPE[0])
    elif len(SHAPE) == 2:
        return tl.arange(0, SHAPE[0])[:, None] * SHAPE[1] + tl.arange(0, SHAPE[1])[None, :]
    else:
        return (tl.arange(0, SHAPE[0])[:, None, None] * SHAPE[1] + tl.arange(0, SHAPE[1])[None, :, None]) * SHAPE[
            2] + tl.arange(0, SHAPE[2])[None, None, :]


@nereid.jit
def reduce_kernel(x_ptr, y_ptr, F: tl.constexpr, AXIS: tl.constexpr, SHAPE: tl.constexpr, OUT: tl.constexpr):
    x = tl.load(x_ptr + offsets(SHAPE))
    y = F(x, AXIS)
    if len(OUT) == 0:
        tl.store(y_ptr, y)
    else:
        tl.store(y_ptr + offsets(OUT), y)


def run_reduce(function, x, axis, out):
    shape = () if axis is None else tuple(size for i, size in enumerate(x.shape) if i != axis)
    y = np.zeros(shape, out)
    reduce_kernel[(1,)](x, y, F=function, AXIS=axis, SHAPE=x.shape, OUT=shape)
    return y


def axes(shape):
    return [None, *range(len(shape))]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_sum_of_floats(rng, shape, dtype):
    x = rng.standard_normal(shape).astype(dtype)
    for axis in axes(shape):
        got = run_reduce(tl.sum, x, axis, dtype)
        want = x.astype(np.float64).sum(axis)
        size = x.size if axis is None else shape[axis]
        eps = {2: 2.0**-8 if np.dtype(dtype).name == "bfloat16" else 2.0**-11, 4: 2.0**-24, 8: 2.0**-53}[x.itemsize]
        bound = eps * (2 + 2 * np.log2(size + 1) + size / 8) * np.abs(x.astype(np.float64)).sum(axis).max()
        nereid.testing.assert_close(got, want, atol=bound, rtol=0)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", FLOATS + INTS)
@pytest.mark.parametrize("function, reference", [(tl.max, np.max), (tl.min, np.min)], ids=["max", "min"])
def test_max_and_min(rng, function, reference, shape, dtype):
    x = (100 * rng.standard_normal(shape)).astype(np.int64).astype(dtype)
    for axis in axes(shape):
        np.testing.assert_array_equal(run_reduce(function, x, axis, dtype), reference(x, axis=axis))


@pytest.mark.parametrize("dtype", INTS)
def test_integer_sums(rng, dtype):
    for shape in [(19,), (7, 9)]:
        x = rng.integers(0, 100, shape).astype(dtype)
        for axis in axes(shape):
            np.testing.assert_array_equal(run_reduce(tl.sum, x, axis, np.int64), x.astype(np.int64).sum(axis))
            np.testing.assert_array_equal(
                run_reduce(tl.xor_sum, x, axis, dtype), np.bitwise_xor.reduce(x, axis=axis) if axis is not None
                else np.bitwise_xor.reduce(x.ravel()))


@pytest.mark.parametrize("shape", [(1,), (50,), (3, 17), (17, 3)], ids=str)
def test_arguments_of_extrema(rng, shape):
    x = rng.integers(0, 5, shape).astype(np.float32)  # many equal elements: the first one counts
    for axis in range(len(shape)):
        np.testing.assert_array_equal(run_reduce(tl.argmax, x, axis, np.int32), x.argmax(axis))
        np.testing.assert_array_equal(run_reduce(tl.argmin, x, axis, np.int32), x.argmin(axis))


@nereid.jit
def multiply(a, b):
    return a * b


@nereid.jit
def product(x, axis):
    return tl.reduce(x, axis, multiply)


@nereid.jit
def welford(mean_a, m2_a, count_a, mean_b, m2_b, count_b):
    delta = mean_b - mean_a
    count = count_a + count_b
    ratio = tl.where(count == 0.0, 0.0, count_b / count)
    return mean_a + delta * ratio, m2_a + m2_b + delta * delta * count_a * ratio, count


@nereid.jit
def variance(x, axis):
    mean, m2, count = tl.reduce((x, x * 0.0, x * 0.0 + 1.0), axis, welford)
    return m2 / count


@pytest.mark.parametrize("shape", [(5,), (64,), (3, 7), (6, 50)], ids=str)
def test_reduce_with_own_functions(rng, shape):
    x = rng.uniform(0.5, 1.5, shape).astype(np.float32)
    for axis in range(len(shape)):
        nereid.testing.assert_close(run_reduce(product, x, axis, np.float32), x.astype(np.float64).prod(axis), rtol=1e-4)
        nereid.testing.assert_close(
            run_reduce(variance, x, axis, np.float32), x.astype(np.float64).var(axis), atol=1e-5, rtol=1e-3)


@nereid.jit
def scan_kernel(x_ptr, y_ptr, F: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr, SHAPE: tl.constexpr):
    x = tl.load(x_ptr + offsets(SHAPE))
    tl.store(y_ptr + offsets(SHAPE), F(x, AXIS, REVERSE))


@nereid.jit
def linear(a1, b1, a2, b2):
    return a1 * a2, a2 * b1 + b2


@nereid.jit
def recurrence(x, axis, reverse):
    a, b = tl.associative_scan((x * 0.0 + 0.5, x), axis, linear, reverse)
    return b


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("shape", [(1,), (13,), (4, 9), (9, 4), (2, 3, 4)], ids=str)
def test_scans(rng, shape, reverse):
    x = rng.uniform(0.5, 1.5, shape).astype(np.float32)
    for axis in range(len(shape)):
        flipped = np.flip(x, axis) if reverse else x
        expected = {tl.cumsum: flipped.astype(np.float64).cumsum(axis), tl.cumprod: flipped.astype(np.float64).cumprod(axis)}
        state, steps = 0, []
        for row in np.moveaxis(flipped.astype(np.float64), axis, 0):
            state = 0.5 * state + row
            steps.append(state)
        expected[recurrence] = np.moveaxis(np.array(steps), 0, axis)
        for function, want in expected.items():
            y = np.zeros_like(x)
            scan_kernel[(1,)](x, y, F=function, AXIS=axis, REVERSE=reverse, SHAPE=shape)
            nereid.testing.assert_close(y, np.flip(want, axis) if reverse else want, atol=1e-5, rtol=1e-5)


@nereid.jit
def sort_kernel(x_ptr, y_ptr, SHAPE: tl.constexpr, DESCENDING: tl.constexpr):
    x = tl.load(x_ptr + offsets(SHAPE))
    tl.store(y_ptr + offsets(SHAPE), tl.sort(x, descending=DESCENDING))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.uint8, np.int64])
@pytest.mark.parametrize("shape", [(1,), (2,), (16,), (37,), (4, 8), (3, 5)], ids=str)
def test_sort(rng, shape, dtype):
    x = (50 * rng.standard_normal(shape)).astype(np.int64).astype(dtype)
    for descending in (False, True):
        y = np.zeros_like(x)
        sort_kernel[(1,)](x, y, SHAPE=shape, DESCENDING=descending)
        want = np.sort(x, axis=-1)
        np.testing.assert_array_equal(y, want[..., ::-1] if descending else want)


@nereid.jit
def histogram_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    tl.store(y_ptr + tl.arange(0, BINS), tl.histogram(x, BINS, mask=offs < n))


@pytest.mark.parametrize("n, bins", [(1, 1), (100, 16), (61, 7), (512, 64)])
def test_histogram(rng, n, bins):
    x = rng.integers(0, bins, n).astype(np.int32)
    y = np.zeros(bins, np.int32)
    histogram_kernel[(1,)](x, y, n, BLOCK=nereid.next_power_of_2(n), BINS=bins)
    np.testing.assert_array_equal(y, np.bincount(x, minlength=bins))


@nereid.jit
def gather_kernel(x_ptr, i_ptr, y_ptr, AXIS: tl.constexpr, SHAPE: tl.constexpr, INDEX: tl.constexpr):
    x = tl.load(x_ptr + offsets(SHAPE))
    index = tl.load(i_ptr + offsets(INDEX))
    tl.store(y_ptr + offsets(INDEX), tl.gather(x, index, AXIS))


@pytest.mark.parametrize("shape, index, axis", [((8,), (20,), 0), ((5, 7), (5, 3), 1), ((5, 7), (11, 7), 0)])
def test_gather(rng, shape, index, axis):
    x = rng.standard_normal(shape).astype(np.float32)
    i = rng.integers(0, shape[axis], index).astype(np.int32)
    y = np.zeros(index, np.float32)
    gather_kernel[(1,)](x, i, y, AXIS=axis, SHAPE=shape, INDEX=index)
    np.testing.assert_array_equal(y, np.take_along_axis(x, i, axis))


@nereid.jit
def max_with_index_kernel(x_ptr, v_ptr, i_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + offsets((M, N)))
    values, indices = tl.max(x, axis=1, return_indices=True)
    tl.store(v_ptr + tl.arange(0, M), values)
    tl.store(i_ptr + tl.arange(0, M), indices)


def test_maximum_with_index(rng):
    x = rng.standard_normal((6, 50)).astype(np.float32)
    values, indices = np.zeros(6, np.float32), np.zeros(6, np.int32)
    max_with_index_kernel[(1,)](x, values, indices, M=6, N=50)
    np.testing.assert_array_equal(values, x.max(1))
    np.testing.assert_array_equal(indices, x.argmax(1))
