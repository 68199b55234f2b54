# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which reductions there are, and in which type they are made."""

from __future__ import annotations

import nereid
from nereid.ops.core.arrays import ACCUMULATORS, FLOATS

REDUCTIONS = ("sum", "max", "min", "avg")


def accumulator(operator: str, op: str, dtype: str) -> str:
    """The dtype in which elements of `dtype` are reduced."""
    if op not in REDUCTIONS:
        raise nereid.ArgumentError(f"{operator}: op is {', '.join(REDUCTIONS)}, not {op!r}")
    if op == "avg" and dtype not in FLOATS:
        raise nereid.ArgumentError(f'{operator}: op="avg" of {dtype} is no {dtype}; reduce with op="sum" and divide')
    return ACCUMULATORS.get(dtype, dtype)
