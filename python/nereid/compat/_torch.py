# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch for files that were written for a device: "cuda" and "npu" are CPU memory.

Kernels of this target run on the processor, so a tensor of the device is a tensor of the
CPU. What a script can tell apart on a device stays apart:

* moving a tensor (``.cuda()``, ``.npu()``, ``.to("cuda")``, ``.cpu()``) gives a copy, as
  it does there; a tensor that was made on the device, or moved there, stays itself when it
  is moved there again. Such tensors carry a mark;
* ``torch.cuda`` and ``torch.npu`` answer for a device whose streams are those of _streams.py;
  torch's own operations are done in their order (_torch_order.py).

What has no counterpart here (graphs, sharing of memory between processes) raises an error that
names it. ``tensor.device`` is torch's own, the CPU.
"""

from __future__ import annotations

import functools
import inspect
import os
import time
import types
from typing import Any, Callable

import nereid
from nereid import runtime
from nereid._base import targets
from nereid.compat import _streams, _torch_streams

#: Types of devices that stand for CPU memory.
DEVICES = ("cuda", "npu")

#: Functions of torch that make a tensor on the device that they are told.
FACTORIES = (
    "arange as_tensor asarray bartlett_window blackman_window empty empty_like empty_strided eye from_file full full_like "
    "hamming_window hann_window kaiser_window linspace logspace normal ones ones_like rand rand_like randint randint_like "
    "randn randn_like randperm range scalar_tensor sparse_coo_tensor tensor tril_indices triu_indices zeros zeros_like"
).split()

#: The same, of tensors.
METHODS = "new_empty new_empty_strided new_full new_ones new_tensor new_zeros".split()

_MARK = "_nereid_on_device"


def is_device(device: Any) -> bool:
    """Whether a device, by name, number or torch.device, is one that CPU memory stands for."""
    if isinstance(device, str):
        return device.partition(":")[0] in DEVICES
    if isinstance(device, int) and not isinstance(device, bool):
        return True
    return getattr(device, "type", None) in DEVICES


def _mark(tensor: Any) -> Any:
    setattr(tensor, _MARK, True)
    return tensor


def _on_device(tensor: Any) -> bool:
    from nereid.compat import _memory

    return hasattr(tensor, _MARK) or _memory.find(tensor.data_ptr()) is not None


def _to_device(tensor: Any) -> Any:
    return tensor if _on_device(tensor) else _mark(tensor.clone())


def _makes_tensors(function: Callable, copies: bool = False) -> Callable:
    """`function`, which takes ``device=``, with CPU memory for devices."""

    @functools.wraps(function)
    def make(*args: Any, **kwargs: Any) -> Any:
        if not is_device(kwargs.get("device")):
            return function(*args, **kwargs)
        made = function(*args, **{**kwargs, "device": "cpu"})
        return _mark(made.clone() if copies else made)

    return make


def _moves(to: Callable) -> Callable:
    """Tensor.to."""

    @functools.wraps(to)
    def move(self: Any, *args: Any, **kwargs: Any) -> Any:
        named = kwargs.get("device", args[0] if args else None)
        if named is None or not (isinstance(named, str) or hasattr(named, "type") and hasattr(named, "index")
                                 or isinstance(named, int) and not isinstance(named, bool)):
            return to(self, *args, **kwargs)
        rest = (args[1:] if args else (), {name: value for name, value in kwargs.items() if name != "device"})
        moved = to(self, "cpu", *rest[0], **rest[1])
        if is_device(named):
            return _to_device(moved)
        return moved.clone() if moved is self else moved

    return move


# ---- the device


def _refuse(name: str, why: str) -> Callable:
    def refuse(*_args: Any, **_kwargs: Any) -> Any:
        raise NotImplementedError(f"{name}: {why}")

    return refuse


def _local_rank() -> int:
    return int(os.environ.get("LOCAL_RANK", os.environ.get("NEREID_LOCAL_RANK", "0")) or 0)


_current: int | None = None


def _current_device() -> int:
    return _local_rank() if _current is None else _current


def _set_device(device: Any) -> None:
    global _current
    index = device if isinstance(device, int) else getattr(device, "index", None)
    if isinstance(device, str):
        index = int(device.partition(":")[2] or 0)
    if index is not None and index >= 0:
        _current = int(index)


def _device_count() -> int:
    """Devices of this machine: one for each rank, and as many as a script may spawn ranks for
    where it is alone."""
    ranks = int(os.environ.get("WORLD_SIZE", "1") or 1)
    return ranks if ranks > 1 else max(os.cpu_count() or 1, 8)


#: What a device of the profile calls itself: name, and major and minor of its capability.
_MODELS = {"ascend910b": ("Ascend910B", 0, 0)}
_OTHER = ("NVIDIA (Nereid on the CPU)", 9, 0)


def _properties(device: Any = None) -> Any:
    name, major, minor = _MODELS.get(runtime.current_profile(), _OTHER)
    sizes = runtime.driver.active.utils.get_device_properties(0)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    shared = sizes["max_shared_mem"]
    return types.SimpleNamespace(
        name=name, major=major, minor=minor, total_memory=memory, warp_size=32,
        multi_processor_count=sizes["multiprocessor_count"], max_threads_per_multi_processor=2048,
        regs_per_multiprocessor=sizes["max_num_regs"], shared_memory_per_block=shared,
        shared_memory_per_block_optin=shared, shared_memory_per_multiprocessor=shared, L2_cache_size=1 << 20,
        is_integrated=0, is_multi_gpu_board=0, gcnArchName=name, clock_rate=0,
        cube_core_num=sizes["num_aicore"], vector_core_num=sizes["num_vectorcore"],
    )


#: Cycles of _sleep in a second.
_CLOCK = 1.5e9


def _seed(torch: Any, seed: int) -> None:
    torch.default_generator.manual_seed(int(seed))


def _device_functions(torch: Any, module: str) -> dict[str, Any]:
    """The functions of torch.cuda, or of torch.npu."""
    no_graphs = "graphs record launches to repeat them, which Nereid does not do: call the function again instead"
    nothing = lambda *_args, **_kwargs: None  # noqa: E731
    return {
        **_torch_streams.functions(),
        "device": _torch_streams.Within, "device_of": _torch_streams.Within,
        "is_available": lambda: True, "is_initialized": lambda: True, "init": nothing, "_lazy_init": nothing,
        "device_count": _device_count, "current_device": _current_device, "set_device": _set_device,
        "get_device_properties": _properties, "get_device_name": lambda device=None: _properties().name,
        "get_device_capability": lambda device=None: (_properties().major, _properties().minor),
        "get_arch_list": lambda: [], "can_device_access_peer": lambda device, peer: True,
        "is_bf16_supported": lambda *_args, **_kwargs: True,
        "empty_cache": nothing, "ipc_collect": nothing, "reset_peak_memory_stats": nothing,
        "reset_max_memory_allocated": nothing,
        **{f"{kind}memory_{what}": lambda device=None: 0
           for kind in ("", "max_") for what in ("allocated", "reserved")},
        "mem_get_info": lambda device=None: (
            os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES"), _properties().total_memory),
        "manual_seed": functools.partial(_seed, torch), "manual_seed_all": functools.partial(_seed, torch),
        "seed": torch.default_generator.seed, "seed_all": torch.default_generator.seed,
        "initial_seed": torch.default_generator.initial_seed,
        "get_rng_state": lambda device=None: torch.get_rng_state(),
        "set_rng_state": lambda state, device=None: torch.set_rng_state(state),
        "clock_rate": lambda device=None: int(_CLOCK / 1e6), "_sleep": lambda cycles: time.sleep(cycles / _CLOCK),
        "_is_in_bad_fork": lambda: False, "is_current_stream_capturing": lambda: False,
        **{name: _refuse(f"torch.{module}.{name}", no_graphs)
           for name in ("CUDAGraph", "NPUGraph", "graph", "graph_pool_handle", "make_graphed_callables")},
        "cudart": _refuse(f"torch.{module}.cudart", "the functions of CUDA's runtime need a GPU"),
    }


def _reads(function: Callable) -> Callable:
    """`function`, after all that the current stream holds."""

    @functools.wraps(function)
    def read(*args: Any, **kwargs: Any) -> Any:
        _streams.current().finish()
        return function(*args, **kwargs)

    return read


# ---- torch.distributed


def _backend(backend: Any) -> Any:
    """gloo, for the backends of devices."""
    if not isinstance(backend, str):
        return backend
    names = {part.rpartition(":")[2] for part in backend.split(",")}
    return "gloo" if names & {"nccl", "hccl", "gloo", "rccl"} else backend


def _change_distributed(torch: Any) -> None:
    import torch.distributed as distributed

    if not distributed.is_available():
        return
    core = distributed.distributed_c10d

    def changed(function: Callable, default: str | None = None) -> Callable:
        parameters = inspect.signature(function).parameters

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            position = list(parameters).index("backend")
            if len(args) > position:
                args = (*args[:position], _backend(args[position]), *args[position + 1:])
            elif kwargs.get("backend", default) is not None:
                kwargs["backend"] = _backend(kwargs.get("backend", default))
            kwargs.pop("device_id", None)
            kwargs.pop("pg_options", None)
            return function(*args, **kwargs)

        return call

    def put(name: str, function: Callable) -> None:
        for module in (core, distributed):
            if hasattr(module, name):
                setattr(module, name, function)

    put("init_process_group", changed(core.init_process_group, "gloo"))
    put("new_group", changed(core.new_group))
    distributed.is_nccl_available = lambda: True  # what scripts ask; torch asks itself elsewhere
    barrier = core.barrier

    @functools.wraps(barrier)
    def host_barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Any:
        return barrier(group=group, async_op=async_op)

    put("barrier", host_barrier)

    def reduce_scatter_tensor(output: Any, input: Any, op: Any = None, group: Any = None, async_op: bool = False) -> Any:
        """gloo has none: each rank takes its part of the reduction of all."""
        if async_op:
            raise NotImplementedError("torch.distributed.reduce_scatter_tensor: async_op=True is not supported on gloo")
        whole = input.clone()
        core.all_reduce(whole, core.ReduceOp.SUM if op is None else op, group=group)
        output.copy_(whole.reshape(core.get_world_size(group), -1)[core.get_rank(group)].reshape(output.shape))

    if hasattr(core, "reduce_scatter_tensor"):
        put("reduce_scatter_tensor", reduce_scatter_tensor)
    put("_reduce_scatter_base", reduce_scatter_tensor)
    if hasattr(distributed, "init_device_mesh"):
        init_device_mesh = distributed.init_device_mesh

        @functools.wraps(init_device_mesh)
        def mesh(device_type: str, *args: Any, **kwargs: Any) -> Any:
            return init_device_mesh("cpu" if is_device(device_type) else device_type, *args, **kwargs)

        distributed.init_device_mesh = mesh
        import torch.distributed.device_mesh as module

        module.init_device_mesh = mesh


# ---- the change


def _change_tensors(torch: Any) -> None:
    Tensor = torch.Tensor
    for name in FACTORIES:
        if hasattr(torch, name):
            setattr(torch, name, _makes_tensors(getattr(torch, name), copies=name in ("as_tensor", "asarray")))
    for name in METHODS:
        if hasattr(Tensor, name):
            setattr(Tensor, name, _makes_tensors(getattr(Tensor, name)))
    cpu = Tensor.cpu

    def to_host(self: Any, *args: Any, **kwargs: Any) -> Any:
        moved = cpu(self, *args, **kwargs)
        return moved.clone() if moved is self else moved

    Tensor.to = _moves(Tensor.to)
    Tensor.cpu = functools.wraps(cpu)(to_host)
    Tensor.pin_memory = lambda self, device=None: self
    for name in DEVICES:
        setattr(Tensor, name, lambda self, *_args, **_kwargs: _to_device(self))
        setattr(Tensor, f"is_{name}", property(lambda self: True))
    Tensor.record_stream = lambda self, stream: None
    for name in ("numpy", "tolist", "__array__"):  # read the memory without an operation
        setattr(Tensor, name, _reads(getattr(Tensor, name)))
    torch.save = _reads(torch.save)

    Module = torch.nn.Module
    to = Module.to

    @functools.wraps(to)
    def move(self: Any, *args: Any, **kwargs: Any) -> Any:
        if args and is_device(args[0]):
            args = ("cpu", *args[1:])
        if is_device(kwargs.get("device")):
            kwargs["device"] = "cpu"
        return to(self, *args, **kwargs)

    Module.to = move
    for name in DEVICES:
        setattr(Module, name, lambda self, device=None: self)

    load = torch.load

    @functools.wraps(load)
    def load_here(*args: Any, **kwargs: Any) -> Any:
        if is_device(kwargs.get("map_location")):
            kwargs["map_location"] = "cpu"
        return load(*args, **kwargs)

    torch.load = load_here

    class Generator(torch._C.Generator):
        """torch.Generator, with the CPU's for devices."""

        def __new__(cls, device: Any = "cpu") -> Any:
            return super().__new__(cls, device="cpu" if is_device(device) else device)

    torch.Generator = Generator
    default_device = getattr(torch, "set_default_device", None)
    if default_device is not None:
        torch.set_default_device = lambda device: default_device("cpu" if is_device(device) else device)
        from torch.utils import _device

        enter = _device.DeviceContext.__init__

        def here(self: Any, device: Any) -> None:
            enter(self, torch.device("cpu") if is_device(device) else device)

        _device.DeviceContext.__init__ = here


