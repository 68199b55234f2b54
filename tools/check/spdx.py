#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every source file names the licence in one of its first three lines."""

from __future__ import annotations

from pathlib import Path

import tree

LINE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
SUFFIXES = {".c", ".cc", ".cpp", ".h", ".hpp", ".inc", ".td", ".py", ".pyi", ".sh", ".S", ".cmake", ".toml", ".mlir"}
NAMES = {"CMakeLists.txt", "run"}
#: lit tests start with their RUN line and are covered by LICENSE like data.
EXEMPT_SUFFIXES_IN = {"test": {".mlir", ".py"}}


def needs_line(path: Path) -> bool:
    if path.suffix in EXEMPT_SUFFIXES_IN.get(path.parts[0], set()) and not path.name.startswith("lit."):
        return False
    return path.suffix in SUFFIXES or path.name in NAMES or path.name.startswith("lit.")


def check(root: Path) -> list[str]:
    problems = []
    for path in tree.files_of(root):
        if not needs_line(path):
            continue
        text = (root / path).read_text(encoding="utf-8", errors="replace")
        if not text.strip():
            continue  # an empty __init__.py holds nothing to license
        if not any(LINE in line for line in text.splitlines()[:3]):
            problems.append(f"{path}:1: the line '{LINE}' is missing from the first three lines")
    return problems


if __name__ == "__main__":
    tree.run(check, __doc__)
