# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by python/generate_language.py from the compiler's table: do not edit.
"""Methods of values inside kernels."""

from nereid.language._device import DeviceConstant, device_function


class tensor:
    """A value inside a kernel: a scalar or a block. Its methods."""

    @device_function("tl", "abs")
    def abs(self):
        """Absolute value of each element; unsigned integers stay as they are."""

    @device_function("tl", "argmax")
    def argmax(self, axis, tie_break_left=True, keep_dims=False):
        """int32 position of the greatest element along axis; of equal ones the leftmost unless tie_break_left is False."""

    @device_function("tl", "argmin")
    def argmin(self, axis, tie_break_left=True, keep_dims=False):
        """int32 position of the least element along axis; of equal ones the leftmost unless tie_break_left is False."""

    @device_function("tl", "associative_scan")
    def associative_scan(self, axis, combine_fn, reverse=False):
        """Inclusive prefix combination along axis with a jit function; shapes stay.

        input and combine_fn as of tl.reduce. reverse: from the last element to the first.
        """

    @device_function("tl", "broadcast")
    def broadcast(self, other):
        """Brings two values to their common shape and returns both.

        Missing dimensions are added on the left; sizes must be equal or 1.
        """

    @device_function("tl", "broadcast_to")
    def broadcast_to(self, *shape):
        """Repeats dimensions of size 1 until input has the given shape, which must be of the same rank. A scalar is
        repeated everywhere.
        """

    @device_function("tl", "cast")
    def cast(self, dtype, fp_downcast_rounding=None, bitcast=False, overflow_mode=None):
        """Converts input to another dtype, keeping its shape.

        Floats to integers truncate, anything to int1 is `!= 0`, narrowing floats round to nearest even.
        fp_downcast_rounding: "rtne" or "rtz", only where a floating type is narrowed.
        bitcast: reinterpret the bits; widths must be equal.
        overflow_mode: "trunc" (default) or "saturate" for integer results; NaN saturates to 0.
        """

    @device_function("tl", "cdiv")
    def cdiv(self, div):
        """Quotient rounded up: (x + div - 1) // div for integers, ceil(x / div) for floats. Folded for constants."""

    @device_function("tl", "ceil")
    def ceil(self):
        """Least integer not below x, as a float (integers stay) of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""

    @device_function("tl", "cos")
    def cos(self):
        """Cosine of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""

    @device_function("tl", "cumprod")
    def cumprod(self, axis=0, reverse=False):
        """Cumulative product along axis. bf16 gives fp32."""

    @device_function("tl", "cumsum")
    def cumsum(self, axis=0, reverse=False, dtype=None):
        """Cumulative sum along axis. bf16 gives fp32, integers narrower than 32 bits int32 or uint32; dtype overrides."""

    @device_function("tl", "erf")
    def erf(self):
        """Error function of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""

    @device_function("tl", "exp")
    def exp(self):
        """e**x of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""

    @device_function("tl", "exp2")
    def exp2(self):
        """2**x of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""

    @device_function("tl", "expand_dims")
    def expand_dims(self, axis):
        """Inserts dimensions of size 1.

        axis: an integer or a tuple of them, counted in the result; negative from the end.
        """

    @device_function("tl", "flip")
    def flip(self, dim=None):
        """Reverses the order of elements along dim (default: the last one)."""

    @device_function("tl", "floor")
    def floor(self):
        """Greatest integer not above x, as a float (integers stay) of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""

    @device_function("tl", "histogram")
    def histogram(self, num_bins, mask=None):
        """Counts of the integers 0 to num_bins - 1 in a 1-D block of 32-bit integers, as int32.

        mask: int1 block of the same shape; elements where it is false are not counted.
        """

    @device_function("tensor", "item")
    def item(self):
        """The element of a block of one element, as a scalar."""

    @device_function("tl", "log")
    def log(self):
        """Natural logarithm of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""

    @device_function("tl", "log2")
    def log2(self):
        """Logarithm to base 2 of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""

    @device_function("tl", "max")
    def max(self, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False, propagate_nan=None):
        """Greatest element along axis; axis None takes all elements and gives a scalar.

        bf16 and fp16 give fp32, integers narrower than 32 bits int32. NaNs lose against numbers unless propagate_nan.
        return_indices: also the int32 positions, as a pair; of equal elements the leftmost wins unless
        return_indices_tie_break_left is False. keep_dims: the reduced axis stays with size 1.
        """

    @device_function("tl", "min")
    def min(self, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False, propagate_nan=None):
        """Least element along axis; axis None takes all elements and gives a scalar.

        bf16 and fp16 give fp32, integers narrower than 32 bits int32. NaNs lose against numbers unless propagate_nan.
        return_indices: also the int32 positions, as a pair; of equal elements the leftmost wins unless
        return_indices_tie_break_left is False. keep_dims: the reduced axis stays with size 1.
        """

    @device_function("tl", "permute")
    def permute(self, *dims):
        """Reorders dimensions: dimension i of the result is dimension dims[i] of input. Names each dimension once."""

    @device_function("tl", "ravel")
    def ravel(self, can_reorder=False):
        """All elements in row-major order as a 1-D block."""

    @device_function("tl", "reduce")
    def reduce(self, axis, combine_fn, keep_dims=False):
        """Combines elements along axis with a jit function.

        input: a block, or a tuple of n blocks of one shape. combine_fn takes 2n scalars (n left, n right) and returns
        n of the same types; it must be associative. axis None combines all elements. keep_dims keeps the axis with
        size 1. Returns a block or scalar, or a tuple of n.
        """

    @device_function("tl", "reduce_or")
    def reduce_or(self, axis, keep_dims=False):
        """Bitwise or of all elements along axis; integers only."""

    @device_function("tl", "reshape")
    def reshape(self, *shape, can_reorder=False):
        """Same elements in row-major order in another shape; the number of elements must be equal.

        can_reorder: allows the compiler any order of the elements. An empty shape gives a scalar.
        """

    @device_function("tl", "rsqrt")
    def rsqrt(self):
        """1 / sqrt(x) of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""

    @device_function("tl", "sigmoid")
    def sigmoid(self):
        """1 / (1 + exp(-x)) for floating x, in x's dtype; computed in fp32 or fp64."""

    @device_function("tl", "sin")
    def sin(self):
        """Sine of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""

    @device_function("tl", "softmax")
    def softmax(self, dim=None, keep_dims=False, ieee_rounding=False):
        """exp(x - max) / sum(exp(x - max)) along dim (default 0), in x's dtype and shape; computed in fp32 or fp64."""

    @device_function("tl", "split")
    def split(self):
        """Inverse of join: the two halves of the last dimension, which must be of size 2."""

    @device_function("tl", "sqrt")
    def sqrt(self):
        """Square root of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""

    @device_function("tl", "sqrt_rn")
    def sqrt_rn(self):
        """Square root rounded to nearest even of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""

    @device_function("tl", "sum")
    def sum(self, axis=None, keep_dims=False, dtype=None):
        """Sum along axis; axis None sums everything to a scalar.

        Integers narrower than 32 bits are summed as int32 or uint32, floats in their own dtype; dtype overrides.
        """

    @device_function("tensor", "to")
    def to(self, dtype, fp_downcast_rounding=None, bitcast=False, overflow_mode=None):
        """x.to(dtype): see tl.cast."""

    @device_function("tl", "trans")
    def trans(self, *dims):
        """Like permute; without dims the last two dimensions are swapped."""

    @device_function("tl", "view")
    def view(self, *shape):
        """Old name of reshape; keeps the order of elements."""

    @device_function("tl", "xor_sum")
    def xor_sum(self, axis=None, keep_dims=False):
        """Exclusive or of all elements along axis; integers only."""
