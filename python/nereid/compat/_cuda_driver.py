# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What host code beside kernels calls of CUDA's driver and runtime (``cuda.bindings``),
on memory of the CPU. A copy or a write that is given to a stream happens when the stream
has ended all that it was given before, for which the call waits; a wait for a value goes into the
stream, and what the stream is given after it comes after it."""

from __future__ import annotations

import ctypes
import enum
import time
from typing import Any

import nereid
from nereid import _runtime
from nereid.compat import _memory, _streams


class CUresult(enum.IntEnum):
    """Results of the driver's functions; the only one that is returned. What fails raises."""

    CUDA_SUCCESS = 0


class cudaError_t(enum.IntEnum):
    """Results of the runtime's functions; the only one that is returned. What fails raises."""

    cudaSuccess = 0


class CUstreamWaitValue_flags(enum.IntFlag):
    """How a word is compared."""

    CU_STREAM_WAIT_VALUE_GEQ = 0
    CU_STREAM_WAIT_VALUE_EQ = 1
    CU_STREAM_WAIT_VALUE_AND = 2


class CUstreamWriteValue_flags(enum.IntFlag):
    """Whether a write releases what was done before; here it always does."""

    CU_STREAM_WRITE_VALUE_DEFAULT = 0
    CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER = 1


class cudaMemcpyKind(enum.IntEnum):
    """From where to where: all memory is the CPU's."""

    cudaMemcpyHostToHost = 0
    cudaMemcpyHostToDevice = 1
    cudaMemcpyDeviceToHost = 2
    cudaMemcpyDeviceToDevice = 3
    cudaMemcpyDefault = 4


#: Comparisons, as the runtime numbers them.
_EQUAL, _AT_LEAST = 0, 5


def _address(value: Any) -> int:
    return int(getattr(value, "value", value))


def cudaMemcpyAsync(dst: Any, src: Any, count: int, kind: Any = cudaMemcpyKind.cudaMemcpyDefault, stream: Any = None) -> tuple:
    """Copies `count` bytes."""
    _streams.of(stream).finish()
    ctypes.memmove(_address(dst), _address(src), int(count))
    return (cudaError_t.cudaSuccess,)


def cudaMemcpy(dst: Any, src: Any, count: int, kind: Any = cudaMemcpyKind.cudaMemcpyDefault) -> tuple:
    """Copies `count` bytes."""
    return cudaMemcpyAsync(dst, src, count, kind)


def cudaMemsetAsync(dst: Any, value: int, count: int, stream: Any = None) -> tuple:
    """Sets `count` bytes."""
    _streams.of(stream).finish()
    ctypes.memset(_address(dst), int(value), int(count))
    return (cudaError_t.cudaSuccess,)


def cudaMemset(dst: Any, value: int, count: int) -> tuple:
    """Sets `count` bytes."""
    return cudaMemsetAsync(dst, value, count)


def cudaDeviceSynchronize() -> tuple:
    """Returns when all that was launched has ended."""
    nereid.synchronize()
    return (cudaError_t.cudaSuccess,)


def cudaStreamSynchronize(stream: Any = None) -> tuple:
    """Returns when all that the stream was given has ended."""
    _streams.of(stream).finish()
    return (cudaError_t.cudaSuccess,)


def cudaGetErrorString(error: Any) -> tuple:
    """The result's name."""
    return cudaError_t.cudaSuccess, cudaError_t(error).name.encode()


def cuGetErrorName(error: Any) -> tuple:
    """The result's name."""
    return CUresult.CUDA_SUCCESS, CUresult(error).name.encode()


def _write(stream: Any, address: Any, value: int, size: int) -> tuple:
    _streams.of(stream).finish()
    kind = {4: ctypes.c_uint32, 8: ctypes.c_uint64}[size]
    place = _address(address)
    if place % size:
        raise ValueError(f"cuStreamWriteValue{8 * size}: the address {place:#x} is not aligned to {size} bytes")
    if _memory.find(place) is not None:
        _memory.signal(f"cuStreamWriteValue{8 * size}", place, int(value), False, size, nereid.rank())
    else:  # an aligned word is written in one piece, after all that was written before
        kind.from_address(place).value = int(value) & ((1 << 8 * size) - 1)
    return (CUresult.CUDA_SUCCESS,)


