# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``iris``, symmetric memory of AMD's GPUs, on a job of Nereid: the host's class, whose
tensors are torch tensors in one piece of the symmetric heap, and the functions of kernels, which
find another rank's copy of a pointer by the addresses of that piece on all ranks."""

from __future__ import annotations

import math
import pickle
import time
import weakref
from typing import Any, Callable, Sequence

import numpy as np

import nereid
import nereid.language as tl
from nereid.compat import _join, _memory

# ---- in kernels


@nereid.jit
def translate(src_ptr, cur_rank, target_rank, heap_bases, debug=False):
    here = tl.load(heap_bases + cur_rank).to(tl.uint64)
    there = tl.load(heap_bases + target_rank).to(tl.uint64)
    return (src_ptr.to(tl.uint64) - here + there).to(src_ptr.dtype)


@nereid.jit
def load(src_ptr, cur_rank, target_rank, heap_bases, mask=None):
    return tl.load(translate(src_ptr, cur_rank, target_rank, heap_bases), mask=mask)


@nereid.jit
def store(src_ptr, data, cur_rank, target_rank, heap_bases, mask=None):
    tl.store(translate(src_ptr, cur_rank, target_rank, heap_bases), data, mask=mask)


@nereid.jit
def get(src_ptr, dst_ptr, cur_rank, target_rank, heap_bases, mask=None):
    tl.store(dst_ptr, tl.load(translate(src_ptr, cur_rank, target_rank, heap_bases), mask=mask), mask=mask)


@nereid.jit
def put(src_ptr, dst_ptr, cur_rank, target_rank, heap_bases, mask=None):
    tl.store(translate(dst_ptr, cur_rank, target_rank, heap_bases), tl.load(src_ptr, mask=mask), mask=mask)


@nereid.jit
def atomic_add(src_ptr, data, cur_rank, target_rank, heap_bases, mask=None, sem=None, scope=None):
    return tl.atomic_add(translate(src_ptr, cur_rank, target_rank, heap_bases), data, mask=mask, sem=sem, scope=scope)


@nereid.jit
def atomic_sub(src_ptr, data, cur_rank, target_rank, heap_bases, mask=None, sem=None, scope=None):
    return tl.atomic_add(translate(src_ptr, cur_rank, target_rank, heap_bases), -data, mask=mask, sem=sem, scope=scope)


@nereid.jit
def atomic_xchg(src_ptr, value, cur_rank, target_rank, heap_bases, mask=None, sem=None, scope=None):
    return tl.atomic_xchg(translate(src_ptr, cur_rank, target_rank, heap_bases), value, mask=mask, sem=sem, scope=scope)


@nereid.jit
def atomic_cas(src_ptr, compare, value, cur_rank, target_rank, heap_bases, sem=None, scope=None):
    return tl.atomic_cas(translate(src_ptr, cur_rank, target_rank, heap_bases), compare, value, sem=sem, scope=scope)


# ---- on the host

#: Tensors begin at multiples of so many bytes.
_ALIGNMENT = 1024


def _sizes(shape: Sequence[Any]) -> tuple[int, ...]:
    """A shape from f(2, 3), f((2, 3)) or f(6)."""
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = shape[0]
    return tuple(int(size) for size in shape)


