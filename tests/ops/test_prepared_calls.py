# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What spares a call its checks: a table by how arrays look, and launches whose arguments are bound once."""

import sys

import numpy as np
import pytest

import nereid
import nereid.language as tl
import nereid.ops
from nereid import _runtime
from nereid.ops.gemm_all_reduce.kernel import one_shot_kernel


@nereid.jit
def scale_kernel(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, factor * tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)


def read_only(array):
    array.flags.writeable = False
    return array


def test_a_prepared_launch_is_the_launch():
    x, out = np.arange(7, dtype=np.float32), np.zeros(7, np.float32)
    launch = _runtime.PreparedLaunch(scale_kernel, (2,), ("out_ptr", "x_ptr"), dict(n=7, factor=3.0, BLOCK=4))
    for given in (out, np.zeros(7, np.float32), np.zeros(7)):
        launch(given, x)
        assert given.tolist() == [3.0 * i for i in range(7)]
    with pytest.raises(TypeError, match="takes 2 arguments by position"):
        launch(out)
    with pytest.raises(TypeError, match="takes 2 arguments by position"):
        launch(out, x_ptr=x)
    with pytest.raises(nereid.ArgumentError, match="argument 1 'x_ptr'"):
        launch(out, "x")
    with pytest.raises(ValueError, match="there is no parameter 'm', or it has its value already"):
        _runtime.PreparedLaunch(scale_kernel, (2,), ("out_ptr", "x_ptr"), dict(n=7, m=3.0, BLOCK=4))
    with pytest.raises(ValueError, match="there is no parameter 'n', or it has its value already"):
        _runtime.PreparedLaunch(scale_kernel, (2,), ("out_ptr", "x_ptr", "n"), dict(n=7, factor=3.0, BLOCK=4))
    with pytest.raises(ValueError, match="the parameter 'factor' has no value"):
        _runtime.PreparedLaunch(scale_kernel, (2,), ("out_ptr", "x_ptr"), dict(n=7, BLOCK=4))
    with pytest.raises(nereid.ArgumentError, match="PreparedLaunch takes a jit function, not int 3"):
        _runtime.PreparedLaunch(3, (2,), (), {})


def test_what_tells_calls_apart():
    """Everything but the address: two calls under one key pass the same checks."""
    base = np.zeros((8, 8), np.float32)
    alike = [(base[:4, :4],), (base[:4, :4], None), (base[:4, :4], base[4:, :4]), (base[:4, :4], True), (base[:4, :4], False),
             (np.zeros((4, 4), np.float32),), (base[:4, :3],), (base[:4:2, :4],), (base[3::-1, :4],), (base.T[:4, :4],),
             (base[:4, :4].astype(np.int32),), (base[:4, :4].astype(np.float64),), (read_only(base.copy())[:4, :4],),
             (base[:4, :4], base[:4, :4]), (base[:4, :4], base[2:6, :4]), (base[:0, :4],),
             (base[:1, :1].reshape(()),), (base[:4, :4], np.zeros((4, 4), np.float32)), (), (None,), (True,),
             (base.reshape(2, 2, 2, 2, 2, 2), )]
    table = _runtime.CallTable()
    for number, arrays in enumerate(alike):
        assert table.find(*arrays) is None
        table.add(number, *arrays)
    assert len(table) == len(alike)
    for number, arrays in enumerate(alike):
        assert table.find(*arrays) == number
    # Other places of the same look.
    assert table.find(base[2:6, 1:5]) == 0 and table.find(base[4:, 4:], base[:4, :4]) == 2
    assert table.find(base[4:, 4:], base[2:6, 3:7]) == 14
    # Reversed: below its first element.
    assert table.find(base[7:3:-1, :4]) == 8
    reverse = (base[7:3:-1, :4], base[4:, :4])
    table.add("whole", *reverse)
    assert table.find(*reverse) == "whole" and table.find(base[7:3:-1, :4], base[:4, :4]) is None
    table.clear()
    assert len(table) == 0 and table.find() is None


