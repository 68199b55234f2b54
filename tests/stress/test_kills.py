# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A random rank is killed at a random moment: the others always fail, in time, and nothing is left.

NEREID_TEST_KILLS is the number of jobs (6; 200 for a long run)."""

import mmap
import os
import random
import signal
import struct
import threading
import time

import numpy as np
import pytest

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device
from nereid.testing import SpawnError, spawn

KILLS = int(os.environ.get("NEREID_TEST_KILLS", "6"))
SECONDS = 5.0


@nereid.jit
def ring(flags_ptr, data_ptr, count, rounds, BLOCK: tl.constexpr):
    me = dl.rank()
    following = (me + 1) % dl.num_ranks()
    program = tl.program_id(0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    for i in range(rounds):
        value = tl.load(data_ptr + offsets)
        tl.store(dl.symm_at(data_ptr, following) + count + offsets, value + 1.0)
        dl.notify(flags_ptr + program, following, signal=1, sig_op="add", comm_scope="intra_node")
        token = dl.wait(flags_ptr + program, 1, "gpu", "acquire", waitValue=i + 1)
        ready_ptr = dl.consume_token(data_ptr, token)
        tl.store(data_ptr + offsets, tl.load(ready_ptr + count + offsets) * 0.5)
        libshmem_device.barrier_all()


@nereid.jit
def push(flags_ptr, data_ptr, count, round_):
    me = dl.rank()
    following = (me + 1) % dl.num_ranks()
    libshmem_device.putmem_signal_block(data_ptr + count, data_ptr, count * 4, flags_ptr, round_ + 1,
                                        libshmem_device.NVSHMEM_SIGNAL_SET, following)
    libshmem_device.signal_wait_until(flags_ptr, libshmem_device.NVSHMEM_CMP_GE, round_ + 1)


def work():
    """All kinds of waits, without end."""
    count, programs = 256, 4
    rng = random.Random(nereid.rank())
    while True:
        flags = nereid.symm.zeros(programs, np.int64, name="flags")
        signals = nereid.symm.zeros(1, np.uint64, name="signals")
        data = nereid.symm.zeros(2 * count, np.float32, name="data")
        ring[(programs,)](flags, data, count, 20, BLOCK=count // programs)
        for i in range(20):
            push[(1,)](signals, data, count, i)
            nereid.barrier()
        total = nereid.symm.all_reduce(np.array([nereid.rank()]))
        assert total[0] == sum(range(nereid.world_size()))
        stream = nereid.Stream()
        with stream:
            flags.fill_(0)
            stream.barrier()
            ring[(programs,)](flags, data, count, 5, BLOCK=count // programs)
        stream.synchronize()
        time.sleep(rng.random() * 1e-3)
        for tensor in (flags, signals, data):
            nereid.symm.free(tensor)


def children() -> set[int]:
    found = set()
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/children") as file:
                found |= {int(pid) for pid in file.read().split()}
        except OSError:
            pass
    return found


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """The kernels, before any rank needs them."""
    x = nereid.symm.zeros(512)
    flags, signals = nereid.symm.zeros(4, np.int64), nereid.symm.zeros(1, np.uint64)
    ring[(4,)](flags, x, 256, 1, BLOCK=64)
    push[(1,)](signals, x, 256, 0)


@pytest.mark.timeout(120 + 6 * KILLS)
def test_survivors_of_a_killed_rank_fail_in_time():
    seed = int(os.environ.get("NEREID_TEST_SEED", "0"))
    rng = random.Random(seed)
    shared_before = set(os.listdir("/dev/shm"))
    children_before = children()
    kinds: dict[str, int] = {}
    for job in range(KILLS):
        world = rng.choice([2, 3, 4])
        victim = rng.randrange(world)
        delay = rng.random() * 0.4
        board = mmap.mmap(-1, 8 * (world + 2))

        def body():
            struct.pack_into("q", board, 8 * nereid.rank(), os.getpid())
            try:
                work()
            except nereid.LaunchError as error:
                noticed = time.monotonic()
                raise type(error)(f"[{noticed}] {error}") from None

        def kill():
            pids = [0]
            while not all(pids):
                pids = struct.unpack_from(f"{world}q", board, 0)
                time.sleep(0.002)
            time.sleep(delay)
            struct.pack_into("d", board, 8 * world, time.monotonic())
            os.kill(pids[victim], signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        with pytest.raises(SpawnError) as caught:
            spawn(body, world, timeout=60)
        killer.join()
        (killed_at,) = struct.unpack_from("d", board, 8 * world)
        failures = {failure.rank: failure for failure in caught.value.failures}
        assert set(failures) == set(range(world)), f"job {job}: {caught.value}"
        for rank, failure in failures.items():
            if rank == victim:
                assert "killed by signal 9" in failure.reason, failure.reason
                continue
            text = str(failure.exception)
            assert isinstance(failure.exception, nereid.LaunchError), f"job {job}: {failure.traceback}"
            assert float(text[1:].partition("]")[0]) - killed_at < SECONDS, f"job {job}: {text}"
            assert f"rank {victim}" in text and "killed by signal 9" in text, f"job {job}: {text}"
            kinds[text.partition(" while ")[2][:40]] = kinds.get(text.partition(" while ")[2][:40], 0) + 1
    assert children() <= children_before
    assert set(os.listdir("/dev/shm")) <= shared_before
    if KILLS >= 50:
        print(kinds)
