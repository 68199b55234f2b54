# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AllGather + GEMM with roles: a few programs move rows, all others multiply.

The product of all ranks' shards of A with a rank's own B, as in 09_allgather_gemm_signals.py, in
the form that keeps a GPU's matrix units busy. A rank's shard lies in place in the gathered
buffer, tiles are loaded by descriptors, and a tile waits before its loop over k, which stays
a plain pipeline:

    mover   waits until the peer has entered this call, pushes blocks of own rows into its
            buffer, each in PIECES pieces that add one to the block's signal; the rank that
            needs them first gets them first
    others  tiles of their own rows first, then those of the next rank, and so on; a tile of a peer's rows
            waits for all pieces of its block

Signals count calls (and their pieces) and are never reset: a rank enters call c + 1 after all
that it awaited in call c, so that nobody overwrites a word, or rows, that somebody needs.

    nereid run -n 4 examples/11_allgather_gemm_roles.py --shape 37,136,72
"""

import argparse
import importlib

import numpy as np

import nereid
import nereid.distributed as dl
import nereid.language as tl
from common import check, grouped_tile, matmul_bound, say
from nereid import libshmem_device

make_inputs = importlib.import_module("07_allgather_gemm").make_inputs


@nereid.jit
def push(to_ptr, from_ptr, count, BLOCK: tl.constexpr):
    """Copies `count` elements that lie next to each other."""
    offs = tl.arange(0, BLOCK)
    for first in range(0, count, BLOCK):
        mask = first + offs < count
        tl.store(to_ptr + first + offs, tl.load(from_ptr + first + offs, mask=mask), mask=mask)


@nereid.jit
def product(a_desc, b_desc, row, column, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """The block at `row`, `column` of A (rows, K) times the transpose of B (columns, K)."""
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        # nereid: allow NRD-0001, NRD-0002 the next shard's rows in the last tile of this one are not stored
        accumulator = tl.dot(a_desc.load([row, k]), b_desc.load([column, k]).T, accumulator)
    return accumulator


@nereid.jit
def store_rows(c_ptr, tile, row, column, last, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """The rows of `tile` before row `last` to C (rows, N)."""
    offs_m = row + tl.arange(0, BLOCK_M)
    offs_n = column + tl.arange(0, BLOCK_N)
    mask = (offs_m < last)[:, None] & (offs_n < N)[None, :]
    tl.store(c_ptr + offs_m.to(tl.int64)[:, None] * N + offs_n[None, :], tile.to(c_ptr.dtype.element_ty), mask=mask)


@nereid.jit(do_not_specialize=["call"])
def allgather_gemm_roles_kernel(
    gathered_ptr, b_ptr, c_ptr, ready_ptr, free_ptr, call,
    m_per_rank, N, K, movers,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr, BLOCK: tl.constexpr,
    PIECES: tl.constexpr = 1,
):
    """gathered (world * m_per_rank, K), b (N, K), c (world * m_per_rank, N), all without gaps."""
    rank = dl.rank()
    world = dl.num_ranks()
    pid = tl.program_id(0)
    num_m = tl.cdiv(m_per_rank, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    if pid == 0:
        for i in range(1, world):
            dl.notify(free_ptr + rank, (rank + i) % world, signal=call, sig_op="set", comm_scope="intra_node")

    if pid < movers:
        # The rank before this one needs these rows first, the rank before that next.
        for task in range(pid, num_m * PIECES * (world - 1), movers):
            target = (rank + world - 1 - task // (num_m * PIECES)) % world
            block = task // PIECES % num_m
            libshmem_device.signal_wait_until(free_ptr + target, libshmem_device.NVSHMEM_CMP_EQ, call)
            count = min(m_per_rank - block * BLOCK_M, BLOCK_M) * K
            piece = tl.cdiv(tl.cdiv(count, PIECES), BLOCK) * BLOCK
            first = task % PIECES * piece
            place_ptr = gathered_ptr + (rank * m_per_rank + block * BLOCK_M).to(tl.int64) * K + first
            push(dl.symm_at(place_ptr, target), place_ptr, min(count - first, piece), BLOCK)
            dl.notify(ready_ptr + rank * num_m + block, target, signal=1, sig_op="add", comm_scope="intra_node")
    else:
        a_desc = tl.make_tensor_descriptor(gathered_ptr, [world * m_per_rank, K], [K, 1], [BLOCK_M, BLOCK_K])
        b_desc = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BLOCK_N, BLOCK_K])
        tiles = num_m * num_n
        for task in range(pid - movers, tiles * world, tl.num_programs(0) - movers):
            source = (rank + task // tiles) % world
            tile_m, tile_n = grouped_tile(task % tiles, num_m, num_n, GROUP_M)
            if source != rank:
                libshmem_device.signal_wait_until(
                    ready_ptr + source * num_m + tile_m, libshmem_device.NVSHMEM_CMP_EQ, call * PIECES)
            # The last rows of a tile may be the next shard's, here or not: they are not stored.
            row = source * m_per_rank + tile_m * BLOCK_M
            tile = product(a_desc, b_desc, row, tile_n * BLOCK_N, K, BLOCK_M, BLOCK_N, BLOCK_K)
            store_rows(c_ptr, tile, row, tile_n * BLOCK_N, (source + 1) * m_per_rank, N, BLOCK_M, BLOCK_N)


class AllGatherGemmRoles:
    """The operator with its symmetric buffer and signals, for shards of m rows and k columns. A rank
    writes its shard into `gathered[own]` before a call; `launch` goes to the compiler as it is."""

    def __init__(self, m: int, k: int, dtype, programs: int = 6, movers: int = 2, block_m: int = 64, block_n: int = 64,
                 block_k: int = 32, pieces: int = 1, **launch):
        world, rank = nereid.world_size(), nereid.rank()
        if k * np.dtype(dtype).itemsize % 16:
            raise ValueError(f"rows of A have {k * np.dtype(dtype).itemsize} bytes; descriptors need a multiple of 16")
        if not 0 < movers < programs:
            raise ValueError(f"of {programs} programs, from 1 to {programs - 1} move rows, not {movers}")
        self.gathered = nereid.symm.zeros((world * m, k), dtype)
        self.own = slice(rank * m, (rank + 1) * m)
        self.ready = nereid.symm.zeros((world, nereid.cdiv(m, block_m)), np.int64)
        self.free = nereid.symm.zeros(world, np.int64)
        self.m, self.calls, self.programs = m, 0, programs
        self.launch = dict(movers=movers, BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP_M=8, PIECES=pieces,
                           BLOCK=1024, **launch)
        nereid.barrier()  # no signal arrives before its memory is zero on every rank

    def __call__(self, b: np.ndarray, c: np.ndarray) -> None:
        """c = all shards of all ranks, stacked, times the transpose of b (n, k)."""
        n, k = b.shape
        self.calls += 1
        allgather_gemm_roles_kernel[(self.programs,)](
            self.gathered, b, c, self.ready, self.free, self.calls, self.m, n, k, **self.launch)


def main(argv=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", nargs="+", default=["1,8,8", "64,128,96", "37,136,72"], metavar="M,N,K",
                        help="rows of one shard, columns of B, inner size (a multiple of 16 bytes)")
    parser.add_argument("--dtype", choices=["float16", "float32"], default="float16")
    parser.add_argument("--programs", type=int, default=6)
    parser.add_argument("--movers", type=int, default=2)
    parser.add_argument("--pieces", type=int, default=1, help="pieces in which a block of rows travels")
    parser.add_argument("--calls", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)

    nereid.init()
    world = nereid.world_size()
    for shape in args.shape:
        m, n, k = (int(part) for part in shape.split(","))
        operator = AllGatherGemmRoles(m, k, np.dtype(args.dtype), args.programs, args.movers, pieces=args.pieces)
        for number in range(args.calls):
            shards, matrices = make_inputs(m, n, k, np.dtype(args.dtype), args.seed + number)
            b = matrices[nereid.rank()]
            a64, b64 = np.concatenate(shards).astype(np.float64), b.astype(np.float64)
            exact = a64 @ b64
            c = np.full((world * m, n), np.nan, args.dtype)
            operator.gathered[operator.own] = shards[nereid.rank()]
            operator(np.ascontiguousarray(b.T), c)
            error = check(f"AllGather+GEMM of {shape}", c, exact, matmul_bound(a64, b64, exact, args.dtype))
        say(f"AllGather+GEMM with roles  {world} x {m:>4} x {n:>4} x {k:<4} {args.dtype}  max error {error:.1e}  ok")


if __name__ == "__main__":
    main()
