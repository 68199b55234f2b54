# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which loads a wait orders: those that depend on its token. Marks as in tiles.py; two ranks."""

import numpy as np

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device, symm


@nereid.jit
def send(data, flag, N: tl.constexpr):
    """Rank 0 writes `data` of rank 1 and raises its flag."""
    offs = tl.arange(0, N)
    tl.store(dl.symm_at(data, 1) + offs, offs.to(tl.float32))  # race forgotten # race elsewhere # race one_of_two # race desc
    dl.notify(flag, 1, signal=1, sig_op="set", comm_scope="intra_node")


@nereid.jit
def consumed(data, flag, out, N: tl.constexpr):
    offs = tl.arange(0, N)
    if dl.rank() == 0:
        send(data, flag, N)
    else:
        token = dl.wait(flag, 1, "gpu", "acquire", waitValue=1)
        data = dl.consume_token(data, token)
        tl.store(out + offs, tl.load(data + offs))


@nereid.jit
def forgotten(data, flag, out, N: tl.constexpr):
    """The token goes into another load; the data is read through the old pointer."""
    offs = tl.arange(0, N)
    if dl.rank() == 0:
        send(data, flag, N)
    else:
        token = dl.wait(flag, 1, "gpu", "acquire", waitValue=1)
        tl.store(out + offs, tl.load(dl.consume_token(out, token) + offs))
        tl.store(out + offs, tl.load(data + offs))  # race forgotten: NRD-0011


@nereid.jit
def times_zero(data, flag, out, N: tl.constexpr):
    """What becomes of the arithmetic does not count."""
    offs = tl.arange(0, N)
    if dl.rank() == 0:
        send(data, flag, N)
    else:
        token = dl.wait(flag, 1, "gpu", "acquire", waitValue=1)
        data = dl.consume_token(data, token * 0)
        tl.store(out + offs, tl.load(data + offs))


@nereid.jit
def two(data, flags, out, SUM: tl.constexpr, N: tl.constexpr):
    """Two waits, each of which knows of the data; of `first * 0 + second` both are tokens."""
    offs = tl.arange(0, N)
    if dl.rank() == 0:
        send(data, flags, N)
        dl.notify(flags + 1, 1, signal=1, sig_op="set", comm_scope="inter_node")
    else:
        first = dl.wait(flags, 1, "gpu", "acquire", waitValue=1)
        second = dl.wait(flags + 1, 1, "gpu", "acquire", waitValue=1)
        tl.store(out + offs, tl.load(dl.consume_token(out, first) + offs))
        data = dl.consume_token(data, first * 0 + second if SUM else second)
        tl.store(out + offs, tl.load(data + offs))


@nereid.jit
def before_the_other(data, flags, out, N: tl.constexpr):
    """The second flag is raised before the data is written: its token says nothing about it."""
    offs = tl.arange(0, N)
    if dl.rank() == 0:
        dl.notify(flags + 1, 1, signal=1, sig_op="set", comm_scope="intra_node")
        send(data, flags, N)
    else:
        second = dl.wait(flags + 1, 1, "gpu", "acquire", waitValue=1)
        first = dl.wait(flags, 1, "gpu", "acquire", waitValue=1)
        tl.store(out + offs, tl.load(dl.consume_token(out, first) + offs))
        data = dl.consume_token(data, second)
        tl.store(out + offs, tl.load(data + offs))  # race one_of_two: NRD-0011


@nereid.jit
def by_a_branch(data, flag, out, N: tl.constexpr):
    """A load that is only made when the token is there."""
    offs = tl.arange(0, N)
    if dl.rank() == 0:
        send(data, flag, N)
    else:
        token = dl.wait(flag, 1, "gpu", "acquire", waitValue=1)
        if token == 0:
            tl.store(out + offs, tl.load(data + offs))


@nereid.jit
def carried(data, flag, out, TURNS: tl.constexpr, N: tl.constexpr):
    """A pointer that a loop carries, with the tokens of all turns."""
    offs = tl.arange(0, N)
    for turn in range(TURNS):
        if dl.rank() == 0:
            tl.store(dl.symm_at(data, 1) + turn * N + offs, offs.to(tl.float32))
            dl.notify(flag, 1, signal=turn + 1, sig_op="set", comm_scope="intra_node")
        else:
            token = dl.wait(flag, 1, "gpu", "acquire", waitValue=TURNS)
            data = dl.consume_token(data, token)
            tl.store(out + offs, tl.load(data + turn * N + offs))


@nereid.jit
def sum_of(data, offs):
    return tl.sum(tl.load(data + offs))


@nereid.jit(noinline=True)
def sum_apart(data, offs):
    return tl.sum(tl.load(data + offs))


