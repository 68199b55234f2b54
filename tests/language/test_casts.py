# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Casts between all dtypes: values, rounding modes, saturation, bits."""

import ml_dtypes
import numpy as np
import pytest
from sheet import DTYPES, FLOATS, FP8, FULL, INTS, Sheet, refuse, values

NAMES = list(DTYPES)


def c_cast(x, target):
    """What a cast gives, for values that the target has."""
    source = x.dtype
    if source == target:
        return x
    if target == np.bool_:
        return x.astype(np.float64) != 0
    if source.kind in "iub" and target.kind in "iu":
        return x.astype(target)
    if source.kind in "iub":
        # ml_dtypes go by fp32, as the language's do.
        with np.errstate(all="ignore"):
            return x.astype(target) if target.name in ("float16", "float32", "float64") else saturated(x.astype(np.float32), target)
    if target.kind in "iu":
        return np.trunc(x.astype(np.float64)).astype(target)
    with np.errstate(all="ignore"):
        return saturated(x, target)


def saturated(x, target):
    """To a float; fp8 has no overflow: the greatest number instead."""
    if target.itemsize == 1:
        limit = float(ml_dtypes.finfo(target).max)
        wide = x.astype(np.float64)
        x = np.where(np.isnan(wide), wide, np.clip(wide, -limit, limit)).astype(np.float64 if x.dtype == np.float64 else np.float32)
    return x.astype(target)


@pytest.mark.parametrize("source", NAMES)
def test_casts(rng, source):
    sheet = Sheet()
    for i, target in enumerate(NAMES):
        x = values(rng, 41, source)
        dtype = DTYPES[target]
        if source not in ("int1", *INTS) and target in INTS:
            # Outside the range nothing is promised.
            info = np.iinfo(dtype)
            wide = np.nan_to_num(x.astype(np.float64), posinf=0, neginf=0)
            low = max(info.min, -1e9) if info.min else 0
            x = np.where((wide >= low) & (wide < min(info.max, 1e9)), wide, 1.0).astype(DTYPES[source])
        if target in FP8 and source == "float64":
            x = x.astype(np.float32).astype(np.float64)  # ml_dtypes rounds twice
        sheet.input(f"x{i}", x)
        want = c_cast(x, dtype)
        sheet.add(f"x{i}.to(tl.{target})", want, exact=True)
        if i % 3 == 0:
            sheet.add(f"tl.cast(x{i}, tl.{target})", want, exact=True)
    sheet.run()


@pytest.mark.parametrize("target", ["float8e5", "float8e4nv", "float8e5b16", "float8e4b8", "float16", "bfloat16", "float32"])
def test_rounding_modes(rng, target):
    """rtz is the neighbour towards zero of whatever rtne gives, for every pair that narrows."""
    sheet = Sheet()
    dtype = DTYPES[target]
    for i, source in enumerate(name for name in FLOATS if DTYPES[name].itemsize > dtype.itemsize):
        with np.errstate(all="ignore"):
            x = np.concatenate([rng.standard_normal(60), rng.standard_normal(60) * 1e-6, rng.standard_normal(20) * 1e5,
                                [0.0, -0.0, 1e-30, -1e-30, np.nan]]).astype(DTYPES[source])  # fmt: skip
        sheet.input(f"x{i}", x)
        exact = x.astype(np.float64)
        finite = np.abs(exact) <= float(ml_dtypes.finfo(dtype).max)

        def towards_zero(got, exact=exact, finite=finite):
            g = got.astype(np.float64)
            number = ~np.isnan(exact)
            assert np.isnan(g[~number]).all()
            assert (np.abs(g) <= np.abs(exact))[number & finite].all()
            bits = got.view(f"u{dtype.itemsize}")
            magnitude = bits & ((1 << (8 * dtype.itemsize - 1)) - 1)
            larger = (magnitude + 1).astype(bits.dtype).view(dtype).astype(np.float64)
            assert ((np.abs(larger) > np.abs(exact)) | np.isnan(larger) | np.isinf(larger))[number & finite].all()
            assert (np.abs(g) == float(ml_dtypes.finfo(dtype).max))[number & ~finite & np.isfinite(exact)].all()
            same = number & finite & (g != 0)
            assert (np.signbit(g) == np.signbit(exact))[same].all()

        sheet.add(f'x{i}.to(tl.{target}, fp_downcast_rounding="rtz")', np.zeros(x.shape, dtype), check=towards_zero)
        if not (dtype.itemsize == 1 and source == "float64"):
            with np.errstate(all="ignore"):
                sheet.add(f'tl.cast(x{i}, tl.{target}, fp_downcast_rounding="rtne")', saturated(x, dtype), exact=True)
    sheet.run()


