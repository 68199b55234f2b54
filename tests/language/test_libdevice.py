# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libdevice against references in fp64 (Python's math where numpy has none)."""

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from sheet import EPS, Sheet, floats, integers, refuse

def special(function):
    """A function of Python's math as one of arrays; errors are NaN."""

    def one(*args):
        try:
            return function(*args)
        except (ValueError, OverflowError, ZeroDivisionError):
            return math.nan

    return np.vectorize(one, otypes=[np.float64])


def bessel_j(n, x):
    """Integral of Bessel, by the trapezoidal rule, which is exact to fp64 for periodic functions."""
    t = np.linspace(0, np.pi, 401)
    values = np.cos(n * t - np.multiply.outer(x, np.sin(t)))
    return (values[..., 1:-1].sum(-1) + (values[..., 0] + values[..., -1]) / 2) / 400


def bessel_i(n, x):
    t = np.linspace(0, np.pi, 401)
    values = np.exp(np.multiply.outer(x, np.cos(t))) * np.cos(n * t)
    return (values[..., 1:-1].sum(-1) + (values[..., 0] + values[..., -1]) / 2) / 400


erf, erfc, gamma, lgamma = map(special, (math.erf, math.erfc, math.gamma, math.lgamma))
#: name -> (reference, low, high, roundings of fp64)
UNARY = {
    "exp": (np.exp, -10, 10, 4), "exp2": (np.exp2, -10, 10, 4), "exp10": (lambda x: 10.0**x, -10, 10, 40),
    "expm1": (np.expm1, -3, 3, 6), "log": (np.log, 1e-3, 50, 4), "log2": (np.log2, 1e-3, 50, 4),
    "log10": (np.log10, 1e-3, 50, 4), "log1p": (np.log1p, -0.9, 10, 6), "logb": (lambda x: np.floor(np.log2(np.abs(x))), 0.1, 100, 0),
    "sin": (np.sin, -10, 10, 4), "cos": (np.cos, -10, 10, 4), "tan": (np.tan, -1.4, 1.4, 8),
    "sinpi": (lambda x: np.sin(np.pi * np.remainder(x + 1, 2) - np.pi), -4, 4, 16),
    "cospi": (lambda x: np.cos(np.pi * (np.remainder(x + 1, 2) - 1)), -4, 4, 16),
    "asin": (np.arcsin, -1, 1, 8), "acos": (np.arccos, -1, 1, 8), "atan": (np.arctan, -10, 10, 8),
    "sinh": (np.sinh, -5, 5, 8), "cosh": (np.cosh, -5, 5, 8), "tanh": (np.tanh, -5, 5, 8),
    "asinh": (np.arcsinh, -10, 10, 8), "acosh": (np.arccosh, 1, 10, 16), "atanh": (np.arctanh, -0.95, 0.95, 8),
    "sqrt": (np.sqrt, 0, 100, 1), "sqrt_rn": (np.sqrt, 0, 100, 1), "rsqrt": (lambda x: 1 / np.sqrt(x), 0.01, 100, 4),
    "rsqrt_rn": (lambda x: 1 / np.sqrt(x), 0.01, 100, 4),
    "cbrt": (np.cbrt, -100, 100, 4), "rcbrt": (lambda x: 1 / np.cbrt(x), 0.1, 100, 4),
    "erf": (erf, -4, 4, 8), "erfc": (erfc, -4, 4, 32), "erfcx": (lambda x: np.exp(x * x) * erfc(x), -3, 3, 64),
    "normcdf": (lambda x: 0.5 * erfc(-x / np.sqrt(2)), -5, 5, 64),
    "lgamma": (lgamma, 0.1, 30, 32), "tgamma": (gamma, 0.1, 20, 32), "gamma": (gamma, 0.1, 20, 32),
    "floor": (np.floor, -50, 50, 0), "ceil": (np.ceil, -50, 50, 0), "trunc": (np.trunc, -50, 50, 0),
    "rint": (np.rint, -50, 50, 0), "nearbyint": (np.rint, -50, 50, 0), "abs": (np.abs, -50, 50, 0),
    "round": (lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), -50, 50, 0),
    "reciprocal": (lambda x: 1 / x, 0.1, 10, 1), "rcp_rn": (lambda x: 1 / x, 0.1, 10, 1),
    "relu": (lambda x: np.where(x > 0, x, 0 * x), -5, 5, 0), "saturatef": (lambda x: np.clip(x, 0, 1), -2, 2, 0),
    "j0": (lambda x: bessel_j(0, x), -20, 20, 64), "j1": (lambda x: bessel_j(1, x), -20, 20, 64),
    "cyl_bessel_i0": (lambda x: bessel_i(0, x), -10, 10, 64), "cyl_bessel_i1": (lambda x: bessel_i(1, x), -10, 10, 64),
    "fast_expf": (np.exp, -10, 10, 4), "fast_exp10f": (lambda x: 10.0**x, -10, 10, 40), "fast_logf": (np.log, 0.01, 50, 4),
    "fast_log2f": (np.log2, 0.01, 50, 4), "fast_log10f": (np.log10, 0.01, 50, 4), "fast_sinf": (np.sin, -10, 10, 4),
    "fast_cosf": (np.cos, -10, 10, 4), "fast_tanf": (np.tan, -1.4, 1.4, 8), "fast_tanhf": (np.tanh, -5, 5, 8),
}  # fmt: skip
#: Where the result is a difference of numbers of this size, errors are relative to it.
SCALE = {"sinpi": 4.0, "cospi": 4.0, "sin": 8.0, "cos": 8.0, "fast_sinf": 8.0, "fast_cosf": 8.0, "log": 1.0, "log2": 1.0, "log10": 1.0,
         "fast_logf": 1.0, "fast_log2f": 1.0, "fast_log10f": 1.0, "lgamma": 16.0, "cyl_bessel_i1": 1.0, "cyl_bessel_i0": 1.0, "j0": 1.0, "j1": 1.0, "acosh": 1.0, "log1p": 1.0,
         "erfc": 0.0}  # fmt: skip


