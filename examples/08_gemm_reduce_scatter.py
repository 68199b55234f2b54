# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GEMM + ReduceScatter in one kernel.

The inner size is split: every rank holds (ranks * m, K) of A and (K, N) of B, and its
product is a partial sum of C. Rank r gets m rows of C, summed over all ranks.

The kernel works in rounds of TILES tiles for each rank. In a round every rank

    GEMM            computes the round's tiles for every rank into its own symmetric buffer
    barrier_all     now the partial sums of this round are complete everywhere
    communication   pulls its own tiles from every rank, in rotated order, and adds them to
                    its C with atomic_add: the target is local, the source remote

The buffer has two halves, used in turn. A half is written again two rounds later, and the
barrier of the round between lies after every pull from it: one barrier per round is enough.

    nereid run -n 4 examples/08_gemm_reduce_scatter.py --shape 37,129,65
"""

import argparse

import numpy as np

import nereid
import nereid.distributed as dl
import nereid.language as tl
from common import UNIT_ROUNDOFF, check, grouped_tile, matmul_bound, say
from nereid import libshmem_device
from nereid.language.extra.cann.extension import sub_vec_id


@nereid.jit
def partial_tile(
    a_ptr, b_ptr, tile_m, tile_n, first_row, m_per_rank, N, K,
    stride_am, stride_ak, stride_bk, stride_bn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    """One tile of A[first_row:first_row + m_per_rank] @ B, in fp32."""
    offs_m = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    mask_m = (offs_m < m_per_rank)[:, None]
    mask_n = (offs_n < N)[None, :]
    a_ptrs = a_ptr + (first_row + offs_m)[:, None] * stride_am + offs_k[None, :] * stride_ak
    b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for block_k in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - block_k * BLOCK_K
        a = tl.load(a_ptrs, mask=mask_m & (offs_k[None, :] < left), other=0.0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] < left) & mask_n, other=0.0)
        accumulator += tl.dot(a, b)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    return accumulator


@nereid.jit
def gemm_reduce_scatter_kernel(
    a_ptr, b_ptr, c_ptr, peer_mem_ptr,
    m_per_rank, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
    TILES: tl.constexpr,
):
    rank = dl.rank()
    world = dl.num_ranks()
    pid = tl.program_id(axis=0)
    ncore = tl.num_programs(axis=0)
    num_m = tl.cdiv(m_per_rank, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    tiles_per_rank = num_m * num_n
    # A tile in the buffer is a whole block, stored row by row: accesses need no mask.
    offs_in_tile = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]

    for turn in range(0, tl.cdiv(tiles_per_rank, TILES)):
        half_ptr = peer_mem_ptr + (turn % 2) * (world * TILES * BLOCK_M * BLOCK_N)

        for task in range(pid, world * TILES, ncore):
            target = (rank + task % world) % world
            place = task // world
            tile = turn * TILES + place
            if tile < tiles_per_rank:
                tile_m, tile_n = grouped_tile(tile, num_m, num_n, GROUP_M)
                accumulator = partial_tile(
                    a_ptr, b_ptr, tile_m, tile_n, target * m_per_rank, m_per_rank, N, K,
                    stride_am, stride_ak, stride_bk, stride_bn, BLOCK_M, BLOCK_N, BLOCK_K)
                tile_ptr = half_ptr + (target * TILES + place) * (BLOCK_M * BLOCK_N)
                tl.store(tile_ptr + offs_in_tile, accumulator.to(peer_mem_ptr.dtype.element_ty))

        libshmem_device.barrier_all()

        if sub_vec_id() == 0:
            for task in range(pid, world * TILES, ncore):
                source = (rank + task % world) % world
                place = task // world
                tile = turn * TILES + place
                if tile < tiles_per_rank:
                    tile_m, tile_n = grouped_tile(tile, num_m, num_n, GROUP_M)
                    remote_ptr = dl.symm_at(half_ptr, source)
                    tile_ptr = remote_ptr + (rank * TILES + place) * (BLOCK_M * BLOCK_N)
                    c_temp = tl.load(tile_ptr + offs_in_tile)
                    offs_cm = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
                    offs_cn = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
                    c_mask = (offs_cm < m_per_rank)[:, None] & (offs_cn < N)[None, :]
                    c_ptrs = c_ptr + offs_cm[:, None] * stride_cm + offs_cn[None, :] * stride_cn
                    tl.atomic_add(c_ptrs, c_temp.to(c_ptr.dtype.element_ty), mask=c_mask)


class GemmReduceScatter:
    """The operator with its symmetric buffer. `wire` is the type of the partial sums in it."""

    def __init__(self, wire="float32", programs: int = 4, block_m: int = 64, block_n: int = 64, block_k: int = 32,
                 tiles: int = 2):
        self.peer_mem = nereid.symm.zeros((2, nereid.world_size(), tiles, block_m, block_n), wire)
        self.programs = programs
        self.blocks = dict(BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP_M=4, TILES=tiles)
        nereid.barrier()  # all buffers are there and zero before anybody reads or writes them

    def __call__(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
        """c = this rank's rows of the sum over all ranks of `a @ b`; fp32."""
        (m, n), k = c.shape, a.shape[1]
        c[:] = 0
        gemm_reduce_scatter_kernel[(self.programs,)](
            a, b, c, self.peer_mem, m, n, k, *strides(a), *strides(b), *strides(c), **self.blocks)
        # Peers may still pull the last round: the next call waits for them before it writes.
        nereid.barrier()


