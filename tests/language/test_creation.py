# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Making blocks."""

import numpy as np
import pytest
from sheet import DTYPES, Sheet, refuse, shape_of, values


@pytest.mark.parametrize("group", [["int1", "int8", "uint16", "int32", "uint64"], ["float16", "bfloat16", "float32", "float64"],
                                   ["float8e5", "float8e4nv", "float8e5b16", "float8e4b8"]], ids="-".join)  # fmt: skip
def test_creation(rng, group):
    sheet = Sheet()
    for i, name in enumerate(group):
        dtype, shape = DTYPES[name], shape_of(rng)
        x = values(rng, shape, name)
        number = 1 if name == "int1" else 3
        sheet.input(f"x{i}", x).input(f"s{i}", x.reshape(-1)[0])
        sheet.add(f"tl.full({shape}, {number}, tl.{name})", np.full(shape, number).astype(dtype), exact=True)
        sheet.add(f"tl.full({shape}, s{i}, tl.{name})", np.broadcast_to(x.reshape(-1)[0], shape), exact=True)
        sheet.add(f"tl.full({shape}, tl.full((1, 1), {number}, tl.{name}), tl.{name})", np.full(shape, number).astype(dtype), exact=True)
        sheet.add(f"tl.zeros({shape}, tl.{name})", np.zeros(shape, dtype), exact=True)
        sheet.add(f"tl.zeros({shape}, dtype=tl.{name})", np.zeros(shape, dtype), exact=True)
        sheet.add(f"tl.zeros_like(x{i})", np.zeros(shape, dtype), exact=True)
    start, end = int(rng.integers(-50, 50)), int(rng.integers(51, 200))
    sheet.add(f"tl.arange({start}, {end})", np.arange(start, end, dtype=np.int32))
    sheet.add("tl.arange(0, 1)", np.zeros(1, np.int32))
    sheet.add("tl.to_tensor(7)", np.int32(7)).add("tl.to_tensor(2.5)", np.float32(2.5)).add("tl.to_tensor(True)", np.bool_(True))
    sheet.add("tl.to_tensor(5000000000)", np.int64(5000000000)).add("tl.to_tensor(4000000000)", np.uint32(4000000000))
    sheet.run()


def test_refused():
    refuse("tl.arange(4, 4)", "end")
    refuse("tl.arange(0, p0)", "known at compile time")
    refuse("tl.arange(0, 3000000000)", "3000000000")
    refuse("tl.full((4,), 300, tl.int8)", "300", "-128")
    refuse("tl.full((0,), 1, tl.int8)", "0")
    refuse("tl.full((2048, 1024), 1, tl.int8)", "1048576")
    refuse("tl.zeros((4,), 3)", "dtype")
    refuse("tl.full((4,), x, tl.float32)", "scalar")
