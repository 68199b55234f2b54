# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by python/generate_language.py from the compiler's table: do not edit.
"""Functions and constants of nereid.libshmem_device. Part 2."""

from nereid.language._device import DeviceConstant, device_function


@device_function("libshmem_device", "int_atomic_fetch_add")
def int_atomic_fetch_add(dest, value, pe, qp_id=0):
    """add; returns the old value. Of MORI."""


@device_function("libshmem_device", "int_atomic_fetch_and")
def int_atomic_fetch_and(dest, value, pe, qp_id=0):
    """and; returns the old value. Of MORI."""


@device_function("libshmem_device", "int_atomic_fetch_inc")
def int_atomic_fetch_inc(dest, pe, qp_id=0):
    """inc; returns the old value. Of MORI."""


@device_function("libshmem_device", "int_atomic_fetch_or")
def int_atomic_fetch_or(dest, value, pe, qp_id=0):
    """or; returns the old value. Of MORI."""


@device_function("libshmem_device", "int_atomic_fetch_xor")
def int_atomic_fetch_xor(dest, value, pe, qp_id=0):
    """xor; returns the old value. Of MORI."""


@device_function("libshmem_device", "int_atomic_inc")
def int_atomic_inc(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "int_atomic_or")
def int_atomic_or(dest, value, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "int_atomic_set")
def int_atomic_set(dest, value, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "int_atomic_swap")
def int_atomic_swap(dest, value, pe, qp_id=0):
    """set; returns the old value. Of MORI."""


@device_function("libshmem_device", "int_atomic_xor")
def int_atomic_xor(dest, value, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "int_g")
def int_g(source, pe):
    """Reads one int32 at source's place in pe's heap."""


@device_function("libshmem_device", "int_p")
def int_p(dest, value, pe, qp_id=0):
    """Stores one int32 at dest's place in pe's heap."""


@device_function("libshmem_device", "int_wait_until")
def int_wait_until(addr, cmp_, cmp_val):
    """signal_wait_until of a signal of int32; returns the value that satisfied it. Of NVSHMEM, ROCSHMEM and MXSHMEM."""


@device_function("libshmem_device", "long_atomic_add")
def long_atomic_add(dest, value, pe, qp_id=0):
    """Adds value at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "long_atomic_and")
def long_atomic_and(dest, value, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "long_atomic_compare_swap")
def long_atomic_compare_swap(dest, cond, value, pe, qp_id=0):
    """Sets value if the element equals cond; returns the old value. Of MORI."""


@device_function("libshmem_device", "long_atomic_fetch")
def long_atomic_fetch(source, pe, qp_id=0):
    """The element at source's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "long_atomic_fetch_add")
def long_atomic_fetch_add(dest, value, pe, qp_id=0):
    """add; returns the old value. Of MORI."""


@device_function("libshmem_device", "long_atomic_fetch_and")
def long_atomic_fetch_and(dest, value, pe, qp_id=0):
    """and; returns the old value. Of MORI."""


@device_function("libshmem_device", "long_atomic_fetch_inc")
def long_atomic_fetch_inc(dest, pe, qp_id=0):
    """inc; returns the old value. Of MORI."""


@device_function("libshmem_device", "long_atomic_fetch_or")
def long_atomic_fetch_or(dest, value, pe, qp_id=0):
    """or; returns the old value. Of MORI."""


@device_function("libshmem_device", "long_atomic_fetch_xor")
def long_atomic_fetch_xor(dest, value, pe, qp_id=0):
    """xor; returns the old value. Of MORI."""


@device_function("libshmem_device", "long_atomic_inc")
def long_atomic_inc(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "long_atomic_or")
def long_atomic_or(dest, value, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "long_atomic_set")
def long_atomic_set(dest, value, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "long_atomic_swap")
def long_atomic_swap(dest, value, pe, qp_id=0):
    """set; returns the old value. Of MORI."""


@device_function("libshmem_device", "long_atomic_xor")
def long_atomic_xor(dest, value, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "long_g")
def long_g(source, pe):
    """Reads one int64 at source's place in pe's heap."""


