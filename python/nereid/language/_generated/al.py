# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by python/generate_language.py from the compiler's table: do not edit.
"""Functions of the Ascend extension."""

from nereid.language._device import DeviceConstant, device_function

__all__ = ["flip", "parallel"]


@device_function("al", "flip")
def flip(ptr, dim=-1):
    """Reverses the order of elements along dim."""


@device_function("al", "parallel")
def parallel(arg1, arg2=None, step=None, num_stages=None, loop_unroll_factor=None, bind_sub_block=False):
    """Range of a loop whose rounds do not depend on each other."""
