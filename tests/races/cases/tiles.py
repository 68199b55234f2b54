# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Accesses of tl.load, tl.store and tl.atomic_*: racy kernels and their clean twins.

Two ranks. The two lines of a race carry its name, and the second one the code: ``# race NAME`` and
``# race NAME: NRD-0001``. What carries no mark must not be reported.
"""

import numpy as np

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device, symm


# ---- between ranks


@nereid.jit
def unordered(data, out, N: tl.constexpr):
    offs = tl.arange(0, N)
    if dl.rank() == 0:
        tl.store(dl.symm_at(data, 1) + offs, offs.to(tl.float32))  # race unordered
    else:
        tl.store(out + offs, tl.load(data + offs))  # race unordered: NRD-0001|NRD-0002


@nereid.jit
def notified(data, flag, out, N: tl.constexpr):
    offs = tl.arange(0, N)
    if dl.rank() == 0:
        tl.store(dl.symm_at(data, 1) + offs, offs.to(tl.float32))
        dl.notify(flag, 1, signal=1, sig_op="set", comm_scope="intra_node")
    else:
        token = dl.wait(flag, 1, "gpu", "acquire", waitValue=1)
        data = dl.consume_token(data, token)
        tl.store(out + offs, tl.load(data + offs))


@nereid.jit
def notified_early(data, flag, out, N: tl.constexpr):
    offs = tl.arange(0, N)
    if dl.rank() == 0:
        dl.notify(flag, 1, signal=1, sig_op="set", comm_scope="intra_node")
        tl.store(dl.symm_at(data, 1) + offs, offs.to(tl.float32))  # race early
    else:
        token = dl.wait(flag, 1, "gpu", "acquire", waitValue=1)
        data = dl.consume_token(data, token)
        tl.store(out + offs, tl.load(data + offs))  # race early: NRD-0001|NRD-0002


@nereid.jit
def signalled(data, flag, out, FENCE: tl.constexpr, N: tl.constexpr):
    offs = tl.arange(0, N)
    if dl.rank() == 0:
        tl.store(dl.symm_at(data, 1) + offs, offs.to(tl.float32))  # race overtaken
        if FENCE:
            libshmem_device.fence()
        libshmem_device.signal_op(flag, 1, libshmem_device.NVSHMEM_SIGNAL_SET, 1)
    else:
        libshmem_device.signal_wait_until(flag, libshmem_device.NVSHMEM_CMP_EQ, 1)
        tl.store(out + offs, tl.load(data + offs))  # race overtaken: NRD-0004


@nereid.jit
def slots(data, flag, out, TURNS: tl.constexpr, SLOTS: tl.constexpr, N: tl.constexpr):
    """One slot with a barrier each turn: the next turn overwrites what may still be read."""
    offs = tl.arange(0, N)
    for turn in range(TURNS):
        slot = (turn % SLOTS) * N
        if dl.rank() == 0:
            tl.store(dl.symm_at(data, 1) + slot + offs, offs.to(tl.float32))  # race slots: NRD-0002|NRD-0001
        libshmem_device.barrier_all()
        if dl.rank() == 1:
            tl.store(out + offs, tl.load(data + slot + offs))  # race slots


@nereid.jit
def neighbours(data, out, SHARED: tl.constexpr, N: tl.constexpr):
    """Bytes side by side, and the same with one element of both."""
    offs = tl.arange(0, N)
    me = dl.rank()
    tl.store(dl.symm_at(data, 1) + me * (N - SHARED) + offs, offs.to(tl.int8))  # race neighbours: NRD-0003


@nereid.jit
def quiet(data, out, N: tl.constexpr):
    """A put from memory that is changed before it is complete."""
    offs = tl.arange(0, N)
    if dl.rank() == 0:
        libshmem_device.putmem_nbi(data, out, N * 4, 1)  # race source
        tl.store(out + offs, offs.to(tl.float32))  # race source: NRD-0031
        libshmem_device.quiet()
        tl.store(out + offs, offs.to(tl.float32))


# ---- between the programs of a rank


@nereid.jit
def columns(out, WIDTH: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    """Tiles of a matrix side by side, and tiles that overlap by one column."""
    rows, cols = tl.arange(0, M), tl.program_id(0) * WIDTH + tl.arange(0, N)
    tl.store(out + rows[:, None] * 64 + cols[None, :], tl.zeros((M, N), tl.float32))  # race columns: NRD-0005


@nereid.jit
def masked(out, LAST: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    """Tiles that would overlap, but for their masks."""
    pid = tl.program_id(0)
    rows, cols = tl.arange(0, M), tl.arange(0, N)
    mask = (rows[:, None] < M - LAST) & (cols[None, :] >= 0)
    place = out + (pid * (M - 1) + rows)[:, None] * 64 + cols[None, :]
    tl.store(place, tl.zeros((M, N), tl.float32), mask=mask)  # race masked: NRD-0005


@nereid.jit
def scattered(out, places, N: tl.constexpr):
    """Addresses from memory: every second element each, whatever their order."""
    where = tl.load(places + tl.program_id(0) * N + tl.arange(0, N))
    tl.store(out + where, tl.zeros((N,), tl.float32))  # race scattered: NRD-0005


@nereid.jit
def meeting(out, counter, N: tl.constexpr, RELAXED: tl.constexpr):
    """A barrier of programs that is built from atomic operations."""
    pid, offs = tl.program_id(0), tl.arange(0, N)
    tl.store(out + pid * N + offs, offs.to(tl.float32))  # race relaxed: NRD-0014
    if RELAXED:
        tl.atomic_add(counter, 1, sem="relaxed")
        while tl.atomic_add(counter, 0, sem="relaxed") < tl.num_programs(0):
            pass
    else:
        tl.atomic_add(counter, 1)
        while tl.atomic_add(counter, 0) < tl.num_programs(0):
            pass
    other = (pid + 1) % tl.num_programs(0)
    tl.store(out + (2 + pid) * N + offs, tl.load(out + other * N + offs))  # race relaxed


@nereid.jit
def lock(out, word, TURNS: tl.constexpr):
    """A lock by compare-and-swap: what it protects needs no other order."""
    for _ in range(TURNS):
        while tl.atomic_cas(word, 0, 1) != 0:
            pass
        tl.store(out, tl.load(out) + 1.0)
        tl.atomic_xchg(word, 0)


@nereid.jit
def mixed(counter, out):
    """A word that is counted by one program and read like data by another."""
    if tl.program_id(0) == 0:
        tl.atomic_add(counter, 1)  # race mixed
    else:
        tl.store(out, tl.load(counter).to(tl.float32))  # race mixed: NRD-0006


@nereid.jit
def watched(counter, out):
    """The same by a look that takes whole words."""
    if tl.program_id(0) == 0:
        tl.atomic_add(counter, 1)
    else:
        tl.store(out, tl.load(counter, volatile=True).to(tl.float32))


@nereid.jit
def sums(out, N: tl.constexpr):
    """Every program adds to the same elements."""
    tl.atomic_add(out + tl.arange(0, N), tl.full((N,), 1.0, tl.float32))


def main() -> None:
    nereid.init()
    data = symm.zeros(4096, dtype="float32")
    octets = symm.zeros(64, dtype="int8")
    flag = symm.zeros(1, dtype="int64")
    word = symm.zeros(1, dtype="int32")
    out = np.zeros(16384, np.float32)

    def between(kernel, *args, grid=1):
        nereid.barrier()
        kernel[(grid,)](*args)
        nereid.barrier()
        flag.fill_(0)
        word.fill_(0)
        nereid.barrier()

    between(unordered, data, out, 200)
    between(notified, data, flag, out, 200)
    between(notified_early, data, flag, out, 200)
    between(signalled, data, flag, out, True, 200)
    between(signalled, data, flag, out, False, 200)
    between(slots, data, flag, out, 4, 2, 100)
    between(slots, data, flag, out, 4, 1, 100)
    between(neighbours, octets, out, 0, 17)
    between(neighbours, octets, out, 1, 17)
    between(quiet, data, out, 200)

    counter = np.zeros(1, np.int32)
    evens = np.concatenate([np.arange(0, 64, 2), np.arange(1, 64, 2)[::-1]]).astype(np.int32)
    twice = evens.copy()
    twice[40] = twice[3]
    between(columns, out, 8, 8, 8, grid=4)
    between(columns, out, 7, 8, 8, grid=4)
    between(masked, out, 1, 8, 8, grid=4)
    between(masked, out, 0, 8, 8, grid=4)
    between(scattered, out, evens, 32, grid=2)
    between(scattered, out, twice, 32, grid=2)
    for relaxed in (False, True):
        counter[:] = 0
        between(meeting, out, counter, 32, relaxed, grid=2)
    counter[:] = 0
    between(lock, out, counter, 5, grid=4)
    between(mixed, counter, out, grid=2)
    between(watched, counter, out, grid=2)
    between(sums, out, 64, grid=8)


main()
