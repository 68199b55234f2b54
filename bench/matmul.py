# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix product in the kernel language against OpenBLAS sgemm; one rank, one thread.

    python bench/matmul.py --size 1024
    python bench/matmul.py --size 512 --block 32,32,32 --block 64,64,32 --dtype float16 --layout nt
    python bench/matmul.py --table          # the lines of docs/performance.md

The kernel is that of examples/03_matmul.py, or with --kernel wrapped the one of Triton's tutorial,
whose rows and columns begin anew behind the last (`offs_m % M`) instead of being masked.
One program a tile, as users launch it. The time is that of the thread, so that others on the
machine count as little as they can. fp16 and bf16 operands are compared with sgemm on the same
numbers in fp32. Layout "nt": B is the transpose of a row-major array; "tn": A is.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib
import sys
import time

import harness
import numpy as np

import nereid
import nereid.language as tl

sys.path.insert(0, str(harness.ROOT / "examples"))

#: What the project wants to reach, by tile; other cases below.
BARS = {(128, 256, 64): 0.95, (128, 128, 64): 0.95, (64, 64, 32): 0.88, (32, 32, 32): 0.75, (16, 16, 16): 0.6}
#: size, layout, dtype, kernel, tiles: the lines of the table.
CASES = [
    *((size, "nn", "float32", "masked", tuple(BARS)) for size in (512, 1024, 2048)),
    *((size, "nn", "float32", "masked", ((128, 128, 64), (64, 64, 32))) for size in (500, 1000)),
    *((size, "nn", "float32", "wrapped", ((128, 128, 64), (64, 64, 32))) for size in (512, 1000, 1024)),
    *((size, layout, "float32", "masked", ((128, 128, 64), (64, 64, 32))) for layout in ("nt", "tn")
      for size in (512, 1024)),
    *((size, "nn", "float16", "masked", ((128, 256, 64), (64, 64, 32))) for size in (512, 1024)),
]


@nereid.jit
def wrapped_kernel(
    a_ptr, b_ptr, c_ptr,
    M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    task, num_m, num_n = tl.program_id(0), tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    first = task // (GROUP_M * num_n) * GROUP_M
    group = min(num_m - first, GROUP_M)
    tile_m, tile_n = first + task % (GROUP_M * num_n) % group, task % (GROUP_M * num_n) // group
    offs_am = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_bn = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak
    b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    offs_cm = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_cn = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + offs_cm[:, None] * stride_cm + offs_cn[None, :] * stride_cn
    tl.store(c_ptrs, accumulator, mask=(offs_cm[:, None] < M) & (offs_cn[None, :] < N))


def bar_of(size: int, layout: str, dtype: str, block: tuple[int, int, int]) -> float | None:
    if dtype != "float32":
        return 1.0 if dtype == "float16" else None
    if layout != "nn" or size % 16:
        return 0.9
    return BARS.get(block)


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


def measure(size: int, rounds: int, block=(128, 256, 64), layout: str = "nn",
            dtype: str = "float32", kernel: str = "masked") -> list[harness.Measurement]:
    import ml_dtypes  # noqa: F401  (numpy then knows bfloat16)

    example = importlib.import_module("03_matmul")
    nereid.init()
    assert nereid.job_info()["num_threads"] == 1
    rng = np.random.default_rng(0)

    def operand(transposed: str) -> tuple[np.ndarray, np.ndarray]:
        values = rng.uniform(-1, 1, (size, size)).astype(dtype)
        as_fp32 = values.astype(np.float32)
        return (values.T, as_fp32.T) if transposed == "t" else (values, as_fp32)

    (a, a32), (b, b32) = operand(layout[0]), operand(layout[1])
    exact = a32.astype(np.float64) @ b32.astype(np.float64)
    c, product = np.empty((size, size), np.float32), np.empty((size, size), np.float32)
    tiles = nereid.cdiv(size, block[0]) * nereid.cdiv(size, block[1])
    strides = [*example.strides(a), *example.strides(b), *example.strides(c)]
    results, calls = {}, {}

    function = wrapped_kernel if kernel == "wrapped" else example.matmul_kernel

    def ours():
        function[(tiles,)](a, b, c, size, size, size, *strides, BLOCK_M=block[0], BLOCK_N=block[1], BLOCK_K=block[2],
                           GROUP_M=8)
        return c

    def add(name, function):
        calls[name] = lambda: results.__setitem__(name, function())

    add("nereid", ours)
    add(numpy_blas_label(), lambda: np.matmul(a32, b32, out=product))
    sgemm = debian_sgemm() if layout == "nn" else None
    if sgemm:
        other = np.empty_like(c)
        add(sgemm.label, lambda: (sgemm(a32, b32, other), other)[1])

    times = harness.interleave(calls, rounds, clock=time.thread_time)
    for name, result in results.items():  # a baseline that computes wrongly is no baseline
        error = float(np.abs(result - exact).max())
        assert error < 1e-5 * size, f"{name}: error {error}"
    flops = 2.0 * size**3
    what = f"matmul {size}^3 {dtype} {layout} {'x'.join(map(str, block))}" + (kernel != "masked") * f" {kernel}"
    command = (f"bench/matmul.py --size {size} --block {','.join(map(str, block))} --layout {layout} --dtype {dtype} "
               f"--kernel {kernel}")
    measurements = [harness.compare(what, times, "nereid", name, bar=bar_of(size, layout, dtype, block))
                    for name in calls if name != "nereid"]
    for m in measurements:
        m.note = f"{flops / m.seconds / 1e9:.1f} against {flops / m.baseline_seconds / 1e9:.1f} GFLOP/s"
        m.detail = {"block": list(block), "layout": layout, "dtype": dtype, "command": f"python {command}"}
    return measurements


def block_of(text: str) -> tuple[int, int, int]:
    m, n, k = (int(part) for part in text.split(","))
    return m, n, k


def main() -> None:
    parser = harness.arguments(__doc__.splitlines()[0], rounds=15)
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--block", type=block_of, action="append", metavar="M,N,K",
                        help="the kernel's tile; may be given several times (default 128,256,64)")
    parser.add_argument("--layout", choices=["nn", "nt", "tn", "tt"], default="nn")
    parser.add_argument("--dtype", choices=["float32", "float16", "bfloat16"], default="float32")
    parser.add_argument("--kernel", choices=["masked", "wrapped"], default="masked")
    parser.add_argument("--table", action="store_true", help="all lines of docs/performance.md")
    args = parser.parse_args()
    harness.enter_single_thread_environment()
    given = (args.size, args.layout, args.dtype, args.kernel, tuple(args.block or [(128, 256, 64)]))
    measurements = []
    for size, layout, dtype, kernel, blocks in CASES if args.table else [given]:
        for block in blocks:
            measurements += measure(size, args.rounds, block, layout, dtype, kernel)
    harness.report(measurements, args.json)
    if args.table:
        print("\nTo repeat one line:", measurements[0].detail["command"])


if __name__ == "__main__":
    main()
