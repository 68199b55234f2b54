# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The source text of jit functions: which text, where it stands, its syntax tree.

A kernel is compiled from text, so the text must be that of the function that
Python made. It is taken when the function is defined. Where the file may have been
edited between Python's reading of it and that moment, the text is compiled by
Python once more, and must give the function's own code."""

from __future__ import annotations

import __future__
import ast
import dis
import inspect
import linecache
import os
import types
from functools import cached_property
from typing import Any, Callable

from nereid._base.errors import CompilationError


def _process_start() -> float:
    """When this process began, in seconds since the epoch: rather two seconds early."""
    try:
        with open("/proc/self/stat", encoding="utf-8", errors="replace") as file:
            ticks = int(file.read().rsplit(")", 1)[1].split()[19])
        with open("/proc/stat", encoding="ascii", errors="replace") as file:
            boot = next(int(line.split()[1]) for line in file if line.startswith("btime"))
        return boot + ticks / os.sysconf("SC_CLK_TCK") - 2
    except (OSError, ValueError, IndexError, StopIteration):
        return 0.0


#: Ranks that are forks of one process keep the time at which that began.
_PROCESS_START = _process_start()

_FUTURE = sum({getattr(__future__, name).compiler_flag for name in __future__.all_feature_names})


def _same(code: types.CodeType, plain: types.CodeType) -> bool:
    """Whether `plain`, which Python has made of a text, is `code`. Test runners put
    other code in the place of assert statements."""
    if code == plain:
        return True
    if not any(step.opname == "LOAD_ASSERTION_ERROR" for step in dis.get_instructions(plain)):
        return False
    count = plain.co_argcount
    return code.co_argcount == count and code.co_varnames[:count] == plain.co_varnames[:count]


class FileText:
    """The lines of a file as they were at one moment."""

    def __init__(self, file: str, lines: list[str]):
        self.file = file
        self.lines = lines
        self._codes: dict[int, dict[tuple[str, int], list[types.CodeType]]] = {}
        try:
            self.changed: float | None = os.stat(file).st_ctime
        except OSError:
            self.changed = None  # a notebook cell, a member of an archive

    def has(self, code: types.CodeType) -> bool:
        """Whether Python makes this very code from the text."""
        flags = code.co_flags & _FUTURE
        if flags not in self._codes:
            self._codes[flags] = codes = {}
            try:
                stack = [compile("".join(self.lines), self.file, "exec", flags, True)]
            except (SyntaxError, ValueError):
                stack = []
            while stack:
                one = stack.pop()
                codes.setdefault((one.co_name, one.co_firstlineno), []).append(one)
                stack += [const for const in one.co_consts if isinstance(const, types.CodeType)]
        return any(_same(code, other) for other in self._codes[flags].get((code.co_name, code.co_firstlineno), ()))


#: Texts of each file since jit functions were first defined in it, oldest first.
_texts: dict[str, list[FileText]] = {}


def _text_now(file: str, variables: dict[str, Any]) -> FileText | None:
    linecache.checkcache(file)
    lines = linecache.getlines(file, variables)
    if not lines:
        return None
    known = _texts.setdefault(file, [])
    if not known or (known[-1].lines is not lines and known[-1].lines != lines):
        known.append(FileText(file, lines))
        del known[:-8]
    return known[-1]


def file_lines(file: str) -> list[str]:
    """Lines of a file for messages: those that kernels were compiled from."""
    known = _texts.get(file)
    return known[-1].lines if known else linecache.getlines(file)


def _definition(lines: list[str], file: str) -> tuple[int, ast.Module] | None:
    """How many of `lines` the function definition takes that they begin with, and the
    syntax tree of these; None when they begin with none.

    It ends before a line that is indented no more than it, unless that line is part of
    a decorator, or of something in brackets or quotes: what stands before it is then no
    definition that Python can read. (`inspect` asks the tokenizer, which is written in
    Python and prepares itself longer than a kernel takes to load.)"""
    indent = len(lines[0]) - len(lines[0].lstrip())
    # An indented function parses as the body of an `if`; so its columns (and the inside
    # of strings that span lines) stay as they are in the file.
    head = "if True:\n" if indent else ""
    attempts = 0
    for end in range(1, len(lines) + 1):
        if end < len(lines):
            rest = lines[end].lstrip()
            if not rest or rest[0] == "#" or len(lines[end]) - len(rest) > indent:
                continue
        try:
            module = ast.parse(head + "".join(lines[:end]), file)
        except (SyntaxError, ValueError):
            attempts += 1
            if attempts == 30:
                return None
            continue
        body = module.body[0].body if head else module.body
        if len(body) != 1 or not isinstance(body[0], ast.FunctionDef):
            return None
        return body[0].end_lineno - (1 if head else 0), module
    return None


class FunctionSource:
    """Text and syntax tree of one Python function, with the file's own line and
    column numbers.

    ``ast`` is the FunctionDef; ``file`` and ``first_line`` say where the text
    begins (at the first decorator); ``source_lines`` are all lines of the file.
    All but ``file`` and ``first_line`` raise CompilationError when there is no text,
    or another one than the function was made from.
    """

    def __init__(self, function: Callable):
        self.function = function
        self.file = function.__code__.co_filename
        self.first_line = function.__code__.co_firstlineno
        self._at_definition = _text_now(self.file, function.__globals__)
        self._candidates = list(_texts.get(self.file, ()))

    @cached_property
    def _file_text(self) -> FileText:
        text = self._at_definition
        name = self.function.__name__
        if text is None or self.first_line > len(text.lines):
            raise CompilationError(
                f"{self.file}:{self.first_line}: error: the source of '{name}' cannot be found. A kernel is compiled from "
                "its source text: define it in a file (or a notebook cell), not with exec() or at a prompt that keeps no "
                "source"
            )
        if len(self._candidates) == 1 and (text.changed is None or text.changed < _PROCESS_START):
            return text
        for candidate in reversed(self._candidates):
            if candidate.has(self.function.__code__):
                return candidate
        if text.changed is None:
            return text
        raise CompilationError(
            f"{self.file}:{self.first_line}: error: the file has been edited since Python read it, before '{name}' was "
            "defined: its text is not that of the function any more. Start the program again, or reload the module"
        )

    @cached_property
    def _lines(self) -> list[str]:
        """Those of the file from the function on."""
        return self._file_text.lines[self.first_line - 1:]

    @cached_property
    def _definition(self) -> tuple[int, ast.Module] | None:
        return _definition(self._lines, self.file)

    @cached_property
    def text(self) -> str:
        found = self._definition
        return "".join(self._lines[:found[0]] if found else inspect.getblock(self._lines))

    @cached_property
    def ast(self) -> ast.FunctionDef:
        indented = self.text[:1] in (" ", "\t")
        name = self.function.__code__.co_name
        if self._definition is not None:
            module = self._definition[1]
        else:
            try:
                module = ast.parse("if True:\n" + self.text if indented else self.text, self.file)
            except SyntaxError as error:
                raise CompilationError(
                    f"{self.file}:{self.first_line}: error: '{name}' is not a function definition that can be compiled "
                    f"({error.msg}); a kernel is written with def, not lambda"
                ) from error
        ast.increment_lineno(module, self.first_line - 1 - int(indented))
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return node
        raise CompilationError(
            f"{self.file}:{self.first_line}: error: no definition of '{name}' stands here; a kernel is written with def, "
            "not lambda or async def"
        )

    @cached_property
    def source_lines(self) -> list[str]:
        return [line.rstrip("\n") for line in self._file_text.lines]
