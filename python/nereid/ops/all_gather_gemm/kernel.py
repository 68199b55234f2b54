# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AllGather + GEMM: the product of all ranks' shards of A with the own B, without a gathered A
in between where peers' memory can be read.

    pull    (parity) the own shard goes to the own half, a signal to every rank for each block of
            rows; tiles of A are loaded where they lie, in the halves of their ranks
    gate    blocks of rows are pushed into every rank's buffer, by MOVERS programs (0: by all,
            before they multiply), as soon as that rank has entered the call

A tile waits only for the rows that it needs; own rows come first, then those of the next
rank, and so on. Shard r has the rows starts[r] to starts[r + 1] of A and C.
"""

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid.ops.lib.protocol import SLOT, arrived, enter, leave, send, signal, signal_anywhere, wait
from nereid.ops.lib.tiles import copy_rows, grouped_tile, product, store_tile


@nereid.jit(do_not_specialize=["me", "n", "max_blocks", "tag"])
def all_gather_gemm_kernel(
    a_ptr: tl.const, b_ptr: tl.const, c_ptr, extra_ptr, gathered_ptr, payload_ptr, words_ptr, state_ptr, members_ptr, starts_ptr,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    me, n, N, K, max_blocks, capacity: tl.int64, tag: tl.int64,
    FORM: tl.constexpr, GATHERED: tl.constexpr, MOVERS: tl.constexpr, EPILOGUE: tl.constexpr, REACH: tl.constexpr,
    ACC: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr, BLOCK: tl.constexpr,
):
    pid = tl.program_id(0)
    ncore = tl.num_programs(0)
    call = enter(state_ptr, tag)
    own_start = tl.load(starts_ptr + me)
    own = tl.load(starts_ptr + me + 1) - own_start
    own_blocks = tl.cdiv(own, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    # Words: two halves of (source, block) for pulling; for the gate one such set, then free[rank].
    if FORM == "pull":
        half_ptr = payload_ptr + (call % 2) * capacity
        ready_ptr = words_ptr + (call % 2) * n * max_blocks * SLOT
        movers = ncore
    else:
        half_ptr = payload_ptr
        ready_ptr = words_ptr
        free_ptr = words_ptr + 2 * n * max_blocks * SLOT
        movers = ncore if MOVERS == 0 else MOVERS
        if pid == 0:
            for i in range(1, n):
                signal_anywhere(free_ptr + me * SLOT, call, tl.load(members_ptr + (me + i) % n), REACH)

    if pid < movers:
        for block in range(pid, tl.maximum(own_blocks, 1), movers):
            row = block.to(tl.int64) * BLOCK_M
            rows = tl.minimum(own - row, BLOCK_M)
            source_ptr = a_ptr + row * stride_am
            word_ptr = ready_ptr + (me * max_blocks + block) * SLOT
            if FORM == "pull":
                copy_rows(half_ptr + row * K, source_ptr, rows, K, stride_am, stride_ak, BLOCK_M, BLOCK)
                for i in range(0, n):
                    signal(word_ptr, call, tl.load(members_ptr + (me + i) % n))
            else:
                place_ptr = half_ptr + (own_start + row) * K
                copy_rows(place_ptr, source_ptr, rows, K, stride_am, stride_ak, BLOCK_M, BLOCK)
                signal(word_ptr, call, tl.load(members_ptr + me))
                for i in range(1, n):
                    target = (me + i) % n
                    wait(free_ptr + target * SLOT, call)
                    send(place_ptr, place_ptr, rows * K, word_ptr, call, tl.load(members_ptr + target), REACH, BLOCK)

    if pid >= movers or MOVERS == 0:
        workers = ncore if MOVERS == 0 else ncore - MOVERS
        turn = (pid if MOVERS == 0 else pid - MOVERS).to(tl.int64)
        for i in range(0, n):
            source = (me + i) % n
            start = tl.load(starts_ptr + source)
            rows = tl.load(starts_ptr + source + 1) - start
            num_m = tl.cdiv(rows, BLOCK_M)
            for task in range(turn, num_m * num_n, workers):
                tile_m, tile_n = grouped_tile(task, num_m, num_n, GROUP_M)
                ready = arrived(half_ptr, ready_ptr + (source * max_blocks + tile_m) * SLOT, call)
                if FORM == "pull":
                    shard_ptr = dl.symm_at(ready, tl.load(members_ptr + source))
                else:
                    shard_ptr = ready + start * K
                tile = product(shard_ptr, b_ptr, tile_m, tile_n, rows, N, K, K, 1, stride_bk, stride_bn,
                               BLOCK_M, BLOCK_N, BLOCK_K, ACC)
                store_tile(c_ptr, tile, tile_m, tile_n, rows, N, stride_cm, stride_cn, start, extra_ptr, EPILOGUE, BLOCK_M, BLOCK_N)
            turn = (turn + workers - (num_m * num_n) % workers) % workers

    # What no tile has waited for: shards without rows, and the gathered A if it is wanted.
    turn = pid.to(tl.int64)
    for i in range(0, n):
        source = (me + i) % n
        start = tl.load(starts_ptr + source)
        rows = tl.load(starts_ptr + source + 1) - start
        blocks = tl.maximum(tl.cdiv(rows, BLOCK_M), 1)
        for block in range(turn, blocks, ncore):
            word_ptr = ready_ptr + (source * max_blocks + block) * SLOT
            row = block * BLOCK_M
            if GATHERED:
                ready = arrived(half_ptr, word_ptr, call)
                if FORM == "pull":
                    shard_ptr = dl.symm_at(ready, tl.load(members_ptr + source))
                else:
                    shard_ptr = ready + start * K
                copy_rows(gathered_ptr + (start + row) * K, shard_ptr + row * K, tl.minimum(rows - row, BLOCK_M), K, K, 1,
                          BLOCK_M, BLOCK)
            else:
                wait(word_ptr, call)
        turn = (turn + ncore - blocks % ncore) % ncore
    leave(state_ptr, REACH)