def test_what_is_never_found():
    table = _runtime.CallTable()

    class Mine(np.ndarray):
        pass

    unaligned = np.zeros(33, np.uint8)[1:].view(np.float32)
    for array in (np.zeros(3).view(Mine), np.zeros((1,) * 9), np.zeros(3, ">f4"), unaligned, np.zeros(3, object), np.ndarray,
                  3, "x", [1.0], np.float32(1)):
        table.add(1, array)
        assert len(table) == 0 and table.find(array) is None
    with pytest.raises(TypeError, match="add takes what is found"):
        table.add()


def test_a_table_holds_what_it_finds_and_does_not_grow_without_end():
    table, value = _runtime.CallTable(), object()
    before = sys.getrefcount(value)
    x = np.zeros(3)
    table.add(value, x)
    table.add(value, x)
    assert sys.getrefcount(value) == before + 1 and table.find(x) is value
    for size in range(5000):
        table.add(value, np.empty(size, np.int8))
    assert len(table) <= 512 and sys.getrefcount(value) == before + len(table)
    del table
    assert sys.getrefcount(value) == before


@pytest.mark.ranks(2)
def test_symmetric_tensors_look_like_themselves():
    table = _runtime.CallTable()
    x, y = nereid.symm.zeros((4, 5), np.float32), nereid.symm.zeros((4, 5), np.float32)
    table.add(1, x)
    assert table.find(y) == 1
    assert table.find(x.numpy()) is None and table.find(nereid.symm.zeros((5, 4), np.float32)) is None
    table.add(2, x, x.numpy())
    assert table.find(y, y.numpy()) == 2 and table.find(x, y.numpy()) is None
    nereid.symm.free(y)
    assert table.find(y) is None


@pytest.mark.ranks(2)
def test_calls_that_look_alike_are_checked_once():
    """The second call with the same look finds the first; one that differs in anything is checked, before anything starts."""
    op = nereid.ops.AllReduce(100, algorithm="one_shot")
    x, out = np.ones((3, 4), np.float32), np.zeros((3, 4), np.float32)
    for i in range(3):
        assert op(x * i).tolist() == [[2.0 * i] * 4] * 3
        assert op(x * i, out=out) is out and out.tolist() == [[2.0 * i] * 4] * 3
    assert len(op._calls) == 2
    y = x.copy()
    op(y, out=y)
    assert y.tolist() == [[2.0] * 4] * 3
    for wrong, text in ((dict(x=x.T), "is not contiguous"), (dict(x=x.astype(np.float64)), "the dtype float64"),
                        (dict(out=out[:2]), r"out has the shape \(2, 4\)"), (dict(out=read_only(x.copy())), "cannot be written"),
                        (dict(x=np.ones(13, np.float32)[:12], out=None), None)):
        arguments = {"x": x, "out": out, **wrong}
        if text is None:
            assert op(**arguments).tolist() == [2.0] * 12
            continue
        with pytest.raises(nereid.ArgumentError, match=text):
            op(**arguments)
    both = np.ones(20, np.float32)
    op(both[:5], out=both[10:15])
    with pytest.raises(nereid.ArgumentError, match="out shares memory with an input"):
        op(both[:5], out=both[3:8])
    op.close()
    with pytest.raises(nereid.ArgumentError, match="has been closed"):
        op(x)


@pytest.mark.ranks(3)
def test_prepare_compiles_and_agrees_without_a_call(monkeypatch):
    me = nereid.rank()
    op = nereid.ops.GemmAllReduce(8, 8, 24, "float64", blocks=(16, 16, 16))
    op.prepare((5, 6 + me), (6 + me, 7))
    a, b = np.ones((5, 6 + me)), np.ones((6 + me, 7))
    op.prepare(a.T.copy().T, b)  # other strides, other code
    assert op._workspace.calls == 0
    with pytest.raises(nereid.ArgumentError, match="a has 9 rows, this operator was made for 1 to 8"):
        op.prepare((9, 5), (5, 7))
    monkeypatch.setattr(op._workspace, "agree", lambda *_: pytest.fail("the ranks have agreed already"))
    kernels = len(one_shot_kernel._kernels())
    assert op(a, b).tolist() == [[21.0] * 7] * 5 and op(a.T.copy().T, b).tolist() == [[21.0] * 7] * 5
    assert len(one_shot_kernel._kernels()) == kernels
    channel = nereid.ops.Channel((4,), "int32", 0, 2)
    channel.prepare()
    if me == 0:
        channel.send(np.arange(4, dtype=np.int32))
    elif me == 2:
        assert channel.recv().tolist() == [0, 1, 2, 3]
    decode = nereid.ops.FlashDecode(2, 4, 2, 16, "float32")
    decode.prepare((2, 4, 16), (2, 9, 2, 16), (2, 9, 2, 16), (2,))


