# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The option `instrument`: what it adds to a kernel, that nothing of it is there without, and that no cache mixes the two."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from nereid import _runtime

KERNEL = '''
import nereid
import nereid.language as tl
import numpy as np


@nereid.jit
def kernel(x, y, n, N: tl.constexpr):
    offs = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.load(x + offs, mask=offs < n)
    tl.store(y + offs, v + 1.0, mask=offs < n)
    tl.atomic_add(y, 1.0)


if __name__ == "__main__":
    x, y = np.ones(100, np.float32), np.zeros(100, np.float32)
    kernel[(2,)](x, y, 100, N=64)
    assert (y[1:] == 2).all() and y[0] in (3, 4)
'''


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text(KERNEL, encoding="utf-8")
    return path


def emit(path, stage, *options, code=0):
    done = subprocess.run([sys.executable, "-m", "nereid", "compile", f"{path}:kernel", f"--emit={stage}", "--signature",
                           "x=*fp32, y=*fp32, n=i32, N=64", *options], capture_output=True, timeout=120)
    assert done.returncode == code, done.stderr.decode()
    return done.stdout if code == 0 else done.stderr.decode()


def test_only_the_option_adds_calls(path):
    plain, off = emit(path, "asm"), emit(path, "asm", "--option", "instrument=0")
    told = emit(path, "asm", "--option", "instrument=1")
    assert plain == off
    calls = [b"nrd_access", b"nrd_atomic_begin", b"nrd_atomic_end"]
    assert not any(call in plain for call in calls)
    assert all(call in told for call in calls)
    assert b"distributed.access" not in emit(path, "simplified")
    text = emit(path, "simplified", "--option", "instrument=1").decode()
    assert text.count("distributed.access read") == 1 and text.count("distributed.access write") == 1


def test_the_object_says_so(path):
    for option, expected in (("0", False), ("1", True)):
        code = emit(path, "obj", "--option", f"instrument={option}")
        assert _runtime.describe_object(code, "cpu", False)["instrumented"] is expected


def test_caches_keep_the_two_apart(path, tmp_path):
    cache = tmp_path / "cache"

    def run(**variables):
        subprocess.run([sys.executable, str(path)], check=True, timeout=120,
                       env={**os.environ, "NEREID_CACHE_DIR": str(cache), **variables})
        return {entry for entry in cache.rglob("*") if entry.is_file() and b"nrd_access" in entry.read_bytes()}

    assert not run()
    told = run(NEREID_INSTRUMENT="1")
    assert told
    assert run() == told and run(NEREID_INSTRUMENT="1") == told


def test_a_target_that_cannot_says_so(path):
    text = emit(path, "cuda-ttir", "--target", "cuda", "--option", "instrument=1", "--option", "arch=sm_90", code=1)
    assert "the target cuda cannot tell observers of loads and stores" in text
