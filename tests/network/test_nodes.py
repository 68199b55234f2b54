# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several nodes on one machine: put, get and signals reach all ranks, pointers only those of the own node."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

import nereid
from nereid import _runtime, symm
from nereid.testing import SpawnError, spawn

import network_kernels
from network_kernels import (gather_by_get, gather_by_pointer, gather_by_put, gather_by_signal, notify_neighbour,
                             which_are_near)

WORLD = 4
#: The fault handler belongs to the runtime there.
SEED = int(os.environ.get("NEREID_TEST_SEED", "0"))


def part(rank, size, dtype):
    return np.random.default_rng((SEED, rank, size)).integers(-100, 100, size).astype(dtype)


def gather(way, size, dtype, programs):
    rank, world = nereid.rank(), nereid.world_size()
    source = symm.from_array(part(rank, size, dtype)) if hasattr(symm, "from_array") else symm.zeros((size,), dtype)
    source.numpy()[:] = part(rank, size, dtype)
    gathered = symm.zeros((world * size,), dtype)
    flags = symm.zeros((world + 1,), np.uint64)
    nereid.barrier()
    n_bytes = size * np.dtype(dtype).itemsize
    if way == "put":
        gather_by_put[(programs,)](source, gathered, n_bytes, size)
    elif way == "signal":
        gather_by_signal[(programs,)](source, gathered, flags, n_bytes, size)
    elif way == "get":
        gather_by_get[(programs,)](source, gathered, n_bytes, size)
    else:
        gather_by_pointer[(1,)](source, gathered, size, BLOCK=1024)
    got = gathered.numpy().copy()
    nereid.barrier()
    want = np.concatenate([part(r, size, dtype) for r in range(world)])
    np.testing.assert_array_equal(got, want)
    return True


@pytest.mark.parametrize("per_node", [0, 1, 2])
@pytest.mark.parametrize("schedule", ["fifo", "random:3"])
@pytest.mark.parametrize("way", ["put", "signal", "get"])
def test_gather_over_all_ranks(way, per_node, schedule):
    environment = {"NEREID_RANKS_PER_NODE": str(per_node), "NEREID_SCHEDULE": schedule, "NEREID_TIMEOUT": "20"}
    rng = np.random.default_rng((SEED, per_node, len(way)))
    for dtype in (np.int8, np.float32):
        size = int(rng.integers(1, 3000))
        assert all(spawn(gather, WORLD, (way, size, dtype, int(rng.integers(1, 6))), environment=environment))


@pytest.mark.parametrize("transport", ["shared_memory", "remote", "delayed:remote", "ucx", "delayed:ucx"])
@pytest.mark.parametrize("way", ["put", "signal", "get"])
def test_gather_over_each_transport(way, transport):
    environment = {"NEREID_TRANSPORT": transport, "NEREID_RANKS_PER_NODE": "1", "NEREID_TIMEOUT": "20"}
    rng = np.random.default_rng((SEED, len(way), len(transport)))
    size = int(rng.integers(1, 3000))
    assert all(spawn(gather, WORLD, (way, size, np.float32, int(rng.integers(1, 6))), environment=environment))


def test_unknown_transports_are_errors():
    with pytest.raises(SpawnError, match="NEREID_TRANSPORT='pigeon': expected one of shared_memory, remote"):
        spawn(near, 1, environment={"NEREID_TRANSPORT": "pigeon"})


@pytest.mark.parametrize("library, words", [
    ("libnowhere.so.7", "libnowhere.so.7 cannot be loaded"),
    ("libc.so.6", "libc.so.6 is of version 0.0 and lacks ucp_get_version, "),
])
def test_a_ucx_that_is_missing_is_named(library, words):
    environment = {"NEREID_TRANSPORT": "ucx", "NEREID_UCX_LIBRARY": library}
    with pytest.raises(SpawnError, match="NEREID_TRANSPORT=ucx needs UCX 1.12 or later .*" + re.escape(words)):
        spawn(near, 2, environment=environment)


