# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators for torch: custom ops with autograd, process groups.

    import nereid.ops.torch as nops
    nops.group(process_group)                       # once for each group, on all its members
    c = nops.all_gather_gemm(a, b, process_group)   # differentiable; torch.ops.nereid.all_gather_gemm
"""

import torch as _torch

if not hasattr(_torch, "library") or not hasattr(_torch._C, "_AutoDispatchBelowAutograd"):
    raise ImportError(f"nereid.ops.torch needs torch 1.13 or newer, this is {_torch.__version__}; operators themselves "
                      "(nereid.ops.AllReduce(...)(tensor)) take tensors of any torch")

from nereid.ops.torch.functions import (
    all_gather, all_gather_gemm, all_reduce, all_to_all, gemm_all_reduce, gemm_reduce_scatter, reduce_scatter
)
from nereid.ops.torch.groups import group

__all__ = [
    "all_gather", "all_gather_gemm", "all_reduce", "all_to_all", "gemm_all_reduce", "gemm_reduce_scatter", "group",
    "reduce_scatter",
]
