# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by python/generate_language.py from the compiler's table: do not edit.
"""Functions of nereid.language."""

from nereid.language._device import DeviceConstant, device_function

__all__ = ["PropagateNan", "TRITON_MAX_TENSOR_NUMEL", "abs", "add", "advance", "aggregate_replace", "arange", "argmax", "argmin", "associative_scan", "assume", "atomic_add", "atomic_and", "atomic_cas", "atomic_max", "atomic_min", "atomic_or", "atomic_poll", "atomic_xchg", "atomic_xor", "bitonic_merge", "broadcast", "broadcast_to", "cast", "cat", "cdiv", "ceil", "clamp", "condition", "cos", "cumprod", "cumsum", "debug_barrier", "device_assert", "device_print", "div_rn", "dot", "dot_scaled", "erf", "exp", "exp2", "expand_dims", "expect_zero", "extern_elementwise", "fdiv", "flip", "floor", "fma", "full", "gather", "histogram", "inline_asm_elementwise", "interleave", "join", "load", "load_tensor_descriptor", "log", "log2", "make_block_ptr", "make_tensor_descriptor", "map_elementwise", "max", "max_constancy", "max_contiguous", "maximum", "min", "minimum", "mul", "multiple_of", "num_programs", "pair_uniform_to_normal", "permute", "philox", "philox_impl", "program_id", "rand", "rand4x", "randint", "randint4x", "randn", "randn4x", "range", "ravel", "reduce", "reduce_or", "reshape", "rsqrt", "sigmoid", "sin", "softmax", "sort", "split", "sqrt", "sqrt_rn", "squeeze", "static_assert", "static_print", "static_range", "store", "store_tensor_descriptor", "sub", "sum", "swizzle2d", "to_tensor", "topk", "trans", "uint_to_uniform_float", "umulhi", "unsqueeze", "view", "where", "xor_sum", "zeros", "zeros_like"]


@device_function("tl", "abs")
def abs(x):
    """Absolute value of each element; unsigned integers stay as they are."""


@device_function("tl", "add")
def add(x, y, sanitize_overflow=True):
    """x + y, with the promotion and broadcasting of the operator."""


@device_function("tl", "advance")
def advance(base, offsets):
    """A block pointer moved by offsets, in elements, one per dimension. The result must be used."""


@device_function("tl", "aggregate_replace")
def aggregate_replace(instance, **changes):
    """A copy of a named tuple with the named fields changed."""


