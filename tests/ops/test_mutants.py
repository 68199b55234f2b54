# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of an operator notice when one of its synchronisations is missing: a mutant of each, drawn by
the seed of this run. `python tests/ops/mutants.py` tries all."""

import os
import random

import pytest

import mutants
from nereid.ops.core import registry

SEED = os.environ["NEREID_TEST_SEED"]  # set by conftest.py when the caller did not


@pytest.mark.parametrize("operator", list(registry.OPERATORS))
def test_a_missing_synchronisation_is_noticed(operator):
    all_of_them = list(mutants.mutants(f"{operator}/kernel.py"))
    assert len(all_of_them) >= 4
    for mutant in random.Random(f"{SEED} {operator}").sample(all_of_them, 1):
        assert mutants.found_by(operator, mutant), f"{mutant.file}:{mutant.line} {mutant.what}: no case notices"


def test_what_is_changed():
    """Every place where the protocols wait, announce or take turns is among the mutants."""
    found = [mutant for operator in registry.OPERATORS for mutant in mutants.mutants(f"{operator}/kernel.py")]
    assert {mutant.what for mutant in found} == {
        "does not wait", "is not announced", "is announced before it is stored", "is announced before it is there",
        "does not wait for what is read next", "always takes the same half", "does not order its transfers"}
    assert len(found) >= 70 and len(set(found)) == len(found)
    assert {mutant.what for mutant in mutants.mutants(mutants.PROTOCOL)} >= {
        "does not count calls", "does not count the programs anew", "does not order its transfers"}
