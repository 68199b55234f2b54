# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transfers, signals and collectives of the host; constructors; what a full heap says."""

import os
import time

import numpy as np
import pytest

import nereid
import nereid.distributed as dl
import nereid.language as tl

rng = np.random.default_rng(int(os.environ.get("NEREID_TEST_SEED", "0")))


@pytest.mark.ranks(1, 3)
def test_put_and_get():
    me, world = nereid.rank(), nereid.world_size()
    for dtype in (np.float32, np.int8, "bfloat16", np.float16, np.int64):
        x = nereid.symm.zeros((5, 7), dtype)
        nereid.symm.put(x, np.full((5, 7), me + 1).astype(x.dtype), (me + 1) % world)
        nereid.barrier()
        assert (x.numpy().astype(np.float64) == (me - 1) % world + 1).all()
        got = nereid.symm.get(x, (me + 1) % world)
        assert got.dtype == x.dtype and (got.astype(np.float64) == me + 1).all()
        out = np.zeros((5, 7), np.float64)
        assert nereid.symm.get(x, me, out=out) is out and (out == (me - 1) % world + 1).all()
        nereid.barrier()


@pytest.mark.ranks(3)
def test_signals_order_what_was_written():
    me, world = nereid.rank(), nereid.world_size()
    data, flags = nereid.symm.zeros(64, np.int32), nereid.symm.zeros((2, 2), np.int32)
    nereid.barrier()
    following = (me + 1) % world
    for round_ in range(1, 50):
        nereid.symm.put(data, np.full(64, round_, np.int32), following)
        nereid.symm.signal_op(flags, 1, following, index=(1, 0), op="add")
        nereid.symm.signal_wait_until(flags, round_, index=(1, 0), cmp="ge")
        assert (data.numpy() == round_).all()
        nereid.barrier()
    nereid.symm.signal_op(flags, -5, me, index=3)
    nereid.symm.signal_wait_until(flags, 0, index=3, cmp="<")
    assert flags[1, 1] == -5


def test_collectives(ranks):
    shape = tuple(int(n) for n in rng.integers(1, 9, 3))

    def body(parts):
        me, world = nereid.rank(), nereid.world_size()
        mine = parts[me]
        np.testing.assert_array_equal(nereid.symm.all_gather(mine), np.stack(parts[:world]))
        np.testing.assert_array_equal(nereid.symm.broadcast(mine, 1), parts[1])
        total = parts[0]
        for part in parts[1:world]:
            total = total + part
        np.testing.assert_array_equal(nereid.symm.all_reduce(mine), total)
        np.testing.assert_array_equal(nereid.symm.all_reduce(mine, "max"), np.max(parts[:world], axis=0))
        tensor = nereid.symm.from_array(mine)
        assert nereid.symm.broadcast(tensor, world - 1) is tensor
        np.testing.assert_array_equal(tensor.numpy(), parts[world - 1])
        blocks = np.arange(world * 2 * 3).reshape(world * 2, 3) + 1000 * me
        expected = np.concatenate([np.arange(world * 6).reshape(world * 2, 3)[2 * me : 2 * me + 2] + 1000 * r
                                   for r in range(world)])
        np.testing.assert_array_equal(nereid.symm.all_to_all(blocks), expected)
        nereid.symm.all_gather(np.float32(3)), nereid.symm.all_gather(np.zeros((0, 3)))

    for world in (2, 4):
        ranks(world, body, [rng.standard_normal(shape).astype(np.float32) for _ in range(world)])


@pytest.mark.ranks(2)
def test_collectives_that_differ():
    with pytest.raises(nereid.JobError, match="different collective calls") as caught:
        nereid.symm.all_gather(np.zeros(3 + nereid.rank()))
    assert "(3,)" in str(caught.value) and "(4,)" in str(caught.value)


@pytest.mark.ranks(2, environment={"NEREID_TIMEOUT": "2"})
def test_a_host_at_work_is_progress():
    """Others wait in a barrier for much longer than the limit."""
    if nereid.rank() == 1:
        while time.process_time() < 6:
            sum(range(10000))
    nereid.barrier()


@pytest.mark.ranks(2, environment={"NEREID_TIMEOUT": "2"})
def test_a_host_that_sleeps_is_none():
    nereid.barrier()
    if nereid.rank() == 1:
        time.sleep(6)
    with pytest.raises(nereid.JobError, match="rank 1 is in host code and has not come .* nor computed anything"):
        nereid.barrier()


