# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Symmetric tensors: memory that lies at the same place in every rank's heap.

All functions that allocate or free are collective: every rank calls them in the
same order with the same sizes. Ranks that differ all get a JobError that names
two of them and what each asked for.
"""

from __future__ import annotations

import os
import weakref
from typing import Any, Sequence

import numpy as np

from nereid import _runtime
from nereid._streams import stream as _stream
from nereid._job import teams as _teams
from nereid._job.teams import *  # noqa: F401,F403
from nereid.language import _types

__all__ = [
    "SymmetricTensor",
    "allocations",
    "empty",
    "empty_like",
    "free",
    "from_array",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
    *_teams.__all__,
]


def _shape_tuple(shape: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(shape, (int, np.integer)):
        shape = (shape,)
    sizes = []
    for size in shape:
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)):
            raise TypeError(f"a shape holds integers, not {_runtime.describe(size)}")
        if size < 0:
            raise ValueError(f"a shape holds no negative sizes, but it is {tuple(shape)}")
        sizes.append(int(size))
    return tuple(sizes)


def _element_type(dtype: Any) -> _types.dtype:
    found = _types.find_dtype(dtype)
    if found is None or found.numpy_name is None:
        raise TypeError(
            f"symmetric memory cannot hold elements of type {dtype!r}; write a numpy dtype, a dtype of nereid.language "
            "or its name, e.g. 'float16'"
        )
    return found


def numpy_dtype(element: _types.dtype) -> np.dtype:
    """numpy's dtype of an element type; bfloat16 and the 8-bit floats come from
    the package ml_dtypes."""
    try:
        return np.dtype(element.numpy_name)
    except TypeError:
        pass
    try:
        import ml_dtypes
    except ImportError as error:
        raise TypeError(
            f"numpy has no {element.numpy_name}; install the package ml_dtypes, which adds it"
        ) from error
    return np.dtype(getattr(ml_dtypes, element.numpy_name))


class _Memory:
    """Base object of numpy views: keeps their tensor from being freed."""

    def __init__(self, owner: Any, address: int, nbytes: int):
        self._owner = owner
        self.__array_interface__ = {
            "version": 3, "data": (address, False), "shape": (nbytes,), "typestr": "|u1", "strides": None
        }


def _on_host() -> bool:
    """Whether the host can load and store in symmetric memory."""
    return _runtime.heaps_on_host()


def _view(owner: Any, address: int, shape: tuple[int, ...], element: _types.dtype) -> np.ndarray:
    kind = numpy_dtype(element)
    count = int(np.prod(shape, dtype=np.int64))
    if count == 0:
        return np.empty(shape, kind)
    raw = np.asarray(_Memory(owner, address, count * element.itemsize))
    return raw.view(kind).reshape(shape)


class _DeviceMemory:
    """Base object of torch tensors over memory of a GPU: keeps their tensor from being freed."""

    def __init__(self, owner: Any, address: int, nbytes: int):
        self._owner = owner
        self.__cuda_array_interface__ = {
            "version": 3, "data": (address, False), "shape": (nbytes,), "typestr": "|u1", "strides": None
        }


def _copy(address: int, shape: tuple[int, ...], element: _types.dtype, rank: int) -> np.ndarray:
    """What stands at an address in memory of a GPU, as an array that cannot be written."""
    array = np.empty(shape, numpy_dtype(element))
    if array.nbytes:
        _runtime.peer_get(array.ctypes.data, address, array.nbytes, rank)
    array.flags.writeable = False
    return array


def as_numpy(owner: Any, address: int, shape: tuple[int, ...], element: _types.dtype) -> np.ndarray:
    """Memory of this rank's heap as a numpy array over it, of a GPU as a copy that cannot be
    written. `owner` lives as long as the array."""
    if _on_host():
        return _view(owner, address, shape, element)
    return _copy(address, shape, element, _runtime.rank())


def as_torch(owner: Any, address: int, shape: tuple[int, ...], element: _types.dtype) -> Any:
    """Memory of this rank's heap as a torch tensor over it, for as long as which `owner` lives."""
    import torch

    kind = getattr(torch, str(element.numpy_name))
    if _on_host():
        array = _view(owner, address, shape, element)
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16) if element.is_bf16() else torch.from_numpy(array)
    count = int(np.prod(shape, dtype=np.int64))
    if not count:
        return torch.empty(shape, dtype=kind, device="cuda")
    raw = torch.as_tensor(_DeviceMemory(owner, address, count * element.itemsize))  # on the memory's device
    return raw.view(kind).view(shape)


