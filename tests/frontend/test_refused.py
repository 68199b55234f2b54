# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the front end refuses: message, help, and the exact place it points at."""

import re
from pathlib import Path

import nereid
import pytest
from frontend_kernels import load, refused
from nereid import _compiler

# name of the case: (body of the module, message, part of the help or notes)
CASES = {
    # ---- names
    "unknown name": (
        """
        @nereid.jit
        def kernel(n):
            count = n
            m = ⟦coutn⟧ + 1
        """,
        "name 'coutn' is not defined",
        "did you mean 'count'?",
    ),
    "unknown name far from all others": (
        """
        @nereid.jit
        def kernel(n):
            ⟦zzzzzzzzzzzz⟧()
        """,
        "name 'zzzzzzzzzzzz' is not defined",
        None,
    ),
    "local variable before its assignment": (
        """
        a = tl.constexpr(1)

        @nereid.jit
        def kernel(n):
            b = ⟦a⟧
            a = n
        """,
        "'a' is used before it has a value",
        "assign it on every path",
    ),
    "name of one branch": (
        """
        @nereid.jit
        def kernel(n):
            if n > 3:
                a = 1
            b = ⟦a⟧
        """,
        "'a' has a value in one branch of the `if` only",
        "it was assigned here",
    ),
    "name of a loop": (
        """
        @nereid.jit
        def kernel(n):
            for i in range(n):
                a = i
            b = ⟦a⟧
        """,
        "'a' was first assigned inside the loop and has no value after it",
        "assign it before the loop",
    ),
    "loop variable after the loop": (
        """
        @nereid.jit
        def kernel(n):
            for i in range(n):
                pass
            b = ⟦i⟧
        """,
        "loop variable 'i' has no value after its loop",
        "copy it",
    ),
    "plain global": (
        """
        SIZE = 64

        @nereid.jit
        def kernel(n):
            tl.arange(0, ⟦SIZE⟧)
        """,
        "global 'SIZE' is the plain int 64, which a kernel cannot use",
        "`SIZE = tl.constexpr(...)`",
    ),
    "plain function": (
        """
        def helper(x):
            return x

        @nereid.jit
        def kernel(n):
            ⟦helper⟧(n)
        """,
        "global 'helper' is a plain Python function, which a kernel cannot use",
        "decorate it with @nereid.jit",
    ),
    "object of another kind": (
        """
        TABLE = {1: 2}

        @nereid.jit
        def kernel(n):
            ⟦TABLE⟧
        """,
        "global 'TABLE' is a dict, which a kernel cannot use",
        "pass it as an argument",
    ),
    "function of a module": (
        """
        @nereid.jit
        def kernel(n):
            ⟦math.factorial⟧(3)
        """,
        "global 'math.factorial' is a builtin_function_or_method, which a kernel cannot use",
        None,
    ),
    "built-in of Python": (
        """
        @nereid.jit
        def kernel(n):
            a = ⟦zip⟧(n, n)
        """,
        "Python's built-in 'zip' cannot be used in a kernel",
        None,
    ),
    "built-in of Python with a counterpart": (
        """
        @nereid.jit
        def kernel(n):
            a = ⟦abs⟧(n)
        """,
        "Python's built-in 'abs' cannot be used in a kernel",
        "use `tl.abs`",
    ),
    "unknown function of the language": (
        """
        @nereid.jit
        def kernel(n):
            ⟦tl.zeroes⟧((4,), tl.float32)
        """,
        "module 'nereid.language' has no attribute 'zeroes'",
        "did you mean 'zeros'?",
    ),
    "unknown attribute": (
        """
        @nereid.jit
        def kernel(n):
            ⟦n.too⟧(tl.float32)
        """,
        "int32 scalar has no attribute 'too'",
        "did you mean 'to'?",
    ),
    # ---- types that change
    "branches give an old name another type": (
        """
        @nereid.jit
        def kernel(n):
            a = n
            if n > 3:
                ⟦a⟧ = 1.0
        """,
        "'a' is fp32 scalar in one branch of the `if`, int32 scalar in the other",
        "the other definition of 'a'",
    ),
    "branches give a new name two types": (
        """
        @nereid.jit
        def kernel(n):
            if n > 3:
                a = 1.0
            else:
                a = 1
            b = ⟦a⟧
        """,
        "'a' is fp32 scalar in one branch of the `if`, int32 scalar in the other",
        "the other definition of 'a'",
    ),
    "branches give a name two shapes": (
        """
        @nereid.jit
        def kernel(n):
            a = tl.zeros((4,), tl.float32)
            if n > 3:
                pass
            else:
                ⟦a⟧ = tl.zeros((8,), tl.float32)
        """,
        "'a' is fp32[4] block in one branch of the `if`, fp32[8] block in the other",
        "give both the same shape",
    ),
    "loop changes a type": (
        """
        @nereid.jit
        def kernel(n):
            a = 0
            for i in range(n):
                ⟦a⟧ += 1.5
        """,
        "'a' is int32 scalar before the loop, but fp32 scalar at the end of its body",
        "'a' before the loop",
    ),
    "while loop changes a shape": (
        """
        @nereid.jit
        def kernel(n):
            a = tl.zeros((4,), tl.float32)
            while n > 0:
                n -= 1
                ⟦a⟧ = tl.zeros((8,), tl.float32)
        """,
        "'a' is fp32[4] block before the loop, but fp32[8] block at the end of its body",
        "a block of the final shape",
    ),
    "loop changes what is not a run-time value": (
        """
        @nereid.jit
        def kernel(n):
            a = None
            for i in range(n):
                ⟦a⟧ = n
        """,
        "'a' is None before the loop, but int32 scalar at the end of its body",
        None,
    ),
    "arms of a conditional expression": (
        """
        @nereid.jit
        def kernel(n, f):
            a = ⟦n if n > 3 else f⟧
        """,
        "the arms of this conditional expression are int32 scalar and fp32 scalar",
        "give both the same type",
    ),
    # ---- returns
    "loop variable of another type than before": (
        """
        @nereid.jit
        def kernel(n, f):
            i = f
            for i in range(n):
                pass
            b = ⟦i⟧
        """,
        "loop variable 'i' has no value after its loop",
        None,
    ),
    "two types returned": (
        """
        @nereid.jit
        def helper(a):
            if a > 3:
                return 1.0
            ⟦return a⟧

        @nereid.jit
        def kernel(n):
            helper(n)
        """,
        "this returns int32 scalar, but another `return` of 'helper' gives constexpr 1.0",
        "in 'helper', called from here",
    ),
    "value on some paths": (
        """
        @nereid.jit
        def helper(a):
            if a > 3:
                ⟦return 1⟧

        @nereid.jit
        def kernel(n):
            helper(n)
        """,
        "'helper' returns a value on some paths only",
        "end the function with a `return`",
    ),
    "kernel with any number of arguments": (
        """
        @nereid.jit
        def kernel(*⟦x_ptr⟧):
            pass
        """,
        "`*x_ptr`, which takes any number of arguments, cannot be used in a kernel",
        "a fixed list of parameters",
    ),
    "kernel with a result": (
        """
        @nereid.jit
        def ⟦kernel⟧(n):
            return n + 1
        """,
        "kernel 'kernel' returns int32 scalar",
        "`tl.store`",
    ),
    # ---- constants
    "constexpr assigned again": (
        """
        @nereid.jit
        def kernel(n):
            a: tl.constexpr = 3
            ⟦a⟧: tl.constexpr = 4
        """,
        "'a' is a tl.constexpr and cannot be assigned again",
        "it was defined here",
    ),
    "constexpr parameter assigned": (
        """
        @nereid.jit
        def kernel(n, B: tl.constexpr):
            for i in range(n):
                ⟦B⟧ += 1
        """,
        "'B' is a tl.constexpr and cannot be assigned again",
        "use another name",
    ),
    "run-time value in a constexpr parameter, where it needs to be one": (
        """
        @nereid.jit
        def helper(a, SIZE: tl.constexpr):
            return a + tl.arange(0, ⟦SIZE⟧)

        @nereid.jit
        def kernel(n):
            helper(n, n * 2)
        """,
        "argument 'end' of tl.arange must be known at compile time, but it is int32 scalar",
        "in 'helper', called from here",
    ),
    "run-time value where a constant is needed": (
        """
        @nereid.jit
        def kernel(n):
            tl.arange(0, ⟦n⟧)
        """,
        "argument 'end' of tl.arange must be known at compile time, but it is int32 scalar",
        "tl.constexpr",
    ),
    "overflow": (
        """
        @nereid.jit
        def kernel(n):
            a: tl.constexpr = ⟦2 ** 127⟧
        """,
        "the result of this constant expression does not fit the 128 bits that the compiler computes with",
        None,
    ),
    "division by zero": (
        """
        @nereid.jit
        def kernel(n):
            a: tl.constexpr = 1 + ⟦5 % 0⟧
        """,
        "division by zero in a constant expression",
        None,
    ),
    "complex result": (
        """
        @nereid.jit
        def kernel(n):
            a: tl.constexpr = ⟦(-2) ** 0.5⟧
        """,
        "a negative number to a fractional power is complex",
        None,
    ),
    "negative shift": (
        """
        @nereid.jit
        def kernel(n):
            a: tl.constexpr = ⟦1 << -1⟧
        """,
        "negative shift count",
        None,
    ),
    "long constant": (
        """
        @nereid.jit
        def kernel(n):
            a: tl.constexpr = ⟦(1, 2) * 1000000⟧
        """,
        "a constant sequence of more than 1048576 items",
        None,
    ),
    "operands of constants": (
        """
        @nereid.jit
        def kernel(n):
            a: tl.constexpr = ⟦"text" - 1⟧
        """,
        "`-` cannot take constexpr 'text' and constexpr 1",
        None,
    ),
    "operand of a constant": (
        """
        @nereid.jit
        def kernel(n):
            a: tl.constexpr = ⟦~1.5⟧
        """,
        "`~` cannot take constexpr 1.5",
        None,
    ),
    "compile-time function with a run-time argument": (
        """
        @tl.constexpr_function
        def double(x):
            return 2 * x

        @nereid.jit
        def kernel(n):
            double(⟦n⟧)
        """,
        "function 'double' runs at compile time, but its argument is int32 scalar",
        "make it a jit function",
    ),
    "compile-time function that raises": (
        """
        @tl.constexpr_function
        def double(x):
            raise ValueError("too big")

        @nereid.jit
        def kernel(n):
            ⟦double(3)⟧
        """,
        "function 'double' raised ValueError: too big",
        None,
    ),
    "compile-time function with a useless result": (
        """
        @tl.constexpr_function
        def double(x):
            return {x}

        @nereid.jit
        def kernel(n):
            ⟦double(3)⟧
        """,
        "function 'double' returned a set, which is not a compile-time value",
        None,
    ),
    "f-string of a run-time value": (
        """
        @nereid.jit
        def kernel(n):
            a = f"n = {⟦n⟧}"
        """,
        "int32 scalar in an f-string is known only at run time",
        "tl.device_print",
    ),
    "format of an f-string": (
        """
        @nereid.jit
        def kernel(n):
            a = f"{⟦'text'⟧:.3d}"
        """,
        "constexpr 'text' cannot be formatted with '.3d'",
        None,
    ),
    "undecided condition": (
        """
        @nereid.jit
        def kernel(n):
            if ⟦tl⟧:
                pass
        """,
        "module 'nereid.language' is neither true nor false",
        "compare it",
    ),
    # ---- assignments and tuples
    "too few values": (
        """
        @nereid.jit
        def kernel(n):
            ⟦a, b⟧ = (n, n, n)
        """,
        "2 names on the left, 3 values on the right",
        None,
    ),
    "unpacking of a scalar": (
        """
        @nereid.jit
        def kernel(n):
            a, b = ⟦n⟧
        """,
        "int32 scalar cannot be unpacked",
        "only tuples and lists",
    ),
    "element assigned": (
        """
        @nereid.jit
        def kernel(n):
            ⟦n[0]⟧ = 1.0
        """,
        "a value's elements cannot be assigned",
        "`tl.where`",
    ),
    "attribute assigned": (
        """
        @nereid.jit
        def kernel(n):
            ⟦n.x⟧ = 1
        """,
        "a value's attributes cannot be assigned",
        "`tl.store`",
    ),
    "index outside a tuple": (
        """
        @nereid.jit
        def kernel(n):
            t = (n, n)
            t[⟦2⟧]
        """,
        "index 2 is outside a tuple of 2 items",
        None,
    ),
    "run-time index of a tuple": (
        """
        @nereid.jit
        def kernel(n):
            t = (n, n)
            t[⟦n⟧]
        """,
        "a tuple is indexed by constants, not by int32 scalar",
        "tl.static_range(len(t))",
    ),
    "step of a slice": (
        """
        @nereid.jit
        def kernel(n):
            (n, n)[⟦::0⟧]
        """,
        "slice step cannot be zero",
        None,
    ),
    "index of a number": (
        """
        @nereid.jit
        def kernel(n):
            ⟦tl.float32[0]⟧
        """,
        "dtype fp32 cannot be indexed",
        None,
    ),
    # ---- calls
    "call of a value": (
        """
        @nereid.jit
        def kernel(n):
            ⟦n(3)⟧
        """,
        "int32 scalar cannot be called",
        None,
    ),
    "call of a dtype": (
        """
        @nereid.jit
        def kernel(n):
            ⟦tl.float32(n)⟧
        """,
        "dtype fp32 cannot be called",
        "`x.to(dtype)`",
    ),
    "missing argument": (
        """
        @nereid.jit
        def helper(a, b, c=3):
            return a

        @nereid.jit
        def kernel(n):
            ⟦helper(n)⟧
        """,
        "helper() is missing the argument 'b'",
        "helper(a, b, c=3)",
    ),
    "surplus argument": (
        """
        @nereid.jit
        def helper(a):
            return a

        @nereid.jit
        def kernel(n):
            helper(n, ⟦3⟧, 4)
        """,
        "helper() takes at most 1 positional arguments, but got 3",
        "helper(a)",
    ),
    "unknown keyword": (
        """
        @nereid.jit
        def helper(a):
            return a

        @nereid.jit
        def kernel(n):
            helper(n, ⟦c=3⟧)
        """,
        "helper() has no parameter 'c'",
        "helper(a)",
    ),
    "argument given twice": (
        """
        @nereid.jit
        def helper(a):
            return a

        @nereid.jit
        def kernel(n):
            helper(n, ⟦a=3⟧)
        """,
        "helper() got 'a' twice",
        None,
    ),
    "mapping of keywords": (
        """
        @nereid.jit
        def kernel(n):
            tl.arange(⟦**n⟧)
        """,
        "`**` in a call cannot be used in a kernel",
        "write the keyword arguments out",
    ),
    "class of isinstance": (
        """
        class Special:
            pass

        @nereid.jit
        def kernel(n):
            isinstance(n, ⟦Special⟧)
        """,
        "isinstance does not accept class 'Special'",
        "tl.tensor",
    ),
    "attribute by an unknown name": (
        """
        @nereid.jit
        def kernel(n):
            ⟦getattr(n, "too")⟧
        """,
        "int32 scalar has no attribute 'too'",
        None,
    ),
    "recursion": (
        """
        @nereid.jit
        def even(a):
            return odd(a - 1)

        @nereid.jit
        def odd(a):
            return ⟦even(a - 1)⟧

        @nereid.jit
        def kernel(n):
            even(n)
        """,
        "'even' calls itself",
        "use a loop",
    ),
    # ---- loops
    "loop over a value": (
        """
        @nereid.jit
        def kernel(n):
            for i in ⟦n⟧:
                pass
        """,
        "a loop cannot run over int32 scalar",
        "or run over a tuple",
    ),
    "loop over a call": (
        """
        @nereid.jit
        def kernel(n):
            for i in ⟦tl.arange(0, 8)⟧:
                pass
        """,
        "a loop cannot run over int32[8] block",
        None,
    ),
    "float bound": (
        """
        @nereid.jit
        def kernel(f):
            for i in range(⟦f⟧):
                pass
        """,
        "the end of the loop is fp32 scalar, not an integer",
        None,
    ),
    "zero step": (
        """
        @nereid.jit
        def kernel(n):
            for i in range(0, n, ⟦0⟧):
                pass
        """,
        "the loop's step is zero",
        None,
    ),
    "run-time bound of static_range": (
        """
        @nereid.jit
        def kernel(n):
            for i in tl.static_range(⟦n⟧):
                pass
        """,
        "the end of tl.static_range is int32 scalar, which is known only at run time",
        "use `range`",
    ),
    "very long static_range": (
        """
        @nereid.jit
        def kernel(n):
            for i in ⟦tl.static_range(1000000)⟧:
                pass
        """,
        "tl.static_range would repeat its body 1000000 times",
        "use `range`",
    ),
    "endless loop": (
        """
        @nereid.jit
        def kernel(n):
            while ⟦True⟧:
                pass
        """,
        "the condition of this `while` is always true",
        "`break`",
    ),
    "tuple as loop target": (
        """
        @nereid.jit
        def kernel(n):
            for ⟦i, j⟧ in range(n):
                pass
        """,
        "a loop target other than a name cannot be used in a kernel",
        None,
    ),
    "else of a loop": (
        """
        @nereid.jit
        def kernel(n):
            for i in range(n):
                pass
            else:
                ⟦n + 1⟧
        """,
        "`else` of a loop cannot be used in a kernel",
        "after the loop",
    ),
    # ---- shapes, conditions
    "block as a condition": (
        """
        @nereid.jit
        def kernel(n):
            if ⟦tl.arange(0, 8) > 3⟧:
                pass
        """,
        "a condition must be a single value, but this is a int1[8] block",
        "tl.where",
    ),
    "shapes that do not broadcast": (
        """
        @nereid.jit
        def kernel(n):
            ⟦tl.arange(0, 8) + tl.arange(0, 16)⟧
        """,
        "shapes [8] and [16] do not broadcast in '+': dimension 0 is 8 in one and 16 in the other",
        "the left operand",
    ),
}

