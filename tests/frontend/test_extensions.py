# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the language has beyond Triton's: it works, and a portable kernel is refused for it."""

import numpy as np
import pytest
from frontend_kernels import build, load, refused

import nereid

#: What the language has beyond Triton's: (statements, part of the help).
EXTENSIONS = {
    "`break`": ("for i in range(n):\n    if i == 3:\n        ⟦break⟧", "`while`"),
    "`continue`": ("for i in range(n):\n    if i == 3:\n        ⟦continue⟧", "`if`"),
    "`return` inside a loop": ("for i in range(n):\n    if i > 3:\n        ⟦return⟧", "after the loop"),
    "a `while` whose condition is always true": ("while ⟦True⟧:\n    if n > 0:\n        return", "depend"),
    "a `while` condition that is not a comparison": ("while ⟦n⟧:\n    n -= 1", "x != 0"),
    "a chained comparison": ("a = ⟦0 < n < 3⟧", "a < b and b < c"),
    "`in`": ("a = ⟦n in (1, 2)⟧", "one by one"),
    "`in` (constants)": ("a = ⟦1 not in (1, 2)⟧", "one by one"),
    "`for` over a tuple": ("for i in ⟦(n, 2)⟧:\n    pass", "tl.static_range(len(t))"),
    "an assignment to several targets": ("⟦a = b = n⟧", "one after the other"),
    "a starred name on the left of an assignment": ("a, ⟦*b⟧ = (n, n, n)", "t[1:]"),
    "an assignment to an element": ("t = (n, n)\n⟦t[0]⟧ = n", "new tuple"),
    "an assignment to an element (block)": ("t = tl.arange(0, 4)\n⟦t[n]⟧ = 1", "new tuple"),
    "an assignment to a field outside `__init__`": ("p = Point(n)\n⟦p.x⟧ = 3", "new aggregate"),
    "a list comprehension over a range": ("a = [i for i in ⟦tl.static_range(3)⟧]", "write the items out"),
}

POINT = """
        @nereid.aggregate
        class Point:
            x: tl.tensor

            def __init__(self, x):
                self.x = x
"""


@pytest.mark.parametrize("name", EXTENSIONS)
def test_extension_and_its_refusal(name, tmp_path):
    statements, instead = EXTENSIONS[name]
    lines = "\n".join("            " + line for line in statements.splitlines())
    body = f"{POINT}\n        @nereid.jit\n        def kernel(n):\n{lines}\n"
    build(tmp_path, body)
    error = refused(tmp_path, body, options={"portable": True})
    what = name.split(" (")[0]
    assert error.message == f"{what} is an extension of this compiler, and the kernel is to be portable"
    assert instead in error.help and "without portable" in error.help