@nereid.jit
def functions(data, flag, out, N: tl.constexpr):
    offs = tl.arange(0, N)
    if dl.rank() == 0:
        send(data, flag, N)
    else:
        token = dl.wait(flag, 1, "gpu", "acquire", waitValue=1)
        data = dl.consume_token(data, token)
        tl.store(out, sum_of(data, offs) + sum_apart(data, offs))


@nereid.jit
def elsewhere(data, flag, out, N: tl.constexpr):
    offs = tl.arange(0, N)
    if dl.rank() == 0:
        send(data, flag, N)
    else:
        token = dl.wait(flag, 1, "gpu", "acquire", waitValue=1)
        other = dl.consume_token(out, token)
        tl.store(out, sum_of(other, offs))
        tl.store(out, tl.sum(tl.load(data + offs)))  # race elsewhere: NRD-0011


@nereid.jit
def through_a_descriptor(data, flag, out, TIED: tl.constexpr, N: tl.constexpr):
    offs = tl.arange(0, N)
    if dl.rank() == 0:
        send(data, flag, N)
    else:
        token = dl.wait(flag, 1, "gpu", "acquire", waitValue=1)
        tl.store(out + offs, tl.load(dl.consume_token(out, token) + offs))
        if TIED:
            data = dl.consume_token(data, token)
        desc = tl.make_tensor_descriptor(data, shape=[4, N // 4], strides=[N // 4, 1], block_shape=[4, N // 4])
        tl.store(out + offs, desc.load([0, 0]).reshape(N))  # race desc: NRD-0011


@nereid.jit
def through_a_block(data, flag, out, N: tl.constexpr):
    """The token is consumed by the block pointer itself."""
    offs = tl.arange(0, N)
    if dl.rank() == 0:
        send(data, flag, N)
    else:
        token = dl.wait(flag, 1, "gpu", "acquire", waitValue=1)
        block = tl.make_block_ptr(data, shape=(N,), strides=(1,), offsets=(0,), block_shape=(N,), order=(0,))
        block = dl.consume_token(block, token)
        tl.store(out + offs, tl.load(block))


@nereid.jit
def stored(data, flag, out, N: tl.constexpr):
    """Stores stay behind every wait."""
    offs = tl.arange(0, N)
    if dl.rank() == 0:
        send(data, flag, N)
    else:
        token = dl.wait(flag, 1, "gpu", "acquire", waitValue=1)
        tl.store(out + offs, tl.load(dl.consume_token(out, token) + offs))
        tl.store(data + offs, offs.to(tl.float32))


@nereid.jit
def after_a_quiet(data, flag, out, N: tl.constexpr):
    """What comes after a quiet comes after the waits before it."""
    offs = tl.arange(0, N)
    if dl.rank() == 0:
        send(data, flag, N)
    else:
        token = dl.wait(flag, 1, "gpu", "acquire", waitValue=1)
        tl.store(out + offs, tl.load(dl.consume_token(out, token) + offs))
        libshmem_device.quiet()
        tl.store(out + offs, tl.load(data + offs))


@nereid.jit
def waited_for_by_signal(data, flag, out, N: tl.constexpr):
    """signal_wait_until orders everything."""
    offs = tl.arange(0, N)
    if dl.rank() == 0:
        send(data, flag, N)
    else:
        libshmem_device.signal_wait_until(flag, libshmem_device.NVSHMEM_CMP_EQ, 1)
        tl.store(out + offs, tl.load(data + offs))


@nereid.jit(unused_token="keep")
def kept(data, flag, out, N: tl.constexpr):
    """A wait that is kept although nothing has its token orders everything."""
    offs = tl.arange(0, N)
    if dl.rank() == 0:
        send(data, flag, N)
    else:
        dl.wait(flag, 1, "gpu", "acquire", waitValue=1)
        tl.store(out + offs, tl.load(data + offs))


def main() -> None:
    nereid.init()
    data = symm.zeros(4096, dtype="float32")
    flags = symm.zeros(2, dtype="int64")
    out = np.zeros(4096, np.float32)

    def between(kernel, *args, grid=1):
        nereid.barrier()
        kernel[(grid,)](*args)
        nereid.barrier()
        flags.fill_(0)
        nereid.barrier()

    for kernel in (consumed, forgotten, times_zero, by_a_branch, functions, elsewhere, through_a_block, stored,
                   after_a_quiet, waited_for_by_signal, kept, before_the_other):
        between(kernel, data, flags, out, 256)
    between(two, data, flags, out, True, 256)
    between(two, data, flags, out, False, 256)
    between(carried, data, flags, out, 3, 256)
    for tied in (True, False):
        between(through_a_descriptor, data, flags, out, tied, 256)


main()