@pytest.mark.ranks(2, environment={"NEREID_TIMEOUT": "1"})
def test_a_host_wait_that_nobody_answers():
    flags = nereid.symm.zeros(4, np.uint64, name="flags")
    nereid.barrier()
    if nereid.rank() == 1:
        time.sleep(3)
        return
    start = time.monotonic()
    with pytest.raises(nereid.JobError) as caught:
        nereid.symm.signal_wait_until(flags, 5, index=2)
    assert time.monotonic() - start < 5
    text = str(caught.value)
    assert "host wait on 'flags' uint64 (4,) + 16" in text and "value 0, waits for 5" in text, text


@pytest.mark.ranks(2)
@pytest.mark.parametrize("other", ["wait", "barrier", "launch in a stream"])
def test_waits_that_nobody_can_end_are_a_deadlock(other):
    @nereid.jit
    def kernel(flag_ptr):
        token = dl.wait(flag_ptr, 1, "gpu", "acquire", waitValue=8)
        tl.store(dl.consume_token(flag_ptr, token), 0)

    flags = nereid.symm.full(4, 3 + nereid.rank(), np.int32, name="flags")
    nereid.barrier()
    with pytest.raises((nereid.JobError, nereid.LaunchError), match="deadlock") as caught:
        if nereid.rank() == 0 or other == "wait":
            nereid.symm.signal_wait_until(flags, 2, index=1)
        elif other == "barrier":
            nereid.barrier()
        else:
            stream = nereid.Stream()
            with stream:
                kernel[(1,)](flags)
            stream.synchronize()
    text = " ".join(str(caught.value).split())
    assert "rank 0: host wait on 'flags' int32 (4,) + 4, on rank 0: value 3, waits for 2" in text, text
    assert "the signal has passed the awaited value" in text, text
    assert {"wait": "on rank 1: value 4, waits for 2", "barrier": "rank 1: host barrier (barrier())",
            "launch in a stream": "value 4, waits for 8"}[other] in text, text
    nereid.recover()


def test_a_stream_that_will_signal_is_no_deadlock():
    flags = nereid.symm.zeros(3, np.int32)
    one, two, event = nereid.Stream("one"), nereid.Stream("two"), nereid.Event()

    def slow():
        time.sleep(0.5)
        nereid.symm.signal_op(flags, 1, 0)

    one.call(slow)
    event.record(one)
    two.wait(event)
    two.call(time.sleep, 0.4)
    with two:
        nereid.symm.signal_op(flags, 1, 0, index=1)
    nereid.symm.signal_wait_until(flags, 1)
    nereid.symm.signal_wait_until(flags, 1, index=1)
    nereid.synchronize()
    with pytest.raises(nereid.JobError, match="deadlock"):
        nereid.symm.signal_wait_until(flags, 1, index=2)


def test_a_wait_for_a_rank_that_dies(ranks):
    def body():
        flags = nereid.symm.zeros(1, np.int32, name="flags")
        nereid.barrier()
        if nereid.rank() == 1:
            os._exit(3)
        start = time.monotonic()
        with pytest.raises(nereid.JobError) as caught:
            nereid.symm.signal_wait_until(flags, 1)
        assert time.monotonic() - start < 5
        assert "rank 1" in str(caught.value) and "exited with code 3" in str(caught.value), str(caught.value)
        raise ValueError("as expected")

    with pytest.raises(pytest.fail.Exception, match="ValueError: as expected"):
        ranks(2, body)


