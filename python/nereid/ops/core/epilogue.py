# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an operator does to its result before it writes it.

An epilogue is a device function (``@nereid.jit``), inlined into the operator's kernel. It gets the result in the type
in which sums are made and returns what is written, converted to the type of the result:

    (value, offs, mask, extra_ptr) -> value                       of AllReduce: `offs` are the numbers of the elements
    (tile, rows, columns, mask_m, mask_n, extra_ptr) -> tile      of products: `rows` (M, 1), `columns` (1, N) of the result

`extra_ptr` is the array that a call passes as ``extra=``: a bias, a residual; None without one. What lies outside of
the masks is not written, and not to be loaded either.

    @nereid.jit
    def add_bias_and_relu(tile, rows, columns, mask_m, mask_n, bias_ptr):
        return tl.maximum(tile + tl.load(bias_ptr + columns, mask=mask_n, other=0.0), 0.0)
"""

from __future__ import annotations

from typing import Any

import nereid


def checked_epilogue(operator: str, epilogue: Any) -> Any:
    if epilogue is not None and not isinstance(epilogue, nereid.JITFunction):
        raise nereid.ArgumentError(f"{operator}: epilogue is a function marked with @nereid.jit, or None, not {epilogue!r}")
    return epilogue


def named(epilogue: Any) -> str:
    """Part of the text on which ranks agree."""
    return "" if epilogue is None else f" epilogue={epilogue.__name__}"
