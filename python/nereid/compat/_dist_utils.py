# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``triton_dist.utils``: what scripts need of the host around their kernels, on a job of
Nereid and torch.distributed over gloo. What asks for a property of a GPU is answered for
the processor."""

from __future__ import annotations

import contextlib
import datetime
import functools
import os
import random
import sys
import time
from typing import Any, Callable, Iterator, Sequence

import numpy as np

import nereid
from nereid import runtime
from nereid.compat import _cuda_driver, _join, _nvshmem, _profile

_world: Any = None

cuda, cudart, CUDA_CHECK = _cuda_driver.driver, _cuda_driver.runtime, _cuda_driver.check


def _torch() -> Any:
    import torch

    return torch


def _variable(name: str, default: int) -> int:
    return int(os.environ.get(name) or default)


# ---- which machine


def _is(*profiles: str) -> Callable[[], bool]:
    return lambda: runtime.current_profile() in profiles


is_cuda, is_ascend, is_hip, is_maca = _is("cuda", "host"), _is("ascend910b"), _is(), _is()
is_rocshmem, is_mori_shmem = _is(), _is()


def get_shmem_backend() -> str:
    """"nvshmem"."""
    return "nvshmem"


def has_tma() -> bool:
    """Instructions of one GPU: there are none."""
    return False


def supports_p2p_native_atomic() -> bool:
    """Ranks of one node do atomics in each other's memory."""
    return True


def is_nvshmem_multimem_supported() -> bool:
    """Addresses that stand for all ranks at once are a switch's: there is none."""
    return False


def _refuse_home(name: str, library: str) -> Callable[[], Any]:
    def refuse() -> Any:
        raise FileNotFoundError(f"{name}: there is no {library} here; Nereid does its work, and needs none")

    return refuse


get_nvshmem_home = _refuse_home("get_nvshmem_home", "NVSHMEM")
get_rocshmem_home = _refuse_home("get_rocshmem_home", "ROCSHMEM")


def has_nvshmemi_bc_built() -> bool:
    """Whether another library's internals can be linked into kernels: they cannot."""
    return False


def cuda_occupancy_max_activate_blocks_per_multiprocessor(
        triton_func: Any, num_warps: int, *func_args: Any, **func_kwargs: Any) -> int:
    """Programs of a launch that waits are all alive at once, on one processor as well as on many: 1."""
    return 1


def get_numa_node_count_in_group(group: Any = None) -> int:
    """The ranks of a machine count as one node of memory."""
    return 1


def get_group_numa_world_size(group: Any = None) -> int:
    """Ranks of a node of memory."""
    return get_triton_dist_local_world_size() if group is None else group.size()


def has_fullmesh_nvlink() -> bool:
    """Every rank reaches every other one directly."""
    return True


def support_launch_cooperative_grid() -> bool:
    """Programs of a launch that waits are all alive at once."""
    return True


def launch_cooperative_grid_options() -> dict[str, Any]:
    """Options of such a launch: none are needed."""
    return {}


def get_device_property(device_id: int = 0) -> Any:
    """torch.cuda.get_device_properties."""
    return _torch().cuda.get_device_properties(device_id)


def get_device_max_shared_memory_size(device_id: int = 0) -> int:
    """Bytes of a program's fast memory: no limit worth the name."""
    return runtime.driver.active.utils.get_device_properties(0)["max_shared_mem"]


def requires(condition: Callable[[], bool]) -> Callable:
    """Decorator: the function is for machines where `condition()` holds."""

    def decorate(function: Callable) -> Callable:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not condition():
                raise AssertionError(f"{function.__name__} needs {condition.__name__}(), which does not hold here")
            return function(*args, **kwargs)

        return call

    return decorate


def requires_p2p_native_atomic(function: Callable) -> Callable:
    """Decorator: of no effect, since ranks have atomics in each other's memory."""
    return function


# ---- the job


def init_seed(seed: int = 0) -> None:
    """Seeds torch, numpy and random."""
    torch = _torch()
    torch.manual_seed(3 + seed)
    np.random.seed(3 + seed)
    random.seed(3 + seed)


