# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types, their members, methods of values, Python's functions in kernels."""

import numpy as np
import pytest
from sheet import DTYPES, Sheet, integers, load_kernel, refuse, run, values

import nereid
import nereid.language as tl

MEMBERS = {
    "is_floating": lambda n: n.startswith(("float", "bfloat")), "is_int": lambda n: "int" in n, "is_bool": lambda n: n == "int1",
    "is_int_signed": lambda n: n.startswith("int") and n != "int1", "is_int_unsigned": lambda n: n.startswith("uint") or n == "int1",
    "is_fp8": lambda n: n.startswith("float8"), "is_fp16": lambda n: n == "float16", "is_bf16": lambda n: n == "bfloat16",
    "is_fp32": lambda n: n == "float32", "is_fp64": lambda n: n == "float64", "is_ptr": lambda n: False, "is_block": lambda n: False,
    "is_standard_floating": lambda n: n in ("float16", "bfloat16", "float32", "float64"),
}  # fmt: skip
NAMES = [*DTYPES, "float8e4b15"]


def test_types():
    """In kernels and on the host."""
    lines = []
    for name in NAMES:
        for member, function in MEMBERS.items():
            lines.append(f"tl.static_assert(tl.{name}.{member}() == {function(name)})")
            if member != "is_standard_floating":
                assert getattr(getattr(tl, name), member)() == function(name), (name, member)
        bits = 1 if name == "int1" else 8 if name.startswith("float8") else DTYPES[name].itemsize * 8
        lines.append(f"tl.static_assert(tl.{name}.primitive_bitwidth == {bits})")
        lines.append(f"tl.static_assert(tl.{name}.itemsize == {max(1, bits // 8)})")
        lines.append(f"tl.static_assert(tl.{name}.scalar == tl.{name})")
        lines.append(f"tl.static_assert(tl.dtype(tl.{name}.name) == tl.{name})")
        for other in ("int8", "uint64", "float8e5", "float8e4nv", "float8e5b16", "float8e4b8", "float8e4b15", "int16", "int32", "int64", "uint8",
                      "uint16", "uint32", "int1"):  # fmt: skip
            lines.append(f"tl.static_assert(tl.{name}.is_{other.replace('float8', 'fp8')}() == {name == other})")
    lines += ["tl.static_assert(tl.pointer_type(tl.float16).is_ptr())", "tl.static_assert(tl.pointer_type(tl.float16).element_ty == tl.float16)",
              "tl.static_assert(tl.pi32_t.element_ty == tl.int32)", "tl.static_assert(tl.TRITON_MAX_TENSOR_NUMEL == 1048576)",
              "tl.static_assert(p0.dtype.element_ty == tl.float32)", "x = tl.load(p0 + tl.arange(0, 4))[None, :]",
              "tl.static_assert(x.dtype == tl.float32 and x.type.scalar == tl.float32)", "tl.static_assert(x.shape[0] == 1 and x.shape[1] == 4)",
              "tl.static_assert(x.numel == 4 and len(x.shape) == 2)", "tl.static_assert(x.type.is_block() and not x.dtype.is_block())",
              "tl.static_assert(isinstance(x, tl.tensor) and not isinstance(3, tl.tensor))",
              "tl.static_assert(isinstance(tl.constexpr(3), tl.constexpr))", "q = p0.to(tl.pointer_type(tl.int32), bitcast=True)",
              "tl.static_assert(q.dtype.element_ty == tl.int32)"]  # fmt: skip
    run("\n".join(lines), np.zeros(4, np.float32))
    for name in ("core", "standard", "math", "target_info", "extra"):
        assert getattr(tl, name)
    assert tl.extra.cuda.libdevice is tl.extra.libdevice
    assert tl.block_type(tl.float32, (2, 3)).numel == 6 and tl.void.is_void()
    assert tl.core.load is tl.load and tl.PropagateNan.ALL != tl.PropagateNan.NONE


def test_functions_run_at_compile_time():
    kernel = load_kernel([
        "@tl.constexpr_function", "def triangle(n):", "    return n * (n + 1) // 2", "", "@nereid.jit", "def kernel(p):",
        "    SIZE: tl.constexpr = triangle(4)", "    tl.store(p + tl.arange(0, SIZE), tl.full((SIZE,), triangle(3), tl.int32))"])  # fmt: skip
    out = np.zeros(10, np.int32)
    kernel[(1,)](out)
    assert (out == 6).all()
    with pytest.raises(RuntimeError, match="jit"):
        tl.load(None)


