# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random schedules: one seed, one order; kernels that rely on luck fail for some seed, right ones for none."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nereid
from nereid import symm
from nereid.cli import commands
from nereid.testing import spawn

from network_kernels import (
    announce, draw_tickets, meet_neighbours, pass_on, read_early, send_to_other, store_buffering
)

WORLD = 4
PROGRAMS, STEPS = 3, 12
ROUNDS, LENGTH = 5, 100


def tickets():
    counter = symm.zeros((1,), np.int32)
    log = symm.zeros((WORLD * PROGRAMS * STEPS,), np.int32)
    flag = symm.zeros((1,), np.uint64)
    nereid.barrier()
    draw_tickets[(PROGRAMS,)](counter, log, flag, STEPS=STEPS)
    nereid.barrier()
    return log.numpy().tolist()


def order(seed, **environment):
    return spawn(tickets, WORLD, environment={"NEREID_SCHEDULE": f"random:{seed}", **environment})[0]


def test_one_seed_one_order():
    first = order(5)
    assert sorted(first) == sorted((r * 100 + p) * 1000 + s for r in range(WORLD) for p in range(PROGRAMS)
                                   for s in range(STEPS))
    assert order(5) == first
    # Worker threads are not part of it.
    assert order(5, NEREID_NUM_THREADS="2") == first


def test_other_seeds_other_orders():
    assert len({tuple(order(seed)) for seed in range(5)}) == 5


def sums(ways):
    """By way: whether this rank got what was sent, in each round."""
    good = {}
    for way in ways:
        data, source = symm.zeros((LENGTH,), np.int32), symm.zeros((LENGTH,), np.int32)
        flag = symm.zeros((1,), np.uint64)
        out = np.zeros(ROUNDS, np.int32)
        nereid.barrier()
        try:
            pass_on[(1,)](data, source, flag, out, LENGTH, ROUNDS, WAY=way, BLOCK=128)
            good[way] = out.tolist() == [LENGTH * r for r in range(1, ROUNDS + 1)]
        except nereid.LaunchError:
            good[way] = False  # a signal that came twice or was passed
            nereid.recover()
        nereid.barrier()
    return good


RIGHT = ["put_signal", "fence", "quiet"]
WRONG = ["no_fence", "source_reused", "no_barrier"]


@pytest.mark.parametrize("per_node", [0, 1])
def test_mistakes_show_for_some_seed(per_node):
    failed = set()
    for seed in range(1, 9):
        results = spawn(sums, 3, (RIGHT + WRONG,),
                        environment={"NEREID_SCHEDULE": f"random:{seed}", "NEREID_RANKS_PER_NODE": str(per_node)})
        failed |= {way for result in results for way, good in result.items() if not good}
        if seed >= 4 and failed == set(WRONG):
            break
    assert failed == set(WRONG)


@pytest.mark.parametrize("per_node", [0, 1])
def test_right_kernels_are_right_in_the_order_of_the_system(per_node):
    for result in spawn(sums, 3, (RIGHT,), environment={"NEREID_RANKS_PER_NODE": str(per_node)}):
        assert all(result.values()), result


def buffered(quiet, rounds):
    x, y = symm.zeros((rounds,), np.int32), symm.zeros((rounds,), np.int32)
    out = symm.zeros((rounds,), np.int32)
    nereid.barrier()
    store_buffering[(1,)](x, y, out, rounds, QUIET=quiet)
    nereid.barrier()
    return out.numpy().tolist()


@pytest.mark.parametrize("quiet", [False, True])
def test_store_buffering(quiet):
    """Both ranks may miss the other's element, unless each completes its own first."""
    seen = set()
    for schedule in ("fifo", "random:1", "random:2", "random:3"):
        first, second = spawn(buffered, 2, (quiet, 50), environment={"NEREID_SCHEDULE": schedule})
        seen |= set(zip(first, second))
    assert seen <= {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert ((0, 0) in seen) == (not quiet)


def fetched(quiet):
    data, source = symm.zeros((LENGTH,), np.int32), symm.full((LENGTH,), 7, np.int32)
    out = np.zeros(1, np.int32)
    read_early[(1,)](data, source, out, LENGTH, QUIET=quiet, BLOCK=128)
    nereid.barrier()
    return int(out[0])


@pytest.mark.parametrize("quiet", [False, True])
def test_get_nbi_lands_at_quiet(quiet):
    got = {value for seed in (1, 2, 3, 4) for value in
           spawn(fetched, 2, (quiet,), environment={"NEREID_SCHEDULE": f"random:{seed}"})}
    assert got == {7 * LENGTH} if quiet else 0 in got


def refilled(barrier):
    """What arrives when the host writes to the source of a put after its launch."""
    source, target = symm.full((8,), 1, np.int32), symm.zeros((8,), np.int32)
    send_to_other[(1,)](target, source, 32)
    if barrier:
        nereid.barrier()
    source.numpy()[...] = 2
    nereid.barrier()
    return bool((target.numpy() == 1).all())


def stored_late(calls, late):
    x, flag, out = symm.zeros((1,), np.int32), symm.zeros((2,), np.int64), np.ones(1, np.int32)
    nereid.barrier()
    announce[(1,)](x, flag, out, CALLS=calls, LATE=late)
    return int(out[0]) == 1


def reset(barrier):
    """The host resets a signal between rounds, with a call that it has for that."""
    flag = symm.zeros((1,), np.int64)
    nereid.barrier()
    try:
        for _ in range(3):
            meet_neighbours[(1,)](flag)
            flag.zero_()
            if barrier:
                nereid.barrier()
    except nereid.LaunchError:
        return False  # a signal was wiped out
    return True


def failing(job, world, args, seeds):
    """The first seed for which some rank says no, or None."""
    for seed in range(1, seeds + 1):
        if not all(spawn(job, world, args, environment={"NEREID_SCHEDULE": f"random:{seed}"})):
            return seed
    return None


@pytest.mark.parametrize("job, world, wrong, right", [
    (refilled, 2, (False,), (True,)),
    (stored_late, 2, (0, True), (0, False)),
    (stored_late, 2, (1, True), (1, False)),
    (reset, 3, (False,), (True,)),
])
def test_what_follows_an_operation_may_come_late(job, world, wrong, right):
    assert failing(job, world, wrong, 15) is not None
    assert failing(job, world, right, 15) is None


# ---- the command

SCRIPT = """
import os, sys
import numpy as np
import nereid
from nereid import symm
sys.path.insert(0, {folder!r})
from test_schedules import sums
nereid.init()
good = sums([sys.argv[1]])
nereid.barrier()
sys.exit(0 if all(good.values()) else 3)
"""


def command(tmp_path, *options, way="no_fence"):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(folder=str(Path(__file__).parent)))
    environment = {name: value for name, value in os.environ.items() if name != "NEREID_SCHEDULE"}
    return subprocess.run([sys.executable, "-m", "nereid", "run", "-n", "3", *options, str(script), way],
                          capture_output=True, text=True, timeout=240, env=environment)


