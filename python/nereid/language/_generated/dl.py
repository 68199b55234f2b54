# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by python/generate_language.py from the compiler's table: do not edit.
"""Functions of nereid.distributed."""

from nereid.language._device import DeviceConstant, device_function

__all__ = ["allocate_smem", "consume_token", "extern_call", "extract", "get_smem_shared_address_u32", "insert", "ld_vector", "make_vector", "notify", "num_ranks", "rank", "simt_exec_region", "smem_dealloc", "smem_get_ptr", "smem_index", "smem_load", "smem_store", "st_vector", "symm_at", "tma", "vector", "wait", "zeros_vector"]


@device_function("dl", "allocate_smem")
def allocate_smem(*args, **options):
    """Only on machines with such threads."""


@device_function("dl", "consume_token")
def consume_token(value, token):
    """Returns value, made to depend on a wait.

    value: a pointer, a block of pointers, a block pointer, a tensor descriptor, or any run-time value.
    token: what dl.wait returned, or a sum of such tokens. Costs nothing at run time.
    """


@device_function("dl", "extern_call")
def extern_call(lib_name, lib_path, args, arg_type_symbol_dict, is_pure):
    """Scalar call of a device library function; the symbol is picked by the exact dtypes of args."""


@device_function("dl", "extract")
def extract(*args, **options):
    """Only on machines with such threads."""


@device_function("dl", "get_smem_shared_address_u32")
def get_smem_shared_address_u32(*args, **options):
    """Only on machines with such threads."""


@device_function("dl", "insert")
def insert(*args, **options):
    """Only on machines with such threads."""


@device_function("dl", "ld_vector")
def ld_vector(*args, **options):
    """Only on machines with such threads."""


@device_function("dl", "make_vector")
def make_vector(*args, **options):
    """Only on machines with such threads."""


@device_function("dl", "notify")
def notify(ptr, rank, signal=1, sig_op="set", comm_scope="inter_node"):
    """Updates the signal at ptr's place in rank's heap after all earlier writes of this program.

    ptr: pointer to integers of any width (64 bits under the profile cuda). signal: the value, cast to the signal's dtype.
    sig_op: "set" or "add". comm_scope: "gpu", "intra_node" or "inter_node"; with the last one puts are not
    among these writes: call libshmem_device.fence() between them and this.
    """


@device_function("dl", "num_ranks")
def num_ranks(axis=-1):
    """Number of ranks of the job, an int32 scalar. axis is accepted and ignored."""


@device_function("dl", "rank")
def rank(axis=-1):
    """This rank's number, an int32 scalar from 0 to num_ranks() - 1. axis is accepted and ignored."""


@device_function("dl", "simt_exec_region")
def simt_exec_region():
    """`with dl.simt_exec_region() as (thread, threads):` is code of single threads: thread is tid(0), threads is ntid(0), and all threads meet before and after it."""


@device_function("dl", "smem_dealloc")
def smem_dealloc(*args, **options):
    """Only on machines with such threads."""


@device_function("dl", "smem_get_ptr")
def smem_get_ptr(*args, **options):
    """Only on machines with such threads."""


@device_function("dl", "smem_index")
def smem_index(*args, **options):
    """Only on machines with such threads."""


@device_function("dl", "smem_load")
def smem_load(*args, **options):
    """Only on machines with such threads."""


@device_function("dl", "smem_store")
def smem_store(*args, **options):
    """Only on machines with such threads."""


@device_function("dl", "st_vector")
def st_vector(*args, **options):
    """Only on machines with such threads."""


@device_function("dl", "symm_at")
def symm_at(ptr, rank):
    """Pointer to the same place in another rank's symmetric heap.

    ptr: a single pointer into this rank's heap (a block of pointers is an error: map the base, then add offsets).
    rank: int32, 0 to num_ranks() - 1. The result has ptr's type and works like any pointer; for the own rank it is
    ptr itself.
    """


@device_function("dl", "tma")
def tma(*args, **options):
    """Only on machines with such threads."""


@device_function("dl", "vector")
def vector(*args, **options):
    """Only on machines with such threads."""


@device_function("dl", "wait")
def wait(barrierPtrs, numBarriers, scope, semantic, waitValue=1):
    """Blocks until each of numBarriers signals from barrierPtrs on equals waitValue; returns an int32 token.

    barrierPtrs: pointer to integers of any width. numBarriers: any number; 0 returns at once. The distance between the signals is one element, or what
    the profile says (64 bytes on Ascend). scope: "gpu" (= "npu"), "sys", "cta". semantic: "acquire"
    or "relaxed". Only accesses through a pointer that consume_token tied to the token are ordered after the wait.
    """


@device_function("dl", "zeros_vector")
def zeros_vector(*args, **options):
    """Only on machines with such threads."""