@pytest.mark.parametrize("target", INTS)
def test_saturating(rng, target):
    info = np.iinfo(DTYPES[target])
    sheet = Sheet()
    for i, source in enumerate([*INTS, *FLOATS, "float8e5", "int1"]):
        x = values(rng, 60, source, **({} if source in INTS or source == "int1" else {"low": -300.0, "high": 300.0}))
        sheet.input(f"x{i}", x)
        if x.dtype.kind in "iub":
            want = [min(max(int(v), info.min), info.max) for v in x]
        else:
            wide = x.astype(np.float64)
            want = [0 if np.isnan(v) else info.max if v >= info.max else info.min if v <= info.min else int(v) for v in wide]
        sheet.add(f'x{i}.to(tl.{target}, overflow_mode="saturate")', np.array(want, DTYPES[target]))
        if x.dtype.kind in "iub":
            sheet.add(f'x{i}.to(tl.{target}, overflow_mode="trunc")', x.astype(DTYPES[target]))
    sheet.run()


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_bits(rng, width):
    names = [name for name, dtype in DTYPES.items() if dtype.itemsize == width and name != "int1"]
    sheet = Sheet()
    for i, source in enumerate(names):
        x = values(rng, 30, source)
        sheet.input(f"x{i}", x)
        for target in names:
            y = x.view(DTYPES[target])
            if FULL or source == "uint" + source[-1] or rng.random() < 0.7:
                sheet.add(f"x{i}.to(tl.{target}, bitcast=True)", y,
                          check=lambda got, y=y: np.testing.assert_array_equal(got.view(f"u{width}"), y.view(f"u{width}")))
    sheet.run()


def test_fp8e4b15(rng):
    """All 256 values; rounding to nearest even and towards zero; arithmetic."""
    codes = np.arange(256, dtype=np.uint8)
    exponent, mantissa = (codes >> 3) & 15, codes & 7
    magnitude = np.where(exponent == 0, mantissa / 8 * 2.0**-14, (1 + mantissa / 8) * 2.0 ** (exponent.astype(float) - 15))
    value = np.where(codes >> 7, -magnitude, magnitude)
    x = np.concatenate([rng.uniform(-2, 2, 500), rng.uniform(-1, 1, 300) * 1e-4, value[:128],
                        (value[:127] + value[1:128]) / 2, [5.0, -5.0, np.inf, -np.inf, np.nan, 1.8125, 1.8126]])  # fmt: skip
    grid = value[:128]

    def nearest(v):
        if np.isnan(v):
            return 0x7F
        place = int(np.searchsorted(grid, abs(v)))
        if place == 128:
            return 0x7F
        if place == 0 or grid[place] == abs(v):
            return place
        middle = (grid[place - 1] + grid[place]) / 2
        return place - 1 if abs(v) < middle or (abs(v) == middle and (place - 1) % 2 == 0) else place

    def below(v):
        return 0x7F if np.isnan(v) else int(np.searchsorted(grid, abs(v), side="right")) - 1

    sheet = Sheet().input("codes", codes)
    sheet.add("codes.to(tl.float8e4b15, bitcast=True).to(tl.float32)", value.astype(np.float32), exact=True)
    sheet.add("codes.to(tl.float8e4b15, bitcast=True).to(tl.float64)", value, exact=True)
    sheet.add("codes.to(tl.float8e4b15, bitcast=True).to(tl.float16).to(tl.float8e4b15).to(tl.uint8, bitcast=True)", codes)
    sheet.add("(codes.to(tl.float8e4b15, bitcast=True) * 0.5).to(tl.float32)",
              np.array([np.copysign(grid[nearest(v * 0.5)], v) for v in value], np.float32), exact=True)
    sheet.add("(codes.to(tl.float8e4b15, bitcast=True) > 0.25)", value > 0.25)
    sheet.add("tl.full((3,), 0.3, tl.float8e4b15).to(tl.uint8, bitcast=True)", np.full(3, nearest(0.3), np.uint8))
    for dtype in (np.float32, np.float64, np.float16):
        with np.errstate(all="ignore"):
            y = x.astype(dtype)
        name = np.dtype(dtype).name
        want = np.array([nearest(float(v)) | (0x80 if np.signbit(v) else 0) for v in y], np.uint8)
        down = np.array([below(float(v)) | (0x80 if np.signbit(v) else 0) for v in y], np.uint8)
        number = ~np.isnan(y)
        sheet.input(name, y)
        for mode, codes_wanted in ((None, want), ("rtz", down)):
            rounding = "" if mode is None else f', fp_downcast_rounding="{mode}"'
            sheet.add(f"{name}.to(tl.float8e4b15{rounding}).to(tl.uint8, bitcast=True)", codes_wanted,
                      check=lambda got, w=codes_wanted, n=number: np.testing.assert_array_equal(got[n], w[n]))
    sheet.run()


def test_uint64_above_the_signed_range(rng):
    x = (rng.integers(0, 2**63, 40, np.uint64) | np.uint64(2**63))
    f = (rng.uniform(2.0**63, 2.0**64 * 0.999, 40))
    Sheet().input("x", x).input("f", f).input("g", f.astype(np.float32)).add("x.to(tl.float64)", x.astype(np.float64), exact=True).add(
        "x.to(tl.float32)", x.astype(np.float32), exact=True).add("f.to(tl.uint64)", f.astype(np.uint64)).add(
        "g.to(tl.uint64)", f.astype(np.float32).astype(np.uint64)).add("x.to(tl.float16)", np.full(40, np.inf, np.float16), exact=True).run()  # fmt: skip


def test_refused():
    refuse('x.to(tl.float64, fp_downcast_rounding="rtz")', "fp32")
    refuse('x.to(tl.int32, fp_downcast_rounding="rtz")', "int32")
    refuse('x.to(tl.float16, fp_downcast_rounding="up")', "rtne", "rtz")
    refuse('x.to(tl.int8, overflow_mode="wrap")', "trunc", "saturate")
    refuse("x.to(tl.float16, bitcast=True)", "32", "16")
    refuse("x.to(tl.pointer_type(tl.float32))", "only integers")
    refuse("x.to(3)", "dtype")
