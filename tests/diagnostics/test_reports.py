# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the report of a failed job holds: rank, program, line, signal, value, awaited value, who is missing."""

import time

import numpy as np
import pytest

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device


def line(text: str) -> int:
    return next(i for i, row in enumerate(open(__file__), 1) if row.rstrip().endswith("# " + text))


@nereid.jit
def wait_kernel(flags_ptr, x_ptr, index, expected):
    program = tl.program_id(0)
    token = dl.wait(flags_ptr + index + program, 1, "gpu", "acquire", waitValue=expected)  # waits
    tl.store(dl.consume_token(x_ptr, token), 1.0)


@nereid.jit
def add_kernel(flags_ptr, peer, times):
    for _ in range(times):
        dl.notify(flags_ptr, peer, signal=1, sig_op="add", comm_scope="intra_node")


@nereid.jit
def until_kernel(signal_ptr, x_ptr):
    seen = libshmem_device.signal_wait_until(signal_ptr, libshmem_device.NVSHMEM_CMP_GE, 9)  # waits until
    tl.store(x_ptr, seen.to(tl.float32))


@nereid.jit
def barrier_kernel(x_ptr):
    if tl.program_id(0) != 2:
        libshmem_device.barrier_all()  # barrier
    tl.store(x_ptr, 1.0)


@nereid.jit
def spin_kernel(flags_ptr, peer, expected):
    if peer >= 0:
        dl.notify(flags_ptr + 2, peer, signal=3, comm_scope="intra_node")
    while tl.load(flags_ptr + 2) < expected:  # spins
        pass


@nereid.jit
def lock_kernel(flags_ptr, x_ptr):
    dl.notify(flags_ptr, dl.rank(), signal=1, sig_op="add", comm_scope="intra_node")
    done = tl.load(flags_ptr)
    while done != 7:  # looks again
        done = tl.atomic_add(flags_ptr, 0, sem="acquire")
    tl.store(x_ptr, done)


def failure(call) -> nereid.LaunchError:
    start = time.monotonic()
    with pytest.raises(nereid.LaunchError) as caught:
        call()
    assert time.monotonic() - start < 5
    return caught.value


@pytest.mark.ranks(2)
def test_every_survivor_gets_the_whole_picture():
    flags, x = nereid.symm.zeros(8, np.int64, name="flags"), nereid.symm.zeros(1)
    nereid.barrier()
    me = nereid.rank()
    if me == 0:
        error = failure(lambda: wait_kernel[(2,)](flags, x, 3, 5))
    else:
        error = failure(lambda: until_kernel[(1,)](flags_u64(flags), x))
    assert error.code == "deadlock"
    by_rank = {rank: [entry for entry in error.blocked if entry["rank"] == rank] for rank in (0, 1)}
    (first,) = by_rank[0]
    assert (first["kind"], first["current"], first["awaited"], first["comparison"]) == ("wait", 0, 5, "==")
    assert first["address"] == "'flags' int64 (8,) + 24, on rank 0 and 1 other place"
    assert (first["programs"], first["program_count"]) == ("0, 1", 2)
    assert first["site"].startswith(f"{__file__}:{line('waits')}:")
    (other,) = by_rank[1]
    assert other["kind"] == "signal_wait_until" and (other["awaited"], other["comparison"]) == (9, ">=")
    assert other["site"].startswith(f"{__file__}:{line('waits until')}:")


def flags_u64(flags):
    """The same memory as unsigned signals."""
    return flags.numpy().view(np.uint64)


@pytest.mark.ranks(2)
def test_a_signal_that_has_passed_the_awaited_value():
    flags, x = nereid.symm.zeros(1, np.int64, name="counter"), nereid.symm.zeros(1)
    nereid.barrier()
    add_kernel[(1,)](flags, 1 - nereid.rank(), 3)
    nereid.barrier()
    error = failure(lambda: wait_kernel[(1,)](flags, x, 0, 2))
    assert error.code == "deadlock"
    assert "value 3, waits for 2 (the signal has passed the awaited value" in str(error), str(error)


@pytest.mark.ranks(2)
def test_a_barrier_says_which_programs_are_missing():
    x = nereid.symm.zeros(1)
    nereid.barrier()
    error = failure(lambda: barrier_kernel[(4,)](x))
    assert error.code == "barrier mismatch"
    text = str(error)
    assert f"{__file__}:{line('barrier')}" in text, text
    assert "program (2, 0, 0)" in text or "1 program 2: ended" in text, text


@pytest.mark.ranks(2, environment={"NEREID_TIMEOUT": "1"})
def test_a_rank_that_never_enters_the_kernel():
    flags, x = nereid.symm.zeros(8, np.int64, name="flags"), nereid.symm.zeros(1)
    nereid.barrier()
    if nereid.rank() == 1:
        time.sleep(2.5)
        return
    error = failure(lambda: wait_kernel[(1,)](flags, x, 0, 1))
    assert error.code == "timeout" and "rank 1 is in host code" in str(error), str(error)


@pytest.mark.ranks(2)
def test_a_written_loop_says_what_it_waits_for():
    """At once: nothing moves any more, though NEREID_TIMEOUT is 30 s."""
    flags = nereid.symm.zeros(8, np.int32, name="flags")
    nereid.barrier()
    error = failure(lambda: spin_kernel[(1,)](flags, 1 - nereid.rank(), 5))
    assert error.code == "deadlock"
    for rank in (0, 1):
        (entry,) = [entry for entry in error.blocked if entry["rank"] == rank]
        assert (entry["current"], entry["awaited"], entry["comparison"]) == (3, 5, ">=")
        assert entry["address"] == f"'flags' int32 (8,) + 8, on rank {rank}", entry
        assert entry["site"].startswith(f"{__file__}:{line('spins')}:"), entry


@pytest.mark.ranks(1)
def test_a_written_loop_that_reads_in_its_body():
    flags, x = nereid.symm.zeros(8, np.int32, name="flags"), np.zeros(1, np.int32)
    error = failure(lambda: lock_kernel[(1,)](flags, x))
    (entry,) = error.blocked
    assert (error.code, entry["current"], entry["awaited"], entry["comparison"]) == ("deadlock", 1, 7, "==")
    assert entry["site"].startswith(f"{__file__}:{line('looks again')}:"), entry
    flags[0] = 6
    lock_kernel[(1,)](flags, x)
    assert x[0] == 7
