# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Questions about the target (``tl.target_info``), answered at compile time."""

from __future__ import annotations

from typing import NamedTuple

from nereid.language._constexpr import constexpr_function


class Target(NamedTuple):
    """What kernels are compiled for."""

    backend: str
    arch: str
    warp_size: int


@constexpr_function
def current_target():
    """The target: ``backend`` "cpu", ``arch`` "host", ``warp_size`` 1."""
    return Target("cpu", "host", 1)


@constexpr_function
def is_cuda():
    """False: kernels are compiled for the CPU."""
    return False


@constexpr_function
def is_hip():
    """False: kernels are compiled for the CPU."""
    return False


@constexpr_function
def is_hip_cdna3():
    """False: kernels are compiled for the CPU."""
    return False


@constexpr_function
def is_hip_cdna4():
    """False: kernels are compiled for the CPU."""
    return False


@constexpr_function
def cuda_capability_geq(major, minor=0):
    """False: the CPU has no CUDA capability."""
    return False
