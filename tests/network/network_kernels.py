# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that move data in every way the language has, right ones and wrong ones."""

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device


@nereid.jit
def gather_by_put(src_ptr, gathered_ptr, n_bytes, n_elements):
    """Program p sends this rank's part to ranks p, p + programs, ..."""
    rank = dl.rank()
    world = dl.num_ranks()
    for peer in range(tl.program_id(0), world, tl.num_programs(0)):
        target = (rank + peer) % world
        libshmem_device.putmem_nbi_block(gathered_ptr + rank * n_elements, src_ptr, n_bytes, target)
    libshmem_device.barrier_all()


@nereid.jit
def gather_by_signal(src_ptr, gathered_ptr, flags_ptr, n_bytes, n_elements):
    rank = dl.rank()
    world = dl.num_ranks()
    for peer in range(tl.program_id(0), world, tl.num_programs(0)):
        target = (rank + peer) % world
        libshmem_device.putmem_signal_nbi_block(
            gathered_ptr + rank * n_elements, src_ptr, n_bytes, flags_ptr + rank, 1,
            libshmem_device.NVSHMEM_SIGNAL_SET, target)
    if tl.program_id(0) == 0:
        token = dl.wait(flags_ptr, world, "sys", "acquire", waitValue=1)
        flags_ptr = dl.consume_token(flags_ptr, token)
        tl.store(flags_ptr + world, tl.load(flags_ptr))


@nereid.jit
def gather_by_get(src_ptr, gathered_ptr, n_bytes, n_elements):
    """Each program fetches the parts of some ranks."""
    world = dl.num_ranks()
    libshmem_device.barrier_all()
    for peer in range(tl.program_id(0), world, tl.num_programs(0)):
        libshmem_device.getmem_nbi_block(gathered_ptr + peer * n_elements, src_ptr, n_bytes, peer)
    libshmem_device.quiet()
    libshmem_device.barrier_all()


@nereid.jit
def gather_by_pointer(src_ptr, gathered_ptr, n_elements, BLOCK: tl.constexpr):
    """Dereferences other ranks' memory: good inside a node only."""
    rank = dl.rank()
    offs = tl.arange(0, BLOCK)
    for peer in range(dl.num_ranks()):
        data = tl.load(src_ptr + offs, mask=offs < n_elements)
        remote_ptr = dl.symm_at(gathered_ptr, peer)
        tl.store(remote_ptr + rank * n_elements + offs, data, mask=offs < n_elements)
    libshmem_device.barrier_all()


@nereid.jit
def which_are_near(out_ptr, base_ptr):
    for peer in range(dl.num_ranks()):
        there = libshmem_device.remote_ptr(base_ptr, peer)
        tl.store(out_ptr + peer, (there.to(tl.int64) != 0).to(tl.int32))


@nereid.jit
def notify_neighbour(flag_ptr, SCOPE: tl.constexpr):
    peer = (dl.rank() + 1) % dl.num_ranks()
    dl.notify(flag_ptr, peer, signal=1, sig_op="set", comm_scope=SCOPE)
    token = dl.wait(flag_ptr, 1, "sys", "acquire", waitValue=1)
    flag_ptr = dl.consume_token(flag_ptr, token)
    tl.store(flag_ptr + 1, tl.load(flag_ptr))


@nereid.jit
def draw_tickets(counter_ptr, log_ptr, flag_ptr, STEPS: tl.constexpr):
    """The log on rank 0 is the order in which all programs of the job ran."""
    rank = dl.rank()
    pid = tl.program_id(0)
    counter = dl.symm_at(counter_ptr, 0)
    log = dl.symm_at(log_ptr, 0)
    peer = (rank + 1) % dl.num_ranks()
    for step in range(STEPS):
        ticket = tl.atomic_add(counter, 1)
        tl.store(log + ticket, (rank * 100 + pid) * 1000 + step)
        libshmem_device.signal_op(flag_ptr, 1, libshmem_device.NVSHMEM_SIGNAL_ADD, peer)
        if step % 3 == 2:
            libshmem_device.quiet()
    libshmem_device.barrier_all()


