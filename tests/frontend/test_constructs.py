# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constructs that the language accepts, and the IR that they become."""

import re

import pytest
from frontend_kernels import build, load


def test_signature_names_and_attributes(tmp_path):
    text = build(
        tmp_path,
        """
        @nereid.jit
        def kernel(x_ptr, n, m, BLOCK: tl.constexpr):
            pass
        """,
        BLOCK=4,
        debug_locations=True,
    )
    assert re.search(
        r"tt\.func public @kernel\(%\w+: !tt\.ptr<f32> \{tt\.divisibility = 16 : i32\} loc\(\S+\), "
        r"%\w+: i32 loc\(\S+\), %\w+: i32 \{tt\.divisibility = 16 : i32\} loc\(\S+\)\)",
        text,
    ), text
    for name in ("x_ptr", "n", "m"):
        assert f'loc("{name}"(' in text
    assert "BLOCK" not in text


def test_locations_are_those_of_the_file(tmp_path):
    body = """
        if True:
            @nereid.jit
            def kernel(n):
                a = n + n
                b = (a *
                     a)
        """
    text = build(tmp_path, body, debug_locations=True)
    _, path, _ = load(tmp_path, body)
    lines = path.read_text().splitlines()
    line = next(i for i, shown in enumerate(lines, 1) if "a = n + n" in shown)
    name = r'"[^"]*frontend_kernel_\d+\.py"'
    assert re.search(rf"loc\({name}:{line}:13 to :18\)", text), text
    assert re.search(rf"loc\({name}:{line + 1}:14\)", text), text  # over two lines: its start


def test_locations_of_inlined_functions_hold_the_call(tmp_path):
    text = build(
        tmp_path,
        """
        @nereid.jit
        def helper(a):
            return a * a

        @nereid.jit
        def kernel(n):
            helper(n)
        """,
        debug_locations=True,
    )
    assert "callsite(" in text


def test_number_assigned_to_a_name_is_a_scalar(tmp_path):
    text = build(
        tmp_path,
        """
        @nereid.jit
        def kernel(n):
            a = 3
            b = a + n
            c = 2.5
            d = True
        """,
    )
    assert "arith.constant 3 : i32" in text
    assert "arith.constant 2.500000e+00 : f32" in text
    assert "arith.constant true" in text


def test_constexpr_annotation_keeps_a_constant(tmp_path):
    text = build(
        tmp_path,
        """
        @nereid.jit
        def kernel(n):
            size: tl.constexpr = 4 * 8
            late: tl.constexpr
            late = size // 2
            text: "tl.constexpr" = 16
            tl.arange(0, size)
            tl.arange(0, late)
            tl.arange(0, text)
        """,
    )
    assert "tensor<32xi32>" in text and text.count("tensor<16xi32>") == 2


def test_tuples(tmp_path):
    text = build(
        tmp_path,
        """
        Pair = collections.namedtuple("Pair", ["first", "second"])

        @nereid.jit
        def both(a, b):
            return b, a

        @nereid.jit
        def total(*values):
            result = values[0]
            for i in tl.static_range(1, len(values)):
                result += values[i]
            return result

        @nereid.jit
        def kernel(n, m):
            a, b = n, m
            a, b = both(a, b)
            (a, (b, c)), d = (a, [b, 7]), 8
            t = (1, 2, 3) + (4,) * 2
            tl.static_assert(len(t) == 5)
            tl.static_assert(t[1:-1:2] == (2, 4))
            tl.static_assert(t[-1] == 4)
            p = Pair(n, second=m)
            e = p.first + p.second + p[0]
            total(a, *p, m)
            doubled = [v * 2 for v in t if v > 1]
            tl.static_assert(doubled == (4, 6, 8, 8))
            x = y = n
        """,
    )
    assert text.count("arith.addi %arg0, %arg1") >= 1


def test_augmented_assignment(tmp_path):
    text = build(
        tmp_path,
        """
        @nereid.jit
        def kernel(n, f):
            n += 1
            n *= n
            n //= 3
            n %= 5
            n <<= 2
            n >>= 1
            n &= 7
            n |= 8
            n ^= 1
            n -= 2
            f /= 2
        """,
    )
    for op in "addi muli divsi remsi shli shrsi andi ori xori subi divf".split():
        assert f"arith.{op}" in text


