# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by python/generate_language.py from the compiler's table: do not edit.
"""Methods of values inside kernels."""

from nereid.language._device import DeviceConstant, device_function


class tensor:
    """A value inside a kernel: a scalar or a block. Its methods."""

    @device_function("tl", "abs")
    def abs(self):
        """Absolute value of each element; unsigned integers stay as they are."""

    @device_function("tl", "advance")
    def advance(self, offsets):
        """A block pointer moved by offsets, in elements, one per dimension. The result must be used."""

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

    @device_function("tl", "atomic_add")
    def atomic_add(self, val, mask=None, sem=None, scope=None):
        """Atomically adds val (integers, fp16, bf16, fp32, fp64).

        pointer: a pointer or block of pointers; val and mask are broadcast with it, val is cast to the element
        type. Lanes where mask is false do nothing and return an undefined value.
        sem: "acquire", "release", "acq_rel" (default) or "relaxed". scope: "gpu" (default), "npu",
        "cta" or "sys". Returns the old values; lanes of one address take their turns in row-major order.
        """

    @device_function("tl", "atomic_and")
    def atomic_and(self, val, mask=None, sem=None, scope=None):
        """Atomic bitwise and (integers).

        pointer: a pointer or block of pointers; val and mask are broadcast with it, val is cast to the element
        type. Lanes where mask is false do nothing and return an undefined value.
        sem: "acquire", "release", "acq_rel" (default) or "relaxed". scope: "gpu" (default), "npu",
        "cta" or "sys". Returns the old values; lanes of one address take their turns in row-major order.
        """

    @device_function("tl", "atomic_cas")
    def atomic_cas(self, cmp, val, sem=None, scope=None):
        """Atomic compare and swap: memory becomes val where it equals cmp (bit by bit). Returns the old values.

        pointer: a pointer or block of pointers to elements of 8 to 64 bits; sem and scope as of tl.atomic_add.
        """

    @device_function("tl", "atomic_max")
    def atomic_max(self, val, mask=None, sem=None, scope=None):
        """Atomically takes the greater of memory and val. Numbers win against NaN, +0 against -0.

        pointer: a pointer or block of pointers; val and mask are broadcast with it, val is cast to the element
        type. Lanes where mask is false do nothing and return an undefined value.
        sem: "acquire", "release", "acq_rel" (default) or "relaxed". scope: "gpu" (default), "npu",
        "cta" or "sys". Returns the old values; lanes of one address take their turns in row-major order.
        """

    @device_function("tl", "atomic_min")
    def atomic_min(self, val, mask=None, sem=None, scope=None):
        """Atomically takes the lesser of memory and val. Numbers win against NaN, -0 against +0.

        pointer: a pointer or block of pointers; val and mask are broadcast with it, val is cast to the element
        type. Lanes where mask is false do nothing and return an undefined value.
        sem: "acquire", "release", "acq_rel" (default) or "relaxed". scope: "gpu" (default), "npu",
        "cta" or "sys". Returns the old values; lanes of one address take their turns in row-major order.
        """

    @device_function("tl", "atomic_or")
    def atomic_or(self, val, mask=None, sem=None, scope=None):
        """Atomic bitwise or (integers).

        pointer: a pointer or block of pointers; val and mask are broadcast with it, val is cast to the element
        type. Lanes where mask is false do nothing and return an undefined value.
        sem: "acquire", "release", "acq_rel" (default) or "relaxed". scope: "gpu" (default), "npu",
        "cta" or "sys". Returns the old values; lanes of one address take their turns in row-major order.
        """

    @device_function("tl", "atomic_poll")
    def atomic_poll(self, expected_value, sem=None, scope=None, timeout_ns=None):
        """Spins until the 32- or 64-bit integer at pointer equals expected_value; returns int1, False when timeout_ns
        nanoseconds went by. sem defaults to "acquire".
        """

    @device_function("tl", "atomic_xchg")
    def atomic_xchg(self, val, mask=None, sem=None, scope=None):
        """Atomically replaces memory by val.

        pointer: a pointer or block of pointers; val and mask are broadcast with it, val is cast to the element
        type. Lanes where mask is false do nothing and return an undefined value.
        sem: "acquire", "release", "acq_rel" (default) or "relaxed". scope: "gpu" (default), "npu",
        "cta" or "sys". Returns the old values; lanes of one address take their turns in row-major order.
        """

    @device_function("tl", "atomic_xor")
    def atomic_xor(self, val, mask=None, sem=None, scope=None):
        """Atomic bitwise exclusive or (integers).

        pointer: a pointer or block of pointers; val and mask are broadcast with it, val is cast to the element
        type. Lanes where mask is false do nothing and return an undefined value.
        sem: "acquire", "release", "acq_rel" (default) or "relaxed". scope: "gpu" (default), "npu",
        "cta" or "sys". Returns the old values; lanes of one address take their turns in row-major order.
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

    @device_function("tl", "gather")
    def gather(self, index, axis):
        """Picks elements of src along axis: result[.., i, ..] = src[.., index[.., i, ..], ..].

        index: integers, of src's rank and of its size in all dimensions but axis; values from 0 to the size - 1.
        """

    @device_function("tl", "histogram")
    def histogram(self, num_bins, mask=None):
        """Counts of the integers 0 to num_bins - 1 in a 1-D block of 32-bit integers, as int32.

        mask: int1 block of the same shape; elements where it is false are not counted.
        """

    @device_function("tensor", "item")
    def item(self):
        """The element of a block of one element, as a scalar."""

    @device_function("tl", "load")
    def load(self, mask=None, other=None, boundary_check=(), padding_option="", cache_modifier="", eviction_policy="", volatile=False, care_padding=True):
        """Reads what pointer points to.

        pointer: a single pointer (gives a scalar), a block of pointers (gives a block), or a block pointer.
        mask: int1, broadcast with the pointers; lanes where it is false are not read and are `other`, or 0.
        other: broadcast and cast to the element type; needs a mask. care_padding=False leaves them undefined.
        boundary_check, padding_option ("", "zero", "nan"): only for block pointers, instead of mask and other;
        elements outside the tensor in the named dimensions are the padding, 0 by default.
        cache_modifier: "", ".ca", ".cg", ".cs", ".cv". eviction_policy: "", "evict_first", "evict_last".
        volatile: the load is not moved, merged or removed.
        """

    @device_function("tl", "log")
    def log(self):
        """Natural logarithm of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""

    @device_function("tl", "log2")
    def log2(self):
        """Logarithm to base 2 of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""

    @device_function("tensor", "logical_and")
    def logical_and(self, other):
        """Whether both are true, element by element; numbers are true unless they are 0."""

    @device_function("tensor", "logical_or")
    def logical_or(self, other):
        """Whether one of both is true, element by element; numbers are true unless they are 0."""

    @device_function("tl", "max")
    def max(self, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False, propagate_nan=None):
        """Greatest element along axis; axis None takes all elements and gives a scalar.

        bf16 and fp16 give fp32, integers narrower than 32 bits int32. NaNs lose against numbers unless propagate_nan.
        return_indices: also the int32 positions, as a pair; of equal elements the leftmost wins unless
        return_indices_tie_break_left is False. keep_dims: the reduced axis stays with size 1.
        """

    @device_function("tl", "max_constancy")
    def max_constancy(self, values):
        """Promises that the first values elements of each dimension are equal. Returns input."""

    @device_function("tl", "max_contiguous")
    def max_contiguous(self, values):
        """Promises that the first values elements of each dimension are consecutive numbers. Returns input."""

    @device_function("tl", "min")
    def min(self, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False, propagate_nan=None):
        """Least element along axis; axis None takes all elements and gives a scalar.

        bf16 and fp16 give fp32, integers narrower than 32 bits int32. NaNs lose against numbers unless propagate_nan.
        return_indices: also the int32 positions, as a pair; of equal elements the leftmost wins unless
        return_indices_tie_break_left is False. keep_dims: the reduced axis stays with size 1.
        """

    @device_function("tl", "multiple_of")
    def multiple_of(self, values):
        """Promises that the elements (of a block: the first of each run of contiguous ones) are multiples of values, one
        per dimension. Returns input.
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
        n of the same types; it must be associative and commutative, as elements are combined in any order. Partial
        results of floats narrower than fp32 are fp32, rounded once at the end. axis None
        combines all elements. keep_dims keeps the axis with
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

    @device_function("tl", "sort")
    def sort(self, dim=None, descending=False):
        """Sorts along dim, which must be the last dimension; any length. NaN counts as greater than all numbers
        and comes out as one positive NaN; -0 stands below 0.
        """

    @device_function("tl", "split")
    def split(self):
        """Inverse of join: the two halves of the last dimension, which must be of size 2."""

    @device_function("tl", "sqrt")
    def sqrt(self):
        """Square root of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""

    @device_function("tl", "sqrt_rn")
    def sqrt_rn(self):
        """Square root rounded to nearest even of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""

    @device_function("tl", "store")
    def store(self, value, mask=None, boundary_check=(), cache_modifier="", eviction_policy=""):
        """Writes value through pointer.

        pointer: a single pointer, a block of pointers, or a block pointer. value and mask are broadcast to its shape,
        value is cast to the element type. Lanes where mask is false are not written. boundary_check: only for block
        pointers; elements outside the tensor in the named dimensions are dropped.
        cache_modifier: "", ".wb", ".cg", ".cs", ".wt". eviction_policy: "", "evict_first", "evict_last".
        """

    @device_function("tl", "sum")
    def sum(self, axis=None, keep_dims=False, dtype=None):
        """Sum along axis; axis None sums everything to a scalar.

        Integers narrower than 32 bits are summed as int32 or uint32; floats keep their dtype, fp16 and bf16 are summed
        in fp32 and rounded once. dtype overrides.
        """

    @device_function("tensor", "to")
    def to(self, dtype, fp_downcast_rounding=None, bitcast=False, overflow_mode=None):
        """x.to(dtype): see tl.cast."""

    @device_function("tl", "topk")
    def topk(self, k, dim=None, descending=True):
        """The k greatest elements along the last dimension, greatest first (descending=False: the k least, least first)."""

    @device_function("tl", "trans")
    def trans(self, *dims):
        """Like permute; without dims the last two dimensions are swapped."""

    @device_function("tl", "view")
    def view(self, *shape):
        """Old name of reshape; keeps the order of elements."""

    @device_function("tl", "xor_sum")
    def xor_sum(self, axis=None, keep_dims=False):
        """Exclusive or of all elements along axis; integers only."""


