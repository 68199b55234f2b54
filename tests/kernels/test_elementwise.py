# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element-wise functions and operators against numpy in float64, over dtypes and odd sizes."""

import math

import ml_dtypes
import numpy as np
import pytest

import nereid
import nereid.language as tl

#: Relative error that one rounding to a type makes.
EPS = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
INTS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


@nereid.jit
def unary_kernel(x_ptr, y_ptr, n, F: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, F(x), mask=offs < n)


@nereid.jit
def binary_kernel(x_ptr, y_ptr, z_ptr, n, F: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = tl.load(y_ptr + offs, mask=offs < n, other=1)
    tl.store(z_ptr + offs, F(x, y), mask=offs < n)


def run_unary(f, x, out=None, block=100):
    y = np.zeros(x.shape, out or x.dtype)
    unary_kernel[(nereid.cdiv(x.size, block),)](x, y, x.size, F=f, BLOCK=block)
    return y


def run_binary(f, x, y, out=None, block=100):
    z = np.zeros(x.shape, out or x.dtype)
    binary_kernel[(nereid.cdiv(x.size, block),)](x, y, z, x.size, F=f, BLOCK=block)
    return z


erf = np.vectorize(math.erf, otypes=[np.float64])
#: function, numpy's, range of arguments, error in roundings of fp32 (on top of the type's own)
UNARY = {
    "exp": (tl.exp, np.exp, (-10, 10), 4), "exp2": (tl.exp2, np.exp2, (-10, 10), 4),
    "log": (tl.log, np.log, (1e-3, 100), 4), "log2": (tl.log2, np.log2, (1e-3, 100), 4),
    "sin": (tl.sin, np.sin, (-20, 20), 4), "cos": (tl.cos, np.cos, (-20, 20), 4),
    "sqrt": (tl.sqrt, np.sqrt, (0, 100), 2), "rsqrt": (tl.rsqrt, lambda x: 1 / np.sqrt(x), (1e-3, 100), 4),
    "erf": (tl.erf, erf, (-4, 4), 8), "floor": (tl.floor, np.floor, (-100, 100), 0),
    "ceil": (tl.ceil, np.ceil, (-100, 100), 0), "abs": (tl.abs, np.abs, (-100, 100), 0),
    "sigmoid": (tl.sigmoid, lambda x: 1 / (1 + np.exp(-x)), (-10, 10), 8),
    "tanh": (tl.math.tanh, np.tanh, (-5, 5), 8),
    "libdevice.atan": (tl.extra.libdevice.atan, np.arctan, (-10, 10), 8),
    "libdevice.log1p": (tl.extra.libdevice.log1p, np.log1p, (-0.9, 10), 8),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", UNARY)
def test_unary(rng, name, dtype):
    function, reference, (low, high), roundings = UNARY[name]
    x = rng.uniform(low, high, int(rng.integers(1, 500))).astype(dtype)
    y = run_unary(function, x)
    with np.errstate(all="ignore"):
        want = reference(x.astype(np.float64))
    # sin and cos of large arguments: absolute, the argument is what it is.
    compute = EPS["float64" if dtype == np.float64 else "float32"]
    rtol = EPS[np.dtype(dtype).name] * 1.01 + roundings * compute
    atol = 8 * compute + (2.0**-25 if np.dtype(dtype).name == "float16" else 0)
    nereid.testing.assert_close(y, want, atol=atol, rtol=rtol)


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "sin", "erf", "tanh", "floor"])
def test_special_values(name):
    function, reference, _, _ = UNARY[name]
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3e38, -3e38, 1.0, -1.0], np.float32)
    if name == "sin":
        x = x[[0, 1, 2, 3, 4, 9, 10]]
    with np.errstate(all="ignore"):
        want = reference(x.astype(np.float64)).astype(np.float32)
    nereid.testing.assert_close(run_unary(function, x), want, atol=1e-6, rtol=1e-6)


@nereid.jit
def op_add(a, b):
    return a + b


@nereid.jit
def op_sub(a, b):
    return a - b


@nereid.jit
def op_mul(a, b):
    return a * b


@nereid.jit
def op_truediv(a, b):
    return a / b


@nereid.jit
def op_floordiv(a, b):
    return a // b


@nereid.jit
def op_mod(a, b):
    return a % b


@nereid.jit
def op_and(a, b):
    return a & b


@nereid.jit
def op_or(a, b):
    return a | b


@nereid.jit
def op_xor(a, b):
    return a ^ b


@nereid.jit
def op_shl(a, b):
    return a << (b & 7)


@nereid.jit
def op_shr(a, b):
    return a >> (b & 7)


@nereid.jit
def op_lt(a, b):
    return a < b


@nereid.jit
def op_ge(a, b):
    return a >= b


@nereid.jit
def op_ne(a, b):
    return a != b