HEAD = """
        import nereid.language.extra.cann.extension as al

        Pair = collections.namedtuple("Pair", "first second")
"""

# Syntax outside the language: (statement, what is named, part of the help).
SYNTAX = {
    "with": ('with ⟦open("x")⟧ as f:\n    pass', "`with` over anything but `al.scope(...)`", "without it"),
    "with as": ('with al.scope(core_mode="vector") as ⟦f⟧:\n    pass', "`as` after al.scope", "leave it out"),
    "slice assigned": ("t = (n, n)\n⟦t[0:1]⟧ = (n,)", "an assignment to a slice", "one by one"),
    "field of a named tuple": ("p = Pair(n, n)\n⟦p.first⟧ = n", "an assignment to a field of a named tuple", "build a new one"),
    "try": ("⟦try:⟧\n    pass\nfinally:\n    pass", "`try`", "tl.device_assert"),
    "raise": ("⟦raise ValueError⟧", "`raise`", "tl.static_assert"),
    "import": ("⟦import os⟧", "`import`", "module level"),
    "import from": ("⟦from os import path⟧", "`import`", "module level"),
    "global": ("⟦global something⟧", "an assignment to global variables", "tl.store"),
    "del": ("⟦del n⟧", "`del`", "cost nothing"),
    "class": ("⟦class A:⟧\n    pass", "a class definition", "module level"),
    "def": ("⟦def f():⟧\n    pass", "a nested function", "@nereid.jit"),
    "match": ("⟦match n:⟧\n    case 1:\n        pass", "`match`", "`elif`"),
    "lambda": ("f = ⟦lambda x: x⟧", "a lambda", "@nereid.jit"),
    "dict": ("⟦{1: 2}⟧", "a dictionary", "tuple"),
    "set": ("⟦{1, 2}⟧", "a set", "tuple"),
    "set comprehension": ("⟦{i for i in (1, 2)}⟧", "a set comprehension", "tuple"),
    "dict comprehension": ("⟦{i: i for i in (1, 2)}⟧", "a dictionary comprehension", "tuple"),
    "generator": ("tuple_of = ⟦(i for i in (1, 2))⟧", "a generator expression", "list comprehension"),
    "comprehension over a call": ("[i for i in ⟦n⟧]", "a list comprehension over int32 scalar", "tuples"),
    "two-fold comprehension": ("⟦[i for i in (1, 2) for j in (3, 4)]⟧", "a list comprehension with several `for`", "one"),
    "yield": ("⟦yield n⟧", "`yield`", "tl.store"),
    "complex": ("⟦2j⟧", "a complex number", "two values"),
    "bytes": ("⟦b'x'⟧", "a bytes object", "string"),
    "ellipsis": ("⟦...⟧", "`...`", "None"),
    "huge integer": ("⟦" + "9" * 50 + "⟧", "an integer of more than 128 bits", "64 bits"),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name, tmp_path):
    body, message, more = CASES[name]
    constants = {"B": 4} if "B: tl.constexpr" in body else {}
    error = refused(tmp_path, body, **constants)
    assert error.message == message
    if more:
        assert more in str(error)


