# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators, casts and element-wise functions against numpy in float64.

Tolerances: floating results are within a few roundings of the exact value in the
result's precision (the functions are computed in fp32 or fp64 and rounded once);
integers are exact.
"""

import math

import ml_dtypes
import numpy as np
import pytest
from evaluate import DTYPES, EPSILON, assert_close, evaluate, random_array

FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def random_shape(rng, rank=None):
    rank = rng.integers(1, 4) if rank is None else rank
    return tuple(int(n) for n in rng.choice([1, 2, 3, 5, 7, 8, 12, 16, 17], rank))


erf = np.vectorize(math.erf)
UNARY = {
    "tl.exp": (np.exp, -5, 5), "tl.exp2": (np.exp2, -5, 5), "tl.log": (np.log, 0.1, 9), "tl.log2": (np.log2, 0.1, 9),
    "tl.sin": (np.sin, -6, 6), "tl.cos": (np.cos, -6, 6), "tl.sqrt": (np.sqrt, 0, 9), "tl.sqrt_rn": (np.sqrt, 0, 9),
    "tl.rsqrt": (lambda x: 1 / np.sqrt(x), 0.1, 9), "tl.erf": (erf, -3, 3), "tl.floor": (np.floor, -9, 9),
    "tl.ceil": (np.ceil, -9, 9), "tl.abs": (np.abs, -9, 9), "tl.math.tanh": (np.tanh, -4, 4),
    "tl.sigmoid": (lambda x: 1 / (1 + np.exp(-x)), -9, 9),
    "libdevice.log1p": (np.log1p, -0.5, 4), "libdevice.expm1": (np.expm1, -3, 3), "libdevice.tan": (np.tan, -1.4, 1.4),
    "libdevice.asin": (np.arcsin, -0.99, 0.99), "libdevice.acos": (np.arccos, -0.99, 0.99),
    "libdevice.atan": (np.arctan, -5, 5), "libdevice.sinh": (np.sinh, -3, 3), "libdevice.cosh": (np.cosh, -3, 3),
    "libdevice.asinh": (np.arcsinh, -5, 5), "libdevice.acosh": (np.arccosh, 1.1, 9),
    "libdevice.atanh": (np.arctanh, -0.9, 0.9), "libdevice.log10": (np.log10, 0.1, 9), "libdevice.cbrt": (np.cbrt, -9, 9),
    "libdevice.trunc": (np.trunc, -9, 9), "libdevice.rint": (np.rint, -9, 9),
    "libdevice.round": (lambda x: np.trunc(x + np.copysign(0.5, x)), -9, 9),
    "libdevice.relu": (lambda x: np.maximum(x, 0), -9, 9), "libdevice.reciprocal": (lambda x: 1 / x, 0.3, 9),
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_unary(name, rng):
    reference, low, high = UNARY[name]
    for dtype in FLOATS:
        shape = random_shape(rng)
        x = random_array(rng, shape, dtype, low, high)
        result = evaluate(f"{name}(x)", {"x": x}, (shape, DTYPES[dtype]))
        # A few units in the last place; cancellation near zeros of the function.
        eps = EPSILON[dtype]
        assert_close(result, reference(x.astype(np.float64)), 8 * eps, 8 * max(eps, 2.0**-24 if dtype != "float64" else eps))


BINARY = {
    "x + y": np.add, "x - y": np.subtract, "x * y": np.multiply, "tl.maximum(x, y)": np.maximum,
    "tl.minimum(x, y)": np.minimum,
}  # fmt: skip


@pytest.mark.parametrize("expression", BINARY)
@pytest.mark.parametrize("dtype", FLOATS)
def test_binary_floats(expression, dtype, rng):
    rows, columns = random_shape(rng, 2)
    x = random_array(rng, (rows, 1), dtype)
    y = random_array(rng, (rows, columns), dtype)
    widened = dtype == "bfloat16" and "imum" in expression
    result = evaluate(expression, {"x": x, "y": y}, ((rows, columns), np.float32 if widened else DTYPES[dtype]))
    exact = BINARY[expression](x.astype(np.float64), y.astype(np.float64))
    assert_close(result, exact, 2 * EPSILON[dtype], 1e-30)


@pytest.mark.parametrize("dtype", INTS)
def test_integer_operators_wrap(dtype, rng):
    shape = random_shape(rng)
    x, y = random_array(rng, shape, dtype), random_array(rng, shape, dtype)
    out = (shape, DTYPES[dtype])
    with np.errstate(over="ignore"):
        for expression, value in {
            "x + y": x + y, "x - y": x - y, "x * y": x * y, "x & y": x & y, "x | y": x | y, "x ^ y": x ^ y, "~x": ~x,
            "-x": -x, "tl.maximum(x, y)": np.maximum(x, y), "tl.minimum(x, y)": np.minimum(x, y),
        }.items():  # fmt: skip
            np.testing.assert_array_equal(evaluate(expression, {"x": x, "y": y}, out), value, err_msg=expression)
    for expression, value in {"x == y": x == y, "x != y": x != y, "x < y": x < y, "x <= y": x <= y, "x > y": x > y,
                              "x >= y": x >= y}.items():  # fmt: skip
        result = evaluate(expression, {"x": x, "y": y}, (shape, np.bool_))
        np.testing.assert_array_equal(result, value, err_msg=expression)


@pytest.mark.parametrize("dtype", INTS)
def test_integer_division_truncates(dtype, rng):
    shape = random_shape(rng)
    x = random_array(rng, shape, dtype)
    y = random_array(rng, shape, dtype)
    y[(y == 0) | (y.astype(object) == -1)] = 3
    quotient = np.vectorize(lambda a, b: int(abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1), otypes=[object])
    q = quotient(x.astype(object), y.astype(object))
    r = x.astype(object) - q * y.astype(object)
    result = evaluate("x // y", {"x": x, "y": y}, (shape, DTYPES[dtype]))
    np.testing.assert_array_equal(result, q.astype(DTYPES[dtype]))
    result = evaluate("x % y", {"x": x, "y": y}, (shape, DTYPES[dtype]))
    np.testing.assert_array_equal(result, r.astype(DTYPES[dtype]))
    result = evaluate("x / y", {"x": x, "y": y}, (shape, np.float32))
    exact = x.astype(np.float32).astype(np.float64) / y.astype(np.float32).astype(np.float64)
    assert_close(result, exact, 2 * EPSILON["float32"])


@pytest.mark.parametrize("dtype", INTS)
def test_shifts(dtype, rng):
    shape = random_shape(rng)
    x = random_array(rng, shape, dtype)
    bits = x.dtype.itemsize * 8
    y = random_array(rng, shape, dtype, 0, bits - 1)
    np.testing.assert_array_equal(evaluate("x << y", {"x": x, "y": y}, (shape, DTYPES[dtype])), x << y)
    np.testing.assert_array_equal(evaluate("x >> y", {"x": x, "y": y}, (shape, DTYPES[dtype])), x >> y)


@pytest.mark.parametrize("dtype", FLOATS)
def test_float_division_and_remainder(dtype, rng):
    shape = random_shape(rng)
    x, y = random_array(rng, shape, dtype), random_array(rng, shape, dtype, 0.5, 4)
    out = np.float64 if dtype == "float64" else np.float32
    eps = EPSILON[np.dtype(out).name]
    assert_close(evaluate("x / y", {"x": x, "y": y}, (shape, out)), x.astype(np.float64) / y.astype(np.float64), 2 * eps)
    exact = np.fmod(x.astype(np.float64), y.astype(np.float64))
    assert_close(evaluate("x % y", {"x": x, "y": y}, (shape, out)), exact, 4 * eps, 8 * eps)


def test_numbers_keep_narrow_dtypes(rng):
    x = random_array(rng, (9,), "float16")
    expected = (x.astype(np.float32) * np.float32(np.float16(0.1))).astype(np.float16)
    np.testing.assert_array_equal(evaluate("x * 0.1", {"x": x}, ((9,), np.float16)), expected)
    n = random_array(rng, (9,), "int8")
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(evaluate("n + 100", {"n": n}, ((9,), np.int8)), n + np.int8(100))


CASTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", *FLOATS]


@pytest.mark.parametrize("source", [*CASTS, "float8e5", "float8e4nv"])
def test_casts(source, rng):
    shape = random_shape(rng)
    # Values that every target can hold, so that no cast is undefined.
    if source.startswith(("int", "uint")):
        x = random_array(rng, shape, source, 0, 100)
    else:
        x = random_array(rng, shape, source, 0, 100)
    for target in CASTS:
        wide = x.astype(np.float64)
        if target.startswith(("int", "uint")):
            expected = np.trunc(wide).astype(DTYPES[target])
        else:
            expected = wide.astype(DTYPES[target])
        result = evaluate(f"x.to(tl.{target})", {"x": x}, (shape, DTYPES[target]))
        np.testing.assert_array_equal(result.astype(np.float64), expected.astype(np.float64), err_msg=target)


@pytest.mark.parametrize("target", ["float8e5", "float8e4nv"])
@pytest.mark.parametrize("source", FLOATS)
def test_casts_to_fp8(source, target, rng):
    x = random_array(rng, (64,), source)
    result = evaluate(f"x.to(tl.{target})", {"x": x}, ((64,), DTYPES[target]))
    np.testing.assert_array_equal(result.astype(np.float32), x.astype(np.float64).astype(DTYPES[target]).astype(np.float32))


def test_cast_to_bool_and_back(rng):
    x = random_array(rng, (33,), "int32", -1, 1)
    np.testing.assert_array_equal(evaluate("x.to(tl.int1)", {"x": x}, ((33,), np.bool_)), x != 0)
    np.testing.assert_array_equal(evaluate("(x > 0).to(tl.float32)", {"x": x}, ((33,), np.float32)), (x > 0) * 1.0)


def test_rounding_towards_zero(rng):
    x = random_array(rng, (50,), "float32")
    truncated = (x.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    result = evaluate('tl.cast(x, tl.bfloat16, fp_downcast_rounding="rtz")', {"x": x}, ((50,), ml_dtypes.bfloat16))
    np.testing.assert_array_equal(result.astype(np.float32), truncated)


@pytest.mark.parametrize("target", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"])
def test_saturating_casts(target, rng):
    info = np.iinfo(DTYPES[target])
    x = np.array([0.0, 1.5, -1.5, 300.7, -300.7, 1e10, -1e10, 1e30, -1e30, np.inf, -np.inf, np.nan], np.float32)
    expected = [0 if np.isnan(v) else min(max(int(v) if np.isfinite(v) else (info.max if v > 0 else info.min), info.min),
                                          info.max) for v in x]  # fmt: skip
    result = evaluate(f'tl.cast(x, tl.{target}, overflow_mode="saturate")', {"x": x}, (x.shape, DTYPES[target]))
    np.testing.assert_array_equal(result, np.array(expected, DTYPES[target]))
    n = random_array(rng, (40,), "int64")
    result = evaluate(f'tl.cast(n, tl.{target}, overflow_mode="saturate")', {"n": n}, ((40,), DTYPES[target]))
    np.testing.assert_array_equal(result, np.clip(n.astype(object), info.min, info.max).astype(DTYPES[target]))


def test_bitcast(rng):
    x = random_array(rng, (21,), "float32")
    np.testing.assert_array_equal(evaluate("x.to(tl.int32, bitcast=True)", {"x": x}, ((21,), np.int32)), x.view(np.int32))
    np.testing.assert_array_equal(evaluate("libdevice.float_as_int(x)", {"x": x}, ((21,), np.int32)), x.view(np.int32))


def test_nan_in_maximum():
    x = np.array([np.nan, 1.0, np.nan], np.float32)
    y = np.array([2.0, np.nan, np.nan], np.float32)
    inputs = {"x": x, "y": y}
    np.testing.assert_array_equal(evaluate("tl.maximum(x, y)", inputs, ((3,), np.float32)), [2, 1, np.nan])
    everywhere = evaluate("tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)", inputs, ((3,), np.float32))
    assert np.isnan(everywhere).all()


def test_clamp(rng):
    x = random_array(rng, (5, 7), "float32")
    result = evaluate("tl.clamp(x, -0.5, 0.25)", {"x": x}, ((5, 7), np.float32))
    np.testing.assert_array_equal(result, np.clip(x, np.float32(-0.5), np.float32(0.25)))


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_umulhi(dtype, rng):
    x, y = random_array(rng, (11,), dtype), random_array(rng, (11,), dtype)
    bits = x.dtype.itemsize * 8
    mask = (1 << bits) - 1
    high = [((int(a) & mask) * (int(b) & mask)) >> bits for a, b in zip(x, y)]
    expected = np.array(high, np.dtype(f"uint{bits}")).view(x.dtype)
    np.testing.assert_array_equal(evaluate("tl.umulhi(x, y)", {"x": x, "y": y}, ((11,), DTYPES[dtype])), expected)


def test_cdiv_fma_fdiv(rng):
    n = random_array(rng, (13,), "int32", 0, 1000)
    np.testing.assert_array_equal(evaluate("tl.cdiv(n, 7)", {"n": n}, ((13,), np.int32)), -(-n // 7))
    x, y, z = (random_array(rng, (13,), "float32") for _ in range(3))
    exact = x.astype(np.float64) * y + z
    assert_close(evaluate("tl.fma(x, y, z)", {"x": x, "y": y, "z": z}, ((13,), np.float32)), exact, 2.0**-23, 2.0**-24)
    assert_close(evaluate("tl.fdiv(x, y)", {"x": x, "y": y}, ((13,), np.float32)), x.astype(np.float64) / y, 2.0**-23)
    np.testing.assert_array_equal(evaluate("tl.div_rn(x, y)", {"x": x, "y": y}, ((13,), np.float32)), x / y)


LIBDEVICE_PAIRS = {
    "pow": (np.power, 0.2, 4), "atan2": (np.arctan2, -4, 4), "copysign": (np.copysign, -4, 4), "fmod": (np.fmod, 0.5, 9),
    "hypot": (np.hypot, -9, 9), "fast_dividef": (np.divide, 0.5, 9),
}  # fmt: skip


@pytest.mark.parametrize("name", LIBDEVICE_PAIRS)
def test_libdevice_pairs(name, rng):
    reference, low, high = LIBDEVICE_PAIRS[name]
    for dtype in ["float32", "float64"]:
        x, y = random_array(rng, (19,), dtype, low, high), random_array(rng, (19,), dtype, low, high)
        result = evaluate(f"libdevice.{name}(x, y)", {"x": x, "y": y}, ((19,), DTYPES[dtype]))
        assert_close(result, reference(x.astype(np.float64), y.astype(np.float64)), 32 * EPSILON[dtype], 8 * EPSILON[dtype])


def test_libdevice_bits(rng):
    n = random_array(rng, (20,), "int32")
    n[0] = 0
    unsigned = [int(v) & 0xFFFFFFFF for v in n]
    out = ((20,), np.int32)
    np.testing.assert_array_equal(evaluate("libdevice.popc(n)", {"n": n}, out), [bin(v).count("1") for v in unsigned])
    np.testing.assert_array_equal(evaluate("libdevice.clz(n)", {"n": n}, out), [32 - v.bit_length() for v in unsigned])
    np.testing.assert_array_equal(evaluate("libdevice.ffs(n)", {"n": n}, out), [(v & -v).bit_length() for v in unsigned])
    x = np.array([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan], np.float32)
    np.testing.assert_array_equal(evaluate("libdevice.isnan(x)", {"x": x}, ((6,), np.bool_)), np.isnan(x))
    np.testing.assert_array_equal(evaluate("libdevice.isinf(x)", {"x": x}, ((6,), np.bool_)), np.isinf(x))
    np.testing.assert_array_equal(evaluate("libdevice.finitef(x)", {"x": x}, ((6,), np.bool_)), np.isfinite(x))


def test_logical_operators_test_for_non_zero(rng):
    x, y = random_array(rng, (30,), "int32", -1, 1), random_array(rng, (30,), "int32", -1, 1)
    inputs = {"x": x, "y": y}
    out = ((30,), np.bool_)
    np.testing.assert_array_equal(evaluate("x and y", inputs, out), (x != 0) & (y != 0))
    np.testing.assert_array_equal(evaluate("x or y", inputs, out), (x != 0) | (y != 0))
    np.testing.assert_array_equal(evaluate("not x", inputs, out), x == 0)