def cuStreamWriteValue32(stream: Any, address: Any, value: int, flags: Any = 0) -> tuple:
    """Writes a word of 4 bytes."""
    return _write(stream, address, value, 4)


def cuStreamWriteValue64(stream: Any, address: Any, value: int, flags: Any = 0) -> tuple:
    """Writes a word of 8 bytes."""
    return _write(stream, address, value, 8)


#: Seconds that a stream waits for a word that no other rank can write, while nothing else of this process is at work.
_PATIENCE = 60.0


def _await(place: int, size: int, holds: Any) -> None:
    """Returns when the word at `place`, which only this process writes, holds."""
    word = {4: ctypes.c_uint32, 8: ctypes.c_uint64}[size].from_address(place)
    begin = time.monotonic()
    while not holds(word.value):
        if time.monotonic() - begin > _PATIENCE:
            raise RuntimeError(
                f"cuStreamWaitValue{8 * size}: the word at {place:#x} is {word.value} since {_PATIENCE:.0f} s; it is no symmetric "
                "memory, so that only this process could change it")
        time.sleep(0.001)


def _wait(stream: Any, address: Any, value: int, flags: Any, size: int) -> tuple:
    place, wanted = _address(address), int(value) & ((1 << 8 * size) - 1)
    how = CUstreamWaitValue_flags(int(flags) & 3)
    if how == CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_AND:
        raise NotImplementedError(f"cuStreamWaitValue{8 * size}: it waits for values that are equal, or at least as great")
    equal = how == CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_EQ
    queue = _streams.of(stream)
    if _memory.find(place) is not None:
        there = _memory.place("cuStreamWaitValue", place, size)
        queue.later(lambda: _runtime.signal_wait_until(there, _EQUAL if equal else _AT_LEAST, wanted, size, False))
        return (CUresult.CUDA_SUCCESS,)
    # At least as great: in the order of numbers that wrap around.
    half = 1 << (8 * size - 1)
    holds = (lambda now: now == wanted) if equal else (lambda now: (now - wanted) & (2 * half - 1) < half)
    now = {4: ctypes.c_uint32, 8: ctypes.c_uint64}[size].from_address(place).value
    if not queue.query() or not holds(now):
        queue.later(lambda: _await(place, size, holds))
    return (CUresult.CUDA_SUCCESS,)


def cuStreamWaitValue32(stream: Any, address: Any, value: int, flags: Any = 0) -> tuple:
    """Returns when the word of 4 bytes compares as `flags` say."""
    return _wait(stream, address, value, flags, 4)


def cuStreamWaitValue64(stream: Any, address: Any, value: int, flags: Any = 0) -> tuple:
    """Returns when the word of 8 bytes compares as `flags` say."""
    return _wait(stream, address, value, flags, 8)


def check(error: Any) -> None:
    """Raises RuntimeError unless a result says that all is well."""
    if not isinstance(error, (CUresult, cudaError_t)) or int(error) != 0:
        raise RuntimeError(f"CUDA error: {error}")


class _Functions:
    """A module of another package, as far as it is here."""

    def __init__(self, name: str, names: dict[str, Any]) -> None:
        self.__dict__.update(names)
        self.__name__ = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        raise AttributeError(f"{self.__name__} has no attribute '{attribute}': Nereid stands in for it here, and has no counterpart")


_DRIVER = ("CUresult CUstreamWaitValue_flags CUstreamWriteValue_flags cuGetErrorName cuStreamWaitValue32 cuStreamWaitValue64 "
           "cuStreamWriteValue32 cuStreamWriteValue64")
_RUNTIME = ("cudaDeviceSynchronize cudaError_t cudaGetErrorString cudaMemcpy cudaMemcpyAsync cudaMemcpyKind cudaMemset "
            "cudaMemsetAsync cudaStreamSynchronize")

#: The driver's functions, as ``cuda.bindings.driver`` has them.
driver = _Functions("cuda", {name: globals()[name] for name in _DRIVER.split()})
#: The runtime's functions, as ``cuda.bindings.runtime`` has them.
runtime = _Functions("cudart", {name: globals()[name] for name in _RUNTIME.split()})
