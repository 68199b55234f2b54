# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by python/generate_language.py from the compiler's table: do not edit.
"""Functions of the Ascend extension."""

from nereid.language._device import DeviceConstant, device_function

__all__ = ["CORE", "FixpipeDMAMode", "FixpipeDualDstMode", "IteratorType", "MODE", "PIPE", "SYNC_IN_VF", "ascend_address_space", "atan2", "cast", "compile_hint", "copy", "copy_from_ub_to_l1", "custom", "custom_semantic", "debug_barrier", "extract_slice", "finitef", "fixpipe", "flip", "gather_out_to_ub", "get_element", "index_put", "index_select_simd", "insert_slice", "int64", "isfinited", "multibuffer", "parallel", "scatter_ub_to_out", "scope", "sort", "sub_vec_id", "sub_vec_num", "sync_block_all", "sync_block_set", "sync_block_wait"]


@device_function("al", "atan2")
def atan2(y, x):
    """Angle of the point (x, y), for floating operands."""


@device_function("al", "cast")
def cast(input, dtype, fp_downcast_rounding=None, bitcast=False, overflow_mode=None):
    """tl.cast under the extension's name."""


@device_function("al", "compile_hint")
def compile_hint(ptr, hint_name, hint_val=None):
    """A hint for the Ascend compiler; no effect on what the kernel computes. Returns ptr.

    hint_name: a string; hint_val: None, a bool, an integer, a string or a tuple of integers, known at compile time.
    """


@device_function("al", "copy")
def copy(src, dst):
    """Only on Ascend: a copy between on-chip buffers."""


@device_function("al", "copy_from_ub_to_l1")
def copy_from_ub_to_l1(src, dst):
    """Only on Ascend: a copy between on-chip buffers."""


@device_function("al", "custom")
def custom(name, *args, out=None, **attributes):
    """Only on Ascend: a custom operation for Ascend."""


@device_function("al", "custom_semantic")
def custom_semantic(name, *args, out=None, **attributes):
    """Only on Ascend: a custom operation for Ascend."""


@device_function("al", "debug_barrier")
def debug_barrier(sync_mode=None):
    """Orders memory accesses of a vector function."""


@device_function("al", "extract_slice")
def extract_slice(ful, offsets, sizes, strides):
    """The window of a block: element i along a dimension is ful[offset + i * stride].

    offsets: integers, also run-time ones. sizes (at least 1), strides (at least 0): known at compile time. One entry
    per dimension; the window must lie inside the block.
    """


@device_function("al", "finitef")
def finitef(x):
    """int1: is it finite?"""


@device_function("al", "fixpipe")
def fixpipe(src, dst, dma_mode=None, dual_dst_mode=None):
    """Only on Ascend: a copy from the cube core's accumulator to a buffer."""


@device_function("al", "flip")
def flip(ptr, dim=-1):
    """Reverses the order of elements along dim."""


@device_function("al", "gather_out_to_ub")
def gather_out_to_ub(src, index, index_boundary, dim, src_stride, end_offset, start_offset, other=None):
    """Reads src at index along dim and at start_offset + j along the others; the result has index's shape.

    Indices outside 0 .. index_boundary - 1 and places from end_offset on read as other, or 0. The offsets and
    src_stride (in elements) have one entry for each dimension.
    """


@device_function("al", "get_element")
def get_element(src, indice):
    """One element of a block as a scalar. indice: one integer per dimension, also run-time ones."""


@device_function("al", "index_put")
def index_put(ptr, index, value, dim, index_boundary, end_offset, start_offset, dst_stride):
    """Writes the slices of value along dim to the places that index says: dst[.., index[i], .., start + j] =
    value[.., i, .., j]. Indices outside 0 .. index_boundary - 1 and places from end_offset on are skipped.

    value: rank 2 to 5; dim: not the last one; index: as many integers as value.shape[dim]. The offsets and
    dst_stride (in elements) have one entry for each dimension.
    """


