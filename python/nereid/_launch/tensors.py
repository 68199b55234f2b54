# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the host API does to arrays of any kind: zero, copy, overwrite, look at as
another dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from nereid import _runtime
from nereid.language import _types


def _as_numpy(array: Any) -> np.ndarray:
    """A numpy array over the same memory."""
    if isinstance(array, np.ndarray):
        return array
    if isinstance(array, TensorWrapper):
        return _as_numpy(array.base)
    if isinstance(array, _runtime.SymmetricBuffer):
        return array.numpy()
    if hasattr(array, "__dlpack__"):
        return np.from_dlpack(array)
    raise TypeError(f"{_runtime.describe(array)} is not an array that can be written")


def zero(array: Any) -> None:
    if hasattr(array, "zero_"):
        array.zero_()
    else:
        _as_numpy(array)[...] = 0


def copy_of(array: Any) -> Any:
    return array.clone() if hasattr(array, "clone") else _as_numpy(array).copy()


def overwrite(array: Any, saved: Any) -> None:
    if hasattr(array, "copy_"):
        array.copy_(saved)
    else:
        _as_numpy(array)[...] = saved


class TensorWrapper:
    """An array whose elements kernels take for another dtype of the same size; made
    by ``nereid.reinterpret``. `base` is the array."""

    def __init__(self, base: Any, dtype: _types.dtype):
        self.base = base
        self.dtype = dtype
        self.shape = tuple(base.shape)

    def data_ptr(self) -> int:
        return self.base.data_ptr() if hasattr(self.base, "data_ptr") else self.base.ctypes.data

    def stride(self, axis: int | None = None):
        if hasattr(self.base, "stride"):
            steps = tuple(self.base.stride())
        else:
            steps = tuple(step // self.base.itemsize for step in self.base.strides)
        return steps if axis is None else steps[axis]

    def is_contiguous(self) -> bool:
        if hasattr(self.base, "is_contiguous"):
            return self.base.is_contiguous()
        return bool(_as_numpy(self.base).flags.c_contiguous)

    def element_size(self) -> int:
        return self.dtype.itemsize

    def numel(self) -> int:
        count = 1
        for size in self.shape:
            count *= size
        return count

    def zero_(self) -> None:
        zero(self.base)

    def clone(self) -> "TensorWrapper":
        return TensorWrapper(copy_of(self.base), self.dtype)

    def copy_(self, other: Any) -> None:
        overwrite(self.base, getattr(other, "base", other))

    def __repr__(self) -> str:
        return f"TensorWrapper({self.shape}, {self.dtype})"


def reinterpret(tensor: Any, dtype: Any) -> Any:
    """`tensor` as an array of `dtype` for kernels: same memory, other elements.

    The elements must have the same size. Use it for the 8-bit floats that numpy or
    torch lack: ``nereid.reinterpret(bytes_array, tl.float8e4nv)``.
    """
    wanted = _types.find_dtype(dtype)
    if wanted is None:
        raise TypeError(f"reinterpret takes a dtype of nereid.language, not {_runtime.describe(dtype)}")
    if isinstance(tensor, TensorWrapper):
        return tensor.base if wanted == _types.find_dtype(tensor.base.dtype) else reinterpret(tensor.base, wanted)
    held = _types.find_dtype(getattr(tensor, "dtype", None))
    if held is None:
        raise TypeError(f"reinterpret takes an array, not {_runtime.describe(tensor)}")
    if held == wanted:
        return tensor
    if held.itemsize != wanted.itemsize:
        raise TypeError(
            f"elements of {held} have {held.itemsize} bytes and those of {wanted} {wanted.itemsize}: reinterpret keeps "
            "the size; use the array's own view() first"
        )
    return TensorWrapper(tensor, wanted)


class MockTensor:
    """Stands for an array of `dtype` in ``kernel.warmup``: it has no memory, and
    counts as aligned to 16 bytes."""

    def __init__(self, dtype: Any, shape: Any = None):
        self.dtype = _types.find_dtype(dtype) or dtype
        self.shape = tuple(shape) if shape is not None else (1,)

    @staticmethod
    def wrap_dtype(value: Any) -> Any:
        return MockTensor(value) if _types.find_dtype(value) is not None else value

    @staticmethod
    def data_ptr() -> int:
        return 0

    @staticmethod
    def ptr_range() -> int:
        return 0

    def is_contiguous(self) -> bool:
        return True
