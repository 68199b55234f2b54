# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What target profiles change: slots of a wait, who calls a barrier, vector cores."""

import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device as shmem
from nereid.language.extra.cann.extension import sub_vec_id, sub_vec_num
from nereid.testing import SpawnError, spawn

CUDA = {"NEREID_PROFILE": "cuda"}
ASCEND = {"NEREID_PROFILE": "ascend910b"}


@nereid.jit
def slots_kernel(flags, out, stride):
    me = dl.rank()
    for i in range(3):
        dl.notify(flags + i * stride, 1 - me, signal=4)
    token = dl.wait(flags, 3, "npu", "acquire", waitValue=4)
    tl.store(out, tl.load(dl.consume_token(flags, token) + 2 * stride))


def slots(dtype, stride):
    flags, out = nereid.symm.zeros((64,), dtype), nereid.symm.zeros((1,), dtype)
    slots_kernel[(1,)](flags, out, stride)
    return int(out[0])


@pytest.mark.parametrize("environment, dtype, stride", [({}, "int32", 1), (CUDA, "int64", 1), (ASCEND, "int32", 16),
                                                        (ASCEND, "int64", 8)])
def test_slots_of_a_wait(environment, dtype, stride):
    assert spawn(slots, 2, (dtype, stride), environment=environment) == [4, 4]


@nereid.jit
def one_program_kernel(data, out):
    """Only program 0 calls the barrier, as blocks of a GPU do."""
    me = shmem.my_pe()
    if tl.program_id(0) == 0:
        for round in range(1, 20):
            tl.store(dl.symm_at(data, 1 - me), round)
            shmem.barrier_all_block()
            if tl.load(data, volatile=True) != round:
                tl.atomic_add(out, 1)
            shmem.sync_all_block()


def one_program():
    data, out = nereid.symm.zeros((1,), "int32"), nereid.symm.zeros((1,), "int32")
    one_program_kernel[(4,)](data, out)
    return int(out[0])


def test_one_program_of_a_rank_calls_the_barrier():
    assert spawn(one_program, 2, environment=CUDA) == [0, 0]
    with pytest.raises(SpawnError, match="without reaching the barrier"):
        spawn(one_program, 2)


@nereid.jit
def two_programs_kernel(out):
    shmem.barrier_all_block()
    tl.store(out, 1)


def two_programs():
    out = nereid.symm.zeros((1,), "int32")
    if nereid.rank() == 1:
        # Rank 0's programs meet in the barrier before rank 1 comes.
        time.sleep(1)
    two_programs_kernel[(2,)](out)


def test_two_programs_in_a_barrier_of_one():
    with pytest.raises(SpawnError, match="of this rank is in it already; under the profile cuda exactly one program"):
        spawn(two_programs, 2, environment=CUDA)


# ---- vector cores


@nereid.jit
def plain_kernel(out):
    tl.store(out, sub_vec_num() * 10 + sub_vec_id())


@nereid.jit
def every_other_kernel(out):
    tl.store(out + tl.program_id(0) * 2 + sub_vec_id(), 1)


@nereid.jit
def divided_kernel(out):
    for i in range(sub_vec_id(), 2, sub_vec_num()):
        tl.store(out + tl.program_id(0) * 2 + i, 1)


def lost_work():
    out = np.zeros(4, np.int32)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        every_other_kernel[(2,)](out)
        divided_kernel[(2,)](np.zeros(4, np.int32))
    return out.tolist(), [str(warning.message) for warning in told]


@pytest.mark.parametrize("profile, expected", [("host", 1), ("ascend910b", 2)])
def test_work_for_other_vector_cores_is_told_of(profile, expected):
    """One vector core runs each program. By the rules of host, sub_vec_num() is 1; those of ascend910b say 2."""
    ((out, told),) = spawn(lost_work, 1, environment={"NEREID_PROFILE": profile})
    assert out == [1, 0, 1, 0] and len(told) == expected
    assert all("sub_vec_id() is always 0 here" in text for text in told)
    assert "out + tl.program_id(0) * 2 + sub_vec_id(), 1" in told[0]


