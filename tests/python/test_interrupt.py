# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ctrl-C while a launch or a host call waits: KeyboardInterrupt, soon, and the process goes on."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid.testing import spawn


@nereid.jit
def wait_kernel(signal_ptr, x_ptr):
    token = dl.wait(signal_ptr, 1, "gpu", "acquire")
    tl.store(dl.consume_token(x_ptr, token), 1.0)


def interrupt_soon():
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()


def interrupted(call):
    """Seconds until `call` ended with KeyboardInterrupt."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupt_soon()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        call()
    return time.monotonic() - start


@pytest.mark.parametrize("where", ["launch", "barrier"])
def test_interrupt(where):
    def body():
        signals, x = nereid.symm.zeros(1, np.int64), nereid.symm.zeros(1)
        nereid.barrier()
        if nereid.rank() == 1:
            time.sleep(3)  # alive, but does not come
            return None
        call = nereid.barrier if where == "barrier" else lambda: wait_kernel[(1,)](signals, x)
        return interrupted(call)

    # Both ranks leave without meeting again: what counts is that rank 0 got out.
    assert 0.3 < spawn(body, 2, timeout=60)[0] < 2.5


CLEANUP = """
import pathlib, sys, time
import numpy as np
import nereid, nereid.language as tl

@nereid.jit
def k(s):
    while tl.load(s) == 0:
        pass

nereid.init()
s = nereid.symm.zeros(1, np.int32)
nereid.barrier()
(pathlib.Path(sys.argv[1]) / f"ready{nereid.rank()}").touch()
try:
    if nereid.rank() == 2 and sys.argv[2] == "python":
        time.sleep(60)
    k[(1,)](s)
except KeyboardInterrupt:
    for _ in range(200):
        time.sleep(0.001)
    try:
        nereid.barrier()
    except nereid.JobError as error:
        print("cleanup done,", error.code, flush=True)
    if sys.argv[2] == "raise":
        raise
"""


@pytest.mark.parametrize("mode", ["quiet", "raise", "python"])
def test_one_ctrl_c_is_one_keyboard_interrupt_on_each_rank(tmp_path, mode):
    script = tmp_path / "job.py"
    script.write_text(CLEANUP)
    job = subprocess.Popen(
        [sys.executable, "-m", "nereid", "run", "-n", "3", str(script), str(tmp_path), mode],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    try:
        while len(list(tmp_path.glob("ready*"))) < 3 and job.poll() is None:
            time.sleep(0.05)
        time.sleep(0.5)
        job.send_signal(signal.SIGINT)
        out, errors = job.communicate(timeout=60)
    finally:
        job.kill()
        job.wait()
    assert out.count("cleanup done, interrupted") == 3, out + errors
    assert "sys.excepthook" not in errors, errors
    assert (errors.count("Traceback") > 0) == (mode == "raise"), errors


def test_a_rank_that_was_not_interrupted_has_a_launch_error():
    def body():
        signals, x = nereid.symm.zeros(1, np.int64), nereid.symm.zeros(1)
        nereid.barrier()
        if nereid.rank() == 1:
            interrupted(lambda: wait_kernel[(1,)](signals, x))
            time.sleep(1)
            return None
        with pytest.raises(nereid.LaunchError) as caught:
            wait_kernel[(1,)](signals, x)
        return caught.value.code, caught.value.rank

    assert spawn(body, 2, timeout=60, environment={"NEREID_DETECT_DEADLOCK": "0"})[0] == ("interrupted", 1)