@device_function("tl", "arange")
def arange(start, end):
    """The integers start, start + 1, ..., end - 1 as an int32 block of shape [end - start].

    start, end: known at compile time, within int32, end > start, at most 2**20 apart. Any such length is allowed.
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


@device_function("tl", "assume")
def assume(cond):
    """Promises that a scalar condition holds."""


@device_function("tl", "atomic_add")
def atomic_add(pointer, val, mask=None, sem=None, scope=None):
    """Atomically adds val (integers, fp16, bf16, fp32, fp64).

    pointer: a pointer or block of pointers; val and mask are broadcast with it, val is cast to the element
    type. Lanes where mask is false do nothing and return an undefined value.
    sem: "acquire", "release", "acq_rel" (default) or "relaxed". scope: "gpu" (default), "npu",
    "cta" or "sys". Returns the old values; lanes of one address take their turns in row-major order.
    """


@device_function("tl", "atomic_and")
def atomic_and(pointer, val, mask=None, sem=None, scope=None):
    """Atomic bitwise and (integers).

    pointer: a pointer or block of pointers; val and mask are broadcast with it, val is cast to the element
    type. Lanes where mask is false do nothing and return an undefined value.
    sem: "acquire", "release", "acq_rel" (default) or "relaxed". scope: "gpu" (default), "npu",
    "cta" or "sys". Returns the old values; lanes of one address take their turns in row-major order.
    """


@device_function("tl", "atomic_cas")
def atomic_cas(pointer, cmp, val, sem=None, scope=None):
    """Atomic compare and swap: memory becomes val where it equals cmp (bit by bit). Returns the old values.

    pointer: a pointer or block of pointers to elements of 8 to 64 bits; sem and scope as of tl.atomic_add.
    """


@device_function("tl", "atomic_max")
def atomic_max(pointer, val, mask=None, sem=None, scope=None):
    """Atomically takes the greater of memory and val. Numbers win against NaN, +0 against -0.

    pointer: a pointer or block of pointers; val and mask are broadcast with it, val is cast to the element
    type. Lanes where mask is false do nothing and return an undefined value.
    sem: "acquire", "release", "acq_rel" (default) or "relaxed". scope: "gpu" (default), "npu",
    "cta" or "sys". Returns the old values; lanes of one address take their turns in row-major order.
    """


@device_function("tl", "atomic_min")
def atomic_min(pointer, val, mask=None, sem=None, scope=None):
    """Atomically takes the lesser of memory and val. Numbers win against NaN, -0 against +0.

    pointer: a pointer or block of pointers; val and mask are broadcast with it, val is cast to the element
    type. Lanes where mask is false do nothing and return an undefined value.
    sem: "acquire", "release", "acq_rel" (default) or "relaxed". scope: "gpu" (default), "npu",
    "cta" or "sys". Returns the old values; lanes of one address take their turns in row-major order.
    """


@device_function("tl", "atomic_or")
def atomic_or(pointer, val, mask=None, sem=None, scope=None):
    """Atomic bitwise or (integers).

    pointer: a pointer or block of pointers; val and mask are broadcast with it, val is cast to the element
    type. Lanes where mask is false do nothing and return an undefined value.
    sem: "acquire", "release", "acq_rel" (default) or "relaxed". scope: "gpu" (default), "npu",
    "cta" or "sys". Returns the old values; lanes of one address take their turns in row-major order.
    """


@device_function("tl", "atomic_poll")
def atomic_poll(pointer, expected_value, sem=None, scope=None, timeout_ns=None):
    """Spins until the 32- or 64-bit integer at pointer equals expected_value; returns int1, False when timeout_ns
    nanoseconds went by. sem defaults to "acquire".
    """


@device_function("tl", "atomic_xchg")
def atomic_xchg(pointer, val, mask=None, sem=None, scope=None):
    """Atomically replaces memory by val.

    pointer: a pointer or block of pointers; val and mask are broadcast with it, val is cast to the element
    type. Lanes where mask is false do nothing and return an undefined value.
    sem: "acquire", "release", "acq_rel" (default) or "relaxed". scope: "gpu" (default), "npu",
    "cta" or "sys". Returns the old values; lanes of one address take their turns in row-major order.
    """


@device_function("tl", "atomic_xor")
def atomic_xor(pointer, val, mask=None, sem=None, scope=None):
    """Atomic bitwise exclusive or (integers).

    pointer: a pointer or block of pointers; val and mask are broadcast with it, val is cast to the element
    type. Lanes where mask is false do nothing and return an undefined value.
    sem: "acquire", "release", "acq_rel" (default) or "relaxed". scope: "gpu" (default), "npu",
    "cta" or "sys". Returns the old values; lanes of one address take their turns in row-major order.
    """


@device_function("tl", "bitonic_merge")
def bitonic_merge(x, dim=None, descending=False):
    """Sorts along the last dimension, of a power-of-two size, what first rises and then falls (or the reverse)."""


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


@device_function("tl", "debug_barrier")
def debug_barrier():
    """Orders the memory accesses of the program's threads."""


@device_function("tl", "device_assert")
def device_assert(cond, msg="", mask=None):
    """In debug mode, stops the job with msg when an element of cond is false where mask holds."""


@device_function("tl", "device_print")
def device_print(prefix, *args, hex=False):
    """Prints prefix and the elements of the arguments from every program. prefix: printable ASCII, known at compile
    time. hex: integers in hexadecimal.
    """


@device_function("tl", "div_rn")
def div_rn(x, y):
    """Division rounded to nearest even (IEEE), for floating operands."""


