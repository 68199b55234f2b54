# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures which algorithm of each operator is the fastest on this machine, and writes a table of it.

    nereid run -n 4 -m nereid.ops.tune --output ops.json
    NEREID_OPS_TABLE=ops.json nereid run -n 4 program.py

Algorithms take turns; a time is that of the slowest rank, the figure the median of the rounds. Rows for other numbers of
ranks that the file has stay in it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import time
from pathlib import Path
from typing import Any, Callable

import numpy as np

import nereid
from nereid.ops.core import choice, registry


def seconds(calls: dict[str, Callable[[], Any]], rounds: int, repeat: int) -> dict[str, float]:
    """The median time of each call, the same on all ranks. Collective."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(-1, rounds):
        for name in list(calls)[:: 1 if number % 2 else -1]:
            nereid.barrier()
            start = time.perf_counter()
            for _ in range(repeat):
                calls[name]()
            elapsed = np.array([(time.perf_counter() - start) / repeat])
            if number >= 0:
                times[name].append(float(nereid.symm.all_reduce(elapsed, "max")[0]))
    return {name: statistics.median(values) for name, values in times.items()}


def best(operator: str, nbytes: int, rounds: int) -> tuple[str, dict[str, float]] | None:
    """The fastest choice for so many bytes from each rank, and the time of each; None for an operator
    without choices. Collective."""
    kind = getattr(importlib.import_module(f"nereid.ops.{operator}.op"), registry.OPERATORS[operator])
    trials = kind.trials(nereid.world_size(), nbytes)
    if not trials:
        return None
    made = {name: make() for name, make in trials.items()}
    times = seconds({name: call for name, (_, call) in made.items()}, rounds, max(1, min(50, (1 << 20) // nbytes)))
    for op, _ in made.values():
        op.close()
    return min(times, key=lambda name: times[name]), times


def merged(table: dict[str, Any], found: dict[str, list[dict]], ranks: int) -> dict[str, Any]:
    """The table with what was found in place of its rows for as many ranks."""
    measured = dict(table.get("measured", {}))
    for name, rows in found.items():
        measured[name] = sorted([row for row in measured.get(name, ()) if row["ranks"] != ranks] + rows,
                                key=lambda row: (row["ranks"], row["bytes"]))
    return {**table, "measured": measured}


def main(argv=None) -> None:
    parser = argparse.ArgumentParser(prog="python -m nereid.ops.tune", description=__doc__.splitlines()[0])
    parser.add_argument("operators", nargs="*", metavar="OPERATOR", help=f"of {', '.join(registry.OPERATORS)}")
    parser.add_argument("--bytes", type=int, nargs="+", default=[1 << 10, 1 << 13, 1 << 16, 1 << 19, 1 << 22], metavar="N",
                        help="from each rank")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--output", default="ops.json", metavar="FILE")
    args = parser.parse_args(argv)
    unknown = [name for name in args.operators if name not in registry.OPERATORS]
    if unknown:
        parser.error(f"there is no operator {unknown[0]!r}; there are {', '.join(registry.OPERATORS)}")
    if min(args.bytes) < 1 or args.rounds < 1:
        parser.error("--bytes and --rounds are positive numbers")
    nereid.init()
    file, ranks = Path(args.output), nereid.world_size()
    found: dict[str, list[dict]] = {}
    for operator in args.operators or registry.OPERATORS:
        for nbytes in args.bytes:
            result = best(operator, nbytes, args.rounds)
            if result is None:
                break
            name, (chosen, times) = registry.OPERATORS[operator], result
            found.setdefault(name, []).append({"ranks": ranks, "bytes": nbytes, "choice": chosen})
            if nereid.rank() == 0:
                print(f"{name:<16} {ranks} ranks {nbytes:>9} bytes  {chosen}: "
                      + ", ".join(f"{one} {1e6 * value:.1f} us" for one, value in times.items()), flush=True)
    if nereid.rank() == 0:
        table = merged(choice.read_table(file) if file.exists() else {}, found, ranks)
        file.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
        print(f"written to {file}; NEREID_OPS_TABLE={file} makes operators look there")


if __name__ == "__main__":
    main()
