# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs kernels in all their ways and compares."""

from __future__ import annotations

import os
import pickle
import select
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .program import Program

ROOT = Path(__file__).resolve().parents[2]


class Worker:
    """A process of worker.py, started anew after a crash."""

    def __init__(self, kind: str, timeout: float = 60.0):
        self.kind = kind
        self.timeout = timeout
        self.process: subprocess.Popen | None = None
        self.log = tempfile.TemporaryFile()

    def _start(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "NEREID_CACHE": "0", "TRITON_INTERPRET": "0"}
        if self.kind == "interpreter":
            environment["TRITON_INTERPRET"] = "1"
        self.process = subprocess.Popen([sys.executable, "-m", "tests.differential.worker", self.kind], cwd=ROOT,
                                        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log)

    def ask(self, *request: Any) -> tuple[str, Any]:
        """("ok", result), ("error", text), or ("crash", text)."""
        self.send(*request)
        return self.receive()

    def send(self, *request: Any) -> None:
        if self.process is None or self.process.poll() is not None:
            self._start()
        data = pickle.dumps(request)
        try:
            self.process.stdin.write(struct.pack("<q", len(data)) + data)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def receive(self) -> tuple[str, Any]:
        deadline = time.monotonic() + self.timeout
        head = self._read(8, deadline)
        data = head and self._read(struct.unpack("<q", head)[0], deadline)
        if data:
            return pickle.loads(data)
        ended = self.process.poll()
        if ended is None:
            try:
                ended = self.process.wait(0.5)
            except subprocess.TimeoutExpired:
                self.close()
                return "crash", f"{self.kind}: no answer within {self.timeout:g} s"
        self.log.seek(max(0, self.log.seek(0, 2) - 2000))
        tail = self.log.read().decode(errors="replace")
        self.close()
        return "crash", f"{self.kind}: the process ended with {ended}\n{tail}"

    def _read(self, count: int, deadline: float) -> bytes | None:
        data = b""
        stream = self.process.stdout
        while len(data) < count:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([stream], [], [], left)[0]:
                return None
            piece = os.read(stream.fileno(), min(count - len(data), 1 << 20))
            if not piece:
                return None
            data += piece
        return data

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None


@dataclass
class Outcome:
    """What came of one kernel."""

    program: Program
    results: dict[str, tuple[str, Any]] = field(default_factory=dict)
    ttir: str | None = None
    #: One line for each thing that is wrong.
    problems: list[str] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        return bool(self.problems)

    @property
    def kind(self) -> str:
        """What is wrong, without numbers: the same for a smaller kernel that shows
        the same."""
        kinds = []
        for way, (status, value) in self.results.items():
            if status != "ok":
                first = str(value).splitlines()[0] if status == "error" else "crash"
                kinds.append(f"{way} {status} {_without_details(first)}")
        if not kinds and self.problems:
            kinds = sorted({problem.split(": ")[0] for problem in self.problems})
        return "; ".join(kinds)


def _without_details(line: str) -> str:
    import re

    line = re.sub(r"/\S+:\d+:\d+: ", "", line)
    line = re.sub(r"'[^']*'|\"[^\"]*\"", "X", line)
    line = re.sub(r"\b(u?int|fp|float|bf|i|u)\d+\b|\d+", "N", line)
    return line[:100]


class Harness:
    def __init__(self, timeout: float = 60.0):
        self.native = Worker("native", timeout)
        self.stock = Worker("stock", timeout)
        self.interpreter = Worker("interpreter", timeout)

    def close(self) -> None:
        for worker in (self.native, self.stock, self.interpreter):
            worker.close()

    def __enter__(self) -> "Harness":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def run(self, program: Program, accept: bool = False) -> Outcome:
        """`accept`: the stock compiler takes what we export as far as PTX."""
        outcome = Outcome(program)
        results = outcome.results
        # The slow ones first, side by side.
        if "interpreter" in program.ways:
            self.interpreter.send("interpreter", program)
        if "ttir" in program.ways:
            self.stock.send("stock", program, program.seed % 2 == 1, 89 if program.seed % 4 > 1 else 90)
        if "nereid" in program.ways:
            results["nereid"] = self.native.ask("nereid", program)
        if "ttir" in program.ways:
            status, text = self.stock.receive()
            if status == "ok":
                outcome.ttir = text
                results["ttir"] = self.native.ask("ttir", program, text)
            else:
                results["stock"] = (status, text)
        if "ttir" in program.ways and results.get("nereid", ("", 0))[0] == "ok":
            status, text = self.native.ask("export", program)
            results["export"] = self.native.ask("ttir", program, text) if status == "ok" else (status, text)
            if accept and status == "ok":
                status, text = self.stock.ask("accept", text)
                if status != "ok":
                    results["accept"] = (status, text)
        if "interpreter" in program.ways:
            results["interpreter"] = self.interpreter.receive()
        self._judge(outcome)
        return outcome

    def _judge(self, outcome: Outcome) -> None:
        good = {way: value for way, (status, value) in outcome.results.items() if status == "ok"}
        for way, (status, value) in outcome.results.items():
            if status != "ok":
                outcome.problems.append(f"{way} {status}: {value}")
        names = list(good)
        for i, first in enumerate(names):
            for second in names[i + 1:]:
                compare(outcome, first, second)


def compare(outcome: Outcome, first: str, second: str) -> None:
    """Adds a problem for each output that two ways computed differently."""
    arguments = [argument for argument in outcome.program.arguments if argument.output]
    for argument, a, b in zip(arguments, outcome.results[first][1], outcome.results[second][1]):
        different = differences(a, b, argument.tolerance)
        if different.any():
            place = int(np.flatnonzero(different)[0])
            outcome.problems.append(
                f"{first} and {second} differ: {argument.name} ({argument.dtype}, tolerance {argument.tolerance:.3g}) in "
                f"{int(different.sum())} elements, first [{place}]: {a[place]} and {b[place]}"
            )


def differences(a: np.ndarray, b: np.ndarray, tolerance: float) -> np.ndarray:
    if a.dtype.kind in "iub":
        return a != b
    a, b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"):
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= tolerance)
    return ~same