@device_function("tl", "dot")
def dot(input, other, acc=None, input_precision=None, allow_tf32=None, max_num_imprecise_acc=None, out_dtype=None):
    """Matrix product of [.., M, K] and [.., K, N], plus acc; any sizes from 1 on.

    input, other: blocks of equal rank (2, or more with batch dimensions in front) and equal dtype: int8,
    fp16, bf16, fp32, fp64; two fp8 types may differ. The result is int32 for 8-bit integers, fp64 for fp64, fp32
    for bf16 and fp32; for fp16 and fp8 it is out_dtype (fp16 or fp32; default that of acc, or fp32). Floats are
    summed in fp32, fp64 in fp64. acc: a block of the result's shape and dtype.
    input_precision: "ieee" (default), "tf32", "tf32x3", "bf16x3", "bf16x6", "hf32": how fp32 operands may
    be rounded. allow_tf32: old spelling of "tf32" (True) and "ieee" (False).
    """


@device_function("tl", "dot_scaled")
def dot_scaled(lhs, lhs_scale, lhs_format, rhs, rhs_scale, rhs_format, acc=None, fast_math=False, lhs_k_pack=True, rhs_k_pack=True, out_dtype=None):
    """Matrix product of block-scaled operands, fp32 result.

    Formats: "e2m1" (two elements per uint8), "e4m3", "e5m2", "bf16", "fp16". Scales: powers of two (e8m0) in
    uint8, one for each group of elements along K; None for unscaled operands.
    """


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


@device_function("tl", "expect_zero")
def expect_zero(x, mask):
    """Promises that x is 0 where mask holds and returns x. In debug mode it is checked."""


@device_function("tl", "extern_elementwise")
def extern_elementwise(lib_name, lib_path, args, arg_type_symbol_dict, is_pure):
    """Element-wise call of a function of a device library.

    args are broadcast together; arg_type_symbol_dict maps tuples of their dtypes to (symbol, dtype of the result);
    when no entry has exactly their dtypes, they are promoted to one dtype first. Functions of CUDA's libdevice
    (__nv_*) and the same names of other vendors are known; libraries at lib_path are not linked.
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


@device_function("tl", "gather")
def gather(src, index, axis):
    """Picks elements of src along axis: result[.., i, ..] = src[.., index[.., i, ..], ..].

    index: integers, of src's rank and of its size in all dimensions but axis; values from 0 to the size - 1.
    """


@device_function("tl", "histogram")
def histogram(input, num_bins, mask=None):
    """Counts of the integers 0 to num_bins - 1 in a 1-D block of 32-bit integers, as int32.

    mask: int1 block of the same shape; elements where it is false are not counted.
    """


@device_function("tl", "inline_asm_elementwise")
def inline_asm_elementwise(asm, constraints, args, dtype, is_pure, pack):
    """Assembly of the target, applied to pack elements at a time; args are broadcast together. dtype: that of the
    result, or a tuple for several results. An error on targets that take no assembly.
    """


@device_function("tl", "interleave")
def interleave(a, b):
    """Alternates the elements of a and b along the last dimension, which doubles."""


@device_function("tl", "join")
def join(a, b):
    """Interleaves two values along a new innermost dimension of size 2. Operands are promoted and broadcast; two
    scalars give a block of shape [2].
    """


@device_function("tl", "load")
def load(pointer, mask=None, other=None, boundary_check=(), padding_option="", cache_modifier="", eviction_policy="", volatile=False, care_padding=True):
    """Reads what pointer points to.

    pointer: a single pointer (gives a scalar), a block of pointers (gives a block), or a block pointer.
    mask: int1, broadcast with the pointers; lanes where it is false are not read and are `other`, or 0.
    other: broadcast and cast to the element type; needs a mask. care_padding=False leaves them undefined.
    boundary_check, padding_option ("", "zero", "nan"): only for block pointers, instead of mask and other;
    elements outside the tensor in the named dimensions are the padding, 0 by default.
    cache_modifier: "", ".ca", ".cg", ".cs", ".cv". eviction_policy: "", "evict_first", "evict_last".
    volatile: the load is not moved, merged or removed.
    """


@device_function("tl", "load_tensor_descriptor")
def load_tensor_descriptor(desc, offsets):
    """desc.load(offsets)."""


@device_function("tl", "log")
def log(x):
    """Natural logarithm of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl", "log2")
