# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by python/generate_language.py from the compiler's table: do not edit.
"""Functions of nereid.language.extra.libdevice."""

from nereid.language._device import DeviceConstant, device_function

__all__ = ["abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "clz", "copysign", "cos", "cosh", "div_rn", "double_as_longlong", "erf", "erfc", "exp", "exp2", "expm1", "fast_cosf", "fast_dividef", "fast_expf", "fast_logf", "fast_powf", "fast_sinf", "fast_tanf", "fast_tanhf", "fdiv", "ffs", "finitef", "float_as_int", "float_as_uint", "floor", "fma", "fmod", "hypot", "int_as_float", "isfinited", "isinf", "isnan", "ldexp", "log", "log10", "log1p", "log2", "longlong_as_double", "nearbyint", "popc", "pow", "reciprocal", "relu", "rint", "round", "rsqrt", "signbit", "sin", "sinh", "sqrt", "sqrt_rn", "tan", "tanh", "trunc", "uint_as_float", "umulhi"]


@device_function("libdevice", "abs")
def abs(x):
    """Absolute value."""


@device_function("libdevice", "acos")
def acos(x):
    """Arc cosine of each element, in x's dtype."""


@device_function("libdevice", "acosh")
def acosh(x):
    """Inverse hyperbolic cosine of each element, in x's dtype."""


@device_function("libdevice", "asin")
def asin(x):
    """Arc sine of each element, in x's dtype."""


@device_function("libdevice", "asinh")
def asinh(x):
    """Inverse hyperbolic sine of each element, in x's dtype."""


@device_function("libdevice", "atan")
def atan(x):
    """Arc tangent of each element, in x's dtype."""


@device_function("libdevice", "atan2")
def atan2(x, y):
    """Angle of the point (y, x): atan(x / y) by quadrant."""


@device_function("libdevice", "atanh")
def atanh(x):
    """Inverse hyperbolic tangent of each element, in x's dtype."""


@device_function("libdevice", "cbrt")
def cbrt(x):
    """Cube root of each element, in x's dtype."""


@device_function("libdevice", "ceil")
def ceil(x):
    """Least integer not below x of each element, in x's dtype."""


@device_function("libdevice", "clz")
def clz(x):
    """Number of leading zero bits, int32."""


@device_function("libdevice", "copysign")
def copysign(x, y):
    """Magnitude of x with the sign of y."""


@device_function("libdevice", "cos")
def cos(x):
    """Cosine of each element, in x's dtype."""


@device_function("libdevice", "cosh")
def cosh(x):
    """Hyperbolic cosine of each element, in x's dtype."""


@device_function("libdevice", "div_rn")
def div_rn(x, y):
    """x / y rounded to nearest even."""


@device_function("libdevice", "double_as_longlong")
def double_as_longlong(x):
    """Bits of fp64 as int64."""


@device_function("libdevice", "erf")
def erf(x):
    """Error function of each element, in x's dtype."""


@device_function("libdevice", "erfc")
def erfc(x):
    """1 - erf(x) of each element, in x's dtype."""


@device_function("libdevice", "exp")
def exp(x):
    """e**x of each element, in x's dtype."""


@device_function("libdevice", "exp2")
def exp2(x):
    """2**x of each element, in x's dtype."""


@device_function("libdevice", "expm1")
def expm1(x):
    """e**x - 1 of each element, in x's dtype."""


@device_function("libdevice", "fast_cosf")
def fast_cosf(x):
    """Cosine of each element, in x's dtype."""


@device_function("libdevice", "fast_dividef")
def fast_dividef(x, y):
    """x / y for floating operands."""


@device_function("libdevice", "fast_expf")
def fast_expf(x):
    """e**x of each element, in x's dtype."""


@device_function("libdevice", "fast_logf")
def fast_logf(x):
    """Natural logarithm of each element, in x's dtype."""


@device_function("libdevice", "fast_powf")
def fast_powf(x, y):
    """x**y for floating operands."""


@device_function("libdevice", "fast_sinf")
def fast_sinf(x):
    """Sine of each element, in x's dtype."""


@device_function("libdevice", "fast_tanf")
def fast_tanf(x):
    """Tangent of each element, in x's dtype."""


@device_function("libdevice", "fast_tanhf")
def fast_tanhf(x):
    """Hyperbolic tangent of each element, in x's dtype."""


@device_function("libdevice", "fdiv")
def fdiv(x, y, ieee_rounding=False):
    """x / y for floating operands."""


@device_function("libdevice", "ffs")
def ffs(x):
    """1 + position of the lowest set bit, 0 for 0; int32."""


@device_function("libdevice", "finitef")
def finitef(x):
    """int1: is it finite?"""


@device_function("libdevice", "float_as_int")
def float_as_int(x):
    """Bits of fp32 as int32."""


@device_function("libdevice", "float_as_uint")
def float_as_uint(x):
    """Bits of fp32 as uint32."""


@device_function("libdevice", "floor")
def floor(x):
    """Greatest integer not above x of each element, in x's dtype."""


@device_function("libdevice", "fma")
def fma(x, y, z):
    """x * y + z with one rounding."""


@device_function("libdevice", "fmod")
def fmod(x, y):
    """Remainder of x / y with the sign of x."""


@device_function("libdevice", "hypot")
def hypot(x, y):
    """sqrt(x*x + y*y) without overflow on the way."""


@device_function("libdevice", "int_as_float")
def int_as_float(x):
    """int32 bits as fp32."""


@device_function("libdevice", "isfinited")
def isfinited(x):
    """int1: is it finite?"""


@device_function("libdevice", "isinf")
def isinf(x):
    """int1: is it infinite?"""


@device_function("libdevice", "isnan")
def isnan(x):
    """int1: is it NaN?"""


@device_function("libdevice", "ldexp")
def ldexp(x, y):
    """x * 2**y for integer y."""


@device_function("libdevice", "log")
def log(x):
    """Natural logarithm of each element, in x's dtype."""


@device_function("libdevice", "log10")
def log10(x):
    """Logarithm to base 10 of each element, in x's dtype."""


@device_function("libdevice", "log1p")
def log1p(x):
    """log(1 + x) of each element, in x's dtype."""


@device_function("libdevice", "log2")
def log2(x):
    """Logarithm to base 2 of each element, in x's dtype."""


@device_function("libdevice", "longlong_as_double")
def longlong_as_double(x):
    """int64 bits as fp64."""


@device_function("libdevice", "nearbyint")
def nearbyint(x):
    """Nearest integer, halves to even of each element, in x's dtype."""


@device_function("libdevice", "popc")
def popc(x):
    """Number of set bits, int32."""


@device_function("libdevice", "pow")
def pow(x, y):
    """x**y for floating operands."""


@device_function("libdevice", "reciprocal")
def reciprocal(x):
    """1 / x in x's dtype."""


@device_function("libdevice", "relu")
def relu(x):
    """x where it is positive (or NaN), 0 elsewhere."""


@device_function("libdevice", "rint")
def rint(x):
    """Nearest integer, halves to even of each element, in x's dtype."""


@device_function("libdevice", "round")
def round(x):
    """Nearest integer, halves away from zero of each element, in x's dtype."""


@device_function("libdevice", "rsqrt")
def rsqrt(x):
    """1 / sqrt(x) of each element, in x's dtype."""


@device_function("libdevice", "signbit")
def signbit(x):
    """int32: 1 where the sign bit is set."""


@device_function("libdevice", "sin")
def sin(x):
    """Sine of each element, in x's dtype."""


@device_function("libdevice", "sinh")
def sinh(x):
    """Hyperbolic sine of each element, in x's dtype."""


@device_function("libdevice", "sqrt")
def sqrt(x):
    """Square root of each element, in x's dtype."""


@device_function("libdevice", "sqrt_rn")
def sqrt_rn(x):
    """Square root rounded to nearest even of each element, in x's dtype."""


@device_function("libdevice", "tan")
def tan(x):
    """Tangent of each element, in x's dtype."""


@device_function("libdevice", "tanh")
def tanh(x):
    """Hyperbolic tangent of each element, in x's dtype."""


@device_function("libdevice", "trunc")
def trunc(x):
    """Integer part of each element, in x's dtype."""


@device_function("libdevice", "uint_as_float")
def uint_as_float(x):
    """uint32 bits as fp32."""


@device_function("libdevice", "umulhi")
def umulhi(x, y):
    """High half of the unsigned product."""
