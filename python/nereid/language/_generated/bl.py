# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by python/generate_language.py from the compiler's table: do not edit.
"""Functions of the Ascend extension's buffers."""

from nereid.language._device import DeviceConstant, device_function

__all__ = ["alloc", "subview", "to_buffer", "to_tensor"]


@device_function("bl", "alloc")
def alloc(etype, shape, _address_space=None, is_mem_unique=False):
    """Only on Ascend: an on-chip buffer."""


@device_function("bl", "subview")
def subview(src, offsets, sizes, strides):
    """Only on Ascend: a window of a buffer."""


@device_function("bl", "to_buffer")
def to_buffer(tensor, space=None, bind_buffer=None):
    """Only on Ascend: a block as an on-chip buffer."""


@device_function("bl", "to_tensor")
def to_tensor(memref, writable=True, target_shape=None):
    """Only on Ascend: an on-chip buffer as a block."""
