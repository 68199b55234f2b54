# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators, by folder. A new one is one folder and one line here."""

from __future__ import annotations

import importlib
from typing import Iterator

from nereid.ops.core.conformance import Case

#: folder of nereid.ops -> class
OPERATORS = {
    "all_gather": "AllGather",
    "reduce_scatter": "ReduceScatter",
    "all_reduce": "AllReduce",
    "all_to_all": "AllToAll",
    "all_gather_gemm": "AllGatherGemm",
    "gemm_reduce_scatter": "GemmReduceScatter",
    "gemm_all_reduce": "GemmAllReduce",
    "channel": "Channel",
    "flash_decode": "FlashDecode",
}


def cases(folder: str) -> Iterator[Case]:
    """What its reference.py tests."""
    return importlib.import_module(f"nereid.ops.{folder}.reference").cases()
