# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bad kernels: each is refused with file, line, column, the source line and a caret.

In the sources below, ⟦ ⟧ stand around what the error has to point at; they are cut out
before the kernel is compiled.
"""

import importlib.util
import itertools
import re
import textwrap
import warnings

import numpy as np
import pytest

import nereid

HEADER = """\
import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device


"""
counter = itertools.count()


def load_kernel(tmp_path, body: str):
    """Writes `body` to a file of its own; returns (module, path, (line, column) of the mark, marked text)."""
    source = HEADER + textwrap.dedent(body)
    start = source.find("⟦")
    end = source.find("⟧") - 1
    source = source.replace("⟦", "").replace("⟧", "")
    place = None
    if start >= 0:
        place = source.count("\n", 0, start) + 1, start - (source.rfind("\n", 0, start) + 1) + 1
    name = f"bad_kernel_{next(counter)}"
    path = tmp_path / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, path, place, source[start:end]


def compile_error(tmp_path, body: str, *args, **constants) -> str:
    """Launches `kernel` of `body`, which must fail to compile at the mark; returns the error's text."""
    module, path, place, _ = load_kernel(tmp_path, body)
    with pytest.raises(nereid.CompilationError) as caught:
        module.kernel[(1,)](*args, **constants)
    text = str(caught.value)
    line, column = place
    assert f"{path}:{line}:{column}: error: " in text, text
    # The source line as it stands in the file, and the caret below the marked column.
    lines = text.splitlines()
    at = next((i for i, shown in enumerate(lines) if re.match(rf"\s*{line} \| ", shown)), None)
    assert at is not None, text
    shown = lines[at].split(" | ", 1)[1]
    assert shown == path.read_text(encoding="utf-8").splitlines()[line - 1]
    assert lines[at + 1].split("|", 1)[1].index("^") == column, text
    return text


X = np.zeros(64, np.float32)

