# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""nereid.testing.spawn: results, failures of every kind, nothing left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import nereid
from nereid.testing import SpawnError, spawn


@pytest.fixture(autouse=True)
def no_children_left():
    yield
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_results_by_rank():
    assert spawn(lambda: (nereid.rank(), nereid.world_size()), 4) == [(rank, 4) for rank in range(4)]
    assert spawn(lambda a, b: a * nereid.rank() + b, 2, (10, 1)) == [1, 11]


def test_large_results():
    assert [len(result) for result in spawn(lambda: bytes(3_000_000), 2)] == [3_000_000] * 2


def test_environment():
    assert spawn(lambda: os.environ["NEREID_TEST_VALUE"], 2, environment={"NEREID_TEST_VALUE": "7"}) == ["7", "7"]


def test_parent_keeps_its_own_world():
    assert nereid.world_size() == 1
    assert spawn(lambda: nereid.world_size(), 3) == [3, 3, 3]
    assert nereid.world_size() == 1


def test_rank_that_raises():
    def body():
        if nereid.rank() == 2:
            raise KeyError("lost")
        nereid.barrier()

    with pytest.raises(SpawnError) as caught:
        spawn(body, 3)
    error = caught.value
    assert "rank 2: KeyError: 'lost'" in str(error) and 'raise KeyError("lost")' in str(error)
    assert sorted(error.exceptions) == [0, 1, 2] and isinstance(error.exceptions[2], KeyError)
    for rank in (0, 1):
        assert isinstance(error.exceptions[rank], nereid.JobError)
        assert "rank 2" in str(error.exceptions[rank]) and "lost" in str(error.exceptions[rank])


def test_others_that_do_not_wait_return_their_results():
    def body():
        if nereid.rank() == 1:
            raise ValueError("no")
        return nereid.rank()

    with pytest.raises(SpawnError) as caught:
        spawn(body, 3)
    assert caught.value.results == {0: 0, 2: 2}


@pytest.mark.parametrize("end, reason", [
    (lambda: os.kill(os.getpid(), signal.SIGKILL), "killed by signal 9 (SIGKILL)"),
    (lambda: os.kill(os.getpid(), signal.SIGTERM), "killed by signal 15 (SIGTERM)"),
    (lambda: os._exit(3), "exited with code 3"),
    (lambda: os._exit(0), "exited with code 0"),
    (lambda: sys.exit(5), "SystemExit: 5"),
])
def test_rank_that_is_lost(end, reason):
    def body():
        nereid.barrier()
        if nereid.rank() == 1:
            end()
        nereid.barrier()

    start = time.monotonic()
    with pytest.raises(SpawnError) as caught:
        spawn(body, 3)
    assert time.monotonic() - start < 10
    assert reason in str(caught.value)
    reasons = {failure.rank: failure.reason for failure in caught.value.failures}
    assert sorted(reasons) == [0, 1, 2]
    assert "rank 1" in reasons[0] and "rank 1" in reasons[2]


def test_kill_at_random_moments():
    """Whenever a rank is killed, spawn ends soon and says so."""

    def body(victim, after):
        if nereid.rank() == victim:
            threading.Timer(after, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
        while True:
            tensor = nereid.symm.zeros(100)
            nereid.barrier()
            nereid.symm.free(tensor)

    for turn in range(8):
        start = time.monotonic()
        with pytest.raises(SpawnError, match=rf"rank {turn % 3}: killed by signal 9"):
            spawn(body, 3, (turn % 3, 0.001 * turn * turn))
        assert time.monotonic() - start < 10


def test_timeout_shows_where_the_ranks_are():
    def sleeps_for_ever():
        if nereid.rank() == 0:
            time.sleep(1000)

    start = time.monotonic()
    with pytest.raises(SpawnError) as caught:
        spawn(sleeps_for_ever, 2, timeout=1)
    assert time.monotonic() - start < 10
    text = str(caught.value)
    assert "did not end within 1 s on rank 0 of 2" in text and "sleeps_for_ever" in text
    assert caught.value.results == {1: None}


def test_result_that_cannot_be_pickled():
    with pytest.raises(SpawnError, match="pickle"):
        spawn(lambda: (lambda: 1), 1)


def test_wrong_use():
    with pytest.raises(ValueError, match="positive number of ranks"):
        spawn(lambda: 1, 0)
    with pytest.raises(TypeError, match="takes a function"):
        spawn(3, 2)


def test_ranks_end_with_their_parent(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text("""
import os, time, nereid
from nereid.testing import spawn
def body():
    print("PID", os.getpid(), flush=True)
    time.sleep(100)
spawn(body, 2)
""")
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    pids = [int(parent.stdout.readline().split()[1]) for _ in range(2)]
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() and "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
              for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.05)
