# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A wait orders only what its token reaches: what is reported, where, and what is not.

In the sources below, ⟦ ⟧ stand around what the message has to point at, and ⟨ ⟩ around
the accesses that its notes have to name.
"""

import importlib.util
import itertools
import re
import textwrap
import warnings

import pytest

import nereid
from nereid import _compiler
from nereid._kernels.signature import parse_signature

HEADER = """\
import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device


"""
SIGNATURE = "sig=*i32, data=*fp32, out=*fp32, n=i32"
counter = itertools.count()


def load(tmp_path, body: str):
    """The kernel of `body`, its file, the marked place and the lines of the notes."""
    source = HEADER + textwrap.dedent(body)
    notes = [source.count("\n", 0, match.start()) + 1 for match in re.finditer("⟨", source)]
    source = source.replace("⟨", "").replace("⟩", "")
    start = source.find("⟦")
    place = (source.count("\n", 0, start) + 1, start - source.rfind("\n", 0, start)) if start >= 0 else None
    name = f"token_kernel_{next(counter)}"
    path = tmp_path / f"{name}.py"
    path.write_text(source.replace("⟦", "").replace("⟧", ""), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel, path, place, notes


def compile_kernel(kernel, unused_token="error"):
    options = {**kernel._options({}), "unused_token": unused_token}
    return _compiler.compile(kernel, parse_signature(kernel, SIGNATURE), options)


NEVER_CONSUMED = """
    @nereid.jit
    def kernel(sig, data, out, n):
        peer = dl.symm_at(data, (dl.rank() + 1) % dl.num_ranks())
        tl.store(peer, 1.0)
        token = ⟦dl.wait(sig, 1, "gpu", "acquire")⟧
        x = ⟨tl.load(data + tl.arange(0, 16))⟩
        y = tl.load(out + tl.arange(0, 16))
        tl.store(out + tl.arange(0, 16), x + y)
    """

WRONG = {
    "never consumed": (NEVER_CONSUMED, "the token of this wait is never consumed"),
    "result thrown away": ("""
    @nereid.jit
    def kernel(sig, data, out, n):
        ⟦dl.wait(sig, n, "sys", "acquire", waitValue=3)⟧
        tl.store(out, ⟨tl.load(data)⟩)
    """, "the token of this wait is never consumed"),
    "the old pointer is used": ("""
    @nereid.jit
    def kernel(sig, data, out, n):
        token = ⟦dl.wait(sig, 1, "gpu", "acquire")⟧
        ready = ⟨dl.consume_token(data, token)⟩
        tl.store(out, ⟨tl.load(data)⟩)
    """, "nothing is accessed through a pointer that consumed the token"),
    "summed and forgotten": ("""
    @nereid.jit
    def kernel(sig, data, out, n):
        token = 0
        for i in range(n):
            token += ⟦dl.wait(sig + i, 1, "gpu", "acquire")⟧
        tl.store(out, tl.load(data))
    """, "the token of this wait is never consumed"),
    "before a store": ("""
    @nereid.jit
    def kernel(sig, data, out, n):
        x = tl.load(out)
        ⟦dl.wait(sig, 1, "gpu", "acquire")⟧
        y = tl.load(out + 1)
        peer = dl.symm_at(data, (dl.rank() + 1) % dl.num_ranks())
        ⟨tl.store(peer, x + y)⟩
        dl.notify(sig, 0)
    """, "the token of this wait is never consumed"),
    "in a called function": ("""
    @nereid.jit
    def wait_for(sig):
        return ⟦dl.wait(sig, 1, "gpu", "acquire")⟧


    @nereid.jit
    def kernel(sig, data, out, n):
        token = wait_for(sig)
        tl.store(out, ⟨tl.load(data)⟩)
    """, "the token of this wait is never consumed"),
    "in one branch": ("""
    @nereid.jit
    def kernel(sig, data, out, n):
        token = 0
        if n > 1:
            token = ⟦dl.wait(sig, 1, "gpu", "acquire")⟧
        tl.store(out, tl.load(data))
    """, "the token of this wait is never consumed"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_token_that_reaches_nothing_is_an_error(name, tmp_path):
    body, message = WRONG[name]
    kernel, path, (line, column), notes = load(tmp_path, body)
    with pytest.raises(nereid.CompilationError) as caught:
        compile_kernel(kernel)
    text = str(caught.value)
    assert f"{path}:{line}:{column}: error: {message}" in text, text
    assert re.search(rf"^\s*{line} \| .*\n\s*\| {' ' * (column - 1)}\^", text, re.M), text
    for note in notes:
        assert f"{path}:{note}:" in text, text
    assert "consume_token" in text and 'unused_token="keep"' in text


def test_stores_that_the_wait_protects_are_named(tmp_path):
    kernel, path, _, (line,) = load(tmp_path, WRONG["before a store"][0])
    with pytest.raises(nereid.CompilationError) as caught:
        compile_kernel(kernel)
    text = str(caught.value)
    assert re.search(rf"{path}:{line}:\d+: note: this store probably has to come after the wait: write `ptr = "
                     r"dl.consume_token\(ptr, token\)` before it and store through the new `ptr`", text), text
    assert "this load" not in text, text


def test_unconcerned_loads_are_not_named(tmp_path):
    """Of the loads that follow, only those of memory that other ranks write to."""
    kernel, path, _, (line,) = load(tmp_path, NEVER_CONSUMED)
    with pytest.raises(nereid.CompilationError) as caught:
        compile_kernel(kernel)
    assert set(re.findall(rf"{re.escape(str(path))}:(\d+):\d+: note: this load", str(caught.value))) == {str(line)}


def test_warn_removes_the_wait_and_says_so(tmp_path):
    kernel, path, (line, _), _ = load(tmp_path, NEVER_CONSUMED)
    with pytest.warns(UserWarning, match="never consumed.*the wait is removed") as caught:
        compiled = compile_kernel(kernel, "warn")
    assert any(warning.filename == str(path) and warning.lineno == line for warning in caught)
    assert "nrd_wait" not in compiled.stage("llvm")


def test_keep_makes_the_wait_a_barrier(tmp_path):
    kernel, *_ = load(tmp_path, """
    @nereid.jit
    def kernel(sig, data, out, n):
        before = tl.load(data)
        dl.wait(sig, 1, "gpu", "acquire")
        tl.store(out, before - tl.load(data))
    """)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code = compile_kernel(kernel, "keep").stage("llvm")
    body = code[code.index("define"):]
    call = next(match.start() for match in re.finditer(r"call [^\n]*@nrd_wait", body))
    # One load of data on each side of it.
    assert re.search(r"= load float", body[:call]) and re.search(r"= load float", body[call:]), body


def test_a_second_pointer_that_is_not_used_is_a_warning(tmp_path):
    kernel, path, (line, _), _ = load(tmp_path, """
    @nereid.jit
    def kernel(sig, data, out, n):
        token = dl.wait(sig, 1, "gpu", "acquire")
        ready = dl.consume_token(data, token)
        other = ⟦dl.consume_token(out, token)⟧
        tl.store(out, tl.load(ready))
    """)
    with pytest.warns(UserWarning, match="nothing is accessed through what this consume_token returns") as caught:
        compile_kernel(kernel)
    assert any(warning.filename == str(path) and warning.lineno == line for warning in caught)


RIGHT = {
    "scalar pointer": """
        token = dl.wait(sig, 1, "gpu", "acquire")
        data = dl.consume_token(data, token)
        tl.store(out, tl.load(data))
    """,
    "block of pointers": """
        token = dl.wait(sig, 1, "gpu", "acquire")
        ptrs = dl.consume_token(data + tl.arange(0, 16), token)
        tl.store(out + tl.arange(0, 16), tl.load(ptrs))
    """,
    "block pointer": """
        token = dl.wait(sig, 1, "gpu", "acquire")
        block = tl.make_block_ptr(data, (n,), (1,), (0,), (16,), (0,))
        tl.store(out + tl.arange(0, 16), tl.load(dl.consume_token(block, token)))
    """,
    "sum of tokens": """
        token = 0
        for i in range(n):
            token += dl.wait(sig + i, 1, "gpu", "acquire")
        tl.store(out, tl.load(dl.consume_token(data, token)))
    """,
    "carried pointer": """
        for i in range(n):
            token = dl.wait(sig + i, 1, "gpu", "acquire")
            data = dl.consume_token(data, token)
            tl.store(out + i, tl.load(data + i))
    """,
    "store after the wait": """
        token = dl.wait(sig, 1, "gpu", "acquire")
        tl.store(dl.consume_token(out, token), 1.0)
    """,
    "remote pointer": """
        token = dl.wait(sig, 1, "gpu", "acquire")
        peer = dl.symm_at(dl.consume_token(data, token), 0)
        tl.store(out, tl.load(peer))
    """,
    "library call": """
        token = dl.wait(sig, 1, "gpu", "acquire")
        data = dl.consume_token(data, token)
        libshmem_device.putmem(out, data, 64, 0)
    """,
    "token as a condition": """
        token = dl.wait(sig, 1, "gpu", "acquire")
        if token == 0:
            tl.store(out, tl.load(data))
    """,
    "branch": """
        token = 0
        if n > 1:
            token = dl.wait(sig, 1, "gpu", "acquire")
        tl.store(out, tl.load(dl.consume_token(data, token)))
    """,
    "while loop": """
        i = 0
        while i < n:
            token = dl.wait(sig + i, 1, "gpu", "acquire")
            tl.store(out + i, tl.load(dl.consume_token(data, token) + i))
            i += 1
    """,
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_token_that_reaches_an_access_is_kept(name, tmp_path):
    body = "@nereid.jit\ndef kernel(sig, data, out, n):" + textwrap.indent(textwrap.dedent(RIGHT[name]), "    ")
    kernel, *_ = load(tmp_path, body)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = compile_kernel(kernel)
    # The wait is in the code, whatever the optimiser did.
    assert re.search(r"call [^\n]*@nrd_wait", compiled.stage("llvm"))
