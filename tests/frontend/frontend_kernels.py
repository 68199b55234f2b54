# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels from source text for the tests of the front end.

In the sources, ⟦ ⟧ stand around what an error has to point at; they are cut out before
the kernel is compiled.
"""

import importlib.util
import itertools
import re
import textwrap

import pytest

import nereid
from nereid import _compiler

HEADER = """\
import collections
import math

import nereid
import nereid.distributed as dl
import nereid.language as tl


"""

#: What the parameters of the tests' kernels stand for, by their names.
KINDS = {
    "x_ptr": ("*fp32", 16),
    "y_ptr": ("*fp32", 16),
    "h_ptr": ("*fp16", 16),
    "i_ptr": ("*i32", 16),
    "s_ptr": ("*i64", 16),
    "n": ("i32", 0),
    "m": ("i32", 16),
    "k": ("i64", 0),
    "u": ("u32", 0),
    "f": ("fp32", 0),
    "b": ("u1", 0),
}
_counter = itertools.count()


def load(tmp_path, body: str):
    """Imports `body` from a file of its own. Returns (module, path, place): `place` is
    (line, column, end line, end column) of the mark, all from 1, or None."""
    source = HEADER + textwrap.dedent(body)
    start, end = source.find("⟦"), source.find("⟧") - 1
    source = source.replace("⟦", "").replace("⟧", "")

    def position(at: int) -> tuple[int, int]:
        return source.count("\n", 0, at) + 1, len(source[source.rfind("\n", 0, at) + 1 : at].encode()) + 1

    place = position(start) + position(end) if start >= 0 else None
    name = f"frontend_kernel_{next(_counter)}"
    path = tmp_path / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, path, place


def arguments(kernel, constants: dict, kinds: dict | None = None) -> list:
    """Descriptions of the kernel's arguments: constants by name, KINDS for the rest."""
    kinds = {**KINDS, **(kinds or {})}
    return [
        ("constexpr", constants[param.name]) if param.name in constants else kinds[param.name]
        for param in kernel.params
    ]


def build(tmp_path, body: str, *, debug_locations=False, options=None, kinds=None, **constants) -> str:
    """The IR of the kernel `kernel` of `body`."""
    module, _, _ = load(tmp_path, body)
    return _compiler.build_ttir(
        module.kernel, arguments(module.kernel, constants, kinds), options or {}, debug_locations
    )


def refused(tmp_path, body: str, *, options=None, kinds=None, **constants) -> nereid.CompilationError:
    """The error of compiling `body`, which must point at the mark with the line and a caret."""
    module, path, place = load(tmp_path, body)
    with pytest.raises(nereid.CompilationError) as caught:
        _compiler.build_ttir(module.kernel, arguments(module.kernel, constants, kinds), options or {})
    error = caught.value
    text = str(error)
    assert place is not None, text
    line, column, end_line, end_column = place
    assert text.startswith(f"{path}:{line}:{column}: error: {error.message}\n"), text
    assert (error.file, error.line, error.column) == (str(path), line, column)
    shown, caret = text.splitlines()[1:3]
    source = path.read_text(encoding="utf-8").splitlines()[line - 1]
    assert shown == f"{line:5d} | {source}", text
    # The caret and tildes stand below the marked text (its first line, when it has more).
    width = (end_column if end_line == line else len(source.encode()) + 1) - column
    marked = source.encode()[column - 1 : column - 1 + width].decode()
    before = source.encode()[: column - 1].decode()
    expected = re.sub(r"[^\t]", " ", before) + "^" + "~" * (len(marked) - 1)
    assert caret == "      | " + expected, text
    return error
