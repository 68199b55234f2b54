# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a jit function and the types of its arguments to a kernel that can run.

    entries, options -> KERNEL.ttir in NEREID_OVERRIDE? -> the disk cache -> the compiler

An entry says of one argument what the code may depend on: its type and whether it is divisible
by 16, the value of a constexpr, the parts of a tuple or descriptor. The key of the cache is made
of all entries, the digest of the function and of the constants (``dependencies``), and the
options. Kernels whose dependencies cannot be described, or mean something in this process only,
do not go to the disk; nor do those that were compiled with warnings, which every process should
see. One process compiles a key, the others wait for it and read (``_cache.only_one``).

The cache holds the last stage alone. ``CompiledKernel.asm`` makes the others when somebody looks:
from the front end's IR, for which a kernel from the disk is compiled again."""

from __future__ import annotations

import functools
import json
import os
import re
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Iterator, Mapping

from nereid import _runtime
from nereid._kernels import cache as _cache
from nereid._kernels import cubin as _cubin
from nereid._kernels.dependencies import Dependencies
from nereid._base.errors import CompilationError
from nereid._kernels.signature import signless
from nereid._base import targets as _targets

#: Other names of stages.
STAGE_ALIASES = {"cpu_tiles": "cpu-tiles", "tiles": "cpu-tiles", "llir": "llvm", "object": "obj", "o": "obj"}


def _compiler():
    """The compiler, loaded when it is first needed."""
    from nereid import _compiler

    return _compiler


_MISSING = object()
_VECTOR_REGISTER = re.compile(r"%[xyz]mm(\d+)|\b[vqz](\d+)\.")
_SPILL = re.compile(r"[#/]+ \d+-byte (?:Folded )?Spill")


def describe_spec(spec: tuple) -> str:
    """An argument's entry as text, for messages."""
    if spec[0] == "constexpr":
        return f"constexpr {describe_constant(spec[1])}"
    if spec[0] == "tensordesc":
        parts = ", ".join(map(describe_spec, spec[1]))
        return f"tensordesc<{spec[1][0][0].lstrip('*')}{list(spec[2])}>({parts}; {spec[3]})"
    if spec[0] == "tuple":
        return f"tuple({', '.join(map(describe_spec, spec[1]))}; {spec[2]})"
    return f"{spec[0]}{':16' if spec[1] else ''}"


def describe_constant(value: Any) -> str:
    if isinstance(value, tuple):
        return f"{type(value).__qualname__}({', '.join(map(describe_constant, value))})"
    if isinstance(value, _runtime.Dispatcher):
        return f"jit {value.__name__}"
    dtype = getattr(value, "__nereid_type__", None)
    if dtype is not None:
        return f"dtype:{dtype}"
    builtin = getattr(value, "__nereid_builtin__", None)
    if builtin is not None:
        return f"builtin {builtin}"
    inner = getattr(value, "__nereid_constexpr_function__", None)
    if inner is not None:
        return f"constexpr_function {getattr(inner, '__qualname__', inner)}"
    return f"{type(value).__name__}:{value!r}"


class Stages(Mapping):
    """``kernel.asm``: the text (or bytes) of each stage of the target by name. Made
    when it is asked for: a kernel from the disk cache has only its last stage."""

    def __init__(self, kernel: "CompiledKernel"):
        self._kernel = kernel
        self._target = kernel.target
        self._known: dict[str, Any] = {}

    def __getitem__(self, stage: str) -> Any:
        stage = STAGE_ALIASES.get(stage, stage)
        _targets.stage(self._target, stage)
        if stage not in self._known:
            self._known[stage] = self._kernel._make_stage(stage)
        return self._known[stage]

    def __contains__(self, stage: Any) -> bool:
        return STAGE_ALIASES.get(stage, stage) in _targets.stage_names(self._target)

    def __iter__(self) -> Iterator[str]:
        return iter(_targets.stage_names(self._target))

    def __len__(self) -> int:
        return len(_targets.stage_names(self._target))


