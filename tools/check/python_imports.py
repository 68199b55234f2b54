# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports of the Python package obey the table of layers, and no modules import each
other in a circle. Imports inside functions count like all others. Part of layering.py."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Callable, Iterator

PACKAGE = "nereid"
FOLDER = "python"
#: The extension modules, by the folder that makes them.
EXTENSIONS = {"nereid._runtime": "python/src/runtime/", "nereid._compiler": "python/src/compiler/"}

#: (file, module that it imports inside a function) -> why the arrow may point up here.
UPWARD = {
    ("python/nereid/language/core.py", "nereid._launch.jit"): "tl.core.extern makes a jit function, as its model does",
}


def module_of(file: Path) -> str:
    parts = file.relative_to(FOLDER).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(tree: ast.Module, modules: dict[str, Path]) -> Iterator[tuple[int, str]]:
    """(line, module) for each module of the package that a file imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name.split(".")[0] == PACKAGE)
        elif isinstance(node, ast.ImportFrom) and node.level:
            yield node.lineno, "." * node.level + (node.module or "")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
            for alias in node.names:  # a module of that name, or a name in the module
                inner = f"{node.module}.{alias.name}"
                yield node.lineno, inner if inner in modules or inner in EXTENSIONS else str(node.module)


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """The groups of modules that reach each other (Tarjan's strongly connected components)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        number[module] = low[module] = len(number)
        stack.append(module)
        for used in sorted(edges.get(module, ())):
            if used not in number:
                visit(used)
                low[module] = min(low[module], low[used])
            elif used in stack:
                low[module] = min(low[module], number[used])
        if low[module] == number[module]:
            group = stack[stack.index(module):]
            del stack[stack.index(module):]
            if len(group) > 1:
                found.append(sorted(group))

    for module in sorted(edges):
        if module not in number:
            visit(module)
    return found


def check(root: Path, files: list[Path], home_of: Callable[[str], object], allowed: Callable[[object, object, str], bool],
          table: Path) -> list[str]:
    """Problems of all files below python/nereid. `home_of` gives a path's layer, `allowed` says whether one
    layer may use a path in another."""
    sources = [file for file in files if file.suffix == ".py" and file.is_relative_to(f"{FOLDER}/{PACKAGE}")]
    modules = {module_of(file): file for file in sources}
    edges: dict[str, set[str]] = {module: set() for module in modules}
    problems = []
    for module, file in modules.items():
        user = home_of(file.as_posix())
        if user is None:
            problems.append(f"{file}: lies in no layer of {table}; add its folder to the table")
            continue
        tree = ast.parse((root / file).read_text(encoding="utf-8"), str(file))
        for line, used in imports_of(tree, modules):
            where = f"{file}:{line}: imports '{used}'"
            if used.startswith("."):
                problems.append(f"{where}; write the name from '{PACKAGE}' on")
                continue
            path = EXTENSIONS.get(used) or (modules[used].as_posix() if used in modules else None)
            if path is None:
                problems.append(f"{where}, which is no module of this tree")
                continue
            if (file.as_posix(), used) in UPWARD:
                continue
            home = home_of(path)
            if home is None or not allowed(user, home, path):
                problems.append(f"{where}, which belongs to {home}: {user} may not use {home}")
            if used in modules and used != module:
                edges[module].add(used)
    problems += [f"{modules[group[0]]}: these modules import each other: {', '.join(group)}" for group in circles(edges)]
    return problems
