# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inline assembly for NVIDIA's GPUs on the CPU, against numpy."""

import numpy as np
import pytest

import nereid
import nereid.language as tl
from sheet import load_kernel


def asm(text, constraints, args, dtype, pure=True):
    return f'tl.inline_asm_elementwise("""{text}""", "{constraints}", [{", ".join(args)}], {dtype}, {pure}, 1)'


def run(expression, out, *arrays, n=64):
    """out[i] = expression of blocks a, b, ... of `n` elements."""
    names = "abcd"[:len(arrays)]
    kernel = load_kernel([
        "@nereid.jit", f"def kernel(out, {', '.join('p' + name for name in names)}, N: tl.constexpr):", "    i = tl.arange(0, N)",
        *(f"    {name} = tl.load(p{name} + i)" for name in names), f"    tl.store(out + i, {expression})",
    ])
    kernel[(1,)](out, *arrays, n)
    return out


RNG = np.random.default_rng(17)
X = RNG.integers(-(1 << 31), 1 << 31, 64).astype(np.int32)
Y = RNG.integers(-(1 << 31), 1 << 31, 64).astype(np.int32)
S = RNG.integers(0, 70, 64).astype(np.int32)
F = (RNG.standard_normal(64) * 1e3).astype(np.float32)
U, V = X.view(np.uint32), Y.view(np.uint32)


@pytest.mark.parametrize("text, expected", [
    ("add.s32 $0, $1, $2;", X + Y), ("sub.u32 $0, $1, $2;", X - Y), ("mul.lo.s32 $0, $1, $2;", X * Y),
    ("and.b32 $0, $1, $2;", X & Y), ("or.b32 $0, $1, $2;", X | Y), ("xor.b32 $0, $1, $2;", X ^ Y),
    ("not.b32 $0, $1;", ~X), ("min.s32 $0, $1, $2;", np.minimum(X, Y)), ("max.u32 $0, $1, $2;", np.maximum(U, V).view(np.int32)),
    ("mad.lo.s32 $0, $1, $2, 7;", X * Y + 7), ("mov.b32 $0, 0x80000001;", np.full(64, -(1 << 31) + 1, np.int32)),
    ("{ .reg .pred p; setp.lt.s32 p, $1, $2; selp.b32 $0, $1, $2, p; }", np.where(X < Y, X, Y)),
    ("{ .reg .pred p; setp.lt.u32 p, $1, $2; selp.b32 $0, $1, $2, p; }", np.where(U < V, X, Y)),
    ("{ .reg .pred p; setp.gt.s32 p, $1, 0; mov.u32 $0, 1; @!p mov.u32 $0, 2; }", np.where(X > 0, 1, 2)),
    ("{ .reg .b16 h<4>; mov.b32 {h0, h1}, $1; mov.b32 {h2, h3}, $2; mov.b32 $0, {h1, h2}; }",
     ((U >> 16) | (V << 16)).view(np.int32)),
])
def test_integers(text, expected):
    out = run(asm(text, "=r,r,r", ["a", "b"], "tl.int32"), np.zeros(64, np.int32), X, Y)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("text, expected", [
    ("shl.b32 $0, $1, $2;", np.where(S < 32, U << np.minimum(S, 31).astype(np.uint32), 0)),
    ("shr.u32 $0, $1, $2;", np.where(S < 32, U >> np.minimum(S, 31).astype(np.uint32), 0)),
    ("shr.s32 $0, $1, $2;", (X >> np.minimum(S, 31)).view(np.uint32)),
])
def test_shifts_out_of_the_word(text, expected):
    out = run(asm(text, "=r,r,r", ["a", "b"], "tl.int32"), np.zeros(64, np.int32), X, S)
    np.testing.assert_array_equal(out.view(np.uint32), expected)


def test_wide_products_and_packing():
    out = run(asm("mul.wide.s32 $0, $1, $2;", "=l,r,r", ["a", "b"], "tl.int64"), np.zeros(64, np.int64), X, Y)
    np.testing.assert_array_equal(out, X.astype(np.int64) * Y)
    out = run(asm("mov.b64 $0, {$1, $2};", "=l,r,r", ["a", "b"], "tl.int64"), np.zeros(64, np.int64), X, Y)
    np.testing.assert_array_equal(out.view(np.uint64), U.astype(np.uint64) | (V.astype(np.uint64) << 32))