# name of the case: (body of the module, message, part of the help or notes)
CASES = {
    "result of advance dropped": (
        """
        @nereid.jit
        def kernel(x_ptr):
            p = tl.make_block_ptr(x_ptr, (8,), (1,), (0,), (8,), (0,))
            ⟦tl.advance(p, (8,))⟧
        """,
        "the result of tl.advance is not used",
        "p = tl.advance(p, offsets)",
    ),
    "result of the method dropped": (
        """
        @nereid.jit
        def kernel(x_ptr):
            p = tl.make_block_ptr(x_ptr, (8,), (1,), (0,), (8,), (0,))
            ⟦p.advance((8,))⟧
        """,
        "the result of tl.advance is not used",
        None,
    ),
    "identity of a run-time value": (
        """
        @nereid.jit
        def kernel(n):
            if ⟦n is 3⟧:
                pass
        """,
        "`is` asks at compile time, but int32 scalar is known only at run time",
        "compare the values with `==`",
    ),
    "name that a break may skip": (
        """
        @nereid.jit
        def kernel(n):
            for i in tl.static_range(4):
                if n == i:
                    break
                a = i
            tl.device_print("a", ⟦a⟧)
        """,
        "'a' was first assigned inside the loop and has no value after it",
        "it was assigned here",
    ),
    "element of a block by one index": (
        """
        @nereid.jit
        def kernel(n):
            a = tl.zeros((4, 4), tl.float32)
            ⟦a[0]⟧ = 1.0
        """,
        "an element of a block of 2 dimensions is picked by as many integers, not by constexpr 0",
        "one integer",
    ),
    "block as an element": (
        """
        @nereid.jit
        def kernel(n):
            a = tl.zeros((4,), tl.int32)
            ⟦a[0]⟧ = tl.arange(0, 4)
        """,
        "an element of a block is a scalar, but the value is int32[4]",
        "`tl.where`",
    ),
    "field of the wrong kind": (
        """
        @nereid.aggregate
        class Pair:
            first: tl.tensor

            def __init__(self, first):
                ⟦self.first⟧ = first

        @nereid.jit
        def kernel(n):
            Pair("text")
        """,
        "field 'first' is annotated tl.tensor, but its value is constexpr 'text'",
        "in '__init__', called from here",
    ),
    "field without a value": (
        """
        @nereid.aggregate
        class Pair:
            first: tl.tensor
            second: tl.tensor

            def ⟦__init__⟧(self, first):
                self.first = first

        @nereid.jit
        def kernel(n):
            Pair(n)
        """,
        "__init__ leaves the field 'second' without a value",
        "assign every field",
    ),
    "unknown field": (
        """
        @nereid.aggregate
        class Pair:
            first: tl.tensor

            def __init__(self, first):
                ⟦self.fist⟧ = first

        @nereid.jit
        def kernel(n):
            Pair(n)
        """,
        "an aggregate (first) has no attribute 'fist'",
        "did you mean 'first'?",
    ),
    "run-time value in a constant field": (
        """
        @nereid.aggregate
        class Pair:
            first: tl.constexpr

            def __init__(self, first):
                self.first = ⟦first⟧

        @nereid.jit
        def kernel(n):
            Pair(n)
        """,
        "'first' is annotated tl.constexpr, but its value is int32 scalar, which is known only at run time",
        None,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name, tmp_path):
    body, message, more = CASES[name]
    error = refused(tmp_path, body)
    assert error.message == message
    if more:
        assert more in str(error)


def run(tmp_path, body: str, *args):
    """What `kernel` of `body` writes to its first parameter, 8 numbers."""
    module, _, _ = load(tmp_path, body)
    out = np.zeros(8, np.float32)
    module.kernel[(1,)](out, *args)
    return list(out)


@pytest.mark.parametrize("n", [0, 3, 7, 100])
def test_search_returns_from_the_loop(n, tmp_path):
    body = """
    @nereid.jit
    def find(i_ptr, n, what):
        for i in range(n):
            value = tl.load(i_ptr + i)
            if value < 0:
                continue
            if value == what:
                return i, True
        return -1, False

    @nereid.jit
    def kernel(x_ptr, i_ptr, n, what):
        at, found = find(i_ptr, n, what)
        tl.store(x_ptr, at.to(tl.float32))
        tl.store(x_ptr + 1, found.to(tl.float32))
    """
    numbers = np.array([5, -3, 8, 1, -3, 9, 8, 2], np.int32)
    module, _, _ = load(tmp_path, body)
    for what in (8, -3, 2, 77):
        out = np.zeros(2, np.float32)
        module.kernel[(1,)](out, numbers, min(n, 8), what)
        found = [i for i in range(min(n, 8)) if numbers[i] >= 0 and numbers[i] == what]
        assert list(out) == ([found[0], 1] if found else [-1, 0])


def test_blocks_are_carried_out_of_a_loop_that_is_left(tmp_path):
    body = """
    @nereid.jit
    def kernel(x_ptr, n, limit):
        total = tl.zeros((8,), tl.float32)
        step = 0
        while True:
            total += tl.arange(0, 8)
            step += 1
            if tl.sum(total, 0) > limit:
                total *= 2
                break
            if step >= n:
                break
        else_ = step
        tl.store(x_ptr + tl.arange(0, 8), total + else_)
    """
    for n, limit in [(3, 1000), (100, 60), (1, 0)]:
        total, step = np.zeros(8), 0
        while True:
            total += np.arange(8)
            step += 1
            if total.sum() > limit:
                total *= 2
                break
            if step >= n:
                break
        assert run(tmp_path, body, n, limit) == list(total + step)


def test_wide_and_unsigned_counters(tmp_path):
    body = """
    @nereid.jit
    def kernel(x_ptr, start: tl.int64, stop: tl.int64, low: tl.uint32, high: tl.uint32):
        rounds = 0
        last = start
        for i in range(start, stop, 3):
            if i % 5 == 2:
                continue
            rounds += 1
            last = i
            if rounds == 4:
                break
        tl.store(x_ptr, rounds.to(tl.float32))
        tl.store(x_ptr + 1, (last - start).to(tl.float32))
        count = 0
        for j in range(low, high):
            count += 1
            if count == 9:
                break
        tl.store(x_ptr + 2, count.to(tl.float32))
        down = 0
        for k in range(stop, start, -4):
            if k < 0:
                break
            down += 1
        tl.store(x_ptr + 3, down.to(tl.float32))
    """
    for start, stop, low, high in [
        (2**40, 2**40 + 100, 2**32 - 4, 2**32 - 1),
        (-7, 2, 0, 2**32 - 1),
        (5, 5, 7, 3),
        (2**63 - 10, 2**63 - 1, 2**31 - 2, 2**31 + 3),
    ]:
        rounds, last = 0, start
        for i in range(start, stop, 3):
            if int(np.fmod(i, 5)) == 2:
                continue
            rounds, last = rounds + 1, i
            if rounds == 4:
                break
        down = 0
        for k in range(stop, start, -4) if stop - start < 1000 else ():
            if k < 0:
                break
            down += 1
        assert run(tmp_path, body, start, stop, low, high)[:4] == [
            rounds, last - start, min(max(high - low, 0), 9), down
        ], (start, stop)


def test_wait_in_a_loop_that_is_left(tmp_path):
    body = """
    @nereid.jit
    def kernel(x_ptr, s_ptr, n):
        data = x_ptr
        for i in range(n):
            if i == 3:
                break
            token = dl.wait(s_ptr + i, 1, "gpu", "acquire", waitValue=i + 1)
            data = dl.consume_token(data, token)
            if tl.load(s_ptr + 7) == i:
                continue
            tl.store(data + i, tl.load(data + i) + 1.0)
    """
    module, _, _ = load(tmp_path, body)
    out, signals = np.zeros(8, np.float32), np.arange(1, 9)
    signals[7] = 1
    module.kernel[(1,)](out, signals, 8)
    assert list(out) == [1, 0, 1, 0, 0, 0, 0, 0]


def test_comparisons_membership_and_tuples(tmp_path):
    body = """
    @nereid.jit
    def check(ok):
        return ok.to(tl.int32)

    @nereid.jit
    def kernel(x_ptr, n, SIZE: tl.constexpr):
        tl.static_assert(0 < SIZE <= 8 and not (1 < SIZE < 3 < 2))
        tl.static_assert("c" in "abc" and SIZE in (4, 8) and SIZE not in [1, 2])
        score = check(0 < n < 10) + 10 * check(n in (3, 5)) + 100 * check(n not in (3, SIZE))
        score += 1000 * check((n, 3) == (3, n)) + 10000 * check((n, 1) != (n, 1))
        tl.store(x_ptr, score.to(tl.float32))
        a = b = n + 1
        first, *rest = (a, b, n, 7)
        for place, value in ((1, a), (2, rest[1]), (3, len(rest))):
            tl.store(x_ptr + place, value * 1.0)
        squares = [i * i for i in range(4)]
        t = (0, n, squares[3])
        t[0] = t[1] + 1
        t[-1] += 1
        tl.store(x_ptr + 4, t[0] * 1.0)
        tl.store(x_ptr + 5, t[2] * 1.0)
        block = tl.arange(0, 8).reshape(2, 4)
        block[1, n % 4] = -5
        tl.store(x_ptr + 6, tl.sum(block.reshape(8), 0) * 1.0)
    """
    for n in (0, 3, 4, 10):
        score = int(0 < n < 10) + 10 * int(n in (3, 5)) + 100 * int(n not in (3, 4)) + 1000 * int(n == 3)
        block = np.arange(8).reshape(2, 4)
        block[1, n % 4] = -5
        assert run(tmp_path, body, n, 4)[:7] == [score, n + 1, n, 3, n + 1, 10, block.sum()], n


@pytest.mark.parametrize("how", ["decorator", "launch", "environment"])
def test_ways_to_ask_for_portable_kernels(how, tmp_path, monkeypatch):
    option = "(portable=True)" if how == "decorator" else ""
    module, _, _ = load(
        tmp_path,
        f"""
    @nereid.jit{option}
    def kernel(x_ptr, n):
        for i in range(n):
            if i > 2:
                break
        tl.store(x_ptr, 1.0)
    """,
    )
    if how == "environment":
        monkeypatch.setenv("NEREID_PORTABLE", "1")
    options = {"portable": True} if how == "launch" else {}
    with pytest.raises(nereid.CompilationError, match="`break` is an extension"):
        module.kernel[(1,)](np.zeros(1, np.float32), 3, **options)
    module.kernel[(1,)](np.zeros(1, np.float32), 3, portable=False)
