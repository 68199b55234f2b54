# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GEMM + ReduceScatter with roles: a few programs carry tiles, all others multiply.

The inner size is split, as in 08_gemm_reduce_scatter.py; rank r gets m rows of C, summed over all
ranks, always in the same order. All programs of a GPU finish a tile at about the same time: stored at once
to the peers, the tiles would queue for the link. So they stay here first:

    others  multiply tiles of the peers' rows, store them into own memory, one local signal a tile;
            then tiles of own rows, to which the peers' are added when they have come
    mover   carries CARRY tiles at a time to their owner, as soon as that rank has entered this
            call, with one signal: a signal over the link costs as much as a tile

Signals are the number of the call and are never reset, as in 11_allgather_gemm_roles.py.

    nereid run -n 4 examples/12_gemm_reduce_scatter_roles.py --shape 37,136,72
"""

import argparse
import importlib

import numpy as np

import nereid
import nereid.distributed as dl
import nereid.language as tl
from common import UNIT_ROUNDOFF, check, grouped_tile, matmul_bound, say
from nereid import libshmem_device

roles = importlib.import_module("11_allgather_gemm_roles")
product, push, store_rows = roles.product, roles.push, roles.store_rows
make_inputs = importlib.import_module("08_gemm_reduce_scatter").make_inputs


@nereid.jit(do_not_specialize=["call"])
def gemm_reduce_scatter_roles_kernel(
    a_ptr, b_ptr, c_ptr, parts_ptr, done_ptr, ready_ptr, free_ptr, call,
    m_per_rank, N, K, movers,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
    CARRY: tl.constexpr, BLOCK: tl.constexpr,
):
    """a (world * m_per_rank, K), b (N, K), c (m_per_rank, N), all without gaps. `parts` has places of whole
    tiles: (owner, tile) of the own ones, behind them (source, tile) of the peers'. Words: done (owner,
    tile), ready (source, carried tiles), free (owner)."""
    SIZE: tl.constexpr = BLOCK_M * BLOCK_N
    rank = dl.rank()
    world = dl.num_ranks()
    pid = tl.program_id(0)
    num_m = tl.cdiv(m_per_rank, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    tiles = num_m * num_n
    loads = tl.cdiv(tiles, CARRY)
    in_tile = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    if pid == 0:
        for i in range(1, world):
            dl.notify(free_ptr + rank, (rank + i) % world, signal=call, sig_op="set", comm_scope="intra_node")

    if pid < movers:
        for task in range(pid, loads * (world - 1), movers):
            owner = (rank + 1 + task // loads) % world
            load = task % loads
            libshmem_device.signal_wait_until(free_ptr + owner, libshmem_device.NVSHMEM_CMP_EQ, call)
            for tile in range(load * CARRY, min((load + 1) * CARRY, tiles)):
                libshmem_device.signal_wait_until(done_ptr + owner * tiles + tile, libshmem_device.NVSHMEM_CMP_EQ, call)
                from_ptr = parts_ptr + (owner * tiles + tile).to(tl.int64) * SIZE
                to_ptr = parts_ptr + ((world + rank) * tiles + tile).to(tl.int64) * SIZE
                push(dl.symm_at(to_ptr, owner), from_ptr, SIZE, BLOCK)
            dl.notify(ready_ptr + rank * loads + load, owner, signal=call, sig_op="set", comm_scope="intra_node")
    else:
        a_desc = tl.make_tensor_descriptor(a_ptr, [world * m_per_rank, K], [K, 1], [BLOCK_M, BLOCK_K])
        b_desc = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BLOCK_N, BLOCK_K])
        # Own tiles come last.
        for task in range(pid - movers, tiles * world, tl.num_programs(0) - movers):
            owner = (rank + 1 + task // tiles) % world
            number = task % tiles
            tile_m, tile_n = grouped_tile(number, num_m, num_n, GROUP_M)
            own = product(a_desc, b_desc, owner * m_per_rank + tile_m * BLOCK_M, tile_n * BLOCK_N, K, BLOCK_M, BLOCK_N, BLOCK_K)
            if owner != rank:
                place_ptr = parts_ptr + (owner * tiles + number).to(tl.int64) * SIZE
                tl.store(place_ptr + in_tile, own.to(parts_ptr.dtype.element_ty))
                dl.notify(done_ptr + owner * tiles + number, rank, signal=call, sig_op="set", comm_scope="gpu")
            else:
                for i in range(1, world):
                    source = (rank + i) % world
                    libshmem_device.signal_wait_until(
                        ready_ptr + source * loads + number // CARRY, libshmem_device.NVSHMEM_CMP_EQ, call)
                    part_ptr = parts_ptr + ((world + source) * tiles + number).to(tl.int64) * SIZE
                    own += tl.load(part_ptr + in_tile).to(tl.float32)
                store_rows(c_ptr, own, tile_m * BLOCK_M, tile_n * BLOCK_N, m_per_rank, N, BLOCK_M, BLOCK_N)


class GemmReduceScatterRoles:
    """The operator with its symmetric memory, for m rows of C on each rank. `wire` is the type in which
    partial sums travel; `launch` goes to the compiler as it is."""

    def __init__(self, m: int, n: int, wire="float32", programs: int = 6, movers: int = 2, carry: int = 2,
                 block_m: int = 64, block_n: int = 64, block_k: int = 32, **launch):
        if not 0 < movers < programs:
            raise ValueError(f"of {programs} programs, from 1 to {programs - 1} carry tiles, not {movers}")
        world = nereid.world_size()
        tiles = nereid.cdiv(m, block_m) * nereid.cdiv(n, block_n)
        self.parts = nereid.symm.zeros((2, world, tiles, block_m, block_n), wire)
        self.done = nereid.symm.zeros((world, tiles), np.int64)
        self.ready = nereid.symm.zeros((world, nereid.cdiv(tiles, carry)), np.int64)
        self.free = nereid.symm.zeros(world, np.int64)
        self.m, self.calls, self.programs = m, 0, programs
        self.launch = dict(movers=movers, BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP_M=8, CARRY=carry,
                           BLOCK=1024, **launch)
        nereid.barrier()  # no signal arrives before its memory is zero on every rank

    def __call__(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
        """c = this rank's rows of the sum over all ranks of a times the transpose of b (n, k)."""
        n, k = b.shape
        self.calls += 1
        gemm_reduce_scatter_roles_kernel[(self.programs,)](
            a, b, c, self.parts, self.done, self.ready, self.free, self.calls, self.m, n, k, **self.launch)


