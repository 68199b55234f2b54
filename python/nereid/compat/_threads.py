# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ``triton_dist.language.extra.cuda.language_extra`` has beyond the language's own
names of threads (``nereid.language.extra.language_extra``), written in the language."""

from __future__ import annotations

from typing import Any

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device
from nereid.language._constexpr import constexpr_function
from nereid.language.extra import language_extra
from nereid.language.extra.language_extra import (
    __syncthreads, atomic_add, ld, ld_acquire, red_release, st
)


@nereid.jit
def arrive_inc(barrier_ptr, thread_idx, value, scope: tl.constexpr = "gpu"):
    __syncthreads()
    if thread_idx == 0:
        red_release(barrier_ptr, value, scope)


@nereid.jit
def wait_eq(barrier_ptr, thread_idx, value, scope: tl.constexpr = "gpu"):
    if thread_idx == 0:
        while ld_acquire(barrier_ptr, scope) != value:
            pass
    __syncthreads()


# ---- several elements at once. The pointer is to 32 or 64 bits each; what is read and
# written as one on GPUs is so many single accesses here, which is all they promise.


@nereid.jit
def _loaded4(p):
    return ld(p), ld(p + 1), ld(p + 2), ld(p + 3)


@nereid.jit
def load_v4_u32(ptr):
    return _loaded4(ptr.to(tl.pointer_type(tl.uint32)))


@nereid.jit
def load_v4_s32(ptr):
    return _loaded4(ptr.to(tl.pointer_type(tl.int32)))


@nereid.jit
def load_v4_b32(ptr, scope: tl.constexpr = "gpu", semantic: tl.constexpr = "relaxed"):
    p = ptr.to(tl.pointer_type(tl.int32))
    order: tl.constexpr = "acquire" if semantic == "acquire" else "relaxed"
    return ld(p, "sys", order), ld(p + 1, "sys", order), ld(p + 2, "sys", order), ld(p + 3, "sys", order)


@nereid.jit
def load_v2_b64(ptr):
    p = ptr.to(tl.pointer_type(tl.int64))
    return ld(p), ld(p + 1)


@nereid.jit
def _stored4(p, val0, val1, val2, val3, order: tl.constexpr):
    st(p, val0, "sys", order)
    st(p + 1, val1, "sys", order)
    st(p + 2, val2, "sys", order)
    st(p + 3, val3, "sys", order)


@nereid.jit
def st_v4_u32(ptr, val0, val1, val2, val3):
    _stored4(ptr.to(tl.pointer_type(tl.uint32)), val0, val1, val2, val3, "relaxed")


@nereid.jit
def st_v4_b32(ptr, val0, val1, val2, val3, scope: tl.constexpr = "", semantic: tl.constexpr = ""):
    order: tl.constexpr = "release" if semantic == "release" else "relaxed"
    _stored4(ptr.to(tl.pointer_type(tl.int32)), val0, val1, val2, val3, order)


@nereid.jit
def st_v2_u32(ptr, val0, val1):
    p = ptr.to(tl.pointer_type(tl.uint32))
    st(p, val0)
    st(p + 1, val1)


@nereid.jit
def pack_b32_v2(val0, val1):
    low = val0.to(tl.uint32, bitcast=True).to(tl.uint64)
    return low | (val1.to(tl.uint32, bitcast=True).to(tl.uint64) << 32)


# ---- multimem: one address stands for that of every rank. remote_mc_ptr gives this
# rank's own, and an access goes to all ranks in turn.


@nereid.jit
def remote_mc_ptr(team, ptr):
    """Only of teams of all ranks: null for others, as where there are no such addresses."""
    address = tl.where(libshmem_device.team_n_pes(team) == dl.num_ranks(), ptr.to(tl.uint64, bitcast=True), 0)
    return address.to(tl.uint64).to(ptr.dtype, bitcast=True)


@nereid.jit
def multimem_st_b32(ptr, val0):
    p = ptr.to(tl.pointer_type(tl.int32))
    for rank in range(dl.num_ranks()):
        st(dl.symm_at(p, rank), val0, "sys")


@nereid.jit
def multimem_st_b64(ptr, val0):
    p = ptr.to(tl.pointer_type(tl.int64))
    for rank in range(dl.num_ranks()):
        st(dl.symm_at(p, rank), val0, "sys")


@nereid.jit
def multimem_st_p_b32(ptr, val, mask):
    if mask:
        multimem_st_b32(ptr, val)


@nereid.jit
def multimem_st_v2(ptr, val0, val1):
    p = ptr.to(tl.pointer_type(tl.int32))
    for rank in range(dl.num_ranks()):
        there = dl.symm_at(p, rank)
        st(there, val0, "sys")
        st(there + 1, val1, "sys")


@nereid.jit
def multimem_st_v4(ptr, val0, val1, val2, val3):
    p = ptr.to(tl.pointer_type(tl.int32))
    for rank in range(dl.num_ranks()):
        _stored4(dl.symm_at(p, rank), val0, val1, val2, val3, "relaxed")


@nereid.jit
def _sum_of_word(ptr, at: tl.constexpr):
    """The sum over ranks of the 32 bits at word `at`: one fp32, or two narrower floats, added in fp32."""
    element: tl.constexpr = ptr.dtype.element_ty
    if element == tl.float32:
        total = tl.cast(0.0, tl.float32)
        for rank in range(dl.num_ranks()):
            total += ld(dl.symm_at(ptr, rank) + at, "sys", "acquire")
        return total
    else:
        low = tl.cast(0.0, tl.float32)
        high = tl.cast(0.0, tl.float32)
        for rank in range(dl.num_ranks()):
            there = dl.symm_at(ptr, rank) + 2 * at
            low += ld(there, "sys", "acquire").to(tl.float32)
            high += ld(there + 1, "sys", "acquire").to(tl.float32)
        first = low.to(element).to(tl.uint16, bitcast=True).to(tl.uint32)
        second = high.to(element).to(tl.uint16, bitcast=True).to(tl.uint32)
        return (first | (second << 16)).to(tl.int32, bitcast=True)


@nereid.jit
def multimem_ld_reduce_v4(ptr, acc_dtype: tl.constexpr = None):
    return _sum_of_word(ptr, 0), _sum_of_word(ptr, 1), _sum_of_word(ptr, 2), _sum_of_word(ptr, 3)


@nereid.jit
def multimem_ld_reduce_p_v4(ptr, mask):
    v0, v1, v2, v3 = _sum_of_word(ptr, 0), _sum_of_word(ptr, 1), _sum_of_word(ptr, 2), _sum_of_word(ptr, 3)
    zero = tl.cast(0, v0.dtype)
    return tl.where(mask, v0, zero), tl.where(mask, v1, zero), tl.where(mask, v2, zero), tl.where(mask, v3, zero)


#: Instructions that have no counterpart: files that import one run until a kernel uses it.
_INSTRUCTIONS = "globaltimer_lo globaltimer_hi arrive_inc_asm elect_one_sync fence_async_shared"


def _refused(name: str) -> Any:
    def refuse(*_args: Any, **_kwargs: Any) -> Any:
        raise TypeError(f"language_extra.{name} is an instruction of NVIDIA's GPUs, for which Nereid has no counterpart")

    refuse.__name__ = refuse.__qualname__ = name
    return constexpr_function(refuse)


def names() -> dict[str, Any]:
    """The language's own names, and those written here."""
    builtin = {name: value for name, value in vars(language_extra).items() if hasattr(value, "__nereid_builtin__")}
    written = {name: value for name, value in globals().items()
               if isinstance(value, nereid.JITFunction) and not name.startswith("_") and name != "remote_mc_ptr"}
    return {**{name: _refused(name) for name in _INSTRUCTIONS.split()}, **builtin, **written}
