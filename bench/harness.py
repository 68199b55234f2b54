# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How one row is measured: what is compared runs in one process (or one job), in turns.

A case, made by a function of bench/cases, has one side of ours and, by the names that --against
knows, peers of one or more sides each. Results are checked before a time counts, the peers' too.
Then rounds of

    ours | peer | other peer      other peer | peer | ours      ...

until the rounds are used up. Short calls are repeated within a round, so that the clock is no part
of them. A figure is the median over the rounds of peer's time / our time (speed, above 1 ours is
faster) or of our time / peer's (cost, for bars that say 'at most'); where a peer has several sides
the one with the smallest median counts.
"""

from __future__ import annotations

import ctypes
import math
import os
import platform
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

ROOT = Path(__file__).resolve().parents[1]

#: Fewer rounds give no verdict.
ROUNDS_THAT_COUNT = 7
#: Seconds below which calls are repeated within a round.
SHORTEST = 2e-3

#: OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE are taken out of the environment: with them OpenBLAS would
#: not run the kernel that it has for this processor, and the comparison would flatter us.
TAKEN_OUT = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "NEREID_CPU", "NEREID_TARGET", "NEREID_PROFILE")
#: What makes the peers keep to the instructions of a lesser processor, by NEREID_CPU.
CAPS = {
    "native": {},
    "x86-64-v3": {"NEREID_CPU": "x86-64-v3", "OPENBLAS_CORETYPE": "Haswell", "ONEDNN_MAX_CPU_ISA": "AVX2",
                  "ATEN_CPU_CAPABILITY": "avx2"},
}


class Missing(Exception):
    """A peer that is not here; the text says what to install."""


@dataclass
class Side:
    """One way of getting a result."""

    label: str
    call: Callable[[], Any]
    #: Does so many calls, when a loop in Python would cost the side something.
    many: Callable[[int], Any] | None = None
    #: Times the bound of the case's check, for sides that round more.
    rounding: float = 1.0

    def repeat(self, calls: int) -> None:
        if self.many is not None:
            self.many(calls)
            return
        for _ in range(calls):
            self.call()


@dataclass
class Case:
    ours: Side
    #: Makes the sides of a peer; raises Missing.
    peers: dict[str, Callable[[], list[Side]]]
    #: Raises AssertionError unless the result of a side is right: (result, rounding).
    check: Callable[[Any, float], None]
    #: Of one call, and its unit: (2 * n**3, "FLOP/s").
    work: tuple[float, str] | None = None
    #: Whether all ranks call alike, so that the slowest one's time counts.
    together: bool = False


@dataclass
class Figure:
    """One number beside its bar."""

    peer: str
    label: str = ""
    #: Which of several figures of the row it is.
    part: str = ""
    value: float | None = None
    seconds: float | None = None
    peer_seconds: float | None = None
    note: str = ""
    #: Why there is no value.
    missing: str = ""
    #: Times that did not count, say, for others were on the processor.
    noisy: bool = False
    detail: dict = field(default_factory=dict)


def environment(threads: int, cpu: str, given: dict[str, str] | None = None) -> dict[str, str]:
    """That of a process which measures."""
    result = {key: value for key, value in (os.environ if given is None else given).items() if key not in TAKEN_OUT}
    for name in ("NEREID_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        result[name] = str(threads)
    return {**result, **CAPS[cpu]}


def machine() -> dict[str, object]:
    model = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    flags = next((set(line.split(":", 1)[1].split()) for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("flags")), set())
    known = [name for name in ("avx2", "avx512f", "avx512_bf16", "amx_bf16") if name in flags]
    return {"processor": model, "extensions": known, "cores": os.cpu_count(), "python": platform.python_version()}


def interleave(sides: dict[str, Callable[[], object]], rounds: int, warmup: int = 2,
               clock: Callable[[], float] = time.perf_counter,
               before: Callable[[], None] = lambda: None) -> dict[str, list[float]]:
    """Seconds of each side in each round; within a round they take turns, and the order is reversed
    every other round, so that no side always follows the same one. With `clock=time.thread_time`, for
    sides that compute in this thread alone, the time in which others had the processor does not count.
    `before` is called before each turn and is not timed."""
    times: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(-warmup, rounds):
        for name in list(sides) if number % 2 else list(reversed(sides)):
            before()
            start = clock()
            sides[name]()
            elapsed = clock() - start
            if number >= 0:
                times[name].append(elapsed)
    return times


def compare(times: dict[str, list[float]], ours: str, peer: str, at_most: bool = False) -> float:
    """The median over the rounds of peer / ours or, for bars that say 'at most', ours / peer."""
    pairs = zip(times[ours], times[peer])
    return statistics.median(o / p if at_most else p / o for o, p in pairs)


def run(case: Case, bars: dict[str, Any], rounds: int, one_thread: bool) -> list[Figure]:
    """The figures of a case against the peers of `bars`. Collective where the case is."""
    figures, found = [], {}
    for peer in bars:
        try:
            found[peer] = case.peers[peer]()
        except Missing as reason:
            figures.append(Figure(peer, missing=str(reason)))
    if not found:
        return figures
    everyone = {"ours": case.ours, **{f"{peer} {i}": side for peer, sides in found.items() for i, side in enumerate(sides)}}
    for side in everyone.values():
        try:
            case.check(side.call(), side.rounding)
        except AssertionError as error:
            raise AssertionError(f"{side.label} computes something else: {error}") from None
    # Each side is repeated for itself: peers may be hundreds of times slower.
    repeats = {}
    for name, side in everyone.items():
        start = time.perf_counter()
        side.call()
        elapsed = _slowest([time.perf_counter() - start], case.together)[0]
        repeats[name] = max(1, min(10_000, math.ceil(SHORTEST / max(elapsed, 1e-7))))
    if max(repeats.values()) <= 4 * min(repeats.values()):  # the same work in each turn, where that is possible
        repeats = dict.fromkeys(repeats, max(repeats.values()))
    import nereid

    times = interleave({name: (lambda side=side, calls=repeats[name]: side.repeat(calls)) for name, side in everyone.items()},
                       rounds, min(2, rounds), time.thread_time if one_thread else time.perf_counter,
                       before=nereid.barrier if case.together else lambda: None)
    times = {name: [seconds / repeats[name] for seconds in _slowest(series, case.together)] for name, series in times.items()}
    for peer, sides in found.items():
        name = min((f"{peer} {i}" for i in range(len(sides))), key=lambda key: statistics.median(times[key]))
        seconds, peer_seconds = statistics.median(times["ours"]), statistics.median(times[name])
        note = ""
        if case.work:
            amount, unit = case.work
            note = f"{amount / seconds / 1e9:.1f} against {amount / peer_seconds / 1e9:.1f} G{unit}"
        figures.append(Figure(peer, everyone[name].label, "", compare(times, "ours", name, bars[peer].at_most), seconds,
                              peer_seconds, note))
    return figures


def _slowest(seconds: list[float], together: bool) -> list[float]:
    import numpy as np

    import nereid

    return list(nereid.symm.all_reduce(np.array(seconds), "max")) if together else seconds


# ---- peers that many cases share


def built(name: str, what: str, needs: str = "") -> Path:
    """The newest file of that name which CMake has built in bench/."""
    files = list((ROOT / "build").glob(f"*/bench/*/{name}"))
    if not files:
        target = name.removesuffix(".so")
        raise Missing(f"{what} not built: cmake -B build/release -DNEREID_BUILD_BENCH=ON && "
                      f"ninja -C build/release {target}{needs}")
    return max(files, key=lambda path: path.stat().st_mtime)


def loops() -> ctypes.CDLL:
    """The functions of bench/peers, for the processor that the measurement is for."""
    cpu = os.environ.get("NEREID_CPU", "native")
    return ctypes.CDLL(str(built(f"nereid-bench-peers-{cpu}.so", "the C++ loops are")))


LOOPS_LABEL = "C++ loop"


def torch():
    """The module, on as many threads as Nereid."""
    try:
        import torch as module
    except ImportError:
        raise Missing("torch is not installed: pip install torch") from None
    module.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    return module


def within(result: Any, want: Any, tolerance: float) -> None:
    """Asserts that no element is off by more than `tolerance` times the largest one."""
    import numpy as np

    got = np.asarray(result, np.float64).reshape(np.shape(want))
    bound = tolerance * max(1.0, float(np.abs(want).max(initial=0)))
    error = float(np.abs(got - want).max(initial=0))
    assert error <= bound, f"error {error:.3g}, allowed {bound:.3g}"
