# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Making, calling and closing operators: what they refuse and how they say it, memory, streams, failures."""

import os
import signal
import time

import numpy as np
import pytest

import nereid
import nereid.ops
from nereid.ops import (
    AllGather, AllGatherGemm, AllReduce, AllToAll, Channel, FlashDecode, GemmAllReduce, GemmReduceScatter, ReduceScatter)


def message(call, kind=nereid.ArgumentError):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


def test_wrong_arguments_of_constructors(ranks):
    def work():
        assert message(lambda: AllReduce(0)) == "AllReduce: max_elements is a positive integer, not 0"
        assert "complex64" in message(lambda: AllReduce(8, "complex64"))
        assert message(lambda: AllReduce(8, op="xor")) == "AllReduce: op is sum, max, min, avg, not 'xor'"
        assert "op=\"avg\" of int32" in message(lambda: AllReduce(8, "int32", op="avg"))
        assert "algorithm is auto, one_shot, one_shot_pull, two_shot, ring, not 'tree'" in message(
            lambda: AllReduce(8, algorithm="tree"))
        assert "epilogue is a function marked with @nereid.jit, or None, not <built" in message(lambda: AllReduce(8, epilogue=max))
        assert "direction is auto, push or pull" in message(lambda: AllGather(8, direction="up"))
        assert "rows_of holds the rows of each of the 2 ranks" in message(lambda: AllGather(8, rows_of=(1, 2, 3)))
        assert "cannot travel as int32" in message(lambda: ReduceScatter(8, wire="int32"))
        assert "ranks from 0 to 1" in message(lambda: AllReduce(8, group=[0, 2]))
        assert "a group holds different ranks" in message(lambda: AllReduce(8, group=[1, 1]))
        assert "programs is a positive integer" in message(lambda: AllReduce(8, programs=0))

    ranks(2, work)


def test_wrong_arguments_of_calls(ranks):
    def work():
        n = nereid.world_size()
        gather, scatter = AllGather(4, (3,)), ReduceScatter(4, (3,))
        reduce, exchange = AllReduce(100), AllToAll(4, 3)
        assert "x has the shape (5, 3), this operator was made for (4, 3)" in message(lambda: gather(ones(5, 3)))
        assert "x has the dtype float64, this operator was made for float32" in message(
            lambda: gather(ones(4, 3, dtype=np.float64)))
        assert "pass np.ascontiguousarray(x)" in message(lambda: gather(ones(3, 4).T))
        assert "an array of numpy or torch or a symmetric tensor, not" in message(lambda: gather([1.0]))
        assert "out has the shape (4, 3), but the result has (8, 3)" in message(lambda: gather(ones(4, 3), out=ones(4, 3)))
        whole = ones(8, 3)
        assert "out shares memory with an input" in message(lambda: gather(whole[:4], out=whole))
        assert "9 rows, which 2 ranks cannot share equally; make it with rows_of=(5, 4) or pad" in message(
            lambda: scatter(ones(9, 3)))
        assert "for at most 4; make it with max_rows=5" in message(lambda: exchange(ones(n, 5, 3)))
        assert "splits are [5, 0], each may be 0 to 4" in message(
            lambda: exchange(ones(5, 3), splits=np.array([5, 0])))
        assert "the splits ask for (3, 3)" in message(lambda: exchange(ones(5, 3), splits=np.array([2, 1])))
        assert "splits is a contiguous int64 array of 2 numbers" in message(
            lambda: exchange(ones(5, 3), splits=np.array([5, 0], np.int32)))
        assert "extra is for the epilogue" in message(lambda: reduce(ones(4), extra=ones(4)))
        reduce.close()
        assert message(lambda: reduce(ones(3))) == "AllReduce: this operator has been closed; make another one, on all ranks"
        reduce.close()  # again is nothing
        # Refused calls left no trace: these meet.
        assert gather(ones(4, 3)).sum() == 24 and scatter(ones(8, 3)).sum() == 24
        assert exchange(ones(n, 4, 3)).sum() == 24

    ranks(2, work)


