# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of an operator notice when one of its synchronisations is missing: a mutant of each, drawn by
the seed of this run. `python tests/ops/mutants.py` tries all."""

import importlib.util
import os
import random
import sys
from pathlib import Path

import pytest

from nereid.ops.core import registry

# By its file: with this folder on the path its folder `torch` would be the module of that name where there is none.
_spec = importlib.util.spec_from_file_location("nereid_ops_mutants", Path(__file__).with_name("mutants.py"))
mutants = sys.modules[_spec.name] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(mutants)

SEED = os.environ["NEREID_TEST_SEED"]  # set by conftest.py when the caller did not


@pytest.mark.parametrize("name", mutants.ALL)
def test_a_missing_synchronisation_is_noticed(name):
    all_of_them = mutants.mutants_of(name)
    assert len(all_of_them) >= 4
    mutant = random.Random(f"{SEED} {name}").choice(all_of_them)
    assert mutants.noticed(name, mutant), f"{mutant.file}:{mutant.line} {mutant.what}: no case notices"


def test_what_is_changed():
    """Every place where the protocols wait, announce or take turns is among the mutants."""
    found = [mutant for operator in registry.OPERATORS for mutant in mutants.mutants_of(operator)]
    assert {mutant.what for mutant in found} == {
        "does not wait", "is not announced", "is announced before it is stored", "is announced before it is there",
        "does not wait for what is read next", "always takes the same half", "does not order its transfers"}
    assert len(found) >= 70 and len(set(found)) == len(found)
    assert {mutant.what for mutant in mutants.mutants_of("lib")} >= {
        "does not count calls", "does not count the programs anew", "does not order its transfers"}
