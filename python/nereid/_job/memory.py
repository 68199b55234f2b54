# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the host reads and writes memory of kernels, wherever that lies.

Symmetric memory may be memory of a GPU, where no pointer of the host leads: all of these are
copies by the runtime, complete when they return. Addresses are this rank's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nereid import _runtime


def write(address: int, data: Any, rank: int | None = None) -> None:
    """Copies `data`, bytes or a contiguous array, to `address` in the heap of `rank` (None: this one)."""
    source = np.frombuffer(data, np.uint8) if isinstance(data, (bytes, bytearray)) else data
    if source.nbytes:
        _runtime.peer_put(address, source.ctypes.data, source.nbytes, _runtime.rank() if rank is None else rank)


def read(address: int, nbytes: int, rank: int | None = None) -> bytes:
    """The bytes at `address` in the heap of `rank` (None: this one)."""
    found = np.empty(nbytes, np.uint8)
    if nbytes:
        _runtime.peer_get(found.ctypes.data, address, nbytes, _runtime.rank() if rank is None else rank)
    return found.tobytes()


def fill(address: int, byte: int, nbytes: int) -> None:
    """Sets `nbytes` bytes of this rank's heap."""
    piece = np.full(min(nbytes, 16 << 20), byte, np.uint8)
    for first in range(0, nbytes, 16 << 20):
        write(address + first, piece[: nbytes - first])


class DeviceArray:
    """A copy of an array in memory of the device, which kernels of this rank read."""

    def __init__(self, array: np.ndarray):
        self._memory = _runtime.DeviceMemory(array.ctypes.data, array.nbytes)
        self.__cuda_array_interface__ = {
            "version": 3, "data": (self._memory.address, False), "shape": array.shape, "typestr": array.dtype.str,
            "strides": None,
        }


def constant(array: np.ndarray) -> Any:
    """`array`, which nobody changes, as an argument of many launches: where they run on a GPU its
    copy there, so that none of them has to copy it."""
    return array if _runtime.heaps_on_host() else DeviceArray(array)