def line_of(text):
    lines = Path(network_kernels.__file__).read_text().splitlines()
    return next(i + 1 for i, line in enumerate(lines) if text in line)


def test_pointers_reach_the_own_node():
    assert all(spawn(gather, WORLD, ("pointer", 100, np.float32, 1)))


@pytest.mark.parametrize("per_node", [1, 2])
def test_pointers_to_other_nodes_are_errors_of_their_line(per_node):
    with pytest.raises(SpawnError) as info:
        spawn(gather, WORLD, ("pointer", 100, np.float32, 1), environment={"NEREID_RANKS_PER_NODE": str(per_node)})
    text = str(info.value)
    assert f"network_kernels.py:{line_of('tl.store(remote_ptr + rank')}:" in text
    assert re.search(r"rank \d \(node \d\) dereferences memory of rank \d \(node \d\)", text)
    assert "libshmem_device.getmem or putmem" in text


def near():
    world = nereid.world_size()
    out = np.zeros(world, np.int32)
    which_are_near[(1,)](out, symm.zeros((4,), np.float32))
    nereid.barrier()
    return out.tolist()


@pytest.mark.parametrize("per_node, want", [(0, [[1] * 4] * 4), (2, [[1, 1, 0, 0]] * 2 + [[0, 0, 1, 1]] * 2),
                                            (1, np.eye(4, dtype=int).tolist()),
                                            (3, [[1, 1, 1, 0]] * 3 + [[0, 0, 0, 1]])])
def test_remote_ptr_is_null_for_other_nodes(per_node, want):
    assert spawn(near, WORLD, environment={"NEREID_RANKS_PER_NODE": str(per_node)}) == want


def notify(scope):
    flags = symm.zeros((2,), np.uint64)
    nereid.barrier()
    notify_neighbour[(1,)](flags, SCOPE=scope)
    nereid.barrier()
    return int(flags.numpy()[1])


@pytest.mark.parametrize("scope, per_node", [("inter_node", 1), ("inter_node", 2), ("inter_node", 0),
                                             ("intra_node", 0), ("intra_node", 2)])
def test_notify_has_to_say_inter_node(scope, per_node):
    environment = {"NEREID_RANKS_PER_NODE": str(per_node)}
    if scope == "inter_node" or per_node == 0:
        assert spawn(notify, WORLD, (scope,), environment=environment) == [1] * WORLD
        return
    with pytest.raises(SpawnError) as info:
        spawn(notify, WORLD, (scope,), environment=environment)
    text = str(info.value)
    assert f"network_kernels.py:{line_of('dl.notify(flag_ptr, peer')}:" in text
    assert 'comm_scope "intra_node" does not reach rank' in text and 'write comm_scope="inter_node"' in text


def host_views():
    rank = nereid.rank()
    tensor = symm.full((8,), float(rank), np.float32)
    near = [r for r in range(WORLD) if r // 2 == rank // 2]
    for r in range(WORLD):
        if r in near:
            assert tensor.peer(r)[0] == r
            continue
        with pytest.raises(nereid.JobError, match=rf"rank {r} is on node {r // 2}, this rank {rank} on node {rank // 2}"):
            tensor.peer(r)
    # By put and get the host reaches all of them.
    got = np.empty(8, np.float32)
    for r in range(WORLD):
        _runtime.peer_get(got.ctypes.data, tensor.data_ptr(), got.nbytes, r)
        assert (got == r).all()
    nereid.barrier()
    return True


def test_host_views_of_other_nodes_are_errors():
    assert all(spawn(host_views, WORLD, environment={"NEREID_RANKS_PER_NODE": "2"}))


@pytest.mark.parametrize("value", ["x", "-1", "1.5"])
def test_bad_number_of_ranks_per_node(value):
    with pytest.raises(SpawnError, match="NEREID_RANKS_PER_NODE"):
        spawn(near, 1, environment={"NEREID_RANKS_PER_NODE": value})
