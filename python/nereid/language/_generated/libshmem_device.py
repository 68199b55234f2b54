# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by python/generate_language.py from the compiler's table: do not edit.
"""Functions and constants of nereid.libshmem_device."""

from nereid.language._device import DeviceConstant, device_function

__all__ = ["ACLSHMEM_CMP_EQ", "ACLSHMEM_CMP_GE", "ACLSHMEM_CMP_GT", "ACLSHMEM_CMP_LE", "ACLSHMEM_CMP_LT", "ACLSHMEM_CMP_NE", "ACLSHMEM_SIGNAL_ADD", "ACLSHMEM_SIGNAL_SET", "ACLSHMEM_TEAM_INVALID", "ACLSHMEM_TEAM_WORLD", "MORI_CMP_EQ", "MORI_CMP_GE", "MORI_CMP_GT", "MORI_CMP_LE", "MORI_CMP_LT", "MORI_CMP_NE", "MORI_SIGNAL_ADD", "MORI_SIGNAL_SET", "MXSHMEMX_TEAM_NODE", "MXSHMEM_CMP_EQ", "MXSHMEM_CMP_GE", "MXSHMEM_CMP_GT", "MXSHMEM_CMP_LE", "MXSHMEM_CMP_LT", "MXSHMEM_CMP_NE", "MXSHMEM_SIGNAL_ADD", "MXSHMEM_SIGNAL_SET", "MXSHMEM_TEAM_WORLD", "NVSHMEMX_TEAM_NODE", "NVSHMEMX_TEAM_SAME_MYPE_NODE", "NVSHMEM_CMP_EQ", "NVSHMEM_CMP_GE", "NVSHMEM_CMP_GT", "NVSHMEM_CMP_LE", "NVSHMEM_CMP_LT", "NVSHMEM_CMP_NE", "NVSHMEM_SIGNAL_ADD", "NVSHMEM_SIGNAL_SET", "NVSHMEM_TEAM_INVALID", "NVSHMEM_TEAM_SHARED", "NVSHMEM_TEAM_WORLD", "ROCSHMEM_CMP_EQ", "ROCSHMEM_CMP_GE", "ROCSHMEM_CMP_GT", "ROCSHMEM_CMP_LE", "ROCSHMEM_CMP_LT", "ROCSHMEM_CMP_NE", "ROCSHMEM_SIGNAL_ADD", "ROCSHMEM_SIGNAL_SET", "barrier", "barrier_all", "barrier_all_block", "barrier_all_vec", "barrier_all_warp", "barrier_all_wave", "barrier_all_wg", "barrier_block", "barrier_vec", "barrier_warp", "barrier_wave", "barrier_wg", "broadcast", "broadcast_block", "broadcast_warp", "broadcast_wave", "broadcast_wg", "broadcastmem", "broadcastmem_block", "broadcastmem_warp", "broadcastmem_wave", "broadcastmem_wg", "fcollect", "fcollect_block", "fcollect_warp", "fcollect_wave", "fcollect_wg", "fcollectmem", "fcollectmem_block", "fcollectmem_warp", "fcollectmem_wave", "fcollectmem_wg", "fence", "fence_pe", "g", "getmem", "getmem_block", "getmem_nbi", "getmem_nbi_block", "getmem_nbi_warp", "getmem_nbi_wave", "getmem_nbi_wg", "getmem_warp", "getmem_wave", "getmem_wg", "int_g", "int_p", "my_pe", "n_pes", "p", "putmem", "putmem_block", "putmem_nbi", "putmem_nbi_block", "putmem_nbi_warp", "putmem_nbi_wave", "putmem_nbi_wg", "putmem_rma", "putmem_rma_block", "putmem_rma_nbi", "putmem_rma_nbi_block", "putmem_rma_nbi_warp", "putmem_rma_nbi_wave", "putmem_rma_nbi_wg", "putmem_rma_warp", "putmem_rma_wave", "putmem_rma_wg", "putmem_signal", "putmem_signal_block", "putmem_signal_nbi", "putmem_signal_nbi_block", "putmem_signal_nbi_warp", "putmem_signal_nbi_wave", "putmem_signal_nbi_wg", "putmem_signal_rma", "putmem_signal_rma_block", "putmem_signal_rma_nbi", "putmem_signal_rma_nbi_block", "putmem_signal_rma_nbi_warp", "putmem_signal_rma_nbi_wave", "putmem_signal_rma_nbi_wg", "putmem_signal_rma_warp", "putmem_signal_rma_wave", "putmem_signal_rma_wg", "putmem_signal_warp", "putmem_signal_wave", "putmem_signal_wg", "putmem_warp", "putmem_wave", "putmem_wg", "quiet", "quiet_pe", "remote_mc_ptr", "remote_ptr", "set_rocshmem_ctx", "signal_op", "signal_wait_until", "sync", "sync_all", "sync_all_block", "sync_all_warp", "sync_all_wave", "sync_all_wg", "team_my_pe", "team_n_pes", "team_sync_block", "team_sync_warp", "team_translate_pe", "uint64_wait_until_equals", "ulong_put_signal"]


