# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The memory model by small programs, in the kernel language and so on every target (unittests/Runtime/LitmusTest.cpp
has the same ones for the runtime's own interface, with those for several nodes).

Each row says which outcomes docs/memory-model.md allows: over many rounds no other may appear. Cells and
registers are words of 8 bytes that start as 0; the cells of a round lie on lines of their own."""

import collections

import numpy as np
import pytest

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device as shmem
from nereid.testing import spawn

CELLS, LINE, REGISTERS, ROUNDS = 4, 8, 2, 400


@nereid.jit
def signal(cells, i: tl.constexpr, pe):
    shmem.signal_op(cells + i * 8, 1, shmem.NVSHMEM_SIGNAL_SET, pe)


@nereid.jit
def put(cells, i: tl.constexpr, value, pe):
    """`value` to cell i of pe, by way of the own cell 3."""
    tl.store(cells + 24, value)
    shmem.putmem(cells + i * 8, cells + 24, 8, pe)


@nereid.jit
def read_after(cells, i: tl.constexpr, wait: tl.constexpr):
    """Cell i after cell `wait` has become 1."""
    token = dl.wait(cells + wait * 8, 1, "sys", "acquire", waitValue=1)
    return tl.load(dl.consume_token(cells, token) + i * 8)


@nereid.jit
def store_and_notify(me, cells, registers):
    if me == 0:
        tl.store(dl.symm_at(cells, 1), 1)
        dl.notify(cells + 8, 1, signal=1, sig_op="set", comm_scope="intra_node")
    else:
        tl.store(registers, read_after(cells, 0, 1))


@nereid.jit
def store_and_notify_to_nodes(me, cells, registers):
    if me == 0:
        tl.store(dl.symm_at(cells, 1), 1)
        dl.notify(cells + 8, 1, signal=1, sig_op="set", comm_scope="inter_node")
    else:
        tl.store(registers, read_after(cells, 0, 1))


@nereid.jit
def put_and_notify(me, cells, registers):
    if me == 0:
        put(cells, 0, 1, 1)
        dl.notify(cells + 8, 1, signal=1, sig_op="set", comm_scope="intra_node")
    else:
        tl.store(registers, read_after(cells, 0, 1))


@nereid.jit
def put_fence_signal(me, cells, registers):
    if me == 0:
        put(cells, 0, 1, 1)
        shmem.fence()
        signal(cells, 1, 1)
    else:
        tl.store(registers, read_after(cells, 0, 1))


@nereid.jit
def put_quiet_signal(me, cells, registers):
    if me == 0:
        put(cells, 0, 1, 1)
        shmem.quiet()
        signal(cells, 1, 1)
    else:
        tl.store(registers, read_after(cells, 0, 1))


@nereid.jit
def put_signal_without_order(me, cells, registers):
    if me == 0:
        put(cells, 0, 1, 1)
        signal(cells, 1, 1)
    else:
        tl.store(registers, read_after(cells, 0, 1))


@nereid.jit
def put_with_signal(me, cells, registers):
    if me == 0:
        tl.store(cells + 24, 1)
        shmem.putmem_signal(cells, cells + 24, 8, cells + 8, 1, shmem.NVSHMEM_SIGNAL_SET, 1)
    else:
        tl.store(registers, read_after(cells, 0, 1))


@nereid.jit
def nbi_with_signal(me, cells, registers):
    if me == 0:
        tl.store(cells + 24, 1)
        shmem.putmem_signal_nbi_block(cells, cells + 24, 8, cells + 8, 1, shmem.NVSHMEM_SIGNAL_SET, 1)
    else:
        tl.store(registers, read_after(cells, 0, 1))


@nereid.jit
def notify_by_way_of_a_third(me, cells, registers):
    """Signals are cumulative: who has seen one passes on what was before it."""
    if me == 0:
        tl.store(dl.symm_at(cells, 1), 1)
        dl.notify(cells + 8, 2, signal=1, sig_op="set", comm_scope="intra_node")
    elif me == 2:
        token = dl.wait(cells + 8, 1, "sys", "acquire", waitValue=1)
        dl.notify(dl.consume_token(cells, token) + 16, 1, signal=1, sig_op="set", comm_scope="intra_node")
    else:
        tl.store(registers, read_after(cells, 0, 2))


@nereid.jit
def quiet_by_way_of_a_third(me, cells, registers):
    if me == 0:
        put(cells, 0, 1, 1)
        shmem.quiet()
        signal(cells, 1, 2)
    elif me == 2:
        shmem.signal_wait_until(cells + 8, shmem.NVSHMEM_CMP_EQ, 1)
        signal(cells, 2, 1)
    else:
        tl.store(registers, read_after(cells, 0, 2))


@nereid.jit
def buffered_stores(me, cells, registers):
    shmem.uint64_p(cells + me * 8, 1, 1 - me)
    tl.store(registers, tl.load(cells + (1 - me) * 8, volatile=True))


@nereid.jit
def buffered_stores_and_quiet(me, cells, registers):
    shmem.uint64_p(cells + me * 8, 1, 1 - me)
    shmem.quiet()
    tl.store(registers, tl.load(cells + (1 - me) * 8, volatile=True))


@nereid.jit
def buffered_stores_and_barrier(me, cells, registers):
    shmem.uint64_p(cells + me * 8, 1, 1 - me)
    shmem.barrier_all()
    tl.store(registers, tl.load(cells + (1 - me) * 8, volatile=True))


@nereid.jit
def independent_reads(me, cells, registers):
    """x is cell 0 of rank 0, y cell 1 of rank 1."""
    if me < 2:
        shmem.uint64_p(cells + me * 8, 1, me)
    else:
        first = me - 2
        tl.store(registers, shmem.uint64_g(cells + first * 8, first))
        tl.store(registers + 1, shmem.uint64_g(cells + (1 - first) * 8, 1 - first))


@nereid.jit
def source_after_put(me, cells, registers):
    if me == 0:
        put(cells, 0, 1, 1)
        tl.store(cells + 24, 2)
        shmem.fence()
        signal(cells, 1, 1)
    else:
        tl.store(registers, read_after(cells, 0, 1))


@nereid.jit
def source_after_quiet(me, cells, registers):
    if me == 0:
        tl.store(cells + 24, 1)
        shmem.putmem_nbi(cells, cells + 24, 8, 1)
        shmem.quiet()
        tl.store(cells + 24, 2)
        signal(cells, 1, 1)
    else:
        tl.store(registers, read_after(cells, 0, 1))


@nereid.jit
def target_after_quiet(me, cells, registers):
    tl.store(cells, 1)
    shmem.barrier_all()
    if me == 0:
        shmem.getmem_nbi(cells + 16, cells, 8, 1)
        shmem.quiet()
        tl.store(registers, tl.load(cells + 16, volatile=True))


@nereid.jit
def two_puts_and_fence(me, cells, registers):
    if me == 0:
        put(cells, 0, 1, 1)
        shmem.fence()
        put(cells, 0, 2, 1)
        shmem.quiet()
        signal(cells, 1, 1)
    else:
        tl.store(registers, read_after(cells, 0, 1))


@nereid.jit
def coherence(me, cells, registers):
    if me == 0:
        shmem.signal_op(cells, 1, shmem.NVSHMEM_SIGNAL_SET, 1)
        shmem.fence()
        shmem.signal_op(cells, 2, shmem.NVSHMEM_SIGNAL_SET, 1)
    else:
        tl.store(registers, shmem.uint64_g(cells, 1))
        tl.store(registers + 1, shmem.uint64_g(cells, 1))


@nereid.jit
def atomics_hand_out_tickets(me, cells, registers):
    """Each rank gets another number."""
    tl.store(registers, shmem.uint64_atomic_fetch_add(cells, 1, 0))


@nereid.jit
def program_order(me, cells, registers):
    """A program reads what it has written itself."""
    tl.store(cells, me + 1)
    first = tl.load(cells)
    tl.store(cells, 0)
    tl.store(registers, first)
    tl.store(registers + 1, tl.load(cells))


#: Program, ranks, what is shown (rank and register), outcomes that are allowed.
PROGRAMS = [
    (store_and_notify, 2, [(1, 0)], {"1"}),
    (store_and_notify_to_nodes, 2, [(1, 0)], {"1"}),
    (put_and_notify, 2, [(1, 0)], {"1"}),
    (put_fence_signal, 2, [(1, 0)], {"1"}),
    (put_quiet_signal, 2, [(1, 0)], {"1"}),
    (put_signal_without_order, 2, [(1, 0)], {"0", "1"}),
    (put_with_signal, 2, [(1, 0)], {"1"}),
    (nbi_with_signal, 2, [(1, 0)], {"1"}),
    (notify_by_way_of_a_third, 3, [(1, 0)], {"1"}),
    (quiet_by_way_of_a_third, 3, [(1, 0)], {"1"}),
    (buffered_stores, 2, [(0, 0), (1, 0)], {"00", "01", "10", "11"}),
    (buffered_stores_and_quiet, 2, [(0, 0), (1, 0)], {"01", "10", "11"}),
    (buffered_stores_and_barrier, 2, [(0, 0), (1, 0)], {"11"}),
    (independent_reads, 4, [(2, 0), (2, 1), (3, 0), (3, 1)], {f"{i:04b}" for i in range(16)} - {"1010"}),
    (source_after_put, 2, [(1, 0)], {"1"}),
    (source_after_quiet, 2, [(1, 0)], {"1"}),
    (target_after_quiet, 2, [(0, 0)], {"1"}),
    (two_puts_and_fence, 2, [(1, 0)], {"2"}),
    (coherence, 2, [(1, 0), (1, 1)], {"00", "01", "02", "11", "12", "22"}),
    (atomics_hand_out_tickets, 3, [(0, 0), (1, 0), (2, 0)], {"012", "021", "102", "120", "201", "210"}),
    (program_order, 2, [(0, 0), (0, 1), (1, 0), (1, 1)], {"1020"}),
]


@nereid.jit
def litmus_kernel(cells, registers, rounds, PROGRAM: tl.constexpr):
    me = dl.rank()
    for i in range(rounds):
        if i % 8 == 0:  # ranks start a round close together
            shmem.barrier_all()
        PROGRAM(me, cells + i * 32, registers + i * 2)


def outcomes(ranks):
    """What was seen, by program: outcome -> rounds."""
    found = {}
    for program, wanted, shown, _ in PROGRAMS:
        if wanted != ranks:
            continue
        cells, registers = nereid.symm.zeros(ROUNDS * CELLS * LINE, np.uint64), nereid.symm.zeros((ROUNDS, REGISTERS), np.uint64)
        litmus_kernel[(1,)](cells, registers, ROUNDS, program)
        everyone = nereid.symm.all_gather(registers)
        found[program.__name__] = collections.Counter(
            "".join(str(everyone[rank, i, register]) for rank, register in shown) for i in range(ROUNDS))
    return found


@pytest.mark.parametrize("environment", [{}, {"NEREID_SCHEDULE": "random:21"}, {"NEREID_SCHEDULE": "random:22"}],
                         ids=["fifo", "random:21", "random:22"])
@pytest.mark.parametrize("ranks", sorted({row[1] for row in PROGRAMS}))
def test_forbidden_outcomes_never_appear(ranks, environment):
    found = spawn(outcomes, ranks, (ranks,), environment=environment)[0]
    for program, wanted, _, allowed in PROGRAMS:
        if wanted == ranks:
            seen = found[program.__name__]
            assert sum(seen.values()) == ROUNDS and set(seen) <= allowed, f"{program.__name__}: {dict(seen)}, allowed are {allowed}"
