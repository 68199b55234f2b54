# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/language.md: the names of python/surface/surface.txt beside the compiler's
table. Used by generate_language.py and by tests/language/test_table.py."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SURFACE = ROOT / "python" / "surface" / "surface.txt"
PAGE = ROOT / "docs" / "language.md"

#: Modules of names as users write them, and where Python has them.
PYTHON_MODULES = {
    "tl": "nereid.language", "tl.math": "nereid.language.math", "tl.target_info": "nereid.language.target_info",
    "libdevice": "nereid.language.extra.libdevice", "al": "nereid.language.extra.cann.extension",
    "bl": "nereid.extension.buffer.language", "dl": "nereid.distributed", "language_extra": "nereid.language.extra.language_extra", "libshmem_device": "nereid.libshmem_device",
}  # fmt: skip
HEADINGS = {
    "tl": "`tl`: nereid.language", "tl.math": "`tl.math`", "tl.target_info": "`tl.target_info`",
    "tensor": "Methods of values", "descriptor": "Methods of tensor descriptors", "dtype": "Questions to dtypes",
    "python": "Python's functions in kernels", "libdevice": "`tl.extra.libdevice`, `tl.extra.cuda.libdevice`",
    "al": "`al`: the Ascend extension", "bl": "`bl`: the Ascend extension's buffers", "dl": "`dl`: nereid.distributed",
    "language_extra": "`triton_dist.language.extra.language_extra`", "libshmem_device": "`libshmem_device`",
}  # fmt: skip


@dataclass
class Entry:
    module: str
    name: str
    dtypes: str = "-"
    differences: str = "-"
    test: str = ""
    reason: str = ""
    line: int = 0


@dataclass
class State:
    """What the code has of an entry."""

    implemented: bool
    signature: str = ""
    problems: list[str] = field(default_factory=list)


def read_surface(path: Path = SURFACE) -> list[Entry]:
    entries: list[Entry] = []
    module = test = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if header := re.fullmatch(r"\[([\w.]+)\](?: (\S+))?", line):
            module, test = header[1], header[2] or ""
            continue
        missing = line.startswith("!")
        names, *cells = [cell.strip() for cell in line.lstrip("! ").split("|")]
        for name in names.split():
            entry = Entry(module, name, test=test, line=number)
            if missing:
                entry.reason = cells[0] if cells else ""
            else:
                for key, cell in zip(("dtypes", "differences", "test"), cells):
                    setattr(entry, key, cell)
            entries.append(entry)
    return entries


def state_of(entry: Entry, builtins: list[tuple], constants: list[tuple]) -> State:
    rows = {(row[0], row[1]): row for row in builtins}
    methods = {row[1]: row for row in builtins if row[0] == "tensor" or (row[3] and row[0] in ("tl", "al"))}
    row = methods.get(entry.name) if entry.module == "tensor" else rows.get((entry.module, entry.name))
    if row is not None:
        params = re.sub(r"^\w+(, )?", "", row[2]) if entry.module in ("tensor", "descriptor", "dtype") else row[2]
        return State(True, f"{entry.name}({params})")
    if any((module, name) == (entry.module, entry.name) for module, name, _ in constants):
        return State(True, entry.name)
    if any(module == f"{entry.module}.{entry.name}" for module, _, _ in constants):
        return State(True, entry.name)
    if entry.module in PYTHON_MODULES:
        try:
            module = importlib.import_module(PYTHON_MODULES[entry.module])
        except ImportError:
            return State(False)
        return State(hasattr(module, entry.name), entry.name)
    return State(False)


def problems(entries: list[Entry], builtins: list[tuple], constants: list[tuple]) -> list[str]:
    """What is wrong with the list, one line each."""
    found, seen = [], set()
    for entry in entries:
        where = f"{SURFACE.name}:{entry.line}: {entry.module}.{entry.name}"
        if (entry.module, entry.name) in seen:
            found.append(f"{where} is listed twice")
        seen.add((entry.module, entry.name))
        state = state_of(entry, builtins, constants)
        if not state.implemented and not entry.reason:
            found.append(f"{where} has neither an implementation nor a reason")
        if entry.reason:
            continue
        file, _, test = entry.test.partition("::")
        path = ROOT / "tests" / file
        if not entry.test or not path.exists():
            found.append(f"{where} names no test that exists: '{entry.test}'")
        elif not re.search(rf"^def {re.escape(test)}\(", path.read_text(encoding="utf-8"), re.M):
            found.append(f"{where}: there is no test {entry.test}")
    for module, name, _, is_method, _ in builtins:
        listed = (module, name) in seen or (module == "tensor" and ("tensor", name) in seen)
        if not listed and module in HEADINGS and module != "libshmem_device":
            found.append(f"{module}.{name} is implemented but not listed in {SURFACE.name}")
    return found


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def render_page(builtins: list[tuple], constants: list[tuple]) -> str:
    entries = read_surface()
    modules: dict[str, list[Entry]] = {}
    for entry in entries:
        modules.setdefault(entry.module, []).append(entry)
    lines = [
        "# The language, name by name",
        "",
        "Every name that kernels in use call, what the CPU target does with it, and the test that covers it. Written by "
        "`python/generate_language.py` from `python/surface/surface.txt` and the compiler's table; do not edit.",
        "",
        "Differences are those from upstream Triton and Triton-Ascend. Signatures and what each function does stand in "
        "its docstring: `help(tl.load)`. A name with a reason in place of a test is not there; where it has a row in the "
        "compiler's table, calling it is an error that says what to write instead.",
        "",
        "| module | names | there | with a reason |",
        "| --- | --- | --- | --- |",
    ]
    for module, rows in modules.items():
        missing = sum(bool(entry.reason) for entry in rows)
        lines.append(f"| {HEADINGS.get(module, module)} | {len(rows)} | {len(rows) - missing} | {missing} |")
    for module, rows in modules.items():
        lines += ["", f"## {HEADINGS.get(module, module)}", "", "| name | dtypes | differences | test |", "| --- | --- | --- | --- |"]
        groups: dict[tuple, list[str]] = {}
        for entry in rows:
            if entry.reason:
                key = ("not there", entry.reason, "")
            else:
                key = (entry.dtypes, entry.differences, entry.test)
            groups.setdefault(key, []).append(f"`{entry.name}`")
        for (dtypes, differences, test), names in groups.items():
            shown = f"`{test}`" if test else ""
            lines.append(f"| {' '.join(names)} | {cell(dtypes)} | {cell(differences)} | {shown} |")
    return "\n".join(lines) + "\n"
