# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Process groups of torch as groups of operators. They go by their name, a string, which custom
ops can take; "" is the whole job."""

from __future__ import annotations

from typing import Any

import torch.distributed as dist

import nereid
from nereid.ops.core.group import Group

_named: dict[str, Group] = {}


def group(process_group: Any = None) -> Group:
    """The group of a process group (None: torch's default one), for ``group=`` and for the functions of this
    module. The ranks of torch's default group must be those of the job: torchrun and `nereid run` see to
    that. No communication. ArgumentError on ranks that are no members (GroupMember.NON_GROUP_MEMBER): they pass the ranks,
    nereid.ops.Group([...])."""
    if not dist.is_initialized():
        raise nereid.ArgumentError("group: torch.distributed has no process group yet; call init_process_group first")
    nereid.init()
    if (dist.get_rank(), dist.get_world_size()) != (nereid.rank(), nereid.world_size()):
        raise nereid.ArgumentError(
            f"group: this process is rank {dist.get_rank()} of {dist.get_world_size()} for torch and rank {nereid.rank()} of "
            f"{nereid.world_size()} here; start both from one launcher, such as torchrun")
    if process_group is None:
        process_group = dist.group.WORLD
    if process_group == dist.GroupMember.NON_GROUP_MEMBER:
        raise nereid.ArgumentError("group: this rank is no member of the process group; pass the ranks, nereid.ops.Group([...])")
    made = Group(dist.get_process_group_ranks(process_group))
    _named[_torch_name(process_group)] = made
    return made


def _torch_name(process_group: Any) -> str:
    """torch's own name of a process group; before torch 2.1 there is none, and its ranks name it."""
    return getattr(process_group, "group_name", None) or _name_by_ranks(dist.get_process_group_ranks(process_group))


def _name_by_ranks(ranks: Any) -> str:
    return ",".join(map(str, ranks))


def name_of(value: Any) -> str:
    """The name under which custom ops know a process group, a group of operators, or None."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, dist.ProcessGroup):
        name = _torch_name(value)
        if name not in _named:
            group(value)
        return name
    made = Group.of(value)
    name = _name_by_ranks(made.ranks)
    _named[name] = made
    return name


def named(name: str) -> Group:
    if name == "":
        return Group.of(None)
    found = _named.get(name)
    if found is None:
        resolve = getattr(dist.distributed_c10d, "_resolve_process_group", None)  # torch 2.1 knows its groups by name
        try:
            return group(resolve(name))
        except (RuntimeError, TypeError):
            pass
        raise nereid.ArgumentError(f"there is no group {name!r}: call nereid.ops.torch.group(process_group) first")
    return found
