# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, scans and histograms, with user functions over tuples."""

import numpy as np
import pytest
from sheet import DTYPES, EPS, FLOATS, INTS, Sheet, floats, integers, refuse, run, shape_of, values

PRELUDE = """
@nereid.jit
def multiply(a, b):
    return a * b

@nereid.jit
def last(a, b):
    return b

@nereid.jit
def longer(a, b):
    if a > b:
        return a
    return b

@nereid.jit
def argument(v1, i1, v2, i2):
    take = (v1 < v2) | ((v1 == v2) & (i1 > i2))
    return tl.where(take, v2, v1), tl.where(take, i2, i1)

@nereid.jit
def welford(m1, s1, n1, m2, s2, n2):
    delta = m2 - m1
    n = n1 + n2
    ratio = tl.where(n == 0.0, 0.0, n2 / n)
    return m1 + delta * ratio, s1 + s2 + delta * delta * n1 * ratio, n

@nereid.jit
def affine(a1, b1, a2, b2):
    return a1 * a2, a2 * b1 + b2

@nereid.jit
def either(a, b):
    return a | b
"""


def wide_int(dtype):
    return dtype if dtype.itemsize >= 4 else np.dtype("int32" if dtype.kind == "i" else "uint32")


def axes(shape):
    return [None, *range(len(shape))]


@pytest.mark.parametrize("name", ["int1", *INTS, *FLOATS, "float8e5"])
def test_named_reductions(rng, name):
    sheet = Sheet()
    for i in range(3):
        shape = shape_of(rng, i + 1)
        x = values(rng, shape, name, special=False)
        sheet.input(f"x{i}", x)
        for axis in axes(shape):
            if x.dtype.kind in "iub":
                wide = wide_int(x.dtype) if x.dtype != bool else np.dtype("uint32")
                with np.errstate(over="ignore"):
                    sheet.add(f"tl.sum(x{i}, {axis})", x.astype(wide).sum(axis, dtype=wide))
                    sheet.add(f"x{i}.sum(axis={axis}, keep_dims=True)", x.astype(wide).sum(axis, dtype=wide, keepdims=True))
                    sheet.add(f"tl.sum(x{i}, {axis}, dtype=tl.int64)", x.astype(np.int64).sum(axis))
                sheet.add(f"tl.xor_sum(x{i}, {axis})", np.bitwise_xor.reduce(x, axis) if axis is not None else np.bitwise_xor.reduce(x.ravel()))
                if axis is not None:
                    sheet.add(f"tl.reduce_or(x{i}, {axis})", np.bitwise_or.reduce(x, axis))
            else:
                exact = x.astype(np.float64)
                eps = EPS.get(name, EPS["float32"])
                count = x.size if axis is None else shape[axis]
                bound = float(np.abs(exact).sum(axis).max()) * eps * (2 + count / 4)
                out = x.dtype if name in EPS else np.float32
                sheet.add(f"tl.sum(x{i}, {axis})", exact.sum(axis), atol=bound, out=out)
                sheet.add(f"x{i}.sum({axis}, keep_dims=True)", exact.sum(axis, keepdims=True), atol=bound, out=out)
                sheet.add(f"tl.sum(x{i}, {axis}, dtype=tl.float64)", exact.sum(axis), rtol=1e-12, atol=1e-12, out=np.float64)
    sheet.run()


