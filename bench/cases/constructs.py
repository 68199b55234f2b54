# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One small kernel per construct of the language, with the tile's size as a parameter.

CONSTRUCTS maps a name to ``compile(rows, columns)``, which compiles the kernel for tiles of
that size and returns the compiled kernel. compiling.py looks for constructs whose time or
code grows with the tile.
"""

from __future__ import annotations

import numpy as np

import nereid
import nereid.language as tl

CONSTRUCTS = {}


def construct(name: str, *dtypes, **constants):
    """Registers a kernel ``(pointers of dtypes, n, R, C, **constants)`` under `name`."""

    def register(kernel):
        def compile(rows: int, columns: int):
            values = {key: value(rows, columns) if callable(value) and not hasattr(value, "__nereid_type__") else value
                      for key, value in constants.items()}
            return kernel.warmup(*dtypes, 1000, R=rows, C=columns, **values, grid=(1,))

        CONSTRUCTS[name] = compile
        return kernel

    return register


F32, F16, I32, I8 = np.dtype(np.float32), np.dtype(np.float16), np.dtype(np.int32), np.dtype(np.int8)


@nereid.jit
def tile_offsets(R: tl.constexpr, C: tl.constexpr):
    return tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]


@construct("elementwise chain", F32, F32)
@nereid.jit
def elementwise(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    offsets = tl.program_id(0) * R * C + tile_offsets(R, C)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    y = tl.exp(x) * tl.sin(x) + tl.sqrt(tl.abs(x) + 1.0)
    y = tl.where(x > 0, y, 0.1 * y) / (1.0 + tl.exp(-x))
    tl.store(y_ptr + offsets, y, mask=offsets < n)


@construct("casts to fp8, bf16, fp16, int", F32, F32)
@nereid.jit
def casts(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    offsets = tile_offsets(R, C)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    y = x.to(tl.float8e4nv).to(tl.float32) + x.to(tl.bfloat16).to(tl.float32) + x.to(tl.float16).to(tl.float32)
    y += x.to(tl.int8).to(tl.float32) + x.to(tl.float8e5).to(tl.float32)
    tl.store(y_ptr + offsets, y, mask=offsets < n)


@construct("integer division, remainder, shifts", I32, I32)
@nereid.jit
def integers(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    offsets = tile_offsets(R, C)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=1)
    y = (x // (n + 1)) + (offsets % (n + 3)) ^ (x << 3) | (x >> 2)
    tl.store(y_ptr + offsets, y, mask=offsets < n)


@construct("row statistics", F32, F32)
@nereid.jit
def statistics(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    offsets = tile_offsets(R, C)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    x = x - tl.max(x, 1)[:, None]
    x = tl.exp(x)
    x = x / tl.sum(x, 1)[:, None]
    tl.store(y_ptr + offsets, x, mask=offsets < n)


@construct("column statistics, argmax", F32, I32)
@nereid.jit
def columns(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    offsets = tile_offsets(R, C)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    x = x - tl.sum(x, 0)[None, :]
    tl.store(y_ptr + tl.arange(0, C), tl.argmax(x, 0))
    tl.store(y_ptr + C + tl.arange(0, R), tl.argmin(x, 1))


@nereid.jit
def welford(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    delta = mean_b - mean_a
    total = n_a + n_b
    part = tl.where(total == 0.0, 0.0, n_b / total)
    return mean_a + delta * part, m2_a + m2_b + delta * delta * n_a * part, total


@construct("reduction over tuples", F32, F32)
@nereid.jit
def tuples(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    offsets = tile_offsets(R, C)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    mean, m2, count = tl.reduce((x, tl.zeros_like(x), tl.full([R, C], 1.0, tl.float32)), 1, welford)
    tl.store(y_ptr + tl.arange(0, R), mean + m2 / count)


@construct("cumsum of rows", F32, F32)
@nereid.jit
def cumsum_rows(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    offsets = tile_offsets(R, C)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, tl.cumsum(x, 1), mask=offsets < n)


@construct("cumsum of columns, cumprod reversed", F32, F32)
@nereid.jit
def cumsum_columns(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    offsets = tile_offsets(R, C)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    x = tl.cumprod(x, 0, reverse=True)
    tl.store(y_ptr + offsets, tl.cumsum(x, 0), mask=offsets < n)


@nereid.jit
def first_order(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@construct("scan over tuples", F32, F32)
@nereid.jit
def tuple_scan(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    offsets = tile_offsets(R, C)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    a, b = tl.associative_scan((x, x + 1.0), 1, first_order)
    tl.store(y_ptr + offsets, a + b, mask=offsets < n)


@construct("sort", F32, F32)
@nereid.jit
def sort(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    offsets = tile_offsets(R, C)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, tl.sort(x, descending=True), mask=offsets < n)


@construct("topk", F32, F32)
@nereid.jit
def topk(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    offsets = tile_offsets(R, C)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + tile_offsets(R, 8), tl.topk(x, 8))


@construct("histogram", I32, I32)
@nereid.jit
def histogram(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    offsets = tl.arange(0, R * C)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    tl.store(y_ptr + tl.arange(0, C), tl.histogram(x, C))


@construct("gather", F32, I32)
@nereid.jit
def gather(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    offsets = tile_offsets(R, C)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    index = tl.load(y_ptr + offsets, mask=offsets < n, other=0)
    x = tl.gather(x, index, 1) + tl.gather(x, index % R, 0)
    tl.store(x_ptr + offsets, x, mask=offsets < n)


@construct("transpose", F32, F32)
@nereid.jit
def transpose(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    offsets = tile_offsets(R, C)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + tile_offsets(C, R), tl.trans(x) * 2.0)


@construct("reshape, permute 3-D", F32, F32)
@nereid.jit
def permute(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    offsets = tl.arange(0, R * C)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    x = tl.permute(tl.reshape(x, (R // 4, 4, C)), (2, 0, 1))
    y = tl.sum(x, 2)
    tl.store(y_ptr + offsets, tl.reshape(x - y[:, :, None], (R * C,)))


@construct("join, split, interleave, cat", F32, F32)
@nereid.jit
def joins(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    offsets = tile_offsets(R, C)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    y = tl.join(x, x * 2.0)
    a, b = tl.split(tl.reshape(x, (R, C // 2, 2)))
    y = tl.reshape(y, (R, 2 * C)) + tl.interleave(tl.interleave(a, b), x)
    tl.store(y_ptr + tile_offsets(R, 2 * C), y)


@construct("flip, broadcast, where", F32, F32)
@nereid.jit
def flips(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    offsets = tile_offsets(R, C)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    row = tl.load(x_ptr + tl.arange(0, C))
    y = tl.flip(x, 1) + tl.broadcast_to(row[None, :], (R, C))
    tl.store(y_ptr + offsets, tl.where(y > row[None, :], y, x), mask=offsets < n)


def dot_kernel(name, a, b, c, out):
    @construct(name, a, b, c, OUT=out)
    @nereid.jit
    def dot(a_ptr, b_ptr, c_ptr, n, R: tl.constexpr, C: tl.constexpr, OUT: tl.constexpr):
        acc = tl.zeros((R, C), OUT)
        for k in range(0, n, 64):
            left = n - k
            ks = tl.arange(0, 64)
            x = tl.load(a_ptr + tl.arange(0, R)[:, None] * n + k + ks[None, :], mask=ks[None, :] < left, other=0)
            y = tl.load(b_ptr + (k + ks)[:, None] * C + tl.arange(0, C)[None, :], mask=ks[:, None] < left, other=0)
            acc = tl.dot(x, y, acc, out_dtype=OUT)
        tl.store(c_ptr + tile_offsets(R, C), acc)


dot_kernel("dot fp32", F32, F32, F32, tl.float32)
dot_kernel("dot fp16", F16, F16, F32, tl.float32)
dot_kernel("dot bf16", tl.bfloat16, tl.bfloat16, F32, tl.float32)
dot_kernel("dot int8", I8, I8, I32, tl.int32)


@construct("dot of transposed operands, 3-D", F32, F32, F32)
@nereid.jit
def dots(a_ptr, b_ptr, c_ptr, n, R: tl.constexpr, C: tl.constexpr):
    x = tl.load(a_ptr + tile_offsets(64, R))
    y = tl.load(b_ptr + tile_offsets(C, 64))
    acc = tl.dot(tl.trans(x), tl.trans(y))
    batch = tl.dot(tl.reshape(acc, (2, R // 2, C)), tl.reshape(tl.trans(acc), (2, C, R // 2)))
    tl.store(c_ptr + tl.arange(0, R * R // 2), tl.reshape(batch, (R * R // 2,)))


@construct("scaled dot", tl.float8e4nv, tl.float8e5, F32)
@nereid.jit
def scaled(a_ptr, b_ptr, c_ptr, n, R: tl.constexpr, C: tl.constexpr):
    a = tl.load(a_ptr + tile_offsets(R, 64))
    b = tl.load(b_ptr + tile_offsets(64, C))
    a_scale = tl.full((R, 2), 127, tl.uint8)
    b_scale = tl.full((C, 2), 128, tl.uint8)
    tl.store(c_ptr + tile_offsets(R, C), tl.dot_scaled(a, a_scale, "e4m3", b, b_scale, "e5m2"))


@construct("atomics", F32, I32)
@nereid.jit
def atomics(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    offsets = tile_offsets(R, C)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.atomic_add(x_ptr + offsets % 64, x, mask=offsets < n)
    tl.atomic_max(y_ptr + offsets % 64, offsets, mask=offsets < n)
    old = tl.atomic_cas(y_ptr + offsets, offsets, offsets + 1)
    tl.store(y_ptr + offsets, old)


@construct("random numbers", F32, F32)
@nereid.jit
def randoms(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    offsets = tile_offsets(R, C)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    x = tl.where(tl.rand(n, offsets) > 0.5, x, tl.randn(n, offsets))
    tl.store(y_ptr + offsets, x, mask=offsets < n)


@construct("block pointers", F32, F32)
@nereid.jit
def block_pointers(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    source = tl.make_block_ptr(x_ptr, (n, n), (n, 1), (0, 0), (R, C), (1, 0))
    target = tl.make_block_ptr(y_ptr, (n, n), (1, n), (0, 0), (R, C), (1, 0))
    for _ in range(0, n, C):
        tl.store(target, tl.load(source, boundary_check=(0, 1), padding_option="zero") + 1.0, boundary_check=(0, 1))
        source = tl.advance(source, (0, C))
        target = tl.advance(target, (0, C))


@construct("descriptors", F32, F32)
@nereid.jit
def descriptors(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, (n, n), (n, 1), (R, C))
    target = tl.make_tensor_descriptor(y_ptr, (n, n), (n, 1), (R, C))
    for j in range(0, n, C):
        target.store([0, j], source.load([0, j]) * 2.0)


@construct("tiles carried by loops and branches", F32, F32)
@nereid.jit
def carried(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    offsets = tile_offsets(R, C)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    low = tl.zeros((R, C), tl.float32)
    top = tl.full((R, 1), float("-inf"), tl.float32)
    for i in range(n):
        if i % 3 == 0:
            x, low = low, x
        else:
            x = x * 2.0 + low
        top = tl.maximum(top, tl.max(x, 1, keep_dims=True))
    while tl.sum(tl.sum(low, 0), 0) > 1.0:
        low = low * 0.5 - top
    tl.store(y_ptr + offsets, x + low, mask=offsets < n)


@construct("print and assert", F32, F32)
@nereid.jit(debug=True)
def prints(x_ptr, y_ptr, n, R: tl.constexpr, C: tl.constexpr):
    offsets = tile_offsets(R, C)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.device_assert(x < 1e6, "too large")
    tl.device_print("x", x)
    tl.store(y_ptr + offsets, x)
