# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels from the text of their IR: a ``.ttir`` dump, of the stock triton
package or of ``nereid compile --emit=ttir``."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from pathlib import Path
from typing import Any

from nereid import _runtime
from nereid._kernels import cache as _cache
from nereid._kernels import compile as _compile
from nereid._base.errors import ArgumentError, CompilationError
from nereid._kernels.signature import signless
from nereid._base import targets as _targets

#: Endings of files that hold IR.
SUFFIXES = (".ttir", ".mlir")

class IRParameter:
    """One argument of a kernel that was read from text."""

    is_constexpr = False
    is_const = False
    is_variadic = False
    has_default = False
    default = None
    do_not_specialize = False
    do_not_specialize_on_alignment = False

    def __init__(self, name: str, type: str, divisibility: int):
        self.name = name
        self.type = type
        self.divisibility = divisibility
        #: The reader of arguments converts scalars to their type; pointers are
        #: compared with it afterwards.
        self.annotation_type = None if type.startswith("*") else type

    def __repr__(self) -> str:
        return f"IRParameter({self.name}: {self.type}{f':{self.divisibility}' if self.divisibility else ''})"


class IRKernel(_runtime.Dispatcher):
    """A kernel from IR text: ``kernel[grid](*args, **kwargs)`` launches it.

    ``params`` are its arguments in order (name, type, divisibility); constants are
    part of the text. ``asm`` and ``metadata`` are those of the compiled kernel.
    """

    def __init__(self, text: str, path: str, options: dict[str, Any] | None = None):
        self.text = text
        self.file = path
        target = _targets.active()
        self._ir_options = {
            "target": target, "profile": _targets.profile(), **_targets.settings(target), **(options or {}),
        }
        code, compilation = _compile_text(text, path, self._ir_options)
        if device := _targets.find(target)["device"]:
            description = _runtime.describe_object(code, device, sites=False)
        else:
            description = {"name": compilation.name, "args": []}
        self.params = [
            IRParameter(argument["name"], argument["type"], argument["divisibility"]) for argument in description["args"]
        ]
        self.__name__ = description["name"]
        super().__init__(self.__name__, self.params, False)
        self.arg_names = [parameter.name for parameter in self.params]
        specs = [(parameter.type, parameter.divisibility) for parameter in self.params]
        self.compiled = CompiledIR(self, specs, self._ir_options, code, compilation is None)
        self.compiled._compilation = compilation

    @property
    def asm(self):
        return self.compiled.asm

    @property
    def metadata(self):
        return self.compiled.metadata

    def run(self, *args, grid, warmup: bool = False, **kwargs):
        """``kernel[grid](*args, **kwargs)`` with the grid as a keyword."""
        return self._run(grid, args, kwargs, warmup)

    def warmup(self, *args, grid=None, **kwargs):
        """Checks the arguments without launching; returns the compiled kernel."""
        return self._run(grid, args, kwargs, True)

    def _compile_specialisation(self, specs: list, launch_options: dict[str, Any]):
        """Called by the dispatcher for types of arguments not seen before."""
        if launch_options:
            raise ArgumentError(
                f"{self.__name__}: the launch option '{next(iter(launch_options))}' belongs to the compilation, and this "
                "kernel is compiled already"
            )
        for number, (parameter, spec) in enumerate(zip(self.params, specs), 1):
            place = f"{self.__name__}: argument {number} '{parameter.name}'"
            if spec[0] in ("constexpr", "tuple"):
                what = "None" if spec[0] == "constexpr" else "a tuple"
                raise ArgumentError(f"{place}: is {parameter.type} in {self.file}, {what} was given")
            kind, divisible = spec
            if signless(kind) != signless(parameter.type):
                raise ArgumentError(f"{place}: is {parameter.type} in {self.file}, {kind} was given")
            if parameter.divisibility > 1 and not divisible and parameter.divisibility <= 16:
                what = "an address" if parameter.type.startswith("*") else "a value"
                raise ArgumentError(
                    f"{place}: {self.file} was made for {what} that is a multiple of {parameter.divisibility}; this one is "
                    "not. Pass one that is, or take tt.divisibility out of the text"
                )
        return self.compiled

    def _forget_compiled(self) -> None:
        """No variables of Python are part of the code."""

    def __repr__(self) -> str:
        return f"IRKernel({self.__name__} from {self.file})"


class CompiledIR(_compile.CompiledKernel):
    """What a launch of an IRKernel returns."""

    def _make_stage(self, stage: str) -> Any:
        last = _targets.find(self.target)["stages"][-1]
        if stage == last["name"]:
            return self._object.decode() if last["is_text"] else self._object
        if self._compilation is None:
            from nereid import _compiler

            self._compilation = _compiler.compile_ir(self.function.text, self.function.file, self.options)
        return self._compilation.stage(stage)

    def __getitem__(self, grid):
        return self.function[grid]


def _compile_text(text: str, path: str, options: dict[str, Any]) -> tuple[bytes, Any]:
    """The object file, and the compilation unless the file came from the disk cache."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    key = _cache.entry_key(["ir", digest, path, json.dumps(options, sort_keys=True)], options)
    # Only object files of a device say themselves whether they are whole.
    device = _targets.find(options["target"])["device"]
    found = _cache.read(key, device) if device else None
    if found is not None:
        return found, None
    from nereid import _compiler

    with _cache.only_one(key):
        found = _cache.read(key, device) if device else None
        if found is not None:
            return found, None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            compilation = _compiler.compile_ir(text, path, options, os.environ.get("NEREID_DUMP", ""))
        if device and not caught:
            _cache.write(key, compilation.object)
    for warning in caught:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return compilation.object, compilation


def is_ir_path(source: Any) -> bool:
    """Whether ``source`` names a file of IR."""
    return isinstance(source, (str, os.PathLike)) and Path(source).suffix in SUFFIXES


def compile_file(path: str | os.PathLike, options: dict[str, Any] | None = None) -> IRKernel:
    """The kernel in a file of IR (.ttir, .mlir). Raises FileNotFoundError, and
    CompilationError with the line and column of the file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise CompilationError(f"{os.fspath(path)}: error: this is not text; IR is read as text, not as bytecode") from None
    return IRKernel(text, os.fspath(path), options)


def compile_text(text: str, path: str = "<ttir>", options: dict[str, Any] | None = None) -> IRKernel:
    """The kernel in a text; ``path`` stands in messages."""
    return IRKernel(text, path, options)
