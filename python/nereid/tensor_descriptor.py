# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor descriptors made on the host and passed to kernels."""

from __future__ import annotations

from typing import Any, Sequence

from nereid import _runtime
from nereid.language import _types

__all__ = ["TensorDescriptor"]


def _integers(what: str, values: Sequence[Any], least: int) -> list[int]:
    try:
        result = [getattr(value, "value", value).__index__() for value in values]
    except (TypeError, AttributeError):
        raise TypeError(f"TensorDescriptor: {what} is a list of integers, not {values!r}") from None
    for value in result:
        if value < least:
            raise ValueError(f"TensorDescriptor: {what} is {result}; its values are {least} or more")
    return result


class TensorDescriptor:
    """A strided tensor that a kernel reads and writes in blocks.

    Inside the kernel the argument has the methods of what
    ``tl.make_tensor_descriptor`` returns: ``desc.load(offsets)``,
    ``desc.store(offsets, value)``, ... and ``desc.shape``, ``desc.strides``,
    ``desc.block_shape``, ``desc.dtype``.

    `base` is an array (or a dtype, for ``kernel.warmup``); `shape` and `strides`
    (in elements, the last one 1) describe one to five dimensions; `block_shape`
    has one size per dimension, of which the innermost spans at least 16 bytes when the
    kernel is launched; hooks of autotuning may set it until then.
    `padding` says what elements outside the tensor read as: "zero" or "nan".
    """

    def __init__(
        self,
        base: Any,
        shape: Sequence[int],
        strides: Sequence[int],
        block_shape: Sequence[int],
        padding: str = "zero",
        round_f32_to_tf32: bool = False,
    ):
        self.base = base
        self.shape = _integers("shape", shape, 0)
        self.strides = _integers("strides", strides, 0)
        self.block_shape = _integers("block_shape", block_shape, 1)
        self.padding = padding
        self.round_f32_to_tf32 = round_f32_to_tf32
        element = _types.find_dtype(base if _types.find_dtype(base) is not None else getattr(base, "dtype", None))
        if element is None:
            raise TypeError(f"TensorDescriptor: base is an array, not {_runtime.describe(base)}")
        self.element_type = element
        rank = len(self.shape)
        if not 1 <= rank <= 5:
            raise ValueError(f"TensorDescriptor: a tensor has one to five dimensions, but shape is {self.shape}")
        for what, values in (("strides", self.strides), ("block_shape", self.block_shape)):
            if len(values) != rank:
                raise ValueError(
                    f"TensorDescriptor: {what} has {len(values)} values, but shape has {rank}: {values} and {self.shape}"
                )
        if self.strides[-1] != 1:
            raise ValueError(
                f"TensorDescriptor: the last stride is {self.strides[-1]}; it must be 1, the innermost dimension is "
                "contiguous. Pass a contiguous copy"
            )
        if padding not in ("zero", "nan"):
            raise ValueError(f"TensorDescriptor: padding is 'zero' or 'nan', not {padding!r}")
        if padding == "nan" and not element.is_floating():
            raise ValueError(f"TensorDescriptor: padding 'nan' needs floating elements, but they are {element}")

    @staticmethod
    def from_tensor(tensor: Any, block_shape: Sequence[int], padding: str = "zero") -> "TensorDescriptor":
        """The descriptor of a whole array with its own strides."""
        if hasattr(tensor, "stride"):
            strides = list(tensor.stride())
        else:
            strides = [step // tensor.itemsize for step in tensor.strides]
        return TensorDescriptor(tensor, list(tensor.shape), strides, block_shape, padding)

    @property
    def dtype(self) -> Any:
        return getattr(self.base, "dtype", self.base)

    @property
    def __nereid_descriptor__(self) -> tuple:
        # What the launcher reads, at every launch: the fields may have changed.
        return (
            self.base, tuple(self.shape), tuple(self.strides), tuple(self.block_shape), self.padding
        )

    def __repr__(self) -> str:
        return f"TensorDescriptor({self.element_type}, shape={self.shape}, block_shape={self.block_shape})"