ARITHMETIC = {
    op_add: np.add, op_sub: np.subtract, op_mul: np.multiply, tl.maximum: np.fmax, tl.minimum: np.fmin,
}


@pytest.mark.parametrize("dtype", FLOATS + INTS)
@pytest.mark.parametrize("function", ARITHMETIC, ids=lambda f: f.__name__)
def test_arithmetic(rng, function, dtype):
    count = int(rng.integers(1, 400))
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        x, y = (rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True) for _ in range(2))
        with np.errstate(over="ignore"):
            want = ARITHMETIC[function](x, y)
        np.testing.assert_array_equal(run_binary(function, x, y), want)
    else:
        x, y = (rng.standard_normal(count).astype(dtype) for _ in range(2))
        want = ARITHMETIC[function](x.astype(np.float64), y.astype(np.float64))
        # Results below fp16's normal range are multiples of 2^-24.
        atol = 2.0**-25 if dtype == np.float16 else 1e-300
        nereid.testing.assert_close(run_binary(function, x, y), want, atol=atol, rtol=EPS[np.dtype(dtype).name] * 1.01)


def c_divide(x, y):
    """Exact quotients, rounded towards zero, as Python integers."""
    return np.array([abs(int(a)) // abs(int(b)) * (1 if (a < 0) == (b < 0) else -1) for a, b in zip(x, y)], object)


@pytest.mark.parametrize("dtype", INTS)
def test_integer_division_truncates(rng, dtype):
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, 300, dtype=dtype, endpoint=True)
    y = rng.integers(info.min, info.max, 300, dtype=dtype, endpoint=True)
    y[y == 0] = 3
    y[(x == info.min) & (y.astype(object) == -1)] = 1
    quotient = c_divide(x, y)
    np.testing.assert_array_equal(run_binary(op_floordiv, x, y).astype(object), quotient)
    np.testing.assert_array_equal(run_binary(op_mod, x, y).astype(object), x.astype(object) - quotient * y.astype(object))


@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize("function, reference", [
    (op_and, np.bitwise_and), (op_or, np.bitwise_or), (op_xor, np.bitwise_xor),
    (op_shl, lambda a, b: a << (b & a.dtype.type(7))), (op_shr, lambda a, b: a >> (b & a.dtype.type(7))),
], ids=["and", "or", "xor", "shl", "shr"])
def test_bits(rng, function, reference, dtype):
    info = np.iinfo(dtype)
    x, y = (rng.integers(info.min, info.max, 333, dtype=dtype, endpoint=True) for _ in range(2))
    np.testing.assert_array_equal(run_binary(function, x, y), reference(x, y))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.int8, np.uint8, np.int64, np.uint64])
@pytest.mark.parametrize("function, reference", [(op_lt, np.less), (op_ge, np.greater_equal), (op_ne, np.not_equal)],
                         ids=["lt", "ge", "ne"])
def test_comparisons(rng, function, reference, dtype):
    x, y = (rng.integers(0, 4, 300).astype(dtype) for _ in range(2))
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        x[::7], y[::5] = info.max, info.min
    else:
        x[::7] = np.nan
    np.testing.assert_array_equal(run_binary(function, x, y, np.bool_), reference(x, y))


@pytest.mark.parametrize("dtype", FLOATS)
def test_true_division(rng, dtype):
    x, y = (rng.uniform(0.5, 2, 300).astype(dtype) for _ in range(2))
    want = x.astype(np.float64) / y.astype(np.float64)
    nereid.testing.assert_close(run_binary(op_truediv, x, y), want, atol=0, rtol=EPS[np.dtype(dtype).name] * 1.01)


def test_true_division_of_integers(rng):
    x, y = rng.integers(-100, 100, 300).astype(np.int32), rng.integers(1, 100, 300).astype(np.int32)
    nereid.testing.assert_close(run_binary(op_truediv, x, y, np.float32), x / y, atol=0, rtol=EPS["float32"] * 1.01)


@nereid.jit
def to_fp16(x):
    return x.to(tl.float16)


@nereid.jit
def to_bf16(x):
    return x.to(tl.bfloat16)


@nereid.jit
def to_fp8e5(x):
    return x.to(tl.float8e5)


@nereid.jit
def to_fp8e4nv(x):
    return x.to(tl.float8e4nv)


