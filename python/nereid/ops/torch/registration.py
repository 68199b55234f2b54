# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Custom ops of the namespace ``torch.ops.nereid``: a kernel for tensors on CPU or GPU, what tracing needs, a derivative.

torch 2.4 and newer have functions for each of these. Older ones (from 1.13 on) have the dispatcher beneath them, which
takes the same three: kernels for the keys CPU and CUDA, Meta and Autograd. Whether this rank's kernels can reach a
tensor is for the operators to say."""

from __future__ import annotations

from typing import Any, Callable

import torch

_library = torch.library.Library("nereid", "DEF")


def custom_op(schema: str, kernel: Callable, shapes: Callable, setup: Callable | None = None,
              backward: Callable | None = None) -> Any:
    """Registers ``nereid::schema`` and returns it, as a function.

    `kernel` computes it; `shapes` takes the same arguments and returns empty tensors like its results.
    ``setup(ctx, inputs, output)`` keeps what ``backward(ctx, *gradients)`` needs, which returns a gradient, or None,
    for each input. An op without `backward` has no derivative: asking for one is a NotImplementedError."""
    name = schema[:schema.index("(")]
    _library.define(schema)
    op = getattr(torch.ops.nereid, name).default
    for device in ("CPU", "CUDA"):
        _library.impl(name, kernel, device)
    if hasattr(torch.library, "register_autograd"):
        torch.library.register_fake(f"nereid::{name}", shapes, lib=_library)
        torch.library.register_autograd(f"nereid::{name}", backward or _without(name), setup_context=setup, lib=_library)
    else:
        _library.impl(name, shapes, "Meta")
        _library.impl(name, _differentiable(op, setup, backward or _without(name)), "Autograd")
    return op


def _without(name: str) -> Callable:
    def backward(ctx: Any, *gradients: Any) -> None:
        raise NotImplementedError(f"{name} has no derivative")

    return backward


def _differentiable(op: Any, setup: Callable | None, backward: Callable) -> Callable:
    """The op's kernel for the key Autograd, where torch does not make one."""

    class Differentiable(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *inputs):
            below = torch._C._AutoDispatchBelowAutograd()  # from here until `del`, in all of these torches
            try:
                output = op(*inputs)
            finally:
                del below
            if setup is not None:
                setup(ctx, inputs, output)
            return output

        @staticmethod
        def backward(ctx, *gradients):
            return backward(ctx, *gradients)

    return Differentiable.apply
