# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A pytest plugin: kernels are compiled by the stock front end and run on our CPU target.

    python -m pytest -p tests.ttir.by_stock tests/kernels

Launches and their checks stay as they are. What the stock front end refuses (tiles
whose sizes are no powers of two, what only we have) is compiled by ours; the counts
stand at the end of the report, the reasons with NEREID_BY_STOCK_REASONS=1.
"""

from __future__ import annotations

import inspect
import json
import os
import textwrap
import types
from collections import Counter
from typing import Any

import nereid
import nereid.language as tl
from nereid import _runtime
from nereid._kernels import compile as _compile
from nereid._kernels import ir as _ir
from tests.differential.harness import Worker

counts: Counter[str] = Counter()
reasons: Counter[str] = Counter()
worker = Worker("stock")
texts: dict[str, tuple[str, Any]] = {}


class Refused(Exception):
    """The stock front end has nothing like it."""


# ---- the source for the stock package


def _constant(value: Any) -> str:
    if isinstance(value, tl.constexpr):
        return _constant(value.value)
    if value is None or isinstance(value, (bool, int, str)):
        return repr(value)
    if isinstance(value, float):
        return f"float({str(value)!r})"
    if isinstance(value, tl.dtype):
        return f"tl.{_public_name(value)}"
    if isinstance(value, _runtime.Dispatcher):
        return value.__name__
    builtin = getattr(value, "__nereid_builtin__", None)
    if builtin is not None and builtin[0] == "tl":
        return f"tl.{builtin[1]}"
    if type(value) in (tuple, list):
        return "(" + "".join(_constant(item) + ", " for item in value) + ")"
    raise Refused(f"a constant {type(value).__name__}")


def _public_name(dtype: Any) -> str:
    from nereid.language import _types

    return next(name for name, known in _types.PUBLIC_DTYPES.items() if known == dtype)


def _function_source(function: Any) -> str:
    lines = textwrap.dedent(inspect.getsource(function.fn)).splitlines(keepends=True)
    start = next(i for i, line in enumerate(lines) if line.startswith("def "))
    return f"@triton.jit(noinline={bool(function.noinline)})\n" + "".join(lines[start:])


def stock_source(kernel: Any, constants: list) -> str:
    """The kernel, the jit functions that it reaches or is given, and their globals."""
    bindings: dict[str, str] = {}
    functions: dict[str, str] = {}

    def reach(function: Any) -> None:
        if functions.get(function.__name__):
            return
        functions[function.__name__] = _function_source(function)
        code = function.fn.__code__
        closure = inspect.getclosurevars(function.fn).nonlocals
        for name in (*code.co_names, *code.co_freevars):
            value = closure.get(name, function.fn.__globals__.get(name))
            if value is None:
                continue
            if isinstance(value, _runtime.Dispatcher):
                reach(value)
                if name != value.__name__:
                    bindings[name] = value.__name__
            elif isinstance(value, types.ModuleType):
                if value is nereid:
                    bindings[name] = "triton"
                elif value.__name__ == "nereid.language":
                    bindings[name] = "tl"
                elif value.__name__.startswith("nereid.language."):
                    bindings[name] = "triton" + value.__name__.removeprefix("nereid")
                else:
                    raise Refused(f"module {value.__name__}")
            elif isinstance(value, (tl.constexpr, tl.dtype)):
                bindings[name] = f"tl.constexpr({_constant(value)})" if isinstance(value, tl.constexpr) else _constant(value)
            elif inspect.isbuiltin(value) or isinstance(value, type) and value.__module__ == "builtins":
                pass
            else:
                raise Refused(f"a global {type(value).__name__}")

    reach(kernel)
    for constant in constants:
        if isinstance(constant, _runtime.Dispatcher):
            reach(constant)
    imports = "import triton.language.extra.libdevice\n" if any("extra" in text for text in bindings.values()) else ""
    own = [f"{name} = {text}\n" for name, text in bindings.items() if text not in functions and name != text]
    aliases = [f"{name} = {text}\n" for name, text in bindings.items() if text in functions]
    return imports + "".join(own) + "\n\n".join(["", *reversed(functions.values())]) + "\n" + "".join(aliases)


# ---- from our launches to theirs


def _type(name: str) -> str:
    name = name.replace("*k", "*") if name.startswith("*k") else name
    return name.replace("u1", "i1")


def stock_kernel(function: Any, specs: list, options: dict) -> Any:
    signature, constants, attributes = {}, {}, {}
    for i, (parameter, spec) in enumerate(zip(function.params, specs)):
        if spec[0] in ("tuple", "tensordesc"):
            raise Refused(f"an argument that is a {spec[0]}")
        if spec[0] == "constexpr":
            signature[parameter.name] = "constexpr"
            constants[parameter.name] = _constant(spec[1])
        else:
            signature[parameter.name] = _type(spec[0])
            if spec[1]:
                attributes[i] = spec[1]
    source = stock_source(function, [spec[1] for spec in specs if spec[0] == "constexpr"])
    key = json.dumps([source, function.__name__, signature, constants, attributes])
    if key not in texts:
        texts[key] = worker.ask("stock_text", source, function.__name__, signature, constants, attributes,
                                len(texts) % 2 == 1)
    status, text = texts[key]
    if status != "ok":
        lines = str(text).split("\nTraceback")[0].strip().splitlines()
        raise Refused(lines[-1].strip()[:120])
    kernel = _ir.compile_text(text, f"{function.__name__}.ttir", {"unused_token": options["unused_token"]})
    return kernel.compiled


def _compile_or_load(function: Any, specs: list, options: dict) -> Any:
    try:
        kernel = stock_kernel(function, specs, options)
        counts["by the stock front end"] += 1
        return kernel
    except Refused as error:
        counts["by ours"] += 1
        reasons[str(error)] += 1
    return original(function, specs, options)


original = _compile.compile_or_load


def pytest_configure(config) -> None:
    _compile.compile_or_load = _compile_or_load


def pytest_terminal_summary(terminalreporter) -> None:
    terminalreporter.write_line("kernels compiled " + ", ".join(f"{name}: {n}" for name, n in sorted(counts.items())))
    if os.environ.get("NEREID_BY_STOCK_REASONS"):
        for reason, n in reasons.most_common():
            terminalreporter.write_line(f"  {n} x {reason}")
    worker.close()
