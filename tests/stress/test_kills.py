# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A random rank is killed at a random moment: the others always fail, in time, and nothing is left.

NEREID_TEST_KILLS is the number of jobs (6; 200 for a long run)."""

import mmap
import os
import random
import re
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import nereid
import shared_memory
from kill_kernels import push, ring, work
from nereid.testing import SpawnError, spawn

KILLS = int(os.environ.get("NEREID_TEST_KILLS", "6"))
SECONDS = 5.0


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
    shared_before = shared_memory.names()
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
    assert not shared_memory.left_since(shared_before)
    if KILLS >= 50:
        print(kinds)


@pytest.mark.timeout(120 + 6 * KILLS)
def test_a_killed_rank_of_nereid_run():
    rng = random.Random(int(os.environ.get("NEREID_TEST_SEED", "0")) + 1)
    shared_before = shared_memory.names()
    nereid_command = str(Path(sys.executable).parent / "nereid")
    script = str(Path(__file__).parent / "kill_kernels.py")
    for job in range(max(1, KILLS // 6)):
        world = rng.choice([2, 3, 4])
        victim = rng.randrange(world)
        launcher = subprocess.Popen([nereid_command, "run", "-n", str(world), script], stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, text=True)
        try:
            pids = dict(map(int, re.fullmatch(r"PID (\d+) (\d+)\n", launcher.stdout.readline()).groups())
                        for _ in range(world))
            time.sleep(rng.random() * 0.5)
            start = time.monotonic()
            os.kill(pids[victim], signal.SIGKILL)
            output, _ = launcher.communicate(timeout=30)
        finally:
            launcher.kill()
            launcher.wait()
        assert time.monotonic() - start < SECONDS + 2, f"job {job}: {output}"
        assert launcher.returncode == 128 + signal.SIGKILL, f"job {job}: {output}"
        assert output.count(f"rank {victim} (process {pids[victim]}) was killed by signal 9") >= world - 1, output
        assert not any(os.path.exists(f"/proc/{pid}") for pid in pids.values())
    assert not shared_memory.left_since(shared_before)
