# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ctrl-C during a compilation: KeyboardInterrupt at once, nothing in the cache, and the next compilation works.

The kernels would take many minutes; that the test ends is what shows it."""

import os
import signal
import subprocess
import sys

import pytest

# Many rounds of one long expression: minutes in the passes and the code generator.
PASSES = """
@nereid.jit
def kernel(x, R: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    for j in tl.static_range(R):
        v = tl.where(v > j, tl.exp(v) * j, tl.sin(v) + j)
    tl.store(x + i, v)
ROUNDS = 4000
"""
# More rounds than the front end ever gets done, of nothing that makes code.
FRONTEND = """
@nereid.jit
def kernel(x, R: tl.constexpr, N: tl.constexpr):
    for i in tl.static_range(R):
        for j in tl.static_range(R):
            for k in tl.static_range(R):
                m = k * 2
    tl.store(x + tl.arange(0, N), 1.0)
ROUNDS = 4096
"""
SCRIPT = """
import os, signal, sys, time
import numpy as np
import nereid
import nereid.language as tl
{kernel}
def small(x, N: tl.constexpr):
    tl.store(x + tl.arange(0, N), 2.0)
small = nereid.jit(small)

x = np.ones(64, np.float32)
signal.signal(signal.SIGALRM, signal.default_int_handler)  # as Ctrl-C, from a clock that needs no thread
signal.setitimer(signal.ITIMER_REAL, float(sys.argv[1]))
try:
    kernel[(1,)](x, R=ROUNDS, N=64)
    print("compiled")
except KeyboardInterrupt:
    print("interrupted")
small[(1,)](x, N=64)
print("next", x[0], flush=True)
if sys.argv[2] == "again":
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
"""


def entries(folder):
    return [name for _, _, names in os.walk(folder) for name in names if not name.startswith(".lock")]


@pytest.mark.parametrize("stage, delay", [("frontend", 1.5), ("passes", 1.5), ("passes", 8.0)])
def test_interrupt(tmp_path, stage, delay):
    script = tmp_path / "slow.py"
    script.write_text(SCRIPT.format(kernel=FRONTEND if stage == "frontend" else PASSES), encoding="utf-8")
    cache = tmp_path / "cache"
    environment = dict(os.environ, NEREID_CACHE_DIR=str(cache), NEREID_CACHE="1")
    command = [sys.executable, str(script), str(delay), "end"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)
    assert result.stdout.split("\n")[:2] == ["interrupted", "next 2.0"], result.stdout + result.stderr
    # A process ends well while the work that nobody wants still runs.
    assert result.returncode == 0, result.stderr
    # What an interrupted compilation leaves is nothing: the cache holds the small kernel alone, as after that alone.
    script.write_text(script.read_text(encoding="utf-8").replace("kernel[(1,)]", "small[(1,)]").replace("R=ROUNDS, ", ""), encoding="utf-8")
    alone = dict(environment, NEREID_CACHE_DIR=str(tmp_path / "alone"))
    subprocess.run([sys.executable, str(script), "600", "end"], env=alone, capture_output=True, timeout=60, check=False)
    assert len(entries(cache)) == len(entries(tmp_path / "alone")) > 0, (entries(cache), entries(tmp_path / "alone"))


def test_exit_code_of_an_interrupted_program(tmp_path):
    """Uncaught, it ends the program as Python's own do: by SIGINT."""
    script = tmp_path / "slow.py"
    text = SCRIPT.format(kernel=PASSES)
    script.write_text(text, encoding="utf-8")
    result = subprocess.run([sys.executable, str(script), "1.5", "again"], env=dict(os.environ, NEREID_CACHE_DIR=str(tmp_path / "cache")),
                            capture_output=True, text=True, timeout=100)  # fmt: skip
    assert "next 2.0" in result.stdout and "KeyboardInterrupt" in result.stderr, result.stdout + result.stderr
    assert result.returncode in (-signal.SIGINT, 130), result.returncode
