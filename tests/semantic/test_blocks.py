# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shapes, selection, reductions, scans, sorting, matrix products and random numbers
against numpy. Integers are exact; floats are within the rounding of the result's dtype
times the number of operations."""

import ml_dtypes
import numpy as np
import pytest
from evaluate import DTYPES, EPSILON, assert_close, evaluate, random_array


def shape_of(rng, rank):
    return tuple(int(n) for n in rng.choice([1, 2, 3, 5, 7, 8, 12, 16, 17], rank))


# ---- shapes -------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "int64"])
def test_reordering(dtype, rng):
    m, n = shape_of(rng, 2)
    k = int(rng.integers(1, 6))
    x = random_array(rng, (m, n), dtype)
    z = random_array(rng, (k, m, n), dtype)
    kind = DTYPES[dtype]
    same = np.testing.assert_array_equal
    same(evaluate("x.T", {"x": x}, ((n, m), kind)), x.T)
    same(evaluate("tl.trans(z)", {"z": z}, ((k, n, m), kind)), z.swapaxes(1, 2))
    same(evaluate("tl.permute(z, (2, 0, 1))", {"z": z}, ((n, k, m), kind)), z.transpose(2, 0, 1))
    same(evaluate(f"tl.reshape(x, ({n}, {m}))", {"x": x}, ((n, m), kind)), x.reshape(n, m))
    same(evaluate("x.ravel()", {"x": x}, ((m * n,), kind)), x.ravel())
    same(evaluate("tl.flip(x)", {"x": x}, ((m, n), kind)), x[:, ::-1])
    same(evaluate("tl.flip(x, 0)", {"x": x}, ((m, n), kind)), x[::-1])
    same(evaluate("x[:, None, :]", {"x": x}, ((m, 1, n), kind)), x[:, None])


@pytest.mark.parametrize("dtype", ["int16", "float32"])
def test_joining(dtype, rng):
    m, n = shape_of(rng, 2)
    x, y = random_array(rng, (m, n), dtype), random_array(rng, (m, n), dtype)
    kind = DTYPES[dtype]
    inputs = {"x": x, "y": y}
    same = np.testing.assert_array_equal
    same(evaluate("tl.join(x, y)", inputs, ((m, n, 2), kind)), np.stack([x, y], -1))
    same(evaluate("tl.interleave(x, y)", inputs, ((m, 2 * n), kind)), np.stack([x, y], -1).reshape(m, 2 * n))
    same(evaluate("tl.cat(x, y)", inputs, ((2 * m, n), kind)), np.concatenate([x, y]))
    same(evaluate("tl.cat(x, y, dim=1)", inputs, ((m, 2 * n), kind)), np.concatenate([x, y], 1))
    halves = evaluate("tl.split(tl.join(x, y))", inputs, [((m, n), kind), ((m, n), kind)])
    same(halves[0], x)
    same(halves[1], y)


def test_creation():
    same = np.testing.assert_array_equal
    same(evaluate("tl.arange(3, 23)", {}, ((20,), np.int32)), np.arange(3, 23))
    same(evaluate("tl.full((3, 5), 2.5, tl.float16)", {}, ((3, 5), np.float16)), np.full((3, 5), 2.5))
    same(evaluate("tl.zeros((7,), tl.int64)", {}, ((7,), np.int64)), np.zeros(7))
    same(evaluate("tl.arange(0, 4)[:, None] * 10 + tl.arange(0, 3)[None, :]", {}, ((4, 3), np.int32)),
         np.arange(4)[:, None] * 10 + np.arange(3))  # fmt: skip
    same(evaluate("tl.broadcast_to(tl.arange(0, 3)[None, :], 4, 3)", {}, ((4, 3), np.int32)), np.tile(np.arange(3), (4, 1)))


def test_where_and_gather(rng):
    m, n = shape_of(rng, 2)
    c = random_array(rng, (m, 1), "int32", 0, 1)
    x, y = random_array(rng, (m, n), "float32"), random_array(rng, (n,), "float32")
    result = evaluate("tl.where(c, x, y)", {"c": c, "x": x, "y": y}, ((m, n), np.float32))
    np.testing.assert_array_equal(result, np.where(c, x, y))
    k = int(rng.integers(1, 20))
    index = random_array(rng, (k, n), "int32", 0, m - 1)
    result = evaluate("tl.gather(x, i, 0)", {"x": x, "i": index}, ((k, n), np.float32))
    np.testing.assert_array_equal(result, np.take_along_axis(x, index, 0))
    index = random_array(rng, (m, k), "int32", 0, n - 1)
    result = evaluate("x.gather(i, axis=1)", {"x": x, "i": index}, ((m, k), np.float32))
    np.testing.assert_array_equal(result, np.take_along_axis(x, index, 1))


def test_windows(rng):
    m, n = int(rng.integers(4, 18)), int(rng.integers(6, 18))
    x, part = random_array(rng, (m, n), "float32"), random_array(rng, (2, 3), "float32")
    row, column = int(rng.integers(0, m - 1)), int(rng.integers(0, n - 4))
    place = f"({row}, o), (2, 3), (1, 2)"
    inputs = {"x": x, "o": np.array(column, np.int32)}
    picked = (slice(row, row + 2), slice(column, column + 5, 2))
    np.testing.assert_array_equal(evaluate(f"al.extract_slice(x, {place})", inputs, ((2, 3), np.float32)), x[picked])
    expected = x.copy()
    expected[picked] = part
    result = evaluate(f"x.insert_slice(p, {place})", {**inputs, "p": part}, ((m, n), np.float32))
    np.testing.assert_array_equal(result, expected)
    assert evaluate(f"al.get_element(x, ({row}, o))", inputs, ((), np.float32)) == x[row, column]


# ---- reductions and scans -----------------------------------------------------


def result_shape(shape, axis, keep):
    if axis is None:
        return (1,) * len(shape) if keep else ()
    return tuple(1 if i == axis else n for i, n in enumerate(shape) if keep or i != axis)


@pytest.mark.parametrize("axis", [None, 0, 1, 2])
@pytest.mark.parametrize("keep", [False, True])
def test_reductions(axis, keep, rng):
    shape = shape_of(rng, 3)
    out = result_shape(shape, axis, keep)
    arguments = f"axis={axis}, keep_dims={keep}"
    x = random_array(rng, shape, "float32")
    exact = x.astype(np.float64)
    result = evaluate(f"tl.sum(x, {arguments})", {"x": x}, (out, np.float32))
    assert_close(result, exact.sum(axis, keepdims=keep), 1e-5, 1e-5 * np.sqrt(x.size))
    same = np.testing.assert_array_equal
    same(evaluate(f"tl.max(x, {arguments})", {"x": x}, (out, np.float32)), x.max(axis, keepdims=keep))
    same(evaluate(f"x.min({arguments})", {"x": x}, (out, np.float32)), x.min(axis, keepdims=keep))
    n = random_array(rng, shape, "int32")
    with np.errstate(over="ignore"):
        same(evaluate(f"tl.sum(n, {arguments})", {"n": n}, (out, np.int32)), n.sum(axis, np.int32, keepdims=keep))
    same(evaluate(f"tl.xor_sum(n, {arguments})", {"n": n}, (out, np.int32)), np.bitwise_xor.reduce(
        n if axis is not None else n.ravel(), axis or 0, keepdims=keep).reshape(out))  # fmt: skip
    few = random_array(rng, shape, "int8", -3, 3)
    for name, function in (("argmax", np.argmax), ("argmin", np.argmin)):
        result = evaluate(f"tl.{name}(f, {arguments})", {"f": few}, (out, np.int32))
        same(result, function(few, axis).reshape(out), err_msg="the leftmost of equal ones")
    values, indices = evaluate(f"tl.max(f, return_indices=True, {arguments})", {"f": few}, [(out, np.int8), (out, np.int32)])
    same(values, few.max(axis, keepdims=keep))
    same(indices, np.argmax(few, axis).reshape(out))


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint8", "uint16"])
def test_narrow_integers_are_summed_wide(dtype, rng):
    x = random_array(rng, (100,), dtype)
    kind = np.int32 if dtype.startswith("int") else np.uint32
    assert evaluate("tl.sum(x)", {"x": x}, ((), kind)) == x.sum(dtype=np.int64)
    np.testing.assert_array_equal(evaluate("tl.cumsum(x)", {"x": x}, ((100,), kind)), np.cumsum(x, dtype=np.int64))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_float_reductions(dtype, rng):
    m, n = shape_of(rng, 2)
    x = random_array(rng, (m, n), dtype)
    result = evaluate("tl.sum(x, 1)", {"x": x}, ((m,), DTYPES[dtype]))
    assert_close(result, x.astype(np.float64).sum(1), n * EPSILON[dtype], 2 * n * EPSILON[dtype])
    wide = DTYPES[dtype] if dtype == "float64" else np.float32
    np.testing.assert_array_equal(evaluate("tl.max(x, 0)", {"x": x}, ((n,), wide)), x.astype(np.float64).max(0).astype(wide))


COMBINE = """
@nereid.jit
def add(a, b):
    return a + b


