# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Protocols in which every synchronisation is needed: nothing may be reported of them, on any number of ranks, and
something must be of each mutant (mutants.py).

A protocol is a function of PROTOCOLS. Run alone, the script takes names; without, it runs all.
"""

import sys

import numpy as np

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device, symm

N = 96  # elements of a message


# ---- messages by stores and notify


@nereid.jit
def message_kernel(data, ready, out, N: tl.constexpr):
    me, world = dl.rank(), dl.num_ranks()
    offs = tl.arange(0, N)
    tl.store(dl.symm_at(data, (me + 1) % world) + offs, (offs + me).to(tl.float32))
    dl.notify(ready, (me + 1) % world, signal=1, sig_op="set", comm_scope="intra_node")
    token = dl.wait(ready, 1, "gpu", "acquire", waitValue=1)
    data = dl.consume_token(data, token)
    tl.store(out + offs, tl.load(data + offs))


def message():
    data, ready, out = symm.zeros(N, dtype="float32"), symm.zeros(1, dtype="int32"), np.zeros(N, np.float32)
    message_kernel[(1,)](data, ready, out, N)
    check(out, np.arange(N) + before())


@nereid.jit
def two_messages_kernel(data, ready, out, N: tl.constexpr):
    """Two words, two buffers, one token each, in a loop."""
    me, world = dl.rank(), dl.num_ranks()
    offs = tl.arange(0, N)
    for part in range(2):
        tl.store(dl.symm_at(data, (me + 1) % world) + part * N + offs, (offs + part).to(tl.float32))
        dl.notify(ready + part, (me + 1) % world, signal=1, sig_op="set", comm_scope="intra_node")
    first = dl.wait(ready, 1, "gpu", "acquire", waitValue=1)
    second = dl.wait(ready + 1, 1, "gpu", "acquire", waitValue=1)
    a = tl.load(dl.consume_token(data, first) + offs)
    b = tl.load(dl.consume_token(data + N, second) + offs)
    tl.store(out + offs, a + b)


def two_messages():
    data, ready, out = symm.zeros(2 * N, dtype="float32"), symm.zeros(2, dtype="int32"), np.zeros(N, np.float32)
    two_messages_kernel[(1,)](data, ready, out, N)
    check(out, 2 * np.arange(N) + 1)


@nereid.jit
def queue_kernel(data, full, free, out, TURNS: tl.constexpr, N: tl.constexpr):
    """One slot, filled and freed in turn: program 0 produces for the next rank, program 1 consumes."""
    me, world = dl.rank(), dl.num_ranks()
    offs = tl.arange(0, N)
    for turn in range(TURNS):
        if tl.program_id(0) == 0:
            token = dl.wait(free, 1, "gpu", "acquire", waitValue=turn)
            slot = dl.consume_token(dl.symm_at(data, (me + 1) % world), token)
            tl.store(slot + offs, (offs + turn).to(tl.float32))
            dl.notify(full, (me + 1) % world, signal=turn + 1, sig_op="set", comm_scope="intra_node")
        else:
            token = dl.wait(full, 1, "gpu", "acquire", waitValue=turn + 1)
            tl.store(out + turn * N + offs, tl.load(dl.consume_token(data, token) + offs))
            dl.notify(free, (me + world - 1) % world, signal=turn + 1, sig_op="set", comm_scope="intra_node")


def queue():
    data, out = symm.zeros(N, dtype="float32"), np.zeros((3, N), np.float32)
    full, free = symm.zeros(1, dtype="int32"), symm.zeros(1, dtype="int32")
    queue_kernel[(2,)](data, full, free, out, 3, N)
    check(out, np.arange(N) + np.arange(3)[:, None])


# ---- messages by transfers


@nereid.jit
def put_kernel(data, mine, ready, out, N: tl.constexpr):
    me, world = dl.rank(), dl.num_ranks()
    offs = tl.arange(0, N)
    tl.store(mine + offs, (offs + me).to(tl.float32))
    libshmem_device.putmem(data, mine, N * 4, (me + 1) % world)
    libshmem_device.fence()
    libshmem_device.signal_op(ready, 1, libshmem_device.NVSHMEM_SIGNAL_SET, (me + 1) % world)
    libshmem_device.signal_wait_until(ready, libshmem_device.NVSHMEM_CMP_EQ, 1)
    tl.store(out + offs, tl.load(data + offs))


def put():
    data, mine = symm.zeros(N, dtype="float32"), symm.zeros(N, dtype="float32")
    ready, out = symm.zeros(1, dtype="int64"), np.zeros(N, np.float32)
    put_kernel[(1,)](data, mine, ready, out, N)
    check(out, np.arange(N) + before())


@nereid.jit
def put_notify_kernel(data, mine, ready, out, N: tl.constexpr):
    """Inside a node notify comes after the transfers to its rank."""
    me, world = dl.rank(), dl.num_ranks()
    offs = tl.arange(0, N)
    tl.store(mine + offs, (offs + me).to(tl.float32))
    libshmem_device.putmem(data, mine, N * 4, (me + 1) % world)
    dl.notify(ready, (me + 1) % world, signal=1, sig_op="add", comm_scope="intra_node")
    token = dl.wait(ready, 1, "gpu", "acquire", waitValue=1)
    tl.store(out + offs, tl.load(dl.consume_token(data, token) + offs))


def put_notify():
    data, mine = symm.zeros(N, dtype="float32"), symm.zeros(N, dtype="float32")
    ready, out = symm.zeros(1, dtype="int32"), np.zeros(N, np.float32)
    put_notify_kernel[(1,)](data, mine, ready, out, N)
    check(out, np.arange(N) + before())


@nereid.jit
def relay_kernel(data, mine, asked, ready, out, N: tl.constexpr):
    """Program 0 puts and tells program 1 of its rank, which tells the next rank, whose program 2 reads."""
    me, world, pid = dl.rank(), dl.num_ranks(), tl.program_id(0)
    offs = tl.arange(0, N)
    if pid == 0:
        libshmem_device.putmem(data, mine, N * 4, (me + 1) % world)
        libshmem_device.quiet()
        libshmem_device.signal_op(asked, 1, libshmem_device.NVSHMEM_SIGNAL_SET, me)
    elif pid == 1:
        libshmem_device.signal_wait_until(asked, libshmem_device.NVSHMEM_CMP_EQ, 1)
        dl.notify(ready, (me + 1) % world, signal=1, sig_op="set", comm_scope="inter_node")
    else:
        token = dl.wait(ready, 1, "gpu", "acquire", waitValue=1)
        tl.store(out + offs, tl.load(dl.consume_token(data, token) + offs))


def relay():
    data, mine = symm.zeros(N, dtype="float32"), symm.full(N, nereid.rank(), dtype="float32")
    asked, ready, out = symm.zeros(1, dtype="int64"), symm.zeros(1, dtype="int32"), np.zeros(N, np.float32)
    relay_kernel[(3,)](data, mine, asked, ready, out, N)
    check(out, np.full(N, before()))


@nereid.jit
def put_signal_kernel(data, mine, full, free, out, TURNS: tl.constexpr, N: tl.constexpr):
    """Data with its signal, and a way back by signal_op after the load."""
    me, world = dl.rank(), dl.num_ranks()
    offs = tl.arange(0, N)
    for turn in range(TURNS):
        if tl.program_id(0) == 0:
            libshmem_device.signal_wait_until(free, libshmem_device.NVSHMEM_CMP_EQ, turn)
            tl.store(mine + offs, (offs + turn).to(tl.float32))
            libshmem_device.putmem_signal(data, mine, N * 4, full, turn + 1, libshmem_device.NVSHMEM_SIGNAL_SET, (me + 1) % world)
        else:
            libshmem_device.signal_wait_until(full, libshmem_device.NVSHMEM_CMP_EQ, turn + 1)
            tl.store(out + turn * N + offs, tl.load(data + offs))
            libshmem_device.signal_op(free, turn + 1, libshmem_device.NVSHMEM_SIGNAL_SET, (me + world - 1) % world)


def put_signal():
    data, mine = symm.zeros(N, dtype="float32"), symm.zeros(N, dtype="float32")
    full, free, out = symm.zeros(1, dtype="int64"), symm.zeros(1, dtype="int64"), np.zeros((3, N), np.float32)
    put_signal_kernel[(2,)](data, mine, full, free, out, 3, N)
    check(out, np.arange(N) + np.arange(3)[:, None])


@nereid.jit
def nbi_kernel(data, mine, out, N: tl.constexpr):
    """A source that is used again, and a get that does not block."""
    me, world = dl.rank(), dl.num_ranks()
    offs = tl.arange(0, N)
    for turn in range(2):
        tl.store(mine + offs, (offs + turn).to(tl.float32))
        libshmem_device.putmem_nbi(data + turn * N, mine, N * 4, (me + 1) % world)
        libshmem_device.quiet()
    libshmem_device.barrier_all()
    libshmem_device.getmem_nbi(mine, data + N, N * 4, (me + 1) % world)
    libshmem_device.quiet()
    tl.store(out + offs, tl.load(mine + offs) + tl.load(data + offs))


def nbi():
    data, mine, out = symm.zeros(2 * N, dtype="float32"), symm.zeros(N, dtype="float32"), np.zeros(N, np.float32)
    nbi_kernel[(1,)](data, mine, out, N)
    check(out, 2 * np.arange(N) + 1)


@nereid.jit
def ordered_kernel(data, mine, more, ready, out, N: tl.constexpr):
    """Two puts to one place; the second is what counts."""
    me, world = dl.rank(), dl.num_ranks()
    offs = tl.arange(0, N)
    libshmem_device.putmem(data, mine, N * 4, (me + 1) % world)
    libshmem_device.fence()
    libshmem_device.putmem_signal(data, more, N * 4, ready, 1, libshmem_device.NVSHMEM_SIGNAL_ADD, (me + 1) % world)
    libshmem_device.signal_wait_until(ready, libshmem_device.NVSHMEM_CMP_GE, 1)
    tl.store(out + offs, tl.load(data + offs))


def ordered():
    data, mine, more = symm.zeros(N, dtype="float32"), symm.zeros(N, dtype="float32"), symm.full(N, 5, dtype="float32")
    ready, out = symm.zeros(1, dtype="int64"), np.zeros(N, np.float32)
    ordered_kernel[(1,)](data, mine, more, ready, out, N)
    check(out, np.full(N, 5))


# ---- meetings


@nereid.jit
def meeting_kernel(data, out, TURNS: tl.constexpr, N: tl.constexpr):
    """Transfers, a barrier, loads, a barrier."""
    me, world = dl.rank(), dl.num_ranks()
    offs = tl.arange(0, N)
    for turn in range(TURNS):
        tl.store(data + offs, (offs + turn).to(tl.float32))
        libshmem_device.putmem(data + N, data, N * 4, (me + 1) % world)
        libshmem_device.barrier_all()
        tl.store(out + turn * N + offs, tl.load(data + N + offs))
        libshmem_device.barrier_all()


def meeting():
    data, out = symm.zeros(2 * N, dtype="float32"), np.zeros((2, N), np.float32)
    meeting_kernel[(1,)](data, out, 2, N)
    check(out, np.arange(N) + np.arange(2)[:, None])


@nereid.jit
def quiet_sync_kernel(data, mine, out, N: tl.constexpr):
    """sync_all completes nothing: quiet has to."""
    me, world = dl.rank(), dl.num_ranks()
    offs = tl.arange(0, N)
    libshmem_device.putmem(data, mine, N * 4, (me + 1) % world)
    libshmem_device.quiet()
    libshmem_device.sync_all()
    tl.store(out + offs, tl.load(data + offs))


def quiet_sync():
    data, mine, out = symm.zeros(N, dtype="float32"), symm.full(N, 3, dtype="float32"), np.zeros(N, np.float32)
    quiet_sync_kernel[(1,)](data, mine, out, N)
    check(out, np.full(N, 3))


@nereid.jit
def slots_kernel(data, out, TURNS: tl.constexpr, N: tl.constexpr):
    """Two slots in turn need one barrier for each turn."""
    me, world = dl.rank(), dl.num_ranks()
    offs = tl.arange(0, N)
    for turn in range(TURNS):
        slot = (turn % 2) * N
        tl.store(dl.symm_at(data, (me + 1) % world) + slot + offs, (offs + turn).to(tl.float32))
        libshmem_device.barrier_all()
        tl.store(out + turn * N + offs, tl.load(data + slot + offs))


def slots():
    data, out = symm.zeros(2 * N, dtype="float32"), np.zeros((3, N), np.float32)
    slots_kernel[(1,)](data, out, 3, N)
    check(out, np.arange(N) + np.arange(3)[:, None])


# ---- words


@nereid.jit
def gather_kernel(data, count, done, out, N: tl.constexpr):
    """All ranks write to rank 0 and count; rank 0 waits for all, reads, and tells all that it has."""
    me, world = dl.rank(), dl.num_ranks()
    offs = tl.arange(0, N)
    tl.store(dl.symm_at(data, 0) + me * N + offs, (offs + me).to(tl.float32))
    dl.notify(count, 0, signal=1, sig_op="add", comm_scope="intra_node")
    if me == 0:
        token = dl.wait(count, 1, "gpu", "acquire", waitValue=world)
        data = dl.consume_token(data, token)
        for rank in range(world):
            tl.store(out + rank * N + offs, tl.load(data + rank * N + offs))
        for rank in range(world):
            dl.notify(done, rank, signal=1, sig_op="set", comm_scope="intra_node")
    token = dl.wait(done, 1, "gpu", "acquire", waitValue=1)
    tl.store(dl.consume_token(dl.symm_at(data, 0), token) + me * N + offs, tl.zeros((N,), tl.float32))


def gather():
    world = nereid.world_size()
    data, out = symm.zeros((world, N), dtype="float32"), np.zeros((world, N), np.float32)
    count, done = symm.zeros(1, dtype="int32"), symm.zeros(1, dtype="int32")
    gather_kernel[(1,)](data, count, done, out, N)
    if nereid.rank() == 0:
        check(out, np.arange(N) + np.arange(world)[:, None])


@nereid.jit
def meet_by_atomics_kernel(out, counter, N: tl.constexpr):
    pid, offs = tl.program_id(0), tl.arange(0, N)
    tl.store(out + pid * N + offs, (offs + pid).to(tl.float32))
    tl.atomic_add(counter, 1, sem="release")
    while tl.atomic_add(counter, 0, sem="acquire") < tl.num_programs(0):
        pass
    other = (pid + 1) % tl.num_programs(0)
    tl.store(out + (tl.num_programs(0) + pid) * N + offs, tl.load(out + other * N + offs))


def meet_by_atomics():
    out, counter = np.zeros((6, N), np.float32), np.zeros(1, np.int32)
    meet_by_atomics_kernel[(3,)](out, counter, N)
    check(out[3:], out[[1, 2, 0]])


@nereid.jit
def flag_kernel(data, flag, out, N: tl.constexpr):
    """A release and an acquire of one word between ranks."""
    me, world = dl.rank(), dl.num_ranks()
    offs = tl.arange(0, N)
    tl.store(dl.symm_at(data, (me + 1) % world) + offs, (offs + me).to(tl.float32))
    tl.atomic_xchg(dl.symm_at(flag, (me + 1) % world), 1, sem="release", scope="sys")
    while tl.atomic_cas(flag, 1, 2, sem="acquire", scope="sys") != 1:
        pass
    tl.store(out + offs, tl.load(data + offs))


def flag():
    data, word, out = symm.zeros(N, dtype="float32"), symm.zeros(1, dtype="int32"), np.zeros(N, np.float32)
    flag_kernel[(1,)](data, word, out, N)
    check(out, np.arange(N) + before())


@nereid.jit
def lock_kernel(total, word, TURNS: tl.constexpr):
    """A lock of rank 0 that the programs of all ranks take."""
    lock = dl.symm_at(word, 0)
    sum = dl.symm_at(total, 0)
    for _ in range(TURNS):
        while tl.atomic_cas(lock, 0, 1, sem="acquire", scope="sys") != 0:
            pass
        tl.store(sum, tl.load(sum) + 1.0)
        tl.atomic_xchg(lock, 0, sem="release", scope="sys")


def lock():
    total, word = symm.zeros(1, dtype="float32"), symm.zeros(1, dtype="int32")
    lock_kernel[(2,)](total, word, 2)
    nereid.barrier()
    if nereid.rank() == 0:
        check(total.numpy(), 4.0 * nereid.world_size())


@nereid.jit
def tickets_kernel(out, next_ticket, COUNT: tl.constexpr, N: tl.constexpr):
    """Programs that draw their work."""
    offs = tl.arange(0, N)
    ticket = tl.atomic_add(next_ticket, 1)
    while ticket < COUNT:
        tl.store(out + ticket * N + offs, (offs + ticket).to(tl.float32))
        ticket = tl.atomic_add(next_ticket, 1)


def tickets():
    out, next_ticket = np.zeros((7, N), np.float32), np.zeros(1, np.int32)
    tickets_kernel[(3,)](out, next_ticket, 7, N)
    check(out, np.arange(N) + np.arange(7)[:, None])


# ---- launches


@nereid.jit(do_not_specialize=["call"])
def calls_kernel(data, ready, free, out, call, N: tl.constexpr):
    """Words that count calls: no barrier of hosts between launches."""
    me, world = dl.rank(), dl.num_ranks()
    offs = tl.arange(0, N)
    dl.notify(free, (me + world - 1) % world, signal=call, sig_op="set", comm_scope="intra_node")
    token = dl.wait(free, 1, "gpu", "acquire", waitValue=call)
    tl.store(dl.consume_token(dl.symm_at(data, (me + 1) % world), token) + offs, (offs + call).to(tl.float32))
    dl.notify(ready, (me + 1) % world, signal=call, sig_op="set", comm_scope="intra_node")
    token = dl.wait(ready, 1, "gpu", "acquire", waitValue=call)
    tl.store(out + offs, tl.load(dl.consume_token(data, token) + offs))


def calls():
    data, out = symm.zeros(N, dtype="float32"), np.zeros(N, np.float32)
    ready, free = symm.zeros(1, dtype="int32"), symm.zeros(1, dtype="int32")
    for call in range(1, 4):
        calls_kernel[(1,)](data, ready, free, out, call, N)
        check(out, np.arange(N) + call)


@nereid.jit
def push_kernel(data, value, N: tl.constexpr):
    me, world = dl.rank(), dl.num_ranks()
    tl.store(dl.symm_at(data, (me + 1) % world) + tl.arange(0, N), tl.full((N,), 1.0, tl.float32) * value)


@nereid.jit
def read_kernel(data, out, N: tl.constexpr):
    offs = tl.arange(0, N)
    tl.store(out + offs, tl.load(data + offs))


def launches():
    """One kernel writes, another one reads; hosts meet in between."""
    data, out = symm.zeros(N, dtype="float32"), np.zeros(N, np.float32)
    for turn in range(2):
        push_kernel[(1,)](data, float(turn), N)
        nereid.barrier()
        read_kernel[(1,)](data, out, N)
        check(out, np.full(N, turn))
        nereid.barrier()


@nereid.jit
def raise_kernel(ready, out, N: tl.constexpr):
    me, world = dl.rank(), dl.num_ranks()
    libshmem_device.signal_op(ready, 1, libshmem_device.NVSHMEM_SIGNAL_SET, (me + 1) % world)
    libshmem_device.signal_wait_until(ready, libshmem_device.NVSHMEM_CMP_EQ, 1)
    tl.store(out + tl.arange(0, N), tl.zeros((N,), tl.float32))


def resets():
    """Words that hosts reset between launches, with a barrier before and after."""
    ready, out = symm.zeros(1, dtype="int64"), np.zeros(N, np.float32)
    for _ in range(2):
        raise_kernel[(1,)](ready, out, N)
        nereid.barrier()
        ready.fill_(0)
        nereid.barrier()


def hosts():
    """Host code that puts and signals, host code that waits and gets."""
    me, world = nereid.rank(), nereid.world_size()
    data, ready = symm.zeros(N, dtype="float32"), symm.zeros(1, dtype="int64")
    symm.put(data, np.full(N, me, np.float32), (me + 1) % world)
    symm.signal_op(ready, 1, (me + 1) % world)
    symm.signal_wait_until(ready, 1)
    check(symm.get(data, me), np.full(N, before()))


# ---- all of them


def before() -> int:
    return (nereid.rank() - 1) % nereid.world_size()


def check(found, wanted) -> None:
    np.testing.assert_array_equal(found, np.broadcast_to(wanted, np.shape(found)).astype(np.float32))


PROTOCOLS = {f.__name__: f for f in (
    message, two_messages, queue, put, put_notify, relay, put_signal, nbi, ordered, meeting, quiet_sync, slots, gather,
    meet_by_atomics, flag, lock, tickets, calls, launches, resets, hosts)}


if __name__ == "__main__":
    nereid.init()
    for name in sys.argv[1:] or PROTOCOLS:
        PROTOCOLS[name]()
        nereid.barrier()