class tensor_descriptor:
    """A tensor descriptor inside a kernel. Its methods."""

    @device_function("descriptor", "atomic_add")
    def atomic_add(self, offsets, value):
        """Atomically combines value into the block at offsets; elements outside the tensor are dropped."""

    @device_function("descriptor", "atomic_and")
    def atomic_and(self, offsets, value):
        """Atomically combines value into the block at offsets; elements outside the tensor are dropped."""

    @device_function("descriptor", "atomic_max")
    def atomic_max(self, offsets, value):
        """Atomically combines value into the block at offsets; elements outside the tensor are dropped."""

    @device_function("descriptor", "atomic_min")
    def atomic_min(self, offsets, value):
        """Atomically combines value into the block at offsets; elements outside the tensor are dropped."""

    @device_function("descriptor", "atomic_or")
    def atomic_or(self, offsets, value):
        """Atomically combines value into the block at offsets; elements outside the tensor are dropped."""

    @device_function("descriptor", "atomic_xor")
    def atomic_xor(self, offsets, value):
        """Atomically combines value into the block at offsets; elements outside the tensor are dropped."""

    @device_function("descriptor", "gather")
    def gather(self, x_offsets, y_offset):
        """Rows x_offsets[i] from column y_offset on, for descriptors with blocks of one row."""

    @device_function("descriptor", "load")
    def load(self, offsets):
        """Reads the block at offsets (integers, one per dimension)."""

    @device_function("descriptor", "scatter")
    def scatter(self, value, x_offsets, y_offset):
        """Writes row i of value to row x_offsets[i] from column y_offset on, for descriptors with blocks of one row."""

    @device_function("descriptor", "store")
    def store(self, offsets, value):
        """Writes value, broadcast and cast, to the block at offsets; elements outside the tensor are dropped."""
