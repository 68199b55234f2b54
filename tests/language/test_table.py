# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of the language's names (docs/language.md) is complete and up to date."""

import importlib.util
import sys
from pathlib import Path

import pytest

from nereid import _compiler

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def table():
    spec = importlib.util.spec_from_file_location("language_table", ROOT / "python" / "language_table.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_name_has_an_implementation_or_a_reason(table):
    found = table.problems(table.read_surface(), _compiler.builtin_table(), _compiler.constant_table())
    assert not found, "\n".join(found)


def test_the_page_is_up_to_date(table):
    page = table.render_page(_compiler.builtin_table(), _compiler.constant_table())
    assert table.PAGE.read_text(encoding="utf-8") == page, "run python/generate_language.py"


def test_gaps_are_found(table):
    entries = [table.Entry("tl", "no_such_function", test="language/test_table.py::test_gaps_are_found"),
               table.Entry("tl", "load", test="language/test_table.py::no_such_test"), table.Entry("tl", "store", test="nowhere.py::test")]  # fmt: skip
    found = "\n".join(table.problems(entries, _compiler.builtin_table(), _compiler.constant_table()))
    for text in ("tl.no_such_function has neither", "there is no test language/test_table.py::no_such_test", "tl.store names no test",
                 "tl.dot is implemented but not listed"):  # fmt: skip
        assert text in found
