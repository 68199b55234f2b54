# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by python/generate_language.py from the compiler's table: do not edit.
"""Functions and constants of nereid.libshmem_device."""

from nereid.language._device import DeviceConstant, device_function

__all__ = ["ACLSHMEM_CMP_EQ", "ACLSHMEM_CMP_GE", "ACLSHMEM_CMP_GT", "ACLSHMEM_CMP_LE", "ACLSHMEM_CMP_LT", "ACLSHMEM_CMP_NE", "ACLSHMEM_SIGNAL_ADD", "ACLSHMEM_SIGNAL_SET", "ACLSHMEM_TEAM_INVALID", "ACLSHMEM_TEAM_WORLD", "MORI_AMO_ADD", "MORI_AMO_AND", "MORI_AMO_COMPARE_SWAP", "MORI_AMO_FETCH", "MORI_AMO_FETCH_ADD", "MORI_AMO_FETCH_AND", "MORI_AMO_FETCH_INC", "MORI_AMO_FETCH_OR", "MORI_AMO_FETCH_XOR", "MORI_AMO_INC", "MORI_AMO_OR", "MORI_AMO_SET", "MORI_AMO_SIGNAL_ADD", "MORI_AMO_SIGNAL_SET", "MORI_AMO_SWAP", "MORI_AMO_XOR", "MORI_CMP_EQ", "MORI_CMP_GE", "MORI_CMP_GT", "MORI_CMP_LE", "MORI_CMP_LT", "MORI_CMP_NE", "MORI_SIGNAL_ADD", "MORI_SIGNAL_SET", "MXSHMEMX_TEAM_NODE", "MXSHMEMX_TEAM_SAME_MYPE_NODE", "MXSHMEM_CMP_EQ", "MXSHMEM_CMP_GE", "MXSHMEM_CMP_GT", "MXSHMEM_CMP_LE", "MXSHMEM_CMP_LT", "MXSHMEM_CMP_NE", "MXSHMEM_SIGNAL_ADD", "MXSHMEM_SIGNAL_SET", "MXSHMEM_TEAM_INVALID", "MXSHMEM_TEAM_SHARED", "MXSHMEM_TEAM_WORLD", "NVSHMEMI_AMO_ADD", "NVSHMEMI_AMO_AND", "NVSHMEMI_AMO_COMPARE_SWAP", "NVSHMEMI_AMO_FETCH", "NVSHMEMI_AMO_FETCH_ADD", "NVSHMEMI_AMO_FETCH_AND", "NVSHMEMI_AMO_FETCH_INC", "NVSHMEMI_AMO_FETCH_OR", "NVSHMEMI_AMO_FETCH_XOR", "NVSHMEMI_AMO_INC", "NVSHMEMI_AMO_OR", "NVSHMEMI_AMO_SET", "NVSHMEMI_AMO_SIGNAL_ADD", "NVSHMEMI_AMO_SIGNAL_SET", "NVSHMEMI_AMO_SWAP", "NVSHMEMI_AMO_XOR", "NVSHMEMX_TEAM_NODE", "NVSHMEMX_TEAM_SAME_MYPE_NODE", "NVSHMEM_CMP_EQ", "NVSHMEM_CMP_GE", "NVSHMEM_CMP_GT", "NVSHMEM_CMP_LE", "NVSHMEM_CMP_LT", "NVSHMEM_CMP_NE", "NVSHMEM_SIGNAL_ADD", "NVSHMEM_SIGNAL_SET", "NVSHMEM_TEAM_INVALID", "NVSHMEM_TEAM_NODE_INDEX", "NVSHMEM_TEAM_SAME_MYPE_NODE_INDEX", "NVSHMEM_TEAM_SHARED", "NVSHMEM_TEAM_SHARED_INDEX", "NVSHMEM_TEAM_WORLD", "NVSHMEM_TEAM_WORLD_INDEX", "ROCSHMEM_CMP_EQ", "ROCSHMEM_CMP_GE", "ROCSHMEM_CMP_GT", "ROCSHMEM_CMP_LE", "ROCSHMEM_CMP_LT", "ROCSHMEM_CMP_NE", "ROCSHMEM_SIGNAL_ADD", "ROCSHMEM_SIGNAL_SET", "atomic_add_int32", "atomic_add_int64", "atomic_add_uint32", "atomic_add_uint64", "atomic_and_int32", "atomic_and_int64", "atomic_and_uint32", "atomic_and_uint64", "atomic_compare_swap_int32", "atomic_compare_swap_int64", "atomic_compare_swap_uint32", "atomic_compare_swap_uint64", "atomic_fetch_add_int32", "atomic_fetch_add_int64", "atomic_fetch_add_uint32", "atomic_fetch_add_uint64", "atomic_fetch_and_int32", "atomic_fetch_and_int64", "atomic_fetch_and_uint32", "atomic_fetch_and_uint64", "atomic_fetch_inc_int32", "atomic_fetch_inc_int64", "atomic_fetch_inc_uint32", "atomic_fetch_inc_uint64", "atomic_fetch_int32", "atomic_fetch_int64", "atomic_fetch_or_int32", "atomic_fetch_or_int64", "atomic_fetch_or_uint32", "atomic_fetch_or_uint64", "atomic_fetch_uint32", "atomic_fetch_uint64", "atomic_fetch_xor_int32", "atomic_fetch_xor_int64", "atomic_fetch_xor_uint32", "atomic_fetch_xor_uint64", "atomic_inc_int32", "atomic_inc_int64", "atomic_inc_uint32", "atomic_inc_uint64", "atomic_int32_fetch", "atomic_int32_nonfetch", "atomic_int64_fetch", "atomic_int64_nonfetch", "atomic_or_int32", "atomic_or_int64", "atomic_or_uint32", "atomic_or_uint64", "atomic_set_int32", "atomic_set_int64", "atomic_set_uint32", "atomic_set_uint64", "atomic_swap_int32", "atomic_swap_int64", "atomic_swap_uint32", "atomic_swap_uint64", "atomic_uint32_fetch", "atomic_uint32_nonfetch", "atomic_uint64_fetch", "atomic_uint64_nonfetch", "atomic_xor_int32", "atomic_xor_int64", "atomic_xor_uint32", "atomic_xor_uint64", "barrier", "barrier_all", "barrier_all_block", "barrier_all_vec", "barrier_all_warp", "barrier_all_wave", "barrier_all_wg", "barrier_block", "barrier_vec", "barrier_warp", "bfloat16_g", "bfloat16_p", "broadcast", "broadcast_block", "broadcast_warp", "broadcastmem", "broadcastmem_block", "broadcastmem_warp", "char_g", "char_p", "double_atomic_fetch", "double_atomic_set", "double_atomic_swap", "double_g", "double_p", "fcollect", "fcollect_block", "fcollect_warp", "fcollectmem", "fcollectmem_block", "fcollectmem_warp", "fence", "fence_pe", "fence_pe_qp", "float_atomic_fetch", "float_atomic_set", "float_atomic_swap", "float_g", "float_p", "g", "getmem", "getmem_block", "getmem_nbi", "getmem_nbi_block", "getmem_nbi_warp", "getmem_nbi_wave", "getmem_nbi_wg", "getmem_warp", "getmem_wave", "getmem_wg", "half_g", "half_p", "int16_g", "int16_p", "int16_wait_until", "int32_atomic_add", "int32_atomic_and", "int32_atomic_compare_swap", "int32_atomic_fetch", "int32_atomic_fetch_add", "int32_atomic_fetch_and", "int32_atomic_fetch_inc", "int32_atomic_fetch_or", "int32_atomic_fetch_xor", "int32_atomic_inc", "int32_atomic_or", "int32_atomic_set", "int32_atomic_swap", "int32_atomic_xor", "int32_g", "int32_p", "int32_wait_until", "int32_wait_until_equals", "int32_wait_until_greater_than", "int64_atomic_add", "int64_atomic_and", "int64_atomic_compare_swap", "int64_atomic_fetch", "int64_atomic_fetch_add", "int64_atomic_fetch_and", "int64_atomic_fetch_inc", "int64_atomic_fetch_or", "int64_atomic_fetch_xor", "int64_atomic_inc", "int64_atomic_or", "int64_atomic_set", "int64_atomic_swap", "int64_atomic_xor", "int64_g", "int64_p", "int64_wait_until", "int64_wait_until_equals", "int64_wait_until_greater_than", "int8_g", "int8_p", "int8_wait_until", "int_atomic_add", "int_atomic_and", "int_atomic_compare_swap", "int_atomic_fetch", "int_atomic_fetch_add", "int_atomic_fetch_and", "int_atomic_fetch_inc", "int_atomic_fetch_or", "int_atomic_fetch_xor", "int_atomic_inc", "int_atomic_or", "int_atomic_set", "int_atomic_swap", "int_atomic_xor", "int_g", "int_p", "int_wait_until", "long_atomic_add", "long_atomic_and", "long_atomic_compare_swap", "long_atomic_fetch", "long_atomic_fetch_add", "long_atomic_fetch_and", "long_atomic_fetch_inc", "long_atomic_fetch_or", "long_atomic_fetch_xor", "long_atomic_inc", "long_atomic_or", "long_atomic_set", "long_atomic_swap", "long_atomic_xor", "long_g", "long_p", "long_wait_until", "longlong_g", "longlong_p", "my_pe", "n_pes", "p", "ptrdiff_g", "ptrdiff_p", "put_double_nbi", "put_float_nbi", "put_uint32_nbi", "put_uint64_nbi", "putmem", "putmem_block", "putmem_nbi", "putmem_nbi_block", "putmem_nbi_signal", "putmem_nbi_signal_block", "putmem_nbi_signal_warp", "putmem_nbi_warp", "putmem_nbi_wave", "putmem_nbi_wg", "putmem_rma", "putmem_rma_block", "putmem_rma_nbi", "putmem_rma_nbi_block", "putmem_rma_nbi_warp", "putmem_rma_warp", "putmem_signal", "putmem_signal_block", "putmem_signal_nbi", "putmem_signal_nbi_block", "putmem_signal_nbi_warp", "putmem_signal_nbi_wave", "putmem_signal_nbi_wg", "putmem_signal_rma", "putmem_signal_rma_block", "putmem_signal_rma_nbi", "putmem_signal_rma_nbi_block", "putmem_signal_rma_nbi_warp", "putmem_signal_rma_warp", "putmem_signal_warp", "putmem_signal_wave", "putmem_signal_wg", "putmem_warp", "putmem_wave", "putmem_wg", "quiet", "quiet_pe", "quiet_pe_qp", "remote_mc_ptr", "remote_ptr", "schar_g", "schar_p", "set_rocshmem_ctx", "short_g", "short_p", "signal_op", "signal_wait_until", "size_g", "size_p", "sync", "sync_all", "sync_all_block", "sync_all_warp", "team_my_pe", "team_n_pes", "team_sync_block", "team_sync_warp", "team_translate_pe", "uchar_g", "uchar_p", "uint16_g", "uint16_p", "uint16_wait_until", "uint32_atomic_add", "uint32_atomic_and", "uint32_atomic_compare_swap", "uint32_atomic_fetch", "uint32_atomic_fetch_add", "uint32_atomic_fetch_and", "uint32_atomic_fetch_inc", "uint32_atomic_fetch_or", "uint32_atomic_fetch_xor", "uint32_atomic_inc", "uint32_atomic_or", "uint32_atomic_set", "uint32_atomic_swap", "uint32_atomic_xor", "uint32_g", "uint32_p", "uint32_wait_until", "uint32_wait_until_equals", "uint32_wait_until_greater_than", "uint64_atomic_add", "uint64_atomic_and", "uint64_atomic_compare_swap", "uint64_atomic_fetch", "uint64_atomic_fetch_add", "uint64_atomic_fetch_and", "uint64_atomic_fetch_inc", "uint64_atomic_fetch_or", "uint64_atomic_fetch_xor", "uint64_atomic_inc", "uint64_atomic_or", "uint64_atomic_set", "uint64_atomic_swap", "uint64_atomic_xor", "uint64_g", "uint64_p", "uint64_wait_until", "uint64_wait_until_equals", "uint64_wait_until_greater_than", "uint8_g", "uint8_p", "uint8_wait_until", "uint_atomic_add", "uint_atomic_and", "uint_atomic_compare_swap", "uint_atomic_fetch", "uint_atomic_fetch_add", "uint_atomic_fetch_and", "uint_atomic_fetch_inc", "uint_atomic_fetch_or", "uint_atomic_fetch_xor", "uint_atomic_inc", "uint_atomic_or", "uint_atomic_set", "uint_atomic_swap", "uint_atomic_xor", "uint_g", "uint_p", "uint_wait_until", "ulong_atomic_add", "ulong_atomic_and", "ulong_atomic_compare_swap", "ulong_atomic_fetch", "ulong_atomic_fetch_add", "ulong_atomic_fetch_and", "ulong_atomic_fetch_inc", "ulong_atomic_fetch_or", "ulong_atomic_fetch_xor", "ulong_atomic_inc", "ulong_atomic_or", "ulong_atomic_set", "ulong_atomic_swap", "ulong_atomic_xor", "ulong_g", "ulong_p", "ulong_put_signal", "ulong_wait_until", "ulonglong_g", "ulonglong_p", "ushort_g", "ushort_p"]