@pytest.mark.parametrize("name", [*INTS, *FLOATS, "int1"])
def test_extremes(rng, name):
    """max, min and where they stand; NaN in any place; equal elements."""
    sheet = Sheet()
    for i in range(3):
        shape = shape_of(rng, i + 1)
        x = values(rng, shape, name, *((-3, 3) if name.startswith("int") and name != "int1" else ()))
        sheet.input(f"x{i}", x)
        floating = name in FLOATS
        wide = x.astype(np.float64) if floating else x
        out = (np.float64 if name == "float64" else np.float32) if floating else x.dtype
        for axis in axes(shape):
            greatest = np.fmax.reduce(wide, axis) if axis is not None else np.fmax.reduce(wide.ravel())
            least = np.fmin.reduce(wide, axis) if axis is not None else np.fmin.reduce(wide.ravel())
            sheet.add(f"tl.max(x{i}, {axis})", greatest, out=out).add(f"x{i}.min({axis})", least, out=out)
            sheet.add(f"tl.max(x{i}, {axis}, keep_dims=True)", np.reshape(greatest, np.zeros(shape).sum(axis, keepdims=True).shape), out=out)
            # Places: NaN loses, of all NaN the first one.
            order = np.where(np.isnan(wide), -np.inf, wide) if floating else wide.astype(np.float64)
            tie = np.where(np.isnan(wide), 0, 1) if floating else np.ones(x.shape)
            rank = np.moveaxis(order, axis, -1).reshape(-1, shape[axis]) if axis is not None else order.reshape(1, -1)
            ties = np.moveaxis(tie, axis, -1).reshape(-1, shape[axis]) if axis is not None else tie.reshape(1, -1)
            first = np.array([max(range(len(r)), key=lambda k: (r[k], t[k], -k)) for r, t in zip(rank, ties)], np.int32)
            low = np.where(np.isnan(wide), np.inf, wide) if floating else wide.astype(np.float64)
            low = np.moveaxis(low, axis, -1).reshape(-1, shape[axis]) if axis is not None else low.reshape(1, -1)
            last = np.array([min(range(len(r)), key=lambda k: (r[k], -t[k], k)) for r, t in zip(low, ties)], np.int32)
            result = np.shape(greatest)
            if axis is not None:
                sheet.add(f"tl.argmax(x{i}, {axis})", first.reshape(result)).add(f"x{i}.argmin({axis})", last.reshape(result))
            sheet.add(f"tl.max(x{i}, {axis}, return_indices=True)", [greatest, first.reshape(result)], out=[out, np.int32])
            sheet.add(f"tl.min(x{i}, {axis}, return_indices=True)", [least, last.reshape(result)], out=[out, np.int32])
            if floating:
                with np.errstate(invalid="ignore"):
                    nan = np.maximum.reduce(wide, axis) if axis is not None else np.maximum.reduce(wide.ravel())
                sheet.add(f"tl.max(x{i}, {axis}, propagate_nan=tl.PropagateNan.ALL)", nan, out=out)
                sheet.add(f"tl.max(x{i}, {axis}, propagate_nan=True)", nan, out=out)
    sheet.run()


@pytest.mark.parametrize("name", ["int32", "float16", "float32", "float64", "bfloat16"])
def test_own_combinations(rng, name):
    sheet = Sheet(PRELUDE)
    for i in range(3):
        shape = shape_of(rng, i + 1)
        x = integers(rng, shape, name, -3, 3) if name in INTS else floats(rng, shape, name, 0.6, 1.6, special=False)
        y = values(rng, shape, "int32")
        sheet.input(f"x{i}", x).input(f"y{i}", y)
        for axis in axes(shape):
            exact = x.astype(np.float64)
            count = x.size if axis is None else shape[axis]
            if name in INTS:
                with np.errstate(over="ignore"):
                    sheet.add(f"tl.reduce(x{i}, {axis}, multiply)", x.prod(axis, dtype=x.dtype))
            else:
                sheet.add(f"tl.reduce(x{i}, {axis}, multiply)", exact.prod(axis), rtol=EPS[name] * (count + 2), out=x.dtype)
            flat = np.moveaxis(x, axis, -1) if axis is not None else x.reshape(-1)
            sheet.add(f"x{i}.reduce({axis}, longer)", flat.max(-1), exact=True)
            sheet.add(f"tl.reduce(y{i}, {axis}, either, keep_dims=True)", np.bitwise_or.reduce(y.ravel() if axis is None else y, 0 if axis is None else axis).reshape(np.zeros(shape).sum(axis, keepdims=True).shape))
            if axis is not None:
                place = f"tl.broadcast_to(tl.arange(0, {shape[axis]})" + "".join(".expand_dims(0)" for _ in range(axis)) + "".join(
                    ".expand_dims(-1)" for _ in range(len(shape) - axis - 1)) + f", {shape})"
                sheet.add(f"tl.reduce((x{i}, {place}), {axis}, argument)", [x.max(axis), x.argmax(axis).astype(np.int32)], exact=True)
            if name == "float32":
                mean, variance = exact.mean(axis), exact.var(axis) * count
                sheet.add(f"tl.reduce((x{i}, x{i} * 0.0, x{i} * 0.0 + 1.0), {axis}, welford)",
                          [mean, variance, np.full(np.shape(mean), count)], rtol=1e-4, atol=1e-5, out=[x.dtype] * 3)
    sheet.run()


