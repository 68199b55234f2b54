# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops with hints, promises, printing, assertions, questions about the target."""

import numpy as np
import pytest
from sheet import DTYPES, Sheet, load_kernel, refuse, refused, run, values

import nereid


def test_loops(rng):
    n = int(rng.integers(1, 30))
    out = np.zeros(8, np.int64)
    run("""
n = tl.load(p0).to(tl.int32)
total = tl.zeros((), tl.int64)
for i in tl.range(0, n):
    total += i
tl.store(p1, total)
total = tl.zeros((), tl.int64)
for i in tl.range(n, 0, -1, num_stages=3, loop_unroll_factor=2, disallow_acc_multi_buffer=True, flatten=True, warp_specialize=False, disable_licm=True):
    total += i * i
tl.store(p1 + 1, total)
total = tl.zeros((), tl.int64)
for i in tl.range(n, step=3):
    total += 1
tl.store(p1 + 2, total)
for i in tl.static_range(3, 6):
    c: tl.constexpr = i * 2
    tl.store(p1 + i, tl.full((), c, tl.int64))
while tl.condition(n > 0, disable_licm=True):
    n -= 1
tl.store(p1 + 6, n)
""", np.array([n], np.int64), out)
    steps = range(n)
    want = [sum(steps), sum(i * i for i in range(n, 0, -1)), len(range(0, n, 3)), 6, 8, 10, 0]
    assert out[:7].tolist() == want


def test_promises(rng):
    """Hints on every kind of value return it; assumptions cost nothing."""
    sheet = Sheet()
    x, f = values(rng, (4, 8), "int32"), values(rng, (4, 8), "float32")
    sheet.input("x", x).input("f", f).input("s", np.int32(64)).input("b", x > 0)
    for function in ("multiple_of", "max_contiguous", "max_constancy"):
        sheet.add(f"tl.{function}(x, (1, 1))", x).add(f"x.{function}([1, 1])", x).add(f"tl.{function}(f, (1, 1))", f, exact=True)
        sheet.add(f"tl.{function}(b, (1, 1))", x > 0).add(f"tl.{function}(s, 1)", np.int32(64))
    sheet.add("tl.multiple_of(s, 64)", np.int32(64)).add("tl.multiple_of(tl.arange(0, 16) * 4, 4)", np.arange(0, 64, 4, np.int32))
    sheet.add("tl.max_contiguous(tl.arange(0, 16), 16)", np.arange(16, dtype=np.int32))
    sheet.add("tl.load(tl.multiple_of(x_ptr + tl.arange(0, 8), 1))", x[0])
    sheet.add("tl.load(tl.max_contiguous(tl.multiple_of(x_ptr, 4), 1))", x[0, 0])
    sheet.add("tl.expect_zero(x * 0, b)", x * 0).add("(tl.assume(s > 0), tl.debug_barrier(), s)[2]", np.int32(64))
    sheet.run()


def test_expect_zero_is_checked_in_debug_mode():
    run("x = tl.load(p0 + tl.arange(0, 4))\ntl.store(p0 + tl.arange(0, 4), tl.expect_zero(x, x < 3) + 1)", np.array([0, 0, 3, 4]), options={"debug": True})
    with pytest.raises(Exception, match="expect_zero"):
        run("x = tl.load(p0 + tl.arange(0, 4))\ntl.store(p0 + tl.arange(0, 4), tl.expect_zero(x, x > 3))", np.array([0, 0, 3, 4]), options={"debug": True})


def test_compile_time(capfd):
    run('tl.static_assert(2 + 2 == 4, "numbers")\ntl.static_print("shape", (4, 8), 2.5, tl.float32, tl.load(p0), sep="|", end="!\\n")', np.zeros(1, np.int8))
    text = capfd.readouterr().out
    assert text.startswith("shape|(4, 8)|2.5|fp32|") and text.endswith("!\n") and "int8" in text
    refuse('tl.static_assert(1 > 2, "one is small")', "one is small")
    refuse("tl.static_assert(tl.load(p0) > 0)", "device_assert")


@pytest.mark.parametrize("name", [*DTYPES, "float8e4b15"])
def test_device_print(capfd, name):
    x = np.array([0, 1, 1], np.uint8).astype(DTYPES.get(name, np.uint8)) if name != "float8e4b15" else np.array([0, 120, 120], np.uint8)
    load = "tl.load(p0 + tl.arange(0, 3))" + ("" if name != "float8e4b15" else ".to(tl.float8e4b15, bitcast=True)")
    run(f'x = {load}\ntl.device_print("block", x)\ntl.device_print("one", tl.load(p0){load[len("tl.load(p0 + tl.arange(0, 3))"):]}, hex=False)', x)
    lines = capfd.readouterr().out.splitlines()
    block = [line for line in lines if "block" in line]
    assert len(lines) >= 2 and any("one" in line for line in lines), lines
    text = " ".join(block)
    assert "1" in text and "0" in text and "120" not in text, lines


def test_device_print_of_large_and_hexadecimal_numbers(capfd):
    x = np.array([2**64 - 1, 255], np.uint64)
    run('x = tl.load(p0 + tl.arange(0, 2))\ntl.device_print("big", x)\ntl.device_print("hex", x, hex=True)\nprint("plain", tl.load(p1), 3)', x, np.array([-5], np.int16))
    text = capfd.readouterr().out
    assert "18446744073709551615" in text and "ff" in text.lower() and "-5" in text and "plain" in text


def test_device_assert():
    body = 'x = tl.load(p0 + tl.arange(0, 4))\ntl.device_assert(x > 0, "positive", mask=tl.arange(0, 4) < 3)\ntl.store(p0, 9)'
    run(body, np.array([1, 2, 3, -4]), options={"debug": True})
    run(body, np.array([1, -2, 3, -4]))  # not active
    with pytest.raises(Exception, match="positive"):
        run(body, np.array([1, -2, 3, 4]), options={"debug": True})


def test_target_info():
    out = np.zeros(6, np.int32)
    run("""
if tl.target_info.is_cuda() or tl.target_info.is_hip() or tl.target_info.cuda_capability_geq(9, 0):
    tl.static_assert(False, "another target")
t: tl.constexpr = tl.target_info.current_target()
tl.static_assert(t.backend == "cpu")
tl.store(p0, 1)
""", out)
    assert out[0] == 1


def test_refused():
    asm = 'tl.inline_asm_elementwise("ex2.approx.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)'
    refuse(f"tl.store(p0 + tl.arange(0, 16), {asm})", "inline assembly", "tl.map_elementwise")
    refuse("tl.multiple_of(x, (1, 2))", "dimension")
    refuse("tl.range(0, 4)", "for")
    refuse("tl.device_print(x)", "prefix")
    refuse('tl.device_print("caf\\u00e9", x)', "ASCII")
    refuse("tl.assume(x > 0)", "block")