@pytest.mark.parametrize("function, dtype", [
    (to_fp16, np.float16), (to_bf16, ml_dtypes.bfloat16), (to_fp8e5, ml_dtypes.float8_e5m2),
    (to_fp8e4nv, ml_dtypes.float8_e4m3fn),
], ids=lambda value: getattr(value, "__name__", None))
def test_narrowing_rounds_to_nearest_even(rng, function, dtype):
    bits = rng.integers(0, 2**32, 4000, dtype=np.uint32).view(np.float32)
    x = np.concatenate([bits, rng.standard_normal(1000).astype(np.float32), np.float32([0.0, -0.0, np.inf, -np.inf, np.nan])])
    if np.dtype(dtype).itemsize == 1:
        largest = float(ml_dtypes.finfo(dtype).max)
        big = np.float32([largest * 2, -largest * 2, np.inf, -np.inf])
        np.testing.assert_array_equal(run_unary(function, big, dtype).astype(np.float32),  # saturates
                                      [largest, -largest, largest, -largest])
        x = x[~(np.abs(x) > largest)]
    got = run_unary(function, x, dtype).astype(np.float32)
    with np.errstate(all="ignore"):
        want = x.astype(dtype).astype(np.float32)
    np.testing.assert_array_equal(got, want)


CASTS = [np.bool_, *INTS, *FLOATS, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn]


@nereid.jit
def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, x.to(y_ptr.dtype.element_ty), mask=offs < n)


@pytest.mark.parametrize("source", CASTS, ids=lambda d: np.dtype(d).name)
def test_casts_between_all_types(rng, source):
    values = rng.integers(0, 2, 41) if source == np.bool_ else rng.integers(-8 if np.dtype(source).kind != "u" else 0, 9, 41)
    floating = np.dtype(source).kind not in "iub"
    for target in CASTS:
        if floating and np.dtype(target).kind == "u":
            x = np.abs(values).astype(source)  # negative floats have no unsigned value
        else:
            x = values.astype(source)
        y = np.zeros(x.shape, target)
        copy_kernel[(1,)](x, y, x.size, BLOCK=64)
        want = x.astype(np.float64) != 0 if target == np.bool_ else x.astype(np.int64).astype(target)
        np.testing.assert_array_equal(y, want, err_msg=f"{np.dtype(source)} to {np.dtype(target)}")


@nereid.jit
def float_to_int_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs).to(y_ptr.dtype.element_ty))


def test_floats_to_integers_truncate(rng):
    x = rng.uniform(-1000, 1000, 64).astype(np.float32)
    for target in (np.int16, np.int32, np.int64):
        y = np.zeros(64, target)
        float_to_int_kernel[(1,)](x, y, BLOCK=64)
        np.testing.assert_array_equal(y, np.trunc(x).astype(target))


@nereid.jit
def ternary_kernel(x_ptr, y_ptr, z_ptr, out_ptr, n, WHAT: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask)
    y = tl.load(y_ptr + offs, mask)
    z = tl.load(z_ptr + offs, mask)
    if WHAT == "fma":
        r = tl.fma(x, y, z)
    elif WHAT == "clamp":
        r = tl.clamp(x, -0.5, 0.5)
    elif WHAT == "where":
        r = tl.where(x > y, y, z)
    elif WHAT == "fdiv":
        r = tl.fdiv(x, y)
    elif WHAT == "nested":
        r = tl.where((x > 0) & (y > 0) | ~(z > 0), -x, +y) if BLOCK > 1 else x
    else:
        tl.static_assert(False, "no such case")
    tl.store(out_ptr + offs, r, mask)


@pytest.mark.parametrize("what, reference", [
    ("fma", lambda x, y, z: x * y + z), ("clamp", lambda x, y, z: np.clip(x, -0.5, 0.5)),
    ("where", lambda x, y, z: np.where(x > y, y, z)), ("fdiv", lambda x, y, z: x / y),
    ("nested", lambda x, y, z: np.where((x > 0) & (y > 0) | ~(z > 0), -x, y)),
])
def test_other_functions(rng, what, reference):
    x, y, z = (rng.standard_normal(77).astype(np.float32) for _ in range(3))
    out = np.zeros(77, np.float32)
    ternary_kernel[(1,)](x, y, z, out, 77, WHAT=what, BLOCK=80)
    want = reference(*(v.astype(np.float64) for v in (x, y, z)))
    nereid.testing.assert_close(out, want, atol=1e-6, rtol=1e-6)


@nereid.jit
def promote_kernel(x_ptr, y_ptr, out_ptr, s, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    y = tl.load(y_ptr + offs)
    tl.store(out_ptr + offs, (x + y) * s + 1)


@pytest.mark.parametrize("a, b", [(np.int8, np.int32), (np.int32, np.float32), (np.float16, np.float32),
                                  (np.float32, np.float64), (np.uint8, np.int16), (np.float16, np.int32)])
def test_mixed_types(rng, a, b):
    x, y = rng.integers(0, 50, 19).astype(a), rng.integers(0, 50, 19).astype(b)
    out = np.zeros(19, np.float64)
    promote_kernel[(1,)](x, y, out, 3, BLOCK=19)
    np.testing.assert_array_equal(out, (x.astype(np.float64) + y.astype(np.float64)) * 3 + 1)
