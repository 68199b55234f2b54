# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transfers, signals and collectives of the host: the counterparts of what kernels do, for set-up and tests.

They are offered as functions of ``nereid.symm``. Those that return nothing take their turn in the current
stream inside ``with stream:``.
"""

from __future__ import annotations

import operator
import os
import sys
from typing import Any, Callable

import numpy as np

from nereid import _runtime
from nereid._streams import stream as _stream
from nereid._job.symmetric import SymmetricTensor, _allocate, free

__all__ = [
    "all_gather", "all_reduce", "all_to_all", "broadcast", "get", "put", "put_async", "quiet", "signal_op",
    "signal_wait_until"
]

_COMPARISONS = {"eq": 0, "ne": 1, "gt": 2, "le": 3, "lt": 4, "ge": 5,
                "==": 0, "!=": 1, ">": 2, "<=": 3, "<": 4, ">=": 5}


def _check_rank(rank: Any) -> int:
    world = _runtime.world_size()
    if isinstance(rank, bool) or not isinstance(rank, (int, np.integer)):
        raise TypeError(f"a rank is an integer, not {_runtime.describe(rank)}")
    if not 0 <= rank < world:
        raise ValueError(f"rank {rank} is outside the job of {world} ranks (0 to {world - 1})")
    return int(rank)


def _check_tensor(who: str, tensor: Any) -> SymmetricTensor:
    if not isinstance(tensor, SymmetricTensor):
        raise TypeError(f"{who} needs a symmetric tensor, not {_runtime.describe(tensor)}")
    return tensor


def put(dest: SymmetricTensor, source: Any, rank: int) -> None:
    """Copies `source`, an array of the shape and dtype of `dest`, to the part of
    `dest` on `rank`; complete on return. Not collective, and no barrier: a signal or a barrier
    tells the peer."""
    _check_tensor("put", dest)
    rank = _check_rank(rank)
    array = source.numpy() if isinstance(source, SymmetricTensor) else np.asarray(source)
    if array.shape != dest.shape:
        raise ValueError(f"put: the source has the shape {array.shape}, the destination {dest.shape}")
    # Lists have no dtype of their own; only what would lose its fraction is refused.
    own = hasattr(source, "dtype")
    if array.dtype != dest.dtype if own else array.dtype.kind in "fc" and dest.dtype.kind in "iub":
        raise TypeError(
            f"put: the source has the dtype {array.dtype}, the destination {dest.dtype}; "
            f"write {'source' if own else 'np.asarray(source)'}.astype({str(dest.dtype)!r})"
        )

    def work() -> None:
        data = np.ascontiguousarray(array, dtype=dest.dtype)
        _runtime.peer_put(dest._address(), data.ctypes.data, data.nbytes, rank)

    _stream.submit(work)


def put_async(dest: SymmetricTensor, source: SymmetricTensor, rank: int, *, dest_start: int = 0, source_start: int = 0,
              count: int | None = None, signal: SymmetricTensor | None = None, index: Any = 0, value: int = 1) -> None:
    """Begins to copy elements of `source`, a symmetric tensor of this rank, to the part of `dest` on `rank`, and
    returns. When they are there the element `index` of `signal` on `rank` becomes `value`: a kernel that waits for
    it sees them. On a GPU its copy engines do it, which take no processor away from kernels.

    All elements, of tensors of one shape; or, with `count`, that many from `source_start` and `dest_start` on,
    counted through the tensors in the order of memory.

    Puts of a rank are made one after the other, after all that torch's current stream held when they were given;
    inside ``with stream:`` after what that holds, and before what it is given later. `source` must stay as it is
    until ``quiet()``, of one in a stream until ``stream.synchronize()``; these also raise what went wrong."""
    _check_tensor("put_async", dest)
    _check_tensor("put_async", source)
    rank = _check_rank(rank)
    if source.element_type is not dest.element_type and source.element_type != dest.element_type:
        raise TypeError(f"put_async: the source has the dtype {source.dtype}, the destination {dest.dtype}")
    dest_start, source_start = _whole("put_async", "dest_start", dest_start), _whole("put_async", "source_start", source_start)
    if count is None:
        if dest_start or source_start:
            raise ValueError("put_async: say how many elements, count=..., when they do not begin at the tensor's first")
        if source.shape != dest.shape:
            raise ValueError(f"put_async: the source has the shape {source.shape}, the destination {dest.shape}; "
                             "a part of them is copied with count=...")
        count = source.size
    count, item = _whole("put_async", "count", count), dest.itemsize
    for what, tensor, start in (("destination", dest, dest_start), ("source", source, source_start)):
        if count < 0 or start < 0 or (start + count) * item > tensor.nbytes:
            raise ValueError(f"put_async: {count} elements from {start} on are not inside the {what} of {tensor.size} elements")
    word, bits, width = 0, 0, 8
    if signal is not None:
        tensor, offset, width, signed = _signal_place("put_async", signal, index)
        word, bits = tensor._address() + offset, _bits("put_async", value, width, signed)
    stream = _stream.current_stream()
    after = None
    if stream is None:
        stream, after = _copies(), _torch_stream()
    stream._put(dest._address() + dest_start * item, source._address() + source_start * item, count * item, rank, word, bits,
                width, after, (dest, source, signal))


_rank_copies: _stream.Stream | None = None


def _copies() -> _stream.Stream:
    """The stream of this process's puts outside of streams."""
    global _rank_copies
    if _rank_copies is None:
        _rank_copies = _stream.Stream("the puts of this rank")
    return _rank_copies


