# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays that users hand to operators: numpy, torch, symmetric tensors. torch's lie on the CPU, or, where
kernels run on a GPU, there."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

import nereid
from nereid import _runtime
from nereid._job import symmetric
from nereid._job.symmetric import numpy_dtype
from nereid.language import _types

#: Bytes of an element, for the dtypes that operators take.
SIZES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "int32": 4, "int64": 8, "int8": 1, "uint8": 1}
FLOATS = ("float16", "bfloat16", "float32", "float64")
#: In which type sums of elements are made.
ACCUMULATORS = {"float16": "float32", "bfloat16": "float32", "float32": "float32", "float64": "float64"}
_names: dict[Any, str] = {}


def dtype_name(dtype: Any) -> str:
    """"float32" for np.float32, torch.float32, tl.float32, "fp32" or the name."""
    try:
        return _names[dtype]
    except (KeyError, TypeError):
        pass
    found = _types.find_dtype(dtype)
    if found is None or found.numpy_name is None:
        raise nereid.ArgumentError(f"{dtype!r} is no dtype of operators; they take {', '.join(SIZES)}")
    try:
        _names[dtype] = str(found.numpy_name)
    except TypeError:
        pass
    return str(found.numpy_name)


def language_dtype(name: str) -> Any:
    return _types.PUBLIC_DTYPES[name]


def kernel_dtype(name: str) -> str:
    """Its name in launch signatures."""
    return _types.PUBLIC_DTYPES[name].__nereid_type__


def host_dtype(name: str) -> np.dtype:
    """numpy's; bfloat16 needs the package ml_dtypes."""
    return numpy_dtype(_types.PUBLIC_DTYPES[name])


class Facts(NamedTuple):
    """What an operator must know of an array."""

    shape: tuple[int, ...]
    dtype: str
    contiguous: bool
    strides: tuple[int, ...]  # in elements
    writeable: bool = True


def facts(array: Any, operator: str, argument: str) -> Facts:
    """ArgumentError when `array` is none, or lies on another device."""
    if type(array) is np.ndarray:
        size, dtype = array.itemsize, _dtype_of(array.dtype, operator, argument)
        if not array.flags.aligned:
            raise nereid.ArgumentError(f"{operator}: {argument} is not aligned to its {size}-byte elements; pass {argument}.copy()")
        return Facts(array.shape, dtype, array.flags.c_contiguous,
                     tuple([step // size for step in array.strides]), array.flags.writeable)
    if isinstance(array, nereid.symm.SymmetricTensor):
        if not array.data_ptr():
            raise nereid.ArgumentError(f"{operator}: {argument} is a symmetric tensor that has been freed")
        return Facts(array.shape, dtype_name(array.element_type), True, row_major(array.shape))
    if hasattr(array, "data_ptr") and hasattr(array, "stride") and hasattr(array, "dtype"):  # torch
        _check_device(array, operator, argument)
        if getattr(array, "requires_grad", False) and _grad_mode():
            raise nereid.ArgumentError(
                f"{operator}: {argument} requires a gradient, which the operator would lose; take the function of nereid.ops.torch, "
                f"or pass {argument}.detach()")
        if str(getattr(array, "layout", "torch.strided")) != "torch.strided":
            raise nereid.ArgumentError(f"{operator}: {argument} is a sparse tensor; pass {argument}.to_dense()")
        return Facts(tuple(array.shape), _dtype_of(array.dtype, operator, argument), array.is_contiguous(), tuple(array.stride()))
    if isinstance(array, np.ma.MaskedArray):
        raise nereid.ArgumentError(f"{operator}: {argument} is a masked array, and a mask has no meaning here; "
                                   f"pass {argument}.filled(value) or {argument}.data")
    if isinstance(array, np.ndarray):
        return facts(np.asarray(array), operator, argument)
    raise nereid.ArgumentError(
        f"{operator}: {argument} is an array of numpy or torch or a symmetric tensor, not {_runtime.describe(array)}")


def _check_device(array: Any, operator: str, argument: str) -> None:
    """ArgumentError when a torch tensor lies where the kernels of this rank cannot reach it."""
    device = getattr(array, "device", None)
    kind = getattr(device, "type", "cpu")
    if kind == "cpu":
        return
    if _runtime.heaps_on_host():
        raise nereid.ArgumentError(
            f"{operator}: {argument} lies on the device {kind}, the kernels run on the CPU; write {argument}.cpu()")
    if kind != "cuda":
        raise nereid.ArgumentError(
            f"{operator}: {argument} lies on the device {kind}, the kernels run on NVIDIA's GPUs; write {argument}.cuda()")
    import torch

    mine = nereid.rank() % torch.cuda.device_count()
    if device.index != mine:
        raise nereid.ArgumentError(
            f"{operator}: {argument} lies on {device}, the GPU of rank {nereid.rank()} is cuda:{mine}; call "
            f"torch.cuda.set_device({mine}) first, or write {argument}.to('cuda:{mine}')")


def _grad_mode() -> bool:
    """Whether torch records what is computed."""
    import torch

    return torch.is_grad_enabled()


def _dtype_of(dtype: Any, operator: str, argument: str) -> str:
    if isinstance(dtype, np.dtype) and not dtype.isnative:
        raise nereid.ArgumentError(f"{operator}: {argument} has its bytes in the other order than this machine ({dtype.str}); "
                                   f"pass {argument}.astype({argument}.dtype.newbyteorder('='))")
    try:
        return dtype_name(dtype)
    except nereid.ArgumentError:
        raise nereid.ArgumentError(f"{operator}: {argument} has elements of {dtype}; operators take {', '.join(SIZES)}") from None


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step)
        step *= max(size, 1)
    return tuple(reversed(steps))


def new(shape: tuple[int, ...], dtype: str, like: Any) -> Any:
    """An array of the kind of `like`: torch for torch, on its device, else numpy."""
    if hasattr(like, "new_empty"):
        import torch

        return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)
    return np.empty(shape, host_dtype(dtype))


def over(owner: Any, address: int, shape: tuple[int, ...], dtype: str, like: Any) -> Any:
    """Symmetric memory of this rank as an array of the kind of `like`, for as long as which `owner` lives; a numpy
    array over memory of a GPU is a copy."""
    make = symmetric.as_torch if hasattr(like, "new_empty") else symmetric.as_numpy
    return make(owner, address, shape, language_dtype(dtype))


def values(array: Any) -> np.ndarray:
    """What stands in it, for the host to look at; of memory of a GPU a copy."""
    return np.asarray(array.cpu() if getattr(getattr(array, "device", None), "type", "cpu") == "cuda" else array)


def count(shape: tuple[int, ...]) -> int:
    return math.prod(shape)


def address(array: Any) -> int:
    return array.ctypes.data if isinstance(array, np.ndarray) else array.data_ptr()


def span(array: Any, facts: Facts) -> tuple[int, int]:
    """The addresses between which its elements lie; the same one twice when it has none."""
    start, size = address(array), SIZES[facts.dtype]
    if 0 in facts.shape:
        return start, start
    reaches = [(length - 1) * step * size for length, step in zip(facts.shape, facts.strides)]
    return start + sum(min(reach, 0) for reach in reaches), start + size + sum(max(reach, 0) for reach in reaches)


def piece(array: Any, first: int, last: int) -> Any:
    """Elements `first` to `last` of a contiguous array, in one dimension, over the same memory."""
    if isinstance(array, nereid.symm.SymmetricTensor):
        return array._elements(first, last)
    return array.reshape(-1)[first:last]
