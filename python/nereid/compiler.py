# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiling without launching: ``nereid.compile``."""

from __future__ import annotations

import os
from typing import Any

from nereid import _runtime
from nereid._kernels import compile as _compile
from nereid._kernels import ir as _ir
from nereid._kernels import signature as _signature
from nereid._kernels.compile import CompiledKernel
from nereid._base.errors import CompilationError
from nereid._launch.jit import JITFunction
from nereid._base import targets as _targets
from nereid.runtime import GPUTarget

__all__ = ["ASTSource", "AttrsDescriptor", "CompilationError", "CompiledKernel", "GPUTarget", "compile"]


class ASTSource:
    """A jit function with the types and constants to compile it for.

    `signature` maps names of parameters to types ("*fp16", "i32", "fp32";
    "constexpr" for those in `constexprs`), `constexprs` names (or positions, or
    one-element tuples of positions) to values, `attrs` positions or names to what
    is known of the arguments: ``{0: [["tt.divisibility", 16]]}``.
    """

    def __init__(
        self, fn: Any, signature: dict[Any, str], constexprs: dict[Any, Any] | None = None, attrs: Any = None,
        constants: dict[Any, Any] | None = None,
    ):
        fn = getattr(fn, "jit_function", fn)
        if not isinstance(fn, JITFunction):
            raise TypeError(f"ASTSource takes a jit function, not {_runtime.describe(fn)}")
        self.fn = fn
        self.signature = {self._name(key): value for key, value in dict(signature).items()}
        self.constexprs = {
            self._name(key): value for key, value in {**(constants or {}), **(constexprs or {})}.items()
        }
        self.divisible = self._divisible(attrs)

    def _name(self, key: Any) -> str:
        if isinstance(key, tuple) and len(key) == 1:
            key = key[0]
        if isinstance(key, int) and 0 <= key < len(self.fn.arg_names):
            return self.fn.arg_names[key]
        if isinstance(key, str) and key in self.fn.arg_names:
            return key
        raise ValueError(
            f"ASTSource: {self.fn.__name__} has no parameter {key!r}; its parameters are {', '.join(self.fn.arg_names)}"
        )

    def _divisible(self, attrs: Any) -> set[str]:
        if attrs is None:
            return set()
        if isinstance(attrs, AttrsDescriptor):
            return {self._name(key) for key in attrs.divisible_by_16}
        known = set()
        for key, facts in dict(attrs).items():
            if any(fact[0] == "tt.divisibility" and fact[1] % 16 == 0 for fact in facts):
                known.add(self._name(key))
        return known

    def specs(self) -> list[tuple]:
        entries = []
        for param in self.fn.params:
            if param.name in self.constexprs:
                value = self.constexprs[param.name]
                entries.append(("constexpr", getattr(value, "value", value)))
            elif param.name in self.signature:
                text = str(self.signature[param.name]) + (":16" if param.name in self.divisible else "")
                entry = _signature.type_entry(text)
                if entry is None:
                    raise ValueError(
                        f"ASTSource: {self.signature[param.name]!r} is not a type for the parameter '{param.name}'; write "
                        "'*fp32', 'i32', 'fp32', ..., or give it a value in constexprs"
                    )
                entries.append(entry)
            elif param.has_default:
                entries.append(("constexpr", getattr(param.default, "value", param.default)))
            else:
                raise ValueError(
                    f"ASTSource: the parameter '{param.name}' of {self.fn.__name__} stands neither in signature nor in "
                    "constexprs"
                )
        return entries


class AttrsDescriptor:
    """What is known of arguments, in the form of older code: positions of those that
    are divisible by 16. (Arguments that equal 1 belong into `constexprs`.)"""

    def __init__(self, divisible_by_16: Any = (), equal_to_1: Any = (), *_ignored: Any):
        self.divisible_by_16 = tuple(divisible_by_16 or ())
        self.equal_to_1 = tuple(equal_to_1 or ())


def compile(src: Any, target: GPUTarget | None = None, options: dict[str, Any] | None = None) -> CompiledKernel:
    """Compiles a kernel and returns it ready to launch: ``kernel[grid](*args)`` with
    the run-time arguments.

    `src` is an ASTSource, or the path of a ``.ttir`` file. `target` must be None or
    what ``nereid.runtime.driver.active.get_current_target()`` returns; `options`
    are launch options. Raises CompilationError.
    """
    launch_options = {}
    active = _targets.active()
    others = _targets.foreign(active)
    for name, value in (options or {}).items():
        if _targets.option(active, name) is not None or (
                name == "num_warps" and isinstance(src, ASTSource) and src.fn.asks_for_threads):
            launch_options[name] = value
        elif name not in others:
            raise ValueError(f"nereid.compile: there is no option {name!r}")
        elif not others[name][1]:
            _targets.note("nereid.compile", name)
        elif value is not None:
            raise ValueError(f"nereid.compile: {others[name][0]}")
    if target is not None and not isinstance(target, GPUTarget):
        target = GPUTarget(*(getattr(target, field) for field in ("backend", "arch", "warp_size")))
    if target is not None and target.backend != _targets.active():
        raise ValueError(
            f"nereid.compile: the target in force is {_targets.active()}, not {target.backend!r}; NEREID_TARGET chooses another"
        )
    if isinstance(src, (str, os.PathLike)):
        if not _ir.is_ir_path(src):
            raise ValueError(f"nereid.compile: '{src}' is not a file of IR; it takes {' and '.join(_ir.SUFFIXES)} files")
        return _ir.compile_file(src, launch_options)
    if not isinstance(src, ASTSource):
        raise TypeError(f"nereid.compile takes an ASTSource or the path of a .ttir file, not {_runtime.describe(src)}")
    return _compile.compile_or_load(src.fn, src.specs(), src.fn._options(launch_options))
