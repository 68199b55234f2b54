# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels whose cost is memory and mathematics, not products, against C++ loops; one thread.

    python bench/rows.py
    python bench/rows.py --only softmax --only sort --rounds 31

The loops are those of peers.cpp, compiled here with -O3 -march=native -ffast-math and a vectorised
exp (libmvec). Attention is compared with the same in parts: products by numpy's BLAS on fp32, the
softmax of peers.cpp between them. Times are those of the thread.
"""

from __future__ import annotations

import ctypes
import time
from pathlib import Path

import harness
import numpy as np

import nereid
import nereid.language as tl

#: What the project wants to reach, by the first word of a line's name.
BARS = {"cumsum": 0.7, "softmax": 0.9, "layer": 0.9, "rms": 0.9, "sum": 0.9, "argmax": 0.9, "sort": 0.9,
        "attention": 1.2}
BAR = 0.95
#: Times that are shorter are measured several calls at once.
SHORTEST = 2e-3


@nereid.jit
def copy(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, at < n), at < n)


@nereid.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)


@nereid.jit
def masked(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    positive = tl.load(y + at, at < n, 0.0) > 0
    tl.store(out + at, tl.load(x + at, positive), positive)


@nereid.jit
def strided(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + 2 * at, at < n), at < n)


@nereid.jit
def gather(x, index, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + tl.load(index + at, at < n, 0), at < n), at < n)


@nereid.jit
def transpose(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (i < n)[:, None] & (j < n)[None, :]
    tile = tl.load(x + i[:, None] * n + j[None, :], mask)
    tl.store(out + j[:, None] * n + i[None, :], tl.trans(tile), tl.trans(mask))


@nereid.jit
def softmax(x, out, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * n + at, at < n, -float("inf"))
    top = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * n + at, top / tl.sum(top, 0), at < n)


@nereid.jit
def layer_norm(x, w, b, out, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * n + at, at < n, 0.0)
    mean = tl.sum(values, 0) / n
    centred = tl.where(at < n, values - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, 0) / n + 1e-5)
    result = centred * scale * tl.load(w + at, at < n) + tl.load(b + at, at < n)
    tl.store(out + row * n + at, result, at < n)


@nereid.jit
def rms_norm(x, w, out, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * n + at, at < n, 0.0)
    scale = tl.rsqrt(tl.sum(values * values, 0) / n + 1e-5)
    tl.store(out + row * n + at, values * scale * tl.load(w + at, at < n), at < n)


@nereid.jit
def row_sum(x, out, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out + row, tl.sum(tl.load(x + row * n + at, at < n, 0.0), 0))


@nereid.jit
def row_argmax(x, out, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out + row, tl.argmax(tl.load(x + row * n + at, at < n, -float("inf")), 0))


@nereid.jit
def row_cumsum(x, out, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out + row * n + at, tl.cumsum(tl.load(x + row * n + at, at < n, 0.0), 0), at < n)


@nereid.jit
def row_sort(x, out, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out + row * n + at, tl.sort(tl.load(x + row * n + at)))


@nereid.jit
def attention(q, k, v, out, n, scale, HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    start = tl.program_id(0) * BLOCK_M
    base = tl.program_id(1) * n * HEAD
    rows, columns, d = start + tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_N), tl.arange(0, HEAD)
    query = tl.load(q + base + rows[:, None] * HEAD + d[None, :])
    top = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, HEAD), tl.float32)
    for at in range(0, start + BLOCK_M, BLOCK_N):
        keys = tl.load(k + base + (at + columns)[None, :] * HEAD + d[:, None])
        scores = tl.dot(query, keys) * scale
        scores = tl.where(rows[:, None] >= (at + columns)[None, :], scores, -float("inf"))
        new = tl.maximum(top, tl.max(scores, 1))
        weights = tl.exp2(scores - new[:, None])
        old = tl.exp2(top - new)
        total = total * old + tl.sum(weights, 1)
        values = tl.load(v + base + (at + columns)[:, None] * HEAD + d[None, :])
        acc = tl.dot(weights.to(v.dtype.element_ty), values, acc * old[:, None])
        top = new
    tl.store(out + base + rows[:, None] * HEAD + d[None, :], acc / total[:, None])


class Lines:
    def __init__(self, rounds: int, only: list[str]):
        self.rounds, self.only = rounds, only
        flags = ("-ffast-math", "-fveclib=libmvec", "-mprefer-vector-width=512")
        self.peers, self.how = harness.compile_cpp(Path(__file__).with_name("peers.cpp").read_text(), *flags)
        self.rng = np.random.default_rng(0)
        self.measurements: list[harness.Measurement] = []

    def random(self, *shape) -> np.ndarray:
        return self.rng.uniform(-1, 1, shape).astype(np.float32)

    def line(self, what, ours, theirs, check, label=None, bar=None):
        """Times two functions without arguments; `check` says whether both results are right."""
        if self.only and not any(word in what for word in self.only):
            return
        label = label or "C++ loop"
        ours(), theirs()
        check()
        start = time.thread_time()
        theirs()
        repeat = max(1, int(SHORTEST / max(time.thread_time() - start, 1e-7)))

        def times(function):
            return lambda: [function() for _ in range(repeat)]

        seconds = harness.interleave({"nereid": times(ours), label: times(theirs)}, self.rounds,
                                     clock=time.thread_time)
        m = harness.compare(what, seconds, "nereid", label, bar=bar or BARS.get(what.split()[0].strip(","), BAR))
        m.seconds, m.baseline_seconds = m.seconds / repeat, m.baseline_seconds / repeat
        m.detail = {"command": f'python bench/rows.py --only "{what}"'}
        self.measurements.append(m)

    def against(self, what, name, grid, kernel_arguments, peer_arguments, block, result, want, tolerance=1e-5,
                index=-1):
        """A kernel and the loop of the same name; the result is argument `index` of the loop, a copy of `result`."""
        other = np.zeros_like(result)
        loop = getattr(self.peers, name)
        plain = [ctypes.c_void_p(x.ctypes.data) if isinstance(x, np.ndarray) else ctypes.c_long(x)
                 for x in peer_arguments(other)]
        kernel = globals()[name]

        def check():
            for got, who in ((result, "nereid"), (other, "peer")):
                error = np.abs(got.astype(np.float64) - want).max() if want.size else 0
                assert error <= tolerance * max(1, np.abs(want).max()), f"{what}, {who}: error {error}"

        self.line(what, lambda: kernel[grid](*kernel_arguments, BLOCK=block), lambda: loop(*plain), check)

    def vectors(self):
        for n in (1 << 17, 1 << 22):
            block = 8192
            grid = (nereid.cdiv(n, block),)
            x, y, wide = self.random(n), self.random(n), self.random(2 * n)
            index = self.rng.integers(0, n, n).astype(np.int32)
            size = f"of {n // 1024} Ki"
            for name, inputs, want in (("copy", (x,), x), ("add", (x, y), x + y),
                                       ("masked", (x, y), np.where(y > 0, x, 0)), ("strided", (wide,), wide[::2]),
                                       ("gather", (x, index), x[index])):
                out = np.zeros(n, np.float32)
                self.against(f"{name} {size}", name, grid, (*inputs, out, n),
                             lambda other, inputs=inputs, n=n: (*inputs, other, n), block, out, want)
        for n in (512, 2048):
            x, out = self.random(n, n), np.zeros((n, n), np.float32)
            tiles = nereid.cdiv(n, 64)
            self.against(f"transpose of {n}x{n}", "transpose", (tiles, tiles), (x, out, n),
                         lambda other, x=x, n=n: (x, other, n), 64, out, x.T)

    def rows(self):
        for n in (1000, 1024, 4096, 32768):
            rows = (1 << 20) // n
            x, w, b = self.random(rows, n), self.random(n), self.random(n)
            x64 = x.astype(np.float64)
            block = nereid.next_power_of_2(n)
            power = np.exp(x64 - x64.max(1, keepdims=True))
            mean, variance = x64.mean(1, keepdims=True), x64.var(1, keepdims=True)
            full, one = np.zeros((rows, n), np.float32), np.zeros(rows, np.float32)
            lines = [
                ("softmax", "softmax", (x,), full, power / power.sum(1, keepdims=True)),
                ("layer norm", "layer_norm", (x, w, b), full, (x64 - mean) / np.sqrt(variance + 1e-5) * w + b),
                ("rms norm", "rms_norm", (x, w), full, x64 / np.sqrt((x64**2).mean(1, keepdims=True) + 1e-5) * w),
                ("sum", "row_sum", (x,), one, x64.sum(1)),
                ("argmax", "row_argmax", (x,), one.astype(np.int32), x.argmax(1)),
                ("cumsum", "row_cumsum", (x,), full, x64.cumsum(1)),
            ]
            if n in (1024, 4096):
                lines.append(("sort", "row_sort", (x,), full, np.sort(x64, 1)))
            for what, name, inputs, out, want in lines:
                out = np.zeros_like(out)
                self.against(f"{what}, rows of {n}", name, (rows,), (*inputs, out, n),
                             lambda other, inputs=inputs, n=n, rows=rows: (*inputs, other, rows, n), block, out, want,
                             tolerance=1e-4)

    def attention(self):
        heads, n = 4, 1024
        for dtype in (np.float32, np.float16):
            for head in (64, 128):
                q, k, v = (self.random(heads, n, head).astype(dtype) for _ in range(3))
                q32, k32, v32 = (x.astype(np.float32) for x in (q, k, v))
                out, other = np.zeros((heads, n, head), np.float32), np.zeros((heads, n, head), np.float32)
                scores = np.zeros((n, n), np.float32)
                scale = head**-0.5
                exact = np.einsum("hmd,hnd->hmn", q32.astype(np.float64), k32.astype(np.float64)) * scale
                exact = np.where(np.tri(n, dtype=bool), exact, -np.inf)
                exact = np.exp(exact - exact.max(2, keepdims=True))
                exact = exact / exact.sum(2, keepdims=True) @ v32.astype(np.float64)
                softmax = self.peers.causal_softmax
                kernel = attention

                def theirs(q32=q32, k32=k32, v32=v32, other=other, scores=scores, scale=scale, softmax=softmax):
                    for i in range(heads):
                        np.matmul(q32[i], k32[i].T, out=scores)
                        softmax(ctypes.c_void_p(scores.ctypes.data), ctypes.c_float(scale), ctypes.c_long(n))
                        np.matmul(scores, v32[i], out=other[i])

                def ours(q=q, k=k, v=v, out=out, scale=scale, head=head, kernel=kernel):
                    kernel[(n // 64, heads)](q, k, v, out, n, scale * 1.4426950408889634, HEAD=head, BLOCK_M=64,
                                             BLOCK_N=64)

                def check(out=out, other=other, exact=exact, dtype=dtype):
                    assert np.abs(out - exact).max() < (1e-4 if dtype == np.float32 else 4e-3), np.abs(out - exact).max()
                    assert np.abs(other - exact).max() < 1e-4

                self.line(f"attention, {dtype.__name__}, head {head}, {heads}x{n}", ours, theirs, check,
                          label="numpy's BLAS and C++ softmax")


def main() -> None:
    parser = harness.arguments(__doc__.splitlines()[0], rounds=15)
    parser.add_argument("--only", action="append", default=[], metavar="WORDS",
                        help="only lines whose name contains them; may be given several times")
    args = parser.parse_args()
    harness.enter_single_thread_environment()
    lines = Lines(args.rounds, args.only)
    nereid.init()
    lines.vectors()
    lines.rows()
    lines.attention()
    harness.report(lines.measurements, args.json)
    print(f"\nThe loops: {lines.how}")


if __name__ == "__main__":
    main()
