# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Source of jit functions: positions as in the file, dependencies, errors of the decorator."""

import argparse
import ast
import dataclasses
import inspect
import textwrap
import types
import typing
from pathlib import Path

import numpy as np
import pytest

import nereid
import nereid.language as tl
from nereid._kernels.source import FunctionSource

WIDTH = tl.constexpr(8)


@nereid.jit
def helper(x):
    return x * WIDTH


@nereid.jit(
    noinline=False,
)
def decorated(x,
              y: tl.constexpr = 3):
    """A docstring
that leaves the indentation."""
    z = helper(x)
    return z + y


def test_positions_are_those_of_the_file():
    lines = open(__file__, encoding="utf-8").read().splitlines()
    tree = decorated.ast
    assert lines[tree.lineno - 1].startswith("def decorated(")
    call = next(node for node in ast.walk(tree.body[1]) if isinstance(node, ast.Call))
    line = lines[call.lineno - 1]
    assert line[call.col_offset:call.end_col_offset] == "helper(x)"
    assert decorated.file == __file__ and decorated.source_lines == lines


def test_positions_of_nested_functions():
    if True:
        @nereid.jit
        def nested(x):
            """Text
        of several lines
    with less indentation."""
            return x + WIDTH

    lines = open(__file__, encoding="utf-8").read().splitlines()
    name = next(node for node in ast.walk(nested.ast) if isinstance(node, ast.Name) and node.id == "WIDTH")
    assert lines[name.lineno - 1][name.col_offset:name.end_col_offset] == "WIDTH"
    assert len(nested.cache_key) == 64


def test_functions_without_source():
    scope = {"tl": tl}
    exec("def kernel(x):\n    pass\n", scope)
    kernel = nereid.jit(scope["kernel"])
    with pytest.raises(nereid.CompilationError, match="source of 'kernel' cannot be found"):
        kernel[(1,)](2)
    anonymous = nereid.jit(lambda x: x)
    with pytest.raises(nereid.CompilationError, match="def, not lambda"):
        anonymous[(1,)](2)


def test_wrong_uses_of_the_decorator():
    with pytest.raises(TypeError, match="takes a function, not int 5"):
        nereid.jit(5)
    with pytest.raises(nereid.CompilationError, match=r"test_source\.py:\d+: error: .*'\*\*options'"):
        @nereid.jit
        def varkw(x, **options):
            pass
    with pytest.raises(nereid.CompilationError, match="constexpr parameter 'C' .* do_not_specialize"):
        @nereid.jit(do_not_specialize=["C"])
        def listed(x, C: tl.constexpr):
            pass
    with pytest.raises(ValueError, match="unused_token is one of"):
        nereid.jit(unused_token="never")(helper.fn)
    with pytest.raises(TypeError):
        nereid.jit(unknown_option=1)(helper.fn)


def test_attributes():
    assert decorated.__name__ == "decorated" and decorated.__doc__.startswith("A docstring")
    assert decorated.arg_names == ["x", "y"] and decorated.fn.__module__ == __name__
    assert [param.is_constexpr for param in decorated.params] == [False, True]
    assert decorated.params[1].default == 3 and decorated.params[0].annotation is inspect.Parameter.empty
    assert repr(decorated) == f"JITFunction({__name__}.decorated)"
    assert decorated.src.startswith("@nereid.jit(")


def make(constant):
    @nereid.jit
    def kernel(x):
        return x + constant

    return kernel


def test_closures_are_dependencies():
    one, same, other = make(tl.constexpr(1)), make(tl.constexpr(1)), make(tl.constexpr(2))
    assert one.cache_key == same.cache_key != other.cache_key
    inner_a, inner_b = make(helper), make(decorated)
    assert inner_a.cache_key != inner_b.cache_key


def test_reached_functions_are_dependencies(monkeypatch):
    key = decorated.cache_key
    fresh = nereid.jit(decorated.fn)
    assert fresh.cache_key == key
    monkeypatch.setitem(globals(), "WIDTH", tl.constexpr(16))
    assert nereid.jit(decorated.fn).cache_key != key


def test_recursion_ends():
    @nereid.jit
    def loop(x):
        return loop(x)

    assert len(loop.cache_key) == 64


def test_string_annotations():
    def kernel(a: "tl.constexpr", b: "nereid.language.int64", c: "tl.const", d: "something"):
        pass

    params = nereid.jit(kernel).params
    assert [param.is_constexpr for param in params] == [True, False, False, False]
    assert [param.annotation_type for param in params] == [None, "i64", None, None]
    assert params[2].is_const


def test_source_is_read_once():
    source = FunctionSource(helper.fn)
    assert source.ast is source.ast


def test_host_calls_of_device_functions():
    for call in (lambda: tl.load(3), lambda: tl.sum(np.zeros(3), axis=0), lambda: tl.math.exp(1.0)):
        with pytest.raises(RuntimeError, match="only be called inside a function marked with @nereid.jit"):
            call()
    with pytest.raises(RuntimeError, match="host code calls nereid.cdiv"):
        tl.cdiv(3, 2)


# ---- where a definition ends

SHAPES = '''
def on_one_line(x): return x  # its comment
def deco(f=None, **kw): return f if f else (lambda g: g)
@deco
# between decorators
@deco(
a=1,
)
def decorated(x,
y=2):
    """text
at the margin
    """
# a comment at the margin
    z = (x +
y)

    def inner():
        return z \\
+ 1
    return inner
class Holder:
    @deco
    def method(self):
        if self:
            return """
    not the end
"""
    # behind it
    def second(self): return "\\n"
if True:
  def indented_otherwise():
    pass
def last(x):
    return x
# no newline at the end of this file'''


def definitions(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]), node


def functions_in(code):
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from functions_in(constant)


@pytest.mark.parametrize("module", [None, argparse, dataclasses, textwrap, typing])
def test_a_definition_ends_where_python_says(module, tmp_path):
    if module is None:
        path = tmp_path / "shapes.py"
        path.write_text(SHAPES)
    else:
        path = Path(module.__file__)
    text = path.read_text()
    wanted = dict(definitions(ast.parse(text)))
    found = set()
    for code in functions_in(compile(text, str(path), "exec")):
        node = wanted.get(code.co_firstlineno)
        if node is None or code.co_name != node.name:
            continue  # a class, a lambda
        source = FunctionSource(types.FunctionType(code, {}, closure=tuple(types.CellType() for _ in code.co_freevars)))
        first = code.co_firstlineno
        assert source.text == "".join(text.splitlines(keepends=True)[first - 1:node.end_lineno]), code
        assert ast.dump(source.ast, include_attributes=True) == ast.dump(node, include_attributes=True), code
        found.add(node)
    assert len(found) == len(wanted)