def _part(array: np.ndarray, index: Any) -> np.ndarray | None:
    """The elements at `index` as a view; None when there is none, as for lists of numbers."""
    index = index if isinstance(index, tuple) else (index,)
    part = array[index if any(i is ... for i in index) else (*index, ...)]
    return part if np.may_share_memory(part, array) else None


def _tell(part: np.ndarray | None, writes: bool) -> None:
    """Tells who watches the job of an access by host code, row by row."""
    if part is None or not part.size:
        return
    dims = part.ndim
    while dims and part[(0,) * (dims - 1) + (...,)].flags.c_contiguous:
        dims -= 1
    for index in np.ndindex(part.shape[:dims]):
        row = part[(*index, ...)]
        _runtime.note_access(row.ctypes.data, row.nbytes, writes)


class SymmetricTensor(_runtime.SymmetricBuffer):
    """A row-major tensor in symmetric memory.

    Pass it to kernels like an array. ``numpy()`` (and ``np.asarray``) give a view
    of this rank's part, ``peer(rank)`` a view of another rank's, ``torch()`` a
    torch tensor over the same memory. Indexing reads and writes this rank's part.

    In memory of a GPU (target cuda) numpy arrays are copies, which cannot be written:
    write by indexing, ``copy_`` and ``fill_``, or through ``torch()``, which is a
    tensor over the same memory there too, as are what ``__cuda_array_interface__`` and
    DLPack give other libraries.

    The memory is given back when all ranks have dropped the tensor, at the next
    symmetric allocation; ``nereid.symm.free`` does it at once.
    """

    def __init__(self, address: int, shape: tuple[int, ...], element: _types.dtype):
        count = 1
        for size in shape:
            count *= size
        super().__init__(address, count * element.itemsize, element.__nereid_type__)
        self.shape = shape
        self.element_type = element
        self._finalizer = weakref.finalize(self, _drop, address, os.getpid())
        self._finalizer.atexit = False

    def _elements(self, first: int, last: int) -> "SymmetricTensor":
        """Elements `first` to `last` as a tensor of one dimension over the same memory, which is this one's to free."""
        part = SymmetricTensor.__new__(SymmetricTensor)
        element = self.element_type
        _runtime.SymmetricBuffer.__init__(part, self._address() + first * element.itemsize, (last - first) * element.itemsize,
                                          element.__nereid_type__)
        part.shape, part.element_type, part._whole = (last - first,), element, self
        return part

    @property
    def dtype(self) -> np.dtype:
        return numpy_dtype(self.element_type)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return self.nbytes // self.element_type.itemsize

    @property
    def itemsize(self) -> int:
        return self.element_type.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """In bytes, as numpy's."""
        return self.numpy().strides

    def stride(self, axis: int | None = None):
        """In elements, as torch's."""
        steps = tuple(step // self.itemsize for step in self.strides)
        return steps if axis is None else steps[axis]

    def _address(self) -> int:
        address = self.data_ptr()
        if not address:
            raise ValueError("the symmetric tensor has been freed")
        return address

    def numpy(self) -> np.ndarray:
        """This rank's part as a numpy array over the same memory; of memory of a GPU a
        copy, which cannot be written."""
        return as_numpy(self, self._address(), self.shape, self.element_type)

    def _write(self, change, index: Any = None) -> None:
        """Calls `change` with a numpy array of this rank's part, which it changes: all of it, or what is at `index`."""
        if _on_host():
            part = self.numpy()
            if _runtime.is_watched():
                _tell(part if index is None else _part(part, index), writes=True)
            change(part)
            return
        array = self.numpy().copy()
        change(array)
        if array.nbytes:
            _runtime.peer_put(self._address(), array.ctypes.data, array.nbytes, _runtime.rank())

    def peer(self, rank: int) -> np.ndarray:
        """The part of another rank as a numpy array over that rank's memory. Only
        barriers and signals order accesses to it. JobError when the rank is on
        another node (``--ranks-per-node``)."""
        world = _runtime.world_size()
        if isinstance(rank, bool) or not isinstance(rank, (int, np.integer)):
            raise TypeError(f"a rank is an integer, not {_runtime.describe(rank)}")
        if not 0 <= rank < world:
            raise ValueError(f"rank {rank} is outside the job of {world} ranks (0 to {world - 1})")
        if not _on_host():
            return _copy(self._address(), self.shape, self.element_type, int(rank))
        return _view(self, _runtime.peer_address(self._address(), rank), self.shape, self.element_type)

    def torch(self):
        """This rank's part as a torch tensor over the same memory."""
        return as_torch(self, self._address(), self.shape, self.element_type)

    def fill_(self, value: Any) -> "SymmetricTensor":
        """Sets all elements of this rank's part, in its turn inside ``with
        stream:``. Returns the tensor."""

        def work() -> None:
            _runtime.give_way()
            self._write(lambda part: part.fill(value))

        _stream.submit(work)
        return self

    def zero_(self) -> "SymmetricTensor":
        """``fill_(0)``."""
        return self.fill_(0)

    def copy_(self, source: Any) -> "SymmetricTensor":
        """Copies `source`, an array of this shape or one that broadcasts to it, to
        this rank's part, in its turn inside ``with stream:`` (it is read then).
        Returns the tensor."""
        array = source.numpy() if isinstance(source, SymmetricTensor) else np.asarray(source)
        try:
            fits = np.broadcast_shapes(array.shape, self.shape) == self.shape
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(f"an array of shape {array.shape} cannot be copied to a tensor of shape {self.shape}")

        def work() -> None:
            _runtime.give_way()
            self._write(lambda part: np.copyto(part, array, casting="unsafe"))

        _stream.submit(work)
        return self

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        view = self.numpy()
        if dtype is not None and np.dtype(dtype) != view.dtype:
            return view.astype(dtype)
        return view.copy() if copy else view

    def __dlpack__(self, **options):
        return (self.numpy() if _on_host() else self.torch()).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0) if _on_host() else self.torch().__dlpack_device__()  # (1, 0): kDLCPU

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if _on_host():
            raise AttributeError("this symmetric tensor does not lie in memory of a GPU")
        return {"version": 3, "data": (self._address(), False), "shape": self.shape, "strides": None,
                "typestr": self.dtype.str}

    def __getitem__(self, index):
        part = self.numpy()
        found = part[index]
        if np.ndim(found) == 0 and _runtime.is_watched():  # views are read later, by whoever has them
            _tell(_part(part, index), writes=False)
        return found

    def __setitem__(self, index, value) -> None:
        _runtime.give_way()
        self._write(lambda part: part.__setitem__(index, value), index)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a tensor without dimensions")
        return self.shape[0]

    def __repr__(self) -> str:
        state = "" if self.data_ptr() else ", freed"
        return f"SymmetricTensor({self.shape}, {self.element_type}{state})"


