# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels from objects that compile.py has made, on a machine that has no compiler.

`use(folder)` makes launches of this process take them. Beside each object lies a record of what it
was compiled from and how. A launch that wants anything else is refused: other source, other
options (the profile is one), arguments that are no multiples of 16 where the object takes such.
"""

import hashlib
import importlib
import json
import sys
from pathlib import Path

from configs import KERNELS, object_name

#: Beside each object.
RECORD = ".json"
HERE = Path(__file__).resolve().parent
FOLDERS = (HERE, HERE.parents[1] / "examples")


def source_of(module_name: str) -> str:
    """A digest of a kernel's module and of those of the bench and the examples that it imports from."""
    seen: dict[str, str] = {}

    def add(name: str) -> None:
        module = sys.modules.get(name) or importlib.import_module(name)
        path = Path(getattr(module, "__file__", None) or "").resolve()
        if name in seen or path.parent not in FOLDERS:
            return
        seen[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        for value in list(vars(module).values()):
            if other := getattr(value, "__module__", None):
                add(other)

    add(module_name)
    return hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()


def record_of(module_name: str, options: dict) -> dict:
    """What an object depends on, but for what its file's name says. `options`: of a compiled kernel or of a launch."""
    rows = {name: value for name, value in options.items() if name not in ("arch", "num_warps", "num_stages")}
    return {"source": source_of(module_name), "options": rows}


def differences(compiled: dict, wanted: dict) -> list[str]:
    """In words; nothing when the object fits."""
    found = []
    if compiled["source"] != wanted["source"]:
        found.append("its source has changed since")
    for name in sorted({*compiled["options"], *wanted["options"]}):
        was, now = compiled["options"].get(name), wanted["options"].get(name)
        if was != now:
            found.append(f"it was compiled with {name}={was!r}, and this launch has {name}={now!r}")
    return found


def use(folder: Path) -> None:
    from nereid._kernels import compile as compilation
    from nereid._kernels.signature import type_entry

    listed = {name: (module, {part.split("=")[0].strip(): part.split("=")[1].strip() for part in types.split(",")})
              for module, name, types, _, _ in KERNELS}

    def load(function, specs, options, constants):
        module, types = listed[function.__name__]
        values = {p.name: spec[1] for p, spec in zip(function.params, specs) if spec[0] == "constexpr"}
        path = folder / object_name(function.__name__, values, options)
        if not path.exists():
            raise FileNotFoundError(f"{path.name} is not among the compiled kernels of {folder}")
        record = path.with_suffix(RECORD)
        wrong = differences(json.loads(record.read_text()), record_of(module, options)) if record.exists() else [
            f"there is no {record.name} beside it"]
        if wrong:
            raise ValueError(f"{path}: {'; '.join(wrong)}. Compile it again with bench/cuda/compile.py")
        for parameter, spec in zip(function.params, specs):
            if spec[0] == "constexpr":
                continue
            compiled = type_entry(types[parameter.name])
            if spec[0] != compiled[0] or compiled[1] and not spec[1]:
                raise TypeError(f"{function.__name__}: {parameter.name} is {spec}, compiled for {compiled}")
        kernel = compilation.CompiledKernel(function, specs, options, path.read_bytes(), from_cache=True)
        if options.get("arch") and options["arch"] != kernel.metadata.architecture:
            raise ValueError(f"{path}: it was compiled for {kernel.metadata.architecture}, and this launch is for {options['arch']}. "
                             "Compile it again with bench/cuda/compile.py --arch")
        return kernel

    compilation._compile_or_load = load
