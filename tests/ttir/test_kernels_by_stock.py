# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Suites of kernels once more, compiled by the stock front end and run on the CPU target."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")

ROOT = Path(__file__).resolve().parents[2]

#: what to run, least number of kernels that the stock front end has to take
SUITES = {
    "tests/kernels/test_attention.py": 3,
    "tests/kernels/test_matmul.py": 5,
    "tests/kernels/test_normalisation.py": 3,
}
#: Minutes rather than seconds: NEREID_BY_STOCK=all
MORE = {
    "tests/kernels/test_elementwise.py": 200,
    "tests/kernels/test_memory.py": 50,
    "tests/kernels/test_reductions.py": 50,
    "tests/kernels/test_division.py": 5,
}
if os.environ.get("NEREID_BY_STOCK") == "all":
    SUITES |= MORE


@pytest.mark.parametrize("suite", SUITES)
def test_suite(suite, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NEREID_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "tests.ttir.by_stock", "--no-header",
                           "-p", "no:cacheprovider", str(ROOT / suite)], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    count = re.search(r"by the stock front end: (\d+)", done.stdout)
    assert count and int(count[1]) >= SUITES[suite], done.stdout[-1000:]
