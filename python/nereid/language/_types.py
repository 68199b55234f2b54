# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types of the kernel language as Python objects."""

from __future__ import annotations

from typing import Any, Sequence

from nereid import _runtime

# name in the language, name in launch signatures, name of numpy or ml_dtypes,
# kind, bits, bits of the mantissa
_TABLE = [
    ("void", "void", None, "void", 0, 0),
    ("int1", "u1", "bool", "uint", 1, 0),
    ("int8", "i8", "int8", "int", 8, 0),
    ("int16", "i16", "int16", "int", 16, 0),
    ("int32", "i32", "int32", "int", 32, 0),
    ("int64", "i64", "int64", "int", 64, 0),
    ("uint8", "u8", "uint8", "uint", 8, 0),
    ("uint16", "u16", "uint16", "uint", 16, 0),
    ("uint32", "u32", "uint32", "uint", 32, 0),
    ("uint64", "u64", "uint64", "uint", 64, 0),
    ("fp8e5", "fp8e5", "float8_e5m2", "fp", 8, 2),
    ("fp8e5b16", "fp8e5b16", "float8_e5m2fnuz", "fp", 8, 2),
    ("fp8e4nv", "fp8e4nv", "float8_e4m3fn", "fp", 8, 3),
    ("fp8e4b8", "fp8e4b8", "float8_e4m3fnuz", "fp", 8, 3),
    ("fp8e4b15", "fp8e4b15", None, "fp", 8, 3),
    ("fp16", "fp16", "float16", "fp", 16, 10),
    ("bf16", "bf16", "bfloat16", "fp", 16, 7),
    ("fp32", "fp32", "float32", "fp", 32, 23),
    ("fp64", "fp64", "float64", "fp", 64, 52),
]
_ROWS = {row[0]: row for row in _TABLE}


class dtype:
    """An element type of the language: ``tl.float32``, ``tl.int1``, ...

    ``name`` is the language's spelling ("fp32", "int32"); ``numpy_name`` that of
    numpy or ml_dtypes, or None.
    """

    __nereid_builtin__ = ("tl", "dtype")

    def __init__(self, name: str):
        if name not in _ROWS:
            raise ValueError(f"unknown type '{name}'; known: {', '.join(_ROWS)}")
        _, signature, array_name, kind, bits, mantissa = _ROWS[name]
        self.name = name
        self.numpy_name = array_name
        self._kind = kind
        self.primitive_bitwidth = bits
        self.itemsize = max(1, bits // 8)
        self.int_bitwidth = bits
        self.fp_mantissa_width = mantissa
        # How the compiler recognises the object, which is no function.
        self.__nereid_type__ = signature

    @property
    def int_signedness(self) -> str:
        return "signed" if self._kind == "int" else "unsigned"

    @property
    def scalar(self) -> "dtype":
        return self

    @property
    def element_ty(self) -> "dtype":
        raise AttributeError(f"{self.name} is neither a pointer nor a block, so it has no element_ty")

    def is_floating(self) -> bool:
        return self._kind == "fp"

    def is_int(self) -> bool:
        return self._kind in ("int", "uint")

    def is_int_signed(self) -> bool:
        return self._kind == "int"

    def is_int_unsigned(self) -> bool:
        return self._kind == "uint"

    def is_bool(self) -> bool:
        return self.name == "int1"

    def is_fp8(self) -> bool:
        return self.name.startswith("fp8")

    def is_fp16(self) -> bool:
        return self.name == "fp16"

    def is_bf16(self) -> bool:
        return self.name == "bf16"

    def is_fp32(self) -> bool:
        return self.name == "fp32"

    def is_fp64(self) -> bool:
        return self.name == "fp64"

    def is_ptr(self) -> bool:
        return False

    def is_block(self) -> bool:
        return False

    def is_void(self) -> bool:
        return self._kind == "void"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, dtype) and self.__nereid_type__ == other.__nereid_type__

    def __hash__(self) -> int:
        return hash((dtype, self.__nereid_type__))

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"nereid.language.{_PUBLIC_NAMES.get(self.name, self.name)}"


class pointer_type(dtype):
    """Pointer to elements of another type; ``const``: only read through."""

    __nereid_builtin__ = ("tl", "pointer_type")

    def __init__(self, element_ty: dtype, address_space: int = 1, const: bool = False):
        if not isinstance(element_ty, dtype):
            raise TypeError(f"pointer_type takes a dtype such as tl.float32, not {element_ty!r}")
        self._element = element_ty
        self.address_space = address_space
        self.const = const
        self.name = f"pointer<{element_ty.name}>"
        self.numpy_name = None
        self._kind = "ptr"
        self.primitive_bitwidth = self.int_bitwidth = 64
        self.itemsize = 8
        self.fp_mantissa_width = 0
        self.__nereid_type__ = ("*k" if const else "*") + element_ty.__nereid_type__

    @property
    def element_ty(self) -> dtype:
        return self._element

    def is_ptr(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"nereid.language.pointer_type({self._element!r})"


class block_type:
    """Type of a block of elements; for annotations and tests of types."""

    def __init__(self, element_ty: dtype, shape: Sequence[int]):
        self.element_ty = self.scalar = element_ty
        self.shape = tuple(int(size) for size in shape)
        self.numel = 1
        for size in self.shape:
            self.numel *= size

    def is_block(self) -> bool:
        return True

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, block_type) and (self.element_ty, self.shape) == (other.element_ty, other.shape)

    def __hash__(self) -> int:
        return hash((block_type, self.element_ty, self.shape))

    def __repr__(self) -> str:
        return f"<{list(self.shape)}, {self.element_ty}>"


_PUBLIC_NAMES = {
    "fp8e5": "float8e5",
    "fp8e5b16": "float8e5b16",
    "fp8e4nv": "float8e4nv",
    "fp8e4b8": "float8e4b8",
    "fp8e4b15": "float8e4b15",
    "fp16": "float16",
    "bf16": "bfloat16",
    "fp32": "float32",
    "fp64": "float64",
}

#: The dtypes by their public names: "float32" -> tl.float32.
PUBLIC_DTYPES = {_PUBLIC_NAMES.get(name, name): dtype(name) for name in _ROWS}
#: By the names of launch signatures: "fp32" -> tl.float32.
BY_SIGNATURE = {value.__nereid_type__: value for value in PUBLIC_DTYPES.values()}
BY_SIGNATURE["i1"] = PUBLIC_DTYPES["int1"]


def find_dtype(spec: Any) -> dtype | None:
    """The dtype that a dtype, a numpy or torch dtype, a type such as np.float32 or
    a name stands for; None when it stands for none."""
    if isinstance(spec, pointer_type):
        return None
    if isinstance(spec, dtype):
        return spec
    if isinstance(spec, str) and spec in _ROWS:
        return PUBLIC_DTYPES[_PUBLIC_NAMES.get(spec, spec)]
    name = _runtime.dtype_name(spec)
    return None if name is None else BY_SIGNATURE[name]
