# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Teams smaller than the job: splitting, queries, barriers, broadcast, fcollect; what non-members get."""

import numpy as np
import pytest

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device as shmem
from nereid.testing import SpawnError, spawn


def splits():
    symm, rank = nereid.symm, nereid.rank()
    even = symm.team_split_strided(symm.TEAM_WORLD, 0, 2, 3)
    assert even.ranks == (0, 2, 4) and even.n_pes == 3
    assert even.my_pe == (rank // 2 if rank % 2 == 0 else -1)
    assert symm.team_translate_pe(even, 1, symm.TEAM_WORLD) == 2 and symm.team_translate_pe(symm.TEAM_WORLD, 3, even) == -1
    if rank % 2 == 0:
        last = symm.team_split_strided(even, 1, 1, 2)
        assert last.ranks == (2, 4)
        last.barrier() if rank else None
        if rank:
            symm.team_destroy(last)
            with pytest.raises(nereid.JobError, match="not a team of this job"):
                last.ranks
    row, column = symm.team_split_2d(symm.TEAM_WORLD, 2)
    assert row.ranks == ((0, 1), (2, 3), (4,))[rank // 2]
    assert column.ranks == ((0, 2, 4), (1, 3))[rank % 2]
    handles = [int(even), int(row), int(column)]
    if rank % 2 == 0:  # the others may come here when it is gone
        symm.team_destroy(even)
    nereid.barrier()
    again = symm.team_split_strided(0, 3, 1, 2)
    assert again.ranks == (3, 4) and int(again) not in handles
    assert symm.team_my_pe(-1) == -1 and symm.team_n_pes(symm.TEAM_INVALID) == -1
    return handles


def test_splitting():
    handles = spawn(splits, 5)
    assert len({entry[0] for entry in handles}) == 1


@pytest.mark.parametrize("arguments, message", [
    ((0, 0, 1, 0), "at least one member"), ((0, 3, 1, 1), "members 0 to 2"), ((0, 0, 0, 2), "stride is at least 1"),
    ((0, 1, 1, 3), "last member would be 3"), ((77, 0, 1, 1), "77 is not a team"), ((-1, 0, 1, 1), "TEAM_INVALID"),
])
def test_bad_splits(arguments, message):
    def body():
        with pytest.raises(nereid.JobError, match=message):
            nereid.symm.team_split_strided(*arguments)
        nereid.barrier()
    spawn(body, 3)


def test_ranks_that_split_differently():
    def body():
        with pytest.raises(nereid.JobError, match="different collective calls.*team_split_strided"):
            nereid.symm.team_split_strided(0, 0, 1, 1 + nereid.rank())
        nereid.barrier()
    spawn(body, 2)


def test_split_by_a_rank_that_is_no_member():
    def body():
        team = nereid.symm.team_split_strided(0, 0, 1, 1)
        if nereid.rank() == 1:
            with pytest.raises(nereid.JobError, match=r"rank 1 is not a member of team \d+ \(rank 0\)"):
                nereid.symm.team_split_strided(team, 0, 1, 1)
        with pytest.raises(nereid.JobError, match="belongs to the job"):
            nereid.symm.team_destroy(0)
        with pytest.raises(TypeError, match="parent is an integer"):
            nereid.symm.team_split_strided("world", 0, 1, 1)
        nereid.barrier()
    spawn(body, 2)


@nereid.jit
def query_kernel(out, team, other):
    tl.store(out, shmem.team_my_pe(team))
    tl.store(out + 1, shmem.team_n_pes(team))
    tl.store(out + 2, shmem.team_translate_pe(team, 1, other))
    tl.store(out + 3, shmem.team_translate_pe(other, shmem.my_pe(), team))
    tl.store(out + 4, shmem.team_my_pe(shmem.NVSHMEM_TEAM_SHARED))
    tl.store(out + 5, shmem.team_n_pes(shmem.NVSHMEMX_TEAM_NODE))
    tl.store(out + 6, shmem.team_my_pe(shmem.NVSHMEM_TEAM_INVALID))
    tl.store(out + 7, shmem.team_n_pes(shmem.NVSHMEM_TEAM_WORLD))
    tl.store(out + 8, shmem.team_n_pes(shmem.NVSHMEMX_TEAM_SAME_MYPE_NODE))


def queries():
    team = nereid.symm.team_split_strided(0, 1, 2, 2)
    out = nereid.symm.zeros((9,), "int32")
    query_kernel[(1,)](out, team, 0)
    return out[:].tolist()


def test_queries_in_a_kernel():
    got = spawn(queries, 4)
    for rank in range(4):
        member = rank // 2 if rank % 2 else -1
        assert got[rank] == [member, 2, 3, member, rank, 4, -1, 4, 1]


def test_queries_with_several_nodes():
    got = spawn(queries, 4, environment={"NEREID_RANKS_PER_NODE": "2"})
    for rank in range(4):
        member = rank // 2 if rank % 2 else -1
        assert got[rank] == [member, 2, 3, member, rank % 2, 2, -1, 4, 2]


@nereid.jit
def rounds_kernel(data, team, rounds, bad, SYNC: tl.constexpr):
    """Each round everybody writes; after the barrier all members must have."""
    me = shmem.team_my_pe(team)
    n = shmem.team_n_pes(team)
    pid = tl.program_id(0)
    programs = tl.num_programs(0)
    for r in range(rounds):
        for peer in range(n):
            world = shmem.team_translate_pe(team, peer, 0)
            tl.store(dl.symm_at(data, world) + (r % 2) * n * programs + me * programs + pid, r + 1)
        if SYNC:
            shmem.team_sync_block(team)
        else:
            shmem.barrier(team)
        for i in range(n * programs):
            if tl.load(data + (r % 2) * n * programs + i, volatile=True) != r + 1:
                tl.atomic_add(bad, 1)
        shmem.barrier(team)


def rounds(team_arguments, programs, sync):
    team = nereid.symm.team_split_strided(0, *team_arguments)
    data = nereid.symm.zeros((2 * team.n_pes * programs,), "int32")
    bad = nereid.symm.zeros((1,), "int32")
    if team.my_pe >= 0:
        rounds_kernel[(programs,)](data, team, 20, bad, sync)
    nereid.barrier()
    return int(bad[0])


@pytest.mark.parametrize("team", [(0, 1, 2), (1, 2, 2), (2, 1, 1), (0, 1, 4)])
@pytest.mark.parametrize("programs", [1, 3])
@pytest.mark.parametrize("sync", [False, True])
def test_barriers_of_a_team(team, programs, sync):
    assert spawn(rounds, 4, (team, programs, sync)) == [0] * 4


def test_barriers_of_a_team_in_a_random_schedule():
    assert spawn(rounds, 4, ((1, 2, 2), 3, False), environment={"NEREID_SCHEDULE": "random:3"}) == [0] * 4


def two_teams():
    """Different programs meet in different teams at the same time."""
    row, column = nereid.symm.team_split_2d(0, 2)
    counts = nereid.symm.zeros((2,), "int32")
    seen = nereid.symm.zeros((2,), "int32")
    both_kernel[(1,)](counts, seen, row, column)
    return seen[:].tolist()


@nereid.jit
def both_kernel(counts, seen, row, column):
    for peer in range(shmem.team_n_pes(row)):
        tl.atomic_add(dl.symm_at(counts, shmem.team_translate_pe(row, peer, 0)), 1)
    for peer in range(shmem.team_n_pes(column)):
        tl.atomic_add(dl.symm_at(counts, shmem.team_translate_pe(column, peer, 0)) + 1, 1)
    shmem.barrier(row)
    shmem.barrier_block(column)
    tl.store(seen, tl.load(counts))
    tl.store(seen + 1, tl.load(counts + 1))


def test_overlapping_teams():
    assert spawn(two_teams, 4) == [[2, 2]] * 4


# ---- collectives


@nereid.jit
def collective_kernel(team, dest, source, n, root, KIND: tl.constexpr):
    pid = tl.program_id(0)
    part = n // tl.num_programs(0)
    if KIND == "broadcast":
        shmem.broadcast_block(team, dest + pid * part, source + pid * part, part, root)
    elif KIND == "broadcastmem":
        shmem.broadcastmem(team, dest + pid * part, source + pid * part, part * 4, root)
    elif KIND == "fcollect":
        shmem.fcollect_warp(team, dest, source, n)
    else:
        shmem.fcollectmem_block(team, dest, source, n * 4)


def collective(kind, team_arguments, n, root, programs):
    team = nereid.symm.team_split_strided(0, *team_arguments)
    rank = nereid.rank()
    source = nereid.symm.from_array((np.arange(n) + 1000 * (rank + 1)).astype(np.int32))
    dest = nereid.symm.zeros((max(1, n * team.n_pes) + 4,), "int32")
    if team.my_pe >= 0:
        for _ in range(3):
            collective_kernel[(programs,)](team, dest, source, n, root, kind)
    nereid.barrier()
    return dest[:].copy(), team.ranks


@pytest.mark.parametrize("kind", ["broadcast", "broadcastmem", "fcollect", "fcollectmem"])
@pytest.mark.parametrize("team", [(0, 1, 4), (1, 2, 2), (3, 1, 1)])
def test_collectives(kind, team, rng):
    programs = 3 if kind.startswith("b") else 1
    n = int(rng.integers(1, 300)) * programs
    root = int(rng.integers(team[2]))
    for rank, (dest, ranks) in enumerate(spawn(collective, 4, (kind, team, n, root, programs))):
        want = np.zeros(n * len(ranks) + 4)
        if rank in ranks:
            if kind.startswith("broadcast"):
                want[:n] = np.arange(n) + 1000 * (ranks[root] + 1)
            else:
                for i, member in enumerate(ranks):
                    want[i * n : i * n + n] = np.arange(n) + 1000 * (member + 1)
        np.testing.assert_array_equal(dest, want)


@pytest.mark.parametrize("environment", [{"NEREID_RANKS_PER_NODE": "2"}, {"NEREID_SCHEDULE": "random:5"}])
def test_collectives_between_nodes(environment):
    for dest, ranks in spawn(collective, 4, ("fcollect", (0, 1, 4), 77, 0, 1), environment=environment):
        want = np.concatenate([np.arange(77) + 1000 * (r + 1) for r in range(4)] + [np.zeros(4)])
        np.testing.assert_array_equal(dest, want)


def failing(call, **environment):
    with pytest.raises(SpawnError) as caught:
        spawn(call, 3, environment=environment)
    return str(caught.value)


@nereid.jit
def barrier_kernel(team):
    shmem.barrier(team)


def stranger():
    team = nereid.symm.team_split_strided(0, 0, 1, 2)
    barrier_kernel[(1,)](team)


def test_a_barrier_of_strangers():
    text = failing(stranger)
    assert "rank 2 is not a member of team" in text and "(ranks 0, 1)" in text and "shmem.barrier(team)" in text


def unknown_team():
    barrier_kernel[(1,)](4711)


def test_a_team_that_nobody_made():
    assert "4711 is not a team of this job" in failing(unknown_team)


def absent():
    team = nereid.symm.team_split_strided(0, 0, 2, 2)
    if nereid.rank() == 0:
        barrier_kernel[(2,)](team)
    nereid.barrier()


def test_a_member_that_does_not_come():
    text = failing(absent)
    assert "not there yet: rank 2" in text and "deadlock" in text and "shmem.barrier(team)" in text


@nereid.jit
def early_kernel(team):
    if tl.program_id(0) > 0:
        shmem.barrier(team)


def early():
    team = nereid.symm.team_split_strided(0, 0, 1, 3)
    early_kernel[(3,)](team)


def test_a_program_that_ends_before_the_barrier():
    text = failing(early)
    assert "ended without reaching the barrier of team" in text and "of 3 programs wait at" in text


def sizes():
    dest, source = nereid.symm.zeros((64,), "int32"), nereid.symm.zeros((64,), "int32")
    collective_kernel[(1,)](0, dest, source, 4 + nereid.rank(), 0, "fcollect")


def roots():
    dest, source = nereid.symm.zeros((64,), "int32"), nereid.symm.zeros((64,), "int32")
    collective_kernel[(1,)](0, dest, source, 4, 7, "broadcast")


def test_members_that_disagree():
    assert "disagree about the number of bytes" in failing(sizes)
    assert "the root 7 is not a member of team 0" in failing(roots)


def test_of_the_constants_of_the_language_only_teams_are_run_time_arguments():
    out = np.zeros(9, np.int32)
    query_kernel[(1,)](out, shmem.NVSHMEM_TEAM_WORLD, shmem.NVSHMEM_TEAM_WORLD)
    by_handle = np.zeros(9, np.int32)
    query_kernel[(1,)](by_handle, nereid.symm.TEAM_WORLD, nereid.symm.TEAM_WORLD)
    assert out.tolist() == by_handle.tolist()
    with pytest.raises(nereid.ArgumentError, match="NVSHMEM_CMP_EQ.* is a constant of the kernel language; mark the"):
        query_kernel[(1,)](out, shmem.NVSHMEM_CMP_EQ, nereid.symm.TEAM_WORLD)
