# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long kernels take from their first launch to machine code.

    python bench/compile_time.py [examples] [tutorials] [constructs]

examples    first launch less a later one, in a fresh process: with an empty disk cache (cold)
            and with a filled one, so loading the compiler's libraries counts
tutorials   the kernels of tests/tutorials, each test in a fresh process without a cache:
            the time of every compilation in it
constructs  one kernel per construct of the language (construct_kernels.py) with tiles of
            32 x 32 and of 128 x 256: time and code must not grow with the tile

All times are processor time of the process, which on a machine with nothing else to do is
the time that passes.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import harness
import numpy as np

sys.path.insert(0, str(harness.ROOT / "examples"))

#: Seconds within which kernels have to be compiled.
BAR_ALLGATHER, BAR_TUTORIAL = 0.3, 0.5
#: Times that a tile of 128 x 256 may take of one of 32 x 32.
BAR_TILE = 2.0
SMALL, LARGE = (32, 32), (128, 256)

TUTORIALS = {
    "test_softmax_and_norms.py": ("test_softmax", "test_layer_norm", "test_rms_norm", "test_cross_entropy"),
    "test_elementwise.py": ("test_seeded_dropout", "test_rotary_embedding", "test_gated_activation"),
    "test_matmul.py": ("test_grouped_order_with_epilogues", "test_int8", "test_grouped_gemm",
                       "test_persistent_with_descriptors", "test_split_k"),
    "test_attention.py": ("test_forward_and_backward", "test_paged", "test_split_decoding"),
    "test_scans.py": ("test_chained_prefix_sums", "test_selective_scan", "test_sort_and_top_k", "test_router"),
}


# ---- in a process of its own


def example_child(kernel: str) -> None:
    """Prints the seconds of the first launch of `kernel` and of a later one."""
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
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    print(json.dumps({"first": times[0], "later": statistics.median(times[1:])}))


@contextlib.contextmanager
def timed_compilations(times: list):
    """While it is open, (kernel, seconds, bytes of code) of each compilation go to `times`."""
    from nereid._kernels import compile as _compile

    inner = _compile._compile_and_store

    def timed(function, *args):
        start = time.process_time()
        kernel = inner(function, *args)
        times.append((function.__name__, time.process_time() - start, len(kernel.asm["obj"])))
        return kernel

    _compile._compile_and_store = timed
    try:
        yield
    finally:
        _compile._compile_and_store = inner


def tutorial_child(file: str, test: str) -> None:
    """Runs a test with the first value of each of its parameters; prints its compilations."""
    path = harness.ROOT / "tests" / "tutorials" / file
    os.environ.setdefault("NEREID_TEST_SEED", "0")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, test)
    arguments = {}
    for mark in getattr(function, "pytestmark", []):
        if mark.name == "parametrize":
            names = mark.args[0] if isinstance(mark.args[0], (list, tuple)) else mark.args[0].replace(" ", "").split(",")
            first = next(iter(mark.args[1]))
            first = getattr(first, "values", first) if type(first).__name__ == "ParameterSet" else first
            arguments.update(zip(names, first if len(names) > 1 else (first,) if not (
                isinstance(first, tuple) and len(first) == 1) else first))
    if "rng" in function.__code__.co_varnames[: function.__code__.co_argcount]:
        arguments["rng"] = np.random.default_rng(0)
    times: list = []
    with timed_compilations(times):
        function(**arguments)
    print(json.dumps(times))


def construct_child(names: list[str]) -> None:
    """Prints, for each construct, the seconds and bytes of the small tile and of the large one."""
    import construct_kernels

    results = {}
    for name in names or construct_kernels.CONSTRUCTS:
        compile = construct_kernels.CONSTRUCTS[name]
        times: list = []
        with timed_compilations(times):
            compile(16, 16)  # what is done once in a process
            compile(*SMALL)
            compile(*LARGE)
        results[name] = times[-2:]
    print(json.dumps(results))


# ---- the tables


