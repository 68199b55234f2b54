# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Send and receive by mailboxes: `slots` buffers at the receiver, used in turn.

Message x = 1, 2, ... lies in slot x % slots. Its sender waits until message x - slots has been
taken from there (free[slot] == x - slots); the first `slots` messages wait for nothing. Words carry
x plus the tag of the channel. Both sides count messages in their own memory.
"""

import nereid
import nereid.language as tl
from nereid.ops.lib.protocol import SLOT, arrived, copy, enter, is_last, leave, pieces, send, signal_anywhere, wait


@nereid.jit(do_not_specialize=["receiver", "size", "piece", "max_pieces", "slots", "tag"])
def send_kernel(
    x_ptr: tl.const, payload_ptr, words_ptr, free_ptr, state_ptr, receiver, size: tl.int64, piece: tl.int64, max_pieces: tl.int64,
    slots: tl.int64, tag: tl.int64, REACH: tl.constexpr, BLOCK: tl.constexpr,
):
    mark = enter(state_ptr, tag)
    message = mark - tag
    slot = message % slots
    for number in range(tl.program_id(0), pieces(size, piece), tl.num_programs(0)):
        # Each program that sends looks: the word stays until all pieces have been taken.
        if message > slots:
            wait(free_ptr + slot * SLOT, mark - slots)
        first = number * piece
        send(payload_ptr + slot * size + first, x_ptr + first, tl.minimum(size - first, piece),
             words_ptr + (slot * max_pieces + number) * SLOT, mark, receiver, REACH, BLOCK)
    leave(state_ptr, REACH)


@nereid.jit(do_not_specialize=["sender", "size", "piece", "max_pieces", "slots", "tag"])
def receive_kernel(
    out_ptr, payload_ptr, words_ptr, free_ptr, state_ptr, sender, size: tl.int64, piece: tl.int64, max_pieces: tl.int64,
    slots: tl.int64, tag: tl.int64, REACH: tl.constexpr, BLOCK: tl.constexpr,
):
    mark = enter(state_ptr, tag)
    message = mark - tag
    slot = message % slots
    for number in range(tl.program_id(0), pieces(size, piece), tl.num_programs(0)):
        first = number * piece
        ready = arrived(payload_ptr, words_ptr + (slot * max_pieces + number) * SLOT, mark)
        copy(out_ptr + first, ready + slot * size + first, tl.minimum(size - first, piece), BLOCK)
    if is_last(state_ptr):  # all programs have taken their pieces
        signal_anywhere(free_ptr + slot * SLOT, mark, sender, REACH)
        tl.store(state_ptr + 1, 0)
        tl.store(state_ptr, message)
