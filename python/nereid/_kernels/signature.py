# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Signatures written as text: what `nereid compile --signature` takes.

    x_ptr=*fp32:16, n=i32, BLOCK=128, DTYPE=tl.float16

One entry for each parameter without a default. A type name ("*fp16", "i32",
"fp32", "u1") stands for a run-time argument, with ":16" when its value is known to
be divisible by 16; anything else is a constant.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from nereid import _runtime
from nereid.language import _types

_TYPE = re.compile(r"(\*k?)?([a-z]+[0-9a-z]*)(?::(16))?$")


def type_entry(text: str) -> tuple[str, int] | None:
    match = _TYPE.match(text)
    if not match:
        return None
    star, name, divisible = match.groups()
    if name in ("i1", "int1", "bool"):
        name = "u1"
    if name == "void" or name not in _types.BY_SIGNATURE:
        return None
    return (star or "") + name, 16 if divisible else 0


def _constant(text: str) -> Any:
    """A literal, a dtype (tl.float32, float32), or the text itself in quotes."""
    name = text.removeprefix("tl.").removeprefix("nereid.language.")
    if name in _types.PUBLIC_DTYPES:
        return _types.PUBLIC_DTYPES[name]
    return ast.literal_eval(text)


def _split(text: str) -> list[str]:
    """At commas that are outside of brackets and quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for i, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def example(function) -> str:
    """A signature that a kernel could have, for messages: pointers by their names,
    constants with their defaults or a usual value."""
    entries = []
    for param in function.params:
        if param.has_default:
            continue
        if param.is_constexpr:
            entries.append(f"{param.name}=64")
        elif param.annotation_type:
            entries.append(f"{param.name}={param.annotation_type}")
        elif param.is_const or "ptr" in param.name or param.name in ("x", "y", "a", "b", "c", "out", "output"):
            entries.append(f"{param.name}=*fp32")
        else:
            entries.append(f"{param.name}=i32")
    return ", ".join(entries)


def parse_signature(function, text: str) -> list[tuple]:
    """The argument entries (see CompilerModule.h) that a signature stands for.
    Raises ValueError with a message for the user."""
    given: dict[str, str] = {}
    names = [param.name for param in function.params]
    for part in _split(text):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            raise ValueError(f"'{part}' is not an entry of a signature; write name=type or name=value")
        if name not in names:
            raise ValueError(f"the kernel has no parameter '{name}'; its parameters are {', '.join(names)}")
        if name in given:
            raise ValueError(f"parameter '{name}' is given twice")
        given[name] = value
    return [_entry(param, given.get(param.name)) for param in function.params]


def _entry(param, text: str | None) -> tuple:
    if text is None:
        if not param.has_default:
            kind = "a value (a constexpr)" if param.is_constexpr else "a type"
            raise ValueError(f"the signature lacks {kind} for the parameter '{param.name}'")
        if param.is_constexpr or param.default is None:
            return ("constexpr", getattr(param.default, "value", param.default))
        return _default_entry(param)
    entry = None if param.is_constexpr else type_entry(text)
    if entry is not None:
        name, divisible = entry
        return ("*k" + name[1:] if param.is_const and name[0] == "*" and name[1] != "k" else name, divisible)
    try:
        return ("constexpr", _constant(text))
    except (ValueError, SyntaxError):
        pass
    if param.is_constexpr:
        raise ValueError(
            f"'{text}' is not a value for the constexpr '{param.name}'; write a number, a quoted string, True, False, None, "
            "a tuple or a dtype such as tl.float16"
        )
    known = ", ".join(name for name in _types.BY_SIGNATURE if name != "void")
    raise ValueError(
        f"'{text}' is neither a type nor a value for the parameter '{param.name}'; types are {known}, with * in front "
        "for a pointer and :16 behind for a value divisible by 16"
    )


def _default_entry(param) -> tuple:
    value = param.default
    if isinstance(value, bool):
        return ("u1", 0)
    if isinstance(value, int):
        if value == 1 and not param.do_not_specialize and not param.annotation_type:
            return ("constexpr", 1)
        wide = "i32" if -(2**31) <= value < 2**31 else "i64"
        return (param.annotation_type or wide, 0)
    if isinstance(value, float):
        return (param.annotation_type or "fp32", 0)
    raise ValueError(
        f"the default of '{param.name}', {_runtime.describe(value)}, stands for no type; name one in the signature"
    )


#: Integer types of which the IR does not say whether they are signed.
_SIGNLESS = {"u8": "i8", "u16": "i16", "u32": "i32", "u64": "i64", "u1": "i1"}


def signless(name: str) -> str:
    """The name of a type as IR text has it."""
    stars = name[: len(name) - len(name.lstrip("*"))]
    base = name[len(stars):]
    if stars and base.startswith("k"):
        base = base[1:]
    base = _SIGNLESS.get(base, base)
    # Elements of one bit lie in memory as bytes.
    return stars + ("i8" if stars and base == "i1" else base)
