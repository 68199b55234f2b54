# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by python/generate_language.py from the compiler's table: do not edit.
"""Functions of the Ascend extension."""

from nereid.language._device import DeviceConstant, device_function

__all__ = ["compile_hint", "debug_barrier", "extract_slice", "flip", "get_element", "insert_slice", "multibuffer", "parallel", "sort", "sub_vec_id", "sub_vec_num", "sync_block_all", "sync_block_set", "sync_block_wait"]


@device_function("al", "compile_hint")
def compile_hint(ptr, hint_name, hint_val=None):
    """A hint for the Ascend compiler; no effect on what the kernel computes."""


@device_function("al", "debug_barrier")
def debug_barrier(sync_mode=None):
    """Orders memory accesses of a vector function."""


@device_function("al", "extract_slice")
def extract_slice(ful, offsets, sizes, strides):
    """The window of a block: element i along a dimension is ful[offset + i * stride].

    offsets: integers, also run-time ones. sizes (at least 1), strides (at least 0): known at compile time. One entry
    per dimension; the window must lie inside the block.
    """


@device_function("al", "flip")
def flip(ptr, dim=-1):
    """Reverses the order of elements along dim."""


@device_function("al", "get_element")
def get_element(src, indice):
    """One element of a block as a scalar. indice: one integer per dimension, also run-time ones."""


@device_function("al", "insert_slice")
def insert_slice(ful, sub, offsets, sizes, strides):
    """A copy of ful whose window is replaced by sub, a block of shape sizes; see extract_slice."""


@device_function("al", "multibuffer")
def multibuffer(src, size):
    """A hint that src is buffered more than once; no effect on what the kernel computes."""


@device_function("al", "parallel")
def parallel(arg1, arg2=None, step=None, num_stages=None, loop_unroll_factor=None, bind_sub_block=False):
    """Range of a loop whose rounds do not depend on each other."""


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
    """Not available: barrier among the cores of a launch."""


@device_function("al", "sync_block_set")
def sync_block_set(sender, receiver, event_id, sender_pipe=None, receiver_pipe=None):
    """Not available: flag between the cube and the vector cores of an AI core."""


@device_function("al", "sync_block_wait")
def sync_block_wait(sender, receiver, event_id, sender_pipe=None, receiver_pipe=None):
    """Not available: flag between the cube and the vector cores of an AI core."""