@device_function("libshmem_device", "long_p")
def long_p(dest, value, pe, qp_id=0):
    """Stores one int64 at dest's place in pe's heap. Of NVSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "long_wait_until")
def long_wait_until(addr, cmp_, cmp_val):
    """signal_wait_until of a signal of int64; returns the value that satisfied it. Of NVSHMEM, ROCSHMEM and MXSHMEM."""


@device_function("libshmem_device", "longlong_g")
def longlong_g(source, pe):
    """Reads one int64 at source's place in pe's heap."""


@device_function("libshmem_device", "longlong_p")
def longlong_p(dest, value, pe, qp_id=0):
    """Stores one int64 at dest's place in pe's heap. Of NVSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "my_pe")
def my_pe():
    """This rank's number, int32; the same as dl.rank()."""


@device_function("libshmem_device", "n_pes")
def n_pes():
    """Number of ranks, int32; the same as dl.num_ranks()."""


@device_function("libshmem_device", "p")
def p(dest, value, pe, qp_id=0):
    """Stores one element, cast to dest's dtype, in pe's heap."""


@device_function("libshmem_device", "ptrdiff_g")
def ptrdiff_g(source, pe):
    """Reads one int64 at source's place in pe's heap."""


@device_function("libshmem_device", "ptrdiff_p")
def ptrdiff_p(dest, value, pe, qp_id=0):
    """Stores one int64 at dest's place in pe's heap. Of NVSHMEM and MXSHMEM."""


@device_function("libshmem_device", "put_double_nbi")
def put_double_nbi(dest, source, nelems, pe, qp_id=0):
    """putmem_nbi of nelems elements of fp64. Of MORI."""


@device_function("libshmem_device", "put_float_nbi")
def put_float_nbi(dest, source, nelems, pe, qp_id=0):
    """putmem_nbi of nelems elements of fp32. Of MORI."""


@device_function("libshmem_device", "put_uint32_nbi")
def put_uint32_nbi(dest, source, nelems, pe, qp_id=0):
    """putmem_nbi of nelems elements of uint32. Of MORI."""


@device_function("libshmem_device", "put_uint64_nbi")
def put_uint64_nbi(dest, source, nelems, pe, qp_id=0):
    """putmem_nbi of nelems elements of uint64. Of MORI."""


