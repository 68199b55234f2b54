# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by python/generate_language.py from the compiler's table: do not edit.
"""Functions of nereid.language."""

from nereid.language._device import DeviceConstant, device_function

__all__ = ["PropagateNan", "TRITON_MAX_TENSOR_NUMEL", "abs", "add", "arange", "argmax", "argmin", "associative_scan", "broadcast", "broadcast_to", "cast", "cat", "cdiv", "ceil", "clamp", "condition", "cos", "cumprod", "cumsum", "div_rn", "erf", "exp", "exp2", "expand_dims", "fdiv", "flip", "floor", "fma", "full", "histogram", "interleave", "join", "log", "log2", "max", "maximum", "min", "minimum", "mul", "num_programs", "permute", "program_id", "range", "ravel", "reduce", "reduce_or", "reshape", "rsqrt", "sigmoid", "sin", "softmax", "split", "sqrt", "sqrt_rn", "squeeze", "static_range", "sub", "sum", "swizzle2d", "to_tensor", "trans", "umulhi", "unsqueeze", "view", "xor_sum", "zeros", "zeros_like"]


@device_function("tl", "abs")
def abs(x):
    """Absolute value of each element; unsigned integers stay as they are."""


@device_function("tl", "add")
def add(x, y, sanitize_overflow=True):
    """x + y."""


@device_function("tl", "arange")
def arange(start, end):
    """The integers start, start + 1, ..., end - 1 as an int32 block of shape [end - start].

    start, end: known at compile time, within int32, end > start. Any length is allowed.
    """


@device_function("tl", "argmax")
def argmax(input, axis, tie_break_left=True, keep_dims=False):
    """int32 position of the greatest element along axis; of equal ones the leftmost unless tie_break_left is False."""


@device_function("tl", "argmin")
def argmin(input, axis, tie_break_left=True, keep_dims=False):
    """int32 position of the least element along axis; of equal ones the leftmost unless tie_break_left is False."""


@device_function("tl", "associative_scan")
def associative_scan(input, axis, combine_fn, reverse=False):
    """Inclusive prefix combination along axis with a jit function; shapes stay.

    input and combine_fn as of tl.reduce. reverse: from the last element to the first.
    """


@device_function("tl", "broadcast")
def broadcast(input, other):
    """Brings two values to their common shape and returns both.

    Missing dimensions are added on the left; sizes must be equal or 1.
    """


@device_function("tl", "broadcast_to")
def broadcast_to(input, *shape):
    """Repeats dimensions of size 1 until input has the given shape, which must be of the same rank. A scalar is
    repeated everywhere.
    """


@device_function("tl", "cast")
def cast(input, dtype, fp_downcast_rounding=None, bitcast=False, overflow_mode=None):
    """Converts input to another dtype, keeping its shape.

    Floats to integers truncate, anything to int1 is `!= 0`, narrowing floats round to nearest even.
    fp_downcast_rounding: "rtne" or "rtz", only where a floating type is narrowed.
    bitcast: reinterpret the bits; widths must be equal.
    overflow_mode: "trunc" (default) or "saturate" for integer results; NaN saturates to 0.
    """


@device_function("tl", "cat")
def cat(input, other, can_reorder=False, dim=0):
    """Concatenates two blocks of equal shape and dtype along dim, keeping the order of elements."""


@device_function("tl", "cdiv")
def cdiv(x, div):
    """Quotient rounded up: (x + div - 1) // div for integers, ceil(x / div) for floats. Folded for constants."""


@device_function("tl", "ceil")
def ceil(x):
    """Least integer not below x, as a float (integers stay) of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl", "clamp")
def clamp(x, min, max, propagate_nan=None):
    """min(max(x, min), max) for floating x; bounds are promoted and broadcast, bf16 gives fp32.

    propagate_nan: as of tl.maximum.
    """


@device_function("tl", "condition")
def condition(arg1, disable_licm=False):
    """Test of a while loop with hints."""


@device_function("tl", "cos")
def cos(x):
    """Cosine of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl", "cumprod")
def cumprod(input, axis=0, reverse=False):
    """Cumulative product along axis. bf16 gives fp32."""


@device_function("tl", "cumsum")
def cumsum(input, axis=0, reverse=False, dtype=None):
    """Cumulative sum along axis. bf16 gives fp32, integers narrower than 32 bits int32 or uint32; dtype overrides."""