def test_if_on_constants_walks_one_branch(tmp_path):
    text = build(
        tmp_path,
        """
        @nereid.jit
        def kernel(n, FLAG: tl.constexpr, NOTHING: tl.constexpr):
            if FLAG:
                a = n + n
            else:
                a = undefined
            if NOTHING is None and not (FLAG is None):
                b = a * a
            else:
                b = undefined
            c = b - n if FLAG == 1 else undefined
        """,
        FLAG=True,
        NOTHING=None,
    )
    assert "scf.if" not in text
    for op in "addi muli subi".split():
        assert f"arith.{op}" in text


def test_if_at_run_time_gives_results(tmp_path):
    text = build(
        tmp_path,
        """
        @nereid.jit
        def kernel(n, m):
            a = n
            t = (n, 1.5)
            if n > 3:
                a = m
                c = 1
            elif n > 2:
                a += 1
                c = 2
                t = (m, 2.5)
            else:
                c = n
                only_here = 5
            d = a + c + t[0]
        """,
    )
    assert text.count("scf.if") == 2
    assert re.search(r"%\d+:4 = scf\.if %\d+ -> \(i32, i32, i32, f32\)", text), text


def test_folded_argument_in_branches_and_loops(tmp_path):
    text = build(
        tmp_path,
        """
        @nereid.jit
        def kernel(n, m):
            if m > 2:
                n = m
            for i in range(m):
                n += i
            n.to(tl.float32)
        """,
        n=1,
    )
    assert "scf.if" in text and "iter_args" in text


def test_names_of_one_branch_may_stay_unused(tmp_path):
    build(
        tmp_path,
        """
        @nereid.jit
        def kernel(n):
            if n > 3:
                a = 1
            else:
                a = 1.0
                b = 2
            for i in range(n):
                c = i
            while n > 0:
                d = n
                n -= 1
        """,
    )


def test_conditional_expression(tmp_path):
    text = build(
        tmp_path,
        """
        @nereid.jit
        def kernel(n, m):
            a = n if n > m else 7
            b, c = (n, 1) if m > 2 else (m, 2)
        """,
    )
    assert text.count("scf.if") == 2
    assert "-> (i32, i32)" in text


def test_for_over_range(tmp_path):
    text = build(
        tmp_path,
        """
        @nereid.jit
        def kernel(n, k, u):
            a = 0
            for i in range(n):
                a += i
            b = tl.zeros((4,), tl.float32)
            for i in range(2, k, 3):
                b += 1
                for j in tl.range(0, u, num_stages=2, loop_unroll_factor=4, flatten=True):
                    b += 2.0
        """,
    )
    assert re.search(r"scf\.for %\w+ = %c0_i32\w* to %arg0 step %c1_i32\w* iter_args", text), text
    assert re.search(r"scf\.for .*-> \(tensor<4xf32>\)  : i64", text), text
    assert re.search(r"scf\.for unsigned", text), text
    assert re.search(r"\{tt\.flatten, tt\.loop_unroll_factor = 4 : i32, tt\.num_stages = 2 : i32\}", text), text


def test_for_with_a_negative_step_counts_down(tmp_path):
    text = build(
        tmp_path,
        """
        @nereid.jit
        def kernel(n):
            a = 0
            for i in range(n, 2, -3):
                a += i
        """,
    )
    # From 2 up to n by 3; the body sees n + 2 - counter.
    assert re.search(r"scf\.for %\w+ = %c2_i32\w* to %arg0 step %c3_i32", text), text
    assert "arith.subi" in text


def test_static_range_repeats_the_body(tmp_path):
    text = build(
        tmp_path,
        """
        @nereid.jit
        def first_above(t, limit: tl.constexpr):
            for i in tl.static_range(len(t)):
                if t[i] > limit:
                    return i

        @nereid.jit
        def kernel(n):
            for i in tl.static_range(6, 0, -2):
                size: tl.constexpr = i * 2
                tl.arange(0, size)
            tl.static_assert(first_above((3, 5, 7), 4) == 1)
        """,
    )
    assert "scf.for" not in text
    for size in (12, 8, 4):
        assert f"tensor<{size}xi32>" in text