@pytest.mark.ranks(2)
def test_a_clone_has_its_own_memory():
    """Two calls that overlap: one in a stream, which waits for the other."""
    me = nereid.rank()
    team = nereid.ops.Group([1, 0])
    op = nereid.ops.AllReduce(100, "int64", op="max", group=team)
    other = op.clone()
    assert type(other) is type(op) and other.op == "max" and other.group == team and other.memory == op.memory
    assert other._workspace is not op._workspace
    x, out = np.arange(5) * (me + 1), np.zeros(5, np.int64)
    for _ in range(3):
        assert op(x).tolist() == other(x, out=out).tolist() == [0, 2, 4, 6, 8]
    op.close()
    assert other(x).tolist() == [0, 2, 4, 6, 8]


@nereid.jit
def arguments_kernel(out_ptr, number, scale, flag, nothing, SIZE: tl.constexpr, NAME: tl.constexpr, TYPE: tl.constexpr):
    value = number * scale
    if flag:
        value += 1000
    if nothing is not None:
        value += 10000
    if NAME == "twice":
        value *= 2
    tl.store(out_ptr + tl.arange(0, SIZE), (value + tl.zeros((SIZE,), tl.float32)).to(TYPE).to(tl.float32))


def test_arguments_that_come_again():
    """An object that comes a second time is not read again; one that is equal, or of another type, or stands elsewhere, is."""
    large, same_large = int("70000"), int("70000")
    assert large is not same_large
    for number, scale, flag, nothing, size, name, dtype in (
            [(3, 2.0, False, None, 4, "once", tl.float32)] * 3 + [(large, 2.0, False, None, 4, "once", tl.float32)] * 3
            + [(same_large, 2.0, True, None, 4, "once", tl.float32)] * 2 + [(1, 2.0, True, None, 4, "once", tl.float32)] * 3
            + [(16, 2.0, 1, None, 4, "twice", tl.float32)] * 3 + [(16, 2, 0, 5, 8, "twice", tl.int32)] * 3
            + [(1 << 40, 0.5, False, None, 8, "once", tl.float32)] * 3 + [(True, 3.0, False, None, 8, "once", tl.float32)] * 3
            + [(3, 2.25, False, None, 4, "once", tl.int32), (3, 2.0, False, None, 4, "once", tl.float32)] * 3):
        out = np.full(8, -1.0, np.float32)
        arguments_kernel[(1,)](out, number, scale, flag, nothing, SIZE=size, NAME=name, TYPE=dtype)
        want = np.float32(number * scale) + (1000 if flag else 0) + (10000 if nothing is not None else 0)
        want = want * 2 if name == "twice" else want
        assert out.tolist() == [float(int(want) if dtype is tl.int32 else want)] * size + [-1.0] * (8 - size)


@pytest.mark.ranks(1)
def test_a_buffer_that_comes_again_and_is_freed():
    memory = nereid.symm.zeros((8,), np.float32)
    first, second = (_runtime.SymmetricBuffer(memory.data_ptr() + at, 16, "fp32") for at in (0, 16))
    x = np.arange(4, dtype=np.float32)
    for buffer in (first, first, first, second, second, second, first):
        scale_kernel[(1,)](x, buffer, 4, 2.0, BLOCK=4)
    assert memory.numpy().tolist() == [0.0, 2.0, 4.0, 6.0] * 2
    first._forget()
    with pytest.raises(nereid.ArgumentError, match="out_ptr"):
        scale_kernel[(1,)](x, first, 4, 2.0, BLOCK=4)