@pytest.mark.parametrize("dtype", EPS)
def test_unary(rng, dtype):
    x = {}
    for start in range(0, len(UNARY), 20):
        sheet = Sheet()
        for i, (name, (reference, low, high, roundings)) in enumerate(list(UNARY.items())[start : start + 20]):
            x = floats(rng, int(rng.integers(1, 150)), dtype, low, high, special=False)
            with np.errstate(all="ignore"):
                want = reference(x.astype(np.float64))
            compute = EPS["float64" if dtype == "float64" else "float32"]
            # Polynomials of fp32 are good for some roundings more than the library.
            allowed = roundings * compute * (1 if dtype == "float64" or roundings < 4 else 2)
            atol = SCALE.get(name, 0.0) * compute * 2 + (2.0**-25 if dtype == "float16" else 0)
            sheet.input(f"x{i}", x).add(f"libdevice.{name}(x{i})", want, rtol=EPS[dtype] * 1.01 + allowed, atol=atol, out=x.dtype)
        sheet.run()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_inverses(rng, dtype):
    """Inverse functions: the function of the result is the argument."""
    eps = EPS[dtype]
    x = floats(rng, 100, dtype, -1, 1, special=False)
    p = floats(rng, 100, dtype, 1e-6, 1, special=False)
    tiny = (10.0 ** rng.uniform(-30, -1, 50)).astype(x.dtype)

    def check(function, argument, condition):
        def one(got):
            y = got.astype(np.float64)
            want = argument.astype(np.float64)
            error = np.abs(function(y) - want) / condition(y, want)
            assert error.max() < 4 * eps, error.max()

        return one

    slope = lambda y, _: np.maximum(2 / np.sqrt(np.pi) * np.exp(-y * y) * np.abs(y), 1e-300)
    sheet = Sheet().input("x", x).input("p", p).input("tiny", tiny)
    sheet.add("libdevice.erfinv(x)", x, check=check(erf, x, lambda y, w: slope(y, w) + np.abs(w)))
    sheet.add("libdevice.erfcinv(p)", p, check=check(erfc, p, lambda y, w: slope(y, w) + w))
    sheet.add("libdevice.erfcinv(tiny)", tiny, check=check(erfc, tiny, lambda y, w: 2 * y * y * w + w))
    sheet.add("libdevice.normcdfinv(p)", p,
              check=check(lambda y: 0.5 * erfc(-y / np.sqrt(2)), p, lambda y, w: np.exp(-y * y / 2) * np.abs(y) + w))
    sheet.run()
    ends = np.array([-1, 1, 0, 2, np.nan], x.dtype)
    Sheet().input("x", ends).add("libdevice.erfinv(x)", np.array([-np.inf, np.inf, 0, np.nan, np.nan])).add(
        "libdevice.erfcinv(x)", np.array([np.nan, 0, np.inf, -np.inf, np.nan])).run()


