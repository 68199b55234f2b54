# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by python/generate_language.py from the compiler's table: do not edit.
"""Functions of nereid.language.extra.libdevice."""

from nereid.language._device import DeviceConstant, device_function

__all__ = ["abs", "acos", "acosh", "add_rd", "add_rn", "add_ru", "add_rz", "asin", "asinh", "atan", "atan2", "atanh", "brev", "byte_perm", "cbrt", "ceil", "clz", "copysign", "cos", "cosh", "cospi", "cyl_bessel_i0", "cyl_bessel_i1", "div_rd", "div_rn", "div_ru", "div_rz", "double2float_rd", "double2float_rn", "double2float_ru", "double2float_rz", "double2hiint", "double2int_rd", "double2int_rn", "double2int_ru", "double2int_rz", "double2ll_rd", "double2ll_rn", "double2ll_ru", "double2ll_rz", "double2loint", "double2uint_rd", "double2uint_rn", "double2uint_ru", "double2uint_rz", "double2ull_rd", "double2ull_rn", "double2ull_ru", "double2ull_rz", "double_as_longlong", "erf", "erfc", "erfcinv", "erfcx", "erfinv", "exp", "exp10", "exp2", "expm1", "fast_cosf", "fast_dividef", "fast_exp10f", "fast_expf", "fast_log10f", "fast_log2f", "fast_logf", "fast_powf", "fast_sinf", "fast_tanf", "fast_tanhf", "fdim", "fdiv", "ffs", "finitef", "flip", "float2int_rd", "float2int_rn", "float2int_ru", "float2int_rz", "float2ll_rd", "float2ll_rn", "float2ll_ru", "float2ll_rz", "float2uint_rd", "float2uint_rn", "float2uint_ru", "float2uint_rz", "float2ull_rd", "float2ull_rn", "float2ull_ru", "float2ull_rz", "float_as_int", "float_as_uint", "floor", "fma", "fma_rd", "fma_rn", "fma_ru", "fma_rz", "fmod", "gamma", "hadd", "hiloint2double", "hypot", "ilogb", "int2double_rn", "int2float_rd", "int2float_rn", "int2float_ru", "int2float_rz", "int_as_float", "isfinited", "isinf", "isnan", "j0", "j1", "jn", "ldexp", "lgamma", "ll2double_rd", "ll2double_rn", "ll2double_ru", "ll2double_rz", "ll2float_rd", "ll2float_rn", "ll2float_ru", "ll2float_rz", "llrint", "llround", "log", "log10", "log1p", "log2", "logb", "longlong_as_double", "mul24", "mul_rd", "mul_rn", "mul_ru", "mul_rz", "mulhi", "nearbyint", "nextafter", "norm3d", "norm4d", "normcdf", "normcdfinv", "popc", "pow", "rcbrt", "rcp64h", "rcp_rd", "rcp_rn", "rcp_ru", "rcp_rz", "reciprocal", "relu", "remainder", "rhadd", "rhypot", "rint", "rnorm3d", "rnorm4d", "round", "rsqrt", "rsqrt_rn", "sad", "saturatef", "scalbn", "signbit", "sin", "sinh", "sinpi", "sqrt", "sqrt_rd", "sqrt_rn", "sqrt_ru", "sqrt_rz", "sub_rd", "sub_rn", "sub_ru", "sub_rz", "tan", "tanh", "tgamma", "trunc", "uint2double_rn", "uint2float_rd", "uint2float_rn", "uint2float_ru", "uint2float_rz", "uint_as_float", "ull2double_rd", "ull2double_rn", "ull2double_ru", "ull2double_rz", "ull2float_rd", "ull2float_rn", "ull2float_ru", "ull2float_rz", "umulhi", "y0", "y1", "yn"]


@device_function("libdevice", "abs")
def abs(x):
    """Absolute value."""


@device_function("libdevice", "acos")
def acos(x):
    """Arc cosine of each element, in x's dtype."""


@device_function("libdevice", "acosh")
def acosh(x):
    """Inverse hyperbolic cosine of each element, in x's dtype."""


@device_function("libdevice", "add_rd")
def add_rd(x, y):
    """x + y rounded downwards; fp32 or fp64."""


@device_function("libdevice", "add_rn")
def add_rn(x, y):
    """x + y rounded to nearest even."""