@device_function("libshmem_device", "barrier")
def barrier(team):
    """Barrier over all programs of all ranks; every write before it is visible after it. Every program of the launch
    on every rank must call it the same number of times.
    """


@device_function("libshmem_device", "barrier_all")
def barrier_all():
    """Barrier over all programs of all ranks; every write before it is visible after it. Every program of the launch
    on every rank must call it the same number of times.
    """


@device_function("libshmem_device", "barrier_all_block")
def barrier_all_block():
    """Barrier over all programs of all ranks; every write before it is visible after it. Every program of the launch
    on every rank must call it the same number of times.
    """


@device_function("libshmem_device", "barrier_all_vec")
def barrier_all_vec():
    """barrier_all among vector cores only."""


@device_function("libshmem_device", "barrier_all_warp")
def barrier_all_warp():
    """Barrier over all programs of all ranks; every write before it is visible after it. Every program of the launch
    on every rank must call it the same number of times.
    """


@device_function("libshmem_device", "barrier_all_wave")
def barrier_all_wave():
    """Barrier over all programs of all ranks; every write before it is visible after it. Every program of the launch
    on every rank must call it the same number of times.
    """


@device_function("libshmem_device", "barrier_all_wg")
def barrier_all_wg():
    """Barrier over all programs of all ranks; every write before it is visible after it. Every program of the launch
    on every rank must call it the same number of times.
    """


@device_function("libshmem_device", "barrier_block")
def barrier_block(team):
    """Barrier over all programs of all ranks; every write before it is visible after it. Every program of the launch
    on every rank must call it the same number of times.
    """


@device_function("libshmem_device", "barrier_vec")
def barrier_vec(team):
    """barrier among vector cores only."""


@device_function("libshmem_device", "barrier_warp")
def barrier_warp(team):
    """Barrier over all programs of all ranks; every write before it is visible after it. Every program of the launch
    on every rank must call it the same number of times.
    """


@device_function("libshmem_device", "barrier_wave")
def barrier_wave(team):
    """Barrier over all programs of all ranks; every write before it is visible after it. Every program of the launch
    on every rank must call it the same number of times.
    """


@device_function("libshmem_device", "barrier_wg")
def barrier_wg(team):
    """Barrier over all programs of all ranks; every write before it is visible after it. Every program of the launch
    on every rank must call it the same number of times.
    """


@device_function("libshmem_device", "broadcast")
def broadcast(team, dest, source, nelems, pe_root):
    """Not available: the runtime has no in-kernel collectives."""


@device_function("libshmem_device", "broadcast_block")
def broadcast_block(team, dest, source, nelems, pe_root):
    """Not available: the runtime has no in-kernel collectives."""


@device_function("libshmem_device", "broadcast_warp")
def broadcast_warp(team, dest, source, nelems, pe_root):
    """Not available: the runtime has no in-kernel collectives."""


@device_function("libshmem_device", "broadcast_wave")
def broadcast_wave(team, dest, source, nelems, pe_root):
    """Not available: the runtime has no in-kernel collectives."""


@device_function("libshmem_device", "broadcast_wg")
def broadcast_wg(team, dest, source, nelems, pe_root):
    """Not available: the runtime has no in-kernel collectives."""