class Iris:
    """A piece of symmetric memory, of which tensors are given out one after the other. Ranks that ask
    for the same sizes in the same order get the same places."""

    def __init__(self, heap_size: int = 1 << 30) -> None:
        """Joins the job and takes up to `heap_size` bytes of its symmetric heap: half of what is free where
        that is less. Collective."""
        import torch

        heap_size = int(heap_size)
        _join.join("iris.iris", heap_bytes=heap_size + (64 << 20))
        info = nereid.job_info()
        free = info["heap_bytes"] - info["heap_bytes_used"]
        self.asked, self.heap_size = heap_size, heap_size if heap_size <= free // 4 * 3 else free // 2
        self.cur_rank, self.num_ranks, self.gpu_id = nereid.rank(), nereid.world_size(), nereid.rank()
        self.device, self.alignment, self.heap_offset = f"cuda:{self.gpu_id}", _ALIGNMENT, 0
        heap = nereid.symm.empty(self.heap_size, np.uint8, name="iris")
        _memory.remember(heap)
        self._forget = weakref.finalize(self, _memory.forget_one, heap.data_ptr())
        self._forget.atexit = False
        self.memory_pool = heap.torch().view(torch.int8)
        addresses = np.array([heap.peer(rank).ctypes.data for rank in range(self.num_ranks)], np.int64)
        self.heap_bases = torch.from_numpy(addresses)
        if hasattr(torch, "uint64"):
            self.heap_bases = self.heap_bases.view(torch.uint64)

    # -- who

    def get_rank(self) -> int:
        """This rank's number."""
        return self.cur_rank

    def get_num_ranks(self) -> int:
        """Number of ranks."""
        return self.num_ranks

    def get_heap_bases(self) -> Any:
        """The address of the piece on each rank, for kernels."""
        return self.heap_bases

    def get_device(self) -> Any:
        """The device of its tensors."""
        return self.memory_pool.device

    def get_cu_count(self) -> int:
        """Processors of a device, as torch.cuda says."""
        import torch

        return torch.cuda.get_device_properties(self.gpu_id).multi_processor_count

    def wall_clock_rate(self, rank: int) -> int:
        """kHz of the clock that kernels read: it counts nanoseconds."""
        return 1_000_000

    # -- together

    def barrier(self) -> None:
        """Waits for all that this rank has launched, then for all ranks."""
        nereid.synchronize()
        nereid.barrier()

    def broadcast(self, value: Any, source_rank: int) -> Any:
        """What `source_rank` has given for `value`. Collective."""
        text = np.frombuffer(pickle.dumps(value), np.uint8)
        length = int(nereid.symm.broadcast(np.array([text.size]), int(source_rank))[0])
        mine = text if self.cur_rank == source_rank else np.zeros(length, np.uint8)
        return pickle.loads(np.asarray(nereid.symm.broadcast(mine, int(source_rank))).tobytes())

    # -- output

    def log(self, message: Any) -> None:
        """print, with the rank in front."""
        print(f"[Iris] [{self.cur_rank}/{self.num_ranks}] {message}", flush=True)

    log_stats = info = log

    def log_debug(self, message: Any) -> None:
        """What the library says about itself: nothing."""

    debug = log_debug

    # -- tensors

    def allocate(self, num_elements: int, dtype: Any) -> Any:
        """`num_elements` elements of undefined contents."""
        import torch

        nbytes = int(num_elements) * torch.empty(0, dtype=dtype).element_size()
        start, end = self.heap_offset, self.heap_offset + nbytes
        if end > self.heap_size:
            told = "" if self.heap_size == self.asked else f" of the {self.asked} that the script asks for (set NEREID_HEAP_SIZE)"
            raise MemoryError(f"iris: no {nbytes} bytes are left: the heap has {self.heap_size} bytes{told}, {start} are used")
        self.heap_offset = end + -end % _ALIGNMENT
        return self.memory_pool[start:end].view(dtype)

    def deallocate(self, pointer: Any) -> None:
        """Memory comes back with the whole piece."""

    def _made(self, shape: Sequence[Any], dtype: Any, requires_grad: bool, fill: Callable[[Any], Any], out: Any = None) -> Any:
        sizes = _sizes(shape)
        count = math.prod(sizes)
        if out is None:
            tensor = self.allocate(count, dtype)
        elif out.numel() != count or out.dtype != dtype or not self._is_inside(out):
            raise RuntimeError(f"iris: out has to be a tensor of this heap with {count} elements of {dtype}")
        else:
            tensor = out
        tensor = tensor.reshape(sizes)
        fill(tensor)
        return tensor.requires_grad_() if requires_grad else tensor

    def _is_inside(self, tensor: Any) -> bool:
        return 0 <= tensor.data_ptr() - self.memory_pool.data_ptr() < self.heap_size

    def zeros_like(self, tensor: Any, **_options: Any) -> Any:
        """Zeros of the shape and dtype of `tensor`."""
        return self._made(tuple(tensor.shape), tensor.dtype, False, lambda made: made.zero_())

    def zeros(self, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, out: Any = None,
              **_options: Any) -> Any:
        """Zeros, of int32 unless `dtype` says otherwise."""
        import torch

        return self._made(size, dtype or torch.int, requires_grad, lambda made: made.zero_(), out)

    def ones(self, *size: Any, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
             requires_grad: bool = False) -> Any:
        """Ones, of torch's default type unless `dtype` says otherwise."""
        import torch

        return self._made(size, dtype or torch.get_default_dtype(), requires_grad, lambda made: made.fill_(1), out)

    def full(self, size: Any, fill_value: Any, dtype: Any = None, **_options: Any) -> Any:
        """`fill_value` everywhere."""
        import torch

        return self._made((size,), dtype or torch.int, False, lambda made: made.fill_(fill_value))

    def empty(self, *size: Any, dtype: Any = None, **_options: Any) -> Any:
        """Undefined contents."""
        import torch

        return self._made(size, dtype or torch.float, False, lambda made: None)

    def uniform(self, size: Any, low: float = 0.0, high: float = 1.0, dtype: Any = None) -> Any:
        """Uniform in [low, high)."""
        import torch

        return self._made((size,), dtype or torch.float, False, lambda made: made.uniform_(low, high))

    def randn(self, *size: Any, generator: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
              requires_grad: bool = False, pin_memory: bool = False) -> Any:
        """Normal, mean 0, variance 1."""
        import torch

        return self._made(size, dtype or torch.float, requires_grad, lambda made: made.normal_(generator=generator))

    def randint(self, size: Any, low: int, high: int, dtype: Any = None) -> Any:
        """Whole numbers in [low, high)."""
        import torch

        return self._made((size,), dtype or torch.int, False, lambda made: made.random_(low, high))

    def linspace(self, start: float, end: float, steps: Any, dtype: Any = None) -> Any:
        """`steps` numbers from `start` to `end`, both included."""
        import torch

        sizes = _sizes((steps,))
        wanted = dtype or torch.float
        return self._made(sizes, wanted, False,
                          lambda made: made.copy_(torch.linspace(start, end, math.prod(sizes), dtype=wanted).reshape(sizes)))

    def arange(self, start: Any = 0, end: Any = None, step: Any = 1, out: Any = None, dtype: Any = None, layout: Any = None,
               device: Any = None, requires_grad: bool = False) -> Any:
        """start, start + step, ... below `end`."""
        import torch

        if end is None:
            start, end = 0, start
        values = torch.arange(start, end, step, dtype=dtype)
        return self._made(tuple(values.shape), values.dtype, requires_grad, lambda made: made.copy_(values), out)


