# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions applied to elements: map_elementwise, extern_elementwise; copies of named tuples."""

import numpy as np
import pytest
from sheet import DTYPES, Sheet, integers, refuse, run, shape_of, values

PRELUDE = """
import collections
from nereid.language import core

Pair = collections.namedtuple("Pair", ["low", "high"])

@nereid.jit
def collatz(n):
    steps = 0
    while n > 1:
        n = tl.where(n % 2 == 0, n // 2, 3 * n + 1)
        steps += 1
    return steps

@nereid.jit
def three_way(a, b):
    if a < b:
        return -1
    if a > b:
        return 1
    return 0

@nereid.jit
def divide(a, b):
    q = a // b
    return q, (a - q * b).to(tl.float32)

@nereid.jit
def pair_sum(a, b):
    return a + b, a - b

@nereid.jit
def pack_two(a0, a1, b0, b1):
    return a0 + b1, a1 + b0, a0 > a1, b0 > b1

@nereid.jit
def root(x):
    return tl.sqrt(x) if x > 0 else 0.0 * x

@core.extern
def inverse_erf(x, _semantic=None):
    return core.extern_elementwise(
        "libdevice", "", [x],
        {(core.dtype("fp32"),): ("__nv_erfinvf", core.dtype("fp32")), (core.dtype("fp64"),): ("__nv_erfinv", core.dtype("fp64"))},
        is_pure=True, _semantic=_semantic)

@core.extern
def power(x, y, _semantic=None):
    return core.extern_elementwise(
        "libdevice", "", [x, y],
        {(core.dtype("fp32"), core.dtype("fp32")): ("__nv_powf", core.dtype("fp32")),
         (core.dtype("fp64"), core.dtype("fp64")): ("__nv_pow", core.dtype("fp64"))},
        is_pure=True, _semantic=_semantic)

@core.extern
def unknown(x, _semantic=None):
    return core.extern_elementwise("mylib", "/opt/mylib.bc", [x], {(core.dtype("fp32"),): ("frobnicate", core.dtype("fp32"))}, is_pure=True,
                                   _semantic=_semantic)

@nereid.jit
def widened(low, high):
    p = Pair(low, high)
    q = tl.aggregate_replace(p, high=p.high + 1, low=p.low - 1)
    return q.low * 1000 + q.high
"""


def steps(n):
    count = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


def test_map_elementwise(rng):
    sheet = Sheet(PRELUDE)
    for i in range(3):
        shape = shape_of(rng, i + 1)
        n = rng.integers(1, 100, shape).astype(np.int32)
        a, b = integers(rng, shape, "int32", -9, 9), integers(rng, shape, "int32", 1, 9)
        f = rng.uniform(-4, 4, shape).astype(np.float32)
        for name, value in zip("nabf", (n, a, b, f)):
            sheet.input(f"{name}{i}", value)
        sheet.add(f"tl.map_elementwise(collatz, n{i})", np.vectorize(steps, otypes=[np.int32])(n))
        sheet.add(f"tl.map_elementwise(three_way, a{i}, b{i})", np.sign(a - b).astype(np.int32))
        sheet.add(f"tl.map_elementwise(three_way, a{i}, 3)", np.sign(a - 3).astype(np.int32))
        q = np.trunc(a / b).astype(np.int32)
        sheet.add(f"tl.map_elementwise(divide, a{i}, b{i})", [q, (a - q * b).astype(np.float32)])
        with np.errstate(invalid="ignore"):
            sheet.add(f"tl.map_elementwise(root, f{i})", np.where(f > 0, np.sqrt(f.astype(np.float64)), 0), rtol=1e-6, out=np.float32)
    x, y = integers(rng, (3, 8), "int32", -99, 99), integers(rng, (3, 8), "int32", -99, 99)
    sheet.input("x", x).input("y", y)
    first, second = x.reshape(-1, 2), y.reshape(-1, 2)
    pairs = np.stack([first[:, 0] + first[:, 1], first[:, 0] - first[:, 1]], 1).reshape(x.shape)
    sheet.add("tl.map_elementwise(pair_sum, x, pack=2)", pairs)
    sums = np.stack([first[:, 0] + second[:, 1], first[:, 1] + second[:, 0]], 1).reshape(x.shape)
    flags = np.stack([first[:, 0] > first[:, 1], second[:, 0] > second[:, 1]], 1).reshape(x.shape)
    sheet.add("tl.map_elementwise(pack_two, x, y, pack=2)", [sums, flags])
    s = np.int32(27)
    sheet.input("s", s).add("tl.map_elementwise(collatz, s)", np.int32(111))
    sheet.run()


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_extern_elementwise(rng, name):
    x = rng.uniform(0.1, 0.9, (5, 7)).astype(name)
    y = rng.uniform(0.5, 2, (5, 1)).astype(name)
    sheet = Sheet(PRELUDE).input("x", x).input("y", y).input("s", x[0, 0])
    from math import erf

    inverse = lambda got: np.testing.assert_allclose(np.vectorize(erf)(got.astype(np.float64)), x, rtol=1e-6)
    sheet.add("inverse_erf(x)", x, check=inverse)
    want = x.astype(np.float64) ** y
    sheet.add("power(x, y)", want, rtol=1e-5, out=x.dtype).add("power(x, 2.0)", x.astype(np.float64) ** 2, rtol=1e-5, out=x.dtype)
    sheet.add("power(s, s)", x[0, 0].astype(np.float64) ** x[0, 0], rtol=1e-5, out=x.dtype)
    sheet.run()


