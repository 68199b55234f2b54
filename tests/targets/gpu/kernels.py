# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels whose results tell whether memory is in order on a GPU."""

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device


@nereid.jit
def plain_add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1.0, mask=i < n)


@nereid.jit
def message(buffer_ptr, signal_ptr, wrong_ptr, rounds, BLOCK: tl.constexpr):
    """Each program sends a block to the next rank in every round, which acknowledges it; counts wrong words."""
    rank = dl.rank()
    world = dl.num_ranks()
    pid = tl.program_id(0)
    right = (rank + 1) % world
    left = (rank + world - 1) % world
    offs = tl.arange(0, BLOCK)
    mine = buffer_ptr + pid * BLOCK
    full = signal_ptr + pid * 2
    empty = signal_ptr + pid * 2 + 1
    wrong = tl.zeros((BLOCK,), tl.int32)
    for r in range(1, rounds + 1):
        tl.store(dl.symm_at(mine, right) + offs, offs * 7 + r * 3 + rank)
        dl.notify(full, right, signal=r, sig_op="set", comm_scope="intra_node")
        token = dl.wait(full, 1, "sys", "acquire", waitValue=r)
        got = tl.load(dl.consume_token(mine, token) + offs)
        wrong += (got != offs * 7 + r * 3 + left).to(tl.int32)
        dl.notify(empty, left, signal=r, sig_op="set", comm_scope="intra_node")
        token = dl.wait(empty, 1, "sys", "acquire", waitValue=r)
        mine = dl.consume_token(mine, token)
    tl.store(wrong_ptr + pid, tl.sum(wrong))


@nereid.jit
def barriers(slots_ptr, wrong_ptr, rounds, P: tl.constexpr):
    """Every program writes its round to all ranks; behind the barrier all have."""
    rank = dl.rank()
    world = dl.num_ranks()
    pid = tl.program_id(0)
    wrong = 0
    for r in range(1, rounds + 1):
        for to in range(0, world):
            tl.store(dl.symm_at(slots_ptr, to) + rank * P + pid, r)
        libshmem_device.barrier_all()
        for of in range(0, world):
            wrong += tl.sum((tl.load(slots_ptr + of * P + tl.arange(0, P)) != r).to(tl.int32))
        libshmem_device.barrier_all()
    tl.store(wrong_ptr + pid, wrong)


@nereid.jit
def store_then_load(x_ptr, wrong_ptr, rounds, BLOCK: tl.constexpr):
    """A program's load comes after its store to the same place."""
    i = tl.arange(0, BLOCK)
    own = x_ptr + tl.program_id(0) * BLOCK
    wrong = 0
    for r in range(0, rounds):
        tl.store(own + i, i + r)
        wrong += tl.sum((tl.load(own + (BLOCK - 1 - i)) != (BLOCK - 1 - i) + r).to(tl.int32))
    tl.store(wrong_ptr + tl.program_id(0), wrong)


@nereid.jit
def endless(signal_ptr, value):
    token = dl.wait(signal_ptr + tl.program_id(0), 1, "sys", "acquire", waitValue=value)
    tl.store(dl.consume_token(signal_ptr, token), 1)