def log2(x):
    """Logarithm to base 2 of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl", "make_block_ptr")
def make_block_ptr(base, shape, strides, offsets, block_shape, order):
    """Pointer to a block inside a strided tensor.

    base: pointer to the tensor's first element. shape, strides (in elements) and offsets of the block: integers.
    block_shape, order: known at compile time. All have one entry per dimension.
    """


@device_function("tl", "make_tensor_descriptor")
def make_tensor_descriptor(base, shape, strides, block_shape, padding_option="zero"):
    """Descriptor of a strided tensor in memory that is read and written in blocks.

    base: pointer to the first element. shape, strides: integers, one per dimension (1 to 5); the last stride is the
    constant 1. block_shape: known at compile time, innermost dimension of at least 16 bytes. padding_option:
    "zero" or "nan", what elements outside the tensor read as.
    """


@device_function("tl", "map_elementwise")
def map_elementwise(scalar_fn, *args, pack=1):
    """Applies a jit function of scalars to each element of blocks, which are broadcast together.

    scalar_fn may use control flow. pack: the number of elements in row-major order that one call gets of each
    block, which must divide the number of elements: it takes pack scalars for each block and returns pack scalars
    for each result. Returns a block, or a tuple for several results.
    """


@device_function("tl", "max")
def max(input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False, propagate_nan=None):
    """Greatest element along axis; axis None takes all elements and gives a scalar.

    bf16 and fp16 give fp32, integers narrower than 32 bits int32. NaNs lose against numbers unless propagate_nan.
    return_indices: also the int32 positions, as a pair; of equal elements the leftmost wins unless
    return_indices_tie_break_left is False. keep_dims: the reduced axis stays with size 1.
    """


@device_function("tl", "max_constancy")
def max_constancy(input, values):
    """Promises that the first values elements of each dimension are equal. Returns input."""


@device_function("tl", "max_contiguous")
def max_contiguous(input, values):
    """Promises that the first values elements of each dimension are consecutive numbers. Returns input."""


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
    """x * y, with the promotion and broadcasting of the operator."""


@device_function("tl", "multiple_of")
def multiple_of(input, values):
    """Promises that the elements (of a block: the first of each run of contiguous ones) are multiples of values, one
    per dimension. Returns input.
    """


@device_function("tl", "num_programs")
def num_programs(axis):
    """Number of programs of the launch along an axis of the grid.

    axis: 0, 1 or 2, known at compile time. Returns an int32 scalar.
    """


@device_function("tl", "pair_uniform_to_normal")
def pair_uniform_to_normal(u1, u2):
    """Two blocks of uniform numbers to two of normally distributed ones (Box and Muller)."""


@device_function("tl", "permute")
def permute(input, *dims):
    """Reorders dimensions: dimension i of the result is dimension dims[i] of input. Names each dimension once."""


@device_function("tl", "philox")
def philox(seed, c0, c1, c2, c3, n_rounds=10):
    """The Philox generator on explicit counters, 32-bit or 64-bit by the widest of them. Returns four blocks."""


@device_function("tl", "philox_impl")
def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds=10):
    """Rounds of the Philox generator on explicit counters and keys. Returns four blocks."""


@device_function("tl", "program_id")
def program_id(axis):
    """Index of this program along an axis of the grid.

    axis: 0, 1 or 2, known at compile time. Returns an int32 scalar.
    """


@device_function("tl", "rand")
def rand(seed, offset, n_rounds=10):
    """Uniform fp32 numbers in [0, 1).

    seed: an integer; offset: an integer scalar or block that gives the result's shape. Equal seeds and
    offsets give equal numbers.
    """


@device_function("tl", "rand4x")
def rand4x(seed, offset, n_rounds=10):
    """Four independent blocks of uniform fp32 numbers in [0, 1).

    seed: an integer; offset: an integer scalar or block that gives the result's shape. Equal seeds and
    offsets give equal numbers.
    """


@device_function("tl", "randint")
def randint(seed, offset, n_rounds=10):
    """Uniform uint32 numbers.

    seed: an integer; offset: an integer scalar or block that gives the result's shape. Equal seeds and
    offsets give equal numbers.
    """


@device_function("tl", "randint4x")
def randint4x(seed, offset, n_rounds=10):
    """Four independent blocks of uniform uint32 numbers, at the cost of one.

    seed: an integer; offset: an integer scalar or block that gives the result's shape. Equal seeds and
    offsets give equal numbers.
    """


@device_function("tl", "randn")
def randn(seed, offset, n_rounds=10):
    """Normally distributed fp32 numbers.

    seed: an integer; offset: an integer scalar or block that gives the result's shape. Equal seeds and
    offsets give equal numbers.
    """


@device_function("tl", "randn4x")
def randn4x(seed, offset, n_rounds=10):
    """Four independent blocks of normally distributed fp32 numbers.

    seed: an integer; offset: an integer scalar or block that gives the result's shape. Equal seeds and
    offsets give equal numbers.
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
    n of the same types; it must be associative and commutative, as elements are combined in any order. Partial
    results of floats narrower than fp32 are fp32, rounded once at the end. axis None
    combines all elements. keep_dims keeps the axis with
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