@device_function("al", "index_select_simd")
def index_select_simd(src, dim, index, src_shape, src_offset, read_shape):
    """Reads whole slices of a dense tensor: result[.., i, .., j] = src[.., index[i], .., src_offset + j].

    dim: not the last one; read_shape[dim] is -1, src_offset[dim] is ignored. Elements outside src_shape in the
    other dimensions read as 0; indices must lie inside.
    """


@device_function("al", "insert_slice")
def insert_slice(ful, sub, offsets, sizes, strides):
    """A copy of ful whose window is replaced by sub, a block of shape sizes; see extract_slice."""


@device_function("al", "int64")
def int64(x):
    """A number as an int64 scalar."""


@device_function("al", "isfinited")
def isfinited(x):
    """int1: is it finite?"""


@device_function("al", "multibuffer")
def multibuffer(src, size):
    """A hint that src is buffered twice (size is 2); no effect on what the kernel computes. Returns src."""


@device_function("al", "parallel")
def parallel(arg1, arg2=None, step=None, num_stages=None, loop_unroll_factor=None, bind_sub_block=False):
    """Range of a loop whose rounds do not depend on each other."""


@device_function("al", "scatter_ub_to_out")
def scatter_ub_to_out(ptr, value, index, index_boundary, dim, dst_stride, end_offset, start_offset):
    """Writes value (of index's shape, or a number) where gather_out_to_ub would read; what it would not read is
    skipped.
    """


@device_function("al", "scope")
def scope(core_mode, noinline=True, disable_auto_sync=None):
    """`with al.scope(core_mode=...):` runs its body on the cores of one kind.

    core_mode: "vector", every vector core of the program; or "cube", the one cube core: what the body computes is
    known to all vector cores, and what it writes is written once. A body that writes memory hands no variables on.
    Other keywords are hints of other compilers: constants without effect.
    """


@device_function("al", "sort")
def sort(ptr, dim=-1, descending=False):
    """Sorts along dim, which must be the last dimension; any length."""


@device_function("al", "sub_vec_id")
def sub_vec_id():
    """Index of this vector core inside its AI core, an int64 scalar; 0 in a vector-only launch."""


@device_function("al", "sub_vec_num")
def sub_vec_num():
    """Vector cores per AI core of the device profile, known at compile time."""


@device_function("al", "sync_block_all")
def sync_block_all(mode, event_id):
    """Barrier among cores: "all_sub_vector" among the vector cores of one AI core (where the profile has one of
    them), "all_cube", "all_vector" and "all" among those of the whole launch (an error).
    event_id: 0 to 15.
    """


@device_function("al", "sync_block_set")
def sync_block_set(sender, receiver, event_id, sender_pipe=None, receiver_pipe=None):
    """Sets a flag from the cube core to the vector cores of its AI core, or the other way round.

    sender, receiver: "cube" and "vector". event_id: 0 to 15, or an integer scalar. A program runs its
    cube and vector code in the order of the text, so the flag is there for every later wait.
    """


@device_function("al", "sync_block_wait")
def sync_block_wait(sender, receiver, event_id, sender_pipe=None, receiver_pipe=None):
    """Waits for a flag of al.sync_block_set, which must stand above it in the text: below it, it would never come,
    and is an error.
    """


class CORE:
    """Constants of al.CORE."""

    VECTOR = DeviceConstant("al.CORE", "VECTOR", 0)
    CUBE = DeviceConstant("al.CORE", "CUBE", 1)
    CUBE_OR_VECTOR = DeviceConstant("al.CORE", "CUBE_OR_VECTOR", 2)
    CUBE_AND_VECTOR = DeviceConstant("al.CORE", "CUBE_AND_VECTOR", 3)


class PIPE:
    """Constants of al.PIPE."""

    PIPE_S = DeviceConstant("al.PIPE", "PIPE_S", 0)
    PIPE_V = DeviceConstant("al.PIPE", "PIPE_V", 1)
    PIPE_M = DeviceConstant("al.PIPE", "PIPE_M", 2)
    PIPE_MTE1 = DeviceConstant("al.PIPE", "PIPE_MTE1", 3)
    PIPE_MTE2 = DeviceConstant("al.PIPE", "PIPE_MTE2", 4)
    PIPE_MTE3 = DeviceConstant("al.PIPE", "PIPE_MTE3", 5)
    PIPE_ALL = DeviceConstant("al.PIPE", "PIPE_ALL", 6)
    PIPE_FIX = DeviceConstant("al.PIPE", "PIPE_FIX", 7)


