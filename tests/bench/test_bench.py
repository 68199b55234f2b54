# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The benchmarks run, and their arithmetic is right. No speed is tested here."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"


def load_harness():
    spec = importlib.util.spec_from_file_location("bench_harness", BENCH / "harness.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_calls_take_turns():
    harness = load_harness()
    order = []
    times = harness.interleave({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, rounds=4, warmup=2)
    assert order[4:] == ["b", "a", "a", "b", "b", "a", "a", "b"]
    assert {name: len(seconds) for name, seconds in times.items()} == {"a": 4, "b": 4}


def test_ratio_is_the_median_over_rounds():
    harness = load_harness()
    m = harness.compare("x", {"ours": [1.0, 2.0, 4.0], "base": [2.0, 2.0, 2.0]}, "ours", "base", bar=1.5)
    assert (m.seconds, m.baseline_seconds, m.ratio) == (2.0, 2.0, 1.0)
    assert "NOT REACHED" in harness.table([m])
    m.ratio = 1.5
    assert "NOT REACHED" not in harness.table([m]) and "reached" in harness.table([m])


def test_environment_is_single_threaded(monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    environment = load_harness().single_thread_environment()
    assert "OPENBLAS_CORETYPE" not in environment
    assert environment["NEREID_NUM_THREADS"] == environment["OPENBLAS_NUM_THREADS"] == "1"


@pytest.mark.parametrize("script, arguments", [
    ("matmul.py", ["--size", "96", "--block", "32,32,32"]),
    ("matmul.py", ["--size", "70", "--block", "16,32,16", "--kernel", "wrapped"]),
    ("rows.py", ["--only", "sum, rows of 1000", "--only", "softmax, rows of 1024"]),
    ("vector_add.py", ["--size", "5000", "--block", "1024"]),
    ("ops.py", ["--ranks", "2", "--bytes", "4096", "--size", "64"]),
    ("compile_time.py", []),
])
def test_benchmark_runs(script, arguments, tmp_path):
    out = tmp_path / "out.json"
    done = subprocess.run([sys.executable, str(BENCH / script), *arguments, "--rounds", "1", "--json", str(out)],
                          capture_output=True, text=True, timeout=240, env=dict(os.environ))
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(out.read_text())
    assert figures["machine"]["processor"]
    assert any(figures.get(key) for key in ("measurements", "compile_time"))