@device_function("libshmem_device", "broadcastmem")
def broadcastmem(team, dest, source, nelems, pe_root):
    """Not available: the runtime has no in-kernel collectives."""


@device_function("libshmem_device", "broadcastmem_block")
def broadcastmem_block(team, dest, source, nelems, pe_root):
    """Not available: the runtime has no in-kernel collectives."""


@device_function("libshmem_device", "broadcastmem_warp")
def broadcastmem_warp(team, dest, source, nelems, pe_root):
    """Not available: the runtime has no in-kernel collectives."""


@device_function("libshmem_device", "broadcastmem_wave")
def broadcastmem_wave(team, dest, source, nelems, pe_root):
    """Not available: the runtime has no in-kernel collectives."""


@device_function("libshmem_device", "broadcastmem_wg")
def broadcastmem_wg(team, dest, source, nelems, pe_root):
    """Not available: the runtime has no in-kernel collectives."""


@device_function("libshmem_device", "fcollect")
def fcollect(team, dest, source, nelems):
    """Not available: the runtime has no in-kernel collectives."""


@device_function("libshmem_device", "fcollect_block")
def fcollect_block(team, dest, source, nelems):
    """Not available: the runtime has no in-kernel collectives."""


@device_function("libshmem_device", "fcollect_warp")
def fcollect_warp(team, dest, source, nelems):
    """Not available: the runtime has no in-kernel collectives."""


@device_function("libshmem_device", "fcollect_wave")
def fcollect_wave(team, dest, source, nelems):
    """Not available: the runtime has no in-kernel collectives."""


@device_function("libshmem_device", "fcollect_wg")
def fcollect_wg(team, dest, source, nelems):
    """Not available: the runtime has no in-kernel collectives."""


@device_function("libshmem_device", "fcollectmem")
def fcollectmem(team, dest, source, nelems):
    """Not available: the runtime has no in-kernel collectives."""


@device_function("libshmem_device", "fcollectmem_block")
def fcollectmem_block(team, dest, source, nelems):
    """Not available: the runtime has no in-kernel collectives."""


@device_function("libshmem_device", "fcollectmem_warp")
def fcollectmem_warp(team, dest, source, nelems):
    """Not available: the runtime has no in-kernel collectives."""


@device_function("libshmem_device", "fcollectmem_wave")
def fcollectmem_wave(team, dest, source, nelems):
    """Not available: the runtime has no in-kernel collectives."""


@device_function("libshmem_device", "fcollectmem_wg")
def fcollectmem_wg(team, dest, source, nelems):
    """Not available: the runtime has no in-kernel collectives."""


@device_function("libshmem_device", "fence")
def fence():
    """Orders this program's transfers and signals to each rank; does not complete them."""


@device_function("libshmem_device", "fence_pe")
def fence_pe(pe=None, qp_id=0):
    """fence(); orders the transfers to all ranks."""


@device_function("libshmem_device", "g")
def g(source, pe):
    """Reads one element from pe's heap."""


