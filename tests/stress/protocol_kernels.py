# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Protocols between ranks that real kernels use, each as a kernel that checks its data.

Every kernel takes the same arguments:

    data     symmetric, int32: DATA words          signals  symmetric, int64: SIGNALS words
    stage    symmetric, int32: DATA words          errors   one counter of this rank
    first    rounds done by earlier launches       rounds   to do now

Signals are never reset between launches: rounds count on. Blocks have BLOCK words, and block
(source, round) holds source * 1000003 + round * 17 + lane.
"""

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device as shmem

MAX_RANKS = 8
BLOCK = 64
DATA = 2 * MAX_RANKS * BLOCK
SIGNALS = 4 * MAX_RANKS * 8

#: name: (kernel, programs per rank, what the world's size must divide by, a host barrier that
#: resets signals between launches)
PROTOCOLS = {}


def protocol(programs=1, multiple_of=1, resets=False):
    def register(kernel):
        PROTOCOLS[kernel.__name__] = (kernel, programs, multiple_of, resets)
        return kernel

    return register


@nereid.jit
def block_of(source, i, BLOCK: tl.constexpr):
    return source * 1000003 + i * 17 + tl.arange(0, BLOCK)


@nereid.jit
def check_block(ptr, source, i, errors, BLOCK: tl.constexpr):
    wrong = tl.load(ptr + tl.arange(0, BLOCK)) != block_of(source, i, BLOCK)
    count = tl.sum(wrong.to(tl.int32), 0)
    if count > 0:
        tl.atomic_add(errors, count)


@protocol(multiple_of=2)
@nereid.jit
def ping_pong(data, signals, stage, errors, first, rounds, BLOCK: tl.constexpr):
    rank = dl.rank()
    peer = rank ^ 1
    theirs = dl.symm_at(data, peer)
    lanes = tl.arange(0, BLOCK)
    if rank % 2 == 0:
        for i in range(first, first + rounds):
            tl.store(theirs + lanes, block_of(rank, i, BLOCK))
            dl.notify(signals, peer, signal=i + 1, sig_op="set", comm_scope="intra_node")
            token = dl.wait(signals, 1, "gpu", "acquire", waitValue=i + 1)
            check_block(dl.consume_token(data, token), peer, i, errors, BLOCK)
    else:
        for i in range(first, first + rounds):
            token = dl.wait(signals, 1, "gpu", "acquire", waitValue=i + 1)
            check_block(dl.consume_token(data, token), peer, i, errors, BLOCK)
            tl.store(theirs + lanes, block_of(rank, i, BLOCK))
            dl.notify(signals, peer, signal=i + 1, sig_op="set", comm_scope="intra_node")


@protocol()
@nereid.jit
def ring(data, signals, stage, errors, first, rounds, BLOCK: tl.constexpr):
    """A block goes around; every rank adds one to each word."""
    rank, world = dl.rank(), dl.num_ranks()
    following = (rank + 1) % world
    lanes = tl.arange(0, BLOCK)
    for i in range(first, first + rounds):
        if rank == 0:
            tl.store(stage + lanes, block_of(0, i, BLOCK))
        else:
            shmem.signal_wait_until(signals, shmem.NVSHMEM_CMP_EQ, i + 1)
            tl.store(stage + lanes, tl.load(data + lanes) + 1)
        shmem.putmem_signal_nbi_block(data, stage, BLOCK * 4, signals, i + 1, shmem.NVSHMEM_SIGNAL_SET, following)
        if rank == 0:
            shmem.signal_wait_until(signals, shmem.NVSHMEM_CMP_EQ, i + 1)
            wrong = tl.load(data + lanes) != block_of(0, i, BLOCK) + world - 1
            tl.atomic_add(errors, tl.sum(wrong.to(tl.int32), 0))


@protocol()
@nereid.jit
def all_to_all(data, signals, stage, errors, first, rounds, BLOCK: tl.constexpr):
    """Buffers alternate by the parity of the round; one wait for all sources."""
    rank, world = dl.rank(), dl.num_ranks()
    lanes = tl.arange(0, BLOCK)
    for i in range(first, first + rounds):
        half = (i % 2) * world
        for shift in range(world):
            peer = (rank + shift) % world
            source = stage + (half + peer) * BLOCK
            tl.store(source + lanes, block_of(rank * world + peer, i, BLOCK))
            shmem.putmem_signal_nbi_block(data + (half + rank) * BLOCK, source, BLOCK * 4, signals + half + rank, i + 1,
                                          shmem.NVSHMEM_SIGNAL_SET, peer)
        token = dl.wait(signals + half, world, "gpu", "acquire", waitValue=i + 1)
        arrived = dl.consume_token(data, token)
        for source in range(world):
            check_block(arrived + (half + source) * BLOCK, source * world + rank, i, errors, BLOCK)


@protocol()
@nereid.jit
def wide_slots(data, signals, stage, errors, first, rounds, BLOCK: tl.constexpr):
    """One slot of 64 bytes for each source, waited for one by one."""
    rank, world = dl.rank(), dl.num_ranks()
    lanes = tl.arange(0, BLOCK)
    for i in range(first, first + rounds):
        half = (i % 2) * world
        for peer in range(world):
            tl.store(dl.symm_at(data, peer) + (half + rank) * BLOCK + lanes, block_of(rank, i, BLOCK))
            dl.notify(signals + (half + rank) * 8, peer, signal=i + 1, sig_op="set", comm_scope="intra_node")
        for source in range(world):
            token = dl.wait(signals + (half + source) * 8, 1, "gpu", "acquire", waitValue=i + 1)
            check_block(dl.consume_token(data, token) + (half + source) * BLOCK, source, i, errors, BLOCK)


@protocol(programs=2)
@nereid.jit
def ticket_lock(data, signals, stage, errors, first, rounds, BLOCK: tl.constexpr):
    """Tickets and a counter on rank 0; checked by verify()."""
    tickets, count = dl.symm_at(signals, 0), dl.symm_at(data, 0)
    for i in range(rounds):
        ticket = tl.atomic_add(tickets, 1, sem="relaxed", scope="sys")
        while tl.load(tickets + 8, volatile=True) != ticket:
            pass
        tl.store(count, tl.load(count, volatile=True) + 1)
        tl.atomic_add(tickets + 8, 1, sem="release", scope="sys")


@protocol(programs=2)
@nereid.jit
def test_and_set_lock(data, signals, stage, errors, first, rounds, BLOCK: tl.constexpr):
    lock, count = dl.symm_at(signals, 0), dl.symm_at(data, 0)
    for i in range(rounds):
        while tl.atomic_cas(lock, 0, 1, sem="acquire", scope="sys") != 0:
            pass
        tl.store(count, tl.load(count, volatile=True) + 1)
        tl.atomic_xchg(lock, 0, sem="release", scope="sys")


@protocol(programs=4)
@nereid.jit
def queue_with_acknowledgement(data, signals, stage, errors, first, rounds, BLOCK: tl.constexpr):
    """Two slots per lane; even programs produce for the next rank, odd ones consume."""
    rank, world = dl.rank(), dl.num_ranks()
    following, previous = (rank + 1) % world, (rank + world - 1) % world
    pid = tl.program_id(0)
    lane = pid // 2
    lanes = tl.arange(0, BLOCK)
    for i in range(first, first + rounds):
        slot = lane * 2 + i % 2
        turn = i // 2
        full, empty = signals + slot, signals + 8 + slot
        if pid % 2 == 0:
            token = dl.wait(empty, 1, "gpu", "acquire", waitValue=turn)
            place = dl.consume_token(dl.symm_at(data, following), token) + slot * BLOCK
            tl.store(place + lanes, block_of(rank + lane, i, BLOCK))
            dl.notify(full, following, signal=turn + 1, sig_op="set", comm_scope="intra_node")
        else:
            token = dl.wait(full, 1, "gpu", "acquire", waitValue=turn + 1)
            check_block(dl.consume_token(data, token) + slot * BLOCK, previous + lane, i, errors, BLOCK)
            dl.notify(empty, previous, signal=turn + 1, sig_op="set", comm_scope="intra_node")


@protocol(programs=2)
@nereid.jit
def put_fence_signal(data, signals, stage, errors, first, rounds, BLOCK: tl.constexpr):
    """The same queue with non-blocking puts: fence orders them before the signal."""
    rank, world = dl.rank(), dl.num_ranks()
    following, previous = (rank + 1) % world, (rank + world - 1) % world
    lanes = tl.arange(0, BLOCK)
    for i in range(first, first + rounds):
        slot = i % 2
        if tl.program_id(0) == 0:
            if i >= 2:
                shmem.signal_wait_until(signals + 8 + slot, shmem.NVSHMEM_CMP_GE, i - 1)
            source = stage + slot * BLOCK
            tl.store(source + lanes, block_of(rank, i, BLOCK))
            half: tl.constexpr = BLOCK // 2
            shmem.putmem_nbi_block(data + slot * BLOCK, source, half * 4, following)
            shmem.putmem_nbi_block(data + slot * BLOCK + half, source + half, half * 4, following)
            shmem.fence()
            shmem.signal_op(signals + slot, i + 1, shmem.NVSHMEM_SIGNAL_SET, following)
        else:
            shmem.signal_wait_until(signals + slot, shmem.NVSHMEM_CMP_EQ, i + 1)
            check_block(data + slot * BLOCK, previous, i, errors, BLOCK)
            shmem.signal_op(signals + 8 + slot, i + 1, shmem.NVSHMEM_SIGNAL_SET, previous)


@protocol()
@nereid.jit
def packed_data_and_flag(data, signals, stage, errors, first, rounds, BLOCK: tl.constexpr):
    """Words of 8 bytes hold four of data and four of flag: no separate signal."""
    rank, world = dl.rank(), dl.num_ranks()
    lanes = tl.arange(0, 16)
    for i in range(first, first + rounds):
        half = (i % 2) * world
        flag = (i + 1).to(tl.int64) << 32
        for shift in range(world):
            peer = (rank + shift) % world
            words = (rank * 1000 + i + lanes).to(tl.int64) | flag
            tl.store(dl.symm_at(signals, peer) + (half + rank) * 16 + lanes, words)
        for source in range(world):
            place = signals + (half + source) * 16 + lanes
            words = tl.load(place, volatile=True)
            while tl.sum(((words >> 32) != i + 1).to(tl.int32), 0) > 0:
                words = tl.load(place, volatile=True)
            wrong = words.to(tl.int32) != source * 1000 + i + lanes
            tl.atomic_add(errors, tl.sum(wrong.to(tl.int32), 0))


@protocol()
@nereid.jit
def barrier_by_compare_and_swap(data, signals, stage, errors, first, rounds, BLOCK: tl.constexpr):
    """0 -> 1 in each peer's slot, then 1 -> 0 in each of one's own."""
    rank, world = dl.rank(), dl.num_ranks()
    for i in range(first, first + rounds):
        tl.store(data, i + 1)
        for stop in tl.static_range(2):
            for peer in range(world):
                theirs = dl.symm_at(signals, peer) + stop * 8 + rank
                while tl.atomic_cas(theirs, 0, 1, sem="release", scope="sys") != 0:
                    pass
            for peer in range(world):
                while tl.atomic_cas(signals + stop * 8 + peer, 1, 0, sem="acquire", scope="sys") != 1:
                    pass
            if stop == 0:
                for peer in range(world):
                    if tl.load(dl.symm_at(data, peer), volatile=True) != i + 1:
                        tl.atomic_add(errors, 1)


@protocol(programs=2)
@nereid.jit
def queue_by_compare_and_swap(data, signals, stage, errors, first, rounds, BLOCK: tl.constexpr):
    """Four slots: the producer takes an empty one (0 -> 2), fills it and says so (1); the
    consumer empties it (1 -> 0)."""
    rank, world = dl.rank(), dl.num_ranks()
    following, previous = (rank + 1) % world, (rank + world - 1) % world
    lanes = tl.arange(0, BLOCK)
    for i in range(first, first + rounds):
        slot = i % 4
        if tl.program_id(0) == 0:
            theirs = dl.symm_at(signals, following) + slot
            while tl.atomic_cas(theirs, 0, 2, sem="acquire", scope="sys") != 0:
                pass
            tl.store(dl.symm_at(data, following) + slot * BLOCK + lanes, block_of(rank, i, BLOCK))
            tl.atomic_xchg(theirs, 1, sem="release", scope="sys")
        else:
            while tl.load(signals + slot) != 1:
                pass
            check_block(data + slot * BLOCK, previous, i, errors, BLOCK)
            if tl.atomic_cas(signals + slot, 1, 0, sem="acq_rel", scope="sys") != 1:
                tl.atomic_add(errors, 1)


@protocol()
@nereid.jit
def counter_by_adding(data, signals, stage, errors, first, rounds, BLOCK: tl.constexpr):
    """All ranks add to a counter of each; equality with the number of producers."""
    rank, world = dl.rank(), dl.num_ranks()
    lanes = tl.arange(0, BLOCK)
    for i in range(first, first + rounds):
        half = i % 2
        for peer in range(world):
            tl.store(dl.symm_at(data, peer) + (half * world + rank) * BLOCK + lanes, block_of(rank, i, BLOCK))
            if (i + rank) % 3 == 0:
                tl.atomic_add(dl.symm_at(signals, peer) + half, 1, sem="release", scope="sys")
            else:
                dl.notify(signals + half, peer, signal=1, sig_op="add", comm_scope="intra_node")
        token = dl.wait(signals + half, 1, "gpu", "acquire", waitValue=world * (i // 2 + 1))
        arrived = dl.consume_token(data, token)
        for source in range(world):
            check_block(arrived + (half * world + source) * BLOCK, source, i, errors, BLOCK)


@protocol()
@nereid.jit
def all_reduce_with_done_flags(data, signals, stage, errors, first, rounds, BLOCK: tl.constexpr):
    """Everybody reads everybody's payload in place; it is written again when all have read it."""
    rank, world = dl.rank(), dl.num_ranks()
    lanes = tl.arange(0, BLOCK)
    done = signals + 8
    for i in range(first, first + rounds):
        tl.store(data + lanes, block_of(rank, i, BLOCK))
        for peer in range(world):
            dl.notify(signals + rank, peer, signal=i + 1, sig_op="set", comm_scope="intra_node")
        token = dl.wait(signals, world, "gpu", "acquire", waitValue=i + 1)
        mine = dl.consume_token(data, token)
        total, expected = tl.zeros((BLOCK,), tl.int32), tl.zeros((BLOCK,), tl.int32)
        for peer in range(world):
            total += tl.load(dl.symm_at(mine, peer) + lanes)
            expected += block_of(peer, i, BLOCK)
        tl.atomic_add(errors, tl.sum((total != expected).to(tl.int32), 0))
        for peer in range(world):
            dl.notify(done + rank, peer, signal=i + 1, sig_op="set", comm_scope="intra_node")
        token = dl.wait(done, world, "gpu", "acquire", waitValue=i + 1)
        data = dl.consume_token(data, token)


