# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the operators on the ranks of this job.

    nereid run -n 4 -m nereid.ops.selftest
    nereid run -n 4 --schedule=random:1..20 -m nereid.ops.selftest --calls 3
    nereid run -n 4 --ranks-per-node=2 -m nereid.ops.selftest all_gather all_reduce

Each case of each operator runs on all ranks, in teams (even and odd ranks; all but the last) when there are at
least three, and finally one case of each operator for 600 calls with ranks that are late at random.
"""

from __future__ import annotations

import argparse
import os
import time

import nereid
from nereid.ops.core import conformance, registry
from nereid.ops.core.group import Group


def groups(names: tuple[str, ...]) -> dict[str, Group]:
    """This rank's group of each kind. Ranks of other groups make their operators alongside."""
    world, rank = nereid.world_size(), nereid.rank()
    found = {"all": Group(range(world))}
    if world >= 3:
        found["even and odd"] = Group(range(rank % 2, world, 2))
        found["all but the last, reversed"] = Group(range(world - 2, -1, -1))
    return {name: group for name, group in found.items() if name in names or not names}


def crosses_nodes() -> bool:
    return nereid.symm.TEAM_SHARED.n_pes < nereid.world_size()


def run_operator(folder: str, calls: int, skewed_calls: int, seed: int, late: float, only: str = "",
                 which: tuple[str, ...] = ()) -> int:
    """Runs the cases of one operator whose names contain `only`; returns how many. Collective."""
    done = 0
    for case in registry.cases(folder):
        if only not in case.name or (crosses_nodes() and "one node" in case.name):
            continue
        for name, group in groups(which).items():
            conformance.run(case._replace(name=f"{folder}, {case.name}, {name}"), group, calls, seed, late)
        if skewed_calls and done == 0:
            conformance.run(case._replace(name=f"{folder}, {case.name}, {skewed_calls} calls"), groups(("all",))["all"],
                            skewed_calls, seed + 1, late)
        done += 1
    return done


def main(argv=None) -> None:
    parser = argparse.ArgumentParser(prog="python -m nereid.ops.selftest", description=__doc__.splitlines()[0])
    parser.add_argument("operators", nargs="*", metavar="OPERATOR", help=f"of {', '.join(registry.OPERATORS)}")
    parser.add_argument("--calls", type=int, default=10, help="calls of each case")
    parser.add_argument("--skewed-calls", type=int, default=None, help="default 600, 0 under a random schedule")
    parser.add_argument("--late", type=float, default=0.001, help="seconds by which a rank may be late")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    unknown = [name for name in args.operators if name not in registry.OPERATORS]
    if unknown:
        parser.error(f"there is no operator {unknown[0]!r}; there are {', '.join(registry.OPERATORS)}")
    nereid.init()
    skewed = args.skewed_calls
    if skewed is None:
        skewed = 600 if os.environ.get("NEREID_SCHEDULE", "fifo") == "fifo" else 0
    for folder in args.operators or registry.OPERATORS:
        start = time.perf_counter()
        done = run_operator(folder, args.calls, skewed, args.seed, args.late, args.only)
        if nereid.rank() == 0:
            print(f"{folder:<22} {done:>2} cases x {args.calls} calls on {nereid.world_size()} ranks, "
                  f"{time.perf_counter() - start:.1f} s  ok", flush=True)


if __name__ == "__main__":
    main()