@device_function("libshmem_device", "putmem")
def putmem(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source to dest in pe's heap; returns when source may be reused. dest is symmetric. Of NVSHMEM, ROCSHMEM, ACLSHMEM and MXSHMEM."""


@device_function("libshmem_device", "putmem_block")
def putmem_block(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source to dest in pe's heap; returns when source may be reused. dest is symmetric. Of NVSHMEM and MXSHMEM."""


@device_function("libshmem_device", "putmem_nbi")
def putmem_nbi(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source to dest in pe's heap; complete after quiet(). dest is symmetric."""


@device_function("libshmem_device", "putmem_nbi_block")
def putmem_nbi_block(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source to dest in pe's heap; complete after quiet(). dest is symmetric. Of NVSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "putmem_nbi_signal")
def putmem_nbi_signal(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem_signal that only starts the transfer; complete after quiet(). Of MORI."""


@device_function("libshmem_device", "putmem_nbi_signal_block")
def putmem_nbi_signal_block(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem_signal that only starts the transfer; complete after quiet(). Of MORI."""


@device_function("libshmem_device", "putmem_nbi_signal_warp")
def putmem_nbi_signal_warp(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem_signal that only starts the transfer; complete after quiet(). Of MORI."""


@device_function("libshmem_device", "putmem_nbi_warp")
def putmem_nbi_warp(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source to dest in pe's heap; complete after quiet(). dest is symmetric. Of NVSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "putmem_nbi_wave")
def putmem_nbi_wave(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source to dest in pe's heap; complete after quiet(). dest is symmetric. Of ROCSHMEM."""


@device_function("libshmem_device", "putmem_nbi_wg")
def putmem_nbi_wg(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source to dest in pe's heap; complete after quiet(). dest is symmetric. Of ROCSHMEM."""


@device_function("libshmem_device", "putmem_rma")
def putmem_rma(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source to dest in pe's heap; returns when source may be reused. dest is symmetric. Of NVSHMEM."""


@device_function("libshmem_device", "putmem_rma_block")
def putmem_rma_block(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source to dest in pe's heap; returns when source may be reused. dest is symmetric. Of NVSHMEM."""


@device_function("libshmem_device", "putmem_rma_nbi")
def putmem_rma_nbi(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source to dest in pe's heap; complete after quiet(). dest is symmetric. Of NVSHMEM."""


@device_function("libshmem_device", "putmem_rma_nbi_block")
def putmem_rma_nbi_block(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source to dest in pe's heap; complete after quiet(). dest is symmetric. Of NVSHMEM."""


@device_function("libshmem_device", "putmem_rma_nbi_warp")
def putmem_rma_nbi_warp(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source to dest in pe's heap; complete after quiet(). dest is symmetric. Of NVSHMEM."""


@device_function("libshmem_device", "putmem_rma_warp")
def putmem_rma_warp(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source to dest in pe's heap; returns when source may be reused. dest is symmetric. Of NVSHMEM."""


@device_function("libshmem_device", "putmem_signal")
def putmem_signal(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem, then updates sig_addr in pe's heap; the data is visible before the signal is.

    sig_addr: pointer to integers; signal: the value; sig_op: NVSHMEM_SIGNAL_SET or NVSHMEM_SIGNAL_ADD (or another
    library's, but only one library's in a kernel).
    Of NVSHMEM, ROCSHMEM, ACLSHMEM and MXSHMEM.
    """


@device_function("libshmem_device", "putmem_signal_block")
def putmem_signal_block(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem, then updates sig_addr in pe's heap; the data is visible before the signal is.

    sig_addr: pointer to integers; signal: the value; sig_op: NVSHMEM_SIGNAL_SET or NVSHMEM_SIGNAL_ADD (or another
    library's, but only one library's in a kernel).
    Of NVSHMEM and MXSHMEM.
    """


@device_function("libshmem_device", "putmem_signal_nbi")
def putmem_signal_nbi(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem_signal that only starts the transfer; complete after quiet()."""


@device_function("libshmem_device", "putmem_signal_nbi_block")
def putmem_signal_nbi_block(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem_signal that only starts the transfer; complete after quiet(). Of NVSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "putmem_signal_nbi_warp")
def putmem_signal_nbi_warp(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem_signal that only starts the transfer; complete after quiet(). Of NVSHMEM and MXSHMEM."""


@device_function("libshmem_device", "putmem_signal_nbi_wave")
def putmem_signal_nbi_wave(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem_signal that only starts the transfer; complete after quiet(). Of ROCSHMEM."""


@device_function("libshmem_device", "putmem_signal_nbi_wg")
def putmem_signal_nbi_wg(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem_signal that only starts the transfer; complete after quiet(). Of ROCSHMEM."""


@device_function("libshmem_device", "putmem_signal_rma")
def putmem_signal_rma(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem, then updates sig_addr in pe's heap; the data is visible before the signal is.

    sig_addr: pointer to integers; signal: the value; sig_op: NVSHMEM_SIGNAL_SET or NVSHMEM_SIGNAL_ADD (or another
    library's, but only one library's in a kernel).
    Of NVSHMEM.
    """


@device_function("libshmem_device", "putmem_signal_rma_block")
def putmem_signal_rma_block(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem, then updates sig_addr in pe's heap; the data is visible before the signal is.

    sig_addr: pointer to integers; signal: the value; sig_op: NVSHMEM_SIGNAL_SET or NVSHMEM_SIGNAL_ADD (or another
    library's, but only one library's in a kernel).
    Of NVSHMEM.
    """


@device_function("libshmem_device", "putmem_signal_rma_nbi")
def putmem_signal_rma_nbi(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem_signal that only starts the transfer; complete after quiet(). Of NVSHMEM."""


@device_function("libshmem_device", "putmem_signal_rma_nbi_block")
def putmem_signal_rma_nbi_block(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem_signal that only starts the transfer; complete after quiet(). Of NVSHMEM."""


@device_function("libshmem_device", "putmem_signal_rma_nbi_warp")
def putmem_signal_rma_nbi_warp(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem_signal that only starts the transfer; complete after quiet(). Of NVSHMEM."""


@device_function("libshmem_device", "putmem_signal_rma_warp")
def putmem_signal_rma_warp(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem, then updates sig_addr in pe's heap; the data is visible before the signal is.

    sig_addr: pointer to integers; signal: the value; sig_op: NVSHMEM_SIGNAL_SET or NVSHMEM_SIGNAL_ADD (or another
    library's, but only one library's in a kernel).
    Of NVSHMEM.
    """


@device_function("libshmem_device", "putmem_signal_warp")
def putmem_signal_warp(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem, then updates sig_addr in pe's heap; the data is visible before the signal is.

    sig_addr: pointer to integers; signal: the value; sig_op: NVSHMEM_SIGNAL_SET or NVSHMEM_SIGNAL_ADD (or another
    library's, but only one library's in a kernel).
    Of NVSHMEM, MORI and MXSHMEM.
    """


@device_function("libshmem_device", "putmem_signal_wave")
def putmem_signal_wave(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem, then updates sig_addr in pe's heap; the data is visible before the signal is.

    sig_addr: pointer to integers; signal: the value; sig_op: NVSHMEM_SIGNAL_SET or NVSHMEM_SIGNAL_ADD (or another
    library's, but only one library's in a kernel).
    Of ROCSHMEM.
    """


@device_function("libshmem_device", "putmem_signal_wg")
def putmem_signal_wg(dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0):
    """putmem, then updates sig_addr in pe's heap; the data is visible before the signal is.

    sig_addr: pointer to integers; signal: the value; sig_op: NVSHMEM_SIGNAL_SET or NVSHMEM_SIGNAL_ADD (or another
    library's, but only one library's in a kernel).
    Of ROCSHMEM.
    """


@device_function("libshmem_device", "putmem_warp")
def putmem_warp(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source to dest in pe's heap; returns when source may be reused. dest is symmetric. Of NVSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "putmem_wave")
def putmem_wave(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source to dest in pe's heap; returns when source may be reused. dest is symmetric. Of ROCSHMEM."""


@device_function("libshmem_device", "putmem_wg")
def putmem_wg(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source to dest in pe's heap; returns when source may be reused. dest is symmetric. Of ROCSHMEM."""


@device_function("libshmem_device", "quiet")
def quiet():
    """Completes all outstanding transfers of this rank. Of NVSHMEM, ACLSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "quiet_pe")
def quiet_pe(pe=None, qp_id=0):
    """quiet() for one rank; without pe, for all. Of MORI."""


@device_function("libshmem_device", "quiet_pe_qp")
def quiet_pe_qp(pe, qp_id):
    """fence_pe or quiet_pe for one queue pair; all of a rank's are one here. Of MORI."""


@device_function("libshmem_device", "remote_mc_ptr")
def remote_mc_ptr(team, ptr):
    """Not available on the CPU: there are no multicast addresses. Of NVSHMEM and MXSHMEM."""


@device_function("libshmem_device", "remote_ptr")
def remote_ptr(local_ptr, pe, dest_pe=None):
    """Address of local_ptr's place in pe's heap; null when pe is on another node.

    With three arguments, as MORI has them, they are the pointer, this rank and the other rank.
    """


@device_function("libshmem_device", "schar_g")
def schar_g(source, pe):
    """Reads one int8 at source's place in pe's heap."""


@device_function("libshmem_device", "schar_p")
def schar_p(dest, value, pe, qp_id=0):
    """Stores one int8 at dest's place in pe's heap. Of NVSHMEM and MXSHMEM."""


@device_function("libshmem_device", "set_rocshmem_ctx")
def set_rocshmem_ctx(ctx):
    """Nothing to set up: accepted and ignored. Of ROCSHMEM."""


@device_function("libshmem_device", "short_g")
def short_g(source, pe):
    """Reads one int16 at source's place in pe's heap."""


@device_function("libshmem_device", "short_p")
def short_p(dest, value, pe, qp_id=0):
    """Stores one int16 at dest's place in pe's heap. Of NVSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "signal_op")
def signal_op(sig_addr, signal, sig_op, pe):
    """Sets or adds to the signal at sig_addr's place in pe's heap; not ordered after earlier puts without fence(). Of NVSHMEM, ACLSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "signal_wait_until")
def signal_wait_until(sig_addr, cmp_, cmp_val):
    """Waits until the signal compares to cmp_val as cmp_ says (NVSHMEM_CMP_EQ, ...); returns the value that did."""


@device_function("libshmem_device", "size_g")
def size_g(source, pe):
    """Reads one uint64 at source's place in pe's heap."""


@device_function("libshmem_device", "size_p")
def size_p(dest, value, pe, qp_id=0):
    """Stores one uint64 at dest's place in pe's heap. Of NVSHMEM and MXSHMEM."""


@device_function("libshmem_device", "sync")
def sync(team):
    """barrier among the members of a team that does not complete outstanding transfers. Of NVSHMEM and MXSHMEM."""


@device_function("libshmem_device", "sync_all")
def sync_all():
    """barrier_all that does not complete outstanding transfers: only writes before it are visible after it. Of NVSHMEM and MXSHMEM."""


@device_function("libshmem_device", "sync_all_block")
def sync_all_block():
    """barrier_all that does not complete outstanding transfers: only writes before it are visible after it. Of NVSHMEM and MXSHMEM."""


@device_function("libshmem_device", "sync_all_warp")
def sync_all_warp():
    """barrier_all that does not complete outstanding transfers: only writes before it are visible after it. Of NVSHMEM and MXSHMEM."""


@device_function("libshmem_device", "team_my_pe")
def team_my_pe(team):
    """This rank's number in the team, int32; -1 when it is no member. Of NVSHMEM, ACLSHMEM and MXSHMEM."""


@device_function("libshmem_device", "team_n_pes")
def team_n_pes(team):
    """Number of members of the team, int32. Of NVSHMEM, ACLSHMEM and MXSHMEM."""


@device_function("libshmem_device", "team_sync_block")
def team_sync_block(team):
    """barrier among the members of a team that does not complete outstanding transfers. Of NVSHMEM and MXSHMEM."""


@device_function("libshmem_device", "team_sync_warp")
def team_sync_warp(team):
    """barrier among the members of a team that does not complete outstanding transfers. Of NVSHMEM and MXSHMEM."""


@device_function("libshmem_device", "team_translate_pe")
def team_translate_pe(src_team, src_pe, dest_team):
    """The number in dest_team of the rank that is src_pe in src_team, int32; -1 when there is none. Of NVSHMEM, ACLSHMEM and MXSHMEM."""


@device_function("libshmem_device", "uchar_g")
def uchar_g(source, pe):
    """Reads one uint8 at source's place in pe's heap."""


@device_function("libshmem_device", "uchar_p")
def uchar_p(dest, value, pe, qp_id=0):
    """Stores one uint8 at dest's place in pe's heap. Of NVSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "uint16_g")
def uint16_g(source, pe):
    """Reads one uint16 at source's place in pe's heap."""


@device_function("libshmem_device", "uint16_p")
def uint16_p(dest, value, pe, qp_id=0):
    """Stores one uint16 at dest's place in pe's heap. Of NVSHMEM, ACLSHMEM and MXSHMEM."""


@device_function("libshmem_device", "uint16_wait_until")
def uint16_wait_until(addr, cmp_, cmp_val):
    """signal_wait_until of a signal of uint16; returns the value that satisfied it. Of NVSHMEM, ROCSHMEM, ACLSHMEM and MXSHMEM."""


@device_function("libshmem_device", "uint32_atomic_add")
def uint32_atomic_add(dest, value, pe, qp_id=0):
    """Adds value at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint32_atomic_and")
def uint32_atomic_and(dest, value, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint32_atomic_compare_swap")
def uint32_atomic_compare_swap(dest, cond, value, pe, qp_id=0):
    """Sets value if the element equals cond; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint32_atomic_fetch")
def uint32_atomic_fetch(source, pe, qp_id=0):
    """The element at source's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint32_atomic_fetch_add")
def uint32_atomic_fetch_add(dest, value, pe, qp_id=0):
    """add; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint32_atomic_fetch_and")
def uint32_atomic_fetch_and(dest, value, pe, qp_id=0):
    """and; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint32_atomic_fetch_inc")
def uint32_atomic_fetch_inc(dest, pe, qp_id=0):
    """inc; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint32_atomic_fetch_or")
def uint32_atomic_fetch_or(dest, value, pe, qp_id=0):
    """or; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint32_atomic_fetch_xor")
def uint32_atomic_fetch_xor(dest, value, pe, qp_id=0):
    """xor; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint32_atomic_inc")
def uint32_atomic_inc(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint32_atomic_or")
def uint32_atomic_or(dest, value, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint32_atomic_set")
def uint32_atomic_set(dest, value, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint32_atomic_swap")
def uint32_atomic_swap(dest, value, pe, qp_id=0):
    """set; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint32_atomic_xor")
def uint32_atomic_xor(dest, value, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint32_g")
def uint32_g(source, pe):
    """Reads one uint32 at source's place in pe's heap."""


@device_function("libshmem_device", "uint32_p")
def uint32_p(dest, value, pe, qp_id=0):
    """Stores one uint32 at dest's place in pe's heap. Of NVSHMEM, ACLSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "uint32_wait_until")
def uint32_wait_until(addr, cmp_, cmp_val):
    """signal_wait_until of a signal of uint32; returns the value that satisfied it. Of NVSHMEM, ROCSHMEM, ACLSHMEM and MXSHMEM."""


@device_function("libshmem_device", "uint32_wait_until_equals")
def uint32_wait_until_equals(addr, val):
    """Waits until the signal equals val; returns it. Of MORI."""


@device_function("libshmem_device", "uint32_wait_until_greater_than")
def uint32_wait_until_greater_than(addr, val):
    """Waits until the signal is greater than val; returns it. Of MORI."""


@device_function("libshmem_device", "uint64_atomic_add")
def uint64_atomic_add(dest, value, pe, qp_id=0):
    """Adds value at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint64_atomic_and")
def uint64_atomic_and(dest, value, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint64_atomic_compare_swap")
def uint64_atomic_compare_swap(dest, cond, value, pe, qp_id=0):
    """Sets value if the element equals cond; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint64_atomic_fetch")
def uint64_atomic_fetch(source, pe, qp_id=0):
    """The element at source's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint64_atomic_fetch_add")
def uint64_atomic_fetch_add(dest, value, pe, qp_id=0):
    """add; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint64_atomic_fetch_and")
def uint64_atomic_fetch_and(dest, value, pe, qp_id=0):
    """and; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint64_atomic_fetch_inc")
def uint64_atomic_fetch_inc(dest, pe, qp_id=0):
    """inc; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint64_atomic_fetch_or")
def uint64_atomic_fetch_or(dest, value, pe, qp_id=0):
    """or; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint64_atomic_fetch_xor")
def uint64_atomic_fetch_xor(dest, value, pe, qp_id=0):
    """xor; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint64_atomic_inc")
def uint64_atomic_inc(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint64_atomic_or")
def uint64_atomic_or(dest, value, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint64_atomic_set")
def uint64_atomic_set(dest, value, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint64_atomic_swap")
def uint64_atomic_swap(dest, value, pe, qp_id=0):
    """set; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint64_atomic_xor")
def uint64_atomic_xor(dest, value, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint64_g")
def uint64_g(source, pe):
    """Reads one uint64 at source's place in pe's heap."""


@device_function("libshmem_device", "uint64_p")
def uint64_p(dest, value, pe, qp_id=0):
    """Stores one uint64 at dest's place in pe's heap. Of NVSHMEM, ACLSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "uint64_wait_until")
def uint64_wait_until(addr, cmp_, cmp_val):
    """signal_wait_until of a signal of uint64; returns the value that satisfied it. Of NVSHMEM, ROCSHMEM, ACLSHMEM and MXSHMEM."""


@device_function("libshmem_device", "uint64_wait_until_equals")
def uint64_wait_until_equals(addr, val):
    """Waits until the signal equals val; returns it. Of MORI."""


@device_function("libshmem_device", "uint64_wait_until_greater_than")
def uint64_wait_until_greater_than(addr, val):
    """Waits until the signal is greater than val; returns it. Of MORI."""


@device_function("libshmem_device", "uint8_g")
def uint8_g(source, pe):
    """Reads one uint8 at source's place in pe's heap."""


@device_function("libshmem_device", "uint8_p")
def uint8_p(dest, value, pe, qp_id=0):
    """Stores one uint8 at dest's place in pe's heap. Of NVSHMEM, ACLSHMEM and MXSHMEM."""


@device_function("libshmem_device", "uint8_wait_until")
def uint8_wait_until(addr, cmp_, cmp_val):
    """signal_wait_until of a signal of uint8; returns the value that satisfied it. Of NVSHMEM, ROCSHMEM, ACLSHMEM and MXSHMEM."""


@device_function("libshmem_device", "uint_atomic_add")
def uint_atomic_add(dest, value, pe, qp_id=0):
    """Adds value at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint_atomic_and")
def uint_atomic_and(dest, value, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint_atomic_compare_swap")
def uint_atomic_compare_swap(dest, cond, value, pe, qp_id=0):
    """Sets value if the element equals cond; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint_atomic_fetch")
def uint_atomic_fetch(source, pe, qp_id=0):
    """The element at source's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint_atomic_fetch_add")
def uint_atomic_fetch_add(dest, value, pe, qp_id=0):
    """add; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint_atomic_fetch_and")
def uint_atomic_fetch_and(dest, value, pe, qp_id=0):
    """and; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint_atomic_fetch_inc")
def uint_atomic_fetch_inc(dest, pe, qp_id=0):
    """inc; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint_atomic_fetch_or")
def uint_atomic_fetch_or(dest, value, pe, qp_id=0):
    """or; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint_atomic_fetch_xor")
def uint_atomic_fetch_xor(dest, value, pe, qp_id=0):
    """xor; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint_atomic_inc")
def uint_atomic_inc(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint_atomic_or")
def uint_atomic_or(dest, value, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint_atomic_set")
def uint_atomic_set(dest, value, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint_atomic_swap")
def uint_atomic_swap(dest, value, pe, qp_id=0):
    """set; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint_atomic_xor")
def uint_atomic_xor(dest, value, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint_g")
def uint_g(source, pe):
    """Reads one uint32 at source's place in pe's heap."""


@device_function("libshmem_device", "uint_p")
def uint_p(dest, value, pe, qp_id=0):
    """Stores one uint32 at dest's place in pe's heap. Of NVSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "uint_wait_until")
def uint_wait_until(addr, cmp_, cmp_val):
    """signal_wait_until of a signal of uint32; returns the value that satisfied it. Of NVSHMEM, ROCSHMEM and MXSHMEM."""


@device_function("libshmem_device", "ulong_atomic_add")
def ulong_atomic_add(dest, value, pe, qp_id=0):
    """Adds value at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_and")
def ulong_atomic_and(dest, value, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_compare_swap")
def ulong_atomic_compare_swap(dest, cond, value, pe, qp_id=0):
    """Sets value if the element equals cond; returns the old value. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_fetch")
def ulong_atomic_fetch(source, pe, qp_id=0):
    """The element at source's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_fetch_add")
def ulong_atomic_fetch_add(dest, value, pe, qp_id=0):
    """add; returns the old value. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_fetch_and")
def ulong_atomic_fetch_and(dest, value, pe, qp_id=0):
    """and; returns the old value. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_fetch_inc")
def ulong_atomic_fetch_inc(dest, pe, qp_id=0):
    """inc; returns the old value. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_fetch_or")
def ulong_atomic_fetch_or(dest, value, pe, qp_id=0):
    """or; returns the old value. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_fetch_xor")
def ulong_atomic_fetch_xor(dest, value, pe, qp_id=0):
    """xor; returns the old value. Of MORI."""