@nereid.jit
def pass_on(data_ptr, source_ptr, flag_ptr, out_ptr, n, rounds, WAY: tl.constexpr, BLOCK: tl.constexpr):
    """Each rank sends `n` numbers to the next one, round by round; the receiver
    writes down the sum of what it got. WAY leaves out what makes it safe."""
    rank = dl.rank()
    peer = (rank + 1) % dl.num_ranks()
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    for r in range(1, rounds + 1):
        tl.store(source_ptr + offs, offs * 0 + r, mask=mask)
        if WAY == "put_signal":
            libshmem_device.putmem_signal_block(data_ptr, source_ptr, n * 4, flag_ptr, r,
                                                libshmem_device.NVSHMEM_SIGNAL_SET, peer)
        else:
            libshmem_device.putmem_nbi_block(data_ptr, source_ptr, n * 4, peer)
            if WAY == "source_reused":
                tl.store(source_ptr + offs, offs * 0 - 1, mask=mask)
            if WAY == "quiet":
                libshmem_device.quiet()
            elif WAY != "no_fence":
                libshmem_device.fence()
            libshmem_device.signal_op(flag_ptr, r, libshmem_device.NVSHMEM_SIGNAL_SET, peer)
        libshmem_device.signal_wait_until(flag_ptr, libshmem_device.NVSHMEM_CMP_EQ, r)
        tl.store(out_ptr + r - 1, tl.sum(tl.load(data_ptr + offs, mask=mask, other=0)))
        if WAY != "no_barrier":
            libshmem_device.barrier_all()
        else:
            libshmem_device.quiet()


@nereid.jit
def store_buffering(x_ptr, y_ptr, out_ptr, rounds, QUIET: tl.constexpr):
    rank = dl.rank()
    for r in range(rounds):
        libshmem_device.barrier_all()
        if rank == 0:
            libshmem_device.int_p(x_ptr + r, 1, 1)
            if QUIET:
                libshmem_device.quiet()
            tl.store(out_ptr + r, tl.load(y_ptr + r))
        if rank == 1:
            libshmem_device.int_p(y_ptr + r, 1, 0)
            if QUIET:
                libshmem_device.quiet()
            tl.store(out_ptr + r, tl.load(x_ptr + r))


@nereid.jit
def read_early(data_ptr, source_ptr, out_ptr, n, QUIET: tl.constexpr, BLOCK: tl.constexpr):
    """A non-blocking get whose target is read with or without a quiet before."""
    rank = dl.rank()
    offs = tl.arange(0, BLOCK)
    libshmem_device.barrier_all()
    libshmem_device.getmem_nbi_block(data_ptr, source_ptr, n * 4, (rank + 1) % dl.num_ranks())
    if QUIET:
        libshmem_device.quiet()
    tl.store(out_ptr, tl.sum(tl.load(data_ptr + offs, mask=offs < n, other=0)))
    libshmem_device.barrier_all()


@nereid.jit
def send_to_other(target_ptr, source_ptr, n_bytes):
    libshmem_device.putmem_nbi_block(target_ptr, source_ptr, n_bytes, 1 - libshmem_device.my_pe())


@nereid.jit
def announce(x_ptr, flag_ptr, out_ptr, CALLS: tl.constexpr, LATE: tl.constexpr):
    """Rank 0 tells rank 1 of a store that it has made, or makes only later."""
    if dl.rank() == 0:
        if not LATE:
            tl.store(dl.symm_at(x_ptr, 1), 1)
        dl.notify(flag_ptr, 1, signal=1, sig_op="set", comm_scope="intra_node")
        for _ in range(CALLS):
            dl.notify(flag_ptr + 1, 1, signal=1, sig_op="set", comm_scope="intra_node")
        if LATE:
            tl.store(dl.symm_at(x_ptr, 1), 1)
    else:
        token = dl.wait(flag_ptr, 1, "gpu", "acquire", waitValue=1)
        tl.store(out_ptr, tl.load(dl.consume_token(x_ptr, token)))


@nereid.jit
def meet_neighbours(flag_ptr):
    peer = (dl.rank() + 1) % dl.num_ranks()
    libshmem_device.signal_op(flag_ptr, 1, libshmem_device.NVSHMEM_SIGNAL_ADD, peer)
    libshmem_device.signal_wait_until(flag_ptr, libshmem_device.NVSHMEM_CMP_GE, 1)
