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