def _torch_stream() -> int | None:
    """What torch is giving to the GPU that kernels run on; None when it uses none."""
    cuda = sys.modules.get("torch.cuda")
    if cuda is None or _runtime.heaps_on_host() or not cuda.is_initialized():
        return None
    return cuda.current_stream().cuda_stream


def quiet() -> None:
    """Waits until all copies that this rank has given to ``put_async`` outside of streams have been made, and raises
    what went wrong in them. Not collective."""
    if _rank_copies is not None:
        _rank_copies.synchronize()


def _forget_after_fork() -> None:
    global _rank_copies
    _rank_copies = None


os.register_at_fork(after_in_child=_forget_after_fork)


def get(source: SymmetricTensor, rank: int, out: Any = None) -> Any:
    """The part of `source` on `rank` as a new array, or copied to `out`, an array of
    the same shape. Not collective. Inside ``with stream:`` it needs `out`."""
    _check_tensor("get", source)
    rank = _check_rank(rank)
    if out is None and _stream.current_stream() is not None:
        raise ValueError("get inside `with stream:` happens later: give it an array to copy to, out=...")
    if isinstance(out, SymmetricTensor) and out.shape == source.shape and out.element_type == source.element_type:
        _stream.submit(lambda: _runtime.peer_get(out._address(), source._address(), source.nbytes, rank))
        return out
    target = np.empty(source.shape, source.dtype) if out is None else (
        out.numpy() if isinstance(out, SymmetricTensor) else out)
    if not isinstance(target, np.ndarray) or target.shape != source.shape:
        raise ValueError(f"get: out is an array of the shape {source.shape}")

    def work() -> None:
        if target.flags.c_contiguous and target.flags.writeable and target.dtype == source.dtype:
            _runtime.peer_get(target.ctypes.data, source._address(), target.nbytes, rank)
            return
        data = np.empty(source.shape, source.dtype)
        _runtime.peer_get(data.ctypes.data, source._address(), data.nbytes, rank)
        np.copyto(target, data, casting="unsafe")

    _stream.submit(work)
    return target if out is None else out


def _signal_place(who: str, signal: Any, index: Any) -> tuple[SymmetricTensor, int, int, bool]:
    """(tensor, byte offset, bytes, signed)"""
    _check_tensor(who, signal)
    kind = signal.dtype
    if kind.kind not in "iu" or kind.itemsize not in (4, 8):
        raise TypeError(f"{who}: signals are 32-bit or 64-bit integers, the tensor holds {signal.element_type}")
    indices = index if isinstance(index, tuple) else (index,)
    if len(indices) == 1 and len(signal.shape) != 1:
        flat = _whole(who, "index", indices[0])
        if not 0 <= flat < signal.size:
            raise IndexError(f"{who}: index {flat} is outside the {signal.size} elements of the tensor")
    else:
        flat = 0
        for place, length in zip(_within(who, indices, signal.shape), signal.shape):
            flat = flat * length + place
    return signal, flat * kind.itemsize, kind.itemsize, kind.kind == "i"


def _within(who: str, indices: tuple, shape: tuple[int, ...]) -> tuple[int, ...]:
    numbers = tuple(_whole(who, "index", index) for index in indices)
    if len(numbers) != len(shape) or any(not 0 <= i < n for i, n in zip(numbers, shape)):
        raise IndexError(f"{who}: index {indices} is outside the shape {shape}")
    return numbers


