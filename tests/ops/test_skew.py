# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A rank that is held between any two steps of a protocol while the others run as far as they can: results stay right."""

import importlib
import importlib.util
import os
import random
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import nereid
from nereid.ops import selftest
from nereid.ops.core import conformance, registry


def helper(name):
    """A module of this folder, by its file: on the path its folder `torch` would be the module of that name."""
    full = f"nereid_ops_{name}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, Path(__file__).with_name(f"{name}.py"))
        sys.modules[full] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[full])
    return sys.modules[full]


skew, mutants = helper("skew"), helper("mutants")
SEED = int(os.environ["NEREID_TEST_SEED"])  # set by conftest.py when the caller did not


def run_held(folder, text, steps, files, nodes):
    """On every rank: all cases of the operator (two of them between nodes), with one rank held before each step in turn, for
    a call."""
    me, n = nereid.rank(), nereid.world_size()
    own = files / f"{nodes}{me}"
    own.mkdir()
    mutants.load(f"nereid.ops.{folder}.kernel", text, str(own))
    for name in ("op", "reference"):  # once more, with these kernels
        importlib.reload(importlib.import_module(f"nereid.ops.{folder}.{name}"))
    group = selftest.groups(("all",))["all"]
    cases = list(registry.cases(folder))
    if nodes:
        cases = random.Random(SEED).sample([case for case in cases if "one node" not in case.name], 2)
    for case in cases:
        op = case.make(group)
        conformance.poison(op)
        calls = []
        for number in range(3):
            variant = case.variants[number % len(case.variants)]
            everyone = [case.inputs(variant, np.random.default_rng((SEED, number, member)), member, n) for member in range(n)]
            wanted = case.expected(variant, everyone, me)
            calls.append((everyone[me], (wanted,) if isinstance(wanted, conformance.Expected) else wanted))

        def call(number, step):
            given, wanted = calls[number % len(calls)]
            got = conformance.as_tuple(case.call(op, tuple(np.array(one) for one in given)))
            for one, want in zip(got, wanted, strict=True):
                conformance.check(f"{folder}, {case.name}, held before step {step}", one, want)

        for number in range(len(calls)):  # compiled, agreed
            call(number, 0)
        for step in range(1, steps + 1):
            if me == (step + SEED) % n:
                with skew.held(op, step, 0.003):
                    call(step, step)
            else:
                call(step, step)
        op.close()


@pytest.mark.parametrize("nodes", [False, True], ids=["one node", "three nodes"])
@pytest.mark.parametrize("folder", list(registry.OPERATORS))
def test_a_rank_is_held_between_any_two_steps(ranks, tmp_path, folder, nodes):
    text, steps = skew.with_holds((mutants.FOLDER / folder / "kernel.py").read_text())
    assert steps >= 4
    ranks(3, lambda: run_held(folder, text, steps, tmp_path, nodes),
          environment={"NEREID_RANKS_PER_NODE": "1"} if nodes else {})


@pytest.mark.ranks(2)
def test_a_held_rank_holds_the_others(tmp_path):
    """That the hook holds: a peer's call ends only when the held rank goes on."""
    text, steps = skew.with_holds((mutants.FOLDER / "all_reduce/kernel.py").read_text())
    own = tmp_path / str(nereid.rank())
    own.mkdir()
    mutants.load("nereid.ops.all_reduce.kernel", text, str(own))
    kind = importlib.reload(importlib.import_module("nereid.ops.all_reduce.op")).AllReduce
    op, x = kind(100, algorithm="one_shot"), np.ones(7, np.float32)
    op(x)
    nereid.barrier()
    start = time.monotonic()
    first = min(step for step in range(1, steps + 1) if f"hold(state_ptr, {step})" in text.partition("def one_shot_kernel")[2])
    if nereid.rank() == 0:
        with skew.held(op, first, 0.2):
            assert op(x).tolist() == [2.0] * 7
    else:
        assert op(x).tolist() == [2.0] * 7
    assert time.monotonic() - start > 0.15  # the hold itself, not the speed of anything
    op.close()
