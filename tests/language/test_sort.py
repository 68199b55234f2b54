# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorting, of any length; NaN is greater than all numbers."""

import numpy as np
import pytest
from sheet import DTYPES, FLOATS, Sheet, refuse, values

NAMES = ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64", "float8e5", "float8e4nv", "int1"]
SHAPES = [(1,), (2,), (13,), (32,), (3, 7), (5, 16), (2, 3, 9)]


def ordered(x):
    """Ascending along the last dimension, through fp64 or as integers."""
    if x.dtype.kind in "iub":
        return np.sort(x, -1)
    return np.sort(x.astype(np.float64), -1).astype(x.dtype)


def equal(want):
    """Same numbers; the sign of zeros among equal ones is free."""
    return lambda got: np.testing.assert_array_equal(got.astype(np.float64) if got.dtype.kind not in "iub" else got,
                                                     want.astype(np.float64) if want.dtype.kind not in "iub" else want)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_sort(rng, name):
    sheet = Sheet()
    for i, shape in enumerate(SHAPES):
        x = values(rng, shape, name)
        sheet.input(f"x{i}", x)
        up = ordered(x)
        down = np.flip(up, -1)
        sheet.add(f"tl.sort(x{i})", up, check=equal(up))
        sheet.add(f"x{i}.sort(dim={len(shape) - 1}, descending=True)", down, check=equal(down))
    sheet.run()


@pytest.mark.parametrize("name", ["int8", "uint32", "int64", "float16", "float32", "float64", "bfloat16"])
def test_topk(rng, name):
    sheet = Sheet()
    for i, shape in enumerate(SHAPES):
        x = values(rng, shape, name)
        sheet.input(f"x{i}", x)
        k = int(rng.integers(1, shape[-1] + 1))
        up = ordered(x)
        most, least = np.flip(up, -1)[..., :k], up[..., :k]
        sheet.add(f"tl.topk(x{i}, {k})", most, check=equal(most)).add(f"x{i}.topk({k}, -1)", most, check=equal(most))
        sheet.add(f"tl.topk(x{i}, {k}, descending=False)", least, check=equal(least))
    sheet.run()


@pytest.mark.parametrize("name", ["int32", "float32", "uint8"])
def test_bitonic_merge(rng, name):
    sheet = Sheet()
    for i, shape in enumerate([(1,), (2,), (16,), (3, 8), (2, 3, 4)]):
        x = values(rng, shape, name)
        half = shape[-1] // 2
        rises = ordered(x[..., :half]) if half else x[..., :0]
        bitonic = np.concatenate([rises, np.flip(ordered(x[..., half:]), -1)], -1)
        sheet.input(f"x{i}", bitonic)
        up = ordered(x)
        sheet.add(f"tl.bitonic_merge(x{i})", up, check=equal(up))
        down = np.flip(up, -1)
        sheet.add(f"tl.bitonic_merge(x{i}, descending=True)", down, check=equal(down))
    sheet.run()


def test_refused():
    refuse("tl.sort(x[None, :], 0)", "permute")
    refuse("tl.topk(x, 17)", "17", "16")
    refuse("tl.topk(x, 0)", "0")
    refuse("tl.bitonic_merge(tl.arange(0, 12))", "tl.sort")
    refuse("tl.sort(p0)", "block")