#: Functions of libdevice that are named directly, by their exact types.
NAMED = """
@core.extern
def power_of(x, n, _semantic=None):
    return core.extern_elementwise("libdevice", "", [x, n],
        {(core.dtype("fp32"), core.dtype("int32")): ("__nv_powif", core.dtype("fp32"))}, is_pure=True, _semantic=_semantic)
@core.extern
def down(x, _semantic=None):
    return core.extern_elementwise("libdevice", "", [x],
        {(core.dtype("fp32"),): ("__nv_float2int_rd", core.dtype("int32"))}, is_pure=True, _semantic=_semantic)
@core.extern
def natural(x, _semantic=None):
    return core.extern_elementwise("libdevice", "", [x],
        {(core.dtype("fp64"),): ("__nv_uint2float_rn", core.dtype("fp32")), (core.dtype("fp32"),): ("__nv_exp", core.dtype("fp32"))},
        is_pure=True, _semantic=_semantic)
@core.extern
def shortest(x, _semantic=None):
    return core.extern_elementwise("libdevice", "", [x],
        {(core.dtype("fp64"),): ("__nv_expf", core.dtype("fp64"))}, is_pure=True, _semantic=_semantic)
"""


def test_named_functions():
    """Exponents keep their last bit, floats outside an integer give its ends, and a name goes with its types."""
    limits = np.iinfo(np.int32)
    sheet = Sheet(PRELUDE + NAMED)
    sheet.input("x", np.array([-1, -1, 2, 0.5], np.float32)).input("n", np.array([2**24 + 1, 2**24, 10, -3], np.int32))
    sheet.add("power_of(x, n)", np.array([-1, 1, 1024, 8], np.float32), rtol=1e-6)
    sheet.input("y", np.array([1e20, -1e20, np.nan, -1.5, np.inf, -np.inf, 2.0**31, -(2.0**31)], np.float32))
    wanted = [limits.max, limits.min, 0, -2, limits.max, limits.min, limits.max, limits.min]
    sheet.add("down(y)", np.array(wanted, np.int32))
    sheet.add("natural(x)", np.exp(np.array([-1, -1, 2, 0.5])), rtol=1e-6, out=np.float32)
    sheet.run()
    refuse("tl.store(p0 + tl.arange(0, 16), natural(x))", "__nv_uint2float_rn", prelude=PRELUDE + NAMED, arguments=("float64",))
    refuse("tl.store(p0 + tl.arange(0, 16), shortest(x))", "__nv_expf", prelude=PRELUDE + NAMED, arguments=("float64",))


def test_aggregate_replace(rng):
    x, y = integers(rng, 9, "int32", 0, 99), integers(rng, 9, "int32", 0, 99)
    Sheet(PRELUDE).input("x", x).input("y", y).add("widened(x, y)", (x - 1) * 1000 + y + 1).run()


def test_refused():
    refuse("tl.map_elementwise(3, x)", "jit function")
    refuse("tl.map_elementwise(collatz)", "args", prelude=PRELUDE)
    refuse("tl.map_elementwise(pair_sum, x, pack=3)", "divisor", prelude=PRELUDE)
    refuse("tl.map_elementwise(collatz, x, pack=2)", "", prelude=PRELUDE, arguments=("int32",))
    refuse("tl.map_elementwise(block, x)", "scalars", prelude=PRELUDE + "\n@nereid.jit\ndef block(a):\n    return tl.zeros((4,), tl.int32)\n")
    refuse("tl.store(p0 + tl.arange(0, 16), unknown(x))", "frobnicate", "not linked", prelude=PRELUDE)
    refuse("inverse_erf(x)", "int32", "fp32", prelude=PRELUDE, arguments=("int32",))
    refuse("tl.aggregate_replace(x, low=1)", "named tuple", prelude=PRELUDE)
    refuse("tl.aggregate_replace(Pair(1, 2), middle=1)", "middle", "low, high", prelude=PRELUDE)
