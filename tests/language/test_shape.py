# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shapes of blocks."""

import math

import numpy as np
import pytest
from sheet import DTYPES, Sheet, refuse, shape_of, values


@pytest.mark.parametrize("name", ["int1", "int8", "uint16", "int64", "float16", "bfloat16", "float32", "float64", "float8e5", "float8e4nv"])
def test_shapes(rng, name):
    sheet = Sheet()
    for i in range(3):
        shape = shape_of(rng, i + 1)
        x, y = values(rng, shape, name), values(rng, shape, name)
        rank = len(shape)
        sheet.input(f"x{i}", x).input(f"y{i}", y)
        add = lambda expression, want: sheet.add(expression.replace("X", f"x{i}").replace("Y", f"y{i}"), want, exact=True)
        axis = int(rng.integers(-rank - 1, rank + 1))
        add(f"tl.expand_dims(X, {axis})", np.expand_dims(x, axis))
        add(f"X.expand_dims(({0}, {rank + 1}))", np.expand_dims(x, (0, rank + 1)))
        add(f"tl.unsqueeze(X, {rank})", x[..., None])
        add(f"tl.squeeze(tl.unsqueeze(X, 0), 0)", x)
        add(f"X[None{', :' * rank}]", x[None])
        add(f"X[{':, ' * rank}None]", x[..., None])
        wide = tuple(5 if n == 1 else n for n in shape)
        add(f"tl.broadcast_to(X, {wide})", np.broadcast_to(x, wide))
        add(f"X.broadcast_to({', '.join(map(str, wide))})", np.broadcast_to(x, wide))
        add("tl.ravel(X)", x.ravel())
        add("X.ravel()", x.ravel())
        add(f"tl.reshape(X, ({x.size}, 1))", x.reshape(-1, 1))
        add(f"X.reshape(1, {x.size})", x.reshape(1, -1))
        add(f"tl.view(X, [{x.size}])", x.reshape(-1))
        if x.size % 2 == 0:
            add(f"X.reshape(2, {x.size // 2})", x.reshape(2, -1))
        order = [int(n) for n in rng.permutation(rank)]
        add(f"tl.permute(X, {tuple(order)})", x.transpose(order))
        add(f"X.permute({', '.join(map(str, order))})", x.transpose(order))
        if rank > 1:
            add("tl.trans(X)", np.swapaxes(x, -1, -2))
            add(f"tl.trans(X, {', '.join(map(str, order))})", x.transpose(order))
        if rank == 2:
            add("X.T", x.T)
            add("tl.trans(X).reshape(X.shape)", x.T.reshape(x.shape))
        joined = np.stack([x, y], -1)
        add("tl.join(X, Y)", joined)
        sheet.add(f"tl.join(x{i}, y{i}).split()", [x, y], exact=True)
        sheet.add(f"tl.split(tl.join(x{i}, y{i}))", [x, y], exact=True)
        add("tl.interleave(X, Y)", joined.reshape(*shape[:-1], -1))
        for dim in range(rank):
            add(f"tl.flip(X, {dim})", np.flip(x, dim))
        add("X.flip()", np.flip(x, -1))
        sheet.add(f"tl.broadcast(x{i}, tl.expand_dims(y{i}, 0))", [np.broadcast_to(x, (1, *shape)), y[None]], exact=True)
    one = values(rng, (1, 1), name)
    sheet.input("one", one).add("one.item()", one[0, 0], exact=True).add("tl.reshape(one, ())", one[0, 0], exact=True)
    s = values(rng, (), name)
    sheet.input("s", s).add("tl.broadcast_to(s, (3, 2))", np.full((3, 2), s), exact=True).add("tl.expand_dims(s, 0)", s[None], exact=True)
    sheet.add("tl.join(s, s)", np.array([s, s]), exact=True)
    sheet.run()


@pytest.mark.parametrize("name", ["int8", "float16", "float32", "int64"])
def test_cat(rng, name):
    sheet = Sheet()
    for i in range(3):
        shape = shape_of(rng, i + 1)
        x, y = values(rng, shape, name), values(rng, shape, name)
        sheet.input(f"x{i}", x).input(f"y{i}", y)
        for dim in range(len(shape)):
            sheet.add(f"tl.cat(x{i}, y{i}, dim={dim})", np.concatenate([x, y], dim), exact=True)
        sheet.add(f"tl.cat(x{i}, y{i}, can_reorder=True)", np.concatenate([x, y]), exact=True)
        sheet.add(f"tl.cat(x{i}, x{i}, True)", np.concatenate([x, x]), exact=True)
    sheet.run()


def reference_swizzle(i, j, size_i, size_j, size_g):
    """Walks the groups of rows column by column."""
    order = []
    for group in range(0, size_i, size_g):
        rows = range(group, min(group + size_g, size_i))
        order += [(r, c) for c in range(size_j) for r in rows]
    return order[i * size_j + j]


def test_swizzle2d(rng):
    sheet = Sheet()
    for size_i, size_j, size_g in [(4, 4, 2), (5, 3, 2), (7, 9, 4), (1, 5, 3), (6, 1, 4)]:
        i, j = np.divmod(np.arange(size_i * size_j, dtype=np.int32), size_j)
        want = np.array([reference_swizzle(a, b, size_i, size_j, size_g) for a, b in zip(i, j)], np.int32)
        name = f"n{size_i}_{size_j}"
        sheet.input(name, np.arange(size_i * size_j, dtype=np.int32))
        sheet.add(f"tl.swizzle2d({name} // {size_j}, {name} % {size_j}, {size_i}, {size_j}, {size_g})", [want[:, 0], want[:, 1]])
    sheet.add("tl.swizzle2d(1, 1, 4, 4, 2)", [np.int32(v) for v in reference_swizzle(1, 1, 4, 4, 2)])
    sheet.run()


def test_refused():
    refuse("tl.reshape(x, (3, 5))", "16", "15")
    refuse("tl.permute(x, (0, 1))", "permut")
    refuse("tl.broadcast_to(x, (3,))", "16")
    refuse("tl.broadcast_to(x, (2, 16))", "rank")
    refuse("tl.split(x)", "2")
    refuse("tl.cat(x, tl.arange(0, 16))", "dtype")
    refuse("tl.cat(x, x[None, :])", "shape")
    refuse("tl.squeeze(x, 0)", "1")
    refuse("x.item()", "one element")
    refuse("tl.flip(x, 1)", "axis")
    refuse("tl.expand_dims(x, 4)", "axis")
    refuse("x[0:4]", "slice")
