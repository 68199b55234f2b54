# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`nereid run --check` on accesses of generated code: cases/ says what must be found, and nothing else may be."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).parent / "cases"
MARK = re.compile(r"(?<!`)# race (\w+)(?:: ([\w|-]+))?")
FOUND = re.compile(r"^(\S+\.py):(\d+):\d+: error\[(NRD-\d+)\].*?^  \(1\) \S+\.py:(\d+):\d+: ", re.S | re.M)


def expected(path: Path) -> dict:
    """name -> (the lines, the codes that may be said)."""
    races: dict[str, tuple[set, set]] = {}
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for mark in MARK.finditer(text):
            lines, codes = races.setdefault(mark[1], (set(), set()))
            lines.add(number)
            codes.update(mark[2].split("|") if mark[2] else [])
    return races


def check(path: Path, *options: str, ranks: int = 2):
    command = [sys.executable, "-m", "nereid", "run", "--check", "-n", str(ranks), *options, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    reports = done.stderr.split("\n\n")
    return done.returncode, done.stderr, [m for report in reports if (m := FOUND.search(report))]


@pytest.mark.parametrize("options", [[], ["--threads=1"], ["--schedule=random:5"]], ids=["fifo", "one-thread", "seed"])
@pytest.mark.parametrize("path", sorted(CASES.glob("*.py")), ids=lambda path: path.stem)
def test_cases(path, options):
    code, text, found = check(path, *options)
    assert code == 40, text
    races = expected(path)
    left = dict(races)
    for match in found:
        lines = {int(match[2]), int(match[4])}
        name = next((name for name, (wanted, _) in races.items() if wanted == lines), None)
        assert name is not None, f"nothing is wrong between the lines {sorted(lines)}:\n{text}"
        assert match[3] in races[name][1], f"{name}:\n{text}"
        left.pop(name, None)
    assert not left, f"not found: {sorted(left)}\n{text}"
    assert "not seen" not in text and "log was full" not in text
