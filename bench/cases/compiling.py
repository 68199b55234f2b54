# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long kernels take from their first launch to machine code.

example     first launch less a later one, in a fresh process: with an empty disk cache (cold) and with a filled
            one, so loading the compiler's libraries counts; beside stock Triton, which compiles the matrix product
            of its tutorial to a cubin in a fresh process, for compute capability 9.0
tutorials   the kernels of tests/tutorials, each test in a fresh process without a cache:
            the time of every compilation in it
constructs  one kernel per construct of the language (constructs.py) with tiles of
            32 x 32 and of 128 x 256: time and code must not grow with the tile

All times are processor time of the process and of those it starts, which on a machine with nothing else to do
is the time that passes.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "examples")]

import numpy as np  # noqa: E402

import harness  # noqa: E402

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


def processor_time() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


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


def triton_child() -> None:
    """Prints the seconds that stock Triton takes for its tutorial's matrix product, to a cubin."""
    import triton
    from triton.backends.compiler import GPUTarget

    from cases import triton_product

    signature = {name: kind for name, kind in triton_product.SIGNATURE.items()}
    start = processor_time()
    source = triton.compiler.ASTSource(triton_product.matmul_kernel, signature, triton_product.CONSTANTS)
    kernel = triton.compile(source, target=GPUTarget("cuda", 90, 32))
    assert kernel.asm["cubin"]
    print(json.dumps(processor_time() - start))


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
    path = ROOT / "tests" / "tutorials" / file
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
    from cases import constructs

    results = {}
    for name in names or constructs.CONSTRUCTS:
        compile = constructs.CONSTRUCTS[name]
        times: list = []
        with timed_compilations(times):
            compile(16, 16)  # what is done once in a process
            compile(*SMALL)
            compile(*LARGE)
        results[name] = times[-2:]
    print(json.dumps(results))


# ---- the figures


def child(*args: str, cache: str) -> object:
    command = [sys.executable, __file__, *args]
    done = subprocess.run(command, capture_output=True, text=True,
                          env={**os.environ, "NEREID_CACHE_DIR": cache, "TRITON_CACHE_DIR": cache})
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def fresh(*args: str) -> object:
    with tempfile.TemporaryDirectory() as cache:
        return child(*args, cache=cache)


def example(kernel: str, rounds: int, bars: dict) -> list[harness.Figure]:
    has_triton = importlib.util.find_spec("triton") is not None
    cold, warm, theirs = [], [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            for times in (cold, warm):
                found = child("example", kernel, cache=cache)
                times.append(found["first"] - found["later"])
        if "triton" in bars and has_triton:
            theirs.append(fresh("triton"))
    figures = []
    if "triton" in bars:
        if has_triton:
            figures.append(harness.Figure("triton", "Triton's compilation of the plain matrix product", "cold",
                                          harness.compare({"ours": cold, "triton": theirs}, "ours", "triton", at_most=True),
                                          statistics.median(cold), statistics.median(theirs)))
        else:
            figures.append(harness.Figure("triton", part="cold", missing="triton is not installed: pip install nereid[cuda]"))
    if "itself" in bars:
        figures.append(harness.Figure("itself", "", "from the disk", statistics.median(warm) * 1e3, statistics.median(warm),
                                      note=f"cold {statistics.median(cold) * 1e3:.0f} ms"))
    return figures


def tutorials(rounds: int, bars: dict) -> list[harness.Figure]:
    figures = []
    for file, test in ((file, test) for file, tests in TUTORIALS.items() for test in tests):
        found: dict[str, list] = {}
        for _ in range(rounds):
            for kernel, seconds, size in fresh("tutorial", file, test):
                found.setdefault(kernel, []).append((seconds, size))
        for kernel, measured in found.items():
            seconds = statistics.median(s for s, _ in measured)
            figures.append(harness.Figure("itself", "", f"{test.removeprefix('test_')}: {kernel}", seconds * 1e3, seconds,
                                          note=f"{measured[0][1]} bytes of code"))
    return figures


def constructs(rounds: int, bars: dict) -> list[harness.Figure]:
    measured = [fresh("construct") for _ in range(rounds)]
    figures = []
    for name in measured[0]:
        small = statistics.median(m[name][0][1] for m in measured)
        large = statistics.median(m[name][1][1] for m in measured)
        ratio = statistics.median(m[name][1][1] / m[name][0][1] for m in measured)
        code = measured[0][name][1][2] / measured[0][name][0][2]
        figures.append(harness.Figure("itself", "", name, max(ratio, code), large, small,
                                      note=f"time {ratio:.2f}, code {code:.2f}"))
    return figures


if __name__ == "__main__":
    kind, *rest = sys.argv[1:]
    {"example": example_child, "tutorial": tutorial_child, "construct": lambda *names: construct_child(list(names)),
     "triton": triton_child}[kind](*rest)
