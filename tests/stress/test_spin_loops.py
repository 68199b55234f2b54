# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops that wait for other programs make progress with any number of programs on one core."""

import numpy as np
import pytest

import nereid
from nereid import symm
from nereid.testing import spawn

from spin_kernels import GROUP, PROTOCOLS, WAYS, chain

PROGRAMS = 100
ONE_WORKER = {"NEREID_NUM_THREADS": "1", "NEREID_TIMEOUT": "20"}


def run_chain(name):
    flags = symm.zeros((PROGRAMS * GROUP,), np.int32)
    order, turn = np.full(PROGRAMS, -1, np.int32), np.zeros(1, np.int32)
    chain[(PROGRAMS,)](flags, order, turn, WAIT=WAYS[name], GROUP=GROUP)
    return order


@pytest.mark.parametrize("name", WAYS)
def test_each_way_to_wait(name):
    (order,) = spawn(run_chain, 1, (name,), environment=ONE_WORKER)
    assert order.tolist() == list(range(PROGRAMS))[::-1]


def run_protocol(name, rounds):
    words, count = np.zeros(2 + PROGRAMS, np.int32), np.zeros(1, np.int32)
    PROTOCOLS[name][(PROGRAMS,)](words, count, rounds)
    return int(count[0])


@pytest.mark.parametrize("schedule", ["fifo", "random:7"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", PROTOCOLS)
def test_protocols(name, threads, schedule):
    rounds = 20
    (count,) = spawn(run_protocol, 1, (name, rounds),
                     environment={**ONE_WORKER, "NEREID_NUM_THREADS": str(threads), "NEREID_SCHEDULE": schedule})
    assert count == rounds * PROGRAMS
