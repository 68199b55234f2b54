# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops that would not end stop with an error at their line; their neighbours run."""

import numpy as np
import pytest

import nereid
import nereid.language as tl

LAST = {"int32": 2**31 - 1, "int64": 2**63 - 1, "uint32": 2**32 - 1}


@nereid.jit
def rounds(out, begin, end, step):
    count = 0
    for i in range(begin, end, step):
        count += 1
    tl.store(out, count)


@nereid.jit
def constant_rounds(out, begin, end, STEP: tl.constexpr, TYPE: tl.constexpr):
    count = 0
    for i in range(begin.to(TYPE), end.to(TYPE), STEP):
        count += 1
    tl.store(out, count)


@pytest.mark.parametrize("step", [0, -1, -5])
@pytest.mark.parametrize("begin, end", [(0, 10), (10, 0), (3, 3)])
def test_steps_that_are_not_positive(step, begin, end):
    with pytest.raises(nereid.LaunchError, match=r"test_loops.py:16:5: .*the step of this range is not positive"):
        rounds[(1,)](np.zeros(1, np.int32), begin, end, step)


@pytest.mark.parametrize("dtype", LAST)
@pytest.mark.parametrize("step", [2, 3, 128, 2**20])
def test_ends_near_the_greatest_number(dtype, step):
    out, last = np.zeros(1, np.int32), LAST[dtype]
    launch = constant_rounds[(1,)]
    end = last - step + 1
    for begin in (end - 1, end - 7 * step - 1, end, last):
        launch(out, begin, end, step, getattr(tl, dtype))
        assert out[0] == len(range(begin, end, step))
    with pytest.raises(nereid.LaunchError, match=f"test_loops.py:24:5: .*end of this range and one step do not fit in {dtype}"):
        launch(out, end - 5 * step, end + 1, step, getattr(tl, dtype))
    # No round at all: nothing can wrap around.
    launch(out, last, last, step, getattr(tl, dtype))
    assert out[0] == 0


def test_run_time_steps():
    out = np.zeros(1, np.int32)
    for begin, end, step in [(0, 10, 3), (-7, 9, 4), (5, 5, 2), (9, 0, 3), (0, 2**30 + 5, 2**29)]:
        rounds[(1,)](out, begin, end, step)
        assert out[0] == len(range(begin, end, step))
    with pytest.raises(nereid.LaunchError, match="make the bounds 64 bits wide"):
        rounds[(1,)](out, 2147483639, 2147483647, 3)


@nereid.jit
def counters(out, BEGIN: tl.constexpr, END: tl.constexpr, STEP: tl.constexpr):
    at = 0
    for i in range(BEGIN, END, STEP):
        tl.store(out + at, i.to(tl.int64))
        at += 1


@pytest.mark.parametrize("begin, end, step", [
    (0, 3 * 10**9, 10**9), (2**32 - 12, 2**32 - 2, 1), (2**31 - 2, 2**31 + 3, 2), (-3, 2**31, 10**9),
    (2**33, 2**33 + 3, 1), (3 * 10**9, 0, -10**9),
])
def test_constant_bounds_that_no_int32_holds(begin, end, step):
    want = [*range(begin, end, step)]
    out = np.full(20, -1, np.int64)
    assert len(want) < len(out)
    counters[(1,)](out, begin, end, step)
    assert out[:len(want) + 1].tolist() == [*want, -1]


@nereid.jit
def mixed_counters(out, begin, end, BEGIN: tl.constexpr, END: tl.constexpr, STEP: tl.constexpr):
    at = 0
    for i in range(begin, END, STEP):
        tl.store(out + at, i.to(tl.int64))
        at += 1
    for i in range(BEGIN, end, STEP):
        tl.store(out + at, i.to(tl.int64))
        at += 1


@pytest.mark.parametrize("begin, end, low, high", [
    (0, 2 * 10**9, -3 * 10**9, 3 * 10**9), (-2 * 10**9, 10**9, -2**31, 2**31), (7, -7, -2**32, 2**32 - 1),
])
def test_constant_bounds_beside_those_of_run_time(begin, end, low, high):
    """A constant takes the type of the run-time bound only where it is a value of that type."""
    step = 10**9
    want = [*range(begin, high, step), *range(low, end, step)]
    out = np.full(20, -1, np.int64)
    assert len(want) < len(out)
    mixed_counters[(1,)](out, begin, end, low, high, step)
    assert out[:len(want) + 1].tolist() == [*want, -1]


@nereid.jit
def unsigned_counters(out, n, BEGIN: tl.constexpr):
    at = 0
    for i in range(BEGIN, n.to(tl.uint32)):
        tl.store(out + at, i.to(tl.int64))
        at += 1


def test_negative_constants_beside_unsigned_bounds():
    out = np.full(8, -9, np.int64)
    unsigned_counters[(1,)](out, 3, -2)
    assert out.tolist() == [-2, -1, 0, 1, 2, -9, -9, -9]
