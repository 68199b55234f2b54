# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by python/generate_language.py from the compiler's table: do not edit.
"""Names of single threads of GPUs."""

from nereid.language._device import DeviceConstant, device_function

__all__ = ["__ballot_sync", "__shfl_down_sync_i32", "__shfl_sync_i32", "__shfl_up_sync_i32", "__shfl_xor_sync_i32", "__syncthreads", "arrive_inc", "atomic_add", "atomic_add_per_warp", "atomic_cas", "globaltimer", "laneid", "ld", "ld_acquire", "ld_b32", "ld_vector", "load_v2_b64", "load_v4_u32", "membar", "multimem_ld_reduce_v4", "multimem_st_b32", "multimem_st_b64", "multimem_st_p_b32", "multimem_st_v2", "multimem_st_v4", "ntid", "num_threads", "num_warps", "pack", "pack_b32_v2", "red_release", "smid", "st", "st_v2_u32", "st_v4_b32", "st_vector", "sync_grid", "threads_per_warp", "tid", "tma_sync", "unpack", "wait_eq"]


@device_function("language_extra", "__ballot_sync")
def __ballot_sync(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "__shfl_down_sync_i32")
def __shfl_down_sync_i32(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "__shfl_sync_i32")
def __shfl_sync_i32(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "__shfl_up_sync_i32")
def __shfl_up_sync_i32(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "__shfl_xor_sync_i32")
def __shfl_xor_sync_i32(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "__syncthreads")
def __syncthreads(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "arrive_inc")
def arrive_inc(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "atomic_add")
def atomic_add(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "atomic_add_per_warp")
def atomic_add_per_warp(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "atomic_cas")
def atomic_cas(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "globaltimer")
def globaltimer(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "laneid")
def laneid(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "ld")
def ld(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "ld_acquire")
def ld_acquire(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "ld_b32")
def ld_b32(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "ld_vector")
def ld_vector(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "load_v2_b64")
def load_v2_b64(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "load_v4_u32")
def load_v4_u32(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "membar")
def membar(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "multimem_ld_reduce_v4")
def multimem_ld_reduce_v4(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "multimem_st_b32")
def multimem_st_b32(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "multimem_st_b64")
def multimem_st_b64(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "multimem_st_p_b32")
def multimem_st_p_b32(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "multimem_st_v2")
def multimem_st_v2(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "multimem_st_v4")
def multimem_st_v4(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "ntid")
def ntid(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "num_threads")
def num_threads(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "num_warps")
def num_warps(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "pack")
def pack(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "pack_b32_v2")
def pack_b32_v2(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "red_release")
def red_release(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "smid")
def smid(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "st")
def st(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "st_v2_u32")
def st_v2_u32(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "st_v4_b32")
def st_v4_b32(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "st_vector")
def st_vector(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "sync_grid")
def sync_grid(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "threads_per_warp")
def threads_per_warp(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "tid")
def tid(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "tma_sync")
def tma_sync(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "unpack")
def unpack(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "wait_eq")
def wait_eq(*args, **options):
    """Only on machines with such threads."""
