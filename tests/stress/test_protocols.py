# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Protocols of real kernels on more ranks than cores, with and without random schedules.

NEREID_STRESS_ROUNDS asks for another number of rounds, e.g. 100000."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import protocols
from nereid.testing import spawn

ROUNDS = int(os.environ.get("NEREID_STRESS_ROUNDS", "1000"))
LONG = pytest.mark.timeout(300 + ROUNDS // 50)


@LONG
@pytest.mark.parametrize("ranks, schedule, threads, rounds", [
    (2, "fifo", "1", ROUNDS),
    (4, "fifo", "1", ROUNDS),
    (4, "random:1", "2", ROUNDS // 4),
    (8, "fifo", "1", ROUNDS // 2),
    (8, "random:2", "1", ROUNDS // 8),
])
@pytest.mark.parametrize("name", protocols.PROTOCOLS)
def test_protocol(name, ranks, schedule, threads, rounds):
    if not protocols.applies(name, ranks):
        pytest.skip("needs another number of ranks")
    results = spawn(protocols.run, ranks, (name, max(rounds, 10)), timeout=120 + ROUNDS / 50,
                    environment={"NEREID_SCHEDULE": schedule, "NEREID_NUM_THREADS": threads})
    assert [wrong for wrong, _ in results] == [0] * ranks


@LONG
def test_slots_of_64_bytes():
    (results) = spawn(protocols.run, 4, ("wide_slots", ROUNDS), timeout=120 + ROUNDS / 50,
                      environment={"NEREID_PROFILE": "ascend910b"})
    assert [wrong for wrong, _ in results] == [0] * 4


@LONG
def test_as_a_job_of_its_own():
    done = subprocess.run(
        [sys.executable, "-m", "nereid", "run", "-n", "4", str(Path(protocols.__file__)), "--rounds",
         str(max(10, ROUNDS // 10)), "ping_pong", "all_to_all", "packed_data_and_flag"],
        capture_output=True, text=True, timeout=120 + ROUNDS / 50)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("right") == 3
