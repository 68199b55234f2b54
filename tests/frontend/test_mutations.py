# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels with random mistakes: compiled or refused with a place in the file, never a
crash, an internal error, invalid IR or a hang. fuzz_frontend.py makes them, for any
number of seeds by command."""

import os

import pytest
from fuzz_frontend import run, source_of

SEED = int(os.environ.get("NEREID_TEST_SEED", "0"))
#: Seeds of each part; 12 kernels of random statements, or one mutated file, each.
COUNT = int(os.environ.get("NEREID_MUTATIONS", "80"))


@pytest.mark.parametrize("part", range(3))
def test_front_end(part):
    first = SEED * 100_000 + part * COUNT
    assert run(first, first + COUNT, full=False) == []


def test_whole_compiler():
    first = SEED * 100_000 + 50_000
    assert run(first, first + COUNT // 2, full=True) == []


def test_seeds_repeat():
    assert [source_of(seed) for seed in range(10)] == [source_of(seed) for seed in range(10)]
