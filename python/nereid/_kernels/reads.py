# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a function reads from outside itself: dotted names such as ("tl", "load"),
("CONFIG", "block", "size"), from the syntax tree of a jit function and from the
bytecode of a plain Python function."""

from __future__ import annotations

import ast
import dis
import functools
import types
from typing import Iterator, NamedTuple


class Read(NamedTuple):
    """A name and the attributes that are read behind it. ``called``: it stands in
    front of parentheses, so that only what a call of it does matters. ``module``:
    the name is that of a module which the function imports itself (relative to its
    package by ``level``)."""

    names: tuple[str, ...]
    called: bool = False
    module: bool = False
    level: int = 0


class _TreeReads(ast.NodeVisitor):
    """Names of a jit function's body. As in Python, a name that the function assigns
    anywhere is local everywhere in it."""

    def __init__(self, tree: ast.FunctionDef):
        self.found: set[Read] = set()
        arguments = tree.args
        self.local = {
            arg.arg
            for arg in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
            if arg is not None
        }
        self.local |= set(_assigned(tree.body))
        for statement in tree.body:
            self.visit(statement)

    def _add(self, node: ast.AST, called: bool) -> None:
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            self.visit(node)
        elif isinstance(node.ctx, ast.Load) and node.id not in self.local:
            self.found.add(Read((node.id, *reversed(names)), called))

    def visit_Name(self, node: ast.Name) -> None:
        self._add(node, False)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._add(node, False)

    def visit_Call(self, node: ast.Call) -> None:
        self._add(node.func, True)
        tests_type = isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass")
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
            if tests_type and isinstance(argument, (ast.Name, ast.Attribute)):
                self._add(argument, True)
            else:
                self.visit(argument)

    def _visit_scope(self, node: ast.AST, names: set[str]) -> None:
        outer = self.local
        self.local = outer | names
        self.generic_visit(node)
        self.local = outer

    def _visit_comprehension(self, node) -> None:
        self.visit(node.generators[0].iter)  # belongs to the scope around
        self._visit_scope(node, {name for part in node.generators for name in _assigned([part.target])})

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_scope(node, {arg.arg for arg in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]})


def _assigned(nodes: list) -> Iterator[str]:
    """Names that are assigned in a function's own scope."""
    for node in nodes:
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)):
            yield from (inner.target.id for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr))
        elif isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                yield node.id
        else:
            yield from _assigned(list(ast.iter_child_nodes(node)))


def tree_reads(tree: ast.FunctionDef) -> list[Read]:
    return sorted(_TreeReads(tree).found)


_GLOBAL = {"LOAD_GLOBAL", "LOAD_NAME"}
_CELL = {"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF", "LOAD_FROM_DICT_OR_GLOBALS"}
_ATTRIBUTE = {"LOAD_ATTR", "LOAD_METHOD"}
_LOCAL = {"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW"}
_BETWEEN = {"PUSH_NULL", "CACHE", "EXTENDED_ARG", "NOP"}


class _Imports:
    """Follows the steps of import statements inside a function: which names of which
    modules they read, and which local variables hold modules afterwards."""

    def __init__(self) -> None:
        self.found: set[Read] = set()
        self.local: dict[str, Read] = {}
        self._base: Read | None = None
        self._value: Read | None = None
        self._constants: list = []

    def step(self, name: str, value) -> None:
        if name in ("LOAD_CONST", "LOAD_SMALL_INT"):
            self._constants = [*self._constants[-1:], value]
        elif name == "IMPORT_NAME":
            level, wanted = self._constants
            # `import a.b` gives a; `from a.b import c` reads c of a.b.
            self._base = Read((value if wanted else value.partition(".")[0],), module=True, level=level)
            self._value = self._base
            self.found.add(Read((value,), called=True, module=True, level=level))
        elif name == "IMPORT_FROM" and self._base is not None:
            self._value = self._base._replace(names=(*self._base.names, value))
            self.found.add(self._value)
        elif name.startswith("STORE_") and self._value is not None:
            self.local[value] = self._value
            self._value = None
        elif name not in ("POP_TOP", "SWAP", "ROT_TWO", "COPY") and not name.startswith("STORE_"):
            self._base = self._value = None


@functools.lru_cache(maxsize=8192)
def code_reads(code: types.CodeType, around: frozenset[str] = frozenset()) -> list[Read]:
    """What a code object and those inside it read; names in `around` are variables
    of a function around it that is part of the same code."""
    imports = _Imports()
    found: set[Read] = set()
    own = around | set(code.co_cellvars)
    read: Read | None = None
    for step in dis.get_instructions(code):
        name, value = step.opname, step.argval
        if name in _BETWEEN:
            continue
        if name in _ATTRIBUTE and read is not None:
            read = read._replace(names=(*read.names, value))
            continue
        if read is not None:
            found.add(read)
            read = None
        imports.step(name, value)
        if name in _GLOBAL or (name in _CELL and value not in own):
            read = Read((value,))
        elif name in _LOCAL or name in _CELL:
            read = imports.local.get(value)
    if read is not None:
        found.add(read)
    found |= imports.found
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found.update(code_reads(constant, frozenset(own)))
    return sorted(found)
