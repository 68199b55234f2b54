# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compile-time constants."""

from __future__ import annotations

import functools
import math
from typing import Any, Callable


def _unwrap(value: Any) -> Any:
    return value.value if isinstance(value, constexpr) else value


class constexpr:
    """A value that is known when a kernel is compiled.

    As an annotation (``BLOCK: tl.constexpr``) it marks a parameter whose value
    becomes part of the compiled kernel. As a call (``SIZE = tl.constexpr(64)``)
    it makes a global of the module usable inside kernels.

    The value is None, a bool, an int, a float, a str, a dtype, a jit function or
    a tuple of such. Arithmetic on constexprs follows Python and gives constexprs.
    """

    __slots__ = ("value",)
    __nereid_builtin__ = ("tl", "constexpr")

    def __init__(self, value: Any):
        self.value = _unwrap(value)

    def __repr__(self) -> str:
        return f"constexpr[{self.value}]"

    def __hash__(self) -> int:
        return hash((constexpr, self.value))

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        return self.value.__index__()

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __call__(self, *args, **kwargs):
        return self.value(*args, **kwargs)

    def __getitem__(self, index) -> "constexpr":
        return constexpr(self.value[_unwrap(index)])

    def __neg__(self) -> "constexpr":
        return constexpr(-self.value)

    def __pos__(self) -> "constexpr":
        return constexpr(+self.value)

    def __invert__(self) -> "constexpr":
        return constexpr(~self.value)

    def __abs__(self) -> "constexpr":
        return constexpr(abs(self.value))


def _binary(name: str, operation: Callable[[Any, Any], Any], reflected: bool) -> None:
    def forward(self, other):
        return constexpr(operation(self.value, _unwrap(other)))

    def backward(self, other):
        return constexpr(operation(_unwrap(other), self.value))

    setattr(constexpr, f"__{name}__", forward)
    if reflected:
        setattr(constexpr, f"__r{name}__", backward)


for _name, _operation in {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "truediv": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "pow": lambda a, b: a**b,
    "lshift": lambda a, b: a << b,
    "rshift": lambda a, b: a >> b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}.items():
    _binary(_name, _operation, True)
for _name, _operation in {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}.items():
    _binary(_name, _operation, False)


class const:
    """Annotation of a pointer parameter that the kernel only reads (``x_ptr:
    tl.const``). Such a parameter takes read-only arrays as well."""

    __nereid_builtin__ = ("tl", "const")


def constexpr_function(function: Callable) -> Callable:
    """Makes a Python function callable inside kernels on compile-time values.

    It runs in Python while the kernel is compiled; its arguments arrive as plain
    Python values and its result is a compile-time constant.
    """

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*(_unwrap(arg) for arg in args), **{key: _unwrap(value) for key, value in kwargs.items()})

    wrapper.__nereid_constexpr_function__ = function
    return wrapper


@constexpr_function
def cdiv(x: int, y: int) -> int:
    """``x / y`` rounded up, for whole numbers with ``y > 0``."""
    return -(-x // y)


@constexpr_function
def next_power_of_2(n: int) -> int:
    """The smallest power of two that is not below `n`; 1 for n <= 1."""
    return 1 << max(0, math.ceil(n) - 1).bit_length() if n > 1 else 1