class CompiledKernel:
    """A kernel compiled for certain argument types and constants.

    ``asm`` maps the stages of its ``target`` (for the CPU "ttir", ..., "asm", "obj") to
    their text, ``metadata`` says what the launcher knows, ``signature`` which arguments it was
    compiled for. ``compiled[grid](*args)`` launches it again with the run-time
    arguments only. ``n_regs`` counts the vector registers that its code uses (on a GPU
    the registers of a thread), ``n_spills`` its values that had to be kept in memory instead.
    """

    def __init__(self, function, specs: list, options: dict, code: bytes, from_cache: bool):
        # The dispatcher refuses to launch what has no image.
        device = _targets.find(options["target"])["device"]
        self._image = _runtime.KernelImage(code, device) if device else None
        self.function = function
        self.options = options
        self.target = options["target"]
        self.signature = {param.name: describe_spec(spec) for param, spec in zip(function.params, specs)}
        self.name = self._image.name if self._image is not None else function.__name__
        if getattr(function, "repr", None) is not None:
            self.name = self._chosen_name(self.name, specs)
            if self._image is not None:
                self._image.name = self.name
        self.from_cache = from_cache
        self.asm = Stages(self)
        self.metadata = SimpleNamespace(**(
            self._image.description if self._image is not None else {"name": self.name, "args": [], "scratch_bytes": 0, "shared_bytes": 0}
        ))
        # Under the names that host code written for other targets reads. Where the target
        # has no such option, a program is one thread; its tile buffers are what it has of
        # fast memory.
        threads = _targets.option(self.target, "num_warps") is not None
        for name in ("num_warps", "num_ctas", "num_stages"):
            row = _targets.option(self.target, name)
            setattr(self.metadata, name, options.get(name, row["default"]) if row else 1)
        self.metadata.shared = self.metadata.shared_bytes if threads else max(64, self.metadata.scratch_bytes)
        self._specs = specs
        self._object = code
        self._compilation = None
        #: Of what its constants depend on; the dispatcher asks it at each launch.
        self._watch: Any = None

    def _make_stage(self, stage: str) -> Any:
        last = _targets.find(self.target)["stages"][-1]
        if stage == last["name"]:
            return self._object.decode() if last["is_text"] else self._object
        if self._compilation is None:
            self._compilation = _compiler().compile(self.function, self._specs, self.options)
        return self._compilation.stage(stage)

    def _chosen_name(self, name: str, specs: list) -> str:
        constants = {
            param.name: spec[1] for param, spec in zip(self.function.params, specs) if spec[0] == "constexpr"
        }
        what = SimpleNamespace(name=name, fn=self.function, signature=dict(self.signature), constants=constants)
        return str(self.function.repr(what))

    @functools.cached_property
    def n_regs(self) -> int:
        if "cubin" in self.asm:
            return _cubin.resources(self.asm["cubin"])[0]
        return len(set(_VECTOR_REGISTER.findall(self.asm["asm"])))

    @functools.cached_property
    def n_spills(self) -> int:
        if "cubin" in self.asm:
            return _cubin.resources(self.asm["cubin"])[1] // 4
        return len(_SPILL.findall(self.asm["asm"]))

    def _init_handles(self) -> None:
        """Nothing to do: the code was loaded when the kernel was compiled."""

    def run(self, grid_0: int, grid_1: int, grid_2: int, *args) -> "CompiledKernel":
        """``self[grid_0, grid_1, grid_2](*args)``."""
        return self[grid_0, grid_1, grid_2](*args)

    def __getitem__(self, grid):
        def launch(*args, **options):
            options.pop("stream", None)
            if len(args) != len(self._specs):  # the run-time arguments alone
                given = iter(args)
                args = [spec[1] if spec[0] == "constexpr" else next(given, _MISSING) for spec in self._specs]
                args = [value for value in args if value is not _MISSING] + list(given)
            return self.function[grid](*args, **{**self._launch_options(), **options})

        return launch

    def _launch_options(self) -> dict[str, Any]:
        return {name: value for name, value in self.options.items() if _targets.option(self.target, name) is not None}

    def __repr__(self) -> str:
        return f"CompiledKernel({self.name}, {self.signature})"