@device_function("tl", "div_rn")
def div_rn(x, y):
    """Division rounded to nearest even (IEEE), for floating operands."""


@device_function("tl", "erf")
def erf(x):
    """Error function of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl", "exp")
def exp(x):
    """e**x of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl", "exp2")
def exp2(x):
    """2**x of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl", "expand_dims")
def expand_dims(input, axis):
    """Inserts dimensions of size 1.

    axis: an integer or a tuple of them, counted in the result; negative from the end.
    """


@device_function("tl", "fdiv")
def fdiv(x, y, ieee_rounding=False):
    """Floating division of two floating operands."""


@device_function("tl", "flip")
def flip(x, dim=None):
    """Reverses the order of elements along dim (default: the last one)."""


@device_function("tl", "floor")
def floor(x):
    """Greatest integer not above x, as a float (integers stay) of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl", "fma")
def fma(x, y, z):
    """x * y + z with one rounding for floats; operands are promoted and broadcast."""


@device_function("tl", "full")
def full(shape, value, dtype):
    """Block of a shape filled with a value.

    shape: tuple of positive integers known at compile time, at most 2**20 elements.
    value: a number, which must fit the dtype, or a scalar, which is cast.
    dtype: element type. An empty shape gives a scalar.
    """


@device_function("tl", "histogram")
def histogram(input, num_bins, mask=None):
    """Counts of the integers 0 to num_bins - 1 in a 1-D block of 32-bit integers, as int32.

    mask: int1 block of the same shape; elements where it is false are not counted.
    """


@device_function("tl", "interleave")
def interleave(a, b):
    """Alternates the elements of a and b along the last dimension, which doubles."""


@device_function("tl", "join")
def join(a, b):
    """Interleaves two values along a new innermost dimension of size 2. Operands are promoted and broadcast; two
    scalars give a block of shape [2].
    """


@device_function("tl", "log")
def log(x):
    """Natural logarithm of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl", "log2")
def log2(x):
    """Logarithm to base 2 of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl", "max")
def max(input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False, propagate_nan=None):
    """Greatest element along axis; axis None takes all elements and gives a scalar.

    bf16 and fp16 give fp32, integers narrower than 32 bits int32. NaNs lose against numbers unless propagate_nan.
    return_indices: also the int32 positions, as a pair; of equal elements the leftmost wins unless
    return_indices_tie_break_left is False. keep_dims: the reduced axis stays with size 1.
    """


@device_function("tl", "maximum")
def maximum(x, y, propagate_nan=None):
    """Greater of x and y, element by element; operands are promoted and broadcast, bf16 gives fp32.

    propagate_nan: tl.PropagateNan.NONE (default; the operand that is not NaN wins) or tl.PropagateNan.ALL (NaN wins).
    """


@device_function("tl", "min")
def min(input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False, propagate_nan=None):
    """Least element along axis; axis None takes all elements and gives a scalar.

    bf16 and fp16 give fp32, integers narrower than 32 bits int32. NaNs lose against numbers unless propagate_nan.
    return_indices: also the int32 positions, as a pair; of equal elements the leftmost wins unless
    return_indices_tie_break_left is False. keep_dims: the reduced axis stays with size 1.
    """


@device_function("tl", "minimum")
def minimum(x, y, propagate_nan=None):
    """Lesser of x and y, element by element; operands are promoted and broadcast, bf16 gives fp32.

    propagate_nan: tl.PropagateNan.NONE (default; the operand that is not NaN wins) or tl.PropagateNan.ALL (NaN wins).
    """


@device_function("tl", "mul")
def mul(x, y, sanitize_overflow=True):
    """x * y."""


@device_function("tl", "num_programs")
def num_programs(axis):
    """Number of programs of the launch along an axis of the grid.

    axis: 0, 1 or 2, known at compile time. Returns an int32 scalar.
    """


@device_function("tl", "permute")
def permute(input, *dims):
    """Reorders dimensions: dimension i of the result is dimension dims[i] of input. Names each dimension once."""


@device_function("tl", "program_id")
def program_id(axis):
    """Index of this program along an axis of the grid.

    axis: 0, 1 or 2, known at compile time. Returns an int32 scalar.
    """


