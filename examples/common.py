# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What several examples share: the order of tiles, error bounds and reports."""

from __future__ import annotations

import numpy as np

import nereid
import nereid.language as tl

#: Relative error of one rounding to each type that the examples compute in.
UNIT_ROUNDOFF = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}


@nereid.jit
def grouped_tile(task, num_m, num_n, GROUP_M: tl.constexpr):
    """Row and column of tile `task` when GROUP_M rows of tiles are walked column by column.

    Neighbouring tasks then share rows of A and columns of B, so that both stay
    in the cache.
    """
    tasks_per_group = GROUP_M * num_n
    group = task // tasks_per_group
    first_m = group * GROUP_M
    rows = min(num_m - first_m, GROUP_M)
    within = task % tasks_per_group
    return first_m + within % rows, within // rows


def matmul_bound(a: np.ndarray, b: np.ndarray, out: np.ndarray, out_dtype) -> np.ndarray:
    """Largest error, element by element, of `a @ b` computed as the kernels do.

    `a` (M, K) and `b` (K, N) are the float64 values of the inputs and `out` their
    exact product. Products of two fp16 numbers are exact in fp32; the K additions
    (and, for fp32 inputs, the K products) each round once, whatever their order;
    the result is rounded once more to `out_dtype`.
    """
    k = a.shape[1]
    magnitude = np.abs(a) @ np.abs(b)
    rounding = UNIT_ROUNDOFF[np.dtype(out_dtype).name]
    smallest = float(np.finfo(np.float16).smallest_subnormal) if np.dtype(out_dtype).itemsize == 2 else 0.0
    return (k + 1) * UNIT_ROUNDOFF["float32"] * magnitude + rounding * np.abs(out) + smallest + 1e-30


def check(name: str, got, want: np.ndarray, bound) -> float:
    """Raises AssertionError unless |got - want| <= bound everywhere; returns the largest error."""
    error = np.abs(np.asarray(got).astype(np.float64) - want)
    bound = np.broadcast_to(bound, error.shape)
    bad = ~(error <= bound)  # also true for NaN
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        raise AssertionError(
            f"rank {nereid.rank()}: {name}: {int(bad.sum())} of {error.size} elements are off, the first at {at}: "
            f"got {np.asarray(got)[at]}, want {want[at]}, allowed error {bound[at]:.3g}")
    return float(error.max(initial=0.0))


def say(text: str) -> None:
    """Prints on rank 0 only."""
    if nereid.rank() == 0:
        print(text, flush=True)
