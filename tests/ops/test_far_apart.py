# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements more than 2^31 apart, in memory that is reserved and hardly ever touched."""

import mmap
import os

import numpy as np
import pytest

import nereid
import nereid.ops

SEED = int(os.environ["NEREID_TEST_SEED"])  # set by conftest.py when the caller did not
APART = 1 << 25  # elements from one row to the next
ROWS = 70  # so that the last lies behind 2^31 elements


def spread(values, axis):
    """`values` with APART elements from one index of `axis` to the next, the rest packed."""
    strides = [0] * values.ndim
    step = values.itemsize
    for at in reversed([i for i in range(values.ndim) if i != axis]):
        strides[at] = step
        step *= values.shape[at]
    strides[axis] = APART * values.itemsize
    nbytes = (values.shape[axis] - 1) * APART * values.itemsize + step
    memory = mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)  # MAP_NORESERVE
    start = np.ndarray((1,), np.uint8, buffer=memory)
    far = np.lib.stride_tricks.as_strided(np.frombuffer(memory, values.dtype, 1), values.shape, strides, writeable=True)
    far[...] = values
    assert start.ctypes.data == far.ctypes.data and (values.shape[axis] - 1) * APART > 1 << 31
    return far


@pytest.mark.ranks(2)
def test_products_of_rows_far_apart():
    me, n = nereid.rank(), nereid.world_size()
    a = [np.random.default_rng((SEED, rank)).integers(-3, 4, (ROWS, 33)).astype(np.float32) for rank in range(n)]
    b = [np.random.default_rng((SEED, rank, 1)).integers(-3, 4, (33, 20)).astype(np.float32) for rank in range(n)]
    far = spread(a[me], 0)
    options = dict(blocks=(32, 32, 32), programs=2)
    for form in ("pull", "gate"):
        op = nereid.ops.AllGatherGemm(ROWS, 20, 33, form=form, **options)
        assert np.array_equal(op(far, b[me]), np.concatenate(a) @ b[me])
    total = sum(one @ two for one, two in zip(a, b))
    assert np.array_equal(nereid.ops.GemmReduceScatter(ROWS // n, 20, 33, **options)(far, b[me]), np.split(total, n)[me])
    assert np.array_equal(nereid.ops.GemmAllReduce(ROWS, 20, 33, **options)(far, b[me]), total)
    assert np.array_equal(nereid.ops.GemmAllReduce(20, ROWS, 33, **options)(b[me].T, far.T), total.T)
    # What is summed over lies far apart: columns of the first factor, rows of the second.
    inner = sum(one.T @ one for one in a)
    assert np.array_equal(nereid.ops.GemmAllReduce(33, 33, ROWS, **options)(far.T, far), inner)
    gathered = nereid.ops.AllGatherGemm(33, 33, ROWS, gathered=True, **options)(far.T, far)
    assert np.array_equal(gathered[0], np.concatenate([one.T for one in a]) @ a[me])
    assert np.array_equal(gathered[1], np.concatenate([one.T for one in a]))


@pytest.mark.ranks(2)
@pytest.mark.parametrize("axis", [1, 2], ids=["positions", "heads"])
def test_caches_far_apart(axis):
    """K and V with positions, or heads, far apart: softmax of equal scores is the mean of the values."""
    heads, positions = (2, ROWS) if axis == 1 else (ROWS, 3)
    rng = np.random.default_rng((SEED, nereid.rank()))
    values = rng.integers(-3, 4, (1, positions, heads, 16)).astype(np.float32)
    op = nereid.ops.FlashDecode(1, heads, heads, 16, "float32", programs=2)
    got = op(np.zeros((1, heads, 16), np.float32), spread(np.zeros_like(values), axis), spread(values, axis),
             np.array([positions], np.int32))
    everyone = nereid.ops.AllGather(values.size)(values.reshape(-1)).reshape(2 * positions, heads, 16)
    np.testing.assert_allclose(got[0], everyone.mean(axis=0), rtol=1e-5, atol=1e-5)
