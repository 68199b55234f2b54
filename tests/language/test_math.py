# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise mathematics and operators, special values included."""

import math

import ml_dtypes
import numpy as np
import pytest
from sheet import DTYPES, EPS, FLOATS, INTS, Sheet, floats, integers, refuse, run, shape_of, values

erf = np.vectorize(math.erf, otypes=[np.float64])
#: name -> (reference, low, high, roundings of the type computed in, also exact on special values)
UNARY = {
    "exp": (np.exp, -10, 10, 6), "exp2": (np.exp2, -10, 10, 6), "log": (np.log, 0, 50, 6), "log2": (np.log2, 0, 50, 6),
    "sin": (np.sin, -10, 10, 8), "cos": (np.cos, -10, 10, 8), "sqrt": (np.sqrt, 0, 100, 1), "sqrt_rn": (np.sqrt, 0, 100, 1),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 0, 100, 4), "erf": (erf, -4, 4, 16), "floor": (np.floor, -50, 50, 0), "ceil": (np.ceil, -50, 50, 0),
    "abs": (np.abs, -50, 50, 0),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [*EPS, "float8e5", "float8e4nv"])
def test_unary(rng, dtype):
    sheet = Sheet()
    eps = EPS.get(dtype, 2.0**-3 if dtype == "float8e5" else 2.0**-4)
    compute = EPS["float64" if dtype == "float64" else "float32"]
    tiny = float(ml_dtypes.finfo(DTYPES[dtype]).smallest_subnormal)
    for i, (name, (reference, low, high, roundings)) in enumerate(UNARY.items()):
        x = floats(rng, shape_of(rng, 1 + i % 3), dtype, low, high)
        with np.errstate(all="ignore"):
            want = reference(x.astype(np.float64))
        if DTYPES[dtype].itemsize == 1:  # saturate
            limit = float(ml_dtypes.finfo(DTYPES[dtype]).max)
            want = np.where(np.isnan(want), want, np.clip(want, -limit, limit))
        rtol, atol = eps * 1.01 + roundings * compute, tiny + (8 * compute if name in ("sin", "cos", "log", "log2") else 0)
        sheet.input(f"x{i}", x)
        for module in ("tl", "tl.math"):
            sheet.add(f"{module}.{name}(x{i})", want, rtol=rtol, atol=atol, out=x.dtype)
        sheet.add(f"x{i}.{name}()", want, rtol=rtol, atol=atol, out=x.dtype)
    x = floats(rng, 90, dtype)
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64)
        sheet.input("x", x).add("tl.math.tanh(x)", np.tanh(wide), rtol=eps * 1.01 + 16 * compute, atol=tiny, out=x.dtype)
        if DTYPES[dtype].itemsize > 1:
            sheet.add("tl.sigmoid(x)", 1 / (1 + np.exp(-wide)), rtol=eps * 1.01 + 16 * compute, atol=max(tiny, 1e-37 if dtype != "float64" else 0),
                      out=x.dtype)  # fmt: skip
    sheet.run()


@pytest.mark.parametrize("name", INTS)
def test_unary_of_integers(rng, name):
    x = integers(rng, shape_of(rng), name)
    with np.errstate(over="ignore"):
        Sheet().input("x", x).add("tl.abs(x)", np.abs(x)).add("x.abs()", np.abs(x)).add("tl.floor(x)", x).add("tl.ceil(x)", x).add(
            "-x", (0 - x).astype(x.dtype)).add("~x", ~x).add("+x", x).run()  # fmt: skip


@pytest.mark.parametrize("name", [*INTS, *FLOATS, "int1"])
def test_extremes(rng, name):
    """maximum, minimum, clamp; NaN loses or wins."""
    sheet = Sheet()
    for i in range(2):
        shape = shape_of(rng, i + 1)
        x, y, low, high = (values(rng, shape, name) for _ in range(4))
        for variable, value in zip(("x", "y", "low", "high"), (x, y, low, high)):
            sheet.input(f"{variable}{i}", value)
        out = np.float32 if name == "bfloat16" else x.dtype
        with np.errstate(invalid="ignore"):
            if name in FLOATS:
                wide = [v.astype(np.float64) for v in (x, y, low, high)]
                same = lambda want: {"want": want, "out": out}
                for function, loses, wins in (("maximum", np.fmax, np.maximum), ("minimum", np.fmin, np.minimum)):
                    sheet.add(f"tl.{function}(x{i}, y{i})", loses(*wide[:2]), out=out)
                    sheet.add(f"tl.{function}(x{i}, y{i}, propagate_nan=tl.PropagateNan.ALL)", wins(*wide[:2]), out=out)
                    sheet.add(f"tl.{function}(x{i}, 0.5)", loses(wide[0], 0.5), out=out)
                    sheet.add(f"tl.math.{function[:3]}(x{i}, y{i})", loses(*wide[:2]), out=out)
                sheet.add(f"tl.clamp(x{i}, low{i}, high{i})", np.fmin(np.fmax(wide[0], wide[2]), wide[3]), out=out)
                sheet.add(f"tl.clamp(x{i}, -1.0, 1.0, propagate_nan=tl.PropagateNan.ALL)",
                          np.minimum(np.maximum(wide[0], -1.0), 1.0), out=out)
            else:
                sheet.add(f"tl.maximum(x{i}, y{i})", np.maximum(x, y)).add(f"tl.minimum(x{i}, y{i})", np.minimum(x, y))
                sheet.add(f"max(x{i}, y{i})", np.maximum(x, y)).add(f"min(x{i}, y{i})", np.minimum(x, y))
    sheet.run()


