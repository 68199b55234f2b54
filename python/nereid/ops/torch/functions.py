# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Custom ops ``torch.ops.nereid.*`` with shapes for tracing and derivatives, and the functions that
users call. Groups are named by strings in the ops (groups.py).

The derivatives of a function of all ranks' tensors: what each rank passes to backward is the derivative of its own
loss, and the sum of all ranks' losses is differentiated.
"""

from __future__ import annotations

from typing import Any

import torch

from nereid.ops import functional
from nereid.ops.torch.groups import name_of, named
from nereid.ops.torch.registration import custom_op

# ---- collectives


def _keep_group(ctx, inputs, output):
    ctx.group = inputs[1]


_all_gather = custom_op(
    "all_gather(Tensor x, str group) -> Tensor",
    lambda x, group: functional.all_gather(x.contiguous(), group=named(group)),
    lambda x, group: x.new_empty((x.shape[0] * named(group).size, *x.shape[1:])),
    _keep_group, lambda ctx, grad: (_reduce_scatter(grad, ctx.group), None))

_reduce_scatter = custom_op(
    "reduce_scatter(Tensor x, str group) -> Tensor",
    lambda x, group: functional.reduce_scatter(x.contiguous(), group=named(group)),
    lambda x, group: x.new_empty((x.shape[0] // named(group).size, *x.shape[1:])),
    _keep_group, lambda ctx, grad: (_all_gather(grad, ctx.group), None))

_all_to_all = custom_op(
    "all_to_all(Tensor x, str group) -> Tensor",
    lambda x, group: functional.all_to_all(x.contiguous(), group=named(group)),
    lambda x, group: x.new_empty(x.shape),
    _keep_group, lambda ctx, grad: (_all_to_all(grad, ctx.group), None))


def _keep_reduction(ctx, inputs, output):
    _, ctx.group, ctx.op, ctx.grad = inputs


def _all_reduce_backward(ctx, grad):
    if ctx.op == "avg":
        grad = grad / named(ctx.group).size
    elif ctx.op != "sum":
        raise NotImplementedError(f"all_reduce has no derivative for op={ctx.op!r}")
    return (grad if ctx.grad == "identity" else _all_reduce(grad, ctx.group, "sum", "sum")), None, None, None


_all_reduce = custom_op(
    "all_reduce(Tensor x, str group, str op, str grad) -> Tensor",
    lambda x, group, op, grad: functional.all_reduce(x.contiguous(), op=op, group=named(group)),
    lambda x, group, op, grad: x.new_empty(x.shape),
    _keep_reduction, _all_reduce_backward)

# ---- products


def _all_gather_gemm_shapes(a, b, group):
    rows = a.shape[0] * named(group).size
    return a.new_empty((rows, b.shape[1])), a.new_empty((rows, a.shape[1]))


def _keep_gathered(ctx, inputs, output):
    _, b, ctx.group = inputs
    ctx.save_for_backward(b, output[1])
    ctx.set_materialize_grads(False)  # a result that nobody used has no gradient, on all ranks alike


def _all_gather_gemm_backward(ctx, grad, grad_gathered):
    b, gathered = ctx.saved_tensors
    grad_a = grad_b = None
    if ctx.needs_input_grad[0]:
        if grad is not None:
            grad_a = _gemm_reduce_scatter(grad, b.t(), ctx.group)
        if grad_gathered is not None:
            part = _reduce_scatter(grad_gathered, ctx.group)
            grad_a = part if grad_a is None else grad_a + part
    if ctx.needs_input_grad[1] and grad is not None:
        grad_b = gathered.t() @ grad
    return grad_a, grad_b, None


_all_gather_gemm = custom_op(
    "all_gather_gemm(Tensor a, Tensor b, str group) -> (Tensor, Tensor)",
    lambda a, b, group: functional.all_gather_gemm(a, b, gathered=True, group=named(group)),
    _all_gather_gemm_shapes, _keep_gathered, _all_gather_gemm_backward)


def _keep_factors(ctx, inputs, output):
    a, b, ctx.group = inputs
    ctx.save_for_backward(a, b)


def _gemm_reduce_scatter_backward(ctx, grad):
    a, b = ctx.saved_tensors
    grad_a, gathered = _all_gather_gemm(grad, b.t(), ctx.group)
    return grad_a, a.t() @ gathered if ctx.needs_input_grad[1] else None, None


_gemm_reduce_scatter = custom_op(
    "gemm_reduce_scatter(Tensor a, Tensor b, str group) -> Tensor",
    lambda a, b, group: functional.gemm_reduce_scatter(a, b, group=named(group)),
    lambda a, b, group: a.new_empty((a.shape[0] // named(group).size, b.shape[1])),
    _keep_factors, _gemm_reduce_scatter_backward)

_gemm_all_reduce = custom_op(
    "gemm_all_reduce(Tensor a, Tensor b, str group) -> Tensor",
    lambda a, b, group: functional.gemm_all_reduce(a, b, group=named(group)),
    lambda a, b, group: a.new_empty((a.shape[0], b.shape[1])))

# ---- what users call


def all_gather(x: torch.Tensor, group: Any = None) -> torch.Tensor:
    """The rows of all ranks, (ranks * rows, ...). Backward: reduce_scatter."""
    return _all_gather(x, name_of(group))


def reduce_scatter(x: torch.Tensor, group: Any = None) -> torch.Tensor:
    """This rank's rows of the sum of x (ranks * rows, ...). Backward: all_gather."""
    return _reduce_scatter(x, name_of(group))


def all_reduce(x: torch.Tensor, group: Any = None, *, op: str = "sum", grad: str = "sum") -> torch.Tensor:
    """The reduction of x over all ranks. Backward of "sum" and "avg": all_reduce, or with ``grad="identity"``
    the gradient as it comes, for regions in which all ranks compute the same loss from the result."""
    if grad not in ("sum", "identity"):
        raise ValueError(f"all_reduce: grad is 'sum' or 'identity', not {grad!r}")
    return _all_reduce(x, name_of(group), op, grad)


def all_to_all(x: torch.Tensor, group: Any = None) -> torch.Tensor:
    """Block r of every rank's x (ranks, rows, columns). Backward: all_to_all."""
    return _all_to_all(x, name_of(group))


def all_gather_gemm(a: torch.Tensor, b: torch.Tensor, group: Any = None) -> torch.Tensor:
    """All ranks' rows of A times b. Backward: gemm_reduce_scatter for a, the gathered A for b."""
    return _all_gather_gemm(a, b, name_of(group))[0]


def gemm_reduce_scatter(a: torch.Tensor, b: torch.Tensor, group: Any = None) -> torch.Tensor:
    """This rank's rows of the sum over all ranks of a @ b. Backward: all_gather_gemm."""
    return _gemm_reduce_scatter(a, b, name_of(group))


def gemm_all_reduce(a: torch.Tensor, b: torch.Tensor, group: Any = None) -> torch.Tensor:
    """The sum over all ranks of a @ b, on all ranks. For inference: no derivative."""
    return _gemm_all_reduce(a, b, name_of(group))
