# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix product in the kernel language against OpenBLAS sgemm; one rank, one thread.

    python bench/matmul.py --size 1024
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib
import sys

import harness
import numpy as np

sys.path.insert(0, str(harness.ROOT / "examples"))

BAR = 0.8


def debian_sgemm():
    """`sgemm(a, b, c)` of the system's libopenblas, or None when it is not installed."""
    name = ctypes.util.find_library("openblas")
    if name is None:
        return None
    library = ctypes.CDLL(name)
    library.openblas_set_num_threads(1)
    library.openblas_get_corename.restype = ctypes.c_char_p
    library.openblas_get_config.restype = ctypes.c_char_p
    matrix = np.ctypeslib.ndpointer(np.float32, 2, flags="C_CONTIGUOUS")
    library.cblas_sgemm.argtypes = [ctypes.c_int] * 6 + [ctypes.c_float, matrix, ctypes.c_int, matrix, ctypes.c_int,
                                                       ctypes.c_float, matrix, ctypes.c_int]

    def sgemm(a, b, c):
        (m, k), n = a.shape, b.shape[1]
        row_major, no_transpose = 101, 111
        library.cblas_sgemm(row_major, no_transpose, no_transpose, m, n, k, 1.0, a, k, b, n, 0.0, c, n)

    config = library.openblas_get_config().decode().split()
    sgemm.label = f"OpenBLAS {config[1]} ({library.openblas_get_corename().decode()})"
    return sgemm


def numpy_blas_label() -> str:
    try:
        import threadpoolctl
    except ImportError:
        raise SystemExit("bench/matmul.py needs the package threadpoolctl, which says what BLAS numpy has: "
                         "pip install threadpoolctl, or scripts/setup.sh") from None
    for pool in threadpoolctl.threadpool_info():
        if pool["user_api"] == "blas" and "numpy" in pool["filepath"]:
            assert pool["num_threads"] == 1, pool
            return f"numpy's OpenBLAS {pool['version']} ({pool.get('architecture')})"
    return "numpy"


def measure(size: int, rounds: int, block=(128, 256, 64)) -> list[harness.Measurement]:
    import nereid

    example = importlib.import_module("03_matmul")
    nereid.init()
    assert nereid.job_info()["num_threads"] == 1
    rng = np.random.default_rng(0)
    a, b = (rng.uniform(-1, 1, (size, size)).astype(np.float32) for _ in range(2))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    results = {}
    calls = {}

    def add(name, function):
        calls[name] = lambda: results.__setitem__(name, function())

    add("nereid", lambda: example.matmul(a, b, programs=64, block_m=block[0], block_n=block[1], block_k=block[2],
                                         group_m=4))
    add(numpy_blas_label(), lambda: np.matmul(a, b))
    sgemm = debian_sgemm()
    if sgemm:
        c = np.empty_like(exact, dtype=np.float32)
        add(sgemm.label, lambda: (sgemm(a, b, c), c)[1])

    times = harness.interleave(calls, rounds)
    for name, result in results.items():  # a baseline that computes wrongly is no baseline
        error = float(np.abs(result - exact).max())
        assert error < 1e-5 * size, f"{name}: error {error}"
    flops = 2.0 * size**3
    baselines = [name for name in calls if name != "nereid"]
    measurements = [harness.compare(f"matmul {size}^3 fp32", times, "nereid", name, bar=BAR) for name in baselines]
    for m in measurements:
        m.note = f"{flops / m.seconds / 1e9:.1f} against {flops / m.baseline_seconds / 1e9:.1f} GFLOP/s"
        m.detail = {"block": list(block)}
    return measurements


def main() -> None:
    parser = harness.arguments(__doc__.splitlines()[0], rounds=15)
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--block", default="128,256,64", metavar="M,N,K")
    args = parser.parse_args()
    harness.enter_single_thread_environment()
    block = tuple(int(part) for part in args.block.split(","))
    harness.report(measure(args.size, args.rounds, block), args.json)


if __name__ == "__main__":
    main()
