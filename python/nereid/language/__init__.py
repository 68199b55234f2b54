# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernel language (``import nereid.language as tl``).

Functions here can only be called inside functions marked with ``@nereid.jit``;
dtypes and ``constexpr`` are ordinary Python objects.
"""

from nereid.language._constexpr import const, constexpr, constexpr_function
from nereid.language._generated.al import (  # names that older kernels spell tl.x
    compile_hint,
    extract_slice,
    get_element,
    insert_slice,
    multibuffer,
    parallel,
    sub_vec_id,
    sub_vec_num,
    sync_block_all,
    sync_block_set,
    sync_block_wait,
)
from nereid.language._generated.tl import *  # noqa: F401,F403
from nereid.language._generated.values import tensor, tensor_descriptor
from nereid.language._types import PUBLIC_DTYPES as _DTYPES
from nereid.language._types import block_type, dtype, pointer_type

globals().update(_DTYPES)
pi32_t = pointer_type(_DTYPES["int32"])

from nereid.language import core, extra, math, standard, target_info  # noqa: E402
