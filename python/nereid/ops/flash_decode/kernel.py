# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decoding attention over K and V that are split among ranks by position.

    part       each program takes (batch, K/V head, split): softmax over the split's keys, with the
               running maximum; o and the logarithm of the sum (lse) go to local memory
    combine    the splits of a (batch, K/V head) are put together and sent to all ranks (parity)
    combine    the same for the parts of all ranks, in the order of the ranks

A place holds the GROUP query heads of one K/V head: o (GROUP, dim), then lse (GROUP), in fp32. A
part without keys has lse = -inf and o = 0; nothing is ever multiplied with memory beyond `lengths`.
"""

import nereid
import nereid.language as tl
from nereid.ops.lib.protocol import SLOT, arrived, enter, leave, send, signal


@nereid.jit
def store_part(place_ptr, o, lse, dim, GROUP: tl.constexpr, BLOCK_G: tl.constexpr, BLOCK_D: tl.constexpr):
    offs_g = tl.arange(0, BLOCK_G)
    offs_d = tl.arange(0, BLOCK_D)
    tl.store(place_ptr + offs_g[:, None] * dim + offs_d[None, :], o, mask=(offs_g < GROUP)[:, None] & (offs_d < dim)[None, :])
    tl.store(place_ptr + GROUP * dim + offs_g, lse, mask=offs_g < GROUP)


@nereid.jit
def combined(places_ptr, words_ptr, place_stride, word_stride, parts, mark, dim, GROUP: tl.constexpr, BLOCK_G: tl.constexpr,
             BLOCK_D: tl.constexpr):
    """(o, lse) of `parts` parts, each after its word, in their order."""
    offs_g = tl.arange(0, BLOCK_G)
    offs_d = tl.arange(0, BLOCK_D)
    mask = (offs_g < GROUP)[:, None] & (offs_d < dim)[None, :]
    greatest = tl.full((BLOCK_G,), float("-inf"), tl.float32)
    weights = tl.zeros((BLOCK_G,), tl.float32)
    total = tl.zeros((BLOCK_G, BLOCK_D), tl.float32)
    for part in range(0, parts):
        place_ptr = arrived(places_ptr, words_ptr + part * word_stride, mark) + part * place_stride
        lse = tl.load(place_ptr + GROUP * dim + offs_g, mask=offs_g < GROUP, other=float("-inf"))
        o = tl.load(place_ptr + offs_g[:, None] * dim + offs_d[None, :], mask=mask, other=0.0)
        more = tl.maximum(greatest, lse)
        base = tl.where(more == float("-inf"), 0.0, more)  # no keys so far: all weights are exp(-inf) = 0
        kept = tl.exp(greatest - base)
        weight = tl.exp(lse - base)
        total = total * kept[:, None] + o * weight[:, None]
        weights = weights * kept + weight
        greatest = more
    o = total / tl.where(weights == 0.0, 1.0, weights)[:, None]
    lse = tl.where(weights == 0.0, float("-inf"), greatest + tl.log(tl.where(weights == 0.0, 1.0, weights)))
    return o, lse


@nereid.jit(do_not_specialize=["me", "n", "batch", "heads_kv", "splits", "scale", "tag"])
def flash_decode_kernel(
    q_ptr: tl.const, k_ptr: tl.const, v_ptr: tl.const, lengths_ptr: tl.const, table_ptr: tl.const, out_ptr, payload_ptr, words_ptr, state_ptr, members_ptr,
    stride_kb, stride_ks, stride_kh, stride_vb, stride_vs, stride_vh, stride_table,
    me, n, batch, heads_kv, splits, dim, scale: tl.float32, tag: tl.int64,
    PAGE: tl.constexpr, GROUP: tl.constexpr, REACH: tl.constexpr,
    BLOCK_G: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK: tl.constexpr,
):
    """q, out: (batch, heads_kv * GROUP, dim). k, v: rows of (page or batch, position, head); with PAGE > 0
    position p of a batch stands in page table[batch, p // PAGE]. `payload`: places (half, source, task),
    then of the own splits (split, task); words alike."""
    pid = tl.program_id(0)
    ncore = tl.num_programs(0)
    mark = enter(state_ptr, tag)
    tasks = batch * heads_kv
    PLACE = (GROUP * (dim + 1)).to(tl.int64)
    half = (mark % 2) * n * tasks
    places_ptr = payload_ptr + half * PLACE
    arrived_ptr = words_ptr + half * SLOT
    splits_ptr = payload_ptr + 2 * n * tasks * PLACE
    split_words_ptr = words_ptr + 2 * n * tasks * SLOT
    own_rank = tl.load(members_ptr + me)

    offs_g = tl.arange(0, BLOCK_G)
    offs_d = tl.arange(0, BLOCK_D)
    for work in range(pid, tasks * splits, ncore):
        task = work // splits
        split = work % splits
        b = task // heads_kv
        head = (task % heads_kv).to(tl.int64)
        length = tl.load(lengths_ptr + b).to(tl.int32)
        each = tl.cdiv(tl.cdiv(length, splits), BLOCK_N) * BLOCK_N
        end = tl.minimum((split + 1) * each, length)
        q = tl.load(q_ptr + (task * GROUP + offs_g)[:, None] * dim + offs_d[None, :],
                    mask=(offs_g < GROUP)[:, None] & (offs_d < dim)[None, :], other=0.0)
        greatest = tl.full((BLOCK_G,), float("-inf"), tl.float32)
        weights = tl.zeros((BLOCK_G,), tl.float32)
        total = tl.zeros((BLOCK_G, BLOCK_D), tl.float32)
        for start in range(split * each, end, BLOCK_N):
            position = start + tl.arange(0, BLOCK_N)
            there = position < end
            if PAGE > 0:
                outer = tl.load(table_ptr + b * stride_table + position // PAGE, mask=there, other=0).to(tl.int64)
                inner = (position % PAGE).to(tl.int64)
            else:
                outer = tl.zeros((BLOCK_N,), tl.int64) + b
                inner = position.to(tl.int64)
            mask = there[:, None] & (offs_d < dim)[None, :]
            k = tl.load(k_ptr + (outer * stride_kb + inner * stride_ks + head * stride_kh)[:, None] + offs_d[None, :],
                        mask=mask, other=0.0)
            scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
            scores = tl.where(there[None, :], scores, float("-inf"))
            more = tl.maximum(greatest, tl.max(scores, 1))  # finite: a block has at least one key
            p = tl.exp(scores - more[:, None])
            kept = tl.exp(greatest - more)
            v = tl.load(v_ptr + (outer * stride_vb + inner * stride_vs + head * stride_vh)[:, None] + offs_d[None, :],
                        mask=mask, other=0.0)
            total = total * kept[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
            weights = weights * kept + tl.sum(p, 1)
            greatest = more
        some = tl.where(weights == 0.0, 1.0, weights)
        place_ptr = splits_ptr + (split * tasks + task) * PLACE
        store_part(place_ptr, total / some[:, None], tl.where(weights == 0.0, float("-inf"), greatest + tl.log(some)), dim,
                   GROUP, BLOCK_G, BLOCK_D)
        signal(split_words_ptr + (split * tasks + task) * SLOT, mark, own_rank)

    for task in range(pid, tasks, ncore):
        o, lse = combined(splits_ptr + task * PLACE, split_words_ptr + task * SLOT, tasks * PLACE, tasks * SLOT, splits, mark,
                          dim, GROUP, BLOCK_G, BLOCK_D)
        place_ptr = places_ptr + (me * tasks + task) * PLACE
        word_ptr = arrived_ptr + (me * tasks + task) * SLOT
        store_part(place_ptr, o, lse, dim, GROUP, BLOCK_G, BLOCK_D)
        signal(word_ptr, mark, own_rank)
        for i in range(1, n):
            send(place_ptr, place_ptr, PLACE, word_ptr, mark, tl.load(members_ptr + (me + i) % n), REACH, BLOCK)

    for task in range(pid, tasks, ncore):
        o, lse = combined(places_ptr + task * PLACE, arrived_ptr + task * SLOT, tasks * PLACE, tasks * SLOT, n, mark,
                          dim, GROUP, BLOCK_G, BLOCK_D)
        tl.store(out_ptr + (task * GROUP + offs_g)[:, None] * dim + offs_d[None, :], o.to(out_ptr.dtype.element_ty),
                 mask=(offs_g < GROUP)[:, None] & (offs_d < dim)[None, :])
    leave(state_ptr, REACH)
