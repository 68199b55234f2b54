# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Vector add in the kernel language against a C++ loop, which this script compiles; one thread.

    python bench/vector_add.py
"""

from __future__ import annotations

import ctypes
import importlib
import sys

import harness
import numpy as np

sys.path.insert(0, str(harness.ROOT / "examples"))

BAR = 0.8
SOURCE = """
extern "C" void add(const float *x, const float *y, float *out, long n) {
  for (long i = 0; i < n; ++i)
    out[i] = x[i] + y[i];
}
"""


def measure(sizes: list[int], rounds: int, block: int) -> list[harness.Measurement]:
    import nereid

    example = importlib.import_module("01_vector_add")
    nereid.init()
    assert nereid.job_info()["num_threads"] == 1
    measurements = []
    library, label = harness.compile_cpp(SOURCE)
    loop = library.add
    loop.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_long]
    for size in sizes:
        rng = np.random.default_rng(size)
        x, y = (rng.uniform(-1, 1, size).astype(np.float32) for _ in range(2))
        ours, theirs = np.zeros_like(x), np.zeros_like(x)
        # Short calls are repeated within one measurement, so that the clock is no part of it.
        repeat = max(1, 2_000_000 // size)
        pointers = x.ctypes.data, y.ctypes.data, theirs.ctypes.data
        grid = (nereid.cdiv(size, block),)

        def run_kernel():
            for _ in range(repeat):
                example.add_kernel[grid](x, y, ours, size, BLOCK=block)

        def run_loop():
            for _ in range(repeat):
                loop(*pointers, size)

        times = harness.interleave({"nereid": run_kernel, label: run_loop}, rounds)
        assert np.array_equal(ours, theirs)
        m = harness.compare(f"vector add of {size} fp32", times, "nereid", label, bar=BAR)
        m.seconds, m.baseline_seconds = m.seconds / repeat, m.baseline_seconds / repeat
        m.note = f"{12 * size / m.seconds / 1e9:.1f} against {12 * size / m.baseline_seconds / 1e9:.1f} GB/s"
        m.detail = {"block": block, "repeat": repeat}
        measurements.append(m)
    return measurements


def main() -> None:
    parser = harness.arguments(__doc__.splitlines()[0], rounds=21)
    parser.add_argument("--size", type=int, nargs="+", default=[1 << 17, 1 << 20, 1 << 24])
    parser.add_argument("--block", type=int, default=8192)
    args = parser.parse_args()
    harness.enter_single_thread_environment()
    harness.report(measure(args.size, args.rounds, args.block), args.json)


if __name__ == "__main__":
    main()
