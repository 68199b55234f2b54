#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Includes and link lists obey the table of layers in docs/architecture.md."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import tree

TABLE = Path("docs/architecture.md")
MARKER = "<!-- layers:"

#: Code from outside that only some layers may use: name -> start of the include.
OUTSIDE_INCLUDES = {
    "LLVM/MLIR": ("mlir/", "llvm/", "mlir-c/", "llvm-c/", "clang/", "lld/"),
    "Boost.Context": ("boost/",),
    "Python": ("Python.h", "nanobind/", "pybind11/"),
}
#: The same for names in link lists.
OUTSIDE_LIBRARIES = {
    "LLVM/MLIR": re.compile(r"^((MLIR|LLVM)\w*|NereidMLIRInterface|NereidPCH)$"),
    "Boost.Context": re.compile(r"^(Boost::context|boost_context)$"),
    "Python": re.compile(r"^(Python3?::\w+|nanobind\S*)$"),
}
#: Where `#include "x/y.h"` is looked for, beside the folder of the file itself.
INCLUDE_ROOTS = ("abi", "compiler/include", "compiler/lib", "runtime", "runtime/include", "python/src/runtime", "python/src/compiler", "python", "tools", "")
SOURCES = {".c", ".cc", ".cpp", ".h", ".hpp", ".inc", ".S", ".td"}

INCLUDE = re.compile(r'^[ \t]*(?:#[ \t]*)?include[ \t]*([<"])([^>"]+)[>"]', re.M)
COMMAND = re.compile(
    r"\b(add_library|add_executable|nanobind_add_module|nereid_add_\w+|target_link_libraries)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)",
    re.I)


@dataclass
class Layer:
    name: str
    folders: list[str]
    may_use: set[str] = field(default_factory=set)


class TableError(Exception):
    pass


def read_layers(root: Path) -> dict[str, Layer]:
    """The table below the marker in docs/architecture.md, by layer name."""
    text = (root / TABLE).read_text(encoding="utf-8")
    if MARKER not in text:
        raise TableError(f"{TABLE}: the marker '{MARKER}' before the table of layers is missing")
    rows = []
    for line in text[text.index(MARKER):].splitlines()[1:]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif rows:
            break
    layers: dict[str, Layer] = {}
    for cells in rows[2:]:  # without the header and the rule below it
        if len(cells) != 3:
            raise TableError(f"{TABLE}: a row of the table of layers has {len(cells)} cells instead of 3: {cells}")
        name, folders, uses = cells
        layers[name] = Layer(name, re.findall(r"`([^`]+)`", folders),
                             {use.strip() for use in uses.split(",") if use.strip()})
    for layer in layers.values():
        for use in layer.may_use:
            if use not in layers and use not in OUTSIDE_INCLUDES:
                raise TableError(f"{TABLE}: layer '{layer.name}' may use '{use}', which is no layer of the table")
    return layers


def layer_of(path: str, layers: dict[str, Layer]) -> Layer | None:
    """The layer with the longest folder that `path` lies in."""
    best, best_length = None, -1
    for layer in layers.values():
        for folder in layer.folders:
            if (path == folder or path.startswith(folder + "/")) and len(folder) > best_length:
                best, best_length = layer, len(folder)
    return best


def resolve_include(root: Path, file: Path, included: str, layers: dict[str, Layer]) -> str | None:
    """The path in the tree that an include names, existing or generated; None if it is not ours."""
    beside = (root / file).parent / included
    if beside.is_file():
        return beside.resolve().relative_to(root).as_posix()
    for folder in INCLUDE_ROOTS:
        if (root / folder / included).is_file():
            return (Path(folder) / included).as_posix()
    # A generated header lies in the build folder; its path tells the layer.
    generated = f"compiler/include/{included}"
    if included.startswith("nereid/") and layer_of(generated, layers):
        return generated
    return None


def check_includes(root: Path, files: list[Path], layers: dict[str, Layer]) -> list[str]:
    problems = []
    for file in files:
        user = layer_of(file.as_posix(), layers)
        if file.suffix not in SOURCES or user is None:
            continue
        text = (root / file).read_text(encoding="utf-8", errors="replace")
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            quoted, included = match.group(1) == '"', match.group(2)
            where = f"{file}:{line}: includes '{included}'"
            target = resolve_include(root, file, included, layers)
            if target is not None:
                used = layer_of(target, layers)
                if used is None:
                    problems.append(f"{where}, which lies in no layer of {TABLE}: "
                                    f"'{user.name}' may not use it")
                elif used is not user and used.name not in user.may_use:
                    problems.append(f"{where}, which belongs to '{used.name}': "
                                    f"'{user.name}' may not use '{used.name}'")
                continue
            for outside, starts in OUTSIDE_INCLUDES.items():
                if included.startswith(starts) and outside not in user.may_use:
                    problems.append(f"{where}: '{user.name}' may not use {outside}")
            if quoted and included.startswith("nereid/"):
                problems.append(f"{where}, which is no file of this tree")
    return problems


def check_links(root: Path, files: list[Path], layers: dict[str, Layer]) -> list[str]:
    """Link lists of the CMake files: the layer of a target is that of the CMake file that makes it."""
    owner: dict[str, str] = {}
    edges: list[tuple[Path, int, str, list[str]]] = []
    for file in files:
        if file.name != "CMakeLists.txt" and file.suffix != ".cmake":
            continue
        text = re.sub(r"#[^\n]*", "", (root / file).read_text(encoding="utf-8", errors="replace"))
        for match in COMMAND.finditer(text):
            words = match.group(2).split()
            if not words or "$" in words[0]:
                continue
            command, target = match.group(1).lower(), words[0]
            line = text.count("\n", 0, match.start()) + 1
            libraries: list[str] = []
            if command == "target_link_libraries":
                libraries = words[1:]
            else:
                owner.setdefault(target, file.parent.as_posix())
                if "LINK" in words:
                    libraries = words[words.index("LINK") + 1:]
                if command == "nereid_add_compiler_library":
                    libraries = ["NereidMLIRInterface", *libraries]
            edges.append((file, line, target, libraries))
    problems = []
    for file, line, target, libraries in edges:
        user = layer_of(owner.get(target, file.parent.as_posix()), layers)
        if user is None:
            continue
        for library in libraries:
            where = f"{file}:{line}: '{target}' links '{library}'"
            for outside, pattern in OUTSIDE_LIBRARIES.items():
                if pattern.match(library) and outside not in user.may_use:
                    problems.append(f"{where}: '{user.name}' may not use {outside}")
            if library in owner:
                used = layer_of(owner[library], layers)
                if used is not None and used is not user and used.name not in user.may_use:
                    problems.append(f"{where}, which belongs to '{used.name}': "
                                    f"'{user.name}' may not use '{used.name}'")
    return problems


def check_homes(files: list[Path], layers: dict[str, Layer]) -> list[str]:
    """Every C++ file of the compiler and the runtime lies in some layer."""
    return [f"{file}: lies in no layer of {TABLE}; add its folder to the table"
            for file in files
            if file.parts[0] in ("abi", "compiler", "runtime") and file.suffix in SOURCES
            and layer_of(file.as_posix(), layers) is None]


def check(root: Path) -> list[str]:
    try:
        layers = read_layers(root)
    except (OSError, TableError) as error:
        return [str(error)]
    files = tree.files_of(root)
    return check_homes(files, layers) + check_includes(root, files, layers) + check_links(root, files, layers)


if __name__ == "__main__":
    tree.run(check, __doc__)
