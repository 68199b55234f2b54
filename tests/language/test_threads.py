# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that tell the threads of a program apart, against numpy."""

import numpy as np
import pytest

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid.language.extra.language_extra import (
    __ballot_sync, __fence, __shfl_down_sync_i32, __shfl_sync_i32, __shfl_up_sync_i32, __shfl_xor_sync_i32, __syncthreads,
    atomic_add, atomic_cas, laneid, ld, ld_acquire, ld_b32, membar, ntid, num_threads, num_warps,
    red_release, st, st_b32, threads_per_warp, tid,
)
from nereid.testing import spawn
from sheet import load_kernel


@nereid.jit
def numbers(p, n):
    t = tid(0)
    st(p + t, t)
    st(p + n + t, ntid(0) + 1000 * tid(1) + 1000 * tid(2) + 10000 * ntid(1))
    st(p + 2 * n + t, laneid())
    st(p + 3 * n + t, num_warps() + 100 * threads_per_warp() + 10000 * num_threads())


@pytest.mark.parametrize("warps", [1, 4, 7, 32])
def test_numbers(warps):
    n = 32 * warps
    p = np.zeros(4 * n + 1, np.int32)
    numbers[(1,)](p, n, num_warps=warps)
    t = np.arange(n)
    assert (p[:n] == t).all() and (p[n:2 * n] == n + 10000).all() and (p[2 * n:3 * n] == t % 32).all()
    assert (p[3 * n:4 * n] == warps + 3200 + 10000 * n).all() and p[-1] == 0


def test_without_num_warps_there_are_128_threads_and_each_number_is_a_kernel_of_its_own():
    p = np.zeros(4 * 128, np.int32)
    numbers[(1,)](p, 128)
    assert (p[128:256] == 128 + 10000).all()
    numbers[(1,)](p, 128, num_warps=2)
    assert (p[128:192] == 64 + 10000).all()
    with pytest.raises(ValueError, match="'num_warps' takes a whole number from 1 to 32.*not 33"):
        numbers[(1,)](p, 128, num_warps=33)


@nereid.jit
def strided(out, x, n, scale):
    """Threads share rows among them; a barrier lies between writing and reading others' elements."""
    t = tid(0)
    for i in range(t, n, ntid(0)):
        st(out + i, ld(x + i) * scale)
    __syncthreads()
    for i in range(t, n, ntid(0)):
        st(out + n + i, ld(out + n - 1 - i))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "float16", "float32", "float64"])
def test_threads_share_a_row(dtype):
    rng = np.random.default_rng(3)
    n = 1000
    x = rng.integers(0, 20, n).astype(dtype)
    out = np.zeros(2 * n, dtype)
    strided[(1,)](out, x, n, 3)
    np.testing.assert_array_equal(out[:n], x * np.dtype(dtype).type(3))
    np.testing.assert_array_equal(out[n:], out[:n][::-1])


@nereid.jit
def carried(out, x, rounds, flag, BLOCK: tl.constexpr):
    """Scalars of threads that loops and branches of the whole program carry, and a block between."""
    t = tid(0)
    total = ld(x + t)
    other = total + 1
    p = x + t
    for k in range(rounds):
        total, other = other, total * 2 + k
        p += 1
        __syncthreads()
        tl.store(out + k * BLOCK + tl.arange(0, BLOCK), tl.full((BLOCK,), k, tl.int64))
    if flag > 0:
        total += t
    else:
        total -= ld(p)
    i = 0
    while i < rounds:
        total += ld(x + t) + i
        __syncthreads()
        i += 1
    st(out + rounds * BLOCK + t, total)
    st(out + rounds * BLOCK + ntid(0) + t, other)


@pytest.mark.parametrize("flag", [0, 1])
@pytest.mark.parametrize("rounds", [0, 1, 5])
def test_values_that_loops_carry(rounds, flag):
    rng = np.random.default_rng(7)
    n, block = 64, 16
    x = rng.integers(-50, 50, n + rounds + 1)
    out = np.zeros(rounds * block + 2 * n, np.int64)
    carried[(1,)](out, x, rounds, flag, block, num_warps=2)
    t = np.arange(n)
    total, other = x[:n].copy(), x[:n] + 1
    for k in range(rounds):
        total, other = other, total * 2 + k
        assert (out[k * block:(k + 1) * block] == k).all()
    total = total + t if flag else total - x[t + rounds]
    for i in range(rounds):
        total = total + x[:n] + i
    np.testing.assert_array_equal(out[rounds * block:rounds * block + n], total)
    np.testing.assert_array_equal(out[rounds * block + n:], other)


@nereid.jit
def updates(counter, old, claimed, winner):
    t = tid(0)
    atomic_add(counter, 2)                       # every thread
    st(old + t, atomic_add(counter + 1, t, "gpu", "acq_rel"))
    red_release(counter + 2, t)
    if t < 10:
        atomic_add(counter + 3, 1)
    __fence()
    membar("gl")
    if atomic_cas(claimed, 0, t + 1, "sys", "acq_rel") == 0:
        st(winner, t)
    tl.atomic_add(counter + 4, 1)                # the program
    if t < 7:
        tl.atomic_add(counter + 5, 1)            # the program, since thread 0 gets here
        tl.store(counter + 6, t + 1)


