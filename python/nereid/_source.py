# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The source of jit functions: where it stands, its syntax tree, and everything
that it depends on."""

from __future__ import annotations

import ast
import builtins
import hashlib
import inspect
import linecache
import types
from typing import Any, Callable, Iterator

from nereid import _runtime
from nereid._errors import CompilationError
from nereid.language._constexpr import constexpr


class FunctionSource:
    """Text and syntax tree of one Python function, with the file's own line and
    column numbers.

    ``ast`` is the FunctionDef; ``file`` and ``first_line`` say where the text
    begins (at the first decorator); ``source_lines`` are all lines of the file.
    """

    def __init__(self, function: Callable):
        self.function = function
        code = function.__code__
        self.file = code.co_filename
        try:
            lines, self.first_line = inspect.getsourcelines(function)
        except (OSError, TypeError) as error:
            raise CompilationError(
                f"{self.file}:{code.co_firstlineno}: error: the source of '{function.__name__}' cannot be found. A "
                "kernel is compiled from its source text: define it in a file (or a notebook cell), not with exec() "
                "or at a prompt that keeps no source"
            ) from error
        self.text = "".join(lines)
        self._tree: ast.FunctionDef | None = None

    @property
    def ast(self) -> ast.FunctionDef:
        if self._tree is None:
            self._tree = self._parse()
        return self._tree

    def _parse(self) -> ast.FunctionDef:
        # An indented function parses as the body of an `if`; so its columns (and
        # the inside of strings that span lines) stay as they are in the file.
        indented = self.text[:1] in (" ", "\t")
        try:
            module = ast.parse("if True:\n" + self.text if indented else self.text, self.file)
        except SyntaxError as error:
            raise CompilationError(
                f"{self.file}:{self.first_line}: error: '{self.function.__name__}' is no function definition that can "
                f"be compiled ({error.msg}); a kernel is written with def, not lambda"
            ) from error
        ast.increment_lineno(module, self.first_line - 1 - int(indented))
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef) and node.name == self.function.__name__:
                return node
        raise CompilationError(
            f"{self.file}:{self.first_line}: error: no definition of '{self.function.__name__}' stands here; a kernel "
            "is written with def, not lambda or async def"
        )

    @property
    def source_lines(self) -> list[str]:
        lines = [line.rstrip("\n") for line in linecache.getlines(self.file, self.function.__globals__)]
        if len(lines) >= self.first_line:
            return lines
        return [""] * (self.first_line - 1) + self.text.splitlines()


def free_variables(function: Callable) -> tuple[dict[str, Any], dict[str, Any]]:
    """(closure cells by name, globals) of a function."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    return cells, function.__globals__


def _chains(tree: ast.AST) -> Iterator[list[str]]:
    """The dotted names that are read in `tree`: ["tl", "load"], ["SIZE"]."""
    inner = set()
    for node in ast.walk(tree):
        if id(node) in inner:
            continue
        names: list[str] = []
        part: ast.AST = node
        while isinstance(part, ast.Attribute):
            names.append(part.attr)
            inner.add(id(part.value))
            part = part.value
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            yield [part.id, *reversed(names)]


_SIMPLE = (int, float, str, bool, type(None), tuple)


def _describe(value: Any) -> str | None:
    """Text that is equal for values which compile to the same code; None for
    what has no influence on it (modules, functions of the language)."""
    if isinstance(value, constexpr):
        return f"constexpr({_describe(value.value)})"
    if isinstance(value, tuple):
        parts = [_describe(item) for item in value]
        return f"{type(value).__qualname__}({', '.join(str(part) for part in parts)})"
    if isinstance(value, _SIMPLE):
        return f"{type(value).__name__}:{value!r}"
    name = getattr(value, "__nereid_type__", None)
    if name is not None:
        return f"dtype:{name}"
    return None


class Dependencies:
    """What a jit function's code depends on.

    ``digest`` changes when the text of the function, of a jit function that it
    reaches, or the value of a variable that they read changes. ``watched`` lists
    those variables as (container, key, value) for the dispatcher.
    """

    def __init__(self, function: Any):
        self.watched: list[tuple[Any, str | None, Any]] = []
        self._seen: set[int] = set()
        self._hash = hashlib.sha256()
        if function.version is not None:
            self._add("version", str(function.version))
        self._visit(function.fn, function.noinline)
        self.digest = self._hash.hexdigest()

    def _add(self, *texts: str) -> None:
        for text in texts:
            self._hash.update(text.encode("utf-8", "surrogatepass"))
            self._hash.update(b"\0")

    def _visit(self, function: Callable, noinline: bool = False) -> None:
        if id(function) in self._seen:
            return
        self._seen.add(id(function))
        source = FunctionSource(function)
        self._add(source.file, str(source.first_line), str(noinline), source.text)
        cells, variables = free_variables(function)
        for chain in sorted(set(map(tuple, _chains(source.ast)))):
            self._follow(chain, cells, variables)

    def _follow(self, chain: tuple[str, ...], cells: dict[str, Any], variables: dict[str, Any]) -> None:
        container: Any
        key: str | None = chain[0]
        if key in cells:
            try:
                container, value, key = cells[key], cells[key].cell_contents, None
            except ValueError:  # not assigned yet
                return
        elif key in variables:
            container, value = variables, variables[key]
        elif hasattr(builtins, chain[0]):
            return
        else:
            return
        for name in chain[1:]:
            if not isinstance(value, types.ModuleType) and not hasattr(value, name):
                break
            if isinstance(value, types.ModuleType) and name in vars(value):
                container, key, value = vars(value), name, vars(value)[name]
            else:
                try:
                    container, value = None, getattr(value, name)
                except AttributeError:
                    return
        self._record(".".join(chain), container, key, value)

    def _record(self, name: str, container: Any, key: str | None, value: Any) -> None:
        inner = getattr(value, "__nereid_constexpr_function__", None)
        if isinstance(value, constexpr) and inspect.isfunction(value.value):
            inner = value.value
        if isinstance(value, type) and hasattr(value, "__nereid_aggregate__"):
            self._add("aggregate", name, repr(value.__nereid_aggregate__))
            self._visit(value.__nereid_init__.fn)
            for base in value.__mro__:
                for key, member in vars(base).items():
                    if isinstance(member, _runtime.Dispatcher) and key != "__nereid_init__":
                        self._add("method", key)
                        self._visit(member.fn, member.noinline)
        elif isinstance(value, _runtime.Dispatcher):
            self._add("jit", name)
            self._visit(value.fn, value.noinline)
        elif inner is not None:
            self._add("constexpr_function", name)
            try:
                self._visit(inner)
            except CompilationError:  # built in: part of the package's version
                pass
        else:
            text = _describe(value)
            if text is None:
                return
            self._add("value", name, text)
        if container is not None:
            self.watched.append((container, key, value))
