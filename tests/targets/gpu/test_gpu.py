# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The target cuda on a GPU; on a machine without one nothing of this runs. Ranks of one GPU are processes
that take turns, so numbers of rounds are small."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nereid import _runtime

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
_spec = importlib.util.spec_from_file_location("nereid_gpu_checks", HERE / "checks.py")
checks = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(checks)

pytestmark = pytest.mark.skipif(
    "cuda" not in _runtime.target_names() or "needs an NVIDIA GPU" in dict(_runtime.devices()).get("cuda", "needs an NVIDIA GPU"),
    reason="no NVIDIA GPU here")


def run(*command, timeout=300):
    done = subprocess.run([sys.executable, "-m", "nereid", "run", *command], capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_launches(ranks):
    assert run("-n", str(ranks), str(HERE / "job.py")).count("ok") == ranks


def test_the_kernel_of_the_readme(tmp_path):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (tmp_path / "gather.py").write_text(re.search(r"```python\n(import numpy as np\n.*?)```", text, re.S)[1])
    shown = run("-n", "2", "--target", "cuda", str(tmp_path / "gather.py"))
    assert "rank 0 has [0. 1.]" in shown and "rank 1 has [0. 1.]" in shown


@pytest.mark.parametrize("name", ["04_producer_consumer", "05_all_gather", "06_all_to_all", "07_allgather_gemm",
                                  "09_allgather_gemm_signals"])
def test_examples(name):
    run("-n", "2", "--target", "cuda", str(ROOT / "examples" / f"{name}.py"))


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_operators(ranks):
    shown = run("-n", str(ranks), "--target", "cuda", "-m", "nereid.ops.selftest", "--calls", "4", "--skewed-calls", "60",
                timeout=1200)
    assert shown.count(" ok") == 9


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_tensor_parallel_mlp(dtype):
    pytest.importorskip("torch")
    shown = run("-n", "2", "--target", "cuda", str(ROOT / "examples/13_tensor_parallel_mlp.py"), "--dtype", dtype)
    assert f"50 steps in {dtype} on 2 ranks" in shown


def test_the_tests_of_the_language():
    """Those of tests/distributed, among them the litmus tests: the same files as on the CPU."""
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "tests/distributed"], cwd=ROOT, capture_output=True, text=True,
                          timeout=3000, env={**os.environ, "NEREID_TARGET": "cuda"})
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", checks.CHECKS)
def test_failed_checks(name):
    done = subprocess.run([sys.executable, "-m", "nereid", "run", "-n", "1", "--target", "cuda", str(HERE / "checks.py"), name],
                          capture_output=True, text=True, timeout=120)
    kernel, _, said = checks.CHECKS[name]
    assert "refused: error: an assertion of a program failed" in done.stdout, done.stdout + done.stderr
    assert f"Assertion `{said}` failed" in done.stderr and "checks.py:" in done.stderr, done.stderr


def test_random_kernels(tmp_path):
    for step in ("make", "run"):
        done = subprocess.run([sys.executable, "-m", "tests.targets.gpu.random_kernels", step, str(tmp_path / "kernels"), "--seeds", "0:40"],
                              cwd=ROOT, capture_output=True, text=True, timeout=1200)
        assert done.returncode == 0, done.stdout + done.stderr