def child(*args: str, cache: str) -> object:
    command = [sys.executable, __file__, "--child", *args]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "NEREID_CACHE_DIR": cache})
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def fresh(*args: str) -> object:
    with tempfile.TemporaryDirectory() as cache:
        return child(*args, cache=cache)


def verdict(reached: bool) -> str:
    return "reached" if reached else "NOT REACHED"


def examples(rounds: int) -> list[dict]:
    print(f"{'example':<44}  {'cold':>8}  {'from cache':>10}  {'bar':>8}")
    rows = []
    for kernel in ("AllGather+GEMM", "softmax", "vector add"):
        cold, warm = [], []
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as cache:
                for times in (cold, warm):
                    found = child("example", kernel, cache=cache)
                    times.append(found["first"] - found["later"])
        row = {"kernel": kernel, "cold": statistics.median(cold), "warm": statistics.median(warm),
               "bar": BAR_ALLGATHER if kernel == "AllGather+GEMM" else None}
        bar = "" if row["bar"] is None else f"{row['bar'] * 1e3:5.0f} ms  {verdict(row['cold'] <= row['bar'])}"
        print(f"{kernel:<44}  {row['cold'] * 1e3:5.0f} ms  {row['warm'] * 1e3:7.1f} ms  {bar}", flush=True)
        rows.append(row)
    return rows


def tutorials(rounds: int) -> list[dict]:
    print(f"{'kernel of tests/tutorials':<44}  {'cold':>8}  {'code':>10}  {'bar':>8}")
    rows = []
    for file, test in itertools.chain.from_iterable(((f, t) for t in tests) for f, tests in TUTORIALS.items()):
        found: dict[str, list] = {}
        for _ in range(rounds):
            for kernel, seconds, size in fresh("tutorial", file, test):
                found.setdefault(kernel, []).append((seconds, size))
        for kernel, measured in found.items():
            seconds = statistics.median(s for s, _ in measured)
            rows.append({"kernel": kernel, "test": f"{file}::{test}", "cold": seconds, "code": measured[0][1],
                         "bar": BAR_TUTORIAL})
            print(f"{kernel:<44}  {seconds * 1e3:5.0f} ms  {measured[0][1]:>8} B  {BAR_TUTORIAL * 1e3:5.0f} ms  "
                  f"{verdict(seconds <= BAR_TUTORIAL)}", flush=True)
    return rows


def constructs(rounds: int) -> list[dict]:
    print(f"{'construct, tiles of 32x32 and of 128x256':<44}  {'32x32':>8}  {'128x256':>8}  {'ratio':>6}  {'code':>6}")
    measured = [fresh("construct") for _ in range(rounds)]
    rows = []
    for name in measured[0]:
        small = statistics.median(m[name][0][1] for m in measured)
        large = statistics.median(m[name][1][1] for m in measured)
        ratio = statistics.median(m[name][1][1] / m[name][0][1] for m in measured)
        code = measured[0][name][1][2] / measured[0][name][0][2]
        rows.append({"construct": name, "small": small, "large": large, "ratio": ratio, "code": code, "bar": BAR_TILE})
        print(f"{name:<44}  {small * 1e3:5.0f} ms  {large * 1e3:5.0f} ms  {ratio:6.2f}  {code:6.2f}  "
              f"{verdict(ratio <= BAR_TILE and code <= BAR_TILE)}", flush=True)
    return rows


PARTS = {"examples": examples, "tutorials": tutorials, "constructs": constructs}


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        kind, *rest = sys.argv[2:]
        {"example": example_child, "tutorial": tutorial_child, "construct": lambda *n: construct_child(list(n))}[kind](
            *rest)
        return
    parser = harness.arguments(__doc__.splitlines()[0], rounds=5)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (default: all)")
    args = parser.parse_args()
    if unknown := [part for part in args.parts if part not in PARTS]:
        parser.error(f"no part {unknown[0]!r}: the parts are {', '.join(PARTS)}")
    harness.enter_single_thread_environment()
    results = {}
    for part in args.parts or PARTS:
        results[part] = PARTS[part](args.rounds)
        print()
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"machine": harness.machine(), "compile_time": results}, file, indent=1)


if __name__ == "__main__":
    main()