@device_function("libdevice", "add_ru")
def add_ru(x, y):
    """x + y rounded upwards; fp32 or fp64."""


@device_function("libdevice", "add_rz")
def add_rz(x, y):
    """x + y rounded towards zero; fp32 or fp64."""


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


@device_function("libdevice", "brev")
def brev(x):
    """The bits of a 32- or 64-bit integer in reverse order."""


@device_function("libdevice", "byte_perm")
def byte_perm(x, y, s):
    """Four of the eight bytes of x (0 to 3) and y (4 to 7), picked by the nibbles of s; bit 3 of a nibble repeats the
    byte's sign. int32.
    """


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


@device_function("libdevice", "cospi")
def cospi(x):
    """cos(pi * x), in x's dtype; floating x."""


@device_function("libdevice", "cyl_bessel_i0")
def cyl_bessel_i0(x):
    """Modified Bessel function of order 0, in x's dtype; floating x."""


@device_function("libdevice", "cyl_bessel_i1")
def cyl_bessel_i1(x):
    """Modified Bessel function of order 1, in x's dtype; floating x."""


@device_function("libdevice", "div_rd")
def div_rd(x, y):
    """x / y rounded downwards; fp32 or fp64."""


@device_function("libdevice", "div_rn")
def div_rn(x, y):
    """x / y rounded to nearest even."""


@device_function("libdevice", "div_ru")
def div_ru(x, y):
    """x / y rounded upwards; fp32 or fp64."""


@device_function("libdevice", "div_rz")
def div_rz(x, y):
    """x / y rounded towards zero; fp32 or fp64."""


@device_function("libdevice", "double2float_rd")
def double2float_rd(x):
    """fp64 to fp32, downwards."""


@device_function("libdevice", "double2float_rn")
def double2float_rn(x):
    """fp64 to fp32, to nearest even."""


@device_function("libdevice", "double2float_ru")
def double2float_ru(x):
    """fp64 to fp32, upwards."""


@device_function("libdevice", "double2float_rz")
def double2float_rz(x):
    """fp64 to fp32, towards zero."""


@device_function("libdevice", "double2hiint")
def double2hiint(x):
    """High half of the bits of fp64, as int32."""


@device_function("libdevice", "double2int_rd")
def double2int_rd(x):
    """To int32, downwards; saturates, NaN gives 0."""


@device_function("libdevice", "double2int_rn")
def double2int_rn(x):
    """To int32, to nearest even; saturates, NaN gives 0."""


@device_function("libdevice", "double2int_ru")
def double2int_ru(x):
    """To int32, upwards; saturates, NaN gives 0."""


@device_function("libdevice", "double2int_rz")
def double2int_rz(x):
    """To int32, towards zero; saturates, NaN gives 0."""


@device_function("libdevice", "double2ll_rd")
def double2ll_rd(x):
    """To int64, downwards; saturates, NaN gives 0."""


@device_function("libdevice", "double2ll_rn")
def double2ll_rn(x):
    """To int64, to nearest even; saturates, NaN gives 0."""


@device_function("libdevice", "double2ll_ru")
def double2ll_ru(x):
    """To int64, upwards; saturates, NaN gives 0."""


@device_function("libdevice", "double2ll_rz")
def double2ll_rz(x):
    """To int64, towards zero; saturates, NaN gives 0."""


@device_function("libdevice", "double2loint")
def double2loint(x):
    """Low half of the bits of fp64, as int32."""


@device_function("libdevice", "double2uint_rd")
def double2uint_rd(x):
    """To uint32, downwards; saturates, NaN gives 0."""


@device_function("libdevice", "double2uint_rn")
def double2uint_rn(x):
    """To uint32, to nearest even; saturates, NaN gives 0."""


@device_function("libdevice", "double2uint_ru")
def double2uint_ru(x):
    """To uint32, upwards; saturates, NaN gives 0."""


@device_function("libdevice", "double2uint_rz")
def double2uint_rz(x):
    """To uint32, towards zero; saturates, NaN gives 0."""


@device_function("libdevice", "double2ull_rd")
def double2ull_rd(x):
    """To uint64, downwards; saturates, NaN gives 0."""


@device_function("libdevice", "double2ull_rn")
def double2ull_rn(x):
    """To uint64, to nearest even; saturates, NaN gives 0."""


@device_function("libdevice", "double2ull_ru")
def double2ull_ru(x):
    """To uint64, upwards; saturates, NaN gives 0."""


