# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A part of tests/check/mutants.py: every mutant is reported, or listed as equivalent. The clean protocols are clean."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))
from tests.check import mutants  # noqa: E402


def run(*words):
    return subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, timeout=280, cwd=ROOT)


def test_every_mutant_is_reported():
    done = run("tests.check.mutants", "--only", "message_k,put_kernel,lock_k,quiet_sync_k,ordered_k")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("script", [script for script, args in mutants.CORPUS.items() if args is not None])
def test_examples_are_clean(script):
    done = run("nereid", "run", "--check", "-n", "2", script, *mutants.CORPUS[script])
    assert done.returncode == 0 and " 0 errors" in done.stderr, done.stdout + done.stderr


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_clean_protocols_are_clean(ranks):
    done = run("nereid", "run", "--check", "-n", str(ranks), "tests/races/clean/protocols.py")
    assert done.returncode == 0 and " 0 errors" in done.stderr, done.stderr
