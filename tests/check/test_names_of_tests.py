# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A test that has the name of another one of its file never runs: Python keeps the last."""

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def repeated(source: str) -> list[str]:
    """Names that tests of one file or of one class share."""
    scopes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.Module, ast.ClassDef))]
    names = [Counter(node.name for node in scope.body if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and
                     node.name.lower().startswith("test")) for scope in scopes]
    return [name for counted in names for name, count in counted.items() if count > 1]


def test_each_test_has_a_name_of_its_own():
    found = {str(path.relative_to(ROOT)): names for path in sorted((ROOT / "tests").rglob("*.py"))
             if (names := repeated(path.read_text(encoding="utf-8")))}
    assert found == {}


def test_a_repeated_name_is_found():
    assert repeated("def test_a(): pass\ndef test_b(): pass\ndef test_a(): pass\n") == ["test_a"]
    assert repeated("class TestA:\n  def test_a(self): pass\n  def test_a(self): pass\ndef test_a(): pass\n") == ["test_a"]
