# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All-reduce by parity, in the order of the ranks: all ranks get the same bits, in every run.

    one-shot   everybody shows everything to all, everybody reduces: one signal, n - 1 times
               the data. By pushing into the peers' halves, or by reading the peers' halves
    two-shot   part r goes to rank r, which reduces it; all fetch the result from there (between
               nodes it is sent to them): two signals, 2 (n - 1) / n times the data
    ring       every rank sends to the next one only: parts go round and grow by one rank's share at each
               hop, then go round again whole: 2 (n - 1) signals, 2 (n - 1) / n times the data

`payload` has two halves of `capacity` elements.
"""

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid.ops.lib.protocol import SLOT, arrived, copy, enter, leave, pieces, send, signal, wait
from nereid.ops.lib.reduce import combine, finish, store_result


@nereid.jit
def shown_by(source, x_ptr, half_ptr, members_ptr, me, size, DIRECTION: tl.constexpr):
    """Where what `source` has shown begins."""
    if source == me:
        shown_ptr = x_ptr.to(tl.pointer_type(half_ptr.dtype.element_ty))
    elif DIRECTION == "push":
        shown_ptr = half_ptr + source * size
    else:
        shown_ptr = dl.symm_at(half_ptr, tl.load(members_ptr + source))
    return shown_ptr


@nereid.jit(do_not_specialize=["me", "n", "size", "piece", "max_pieces", "capacity", "tag"])
def one_shot_kernel(
    x_ptr: tl.const, out_ptr, extra_ptr, payload_ptr, words_ptr, state_ptr, members_ptr,
    me, n, size: tl.int64, piece: tl.int64, max_pieces: tl.int64, capacity: tl.int64, tag: tl.int64,
    DIRECTION: tl.constexpr, OP: tl.constexpr, ACC: tl.constexpr, EPILOGUE: tl.constexpr, REACH: tl.constexpr, BLOCK: tl.constexpr,
):
    pid = tl.program_id(0)
    ncore = tl.num_programs(0)
    call = enter(state_ptr, tag)
    half_ptr = payload_ptr + (call % 2) * capacity
    words_ptr += (call % 2) * 2 * n * max_pieces * SLOT  # halves lie as in the two-shot kernel

    # A program shows the pieces that it reduces later: `out` may be `x`.
    if DIRECTION == "push":
        for number in range(pid, pieces(size, piece), ncore):
            first = number * piece
            for i in range(1, n):
                send(half_ptr + me * size + first, x_ptr + first, tl.minimum(size - first, piece),
                     words_ptr + (me * max_pieces + number) * SLOT, call, tl.load(members_ptr + (me + i) % n), REACH, BLOCK)
    else:
        for number in range(pid, pieces(size, piece), ncore):
            first = number * piece
            copy(half_ptr + first, x_ptr + first, tl.minimum(size - first, piece), BLOCK)
            for i in range(1, n):
                signal(words_ptr + (me * max_pieces + number) * SLOT, call, tl.load(members_ptr + (me + i) % n))

    for number in range(pid, pieces(size, piece), ncore):
        first = number * piece
        count = tl.minimum(size - first, piece)
        for i in range(1, n):
            wait(words_ptr + ((me + i) % n * max_pieces + number) * SLOT, call)
        for at in range(0, count, BLOCK):
            offs = first + at + tl.arange(0, BLOCK)
            mask = offs < first + count
            total = tl.load(shown_by(0, x_ptr, half_ptr, members_ptr, me, size, DIRECTION) + offs, mask=mask).to(ACC)
            for source in range(1, n):
                part = tl.load(shown_by(source, x_ptr, half_ptr, members_ptr, me, size, DIRECTION) + offs, mask=mask)
                total = combine(total, part.to(ACC), OP)
            store_result(out_ptr, finish(total, n, OP).to(out_ptr.dtype.element_ty), offs, mask, extra_ptr, EPILOGUE, ACC)
    leave(state_ptr, REACH)


@nereid.jit
def sent_by(source, own_ptr, places_ptr, me, part):
    """Where this rank's part of what `source` has begins."""
    if source == me:
        sent_ptr = own_ptr.to(tl.pointer_type(places_ptr.dtype.element_ty))
    else:
        sent_ptr = places_ptr + source * part
    return sent_ptr