@protocol(programs=2)
@nereid.jit
def two_slots_and_one_barrier(data, signals, stage, errors, first, rounds, BLOCK: tl.constexpr):
    rank, world = dl.rank(), dl.num_ranks()
    pid = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    for i in range(first, first + rounds):
        slot = (i % 2) * 2 + pid
        tl.store(data + slot * BLOCK + lanes, block_of(rank + pid, i, BLOCK))
        shmem.barrier_all()
        peer = (rank + 1 + i) % world
        other = 1 - pid
        check_block(dl.symm_at(data, peer) + ((i % 2) * 2 + other) * BLOCK, peer + other, i, errors, BLOCK)


@protocol(resets=True)
@nereid.jit
def flags_that_the_host_resets(data, signals, stage, errors, first, rounds, BLOCK: tl.constexpr):
    """Flags go from 0 to 1 once in a launch; the host clears them between two barriers."""
    rank, world = dl.rank(), dl.num_ranks()
    following, previous = (rank + 1) % world, (rank + world - 1) % world
    lanes = tl.arange(0, BLOCK)
    for i in range(rounds):
        place = i % 8
        tl.store(dl.symm_at(data, following) + place * BLOCK + lanes, block_of(rank, i, BLOCK))
        dl.notify(signals + i, following, signal=1, sig_op="set", comm_scope="intra_node")
        token = dl.wait(signals + i, 1, "gpu", "acquire", waitValue=1)
        check_block(dl.consume_token(data, token) + place * BLOCK, previous, i, errors, BLOCK)
        if i % 4 == 3:
            shmem.barrier_all()
