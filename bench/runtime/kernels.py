# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that the C++ benchmark of the runtime loads; ../cases/transfers.py compiles them.

KERNELS maps each to its signature. Arguments are 64-bit words: that is how the
benchmark passes them.
"""

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device


@nereid.jit
def ping_pong(signal_ptr, before, rounds):
    """Ranks 0 and 1, programs 0: a signal goes to and fro. Other programs wait for the last one."""
    peer = 1 - dl.rank()
    if tl.program_id(0) != 0:
        token = dl.wait(signal_ptr, 1, "gpu", "acquire", waitValue=before + rounds)
        tl.load(dl.consume_token(signal_ptr, token))
    elif dl.rank() == 0:
        for i in range(rounds):
            dl.notify(signal_ptr, peer, signal=before + i + 1, sig_op="set", comm_scope="intra_node")
            token = dl.wait(signal_ptr, 1, "gpu", "acquire", waitValue=before + i + 1)
            signal_ptr = dl.consume_token(signal_ptr, token)
    else:
        for i in range(rounds):
            token = dl.wait(signal_ptr, 1, "gpu", "acquire", waitValue=before + i + 1)
            signal_ptr = dl.consume_token(signal_ptr, token)
            dl.notify(signal_ptr, peer, signal=before + i + 1, sig_op="set", comm_scope="intra_node")


@nereid.jit
def spin_ping_pong(signal_ptr, before, rounds):
    """The same with loops over loads and stores through dl.symm_at."""
    theirs = dl.symm_at(signal_ptr, 1 - dl.rank())
    for i in range(rounds):
        value = before + i + 1
        if dl.rank() == 1:
            while tl.atomic_add(signal_ptr, 0, sem="acquire") != value:
                pass
        tl.atomic_xchg(theirs, value, sem="release")
        if dl.rank() == 0:
            while tl.atomic_add(signal_ptr, 0, sem="acquire") != value:
                pass


@nereid.jit
def barriers(rounds):
    for _ in range(rounds):
        libshmem_device.barrier_all()


KERNELS = {
    ping_pong: "signal_ptr=*i64, before=i64, rounds=i64",
    spin_ping_pong: "signal_ptr=*i64, before=i64, rounds=i64",
    barriers: "rounds=i64",
}
