# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All-gather by parity: two halves used in turn, no barrier, no reset (docs/operators.md).

    push    each piece of the own shard goes to its place in every rank's half, with a signal
    pull    the own shard goes to the own half, a signal for each piece to every rank;
            readers fetch from the peers' halves

Shard r has the elements starts[r] to starts[r + 1] of the result.
"""

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid.ops.lib.protocol import SLOT, arrived, copy, enter, leave, pieces, send, signal, wait


@nereid.jit(do_not_specialize=["me", "n", "piece", "max_pieces", "capacity", "tag"])
def all_gather_kernel(
    x_ptr: tl.const, out_ptr, payload_ptr, words_ptr, state_ptr, members_ptr, starts_ptr,
    me, n, piece: tl.int64, max_pieces: tl.int64, capacity: tl.int64, tag: tl.int64,
    DIRECTION: tl.constexpr, VIEW: tl.constexpr, REACH: tl.constexpr, BLOCK: tl.constexpr,
):
    pid = tl.program_id(0)
    ncore = tl.num_programs(0)
    call = enter(state_ptr, tag)
    half_ptr = payload_ptr + (call % 2) * capacity
    words_ptr += (call % 2) * n * max_pieces * SLOT
    own_start = tl.load(starts_ptr + me)
    own = tl.load(starts_ptr + me + 1) - own_start
    own_words_ptr = words_ptr + me * max_pieces * SLOT

    if DIRECTION == "push":
        for task in range(pid, pieces(own, piece) * n, ncore):
            target = (me + task % n) % n
            number = task // n
            first = number * piece
            count = tl.minimum(own - first, piece)
            place_ptr = half_ptr + own_start + first
            if target != me:
                send(place_ptr, x_ptr + first, count, own_words_ptr + number * SLOT, call,
                     tl.load(members_ptr + target), REACH, BLOCK)
            elif VIEW:
                copy(place_ptr, x_ptr + first, count, BLOCK)
            else:
                copy(out_ptr + own_start + first, x_ptr + first, count, BLOCK)
    else:
        for number in range(pid, pieces(own, piece), ncore):
            first = number * piece
            count = tl.minimum(own - first, piece)
            copy(half_ptr + first, x_ptr + first, count, BLOCK)
            for i in range(1, n):
                signal(own_words_ptr + number * SLOT, call, tl.load(members_ptr + (me + i) % n))
            copy(out_ptr + own_start + first, x_ptr + first, count, BLOCK)

    turn = pid.to(tl.int64)
    for i in range(1, n):
        source = (me + i) % n
        start = tl.load(starts_ptr + source)
        size = tl.load(starts_ptr + source + 1) - start
        parts = pieces(size, piece)
        for number in range(turn, parts, ncore):
            first = number * piece
            count = tl.minimum(size - first, piece)
            word_ptr = words_ptr + (source * max_pieces + number) * SLOT
            if VIEW:
                wait(word_ptr, call)
            elif DIRECTION == "push":
                copy(out_ptr + start + first, arrived(half_ptr, word_ptr, call) + start + first, count, BLOCK)
            else:
                shard_ptr = dl.symm_at(arrived(half_ptr, word_ptr, call), tl.load(members_ptr + source))
                copy(out_ptr + start + first, shard_ptr + first, count, BLOCK)
        turn = (turn + ncore - parts % ncore) % ncore  # the next source goes on where this one ended
    leave(state_ptr, REACH)
