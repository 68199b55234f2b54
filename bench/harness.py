# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the benchmarks share: a quiet environment, interleaved timing, tables and JSON."""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parents[1]

#: One thread for everything that is compared. OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE are
#: taken out: with them OpenBLAS would not run the kernel that it has for this processor,
#: and the comparison would flatter us.
SINGLE_THREAD = {"NEREID_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
TAKEN_OUT = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


def single_thread_environment() -> dict[str, str]:
    environment = {key: value for key, value in os.environ.items() if key not in TAKEN_OUT}
    environment.update(SINGLE_THREAD, NEREID_BENCH_ENVIRONMENT="1")
    return environment


def enter_single_thread_environment() -> None:
    """Starts this script again with SINGLE_THREAD, unless it already runs so."""
    if os.environ.get("NEREID_BENCH_ENVIRONMENT") != "1":
        os.execve(sys.executable, [sys.executable, *sys.argv], single_thread_environment())


@dataclass
class Measurement:
    """One candidate of a benchmark against its baseline, timed in turns in one process."""

    benchmark: str
    candidate: str
    baseline: str
    #: Median seconds of one call.
    seconds: float
    baseline_seconds: float
    #: Median, over the rounds, of baseline time / candidate time: above 1 the candidate is faster.
    ratio: float
    #: The ratio that the project wants to reach; None where there is none.
    bar: float | None = None
    note: str = ""
    detail: dict = field(default_factory=dict)


def interleave(calls: dict[str, Callable[[], object]], rounds: int, warmup: int = 2,
               clock: Callable[[], float] = time.perf_counter) -> dict[str, list[float]]:
    """Seconds of each call in each round; within a round the calls take turns.

    The order is reversed every other round, so that no call always follows the same one.
    Whatever disturbs the machine for longer than a call disturbs all of them alike.
    With `clock=time.thread_time`, for calls that compute in this thread alone, the time in
    which others had the processor does not count.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(-warmup, rounds):
        order = list(calls) if number % 2 else list(reversed(calls))
        for name in order:
            start = clock()
            calls[name]()
            elapsed = clock() - start
            if number >= 0:
                times[name].append(elapsed)
    return times


def compare(benchmark: str, times: dict[str, list[float]], candidate: str, baseline: str, **extra) -> Measurement:
    ratios = [b / c for b, c in zip(times[baseline], times[candidate])]
    return Measurement(benchmark, candidate, baseline, statistics.median(times[candidate]),
                       statistics.median(times[baseline]), statistics.median(ratios), **extra)


def compile_cpp(source: str, *flags: str) -> tuple[ctypes.CDLL, str]:
    """A library of the functions in `source`, and how it was compiled."""
    compiler = next((path for name in ("clang++-22", "clang++", "g++") if (path := shutil.which(name))), None)
    if compiler is None:
        sys.exit(f"{Path(sys.argv[0]).name}: no C++ compiler found; run scripts/setup.sh")
    with tempfile.TemporaryDirectory() as folder:
        text, binary = Path(folder, "loops.cpp"), Path(folder, "loops.so")
        text.write_text(source)
        subprocess.run([compiler, "-O3", "-march=native", *flags, "-shared", "-fPIC", "-o", binary, text],
                       check=True)
        return ctypes.CDLL(str(binary)), " ".join([f"C++, {Path(compiler).name} -O3 -march=native", *flags])


def machine() -> dict[str, object]:
    model = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    return {"processor": model, "cores": os.cpu_count(), "python": platform.python_version()}


def table(measurements: list[Measurement]) -> str:
    rows = [("benchmark", "candidate", "time", "baseline", "time", "ratio", "bar", "")]
    for m in measurements:
        verdict = "" if m.bar is None else ("reached" if m.ratio >= m.bar else "NOT REACHED")
        rows.append((m.benchmark, m.candidate, f"{m.seconds * 1e3:.3f} ms", m.baseline,
                     f"{m.baseline_seconds * 1e3:.3f} ms", f"{m.ratio:.2f}", "" if m.bar is None else f"{m.bar:.2f}",
                     " ".join(part for part in (verdict, m.note) if part)))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def report(measurements: list[Measurement], path: str | None) -> None:
    """Prints the table; writes the same as JSON to `path` when one is given."""
    print(table(measurements))
    if path:
        Path(path).write_text(json.dumps(
            {"machine": machine(), "measurements": [asdict(m) for m in measurements]}, indent=1) + "\n")


def arguments(description: str, rounds: int) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=rounds, help="rounds of interleaved calls (default %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to FILE")
    return parser
