# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AllGather + GEMM in one kernel.

Every rank holds a shard of A with m rows, (m, K), and a B of its own, (K, N). It gets the
product of the *whole* A, (ranks * m, K), with its B:

    communication   each tile of a rank's shard is pushed into the symmetric buffer of every
                    rank, peers in rotated order
    barrier_all     now every buffer holds all of A
    GEMM            an ordinary tile loop whose A lies in the local symmetric buffer

    nereid run -n 4 examples/07_allgather_gemm.py --shape 37,129,65
"""

import argparse

import numpy as np

import nereid
import nereid.distributed as dl
import nereid.language as tl
from common import check, grouped_tile, matmul_bound, say
from nereid import libshmem_device
from nereid.language.extra.cann.extension import sub_vec_id


@nereid.jit
def allgather_gemm_kernel(
    a_ptr, b_ptr, c_ptr, peer_mem_ptr,
    m_per_rank, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
    COMM_BLOCK_M: tl.constexpr, COMM_BLOCK_K: tl.constexpr,
):
    rank = dl.rank()
    world = dl.num_ranks()
    pid = tl.program_id(axis=0)
    ncore = tl.num_programs(axis=0)
    M = m_per_rank * world

    # One vector core per AI core is enough to fill the links; the other stays free.
    if sub_vec_id() == 0:
        comm_num_m = tl.cdiv(m_per_rank, COMM_BLOCK_M)
        comm_num_k = tl.cdiv(K, COMM_BLOCK_K)
        for task in range(pid, comm_num_m * comm_num_k * world, ncore):
            target = (rank + task % world) % world
            block = task // world
            comm_offs_m = (block // comm_num_k) * COMM_BLOCK_M + tl.arange(0, COMM_BLOCK_M)
            comm_offs_k = (block % comm_num_k) * COMM_BLOCK_K + tl.arange(0, COMM_BLOCK_K)
            comm_mask_k = (comm_offs_k < K)[None, :]

            # Reading: rows counted in this rank's shard.
            comm_mask_m = (comm_offs_m < m_per_rank)[:, None]
            a_ptrs = a_ptr + comm_offs_m[:, None] * stride_am + comm_offs_k[None, :] * stride_ak
            a = tl.load(a_ptrs, mask=comm_mask_m & comm_mask_k, other=0.0)

            # Writing: rows counted in the buffer, where the next rank's rows follow ours.
            peer_mem_offs_m = rank * m_per_rank + comm_offs_m
            peer_mem_mask_m = (peer_mem_offs_m < (rank + 1) * m_per_rank)[:, None]
            remote_ptr = dl.symm_at(peer_mem_ptr, target)
            remote_ptrs = remote_ptr + peer_mem_offs_m[:, None] * K + comm_offs_k[None, :]
            tl.store(remote_ptrs, a, mask=peer_mem_mask_m & comm_mask_k)

    libshmem_device.barrier_all()

    num_m = tl.cdiv(M, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    for task in range(pid, num_m * num_n, ncore):
        tile_m, tile_n = grouped_tile(task, num_m, num_n, GROUP_M)
        offs_m = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
        offs_n = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
        offs_k = tl.arange(0, BLOCK_K)
        mask_m = (offs_m < M)[:, None]
        mask_n = (offs_n < N)[None, :]
        # This rank's buffer: symm_at(peer_mem_ptr, rank) would give the same pointer.
        a_ptrs = peer_mem_ptr + offs_m[:, None] * K + offs_k[None, :]
        b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn

        accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for block_k in range(0, tl.cdiv(K, BLOCK_K)):
            left = K - block_k * BLOCK_K
            a = tl.load(a_ptrs, mask=mask_m & (offs_k[None, :] < left), other=0.0)
            b = tl.load(b_ptrs, mask=(offs_k[:, None] < left) & mask_n, other=0.0)
            accumulator += tl.dot(a, b)
            a_ptrs += BLOCK_K
            b_ptrs += BLOCK_K * stride_bk

        c_ptrs = c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn
        tl.store(c_ptrs, accumulator.to(c_ptr.dtype.element_ty), mask=mask_m & mask_n)


class AllGatherGemm:
    """The operator with its symmetric buffer, for shards of up to m rows and k columns."""

    def __init__(self, m: int, k: int, dtype, programs: int = 4, block_m: int = 64, block_n: int = 64,
                 block_k: int = 32):
        self.peer_mem = nereid.symm.zeros((nereid.world_size() * m, k), dtype)
        self.programs = programs
        self.blocks = dict(BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP_M=4,
                           COMM_BLOCK_M=32, COMM_BLOCK_K=64)
        nereid.barrier()  # all buffers are there and zero before anybody writes to them

    def __call__(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
        """c = all shards `a` of all ranks, stacked, times `b`."""
        (m, k), n = a.shape, b.shape[1]
        allgather_gemm_kernel[(self.programs,)](
            a, b, c, self.peer_mem, m, n, k, *strides(a), *strides(b), *strides(c), **self.blocks)
        # A peer that starts its next call would overwrite what this rank still multiplies.
        nereid.barrier()


def strides(array: np.ndarray) -> tuple[int, ...]:
    return tuple(stride // array.itemsize for stride in array.strides)


def make_inputs(m: int, n: int, k: int, dtype, seed: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The shards of A and the matrices B of all ranks: every rank can make them all."""
    rngs = [np.random.default_rng((seed, m, n, k, r)) for r in range(nereid.world_size())]
    return ([rng.uniform(-1, 1, (m, k)).astype(dtype) for rng in rngs],
            [rng.uniform(-1, 1, (k, n)).astype(dtype) for rng in rngs])


def run_case(m: int, n: int, k: int, dtype, seed: int, calls: int = 2, **options):
    """Runs and checks `calls` calls in a row; returns (operator, arguments, largest error, its bound)."""
    shards, matrices = make_inputs(m, n, k, dtype, seed)
    a, b = shards[nereid.rank()], matrices[nereid.rank()]
    operator = AllGatherGemm(m, k, dtype, **options)
    a64, b64 = np.concatenate(shards).astype(np.float64), b.astype(np.float64)
    exact = a64 @ b64
    bound = matmul_bound(a64, b64, exact, dtype)
    c = np.empty((nereid.world_size() * m, n), dtype)
    for _ in range(calls):
        c[:] = np.nan
        operator(a, b, c)
        error = check(f"AllGather+GEMM of {m},{n},{k}", c, exact, bound)
    return operator, (a, b, c), error, float(bound.max())


def main(argv=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", nargs="+", default=["1,1,1", "64,128,96", "37,129,65"], metavar="M,N,K",
                        help="rows of one shard, columns of B, inner size")
    parser.add_argument("--dtype", choices=["float16", "float32"], default="float16")
    parser.add_argument("--programs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)

    nereid.init()
    for shape in args.shape:
        m, n, k = (int(part) for part in shape.split(","))
        _, _, error, _ = run_case(m, n, k, np.dtype(args.dtype), args.seed, programs=args.programs)
        say(f"AllGather+GEMM  {nereid.world_size()} x {m:>4} x {n:>4} x {k:<4} {args.dtype}  max error {error:.1e}  ok")


if __name__ == "__main__":
    main()
