# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels beside stock Triton's interpreter (TRITON_INTERPRET=1), which runs the same text."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from pathlib import Path

import harness
import numpy as np

import nereid

#: The kernels, in the words that both understand: `jit` and `tl` stand before them.
TEXT = '''
@jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)


@jit
def softmax_kernel(x, out, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * n + at, at < n, -float("inf"))
    top = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * n + at, top / tl.sum(top, 0), at < n)


@jit
def product_kernel(a, b, c, n, TILE: tl.constexpr):
    rows, columns, at = tl.program_id(0) * TILE + tl.arange(0, TILE), tl.program_id(1) * TILE + tl.arange(0, TILE), tl.arange(0, TILE)
    acc = tl.zeros((TILE, TILE), tl.float32)
    for k in range(0, n, TILE):
        x = tl.load(a + rows[:, None] * n + (k + at)[None, :])
        y = tl.load(b + (k + at)[:, None] * n + columns[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rows[:, None] * n + columns[None, :], acc)
'''
_folder = tempfile.TemporaryDirectory()  # the source must lie in a file as long as kernels compile


def _module(name: str, header: str):
    path = Path(_folder.name, f"{name}.py")
    path.write_text(header + TEXT)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _case(kernel: str, grid, inputs, shape, numbers, constants, want, tolerance: float) -> harness.Case:
    ours = getattr(_module("ours", "from nereid import jit\nimport nereid.language as tl\n"), kernel)
    out = np.zeros(shape, np.float32)

    def call():
        ours[grid](*inputs, out, *numbers, **constants)
        return out

    def interpreted():
        torch = harness.torch()
        os.environ["TRITON_INTERPRET"] = "1"
        try:
            import triton  # noqa: F401
        except ImportError:
            raise harness.Missing("triton is not installed: pip install nereid[cuda]") from None
        theirs = getattr(_module("theirs", "from triton import jit\nimport triton.language as tl\n"), kernel)
        tensors = [torch.from_numpy(x) for x in inputs]
        result = torch.zeros(shape, dtype=torch.float32)

        def call():
            theirs[grid](*tensors, result, *numbers, **constants)
            return result.numpy()

        return [harness.Side(f"Triton {triton.__version__}'s interpreter", call)]

    return harness.Case(harness.Side("nereid", call), {"triton": interpreted},
                        lambda got, rounding: harness.within(got, want, tolerance * rounding))


def add(n: int) -> harness.Case:
    x, y = (np.random.default_rng(seed).uniform(-1, 1, n).astype(np.float32) for seed in (0, 1))
    return _case("add_kernel", (nereid.cdiv(n, 1024),), (x, y), (n,), (n,), dict(BLOCK=1024), x + y, 1e-6)


def softmax(n: int) -> harness.Case:
    x = np.random.default_rng(0).uniform(-1, 1, (512, n)).astype(np.float32)
    power = np.exp(x.astype(np.float64))
    return _case("softmax_kernel", (512,), (x,), x.shape, (n,), dict(BLOCK=nereid.next_power_of_2(n)),
                 power / power.sum(1, keepdims=True), 1e-5)


def product(size: int) -> harness.Case:
    a, b = (np.random.default_rng(seed).uniform(-1, 1, (size, size)).astype(np.float32) for seed in (0, 1))
    return _case("product_kernel", (size // 32, size // 32), (a, b), a.shape, (size,), dict(TILE=32),
                 a.astype(np.float64) @ b.astype(np.float64), 1e-4)