@device_function("tl", "range")
def range(arg1, arg2=None, step=None, num_stages=None, loop_unroll_factor=None, disallow_acc_multi_buffer=False, flatten=False, warp_specialize=False, disable_licm=False):
    """Run-time loop range with hints for the compiler: for i in tl.range(start, end, step)."""


@device_function("tl", "ravel")
def ravel(x, can_reorder=False):
    """All elements in row-major order as a 1-D block."""


@device_function("tl", "reduce")
def reduce(input, axis, combine_fn, keep_dims=False):
    """Combines elements along axis with a jit function.

    input: a block, or a tuple of n blocks of one shape. combine_fn takes 2n scalars (n left, n right) and returns
    n of the same types; it must be associative. axis None combines all elements. keep_dims keeps the axis with
    size 1. Returns a block or scalar, or a tuple of n.
    """


@device_function("tl", "reduce_or")
def reduce_or(input, axis, keep_dims=False):
    """Bitwise or of all elements along axis; integers only."""


@device_function("tl", "reshape")
def reshape(input, *shape, can_reorder=False):
    """Same elements in row-major order in another shape; the number of elements must be equal.

    can_reorder: allows the compiler any order of the elements. An empty shape gives a scalar.
    """


@device_function("tl", "rsqrt")
def rsqrt(x):
    """1 / sqrt(x) of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl", "sigmoid")
def sigmoid(x):
    """1 / (1 + exp(-x)) for floating x, in x's dtype; computed in fp32 or fp64."""


@device_function("tl", "sin")
def sin(x):
    """Sine of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl", "softmax")
def softmax(x, dim=None, keep_dims=False, ieee_rounding=False):
    """exp(x - max) / sum(exp(x - max)) along dim (default 0), in x's dtype and shape; computed in fp32 or fp64."""


@device_function("tl", "split")
def split(a):
    """Inverse of join: the two halves of the last dimension, which must be of size 2."""


@device_function("tl", "sqrt")
def sqrt(x):
    """Square root of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl", "sqrt_rn")
def sqrt_rn(x):
    """Square root rounded to nearest even of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl", "squeeze")
def squeeze(x, dim):
    """Removes dimension dim, which must be of size 1."""


@device_function("tl", "static_range")
def static_range(arg1, arg2=None, step=None):
    """Range of a loop that is unrolled while compiling; the loop variable is a compile-time constant."""


@device_function("tl", "sub")
def sub(x, y, sanitize_overflow=True):
    """x - y."""


@device_function("tl", "sum")
def sum(input, axis=None, keep_dims=False, dtype=None):
    """Sum along axis; axis None sums everything to a scalar.

    Integers narrower than 32 bits are summed as int32 or uint32, floats in their own dtype; dtype overrides.
    """


@device_function("tl", "swizzle2d")
def swizzle2d(i, j, size_i, size_j, size_g):
    """Maps tile indices of a row-major size_i x size_j grid to an order in which groups of size_g rows are walked
    column by column. Returns (new_i, new_j). All integers.
    """


@device_function("tl", "to_tensor")
def to_tensor(x):
    """A number as a run-time scalar: int1, int32 (or the next that holds it), fp32 or fp64."""


@device_function("tl", "trans")
def trans(input, *dims):
    """Like permute; without dims the last two dimensions are swapped."""


@device_function("tl", "umulhi")
def umulhi(x, y):
    """High half of the unsigned product of two 32- or 64-bit integers."""


@device_function("tl", "unsqueeze")
def unsqueeze(x, dim):
    """Inserts one dimension of size 1 at dim of the result."""


@device_function("tl", "view")
def view(input, *shape):
    """Old name of reshape; keeps the order of elements."""


@device_function("tl", "xor_sum")
def xor_sum(input, axis=None, keep_dims=False):
    """Exclusive or of all elements along axis; integers only."""


@device_function("tl", "zeros")
def zeros(shape, dtype):
    """Block of zeros.

    shape: tuple of positive integers known at compile time; dtype: element type.
    """


@device_function("tl", "zeros_like")
def zeros_like(input):
    """Block of zeros with the shape and dtype of input."""


TRITON_MAX_TENSOR_NUMEL = DeviceConstant("tl", "TRITON_MAX_TENSOR_NUMEL", 1048576)


class PropagateNan:
    """Constants of tl.PropagateNan."""

    NONE = DeviceConstant("tl.PropagateNan", "NONE", 0)
    ALL = DeviceConstant("tl.PropagateNan", "ALL", 65535)
