# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The fused products by the names and signatures of ``torch.ops.symm_mem``, for code that was written for those.

    from nereid.ops.torch import symm_mem
    a, (q, k, v) = symm_mem.fused_all_gather_matmul(shard, [wq, wk, wv], gather_dim=1, group_name=group.group_name)

The first matrix of `Bs` is multiplied while A is gathered, the others by torch from the gathered A. Any dimension may be
gathered or scattered. The last one cannot overlap: of A it is what products sum over, of the result it is B's.
All have derivatives. Scaled (fp8) forms are refused: operators have no such dtype.
"""

from __future__ import annotations

from typing import Any, Sequence

import torch

import nereid
from nereid.ops.torch.functions import _all_gather, _all_gather_gemm, _gemm_reduce_scatter, _reduce_scatter
from nereid.ops.torch.groups import named


def fused_all_gather_matmul(A_shard: torch.Tensor, Bs: Sequence[torch.Tensor], gather_dim: int, group_name: str, *,
                            return_A: bool = True) -> tuple[torch.Tensor | None, list[torch.Tensor]]:
    """(A, [A @ B for B in Bs]) with A (..., K), the shards of all ranks one after the other along `gather_dim`; each
    B is (K, N). None in place of A without `return_A`. ArgumentError on all ranks that pass something else."""
    what = "fused_all_gather_matmul"
    dim = _dimension(what, A_shard, gather_dim, "gather_dim")
    if not Bs:
        raise nereid.ArgumentError(f"{what}: Bs is empty, there is nothing to multiply by")
    for B in Bs:
        _factor(what, A_shard, B)
    first = A_shard.movedim(dim, 0)
    if dim == A_shard.dim() - 1:
        A = _all_gather(first, group_name).movedim(0, dim)
        products = [A @ B for B in Bs]
    else:
        product, gathered = _all_gather_gemm(first.reshape(-1, first.shape[-1]), Bs[0], group_name)
        shape = (first.shape[0] * named(group_name).size, *first.shape[1:-1])
        A = gathered.reshape(*shape, first.shape[-1]).movedim(0, dim)
        products = [product.reshape(*shape, product.shape[-1]).movedim(0, dim), *[A @ B for B in Bs[1:]]]
    return A if return_A else None, products


def fused_matmul_reduce_scatter(A: torch.Tensor, B: torch.Tensor, reduce_op: str, scatter_dim: int,
                                group_name: str) -> torch.Tensor:
    """This rank's part along `scatter_dim` of the sum ("avg": mean) over all ranks of A @ B, with A (..., K), B (K, N).
    ArgumentError on all ranks that pass something else."""
    what = "fused_matmul_reduce_scatter"
    if reduce_op not in ("sum", "avg"):
        raise nereid.ArgumentError(f"{what}: reduce_op is sum or avg, not {reduce_op!r}")
    dim, ranks = _dimension(what, A, scatter_dim, "scatter_dim"), named(group_name).size
    _factor(what, A, B)
    last = dim == A.dim() - 1
    size = B.shape[1] if last else A.shape[dim]
    if size % ranks:
        raise nereid.ArgumentError(f"{what}: dimension {scatter_dim} of the product has {size} elements, which {ranks} ranks "
                                   "cannot share equally")
    if last:
        part = _reduce_scatter((A @ B).movedim(-1, 0), group_name).movedim(0, -1)
    else:
        first = A.movedim(dim, 0)
        part = _gemm_reduce_scatter(first.reshape(-1, first.shape[-1]), B, group_name)
        part = part.reshape(size // ranks, *first.shape[1:-1], B.shape[1]).movedim(0, dim)
    return part / ranks if reduce_op == "avg" else part


def fused_all_gather_scaled_matmul(*arguments: Any, **options: Any) -> Any:
    raise nereid.ArgumentError("fused_all_gather_scaled_matmul: operators have no fp8; scale A and B into bfloat16 and call "
                               "fused_all_gather_matmul")


def fused_scaled_matmul_reduce_scatter(*arguments: Any, **options: Any) -> Any:
    raise nereid.ArgumentError("fused_scaled_matmul_reduce_scatter: operators have no fp8; scale A and B into bfloat16 and call "
                               "fused_matmul_reduce_scatter")


def _dimension(what: str, A: torch.Tensor, dim: int, name: str) -> int:
    if A.dim() < 2:
        raise nereid.ArgumentError(f"{what}: A needs two dimensions or more, its shape is {tuple(A.shape)}")
    if not -A.dim() <= dim < A.dim():
        raise nereid.ArgumentError(f"{what}: {name}={dim} is no dimension of A, whose shape is {tuple(A.shape)}")
    return dim % A.dim()


def _factor(what: str, A: torch.Tensor, B: torch.Tensor) -> None:
    if B.dim() != 2:
        raise nereid.ArgumentError(f"{what}: B is a matrix, but its shape is {tuple(B.shape)}")
