# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of the language under the name of upstream's module (``tl.core``), and
``extern``, which marks functions that call a device library."""

from nereid.language._constexpr import const, constexpr, constexpr_function
from nereid.language._generated.tl import *  # noqa: F401,F403
from nereid.language._generated.values import tensor, tensor_descriptor
from nereid.language._types import PUBLIC_DTYPES as _DTYPES
from nereid.language._types import block_type, dtype, pointer_type

globals().update(_DTYPES)


def extern(function):
    """Marks a function whose body is one call of ``core.extern_elementwise``: kernels
    call it as they call a jit function."""
    from nereid._launch.jit import jit

    return jit(function)