@pytest.mark.parametrize("name", SYNTAX)
def test_refused_syntax(name, tmp_path):
    statement, what, instead = SYNTAX[name]
    lines = "\n".join("            " + line for line in statement.splitlines())
    error = refused(tmp_path, f"{HEAD}\n        @nereid.jit\n        def kernel(n):\n{lines}\n")
    assert error.message == f"{what} cannot be used in a kernel"
    assert instead in error.help


def test_unsupported_syntax_that_is_not_reached_is_no_error(tmp_path):
    from frontend_kernels import build

    build(
        tmp_path,
        """
        @nereid.jit
        def kernel(n, HOST: tl.constexpr):
            if HOST:
                with open("x") as f:
                    print({lambda: f})
        """,
        HOST=False,
    )


def test_call_chain_innermost_first(tmp_path):
    error = refused(
        tmp_path,
        """
        @nereid.jit
        def inner(a):
            return a + ⟦missing⟧

        @nereid.jit
        def outer(a):
            return inner(a)

        @nereid.jit
        def kernel(n):
            outer(n)
        """,
    )
    notes = [line for line in str(error).splitlines() if "note: " in line]
    assert [note.split("note: ")[1] for note in notes] == [
        "in 'inner', called from here",
        "in 'outer', called from here",
    ]
    assert ":16:12: note" in notes[0] and ":20:5: note" in notes[1]


