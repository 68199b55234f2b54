# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ranks that an operator works on."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

import nereid
from nereid import _runtime, symm
from nereid.ops.core.shards import is_number


class Group:
    """Ranks of the job in an order: member i is rank ``ranks[i]``. `me` is this rank's
    number in the group, -1 when it is no member."""

    def __init__(self, ranks: Sequence[int]):
        if not all(is_number(rank) for rank in ranks):
            raise nereid.ArgumentError(f"a group holds numbers of ranks, but the ranks given are {ranks!r}")
        self.ranks = tuple(int(rank) for rank in ranks)
        world = nereid.world_size()
        if not self.ranks:
            raise nereid.ArgumentError("a group has at least one rank")
        if len(set(self.ranks)) != len(self.ranks) or not all(0 <= rank < world for rank in self.ranks):
            raise nereid.ArgumentError(
                f"a group holds different ranks from 0 to {world - 1}, but the ranks given are {self.ranks}")
        self.size = len(self.ranks)
        rank = nereid.rank()
        self.me = self.ranks.index(rank) if rank in self.ranks else -1
        #: For kernels: the rank of each member.
        self.members = np.array(self.ranks, np.int32)
        near = set(symm.TEAM_SHARED.ranks)
        #: How kernels reach the members: by loads and stores, or (other nodes) by put.
        self.reach = "direct" if self.me < 0 or all(rank in near for rank in self.ranks) else "put"

    @staticmethod
    def of(group: Any) -> "Group":
        """None: the whole job. Else a team, a sequence of ranks or a Group."""
        if group is None:
            return Group(range(nereid.world_size()))
        if isinstance(group, Group):
            return group
        if isinstance(group, symm.Team):
            return Group(group.ranks)
        if isinstance(group, (list, tuple, range)):
            return Group(group)
        if type(group).__module__.startswith("torch."):
            raise nereid.ArgumentError("write group=nereid.ops.torch.group(process_group) for a process group of torch")
        raise nereid.ArgumentError(
            f"group is None, a team, a sequence of ranks or nereid.ops.torch.group(...), not {_runtime.describe(group)}")

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Group) and other.ranks == self.ranks

    def __hash__(self) -> int:
        return hash(self.ranks)

    def __repr__(self) -> str:
        return "all ranks" if self.ranks == tuple(range(nereid.world_size())) else f"ranks {list(self.ranks)}"
