# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each tile operation that is lowered by loops of its own has a lit test of the pass."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_each_root_has_a_test():
    text = (ROOT / "compiler/lib/Target/CPU/TilesToLoops/Lowering.cpp").read_text(encoding="utf-8")
    roots = re.findall(r"\.Case<tt::(\w+)Op>\(\[&\]\((?:auto|Operation \*)", text)
    assert len(roots) >= 15, roots
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "test/Target/CPU/TilesToLoops").glob("*.mlir"))
    names = [re.sub(r"(?<=[a-z])(?=[A-Z])", "_", root).lower() for root in roots]
    assert [name for name in names if not re.search(rf"\btt\.{name}\b", tests)] == []
