# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`nereid run --check` on compiled kernels: what is found, with both lines, and what is not."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

SCRIPT = '''
import numpy as np
import nereid
import nereid.language as tl
from nereid import libshmem_device, symm
import nereid.distributed as dl


@nereid.jit
def push(out, buf, flag):
    me = dl.rank()
    if me == 0:
        libshmem_device.putmem({source}, out, 1024, 1)  # put
        {between}
        libshmem_device.signal_op(flag, 1, libshmem_device.NVSHMEM_SIGNAL_SET, 1)
    else:
        libshmem_device.signal_wait_until(flag, libshmem_device.NVSHMEM_CMP_EQ, 1)
        libshmem_device.getmem(out, buf, 1024, me)  # get


nereid.init()
buf = symm.zeros(256, dtype="float32")
flag = symm.zeros(1, dtype="int64")
out = symm.zeros(256, dtype="float32")
nereid.barrier()
for turn in range({turns}):
    push[(1,)](out, buf, flag)
    nereid.barrier()
    flag.fill_(0)
    nereid.barrier()
print("done")
'''


def run(tmp_path, *options, between="pass", source="buf", turns=1, script=None):
    path = tmp_path / "push.py"
    path.write_text(script or SCRIPT.format(between=between, source=source, turns=turns), encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "nereid", "run", "--check", "-n", "2", *options, str(path)],
                          capture_output=True, text=True, timeout=120)
    return done.returncode, done.stderr, path.read_text(encoding="utf-8").splitlines()


def line_of(source, mark):
    return next(i for i, text in enumerate(source, 1) if text.endswith(f"# {mark}"))


@pytest.mark.parametrize("options", [[], ["--schedule=random:7"], ["--ranks-per-node=1"]], ids=["fifo", "seed", "nodes"])
def test_a_put_without_fence(tmp_path, options):
    code, text, source = run(tmp_path, *options, turns=3)
    assert code == 40, text
    first, second = line_of(source, "put"), line_of(source, "get")
    assert re.search(rf"push\.py:{second}:\d+: error\[NRD-0004\]: the signal overtakes the data", text), text
    assert re.search(rf"\(1\) .*push\.py:{first}:\d+: put to rank 1, by rank 0, program 0 of 'push'", text), text
    assert "bytes 0 to 1023 on rank 1" in text
    assert "fence()" in text
    assert "and 2 more pairs of these two lines" in text  # one for each further turn
    assert text.count("error[") == 1
    assert "1 error" in text.splitlines()[-1]


@pytest.mark.parametrize("between", ["libshmem_device.fence()", "libshmem_device.quiet()"])
@pytest.mark.parametrize("options", [[], ["--schedule=random:7"], ["--ranks-per-node=1"]], ids=["fifo", "seed", "nodes"])
def test_with_a_fence_nothing_is_found(tmp_path, options, between):
    code, text, _ = run(tmp_path, *options, between=between, turns=3)
    assert code == 0, text
    assert re.search(r"check: 2 ranks, 6 launches, \d+ events, 0 errors$", text.strip()), text


def test_several_seeds_stop_at_the_first_finding(tmp_path):
    code, text, _ = run(tmp_path, "--schedule=random:1..3")
    assert code == 40
    assert "failed with --schedule=random:1" in text
    assert "--check" in text.splitlines()[-1]


def test_a_log_that_is_full_is_told(tmp_path):
    code, text, _ = run(tmp_path, "--check-events=4", between="libshmem_device.fence()")
    assert code == 0
    assert re.search(r"the log was full: \d+ events not checked; --check-events makes room for more", text), text


def test_a_rank_that_is_killed(tmp_path):
    """The others end, and the verdict is about what was done until then."""
    script = SCRIPT.format(between="pass", source="buf", turns=1).replace(
        'print("done")', "import os, signal\nif nereid.rank() == 1:\n    os.kill(os.getpid(), signal.SIGKILL)\n"
                         "nereid.barrier()")
    code, text, _ = run(tmp_path, script=script)
    assert code == 40, text
    assert "NRD-0004" in text
    code, text, _ = run(tmp_path, script=script.replace("pass", "libshmem_device.fence()"))
    assert code == 128 + 9, text
    assert "0 errors" in text.strip().splitlines()[-1]


def test_the_job_s_own_code_stays(tmp_path):
    code, text, _ = run(tmp_path, script="import nereid, sys\nnereid.init()\nnereid.barrier()\nsys.exit(3)\n")
    assert code == 3, text
    assert "0 errors" in text
