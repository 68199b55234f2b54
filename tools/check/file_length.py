#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No source file is longer than 1,000 lines."""

from __future__ import annotations

from pathlib import Path

import tree

LIMIT = 1000
SUFFIXES = {".c", ".cc", ".cpp", ".h", ".hpp", ".inc", ".td", ".py", ".pyi", ".sh", ".S", ".cmake", ".mlir", ".md"}
NAMES = {"CMakeLists.txt"}


def check(root: Path) -> list[str]:
    problems = []
    for path in tree.files_of(root):
        if path.suffix not in SUFFIXES and path.name not in NAMES:
            continue
        with open(root / path, encoding="utf-8", errors="replace") as file:
            lines = sum(1 for _ in file)
        if lines > LIMIT:
            problems.append(f"{path}: {lines} lines; split it, {LIMIT} is the limit")
    return problems


if __name__ == "__main__":
    tree.run(check, __doc__)