@nereid.jit
def lanes_kernel(a, b, c, halves, counts, M: tl.constexpr, K: tl.constexpr, N: tl.constexpr):
    """A product, each half of which another vector core writes; the rest happens once."""
    pid = tl.program_id(0)
    i, k, j = tl.arange(0, M), tl.arange(0, K), tl.arange(0, N)
    x = tl.dot(tl.load(a + i[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + j[None, :]))
    tl.store(c + i[:, None] * N + j[None, :], x)
    half = sub_vec_id()
    mine = (j >= half * (N // 2)) & (j < (half + 1) * (N // 2))
    tl.store(halves + i[:, None] * N + j[None, :], x + half, mask=mine[None, :])
    tl.atomic_add(counts, 1)
    tl.atomic_add(counts + 1 + half, 1)
    if half == 1:
        tl.atomic_add(counts + 3, 1)
    ticket = tl.atomic_add(counts + 4, 1)
    tl.atomic_add(counts + 8 + ticket, 1 + half)


def lanes(M, K, N):
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((M, K)).astype(np.float32), rng.standard_normal((K, N)).astype(np.float32)
    c, halves = np.zeros((M, N), np.float32), np.zeros((M, N), np.float32)
    counts = np.zeros(16, np.int32)
    lanes_kernel[(3,)](a, b, c, halves, counts, M, K, N)
    want = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(c, want, atol=1e-4)
    want[:, N // 2 :] += 1
    np.testing.assert_allclose(halves, want, atol=1e-4)
    # Ungated once per program; by vector core on each; the ticket is the same on both.
    assert counts[:5].tolist() == [3, 3, 3, 3, 3]
    assert counts[8:].tolist() == [3, 3, 3, 0, 0, 0, 0, 0]
    out = np.zeros(1, np.int64)
    plain_kernel[(1,)](out)
    return int(out[0])


def test_two_vector_cores():
    assert spawn(lanes, 1, (16, 32, 32), environment=ASCEND) == [20]


def test_number_of_vector_cores_on_the_host():
    out = np.zeros(1, np.int64)
    plain_kernel[(1,)](out)
    assert out[0] == 10


@nereid.jit
def gated_kernel(a, b, c, data, flags, out, N: tl.constexpr):
    """A mixed kernel that communicates: ungated effects once, gated ones by their core, both meet in barriers."""
    me = shmem.my_pe()
    other = 1 - me
    i = tl.arange(0, N)
    offs = i[:, None] * N + i[None, :]
    x = tl.dot(tl.load(a + offs), tl.load(b + offs))
    tl.store(c + offs, x)
    dl.notify(flags, other, signal=1, sig_op="add")
    shmem.barrier_all()
    if sub_vec_id() == 0:
        y = tl.load(dl.symm_at(c, other) + offs)
        tl.store(data + offs, y)
        dl.notify(flags + 1, me)
    else:
        token = dl.wait(flags + 1, 1, "npu", "acquire")
        z = tl.load(dl.consume_token(data, token) + offs)
        tl.store(out + offs, z * 2)
    if sub_vec_id() == 0:
        shmem.barrier_all()


def gated(N):
    rng = np.random.default_rng(nereid.rank())
    a, b = (nereid.symm.from_array(rng.standard_normal((N, N)).astype(np.float32)) for _ in range(2))
    c, data, out = (nereid.symm.zeros((N, N), "float32") for _ in range(3))
    flags = nereid.symm.zeros((2,), "int32")
    gated_kernel[(1,)](a, b, c, data, flags, out, N)
    other = 1 - nereid.rank()
    np.testing.assert_allclose(out[:], 2.0 * (a.peer(other).astype(np.float64) @ b.peer(other)), atol=1e-4)
    return flags[:].tolist()


@pytest.mark.parametrize("schedule", ["fifo", "random:2"])
def test_vector_cores_of_a_kernel_that_communicates(schedule):
    assert spawn(gated, 2, (16,), environment={**ASCEND, "NEREID_SCHEDULE": schedule}) == [[1, 1], [1, 1]]


@nereid.jit
def block_result_kernel(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    offs = i[:, None] * N + i[None, :]
    tl.store(out + offs, tl.dot(tl.load(a + offs), tl.load(a + offs)))
    old = tl.atomic_add(out + i, 1.0)
    tl.store(out + sub_vec_id() * N + i, old)


def block_result():
    a = np.zeros((16, 16), np.float32)
    with pytest.raises(nereid.CompilationError, match="both vector cores of the program need the block"):
        block_result_kernel[(1,)](a, a.copy(), 16)


def test_block_that_both_vector_cores_need():
    spawn(block_result, 1, environment=ASCEND)


def test_profiles_are_part_of_the_cache_key(tmp_path):
    """Kernels of one profile are not taken for another."""
    environment = {"NEREID_CACHE_DIR": str(tmp_path)}
    body = lambda: lanes(16, 16, 16)
    assert spawn(body, 1, environment={**ASCEND, **environment}) == [20]
    out = spawn(lambda: number_here(), 1, environment={**CUDA, **environment})
    assert out == [10]


def number_here():
    out = np.zeros(1, np.int64)
    plain_kernel[(1,)](out)
    return int(out[0])


def test_info_lists_the_profiles():
    done = subprocess.run([str(Path(sys.executable).parent / "nereid"), "info"], capture_output=True, text=True, check=True,
                          env={**__import__("os").environ, "NEREID_PROFILE": "cuda"})
    for text in ["functions of NVSHMEM", "functions of ACLSHMEM", "64 bytes between", "one program of each rank",
                 "2 vector cores", "fence completes"]:
        assert text in done.stdout
    profiles = done.stdout[done.stdout.index("\nProfiles"):]
    line = next(line for line in profiles.splitlines() if line.strip().startswith("cuda"))
    assert "in force" in line


@nereid.jit
def waits_for_three(signals):
    token = dl.wait(signals, 3, "sys", "acquire", waitValue=1)
    tl.store(dl.consume_token(signals, token), 2)


def sets_neighbours():
    """Sets elements 0, 1 and 2, where the profile looks at 0, 16 and 32."""
    signals = nereid.symm.zeros(48, np.int32, name="signals")
    signals[:3] = 1
    with pytest.raises(nereid.LaunchError) as caught:
        waits_for_three[(1,)](signals)
    return str(caught.value)


def test_report_names_the_distance_of_signals():
    (text,) = spawn(sets_neighbours, 1, environment={"NEREID_PROFILE": "ascend910b"})
    assert "value 0, waits for 1 (slot 1 of 3; the profile ascend910b puts the signals of one wait 64 bytes apart: " \
        "signal i is element 16 * i, not element i)" in text, text
    assert "one vector core runs each program, and sub_vec_id() is 0" in text, text
    (text,) = spawn(sets_neighbours_of_host, 1)
    assert "apart" not in text and "vector-only" not in text, text


def sets_neighbours_of_host():
    signals = nereid.symm.zeros(48, np.int32, name="signals")
    signals[:2] = 1
    with pytest.raises(nereid.LaunchError) as caught:
        waits_for_three[(1,)](signals)
    return str(caught.value)