@device_function("tl", "sort")
def sort(x, dim=None, descending=False):
    """Sorts along dim, which must be the last dimension; any length. NaN counts as greater than all numbers
    and comes out as one positive NaN; -0 stands below 0.
    """


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


@device_function("tl", "static_assert")
def static_assert(cond, msg=""):
    """Stops the compilation with msg unless cond, a compile-time value, holds."""


@device_function("tl", "static_print")
def static_print(*values, sep=" ", end="\n", file=None, flush=False):
    """Prints while compiling: constants as Python does, run-time values by their types."""


@device_function("tl", "static_range")
def static_range(arg1, arg2=None, step=None):
    """Range of a loop that is unrolled while compiling; the loop variable is a compile-time constant."""


@device_function("tl", "store")
def store(pointer, value, mask=None, boundary_check=(), cache_modifier="", eviction_policy=""):
    """Writes value through pointer.

    pointer: a single pointer, a block of pointers, or a block pointer. value and mask are broadcast to its shape,
    value is cast to the element type. Lanes where mask is false are not written. boundary_check: only for block
    pointers; elements outside the tensor in the named dimensions are dropped.
    cache_modifier: "", ".wb", ".cg", ".cs", ".wt". eviction_policy: "", "evict_first", "evict_last".
    """


@device_function("tl", "store_tensor_descriptor")
def store_tensor_descriptor(desc, offsets, value):
    """desc.store(offsets, value)."""


@device_function("tl", "sub")
def sub(x, y, sanitize_overflow=True):
    """x - y, with the promotion and broadcasting of the operator."""


@device_function("tl", "sum")
def sum(input, axis=None, keep_dims=False, dtype=None):
    """Sum along axis; axis None sums everything to a scalar.

    Integers narrower than 32 bits are summed as int32 or uint32; floats keep their dtype, fp16 and bf16 are summed
    in fp32 and rounded once. dtype overrides.
    """


@device_function("tl", "swizzle2d")
def swizzle2d(i, j, size_i, size_j, size_g):
    """Maps tile indices of a row-major size_i x size_j grid to an order in which groups of size_g rows are walked
    column by column. Returns (new_i, new_j). All integers.
    """


@device_function("tl", "to_tensor")
def to_tensor(x):
    """A number as a run-time scalar: int1, int32 (or the next that holds it), fp32 or fp64."""


@device_function("tl", "topk")
def topk(x, k, dim=None, descending=True):
    """The k greatest elements along the last dimension, greatest first (descending=False: the k least, least first)."""


@device_function("tl", "trans")
def trans(input, *dims):
    """Like permute; without dims the last two dimensions are swapped."""


@device_function("tl", "uint_to_uniform_float")
def uint_to_uniform_float(x):
    """32- or 64-bit integers to fp32 numbers in [0, 1)."""


@device_function("tl", "umulhi")
def umulhi(x, y):
    """High half of the unsigned product of two 32- or 64-bit integers."""


@device_function("tl", "unsqueeze")
def unsqueeze(x, dim):
    """Inserts one dimension of size 1 at dim of the result."""


@device_function("tl", "view")
def view(input, *shape):
    """Old name of reshape; keeps the order of elements."""


@device_function("tl", "where")
def where(condition, x, y):
    """x where condition holds, y elsewhere. Both are evaluated.

    condition: int1 (other dtypes: != 0). x and y are promoted to one dtype; all three are broadcast together.
    """


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
