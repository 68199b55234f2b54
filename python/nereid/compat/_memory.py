# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Symmetric memory as other libraries give it out: torch tensors, and plain addresses."""

from __future__ import annotations

import bisect
import ctypes
from typing import Any, Sequence

import numpy as np

import nereid
from nereid import _runtime

_tensors: dict[int, nereid.symm.SymmetricTensor] = {}  # by address
_starts: list[int] = []  # the addresses, ascending


def allocate(shape: Sequence[int] | int, dtype: Any) -> nereid.symm.SymmetricTensor:
    """A symmetric tensor of zeros that lives until ``free``. Collective."""
    tensor = nereid.symm.zeros(tuple(shape) if isinstance(shape, Sequence) else shape, dtype)
    remember(tensor)
    return tensor


def remember(tensor: nereid.symm.SymmetricTensor) -> None:
    """What ``find`` knows from now on, until ``free`` or ``forget_one``."""
    address = tensor.data_ptr()
    if address not in _tensors:
        bisect.insort(_starts, address)
    _tensors[address] = tensor


def forget_one(address: int) -> None:
    """The tensor lives on only where others hold it."""
    if _tensors.pop(address, None) is not None:
        _starts.remove(address)


def find(address: int) -> tuple[nereid.symm.SymmetricTensor, int] | None:
    """The tensor that holds an address of this rank, and the bytes before it there."""
    place = bisect.bisect_right(_starts, address) - 1
    if place < 0:
        return None
    tensor = _tensors[_starts[place]]
    offset = address - _starts[place]
    return (tensor, offset) if offset < max(tensor.nbytes, 1) else None


def free(who: str, address: int) -> None:
    """Gives back what ``allocate`` has returned, when all streams are done. Collective."""
    nereid.synchronize()
    tensor = _tensors.pop(address, None)
    if tensor is None:
        raise ValueError(f"{who} takes what was allocated in symmetric memory and not been freed")
    _starts.remove(address)
    nereid.symm.free(tensor)


def forget() -> None:
    """The job has ended, and the memory with it."""
    _tensors.clear()
    _starts.clear()


def place(who: str, address: int, nbytes: int) -> int:
    """`address`, of which `nbytes` bytes lie in one symmetric allocation; ValueError otherwise."""
    found = find(address)
    if found is None or found[1] + nbytes > found[0].nbytes:
        raise ValueError(f"{who}: the {nbytes} bytes at {address:#x} do not lie in symmetric memory of this rank")
    return address


def peer_address(who: str, address: int, rank: int) -> int:
    """Where `rank` has what lies at `address` here."""
    found = find(address)
    if found is None:
        raise ValueError(f"{who}: {address:#x} does not lie in symmetric memory of this rank")
    return found[0].peer(rank).ctypes.data + found[1]


def peer_view(who: str, tensor: Any, rank: int) -> Any:
    """A torch tensor over what `rank` has in place of `tensor`, which lies in symmetric memory and has no gaps."""
    import torch

    if not tensor.is_contiguous():
        raise ValueError(f"{who} takes a contiguous tensor")
    nbytes = tensor.numel() * tensor.element_size()
    address = peer_address(who, place(who, tensor.data_ptr(), nbytes), rank)
    raw = np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(address))
    return torch.from_numpy(raw).view(tensor.dtype).reshape(tensor.shape)


def put(who: str, dest: int, source: int, nbytes: int, rank: int) -> None:
    """Copies `nbytes` bytes to what `rank` has in place of `dest`; complete on return."""
    _runtime.peer_put(place(who, dest, nbytes), source, nbytes, _rank(who, rank))


def get(who: str, dest: int, source: int, nbytes: int, rank: int) -> None:
    """Copies `nbytes` bytes of what `rank` has in place of `source` to `dest`."""
    _runtime.peer_get(dest, place(who, source, nbytes), nbytes, _rank(who, rank))


def signal(who: str, address: int, value: int, add: bool, size: int, rank: int) -> None:
    """Sets the signal of `size` bytes on `rank`, or adds to it; what was put before is visible first."""
    if not -(1 << (8 * size - 1)) <= value < 1 << (8 * size):
        raise OverflowError(f"{who}: {value} does not fit into a signal of {size} bytes")
    _runtime.signal_op(place(who, address, size), value & ((1 << (8 * size)) - 1), add, size, _rank(who, rank))


def _rank(who: str, rank: int) -> int:
    if not 0 <= rank < nereid.world_size():
        raise ValueError(f"{who}: rank {rank} is outside the job of {nereid.world_size()} ranks")
    return int(rank)