def iris(heap_size: int = 1 << 30) -> Iris:
    """Iris(heap_size)."""
    return Iris(heap_size)


# ---- helpers


def do_bench(fn: Callable[[], Any], barrier_fn: Callable[[], Any] = lambda: None, preamble_fn: Callable[[], Any] = lambda: None,
             n_warmup: int = 25, n_repeat: int = 100, quantiles: Sequence[float] | None = None,
             return_mode: str = "mean") -> Any:
    """Milliseconds of `fn`, between barriers: the mean, the median, min or max, all times, or quantiles of them."""
    if return_mode not in ("mean", "median", "min", "max", "all"):
        raise ValueError(f"iris.do_bench: return_mode is mean, median, min, max or all, not {return_mode!r}")
    times = []
    for turn in range(n_warmup + n_repeat):
        barrier_fn()
        preamble_fn()
        barrier_fn()
        begin = time.perf_counter()
        fn()
        nereid.synchronize()
        if turn >= n_warmup:
            times.append(1000 * (time.perf_counter() - begin))
    barrier_fn()
    if quantiles is not None:
        found = np.quantile(times, quantiles).tolist()
        return found[0] if len(found) == 1 else found
    return times if return_mode == "all" else float(getattr(np, return_mode)(times))


def memset_tensor(tensor: Any, value: int) -> None:
    """Sets all elements of an int32 tensor."""
    tensor.fill_(value)


def modules() -> dict[str, dict[str, Any]]:
    """Contents by module name."""
    device = ("translate", "load", "store", "get", "put", "atomic_add", "atomic_sub", "atomic_cas", "atomic_xchg")
    names = {name: globals()[name] for name in (*device, "Iris", "iris", "do_bench", "memset_tensor")}
    return {"iris": {"__version__": nereid.__version__, **names}}
