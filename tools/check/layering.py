#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Includes, link lists and imports of Python modules obey the table of layers in docs/architecture.md."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import python_imports
import tree

TABLE = Path("docs/architecture.md")
MARKER = "<!-- layers:"

#: Code from outside that only some layers may use: name -> start of the include.
OUTSIDE_INCLUDES = {
    "LLVM/MLIR": ("mlir/", "llvm/", "mlir-c/", "llvm-c/", "clang/", "lld/"),
    "Boost.Context": ("boost/",),
    "UCX": ("ucp/", "ucs/", "uct/", "ucm/"),
    "Python": ("Python.h", "nanobind/", "pybind11/"),
}
#: The same for names in link lists.
OUTSIDE_LIBRARIES = {
    "LLVM/MLIR": re.compile(r"^((-l)?(MLIR|LLVM)\w*|\$\{_?(mlir|llvm)\w*\}|NereidMLIRInterface|NereidPCH)$", re.I),
    "Boost.Context": re.compile(r"^(Boost::context|boost_context)$"),
    "UCX": re.compile(r"^((-l)?uc[pst]|ucx::\w+)$"),
    "Python": re.compile(r"^(Python3?::\w+|nanobind\S*)$"),
}
#: Where `#include "x/y.h"` is looked for, beside the folder of the file itself.
INCLUDE_ROOTS = ("abi", "common", "compiler/include", "compiler/lib", "runtime", "runtime/include", "python/src/runtime", "python/src/compiler", "python", "tools", "")
#: The row that stands for all public headers of the runtime. Each header belongs besides to the row that
#: names it, which is the layer that implements it: who may use that row may use the header, and the header
#: may include what that row may.
PUBLIC = "Runtime interface"
#: Folders whose CMake targets may link anything, since nothing depends on them; cmake/ wraps outside code.
FREE_FOLDERS = {"test", "tests", "unittests", "bench", "examples", "cmake"}
SOURCES = {".c", ".cc", ".cpp", ".h", ".hpp", ".inc", ".S", ".td"}

INCLUDE = re.compile(r'^[ \t]*(?:#[ \t]*)?include[ \t]*([<"])([^>"]+)[>"]', re.M)
COMMAND = re.compile(
    r"\b(add_library|add_executable|nanobind_add_module|nereid_add_\w+|target_link_libraries)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)",
    re.I)


@dataclass(eq=False)
class Layer:
    name: str
    folders: list[str]
    may_use: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Home:
    """Where a file lives: a layer and, in a folder written `x/*`, the subfolder that is a layer of its own."""
    layer: Layer
    sibling: str | None

    def __str__(self) -> str:
        return f"'{self.layer.name}'" if self.sibling is None else f"'{self.layer.name}' ({self.sibling})"


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


def home_of(path: str, layers: dict[str, Layer]) -> Home | None:
    """The home of `path`: of the row with the longest folder (or file) that `path` lies in."""
    best, best_length = None, -1
    for layer in layers.values():
        for folder in layer.folders:
            base = folder.removesuffix("/*")
            inside = path.startswith(base + "/")
            below = path[len(base) + 1:].split("/") if inside else []
            if folder.endswith("/*"):
                if len(below) < 2 or len(base) + 1 <= best_length:
                    continue
                best, best_length = Home(layer, below[0]), len(base) + 1
            elif (path == folder or inside) and len(folder) > best_length:
                best, best_length = Home(layer, None), len(folder)
    return best


def may_use(user: Home, used: Home, path: str, layers: dict[str, Layer]) -> bool:
    """Whether `user` may include or link `path`, which lives in `used`."""
    if user.layer is used.layer:  # siblings of one row may not use each other
        return user.sibling == used.sibling or None in (user.sibling, used.sibling)
    if used.layer.name in user.layer.may_use:
        return True
    public = layers.get(PUBLIC)
    return (public is not None and PUBLIC in user.layer.may_use
            and any(path.startswith(folder + "/") for folder in public.folders))


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
    if included.startswith("nereid/") and home_of(generated, layers):
        return generated
    return None


