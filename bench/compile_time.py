# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time from a kernel's first launch to its machine code, in a fresh process.

    python bench/compile_time.py

Cold: the disk cache is empty. Warm: it holds the kernel. Both are the time of the first
launch less that of a later one, so loading the compiler's libraries counts.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import harness
import numpy as np

sys.path.insert(0, str(harness.ROOT / "examples"))

#: Seconds within which the AllGather+GEMM kernel has to be compiled.
BAR_SECONDS = 0.3


def child(kernel: str) -> None:
    """Prints, as JSON, the seconds of the first launch of `kernel` and of a later one."""
    import importlib

    import nereid

    nereid.init()
    rng = np.random.default_rng(0)
    if kernel == "vector add":
        example = importlib.import_module("01_vector_add")
        x = rng.uniform(-1, 1, 1000).astype(np.float32)
        call = lambda: example.add(x, x)
    elif kernel == "softmax":
        example = importlib.import_module("02_softmax")
        x = rng.uniform(-1, 1, (16, 781)).astype(np.float32)
        call = lambda: example.softmax(x)
    else:
        example = importlib.import_module("07_allgather_gemm")
        m, n, k = 64, 64, 64
        a, b = (rng.uniform(-1, 1, (64, 64)).astype(np.float16) for _ in range(2))
        c = np.empty((nereid.world_size() * m, n), np.float16)
        operator = example.AllGatherGemm(m, k, np.float16)
        call = lambda: operator(a, b, c)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    print(json.dumps({"first": times[0], "later": statistics.median(times[1:])}))


def first_launch(kernel: str, cache: str) -> float:
    done = subprocess.run([sys.executable, __file__, "--child", kernel], check=True, capture_output=True, text=True,
                          env={**os.environ, "NEREID_CACHE_DIR": cache})
    times = json.loads(done.stdout.splitlines()[-1])
    return times["first"] - times["later"]


def measure(rounds: int) -> list[dict]:
    results = []
    for kernel in ("AllGather+GEMM", "softmax", "vector add"):
        cold, warm = [], []
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as cache:
                cold.append(first_launch(kernel, cache))
                warm.append(first_launch(kernel, cache))
        results.append({"kernel": kernel, "cold": statistics.median(cold), "warm": statistics.median(warm),
                        "bar": BAR_SECONDS if kernel == "AllGather+GEMM" else None})
    return results


def main() -> None:
    parser = harness.arguments(__doc__.splitlines()[0], rounds=5)
    parser.add_argument("--child", metavar="KERNEL", help="measure one first launch in this process")
    args = parser.parse_args()
    if args.child:
        child(args.child)
        return
    harness.enter_single_thread_environment()
    results = measure(args.rounds)
    print(f"{'kernel':<16}  {'cold compile':>12}  {'from disk cache':>15}  {'bar':>8}")
    for row in results:
        bar = "" if row["bar"] is None else f"{row['bar'] * 1e3:.0f} ms"
        verdict = "" if row["bar"] is None else "reached" if row["cold"] <= row["bar"] else "NOT REACHED"
        print(f"{row['kernel']:<16}  {row['cold'] * 1e3:>9.0f} ms  {row['warm'] * 1e3:>12.1f} ms  {bar:>8}  {verdict}")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"machine": harness.machine(), "compile_time": results}, file, indent=1)


if __name__ == "__main__":
    main()
