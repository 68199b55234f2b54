# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Selection and gathering."""

import numpy as np
import pytest
from sheet import DTYPES, Sheet, refuse, shape_of, values


@pytest.mark.parametrize("name", ["int1", "int8", "uint32", "int64", "float16", "bfloat16", "float32", "float64", "float8e5", "float8e4nv"])
def test_where(rng, name):
    sheet = Sheet()
    for i in range(3):
        shape = shape_of(rng, i + 1)
        c, x, y = values(rng, shape, "int1"), values(rng, shape, name), values(rng, shape, name)
        sheet.input(f"c{i}", c).input(f"x{i}", x).input(f"y{i}", y)
        sheet.add(f"tl.where(c{i}, x{i}, y{i})", np.where(c, x, y), exact=True)
        sheet.add(f"tl.where(~c{i}, x{i}, y{i})", np.where(c, y, x), exact=True)
        one = 1 if name == "int1" else 2
        sheet.add(f"tl.where(c{i}, x{i}, {one})", np.where(c, x, np.array(one).astype(x.dtype)), exact=True)
        sheet.add(f"tl.where(c{i}.to(tl.int32) * 5, x{i}, y{i})", np.where(c, x, y), exact=True)
        sheet.add(f"tl.where(True, x{i}, y{i})", x, exact=True)
    x2 = values(rng, (4, 1), name)
    sheet.input("col", x2).input("row", values(rng, (1, 5), name))
    row = sheet.inputs["row"]
    sheet.add("tl.where(tl.arange(0, 4)[:, None] > tl.arange(0, 5)[None, :], col, row)",
              np.where(np.arange(4)[:, None] > np.arange(5)[None], x2, row), exact=True)
    sheet.run()


@pytest.mark.parametrize("name", ["int1", "int8", "int16", "int64", "float16", "bfloat16", "float32", "float64", "float8e4nv"])
def test_gather(rng, name):
    sheet = Sheet()
    count = 0
    for rank in (1, 2, 3):
        shape = shape_of(rng, rank)
        x = values(rng, shape, name)
        for axis in range(rank):
            picked = list(shape)
            picked[axis] = int(rng.integers(1, 12))
            for index_name in ("int32", "int64", "uint8"):
                index = rng.integers(0, min(shape[axis], 255), picked).astype(index_name)
                sheet.input(f"x{count}", x).input(f"i{count}", index)
                want = np.take_along_axis(x, index.astype(np.int64), axis)
                form = f"x{count}.gather(i{count}, {axis})" if index_name == "int64" else f"tl.gather(x{count}, i{count}, axis={axis - rank})"
                sheet.add(form, want, exact=True)
                count += 1
    sheet.run()


def test_refused():
    refuse("tl.where(x > 0, x, p0)", "pointer")
    refuse("tl.gather(x, x, 0)", "integers")
    refuse("tl.gather(x, tl.arange(0, 4)[None, :], 0)", "ranks must agree")
    refuse("tl.gather(x, tl.arange(0, 4), 1)", "axis")
    refuse("tl.where(x > 0, x, tl.arange(0, 5))", "16", "5")
