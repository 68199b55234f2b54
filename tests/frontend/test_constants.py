# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic on compile-time constants, against Python's own."""

import math

import numpy as np
import pytest
from frontend_kernels import load
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nereid
import nereid.language as tl
from nereid import _compiler

INT_LIMIT = 2**127

integers = st.one_of(
    st.integers(-20, 20),
    st.integers(-(2**31), 2**31),
    st.integers(-(2**63), 2**64),
    st.integers(-(2**100), 2**100),
)
floats = st.one_of(
    st.sampled_from([0.0, -0.0, 0.5, 1.0, -2.5, 1e16, 1e-5, 1e300, 123456.789]),
    st.floats(allow_nan=False, allow_infinity=False),
)
numbers = st.one_of(integers, floats, st.booleans())
leaves = numbers.map(lambda v: f"({v!r})")
binary = st.sampled_from("+ - * / // % ** << >> & | ^ == != < <= > >=".split())


def combine(inner):
    return st.one_of(
        st.tuples(inner, binary, inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(st.sampled_from(["-", "+", "~", "not "]), inner).map(lambda t: f"({t[0]}{t[1]})"),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
    )


expressions = st.recursive(leaves, combine, max_leaves=6)

MODULE = """
seen = []

@tl.constexpr_function
def record(value):
    seen.append(value)

@nereid.jit
def kernel():
    record({expression})
"""


class Overflow(Exception):
    """Python has a value, but it (or one on the way) needs more than 128 bits."""


def python_value(expression: str):
    """The value of `expression` as Python computes it, checking every intermediate one."""
    import ast

    def visit(node):
        result = evaluate(node)
        if isinstance(result, int) and not -INT_LIMIT <= result < INT_LIMIT:
            raise Overflow
        return result

    def evaluate(node):
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.BoolOp):
            for value in node.values:
                result = visit(value)
                if bool(result) != isinstance(node.op, ast.And):
                    break
            return result
        if isinstance(node, ast.IfExp):
            return visit(node.body if visit(node.test) else node.orelse)
        if isinstance(node, ast.UnaryOp):
            operands = [visit(node.operand)]
            shape = ast.UnaryOp(node.op, ast.Name("a", ast.Load()))
        elif isinstance(node, ast.BinOp):
            operands = [visit(node.left), visit(node.right)]
            shape = ast.BinOp(ast.Name("a", ast.Load()), node.op, ast.Name("b", ast.Load()))
            if isinstance(node.op, ast.Pow) and all(isinstance(v, int) for v in operands) and operands[1] > 200:
                if abs(operands[0]) > 1:
                    raise Overflow
                operands[1] = 2 + operands[1] % 2
            if isinstance(node.op, ast.LShift) and isinstance(operands[1], int) and operands[1] > 200:
                if isinstance(operands[0], int) and operands[0] != 0:
                    raise Overflow
        else:
            operands = [visit(node.left), visit(node.comparators[0])]
            shape = ast.Compare(ast.Name("a", ast.Load()), node.ops, [ast.Name("b", ast.Load())])
        code = compile(ast.fix_missing_locations(ast.Expression(shape)), "<expression>", "eval")
        return eval(code, dict(zip("ab", operands)))

    return visit(ast.parse(expression, mode="eval").body)


def same(a, b) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return math.isnan(a) and math.isnan(b) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    return a == b


def check(tmp_path, expression: str):
    try:
        expected = python_value(expression)
        if isinstance(expected, complex):
            raise TypeError
        failure = None
    except (Overflow, ZeroDivisionError, OverflowError, TypeError, ValueError) as error:
        failure = error
    module, _, _ = load(tmp_path, MODULE.format(expression=expression))
    try:
        _compiler.build_ttir(module.kernel, [], {})
    except nereid.CompilationError as error:
        assert failure is not None, f"{expression}: {error}"
        return
    assert failure is None, f"{expression} gave {module.seen}, Python: {failure!r}"
    assert same(module.seen[0], expected), f"{expression} gave {module.seen[0]!r}, not {expected!r}"


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(expressions)
def test_random_expressions(tmp_path, expression):
    check(tmp_path, expression)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(integers, integers)
def test_division_of_integers(tmp_path, a, b):
    for op in ("/", "//", "%"):
        check(tmp_path, f"(({a}) {op} ({b}))")


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(floats, floats)
def test_division_of_floats(tmp_path, a, b):
    for op in ("/", "//", "%"):
        check(tmp_path, f"(({a!r}) {op} ({b!r}))")


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(floats, integers, st.text(max_size=8)))
def test_text_of_constants(tmp_path, value):
    module, _, _ = load(tmp_path, MODULE.format(expression=f'f"{{C}}|{{C!r}}"').replace("kernel()", "kernel(C: tl.constexpr)"))
    _compiler.build_ttir(module.kernel, [("constexpr", value)], {})
    if isinstance(value, str) and not value.isprintable():
        return  # Python escapes more characters than the language needs
    assert module.seen == [f"{value}|{value!r}"]


@nereid.jit
def greatest(out, A: tl.constexpr, B: tl.constexpr):
    more: tl.constexpr = tl.maximum(A, B)
    less: tl.constexpr = tl.minimum(A, B)
    tl.store(out, more)
    tl.store(out + 1, less)


@pytest.mark.parametrize("a, b", [(2**53, 2**53 + 1), (2**62 + 1, 2**62), (-2**60, -2**60 - 1), (True, 0), (3, 5)])
def test_greatest_of_two_whole_constants_is_exact(a, b):
    out = np.zeros(2, np.int64)
    greatest[(1,)](out, a, b)
    assert out.tolist() == [max(a, b), min(a, b)]


@nereid.jit
def named_in_comprehension(out):
    x = 100
    y = 7
    squares = [(y := x * x) for x in (1, 2, 3)]
    tl.store(out, y)
    tl.store(out + 1, x)
    tl.store(out + 2, squares[2])


def test_a_comprehension_keeps_its_own_variable_and_gives_back_what_it_names():
    out = np.zeros(3, np.int64)
    named_in_comprehension[(1,)](out)
    assert out.tolist() == [9, 100, 9]


@tl.constexpr_function
def interrupted():
    raise KeyboardInterrupt


@nereid.jit
def interrupted_kernel(out):
    tl.store(out, interrupted())


def test_ctrl_c_in_a_constexpr_function_is_no_fault_of_the_kernel():
    with pytest.raises(KeyboardInterrupt):
        interrupted_kernel[(1,)](np.zeros(1, np.int32))
