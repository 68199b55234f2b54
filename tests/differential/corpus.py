# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that once came out differently, minimised; kept small and run every time.

Each entry: name, source, arguments (name -> type and value: an array's values, a
number, or None for an output of 64 elements), constants, grid.
"""

from __future__ import annotations

import numpy as np

from .generate import _numpy_dtype
from .program import WAYS, Argument, Program

_EVERYTHING = tuple(WAYS)


def _kernel(name: str, source: str, arguments: dict, constants: dict | None = None, grid=(1,), ways=_EVERYTHING,
            tolerance: float = 0.0) -> tuple[str, Program]:
    made = []
    for argument, (dtype, value) in arguments.items():
        if value is None:
            made.append(Argument(argument, dtype, np.full(64, 7, _numpy_dtype(dtype)), tolerance, True))
        elif isinstance(value, (int, float)):
            made.append(Argument(argument, dtype, value))
        else:
            made.append(Argument(argument, dtype, np.asarray(list(value)).astype(_numpy_dtype(dtype))))
    return name, Program(1, source, "kernel", made, constants or {}, grid, ways)


CORPUS = dict([
    _kernel("number_in_maximum", """\
@triton.jit
def kernel(x, out):
    o = tl.arange(0, 16)
    v = tl.load(x + o)
    # The number is an int32 here: nothing wraps at 8 bits.
    tl.store(out + o, (tl.minimum(v, 9) - tl.maximum(v, 5)) << 2)
""", {"x": ("int8", range(-128, 128, 16)), "out": ("int32", None)}),
    _kernel("number_in_clamp", """\
@triton.jit
def kernel(x, out):
    o = tl.arange(0, 16)
    v = tl.load(x + o)
    # The bounds are fp32, and so is the result: the product is not rounded to fp16.
    tl.store(out + o, tl.clamp(v, -2.0, 2.0) * 0.3333)
""", {"x": ("float16", range(-8, 8)), "out": ("float32", None)}),
    _kernel("shift_of_signed_by_unsigned", """\
@triton.jit
def kernel(x, y, out, other):
    o = tl.arange(0, 16)
    v, n = tl.load(x + o), tl.load(y + o)
    # The result is unsigned, the shift arithmetic: the left operand is signed.
    tl.store(out + o, v >> n)
    tl.store(other + o, n >> (v & 7))
""", {"x": ("int32", range(-2**31, 2**31, 2**28)), "y": ("uint32", range(16)), "out": ("uint32", None),
      "other": ("uint32", None)}),
    _kernel("descriptor_of_unsigned", """\
@triton.jit
def kernel(x, out):
    d = tl.make_tensor_descriptor(x, shape=[4, 16], strides=[16, 1], block_shape=[4, 16])
    o = tl.arange(0, 4)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(out + o, d.load([1, 0]) // 3)
""", {"x": ("uint8", range(100, 228, 2)), "out": ("uint8", None)}),
    _kernel("unused_function_of_tiles", """\
@triton.jit
def helper(p):
    return tl.zeros((16,), tl.int32) + p, p


@triton.jit
def kernel(x, out):
    v = tl.load(x + tl.arange(0, 16))
    for i in range(0, 2):
        a, b = helper(v)
        v += b
    tl.store(out + tl.arange(0, 16), tl.cumsum(v, axis=0))
""", {"x": ("int32", range(16)), "out": ("int32", None)}),
    _kernel("noinline_function", """\
@triton.jit(noinline=True)
def helper(p, q):
    if p > 20:
        return p - q
    return p * q + 1


@triton.jit
def kernel(x, out):
    v = tl.load(x + tl.arange(0, 16))
    tl.store(out + 15, helper(tl.min(v), 4))
    tl.store(out + 16, helper(tl.sum(v), 3))
""", {"x": ("int32", range(16)), "out": ("int32", None)}),
])
