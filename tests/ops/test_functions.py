# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators as functions: values, what is kept and what is made anew."""

import numpy as np
import pytest

import nereid
from nereid import ops
from nereid.ops import functional


@pytest.mark.ranks(1, 3)
def test_functions():
    me, n = nereid.rank(), nereid.world_size()
    x = [np.random.default_rng(r).integers(-5, 6, (2 * n, 3)).astype(np.float32) for r in range(n)]
    b = [np.random.default_rng(9 + r).integers(-5, 6, (3, 4)).astype(np.float32) for r in range(n)]
    # Small integers: every sum is exact.
    total, products = sum(x), sum(one @ two for one, two in zip(x, b))
    part = slice(2 * me, 2 * me + 2)
    for _ in range(2):
        assert np.array_equal(ops.all_gather(x[me]), np.concatenate(x))
        assert np.array_equal(ops.reduce_scatter(x[me]), total[part])
        assert np.array_equal(ops.all_reduce(x[me]), total)
        assert np.array_equal(ops.all_reduce(x[me], op="max"), np.maximum.reduce(x))
        blocks = x[me].reshape(n, 2, 3)
        assert np.array_equal(ops.all_to_all(blocks), np.stack([one.reshape(n, 2, 3)[me] for one in x]))
        assert np.array_equal(ops.all_gather_gemm(x[me], b[me]), np.concatenate(x) @ b[me])
        c, gathered = ops.all_gather_gemm(x[me], b[me].T.copy(), trans_b=True, gathered=True)
        assert np.array_equal(c, np.concatenate(x) @ b[me]) and np.array_equal(gathered, np.concatenate(x))
        assert np.array_equal(ops.gemm_reduce_scatter(x[me], b[me]), products[part])
        out = np.empty((2 * n, 4), np.float32)
        assert ops.gemm_all_reduce(x[me], b[me], out=out) is out and np.array_equal(out, products)
    assert len(functional._kept) == 9
    with pytest.raises(nereid.ArgumentError, match="a has 3 columns, b has 4 rows"):
        ops.gemm_all_reduce(x[me], np.ones((4, 4), np.float32))
    with pytest.raises(nereid.ArgumentError, match="x needs 3 dimensions"):
        ops.all_to_all(x[me])
    if n == 3:
        with pytest.raises(nereid.ArgumentError, match="7 rows, which 3 ranks cannot share equally"):
            ops.reduce_scatter(np.ones((7, 2), np.float32))


@pytest.mark.ranks(2)
def test_operators_grow():
    def product(m, n, k):
        assert ops.gemm_all_reduce(np.ones((m, k)), np.ones((k, n))).tolist() == [[2.0 * k] * n] * m

    def kept():
        return [op for _, op in functional._kept.values()]

    product(3, 4, 5)
    (first,) = kept()
    product(2, 1, 5)
    assert kept() == [first]
    product(3, 9, 2)  # more columns: made anew, for the largest sizes of all calls
    (second,) = kept()
    assert second is not first and not first.usable
    product(3, 9, 5)
    assert kept() == [second]
    with pytest.raises(nereid.ArgumentError, match="has been closed"):
        first(np.ones((3, 5)), np.ones((5, 4)))
    second.close()
    product(1, 1, 1)
    functional.clear()
    assert not kept()


@pytest.mark.ranks(4)
def test_groups_side_by_side():
    me = nereid.rank()
    group = [0, 2] if me % 2 == 0 else [3, 1]
    assert ops.all_reduce(np.array([me + 1.0]), group=group).tolist() == [4.0 if me % 2 == 0 else 6.0]
    assert ops.all_gather(np.array([me]), group=group).tolist() == group


def test_after_the_job(ranks):
    def work():
        op = ops.AllReduce(10, "float64")
        op(np.ones(3))
        nereid.barrier()
        nereid.finalize()
        with pytest.raises(nereid.ArgumentError, match="the job in which this operator was made has ended"):
            op(np.ones(3))
        op.close()

    ranks(2, work)
