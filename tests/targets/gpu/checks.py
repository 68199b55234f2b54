# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that must fail on a GPU, one a process: a failed check ends the use of the GPU there. Prints the error of the
launch; what was wrong stands on standard error.

    nereid run -n 1 --target cuda checks.py NAME
"""

import sys

import numpy as np

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device as shmem


@nereid.jit
def waits_for(signal, value):
    token = dl.wait(signal, 1, "sys", "acquire", waitValue=value)
    tl.store(dl.consume_token(signal, token), 1)


@nereid.jit
def notifies(signal, value):
    dl.notify(signal, dl.rank(), signal=value, sig_op="set", comm_scope="inter_node")


@nereid.jit
def signals(signal, value):
    shmem.signal_op(signal, value, shmem.NVSHMEM_SIGNAL_SET, dl.rank())


@nereid.jit
def puts(signal, value):
    shmem.p(signal, value, dl.rank())


@nereid.jit
def signals_a_rank(signal, value):
    shmem.signal_op(signal, 1, shmem.NVSHMEM_SIGNAL_SET, value)


@nereid.jit
def calls_with_a_rank(signal, value):
    dl.extern_call("libshmem_device", "", [signal, tl.cast(1, tl.int32), tl.cast(1, tl.int32), value],
                   {(tl.pointer_type(tl.int32), tl.int32, tl.int32, tl.int64): ("signal_op", ())}, is_pure=False)


@nereid.jit
def calls_with_a_value(signal, value):
    dl.extern_call("libshmem_device", "", [signal, value, tl.cast(1, tl.int32), tl.cast(0, tl.int32)],
                   {(tl.pointer_type(tl.int32), tl.int64, tl.int32, tl.int32): ("signal_op", ())}, is_pure=False)


@nereid.jit
def waits_for_many(signal, value):
    token = dl.wait(signal, value, "sys", "acquire", waitValue=0)
    tl.store(dl.consume_token(signal, token), 0)


@nereid.jit
def updates_by(signal, value):
    shmem.signal_op(signal, 1, value.to(tl.int32), 0)


BIG = 2**32 + 5
WORD = "the value does not fit the 32 bits of what it is written to"
#: Kernel, value, what is said.
CHECKS = {
    "waits_for": (waits_for, BIG, WORD),
    "notifies": (notifies, BIG, WORD),
    "signals": (signals, BIG, WORD),
    "puts": (puts, BIG, WORD),
    "signals_a_rank": (signals_a_rank, 2**32, WORD),
    "calls_with_a_rank": (calls_with_a_rank, 2**32, WORD),
    "calls_with_a_value": (calls_with_a_value, BIG, WORD),
    "waits_for_too_many": (waits_for_many, 2**32, WORD),
    "waits_for_fewer_than_none": (waits_for_many, -3, "the number of signals to wait for is negative"),
    "updates_by_no_operation": (updates_by, 7, "the operation of a signal is neither SIGNAL_SET nor SIGNAL_ADD"),
}


def main() -> None:
    kernel, value, _ = CHECKS[sys.argv[1]]
    signal = nereid.symm.zeros(2, np.int32)
    try:
        kernel[(1,)](signal, np.int64(value))
    except nereid.LaunchError as error:
        print(f"refused: {error}", flush=True)
        return
    print(f"not refused, the signal is {signal[0]}", flush=True)


if __name__ == "__main__":
    main()
