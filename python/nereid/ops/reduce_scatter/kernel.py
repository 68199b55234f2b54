# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reduce-scatter by parity: part r of x goes to rank r, which adds the parts of all ranks in
the order of the ranks, so that every run gives the same bits.

Part r has the elements starts[r] to starts[r + 1] of x. `payload` has two halves, each with
one place of `capacity` elements for every source; its type is the type on the wire.
"""

import nereid
import nereid.language as tl
from nereid.ops.lib.protocol import SLOT, copy, enter, leave, pieces, send, wait
from nereid.ops.lib.reduce import combine, finish


@nereid.jit
def part_of(source, own_ptr, half_ptr, me, capacity, offs, mask):
    """Elements `offs` of the part that `source` has of this rank's rows, in the type in which parts travel."""
    if own_ptr.dtype.element_ty == half_ptr.dtype.element_ty:  # one load, from here or there
        from_ptr = half_ptr + source * capacity
        if source == me:
            from_ptr = own_ptr.to(tl.pointer_type(half_ptr.dtype.element_ty))
        part = tl.load(from_ptr + offs, mask=mask)
    elif source == me:
        part = tl.load(own_ptr + offs, mask=mask).to(half_ptr.dtype.element_ty)
    else:
        part = tl.load(half_ptr + source * capacity + offs, mask=mask)
    return part


@nereid.jit(do_not_specialize=["me", "n", "piece", "max_pieces", "capacity", "tag"])
def reduce_scatter_kernel(
    x_ptr: tl.const, out_ptr, payload_ptr, words_ptr, state_ptr, members_ptr, starts_ptr,
    me, n, piece: tl.int64, max_pieces: tl.int64, capacity: tl.int64, tag: tl.int64,
    OP: tl.constexpr, ACC: tl.constexpr, REACH: tl.constexpr, BLOCK: tl.constexpr,
):
    pid = tl.program_id(0)
    ncore = tl.num_programs(0)
    call = enter(state_ptr, tag)
    half_ptr = payload_ptr + (call % 2) * n * capacity
    words_ptr += (call % 2) * n * max_pieces * SLOT

    # Scatter, peers rotated, the own part stays where it is.
    turn = pid.to(tl.int64)
    for i in range(1, n):
        target = (me + i) % n
        start = tl.load(starts_ptr + target)
        size = tl.load(starts_ptr + target + 1) - start
        parts = pieces(size, piece)
        for number in range(turn, parts, ncore):
            first = number * piece
            send(half_ptr + me * capacity + first, x_ptr + start + first, tl.minimum(size - first, piece),
                 words_ptr + (me * max_pieces + number) * SLOT, call, tl.load(members_ptr + target), REACH, BLOCK)
        turn = (turn + ncore - parts % ncore) % ncore

    # Sum, source by source in the order of the ranks.
    own_start = tl.load(starts_ptr + me)
    own = tl.load(starts_ptr + me + 1) - own_start
    for number in range(pid, pieces(own, piece), ncore):
        first = number * piece
        count = tl.minimum(own - first, piece)
        for i in range(1, n):
            wait(words_ptr + ((me + i) % n * max_pieces + number) * SLOT, call)
        for at in range(0, count, BLOCK):
            offs = first + at + tl.arange(0, BLOCK)
            mask = offs < first + count
            total = part_of(0, x_ptr + own_start, half_ptr, me, capacity, offs, mask).to(ACC)
            for source in range(1, n):
                total = combine(total, part_of(source, x_ptr + own_start, half_ptr, me, capacity, offs, mask).to(ACC), OP)
            tl.store(out_ptr + offs, finish(total, n, OP).to(out_ptr.dtype.element_ty), mask=mask)
    leave(state_ptr, REACH)