def main(argv=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", nargs="+", default=["1,8,8", "64,128,96", "37,136,72"], metavar="M,N,K",
                        help="rows of C on each rank, columns, inner size on each rank (a multiple of 16 bytes)")
    parser.add_argument("--dtype", choices=["float16", "float32"], default="float16")
    parser.add_argument("--wire", choices=["float16", "float32"], default="float32")
    parser.add_argument("--programs", type=int, default=6)
    parser.add_argument("--movers", type=int, default=2)
    parser.add_argument("--calls", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)

    nereid.init()
    world, rank = nereid.world_size(), nereid.rank()
    for shape in args.shape:
        m, n, k = (int(part) for part in shape.split(","))
        operator = GemmReduceScatterRoles(m, n, args.wire, args.programs, args.movers)
        for number in range(args.calls):
            lefts, rights = make_inputs(m, n, k, np.dtype(args.dtype), args.seed + number)
            rows = slice(rank * m, (rank + 1) * m)
            a64 = np.concatenate([left[rows].astype(np.float64) for left in lefts], axis=1)
            b64 = np.concatenate([right.astype(np.float64) for right in rights])
            exact = a64 @ b64
            bound = matmul_bound(a64, b64, exact, "float32")
            # What travels has been rounded once.
            bound = bound + UNIT_ROUNDOFF[args.wire] * (np.abs(a64) @ np.abs(b64))
            c = np.full((m, n), np.nan, np.float32)
            operator(lefts[rank], np.ascontiguousarray(rights[rank].T), c)
            error = check(f"GEMM+ReduceScatter of {shape}", c, exact, bound)
        say(f"GEMM+ReduceScatter with roles  {world} x {m:>4} x {n:>4} x {k:<4} {args.dtype}  max error {error:.1e}  ok")


if __name__ == "__main__":
    main()
