# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a launch from Python costs, beside a call of an empty C function with the same arguments."""

from __future__ import annotations

import ctypes

import harness
import numpy as np

import nereid
import nereid.distributed as dl
import nereid.language as tl


@nereid.jit
def plain_kernel(x, y, out, n, m):
    tl.store(out, tl.load(x) + tl.load(y) + n + m)


@nereid.jit
def waiting_kernel(signal, y, out, n, m):
    token = dl.wait(signal, 1, "gpu", "acquire", waitValue=1)
    signal = dl.consume_token(signal, token)
    tl.store(out, tl.load(y) + tl.load(signal).to(tl.float32) + n + m)


def _case(kernel, x) -> harness.Case:
    y, out = np.ones(1, np.float32), np.zeros(1, np.float32)

    def launch():
        kernel[(1,)](x, y, out, 20, 30)
        return out

    def empty():
        # No types are declared: the arguments are converted beforehand, as cheaply as ctypes can have them.
        function = harness.loops().empty
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (y, y, out)]
        numbers = [ctypes.c_long(20), ctypes.c_long(30)]

        def call():
            function(*pointers, *numbers)
            return want

        return [harness.Side("an empty function by ctypes", call)]

    want = launch().copy()
    return harness.Case(harness.Side("nereid", launch), {"ctypes": empty},
                        lambda got, _: harness.within(got, want, 0))


def plain() -> harness.Case:
    return _case(plain_kernel, np.ones(1, np.float32))


def waiting() -> harness.Case:
    signal = nereid.symm.zeros((1,), np.int64)
    signal.numpy()[:] = 1
    return _case(waiting_kernel, signal)