PAIRS = {
    "pow": (np.power, 0.1, 5, 64), "fast_powf": (np.power, 0.1, 5, 64), "atan2": (np.arctan2, -5, 5, 8), "hypot": (np.hypot, -5, 5, 4),
    "rhypot": (lambda x, y: 1 / np.hypot(x, y), 0.1, 5, 4), "copysign": (np.copysign, -5, 5, 0),
    "fmod": (np.fmod, -5, 5, 0), "remainder": (special(math.remainder), -5, 5, 0), "fdim": (lambda x, y: np.maximum(x - y, 0), -5, 5, 1),
    "fast_dividef": (np.divide, 0.1, 5, 1), "fdiv": (np.divide, 0.1, 5, 1), "div_rn": (np.divide, 0.1, 5, 1),
    "add_rn": (np.add, -5, 5, 1), "sub_rn": (np.subtract, -5, 5, 1), "mul_rn": (np.multiply, -5, 5, 1),
}  # fmt: skip


@pytest.mark.parametrize("dtype", EPS)
def test_several_operands(rng, dtype):
    shape = int(rng.integers(1, 100))
    sheet = Sheet()
    eps, compute = EPS[dtype], EPS["float64" if dtype == "float64" else "float32"]
    for i, (name, (reference, low, high, roundings)) in enumerate(PAIRS.items()):
        x, y = (floats(rng, shape, dtype, low, high, special=False) for _ in range(2))
        want = reference(x.astype(np.float64), y.astype(np.float64))
        sheet.input(f"x{i}", x).input(f"y{i}", y)
        sheet.add(f"libdevice.{name}(x{i}, y{i})", want, rtol=eps * 1.01 + roundings * compute * 2,
                  atol=2.0**-25 if dtype == "float16" else 0, out=x.dtype)
    a, b, c, d = (floats(rng, shape, dtype, 0.1, 5, special=False) for _ in range(4))
    wide = [v.astype(np.float64) for v in (a, b, c, d)]
    for name, value in zip("abcd", (a, b, c, d)):
        sheet.input(name, value)
    rtol = eps * 1.01 + 8 * compute
    norm3, norm4 = np.sqrt(sum(v * v for v in wide[:3])), np.sqrt(sum(v * v for v in wide))
    sheet.add("libdevice.norm3d(a, b, c)", norm3, rtol=rtol, out=a.dtype)
    sheet.add("libdevice.rnorm3d(a, b, c)", 1 / norm3, rtol=rtol, out=a.dtype)
    sheet.add("libdevice.norm4d(a, b, c, d)", norm4, rtol=rtol, out=a.dtype)
    sheet.add("libdevice.rnorm4d(a, b, c, d)", 1 / norm4, rtol=rtol, out=a.dtype)
    sheet.add("libdevice.fma(a, b, c)", wide[0] * wide[1] + wide[2], rtol=rtol, out=a.dtype)
    sheet.add("libdevice.fma_rn(a, b, c)", wide[0] * wide[1] + wide[2], rtol=rtol, out=a.dtype)
    n = integers(rng, shape, "int32", -6, 6)
    sheet.input("n", n)
    for name in ("ldexp", "scalbn"):
        sheet.add(f"libdevice.{name}(a, n)", np.ldexp(wide[0], n), rtol=eps * 1.01, out=a.dtype)
    sheet.add("libdevice.ilogb(a)", np.floor(np.log2(wide[0])).astype(np.int32))
    sheet.run()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bessel_of_order_n(rng, dtype):
    x, n = floats(rng, 60, dtype, 0.5, 20, special=False), integers(rng, 60, "int32", 0, 5)
    wide = x.astype(np.float64)
    jn = np.array([bessel_j(k, v) for k, v in zip(n, wide)])
    # Wronskian: J_{n+1} Y_n - J_n Y_{n+1} = 2 / (pi x).
    sheet = Sheet().input("x", x).input("n", n).add("libdevice.jn(n, x)", jn, atol=8 * EPS[dtype], out=x.dtype)

    def wronskian(y0, y1, yn, yn1):
        eps = 64 * EPS[dtype]
        y0, y1, yn, yn1 = (v.astype(np.float64) for v in (y0, y1, yn, yn1))
        j = lambda k: np.array([bessel_j(m, v) for m, v in zip(np.broadcast_to(k, n.shape), wide)])
        scale = np.abs(y0) + np.abs(y1) + 1
        assert np.all(np.abs(j(1) * y0 - j(0) * y1 - 2 / (np.pi * wide)) < eps * scale)
        scale = np.abs(yn) + np.abs(yn1) + 1
        assert np.all(np.abs(j(n + 1) * yn - j(n) * yn1 - 2 / (np.pi * wide)) < eps * scale)

    sheet.add("(libdevice.y0(x), libdevice.y1(x), libdevice.yn(n, x), libdevice.yn(n + 1, x))", [x] * 4, check=wronskian).run()


