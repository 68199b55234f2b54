# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GEMM + AllReduce: every rank multiplies its columns of A with its rows of B and gets the whole sum.

    one-shot   each finished tile goes to every rank, which adds the tiles of all ranks as they come
    two-shot   tile t goes to rank t % n, which adds and sends the sum to all

Both add in the order of the ranks, so all ranks get the same bits, and both write into a peer's
buffer only when it has entered the call (gate).
"""

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid.ops.lib.protocol import SLOT, arrived, enter, leave, send, signal, signal_anywhere, wait
from nereid.ops.lib.tiles import grouped_tile, in_tile, product, rows_at_once, store_tile, sum_of_rows


@nereid.jit
def store_and_send(place_ptr, staged_ptr, tile, word_ptr, call, peer, REACH: tl.constexpr, BLOCK_M: tl.constexpr,
                   BLOCK_N: tl.constexpr):
    """A tile to its place at `peer`; between nodes it is put from `staged_ptr`, where it lies already."""
    if REACH == "put":
        send(place_ptr, staged_ptr, BLOCK_M * BLOCK_N, word_ptr, call, peer, REACH, BLOCK_M * BLOCK_N)
    else:
        tl.store(dl.symm_at(place_ptr, peer) + in_tile(BLOCK_M, BLOCK_N), tile.to(place_ptr.dtype.element_ty))
        signal(word_ptr, call, peer)


@nereid.jit
def parts_of(places_ptr, words_ptr, task, n, stride, call):
    """`places_ptr`, for accesses to the tile `task` of all sources, whose words are `stride` apart."""
    ready = places_ptr
    for source in range(0, n):
        ready = arrived(ready, words_ptr + (source * stride + task) * SLOT, call)
    return ready


@nereid.jit(do_not_specialize=["me", "n", "max_tiles", "tag"])
def one_shot_kernel(
    a_ptr: tl.const, b_ptr: tl.const, c_ptr, extra_ptr, payload_ptr, words_ptr, state_ptr, members_ptr,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    me, n, M, N, K, max_tiles: tl.int64, tag: tl.int64,
    EPILOGUE: tl.constexpr, REACH: tl.constexpr, ACC: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    """`payload`: places of whole tiles, (source, tile). Words: free[rank], then (source, tile)."""
    SIZE: tl.constexpr = BLOCK_M * BLOCK_N
    ROWS: tl.constexpr = rows_at_once(BLOCK_M, BLOCK_N)
    pid = tl.program_id(0)
    ncore = tl.num_programs(0)
    call = enter(state_ptr, tag)
    parts_ptr = words_ptr + n * SLOT
    num_m = tl.cdiv(M, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    if pid == 0:
        for i in range(1, n):
            signal_anywhere(words_ptr + me * SLOT, call, tl.load(members_ptr + (me + i) % n), REACH)
    for task in range(pid, num_m * num_n, ncore):
        tile_m, tile_n = grouped_tile(task, num_m, num_n, GROUP_M)
        own = product(a_ptr, b_ptr, tile_m, tile_n, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
                      BLOCK_M, BLOCK_N, BLOCK_K, ACC)
        place_ptr = payload_ptr + (me * max_tiles + task) * SIZE
        word_ptr = parts_ptr + (me * max_tiles + task) * SLOT
        tl.store(place_ptr + in_tile(BLOCK_M, BLOCK_N), own.to(payload_ptr.dtype.element_ty))
        for i in range(1, n):
            target = (me + i) % n
            wait(words_ptr + target * SLOT, call)
            store_and_send(place_ptr, place_ptr, own, word_ptr, call, tl.load(members_ptr + target), REACH, BLOCK_M, BLOCK_N)
        signal(word_ptr, call, tl.load(members_ptr + me))  # other threads of this program may read it
    for task in range(pid, num_m * num_n, ncore):
        tile_m, tile_n = grouped_tile(task, num_m, num_n, GROUP_M)
        tiles_ptr = parts_of(payload_ptr, parts_ptr, task, n, max_tiles, call) + task * SIZE
        for row in range(0, min(BLOCK_M, M - tile_m * BLOCK_M), ROWS):
            total = sum_of_rows(tiles_ptr, max_tiles * SIZE, n, row, ACC, ROWS, BLOCK_N)
            store_tile(c_ptr, total, tile_m * (BLOCK_M // ROWS) + row // ROWS, tile_n, M, N, stride_cm, stride_cn, 0, extra_ptr,
                       EPILOGUE, ROWS, BLOCK_N)
    leave(state_ptr, REACH)


@nereid.jit(do_not_specialize=["me", "n", "max_tiles", "tag"])
def two_shot_kernel(
    a_ptr: tl.const, b_ptr: tl.const, c_ptr, extra_ptr, payload_ptr, words_ptr, state_ptr, members_ptr,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    me, n, M, N, K, max_tiles: tl.int64, tag: tl.int64,
    EPILOGUE: tl.constexpr, REACH: tl.constexpr, ACC: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    """Tile t is number t // n of its owner. `payload`: places (source, number), then sums (tile), then
    the own tiles (tile), from where they are put. Words: free[rank], (source, number), sums (tile)."""
    SIZE: tl.constexpr = BLOCK_M * BLOCK_N
    ROWS: tl.constexpr = rows_at_once(BLOCK_M, BLOCK_N)
    pid = tl.program_id(0)
    ncore = tl.num_programs(0)
    call = enter(state_ptr, tag)
    numbers = tl.cdiv(max_tiles, n)
    parts_ptr = words_ptr + n * SLOT
    sum_words_ptr = parts_ptr + n * numbers * SLOT
    sums_ptr = payload_ptr + n * numbers * SIZE
    staged_ptr = sums_ptr + max_tiles * SIZE
    num_m = tl.cdiv(M, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    tiles = num_m * num_n
    if pid == 0:
        for i in range(1, n):
            signal_anywhere(words_ptr + me * SLOT, call, tl.load(members_ptr + (me + i) % n), REACH)

    # Own tiles last: they are needed when those of the peers have come.
    for number in range(pid, tl.cdiv(tiles, n) * n, ncore):
        owner = (me + 1 + number % n) % n
        task = number // n * n + owner
        if task < tiles:
            tile_m, tile_n = grouped_tile(task, num_m, num_n, GROUP_M)
            own = product(a_ptr, b_ptr, tile_m, tile_n, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
                          BLOCK_M, BLOCK_N, BLOCK_K, ACC)
            at = me * numbers + task // n
            word_ptr = parts_ptr + at * SLOT
            place_ptr = payload_ptr + at * SIZE
            if owner == me:
                tl.store(place_ptr + in_tile(BLOCK_M, BLOCK_N), own.to(payload_ptr.dtype.element_ty))
                signal(word_ptr, call, tl.load(members_ptr + me))
            else:
                if REACH == "put":
                    tl.store(staged_ptr + task * SIZE + in_tile(BLOCK_M, BLOCK_N), own.to(payload_ptr.dtype.element_ty))
                wait(words_ptr + owner * SLOT, call)
                store_and_send(place_ptr, staged_ptr + task * SIZE, own, word_ptr, call, tl.load(members_ptr + owner),
                               REACH, BLOCK_M, BLOCK_N)

    for number in range(pid, tl.cdiv(tiles, n), ncore):
        task = number * n + me
        if task < tiles:
            tile_m, tile_n = grouped_tile(task, num_m, num_n, GROUP_M)
            tiles_ptr = parts_of(payload_ptr, parts_ptr, number, n, numbers, call) + number * SIZE
            place_ptr = sums_ptr + task * SIZE
            for row in range(0, min(BLOCK_M, M - tile_m * BLOCK_M), ROWS):
                total = sum_of_rows(tiles_ptr, numbers * SIZE, n, row, ACC, ROWS, BLOCK_N)
                store_tile(c_ptr, total, tile_m * (BLOCK_M // ROWS) + row // ROWS, tile_n, M, N, stride_cm, stride_cn, 0,
                           extra_ptr, EPILOGUE, ROWS, BLOCK_N)
                sums = total.to(sums_ptr.dtype.element_ty)
                if REACH == "put":
                    tl.store(place_ptr + row * BLOCK_N + in_tile(ROWS, BLOCK_N), sums)
                else:  # they have all entered the call, since their parts have come
                    for i in range(1, n):
                        peer = tl.load(members_ptr + (me + i) % n)
                        tl.store(dl.symm_at(place_ptr, peer) + row * BLOCK_N + in_tile(ROWS, BLOCK_N), sums)
            for i in range(1, n):
                peer = tl.load(members_ptr + (me + i) % n)
                word_ptr = sum_words_ptr + task * SLOT
                if REACH == "put":
                    send(place_ptr, place_ptr, SIZE, word_ptr, call, peer, REACH, SIZE)
                else:
                    signal(word_ptr, call, peer)

    for task in range(pid, tiles, ncore):
        if task % n != me:
            tile_m, tile_n = grouped_tile(task, num_m, num_n, GROUP_M)
            ready = arrived(sums_ptr, sum_words_ptr + task * SLOT, call)
            for row in range(0, min(BLOCK_M, M - tile_m * BLOCK_M), ROWS):
                total = tl.load(ready + task * SIZE + row * BLOCK_N + in_tile(ROWS, BLOCK_N))
                store_tile(c_ptr, total, tile_m * (BLOCK_M // ROWS) + row // ROWS, tile_n, M, N, stride_cm, stride_cn, 0,
                           extra_ptr, EPILOGUE, ROWS, BLOCK_N)
    leave(state_ptr, REACH)
