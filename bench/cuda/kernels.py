# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of the bench that no example has: what single operations cost, and a plain product."""

import importlib

import nereid
import nereid.distributed as dl
import nereid.language as tl
from common import grouped_tile
from nereid import libshmem_device

roles = importlib.import_module("11_allgather_gemm_roles")
product, store_rows = roles.product, roles.store_rows


@nereid.jit
def persistent_gemm(a_ptr, b_ptr, c_ptr, M, N, K, DESCRIPTOR: tl.constexpr,
                    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    """c (M, N) = a (M, K) times the transpose of b (N, K), one program an SM."""
    num_m = tl.cdiv(M, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BLOCK_N, BLOCK_K])
    if DESCRIPTOR:
        c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    for task in range(tl.program_id(0), num_m * num_n, tl.num_programs(0)):
        tile_m, tile_n = grouped_tile(task, num_m, num_n, GROUP_M)
        tile = product(a_desc, b_desc, tile_m * BLOCK_M, tile_n * BLOCK_N, K, BLOCK_M, BLOCK_N, BLOCK_K)
        if DESCRIPTOR:
            c_desc.store([tile_m * BLOCK_M, tile_n * BLOCK_N], tile.to(c_ptr.dtype.element_ty))
        else:
            store_rows(c_ptr, tile, tile_m * BLOCK_M, tile_n * BLOCK_N, M, N, BLOCK_M, BLOCK_N)


