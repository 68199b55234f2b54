# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix product against OpenBLAS sgemm and torch.

The kernel is that of examples/03_matmul.py, or for `kernel="wrapped"` the one of Triton's tutorial,
whose rows and columns begin anew behind the last (`offs_m % M`) instead of being masked. One program
a tile, as users launch it; `block="tuned"`: the tile that nereid.autotune chooses from TILES. fp16 and
bf16 operands are compared with sgemm on the same numbers in fp32, whose conversion is not counted.
Layout "nt": B is the transpose of a row-major array; "tn": A is. Both sides write the same array,
since which pages it lies in matters.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib
import os
import sys

import harness
import numpy as np

import nereid
import nereid.language as tl

sys.path.insert(0, str(harness.ROOT / "examples"))

#: What autotune chooses from.
TILES = ((256, 256, 64), (128, 256, 128), (128, 256, 64), (128, 128, 128), (128, 128, 64), (64, 256, 64), (64, 128, 64))


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


def threads() -> int:
    return int(os.environ["NEREID_NUM_THREADS"])


def system_sgemm():
    """`sgemm(a, b, c)` of the system's libopenblas, or None when it is not installed."""
    name = ctypes.util.find_library("openblas")
    if name is None:
        return None
    library = ctypes.CDLL(name)
    library.openblas_set_num_threads(threads())
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
    """Which OpenBLAS numpy calls, and which kernel that runs."""
    try:
        import threadpoolctl
    except ImportError:
        raise harness.Missing("what BLAS numpy has only the package threadpoolctl can say: pip install threadpoolctl") from None
    for pool in threadpoolctl.threadpool_info():
        if pool["user_api"] == "blas" and "numpy" in pool["filepath"]:
            if pool["internal_api"] != "openblas":
                raise harness.Missing(f"numpy calls {pool['internal_api']}, not OpenBLAS: pip install numpy")
            assert pool["num_threads"] == threads(), pool
            return f"numpy's OpenBLAS {pool['version']} ({pool.get('architecture')})"
    raise harness.Missing("numpy has no OpenBLAS: pip install numpy")


def product(size: int, block, layout: str = "nn", dtype: str = "float32", kernel: str = "masked") -> harness.Case:
    import ml_dtypes  # noqa: F401  (numpy then knows bfloat16)

    example = importlib.import_module("03_matmul")
    rng = np.random.default_rng(0)

    def operand(transposed: str) -> tuple[np.ndarray, np.ndarray]:
        values = rng.uniform(-1, 1, (size, size)).astype(np.float32).astype(dtype)
        as_fp32 = values.astype(np.float32)
        return (values.T, as_fp32.T) if transposed == "t" else (values, as_fp32)

    (a, a32), (b, b32) = operand(layout[0]), operand(layout[1])
    exact = a32.astype(np.float64) @ b32.astype(np.float64)
    c = np.empty((size, size), np.float32)
    strides = [*example.strides(a), *example.strides(b), *example.strides(c)]
    function = wrapped_kernel if kernel == "wrapped" else example.matmul_kernel
    if block == "tuned":
        function = nereid.autotune(
            [nereid.Config({f"BLOCK_{x}": size for x, size in zip("MNK", tile)}) for tile in TILES], key=["M", "N", "K"])(function)
        constants = {}
    else:
        constants = {f"BLOCK_{x}": size for x, size in zip("MNK", block)}

    def grid(chosen):
        return (nereid.cdiv(size, chosen["BLOCK_M"]) * nereid.cdiv(size, chosen["BLOCK_N"]),)

    def ours():
        function[grid](a, b, c, size, size, size, *strides, **constants, GROUP_M=8)
        return c

    def sgemm():
        sides = [harness.Side(numpy_blas_label(), lambda: np.matmul(a32, b32, out=c))]
        system = system_sgemm() if layout == "nn" else None
        if system:
            sides.append(harness.Side(system.label, lambda: (system(a32, b32, c), c)[1]))
        return sides

    def in_torch():
        torch = harness.torch()
        if dtype == "bfloat16":
            x, y = (torch.from_numpy(np.ascontiguousarray(z).view(np.int16)).view(torch.bfloat16) for z in (a, b))
        else:
            x, y = torch.from_numpy(a), torch.from_numpy(b)
        out = torch.empty((size, size), dtype=x.dtype)
        # Its result has the operands' type: one rounding more than ours.
        return [harness.Side(f"torch {torch.__version__}", lambda: torch.mm(x, y, out=out).float().numpy(),
                             many=lambda calls: [torch.mm(x, y, out=out) for _ in range(calls)], rounding=1000)]

    def check(got, rounding):
        harness.within(got, exact, 1e-5 * rounding)
        c.fill(np.nan)

    return harness.Case(harness.Side("nereid", ours), {"openblas": sgemm, "torch": in_torch}, check, (2.0 * size**3, "FLOP/s"))
