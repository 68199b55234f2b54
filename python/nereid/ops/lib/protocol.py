# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How ranks meet inside an operator: entering and leaving a call, signals, sending.

All words are set by one writer each, to the mark of the call (its number and which call it is),
and awaited by equality; none is ever reset. The number of the call lies in the operator's own memory, state[0];
state[1] counts the programs that have left. docs/operators.md has the three protocols
(gate, parity, mailbox) and why no word is set again before everybody has seen it.
"""

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device

#: Distance of two signal words, in words: one cache line for each.
SLOT = tl.constexpr(8)


@nereid.jit
def enter(state_ptr, tag):
    """The mark of this call: its number, from 1, plus `tag`, an even multiple of 2^32 that says which
    call it is. All programs of a launch read the same; ranks whose calls differ never see
    each other's marks."""
    return tl.load(state_ptr) + 1 + tag


@nereid.jit
def is_last(state_ptr):
    """Whether this program is the last one of the launch that gets here."""
    return tl.atomic_add(state_ptr + 1, 1) == tl.num_programs(0) - 1


@nereid.jit
def leave(state_ptr, REACH: tl.constexpr):
    """Ends the call: the last program counts it. Sources of pending puts may change afterwards."""
    if REACH == "put":
        libshmem_device.quiet()
    if is_last(state_ptr):
        tl.store(state_ptr + 1, 0)
        tl.store(state_ptr, tl.load(state_ptr) + 1)


@nereid.jit
def signal(word_ptr, call, peer):
    """Sets the word on `peer`, a rank of this node, after everything that this program did before."""
    dl.notify(word_ptr, peer, signal=call, sig_op="set", comm_scope="intra_node")


@nereid.jit
def signal_anywhere(word_ptr, call, peer, REACH: tl.constexpr):
    """Sets the word on `peer`, on whatever node. Not ordered after transfers of this call; what was sent in earlier
    calls has arrived, since they ended with `leave`."""
    if REACH == "put":
        libshmem_device.signal_op(word_ptr, call, libshmem_device.NVSHMEM_SIGNAL_SET, peer)
    else:
        signal(word_ptr, call, peer)


@nereid.jit
def arrived(ptr, word_ptr, call):
    """`ptr`, for accesses to what the writer of the word wrote before it set it to `call`."""
    token = dl.wait(word_ptr, 1, "sys", "acquire", waitValue=call)
    return dl.consume_token(ptr, token)


@nereid.jit
def wait(word_ptr, call):
    """Waits until the word is `call`."""
    libshmem_device.signal_wait_until(word_ptr, libshmem_device.NVSHMEM_CMP_EQ, call)


@nereid.jit
def copy(to_ptr, from_ptr, count, BLOCK: tl.constexpr):
    """Copies `count` elements that lie next to each other; converts to the type of `to_ptr`."""
    for first in range(0, count, BLOCK):
        offs = first + tl.arange(0, BLOCK)
        mask = offs < count
        tl.store(to_ptr + offs, tl.load(from_ptr + offs, mask=mask).to(to_ptr.dtype.element_ty), mask=mask)


@nereid.jit
def send(to_ptr, from_ptr, count, word_ptr, call, peer, REACH: tl.constexpr, BLOCK: tl.constexpr):
    """`count` elements to the same place `to_ptr` on `peer`, then the word there := call."""
    if REACH == "put":
        size: tl.constexpr = from_ptr.dtype.element_ty.primitive_bitwidth // 8
        libshmem_device.putmem_signal_nbi_block(
            to_ptr, from_ptr, count * size, word_ptr, call, libshmem_device.NVSHMEM_SIGNAL_SET, peer)
    else:
        copy(dl.symm_at(to_ptr, peer), from_ptr, count, BLOCK)
        signal(word_ptr, call, peer)


@nereid.jit
def pieces(count, piece):
    """Into how many pieces `count` elements fall; at least one, so that every pair of ranks
    exchanges a signal in every call, which the parity protocol needs."""
    return tl.maximum(tl.cdiv(count, piece), 1)