def check_includes(root: Path, files: list[Path], layers: dict[str, Layer]) -> list[str]:
    problems = []
    for file in files:
        user = home_of(file.as_posix(), layers)
        if file.suffix not in SOURCES or user is None:
            continue
        text = (root / file).read_text(encoding="utf-8", errors="replace")
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            quoted, included = match.group(1) == '"', match.group(2)
            where = f"{file}:{line}: includes '{included}'"
            target = resolve_include(root, file, included, layers)
            if target is not None:
                used = home_of(target, layers)
                if used is None:
                    problems.append(f"{where}, which lies in no layer of {TABLE}: "
                                    f"{user} may not use it")
                elif not may_use(user, used, target, layers):
                    problems.append(f"{where}, which belongs to {used}: "
                                    f"{user} may not use {used}")
                continue
            for outside, starts in OUTSIDE_INCLUDES.items():
                if included.startswith(starts) and outside not in user.layer.may_use:
                    problems.append(f"{where}: {user} may not use {outside}")
            if quoted and included.startswith("nereid/"):
                problems.append(f"{where}, which is no file of this tree")
    return problems


def check_links(root: Path, files: list[Path], layers: dict[str, Layer]) -> list[str]:
    """Link lists of the CMake files. A target belongs to the layer of the CMake file that makes it."""
    owner: dict[str, Path] = {}
    edges: list[tuple[Path, int, str, list[str]]] = []
    problems = []
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
                owner.setdefault(target, file)
                if "LINK" in words:
                    libraries = words[words.index("LINK") + 1:]
                if command == "nereid_add_compiler_library":
                    libraries = ["NereidMLIRInterface", *libraries]
                if file.parts[0] not in FREE_FOLDERS:
                    if home_of(file.as_posix(), layers) is None:
                        problems.append(f"{file}:{line}: '{target}' is made here, in no layer of {TABLE}; "
                                        "add the folder to the table")
                    problems += [f"{file}:{line}: '{target}' is made of '{word}', which lies in another folder"
                                 for word in words[1:] if Path(word).suffix in SOURCES and (".." in word or "/" in word and "$" in word)]
            edges.append((file, line, target, libraries))
    for file, line, target, libraries in edges:
        user = home_of(owner.get(target, file).as_posix(), layers)
        if user is None:
            continue
        for library in libraries:
            where = f"{file}:{line}: '{target}' links '{library}'"
            for outside, pattern in OUTSIDE_LIBRARIES.items():
                if pattern.match(library) and outside not in user.layer.may_use:
                    problems.append(f"{where}: {user} may not use {outside}")
            if library in owner:
                path = owner[library].as_posix()
                used = home_of(path, layers)
                if used is not None and not may_use(user, used, path, layers):
                    problems.append(f"{where}, which belongs to {used}: "
                                    f"{user} may not use {used}")
    return problems


def check_homes(files: list[Path], layers: dict[str, Layer]) -> list[str]:
    """Every C++ file of the products lies in some layer, and every public header in the one that implements it."""
    problems = []
    for file in files:
        if file.parts[0] not in ("abi", "common", "compiler", "runtime", "python", "tools") or file.suffix not in SOURCES:
            continue
        home = home_of(file.as_posix(), layers)
        if home is None:
            problems.append(f"{file}: lies in no layer of {TABLE}; add its folder to the table")
        elif home.layer.name == PUBLIC:
            problems.append(f"{file}: is a public header that no row of {TABLE} names; "
                            "name it in the row of the layer that implements it")
    return problems


def check_table(files: list[Path], layers: dict[str, Layer]) -> list[str]:
    """Every folder and file that a row names is there: a row about nothing guards nothing."""
    names = [file.as_posix() for file in files]
    return [f"{TABLE}: the layer '{layer.name}' names `{folder}`, where there is no file"
            for layer in layers.values() for folder in layer.folders
            if not any(name == folder or name.startswith(folder.removesuffix("/*") + "/") for name in names)]


def check(root: Path) -> list[str]:
    try:
        layers = read_layers(root)
    except (OSError, TableError) as error:
        return [str(error)]
    files = tree.files_of(root)
    return [
        *check_table(files, layers), *check_homes(files, layers), *check_includes(root, files, layers), *check_links(root, files, layers),
        *python_imports.check(root, files, lambda path: home_of(path, layers),
                              lambda user, used, path: may_use(user, used, path, layers), TABLE),
    ]


if __name__ == "__main__":
    tree.run(check, __doc__)