def directed(value: Fraction, dtype, mode):
    """A rational number rounded to fp32 or fp64 in a direction."""
    kind = np.dtype(dtype).type
    with np.errstate(over="ignore"):
        near = kind(float(value)) if kind is np.float64 else kind(np.float64(value.numerator / value.denominator))
    exact = Fraction(float(near))
    if exact == value:
        return near
    up, down = (near, np.nextafter(near, kind(-np.inf))) if exact > value else (np.nextafter(near, kind(np.inf)), near)
    if mode == "rz":
        mode = "rd" if value > 0 else "ru"
    return up if mode == "ru" else down


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rounding_modes(rng, dtype):
    count = 40
    x, y, z = (floats(rng, count, dtype, 0.1, 3, special=False) * rng.choice([-1, 1], count).astype(dtype) for _ in range(3))
    exact = [[Fraction(float(v)) for v in row] for row in (x, y, z)]
    sheet = Sheet().input("x", x).input("y", y).input("z", z)
    for mode in ("rz", "rd", "ru"):
        for name, op in (("add", lambda a, b: a + b), ("sub", lambda a, b: a - b), ("mul", lambda a, b: a * b), ("div", lambda a, b: a / b)):
            want = np.array([directed(op(a, b), dtype, mode) for a, b in zip(*exact[:2])], dtype)
            sheet.add(f"libdevice.{name}_{mode}(x, y)", want, exact=True)
        sheet.add(f"libdevice.rcp_{mode}(x)", np.array([directed(1 / a, dtype, mode) for a in exact[0]], dtype), exact=True)
        want = np.array([directed(a * b + c, dtype, mode) for a, b, c in zip(*exact)], dtype)
        sheet.add(f"libdevice.fma_{mode}(x, y, z)", want, exact=True)

        def root(got, mode=mode):
            for g, v in zip(got, np.abs(x)):
                low, high = np.nextafter(g, g.dtype.type(0)), np.nextafter(g, g.dtype.type(np.inf))
                square = Fraction(float(g)) ** 2
                v = Fraction(float(v))
                if mode == "ru":
                    assert square >= v and Fraction(float(low)) ** 2 < v
                else:
                    assert square <= v and Fraction(float(high)) ** 2 > v

        sheet.add(f"libdevice.sqrt_{mode}(tl.abs(x))", x, check=root)
    sheet.run()