@pytest.mark.parametrize("name", ["float32", "int32"])
def test_methods(rng, name):
    """Each method of values is the function of its name."""
    x = values(rng, (4, 6), name, 1 if name == "int32" else 0.5, 20, special=False)
    sheet = Sheet("@nereid.jit\ndef plus(a, b):\n    return a + b\n").input("x", x)
    pairs = ["abs()", "sum(1)", "max(0)", "min(1)", "argmax(1)", "argmin(0)", "cumsum(1)", "cumprod(1)", "ravel()", "reshape(6, 4)", "view(3, 8)",
             "permute(1, 0)", "trans()", "flip(0)", "expand_dims(1)", "to(tl.float64)", "cast(tl.int16)", "reduce(0, plus)", "associative_scan(1, plus)",
             "broadcast_to(4, 6)", "floor()", "ceil()", "sort()", "topk(2)"]  # fmt: skip
    if name == "float32":
        pairs += ["exp()", "exp2()", "log()", "log2()", "sin()", "cos()", "sqrt()", "sqrt_rn()", "rsqrt()", "erf()", "sigmoid()", "softmax()"]
    else:
        pairs += ["cdiv(3)", "xor_sum(0)", "reduce_or(1)"]
    for call in pairs:
        method, arguments = call.split("(", 1)
        function = "tl.cast" if method == "to" else f"tl.{method}"
        rest = arguments[:-1]
        sheet.add(f"(x.{call} - {function}(x{', ' + rest if rest else ''})).to(tl.float32).sum()", np.float32(0))
    sheet.add("x.gather(tl.zeros((4, 1), tl.int32), 1)", x[:, :1], exact=True)
    if name == "int32":
        sheet.add("x.ravel().histogram(30)", np.bincount(x.ravel(), minlength=30)[:30].astype(np.int32))
    sheet.add("tl.join(x, x).split()[0]", x, exact=True).add("tl.full((1, 1), 3, tl.int32).item()", np.int32(3))
    sheet.run()
    memory = np.arange(8, dtype=np.int32)
    run("""
p = p0 + tl.arange(0, 4)
p.store(p.load() + 10)
(p0 + 4).atomic_add(1)
(p0 + 4).atomic_max(100)
(p0 + 4).atomic_min(50)
(p0 + 5).atomic_or(8)
(p0 + 5).atomic_and(12)
(p0 + 5).atomic_xor(1)
(p0 + 6).atomic_xchg(77)
(p0 + 7).atomic_cas(7, 70)
b = tl.make_block_ptr(p0, (8,), (1,), (0,), (2,), (0,)).advance((2,))
b.store(b.load() * 2)
""", memory)
    assert memory.tolist() == [10, 11, 24, 26, 50, 13, 77, 70]


def test_python_functions(rng):
    x, y = integers(rng, 9, "int32"), integers(rng, 9, "int32")
    Point = "import collections\nPoint = collections.namedtuple('Point', ['a', 'b'])\n"
    sheet = Sheet(Point).input("x", x).input("y", y)
    sheet.add("min(x, y)", np.minimum(x, y)).add("max(x, y)", np.maximum(x, y)).add("max(3, 5, 4)", np.int32(5)).add("min((3, 5, 4))", np.int32(3))
    sheet.add("len((1, 2, 3))", np.int32(3)).add("len(x)", np.int32(9)).add("float('-inf')", np.float32(-np.inf)).add("int('12') + int(2.9)", np.int32(14))
    sheet.add("float(3)", np.float32(3)).add("getattr(Point(1, 2), 'b')", np.int32(2)).add("getattr(x, 'missing', 5)", np.int32(5))
    sheet.add("hasattr(x, 'shape') + 0", np.int32(1)).add("isinstance(x, tl.tensor) + 0", np.int32(1)).add("isinstance(3, (int, float)) + 0", np.int32(1))
    sheet.run()


def test_refused():
    refuse("x.missing", "missing")
    refuse("tl.missing(x)", "missing")
    refuse("tl.lod(x)", "did you mean 'load'")
    refuse("tl.dtype('fp9')", "fp9")
    refuse("len(3)", "block")
    refuse("float(x)", "tl.float32")