def test_while(tmp_path):
    text = build(
        tmp_path,
        """
        @nereid.jit
        def kernel(n):
            a = 1
            while (a < n) and (n > 3):
                a *= 2
            while False:
                undefined
        """,
    )
    assert re.search(r"scf\.while \(%\w+ = %c1_i32\w*\) : \(i32\) -> i32", text), text
    assert text.count("scf.while") == 1


def test_early_returns(tmp_path):
    text = build(
        tmp_path,
        """
        @nereid.jit
        def pick(a, b):
            if a > b:
                return a - b
            if b > 10:
                b += 1
                if a > 5:
                    return b
                b += a
            else:
                b = 0
            return b * 2

        @nereid.jit
        def kernel(n, m):
            if n > m:
                return
            a = pick(n, m)
            if a > 3:
                m = 1
            else:
                return
            a += m
        """,
    )
    assert "scf.if" in text and "cf.cond_br" not in text


def test_calls_of_jit_functions(tmp_path):
    text = build(
        tmp_path,
        """
        LIMIT = tl.constexpr(9)

        @nereid.jit
        def inner(a, dtype: tl.constexpr, scale=3):
            return (a * scale).to(dtype)

        @nereid.jit
        def apply(f, a, *, b):
            return f(a, b)

        @nereid.jit
        def outer(a, b=LIMIT, c: tl.constexpr = 2):
            x = inner(a, tl.float32)
            y = inner(dtype=tl.float16, a=b, scale=c)
            return x, y

        @nereid.jit
        def kernel(n):
            x, y = outer(n)
            z, _ = outer(n, n)
            apply(inner, n, b=tl.float64)
        """,
    )
    assert "tt.call" not in text and text.count("tt.func") == 1
    assert "f64" in text


def test_globals(tmp_path):
    text = build(
        tmp_path,
        """
        SIZE = tl.constexpr(16)
        DTYPE = tl.float16
        SHAPE = (SIZE, tl.constexpr(2))

        class Sizes:
            small = 4

        @tl.constexpr_function
        def double(x, plus=0):
            return x * 2 + plus

        def make():
            CLOSED = tl.constexpr(64)

            @nereid.jit
            def kernel(n):
                tl.zeros((SIZE, CLOSED), DTYPE)
                tl.zeros(SHAPE, DTYPE)
                tl.arange(0, double(SIZE, plus=1))
                tl.arange(0, Sizes.small)
                f = n * math.pi

            return kernel

        kernel = make()
        """,
    )
    for part in ("tensor<16x64xf16>", "tensor<16x2xf16>", "tensor<33xi32>", "tensor<4xi32>", "3.14159"):
        assert part in text


def test_plain_globals_by_option(tmp_path):
    text = build(
        tmp_path,
        """
        SIZE = 16

        @nereid.jit
        def kernel(n):
            tl.arange(0, SIZE)
        """,
        options={"allow_non_constexpr_globals": True},
    )
    assert "tensor<16xi32>" in text


def test_strings(tmp_path):
    build(
        tmp_path,
        """
        @nereid.jit
        def kernel(n, B: tl.constexpr):
            name: tl.constexpr = f"tile {B} {B!r} {2.5:.2f} {B:>4}" + "!" * 2
            tl.static_assert(name == "tile 32 32 2.50   32!!")
            tl.static_assert("tile" in name)
            tl.static_assert(f"{True} {None} {1e20} {1.0} {(1, 'a')}" == "True None 1e+20 1.0 (1, 'a')")
        """,
        B=32,
    )


def test_boolean_operators_of_constants_stop_early(tmp_path):
    text = build(
        tmp_path,
        """
        @nereid.jit
        def kernel(n, P: tl.constexpr):
            if P is not None and P > 3:
                n + 1
            if P is None or undefined:
                n * 2
            a = n > 2 and n < 4 or not (n == 3)
        """,
        P=None,
    )
    assert "arith.addi" not in text and "arith.muli" in text
    assert "arith.andi" in text and "arith.ori" in text


def test_assert_is_a_device_assert(tmp_path):
    body = """
        @nereid.jit
        def kernel(n):
            assert n > 3, "too small"
        """
    assert 'tt.assert' in build(tmp_path, body, options={"debug": True})
    assert "tt.assert" not in build(tmp_path, body)