CASES = {
    "symm_at of a block of pointers": ("""
        @nereid.jit
        def kernel(x_ptr):
            offs = tl.arange(0, 16)
            p = dl.symm_at(⟦x_ptr + offs⟧, 0)
            tl.store(p, 1.0)
        """, r"(scalar|single) pointer", r"base.*offset"),
    "unknown name": ("""
        @nereid.jit
        def kernel(x_ptr):
            value = tl.load(x_ptr)
            tl.store(x_ptr, ⟦valu⟧)
        """, r"valu", None),
    "unknown function of tl": ("""
        @nereid.jit
        def kernel(x_ptr):
            tl.store(x_ptr, ⟦tl.lod⟧(x_ptr))
        """, r"lod", None),
    "try": ("""
        @nereid.jit
        def kernel(x_ptr):
            ⟦try:
                tl.store(x_ptr, 1.0)
            finally:
                pass⟧
        """, r"try", None),
    "import": ("""
        @nereid.jit
        def kernel(x_ptr):
            ⟦import math⟧
            tl.store(x_ptr, 1.0)
        """, r"import", None),
    "lambda": ("""
        @nereid.jit
        def kernel(x_ptr):
            f = ⟦lambda a: a⟧
            tl.store(x_ptr, 1.0)
        """, r"lambda", None),
    "dict": ("""
        @nereid.jit
        def kernel(x_ptr):
            d = ⟦{1: 2}⟧
            tl.store(x_ptr, 1.0)
        """, r"dict", None),
    "tensor as condition": ("""
        @nereid.jit
        def kernel(x_ptr):
            x = tl.load(x_ptr + tl.arange(0, 16))
            if ⟦x > 0⟧:
                tl.store(x_ptr, 1.0)
        """, r"scalar|condition|ambiguous", None),
    "shapes in broadcast": ("""
        @nereid.jit
        def kernel(x_ptr):
            a = tl.zeros((16, 8), tl.float32)
            b = tl.zeros((16, 4), tl.float32)
            c = ⟦a + b⟧
            tl.store(x_ptr, tl.sum(tl.sum(c, 1), 0))
        """, r"8.*4", None),
    "shapes in dot": ("""
        @nereid.jit
        def kernel(x_ptr):
            a = tl.zeros((16, 32), tl.float32)
            b = tl.zeros((16, 16), tl.float32)
            c = ⟦tl.dot(a, b)⟧
            tl.store(x_ptr, tl.sum(tl.sum(c, 1), 0))
        """, r"32.*16", None),
    "types in dot": ("""
        @nereid.jit
        def kernel(x_ptr):
            a = tl.zeros((16, 16), tl.float32)
            b = tl.zeros((16, 16), tl.float16)
            c = ⟦tl.dot(a, b)⟧
            tl.store(x_ptr, tl.sum(tl.sum(c, 1), 0))
        """, r"fp32.*fp16|float32.*float16", None),
    "unsigned bytes in dot": ("""
        @nereid.jit
        def kernel(x_ptr):
            a = tl.zeros((16, 16), tl.uint8)
            c = ⟦tl.dot(a, a)⟧
            tl.store(x_ptr, tl.sum(tl.sum(c, 1), 0))
        """, r"uint8.*uint8", r"int8, fp8, fp16, bf16, fp32 and fp64"),
    "floor division of floats": ("""
        @nereid.jit
        def kernel(x_ptr):
            x = tl.load(x_ptr)
            tl.store(x_ptr, ⟦x // x⟧)
        """, r"//", None),
    "run-time end of arange": ("""
        @nereid.jit
        def kernel(x_ptr, n):
            tl.store(x_ptr + tl.arange(0, ⟦n⟧), 1.0)
        """, r"constexpr|compile", None),
    "run-time shape": ("""
        @nereid.jit
        def kernel(x_ptr, n):
            tl.store(x_ptr + tl.arange(0, 16), tl.zeros(⟦(n,)⟧, tl.float32))
        """, r"constexpr|compile", None),
    "scope of wait": ("""
        @nereid.jit
        def kernel(x_ptr, signal_ptr):
            token = dl.wait(signal_ptr, 1, ⟦"galaxy"⟧, "acquire")
            tl.store(dl.consume_token(x_ptr, token), 1.0)
        """, r"galaxy.*", r"npu.*gpu|gpu.*npu"),
    "semantic of wait": ("""
        @nereid.jit
        def kernel(x_ptr, signal_ptr):
            token = dl.wait(signal_ptr, 1, "gpu", ⟦"eventually"⟧)
            tl.store(dl.consume_token(x_ptr, token), 1.0)
        """, r"eventually", r"acquire"),
    "sig_op of notify": ("""
        @nereid.jit
        def kernel(x_ptr, signal_ptr):
            dl.notify(signal_ptr, 0, signal=1, sig_op=⟦"sub"⟧)
        """, r"sub", r"set.*add"),
    "comm_scope of notify": ("""
        @nereid.jit
        def kernel(x_ptr, signal_ptr):
            dl.notify(signal_ptr, 0, signal=1, sig_op="set", comm_scope=⟦"city"⟧)
        """, r"city", r"intra_node"),
    "semantic of an atomic": ("""
        @nereid.jit
        def kernel(x_ptr):
            tl.atomic_add(x_ptr, 1.0, sem=⟦"sometimes"⟧)
        """, r"sometimes", r"acq_rel"),
    "missing argument": ("""
        @nereid.jit
        def kernel(x_ptr):
            tl.store(x_ptr, ⟦tl.load()⟧)
        """, r"pointer", None),
    "unknown keyword": ("""
        @nereid.jit
        def kernel(x_ptr):
            tl.store(x_ptr, tl.load(x_ptr, ⟦msk=True⟧))
        """, r"msk", None),
    "load of a number": ("""
        @nereid.jit
        def kernel(x_ptr):
            x = tl.load(x_ptr)
            tl.store(x_ptr, tl.load(⟦x⟧))
        """, r"pointer", None),
}


def arguments_for(body: str) -> list:
    """One array or number for each parameter of `kernel` in `body`."""
    names = re.search(r"def kernel\(([^)]*)\)", body).group(1).split(", ")
    kinds = {"x_ptr": X, "signal_ptr": np.zeros(8, np.int64), "n": 16}
    return [kinds[name] for name in names]


@pytest.mark.parametrize("name", CASES)
def test_bad_kernel(name, tmp_path):
    body, message, help_text = CASES[name]
    text = compile_error(tmp_path, body, *arguments_for(body))
    first = text.split(": error: ", 1)[1].splitlines()[0]
    assert re.search(message, first), text
    if help_text:
        assert re.search(help_text, text), text


TYPE_CHANGES = {
    "if": ("""
        @nereid.jit
        def kernel(x_ptr, n):
            x = tl.load(x_ptr)
            if n > 3:
                ⟦x⟧ = 1
            tl.store(x_ptr, x)
        """),
    "for": ("""
        @nereid.jit
        def kernel(x_ptr, n):
            x = 0
            for i in range(n):
                ⟦x⟧ = tl.load(x_ptr)
            tl.store(x_ptr, x)
        """),
    "while": ("""
        @nereid.jit
        def kernel(x_ptr, n):
            x = tl.zeros((16,), tl.float32)
            i = n
            while i > 0:
                ⟦x⟧ = tl.zeros((8,), tl.float32)
                i -= 1
            tl.store(x_ptr, tl.sum(x, 0))
        """),
}


