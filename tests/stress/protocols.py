# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the protocols of protocol_kernels.py on all ranks of a job.

    nereid run -n 8 tests/stress/protocols.py --rounds 100000 [NAME ...]

Prints, from rank 0, the time of a round of each. Ends with 1 when any word was wrong.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

import nereid
from nereid import symm
from protocol_kernels import BLOCK, DATA, PROTOCOLS, SIGNALS

#: Launches that the rounds are divided among.
LAUNCHES = 5
#: Rounds of one launch with flags that the host resets.
FLAGS = 32


def applies(name: str, world: int) -> bool:
    return world % PROTOCOLS[name][2] == 0


def run(name: str, rounds: int) -> tuple[int, float]:
    """Wrong words seen by this rank, and seconds of a round. Collective."""
    kernel, programs, _, resets = PROTOCOLS[name]
    rank, world = nereid.rank(), nereid.world_size()
    data, stage = symm.zeros((DATA,), np.int32, name="data"), symm.zeros((DATA,), np.int32, name="stage")
    signals = symm.zeros((SIGNALS,), np.int64, name="signals")
    errors = np.zeros(1, np.int32)
    nereid.barrier()
    lock = name.endswith("_lock")
    if lock:  # taken so many times by all programs together
        rounds = max(LAUNCHES, rounds // (programs * world))
    each = FLAGS if resets else max(1, rounds // LAUNCHES)
    launches = max(1, rounds // each)
    start = time.perf_counter()
    for launch in range(launches):
        kernel[(programs,)](data, signals, stage, errors, launch * each, each, BLOCK=BLOCK)
        if resets:
            nereid.barrier()
            signals[:] = 0
            nereid.barrier()
    nereid.barrier()
    seconds = (time.perf_counter() - start) / (launches * each)
    wrong = int(errors[0])
    if lock and rank == 0:
        count = int(data[0])
        wrong += count != launches * each * programs * world
    for tensor in (data, stage, signals):
        symm.free(tensor)
    return wrong, seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    nereid.init()
    failed = 0
    for name in args.names or PROTOCOLS:
        if not applies(name, nereid.world_size()):
            continue
        wrong, seconds = run(name, args.rounds)
        failed += wrong
        if wrong or nereid.rank() == 0:
            print(f"{name:<32} {seconds * 1e6:9.2f} us a round  {f'{wrong} WRONG WORDS' if wrong else 'right'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