def _constants(specs: list) -> list:
    """The compile-time values among entries, in order."""
    values = []
    for spec in specs:
        if spec[0] == "constexpr":
            values.append(spec[1])
        elif spec[0] in ("tuple", "tensordesc"):
            values += _constants(spec[1])
    return values


def _runtime_parts(spec: tuple) -> Any:
    """An entry without its compile-time values."""
    if spec[0] == "constexpr":
        return ["constexpr"]
    if spec[0] in ("tuple", "tensordesc"):
        return [spec[0], [_runtime_parts(part) for part in spec[1]], *spec[2:]]
    return list(spec)


def ir_options(options: dict[str, Any]) -> dict[str, Any]:
    """Options of a kernel that is IR already: without those that only the front end reads."""
    return {name: value for name, value in options.items() if name != "allow_non_constexpr_globals"}


def cache_key(function, specs: list, options: dict, constants: Dependencies) -> str:
    return _cache.entry_key([
        function.__name__,
        function.dependencies.digest,
        json.dumps([_runtime_parts(spec) for spec in specs], default=str),
        constants.digest,
        json.dumps(options, sort_keys=True, default=str),
    ], options)


def compile_or_load(function, specs: list, options: dict) -> CompiledKernel:
    """The kernel for these argument entries (see CompilerModule.h), from the disk
    cache if it is there. Raises CompilationError."""
    overridden = _overridden(function, specs, options)
    if overridden is not None:
        return overridden
    constants = Dependencies(constants=_constants(specs))
    kernel = _compile_or_load(function, specs, options, constants)
    kernel._watch = constants.watch
    return kernel


def _compile_or_load(function, specs: list, options: dict, constants: Dependencies) -> CompiledKernel:
    known = (function.dependencies, constants)
    # Only object files of a device say themselves whether they are whole.
    device = _targets.find(options["target"])["device"]
    if not device or not all(part.reason is None and part.portable for part in known):
        return _compile_and_store(function, specs, options, None)
    key = cache_key(function, specs, options, constants)
    found = _cache.read(key, device)
    if found is None:
        with _cache.only_one(key):
            found = _cache.read(key, device)
            if found is None:
                return _compile_and_store(function, specs, options, key)
    return CompiledKernel(function, specs, options, found, from_cache=True)


def _types(specs: list) -> list[str]:
    """Types of the run-time arguments that entries stand for, in order."""
    names = []
    for spec in specs:
        if spec[0] in ("tuple", "tensordesc"):
            names += _types(spec[1])
        elif spec[0] != "constexpr":
            names.append(spec[0])
    return names


def _overridden(function, specs: list, options: dict) -> CompiledKernel | None:
    """The kernel from a file KERNEL.ttir in the folder NEREID_OVERRIDE, if there is one:
    its text takes the place of what the function would be compiled to."""
    folder = os.environ.get("NEREID_OVERRIDE")
    path = Path(folder, f"{function.__name__}.ttir") if folder else None
    if path is None or not path.exists():
        return None
    compilation = _compiler().compile_ir(
        path.read_text(encoding="utf-8"), str(path), ir_options(options), os.environ.get("NEREID_DUMP", "")
    )
    kernel = CompiledKernel(function, specs, options, compilation.object, from_cache=False)
    wanted, found = _types(specs), [argument["type"] for argument in kernel.metadata.args]
    if [signless(name) for name in wanted] != [signless(name) for name in found]:
        raise CompilationError(
            f"{path}: error: the kernel there takes ({', '.join(found)}), but this launch of '{function.__name__}' passes "
            f"({', '.join(wanted)}). NEREID_OVERRIDE names the folder; take the file out of it, or bring it in line"
        )
    kernel._compilation = compilation
    return kernel


def _compile_and_store(function, specs: list, options: dict, key: str | None) -> CompiledKernel:
    """Compiles; without a key, for this process alone."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compilation = _compiler().compile(function, specs, options, os.environ.get("NEREID_DUMP", ""))
    for warning in caught:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    code = compilation.object
    if key is not None and not caught:  # a kernel with warnings is compiled, and so warned about, in every process
        _cache.write(key, code)
    kernel = CompiledKernel(function, specs, options, code, from_cache=False)
    kernel._compilation = compilation
    return kernel