@nereid.jit(do_not_specialize=["me", "n", "size", "part", "piece", "max_pieces", "capacity", "tag"])
def two_shot_kernel(
    x_ptr: tl.const, out_ptr, extra_ptr, payload_ptr, words_ptr, state_ptr, members_ptr,
    me, n, size: tl.int64, part: tl.int64, piece: tl.int64, max_pieces: tl.int64, capacity: tl.int64, tag: tl.int64,
    OP: tl.constexpr, ACC: tl.constexpr, EPILOGUE: tl.constexpr, REACH: tl.constexpr, BLOCK: tl.constexpr,
):
    """Part r has the elements r * part to (r + 1) * part, as far as there are such. Every part has
    the same number of pieces, whose signals are sent even if they are empty."""
    pid = tl.program_id(0)
    ncore = tl.num_programs(0)
    call = enter(state_ptr, tag)
    # A half: places for the parts of all sources, then for the reduced parts.
    half_ptr = payload_ptr + (call % 2) * capacity
    reduced_ptr = half_ptr + n * part
    words_ptr += (call % 2) * 2 * n * max_pieces * SLOT
    reduced_words_ptr = words_ptr + n * max_pieces * SLOT
    parts = pieces(part, piece)

    for task in range(pid, parts * (n - 1), ncore):
        peers = tl.maximum(n - 1, 1)
        target = (me + 1 + task % peers) % n
        number = task // peers
        first = target * part + number * piece
        count = tl.minimum(tl.minimum(part - number * piece, piece), size - first)
        send(half_ptr + me * part + number * piece, x_ptr + first, tl.maximum(count, 0),
             words_ptr + (me * max_pieces + number) * SLOT, call, tl.load(members_ptr + target), REACH, BLOCK)

    for number in range(pid, parts, ncore):
        inner = number * piece
        first = me * part + inner
        count = tl.maximum(tl.minimum(tl.minimum(part - inner, piece), size - first), 0)
        for i in range(1, n):
            wait(words_ptr + ((me + i) % n * max_pieces + number) * SLOT, call)
        for at in range(0, count, BLOCK):
            offs = at + tl.arange(0, BLOCK)
            mask = offs < count
            total = tl.load(sent_by(0, x_ptr + first, half_ptr + inner, me, part) + offs, mask=mask).to(ACC)
            for source in range(1, n):
                value = tl.load(sent_by(source, x_ptr + first, half_ptr + inner, me, part) + offs, mask=mask)
                total = combine(total, value.to(ACC), OP)
            result = finish(total, n, OP).to(out_ptr.dtype.element_ty)
            store_result(out_ptr, result, first + offs, mask, extra_ptr, EPILOGUE, ACC)
            tl.store(reduced_ptr + first + offs, result, mask=mask)
        word_ptr = reduced_words_ptr + (me * max_pieces + number) * SLOT
        for i in range(1, n):
            peer = tl.load(members_ptr + (me + i) % n)
            if REACH == "put":
                send(reduced_ptr + first, reduced_ptr + first, count, word_ptr, call, peer, REACH, BLOCK)
            else:  # peers read it where it lies
                signal(word_ptr, call, peer)

    for task in range(pid, parts * (n - 1), ncore):
        peers = tl.maximum(n - 1, 1)
        source = (me + 1 + task % peers) % n
        number = task // peers
        first = source * part + number * piece
        count = tl.maximum(tl.minimum(tl.minimum(part - number * piece, piece), size - first), 0)
        word_ptr = reduced_words_ptr + (source * max_pieces + number) * SLOT
        ready = arrived(reduced_ptr, word_ptr, call)
        if REACH != "put":
            ready = dl.symm_at(ready, tl.load(members_ptr + source))
        for at in range(0, count, BLOCK):
            offs = at + tl.arange(0, BLOCK)
            mask = offs < count
            store_result(out_ptr, tl.load(ready + first + offs, mask=mask), first + offs, mask, extra_ptr, EPILOGUE, ACC)
    leave(state_ptr, REACH)


@nereid.jit(do_not_specialize=["me", "n", "size", "part", "piece", "max_pieces", "capacity", "tag"])
def ring_kernel(
    x_ptr: tl.const, out_ptr, extra_ptr, payload_ptr, words_ptr, state_ptr, members_ptr,
    me, n, size: tl.int64, part: tl.int64, piece: tl.int64, max_pieces: tl.int64, capacity: tl.int64, tag: tl.int64,
    OP: tl.constexpr, ACC: tl.constexpr, EPILOGUE: tl.constexpr, REACH: tl.constexpr, BLOCK: tl.constexpr,
):
    """Parts as in the two-shot kernel; `payload` has elements of ACC, since what goes round is not rounded. At hop h
    of 0 to 2 n - 2 this rank holds part me - h: at hop 0 its own elements of it, up to n - 1 the sum of h + 1 ranks, then the
    whole. A half has a place for each hop, where the hop's part lies at the receiver, and one for hop 0 of the sender.

    Places lie in two halves, as in the other kernels, although nobody waits for the rank that it writes to: a call ends
    when parts have come that every rank has added to, so who is in call c has seen every rank enter call c - 1, and thus
    end call c - 2. Of words one set is enough. This rank sets that of hop h in call c; the next one has looked at it in call
    c - 1: for h < n - 1 it then added to a part that this rank got whole before it ended call c - 1; for larger h what is sent is a
    whole part of call c, to which the next rank has added in call c."""
    pid = tl.program_id(0)
    ncore = tl.num_programs(0)
    call = enter(state_ptr, tag)
    half_ptr = payload_ptr + (call % 2) * capacity
    peer = tl.load(members_ptr + (me + 1) % n)
    for number in range(pid, pieces(part, piece), ncore):
        inner = number * piece
        for hop in range(0, 2 * n - 1):
            first = (me + 2 * n - hop) % n * part + inner
            count = tl.maximum(tl.minimum(tl.minimum(part - inner, piece), size - first), 0)
            if hop == 0:
                held_ptr = half_ptr + (2 * n - 2) * part + inner
            else:
                held_ptr = arrived(half_ptr, words_ptr + ((hop - 1) * max_pieces + number) * SLOT, call) + (hop - 1) * part + inner
            for at in range(0, count, BLOCK):
                offs = at + tl.arange(0, BLOCK)
                mask = offs < count
                if hop < n:
                    value = tl.load(x_ptr + first + offs, mask=mask).to(ACC)
                    if hop > 0:
                        value = combine(tl.load(held_ptr + offs, mask=mask), value, OP)
                    if hop == n - 1:
                        value = finish(value, n, OP)
                    tl.store(held_ptr + offs, value, mask=mask)
                if hop >= n - 1:
                    result = tl.load(held_ptr + offs, mask=mask).to(out_ptr.dtype.element_ty)
                    store_result(out_ptr, result, first + offs, mask, extra_ptr, EPILOGUE, ACC)
            if hop < 2 * n - 2:
                send(half_ptr + hop * part + inner, held_ptr, count, words_ptr + (hop * max_pieces + number) * SLOT, call, peer,
                     REACH, BLOCK)
    leave(state_ptr, REACH)