def initialize_distributed(seed: int | None = None, initialize_shmem: bool = True) -> Any:
    """torch.distributed over all ranks of the environment, and the job of Nereid unless
    `initialize_shmem` is false. Returns the group."""
    torch = _torch()
    _profile.choose("nvshmem")
    rank, world_size = _variable("RANK", 0), _variable("WORLD_SIZE", 1)
    torch.cuda.set_device(_variable("LOCAL_RANK", 0))
    if world_size == 1:
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "0")
    torch.distributed.init_process_group(
        backend="gloo", world_size=world_size, rank=rank, timeout=datetime.timedelta(seconds=1800))
    group = torch.distributed.new_group(ranks=list(range(world_size)), backend="gloo")
    torch.distributed.barrier(group)
    init_seed(rank if seed is None else seed)
    if initialize_shmem:
        init_nvshmem_by_torch_process_group(group)
    return group


def init_nvshmem_by_torch_process_group(pg: Any) -> None:
    """Joins the job of Nereid as the rank that this process has in `pg`."""
    global _world
    if _world is not None:
        raise AssertionError("triton_dist has been initialized already")
    _profile.choose("nvshmem")
    torch = _torch()
    shared = [_nvshmem.get_unique_id(empty=pg.rank() != 0)]
    torch.distributed.broadcast_object_list(shared, src=torch.distributed.get_global_rank(pg, 0), group=pg)
    _join.join("init_nvshmem_by_torch_process_group", pg.rank(), pg.size(), bytes(shared[0]).hex())
    _world = pg


def finalize_distributed() -> None:
    """Leaves the job and torch.distributed."""
    global _world
    _world = None
    _nvshmem.finalize()
    _torch().distributed.destroy_process_group()


def is_shmem_initialized() -> bool:
    """Whether the job has been joined."""
    return _world is not None


def get_triton_dist_world() -> Any:
    """The group of the job, None before it is joined."""
    return _world


def get_triton_dist_local_world_size() -> int:
    """Ranks of this machine."""
    return _variable("LOCAL_WORLD_SIZE", 1)


# ---- symmetric memory

_SIGNALS = {"NVSHMEM_SIGNAL_DTYPE": "int64", "MORI_SHMEM_SIGNAL_DTYPE": "uint64"}


def nvshmem_create_tensor(shape: Sequence[int], dtype: Any) -> Any:
    """A torch tensor of zeros in symmetric memory. Collective."""
    return _nvshmem.tensor(shape, dtype)


def nvshmem_create_tensors(shape: Sequence[int], dtype: Any, rank: int, local_world_size: int) -> list[Any]:
    """One symmetric tensor, as each rank of this rank's node has it. Collective."""
    tensor = nvshmem_create_tensor(shape, dtype)
    first = rank - rank % local_world_size
    return [tensor if peer == rank else _nvshmem.get_peer_tensor(tensor, peer)
            for peer in range(first, first + local_world_size)]


def nvshmem_free_tensor_sync(tensor: Any) -> None:
    """Gives a symmetric tensor back. Collective."""
    _nvshmem.free_tensor(tensor)


def nvshmem_barrier_all_on_stream(stream: Any = None) -> None:
    """Barrier of all ranks, after all that `stream` (the current one) was given."""
    _nvshmem.barrier(stream=stream)


def barrier_async(pg: Any) -> None:
    """Barrier of a group."""
    _torch().distributed.barrier(pg)


# ---- data, output, time


def is_fp8_dtype(dtype: Any) -> bool:
    """Whether elements are floats of 8 bits."""
    return dtype.itemsize == 1 and dtype.is_floating_point


def rand_tensor(shape: Sequence[int], dtype: Any, device: Any = "cuda") -> Any:
    """Uniform in [-1, 1) for floats, over the whole range for integers."""
    torch = _torch()
    if dtype.is_floating_point:
        wide = torch.bfloat16 if is_fp8_dtype(dtype) else dtype
        return (torch.rand(shape, dtype=wide, device=device) * 2 - 1).to(dtype)
    limits = torch.iinfo(dtype)
    return torch.randint(limits.min, limits.max, tuple(shape), dtype=dtype, device=device)


def _one(shape: Sequence[int], dtype: Any, scale: tuple[float, float], device: Any = "cuda") -> Any:
    factor, offset = scale
    torch = _torch()
    wide = torch.float16 if is_fp8_dtype(dtype) else dtype
    if dtype.is_floating_point:
        return ((2 * torch.rand(shape, dtype=wide, device=device) - 1) * factor + offset).to(dtype)
    return torch.randint(-int(factor), int(factor), tuple(shape), device=device, dtype=dtype)


