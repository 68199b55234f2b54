# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by python/generate_language.py from the compiler's table: do not edit.
"""Names of single threads of GPUs."""

from nereid.language._device import DeviceConstant, device_function

__all__ = ["__ballot_sync", "__fence", "__shfl_down_sync_i32", "__shfl_sync_i32", "__shfl_up_sync_i32", "__shfl_xor_sync_i32", "__syncthreads", "arrive_inc", "atomic_add", "atomic_add_per_warp", "atomic_cas", "fence", "globaltimer", "laneid", "ld", "ld_acquire", "ld_b32", "ld_vector", "load_v2_b64", "load_v4_u32", "membar", "multimem_ld_reduce_v4", "multimem_st_b32", "multimem_st_b64", "multimem_st_p_b32", "multimem_st_v2", "multimem_st_v4", "ntid", "num_threads", "num_warps", "pack", "pack_b32_v2", "red_release", "smid", "st", "st_b32", "st_v2_u32", "st_v4_b32", "st_vector", "sync_grid", "threads_per_warp", "tid", "tma_sync", "unpack", "wait_eq"]


@device_function("language_extra", "__ballot_sync")
def __ballot_sync(mask, predicate):
    """An int32 whose bit n says whether predicate holds for thread n of the warp; 0 for threads that do not get here."""


@device_function("language_extra", "__fence")
def __fence(semantic="sc", scope="gpu"):
    """Orders the thread's earlier accesses before its later ones. semantic: "sc" or "acq_rel"; scope: "cta", "gpu" or "sys"."""


@device_function("language_extra", "__shfl_down_sync_i32")
def __shfl_down_sync_i32(mask, value, delta):
    """As __shfl_sync_i32, from the thread that is delta behind; a thread that has none gets its own."""


@device_function("language_extra", "__shfl_sync_i32")
def __shfl_sync_i32(mask, value, laneid):
    """The value that thread number laneid of the warp gives, in value's type.

    value: a scalar of 32 bits. All threads of the warp that get here together take part, whatever mask says.
    """


@device_function("language_extra", "__shfl_up_sync_i32")
def __shfl_up_sync_i32(mask, value, delta):
    """As __shfl_sync_i32, from the thread that is delta before; a thread that has none gets its own."""


@device_function("language_extra", "__shfl_xor_sync_i32")
def __shfl_xor_sync_i32(mask, value, delta):
    """As __shfl_sync_i32, from the thread whose number in the warp is this one's with the bits of delta flipped."""


@device_function("language_extra", "__syncthreads")
def __syncthreads():
    """All threads of the program meet: what each did before is there for all after it. An error where control flow depends on the thread."""


@device_function("language_extra", "arrive_inc")
def arrive_inc(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "atomic_add")
def atomic_add(ptr, value, scope="gpu", semantic="relaxed"):
    """Each thread that gets here adds value to the number at ptr; returns the old value.

    scope: "cta", "gpu" or "sys"; semantic: "relaxed", "acquire", "release" or "acq_rel".
    """


@device_function("language_extra", "atomic_add_per_warp")
def atomic_add_per_warp(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "atomic_cas")
def atomic_cas(ptr, value, target_value, scope, semantic):
    """For each thread that gets here: the number at ptr becomes target_value where it is value; returns the old one."""


@device_function("language_extra", "fence")
def fence(semantic="sc", scope="gpu"):
    """As __fence."""


@device_function("language_extra", "globaltimer")
def globaltimer(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "laneid")
def laneid():
    """The thread's number within its warp of 32, an int32 scalar."""


@device_function("language_extra", "ld")
def ld(ptr, scope="gpu", semantic="relaxed"):
    """What the thread reads at ptr, in one piece and each time anew.

    ptr: a pointer to numbers of 8 to 64 bits. scope: "cta", "gpu" or "sys"; semantic: "relaxed" or "acquire".
    """


@device_function("language_extra", "ld_acquire")
def ld_acquire(ptr, scope="gpu"):
    """As ld with semantic="acquire"."""


@device_function("language_extra", "ld_b32")
def ld_b32(ptr):
    """As ld, relaxed."""


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
def membar(scope="cta"):
    """Orders the thread's earlier accesses before its later ones. scope: "cta", "gl", "gpu" or "sys"."""


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
def ntid(axis):
    """Threads of a program along an axis, an int32 scalar: 32 * num_warps along axis 0, 1 along the others."""


@device_function("language_extra", "num_threads")
def num_threads():
    """Threads of a program, a constant: 32 * num_warps."""


@device_function("language_extra", "num_warps")
def num_warps():
    """Warps of a program, a constant: the launch option num_warps (4)."""


@device_function("language_extra", "pack")
def pack(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "pack_b32_v2")
def pack_b32_v2(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "red_release")
def red_release(ptr, value, scope="gpu"):
    """Each thread adds value to the number at ptr, which releases what it did before."""


@device_function("language_extra", "smid")
def smid(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "st")
def st(ptr, val, scope="gpu", semantic="relaxed"):
    """The thread writes val at ptr, in one piece.

    ptr: a pointer to numbers of 8 to 64 bits; val is cast to them. scope: "cta", "gpu" or "sys"; semantic: "relaxed" or "release".
    """


@device_function("language_extra", "st_b32")
def st_b32(ptr, val):
    """As st, relaxed."""


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
def threads_per_warp():
    """Threads of a warp, the constant 32."""


@device_function("language_extra", "tid")
def tid(axis):
    """Which thread of its program runs this, an int32 scalar from 0 to ntid(axis) - 1; threads are numbered along axis 0.

    What depends on it differs from thread to thread. Blocks belong to the whole program and cannot.
    """


@device_function("language_extra", "tma_sync")
def tma_sync(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "unpack")
def unpack(*args, **options):
    """Only on machines with such threads."""


@device_function("language_extra", "wait_eq")
def wait_eq(*args, **options):
    """Only on machines with such threads."""