@nereid.jit(do_not_specialize=["call"])
def gemm_reduce_scatter_direct(a_ptr, b_ptr, c_ptr, parts_ptr, ready_ptr, free_ptr, call, m_per_rank, N, K,
                               BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    """Example 12 for few rows: who has made a tile of a peer stores it there. `parts` has places of whole tiles,
    (source, tile). Words: ready (source, tile), free (owner)."""
    rank = dl.rank()
    world = dl.num_ranks()
    pid = tl.program_id(0)
    num_m = tl.cdiv(m_per_rank, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    tiles = num_m * num_n
    in_tile = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    if pid == 0:
        for i in range(1, world):
            dl.notify(free_ptr + rank, (rank + i) % world, signal=call, sig_op="set", comm_scope="intra_node")
    a_desc = tl.make_tensor_descriptor(a_ptr, [world * m_per_rank, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BLOCK_N, BLOCK_K])
    # Own tiles come last.
    for task in range(pid, tiles * world, tl.num_programs(0)):
        owner = (rank + 1 + task // tiles) % world
        number = task % tiles
        tile_m, tile_n = grouped_tile(number, num_m, num_n, GROUP_M)
        own = product(a_desc, b_desc, owner * m_per_rank + tile_m * BLOCK_M, tile_n * BLOCK_N, K, BLOCK_M, BLOCK_N, BLOCK_K)
        if owner != rank:
            libshmem_device.signal_wait_until(free_ptr + owner, libshmem_device.NVSHMEM_CMP_EQ, call)
            place_ptr = parts_ptr + (rank * tiles + number).to(tl.int64) * (BLOCK_M * BLOCK_N)
            tl.store(dl.symm_at(place_ptr, owner) + in_tile, own.to(parts_ptr.dtype.element_ty))
            dl.notify(ready_ptr + rank * tiles + number, owner, signal=call, sig_op="set", comm_scope="intra_node")
        else:
            for i in range(1, world):
                source = (rank + i) % world
                libshmem_device.signal_wait_until(ready_ptr + source * tiles + number, libshmem_device.NVSHMEM_CMP_EQ, call)
                part_ptr = parts_ptr + (source * tiles + number).to(tl.int64) * (BLOCK_M * BLOCK_N)
                own += tl.load(part_ptr + in_tile).to(tl.float32)
            store_rows(c_ptr, own, tile_m * BLOCK_M, tile_n * BLOCK_N, m_per_rank, N, BLOCK_M, BLOCK_N)


@nereid.jit
def round_trips(signal_ptr, rounds):
    """Rank 0 signals rank 1 and waits for the answer, `rounds` times."""
    rank = dl.rank()
    peer = (rank + 1) % dl.num_ranks()
    for r in range(1, rounds + 1):
        if rank == 0:
            dl.notify(signal_ptr, peer, signal=r, sig_op="set", comm_scope="intra_node")
            token = dl.wait(signal_ptr, 1, "sys", "acquire", waitValue=r)
            signal_ptr = dl.consume_token(signal_ptr, token)
        else:
            token = dl.wait(signal_ptr, 1, "sys", "acquire", waitValue=r)
            signal_ptr = dl.consume_token(signal_ptr, token)
            dl.notify(signal_ptr, peer, signal=r, sig_op="set", comm_scope="intra_node")


@nereid.jit(do_not_specialize=["rounds"])
def only_barriers(rounds):
    for r in range(0, rounds):
        libshmem_device.barrier_all()


@nereid.jit
def stress_barriers(slots_ptr, wrong_ptr, rounds, P: tl.constexpr):
    """Every program writes its round to all ranks; behind the barrier all have."""
    rank = dl.rank()
    world = dl.num_ranks()
    pid = tl.program_id(0)
    wrong = 0
    for r in range(1, rounds + 1):
        for to in range(0, world):
            tl.store(dl.symm_at(slots_ptr, to) + rank * P + pid, r)
        libshmem_device.barrier_all()
        for of in range(0, world):
            wrong += tl.sum((tl.load(slots_ptr + of * P + tl.arange(0, P)) != r).to(tl.int32))
        libshmem_device.barrier_all()
    tl.store(wrong_ptr + pid, wrong)


@nereid.jit
def stress_messages(buffer_ptr, signal_ptr, wrong_ptr, rounds, BLOCK: tl.constexpr):
    """Each program sends a block to the next rank in every round, which acknowledges it; counts wrong words."""
    rank = dl.rank()
    world = dl.num_ranks()
    pid = tl.program_id(0)
    right = (rank + 1) % world
    left = (rank + world - 1) % world
    offs = tl.arange(0, BLOCK)
    mine = buffer_ptr + pid * BLOCK
    full = signal_ptr + pid * 2
    empty = signal_ptr + pid * 2 + 1
    wrong = tl.zeros((BLOCK,), tl.int32)
    for r in range(1, rounds + 1):
        tl.store(dl.symm_at(mine, right) + offs, offs * 7 + r * 3 + rank)
        dl.notify(full, right, signal=r, sig_op="set", comm_scope="intra_node")
        token = dl.wait(full, 1, "sys", "acquire", waitValue=r)
        got = tl.load(dl.consume_token(mine, token) + offs)
        wrong += (got != offs * 7 + r * 3 + left).to(tl.int32)
        dl.notify(empty, left, signal=r, sig_op="set", comm_scope="intra_node")
        token = dl.wait(empty, 1, "sys", "acquire", waitValue=r)
        mine = dl.consume_token(mine, token)
    tl.store(wrong_ptr + pid, tl.sum(wrong))


@nereid.jit(do_not_specialize=["peer"])
def put_all(to_ptr, from_ptr, count, peer):
    """`count` elements, a part of them by each program, with the library's put."""
    part = tl.cdiv(tl.cdiv(count, tl.num_programs(0)), 16) * 16
    first = tl.program_id(0) * part
    libshmem_device.putmem_block(to_ptr + first, from_ptr + first, max(min(part, count - first), 0) * 4, peer)


@nereid.jit(do_not_specialize=["peer"])
def get_all(to_ptr, from_ptr, count, peer):
    part = tl.cdiv(tl.cdiv(count, tl.num_programs(0)), 16) * 16
    first = tl.program_id(0) * part
    libshmem_device.getmem_block(to_ptr + first, from_ptr + first, max(min(part, count - first), 0) * 4, peer)


@nereid.jit
def wait_forever(signal_ptr, value):
    token = dl.wait(signal_ptr + tl.program_id(0), 1, "sys", "acquire", waitValue=value)
    tl.store(dl.consume_token(signal_ptr, token), 1)
