# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Questions about the target (``tl.target_info``), answered at compile time. The
target is where the code runs; by whose rules it is written, the profile, is no part
of it."""

from __future__ import annotations

import os
from typing import NamedTuple

from nereid import _runtime
from nereid.language._constexpr import constexpr_function


#: Name of the target in force; `nereid compile --target` sets it. A plain text, so that
#: the code of a kernel that asks for it can be kept in the cache.
_name = os.environ.get("NEREID_TARGET") or _runtime.default_target()


class Target(NamedTuple):
    """What kernels are compiled for."""

    backend: str
    arch: str
    warp_size: int


@constexpr_function
def current_target():
    """The target in force: ``backend`` is its name ("cpu"); ``arch`` is "host" and ``warp_size`` 1 on all targets."""
    return Target(_name, "host", 1)


@constexpr_function
def is_cuda():
    """Is the target "cuda"?"""
    return _name == "cuda"


@constexpr_function
def is_hip():
    """Is the target "hip"?"""
    return _name == "hip"


@constexpr_function
def is_hip_cdna3():
    """False: there is no target for such GPUs."""
    return False


@constexpr_function
def is_hip_cdna4():
    """False: there is no target for such GPUs."""
    return False


@constexpr_function
def cuda_capability_geq(major, minor=0):
    """False, on the target cuda too: for which GPU a kernel is compiled is not known here."""
    return False
