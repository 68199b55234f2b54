# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every entry of the catalogue of diagnostics has a test that brings it about."""

import re
from pathlib import Path

import pytest
import test_extensions
import test_refused
from catalogue_cases import CASES, ELSEWHERE, PASSES
from frontend_kernels import arguments, load, refused

import nereid
from nereid import _compiler

ROOT = Path(__file__).parents[2]


def entries() -> list[str]:
    return [name for name, _, _ in _compiler.diagnostics()]


@pytest.mark.parametrize("entry", CASES)
def test_entry(entry, tmp_path):
    """Refused with this entry, at the marked place."""
    for body in [CASES[entry]] if isinstance(CASES[entry], str) else CASES[entry]:
        assert refused(tmp_path, body).name == entry


@pytest.mark.parametrize("entry", PASSES)
def test_entry_of_a_pass(entry, tmp_path):
    module, path, place = load(tmp_path, PASSES[entry])
    with pytest.raises(nereid.CompilationError) as caught:
        _compiler.compile(module.kernel, arguments(module.kernel, {}), {})
    error = caught.value
    assert error.name == entry, error
    if place:
        assert (error.file, error.line, error.column) == (str(path), *place[:2]), error


def test_every_entry_has_a_case(tmp_path):
    seen = {*CASES, *PASSES, *ELSEWHERE, "unsupported_syntax"}
    for body, _, _ in [*test_refused.CASES.values(), *test_extensions.CASES.values()]:
        constants = {"B": 4} if "B: tl.constexpr" in body else {}
        seen.add(refused(tmp_path, body, **constants).name)
    assert [entry for entry in entries() if entry not in seen] == []
    assert [entry for entry in seen if entry not in entries()] == []


@pytest.mark.parametrize("entry", ELSEWHERE)
def test_the_tests_elsewhere_exist(entry):
    """`file: name` of a test that brings the entry about."""
    file, _, name = ELSEWHERE[entry].partition(": ")
    if file == "none":
        return
    text = (ROOT / file).read_text()
    for part in re.split(r"[.]", name):
        assert part in text, ELSEWHERE[entry]


@pytest.mark.parametrize("entry", entries())
def test_texts(entry):
    """Messages are no sentences with capital and full stop, helps say something."""
    message, help_text = next((m, h) for name, m, h in _compiler.diagnostics() if name == entry)
    assert message and not message.endswith(".") and not help_text.endswith(".")
