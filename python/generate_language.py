# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes python/nereid/language/_generated from the compiler's table of builtins, and
docs/language.md from the same table and python/surface/surface.txt.

    python python/generate_language.py            writes the files
    python python/generate_language.py --check    fails when they are out of step

Needs the built extension module nereid._compiler. The files are checked in, so
that editors and users see real signatures and docstrings.
"""

from __future__ import annotations

import argparse
import importlib.util
import keyword
import sys
import types
from pathlib import Path

import language_table

FOLDER = Path(__file__).resolve().parent / "nereid" / "language" / "_generated"
#: The table of libshmem_device's functions for readers.
TABLE = Path(__file__).resolve().parent.parent / "docs" / "shmem-functions.md"
LIBRARIES = ("NVSHMEM", "ROCSHMEM", "ACLSHMEM", "MORI", "MXSHMEM")

HEADER = '''# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by python/generate_language.py from the compiler's table: do not edit.
"""{title}"""

from nereid.language._device import DeviceConstant, device_function
'''

TITLES = {
    "tl": "Functions of nereid.language.",
    "tl.math": "Functions of nereid.language.math.",
    "dl": "Functions of nereid.distributed.",
    "libshmem_device": "Functions and constants of nereid.libshmem_device.",
    "al": "Functions of the Ascend extension.",
    "bl": "Functions of the Ascend extension's buffers.",
    "language_extra": "Names of single threads of GPUs.",
    "libdevice": "Functions of nereid.language.extra.libdevice.",
}
#: Rows that stand for Python's own names, for methods of types, or for classes
#: written by hand in python/nereid/language.
LEFT_OUT_MODULES = {"python", "dtype"}
LEFT_OUT_NAMES = {("tl", "constexpr"), ("tl", "const"), ("tl", "pointer_type"), ("tl", "tensor"), ("tl", "dtype")}


def file_name(module: str) -> str:
    return module.replace(".", "_") + ".py"


def docstring(text: str, indent: str) -> str:
    lines = text.replace("\\", "\\\\").replace('"""', '\\"""').splitlines() or [""]
    if lines[-1].endswith('"'):
        lines[-1] += " "
    body = "\n".join(indent + line if line and i else line for i, line in enumerate(lines))
    closing = '"""' if len(lines) == 1 else "\n" + indent + '"""'
    return f'{indent}"""{body}{closing}'


def function_text(module: str, name: str, params: str, doc: str, indent: str = "") -> str:
    # A parameter list may end in a star that collects nothing more.
    return (
        f'{indent}@device_function("{module}", "{name}")\n{indent}def {name}({params}):\n'
        f"{docstring(doc, indent + '    ')}\n"
    )


def class_text(class_name: str, doc: str, rows: list[tuple]) -> str:
    parts = [f"class {class_name}:\n{docstring(doc, '    ')}\n"]
    for module, name, params, _, text in rows:
        if keyword.iskeyword(name) or not name.isidentifier():
            continue
        parts.append(function_text(module, name, params, text, "    "))
    return "\n".join(parts)


def render(builtins: list[tuple], constants: list[tuple]) -> dict[str, str]:
    """File name -> text."""
    modules: dict[str, list[str]] = {}
    exported: dict[str, list[str]] = {}

    def add(module: str, name: str, text: str) -> None:
        modules.setdefault(module, []).append(text)
        exported.setdefault(module, []).append(name)

    for row in builtins:
        module, name, params, _, doc = row
        if module in LEFT_OUT_MODULES or module in ("tensor", "descriptor") or (module, name) in LEFT_OUT_NAMES:
            continue
        add(module, name, function_text(module, name, params, doc))

    classes: dict[str, list[tuple]] = {}
    for module, name, value in constants:
        if value is None:
            continue  # dtypes: nereid.language._types
        owner, _, nested = module.partition(".")
        if nested:
            classes.setdefault(module, []).append((name, value))
        else:
            add(module, name, f'{name} = DeviceConstant("{module}", "{name}", {value})\n')
    for module, members in classes.items():
        owner, _, nested = module.partition(".")
        lines = "".join(f'    {name} = DeviceConstant("{module}", "{name}", {value})\n' for name, value in members)
        add(owner, nested, f'class {nested}:\n    """Constants of {module}."""\n\n{lines}')

    methods = [row for row in builtins if row[0] == "tensor" or (row[3] and row[0] == "tl")]
    descriptor = [row for row in builtins if row[0] == "descriptor"]
    values = [class_text("tensor", "A value inside a kernel: a scalar or a block. Its methods.", _self_first(methods))]
    if descriptor:
        text = "A tensor descriptor inside a kernel. Its methods."
        values.append(class_text("tensor_descriptor", text, _self_first(descriptor)))

    files = {}
    for module, texts in modules.items():
        title = TITLES.get(module, f"Functions of the module {module}.")
        names = ", ".join(f'"{name}"' for name in sorted(exported[module]))
        # Constants in a run, functions and classes with blank lines around them.
        body = ""
        for text in texts:
            body += text if " = DeviceConstant" in text.splitlines()[0] and body.endswith(")\n") else "\n\n" + text
        files[f"{module.replace('.', '_')}.py"] = HEADER.format(title=title) + f"\n__all__ = [{names}]\n{body}"
    files["values.py"] = HEADER.format(title="Methods of values inside kernels.") + "\n\n" + "\n\n".join(values)
    files["__init__.py"] = (
        "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
        "# Written by python/generate_language.py from the compiler's table: do not edit.\n"
        '"""The names of the language, module by module."""\n'
    )
    return files


