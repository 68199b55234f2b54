# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix product with tl.dot: tiles in grouped order, any size by masks, fp32 accumulator.

    python examples/03_matmul.py --shape 333,257,129 --dtype float16
"""

import argparse

import numpy as np

import nereid
import nereid.language as tl
from common import check, grouped_tile, matmul_bound, say


@nereid.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr,
    M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    num_m = tl.cdiv(M, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    for task in range(tl.program_id(0), num_m * num_n, tl.num_programs(0)):
        tile_m, tile_n = grouped_tile(task, num_m, num_n, GROUP_M)
        offs_m = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
        offs_n = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
        offs_k = tl.arange(0, BLOCK_K)
        a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
        b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
        mask_m = (offs_m < M)[:, None]
        mask_n = (offs_n < N)[None, :]

        accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for block_k in range(0, tl.cdiv(K, BLOCK_K)):
            left = K - block_k * BLOCK_K
            a = tl.load(a_ptrs, mask=mask_m & (offs_k[None, :] < left), other=0.0)
            b = tl.load(b_ptrs, mask=(offs_k[:, None] < left) & mask_n, other=0.0)
            accumulator += tl.dot(a, b)
            a_ptrs += BLOCK_K * stride_ak
            b_ptrs += BLOCK_K * stride_bk

        c_ptrs = c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn
        tl.store(c_ptrs, accumulator.to(c_ptr.dtype.element_ty), mask=mask_m & mask_n)


def strides(array: np.ndarray) -> tuple[int, ...]:
    """Strides in elements, which is what pointer arithmetic in a kernel counts in."""
    return tuple(stride // array.itemsize for stride in array.strides)


def matmul(a: np.ndarray, b: np.ndarray, programs: int = 8,
           block_m: int = 64, block_n: int = 64, block_k: int = 32, group_m: int = 8) -> np.ndarray:
    (m, k), n = a.shape, b.shape[1]
    c = np.empty((m, n), a.dtype)
    tiles = nereid.cdiv(m, block_m) * nereid.cdiv(n, block_n)
    matmul_kernel[(min(programs, tiles),)](
        a, b, c, m, n, k, *strides(a), *strides(b), *strides(c),
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP_M=group_m)
    return c


def main(argv=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", nargs="+", default=["1,1,1", "64,64,32", "333,257,129"], metavar="M,N,K")
    parser.add_argument("--dtype", choices=["float16", "float32"], default="float32")
    parser.add_argument("--transposed", action="store_true", help="give B as the transpose of a row-major array")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)

    nereid.init()
    rng = np.random.default_rng((args.seed, nereid.rank()))
    for shape in args.shape:
        m, n, k = (int(part) for part in shape.split(","))
        a = rng.uniform(-1, 1, (m, k)).astype(args.dtype)
        b = rng.uniform(-1, 1, (n, k)).astype(args.dtype).T if args.transposed else \
            rng.uniform(-1, 1, (k, n)).astype(args.dtype)
        a64, b64 = a.astype(np.float64), b.astype(np.float64)
        exact = a64 @ b64
        error = check(f"matmul of {m}x{n}x{k}", matmul(a, b), exact, matmul_bound(a64, b64, exact, args.dtype))
        say(f"matmul  {m:>4} x {n:>4} x {k:<4} {args.dtype}  max error {error:.1e}  ok")


if __name__ == "__main__":
    main()