@device_function("libdevice", "double2ull_rz")
def double2ull_rz(x):
    """To uint64, towards zero; saturates, NaN gives 0."""


@device_function("libdevice", "double_as_longlong")
def double_as_longlong(x):
    """Bits of fp64 as int64."""


@device_function("libdevice", "erf")
def erf(x):
    """Error function of each element, in x's dtype."""


@device_function("libdevice", "erfc")
def erfc(x):
    """1 - erf(x) of each element, in x's dtype."""


@device_function("libdevice", "erfcinv")
def erfcinv(x):
    """Inverse of erfc, in x's dtype; floating x."""


@device_function("libdevice", "erfcx")
def erfcx(x):
    """exp(x*x) * erfc(x), in x's dtype; floating x."""


@device_function("libdevice", "erfinv")
def erfinv(x):
    """Inverse of erf, in x's dtype; floating x."""


@device_function("libdevice", "exp")
def exp(x):
    """e**x of each element, in x's dtype."""


@device_function("libdevice", "exp10")
def exp10(x):
    """10**x, in x's dtype; floating x."""


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


@device_function("libdevice", "fast_exp10f")
def fast_exp10f(x):
    """10**x, in x's dtype; floating x."""


@device_function("libdevice", "fast_expf")
def fast_expf(x):
    """e**x of each element, in x's dtype."""


@device_function("libdevice", "fast_log10f")
def fast_log10f(x):
    """Logarithm to base 10 of each element, in x's dtype."""


@device_function("libdevice", "fast_log2f")
def fast_log2f(x):
    """Logarithm to base 2 of each element, in x's dtype."""


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


@device_function("libdevice", "fdim")
def fdim(x, y):
    """x - y where it is positive, 0 elsewhere, for floating operands."""


@device_function("libdevice", "fdiv")
def fdiv(x, y, ieee_rounding=False):
    """x / y for floating operands."""


@device_function("libdevice", "ffs")
def ffs(x):
    """1 + position of the lowest set bit, 0 for 0; int32."""


@device_function("libdevice", "finitef")
def finitef(x):
    """int1: is it finite?"""


@device_function("libdevice", "flip")
def flip(ptr, dim=-1):
    """Reverses the order of elements along dim."""


@device_function("libdevice", "float2int_rd")
def float2int_rd(x):
    """To int32, downwards; saturates, NaN gives 0."""


@device_function("libdevice", "float2int_rn")
def float2int_rn(x):
    """To int32, to nearest even; saturates, NaN gives 0."""


@device_function("libdevice", "float2int_ru")
def float2int_ru(x):
    """To int32, upwards; saturates, NaN gives 0."""


@device_function("libdevice", "float2int_rz")
def float2int_rz(x):
    """To int32, towards zero; saturates, NaN gives 0."""


@device_function("libdevice", "float2ll_rd")
def float2ll_rd(x):
    """To int64, downwards; saturates, NaN gives 0."""


@device_function("libdevice", "float2ll_rn")
def float2ll_rn(x):
    """To int64, to nearest even; saturates, NaN gives 0."""


@device_function("libdevice", "float2ll_ru")
def float2ll_ru(x):
    """To int64, upwards; saturates, NaN gives 0."""


@device_function("libdevice", "float2ll_rz")
def float2ll_rz(x):
    """To int64, towards zero; saturates, NaN gives 0."""


@device_function("libdevice", "float2uint_rd")
def float2uint_rd(x):
    """To uint32, downwards; saturates, NaN gives 0."""


@device_function("libdevice", "float2uint_rn")
def float2uint_rn(x):
    """To uint32, to nearest even; saturates, NaN gives 0."""


@device_function("libdevice", "float2uint_ru")
def float2uint_ru(x):
    """To uint32, upwards; saturates, NaN gives 0."""


@device_function("libdevice", "float2uint_rz")
def float2uint_rz(x):
    """To uint32, towards zero; saturates, NaN gives 0."""


@device_function("libdevice", "float2ull_rd")
def float2ull_rd(x):
    """To uint64, downwards; saturates, NaN gives 0."""


@device_function("libdevice", "float2ull_rn")
def float2ull_rn(x):
    """To uint64, to nearest even; saturates, NaN gives 0."""