def test_each_thread_updates_and_programs_do_once():
    counter, old = np.zeros(7, np.int32), np.zeros(128, np.int32)
    claimed, winner = np.zeros(1, np.int64), np.full(1, -1, np.int32)
    updates[(3,)](counter, old, claimed, winner)
    n, sum_of_numbers = 128, 128 * 127 // 2
    assert counter.tolist() == [2 * 3 * n, 3 * sum_of_numbers, 3 * sum_of_numbers, 30, 3, 3, 1]
    assert claimed[0] == winner[0] + 1 and 0 <= winner[0] < n


@nereid.jit
def narrow(p, q):
    t = tid(0)
    st_b32(p + t, ld_b32(q + t))
    st(p + 128 + t, ld_acquire(q + t, "sys"))
    st(q + t, 1.5)


def test_values_by_their_bits():
    q = np.random.default_rng(5).standard_normal(128).astype(np.float32)
    p, before = np.zeros(256, np.int32), q.copy()
    narrow[(1,)](p, q)
    np.testing.assert_array_equal(p.view(np.float32)[:128], before)
    np.testing.assert_array_equal(p.view(np.float32)[128:], before)
    assert (q == 1.5).all()


@nereid.jit
def region(out, x, n):
    with dl.simt_exec_region() as (thread, threads):
        for i in range(thread, n, threads):
            st(out + i, ld(x + i) + threads)


def test_region_of_threads():
    x, out = np.arange(300, dtype=np.int32), np.zeros(300, np.int32)
    region[(1,)](out, x, 300)
    np.testing.assert_array_equal(out, x + 128)


@nereid.jit
def exchange(flags, data, out, n):
    """Threads signal each rank and wait for each: thread by rank."""
    t = tid(0)
    rank = dl.rank()
    if t < n:
        st(dl.symm_at(data + rank, t), 100 * rank + t, "sys")
        st(dl.symm_at(flags + rank, t), 1, "sys", "release")
        while ld(flags + t, "sys", "acquire") != 1:
            pass
    __syncthreads()
    for i in range(t, n, ntid(0)):
        st(out + i, ld(data + i))


@nereid.jit
def cas_barrier(flags, n):
    t = tid(0)
    rank = dl.rank()
    if t < n:
        while atomic_cas(dl.symm_at(flags + rank, t), 0, 1, "sys", "release") != 0:
            pass
        while atomic_cas(flags + t, 1, 0, "sys", "acquire") != 1:
            pass
    __syncthreads()


def all_ranks():
    n = nereid.world_size()
    flags, data = nereid.symm.zeros((n,), "int32"), nereid.symm.zeros((n,), "int32")
    out = np.zeros(n, np.int32)
    exchange[(1,)](flags, data, out, n)
    nereid.barrier()
    barrier = nereid.symm.zeros((n,), "int32")
    for _ in range(10):
        cas_barrier[(1,)](barrier, n)
    assert (barrier.numpy() == 0).all() or n > 1
    return out.tolist()


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_threads_wait_for_other_ranks(ranks):
    for rank, out in enumerate(spawn(all_ranks, ranks)):
        assert out == [100 * peer + rank for peer in range(ranks)]


PRELUDE = ["from nereid.language.extra.language_extra import tid, __syncthreads, ld, st"]


@pytest.mark.parametrize("body, message", [
    (["tl.store(p + tid(0) + tl.arange(0, 8), 0)"], "a block cannot depend on the number of a thread"),
    (["if tid(0) < 3:", "    tl.store(p + tl.arange(0, 8), 0)"], "blocks belong to all of them"),
    (["st(p + tl.arange(0, 8), 0)"], "a thread reads and writes one element"),
    (["tid(3)"], "axis"),
])
def test_what_threads_cannot_do(body, message):
    kernel = load_kernel([*PRELUDE, "@nereid.jit", "def kernel(p):", *("    " + line for line in body)])
    with pytest.raises(nereid.CompilationError, match=message) as error:
        kernel[(1,)](np.zeros(256, np.int32))
    assert "kernel(p)" not in str(error.value) and ":" in str(error.value)


ALL = tl.constexpr(0xFFFFFFFF)


@nereid.jit
def shuffles(out, x, n, lane, delta):
    t = tid(0)
    v = ld(x + t)
    st(out + t, __shfl_sync_i32(ALL, v, lane))
    st(out + n + t, __shfl_up_sync_i32(ALL, v, delta))
    st(out + 2 * n + t, __shfl_down_sync_i32(ALL, v, delta))
    st(out + 3 * n + t, __shfl_xor_sync_i32(ALL, v, delta))
    st(out + 4 * n + t, __shfl_sync_i32(ALL, v, 31 - laneid()))


