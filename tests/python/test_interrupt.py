# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ctrl-C while a launch or a host call waits: KeyboardInterrupt, soon, and the process goes on."""

import os
import signal
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
