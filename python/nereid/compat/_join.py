# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Joining the job under the host functions of other libraries, which are told by the
script who this process is: its rank, the number of ranks, and an address that they share."""

from __future__ import annotations

import multiprocessing
import os
import sys
from typing import Any

import nereid


def _torch_distributed() -> Any:
    """torch.distributed where the script has formed a group with it, else None."""
    distributed = sys.modules.get("torch.distributed")
    return distributed if distributed is not None and distributed.is_available() and distributed.is_initialized() else None


def _environment() -> tuple[int, int] | None:
    """Rank and number of ranks of the job that `nereid run` has made this process for;
    None in other processes. A child that the script has started through
    multiprocessing has inherited the variables, but not the place."""
    if "NEREID_JOB_FD" not in os.environ or multiprocessing.parent_process() is not None:
        return None
    return int(os.environ["NEREID_RANK"]), int(os.environ["NEREID_WORLD_SIZE"])


def _become(rank: int, world_size: int, address: str) -> None:
    """The environment of a rank of the job that is known by `address`."""
    # Both are of the job that a launcher has made.
    if os.environ.pop("NEREID_JOB_FD", None) is not None:
        os.environ.pop("NEREID_HEAP_SIZE", None)
    os.environ.update(
        NEREID_RANK=str(rank), NEREID_WORLD_SIZE=str(world_size), NEREID_LOCAL_RANK=str(rank), NEREID_JOB=address,
        RANK=str(rank), WORLD_SIZE=str(world_size), LOCAL_RANK=str(rank), LOCAL_WORLD_SIZE=str(world_size),
    )


def join(who: str, rank: int | None = None, world_size: int | None = None, address: str | None = None,
         heap_bytes: int | None = None) -> None:
    """Joins the job as rank `rank` of `world_size`; both None: as torch.distributed says,
    else as the environment does. Ranks that are no job of a launcher find each other by
    `address`. The heap has `heap_bytes` unless a launcher or NEREID_HEAP_SIZE says
    otherwise. JobError when the process is a rank already, and another one."""
    if rank is None:
        group = _torch_distributed()
        if group is not None:
            rank, world_size = group.get_rank(), group.get_world_size()
    if not nereid.is_initialized():
        told = _environment()
        if rank is not None and told != (rank, world_size):
            place = f"{os.environ.get('MASTER_ADDR', '')}:{os.environ.get('MASTER_PORT', '')}"
            _become(rank, int(world_size or 1), address or place)
        decided = any(name in os.environ for name in ("NEREID_JOB_FD", "NEREID_HEAP_SIZE"))
        nereid.init(heap_size=None if decided or not heap_bytes else max(int(heap_bytes), 1 << 20))
    if rank is not None and (rank, world_size) != (nereid.rank(), nereid.world_size()):
        raise nereid.JobError(
            f"{who}: this process is rank {nereid.rank()} of {nereid.world_size()}, but it is told to be rank {rank} of "
            f"{world_size}"
        )

