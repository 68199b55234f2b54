# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`nereid compile --explain-perf`: what each access, product and loop of a kernel became, in its lines."""

import os
import re
import subprocess
import sys

import pytest

KERNELS = """
import nereid
import nereid.language as tl


@nereid.jit
def forms(x, i, out, step, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    dense = tl.load(x + at, at < n)
    second = tl.load(x + 2 * at, at < n)
    far = tl.load(x + 9 * at, at < n)
    some = tl.load(x + step * at, at < n)
    numbered = tl.load(x + tl.load(i + at))
    total = tl.sum(dense + second + far + some + numbered, 0)
    sums = tl.cumsum(dense, 0)
    tl.store(out + at, sums + total)
    tl.store(out + 9 * at, sums)


@nereid.jit
def product(a, b, c, K, M: tl.constexpr, N: tl.constexpr):
    rows, columns, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, 32)
    acc = tl.zeros((M, N), tl.float32)
    for start in range(0, K, 32):
        x = tl.load(a + rows[:, None] * K + (start + k)[None, :])
        y = tl.load(b + (start + k)[:, None] * N + columns[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rows[:, None] * N + columns[None, :], acc)


@nereid.jit
def searching(x, out):
    i = 0
    while tl.load(x + i) != 0:
        i += 1
    tl.store(out, i)


@nereid.jit
def counting(x, out, n):
    i = 0
    while i < n:
        i += 2
    tl.store(out, i)
"""

FORMS = "x=*fp32:16, i=*i32:16, out=*fp32:16, step=i32, n=i32, BLOCK=64"


def explained(tmp_path, kernel: str, signature: str, *options: str, code: int = 0) -> str:
    file = tmp_path / "kernels.py"
    file.write_text(KERNELS)
    done = subprocess.run([sys.executable, "-m", "nereid", "compile", f"{file}:{kernel}", "--explain-perf", "--signature", signature,
                           *options], capture_output=True, text=True, timeout=120, env={**os.environ, "NEREID_CPU": "x86-64-v3"})
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


def said_of(text: str, line: str) -> str:
    """All that is said of a line of the kernels."""
    number = next(i for i, source in enumerate(KERNELS.splitlines(), 1) if source.strip() == line)
    entries = re.split(r"(?m)^(?=\S+kernels\.py:\d+:\d+: )", text)
    return "".join(entry for entry in entries if f"kernels.py:{number}:" in entry.split(" ", 1)[0])


def test_what_accesses_became(tmp_path):
    text = explained(tmp_path, "forms", FORMS)
    for line, words, help in (
        ("dense = tl.load(x + at, at < n)", "load: vectors of 8 elements, read where they lie", None),
        ("second = tl.load(x + 2 * at, at < n)", "load: every element number 2, shuffled out of vectors that cover them", "side by side"),
        ("far = tl.load(x + 9 * at, at < n)", "load: element by element, as neighbouring elements lie 9 apart", "side by side"),
        ("some = tl.load(x + step * at, at < n)", "load: vectors if the step between elements turns out to be 1", "known at compile time"),
        ("numbered = tl.load(x + tl.load(i + at))", "load: element by element unless a vector's addresses turn out to be consecutive",
         "one base, tl.arange and steps"),
        ("total = tl.sum(dense + second + far + some + numbered, 0)", "reduction: vectors along the axis", None),
        ("sums = tl.cumsum(dense, 0)", "scan: a vector in each step", None),
        ("tl.store(out + at, sums + total)", "store: vectors of 8 elements", None),
        ("tl.store(out + 9 * at, sums)", "store: element by element, as neighbouring elements lie 9 apart", "side by side"),
    ):
        said = said_of(text, line)
        assert words in said and f"| {'    '}{line}" in said, f"{line}\n{said}\n{text}"
        assert help is None or help in said.split("help:", 1)[1], said
        if help is None and "numbered" not in line:
            assert "help:" not in said, said
    lines = [int(number) for number in re.findall(r"(?m)^\S+kernels\.py:(\d+):", text)]
    assert lines == sorted(lines)


@pytest.mark.parametrize("tile, words, help", [
    ((4, 16), "sums in registers from the first round to the last", False),
    ((128, 64), "sums in scratch memory between rounds of the loop", False),
    ((32, 32), "sums in scratch memory between rounds of the loop", True),
])
def test_what_a_product_became(tmp_path, tile, words, help):
    m, n = tile
    said = said_of(explained(tmp_path, "product", f"a=*fp32:16, b=*fp32:16, c=*fp32:16, K=i32, M={m}, N={n}"), "acc = tl.dot(x, y, acc)")
    assert f"dot: {m}x{n}x32; A " in said and "; B " in said and words in said
    assert ("help: a larger tile" in said) == help


def test_what_a_loop_became(tmp_path):
    said = said_of(explained(tmp_path, "product", "a=*fp32:16, b=*fp32:16, c=*fp32:16, K=i32, M=128, N=64"), "for start in range(0, K, 32):")
    assert "loop: carries 1 tiles of 32768 bytes together from round to round in scratch memory; products update 1 of them in place" in said
    text = explained(tmp_path, "searching", "x=*i32, out=*i32")
    assert "loop: its end depends on memory" in said_of(text, "while tl.load(x + i) != 0:")
    assert "loop:" not in explained(tmp_path, "counting", "x=*i32, out=*i32, n=i32")


def test_nothing_is_said_unless_asked(tmp_path):
    file = tmp_path / "kernels.py"
    file.write_text(KERNELS)
    done = subprocess.run([sys.executable, "-m", "nereid", "compile", f"{file}:forms", "--emit=asm", "--signature", FORMS],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stderr == "" and "element by element" not in done.stdout


@pytest.mark.parametrize("options", [["-o", "somewhere"], ["--emit=obj", "--header", "x.h"]])
def test_it_writes_no_stage(tmp_path, options):
    assert "--explain-perf prints what it has to say" in explained(tmp_path, "forms", FORMS, *options, code=2)


def test_errors_are_those_of_compiling(tmp_path):
    assert "error:" in explained(tmp_path, "forms", FORMS.replace("i=*i32:16", "i=*fp32:16"), code=1)
