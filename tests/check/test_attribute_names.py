# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attributes between parts of the compiler are written as constants of one header."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADER = ROOT / "compiler/include/nereid/Support/AttributeNames.h"
LITERAL = re.compile(r'"((?:nereid|ascend)\.[a-z_]+)"')


def sources():
    for folder in ("compiler/lib", "compiler/include", "tools", "python/src"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".cpp", ".h") and path != HEADER:
                yield path, path.read_text()


def test_no_name_is_spelled_out_elsewhere():
    listed = set(LITERAL.findall(HEADER.read_text()))
    assert len(listed) > 8
    spelled = [f"{path.relative_to(ROOT)}: {name}" for path, text in sources()
               for name in LITERAL.findall(text) if name in listed]
    assert not spelled, f"write the constant of {HEADER.name}: {spelled}"


def test_every_name_is_written_and_read():
    for constant in re.findall(r"StringLiteral (\w+) =", HEADER.read_text()):
        users = [path.name for path, text in sources() if re.search(rf"\battr::{constant}\b", text)]
        assert len(users) >= 2, f"attr::{constant} is used by {users} alone"
