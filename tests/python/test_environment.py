# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/environment.md against the tables of the code, and those against what the code
reads."""

import os
import re
from pathlib import Path

import pytest

from nereid import _runtime
from nereid._base import environment as _environment

ROOT = Path(__file__).resolve().parents[2]
KNOWN = {name for name, _, _ in [*_runtime.knobs(), *_environment.VARIABLES]}


def test_the_page_is_in_step():
    page = (ROOT / "docs/environment.md").read_text()
    assert page == _environment.page(), "run python -m nereid._base.environment > docs/environment.md"


def read_by_the_code():
    found = set()
    patterns = [r'getenv\(\s*"(NEREID_\w+)"', r'knobText\(\s*"(NEREID_\w+)"', r'environ[^\n]{0,20}"(NEREID_\w+)"',
                r'flag\(\s*"(NEREID_\w+)"', r'seconds\(\s*"(NEREID_\w+)"']
    for folder, endings in (("runtime", (".cpp", ".h")), ("compiler", (".cpp", ".h")), ("python", (".cpp", ".py"))):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in endings:
                text = path.read_text(errors="replace")
                for pattern in patterns:
                    found.update(re.findall(pattern, text))
    return found


def test_every_variable_that_is_read_is_known():
    missing = read_by_the_code() - KNOWN
    assert not missing, "add them to runtime/base/Knobs.cpp or python/nereid/_base/environment.py"


def test_every_known_variable_is_read():
    python = {name for name, _, _ in _environment.VARIABLES}
    options = {row["variable"] for target in _runtime.target_names() for row in _runtime.find_target(target)["options"]}
    assert python - read_by_the_code() - options == set()


@pytest.mark.parametrize("text, on", [("1", True), ("yes", True), ("0", False), ("", False), ("off", False), ("False", False)])
def test_switches(monkeypatch, text, on):
    monkeypatch.setenv("NEREID_SOMETHING", text)
    assert _environment.flag("NEREID_SOMETHING") == on
    monkeypatch.delenv("NEREID_SOMETHING")
    assert not _environment.flag("NEREID_SOMETHING") and _environment.flag("NEREID_SOMETHING", "1")
    assert "NEREID_SOMETHING" not in os.environ
