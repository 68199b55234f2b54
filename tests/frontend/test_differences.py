# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values that cannot become one: which part differs, and help that fits its kind; other
messages that name the cause."""

import nereid
import pytest
from frontend_kernels import load, refused
from nereid import _compiler


AGGREGATE = """
@nereid.aggregate
class Pair:
    a: tl.tensor
    K: tl.constexpr

    def __init__(self, a, K):
        self.a = a
        self.K = K


@nereid.aggregate
class Other:
    a: tl.tensor
    K: tl.constexpr

    def __init__(self, a, K):
        self.a = a
        self.K = K


@nereid.jit
def f(x):
    return x


@nereid.jit
def g(x):
    return x + 1


@nereid.jit
def nothing(x):
    tl.static_assert(True)
"""

#: before a run-time `if` or loop, inside of it, message, help.
DIFFERENCES = {
    "constant field": ("Pair(n, 1)", "Pair(n, 2)", "'r.K' is constexpr", "annotated tl.constexpr"),
    "field": ("Pair(n, 1)", "Pair(n * 1.0, 1)", "'r.a' is int32 scalar", None),
    "class": ("Pair(n, 1)", "Other(n, 1)", "an instance of 'Pair'", "instances of one aggregate"),
    "item": ("(n, (n, n))", "(n, (n, n * 1.0))", "'r[1][1]' is int32 scalar", None),
    "length": ("(n, n)", "(n, n, n)", "tuple of 2 items", "the same number of items"),
    "no tuple": ("(n, n)", "n", "'r' is tuple of 2 items", "stays a tuple"),
    "function": ("f", "g", "jit function 'f'", "call"),
    "dtype": ("tl.int32", "tl.int64", "dtype int32", "fixed at compile time"),
    "shape": ("tl.zeros((4,), tl.int32)", "tl.zeros((8,), tl.int32)", "int32[4] block", "tl.zeros(shape, dtype)"),
    "pointer": ("x_ptr", "i_ptr", "pointer<fp32>", "tl.pointer_type"),
    "None": ("None", "n", "'r' is None", "known at compile time alone"),
}


@pytest.mark.parametrize("case", DIFFERENCES)
@pytest.mark.parametrize("kind", ["if", "loop"])
def test_what_differs_and_what_helps(kind, case, tmp_path):
    before, inside, message, help = DIFFERENCES[case]
    head = "if n > 3:" if kind == "if" else "for i in range(n):"
    body = AGGREGATE + f"""

@nereid.jit
def kernel(x_ptr, i_ptr, n):
    r = {before}
    {head}
        r = {inside}
    tl.static_print(r)
"""
    module, _, _ = load(tmp_path, body)
    with pytest.raises(nereid.CompilationError) as caught:
        _compiler.build_ttir(module.kernel, [("*fp32", 16), ("*i32", 16), ("i32", 0)], {})
    error = caught.value
    assert error.name == ("branch_types_differ" if kind == "if" else "loop_types_differ"), error
    assert message in error.message or (kind == "if" and message.partition(" is ")[0] in error.message), error
    if help:
        assert help in str(error) and ".to(...)" not in str(error), error
    else:
        assert ".to(...)" in str(error), error


#: statement with the mark, message, help or ""
CLEAR = {
    "comprehension": ("[tl.load(x_ptr + j) for j in range(⟦n⟧)]", "known only at run time", "a comprehension is unrolled"),
    "topk": ("tl.topk(tl.arange(0, 8), ⟦64⟧)", "64 is out of range for k, which is 1 to 8", "a number of 1 to 8"),
    "full": ("⟦tl.full([4], 300, tl.int8)⟧", "which holds -128 to 127", "write a number of -128 to 127"),
    "no return": ("tl.store(x_ptr, ⟦nothing(n)⟧)", "function 'nothing' returns nothing", "with a `return`"),
    "array of one element compared": ("⟦tl.arange(0, 4) < x_ptr⟧", "pointers cannot be compared", "x.item()"),
    "array of one element multiplied": ("⟦n * x_ptr⟧", "'*' does not take", "x.item()"),
    "no return in an operator": ("⟦n + nothing(n)⟧", "function 'nothing' returns nothing", "with a `return`"),
    "padding by position": (
        "tl.load(x_ptr, n > 3, 0.0, ⟦'zero'⟧)", "argument 'boundary_check' of tl.load", "padding_option=",
    ),
    "cache by position": (
        "tl.store(x_ptr, 1.0, n > 3, ⟦'.wb'⟧)", "argument 'boundary_check' of tl.store", "cache_modifier=",
    ),
}


@pytest.mark.parametrize("case", CLEAR)
def test_clear_messages(case, tmp_path):
    statement, message, help = CLEAR[case]
    error = refused(tmp_path, AGGREGATE + f"\n\n@nereid.jit\ndef kernel(x_ptr, n):\n    {statement}\n")
    assert message in error.message and help in str(error), error


def test_argument_that_was_none(tmp_path):
    error = refused(tmp_path, "\n@nereid.jit\ndef kernel(x_ptr, n):\n    tl.load(⟦x_ptr + n⟧)\n", x_ptr=None)
    assert "None (the argument 'x_ptr' of the kernel)" in error.message and "`is None`" in str(error), error


def test_inline_assembly_of_scalars(tmp_path):
    module, _, _ = load(
        tmp_path,
        """
        @nereid.jit
        def kernel(i_ptr, n):
            a = tl.inline_asm_elementwise("mov $0, $1;", "=r,r", [n], tl.int32, True, 1)
            tl.store(i_ptr, a)
        """,
    )
    with pytest.raises(nereid.CompilationError) as caught:
        _compiler.compile(module.kernel, [("*i32", 16), ("i32", 0)], {})
    assert caught.value.name == "inline_assembly" and "tl.map_elementwise" in str(caught.value), caught.value
