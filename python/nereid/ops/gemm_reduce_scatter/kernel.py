# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GEMM + ReduceScatter: every rank multiplies its columns of A with its rows of B; rank r gets part r
of the rows of the sum over all ranks.

Tiles for peers come first: each goes to its place at the owner with a signal, as soon as the owner
has entered the call (gate). The owner computes its own tile last and adds the tiles of all
ranks in the order of the ranks. Part r has the rows starts[r] to starts[r + 1] of A.
"""

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid.ops.lib.protocol import SLOT, arrived, enter, leave, send, signal, signal_anywhere, wait
from nereid.ops.lib.tiles import grouped_tile, in_tile, product, rows_at_once, store_tile, sum_of_rows


@nereid.jit(do_not_specialize=["me", "n", "max_tiles", "tag"])
def gemm_reduce_scatter_kernel(
    a_ptr: tl.const, b_ptr: tl.const, c_ptr, extra_ptr, payload_ptr, words_ptr, state_ptr, members_ptr, starts_ptr,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    me, n, N, K, max_tiles: tl.int64, tag: tl.int64,
    EPILOGUE: tl.constexpr, REACH: tl.constexpr, ACC: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    """`payload`: places of whole tiles, (source, tile); between nodes (target, tile) of the own
    tiles behind them, from where they are put. Words: (source, tile), then free[rank]."""
    SIZE: tl.constexpr = BLOCK_M * BLOCK_N
    ROWS: tl.constexpr = rows_at_once(BLOCK_M, BLOCK_N)
    pid = tl.program_id(0)
    ncore = tl.num_programs(0)
    call = enter(state_ptr, tag)
    free_ptr = words_ptr + n * max_tiles * SLOT
    num_n = tl.cdiv(N, BLOCK_N)
    if pid == 0:
        for i in range(1, n):
            signal_anywhere(free_ptr + me * SLOT, call, tl.load(members_ptr + (me + i) % n), REACH)

    turn = pid.to(tl.int64)
    for i in range(1, n + 1):
        owner = (me + i) % n
        peer = tl.load(members_ptr + owner)
        start = tl.load(starts_ptr + owner)
        rows = tl.load(starts_ptr + owner + 1) - start
        num_m = tl.cdiv(rows, BLOCK_M)
        for task in range(turn, num_m * num_n, ncore):
            tile_m, tile_n = grouped_tile(task, num_m, num_n, GROUP_M)
            own = product(a_ptr + start * stride_am, b_ptr, tile_m, tile_n, rows, N, K, stride_am, stride_ak,
                          stride_bk, stride_bn, BLOCK_M, BLOCK_N, BLOCK_K, ACC)
            if owner != me:
                wait(free_ptr + owner * SLOT, call)
                place_ptr = payload_ptr + (me * max_tiles + task) * SIZE
                word_ptr = words_ptr + (me * max_tiles + task) * SLOT
                if REACH == "put":
                    staged_ptr = payload_ptr + ((n + owner) * max_tiles + task) * SIZE
                    tl.store(staged_ptr + in_tile(BLOCK_M, BLOCK_N), own.to(payload_ptr.dtype.element_ty))
                    send(place_ptr, staged_ptr, SIZE, word_ptr, call, peer, REACH, SIZE)
                else:
                    tl.store(dl.symm_at(place_ptr, peer) + in_tile(BLOCK_M, BLOCK_N), own.to(payload_ptr.dtype.element_ty))
                    signal(word_ptr, call, peer)
            elif payload_ptr.dtype.element_ty == ACC:  # added up in rows, with the own tile among the others
                tl.store(payload_ptr + (me * max_tiles + task) * SIZE + in_tile(BLOCK_M, BLOCK_N), own)
                tiles_ptr = payload_ptr + task * SIZE
                signal(words_ptr + (me * max_tiles + task) * SLOT, call, peer)  # other threads of this program may read it
                for source in range(0, n):
                    tiles_ptr = arrived(tiles_ptr, words_ptr + (source * max_tiles + task) * SLOT, call)
                for row in range(0, min(BLOCK_M, rows - tile_m * BLOCK_M), ROWS):
                    total = sum_of_rows(tiles_ptr, max_tiles * SIZE, n, row, ACC, ROWS, BLOCK_N)
                    store_tile(c_ptr, total, tile_m * (BLOCK_M // ROWS) + row // ROWS, tile_n, rows, N, stride_cm, stride_cn, 0,
                               extra_ptr, EPILOGUE, ROWS, BLOCK_N)
            else:
                total = tl.zeros((BLOCK_M, BLOCK_N), ACC)
                for source in range(0, n):
                    if source == me:
                        total += own
                    else:
                        ready = arrived(payload_ptr, words_ptr + (source * max_tiles + task) * SLOT, call)
                        place_ptr = ready + (source * max_tiles + task) * SIZE
                        total += tl.load(place_ptr + in_tile(BLOCK_M, BLOCK_N)).to(ACC)
                store_tile(c_ptr, total, tile_m, tile_n, rows, N, stride_cm, stride_cn, 0, extra_ptr, EPILOGUE, BLOCK_M, BLOCK_N)
        turn = (turn + ncore - (num_m * num_n) % ncore) % ncore
    leave(state_ptr, REACH)
