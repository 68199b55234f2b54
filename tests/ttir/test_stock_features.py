# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What random kernels do not have, from the stock front end to the CPU: descriptors
as arguments, early returns, prints, assertions, hints on loops, locks, pipelined
products, functions that are not inlined."""

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("triton")

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from nereid._kernels import ir as _ir  # noqa: E402
from tests.differential.harness import Worker  # noqa: E402


@pytest.fixture(scope="module")
def stock():
    worker = Worker("stock")
    yield worker
    worker.close()


def kernel(stock, source: str, signature: dict, constants: dict | None = None, divisible: dict | None = None,
           simplified: bool = False):
    constants = constants or {}
    signature = {**signature, **{name: "constexpr" for name in constants}}
    status, text = stock.ask("stock_text", source, "kernel", signature, {k: repr(v) for k, v in constants.items()},
                             divisible or {}, simplified)
    assert status == "ok", text
    return _ir.compile_text(text, "stock.ttir"), text


BOTH = pytest.mark.parametrize("simplified", [False, True], ids=["raw", "simplified"])


@BOTH
def test_descriptor_arguments(stock, simplified):
    made, text = kernel(stock, """\
@triton.jit
def kernel(x, y, M, N):
    m = tl.program_id(0) * 16
    n = tl.program_id(1) * 32
    tile = x.load([m, n])
    y.store([m, n], (tile * 2).to(tl.float16))
""", {"x": "tensordesc<fp16[16, 32]>", "y": "tensordesc<fp16[16, 32]>", "M": "i32", "N": "i32"}, simplified=simplified)
    assert "tensordesc" in text
    assert [p.type for p in made.params][:5] == ["*fp16", "i32", "i32", "i64", "i64"]
    x = np.random.default_rng(0).standard_normal((37, 48)).astype(np.float16)
    y = np.zeros_like(x)
    made[(3, 2)](x, 37, 48, 48, 1, y, 37, 48, 48, 1, 37, 48)
    np.testing.assert_array_equal(y, x * np.float16(2))


@BOTH
def test_early_returns_and_nested_branches(stock, simplified):
    made, text = kernel(stock, """\
@triton.jit
def kernel(x, out, n):
    pid = tl.program_id(0)
    if pid >= n:
        return
    v = tl.load(x + pid)
    if v < 0:
        if v < -5:
            tl.store(out + pid, -100)
            return
        v = -v
    elif v == 3:
        tl.store(out + pid, 33)
        return
    tl.store(out + pid, v)
""", {"x": "*i32", "out": "*i32", "n": "i32"}, simplified=simplified)
    if simplified:
        assert "cf.cond_br" in text
    x = np.array([1, -2, -7, 3, 4, 5], np.int32)
    out = np.zeros(6, np.int32)
    made[(6,)](x, out, 5)
    assert list(out) == [1, 2, -100, 33, 4, 0]


@BOTH
def test_locks_prints_and_assertions(stock, simplified, capfd):
    made, text = kernel(stock, """\
@triton.jit
def kernel(lock, total, x, BLOCK: tl.constexpr):
    part = tl.sum(tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)))
    tl.device_print("part", part)
    tl.assume(BLOCK > 0)
    while tl.atomic_cas(lock, 0, 1, sem="acquire") == 1:
        pass
    tl.store(total, tl.load(total, volatile=True) + part)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0, sem="release")
""", {"lock": "*i32", "total": "*i32", "x": "*i32"}, {"BLOCK": 16}, simplified=simplified)
    x = np.arange(128, dtype=np.int32)
    lock, total = np.zeros(1, np.int32), np.zeros(1, np.int32)
    made[(8,)](lock, total, x)
    assert total[0] == x.sum() and lock[0] == 0
    assert made.metadata.blocking


@BOTH
def test_pipelined_product_with_hints(stock, simplified):
    made, text = kernel(stock, """\
@triton.jit
def kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.max_contiguous(tl.multiple_of((tl.program_id(0) * BM + tl.arange(0, BM)) % M, BM), BM)
    rn = (tl.program_id(1) * BN + tl.arange(0, BN)) % N
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in tl.range(0, K, BK, num_stages=3, loop_unroll_factor=2, disallow_acc_multi_buffer=True):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :], mask=(k + rk)[None, :] < K, other=0.0, eviction_policy="evict_last")
        y = tl.load(b + (k + rk)[:, None] * N + rn[None, :], mask=(k + rk)[:, None] < K, other=0.0, cache_modifier=".cg")
        acc = tl.dot(x, y, acc, allow_tf32=False)
    om, on = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    tl.store(c + om[:, None] * N + on[None, :], acc, mask=(om < M)[:, None] & (on < N)[None, :])
""", {"a": "*fp32", "b": "*fp32", "c": "*fp32", "M": "i32", "N": "i32", "K": "i32"}, {"BM": 32, "BN": 32, "BK": 16},
                        {0: 16, 1: 16}, simplified=simplified)
    generator = np.random.default_rng(1)
    a, b = generator.standard_normal((64, 50), np.float32), generator.standard_normal((50, 40), np.float32)
    c = np.zeros((64, 40), np.float32)
    made[(2, 2)](a, b, c, 64, 40, 50)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), atol=1e-4)


@BOTH
def test_functions_that_are_not_inlined(stock, simplified):
    made, text = kernel(stock, """\
@triton.jit(noinline=True)
def several(p, q):
    if p > q:
        return p - q, p.to(tl.float32)
    return p + q, q.to(tl.float32)


@triton.jit(noinline=True)
def writes(where, value):
    tl.store(where, value)


@triton.jit
def kernel(x, out, f):
    i = tl.program_id(0)
    a, b = several(tl.load(x + i), i)
    writes(out + i, a)
    tl.store(f + i, b)
""", {"x": "*i32", "out": "*i32", "f": "*fp32"}, simplified=simplified)
    assert "tt.call" in text
    x = np.array([5, 0, 1, 9], np.int32)
    out, f = np.zeros(4, np.int32), np.zeros(4, np.float32)
    made[(4,)](x, out, f)
    assert list(out) == [5, 1, 3, 6] and list(f) == [5, 1, 2, 9]


@BOTH
def test_reductions_of_several_values_and_scans(stock, simplified):
    made, text = kernel(stock, """\
@triton.jit
def welford(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    n = n_a + n_b
    delta = mean_b - mean_a
    share = n_b / tl.where(n == 0.0, 1.0, n)
    return mean_a + delta * share, m2_a + m2_b + delta * delta * n_a * share, n


@triton.jit
def kernel(x, out, order, N: tl.constexpr):
    o = tl.arange(0, N)
    v = tl.load(x + o)
    mean, m2, n = tl.reduce((v, tl.zeros_like(v), tl.zeros_like(v) + 1.0), 0, welford)
    tl.store(out, mean)
    tl.store(out + 1, m2 / n)
    tl.store(order + o, tl.sort(v))
    tl.store(out + 2 + tl.argmax(v, 0) * 0, tl.argmax(v, 0).to(tl.float32))
""", {"x": "*fp32", "out": "*fp32", "order": "*fp32"}, {"N": 64}, simplified=simplified)
    x = np.random.default_rng(3).standard_normal(64).astype(np.float32)
    out, order = np.zeros(3, np.float32), np.zeros(64, np.float32)
    made[(1,)](x, out, order)
    np.testing.assert_allclose(out[:2], [x.mean(), x.var()], rtol=1e-5)
    assert out[2] == x.argmax() and (order == np.sort(x)).all()