def test_ranks_that_make_different_operators(ranks):
    def work():
        text = message(lambda: AllReduce(100 + nereid.rank() // 2), nereid.JobError)
        assert "AllReduce: ranks make different operators: ranks 0, 1: AllReduce sum max_elements=100" in text
        assert "ranks 2, 3: AllReduce sum max_elements=101" in text
        nereid.recover() if nereid.job_info().get("failed") else None
        op = AllReduce(100)
        assert op(ones(7)).tolist() == [4.0] * 7

    ranks(4, work)


def test_ranks_that_disagree_about_a_call(ranks):
    def work():
        op = AllReduce(100)
        text = message(lambda: op(ones(7 + (nereid.rank() == 1))), nereid.JobError)
        assert "AllReduce: ranks disagree about this call: ranks 0, 2: AllReduce sum 7 x float32" in text
        assert "rank 1: AllReduce sum 8 x float32" in text
        assert op(ones(9)).tolist() == [3.0] * 9

    ranks(3, work)


def test_ranks_that_disagree_later_say_what_they_were_calling(ranks):
    def work():
        op = AllReduce(60000, algorithm="one_shot", programs=1)
        small, large = ones(7), ones(60000)
        for x in (small, large):
            op(x)
        text = message(lambda: op(small if nereid.rank() else large), nereid.LaunchError)
        assert "AllReduce, what each rank was calling:" in text
        assert "rank 0: AllReduce sum 60000 x float32 one_shot, 2 calls ended" in text
        assert "rank 1: AllReduce sum 7 x float32 one_shot, " in text
        # After recover() and reset() the operator can be used again.
        time.sleep(0.2)
        nereid.recover()
        op.reset()
        assert op(small).tolist() == [2.0] * 7

    ranks(2, work, environment={"NEREID_TIMEOUT": "5"})


def test_checking_every_call(ranks):
    def work():
        op = AllReduce(100)
        op(ones(7)), op(ones(8))
        assert "ranks disagree about this call" in message(lambda: op(ones(7 + nereid.rank())), nereid.JobError)
        assert op(ones(8)).tolist() == [2.0] * 8

    ranks(2, work, environment={"NEREID_OPS_CHECK": "1"})


def test_too_little_heap(ranks):
    def work():
        text = message(lambda: AllReduce(1 << 20, algorithm="one_shot"), nereid.JobError)
        assert text.startswith("AllReduce sum max_elements=1048576 float32 one_shot: its workspace has ")
        assert "heap" in text

    ranks(2, work, environment={"NEREID_HEAP_SIZE": "4M"})


@pytest.mark.ranks(2)
def test_memory_is_given_back():
    def used():
        return sum(one["bytes"] for one in nereid.symm.allocations())

    AllReduce(1000).close()
    before = used()
    for i in range(40):
        op = AllReduce(1000 + i)
        assert op.memory > 2 * 2 * 4000
        if i % 2:
            op.close()
        else:
            del op
    AllReduce(1000).close()
    AllReduce(1000).close()
    assert used() == before


def test_a_rank_that_dies_in_a_call():
    def work():
        op = AllReduce(100)
        op(ones(7))
        if nereid.rank() == 1:
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGKILL)
        text = message(lambda: op(ones(7)), nereid.LaunchError)
        assert "rank 1" in text
        return text

    with pytest.raises(nereid.testing.SpawnError) as caught:
        nereid.testing.spawn(work, 3)
    assert [failure.rank for failure in caught.value.failures] == [1]
    assert set(caught.value.results) == {0, 2}


@pytest.mark.ranks(2)
def test_calls_on_streams_are_ordered():
    op = AllReduce(5000, programs=2)
    first, second = nereid.Stream(), nereid.Stream()
    outs = [np.zeros(5000, np.float32) for _ in range(6)]
    x = ones(5000)
    for i, out in enumerate(outs):
        with first if i % 2 else second:
            op(x, out=out)
    assert op(x).tolist() == [2.0] * 5000  # after all of them
    assert all(out.tolist() == [2.0] * 5000 for out in outs)
    with first:
        gather = AllGather(4)
        assert "pass out=" in message(lambda: gather(ones(4), view=True))


@pytest.mark.ranks(2)
def test_two_operators_and_no_members():
    a, b = AllReduce(100), AllReduce(100)
    for i in range(20):
        assert a(ones(5) * i).tolist() == [2.0 * i] * 5
        assert b(ones(6)).tolist() == [2.0] * 6
    alone = AllReduce(100, group=[1])
    if nereid.rank() == 1:
        assert alone(ones(3)).tolist() == [1.0] * 3
    else:
        assert "rank 0 is no member of its group (ranks [1])" in message(lambda: alone(ones(3)))
    assert "algorithm" in a.explain(ones(5)) and "AllReduce" in repr(a)


@pytest.mark.ranks(2)
def test_a_forked_child_is_refused():
    op = AllReduce(100)
    op(ones(3))
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            op(ones(3))
        except BaseException as error:
            os.write(write, str(error).encode()[:4000])
        os._exit(0)
    os.waitpid(child, 0)
    assert b"forked" in os.read(read, 4000)
    op(ones(3))


@pytest.mark.ranks(2)
def test_symmetric_tensors_and_empty_calls():
    x = nereid.symm.full((3, 5), nereid.rank() + 1.0, np.float32)
    op = AllReduce(100)
    assert op(x).tolist() == [[3.0] * 5] * 3
    assert op(ones(0)).shape == (0,)
    op(x, out=x)
    assert x.numpy().tolist() == [[3.0] * 5] * 3
    assert AllReduce(4)(x).tolist() == [[6.0] * 5] * 3  # in rounds of four


def test_wrong_arguments_of_products(ranks):
    def work():
        op = AllGatherGemm(m=1024, n=64, k=4096, dtype="float32", blocks=(16, 16, 16))
        assert message(lambda: op(ones(10, 4090), ones(4096, 64))) == (
            "AllGatherGemm: a has 4090 columns, b has 4096 rows: the inner sizes must agree")
        assert message(lambda: op(ones(1200, 5), ones(5, 64))) == (
            "AllGatherGemm: a has 1200 rows, this operator was made for 1 to 1024 (m=1024); make it with m=1200")
        assert "b has 65 columns, this operator was made for 1 to 64 (n=64); make it with n=65" in message(
            lambda: op(ones(10, 5), ones(5, 65)))
        assert "a has 5000 columns, this operator was made for 1 to 4096 (k=4096)" in message(
            lambda: op(ones(1, 5000), ones(5000, 64)))
        assert "a is a matrix, but its shape is (3,)" in message(lambda: op(ones(3), ones(3, 4)))
        assert "a has no rows" in message(lambda: op(ones(0, 5), ones(5, 4)))
        assert "nothing to multiply" in message(lambda: op(ones(3, 0), ones(0, 4)))
        assert "b has the dtype float16, this operator was made for float32" in message(
            lambda: op(ones(3, 4), ones(4, 4, dtype=np.float16)))
        scatter = GemmReduceScatter(8, 8, 8, blocks=(16, 16, 16))
        assert "a has 9 rows, which 2 ranks cannot share equally; make it with rows_of=(5, 4) or pad" in message(
            lambda: scatter(ones(9, 8), ones(8, 8)))
        assert "a has 18 rows, 9 for each rank; this operator was made for 1 to 8 (m=8); make it with m=9" in message(
            lambda: scatter(ones(18, 8), ones(8, 8)))
        assert "form is auto, pull or gate" in message(lambda: AllGatherGemm(8, 8, 8, form="ring"))
        assert "movers=2 of 2 programs leave none to multiply" in message(
            lambda: AllGatherGemm(8, 8, 8, form="gate", movers=2, programs=2))
        assert "blocks are three powers of two from 16 on" in message(lambda: AllGatherGemm(8, 8, 8, blocks=(8, 16, 16)))
        assert "the dtype is one of float16" in message(lambda: GemmAllReduce(8, 8, 8, "int32"))
        assert "m is a positive integer, not 0" in message(lambda: GemmReduceScatter(0, 8, 8))
        # Any strides, smaller sizes.
        a, b = ones(6, 10)[::2, ::2], ones(9, 5).T
        assert op(a, b).tolist() == [[5.0] * 9] * 6
        assert op(a[::-1], b).tolist() == [[5.0] * 9] * 6
        assert scatter(a[:2], b[:, :8]).tolist() == [[10.0] * 8]

    ranks(2, work)


def test_ranks_that_pass_other_sizes_to_a_product(ranks):
    def work():
        op = AllGatherGemm(m=64, n=8, k=32, blocks=(16, 16, 16))
        k = 16 if nereid.rank() == 1 else 32
        text = message(lambda: op(ones(64, k), ones(k, 8)), nereid.JobError)
        assert "AllGatherGemm: ranks disagree about this call: rank 0: AllGatherGemm m=64 k=32 float32 pull; rank 1" in text

    ranks(2, work)


@pytest.mark.ranks(3)
def test_channels():
    """Messages run ahead of the receiver by as many as there are slots, and wait then."""
    rank = nereid.rank()
    forth, back = Channel((5,), "int64", 0, 2, slots=4), Channel((5,), "int64", 2, 0)
    x = np.arange(5)
    if rank == 0:
        for i in range(4):
            forth.send(x + i)  # nobody receives yet
        assert back.recv().tolist() == [9] * 5
        for i in range(4, 50):
            forth.send(x + i)
        assert "recv is for member 2 (rank 2), this is rank 0" in message(forth.recv)
        assert "x has the shape (4,), this operator was made for (5,)" in message(lambda: forth.send(x[:4]))
        assert "x has the dtype float64" in message(lambda: forth.send(x.astype(float)))
    elif rank == 2:
        back.send(np.full(5, 9))
        out = np.empty(5, np.int64)
        for i in range(50):
            if i % 7 == 0:
                time.sleep(0.001)
            assert forth.recv(out) is out and out.tolist() == (x + i).tolist()
    else:
        assert "send is for member 0 (rank 0), this is rank 1" in message(lambda: forth.send(x))
    assert "src=1 and dst=1 must be two different members of the group, 0 to 2" in message(lambda: Channel((5,), src=1, dst=1))
    assert "slots is a positive integer" in message(lambda: Channel((5,), slots=0))


def test_a_message_that_nobody_receives(ranks):
    def work():
        channel = Channel((5,), "float32", 0, 1, slots=1)
        if nereid.rank() == 0:
            channel.send(ones(5))
            text = message(lambda: channel.send(ones(5)), nereid.LaunchError)
        else:
            text = message(nereid.barrier, nereid.LaunchError)
        assert "Channel" in text

    ranks(2, work, environment={"NEREID_TIMEOUT": "5"})


def test_wrong_arguments_of_decoding(ranks):
    def work():
        op = FlashDecode(2, 4, 2, 16, "float32")
        q, cache, lengths = ones(2, 4, 16), ones(2, 9, 2, 16), np.array([3, 9], np.int32)
        assert op(q, cache, cache, lengths).tolist() == q.tolist()
        assert "lengths are [3, 10], each may be 0 to 9" in message(
            lambda: op(q, cache, cache, np.array([3, 10], np.int32)))
        assert "lengths is a contiguous int32 array of shape (2,)" in message(lambda: op(q, cache, cache, np.array([3, 9])))
        assert "k has the shape (2, 9, 3, 16), wanted is (batch, positions, 2, 16)" in message(
            lambda: op(q, ones(2, 9, 3, 16), cache, lengths))
        assert "k has the shape (2, 9, 2, 16), v has (2, 8, 2, 16): they must agree" in message(
            lambda: op(q, cache, ones(2, 8, 2, 16), lengths))
        assert "q has the shape (2, 2, 16), this operator was made for (2, 4, 16)" in message(
            lambda: op(q[:, :2], cache, cache, lengths))
        assert "block_table is for operators made with page=" in message(lambda: op(q, cache, cache, lengths, lengths))
        paged = FlashDecode(2, 4, 2, 16, "float32", page=3)
        table = np.array([[0, 5, 5], [2, 1, 0]], np.int32)
        pages = ones(4, 3, 2, 16)
        assert "pass block_table" in message(lambda: paged(q, pages, pages, lengths))
        assert "pages of 9 positions, this operator was made for page=3" in message(
            lambda: paged(q, cache, cache, lengths, table))
        assert paged(q, pages, pages, lengths, table).tolist() == q.tolist()  # page 5 is not needed for 3 positions
        assert "block_table names page 5 for batch 0; there are pages 0 to 3" in message(
            lambda: paged(q, pages, pages, np.array([4, 9], np.int32), table))
        assert "4 query heads cannot share 3 K/V heads" in message(lambda: FlashDecode(2, 4, 3, 16))

    ranks(2, work)


def test_what_is_no_array_for_operators(ranks):
    """Each is refused before anything starts, in the words of the operator."""
    def work():
        op = AllReduce(100)
        for wrong, text in (
                (ones(3, dtype=np.complex64), "x has elements of complex64; operators take float16"),
                (ones(3, dtype=object), "x has elements of object; operators take"),
                (ones(3, dtype=">f4"), "x has its bytes in the other order than this machine (>f4); pass x.astype("),
                (np.zeros(33, np.uint8)[1:].view(np.float32), "x is not aligned to its 4-byte elements; pass x.copy()"),
                (np.ma.ones(3, dtype=np.float32), "x is a masked array, and a mask has no meaning here; pass x.filled(value)"),
                (np.float32(3), "x is an array of numpy or torch or a symmetric tensor, not float32 3.0"), (None, "not None")):
            assert message(lambda: op(wrong)).startswith("AllReduce: ") and text in message(lambda: op(wrong))
        gone = nereid.symm.zeros((3,), np.float32)
        nereid.symm.free(gone)
        assert message(lambda: op(gone)) == "AllReduce: x is a symmetric tensor that has been freed"
        constant = ones(3)
        constant.flags.writeable = False
        assert "out cannot be written to" in message(lambda: op(ones(3), out=constant))
        assert op(constant).tolist() == [2.0] * 3  # inputs are only read
        both = ones(10)
        assert "out shares memory with an input" in message(lambda: op(both[:5], out=both[2:7]))
        products = GemmAllReduce(4, 4, 4)
        # A reversed input lies below its first element.
        both = ones(8, 4)
        assert "out shares memory with an input" in message(lambda: products(both[7:3:-1], ones(4, 4), out=both[4:]))

    ranks(2, work)


def test_what_is_no_number_or_shape(ranks):
    def work():
        for call, text in (
                (lambda: AllGather(-1), "AllGather: the rows of a rank are a number from 0 on, not -1"),
                (lambda: AllGather("4"), "not '4'"), (lambda: AllGather(2.5), "not 2.5"),
                (lambda: AllGather(4, 3), "AllGather: row_shape is a shape, a tuple of numbers from 0 on, not 3"),
                (lambda: AllGather(4, (3, -1)), "not (3, -1)"), (lambda: ReduceScatter(4, (3.0,)), "not (3.0,)"),
                (lambda: AllGather(4, rows_of=5), "AllGather: rows_of holds the rows of each of the 2 ranks, numbers from 0 on"),
                (lambda: AllGather(4, rows_of=("a", "b")), "but it is ('a', 'b')"),
                (lambda: AllReduce(8, group=["a"]), "a group holds numbers of ranks, but the ranks given are ['a']"),
                (lambda: AllGatherGemm(8, 8, 8, blocks=16), "blocks are three powers of two from 16 on, not 16"),
                (lambda: AllGatherGemm(8, 8, 8, blocks=("a", 16, 16)), "blocks are three powers of two"),
                (lambda: AllGatherGemm(8, 8, 8, movers="x"), "AllGatherGemm: movers is a number of programs, not 'x'"),
                (lambda: Channel(5), "Channel: shape is a shape"), (lambda: Channel((5,), src="a"), "src='a' and dst=1 must be two"),
                (lambda: FlashDecode(1, 4, 2, 16, scale="x"), "FlashDecode: scale is a number, not 'x'")):
            assert text in message(call)

    ranks(2, work)
