# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of libdevice in the stock front end's TTIR run on the CPU, and ours go to a cubin."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("triton")

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.differential.harness import Worker  # noqa: E402
from tests.differential.program import Argument, Program  # noqa: E402

N = 64

#: name -> reference in float64; the operand is x in [0.1, 0.9], y in [1, 3]
UNARY = {
    "exp": np.exp, "exp2": np.exp2, "exp10": lambda x: 10.0**x, "expm1": np.expm1, "log": np.log, "log2": np.log2,
    "log10": np.log10, "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh,
    "acosh": lambda x: np.arccosh(x), "atanh": np.arctanh, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt, "rcbrt": lambda x: 1 / np.cbrt(x), "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
    "round": lambda x: np.trunc(x + np.copysign(0.5, x)), "rint": np.rint, "nearbyint": np.rint, "abs": np.abs,
    "erf": np.vectorize(math.erf), "erfc": np.vectorize(math.erfc), "sinpi": lambda x: np.sin(np.pi * x),
    "cospi": lambda x: np.cos(np.pi * x), "normcdf": np.vectorize(lambda x: 0.5 * math.erfc(-x / math.sqrt(2))),
    "isnan": np.isnan, "isinf": np.isinf, "signbit": np.signbit, "llrint": np.rint, "llround": np.round,
    "sqrt_rn": np.sqrt, "rcp_rn": lambda x: 1 / x,
}
BINARY = {
    "pow": np.power, "atan2": np.arctan2, "fmod": np.fmod, "copysign": np.copysign, "hypot": np.hypot,
    "rhypot": lambda x, y: 1 / np.hypot(x, y), "fdim": lambda x, y: np.maximum(x - y, 0), "div_rn": np.divide,
    "add_rn": np.add, "sub_rn": np.subtract, "mul_rn": np.multiply,
}
FLOAT32_ONLY = {
    "fast_expf": np.exp, "fast_logf": np.log, "fast_log2f": np.log2, "fast_log10f": np.log10, "fast_sinf": np.sin,
    "fast_cosf": np.cos, "fast_tanf": np.tan, "fast_exp10f": lambda x: 10.0**x, "saturatef": lambda x: np.clip(x, 0, 1),
    "finitef": np.isfinite, "float2int_rn": np.rint, "float2int_rz": np.trunc, "float2int_rd": np.floor,
    "float2int_ru": np.ceil, "float2ll_rz": np.trunc, "float_as_int": lambda x: np.float32(x).view(np.int32),
}
INTEGER = {
    "clz": lambda x: 32 - np.vectorize(lambda n: int(n).bit_length())(x.view(np.uint32)),
    "popc": lambda x: np.vectorize(lambda n: int(n).bit_count())(x.view(np.uint32)),
    "brev": lambda x: np.vectorize(lambda n: int(f"{int(n):032b}"[::-1], 2))(x.view(np.uint32)).astype(np.uint32).view(np.int32),
    "ffs": np.vectorize(lambda n: (int(n) & -int(n)).bit_length()), "abs": np.abs,
    "int2float_rn": lambda x: x.astype(np.float32), "int_as_float": lambda x: x.view(np.float32),
}
INTEGERS = {
    "mulhi": lambda x, y: (x.astype(np.int64) * y) >> 32,
    "mul24": lambda x, y: ((x.astype(np.int64) << 40 >> 40) * (y.astype(np.int64) << 40 >> 40)).astype(np.int32),
    "hadd": lambda x, y: (x.astype(np.int64) + y) >> 1, "rhadd": lambda x, y: (x.astype(np.int64) + y + 1) >> 1,
}


@pytest.fixture(scope="module")
def workers():
    both = Worker("stock"), Worker("native")
    yield both
    for worker in both:
        worker.close()


def run(workers, names, dtype, operands, results, x, y):
    lines = ["    o = tl.arange(0, 64)", "    a = tl.load(x + o)", "    b = tl.load(y + o)"]
    arguments = [Argument("x", dtype, x), Argument("y", dtype, y)]
    for name in names:
        out = f"out_{name}"
        lines.append(f"    tl.store({out} + o, libdevice.{name}({', '.join('ab'[:operands])}))")
        arguments.append(Argument(out, results(name), np.zeros(N, results(name)), output=True))
    parameters = ", ".join(argument.name for argument in arguments)
    source = "from triton.language.extra import libdevice\n\n\n" \
        f"@triton.jit\ndef kernel({parameters}):\n" + "\n".join(lines) + "\n"
    program = Program(0, source, "kernel", arguments)
    stock, native = workers
    status, text = stock.ask("stock", program, False)
    assert status == "ok", text
    assert "tt.extern_elementwise" in text
    status, values = native.ask("ttir", program, text)
    assert status == "ok", values
    return dict(zip(names, values))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_of_floats(workers, dtype):
    generator = np.random.default_rng(1)
    x, y = generator.uniform(0.1, 0.9, N).astype(dtype), generator.uniform(1, 3, N).astype(dtype)
    x[3], x[4] = -0.75, -0.0
    integer = {"isnan": "int32", "isinf": "int32", "signbit": "int32", "llrint": "int64", "llround": "int64"}
    tolerance = 4e-6 if dtype == "float32" else 1e-13
    with np.errstate(all="ignore"):
        for table, operands in ((UNARY, 1), (BINARY, 2), (FLOAT32_ONLY if dtype == "float32" else {}, 1)):
            if not table:
                continue
            kinds = {**integer, "finitef": "int32", "float2int_rn": "int32", "float2int_rz": "int32", "float2int_rd": "int32",
                     "float2int_ru": "int32", "float2ll_rz": "int64", "float_as_int": "int32"}
            got = run(workers, list(table), dtype, operands, lambda name: kinds.get(name, dtype), x, y)
            for name, reference in table.items():
                arguments = (x.astype(np.float64), y.astype(np.float64))[:operands]
                wanted = np.asarray(reference(*arguments)).astype(np.float64)
                np.testing.assert_allclose(got[name].astype(np.float64), wanted, rtol=tolerance, atol=tolerance, err_msg=name)


def test_functions_of_integers(workers):
    generator = np.random.default_rng(2)
    x, y = generator.integers(-2**31, 2**31, (2, N)).astype(np.int32)
    x[0], x[1], x[2] = 0, 1, -1
    kinds = {"int2float_rn": "float32", "int_as_float": "float32"}
    for table, operands in ((INTEGER, 1), (INTEGERS, 2)):
        got = run(workers, list(table), "int32", operands, lambda name: kinds.get(name, "int32"), x, y)
        for name, reference in table.items():
            wanted = reference(*(x, y)[:operands])
            np.testing.assert_array_equal(got[name], np.asarray(wanted).astype(got[name].dtype), err_msg=name)


def test_a_function_that_is_not_known_is_named():
    from nereid import CompilationError
    from nereid._kernels import ir as _ir

    text = """\
tt.func public @k(%p: !tt.ptr<f32>) {
  %x = tt.load %p : !tt.ptr<f32>
  %y = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_nothing"} : (f32) -> f32
  tt.store %p, %y : !tt.ptr<f32>
  tt.return
}
"""
    with pytest.raises(CompilationError, match="__nv_nothing|extern_elementwise"):
        _ir.compile_text(text, "k.ttir")