def test_conversions_with_rounding_modes(rng):
    big = {"int": integers(rng, 50, "int32"), "uint": integers(rng, 50, "uint32"), "ll": integers(rng, 50, "int64"),
           "ull": integers(rng, 50, "uint64")}  # fmt: skip
    d = rng.standard_normal(50) * 1e3
    f = np.concatenate([rng.uniform(-100, 100, 40), [2.5, 3.5, -2.5, 1e20, -1e20, np.inf, -np.inf, np.nan, 0.5, -0.5]]).astype(np.float32)
    sheet = Sheet().input("d", d).input("f", f).input("g", f.astype(np.float64))
    for name, x in big.items():
        sheet.input(name, x)
    rounding = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}
    for mode in rounding:
        one = (lambda v, t: t(float(v)) if mode == "rn" else directed(Fraction(v), t, mode))
        for name, x in big.items():
            if mode != "rn":
                sheet.add(f"libdevice.{name}2float_{mode}({name})",
                          np.array([directed(Fraction(int(v)), np.float32, mode) for v in x], np.float32), exact=True)
                if name in ("ll", "ull"):
                    sheet.add(f"libdevice.{name}2double_{mode}({name})",
                              np.array([directed(Fraction(int(v)), np.float64, mode) for v in x]), exact=True)
            else:
                sheet.add(f"libdevice.{name}2float_rn({name})", x.astype(np.float32), exact=True)
                if name in ("ll", "ull"):
                    sheet.add(f"libdevice.{name}2double_rn({name})", x.astype(np.float64), exact=True)
        want = d.astype(np.float32) if mode == "rn" else np.array([directed(Fraction(v), np.float32, mode) for v in d], np.float32)
        sheet.add(f"libdevice.double2float_{mode}(d)", want, exact=True)
        for name, dtype in (("int", np.int32), ("uint", np.uint32), ("ll", np.int64), ("ull", np.uint64)):
            info = np.iinfo(dtype)
            r = rounding[mode](f.astype(np.float64))
            want = np.array([0 if np.isnan(v) else int(min(max(v, info.min), info.max)) if np.isfinite(v)
                             else (info.max if v > 0 else info.min) for v in r], object)
            want = np.array([min(max(int(v), info.min), info.max) for v in want], dtype)
            sheet.add(f"libdevice.float2{name}_{mode}(f)", want)
            sheet.add(f"libdevice.double2{name}_{mode}(g)", want)
    sheet.add("libdevice.int2double_rn(int)", big["int"].astype(np.float64), exact=True)
    sheet.add("libdevice.uint2double_rn(uint)", big["uint"].astype(np.float64), exact=True)
    half = np.where(np.isnan(f), 0, np.clip(f.astype(np.float64), -2.0**63, 2.0**63 - 1024))
    sheet.add("libdevice.llrint(f)", np.array(
        [np.iinfo(np.int64).max if v >= 2**63 - 1024 else int(np.rint(v)) for v in half], np.int64))
    sheet.add("libdevice.llround(f)", np.array(
        [np.iinfo(np.int64).max if v >= 2**63 - 1024 else int(np.copysign(np.floor(np.abs(v) + 0.5), v)) for v in half], np.int64))
    sheet.run()


def bits_of(v, width):
    return int(v) & ((1 << width) - 1)