def strides(array: np.ndarray) -> tuple[int, ...]:
    return tuple(stride // array.itemsize for stride in array.strides)


def make_inputs(m: int, n: int, k: int, dtype, seed: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The matrices A and B of all ranks: every rank can make them all."""
    world = nereid.world_size()
    rngs = [np.random.default_rng((seed, m, n, k, r)) for r in range(world)]
    return ([rng.uniform(-1, 1, (world * m, k)).astype(dtype) for rng in rngs],
            [rng.uniform(-1, 1, (k, n)).astype(dtype) for rng in rngs])


def run_case(m: int, n: int, k: int, dtype, seed: int, calls: int = 2, wire="float32", **options):
    """Runs and checks `calls` calls in a row; returns (operator, arguments, largest error, its bound)."""
    rank, world = nereid.rank(), nereid.world_size()
    lefts, rights = make_inputs(m, n, k, dtype, seed)
    operator = GemmReduceScatter(wire, **options)
    exact, bound = np.zeros((m, n)), np.zeros((m, n))
    magnitude = np.zeros((m, n))
    for left, right in zip(lefts, rights):
        a64, b64 = left[rank * m:(rank + 1) * m].astype(np.float64), right.astype(np.float64)
        part = a64 @ b64
        exact += part
        bound += matmul_bound(a64, b64, part, wire)
        magnitude += np.abs(part)
    bound += (world + 1) * UNIT_ROUNDOFF["float32"] * magnitude  # the sum over the ranks, in any order
    c = np.empty((m, n), np.float32)
    for _ in range(calls):
        operator(lefts[rank], rights[rank], c)
        error = check(f"GEMM+ReduceScatter of {m},{n},{k}", c, exact, bound)
    return operator, (lefts[rank], rights[rank], c), error, float(bound.max())


def main(argv=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", nargs="+", default=["1,1,1", "64,128,96", "37,129,65"], metavar="M,N,K",
                        help="rows of C per rank, columns of B, inner size on one rank")
    parser.add_argument("--dtype", choices=["float16", "float32"], default="float16")
    parser.add_argument("--wire", choices=["float16", "float32"], default="float32",
                        help="type of the partial sums in the symmetric buffer")
    parser.add_argument("--programs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)

    nereid.init()
    for shape in args.shape:
        m, n, k = (int(part) for part in shape.split(","))
        _, _, error, _ = run_case(m, n, k, np.dtype(args.dtype), args.seed, wire=args.wire, programs=args.programs)
        say(f"GEMM+ReduceScatter  {nereid.world_size()} x {m:>4} x {n:>4} x {k:<4} {args.dtype}  "
            f"max error {error:.1e}  ok")


if __name__ == "__main__":
    main()