@device_function("libshmem_device", "getmem")
def getmem(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source in pe's heap to dest. source is symmetric."""


@device_function("libshmem_device", "getmem_block")
def getmem_block(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source in pe's heap to dest. source is symmetric."""


@device_function("libshmem_device", "getmem_nbi")
def getmem_nbi(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source in pe's heap to dest; complete after quiet(). source is symmetric."""


@device_function("libshmem_device", "getmem_nbi_block")
def getmem_nbi_block(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source in pe's heap to dest; complete after quiet(). source is symmetric."""


@device_function("libshmem_device", "getmem_nbi_warp")
def getmem_nbi_warp(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source in pe's heap to dest; complete after quiet(). source is symmetric."""


@device_function("libshmem_device", "getmem_nbi_wave")
def getmem_nbi_wave(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source in pe's heap to dest; complete after quiet(). source is symmetric."""


@device_function("libshmem_device", "getmem_nbi_wg")
def getmem_nbi_wg(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source in pe's heap to dest; complete after quiet(). source is symmetric."""


@device_function("libshmem_device", "getmem_warp")
def getmem_warp(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source in pe's heap to dest. source is symmetric."""


@device_function("libshmem_device", "getmem_wave")
def getmem_wave(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source in pe's heap to dest. source is symmetric."""


@device_function("libshmem_device", "getmem_wg")
def getmem_wg(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source in pe's heap to dest. source is symmetric."""


@device_function("libshmem_device", "int_g")
def int_g(source, pe):
    """Reads one element from pe's heap."""


@device_function("libshmem_device", "int_p")
def int_p(dest, value, pe, qp_id=0):
    """Stores one element, cast to dest's dtype, in pe's heap."""


@device_function("libshmem_device", "my_pe")
def my_pe():
    """This rank's number, int32; the same as dl.rank()."""


@device_function("libshmem_device", "n_pes")
def n_pes():
    """Number of ranks, int32; the same as dl.num_ranks()."""


@device_function("libshmem_device", "p")
def p(dest, value, pe, qp_id=0):
    """Stores one element, cast to dest's dtype, in pe's heap."""


@device_function("libshmem_device", "putmem")
def putmem(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source to dest in pe's heap; returns when source may be reused. dest is symmetric."""


@device_function("libshmem_device", "putmem_block")
def putmem_block(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source to dest in pe's heap; returns when source may be reused. dest is symmetric."""


@device_function("libshmem_device", "putmem_nbi")
def putmem_nbi(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source to dest in pe's heap; complete after quiet(). dest is symmetric."""


@device_function("libshmem_device", "putmem_nbi_block")
def putmem_nbi_block(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source to dest in pe's heap; complete after quiet(). dest is symmetric."""


@device_function("libshmem_device", "putmem_nbi_warp")
def putmem_nbi_warp(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source to dest in pe's heap; complete after quiet(). dest is symmetric."""


@device_function("libshmem_device", "putmem_nbi_wave")
def putmem_nbi_wave(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source to dest in pe's heap; complete after quiet(). dest is symmetric."""


@device_function("libshmem_device", "putmem_nbi_wg")
def putmem_nbi_wg(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source to dest in pe's heap; complete after quiet(). dest is symmetric."""


@device_function("libshmem_device", "putmem_rma")
def putmem_rma(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source to dest in pe's heap; returns when source may be reused. dest is symmetric."""


@device_function("libshmem_device", "putmem_rma_block")
def putmem_rma_block(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source to dest in pe's heap; returns when source may be reused. dest is symmetric."""


@device_function("libshmem_device", "putmem_rma_nbi")
def putmem_rma_nbi(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source to dest in pe's heap; complete after quiet(). dest is symmetric."""


@device_function("libshmem_device", "putmem_rma_nbi_block")
def putmem_rma_nbi_block(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source to dest in pe's heap; complete after quiet(). dest is symmetric."""


@device_function("libshmem_device", "putmem_rma_nbi_warp")
def putmem_rma_nbi_warp(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source to dest in pe's heap; complete after quiet(). dest is symmetric."""


@device_function("libshmem_device", "putmem_rma_nbi_wave")
def putmem_rma_nbi_wave(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source to dest in pe's heap; complete after quiet(). dest is symmetric."""


@device_function("libshmem_device", "putmem_rma_nbi_wg")
def putmem_rma_nbi_wg(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source to dest in pe's heap; complete after quiet(). dest is symmetric."""


@device_function("libshmem_device", "putmem_rma_warp")
def putmem_rma_warp(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source to dest in pe's heap; returns when source may be reused. dest is symmetric."""


@device_function("libshmem_device", "putmem_rma_wave")
def putmem_rma_wave(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source to dest in pe's heap; returns when source may be reused. dest is symmetric."""


@device_function("libshmem_device", "putmem_rma_wg")
def putmem_rma_wg(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source to dest in pe's heap; returns when source may be reused. dest is symmetric."""


@device_function("libshmem_device", "putmem_signal")
def putmem_signal(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem, then updates sig_addr in pe's heap; the data is visible before the signal is.

    sig_addr: pointer to a 32- or 64-bit integer; signal: the value; sig_op: NVSHMEM_SIGNAL_SET or
    NVSHMEM_SIGNAL_ADD (or another library's, but only one library's in a kernel).
    """


@device_function("libshmem_device", "putmem_signal_block")
def putmem_signal_block(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem, then updates sig_addr in pe's heap; the data is visible before the signal is.

    sig_addr: pointer to a 32- or 64-bit integer; signal: the value; sig_op: NVSHMEM_SIGNAL_SET or
    NVSHMEM_SIGNAL_ADD (or another library's, but only one library's in a kernel).
    """


@device_function("libshmem_device", "putmem_signal_nbi")
def putmem_signal_nbi(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem_signal that only starts the transfer; complete after quiet()."""


@device_function("libshmem_device", "putmem_signal_nbi_block")
def putmem_signal_nbi_block(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem_signal that only starts the transfer; complete after quiet()."""


@device_function("libshmem_device", "putmem_signal_nbi_warp")
def putmem_signal_nbi_warp(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem_signal that only starts the transfer; complete after quiet()."""


@device_function("libshmem_device", "putmem_signal_nbi_wave")
def putmem_signal_nbi_wave(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem_signal that only starts the transfer; complete after quiet()."""


@device_function("libshmem_device", "putmem_signal_nbi_wg")
def putmem_signal_nbi_wg(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem_signal that only starts the transfer; complete after quiet()."""


@device_function("libshmem_device", "putmem_signal_rma")
def putmem_signal_rma(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem, then updates sig_addr in pe's heap; the data is visible before the signal is.

    sig_addr: pointer to a 32- or 64-bit integer; signal: the value; sig_op: NVSHMEM_SIGNAL_SET or
    NVSHMEM_SIGNAL_ADD (or another library's, but only one library's in a kernel).
    """


@device_function("libshmem_device", "putmem_signal_rma_block")
def putmem_signal_rma_block(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem, then updates sig_addr in pe's heap; the data is visible before the signal is.

    sig_addr: pointer to a 32- or 64-bit integer; signal: the value; sig_op: NVSHMEM_SIGNAL_SET or
    NVSHMEM_SIGNAL_ADD (or another library's, but only one library's in a kernel).
    """


@device_function("libshmem_device", "putmem_signal_rma_nbi")
def putmem_signal_rma_nbi(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem_signal that only starts the transfer; complete after quiet()."""


@device_function("libshmem_device", "putmem_signal_rma_nbi_block")
def putmem_signal_rma_nbi_block(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem_signal that only starts the transfer; complete after quiet()."""


@device_function("libshmem_device", "putmem_signal_rma_nbi_warp")
def putmem_signal_rma_nbi_warp(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem_signal that only starts the transfer; complete after quiet()."""


@device_function("libshmem_device", "putmem_signal_rma_nbi_wave")
def putmem_signal_rma_nbi_wave(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem_signal that only starts the transfer; complete after quiet()."""


@device_function("libshmem_device", "putmem_signal_rma_nbi_wg")
def putmem_signal_rma_nbi_wg(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem_signal that only starts the transfer; complete after quiet()."""


@device_function("libshmem_device", "putmem_signal_rma_warp")
def putmem_signal_rma_warp(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem, then updates sig_addr in pe's heap; the data is visible before the signal is.

    sig_addr: pointer to a 32- or 64-bit integer; signal: the value; sig_op: NVSHMEM_SIGNAL_SET or
    NVSHMEM_SIGNAL_ADD (or another library's, but only one library's in a kernel).
    """


@device_function("libshmem_device", "putmem_signal_rma_wave")
def putmem_signal_rma_wave(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem, then updates sig_addr in pe's heap; the data is visible before the signal is.

    sig_addr: pointer to a 32- or 64-bit integer; signal: the value; sig_op: NVSHMEM_SIGNAL_SET or
    NVSHMEM_SIGNAL_ADD (or another library's, but only one library's in a kernel).
    """


@device_function("libshmem_device", "putmem_signal_rma_wg")
def putmem_signal_rma_wg(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem, then updates sig_addr in pe's heap; the data is visible before the signal is.

    sig_addr: pointer to a 32- or 64-bit integer; signal: the value; sig_op: NVSHMEM_SIGNAL_SET or
    NVSHMEM_SIGNAL_ADD (or another library's, but only one library's in a kernel).
    """


@device_function("libshmem_device", "putmem_signal_warp")
def putmem_signal_warp(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem, then updates sig_addr in pe's heap; the data is visible before the signal is.

    sig_addr: pointer to a 32- or 64-bit integer; signal: the value; sig_op: NVSHMEM_SIGNAL_SET or
    NVSHMEM_SIGNAL_ADD (or another library's, but only one library's in a kernel).
    """


@device_function("libshmem_device", "putmem_signal_wave")
def putmem_signal_wave(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem, then updates sig_addr in pe's heap; the data is visible before the signal is.

    sig_addr: pointer to a 32- or 64-bit integer; signal: the value; sig_op: NVSHMEM_SIGNAL_SET or
    NVSHMEM_SIGNAL_ADD (or another library's, but only one library's in a kernel).
    """


@device_function("libshmem_device", "putmem_signal_wg")
def putmem_signal_wg(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem, then updates sig_addr in pe's heap; the data is visible before the signal is.

    sig_addr: pointer to a 32- or 64-bit integer; signal: the value; sig_op: NVSHMEM_SIGNAL_SET or
    NVSHMEM_SIGNAL_ADD (or another library's, but only one library's in a kernel).
    """


@device_function("libshmem_device", "putmem_warp")
def putmem_warp(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source to dest in pe's heap; returns when source may be reused. dest is symmetric."""


@device_function("libshmem_device", "putmem_wave")
def putmem_wave(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source to dest in pe's heap; returns when source may be reused. dest is symmetric."""


@device_function("libshmem_device", "putmem_wg")
def putmem_wg(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source to dest in pe's heap; returns when source may be reused. dest is symmetric."""


@device_function("libshmem_device", "quiet")
def quiet():
    """Completes all outstanding transfers of this program."""


@device_function("libshmem_device", "quiet_pe")
def quiet_pe(pe=None, qp_id=0):
    """quiet(); completes the transfers to all ranks."""


@device_function("libshmem_device", "remote_mc_ptr")
def remote_mc_ptr(team, ptr):
    """Not available: there are no multicast addresses."""


@device_function("libshmem_device", "remote_ptr")
def remote_ptr(local_ptr, pe):
    """Address of local_ptr's place in pe's heap; the same as dl.symm_at."""


@device_function("libshmem_device", "set_rocshmem_ctx")
def set_rocshmem_ctx(ctx):
    """Nothing to set up: accepted and ignored."""


@device_function("libshmem_device", "signal_op")
def signal_op(sig_addr, signal, sig_op, pe):
    """Sets or adds to the signal at sig_addr's place in pe's heap; not ordered after earlier puts without fence()."""


@device_function("libshmem_device", "signal_wait_until")
def signal_wait_until(sig_addr, cmp_, cmp_val):
    """Waits until the signal compares to cmp_val as cmp_ says (NVSHMEM_CMP_EQ, ...); returns the value that did."""


@device_function("libshmem_device", "sync")
def sync(team):
    """Barrier over all programs of all ranks without completing outstanding transfers."""


@device_function("libshmem_device", "sync_all")
def sync_all():
    """Barrier over all programs of all ranks without completing outstanding transfers."""


@device_function("libshmem_device", "sync_all_block")
def sync_all_block():
    """Barrier over all programs of all ranks without completing outstanding transfers."""


@device_function("libshmem_device", "sync_all_warp")
def sync_all_warp():
    """Barrier over all programs of all ranks without completing outstanding transfers."""


@device_function("libshmem_device", "sync_all_wave")
def sync_all_wave():
    """Barrier over all programs of all ranks without completing outstanding transfers."""


@device_function("libshmem_device", "sync_all_wg")
def sync_all_wg():
    """Barrier over all programs of all ranks without completing outstanding transfers."""


@device_function("libshmem_device", "team_my_pe")
def team_my_pe(team):
    """This rank's number in a team that is the whole job."""


@device_function("libshmem_device", "team_n_pes")
def team_n_pes(team):
    """Number of ranks of a team that is the whole job."""


@device_function("libshmem_device", "team_sync_block")
def team_sync_block(team):
    """Barrier over all programs of all ranks without completing outstanding transfers."""


@device_function("libshmem_device", "team_sync_warp")
def team_sync_warp(team):
    """Barrier over all programs of all ranks without completing outstanding transfers."""


@device_function("libshmem_device", "team_translate_pe")
def team_translate_pe(src_team, src_pe, dest_team):
    """The rank in dest_team that is src_pe in src_team; both teams are the whole job."""


@device_function("libshmem_device", "uint64_wait_until_equals")
def uint64_wait_until_equals(addr, val):
    """Waits until the signal equals val; returns it."""


@device_function("libshmem_device", "ulong_put_signal")
def ulong_put_signal(dest, source, nelems, sig_addr, signal, sig_op, pe):
    """putmem_signal of nelems 8-byte elements."""


NVSHMEM_CMP_EQ = DeviceConstant("libshmem_device", "NVSHMEM_CMP_EQ", 1689144424804115677494357021163520)
NVSHMEM_CMP_NE = DeviceConstant("libshmem_device", "NVSHMEM_CMP_NE", 1689144424804115677494357021163521)
NVSHMEM_CMP_GT = DeviceConstant("libshmem_device", "NVSHMEM_CMP_GT", 1689144424804115677494357021163522)
NVSHMEM_CMP_LE = DeviceConstant("libshmem_device", "NVSHMEM_CMP_LE", 1689144424804115677494357021163523)
NVSHMEM_CMP_LT = DeviceConstant("libshmem_device", "NVSHMEM_CMP_LT", 1689144424804115677494357021163524)
NVSHMEM_CMP_GE = DeviceConstant("libshmem_device", "NVSHMEM_CMP_GE", 1689144424804115677494357021163525)
NVSHMEM_SIGNAL_SET = DeviceConstant("libshmem_device", "NVSHMEM_SIGNAL_SET", 1689144424804134124238430730715137)
NVSHMEM_SIGNAL_ADD = DeviceConstant("libshmem_device", "NVSHMEM_SIGNAL_ADD", 1689144424804134124238430730715138)
ROCSHMEM_CMP_EQ = DeviceConstant("libshmem_device", "ROCSHMEM_CMP_EQ", 1689144424808838043977226666377216)
ROCSHMEM_CMP_NE = DeviceConstant("libshmem_device", "ROCSHMEM_CMP_NE", 1689144424808838043977226666377217)
ROCSHMEM_CMP_GT = DeviceConstant("libshmem_device", "ROCSHMEM_CMP_GT", 1689144424808838043977226666377218)
ROCSHMEM_CMP_LE = DeviceConstant("libshmem_device", "ROCSHMEM_CMP_LE", 1689144424808838043977226666377219)
ROCSHMEM_CMP_LT = DeviceConstant("libshmem_device", "ROCSHMEM_CMP_LT", 1689144424808838043977226666377220)
ROCSHMEM_CMP_GE = DeviceConstant("libshmem_device", "ROCSHMEM_CMP_GE", 1689144424808838043977226666377221)
ROCSHMEM_SIGNAL_SET = DeviceConstant("libshmem_device", "ROCSHMEM_SIGNAL_SET", 1689144424808856490721300375928833)
ROCSHMEM_SIGNAL_ADD = DeviceConstant("libshmem_device", "ROCSHMEM_SIGNAL_ADD", 1689144424808856490721300375928834)
ACLSHMEM_CMP_EQ = DeviceConstant("libshmem_device", "ACLSHMEM_CMP_EQ", 1689144424813560410460096311590912)
ACLSHMEM_CMP_NE = DeviceConstant("libshmem_device", "ACLSHMEM_CMP_NE", 1689144424813560410460096311590913)
ACLSHMEM_CMP_GT = DeviceConstant("libshmem_device", "ACLSHMEM_CMP_GT", 1689144424813560410460096311590914)
ACLSHMEM_CMP_LE = DeviceConstant("libshmem_device", "ACLSHMEM_CMP_LE", 1689144424813560410460096311590915)
ACLSHMEM_CMP_LT = DeviceConstant("libshmem_device", "ACLSHMEM_CMP_LT", 1689144424813560410460096311590916)
ACLSHMEM_CMP_GE = DeviceConstant("libshmem_device", "ACLSHMEM_CMP_GE", 1689144424813560410460096311590917)
ACLSHMEM_SIGNAL_SET = DeviceConstant("libshmem_device", "ACLSHMEM_SIGNAL_SET", 1689144424813578857204170021142529)
ACLSHMEM_SIGNAL_ADD = DeviceConstant("libshmem_device", "ACLSHMEM_SIGNAL_ADD", 1689144424813578857204170021142530)
MORI_CMP_EQ = DeviceConstant("libshmem_device", "MORI_CMP_EQ", 1689144424818282776942965956804608)
MORI_CMP_NE = DeviceConstant("libshmem_device", "MORI_CMP_NE", 1689144424818282776942965956804609)
MORI_CMP_GT = DeviceConstant("libshmem_device", "MORI_CMP_GT", 1689144424818282776942965956804610)
MORI_CMP_LE = DeviceConstant("libshmem_device", "MORI_CMP_LE", 1689144424818282776942965956804611)
MORI_CMP_LT = DeviceConstant("libshmem_device", "MORI_CMP_LT", 1689144424818282776942965956804612)
MORI_CMP_GE = DeviceConstant("libshmem_device", "MORI_CMP_GE", 1689144424818282776942965956804613)
MORI_SIGNAL_SET = DeviceConstant("libshmem_device", "MORI_SIGNAL_SET", 1689144424818301223687039666356225)
MORI_SIGNAL_ADD = DeviceConstant("libshmem_device", "MORI_SIGNAL_ADD", 1689144424818301223687039666356226)
MXSHMEM_CMP_EQ = DeviceConstant("libshmem_device", "MXSHMEM_CMP_EQ", 1689144424823005143425835602018304)
MXSHMEM_CMP_NE = DeviceConstant("libshmem_device", "MXSHMEM_CMP_NE", 1689144424823005143425835602018305)
MXSHMEM_CMP_GT = DeviceConstant("libshmem_device", "MXSHMEM_CMP_GT", 1689144424823005143425835602018306)
MXSHMEM_CMP_LE = DeviceConstant("libshmem_device", "MXSHMEM_CMP_LE", 1689144424823005143425835602018307)
MXSHMEM_CMP_LT = DeviceConstant("libshmem_device", "MXSHMEM_CMP_LT", 1689144424823005143425835602018308)
MXSHMEM_CMP_GE = DeviceConstant("libshmem_device", "MXSHMEM_CMP_GE", 1689144424823005143425835602018309)
MXSHMEM_SIGNAL_SET = DeviceConstant("libshmem_device", "MXSHMEM_SIGNAL_SET", 1689144424823023590169909311569921)
MXSHMEM_SIGNAL_ADD = DeviceConstant("libshmem_device", "MXSHMEM_SIGNAL_ADD", 1689144424823023590169909311569922)
NVSHMEM_TEAM_INVALID = DeviceConstant("libshmem_device", "NVSHMEM_TEAM_INVALID", 1689144424804152570982508735234047)
NVSHMEM_TEAM_WORLD = DeviceConstant("libshmem_device", "NVSHMEM_TEAM_WORLD", 1689144424804152570982504440266752)
NVSHMEM_TEAM_SHARED = DeviceConstant("libshmem_device", "NVSHMEM_TEAM_SHARED", 1689144424804152570982504440266753)
NVSHMEMX_TEAM_NODE = DeviceConstant("libshmem_device", "NVSHMEMX_TEAM_NODE", 1689144424804152570982504440266754)
NVSHMEMX_TEAM_SAME_MYPE_NODE = DeviceConstant("libshmem_device", "NVSHMEMX_TEAM_SAME_MYPE_NODE", 1689144424804152570982504440266755)
ACLSHMEM_TEAM_INVALID = DeviceConstant("libshmem_device", "ACLSHMEM_TEAM_INVALID", 1689144424813597303948248025661439)
ACLSHMEM_TEAM_WORLD = DeviceConstant("libshmem_device", "ACLSHMEM_TEAM_WORLD", 1689144424813597303948243730694144)
MXSHMEM_TEAM_WORLD = DeviceConstant("libshmem_device", "MXSHMEM_TEAM_WORLD", 1689144424823042036913983021121536)
MXSHMEMX_TEAM_NODE = DeviceConstant("libshmem_device", "MXSHMEMX_TEAM_NODE", 1689144424823042036913983021121538)