def _whole(who: str, what: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{who}: {what} is a whole number, not {_runtime.describe(value)}") from None


def _bits(who: str, value: Any, size: int, signed: bool) -> int:
    value = _whole(who, "the value of a signal", value)
    low, high = (-(1 << (8 * size - 1)), 1 << (8 * size - 1)) if signed else (0, 1 << (8 * size))
    if not low <= value < high:
        raise OverflowError(f"{who}: {value} does not fit into a signal of {size} bytes")
    return value & ((1 << (8 * size)) - 1)


def signal_op(signal: SymmetricTensor, value: int, rank: int, *, index: Any = 0, op: str = "set") -> None:
    """Sets the element `index` of `signal` on `rank` to `value`, or adds to it with
    ``op="add"``. What this rank wrote before is visible to `rank` first. Not
    collective."""
    if op not in ("set", "add"):
        raise ValueError(f"signal_op: op is 'set' or 'add', not {op!r}")
    tensor, offset, size, signed = _signal_place("signal_op", signal, index)
    rank = _check_rank(rank)
    bits = _bits("signal_op", value, size, signed)
    _stream.submit(lambda: _runtime.signal_op(tensor._address() + offset, bits, op == "add", size, rank))


def signal_wait_until(signal: SymmetricTensor, value: int, *, index: Any = 0, cmp: str = "eq") -> None:
    """Waits until this rank's element `index` of `signal` compares to `value`: "eq",
    "ne", "gt", "ge", "lt", "le" or the operator. What its writer wrote before is
    visible then. Deadlocks, dead ranks and NEREID_TIMEOUT end the wait with a JobError
    that has the signal, its value and the awaited one. Not collective.

    All ranks blocked in launches, host barriers and such waits are a deadlock; threads
    of your own that write signals need NEREID_DETECT_DEADLOCK=0, streams do not."""
    if cmp not in _COMPARISONS:
        raise ValueError(f"signal_wait_until: cmp is eq, ne, gt, ge, lt or le, not {cmp!r}")
    tensor, offset, size, signed = _signal_place("signal_wait_until", signal, index)
    bits = _bits("signal_wait_until", value, size, signed)

    _stream.submit(
        lambda: _runtime.signal_wait_until(tensor._address() + offset, _COMPARISONS[cmp], bits, size, signed)
    )


# ---- collectives


def _gather(who: str, array: np.ndarray) -> np.ndarray:
    """The arrays of all ranks, stacked. Ranks that differ in shape or dtype all get
    an error, from the allocation."""
    world = _runtime.world_size()
    with _stream.outside_streams():
        tensor = _allocate(array.shape, array.dtype, who)
        try:
            tensor._write(lambda part: part.__setitem__(..., array))
            _runtime.barrier(f"{who}(): all parts are there")
            result = np.empty((world, *array.shape), array.dtype)
            for rank in range(world):
                part = np.empty(array.shape, array.dtype)
                if part.nbytes:
                    _runtime.peer_get(part.ctypes.data, tensor._address(), part.nbytes, rank)
                result[rank] = part
        finally:
            free(tensor)  # a barrier: nobody's part is gone before all have read it
    return result


def _as_array(value: Any) -> np.ndarray:
    return np.ascontiguousarray(value.numpy() if isinstance(value, SymmetricTensor) else np.asarray(value)).reshape(
        np.shape(value))


def all_gather(array: Any) -> np.ndarray:
    """The arrays of all ranks by rank: the result has one more dimension in front.
    All ranks pass the same shape and dtype. Collective."""
    return _gather("all_gather", _as_array(array))


def broadcast(array: Any, root: int = 0) -> Any:
    """The array of rank `root`, as a new array; into a symmetric tensor it is copied
    in place, and the tensor returned. All ranks pass the same shape and dtype.
    Collective."""
    root = _check_rank(root)
    if isinstance(array, SymmetricTensor):
        _runtime.barrier("broadcast(): begins")
        if _runtime.rank() != root and array.nbytes:
            _runtime.peer_get(array._address(), array._address(), array.nbytes, root)
        _runtime.barrier("broadcast(): ends")
        return array
    return _gather("broadcast", _as_array(array))[root]


_REDUCTIONS: dict[str, Callable] = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


def all_reduce(array: Any, op: str = "sum") -> np.ndarray:
    """"sum", "prod", "max" or "min" over the arrays of all ranks, element by element,
    in the order of the ranks and in the dtype of the arrays: every rank gets the same
    bits. Collective."""
    if op not in _REDUCTIONS:
        raise ValueError(f"all_reduce: op is {', '.join(_REDUCTIONS)}, not {op!r}")
    parts = _gather("all_reduce", _as_array(array))
    result = parts[0].copy()
    for part in parts[1:]:
        result = _REDUCTIONS[op](result, part).astype(result.dtype, copy=False)
    return result


def all_to_all(array: Any) -> np.ndarray:
    """Block r of the first dimension goes to rank r, which returns the blocks by
    sender. The first dimension is divisible by the number of ranks. Collective."""
    source = _as_array(array)
    world, me = _runtime.world_size(), _runtime.rank()
    if source.ndim == 0 or source.shape[0] % world:
        raise ValueError(f"all_to_all: the first dimension of {source.shape} is not divisible by the {world} ranks")
    parts = _gather("all_to_all", source)
    rows = source.shape[0] // world
    return np.concatenate([parts[rank][me * rows : (me + 1) * rows] for rank in range(world)])