@pytest.mark.parametrize("dtype", ["int32", "uint32", "float32"])
@pytest.mark.parametrize("lane, delta", [(0, 1), (31, 5), (7, 16)])
def test_shuffles(dtype, lane, delta):
    n = 96
    x = (np.random.default_rng(lane).standard_normal(n) * 1e6).astype(dtype) if dtype == "float32" else \
        np.random.default_rng(lane).integers(0, 1 << 31, n).astype(dtype)
    out = np.zeros(5 * n, dtype)
    shuffles[(1,)](out, x, n, lane, delta, num_warps=n // 32)
    warps, lanes = x.reshape(-1, 32), np.arange(32)
    expected = [
        np.repeat(warps[:, lane:lane + 1], 32, 1), warps[:, np.where(lanes >= delta, lanes - delta, lanes)],
        warps[:, np.where(lanes + delta < 32, lanes + delta, lanes)], warps[:, lanes ^ delta], warps[:, ::-1],
    ]
    np.testing.assert_array_equal(out, np.concatenate([e.ravel() for e in expected]))


@nereid.jit
def prefix_sums(out, x):
    t = tid(0)
    value = ld(x + t)
    i = 1
    while i < 32:
        before = __shfl_up_sync_i32(ALL, value, i)
        if laneid() >= i:
            value += before
        i = i * 2
    st(out + t, value)


def test_prefix_sums_of_warps():
    x = np.random.default_rng(8).integers(0, 255, 256).astype(np.int32)
    out = np.zeros_like(x)
    prefix_sums[(1,)](out, x, num_warps=8)
    np.testing.assert_array_equal(out, np.cumsum(x.reshape(-1, 32), axis=1).ravel())


@nereid.jit
def votes(out, x, n):
    t = tid(0)
    v = ld(x + t)
    st(out + t, __ballot_sync(ALL, v > 0))
    if laneid() < 16:
        st(out + n + t, __ballot_sync(ALL, v > 0))


def test_ballots():
    n = 128
    x = np.random.default_rng(2).integers(-3, 4, n).astype(np.int32)
    out = np.zeros(2 * n, np.int32)
    votes[(1,)](out, x, n)
    bits = ((x.reshape(-1, 32) > 0).astype(np.uint64) << np.arange(32, dtype=np.uint64))
    np.testing.assert_array_equal(out[:n].view(np.uint32).reshape(-1, 32), np.repeat(bits.sum(1, keepdims=True), 32, 1))
    half = np.where(np.arange(32) < 16, bits[:, :16].sum(1, keepdims=True), 0)
    np.testing.assert_array_equal(out[n:].view(np.uint32).reshape(-1, 32), half)


@nereid.jit
def rows_by_warp(out, x, n):
    """Each warp sums rows of 32, as many as fall to it: threads of different warps leave the loop in different rounds."""
    t = tid(0)
    warp = t // 32
    rows = 0
    for row in range(warp, n, num_warps()):
        v = ld(x + row * 32 + laneid())
        for step in tl.static_range(5):
            v += __shfl_xor_sync_i32(ALL, v, 16 >> step)
        if laneid() == 0:
            st(out + row, v)
        rows += 1
    st(out + n + t, rows)


@pytest.mark.parametrize("n", [1, 4, 7, 13])
def test_warps_leave_a_loop_one_after_the_other(n):
    x = np.random.default_rng(n).integers(-50, 50, 32 * n).astype(np.int32)
    out = np.zeros(n + 128, np.int32)
    rows_by_warp[(1,)](out, x, n)
    np.testing.assert_array_equal(out[:n], x.reshape(n, 32).sum(1))
    np.testing.assert_array_equal(out[n:], np.repeat([len(range(w, n, 4)) for w in range(4)], 32))


@nereid.jit
def search(out, x, limit):
    """A loop that each thread leaves when it has found its number; both ways of a branch in it."""
    t = tid(0)
    found = 0
    here = ld(x + t)
    while here < limit:
        if here % 2 == 0:
            found += __shfl_sync_i32(ALL, here, laneid())
        else:
            found -= __shfl_sync_i32(ALL, here, laneid())
        here = here * 3 + 1
    st(out + t, found)
    st(out + 64 + t, here)


def test_threads_leave_a_loop_one_after_the_other():
    x = np.random.default_rng(4).integers(1, 60, 64).astype(np.int32)
    x[3] = 5000
    out = np.zeros(128, np.int32)
    search[(1,)](out, x, 4000, num_warps=2)
    for t in range(64):
        found, here = 0, int(x[t])
        while here < 4000:
            found += here if here % 2 == 0 else -here
            here = here * 3 + 1
        assert (out[t], out[64 + t]) == (found, here), t


@nereid.jit
def first_warp(out, x):
    t = tid(0)
    if t < 32:
        st(out + t, ld(x + t))
        __syncthreads()
        tl.store(out + 64, 7)
        st(out + 32 + t, ld(out + 31 - t))


def test_barrier_of_some_threads_is_warned_of():
    x, out = np.arange(32, dtype=np.int32), np.zeros(65, np.int32)
    with pytest.warns(UserWarning, match="only some threads of the program reach this barrier"):
        first_warp[(1,)](out, x)
    np.testing.assert_array_equal(out, np.concatenate([x, x[::-1], [7]]))