@nereid.jit
def greater(a, b):
    return tl.where(a > b, a, b)


@nereid.jit
def mean_and_square(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    # Welford's combination.
    count = count_a + count_b
    delta = mean_b - mean_a
    part = tl.where(count == 0.0, 0.0, count_b / count)
    return count, mean_a + delta * part, m2_a + m2_b + delta * delta * count_a * part


@nereid.jit
def linear(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2
"""


def test_user_combinations(rng):
    m, n = shape_of(rng, 2)
    x = random_array(rng, (m, n), "float32")
    result = evaluate("tl.reduce(x, 1, greater)", {"x": x}, ((m,), np.float32), COMBINE)
    np.testing.assert_array_equal(result, x.max(1))
    result = evaluate("x.reduce(0, add, keep_dims=True)", {"x": x}, ((1, n), np.float32), COMBINE)
    assert_close(result, x.astype(np.float64).sum(0, keepdims=True), 1e-5, 1e-5)
    one = np.ones((m, n), np.float32)
    count, mean, square = evaluate("tl.reduce((c, x, z), 1, mean_and_square)", {"c": one, "x": x, "z": 0 * one},
                                   [((m,), np.float32)] * 3, COMBINE)  # fmt: skip
    np.testing.assert_array_equal(count, np.full(m, n))
    assert_close(mean, x.astype(np.float64).mean(1), 1e-5, 1e-5)
    assert_close(square / n, x.astype(np.float64).var(1), 1e-4, 1e-5)


def test_user_scans(rng):
    m, n = shape_of(rng, 2)
    a, b = random_array(rng, (m, n), "float32"), random_array(rng, (m, n), "float32")
    result = evaluate("tl.associative_scan(a, 1, greater)", {"a": a}, ((m, n), np.float32), COMBINE)
    np.testing.assert_array_equal(result, np.maximum.accumulate(a, 1))
    # x[i] = a[i] * x[i - 1] + b[i], a recurrence by a scan over pairs.
    products, sums = evaluate("tl.associative_scan((a, b), 1, linear)", {"a": a, "b": b}, [((m, n), np.float32)] * 2, COMBINE)
    state, expected = np.zeros(m), np.zeros((m, n))
    for i in range(n):
        state = a[:, i].astype(np.float64) * state + b[:, i]
        expected[:, i] = state
    assert_close(sums, expected, 1e-4, 1e-4)
    assert_close(products, np.cumprod(a.astype(np.float64), 1), 1e-4, 1e-4)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
def test_scans(axis, reverse, rng):
    m, n = shape_of(rng, 2)
    x = random_array(rng, (m, n), "float32")
    turn = (lambda v: np.flip(v, axis)) if reverse else (lambda v: v)
    arguments = f"axis={axis}, reverse={reverse}"
    result = evaluate(f"tl.cumsum(x, {arguments})", {"x": x}, ((m, n), np.float32))
    assert_close(result, turn(np.cumsum(turn(x.astype(np.float64)), axis)), 1e-5, 1e-4)
    result = evaluate(f"tl.cumprod(x, {arguments})", {"x": x}, ((m, n), np.float32))
    assert_close(result, turn(np.cumprod(turn(x.astype(np.float64)), axis)), 1e-4, 1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_softmax(dtype, rng):
    m, n = shape_of(rng, 2)
    x = random_array(rng, (m, n), dtype)
    wide = x.astype(np.float64)
    for dim in (0, 1):
        power = np.exp(wide - wide.max(dim, keepdims=True))
        result = evaluate(f"tl.softmax(x, {dim})", {"x": x}, ((m, n), DTYPES[dtype]))
        assert_close(result, power / power.sum(dim, keepdims=True), 8 * EPSILON[dtype], 8 * EPSILON["float32"])


def test_histogram(rng):
    n, bins = int(rng.integers(1, 300)), int(rng.integers(1, 40))
    x = random_array(rng, (n,), "int32", 0, bins - 1)
    result = evaluate(f"tl.histogram(x, {bins})", {"x": x}, ((bins,), np.int32))
    np.testing.assert_array_equal(result, np.bincount(x, minlength=bins))
    mask = random_array(rng, (n,), "int32", 0, 1)
    result = evaluate(f"tl.histogram(x, {bins}, m != 0)", {"x": x, "m": mask}, ((bins,), np.int32))
    np.testing.assert_array_equal(result, np.bincount(x[mask != 0], minlength=bins))


@pytest.mark.parametrize("dtype", ["int8", "uint32", "float16", "float32", "int64"])
def test_sorting(dtype, rng):
    m = int(rng.integers(1, 4))
    n = int(rng.choice([1, 2, 3, 6, 8, 13, 16, 32]))
    x = random_array(rng, (m, n), dtype)
    kind = DTYPES[dtype]
    np.testing.assert_array_equal(evaluate("tl.sort(x)", {"x": x}, ((m, n), kind)), np.sort(x, 1))
    np.testing.assert_array_equal(evaluate("x.sort(descending=True)", {"x": x}, ((m, n), kind)), np.sort(x, 1)[:, ::-1])
    k = int(rng.integers(1, n + 1))
    np.testing.assert_array_equal(evaluate(f"tl.topk(x, {k})", {"x": x}, ((m, k), kind)), np.sort(x, 1)[:, ::-1][:, :k])


# ---- dot ----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "float8e5"])
def test_dot(dtype, rng):
    for _ in range(3):
        m, n, k = shape_of(rng, 3)
        a, b = (random_array(rng, shape, dtype) for shape in ((m, k), (k, n)))
        kind = {"float64": np.float64, "int8": np.int32}.get(dtype, np.float32)
        result = evaluate("tl.dot(a, b)", {"a": a, "b": b}, ((m, n), kind))
        exact = a.astype(np.float64) @ b.astype(np.float64)
        bound = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
        eps = EPSILON[np.dtype(kind).name] if kind != np.int32 else 0
        assert (np.abs(result - exact) <= (k + 1) * eps * bound).all()
        acc = np.ones((m, n), kind)
        result = evaluate("tl.dot(a, b, acc=c)", {"a": a, "b": b, "c": acc}, ((m, n), kind))
        assert (np.abs(result - exact - 1) <= (k + 2) * eps * (bound + 1)).all()


def test_dot_batches(rng):
    batch, m, n, k = shape_of(rng, 4)
    a, b = random_array(rng, (batch, m, k), "float32"), random_array(rng, (batch, k, n), "float32")
    result = evaluate("tl.dot(a, b)", {"a": a, "b": b}, ((batch, m, n), np.float32))
    assert_close(result, a.astype(np.float64) @ b.astype(np.float64), 1e-5, 1e-5)


# ---- random numbers -----------------------------------------------------------


def philox(seed, counters, rounds=10):
    """Salmon et al. 2011, Philox 4x32."""
    mask = 0xFFFFFFFF
    c = [int(v) & mask for v in counters]
    k0, k1 = seed & mask, (seed >> 32) & mask
    for _ in range(rounds):
        b, a = 0xCD9E8D57 * c[2], 0xD2511F53 * c[0]
        c = [(b >> 32) ^ c[1] ^ k0, b & mask, (a >> 32) ^ c[3] ^ k1, a & mask]
        k0, k1 = (k0 + 0x9E3779B9) & mask, (k1 + 0xBB67AE85) & mask
    return c


def test_philox_vectors():
    # Known answers of the published generator.
    assert philox(0, [0, 0, 0, 0]) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert philox(0xFFFFFFFFFFFFFFFF, [0xFFFFFFFF] * 4) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


@pytest.mark.parametrize("offset_dtype", ["int32", "int64"])
def test_random_is_philox(offset_dtype, rng):
    seed = int(rng.integers(0, 1 << 31))
    offsets = random_array(rng, (9,), offset_dtype, 0, None)
    words = np.array([philox(seed, [int(o), int(o) >> 32 if offset_dtype == "int64" else 0, 0, 0]) for o in offsets],
                     np.uint32).T  # fmt: skip
    results = evaluate(f"tl.randint4x({seed}, o)", {"o": offsets}, [((9,), np.uint32)] * 4)
    np.testing.assert_array_equal(results, words)
    np.testing.assert_array_equal(evaluate(f"tl.randint({seed}, o)", {"o": offsets}, ((9,), np.uint32)), words[0])
    signed = words[0].view(np.int32)
    uniform = np.where(signed < 0, -signed - 1, signed).astype(np.float32) * np.float32(4.6566127342e-10)
    np.testing.assert_array_equal(evaluate(f"tl.rand({seed}, o)", {"o": offsets}, ((9,), np.float32)), uniform)


def test_random_distributions():
    o = np.arange(4096, dtype=np.int32)
    uniform = evaluate("tl.rand(123, o)", {"o": o}, ((4096,), np.float32)).astype(np.float64)
    assert 0 <= uniform.min() and uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 0.02 and abs(uniform.var() - 1 / 12) < 0.005
    normal = evaluate("tl.randn(123, o)", {"o": o}, ((4096,), np.float32)).astype(np.float64)
    assert abs(normal.mean()) < 0.06 and abs(normal.std() - 1) < 0.04


def test_bfloat16_is_computed_in_fp32(rng):
    x, y = random_array(rng, (31,), "bfloat16"), random_array(rng, (31,), "bfloat16")
    expected = (x.astype(np.float32) + y.astype(np.float32)).astype(ml_dtypes.bfloat16)
    result = evaluate("x + y", {"x": x, "y": y}, ((31,), ml_dtypes.bfloat16))
    np.testing.assert_array_equal(result.astype(np.float32), expected.astype(np.float32))
