# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Aggregates: classes whose instances hold several values inside a kernel."""

from __future__ import annotations

import inspect
from typing import Any

from nereid._base.errors import CompilationError
from nereid._launch.jit import JITFunction
from nereid.language._constexpr import constexpr
from nereid.language._generated.values import tensor


def _kind(annotation: Any) -> str:
    """"constexpr", "tensor" or "" for the annotation of a field."""
    if isinstance(annotation, str):
        name = annotation.strip().rsplit(".", 1)[-1]
        return name if name in ("constexpr", "tensor") else ""
    if annotation is constexpr:
        return "constexpr"
    return "tensor" if annotation is tensor else ""


def aggregate(cls: type) -> type:
    """Makes a class usable inside kernels.

    Its annotations name the fields: ``tl.constexpr`` for a compile-time constant,
    ``tl.tensor`` for a run-time scalar or block, anything else for any value.
    ``__init__`` assigns every field; it is compiled like a jit function, at every
    place where the class is called. Methods are marked with ``@nereid.jit``.

    An instance is a value, as a tuple is: assigning it or passing it copies it.
    Raises CompilationError when the class has no fields or no ``__init__``.
    """
    if not isinstance(cls, type):
        raise TypeError(f"@nereid.aggregate takes a class, not {cls!r}")
    fields = [
        (name, _kind(annotation))
        for base in reversed(cls.__mro__)
        for name, annotation in vars(base).get("__annotations__", {}).items()
    ]
    where = f"class '{cls.__qualname__}'"
    if not fields:
        raise CompilationError(
            f"error: {where} has no annotated fields, so it cannot be an aggregate; write `name: tl.tensor` in its body"
        )
    init = getattr(cls, "__init__")
    init = getattr(init, "__nereid_constexpr_function__", init)
    if isinstance(init, JITFunction):
        init = init.fn
    if not inspect.isfunction(init):
        raise CompilationError(
            f"error: {where} has no __init__, so it cannot be an aggregate; write one that assigns all of its fields"
        )
    cls.__nereid_aggregate__ = tuple(dict(fields).items())
    cls.__nereid_init__ = JITFunction(init)
    return cls