def bf16(x):
    """fp32 rounded to bf16, as fp32; finite numbers."""
    bits = x.view(np.uint32).astype(np.uint64)
    return (((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) << 16).astype(np.uint32).view(np.float32)


def test_halves_of_bf16():
    g = F[::-1].copy()
    packed = run(asm("cvt.rn.bf16x2.f32 $0, $2, $1;", "=r,r,r", ["a", "b"], "tl.int32"), np.zeros(64, np.int32), F, g)
    low, high = packed.view(np.uint32) << 16, packed.view(np.uint32) & 0xFFFF0000
    np.testing.assert_array_equal(low.view(np.float32), bf16(F))
    np.testing.assert_array_equal(high.view(np.float32), bf16(g))
    text = "{ .reg .b16 h<2>; mov.b32 {h0, h1}, $1; cvt.f32.bf16 $0, h1; }"
    np.testing.assert_array_equal(run(asm(text, "=r,r", ["a"], "tl.float32"), np.zeros(64, np.float32), packed), bf16(g))


def test_conversions_saturate():
    x = F.copy()
    x[:6] = [np.nan, np.inf, -np.inf, 3e9, -3e9, 2147483520.0]
    out = run(asm("cvt.rzi.s32.f32 $0, $1;", "=r,f", ["a"], "tl.int32"), np.zeros(64, np.int32), x)
    expected = np.trunc(np.clip(np.nan_to_num(x.astype(np.float64), nan=0, posinf=1e30, neginf=-1e30), -2**31, 2**31 - 1))
    np.testing.assert_array_equal(out, expected.astype(np.int32))
    out = run(asm("cvt.rn.f32.u32 $0, $1;", "=f,r", ["a"], "tl.float32"), np.zeros(64, np.float32), X)
    np.testing.assert_array_equal(out, U.astype(np.float32))


@nereid.jit
def words(out, x, total):
    a, b, c, d = tl.inline_asm_elementwise("ld.global.v4.b32 {$0,$1,$2,$3}, [$4];", "=r,=r,=r,=r,l", [x],
                                           (tl.int32, tl.int32, tl.int32, tl.int32), False, 1)
    tl.inline_asm_elementwise("st.release.sys.global.v4.b32 [$1], {$2,$3,$4,$5}; mov.u32 $0, 0;", "=r,l,r,r,r,r",
                              [out, d, c, b, a], tl.int32, False, 1)
    tl.inline_asm_elementwise("fence.acq_rel.gpu;", "=r", [], tl.int32, False, 1)
    old = tl.inline_asm_elementwise("atom.release.gpu.global.add.u32 $0, [$1], $2;", "=r,l,r", [total, a], tl.int32, False, 1)
    tl.store(out + 4, old)
    tl.inline_asm_elementwise("red.max.s32 [$1+4], $2;", "=r,l,r", [total, b], tl.int32, False, 1)


def test_accesses():
    x, out, total = np.array([3, 40, 500, 6000], np.int32), np.zeros(5, np.int32), np.array([7, 9], np.int32)
    words[(1,)](out, x, total)
    assert list(out) == [6000, 500, 40, 3, 7] and list(total) == [10, 40]


@nereid.jit
def grid_barrier(out, n):
    """Programs count in memory that assembly finds by %envreg1 and %envreg2."""
    high = tl.inline_asm_elementwise("mov.u32 $0, %envreg1;", "=r", [], tl.uint32, True, 1)
    low = tl.inline_asm_elementwise("mov.u32 $0, %envreg2;", "=r", [], tl.uint32, True, 1)
    place = ((high.to(tl.uint64) << 32) | low.to(tl.uint64)).to(tl.pointer_type(tl.uint32), bitcast=True) + 1
    pid = tl.program_id(0)
    tl.store(out + pid, pid + 1)
    one = tl.where(pid == 0, tl.cast(0x80000000, tl.uint32) - (n - 1).to(tl.uint32), tl.cast(1, tl.uint32))
    old = tl.atomic_add(place, one, sem="acq_rel")
    while ((tl.atomic_add(place, tl.cast(0, tl.uint32), sem="acquire") ^ old) & 0x80000000) == 0:
        pass
    tl.store(out + n + pid, tl.load(out + (pid + 1) % n, volatile=True))


@pytest.mark.parametrize("n", [1, 2, 17])
def test_programs_share_a_workspace(n):
    for _ in range(3):
        out = np.zeros(2 * n, np.int32)
        grid_barrier[(n,)](out, n)
        np.testing.assert_array_equal(out[n:], (np.arange(n) + 1) % n + 1)


@pytest.mark.parametrize("text, message", [
    ("ex2.approx.f32 $0, $1;", "it has 'ex2.approx.f32'"), ("mov.u32 $0, %clock;", "it reads '%clock'"),
    ("mov.u32 $0, %tid.x;", "by tid or ntid"), ("ld.shared.b32 $0, [$1];", "it has 'ld.shared.b32'"),
    ("add.u32 $0, $1", "ends inside|add"), ("bogus ! $0;", "stands where it cannot"),
])
def test_what_is_not_read(text, message):
    with pytest.raises(nereid.CompilationError, match=message) as caught:
        run(asm(text, "=r,r", ["a"], "tl.int32"), np.zeros(64, np.int32), X)
    assert "inline assembly is written for another target" in str(caught.value)