@pytest.mark.parametrize("name", ["int64", "float32", "float64"])
def test_own_scans(rng, name):
    sheet = Sheet(PRELUDE)
    for i in range(3):
        shape = shape_of(rng, i + 1)
        x = values(rng, shape, "int32").astype(np.int64) if name in INTS else floats(rng, shape, name, 0.5, 1.5, special=False)
        sheet.input(f"x{i}", x)
        for axis in range(len(shape)):
            for reverse in (False, True):
                turned = np.flip(x, axis) if reverse else x
                back = (lambda v: np.flip(v, axis)) if reverse else (lambda v: v)
                sheet.add(f"tl.associative_scan(x{i}, {axis}, longer, reverse={reverse})", back(np.maximum.accumulate(turned, axis)), exact=True)
                sheet.add(f"x{i}.associative_scan({axis - len(shape)}, last, {reverse})", x, exact=True)
                if name in INTS:
                    sheet.add(f"tl.associative_scan(x{i}, {axis}, either, {reverse})", back(np.bitwise_or.accumulate(turned, axis)))
                else:
                    state, steps = 0.0, []
                    for row in np.moveaxis(turned.astype(np.float64), axis, 0):
                        state = 0.5 * state + row
                        steps.append(state)
                    want = back(np.moveaxis(np.array(steps), 0, axis))
                    powers = back(np.moveaxis(np.broadcast_to(
                        (0.5 ** np.arange(1, shape[axis] + 1))[(slice(None), *[None] * (len(shape) - 1))], np.moveaxis(x, axis, 0).shape), 0, axis))
                    sheet.add(f"tl.associative_scan((x{i} * 0.0 + 0.5, x{i}), {axis}, affine, {reverse})", [powers, want],
                              rtol=64 * EPS[name], out=[x.dtype] * 2)
    sheet.run()


@pytest.mark.parametrize("name", [*INTS, *FLOATS])
def test_scans(rng, name):
    sheet = Sheet()
    for i in range(3):
        shape = shape_of(rng, i + 1)
        x = values(rng, shape, name, *((-2, 2) if name[0] == "i" else (0, 3) if name[0] == "u" else (0.5, 1.5)), special=False)
        sheet.input(f"x{i}", x)
        for axis in range(len(shape)):
            for reverse in (False, True):
                turned = np.flip(x, axis) if reverse else x
                back = (lambda v: np.flip(v, axis)) if reverse else (lambda v: v)
                if name in INTS:
                    wide = wide_int(x.dtype)
                    with np.errstate(over="ignore"):
                        sheet.add(f"tl.cumsum(x{i}, {axis}, {reverse})", back(turned.cumsum(axis, dtype=wide)))
                        sheet.add(f"x{i}.cumprod({axis}, reverse={reverse})", back(turned.cumprod(axis, dtype=x.dtype)))
                        sheet.add(f"tl.cumsum(x{i}, {axis}, {reverse}, dtype=tl.int64)", back(turned.cumsum(axis, dtype=np.int64)))
                else:
                    out = np.dtype("float32") if name == "bfloat16" else x.dtype
                    eps = EPS[out.name] * (shape[axis] + 2)
                    exact = turned.astype(np.float64)
                    sheet.add(f"tl.cumsum(x{i}, {axis}, {reverse})", back(exact.cumsum(axis)), rtol=eps, out=out)
                    sheet.add(f"x{i}.cumprod({axis}, {reverse})", back(exact.cumprod(axis)), rtol=eps, atol=1e-6 if name == "float16" else 0, out=out)
    sheet.run()


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
def test_softmax(rng, name):
    sheet = Sheet()
    for i in range(3):
        shape = shape_of(rng, i + 1)
        x = floats(rng, shape, name, -20, 20, special=False)
        sheet.input(f"x{i}", x)
        for dim in (None, *range(len(shape))):
            exact = x.astype(np.float64)
            axis = 0 if dim is None else dim
            power = np.exp(exact - exact.max(axis, keepdims=True))
            want = power / power.sum(axis, keepdims=True)
            compute = EPS["float64" if name == "float64" else "float32"]
            sheet.add(f"tl.softmax(x{i}, {dim})", want, rtol=EPS[name] * 1.01 + compute * 64, atol=1e-7, out=x.dtype)
    x = np.full((3, 4), -np.inf, np.float32)
    x[1, 2] = 0
    with np.errstate(invalid="ignore"):
        want = np.array([[np.nan] * 4, [0, 0, 1, 0], [np.nan] * 4])
    sheet.input("x", x).add("x.softmax(1)", want, out=np.float32)
    sheet.run()