# ---- allocation and its end
#
# Freeing is collective, but ranks drop tensors when their garbage collectors
# please. So a dropped tensor is only noted; at the next allocation the ranks
# compare their notes and free what all of them have dropped.

_dropped: set[int] = set()
_notes: int | None = None  # address of this rank's notes, symmetric
_NOTES_ENTRIES = 1023


def _drop(address: int, process: int) -> None:
    # A forked child has copies of its parent's tensors, but not its job.
    if process == os.getpid():
        _dropped.add(address)


def _forget_after_fork() -> None:
    global _notes
    _dropped.clear()
    _notes = None


os.register_at_fork(after_in_child=_forget_after_fork)


def _free_dropped() -> None:
    """Frees what every rank has dropped. Collective."""
    global _notes
    info = _runtime.job_info()
    base = info["heap_base"] + info["rank"] * info["heap_bytes"]
    if info["world_size"] == 1:
        for address in sorted(_dropped):
            _runtime.symm_free(address)
        _dropped.clear()
        return
    if _notes is None:
        _notes = _runtime.symm_allocate(8 * (_NOTES_ENTRIES + 1), "list of dropped tensors", "uint64", "")
    offsets = sorted(address - base for address in _dropped)[:_NOTES_ENTRIES]
    mine = np.array([len(offsets), *offsets], np.uint64)
    _runtime.peer_put(_notes, mine.ctypes.data, mine.nbytes, info["rank"])
    _runtime.barrier("nereid.symm allocation: collect what is dropped")
    common = set(offsets)
    for rank in range(info["world_size"]):
        theirs = np.empty(_NOTES_ENTRIES + 1, np.uint64)
        _runtime.peer_get(theirs.ctypes.data, _notes, theirs.nbytes, rank)
        common &= set(theirs[1 : 1 + int(theirs[0])].tolist())
    _runtime.barrier("nereid.symm allocation: free what is dropped")  # all have read before the notes change again
    for offset in sorted(common):
        _runtime.symm_free(base + offset)
        _dropped.discard(base + offset)


