# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of compile-time constants that kernels of other compilers' style use in other ways:
assigned again, annotated on run-time values, functions in tl.constexpr."""

import numpy as np
import pytest

import nereid
import nereid.language as tl


@tl.constexpr
def accumulator(dtype):
    return tl.float32 if dtype.is_floating() and dtype.primitive_bitwidth < 32 else dtype


@nereid.jit
def group_kernel(out_ptr, n, GROUP: tl.constexpr, STEP: tl.constexpr = 3):
    """A constexpr parameter becomes a run-time variable of the same name."""
    first = tl.program_id(0) * GROUP
    GROUP = min(n - first, GROUP)
    STEP = STEP + 1
    tl.store(out_ptr + tl.program_id(0), GROUP * STEP)


def test_parameter_assigned_again():
    out = np.zeros(4, np.int32)
    group_kernel[(4,)](out, 10, GROUP=3)
    np.testing.assert_array_equal(out, [12, 12, 12, 4])


@nereid.jit
def branch_kernel(out_ptr, n, SIZE: tl.constexpr):
    if n > 5:
        SIZE = n
    tl.store(out_ptr, SIZE)


def test_parameter_assigned_in_a_branch():
    for n, want in ((3, 7), (9, 9)):
        out = np.zeros(1, np.int32)
        branch_kernel[(1,)](out, n, SIZE=7)
        assert out[0] == want


@nereid.jit
def annotated_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    base: tl.constexpr = tl.program_id(0) * BLOCK
    loops: tl.constexpr = (n + BLOCK - 1) // BLOCK
    total = 0
    for i in range(loops):
        total += tl.load(x_ptr + i * BLOCK)
    tl.store(out_ptr + base, total)


def test_annotation_of_a_run_time_value():
    x, out = np.arange(12, dtype=np.int32), np.zeros(8, np.int32)
    annotated_kernel[(2,)](x, out, 10, BLOCK=4)
    np.testing.assert_array_equal(out, [12, 0, 0, 0, 12, 0, 0, 0])


def test_annotated_value_where_a_constant_is_needed():
    @nereid.jit
    def kernel(x_ptr, n):
        size: tl.constexpr = n
        tl.store(x_ptr + tl.arange(0, size), 1)

    with pytest.raises(nereid.CompilationError, match="tl.arange"):
        kernel[(1,)](np.zeros(4, np.int32), 4)


@nereid.jit
def function_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    dtype: tl.constexpr = accumulator(x_ptr.type.element_ty)
    x = tl.load(x_ptr + tl.arange(0, BLOCK)).to(dtype)
    tl.store(out_ptr, tl.sum(x))
    tl.store(out_ptr + 1, dtype == tl.float32)


@pytest.mark.parametrize("dtype, wide", [(np.float16, 1), (np.float64, 0), (np.int32, 0)])
def test_function_in_a_constexpr(dtype, wide):
    out = np.zeros(2, np.float64)
    function_kernel[(1,)](np.ones(8, dtype), out, BLOCK=8)
    np.testing.assert_array_equal(out, [8, wide])


@nereid.jit
def rounding_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(y_ptr + tl.arange(0, BLOCK), x.to(y_ptr.dtype.element_ty, fp_downcast_rounding="rtne"))


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_rounding_of_what_is_not_narrowed(dtype):
    x, y = np.linspace(0, 1, 8).astype(np.float32), np.zeros(8, dtype)
    rounding_kernel[(1,)](x, y, BLOCK=8)
    np.testing.assert_array_equal(y, x.astype(dtype))


@nereid.jit
def logical_kernel(x_ptr, y_ptr, and_ptr, or_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + offs), tl.load(y_ptr + offs)
    tl.store(and_ptr + offs, x.logical_and(y))
    tl.store(or_ptr + offs, x.logical_or(y))


@pytest.mark.parametrize("dtype", [np.int32, np.int8, np.float32, np.bool_])
def test_logical_methods(dtype):
    x, y = np.array([0, 0, 2, 3] * 2).astype(dtype), np.array([0, 5, 0, 4] * 2).astype(dtype)
    both, either = np.zeros(8, np.bool_), np.zeros(8, np.bool_)
    logical_kernel[(1,)](x, y, both, either, BLOCK=8)
    np.testing.assert_array_equal(both, np.logical_and(x, y))
    np.testing.assert_array_equal(either, np.logical_or(x, y))
