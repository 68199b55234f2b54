# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What no call of any operator does: meet a host barrier, allocate symmetric memory, take back a signal, keep or need memory
of the host. Each is counted, or would be missing in a count."""

import ctypes
import gc
import os
import time
import tracemalloc

import numpy as np
import pytest

import nereid
import nereid.ops
from nereid.ops.core import conformance, registry
from nereid.ops.core.group import Group

SEED = int(os.environ["NEREID_TEST_SEED"])  # set by conftest.py when the caller did not
LINE = 64  # bytes from one signal word to the next
MARK = (1 << 33) - 1  # the number of the call in a signal word; above it stands which call it is


def prepared(folder, group):
    """The first case of the operator on `group`, made and called once: (operator, a function that calls it)."""
    case = next(registry.cases(folder))
    op = case.make(group)
    if group.me < 0:
        return op, None
    given = [case.inputs(variant, np.random.default_rng((SEED, number, group.me)), group.me, group.size)
             for number, variant in enumerate(case.variants)]
    for arguments in given:
        case.call(op, arguments)
    return op, lambda number: case.call(op, given[number % len(given)])


def words(op):
    """The signal words of this rank."""
    found = []
    for space in op.workspaces:
        count = (space._payload_at - space._signals_at) // LINE
        found += [ctypes.c_int64.from_address(space._base + space._signals_at + i * LINE).value & MARK for i in range(count)]
    return found


@pytest.mark.ranks(3)
@pytest.mark.parametrize("folder", list(registry.OPERATORS))
def test_calls_meet_no_barrier(folder):
    """A rank that does not call meets one barrier; the others make a hundred calls before they come there."""
    done = nereid.symm.zeros((3,), np.int64)
    op, call = prepared(folder, Group([0, 1]) if nereid.rank() < 2 else Group([2]))
    nereid.barrier()
    if nereid.rank() < 2:
        for number in range(100):
            call(number)
        done.peer(2)[nereid.rank()] = 100
    nereid.barrier()
    if nereid.rank() == 2:
        assert done.numpy().tolist() == [100, 100, 0]
    nereid.barrier()
    op.close()


@pytest.mark.ranks(2)
@pytest.mark.parametrize("folder", list(registry.OPERATORS))
def test_calls_allocate_nothing_symmetric_and_take_no_signal_back(folder, monkeypatch):
    op, call = prepared(folder, Group([0, 1]))
    before = [(one["bytes"], one.get("address")) for one in nereid.symm.allocations()]
    for name in ("empty", "zeros", "free"):
        monkeypatch.setattr(nereid.symm, name, lambda *_, **__: pytest.fail("a call allocates or frees symmetric memory"))
    last, sums = words(op), []
    assert any(last)
    for number in range(60):
        call(number)
        now = words(op)
        assert all(new >= old for new, old in zip(now, last)), f"call {number}: a signal was taken back"
        last = now
        sums.append(sum(now))
    monkeypatch.undo()
    assert sums[-1] > sums[0]  # the words do count calls
    assert [(one["bytes"], one.get("address")) for one in nereid.symm.allocations()] == before
    nereid.barrier()
    op.close()


class Heap(ctypes.Structure):
    """glibc's struct mallinfo2."""

    _fields_ = [(name, ctypes.c_size_t) for name in
                ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


def heap():
    function = ctypes.CDLL(None).mallinfo2
    function.restype = Heap
    return function()


@pytest.mark.ranks(2)
def test_calls_into_an_array_need_and_keep_no_memory():
    """Of a megabyte; what a call needs meanwhile are a few small objects of Python."""
    n, size = 2, 1 << 18
    gather, scatter, reduce = nereid.ops.AllGather(size), nereid.ops.ReduceScatter(size // n), nereid.ops.AllReduce(size)
    exchange, product = nereid.ops.AllToAll(1, size // n), nereid.ops.GemmReduceScatter(256, 256, 256)
    x, whole, part = np.ones(size, np.float32), np.empty(n * size, np.float32), np.empty(size // n, np.float32)
    out, a = np.empty_like(x), np.ones((512, 256), np.float32)
    blocks, b, c = x.reshape(n, 1, -1), np.ones((256, 256), np.float32), np.empty((256, 256), np.float32)
    exchanged = np.empty_like(blocks)

    def calls():
        gather(x, out=whole), scatter(x, out=part), reduce(x, out=out), exchange(blocks, out=exchanged), product(a, b, out=c)

    for _ in range(3):
        calls()
    gc.collect()
    before = heap()
    tracemalloc.start()
    for _ in range(20):
        calls()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    gc.collect()
    after = heap()
    assert peak < 16 << 10
    assert after.hblkhd == before.hblkhd and after.uordblks - before.uordblks < 64 << 10


@pytest.mark.ranks(2)
def test_bits_do_not_depend_on_programs_or_on_who_is_late():
    """Sums of numbers of very different sizes, whose order shows in the result."""
    me, n = nereid.rank(), nereid.world_size()
    x = (np.random.default_rng((SEED, me)).standard_normal(20000) * 10.0 ** np.random.default_rng(me).integers(-6, 7, 20000))
    found = set()
    for programs in (1, 2, 5):
        for algorithm in ("one_shot", "one_shot_pull", "two_shot"):
            op = nereid.ops.AllReduce(20000, "float32", algorithm=algorithm, programs=programs)
            for late in (None, 0, 1):
                if late == me:
                    time.sleep(0.002)
                found.add(op(x.astype(np.float32)).tobytes())
            op.close()
    assert len(found) == 1
    everywhere = nereid.ops.AllGather(1, (), "int64")(np.array([int.from_bytes(found.pop()[:8], "little", signed=True)]))
    assert len(set(everywhere.tolist())) == 1 and n == 2


def drawn(case, rng, count):
    """`count` variants between the smallest and the largest of each size of the case; its own where they are no sizes."""
    shapes = [one if isinstance(one, tuple) else (one,) for one in case.variants]
    if len({len(shape) for shape in shapes}) != 1 or not all(isinstance(size, int) for shape in shapes for size in shape):
        return case.variants
    ranges = [(min(sizes), max(sizes)) for sizes in zip(*shapes)]
    found = [tuple(int(rng.integers(low, high + 1)) for low, high in ranges) for _ in range(count)]
    return [shape if isinstance(case.variants[0], tuple) else shape[0] for shape in found]


@pytest.mark.ranks(2)
@pytest.mark.parametrize("folder", ["all_reduce", "all_to_all", "all_gather_gemm", "gemm_reduce_scatter", "gemm_all_reduce"])
def test_random_shapes(folder):
    """Some three hundred calls in all, each of another shape."""
    rng = np.random.default_rng([SEED, sum(folder.encode())])
    for case in registry.cases(folder):
        variants = drawn(case, rng, 8)
        conformance.run(case._replace(name=f"{folder}, {case.name}, seed {SEED}", variants=variants), Group([1, 0]), len(variants), SEED)
