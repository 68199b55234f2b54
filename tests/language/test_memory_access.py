# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads and stores through pointers, block pointers and descriptors."""

import itertools

import ml_dtypes
import numpy as np
import pytest
from sheet import DTYPES, FULL, Sheet, floats, offsets, refuse, refused, run, values

NAMES = ["int1", "int8", "uint16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "float8e5", "float8e4nv"]


@pytest.mark.parametrize("name", NAMES)
def test_load_and_store(rng, name):
    """Masks, padding, hints; nothing outside the mask is written."""
    n = int(rng.integers(3, 70))
    block = n + int(rng.integers(0, 20))
    x = values(rng, n, name)
    mask = rng.integers(0, 2, block).astype(bool)
    mask[n:] = False
    outs = [values(rng, block, name) for _ in range(5)]
    before = [out.copy() for out in outs]
    fill = 1
    run(f"""
offs = tl.arange(0, {block})
m = tl.load(p1 + offs)
tl.store(p2 + offs, tl.load(p0 + offs, mask=m), mask=m)
tl.store(p3 + offs, tl.load(p0 + offs, m, {fill}))
tl.store(p4 + offs, tl.load(p0 + offs, m, other=0.0 if {name.startswith('f') or name == 'bfloat16'} else 0, cache_modifier=".cg", eviction_policy="evict_last", volatile=True),
         cache_modifier=".wt", eviction_policy="evict_first")
tl.store(p5 + offs, tl.load(p0 + offs, offs < {n}, care_padding=False), mask=offs < {n})
tl.store(p6 + offs, tl.load(p0 + offs, m & False), m)
(p6 + offs).store((p0 + offs).load(mask=offs < 2), mask=offs < 2)
tl.store(p6, tl.load(p0), None)
""", x, mask, *outs)
    padded = np.concatenate([x, np.zeros(block - n, x.dtype)])
    zero, one = np.zeros(block, x.dtype), np.full(block, fill).astype(x.dtype)
    wants = [np.where(mask, padded, before[0]), np.where(mask, padded, one), np.where(mask, padded, zero),
             np.where(np.arange(block) < n, padded, before[3]), np.where(mask, zero, before[4])]  # fmt: skip
    wants[4][:2] = x[:2]
    for got, want in zip(outs, wants):
        np.testing.assert_array_equal(got.view(f"u{x.itemsize}"), want.view(f"u{x.itemsize}"))


@pytest.mark.parametrize("name", ["int8", "float16", "float32", "int64"])
@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_block_pointers(rng, name, rank):
    """Any rank and order, offsets before the start and behind the end, advance, padding."""
    shape = [int(n) for n in rng.integers(1, 9, rank)]
    block = [int(n) for n in rng.integers(1, 7, rank)]
    order = [int(n) for n in rng.permutation(rank)]
    x = values(rng, shape, name, special=False)
    strides = [s // x.itemsize for s in x.strides]
    start = [int(n) for n in rng.integers(-3, 4, rank)]
    step = [int(n) for n in rng.integers(-3, 6, rank)]
    place = [a + b for a, b in zip(start, step)]
    checked = tuple(range(rank))
    padding = "nan" if name.startswith("float") and rng.random() < 0.5 else "zero"
    y, z = np.zeros(block, x.dtype), x.copy()
    run(f"""
p = tl.make_block_ptr(p0, {tuple(shape)}, {tuple(strides)}, {tuple(start)}, {tuple(block)}, {tuple(order)})
p = tl.advance(p, {tuple(step)})
v = tl.load(p, boundary_check={checked}, padding_option="{padding}")
tl.store(p1 + ({offsets(block)}), v)
q = tl.make_block_ptr(p2, {shape}, {strides}, {place}, {block}, {order})
q.store(tl.full({tuple(block)}, 7, tl.{name}), boundary_check={checked})
""", x, y, z)
    want = np.full(block, np.nan if padding == "nan" else 0).astype(x.dtype)
    written = x.copy()
    for index in itertools.product(*(range(n) for n in block)):
        at = tuple(a + b for a, b in zip(place, index))
        if all(0 <= v < n for v, n in zip(at, shape)):
            want[index] = x[at]
            written[at] = 7
    np.testing.assert_array_equal(y, want)
    np.testing.assert_array_equal(z, written)


@pytest.mark.parametrize("name", ["int8", "float16", "float32", "int64", "bfloat16", "float8e5"])
@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_descriptors(rng, name, rank):
    dtype = DTYPES[name]
    least = -(-16 // dtype.itemsize)
    limit = 6 if rank < 4 else 4
    shape = [int(n) for n in rng.integers(1, limit, rank - 1)] + [int(rng.integers(1, 2 * least + 3))]
    block = [int(n) for n in rng.integers(1, limit, rank - 1)] + [least + int(rng.integers(0, 5))]
    x = values(rng, shape, name, special=False)
    strides = [s // x.itemsize for s in x.strides]
    place = [int(rng.integers(-2, 3)) for _ in shape]
    padding = "nan" if dtype.kind not in "iub" and rng.random() < 0.5 else "zero"
    y, y2, z = np.zeros(block, dtype), np.zeros(block, dtype), x.copy()
    run(f"""
d = tl.make_tensor_descriptor(p0, shape={shape}, strides={strides}, block_shape={block}, padding_option="{padding}")
tl.store(p1 + ({offsets(block)}), d.load({place}))
tl.store(p2 + ({offsets(block)}), tl.load_tensor_descriptor(d, {place}))
e = tl.make_tensor_descriptor(p3, {shape}, {strides}, {block})
e.store({place}, tl.full({tuple(block)}, 3, tl.{name}))
tl.static_assert(d.dtype == tl.{name} and d.block_shape[{rank - 1}] == {block[-1]})
""", x, y, y2, z)
    want = np.full(block, np.nan if padding == "nan" else 0).astype(dtype)
    written = x.copy()
    for index in itertools.product(*(range(n) for n in block)):
        at = tuple(a + b for a, b in zip(place, index))
        if all(0 <= v < n for v, n in zip(at, shape)):
            want[index] = x[at]
            written[at] = 3
    for got in (y, y2):
        np.testing.assert_array_equal(got.astype(np.float64), want.astype(np.float64))
    np.testing.assert_array_equal(z.astype(np.float64), written.astype(np.float64))


@pytest.mark.parametrize("name", ["float32", "float16", "int8"])
def test_descriptor_rows(rng, name):
    dtype = DTYPES[name]
    columns, least = int(rng.integers(20, 40)), -(-16 // dtype.itemsize)
    x = values(rng, (9, columns), name, special=False)
    rows = rng.integers(-1, 11, 7).astype(np.int32)
    at = int(rng.integers(-2, columns - 3))
    y, z = np.zeros((7, least), dtype), x.copy()
    targets = rng.permutation(11)[:7].astype(np.int32) - 1
    run(f"""
d = tl.make_tensor_descriptor(p0, [9, {columns}], [{columns}, 1], [1, {least}])
tl.store(p2 + ({offsets((7, least))}), d.gather(tl.load(p1 + tl.arange(0, 7)), {at}))
e = tl.make_tensor_descriptor(p3, [9, {columns}], [{columns}, 1], [1, {least}])
e.scatter(tl.full((7, {least}), 5, tl.{name}), tl.load(p4 + tl.arange(0, 7)), {at})
""", x, rows, y, z, targets)
    want, written = np.zeros((7, least), dtype), x.copy()
    for i, j in itertools.product(range(7), range(least)):
        if 0 <= rows[i] < 9 and 0 <= at + j < columns:
            want[i, j] = x[rows[i], at + j]
        if 0 <= targets[i] < 9 and 0 <= at + j < columns:
            written[targets[i], at + j] = 5
    np.testing.assert_array_equal(y, want)
    np.testing.assert_array_equal(z, written)


def test_refused():
    refuse("tl.load(p0, other=1.0)", "mask")
    refuse("tl.load(x)", "pointer")
    refuse("tl.load(p0, mask=x > 0)", "mask")
    refuse("tl.load(p0, boundary_check=(0,))", "block pointer")
    refuse("tl.load(p0, cache_modifier='.xx')", ".ca")
    refuse("tl.load(p0, eviction_policy='soon')", "evict_first")
    refuse("tl.store(p0 + tl.arange(0, 4), x)", "4", "16")
    refuse("tl.store(x, 1.0)", "pointer")
    refuse("tl.load(p0 + tl.arange(0, 16), mask=x)", "int1")
    refuse("tl.make_block_ptr(p0, (4, 4), (4, 1), (0, 0), (2,), (1, 0))", "shape")
    refuse("tl.make_block_ptr(p0, (4,), (1,), (0,), (2,), (1,))", "order")
    refuse("tl.load(tl.make_block_ptr(p0, (4,), (1,), (0,), (2,), (0,)), mask=True)", "mask")
    refuse("tl.load(tl.make_block_ptr(p0, (4,), (1,), (0,), (2,), (0,)), boundary_check=(1,))", "1")
    refuse("tl.load(tl.make_block_ptr(p0, (4,), (1,), (0,), (2,), (0,)), boundary_check=(0,), padding_option='nan')", "int32", arguments=("int32",))
    refuse("tl.advance(p0, (1,))", "block pointer")
    refuse("tl.make_tensor_descriptor(p0, [4, 4], [4, 2], [2, 4])", "1")
    refuse("tl.make_tensor_descriptor(p0, [4, 4], [4, 1], [2, 2])", "16")
    refuse("tl.make_tensor_descriptor(p0, [4], [4, 1], [2, 4])", "shape")
    refuse("tl.make_tensor_descriptor(p0, [4, 4], [4, 1], [2, 4]).load([0])", "offsets")
    refuse("tl.make_tensor_descriptor(p0, [4, 4], [4, 1], [2, 4]).gather(tl.arange(0, 4), 0)", "one row")
    refuse("tl.load_tensor_descriptor(p0, [0])", "descriptor")
