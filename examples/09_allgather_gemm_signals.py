# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AllGather + GEMM with a signal for every block of rows instead of a barrier.

The same operator as 07_allgather_gemm.py: the product of all ranks' shards of A with a
B of one's own. Here a tile of C waits only for the rows of A that it needs, so that multiplying
starts when the first rows are there:

    push    store  tile -> peer_mem of the target          for each tile of its shard
            notify ready[source, block of rows] += 1        and each target, rotated
    GEMM    wait   ready[source, block of rows] == arrivals  own rows first, then the next
            consume_token -> the pointer that A is loaded from    rank's, and so on

`ready` is never reset: call number c waits for c times the arrivals of one call. A host
barrier between two calls keeps a fast rank from adding to what a slow one still waits for.

    nereid run -n 4 examples/09_allgather_gemm_signals.py --shape 37,129,65
"""

import argparse
import importlib

import numpy as np

import nereid
import nereid.distributed as dl
import nereid.language as tl
from common import check, matmul_bound, say
from nereid.language.extra.cann.extension import sub_vec_id

make_inputs = importlib.import_module("07_allgather_gemm").make_inputs


@nereid.jit(do_not_specialize=["call"])
def allgather_gemm_signals_kernel(
    a_ptr, b_ptr, c_ptr, peer_mem_ptr, ready_ptr, call,
    m_per_rank, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, COMM_BLOCK_K: tl.constexpr,
):
    rank = dl.rank()
    world = dl.num_ranks()
    pid = tl.program_id(axis=0)
    ncore = tl.num_programs(axis=0)
    num_m = tl.cdiv(m_per_rank, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    comm_num_k = tl.cdiv(K, COMM_BLOCK_K)

    if sub_vec_id() == 0:
        for task in range(pid, num_m * comm_num_k * world, ncore):
            target = (rank + task % world) % world
            block = task // world
            block_m = block // comm_num_k
            offs_m = block_m * BLOCK_M + tl.arange(0, BLOCK_M)
            offs_k = (block % comm_num_k) * COMM_BLOCK_K + tl.arange(0, COMM_BLOCK_K)
            mask = (offs_m < m_per_rank)[:, None] & (offs_k < K)[None, :]
            a = tl.load(a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak, mask=mask, other=0.0)
            remote_ptr = dl.symm_at(peer_mem_ptr, target)
            tl.store(remote_ptr + (rank * m_per_rank + offs_m)[:, None] * K + offs_k[None, :], a, mask=mask)
            dl.notify(ready_ptr + rank * num_m + block_m, target, signal=1, sig_op="add", comm_scope="intra_node")

    for task in range(pid, world * num_m * num_n, ncore):
        source = (rank + task // (num_m * num_n)) % world
        tile_m = task % num_m
        tile_n = (task // num_m) % num_n
        offs_m = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
        offs_n = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
        offs_k = tl.arange(0, BLOCK_K)
        rows = source * m_per_rank + offs_m
        mask_m = (offs_m < m_per_rank)[:, None]
        mask_n = (offs_n < N)[None, :]

        token = dl.wait(ready_ptr + source * num_m + tile_m, 1, "gpu", "acquire", waitValue=call * comm_num_k)
        gathered_ptr = dl.consume_token(peer_mem_ptr, token)

        a_ptrs = gathered_ptr + rows[:, None] * K + offs_k[None, :]
        b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
        accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for block_k in range(0, tl.cdiv(K, BLOCK_K)):
            left = K - block_k * BLOCK_K
            a = tl.load(a_ptrs, mask=mask_m & (offs_k[None, :] < left), other=0.0)
            b = tl.load(b_ptrs, mask=(offs_k[:, None] < left) & mask_n, other=0.0)
            accumulator += tl.dot(a, b)
            a_ptrs += BLOCK_K
            b_ptrs += BLOCK_K * stride_bk

        c_ptrs = c_ptr + rows[:, None] * stride_cm + offs_n[None, :] * stride_cn
        tl.store(c_ptrs, accumulator.to(c_ptr.dtype.element_ty), mask=mask_m & mask_n)


class AllGatherGemmSignals:
    """The operator with its symmetric buffer and signals, for shards of m rows and k columns."""

    def __init__(self, m: int, k: int, dtype, programs: int = 4, block_m: int = 64, block_n: int = 64,
                 block_k: int = 32):
        self.peer_mem = nereid.symm.zeros((nereid.world_size() * m, k), dtype)
        self.ready = nereid.symm.zeros((nereid.world_size(), nereid.cdiv(m, block_m)), np.int64)
        self.calls = 0
        self.programs = programs
        self.blocks = dict(BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, COMM_BLOCK_K=64)
        nereid.barrier()  # no signal arrives before its memory is zero on every rank

    def __call__(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
        """c = all shards `a` of all ranks, stacked, times `b`."""
        (m, k), n = a.shape, b.shape[1]
        self.calls += 1
        allgather_gemm_signals_kernel[(self.programs,)](
            a, b, c, self.peer_mem, self.ready, self.calls, m, n, k, *strides(a), *strides(b), *strides(c),
            **self.blocks)
        nereid.barrier()


def strides(array: np.ndarray) -> tuple[int, ...]:
    return tuple(stride // array.itemsize for stride in array.strides)


def main(argv=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", nargs="+", default=["1,1,1", "64,128,96", "37,129,65"], metavar="M,N,K",
                        help="rows of one shard, columns of B, inner size")
    parser.add_argument("--dtype", choices=["float16", "float32"], default="float16")
    parser.add_argument("--programs", type=int, default=4)
    parser.add_argument("--calls", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)

    nereid.init()
    world = nereid.world_size()
    for shape in args.shape:
        m, n, k = (int(part) for part in shape.split(","))
        shards, matrices = make_inputs(m, n, k, np.dtype(args.dtype), args.seed)
        a, b = shards[nereid.rank()], matrices[nereid.rank()]
        operator = AllGatherGemmSignals(m, k, np.dtype(args.dtype), args.programs)
        a64, b64 = np.concatenate(shards).astype(np.float64), b.astype(np.float64)
        exact = a64 @ b64
        c = np.empty((world * m, n), args.dtype)
        for _ in range(args.calls):
            c[:] = np.nan
            operator(a, b, c)
            error = check(f"AllGather+GEMM of {shape}", c, exact, matmul_bound(a64, b64, exact, args.dtype))
        say(f"AllGather+GEMM by signals  {world} x {m:>4} x {n:>4} x {k:<4} {args.dtype}  max error {error:.1e}  ok")


if __name__ == "__main__":
    main()