def signed(v, width):
    v &= (1 << width) - 1
    return v - (1 << width) if v >> (width - 1) else v


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_integers(rng, dtype):
    width, is_signed = int(dtype[-2:]), dtype[0] == "i"
    x, y, z = (integers(rng, 60, dtype) for _ in range(3))
    wrap = (lambda v: signed(v, width)) if is_signed else (lambda v: bits_of(v, width))
    array = lambda items, t=dtype: np.array(items, t)
    pairs = [(int(a), int(b)) for a, b in zip(x, y)]
    sheet = Sheet().input("x", x).input("y", y).input("z", z)
    sheet.add("libdevice.mulhi(x, y)", array([wrap((a * b) >> width) for a, b in pairs]))
    sheet.add("libdevice.hadd(x, y)", array([(a + b) >> 1 for a, b in pairs]))
    sheet.add("libdevice.rhadd(x, y)", array([(a + b + 1) >> 1 for a, b in pairs]))
    sheet.add("libdevice.sad(x, y, z)", array([bits_of(abs(a - b) + int(c), width) for (a, b), c in zip(pairs, z)], f"uint{width}"))
    sheet.add("libdevice.brev(x)", array([wrap(int(f"{bits_of(a, width):0{width}b}"[::-1], 2)) for a in x]))
    sheet.add("libdevice.popc(x)", array([bits_of(a, width).bit_count() for a in x], "int32"))
    sheet.add("libdevice.clz(x)", array([width - bits_of(a, width).bit_length() for a in x], "int32"))
    sheet.add("libdevice.ffs(x)", array([(bits_of(a, width) & -bits_of(a, width)).bit_length() for a in x], "int32"))
    sheet.add("libdevice.umulhi(x, y)", array([wrap((bits_of(a, width) * bits_of(b, width)) >> width) for a, b in pairs]))
    if width == 32:
        low = (lambda v: signed(v, 24)) if is_signed else (lambda v: v & 0xFFFFFF)
        sheet.add("libdevice.mul24(x, y)", array([wrap(low(a) * low(b)) for a, b in pairs]))

        def permuted(a, b, s):
            octets = struct.pack("<II", bits_of(a, 32), bits_of(b, 32))
            picked = []
            for i in range(4):
                nibble = (bits_of(s, 32) >> (4 * i)) & 15
                byte = octets[nibble & 7]
                picked.append((255 if byte >> 7 else 0) if nibble & 8 else byte)
            return struct.unpack("<i", bytes(picked))[0]

        sheet.add("libdevice.byte_perm(x, y, z)", array([permuted(a, b, c) for (a, b), c in zip(pairs, z)], "int32"))
    sheet.run()


def test_bits_of_floats(rng):
    f = floats(rng, 60, "float32")
    i = integers(rng, 60, "int32", -(2**30), 2**30)
    d, g = floats(rng, 60, "float64"), integers(rng, 60, "int64", 0, 2**62)
    sheet = Sheet().input("f", f).input("i", i).input("d", d).input("g", g)
    sheet.add("libdevice.float_as_int(f)", f.view(np.int32)).add("libdevice.float_as_uint(f)", f.view(np.uint32))
    sheet.add("libdevice.int_as_float(i)", i.view(np.float32), exact=True)
    sheet.add("libdevice.uint_as_float(i)", i.view(np.float32), exact=True)
    sheet.add("libdevice.double_as_longlong(d)", d.view(np.int64)).add("libdevice.longlong_as_double(g)", g.view(np.float64), exact=True)
    sheet.add("libdevice.double2hiint(d)", (d.view(np.int64) >> 32).astype(np.int32))
    sheet.add("libdevice.double2loint(d)", d.view(np.int64).astype(np.int32))
    sheet.add("libdevice.hiloint2double(libdevice.double2hiint(d), libdevice.double2loint(d))", d, exact=True)
    sheet.add("libdevice.signbit(f)", np.signbit(f).astype(np.int32)).add("libdevice.isnan(f)", np.isnan(f)).add(
        "libdevice.isinf(f)", np.isinf(f)).add("libdevice.finitef(f)", np.isfinite(f)).add("libdevice.isfinited(d)", np.isfinite(d))
    up, down = np.full_like(f, np.inf), np.full_like(d, -np.inf)
    with np.errstate(all="ignore"):
        sheet.input("up", up).add("libdevice.nextafter(f, up)", np.nextafter(f, up), exact=True)
        sheet.input("down", down).add("libdevice.nextafter(d, down)", np.nextafter(d, down), exact=True)
        want = ((1 / d).view(np.uint64) & np.uint64(0xFFFFFFFF00000000)).view(np.float64)
    sheet.add("libdevice.rcp64h(d)", want, check=lambda got: np.testing.assert_array_equal(got[np.isfinite(want)], want[np.isfinite(want)]))
    sheet.add("libdevice.flip(i)", i[::-1])
    sheet.run()


