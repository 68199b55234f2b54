# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels whose cost is memory and mathematics, not products, against the C++ loops of bench/peers."""

from __future__ import annotations

import ctypes

import harness
import numpy as np

import nereid
import nereid.language as tl

#: Elements of a program.
BLOCK = 8192
#: Elements of all rows together.
ALL_ROWS = 1 << 20


@nereid.jit
def copy_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, at < n), at < n)


@nereid.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)


@nereid.jit
def masked_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    positive = tl.load(y + at, at < n, 0.0) > 0
    tl.store(out + at, tl.load(x + at, positive), positive)


@nereid.jit
def strided_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + 2 * at, at < n), at < n)


@nereid.jit
def gather_kernel(x, index, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + tl.load(index + at, at < n, 0), at < n), at < n)


@nereid.jit
def transpose_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (i < n)[:, None] & (j < n)[None, :]
    tile = tl.load(x + i[:, None] * n + j[None, :], mask)
    tl.store(out + j[:, None] * n + i[None, :], tl.trans(tile), tl.trans(mask))


@nereid.jit
def softmax_kernel(x, out, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * n + at, at < n, -float("inf"))
    top = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * n + at, top / tl.sum(top, 0), at < n)


@nereid.jit
def layer_norm_kernel(x, w, b, out, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * n + at, at < n, 0.0)
    mean = tl.sum(values, 0) / n
    centred = tl.where(at < n, values - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, 0) / n + 1e-5)
    result = centred * scale * tl.load(w + at, at < n) + tl.load(b + at, at < n)
    tl.store(out + row * n + at, result, at < n)


@nereid.jit
def rms_norm_kernel(x, w, out, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * n + at, at < n, 0.0)
    scale = tl.rsqrt(tl.sum(values * values, 0) / n + 1e-5)
    tl.store(out + row * n + at, values * scale * tl.load(w + at, at < n), at < n)


@nereid.jit
def row_sum_kernel(x, out, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out + row, tl.sum(tl.load(x + row * n + at, at < n, 0.0), 0))


@nereid.jit
def row_argmax_kernel(x, out, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out + row, tl.argmax(tl.load(x + row * n + at, at < n, -float("inf")), 0))


@nereid.jit
def row_cumsum_kernel(x, out, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out + row * n + at, tl.cumsum(tl.load(x + row * n + at, at < n, 0.0), 0), at < n)


@nereid.jit
def row_sort_kernel(x, out, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out + row * n + at, tl.sort(tl.load(x + row * n + at)))


def random(*shape) -> np.ndarray:
    return np.random.default_rng(sum(shape)).uniform(-1, 1, shape).astype(np.float32)


def against_loop(kernel, name: str, grid, inputs, result, sizes, want, block: int, moved: int) -> harness.Case:
    """`kernel`(inputs, result, n) beside the C++ function `name`(inputs, result, sizes); `moved`: bytes. Both
    write the same array: which pages an array lies in can cost a third of the speed in the second cache."""
    n = sizes[-1]

    def call():
        kernel[grid](*inputs, result, n, BLOCK=block)
        return result

    def peer():
        function = getattr(harness.loops(), name)
        plain = [ctypes.c_void_p(x.ctypes.data) for x in (*inputs, result)] + [ctypes.c_long(size) for size in sizes]

        def call():
            function(*plain)
            return result

        return [harness.Side(harness.LOOPS_LABEL, call)]

    def check(got, rounding):
        harness.within(got, want, 1e-4 * rounding)
        got.fill(0)

    return harness.Case(harness.Side("nereid", call), {"cpp": peer}, check, (moved, "B/s"))


def vector(kernel, name: str, n: int, inputs, want, moved: int) -> harness.Case:
    return against_loop(kernel, name, (nereid.cdiv(n, BLOCK),), inputs, np.zeros(n, np.float32), (n,), want, BLOCK, moved)


def copy(n: int) -> harness.Case:
    x = random(n)
    return vector(copy_kernel, "copy", n, (x,), x, 8 * n)


def add(n: int) -> harness.Case:
    x, y = random(n), random(n)[::-1].copy()
    return vector(add_kernel, "add", n, (x, y), x + y, 12 * n)


def masked(n: int) -> harness.Case:
    x, y = random(n), random(n)[::-1].copy()
    return vector(masked_kernel, "masked", n, (x, y), np.where(y > 0, x, 0), 12 * n)


def strided(n: int) -> harness.Case:
    x = random(2 * n)
    return vector(strided_kernel, "strided", n, (x,), x[::2], 12 * n)


def gather(n: int) -> harness.Case:
    x, index = random(n), np.random.default_rng(0).integers(0, n, n).astype(np.int32)
    return vector(gather_kernel, "gather", n, (x, index), x[index], 12 * n)


def transpose(n: int) -> harness.Case:
    x, tiles = random(n, n), nereid.cdiv(n, 64)
    return against_loop(transpose_kernel, "transpose", (tiles, tiles), (x,), np.zeros((n, n), np.float32), (n,), x.T, 64,
                        8 * n * n)


def over_rows(kernel, name: str, n: int, inputs, result, want) -> harness.Case:
    rows = len(inputs[0])
    return against_loop(kernel, name, (rows,), inputs, result, (rows, n), want, nereid.next_power_of_2(n),
                        inputs[0].nbytes + result.nbytes)


def rows_of(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, the same in fp64, an empty result."""
    x = random(ALL_ROWS // n, n)
    return x, x.astype(np.float64), np.zeros_like(x)


def softmax(n: int) -> harness.Case:
    x, x64, out = rows_of(n)
    power = np.exp(x64 - x64.max(1, keepdims=True))
    return over_rows(softmax_kernel, "softmax", n, (x,), out, power / power.sum(1, keepdims=True))


def layer_norm(n: int) -> harness.Case:
    x, x64, out = rows_of(n)
    w, b = random(n), random(n)[::-1].copy()
    mean, variance = x64.mean(1, keepdims=True), x64.var(1, keepdims=True)
    return over_rows(layer_norm_kernel, "layer_norm", n, (x, w, b), out, (x64 - mean) / np.sqrt(variance + 1e-5) * w + b)


def rms_norm(n: int) -> harness.Case:
    x, x64, out = rows_of(n)
    w = random(n)
    return over_rows(rms_norm_kernel, "rms_norm", n, (x, w), out, x64 / np.sqrt((x64**2).mean(1, keepdims=True) + 1e-5) * w)


def row_sum(n: int) -> harness.Case:
    x, x64, _ = rows_of(n)
    return over_rows(row_sum_kernel, "row_sum", n, (x,), np.zeros(len(x), np.float32), x64.sum(1))


def row_argmax(n: int) -> harness.Case:
    x, _, _ = rows_of(n)
    return over_rows(row_argmax_kernel, "row_argmax", n, (x,), np.zeros(len(x), np.int32), x.argmax(1))


def row_cumsum(n: int) -> harness.Case:
    x, x64, out = rows_of(n)
    return over_rows(row_cumsum_kernel, "row_cumsum", n, (x,), out, x64.cumsum(1))


def row_sort(n: int) -> harness.Case:
    x, _, out = rows_of(n)
    return over_rows(row_sort_kernel, "row_sort", n, (x,), out, np.sort(x, 1))
