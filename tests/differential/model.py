# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types of the kernel language as the generator knows them: promotion, and what is
known about a value (a bound of its size, a bound of its error)."""

from __future__ import annotations

from dataclasses import dataclass, replace

#: name in tl -> (kind, bits); kind is "i" signed, "u" unsigned, "f" floating, "b" one bit
DTYPES = {
    "int1": ("b", 1),
    "int8": ("i", 8), "int16": ("i", 16), "int32": ("i", 32), "int64": ("i", 64),
    "uint8": ("u", 8), "uint16": ("u", 16), "uint32": ("u", 32), "uint64": ("u", 64),
    "float16": ("f", 16), "bfloat16": ("f", 16), "float32": ("f", 32), "float64": ("f", 64),
}
INTS = [name for name, (kind, _) in DTYPES.items() if kind in "iu"]
FLOATS = ["float16", "float32", "float64"]
#: Names of the types in signatures of kernels.
SIGNATURE = {
    "int1": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
    "uint32": "u32", "uint64": "u64", "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
}
#: Half the distance between 1 and the next number.
EPSILON = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}
#: The smallest positive number: what a result near zero may be off by.
TINY = {"float16": 2.0**-24, "bfloat16": 2.0**-126, "float32": 2.0**-140, "float64": 2.0**-1000}


def kind(dtype: str) -> str:
    return DTYPES[dtype][0]


def bits(dtype: str) -> int:
    return DTYPES[dtype][1]


def is_float(dtype: str) -> bool:
    return kind(dtype) == "f"


def is_int(dtype: str) -> bool:
    return kind(dtype) in "iu"


@dataclass(frozen=True)
class Value:
    """An expression: its text, type and shape, and bounds."""

    text: str
    dtype: str
    shape: tuple[int, ...] = ()
    size: float = 0.0  #: floats: no element is larger
    error: float = 0.0  #: floats: by how much two correct ways may differ; 0 = bit by bit the same
    product: bool = False  #: floats: a multiplication that an addition may be contracted with
    literal: bool = False  #: a Python number

    def named(self, name: str) -> "Value":
        return replace(self, text=name, literal=False)

    @property
    def exact(self) -> bool:
        return self.error == 0.0


def literal(number: int | float) -> Value:
    if isinstance(number, float):
        return Value(repr(number) if number >= 0 else f"({number!r})", "float32", size=abs(number), literal=True)
    return Value(str(number) if number >= 0 else f"({number})", "int32", literal=True)


def promote(a: Value, b: Value, division: bool = False) -> str:
    """Type of the result of an arithmetic operator on the two."""
    order = {"b": 0, "i": 1, "u": 1, "f": 2}
    if a.literal and not b.literal and order[kind(a.dtype)] <= order[kind(b.dtype)]:
        return _divided(b.dtype, division)
    if b.literal and not a.literal and order[kind(b.dtype)] <= order[kind(a.dtype)]:
        return _divided(a.dtype, division)
    return promote_types(a.dtype, b.dtype, division)


def _divided(dtype: str, division: bool) -> str:
    """Floating division happens in at least fp32."""
    return "float32" if division and dtype in ("float16", "bfloat16") else dtype


def promote_types(a: str, b: str, division: bool = False) -> str:
    if "float64" in (a, b):
        return "float64"
    if division and (is_float(a) or is_float(b)):
        return "float32"
    if "float32" in (a, b):
        return "float32"
    if "float16" in (a, b):
        return "float16"
    if "bfloat16" in (a, b):
        return "bfloat16" if a == b else "float32"
    if a == b:
        return a
    signed_a, signed_b = kind(a) == "i", kind(b) == "i"
    if signed_a == signed_b:
        return a if bits(a) > bits(b) else b
    unsigned, signed = (b, a) if signed_a else (a, b)
    return unsigned if bits(unsigned) >= bits(signed) else signed


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The common shape, or None."""
    rank = max(len(shape) for shape in shapes)
    result = []
    for dims in zip(*(((1,) * (rank - len(shape)) + shape) for shape in shapes)):
        sizes = {size for size in dims if size != 1}
        if len(sizes) > 1:
            return None
        result.append(sizes.pop() if sizes else 1)
    return tuple(result)