def generate_data(configs: Sequence[Any]) -> Iterator[Any]:
    """For ever new tensors by (shape, dtype, (scale, offset)); None where the entry is None."""
    while True:
        yield (None if entry is None else _one(*entry) for entry in configs)


def dist_print(*args: Any, allowed_ranks: Any = (0,), prefix: bool = False, need_sync: bool = False, **kwargs: Any) -> None:
    """print on the ranks of `allowed_ranks` ("all" for each), one after the other with `need_sync`."""
    rank, world_size = _variable("RANK", 0), _variable("WORLD_SIZE", 1)
    ranks = range(world_size) if isinstance(allowed_ranks, str) and allowed_ranks == "all" else allowed_ranks
    for turn in ranks if need_sync else (rank,):
        if turn == rank and rank in ranks:
            print(*([f"[rank:{rank}]"] if prefix else []), *args, **kwargs)
            sys.stdout.flush()
        if need_sync:
            _torch().distributed.barrier()


def sleep_async(duration_ms: float) -> None:
    """Waits for so many milliseconds."""
    time.sleep(duration_ms / 1000)


def get_max_gpu_clock_rate_in_khz(device_id: int = 0) -> int:
    """What torch.cuda.clock_rate says, in kHz."""
    return _torch().cuda.clock_rate(device_id) * 1000


def wait_until_max_gpu_clock_or_warning(device_id: Any = None, timeout_sec: float = 10) -> None:
    """A processor's clock is its own business: returns."""


def warn_if_cuda_launch_blocking() -> None:
    """About a setting of CUDA's: returns."""


def torch_stream_max_priority() -> int:
    """Streams have one priority, 0."""
    return 0


def triton_dist_key() -> str:
    """What compiled kernels depend on besides their source."""
    return f"nereid-{nereid.__version__}"


def get_cpu_info_linux() -> str | None:
    """What the system calls the processor."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    return names[0] if names else None


def get_bool_env(env: str, default_value: bool) -> bool:
    """A variable that is 1, true or on, or not."""
    value = os.environ.get(env)
    return default_value if value is None else value.lower() in ("1", "true", "on", "yes")


def get_int_env(env: str, default_value: int) -> int:
    """A variable with a whole number."""
    return _variable(env, default_value)


@contextlib.contextmanager
def with_torch_deterministic(mode: bool, warn_only: bool = True) -> Iterator[None]:
    """torch.use_deterministic_algorithms for the time of a block."""
    torch = _torch()
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(mode, warn_only=warn_only)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before, warn_only=warn_only)


def _signal_type(name: str) -> Any:
    if name in _SIGNALS:
        return getattr(_torch(), _SIGNALS[name])
    raise AttributeError(f"module 'triton_dist.utils' has no attribute '{name}': Nereid stands in for it here, and has no "
                         "counterpart")


#: GB/s between two ranks, for models of time that scripts print beside what they measure.
_SPEED = 10.0


def link_speeds() -> dict[str, Any]:
    """What triton_dist.nv_utils has: properties of the links between GPUs, for one processor."""
    def speed(*_args: Any, **_kwargs: Any) -> float:
        return _SPEED

    return {
        "get_intranode_max_speed_gbps": speed, "get_nvlink_max_speed_gbps": speed, "get_pcie_link_max_speed_gbps": speed,
        "has_fullmesh_nvlink": has_fullmesh_nvlink, "get_numa_node": lambda gpu_index=0: 0,
        "get_max_gpu_clock_rate_in_khz": get_max_gpu_clock_rate_in_khz,
        "get_current_gpu_clock_rate_in_khz": lambda device_id=None: get_max_gpu_clock_rate_in_khz(0),
        "get_device_name": lambda device_id=0: get_device_property(device_id).name, "with_pynvml": lambda: False,
    }


def names() -> dict[str, Any]:
    """What triton_dist.utils has."""
    own = {name: value for name, value in globals().items()
           if not name.startswith("_") and getattr(value, "__module__", None) == __name__
           and name not in ("names", "link_speeds")}
    homes = {name: globals()[name] for name in ("get_nvshmem_home", "get_rocshmem_home")}
    homes.update({f"get_{library}_{what}": triton_dist_key for library in ("nvshmem", "rocshmem", "mori_shmem", "mxshmem")
                  for what in ("version", "hash")})
    return {**own, **homes, "cuda": cuda, "cudart": cudart, "CUDA_CHECK": CUDA_CHECK, "__getattr__": _signal_type}