def _self_first(rows: list[tuple]) -> list[tuple]:
    """Rows as methods: the first parameter is called self."""
    found: dict[str, tuple] = {}
    for module, name, params, is_method, doc in rows:
        first, comma, rest = params.partition(",")
        found[name] = (module, name, "self" + comma + rest, is_method, doc)
    return [found[name] for name in sorted(found)]


def shmem_table(builtins: list[tuple]) -> str:
    """docs/shmem-functions.md: which library has which function."""
    lines = [
        "# Functions of libshmem_device",
        "",
        "Written by `python/generate_language.py` from the compiler's table. [shmem.md](shmem.md) says what the functions "
        "do; `help(nereid.libshmem_device.putmem)` shows the docstring of one.",
        "",
        f"| function | {' | '.join(LIBRARIES)} |",
        f"| --- |{' --- |' * len(LIBRARIES)}",
    ]
    for module, name, params, _, doc in builtins:
        if module != "libshmem_device":
            continue
        _, found, listed = doc.rpartition("Of ")
        names = listed.rstrip(".").replace(" and ", ", ").split(", ") if found else []
        has = names if names and set(names) <= set(LIBRARIES) else list(LIBRARIES)
        cells = " | ".join("yes" if library in has else "" for library in LIBRARIES)
        lines.append(f"| `{name}({params})` | {cells} |")
    return "\n".join(lines) + "\n"


def load_compiler():
    """The extension module alone: the package itself may need files that are
    about to be written."""
    for entry in sys.path:
        for path in Path(entry or ".").glob("nereid/_compiler.*.so"):
            package = sys.modules.setdefault("nereid", types.ModuleType("nereid"))
            package.__path__ = [str(path.parent)]
            spec = importlib.util.spec_from_file_location("nereid._compiler", path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    from nereid import _compiler

    return _compiler


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file differs")
    args = parser.parse_args()
    compiler = load_compiler()
    files = render(compiler.builtin_table(), compiler.constant_table())
    present = {path.name for path in FOLDER.glob("*.py")} if FOLDER.exists() else set()
    stale = [name for name in sorted(present - set(files))]
    stale += [name for name, text in files.items() if not (FOLDER / name).exists() or (FOLDER / name).read_text() != text]
    page = language_table.render_page(compiler.builtin_table(), compiler.constant_table())
    if not language_table.PAGE.exists() or language_table.PAGE.read_text(encoding="utf-8") != page:
        stale.append(language_table.PAGE.name)
    table = shmem_table(compiler.builtin_table())
    if not TABLE.exists() or TABLE.read_text() != table:
        stale.append(TABLE.name)
    if args.check:
        if stale:
            print(f"out of step with the compiler's table: {', '.join(sorted(set(stale)))}; run {Path(__file__).name}")
        return 1 if stale else 0
    FOLDER.mkdir(exist_ok=True)
    for name in present - set(files):
        (FOLDER / name).unlink()
    for name, text in files.items():
        (FOLDER / name).write_text(text)
    TABLE.write_text(table)
    language_table.PAGE.write_text(page, encoding="utf-8")
    print(f"{len(files)} files in {FOLDER}, {language_table.PAGE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