@pytest.mark.parametrize("name", [*INTS, *FLOATS])
def test_operators(rng, name):
    sheet = Sheet()
    shape = shape_of(rng)
    x, y = values(rng, shape, name), values(rng, shape, name)
    sheet.input("x", x).input("y", y)
    with np.errstate(all="ignore"):
        if name in INTS:
            bits = 8 * x.dtype.itemsize
            wide_x, wide_y = x.astype(object), y.astype(object)
            for symbol, op, function in (("+", np.add, "tl.add"), ("-", np.subtract, "tl.sub"), ("*", np.multiply, "tl.mul")):
                sheet.add(f"x {symbol} y", op(x, y)).add(f"{function}(x, y)", op(x, y))
                sheet.add(f"{function}(x, y, sanitize_overflow=False)", op(x, y))
            for symbol, op in (("&", np.bitwise_and), ("|", np.bitwise_or), ("^", np.bitwise_xor)):
                sheet.add(f"x {symbol} y", op(x, y))
            for symbol, op in (("<", np.less), ("<=", np.less_equal), (">", np.greater), (">=", np.greater_equal), ("==", np.equal), ("!=", np.not_equal)):
                sheet.add(f"x {symbol} y", op(x, y))
            # Division truncates; by zero it is harmless, its lanes are not looked at.
            fine = (wide_y != 0) & ~((wide_x == np.iinfo(x.dtype).min) & (wide_y == -1))
            q = np.array([abs(int(a)) // abs(int(b)) * (1 if (a < 0) == (b < 0) else -1) if ok else 0 for a, b, ok in zip(x.flat, y.flat, fine.flat)],
                         object).reshape(shape)  # fmt: skip
            r = wide_x - q * wide_y
            sheet.add("x // y", x, check=lambda got: np.testing.assert_array_equal(got[fine], q.astype(x.dtype)[fine]))
            sheet.add("x % y", x, check=lambda got: np.testing.assert_array_equal(got[fine], r.astype(x.dtype)[fine]))
            sheet.add("x / y", x.astype(np.float32) / y.astype(np.float32), out=np.float32, rtol=2.0**-24)
            # Shifts by the width or more are what step by step shifts are.
            n = rng.integers(0, 2 * bits, shape).astype(x.dtype)
            sheet.input("n", n)
            left = np.array([int(a) << int(b) if b < bits else 0 for a, b in zip(wide_x.flat, n.flat)], object).reshape(shape)
            mask = (1 << bits) - 1
            left = np.array([v & mask for v in left.flat], np.dtype(f"uint{bits}")).reshape(shape).view(x.dtype)
            right = np.array([int(a) >> min(int(b), bits) for a, b in zip(wide_x.flat, n.flat)], object).astype(x.dtype).reshape(shape)
            sheet.add("x << n", left).add("x >> n", right)
            sheet.add(f"x << {bits - 1}", np.left_shift(x, x.dtype.type(bits - 1))).add("x >> 1", np.right_shift(x, x.dtype.type(1)))
            sheet.input("s", x.reshape(-1)[0]).input("t", n.reshape(-1)[0])
            sheet.add("s << t", left.reshape(-1)[0]).add("s >> t", right.reshape(-1)[0])
        else:
            wide = x.astype(np.float64), y.astype(np.float64)
            eps = EPS[name]
            tiny = float(ml_dtypes.finfo(x.dtype).smallest_subnormal)
            for symbol, op, function in (("+", np.add, "tl.add"), ("-", np.subtract, "tl.sub"), ("*", np.multiply, "tl.mul")):
                for expression in (f"x {symbol} y", f"{function}(x, y)"):
                    sheet.add(expression, op(*wide), rtol=eps * 1.001, atol=tiny, out=x.dtype)
            quotient = np.float32 if x.dtype.itemsize == 2 else x.dtype
            sheet.add("x / y", np.divide(*wide), rtol=EPS[np.dtype(quotient).name] * 1.001, atol=tiny, out=quotient)
            sheet.add("x % y", np.fmod(*wide), rtol=EPS[np.dtype(quotient).name] * 1.001, atol=tiny, out=quotient)
            for symbol, op in (("<", np.less), ("<=", np.less_equal), (">", np.greater), (">=", np.greater_equal), ("==", np.equal), ("!=", np.not_equal)):
                sheet.add(f"x {symbol} y", op(*wide))
            sheet.add("-x", -x, exact=True)
    sheet.run()


@pytest.mark.parametrize("name", ["int1"])
def test_booleans(rng, name):
    x, y = values(rng, (3, 7), "int1"), values(rng, (3, 7), "int1")
    Sheet().input("x", x).input("y", y).add("x & y", x & y).add("x | y", x | y).add("x ^ y", x ^ y).add("~x", ~x).add("not x", ~x).add(
        "x and y", x & y).add("x or y", x | y).add("x == y", x == y).add("x != y", x != y).add("x < y", x < y).add(
        "x + y", x ^ y).add("x * y", x & y).add("x.to(tl.int32) + y", x.astype(np.int32) + y).add("x + 1", x.astype(np.int32) + 1).run()  # fmt: skip


def test_several_operands(rng):
    sheet = Sheet()
    for name in FLOATS:
        x, y, z = (floats(rng, 70, name, -5, 5, special=False) for _ in range(3))
        y = np.where(np.abs(y.astype(np.float64)) < 0.1, np.array(1.0, y.dtype), y)
        for variable, value in zip("xyz", (x, y, z)):
            sheet.input(variable + name, value)
        a, b, c = f"x{name}", f"y{name}", f"z{name}"
        wide = [v.astype(np.float64) for v in (x, y, z)]
        eps = EPS[name]
        tiny = float(ml_dtypes.finfo(x.dtype).smallest_subnormal)
        if name == "bfloat16":  # computed in fp32, rounded where it is stored
            pass
        for module in ("tl", "tl.math"):
            sheet.add(f"{module}.div_rn({a}, {b})", wide[0] / wide[1], rtol=eps * 1.001, atol=tiny, out=x.dtype)
            sheet.add(f"{module}.fdiv({a}, {b})", wide[0] / wide[1], rtol=eps * 1.001, atol=tiny, out=x.dtype)
            want = wide[0] * wide[1] + wide[2]
            bound = 2 * eps * (np.abs(wide[0] * wide[1]) + np.abs(wide[2])).max()
            sheet.add(f"{module}.fma({a}, {b}, {c})", want, rtol=eps * 1.01, atol=bound if name == "float64" else bound / 4, out=x.dtype)
    for name in ("int32", "uint32", "int64", "uint64"):
        x, y = integers(rng, 50, name), integers(rng, 50, name)
        width = int(name[-2:])
        mask = (1 << width) - 1
        want = np.array([((int(a) & mask) * (int(b) & mask)) >> width for a, b in zip(x, y)], f"uint{width}").view(x.dtype)
        sheet.input("x" + name, x).input("y" + name, y).add(f"tl.umulhi(x{name}, y{name})", want).add(f"tl.math.umulhi(x{name}, y{name})", want)
    n, d = integers(rng, 40, "int32", 0, 1000), integers(rng, 40, "int32", 1, 50)
    sheet.input("n", n).input("d", d).add("tl.cdiv(n, d)", -(-n // d)).add("n.cdiv(7)", -(-n // 7)).add("tl.math.cdiv(n, d)", -(-n // d))
    f = rng.uniform(0, 50, 30).astype(np.float32)
    sheet.input("f", f).add("tl.cdiv(f, 4.0)", np.ceil(f / 4)).add("tl.cdiv(17, 5)", np.int32(4)).add("tl.cdiv(10, 2.5)", np.float32(4))
    i, j = integers(rng, 40, "int32", -1000, 1000), integers(rng, 40, "int32", -50, 50)
    sheet.input("i", i).input("j", j).add("tl.fma(i, j, n)", (i * j + n).astype(np.int32))
    sheet.run()


def test_refused():
    refuse("tl.exp(x)", "int32", "cast", arguments=("int32",))
    refuse("tl.clamp(x, 0, 1)", "tl.minimum", arguments=("int32",))
    refuse("tl.fdiv(x, y)", "floating", arguments=("int32", "int32"))
    refuse("tl.umulhi(x, y)", "32- or 64-bit", arguments=("int16", "int16"))
    refuse("x // y", "tl.floor", arguments=("float32", "float32"))
    refuse("x & y", "integers", arguments=("float32", "float32"))
    refuse("x // y", "signedness", arguments=("int32", "uint32"))
    refuse("x ** y", "", arguments=("float32", "float32"))
    refuse("tl.abs(p0)", "pointer")
    refuse("tl.maximum(x, p0)", "pointer")
    refuse("~x", "integers")
    refuse("x + 300", "300", arguments=("int8",))
    refuse("x - (-1)", "-1", arguments=("uint8",))
    refuse("tl.exp(x, 3)", "argument")
    refuse("tl.exp()", "x")
    refuse("tl.maximum(x, y, nan=1)", "nan", arguments=("float32", "float32"))


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1.0) / (1.0 + e)


SMALL = {
    "tl.exp": np.exp, "tl.exp2": np.exp2, "tl.log": np.log, "tl.log2": np.log2, "tl.sqrt": np.sqrt, "tl.sqrt_rn": np.sqrt,
    "tl.rsqrt": lambda x: 1 / np.sqrt(x), "tl.sigmoid": sigmoid, "tl.sin": np.sin, "libdevice.exp": np.exp,
    "libdevice.exp2": np.exp2, "libdevice.exp10": lambda x: 10.0**x, "libdevice.expm1": np.expm1, "libdevice.log": np.log,
    "libdevice.log2": np.log2, "libdevice.log10": np.log10, "libdevice.log1p": np.log1p, "libdevice.sqrt": np.sqrt,
    "libdevice.rsqrt": lambda x: 1 / np.sqrt(x), "libdevice.tanh": np.tanh, "libdevice.sinh": np.sinh, "libdevice.atan": np.arctan,
    "libdevice.cbrt": np.cbrt, "libdevice.fast_expf": np.exp, "libdevice.fast_logf": np.log, "libdevice.rcp_rn": lambda x: 1 / x,
}  # fmt: skip


@pytest.mark.parametrize("scalar", [False, True])
def test_small_numbers_in_and_out(rng, scalar):
    """fp32 numbers below the smallest normal one are neither taken nor given for 0."""
    x = np.concatenate([
        np.array([1e-45, 3e-42, 5e-39, 1.1e-38, 1.17549435e-38, 0.0, np.inf, np.nan]) * rng.choice([-1, 1], 8),
        -rng.uniform(86, 105, 20), -rng.uniform(124, 151, 20), -rng.uniform(36, 46, 10), rng.uniform(-5, 5, 10), [88.7, 88.8, 127.9, 128.1],
    ]).astype(np.float32)  # fmt: skip
    n = len(x)
    outs = [np.zeros(n, np.float32) for _ in SMALL]
    if scalar:
        lines = ["for i in range(N):", "    v = tl.load(p0 + i)"] + [f"    tl.store(p{k + 1} + i, {f}(v))" for k, f in enumerate(SMALL)]
    else:
        lines = ["i = tl.arange(0, N)", "v = tl.load(p0 + i)"] + [f"tl.store(p{k + 1} + i, {f}(v))" for k, f in enumerate(SMALL)]
    run("\n".join(lines), x, *outs, N=n)
    for (name, function), out in zip(SMALL.items(), outs):
        with np.errstate(all="ignore"):
            want = function(x.astype(np.float64))
            want = np.where(np.isinf(want.astype(np.float32)), want.astype(np.float32), want)
        np.testing.assert_allclose(out.astype(np.float64), want, rtol=3 * 2.0**-23, atol=2.1e-45, err_msg=name)


def test_small_quotients_and_softmax(rng):
    x = rng.uniform(1e-39, 1e-37, 33).astype(np.float32)
    y = rng.uniform(0.5, 90, 33).astype(np.float32)
    z = np.concatenate([rng.uniform(-103, -85, 15), [0.0]]).astype(np.float32)
    sheet = Sheet()
    sheet.input("x", x).input("y", y).input("z", z)
    exact = np.exp(z.astype(np.float64))
    for expression in ("x / y", "tl.fdiv(x, y)", "tl.div_rn(x, y)"):
        sheet.add(expression, x.astype(np.float64) / y, rtol=2.0**-24, atol=0.8e-45, out=np.float32)
    sheet.add("tl.softmax(z)", exact / exact.sum(), rtol=4 * 2.0**-23, atol=2.1e-45, out=np.float32)
    sheet.run()