def _allocate(shape: Any, dtype: Any, label: str) -> SymmetricTensor:
    sizes = _shape_tuple(shape)
    element = _element_type(dtype)
    count = 1
    for size in sizes:
        count *= size
    _free_dropped()
    address = _runtime.symm_allocate(
        max(1, count * element.itemsize), label, str(element.numpy_name), str(sizes), _stream.caller()
    )
    return SymmetricTensor(address, sizes, element)


def empty(shape: int | Sequence[int], dtype: Any = np.float32, *, name: str = "") -> SymmetricTensor:
    """A symmetric tensor whose contents are undefined. Collective, a barrier.

    `name` stands in reports of the runtime ("'a_buf' + 16 bytes on rank 2").
    """
    return _allocate(shape, dtype, name)


def full(shape: int | Sequence[int], value: Any, dtype: Any = np.float32, *, name: str = "") -> SymmetricTensor:
    """A symmetric tensor filled with `value` on every rank before it returns on
    any. Collective, a barrier."""
    tensor = _allocate(shape, dtype, name)
    tensor._write(lambda part: part.__setitem__(..., value))
    _runtime.barrier("nereid.symm allocation: filled")
    return tensor


def zeros(shape: int | Sequence[int], dtype: Any = np.float32, *, name: str = "") -> SymmetricTensor:
    """A symmetric tensor of zeros; no rank sees it before all have zeroed theirs.
    Collective, a barrier."""
    return full(shape, 0, dtype, name=name)


def ones(shape: int | Sequence[int], dtype: Any = np.float32, *, name: str = "") -> SymmetricTensor:
    """A symmetric tensor of ones. Collective, a barrier."""
    return full(shape, 1, dtype, name=name)


def _like(other: Any, dtype: Any) -> tuple[tuple[int, ...], Any]:
    if isinstance(other, SymmetricTensor):
        return other.shape, other.element_type if dtype is None else dtype
    array = other if hasattr(other, "dtype") and hasattr(other, "shape") else np.asarray(other)
    return tuple(array.shape), array.dtype if dtype is None else dtype


def empty_like(other: Any, dtype: Any = None, *, name: str = "") -> SymmetricTensor:
    """``empty`` with the shape and, unless given, the dtype of `other`."""
    return empty(*_like(other, dtype), name=name)


def zeros_like(other: Any, dtype: Any = None, *, name: str = "") -> SymmetricTensor:
    """``zeros`` with the shape and, unless given, the dtype of `other`."""
    return zeros(*_like(other, dtype), name=name)


def ones_like(other: Any, dtype: Any = None, *, name: str = "") -> SymmetricTensor:
    """``ones`` with the shape and, unless given, the dtype of `other`."""
    return ones(*_like(other, dtype), name=name)


def full_like(other: Any, value: Any, dtype: Any = None, *, name: str = "") -> SymmetricTensor:
    """``full`` with the shape and, unless given, the dtype of `other`."""
    shape, element = _like(other, dtype)
    return full(shape, value, element, name=name)


def from_array(array: Any, *, name: str = "") -> SymmetricTensor:
    """A symmetric tensor with a copy of this rank's `array`; all ranks pass arrays
    of one shape and dtype. Collective, a barrier."""
    if hasattr(array, "detach"):  # torch
        array = array.detach().cpu() if _on_host() or str(array.dtype) != "torch.bfloat16" else array.detach()
        if str(array.dtype) == "torch.bfloat16":
            tensor = _allocate(tuple(array.shape), "bfloat16", name)
            tensor.torch().copy_(array)
            _runtime.barrier("nereid.symm allocation: filled")
            return tensor
    source = np.asarray(array)
    tensor = _allocate(source.shape, source.dtype, name)
    tensor._write(lambda part: part.__setitem__(..., source))
    _runtime.barrier("nereid.symm allocation: filled")
    return tensor


def free(tensor: SymmetricTensor) -> None:
    """Gives the memory back at once. Collective, a barrier. Views of the tensor
    must not be used any more."""
    if not isinstance(tensor, SymmetricTensor):
        raise TypeError(f"nereid.symm.free takes a symmetric tensor, not {_runtime.describe(tensor)}")
    address = tensor._address()
    _runtime.symm_free(address)
    tensor._finalizer.detach()
    tensor._forget()


def allocations() -> list[dict[str, Any]]:
    """The live allocations of this rank's heap: offset, bytes, label, dtype, shape,
    and where (the line of the program that allocated it)."""
    return _runtime.symm_allocations()