def test_histogram(rng):
    sheet = Sheet()
    for i, (count, bins) in enumerate([(1, 1), (64, 16), (100, 7), (333, 40), (5, 64)]):
        for name in ("int32", "uint32"):
            x = rng.integers(0 if name[0] == "u" else -3, bins + 5, count).astype(name)
            mask = rng.integers(0, 2, count).astype(bool)
            sheet.input(f"{name}{i}", x).input(f"m{name}{i}", mask)
            inside = x[(x >= 0) & (x < bins)] if name == "int32" else x[x < bins]
            masked = x[mask & (x.astype(np.int64) >= 0) & (x.astype(np.int64) < bins)]
            sheet.add(f"tl.histogram({name}{i}, {bins})", np.bincount(inside.astype(int), minlength=bins).astype(np.int32))
            sheet.add(f"{name}{i}.histogram({bins}, mask=m{name}{i})", np.bincount(masked.astype(int), minlength=bins).astype(np.int32))
            sheet.add(f"tl.histogram({name}{i}, {bins}, m{name}{i} & False)", np.zeros(bins, np.int32))
    sheet.run()


def test_refused():
    refuse("tl.sum(x, 1)", "axis")
    refuse("tl.sum(3.0)", "block")
    refuse("tl.reduce(x, 0, 3)", "jit function")
    refuse("tl.reduce(x, 0, pair)", "returned", prelude="@nereid.jit\ndef pair(a, b):\n    return a, b")
    refuse("tl.reduce(x, 0, wrong)", "returned", prelude="@nereid.jit\ndef wrong(a, b):\n    return (a + b).to(tl.float64)")
    refuse("tl.reduce((x, y[None, :]), 0, pair)", "shape", arguments=("float32", "float32"),
           prelude="@nereid.jit\ndef pair(a, b, c, d):\n    return a, b")
    refuse("tl.xor_sum(x)", "integers")
    refuse("tl.histogram(x, 4)", "int32")
    refuse("tl.histogram(x[None, :], 4)", "ravel", arguments=("int32",))
    refuse("tl.histogram(x, 0)", "bins", arguments=("int32",))
    refuse("tl.cumsum(x, axis=2)", "axis")
    refuse("tl.argmax(p0, 0)", "block")


