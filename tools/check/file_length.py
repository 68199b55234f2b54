#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No source file is longer than 1,000 lines. Files that a script writes say so at their top and may be."""

from __future__ import annotations

import re
from pathlib import Path

import tree

LIMIT = 1000
SUFFIXES = {".c", ".cc", ".cpp", ".h", ".hpp", ".inc", ".td", ".py", ".pyi", ".sh", ".S", ".cmake", ".mlir", ".md"}
NAMES = {"CMakeLists.txt"}
GENERATED = re.compile(r"Written by \S+ from .*: do not edit")


def check(root: Path) -> list[str]:
    problems = []
    for path in tree.files_of(root):
        if path.suffix not in SUFFIXES and path.name not in NAMES:
            continue
        text = (root / path).read_text(encoding="utf-8", errors="replace")
        lines = text.count("\n")
        if lines > LIMIT and not GENERATED.search(text[:500]):
            problems.append(f"{path}: {lines} lines; split it, {LIMIT} is the limit")
    return problems


if __name__ == "__main__":
    tree.run(check, __doc__)
