# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collective and fused operators, written in the kernel language.

    import nereid.ops
    op = nereid.ops.AllReduce(1 << 20, "float32")     # all ranks: makes the symmetric memory
    y = op(x)                                         # no allocation but y, no barrier, no reset

docs/operators.md says what there is and which protocols they follow. Each operator is a folder:
`kernel.py` has the kernels and nothing else, and can be copied out and changed.
"""

from nereid.ops.all_gather.op import AllGather
from nereid.ops.all_gather_gemm.op import AllGatherGemm
from nereid.ops.all_reduce.op import AllReduce
from nereid.ops.all_to_all.op import AllToAll
from nereid.ops.channel.op import Channel
from nereid.ops.core.group import Group
from nereid.ops.flash_decode.op import FlashDecode
from nereid.ops.functional import (
    all_gather, all_gather_gemm, all_reduce, all_to_all, gemm_all_reduce, gemm_reduce_scatter, reduce_scatter
)
from nereid.ops.gemm_all_reduce.op import GemmAllReduce
from nereid.ops.gemm_reduce_scatter.op import GemmReduceScatter
from nereid.ops.reduce_scatter.op import ReduceScatter

__all__ = [
    "AllGather", "AllGatherGemm", "AllReduce", "AllToAll", "Channel", "FlashDecode", "GemmAllReduce", "GemmReduceScatter", "Group", "ReduceScatter",
    "all_gather", "all_gather_gemm", "all_reduce", "all_to_all", "gemm_all_reduce", "gemm_reduce_scatter", "reduce_scatter",
]
