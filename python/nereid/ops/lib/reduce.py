# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reductions: sum, max, min, avg. All go through the ranks in order."""

import nereid
import nereid.language as tl


@nereid.jit
def combine(total, part, OP: tl.constexpr):
    """The reduction of both; a NaN in either is in the result."""
    if OP == "max":
        more = tl.maximum(total, part, propagate_nan=tl.PropagateNan.ALL)
    elif OP == "min":
        more = tl.minimum(total, part, propagate_nan=tl.PropagateNan.ALL)
    else:
        more = total + part
    return more


@nereid.jit
def finish(total, n, OP: tl.constexpr):
    """The result from the sum over all ranks."""
    if OP == "avg":
        total = total / n
    return total


@nereid.jit
def store_result(out_ptr, result, offs, mask, extra_ptr, EPILOGUE: tl.constexpr, ACC: tl.constexpr):
    """Writes elements `offs` of the result; EPILOGUE, a device function or None, makes of them what is written."""
    if EPILOGUE is not None:
        result = EPILOGUE(result.to(ACC), offs, mask, extra_ptr).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + offs, result, mask=mask)