def test_columns_of_text_that_is_not_ascii(tmp_path):
    refused(
        tmp_path,
        """
        @nereid.jit
        def kernel(n):
            größe = "äöü→"; ⟦höhe⟧ + 1
        """,
    )


def test_tabs_stay_tabs_under_the_line(tmp_path):
    refused(tmp_path, "\n@nereid.jit\ndef kernel(n):\n\tif n > 3:\n\t\t⟦missing⟧ + 1\n")


@pytest.mark.parametrize("deep", ["n" + " + n" * 700, "-" * 700 + "n", "n" + ".x" * 700])
def test_nested_too_deeply(deep, tmp_path):
    module, _, _ = load(tmp_path, f"@nereid.jit\ndef kernel(n):\n    a = {deep}\n")
    with pytest.raises(nereid.CompilationError) as caught:
        _compiler.build_ttir(module.kernel, [("i32", 0)], {})
    error = caught.value
    assert error.name == "nested_too_deeply" and "more than 500 levels" in error.message
    # Of a long line the part around the caret is shown.
    assert all(len(line) < 400 for line in str(error).splitlines()) and "^" in str(error)


def test_default_that_is_no_constant(tmp_path):
    error = refused(
        tmp_path,
        """
        @nereid.jit
        def helper(⟦a⟧={}):
            return a

        @nereid.jit
        def kernel(n):
            helper(n)
        """,
    )
    assert error.message == "the default of parameter 'a' is a dict, which is not a compile-time value"
