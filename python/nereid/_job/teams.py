# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Teams: subsets of the ranks of a job, for barriers and collectives in kernels."""

from __future__ import annotations

import operator
from typing import Any

from nereid import _runtime

__all__ = [
    "Team", "TEAM_INVALID", "TEAM_WORLD", "TEAM_SHARED", "TEAM_NODE", "TEAM_SAME_PE_NODE",
    "team_split_strided", "team_split_2d", "team_destroy", "team_my_pe", "team_n_pes", "team_translate_pe",
]


class Team(int):
    """A team by its handle, which is a plain integer: kernels take it as an
    ordinary argument. The handle is the same on all ranks, also on those that are
    no members."""

    @property
    def ranks(self) -> tuple[int, ...]:
        """The members in order: member i is rank ``ranks[i]``."""
        return tuple(_runtime.team_ranks(self))

    @property
    def my_pe(self) -> int:
        """This rank's number in the team; -1 when it is not a member."""
        ranks = _runtime.team_ranks(self)
        rank = _runtime.rank()
        return ranks.index(rank) if rank in ranks else -1

    @property
    def n_pes(self) -> int:
        """Number of members."""
        return len(_runtime.team_ranks(self))

    def barrier(self) -> None:
        """Barrier among the hosts of the members, who all must call it."""
        _runtime.team_barrier(self)

    def __repr__(self) -> str:
        return f"Team({int(self)})"


#: No members.
TEAM_INVALID = Team(-1)
#: All ranks of the job.
TEAM_WORLD = Team(0)
#: Ranks whose memory this rank can address.
TEAM_SHARED = Team(1)
#: Ranks of this rank's node.
TEAM_NODE = Team(2)
#: Ranks that have this one's number on their nodes.
TEAM_SAME_PE_NODE = Team(3)


def _number(value: Any, name: str) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        team = getattr(value, "__nereid_team__", None)  # of a constant of libshmem_device
        number = operator.index(value if team is None else team)
    except TypeError:
        raise TypeError(f"{name} is an integer, not {_runtime.describe(value)}") from None
    if not -(2**31) <= number < 2**31:
        raise ValueError(f"{name} is a 32-bit integer")
    return number


def team_split_strided(parent: int, start: int, stride: int, size: int) -> Team:
    """The team of members start, start + stride, ... (`size` of them) of `parent`.

    Collective over the members of `parent`; every one of them gets the team, also
    those that are no members of it (``team.my_pe`` is -1 there). stride is at
    least 1. Raises JobError for numbers outside the parent, members that pass
    different ones, and when there are 256 teams.
    """
    return Team(_runtime.team_split_strided(
        _number(parent, "parent"), _number(start, "start"), _number(stride, "stride"), _number(size, "size")))


def team_split_2d(parent: int, xrange: int) -> tuple[Team, Team]:
    """The members of `parent` are laid out row by row, `xrange` in a row; gives the
    team of this rank's row and the team of its column. Collective over the members
    of `parent`; errors as team_split_strided."""
    row, column = _runtime.team_split_2d(_number(parent, "parent"), _number(xrange, "xrange"))
    return Team(row), Team(column)


def team_destroy(team: int) -> None:
    """Gives a split team back. Collective over its members; kernels and hosts that
    use the handle afterwards get an error."""
    _runtime.team_destroy(_number(team, "team"))


def team_my_pe(team: int) -> int:
    """This rank's number in the team; -1 when it is not a member."""
    return Team(_number(team, "team")).my_pe


def team_n_pes(team: int) -> int:
    """Number of members of the team; -1 for TEAM_INVALID."""
    return Team(_number(team, "team")).n_pes if team != TEAM_INVALID else -1


def team_translate_pe(src_team: int, src_pe: int, dest_team: int) -> int:
    """The number in `dest_team` of the rank that is `src_pe` in `src_team`; -1 when
    there is none."""
    source, dest = Team(_number(src_team, "src_team")).ranks, Team(_number(dest_team, "dest_team")).ranks
    if not 0 <= src_pe < len(source) or source[src_pe] not in dest:
        return -1
    return dest.index(source[src_pe])
