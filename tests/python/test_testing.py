# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""nereid.testing.assert_close and do_bench."""

import time

import ml_dtypes
import numpy as np
import pytest

from nereid.testing import Benchmark, assert_close, do_bench, do_bench_cudagraph, do_bench_npu, perf_report


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16, np.int32])
def test_equal_arrays(dtype):
    x = np.arange(12).reshape(3, 4).astype(dtype)
    assert_close(x, x.astype(np.float64))
    assert_close(x, x.tolist())


def test_special_values():
    x = np.array([np.nan, np.inf, -np.inf, 1])
    assert_close(x, x)
    for bad in ([1, np.inf, -np.inf, 1], [np.nan, -np.inf, -np.inf, 1], [np.nan, 1, -np.inf, 1], [np.nan, np.inf, -np.inf, np.nan]):
        with pytest.raises(AssertionError):
            assert_close(bad, x)
        with pytest.raises(AssertionError):
            assert_close(x, bad, atol=1e30)


def test_report():
    x = np.zeros((8, 16), np.float32)
    y = x.copy()
    y[3, 5], y[1, 2] = 0.5, 0.25
    with pytest.raises(AssertionError) as caught:
        assert_close(y, x, err_msg="result")
    text = str(caught.value)
    assert text.startswith("result: 2 of 128 elements") and "worst at [3, 5]: got 0.5, expected 0" in text
    assert "[1, 2]: got 0.25" in text


def test_tolerances():
    assert_close(np.float32([1.1]), [1.0], atol=0.11, rtol=0)
    assert_close(np.float32([110]), [100], atol=0, rtol=0.11)
    with pytest.raises(AssertionError):
        assert_close(np.float32([1.1]), [1.0], atol=0.09, rtol=0)
    with pytest.raises(AssertionError, match="shapes differ"):
        assert_close(np.zeros(3), np.zeros(4))
    with pytest.raises(AssertionError):
        assert_close(np.int32([1, 2]), [1, 3])


def test_do_bench():
    calls = []
    mean = do_bench(lambda: (calls.append(1), time.sleep(0.002)), warmup=5, rep=20)
    assert 1.9 < mean < 100 and len(calls) >= 6
    low, high = do_bench(lambda: time.sleep(0.001), warmup=2, rep=10, quantiles=[0.1, 0.9])
    assert 0.9 < low <= high
    assert len(do_bench(lambda: time.sleep(0.001), warmup=2, rep=10, return_mode="all")) >= 5
    with pytest.raises(ValueError, match="return_mode"):
        do_bench(lambda: None, return_mode="average")


def test_gradients_are_forgotten():
    class Tensor:
        grad = 3

    tensor = Tensor()
    do_bench(lambda: None, warmup=0, rep=0, grad_to_none=[tensor])
    assert tensor.grad is None


def test_other_ways_to_measure():
    assert 0.9 < do_bench_cudagraph(lambda: time.sleep(0.001), rep=5) < 100
    assert 900 < do_bench_npu(lambda: time.sleep(0.001), warmup=1, active=3) < 100_000
    assert len(do_bench_npu([lambda: None, lambda: None], warmup=0, active=2)) == 2


def benchmarks(**changes):
    fields = dict(x_names=["m", "n"], x_vals=[2, (3, 4)], line_arg="provider", line_vals=["a", "b"],
                  line_names=["A", "B"], plot_name="products", args={"k": 10})
    return Benchmark(**{**fields, **changes})


def test_perf_report(tmp_path, capsys):
    @perf_report(benchmarks())
    def measure(m, n, provider, k, plus=0):
        value = m * n * k + plus
        return value if provider == "a" else (value + 0.5, value, value + 1)

    assert measure(1, 2, "a", 3) == 6
    assert measure.run(print_data=True, save_path=str(tmp_path), plus=1) is None
    lines = (tmp_path / "products.csv").read_text().splitlines()
    assert lines == ["m,n,A,B", "2,2,41,41.5", "3,4,121,121.5"]
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "products:" and printed[1].split() == ["m", "n", "A", "B"]
    assert printed[3].split() == ["1", "3", "4", "121", "121.5"]


def test_wrong_benchmarks():
    with pytest.raises(ValueError, match="line_vals has 2 values and line_names 1"):
        benchmarks(line_names=["A"])
    with pytest.raises(ValueError, match="for the 2 names m, n"):
        perf_report(benchmarks(x_vals=[(1, 2, 3)]))(lambda **k: 0).run()
