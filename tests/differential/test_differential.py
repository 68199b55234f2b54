# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels in four ways (docs/ttir.md). NEREID_DIFFERENTIAL_SEEDS=FIRST:LAST
chooses others than the fixed ones."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("triton")

# By one name in all processes: requests to the workers are pickles.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.differential.__main__ import parse_seeds, report  # noqa: E402
from tests.differential.corpus import CORPUS  # noqa: E402
from tests.differential.generate import generate  # noqa: E402
from tests.differential.harness import Harness  # noqa: E402
from tests.differential.minimise import minimise  # noqa: E402
from tests.differential.program import Argument, Program  # noqa: E402

SEEDS = parse_seeds(os.environ.get("NEREID_DIFFERENTIAL_SEEDS", "0:120"))
CHUNK = 20


@pytest.fixture(scope="module")
def harness():
    with Harness() as harness:
        yield harness


@pytest.mark.parametrize("name", CORPUS)
def test_what_once_differed(name, harness):
    outcome = harness.run(CORPUS[name])
    assert not outcome.failed, report(outcome)


@pytest.mark.parametrize("first", range(SEEDS.start, SEEDS.stop, CHUNK))
def test_random_kernels(first, harness):
    for seed in range(first, min(first + CHUNK, SEEDS.stop)):
        outcome = harness.run(generate(seed, odd=seed % 4 == 3), accept=seed % 8 == 0)
        if outcome.failed:
            pytest.fail(report(minimise(harness, outcome)))


DIFFERENT = """\
@triton.jit
def kernel(x, out):
    o = tl.arange(0, 32)
    v = tl.load(x + o)
    w = (v + 3) * 2 - v // 5
    if tl.sum(w) > 7:
        w = tl.maximum(w, v)
    for i in range(0, 3):
        w += v
        if tl.max(w) > 0:
            # An address: another one each time.
            tl.store(out + 40, (out.to(tl.int64) ^ 12) + 5)
    tl.store(out + o, w)
"""


def test_a_difference_is_found_and_minimised(harness):
    arguments = [Argument("x", "int64", np.arange(32)), Argument("out", "int64", np.zeros(64, np.int64), output=True)]
    outcome = harness.run(Program(1, DIFFERENT, "kernel", arguments))
    assert outcome.failed and "differ" in outcome.kind
    assert "out (int64, tolerance 0) in 1 elements, first [40]" in outcome.problems[0]
    small = minimise(harness, outcome, seconds=30)
    assert small.kind == outcome.kind
    assert len(small.program.source.splitlines()) <= 3, small.program.source
    assert "tl.store(out" in small.program.source and "for" not in small.program.source


def test_kernels_are_the_same_every_time():
    first, second = generate(11), generate(11)
    assert first.source == second.source
    assert all((a.value == b.value).all() if a.is_pointer else a.value == b.value
               for a, b in zip(first.arguments, second.arguments))