def test_print_is_a_device_print(tmp_path):
    text = build(
        tmp_path,
        """
        @nereid.jit
        def kernel(n):
            print("n is", n)
        """,
    )
    assert "tt.print" in text


def test_assignment_expression(tmp_path):
    text = build(
        tmp_path,
        """
        @nereid.jit
        def kernel(n):
            if (a := n + 1) > 3:
                b = a * 2
        """,
    )
    assert "arith.addi" in text and "arith.muli" in text


def test_docstrings_and_pass(tmp_path):
    build(
        tmp_path,
        '''
        @nereid.jit
        def kernel(n):
            """What it does."""
            pass
            ...
        '''.replace("            ...\n", ""),
    )


@pytest.mark.parametrize("value", [None, True, 7, -3, 2.5, "text", (1, (2.5, "x")), 2**63, -(2**40)])
def test_constexpr_arguments(tmp_path, value):
    build(
        tmp_path,
        f"""
        @nereid.jit
        def kernel(C: tl.constexpr):
            tl.static_assert(C == {value!r})
            tl.static_assert(not (C != {value!r}))
        """,
        C=value,
    )


def test_tuple_arguments(tmp_path):
    text = build(
        tmp_path,
        """
        @nereid.jit
        def kernel(p, n):
            n + p[0] + p[1][0]
            tl.static_assert(p[1][1] == 5)
            p.base + p.size
        """,
        kinds={"p": ("tuple", [("i32", 16), ("tuple", [("i32", 0), ("constexpr", 5)], None), ("i64", 0)], ["base", "b", "size"])},
    )
    assert re.search(r"@kernel\(%\w+: i32 \{tt\.divisibility = 16 : i32\}, %\w+: i32, %\w+: i64, %\w+: i32\)", text), text


def test_arange_from_a_negative_start(tmp_path):
    text = build(
        tmp_path,
        """
        @nereid.jit
        def kernel(n):
            tl.arange(-3, 5)
        """,
    )
    assert "{end = 5 : i32, start = -3 : i32} : tensor<8xi32>" in text


def test_run_time_values_may_come_to_constexpr_parameters(tmp_path):
    # Kernels in use annotate parameters that get blocks.
    text = build(
        tmp_path,
        """
        @nereid.jit
        def masked(a, offs: tl.constexpr, SIZE: tl.constexpr):
            return a + (offs < SIZE).to(tl.int32)

        @nereid.jit
        def kernel(n):
            masked(n, tl.arange(0, 8), 5)
        """,
    )
    assert "arith.cmpi slt" in text


def test_loop_variable_with_a_value_before_the_loop(tmp_path):
    text = build(
        tmp_path,
        """
        @nereid.jit
        def kernel(n, m):
            k = -1
            for j in range(n):
                for k in range(m):
                    pass
                k + j
        """,
    )
    # Carried through both loops: Python's value, that of the last round.
    assert text.count("iter_args") == 2


def test_methods_of_python_integers(tmp_path):
    build(
        tmp_path,
        """
        @nereid.jit
        def kernel(C: tl.constexpr):
            tl.static_assert(C.bit_length() == 6)
            tl.static_assert((-C).bit_length() == 6 and (0).bit_length() == 0)
        """,
        C=37,
    )


def test_questions_about_values(tmp_path):
    build(
        tmp_path,
        """
        Pair = collections.namedtuple("Pair", ["first", "second"])

        @nereid.jit
        def kernel(n, x_ptr, C: tl.constexpr):
            tl.static_assert(isinstance(n, tl.tensor) and not isinstance(C, tl.tensor))
            tl.static_assert(isinstance(C, tl.constexpr) and isinstance(C, int) and not isinstance(C, (float, str)))
            tl.static_assert(isinstance((n, C), tuple) and isinstance(tl.float32, tl.dtype))
            tl.static_assert(isinstance(True, bool) and isinstance("a", str) and isinstance([1], list))
            tl.static_assert(not isinstance(x_ptr, tl.tensor_descriptor))
            p = Pair(n, 3)
            tl.static_assert(hasattr(p, "first") and not hasattr(p, "third"))
            tl.static_assert(getattr(p, "second") == 3 and getattr(p, "third", 5) == 5)
            tl.static_assert(hasattr(n, "to") and not hasattr(n, "too"))
        """,
        C=4,
    )