@device_function("libdevice", "float2ull_ru")
def float2ull_ru(x):
    """To uint64, upwards; saturates, NaN gives 0."""


@device_function("libdevice", "float2ull_rz")
def float2ull_rz(x):
    """To uint64, towards zero; saturates, NaN gives 0."""


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


@device_function("libdevice", "fma_rd")
def fma_rd(x, y, z):
    """x * y + z rounded once, downwards; fp32 or fp64."""


@device_function("libdevice", "fma_rn")
def fma_rn(x, y, z):
    """x * y + z rounded once to nearest even."""


@device_function("libdevice", "fma_ru")
def fma_ru(x, y, z):
    """x * y + z rounded once, upwards; fp32 or fp64."""


@device_function("libdevice", "fma_rz")
def fma_rz(x, y, z):
    """x * y + z rounded once, towards zero; fp32 or fp64."""


@device_function("libdevice", "fmod")
def fmod(x, y):
    """Remainder of x / y with the sign of x."""


@device_function("libdevice", "gamma")
def gamma(x):
    """Gamma function, in x's dtype; floating x."""


@device_function("libdevice", "hadd")
def hadd(x, y):
    """(x + y) / 2 rounded down, without overflow."""


@device_function("libdevice", "hiloint2double")
def hiloint2double(x, y):
    """fp64 with the bits x (high half) and y (low half)."""


@device_function("libdevice", "hypot")
def hypot(x, y):
    """sqrt(x*x + y*y) without overflow on the way, for floating operands."""


@device_function("libdevice", "ilogb")
def ilogb(x):
    """Exponent of x as int32."""


@device_function("libdevice", "int2double_rn")
def int2double_rn(x):
    """int32 to fp64, exact."""


@device_function("libdevice", "int2float_rd")
def int2float_rd(x):
    """int32 to fp32, downwards."""


@device_function("libdevice", "int2float_rn")
def int2float_rn(x):
    """int32 to fp32, to nearest even."""


@device_function("libdevice", "int2float_ru")
def int2float_ru(x):
    """int32 to fp32, upwards."""


@device_function("libdevice", "int2float_rz")
def int2float_rz(x):
    """int32 to fp32, towards zero."""


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


@device_function("libdevice", "j0")
def j0(x):
    """Bessel function of the first kind of order 0, in x's dtype; floating x."""


@device_function("libdevice", "j1")
def j1(x):
    """Bessel function of the first kind of order 1, in x's dtype; floating x."""


@device_function("libdevice", "jn")
def jn(n, x):
    """Bessel function of the first kind of integer order n."""


@device_function("libdevice", "ldexp")
def ldexp(x, y):
    """x * 2**y for integer y, rounded once."""


@device_function("libdevice", "lgamma")
def lgamma(x):
    """Logarithm of the absolute value of the gamma function, in x's dtype; floating x."""


@device_function("libdevice", "ll2double_rd")
def ll2double_rd(x):
    """int64 to fp64, downwards."""


@device_function("libdevice", "ll2double_rn")
def ll2double_rn(x):
    """int64 to fp64, to nearest even."""


@device_function("libdevice", "ll2double_ru")
def ll2double_ru(x):
    """int64 to fp64, upwards."""


@device_function("libdevice", "ll2double_rz")
def ll2double_rz(x):
    """int64 to fp64, towards zero."""


@device_function("libdevice", "ll2float_rd")
def ll2float_rd(x):
    """int64 to fp32, downwards."""


@device_function("libdevice", "ll2float_rn")
def ll2float_rn(x):
    """int64 to fp32, to nearest even."""


@device_function("libdevice", "ll2float_ru")
def ll2float_ru(x):
    """int64 to fp32, upwards."""


@device_function("libdevice", "ll2float_rz")
def ll2float_rz(x):
    """int64 to fp32, towards zero."""


@device_function("libdevice", "llrint")
def llrint(x):
    """Nearest integer, halves to even, as int64; saturates, NaN gives 0."""


@device_function("libdevice", "llround")
def llround(x):
    """Nearest integer, halves away from zero, as int64; saturates, NaN gives 0."""


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


@device_function("libdevice", "logb")
def logb(x):
    """Exponent of x as a float, in x's dtype; floating x."""


@device_function("libdevice", "longlong_as_double")
def longlong_as_double(x):
    """int64 bits as fp64."""


