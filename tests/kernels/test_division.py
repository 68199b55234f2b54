# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integer division in tiles: lanes that nobody asked for may have divisor zero."""

import numpy as np
import pytest

import nereid
import nereid.language as tl

INTS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


@nereid.jit
def masked_division(a, b, quotient, remainder, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mask = i < n
    x, y = tl.load(a + i, mask=mask), tl.load(b + i, mask=mask)
    tl.store(quotient + i, x // y, mask=mask)
    tl.store(remainder + i, x % y, mask=mask)


@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize("n", [1, 5, 37])
def test_tail_of_a_masked_division(dtype, n):
    rng = np.random.default_rng(n)
    info = np.iinfo(dtype)
    a = rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
    b = rng.integers(1, 100, n).astype(dtype)
    quotient, remainder = np.zeros_like(a), np.zeros_like(a)
    masked_division[(1,)](a, b, quotient, remainder, n, BLOCK=40)
    # Truncation towards zero, in Python's unbounded integers.
    want = [abs(int(x)) // int(y) * (-1 if x < 0 else 1) for x, y in zip(a, b)]
    assert quotient.tolist() == want
    assert remainder.tolist() == [int(x) - q * int(y) for x, q, y in zip(a, want, b)]


@nereid.jit
def selected_division(a, b, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x, y = tl.load(a + i), tl.load(b + i)
    tl.store(out + i, tl.where(y == 0, -7, x // y))


def test_divisions_that_a_select_drops():
    a, b = np.arange(20, dtype=np.int32), (np.arange(20) % 3).astype(np.int32)
    out = np.zeros_like(a)
    selected_division[(1,)](a, b, out, BLOCK=20)
    np.testing.assert_array_equal(out, np.where(b == 0, -7, a // np.maximum(b, 1)))


@nereid.jit
def scalar_division(out, n, m):
    q = n // m
    if m != 0:
        tl.store(out, q)


def test_a_scalar_division_that_a_branch_drops():
    out = np.full(1, 99, np.int32)
    scalar_division[(1,)](out, 17, 0)
    assert out[0] == 99
    scalar_division[(1,)](out, 17, 5)
    assert out[0] == 3
    scalar_division[(1,)](out, -(2**31), -1)  # overflows: wraps around
    assert out[0] == -(2**31)
