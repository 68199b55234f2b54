# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by python/generate_language.py from the compiler's table: do not edit.
"""Functions of nereid.language.extra.libdevice. Part 2."""

from nereid.language._device import DeviceConstant, device_function


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