@device_function("libdevice", "mul24")
def mul24(x, y):
    """Product of the low 24 bits of two 32-bit integers."""


@device_function("libdevice", "mul_rd")
def mul_rd(x, y):
    """x * y rounded downwards; fp32 or fp64."""


@device_function("libdevice", "mul_rn")
def mul_rn(x, y):
    """x * y rounded to nearest even."""


@device_function("libdevice", "mul_ru")
def mul_ru(x, y):
    """x * y rounded upwards; fp32 or fp64."""


@device_function("libdevice", "mul_rz")
def mul_rz(x, y):
    """x * y rounded towards zero; fp32 or fp64."""


@device_function("libdevice", "mulhi")
def mulhi(x, y):
    """High half of the product of two 32- or 64-bit integers, by their sign."""


@device_function("libdevice", "nearbyint")
def nearbyint(x):
    """Nearest integer, halves to even of each element, in x's dtype."""


@device_function("libdevice", "nextafter")
def nextafter(x, y):
    """The neighbour of x towards y, for fp32 and fp64, for floating operands."""


@device_function("libdevice", "norm3d")
def norm3d(a, b, c):
    """Square root of the sum of three squares, for floating operands."""


@device_function("libdevice", "norm4d")
def norm4d(a, b, c, d):
    """Square root of the sum of four squares, for floating operands."""


@device_function("libdevice", "normcdf")
def normcdf(x):
    """Distribution function of the normal distribution, in x's dtype; floating x."""


@device_function("libdevice", "normcdfinv")
def normcdfinv(x):
    """Inverse of normcdf, in x's dtype; floating x."""


@device_function("libdevice", "popc")
def popc(x):
    """Number of set bits, int32."""


@device_function("libdevice", "pow")
def pow(x, y):
    """x**y for floating operands."""


@device_function("libdevice", "rcbrt")
def rcbrt(x):
    """1 / cbrt(x), in x's dtype; floating x."""


@device_function("libdevice", "rcp64h")
def rcp64h(x):
    """1 / x in fp64 with the low half of its bits cleared."""


@device_function("libdevice", "rcp_rd")
def rcp_rd(x):
    """1 / x rounded downwards; fp32 or fp64."""


@device_function("libdevice", "rcp_rn")
def rcp_rn(x):
    """1 / x rounded to nearest even."""


@device_function("libdevice", "rcp_ru")
def rcp_ru(x):
    """1 / x rounded upwards; fp32 or fp64."""


@device_function("libdevice", "rcp_rz")
def rcp_rz(x):
    """1 / x rounded towards zero; fp32 or fp64."""


@device_function("libdevice", "reciprocal")
def reciprocal(x):
    """1 / x in x's dtype."""


@device_function("libdevice", "relu")
def relu(x):
    """x where it is positive (or NaN), 0 elsewhere."""


@device_function("libdevice", "remainder")
def remainder(x, y):
    """x - n * y with the integer n nearest to x / y, for floating operands."""


@device_function("libdevice", "rhadd")
def rhadd(x, y):
    """(x + y) / 2 rounded up, without overflow."""


@device_function("libdevice", "rhypot")
def rhypot(x, y):
    """1 / sqrt(x*x + y*y) without overflow on the way, for floating operands."""


@device_function("libdevice", "rint")
def rint(x):
    """Nearest integer, halves to even of each element, in x's dtype."""


@device_function("libdevice", "rnorm3d")
def rnorm3d(a, b, c):
    """1 / norm3d(a, b, c), for floating operands."""


@device_function("libdevice", "rnorm4d")
def rnorm4d(a, b, c, d):
    """1 / norm4d(a, b, c, d), for floating operands."""


@device_function("libdevice", "round")
def round(x):
    """Nearest integer, halves away from zero of each element, in x's dtype."""


@device_function("libdevice", "rsqrt")
def rsqrt(x):
    """1 / sqrt(x) of each element, in x's dtype."""


@device_function("libdevice", "rsqrt_rn")
def rsqrt_rn(x):
    """1 / sqrt(x) rounded to nearest even."""


@device_function("libdevice", "sad")
def sad(x, y, z):
    """abs(x - y) + z, unsigned."""


@device_function("libdevice", "saturatef")
def saturatef(x):
    """x limited to [0, 1]; NaN gives 0."""


@device_function("libdevice", "scalbn")
def scalbn(x, y):
    """x * 2**y for integer y, rounded once."""