def test_special_values():
    """At the ends of the ranges, as in C."""
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 2.0**-140], np.float32)
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        sheet = Sheet().input("x", x)
        for name, reference in {"exp": np.exp, "log": np.log, "log2": np.log2, "sqrt": np.sqrt, "tanh": np.tanh, "atan": np.arctan, "cbrt": np.cbrt,
                                "expm1": np.expm1, "log1p": np.log1p, "erf": erf, "asin": np.arcsin, "sinh": np.sinh, "rint": np.rint}.items():  # fmt: skip
            sheet.add(f"libdevice.{name}(x)", reference(wide), rtol=1e-6, atol=1e-7 if name == "log" else 0.0, out=x.dtype)
        sheet.add("libdevice.sinpi(x)", np.array([0, 0, np.nan, np.nan, np.nan, 0, 0, 1, np.pi * 2.0**-140]), rtol=1e-6, out=x.dtype)
        sheet.add("libdevice.cospi(x)", np.array([1, 1, np.nan, np.nan, np.nan, -1, -1, 0, 1]), rtol=1e-6, out=x.dtype)
        sheet.add("libdevice.erfcx(x)", np.array([1, 1, 0, np.inf, np.nan, 0.42758357615580705, 5.00898008076228, 0.6156903441929259, 1]), rtol=1e-6,
                  out=x.dtype)
        sheet.add("libdevice.reciprocal(x)", 1 / wide, rtol=1e-6, out=x.dtype)
    sheet.run()


def test_refused():
    refuse("libdevice.erfinv(x)", "cast the operand first", arguments=("int32",))
    refuse("libdevice.popc(x)", "works on integers", arguments=("float32",))
    refuse("libdevice.add_rz(x, x)", "cast the operands first", arguments=("float16",))
    refuse("libdevice.nextafter(x, x)", "neighbours", arguments=("bfloat16",))
    refuse("libdevice.jn(x, x)", "integer", arguments=("float32",))
    refuse("libdevice.brev(x)", "32- and 64-bit", arguments=("int16",))


def test_wide_integers_are_not_cut():
    """Exponents and orders beyond int32 give the limit; bits that would be dropped are an error."""
    far = np.array([2**32, -(2**32), 2**31, 2**33 + 1], np.int64)
    sheet = Sheet().input("x", np.array([1.5, 3.0, 1.0, -2.0], np.float32)).input("n", far).input("m", np.abs(far))
    sheet.add("libdevice.ldexp(x, n)", np.array([np.inf, 0, np.inf, -np.inf], np.float32), exact=True)
    sheet.add("libdevice.jn(m, x)", np.zeros(4, np.float32))
    sheet.run()
    for call in ("byte_perm(x, y, y)", "hiloint2double(y, x)", "int2float_rz(x)", "int_as_float(x)", "sad(y, y, x)"):
        refuse(f"libdevice.{call}", "dtype int64 is not supported", arguments=("int64", "int32"))
    refuse("libdevice.float_as_int(x)", "dtype fp64 is not supported", arguments=("float64",))
