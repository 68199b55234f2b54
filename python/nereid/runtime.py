# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What kernels run on, under the names that host code asks for:
``nereid.runtime.driver.active.get_current_target()``, ..."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from typing import Any, Callable

from nereid import _runtime
from nereid._kernels import cache as _cache
from nereid._launch.autotune import Autotuner, Config, Heuristics, autotune, heuristics
from nereid._base.errors import InterpreterError, OutOfResources
from nereid._launch.jit import JITFunction
from nereid._launch.tensors import MockTensor, TensorWrapper, reinterpret
from nereid.testing import do_bench
from nereid._base import targets as _targets

__all__ = [
    "Autotuner", "Config", "GPUTarget", "Heuristics", "InterpreterError", "JITFunction", "MockTensor", "OutOfResources",
    "TensorWrapper", "autotune", "current_profile", "current_target", "driver", "heuristics", "reinterpret", "set_allocator",
]


@dataclass(frozen=True)
class GPUTarget:
    """A target of compilation: ``backend`` is its name, as `nereid info` lists them
    ("cpu"); ``arch`` the machine, of a GPU its compute capability (90), ``warp_size`` the threads of a warp (1 on
    the CPU)."""

    backend: str
    arch: int | str
    warp_size: int


def current_target() -> GPUTarget:
    """Where kernels run: the target in force (NEREID_TARGET), whatever the profile. RuntimeError for the
    target cuda without a GPU, unless NEREID_CUDA_ARCH says which one is meant."""
    if _on_cuda():
        return GPUTarget("cuda", _capability(), 32)
    return GPUTarget(_targets.active(), platform.machine(), 1)


def _on_cuda() -> bool:
    return _targets.active() == "cuda"


def _capability() -> int:
    """Of the GPU that the target cuda compiles for: 90 for sm_90."""
    number = int(_runtime.target_cache_id("cuda", _targets.settings("cuda")).rpartition("sm_")[2])
    if not number:
        raise RuntimeError("there is no NVIDIA GPU here; NEREID_CUDA_ARCH says for which one to compile, e.g. sm_90")
    return number


def current_profile() -> str:
    """By which rules kernels are written: the job's profile, else NEREID_PROFILE, else
    the target's default."""
    return _targets.profile()


def _cores() -> int:
    return len(os.sched_getaffinity(0))


class _Utils:
    """``driver.active.utils``."""

    def get_device_properties(self, device: int = 0) -> dict[str, Any]:
        """Sizes of the device: a rank's worker threads count as its processors, of a GPU its multiprocessors;
        a program's fast memory and registers have no limit worth the name."""
        on_cuda = _on_cuda()
        threads = _runtime.job_info()["programs"] if on_cuda or _runtime.is_initialized() else _cores()
        return {
            "max_shared_mem": 1 << 30,
            "max_num_regs": 65536,
            "multiprocessor_count": threads,
            "warpSize": 32 if on_cuda else 1,
            "sm_clock_rate": 0,
            "mem_clock_rate": 0,
            "mem_bus_width": 0,
            "num_aicore": self.get_aicore_num(),
            "num_vectorcore": self.get_aivector_core_num(),
        }

    def get_arch(self) -> str:
        return str(current_target().arch)

    def get_aicore_num(self) -> int:
        return _cores()

    def get_aivector_core_num(self) -> int:
        return self.get_aicore_num() * _runtime.active_sub_vec_num()


class _Driver:
    """``driver.active``: a rank has one device, 0, and launches run in order, so
    there is one stream, 0."""

    utils = _Utils()

    def get_current_target(self) -> GPUTarget:
        return current_target()

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        if device != 0:
            raise ValueError(f"a rank has one device, 0, not {device}")

    def get_current_stream(self, device: int | None = None) -> int:
        return 0

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        return divmod(_capability(), 10) if _on_cuda() else (0, 0)

    def get_active_torch_device(self):
        import torch

        return torch.device("cuda", torch.cuda.current_device()) if _on_cuda() else torch.device("cpu")

    def get_device_interface(self):
        import torch

        return torch.cuda if _on_cuda() else torch.cpu

    def get_benchmarker(self) -> Callable:
        return do_bench

    def is_active(self) -> bool:
        return True

    def get_empty_cache_for_benchmark(self):
        import numpy as np

        return np.empty(256 << 20, np.int8)

    def clear_cache(self, cache) -> None:
        cache[...] = 0


class _DriverConfig:
    active = default = _Driver()

    def set_active(self, driver: Any) -> None:
        raise RuntimeError("the driver cannot be exchanged; NEREID_TARGET chooses the target")

    def reset_active(self) -> None:
        """Nothing to do: the driver is always the same."""


driver = _DriverConfig()

_allocator: Callable | None = None


def set_allocator(allocator: Callable[[int, int, Any], Any]) -> None:
    """Accepts the function that other targets allocate descriptors' scratch memory
    with. Descriptors need none here, so that it is never called."""
    global _allocator
    if allocator is not None and not callable(allocator):
        raise TypeError(f"set_allocator takes a function (size, alignment, stream), not {_runtime.describe(allocator)}")
    _allocator = allocator


def cache_folder() -> str | None:
    """Folder of compiled kernels, or None when the cache is switched off."""
    root = _cache.cache_root()
    return None if root is None else str(root)
