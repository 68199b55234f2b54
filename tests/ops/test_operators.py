# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each operator of the registry: values, bits, shapes that change, late ranks, teams, schedules, nodes.

The cases stand beside the operators (python/nereid/ops/*/reference.py); `python -m nereid.ops.selftest` runs
the same ones with more calls.
"""

import os
import subprocess
import sys

import pytest

import nereid.ops
from nereid.ops import selftest
from nereid.ops.core import registry

SEED = int(os.environ["NEREID_TEST_SEED"])  # set by conftest.py when the caller did not
operators = pytest.mark.parametrize("folder", list(registry.OPERATORS))


@operators
@pytest.mark.ranks(1, 2, 4)
def test_values(folder):
    assert selftest.run_operator(folder, 6, 0, SEED, 0.0, which=("all",)) >= 3


@operators
@pytest.mark.ranks(3)
def test_teams(folder):
    assert selftest.run_operator(folder, 2, 0, SEED, 0.001, which=("even and odd", "all but the last, reversed")) >= 3


@operators
def test_five_to_seven_ranks(ranks, folder):
    number = 5 + (list(registry.OPERATORS).index(folder) + SEED) % 3
    ranks(number, lambda: selftest.run_operator(folder, 2, 0, SEED, 0.0, which=("all",)))


@operators
def test_under_check(folder):
    """No two accesses of a run are unordered (docs/check.md), on one node."""
    done = subprocess.run([sys.executable, "-m", "nereid", "run", "--check", "-n", "2", "-m", "nereid.ops.selftest", folder,
                           "--calls", "2", "--skewed-calls", "0", "--seed", str(SEED)], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0 and " 0 errors" in done.stderr + done.stdout, done.stdout + done.stderr


@operators
@pytest.mark.ranks(8)
def test_eight_ranks(folder):
    assert selftest.run_operator(folder, 2, 0, SEED, 0.0, which=("all",)) >= 3


@operators
@pytest.mark.ranks(3)
def test_late_ranks(folder):
    """Six hundred calls without a barrier between them, a third of which begin late."""
    name = next(registry.cases(folder)).name
    assert selftest.run_operator(folder, 1, 600, SEED, 0.0005, name, ("all",)) >= 1


@operators
@pytest.mark.parametrize("schedule", range(1, 5))
def test_schedules(ranks, folder, schedule):
    ranks(3, lambda: selftest.run_operator(folder, 2, 0, SEED + schedule, 0.0, which=("all",)),
          environment={"NEREID_SCHEDULE": f"random:{schedule}"})


@operators
def test_nodes(ranks, folder):
    """Two nodes of two ranks: everything between them goes by put and signals."""
    ranks(4, lambda: selftest.run_operator(folder, 3, 0, SEED, 0.0005, which=("all",)),
          environment={"NEREID_RANKS_PER_NODE": "2"})


@operators
def test_nodes_under_schedules(ranks, folder):
    for schedule in (1, 2):
        ranks(4, lambda: selftest.run_operator(folder, 2, 0, SEED, 0.0, which=("all",)),
              environment={"NEREID_RANKS_PER_NODE": "2", "NEREID_SCHEDULE": f"random:{schedule}"})


def test_every_operator_is_registered():
    made = {name for name in nereid.ops.__all__ if isinstance(getattr(nereid.ops, name), type)
            and issubclass(getattr(nereid.ops, name), nereid.ops.core.operator.Operator)}
    assert made == set(registry.OPERATORS.values())
    for folder in registry.OPERATORS:
        names = [case.name for case in registry.cases(folder)]
        assert len(set(names)) == len(names)
