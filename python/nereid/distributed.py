# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The distributed part of the kernel language (``import nereid.distributed as
dl``): ranks, addresses on other ranks, signals and tokens."""

from nereid.language._generated import dl as _dl
from nereid.language._generated.dl import *  # noqa: F401,F403

#: The name that the host has for it.
world_size = _dl.num_ranks

__all__ = [*_dl.__all__, "world_size"]
