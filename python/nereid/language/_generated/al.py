# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by python/generate_language.py from the compiler's table: do not edit.
"""Functions of the Ascend extension."""

from nereid.language._device import DeviceConstant, device_function

__all__ = ["compile_hint", "debug_barrier", "flip", "multibuffer", "parallel", "sort", "sub_vec_id", "sub_vec_num"]


@device_function("al", "compile_hint")
def compile_hint(ptr, hint_name, hint_val=None):
    """A hint for the Ascend compiler; no effect on what the kernel computes."""


@device_function("al", "debug_barrier")
def debug_barrier(sync_mode=None):
    """Orders memory accesses of a vector function."""


@device_function("al", "flip")
def flip(ptr, dim=-1):
    """Reverses the order of elements along dim."""


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
