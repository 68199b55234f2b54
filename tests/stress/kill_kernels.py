# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All kinds of waits, without end: what the ranks of test_kills.py do until one of them is killed."""

import os
import random
import sys
import time

import numpy as np

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device


@nereid.jit
def ring(flags_ptr, data_ptr, count, rounds, BLOCK: tl.constexpr):
    me = dl.rank()
    following = (me + 1) % dl.num_ranks()
    program = tl.program_id(0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    for i in range(rounds):
        value = tl.load(data_ptr + offsets)
        tl.store(dl.symm_at(data_ptr, following) + count + offsets, value + 1.0)
        dl.notify(flags_ptr + program, following, signal=1, sig_op="add", comm_scope="intra_node")
        token = dl.wait(flags_ptr + program, 1, "gpu", "acquire", waitValue=i + 1)
        ready_ptr = dl.consume_token(data_ptr, token)
        tl.store(data_ptr + offsets, tl.load(ready_ptr + count + offsets) * 0.5)
        libshmem_device.barrier_all()


@nereid.jit
def push(flags_ptr, data_ptr, count, round_):
    me = dl.rank()
    following = (me + 1) % dl.num_ranks()
    libshmem_device.putmem_signal_block(data_ptr + count, data_ptr, count * 4, flags_ptr, round_ + 1,
                                        libshmem_device.NVSHMEM_SIGNAL_SET, following)
    libshmem_device.signal_wait_until(flags_ptr, libshmem_device.NVSHMEM_CMP_GE, round_ + 1)


def work():
    """Never returns."""
    count, programs = 256, 4
    rng = random.Random(nereid.rank())
    while True:
        flags = nereid.symm.zeros(programs, np.int64, name="flags")
        signals = nereid.symm.zeros(1, np.uint64, name="signals")
        data = nereid.symm.zeros(2 * count, np.float32, name="data")
        ring[(programs,)](flags, data, count, 20, BLOCK=count // programs)
        for i in range(20):
            push[(1,)](signals, data, count, i)
            nereid.barrier()
        total = nereid.symm.all_reduce(np.array([nereid.rank()]))
        assert total[0] == sum(range(nereid.world_size()))
        stream = nereid.Stream()
        with stream:
            flags.fill_(0)
            stream.barrier()
            ring[(programs,)](flags, data, count, 5, BLOCK=count // programs)
        stream.synchronize()
        time.sleep(rng.random() * 1e-3)
        for tensor in (flags, signals, data):
            nereid.symm.free(tensor)


if __name__ == "__main__":
    nereid.init()
    sys.stdout.write(f"PID {nereid.rank()} {os.getpid()}\n")
    sys.stdout.flush()
    work()