class MODE:
    """Constants of al.MODE."""

    SIMD = DeviceConstant("al.MODE", "SIMD", 0)
    SIMT = DeviceConstant("al.MODE", "SIMT", 1)
    MIX = DeviceConstant("al.MODE", "MIX", 2)


class IteratorType:
    """Constants of al.IteratorType."""

    Parallel = DeviceConstant("al.IteratorType", "Parallel", 0)
    Broadcast = DeviceConstant("al.IteratorType", "Broadcast", 1)
    Transpose = DeviceConstant("al.IteratorType", "Transpose", 2)
    Reduction = DeviceConstant("al.IteratorType", "Reduction", 3)
    Interleave = DeviceConstant("al.IteratorType", "Interleave", 4)
    Deinterleave = DeviceConstant("al.IteratorType", "Deinterleave", 5)
    Inverse = DeviceConstant("al.IteratorType", "Inverse", 6)
    Pad = DeviceConstant("al.IteratorType", "Pad", 7)
    Concat = DeviceConstant("al.IteratorType", "Concat", 8)
    Gather = DeviceConstant("al.IteratorType", "Gather", 9)
    Cumulative = DeviceConstant("al.IteratorType", "Cumulative", 10)
    Opaque = DeviceConstant("al.IteratorType", "Opaque", 11)


class SYNC_IN_VF:
    """Constants of al.SYNC_IN_VF."""

    VV_ALL = DeviceConstant("al.SYNC_IN_VF", "VV_ALL", 0)
    VST_VLD = DeviceConstant("al.SYNC_IN_VF", "VST_VLD", 1)
    VLD_VST = DeviceConstant("al.SYNC_IN_VF", "VLD_VST", 2)
    VST_VST = DeviceConstant("al.SYNC_IN_VF", "VST_VST", 3)
    VS_ALL = DeviceConstant("al.SYNC_IN_VF", "VS_ALL", 4)
    VST_LD = DeviceConstant("al.SYNC_IN_VF", "VST_LD", 5)
    VLD_ST = DeviceConstant("al.SYNC_IN_VF", "VLD_ST", 6)
    VST_ST = DeviceConstant("al.SYNC_IN_VF", "VST_ST", 7)
    SV_ALL = DeviceConstant("al.SYNC_IN_VF", "SV_ALL", 8)
    ST_VLD = DeviceConstant("al.SYNC_IN_VF", "ST_VLD", 9)
    LD_VST = DeviceConstant("al.SYNC_IN_VF", "LD_VST", 10)
    ST_VST = DeviceConstant("al.SYNC_IN_VF", "ST_VST", 11)


class FixpipeDMAMode:
    """Constants of al.FixpipeDMAMode."""

    NZ2DN = DeviceConstant("al.FixpipeDMAMode", "NZ2DN", 0)
    NZ2ND = DeviceConstant("al.FixpipeDMAMode", "NZ2ND", 1)
    NZ2NZ = DeviceConstant("al.FixpipeDMAMode", "NZ2NZ", 2)


class FixpipeDualDstMode:
    """Constants of al.FixpipeDualDstMode."""

    NO_DUAL = DeviceConstant("al.FixpipeDualDstMode", "NO_DUAL", 0)
    COLUMN_SPLIT = DeviceConstant("al.FixpipeDualDstMode", "COLUMN_SPLIT", 1)
    ROW_SPLIT = DeviceConstant("al.FixpipeDualDstMode", "ROW_SPLIT", 2)


class ascend_address_space:
    """Constants of al.ascend_address_space."""

    UB = DeviceConstant("al.ascend_address_space", "UB", 0)
    L1 = DeviceConstant("al.ascend_address_space", "L1", 1)
    L0A = DeviceConstant("al.ascend_address_space", "L0A", 2)
    L0B = DeviceConstant("al.ascend_address_space", "L0B", 3)
    L0C = DeviceConstant("al.ascend_address_space", "L0C", 4)