@device_function("libdevice", "signbit")
def signbit(x):
    """int32: 1 where the sign bit is set."""


@device_function("libdevice", "sin")
def sin(x):
    """Sine of each element, in x's dtype."""


@device_function("libdevice", "sinh")
def sinh(x):
    """Hyperbolic sine of each element, in x's dtype."""


@device_function("libdevice", "sinpi")
def sinpi(x):
    """sin(pi * x), in x's dtype; floating x."""


@device_function("libdevice", "sqrt")
def sqrt(x):
    """Square root of each element, in x's dtype."""


@device_function("libdevice", "sqrt_rd")
def sqrt_rd(x):
    """Square root rounded downwards; fp32 or fp64."""


@device_function("libdevice", "sqrt_rn")
def sqrt_rn(x):
    """Square root rounded to nearest even of each element, in x's dtype."""


@device_function("libdevice", "sqrt_ru")
def sqrt_ru(x):
    """Square root rounded upwards; fp32 or fp64."""


@device_function("libdevice", "sqrt_rz")
def sqrt_rz(x):
    """Square root rounded towards zero; fp32 or fp64."""


@device_function("libdevice", "sub_rd")
def sub_rd(x, y):
    """x - y rounded downwards; fp32 or fp64."""


@device_function("libdevice", "sub_rn")
def sub_rn(x, y):
    """x - y rounded to nearest even."""


@device_function("libdevice", "sub_ru")
def sub_ru(x, y):
    """x - y rounded upwards; fp32 or fp64."""


@device_function("libdevice", "sub_rz")
def sub_rz(x, y):
    """x - y rounded towards zero; fp32 or fp64."""


@device_function("libdevice", "tan")
def tan(x):
    """Tangent of each element, in x's dtype."""


@device_function("libdevice", "tanh")
def tanh(x):
    """Hyperbolic tangent of each element, in x's dtype."""


@device_function("libdevice", "tgamma")
def tgamma(x):
    """Gamma function, in x's dtype; floating x."""


@device_function("libdevice", "trunc")
def trunc(x):
    """Integer part of each element, in x's dtype."""


@device_function("libdevice", "uint2double_rn")
def uint2double_rn(x):
    """uint32 to fp64, exact."""


@device_function("libdevice", "uint2float_rd")
def uint2float_rd(x):
    """uint32 to fp32, downwards."""


@device_function("libdevice", "uint2float_rn")
def uint2float_rn(x):
    """uint32 to fp32, to nearest even."""


@device_function("libdevice", "uint2float_ru")
def uint2float_ru(x):
    """uint32 to fp32, upwards."""


@device_function("libdevice", "uint2float_rz")
def uint2float_rz(x):
    """uint32 to fp32, towards zero."""


@device_function("libdevice", "uint_as_float")
def uint_as_float(x):
    """uint32 bits as fp32."""


@device_function("libdevice", "ull2double_rd")
def ull2double_rd(x):
    """uint64 to fp64, downwards."""


@device_function("libdevice", "ull2double_rn")
def ull2double_rn(x):
    """uint64 to fp64, to nearest even."""


@device_function("libdevice", "ull2double_ru")
def ull2double_ru(x):
    """uint64 to fp64, upwards."""


@device_function("libdevice", "ull2double_rz")
def ull2double_rz(x):
    """uint64 to fp64, towards zero."""


@device_function("libdevice", "ull2float_rd")
def ull2float_rd(x):
    """uint64 to fp32, downwards."""


@device_function("libdevice", "ull2float_rn")
def ull2float_rn(x):
    """uint64 to fp32, to nearest even."""


@device_function("libdevice", "ull2float_ru")
def ull2float_ru(x):
    """uint64 to fp32, upwards."""


@device_function("libdevice", "ull2float_rz")
def ull2float_rz(x):
    """uint64 to fp32, towards zero."""


@device_function("libdevice", "umulhi")
def umulhi(x, y):
    """High half of the unsigned product."""


@device_function("libdevice", "y0")
def y0(x):
    """Bessel function of the second kind of order 0, in x's dtype; floating x."""


@device_function("libdevice", "y1")
def y1(x):
    """Bessel function of the second kind of order 1, in x's dtype; floating x."""


@device_function("libdevice", "yn")
def yn(n, x):
    """Bessel function of the second kind of integer order n."""