@device_function("libshmem_device", "atomic_add_int32")
def atomic_add_int32(dest, val, pe, qp_id=0):
    """Adds value at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_add_int64")
def atomic_add_int64(dest, val, pe, qp_id=0):
    """Adds value at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_add_uint32")
def atomic_add_uint32(dest, val, pe, qp_id=0):
    """Adds value at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_add_uint64")
def atomic_add_uint64(dest, val, pe, qp_id=0):
    """Adds value at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_and_int32")
def atomic_and_int32(dest, val, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_and_int64")
def atomic_and_int64(dest, val, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_and_uint32")
def atomic_and_uint32(dest, val, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_and_uint64")
def atomic_and_uint64(dest, val, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_compare_swap_int32")
def atomic_compare_swap_int32(dest, cond, val, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap to value if it equals cond; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_compare_swap_int64")
def atomic_compare_swap_int64(dest, cond, val, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap to value if it equals cond; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_compare_swap_uint32")
def atomic_compare_swap_uint32(dest, cond, val, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap to value if it equals cond; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_compare_swap_uint64")
def atomic_compare_swap_uint64(dest, cond, val, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap to value if it equals cond; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_add_int32")
def atomic_fetch_add_int32(dest, val, pe, qp_id=0):
    """Adds value at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_add_int64")
def atomic_fetch_add_int64(dest, val, pe, qp_id=0):
    """Adds value at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_add_uint32")
def atomic_fetch_add_uint32(dest, val, pe, qp_id=0):
    """Adds value at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_add_uint64")
def atomic_fetch_add_uint64(dest, val, pe, qp_id=0):
    """Adds value at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_and_int32")
def atomic_fetch_and_int32(dest, val, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_and_int64")
def atomic_fetch_and_int64(dest, val, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_and_uint32")
def atomic_fetch_and_uint32(dest, val, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_and_uint64")
def atomic_fetch_and_uint64(dest, val, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_inc_int32")
def atomic_fetch_inc_int32(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_inc_int64")
def atomic_fetch_inc_int64(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_inc_uint32")
def atomic_fetch_inc_uint32(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_inc_uint64")
def atomic_fetch_inc_uint64(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_int32")
def atomic_fetch_int32(source, pe, qp_id=0):
    """The element at source's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_int64")
def atomic_fetch_int64(source, pe, qp_id=0):
    """The element at source's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_or_int32")
def atomic_fetch_or_int32(dest, val, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_or_int64")
def atomic_fetch_or_int64(dest, val, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_or_uint32")
def atomic_fetch_or_uint32(dest, val, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_or_uint64")
def atomic_fetch_or_uint64(dest, val, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_uint32")
def atomic_fetch_uint32(source, pe, qp_id=0):
    """The element at source's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_uint64")
def atomic_fetch_uint64(source, pe, qp_id=0):
    """The element at source's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_xor_int32")
def atomic_fetch_xor_int32(dest, val, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_xor_int64")
def atomic_fetch_xor_int64(dest, val, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_xor_uint32")
def atomic_fetch_xor_uint32(dest, val, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_fetch_xor_uint64")
def atomic_fetch_xor_uint64(dest, val, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_inc_int32")
def atomic_inc_int32(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_inc_int64")
def atomic_inc_int64(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_inc_uint32")
def atomic_inc_uint32(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_inc_uint64")
def atomic_inc_uint64(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_int32_fetch")
def atomic_int32_fetch(dest, val, compare, amo_type, pe, qp_id=0):
    """The atomic that amo_type names (MORI_AMO_FETCH_ADD, ...); returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_int32_nonfetch")
def atomic_int32_nonfetch(dest, val, amo_type, pe, qp_id=0):
    """The atomic that amo_type names (MORI_AMO_ADD, ...), without a result. Of MORI."""


@device_function("libshmem_device", "atomic_int64_fetch")
def atomic_int64_fetch(dest, val, compare, amo_type, pe, qp_id=0):
    """The atomic that amo_type names (MORI_AMO_FETCH_ADD, ...); returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_int64_nonfetch")
def atomic_int64_nonfetch(dest, val, amo_type, pe, qp_id=0):
    """The atomic that amo_type names (MORI_AMO_ADD, ...), without a result. Of MORI."""


@device_function("libshmem_device", "atomic_or_int32")
def atomic_or_int32(dest, val, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_or_int64")
def atomic_or_int64(dest, val, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_or_uint32")
def atomic_or_uint32(dest, val, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_or_uint64")
def atomic_or_uint64(dest, val, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_set_int32")
def atomic_set_int32(dest, val, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_set_int64")
def atomic_set_int64(dest, val, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_set_uint32")
def atomic_set_uint32(dest, val, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_set_uint64")
def atomic_set_uint64(dest, val, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_swap_int32")
def atomic_swap_int32(dest, val, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_swap_int64")
def atomic_swap_int64(dest, val, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_swap_uint32")
def atomic_swap_uint32(dest, val, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_swap_uint64")
def atomic_swap_uint64(dest, val, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_uint32_fetch")
def atomic_uint32_fetch(dest, val, compare, amo_type, pe, qp_id=0):
    """The atomic that amo_type names (MORI_AMO_FETCH_ADD, ...); returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_uint32_nonfetch")
def atomic_uint32_nonfetch(dest, val, amo_type, pe, qp_id=0):
    """The atomic that amo_type names (MORI_AMO_ADD, ...), without a result. Of MORI."""


@device_function("libshmem_device", "atomic_uint64_fetch")
def atomic_uint64_fetch(dest, val, compare, amo_type, pe, qp_id=0):
    """The atomic that amo_type names (MORI_AMO_FETCH_ADD, ...); returns the old value. Of MORI."""


@device_function("libshmem_device", "atomic_uint64_nonfetch")
def atomic_uint64_nonfetch(dest, val, amo_type, pe, qp_id=0):
    """The atomic that amo_type names (MORI_AMO_ADD, ...), without a result. Of MORI."""


@device_function("libshmem_device", "atomic_xor_int32")
def atomic_xor_int32(dest, val, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_xor_int64")
def atomic_xor_int64(dest, val, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_xor_uint32")
def atomic_xor_uint32(dest, val, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "atomic_xor_uint64")
def atomic_xor_uint64(dest, val, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "barrier")
def barrier(team):
    """Barrier over the members of a team; every write and transfer of a member before it is visible after it.

    team: a constant or the integer that nereid.symm.team_split_strided returns. Who of a rank's programs calls it is
    as with barrier_all. A rank that is not a member must not call it.
    Of NVSHMEM, ACLSHMEM and MXSHMEM.
    """


@device_function("libshmem_device", "barrier_all")
def barrier_all():
    """Barrier over all ranks; every write and transfer before it is visible after it.

    Every program of the launch on every rank must call it the same number of times; under the profile cuda, exactly
    one program of each rank.
    """


@device_function("libshmem_device", "barrier_all_block")
def barrier_all_block():
    """Barrier over all ranks; every write and transfer before it is visible after it.

    Every program of the launch on every rank must call it the same number of times; under the profile cuda, exactly
    one program of each rank.
    Of NVSHMEM, MORI and MXSHMEM.
    """


@device_function("libshmem_device", "barrier_all_vec")
def barrier_all_vec():
    """barrier_all among vector cores only. Of ACLSHMEM."""


@device_function("libshmem_device", "barrier_all_warp")
def barrier_all_warp():
    """Barrier over all ranks; every write and transfer before it is visible after it.

    Every program of the launch on every rank must call it the same number of times; under the profile cuda, exactly
    one program of each rank.
    Of NVSHMEM and MXSHMEM.
    """


@device_function("libshmem_device", "barrier_all_wave")
def barrier_all_wave():
    """Barrier over all ranks; every write and transfer before it is visible after it.

    Every program of the launch on every rank must call it the same number of times; under the profile cuda, exactly
    one program of each rank.
    Of ROCSHMEM.
    """


@device_function("libshmem_device", "barrier_all_wg")
def barrier_all_wg():
    """Barrier over all ranks; every write and transfer before it is visible after it.

    Every program of the launch on every rank must call it the same number of times; under the profile cuda, exactly
    one program of each rank.
    Of ROCSHMEM.
    """


@device_function("libshmem_device", "barrier_block")
def barrier_block(team):
    """Barrier over the members of a team; every write and transfer of a member before it is visible after it.

    team: a constant or the integer that nereid.symm.team_split_strided returns. Who of a rank's programs calls it is
    as with barrier_all. A rank that is not a member must not call it.
    Of NVSHMEM and MXSHMEM.
    """


@device_function("libshmem_device", "barrier_vec")
def barrier_vec(team):
    """barrier among vector cores only. Of ACLSHMEM."""


@device_function("libshmem_device", "barrier_warp")
def barrier_warp(team):
    """Barrier over the members of a team; every write and transfer of a member before it is visible after it.

    team: a constant or the integer that nereid.symm.team_split_strided returns. Who of a rank's programs calls it is
    as with barrier_all. A rank that is not a member must not call it.
    Of NVSHMEM and MXSHMEM.
    """


@device_function("libshmem_device", "bfloat16_g")
def bfloat16_g(source, pe):
    """Reads one bf16 at source's place in pe's heap."""


@device_function("libshmem_device", "bfloat16_p")
def bfloat16_p(dest, value, pe, qp_id=0):
    """Stores one bf16 at dest's place in pe's heap. Of NVSHMEM, ACLSHMEM and MXSHMEM."""


@device_function("libshmem_device", "broadcast")
def broadcast(team, dest, source, nelems, pe_root):
    """Copies nelems elements (bytes for broadcastmem) from source of member pe_root to dest of every member, itself
    included. Collective as barrier is; returns when dest is complete and source may be reused.
    Of NVSHMEM and MXSHMEM.
    """


@device_function("libshmem_device", "broadcast_block")
def broadcast_block(team, dest, source, nelems, pe_root):
    """Copies nelems elements (bytes for broadcastmem) from source of member pe_root to dest of every member, itself
    included. Collective as barrier is; returns when dest is complete and source may be reused.
    Of NVSHMEM and MXSHMEM.
    """


@device_function("libshmem_device", "broadcast_warp")
def broadcast_warp(team, dest, source, nelems, pe_root):
    """Copies nelems elements (bytes for broadcastmem) from source of member pe_root to dest of every member, itself
    included. Collective as barrier is; returns when dest is complete and source may be reused.
    Of NVSHMEM and MXSHMEM.
    """


@device_function("libshmem_device", "broadcastmem")
def broadcastmem(team, dest, source, nelems, pe_root):
    """Copies nelems elements (bytes for broadcastmem) from source of member pe_root to dest of every member, itself
    included. Collective as barrier is; returns when dest is complete and source may be reused.
    Of NVSHMEM and MXSHMEM.
    """


@device_function("libshmem_device", "broadcastmem_block")
def broadcastmem_block(team, dest, source, nelems, pe_root):
    """Copies nelems elements (bytes for broadcastmem) from source of member pe_root to dest of every member, itself
    included. Collective as barrier is; returns when dest is complete and source may be reused.
    Of NVSHMEM and MXSHMEM.
    """


@device_function("libshmem_device", "broadcastmem_warp")
def broadcastmem_warp(team, dest, source, nelems, pe_root):
    """Copies nelems elements (bytes for broadcastmem) from source of member pe_root to dest of every member, itself
    included. Collective as barrier is; returns when dest is complete and source may be reused.
    Of NVSHMEM and MXSHMEM.
    """


@device_function("libshmem_device", "char_g")
def char_g(source, pe):
    """Reads one int8 at source's place in pe's heap."""


@device_function("libshmem_device", "char_p")
def char_p(dest, value, pe, qp_id=0):
    """Stores one int8 at dest's place in pe's heap. Of NVSHMEM, ACLSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "double_atomic_fetch")
def double_atomic_fetch(source, pe, qp_id=0):
    """The element at source's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "double_atomic_set")
def double_atomic_set(dest, value, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "double_atomic_swap")
def double_atomic_swap(dest, value, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "double_g")
def double_g(source, pe):
    """Reads one fp64 at source's place in pe's heap."""


@device_function("libshmem_device", "double_p")
def double_p(dest, value, pe, qp_id=0):
    """Stores one fp64 at dest's place in pe's heap. Of NVSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "fcollect")
def fcollect(team, dest, source, nelems):
    """Copies nelems elements (bytes for fcollectmem) of every member's source to dest of every member, one member after
    the other. Collective as barrier is; returns when dest is complete and source may be reused.
    Of NVSHMEM and MXSHMEM.
    """


@device_function("libshmem_device", "fcollect_block")
def fcollect_block(team, dest, source, nelems):
    """Copies nelems elements (bytes for fcollectmem) of every member's source to dest of every member, one member after
    the other. Collective as barrier is; returns when dest is complete and source may be reused.
    Of NVSHMEM and MXSHMEM.
    """


@device_function("libshmem_device", "fcollect_warp")
def fcollect_warp(team, dest, source, nelems):
    """Copies nelems elements (bytes for fcollectmem) of every member's source to dest of every member, one member after
    the other. Collective as barrier is; returns when dest is complete and source may be reused.
    Of NVSHMEM and MXSHMEM.
    """


@device_function("libshmem_device", "fcollectmem")
def fcollectmem(team, dest, source, nelems):
    """Copies nelems elements (bytes for fcollectmem) of every member's source to dest of every member, one member after
    the other. Collective as barrier is; returns when dest is complete and source may be reused.
    Of NVSHMEM and MXSHMEM.
    """


@device_function("libshmem_device", "fcollectmem_block")
def fcollectmem_block(team, dest, source, nelems):
    """Copies nelems elements (bytes for fcollectmem) of every member's source to dest of every member, one member after
    the other. Collective as barrier is; returns when dest is complete and source may be reused.
    Of NVSHMEM and MXSHMEM.
    """


@device_function("libshmem_device", "fcollectmem_warp")
def fcollectmem_warp(team, dest, source, nelems):
    """Copies nelems elements (bytes for fcollectmem) of every member's source to dest of every member, one member after
    the other. Collective as barrier is; returns when dest is complete and source may be reused.
    Of NVSHMEM and MXSHMEM.
    """


@device_function("libshmem_device", "fence")
def fence():
    """Orders transfers and signals to each rank; does not complete them."""


@device_function("libshmem_device", "fence_pe")
def fence_pe(pe=None, qp_id=0):
    """fence() for one rank; without pe, for all. Of MORI."""


@device_function("libshmem_device", "fence_pe_qp")
def fence_pe_qp(pe, qp_id):
    """As fence_pe or quiet_pe: a rank has one queue here, whatever qp_id says. Of MORI."""


@device_function("libshmem_device", "float_atomic_fetch")
def float_atomic_fetch(source, pe, qp_id=0):
    """The element at source's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "float_atomic_set")
def float_atomic_set(dest, value, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "float_atomic_swap")
def float_atomic_swap(dest, value, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "float_g")
def float_g(source, pe):
    """Reads one fp32 at source's place in pe's heap."""


@device_function("libshmem_device", "float_p")
def float_p(dest, value, pe, qp_id=0):
    """Stores one fp32 at dest's place in pe's heap. Of NVSHMEM, ACLSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "g")
def g(source, pe):
    """Reads one element from pe's heap."""


@device_function("libshmem_device", "getmem")
def getmem(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source in pe's heap to dest. source is symmetric. Of NVSHMEM, ROCSHMEM, ACLSHMEM and MXSHMEM."""


@device_function("libshmem_device", "getmem_block")
def getmem_block(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source in pe's heap to dest. source is symmetric. Of NVSHMEM and MXSHMEM."""


@device_function("libshmem_device", "getmem_nbi")
def getmem_nbi(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source in pe's heap to dest; complete after quiet(). source is symmetric."""


@device_function("libshmem_device", "getmem_nbi_block")
def getmem_nbi_block(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source in pe's heap to dest; complete after quiet(). source is symmetric. Of NVSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "getmem_nbi_warp")
def getmem_nbi_warp(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source in pe's heap to dest; complete after quiet(). source is symmetric. Of NVSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "getmem_nbi_wave")
def getmem_nbi_wave(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source in pe's heap to dest; complete after quiet(). source is symmetric. Of ROCSHMEM."""


@device_function("libshmem_device", "getmem_nbi_wg")
def getmem_nbi_wg(dest, source, nbytes, pe, qp_id=0):
    """Starts to copy nbytes bytes from source in pe's heap to dest; complete after quiet(). source is symmetric. Of ROCSHMEM."""


@device_function("libshmem_device", "getmem_warp")
def getmem_warp(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source in pe's heap to dest. source is symmetric. Of NVSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "getmem_wave")
def getmem_wave(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source in pe's heap to dest. source is symmetric. Of ROCSHMEM."""


@device_function("libshmem_device", "getmem_wg")
def getmem_wg(dest, source, nbytes, pe, qp_id=0):
    """Copies nbytes bytes from source in pe's heap to dest. source is symmetric. Of ROCSHMEM."""


@device_function("libshmem_device", "half_g")
def half_g(source, pe):
    """Reads one fp16 at source's place in pe's heap."""


@device_function("libshmem_device", "half_p")
def half_p(dest, value, pe, qp_id=0):
    """Stores one fp16 at dest's place in pe's heap. Of NVSHMEM, ACLSHMEM and MXSHMEM."""


@device_function("libshmem_device", "int16_g")
def int16_g(source, pe):
    """Reads one int16 at source's place in pe's heap."""


@device_function("libshmem_device", "int16_p")
def int16_p(dest, value, pe, qp_id=0):
    """Stores one int16 at dest's place in pe's heap. Of NVSHMEM, ACLSHMEM and MXSHMEM."""


@device_function("libshmem_device", "int16_wait_until")
def int16_wait_until(addr, cmp_, cmp_val):
    """signal_wait_until of a signal of int16; returns the value that satisfied it. Of NVSHMEM, ROCSHMEM, ACLSHMEM and MXSHMEM."""


@device_function("libshmem_device", "int32_atomic_add")
def int32_atomic_add(dest, value, pe, qp_id=0):
    """Adds value at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "int32_atomic_and")
def int32_atomic_and(dest, value, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "int32_atomic_compare_swap")
def int32_atomic_compare_swap(dest, cond, value, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap to value if it equals cond; returns the old value. Of MORI."""


@device_function("libshmem_device", "int32_atomic_fetch")
def int32_atomic_fetch(source, pe, qp_id=0):
    """The element at source's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "int32_atomic_fetch_add")
def int32_atomic_fetch_add(dest, value, pe, qp_id=0):
    """Adds value at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "int32_atomic_fetch_and")
def int32_atomic_fetch_and(dest, value, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "int32_atomic_fetch_inc")
def int32_atomic_fetch_inc(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "int32_atomic_fetch_or")
def int32_atomic_fetch_or(dest, value, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "int32_atomic_fetch_xor")
def int32_atomic_fetch_xor(dest, value, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "int32_atomic_inc")
def int32_atomic_inc(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "int32_atomic_or")
def int32_atomic_or(dest, value, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "int32_atomic_set")
def int32_atomic_set(dest, value, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "int32_atomic_swap")
def int32_atomic_swap(dest, value, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "int32_atomic_xor")
def int32_atomic_xor(dest, value, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "int32_g")
def int32_g(source, pe):
    """Reads one int32 at source's place in pe's heap."""


@device_function("libshmem_device", "int32_p")
def int32_p(dest, value, pe, qp_id=0):
    """Stores one int32 at dest's place in pe's heap. Of NVSHMEM, ACLSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "int32_wait_until")
def int32_wait_until(addr, cmp_, cmp_val):
    """signal_wait_until of a signal of int32; returns the value that satisfied it. Of NVSHMEM, ROCSHMEM, ACLSHMEM and MXSHMEM."""


@device_function("libshmem_device", "int32_wait_until_equals")
def int32_wait_until_equals(addr, val):
    """Waits until the signal equals val; returns it. Of MORI."""


@device_function("libshmem_device", "int32_wait_until_greater_than")
def int32_wait_until_greater_than(addr, val):
    """Waits until the signal is greater than val; returns it. Of MORI."""


@device_function("libshmem_device", "int64_atomic_add")
def int64_atomic_add(dest, value, pe, qp_id=0):
    """Adds value at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "int64_atomic_and")
def int64_atomic_and(dest, value, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "int64_atomic_compare_swap")
def int64_atomic_compare_swap(dest, cond, value, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap to value if it equals cond; returns the old value. Of MORI."""


@device_function("libshmem_device", "int64_atomic_fetch")
def int64_atomic_fetch(source, pe, qp_id=0):
    """The element at source's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "int64_atomic_fetch_add")
def int64_atomic_fetch_add(dest, value, pe, qp_id=0):
    """Adds value at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "int64_atomic_fetch_and")
def int64_atomic_fetch_and(dest, value, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "int64_atomic_fetch_inc")
def int64_atomic_fetch_inc(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "int64_atomic_fetch_or")
def int64_atomic_fetch_or(dest, value, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "int64_atomic_fetch_xor")
def int64_atomic_fetch_xor(dest, value, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "int64_atomic_inc")
def int64_atomic_inc(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "int64_atomic_or")
def int64_atomic_or(dest, value, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "int64_atomic_set")
def int64_atomic_set(dest, value, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "int64_atomic_swap")
def int64_atomic_swap(dest, value, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "int64_atomic_xor")
def int64_atomic_xor(dest, value, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "int64_g")
def int64_g(source, pe):
    """Reads one int64 at source's place in pe's heap."""


@device_function("libshmem_device", "int64_p")
def int64_p(dest, value, pe, qp_id=0):
    """Stores one int64 at dest's place in pe's heap. Of NVSHMEM, ACLSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "int64_wait_until")
def int64_wait_until(addr, cmp_, cmp_val):
    """signal_wait_until of a signal of int64; returns the value that satisfied it. Of NVSHMEM, ROCSHMEM, ACLSHMEM and MXSHMEM."""


@device_function("libshmem_device", "int64_wait_until_equals")
def int64_wait_until_equals(addr, val):
    """Waits until the signal equals val; returns it. Of MORI."""


@device_function("libshmem_device", "int64_wait_until_greater_than")
def int64_wait_until_greater_than(addr, val):
    """Waits until the signal is greater than val; returns it. Of MORI."""


@device_function("libshmem_device", "int8_g")
def int8_g(source, pe):
    """Reads one int8 at source's place in pe's heap."""


@device_function("libshmem_device", "int8_p")
def int8_p(dest, value, pe, qp_id=0):
    """Stores one int8 at dest's place in pe's heap. Of NVSHMEM, ACLSHMEM and MXSHMEM."""


@device_function("libshmem_device", "int8_wait_until")
def int8_wait_until(addr, cmp_, cmp_val):
    """signal_wait_until of a signal of int8; returns the value that satisfied it. Of NVSHMEM, ROCSHMEM, ACLSHMEM and MXSHMEM."""


@device_function("libshmem_device", "int_atomic_add")
def int_atomic_add(dest, value, pe, qp_id=0):
    """Adds value at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "int_atomic_and")
def int_atomic_and(dest, value, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "int_atomic_compare_swap")
def int_atomic_compare_swap(dest, cond, value, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap to value if it equals cond; returns the old value. Of MORI."""


@device_function("libshmem_device", "int_atomic_fetch")
def int_atomic_fetch(source, pe, qp_id=0):
    """The element at source's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "int_atomic_fetch_add")
def int_atomic_fetch_add(dest, value, pe, qp_id=0):
    """Adds value at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "int_atomic_fetch_and")
def int_atomic_fetch_and(dest, value, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "int_atomic_fetch_inc")
def int_atomic_fetch_inc(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "int_atomic_fetch_or")
def int_atomic_fetch_or(dest, value, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "int_atomic_fetch_xor")
def int_atomic_fetch_xor(dest, value, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap; returns the old value. Of MORI."""


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
    """Sets the element at dest's place in pe's heap; returns the old value. Of MORI."""


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
    """Sets the element at dest's place in pe's heap to value if it equals cond; returns the old value. Of MORI."""


@device_function("libshmem_device", "long_atomic_fetch")
def long_atomic_fetch(source, pe, qp_id=0):
    """The element at source's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "long_atomic_fetch_add")
def long_atomic_fetch_add(dest, value, pe, qp_id=0):
    """Adds value at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "long_atomic_fetch_and")
def long_atomic_fetch_and(dest, value, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "long_atomic_fetch_inc")
def long_atomic_fetch_inc(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "long_atomic_fetch_or")
def long_atomic_fetch_or(dest, value, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "long_atomic_fetch_xor")
def long_atomic_fetch_xor(dest, value, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap; returns the old value. Of MORI."""


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
    """Sets the element at dest's place in pe's heap; returns the old value. Of MORI."""


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
    """As fence_pe or quiet_pe: a rank has one queue here, whatever qp_id says. Of MORI."""


@device_function("libshmem_device", "remote_mc_ptr")
def remote_mc_ptr(team, ptr):
    """Multicast address of ptr's place in the heaps of the team. Only on GPUs with NVLink. Of NVSHMEM and MXSHMEM."""


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
    """This rank's number in the team, int32; -1 when it is not a member. Of NVSHMEM, ACLSHMEM and MXSHMEM."""


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
    """Sets the element at dest's place in pe's heap to value if it equals cond; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint32_atomic_fetch")
def uint32_atomic_fetch(source, pe, qp_id=0):
    """The element at source's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint32_atomic_fetch_add")
def uint32_atomic_fetch_add(dest, value, pe, qp_id=0):
    """Adds value at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint32_atomic_fetch_and")
def uint32_atomic_fetch_and(dest, value, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint32_atomic_fetch_inc")
def uint32_atomic_fetch_inc(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint32_atomic_fetch_or")
def uint32_atomic_fetch_or(dest, value, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint32_atomic_fetch_xor")
def uint32_atomic_fetch_xor(dest, value, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap; returns the old value. Of MORI."""


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
    """Sets the element at dest's place in pe's heap; returns the old value. Of MORI."""


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
    """Sets the element at dest's place in pe's heap to value if it equals cond; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint64_atomic_fetch")
def uint64_atomic_fetch(source, pe, qp_id=0):
    """The element at source's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint64_atomic_fetch_add")
def uint64_atomic_fetch_add(dest, value, pe, qp_id=0):
    """Adds value at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint64_atomic_fetch_and")
def uint64_atomic_fetch_and(dest, value, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint64_atomic_fetch_inc")
def uint64_atomic_fetch_inc(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint64_atomic_fetch_or")
def uint64_atomic_fetch_or(dest, value, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint64_atomic_fetch_xor")
def uint64_atomic_fetch_xor(dest, value, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap; returns the old value. Of MORI."""


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
    """Sets the element at dest's place in pe's heap; returns the old value. Of MORI."""


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
    """Sets the element at dest's place in pe's heap to value if it equals cond; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint_atomic_fetch")
def uint_atomic_fetch(source, pe, qp_id=0):
    """The element at source's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "uint_atomic_fetch_add")
def uint_atomic_fetch_add(dest, value, pe, qp_id=0):
    """Adds value at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint_atomic_fetch_and")
def uint_atomic_fetch_and(dest, value, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint_atomic_fetch_inc")
def uint_atomic_fetch_inc(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint_atomic_fetch_or")
def uint_atomic_fetch_or(dest, value, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "uint_atomic_fetch_xor")
def uint_atomic_fetch_xor(dest, value, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap; returns the old value. Of MORI."""


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
    """Sets the element at dest's place in pe's heap; returns the old value. Of MORI."""


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
    """Sets the element at dest's place in pe's heap to value if it equals cond; returns the old value. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_fetch")
def ulong_atomic_fetch(source, pe, qp_id=0):
    """The element at source's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_fetch_add")
def ulong_atomic_fetch_add(dest, value, pe, qp_id=0):
    """Adds value at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_fetch_and")
def ulong_atomic_fetch_and(dest, value, pe, qp_id=0):
    """Bitwise and at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_fetch_inc")
def ulong_atomic_fetch_inc(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_fetch_or")
def ulong_atomic_fetch_or(dest, value, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_fetch_xor")
def ulong_atomic_fetch_xor(dest, value, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_inc")
def ulong_atomic_inc(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_or")
def ulong_atomic_or(dest, value, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_set")
def ulong_atomic_set(dest, value, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_swap")
def ulong_atomic_swap(dest, value, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap; returns the old value. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_xor")
def ulong_atomic_xor(dest, value, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "ulong_g")
def ulong_g(source, pe):
    """Reads one uint64 at source's place in pe's heap."""


@device_function("libshmem_device", "ulong_p")
def ulong_p(dest, value, pe, qp_id=0):
    """Stores one uint64 at dest's place in pe's heap. Of NVSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "ulong_put_signal")
def ulong_put_signal(dest, source, nelems, sig_addr, signal, sig_op, pe):
    """putmem_signal of nelems 8-byte elements. Of NVSHMEM, ROCSHMEM and MXSHMEM."""


@device_function("libshmem_device", "ulong_wait_until")
def ulong_wait_until(addr, cmp_, cmp_val):
    """signal_wait_until of a signal of uint64; returns the value that satisfied it. Of NVSHMEM, ROCSHMEM and MXSHMEM."""


@device_function("libshmem_device", "ulonglong_g")
def ulonglong_g(source, pe):
    """Reads one uint64 at source's place in pe's heap."""


@device_function("libshmem_device", "ulonglong_p")
def ulonglong_p(dest, value, pe, qp_id=0):
    """Stores one uint64 at dest's place in pe's heap. Of NVSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "ushort_g")
def ushort_g(source, pe):
    """Reads one uint16 at source's place in pe's heap."""


@device_function("libshmem_device", "ushort_p")
def ushort_p(dest, value, pe, qp_id=0):
    """Stores one uint16 at dest's place in pe's heap. Of NVSHMEM, MORI and MXSHMEM."""


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
NVSHMEMI_AMO_INC = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_INC", 1689144424804171017726578149818368)
NVSHMEMI_AMO_SET = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_SET", 1689144424804171017726578149818369)
NVSHMEMI_AMO_ADD = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_ADD", 1689144424804171017726578149818370)
NVSHMEMI_AMO_AND = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_AND", 1689144424804171017726578149818371)
NVSHMEMI_AMO_OR = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_OR", 1689144424804171017726578149818372)
NVSHMEMI_AMO_XOR = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_XOR", 1689144424804171017726578149818373)
NVSHMEMI_AMO_FETCH = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_FETCH", 1689144424804171017726578149818374)
NVSHMEMI_AMO_FETCH_INC = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_FETCH_INC", 1689144424804171017726578149818375)
NVSHMEMI_AMO_FETCH_ADD = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_FETCH_ADD", 1689144424804171017726578149818376)
NVSHMEMI_AMO_FETCH_AND = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_FETCH_AND", 1689144424804171017726578149818377)
NVSHMEMI_AMO_FETCH_OR = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_FETCH_OR", 1689144424804171017726578149818378)
NVSHMEMI_AMO_FETCH_XOR = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_FETCH_XOR", 1689144424804171017726578149818379)
NVSHMEMI_AMO_SWAP = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_SWAP", 1689144424804171017726578149818380)
NVSHMEMI_AMO_COMPARE_SWAP = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_COMPARE_SWAP", 1689144424804171017726578149818381)
NVSHMEMI_AMO_SIGNAL_SET = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_SIGNAL_SET", 1689144424804134124238430730715137)
NVSHMEMI_AMO_SIGNAL_ADD = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_SIGNAL_ADD", 1689144424804134124238430730715138)
MORI_AMO_INC = DeviceConstant("libshmem_device", "MORI_AMO_INC", 1689144424818338117175187085459456)
MORI_AMO_SET = DeviceConstant("libshmem_device", "MORI_AMO_SET", 1689144424818338117175187085459457)
MORI_AMO_ADD = DeviceConstant("libshmem_device", "MORI_AMO_ADD", 1689144424818338117175187085459458)
MORI_AMO_AND = DeviceConstant("libshmem_device", "MORI_AMO_AND", 1689144424818338117175187085459459)
MORI_AMO_OR = DeviceConstant("libshmem_device", "MORI_AMO_OR", 1689144424818338117175187085459460)
MORI_AMO_XOR = DeviceConstant("libshmem_device", "MORI_AMO_XOR", 1689144424818338117175187085459461)
MORI_AMO_FETCH = DeviceConstant("libshmem_device", "MORI_AMO_FETCH", 1689144424818338117175187085459462)
MORI_AMO_FETCH_INC = DeviceConstant("libshmem_device", "MORI_AMO_FETCH_INC", 1689144424818338117175187085459463)
MORI_AMO_FETCH_ADD = DeviceConstant("libshmem_device", "MORI_AMO_FETCH_ADD", 1689144424818338117175187085459464)
MORI_AMO_FETCH_AND = DeviceConstant("libshmem_device", "MORI_AMO_FETCH_AND", 1689144424818338117175187085459465)
MORI_AMO_FETCH_OR = DeviceConstant("libshmem_device", "MORI_AMO_FETCH_OR", 1689144424818338117175187085459466)
MORI_AMO_FETCH_XOR = DeviceConstant("libshmem_device", "MORI_AMO_FETCH_XOR", 1689144424818338117175187085459467)
MORI_AMO_SWAP = DeviceConstant("libshmem_device", "MORI_AMO_SWAP", 1689144424818338117175187085459468)
MORI_AMO_COMPARE_SWAP = DeviceConstant("libshmem_device", "MORI_AMO_COMPARE_SWAP", 1689144424818338117175187085459469)
MORI_AMO_SIGNAL_SET = DeviceConstant("libshmem_device", "MORI_AMO_SIGNAL_SET", 1689144424818301223687039666356225)
MORI_AMO_SIGNAL_ADD = DeviceConstant("libshmem_device", "MORI_AMO_SIGNAL_ADD", 1689144424818301223687039666356226)
NVSHMEM_TEAM_INVALID = DeviceConstant("libshmem_device", "NVSHMEM_TEAM_INVALID", 1689144424804152570982508735234047)
NVSHMEM_TEAM_WORLD = DeviceConstant("libshmem_device", "NVSHMEM_TEAM_WORLD", 1689144424804152570982504440266752)
NVSHMEM_TEAM_WORLD_INDEX = DeviceConstant("libshmem_device", "NVSHMEM_TEAM_WORLD_INDEX", 1689144424804152570982504440266752)
NVSHMEM_TEAM_SHARED = DeviceConstant("libshmem_device", "NVSHMEM_TEAM_SHARED", 1689144424804152570982504440266753)
NVSHMEM_TEAM_SHARED_INDEX = DeviceConstant("libshmem_device", "NVSHMEM_TEAM_SHARED_INDEX", 1689144424804152570982504440266753)
NVSHMEMX_TEAM_NODE = DeviceConstant("libshmem_device", "NVSHMEMX_TEAM_NODE", 1689144424804152570982504440266754)
NVSHMEM_TEAM_NODE_INDEX = DeviceConstant("libshmem_device", "NVSHMEM_TEAM_NODE_INDEX", 1689144424804152570982504440266754)
NVSHMEMX_TEAM_SAME_MYPE_NODE = DeviceConstant("libshmem_device", "NVSHMEMX_TEAM_SAME_MYPE_NODE", 1689144424804152570982504440266755)
NVSHMEM_TEAM_SAME_MYPE_NODE_INDEX = DeviceConstant("libshmem_device", "NVSHMEM_TEAM_SAME_MYPE_NODE_INDEX", 1689144424804152570982504440266755)
ACLSHMEM_TEAM_INVALID = DeviceConstant("libshmem_device", "ACLSHMEM_TEAM_INVALID", 1689144424813597303948248025661439)
ACLSHMEM_TEAM_WORLD = DeviceConstant("libshmem_device", "ACLSHMEM_TEAM_WORLD", 1689144424813597303948243730694144)
MXSHMEM_TEAM_INVALID = DeviceConstant("libshmem_device", "MXSHMEM_TEAM_INVALID", 1689144424823042036913987316088831)
MXSHMEM_TEAM_WORLD = DeviceConstant("libshmem_device", "MXSHMEM_TEAM_WORLD", 1689144424823042036913983021121536)
MXSHMEM_TEAM_SHARED = DeviceConstant("libshmem_device", "MXSHMEM_TEAM_SHARED", 1689144424823042036913983021121537)
MXSHMEMX_TEAM_NODE = DeviceConstant("libshmem_device", "MXSHMEMX_TEAM_NODE", 1689144424823042036913983021121538)
MXSHMEMX_TEAM_SAME_MYPE_NODE = DeviceConstant("libshmem_device", "MXSHMEMX_TEAM_SAME_MYPE_NODE", 1689144424823042036913983021121539)
