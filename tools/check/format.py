#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every C and C++ file is written as clang-format 22 writes it under .clang-format."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import tree

SUFFIXES = {".c", ".cc", ".cpp", ".h", ".hpp"}
FORMATTER = "clang-format-22"
#: `clang-format --dry-run` writes FILE:LINE:COLUMN: warning: ... for each place.
PLACE = re.compile(r"^(?P<file>.+?):(?P<line>\d+):\d+: (?:warning|error):", re.M)


def check(root: Path) -> list[str]:
    if shutil.which(FORMATTER) is None:
        return [f"{FORMATTER} is not installed; scripts/setup.sh installs it"]
    files = [path for path in tree.files_of(root) if path.suffix in SUFFIXES]
    if not files:
        return []
    done = subprocess.run([FORMATTER, "--dry-run", *map(str, files)], cwd=root, capture_output=True, text=True)
    first: dict[str, str] = {}
    for place in PLACE.finditer(done.stderr):
        first.setdefault(place["file"], place["line"])
    problems = [f"{file}:{line}: not formatted; run `{FORMATTER} -i {file}`" for file, line in first.items()]
    if done.returncode != 0 and not problems:
        problems.append(f"{FORMATTER} failed: {done.stderr.strip()}")
    return problems


if __name__ == "__main__":
    tree.run(check, __doc__)
