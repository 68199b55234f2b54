# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All-to-all by parity: block t of x goes to rank t, whose result has the blocks by source.

With splits the blocks have different numbers of rows. Then the number that a rank sends stands
in the second word of the slot of its first signal, and is there before the signal is.
"""

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device
from nereid.ops.lib.protocol import SLOT, arrived, copy, enter, leave, pieces, send, wait


@nereid.jit(do_not_specialize=["me", "n", "size", "piece", "max_pieces", "capacity", "tag"])
def all_to_all_kernel(
    x_ptr: tl.const, out_ptr, payload_ptr, words_ptr, state_ptr, members_ptr,
    me, n, size: tl.int64, piece: tl.int64, max_pieces: tl.int64, capacity: tl.int64, tag: tl.int64,
    VIEW: tl.constexpr, REACH: tl.constexpr, BLOCK: tl.constexpr,
):
    """Blocks of `size` elements; a half of the payload has n blocks next to each other."""
    pid = tl.program_id(0)
    ncore = tl.num_programs(0)
    call = enter(state_ptr, tag)
    half_ptr = payload_ptr + (call % 2) * capacity
    words_ptr += (call % 2) * n * max_pieces * SLOT
    for task in range(pid, pieces(size, piece) * n, ncore):
        target = (me + task % n) % n
        number = task // n
        first = number * piece
        count = tl.minimum(size - first, piece)
        if target != me:
            send(half_ptr + me * size + first, x_ptr + target * size + first, count,
                 words_ptr + (me * max_pieces + number) * SLOT, call, tl.load(members_ptr + target), REACH, BLOCK)
        elif VIEW:
            copy(half_ptr + me * size + first, x_ptr + me * size + first, count, BLOCK)
        else:
            copy(out_ptr + me * size + first, x_ptr + me * size + first, count, BLOCK)
    for task in range(pid, pieces(size, piece) * n, ncore):
        source = (me + task % n) % n
        number = task // n
        first = number * piece
        word_ptr = words_ptr + (source * max_pieces + number) * SLOT
        if source != me:
            if VIEW:
                wait(word_ptr, call)
            else:
                block_ptr = arrived(half_ptr, word_ptr, call) + source * size
                copy(out_ptr + source * size + first, block_ptr + first, tl.minimum(size - first, piece), BLOCK)
    leave(state_ptr, REACH)


@nereid.jit
def sum_before(counts_ptr, index):
    """The sum of the first `index` counts."""
    total = tl.zeros((), tl.int64)
    for i in range(0, index):
        total += tl.load(counts_ptr + i).to(tl.int64)
    return total


@nereid.jit(do_not_specialize=["me", "n", "columns", "block", "piece", "max_pieces", "capacity", "tag"])
def all_to_all_splits_kernel(
    x_ptr: tl.const, splits_ptr: tl.const, out_ptr, received_ptr, payload_ptr, words_ptr, state_ptr, members_ptr,
    me, n, columns: tl.int64, block: tl.int64, piece: tl.int64, max_pieces: tl.int64, capacity: tl.int64, tag: tl.int64,
    REACH: tl.constexpr, BLOCK: tl.constexpr,
):
    """splits[t] rows of x go to rank t; received[s] rows come from rank s and stand in `out`
    behind those of the ranks before it. `block`: elements of one source's place in the payload."""
    pid = tl.program_id(0)
    ncore = tl.num_programs(0)
    call = enter(state_ptr, tag)
    half_ptr = payload_ptr + (call % 2) * capacity
    words_ptr += (call % 2) * n * max_pieces * SLOT
    turn = pid.to(tl.int64)
    for i in range(1, n):
        target = (me + i) % n
        peer = tl.load(members_ptr + target)
        rows = tl.load(splits_ptr + target).to(tl.int64)
        start = sum_before(splits_ptr, target) * columns
        parts = pieces(rows * columns, piece)
        for number in range(turn, parts, ncore):
            first = number * piece
            word_ptr = words_ptr + (me * max_pieces + number) * SLOT
            if number == 0:
                if REACH == "put":
                    libshmem_device.int64_p(word_ptr + 1, rows, peer)
                    libshmem_device.fence()
                else:
                    tl.store(dl.symm_at(word_ptr, peer) + 1, rows)
            send(half_ptr + me * block + first, x_ptr + start + first, tl.minimum(rows * columns - first, piece),
                 word_ptr, call, peer, REACH, BLOCK)
        turn = (turn + ncore - parts % ncore) % ncore

    # Where a source's rows begin depends on how many the ranks before it send.
    turn = pid.to(tl.int64)
    begin = tl.zeros((), tl.int64)
    for source in range(0, n):
        word_ptr = words_ptr + source * max_pieces * SLOT
        if source == me:
            rows = tl.load(splits_ptr + me).to(tl.int64)
        else:
            rows = tl.load(arrived(word_ptr, word_ptr, call) + 1)
        if pid == 0:
            tl.store(received_ptr + source, rows)
        parts = pieces(rows * columns, piece)
        for number in range(turn, parts, ncore):
            first = number * piece
            count = tl.minimum(rows * columns - first, piece)
            if source == me:
                copy(out_ptr + begin + first, x_ptr + sum_before(splits_ptr, me) * columns + first, count, BLOCK)
            else:
                wait(word_ptr + number * SLOT, call)
                copy(out_ptr + begin + first, half_ptr + source * block + first, count, BLOCK)
        turn = (turn + ncore - parts % ncore) % ncore
        begin += rows * columns
    leave(state_ptr, REACH)