def _knows_npu(torch: Any) -> bool:
    """Makes torch.device("npu") a device that can be named; whether it is. Before torch 2.0
    only text can name it."""
    try:
        torch.device("npu")
    except RuntimeError:
        rename = getattr(torch.utils, "rename_privateuse1_backend", None)
        if rename is None:
            return False
        rename("npu")
    # torch asks for the one device of the machine, and would look for a driver of the new name.
    if hasattr(torch._C, "_get_accelerator"):
        torch._C._get_accelerator = lambda *_check: torch.device("cpu")
    return True


_applied = False


def apply(torch: Any) -> None:
    """Changes torch, once, where kernels work on CPU memory."""
    global _applied
    if _applied or targets.find(targets.active())["device"] != "cpu":
        return
    _applied = True
    named = _knows_npu(torch)
    _change_tensors(torch)
    torch.cuda.__dict__.update(_device_functions(torch, "cuda"))
    npu = types.ModuleType("torch.npu", "The NPU's functions of torch, as Nereid has them.")
    npu.__dict__.update(_device_functions(torch, "npu"))
    register = getattr(torch, "_register_device_module", None)
    if named and register is not None and not hasattr(torch, "npu"):
        register("npu", npu)
    torch.npu = npu
    streams = types.ModuleType("torch.npu.streams")
    streams.__dict__.update(Stream=_torch_streams.Stream, Event=_torch_streams.Event)
    npu.streams = streams
    nvtx = types.SimpleNamespace(**{name: lambda *_args, **_kwargs: 0 for name in ("mark", "range_push", "range_pop")},
                                 range=_torch_streams.Within)
    torch.cuda.nvtx = nvtx
    if hasattr(torch.cuda, "streams"):
        torch.cuda.streams.Stream, torch.cuda.streams.Event = _torch_streams.Stream, _torch_streams.Event
    if hasattr(torch, "Stream"):
        torch.Event = _torch_streams.Event
    from nereid.compat import _torch_order  # noqa: F401: it looks at operations from now on

    _streams.begin()
    if "WORLD_SIZE" in os.environ:  # scripts name files by what torchrun sets beside it
        os.environ.setdefault("TORCHELASTIC_RUN_ID", "nereid")
    _change_distributed(torch)