PRECISE = """
@nereid.jit
def add(a, b):
    return a + b

@nereid.jit
def add_wide(a, b):
    return (a.to(tl.float32) + b.to(tl.float32)).to(a.dtype)

@nereid.jit
def add_branches(a, b):
    if a > b:
        r = a + b
    else:
        r = b + a
    return r

@nereid.jit
def multiply(a, b):
    return a * b

@nereid.jit
def moments(m1, n1, m2, n2):
    n = n1 + n2
    return m1 + (m2 - m1) * (n2 / n), n
"""
#: Distance of neighbours, relative to a number, at most.
ULP = {name: 2 * eps for name, eps in EPS.items()}


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
def test_long_sums_lose_nothing(rng, name):
    """Narrow floats are summed in fp32 and rounded once; long sums of fp32 are sums of sums. Constants drift the most,
    as each step rounds the same way."""
    sizes = [int(n) for n in rng.integers(70, 6000, 2)]
    for n in [*sizes, 65536 if name != "float16" else 32768]:
        for x in (rng.random(n), np.full(n, 0.1)):
            x = x.astype(DTYPES[name])
            out, scan = np.zeros(5), np.zeros(n, DTYPES[name])
            total = x.astype(np.float64).sum()
            run("""
v = tl.load(p0 + tl.arange(0, N))
tl.store(p1, tl.sum(v).to(tl.float64))
tl.store(p1 + 1, tl.reduce(v, 0, add).to(tl.float64))
tl.store(p1 + 2, tl.reduce(v, 0, add_wide).to(tl.float64))
tl.store(p1 + 3, tl.reduce(v, 0, add_branches).to(tl.float64))
tl.store(p1 + 4, tl.reduce((v.to(tl.float32), tl.full((N,), 1.0, tl.float32)), 0, moments)[0].to(tl.float64) * N)
tl.store(p2 + tl.arange(0, N), tl.associative_scan(v, 0, add))
""", x, out, scan, prelude=PRECISE, N=n)  # fmt: skip
            rtol = ULP[name] if name != "float32" else 8 * ULP[name]
            np.testing.assert_allclose(out[:4], total, rtol=rtol, err_msg=f"{n} of {name}")
            np.testing.assert_allclose(out[4], total, rtol=16 * ULP["float32"], err_msg=f"{n} of {name}")
            rtol = ULP[name] if name != "float32" else 32 * ULP[name]
            np.testing.assert_allclose(scan.astype(np.float64), x.astype(np.float64).cumsum(), rtol=rtol, err_msg=f"{n} of {name}")


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
def test_long_columns_lose_nothing(rng, name):
    shapes = [(4096, 5), (int(rng.integers(300, 3000)), int(rng.integers(1, 20))), (3, int(rng.integers(300, 900)), 4)]
    for shape in shapes:
        axis = len(shape) - 2
        x = (rng.integers(1, 128, shape) / 128).astype(DTYPES[name])
        exact = x.astype(np.float64)
        near = (1 + rng.uniform(-0.02, 0.02, shape)).astype(DTYPES[name])
        sheet = Sheet(PRECISE)
        sheet.input("x", x).input("near", near)
        rtol = ULP[name] if name != "float32" else 8 * ULP[name]
        sheet.add(f"tl.sum(x, {axis})", exact.sum(axis), rtol=rtol, out=x.dtype)
        sheet.add(f"tl.reduce(x, {axis}, add_branches)", exact.sum(axis), rtol=rtol, out=x.dtype)
        sheet.add("tl.sum(x)", exact.sum(), rtol=rtol, out=x.dtype)
        sheet.add(f"tl.reduce(near, {axis}, multiply)", near.astype(np.float64).prod(axis), out=x.dtype,
                  rtol=rtol if name != "float32" else 2.0**-12)  # fmt: skip
        sheet.add(f"tl.cumsum(x, {axis})", exact.cumsum(axis), rtol=rtol if name != "float32" else 32 * ULP[name],
                  out=np.float32 if name == "bfloat16" else x.dtype)  # fmt: skip
        sheet.add(f"tl.associative_scan(x, {axis}, add, reverse=True)", np.flip(np.flip(exact, axis).cumsum(axis), axis),
                  rtol=rtol if name != "float32" else 32 * ULP[name], out=x.dtype)  # fmt: skip
        sheet.run()


def test_narrow_roundings_of_users_stay(rng):
    """What the combining function rounds on the way is rounded; its result is a partial result. Bits are those of the
    narrow type, and comparisons alone change nothing."""
    x = values(rng, 300, "float16", special=False)
    sheet = Sheet("""
@nereid.jit
def in_bf16(a, b):
    return (a.to(tl.float32) + b.to(tl.bfloat16).to(tl.float32)).to(a.dtype)

@nereid.jit
def by_bits(a, b):
    keep = a.to(tl.int16, bitcast=True) > b.to(tl.int16, bitcast=True)
    return tl.where(keep, a, b) + 0.0

@nereid.jit
def larger(a, b):
    return tl.where(a > b, a, b)
""")
    sheet.input("x", x)
    bits = x.view(np.int16).max()
    sheet.add("tl.reduce(x, 0, larger)", x.max(), exact=True)
    # Whatever the order of the steps, all but the first element come through bf16, which takes away what is beyond 1.
    y = np.full(64, 1 + 1 / 512).astype(np.float16)
    sheet.input("y", y)
    coarse = np.concatenate([y[:1], y[1:].astype(DTYPES["bfloat16"]).astype(np.float16)]).astype(np.float64)
    sheet.add("tl.associative_scan(y, 0, in_bf16)", coarse.cumsum(), rtol=ULP["float16"], out=np.float16)
    sheet.add("tl.reduce(x, 0, by_bits)", np.int16(bits).view(np.float16), exact=True)
    sheet.run()


def test_fp8_sums(rng):
    for name in ("float8e5", "float8e4nv"):
        x = np.full((600, 3), 0.25, DTYPES[name])
        sheet = Sheet("""
@nereid.jit
def add(a, b):
    return (a.to(tl.float32) + b.to(tl.float32)).to(a.dtype)
""")
        sheet.input("x", x)
        want = np.full(3, 150.0).astype(x.dtype)
        sheet.add("tl.reduce(x, 0, add)", want, exact=True)
        sheet.add("tl.sum(x, 0)", np.full(3, 150.0, np.float32), exact=True)
        sheet.run()
