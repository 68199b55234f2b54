# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by python/generate_language.py from the compiler's table: do not edit.
"""Functions of nereid.language.math."""

from nereid.language._device import DeviceConstant, device_function

__all__ = ["abs", "cdiv", "ceil", "cos", "div_rn", "erf", "exp", "exp2", "fdiv", "floor", "fma", "log", "log2", "max", "min", "rsqrt", "sin", "sqrt", "sqrt_rn", "tanh", "umulhi"]


@device_function("tl.math", "abs")
def abs(x):
    """Absolute value of each element; unsigned integers stay as they are."""


@device_function("tl.math", "cdiv")
def cdiv(x, div):
    """Quotient rounded up: (x + div - 1) // div for integers, ceil(x / div) for floats. Folded for constants."""


@device_function("tl.math", "ceil")
def ceil(x):
    """Least integer not below x of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl.math", "cos")
def cos(x):
    """Cosine of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl.math", "div_rn")
def div_rn(x, y):
    """Division rounded to nearest even (IEEE), for floating operands."""


@device_function("tl.math", "erf")
def erf(x):
    """Error function of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl.math", "exp")
def exp(x):
    """e**x of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl.math", "exp2")
def exp2(x):
    """2**x of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl.math", "fdiv")
def fdiv(x, y, ieee_rounding=False):
    """Floating division of two floating operands."""


@device_function("tl.math", "floor")
def floor(x):
    """Greatest integer not above x of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl.math", "fma")
def fma(x, y, z):
    """x * y + z with one rounding for floats; operands are promoted and broadcast."""


@device_function("tl.math", "log")
def log(x):
    """Natural logarithm of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl.math", "log2")
def log2(x):
    """Logarithm to base 2 of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl.math", "max")
def max(x, y, propagate_nan=None):
    """Greater of x and y, element by element; operands are promoted and broadcast, bf16 gives fp32.

    propagate_nan: tl.PropagateNan.NONE (default; the operand that is not NaN wins) or tl.PropagateNan.ALL (NaN wins).
    """


@device_function("tl.math", "min")
def min(x, y, propagate_nan=None):
    """Lesser of x and y, element by element; operands are promoted and broadcast, bf16 gives fp32.

    propagate_nan: tl.PropagateNan.NONE (default; the operand that is not NaN wins) or tl.PropagateNan.ALL (NaN wins).
    """


@device_function("tl.math", "rsqrt")
def rsqrt(x):
    """1 / sqrt(x) of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl.math", "sin")
def sin(x):
    """Sine of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl.math", "sqrt")
def sqrt(x):
    """Square root of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl.math", "sqrt_rn")
def sqrt_rn(x):
    """Square root rounded to nearest even of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl.math", "tanh")
def tanh(x):
    """Hyperbolic tangent of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."""


@device_function("tl.math", "umulhi")
def umulhi(x, y):
    """High half of the unsigned product of two 32- or 64-bit integers."""