def test_a_range_of_seeds_stops_at_the_first_failure(tmp_path):
    done = command(tmp_path, "--schedule=random:1..12")
    assert done.returncode == 3, done.stderr
    line = next(text.strip() for text in done.stderr.splitlines() if "nereid run -n 3 --schedule=random:" in text)
    assert "To repeat it:" in done.stderr and line.endswith("script.py no_fence")
    schedule = next(word for word in line.split() if word.startswith("--schedule="))
    # The line repeats the failure.
    assert command(tmp_path, schedule).returncode == 3


def test_the_line_that_repeats_a_run_has_all_that_was_given():
    given = ["--heap-size=2G", "--timeout=7.5", "--threads=2", "--target=cpu", "--profile=ascend910b",
             "--ranks-per-node=2", "--check", "--check-events=77", "--transport=remote", "--env=A=1", "--env=B=2 3",
             "--rank-env=1:C=4", "--as-triton", "--hosts=a:1,b:2", "--hostfile=hosts", "--start=ssh {host}",
             "--rendezvous=a:7000"]
    args = commands._parser().parse_args(["run", "-n", "3", *given, "script.py", "x", "--y"])
    words = shlex.split(commands._repeat_line(args, "random:9"))
    assert words[:5] == ["nereid", "run", "-n", "3", "--schedule=random:9"]
    assert sorted(words[5:-3]) == sorted(given) and words[-3:] == ["script.py", "x", "--y"]
    # Whoever adds an option decides whether it belongs into the line.
    options = {action.dest for action in args.parser._actions} - commands._NOT_REPEATED
    assert {"check"} ^ {word.split("=")[0][2:].replace("-", "_") for word in given} == options


def test_a_range_of_seeds_without_a_failure(tmp_path):
    done = command(tmp_path, "--schedule=random:4..5", "--ranks-per-node=1", way="fence")
    assert done.returncode == 0, done.stderr
    assert "no failure with 2 schedules, random:4 to random:5" in done.stderr
    assert "nereid run: --schedule=random:4, 1 of 2" in done.stderr  # where it is


@pytest.mark.parametrize("schedule, words", [
    ("random:5..2", "the last seed is smaller than the first"),
    ("random:1..", "write two seeds"),
    ("random:a..b", "write two seeds"),
    ("random:1..1000000000", "at most"),
    ("random:x", "schedule='random:x': expected fifo or random:SEED"),
    ("lifo", "fifo or random:SEED"),
])
def test_bad_schedules(tmp_path, schedule, words):
    done = command(tmp_path, f"--schedule={schedule}")
    assert done.returncode != 0 and words in done.stderr, done.stderr


def test_transports_by_name(tmp_path):
    script = tmp_path / "job.py"
    script.write_text("import nereid, os\nnereid.init()\nprint(os.environ['NEREID_TRANSPORT'])\nnereid.finalize()\n")
    for name in ("shared_memory", "remote", "delayed:remote", "ucx"):
        done = subprocess.run([sys.executable, "-m", "nereid", "run", "-n", "2", f"--transport={name}", "--tag-output",
                               str(script)],
                              capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
        assert sorted(done.stdout.splitlines()) == [f"[0] {name}", f"[1] {name}"]


@pytest.mark.parametrize("name", ["pigeon", "delayed:", "delayed:delayed:remote", "Remote"])
def test_unknown_transports(tmp_path, name):
    done = command(tmp_path, f"--transport={name}")
    assert done.returncode == 2, done.stderr
    assert f"nereid run: --transport='{name}': expected one of shared_memory, remote, ucx, or delayed:" in done.stderr


def test_help_explains_schedules_and_nodes():
    done = subprocess.run([sys.executable, "-m", "nereid", "run", "--help"], capture_output=True, text=True, timeout=60)
    text = " ".join(done.stdout.split())
    assert "random:FIRST..LAST" in text and "--ranks-per-node K" in text
    assert "The same seed gives the same schedule" in text