def test_wrong_calls():
    x, flags = nereid.symm.zeros((2, 3)), nereid.symm.zeros(2, np.int32)
    for call, error, text in [
        (lambda: nereid.symm.put(x, np.zeros((3, 2)), 0), ValueError, "shape"),
        (lambda: nereid.symm.put(np.zeros(3), np.zeros(3), 0), TypeError, "symmetric tensor"),
        (lambda: nereid.symm.put(flags, np.array([1.7, 2], np.float32), 0), TypeError,
         r"dtype float32, the destination int32; write source.astype\('int32'\)"),
        (lambda: nereid.symm.put(flags, [1.7, 2], 0), TypeError, "dtype float64, the destination int32"),
        (lambda: nereid.symm.put(x, x, 1), ValueError, "outside the job of 1 ranks"),
        (lambda: nereid.symm.get(x, "0"), TypeError, "a rank is an integer"),
        (lambda: nereid.symm.signal_op(x, 1, 0), TypeError, "32-bit or 64-bit integers"),
        (lambda: nereid.symm.signal_op(flags, 1, 0, index=2), IndexError, "outside"),
        (lambda: nereid.symm.signal_op(flags, 1 << 31, 0), OverflowError, "does not fit"),
        (lambda: nereid.symm.signal_op(flags, 1, 0, op="xor"), ValueError, "'set' or 'add'"),
        (lambda: nereid.symm.signal_op(flags, 1.5, 0), TypeError, "is a whole number, not float 1.5"),
        (lambda: nereid.symm.signal_op(flags, 1, 0, index=0.5), TypeError, "is a whole number, not float 0.5"),
        (lambda: nereid.symm.signal_wait_until(flags, np.float32(1)), TypeError, "is a whole number"),
        (lambda: nereid.symm.signal_wait_until(flags, 1, cmp="about"), ValueError, "eq, ne"),
        (lambda: nereid.symm.all_reduce(x, "mean"), ValueError, "sum, prod"),
        (lambda: x.copy_(np.zeros(4)), ValueError, "cannot be copied"),
        (lambda: x.peer(1.5), TypeError, "a rank is an integer"),
    ]:
        with pytest.raises(error, match=text):
            call()
    nereid.symm.put(flags, [3, 4], 0)
    assert flags.numpy().tolist() == [3, 4]


def test_like():
    base = nereid.symm.zeros((2, 3), np.float16)
    for tensor, value in [(nereid.symm.zeros_like(base), 0), (nereid.symm.ones_like(base), 1),
                          (nereid.symm.full_like(base, 4), 4), (nereid.symm.empty_like(base).fill_(5), 5)]:
        assert tensor.shape == (2, 3) and tensor.dtype == np.float16 and (tensor.numpy() == value).all()
    other = nereid.symm.ones_like(np.zeros(5, np.int16), np.float64)
    assert other.shape == (5,) and other.dtype == np.float64
    assert (other.zero_().numpy() == 0).all() and (other.copy_(np.arange(5)).numpy() == np.arange(5)).all()


@pytest.mark.ranks(2, environment={"NEREID_HEAP_SIZE": "1M"})
def test_full_heap_says_who_took_it():
    kept = nereid.symm.zeros((400, 512), np.float32, name="activations")  # takes most
    with pytest.raises(nereid.JobError) as caught:
        nereid.symm.zeros((300, 512), np.float32, name="weights")
    text = str(caught.value)
    line = next(i for i, row in enumerate(open(__file__), 1) if row.rstrip().endswith("# takes most"))
    assert "'weights' float32 (300, 512) needs 600 KiB" in text, text
    assert f"'activations' float32 (400, 512) 800 KiB at {__file__}:{line}" in text, text
    assert "NEREID_HEAP_SIZE" in text and nereid.symm.allocations()[-1]["where"].startswith(__file__)
    # Freed memory is used again.
    nereid.symm.free(kept)
    nereid.symm.zeros((300, 512), np.float32, name="weights")


def line_of(mark: str) -> int:
    return next(i for i, row in enumerate(open(__file__), 1) if row.rstrip().endswith("# " + mark))


@pytest.mark.ranks(3)
def test_collectives_that_differ_name_the_lines():
    """Each rank's call and its line, whatever the calls are made of inside."""
    for _ in range(2):  # the first allocation makes more than later ones do
        with pytest.raises(nereid.JobError, match="different collective calls") as caught:
            if nereid.rank() == 1:
                nereid.barrier()  # the barrier
            else:
                nereid.symm.zeros(4)  # the allocation
        text = str(caught.value)
        assert f"at {__file__}:{line_of('the allocation')}, rank 1 called barrier() at {__file__}:{line_of('the barrier')}" in text, text
        assert "rank 0 called nereid.symm" in text or "rank 0 called allocate('list of dropped tensors'" in text, text
        assert "bookkeeping" not in text
        a = nereid.symm.zeros(4)  # the job goes on
        assert not a.numpy().any()