@pytest.mark.parametrize("name", TYPE_CHANGES)
def test_type_of_a_variable_changes(name, tmp_path):
    """The variable, both types, and the place of the second one are named."""
    module, path, (line, _), _ = load_kernel(tmp_path, TYPE_CHANGES[name])
    with pytest.raises(nereid.CompilationError) as caught:
        module.kernel[(1,)](X, 5)
    text = str(caught.value)
    assert re.match(rf"{re.escape(str(path))}:\d+:\d+: error: ", text), text
    assert "'x'" in text
    assert re.search(rf"{re.escape(str(path))}:{line}:|\s{line} \| ", text), text
    assert "^" in text


UNUSED_TOKEN = """
    @nereid.jit
    def kernel(x_ptr, signal_ptr, out_ptr):
        token = ⟦dl.wait(signal_ptr, 1, "gpu", "acquire")⟧
        tl.store(out_ptr, tl.load(x_ptr))
    """


def test_unused_token_is_an_error(tmp_path):
    text = compile_error(tmp_path, UNUSED_TOKEN, X, np.ones(1, np.int64), np.zeros(1, np.float32))
    assert "token" in text and "consume_token" in text


@pytest.mark.parametrize("mode", ["warn", "keep"])
def test_unused_token_can_be_allowed(tmp_path, mode):
    module, _, _, _ = load_kernel(tmp_path, UNUSED_TOKEN)
    out = np.zeros(1, np.float32)
    x = np.full(1, 3, np.float32)
    signal = nereid.symm.zeros((1,), np.int64)
    signal.numpy()[:] = 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module.kernel[(1,)](x, signal, out, unused_token=mode)
    assert any("token" in str(warning.message) for warning in caught) == (mode == "warn")
    assert out[0] == 3


def test_error_in_a_called_function_shows_the_call(tmp_path):
    body = """
        @nereid.jit
        def helper(p):
            return tl.load(p) + ⟦missing⟧


        @nereid.jit
        def kernel(x_ptr):
            tl.store(x_ptr, helper(x_ptr))
        """
    text = compile_error(tmp_path, body, X)
    module_path = re.match(r"(.*?):\d+:\d+: error", text).group(1)
    calls = [number for number, line in enumerate(open(module_path, encoding="utf-8"), 1) if "helper(x_ptr))" in line]
    assert f"{module_path}:{calls[0]}:" in text, text


GOOD = """
    @nereid.jit
    def kernel(x_ptr, n, BLOCK: tl.constexpr):
        offs = tl.arange(0, BLOCK)
        tl.store(x_ptr + offs, 1.0, mask=offs < n)
    """


@pytest.mark.parametrize("args, constants, message", [
    ((X,), {"BLOCK": 16}, r"'n'"),
    ((X, 4, 16, 17), {}, r"4 |argument"),
    ((X, 4), {"BLOCK": 16, "n": 3}, r"'n'"),
    ((X, 4), {"BLOCK": 16, "blok": 3}, r"'blok'"),
    ((X, object()), {"BLOCK": 16}, r"'n'.*object|object.*'n'"),
    (([1.0, 2.0], 4), {"BLOCK": 16}, r"'x_ptr'.*list|list.*'x_ptr'"),
    ((np.array(["a"]), 4), {"BLOCK": 16}, r"'x_ptr'"),
    ((X, 2**80), {"BLOCK": 16}, r"'n'"),
])
def test_bad_arguments_of_a_launch(tmp_path, args, constants, message):
    module, _, _, _ = load_kernel(tmp_path, GOOD)
    with pytest.raises((TypeError, ValueError, OverflowError)) as caught:
        module.kernel[(1,)](*args, **constants)
    assert re.search(message, str(caught.value)), str(caught.value)
    assert "kernel" in str(caught.value)


@pytest.mark.parametrize("grid", [(-1,), (1, 2, 3, 4), 5.0, (), ("1",), (2**31,)])
def test_bad_grid(tmp_path, grid):
    module, _, _, _ = load_kernel(tmp_path, GOOD)
    with pytest.raises((TypeError, ValueError)) as caught:
        module.kernel[grid](X, 4, BLOCK=16)
    assert "grid" in str(caught.value)


def test_call_without_a_grid(tmp_path):
    module, _, _, _ = load_kernel(tmp_path, GOOD)
    with pytest.raises((TypeError, RuntimeError)) as caught:
        module.kernel(X, 4, BLOCK=16)
    assert "kernel[grid]" in str(caught.value) or "grid" in str(caught.value)
