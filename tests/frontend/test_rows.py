# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The accepted constructs run, one kernel for each, against what Python computes."""

import numpy as np
import pytest
from frontend_kernels import load

import nereid

N = 6


def run(tmp_path, body: str, *args, **keywords):
    """What `kernel` of `body` stores at x_ptr[0], x_ptr[1], ..."""
    module, _, _ = load(tmp_path, body)
    out = np.full(16, -1.0, np.float64)
    module.kernel[(1,)](out, *args, **keywords)
    return list(out)


STORE = """
    @nereid.jit
    def put(x_ptr, at, value):
        tl.store(x_ptr + at, value.to(tl.float64) if isinstance(value, tl.tensor) else value * 1.0)
"""

# name: (module, expected by the run-time argument n)
CASES = {
    "named tuples through branches, loops and conditional expressions": (
        """
    Pair = collections.namedtuple("Pair", "first second")

    @nereid.jit
    def kernel(x_ptr, n):
        p = Pair(n, Pair(2, n + 1))
        if n > 3:
            p = Pair(p.second.second, p.second)
        for i in range(n):
            p = Pair(p.first + i, Pair(p.second.first * 2, p.second.second))
        while p.first > 9:
            p = Pair(first=p.first - 4, second=p.second)
        q = p if n % 2 == 0 else Pair(p.second.first, Pair(p.first, p.second.second))
        put(x_ptr, 0, q.first)
        put(x_ptr, 1, q.second.first)
        put(x_ptr, 2, q[1][1])
        """,
        lambda n: named_tuples(n),
    ),
    "closures": (
        """
    def outer():
        factor = tl.constexpr(5)

        @nereid.jit
        def inner(a):
            return a * factor

        @nereid.jit
        def kernel(x_ptr, n):
            put(x_ptr, 0, inner(n) + factor)

        return kernel

    kernel = outer()
        """,
        lambda n: [n * 5 + 5],
    ),
    "jit functions, dtypes, strings and None as arguments": (
        """
    @nereid.jit
    def twice(a):
        return a * 2

    @nereid.jit
    def apply(f, a, dtype=tl.int64, how="f", extra=None):
        if extra is not None:
            a += extra
        if how == "f":
            return f(a).to(dtype)
        else:
            return a.to(dtype)

    @nereid.jit
    def kernel(x_ptr, n):
        put(x_ptr, 0, apply(twice, n))
        put(x_ptr, 1, apply(twice, n, extra=n, how="g", dtype=tl.float32))
        put(x_ptr, 2, apply(f=twice, a=n, extra=1))
        """,
        lambda n: [2 * n, 2 * n, 2 * n + 2],
    ),
    "starred arguments and any number of parameters": (
        """
    @nereid.jit
    def total(first, *rest):
        for i in tl.static_range(len(rest)):
            first += rest[i]
        return first

    @nereid.jit
    def kernel(x_ptr, n):
        t = (n, 2, n * n)
        put(x_ptr, 0, total(*t))
        put(x_ptr, 1, total(1, *t[1:], *(5, n)))
        put(x_ptr, 2, total(n))
        """,
        lambda n: [n + 2 + n * n, 1 + 2 + n * n + 5 + n, n],
    ),
    "compile-time functions": (
        """
    @nereid.constexpr_function
    def bits(a, scale=1):
        return a.bit_length() * scale

    @nereid.jit
    def kernel(x_ptr, n, B: tl.constexpr = 40):
        block = tl.arange(0, bits(B, scale=2))
        put(x_ptr, 0, tl.sum(block, 0))
        put(x_ptr, 1, bits(B))
        put(x_ptr, 2, nereid.cdiv(B, 7) + nereid.next_power_of_2(B))
        """,
        lambda n: [sum(range(12)), 6, 6 + 64],
    ),
    "constants that mix with run-time results": (
        """
    @nereid.jit
    def choose(a):
        if a > 3:
            return 1, a
        return 2, 7

    @nereid.jit
    def same(a):
        if a > 3:
            return 8
        return 8

    @nereid.jit
    def kernel(x_ptr, n):
        a, b = choose(n)
        put(x_ptr, 0, a)
        put(x_ptr, 1, b)
        put(x_ptr, 2, tl.sum(tl.arange(0, same(n)), 0))
        """,
        lambda n: [*((1, n) if n > 3 else (2, 7)), 28],
    ),
    "constants assigned once, later": (
        """
    @nereid.jit
    def kernel(x_ptr, n):
        size: tl.constexpr
        if n is None:
            size = 4
        else:
            size = 8
        other: tl.constexpr = size * 2
        put(x_ptr, 0, tl.sum(tl.arange(0, other), 0))
        number: tl.int32 = n
        put(x_ptr, 1, number)
        """,
        lambda n: [120, n],
    ),
    "tuples": (
        """
    @nereid.jit
    def kernel(x_ptr, n):
        t = [n, 2] + [3] * 2
        (a, b), c = (t[0], t[-1]), t[1:]
        put(x_ptr, 0, a + b + c[0])
        put(x_ptr, 1, len(t) * 10 + len(c[::2]))
        doubled = [2 * v for v in t if isinstance(v, (tl.constexpr, tl.tensor))]
        put(x_ptr, 2, doubled[0] + len(doubled))
        t = (t, n)
        put(x_ptr, 3, t[0][0] + t[1])
        a, b = b, a
        put(x_ptr, 4, a)
        """,
        lambda n: [n + 3 + 2, 42, 2 * n + 4, 2 * n, 3],
    ),
    "loops without rounds": (
        """
    @nereid.jit
    def kernel(x_ptr, n):
        a = 5
        for i in range(n, 0):
            a = i
        for i in range(0):
            a += 1
        for i in range(3, 3 + 0 * n, -1):
            a += 1
        for i in tl.static_range(4, 2):
            a += 1
        while a < 0:
            a -= 1
        while False:
            a = undefined
        if False:
            a = undefined
        for i in tl.static_range(0):
            a = undefined
        put(x_ptr, 0, a)
        """,
        lambda n: [5],
    ),
    "every kind of condition": (
        """
    @nereid.jit
    def kernel(x_ptr, n):
        a = 0
        if n:
            a += 1
        if n * 0.5:
            a += 10
        if n > 2 and not (n == 5 or n % 2 == 0):
            a += 100
        if n.to(tl.int64) - 4:
            a += 1000
        if x_ptr:
            a += 10000
        while n:
            n -= 1
            a += 100000
        b = 7.0
        while b:
            b -= 1.0
        put(x_ptr, 0, a + b)
        """,
        lambda n: [bool(n) + 10 * bool(n) + 100 * (n > 2 and not (n == 5 or n % 2 == 0)) + 1000 * (n != 4) + 10000 + 100000 * n],
    ),
    "returns everywhere": (
        """
    @nereid.jit
    def f(a):
        if a == 0:
            return 10
        elif a == 1:
            if a > 0:
                return 11
            return 12
        else:
            if a == 2:
                a += 1
            else:
                return a * 2
        a += 1
        if a == 4:
            return a + 100
        return a

    @nereid.jit
    def nothing(x_ptr, a):
        if a > 3:
            return
        put(x_ptr, 1, a)

    @nereid.jit
    def kernel(x_ptr, n):
        put(x_ptr, 0, f(n))
        nothing(x_ptr, n)
        if n == 5:
            return
        put(x_ptr, 2, 1)
        """,
        lambda n: [{0: 10, 1: 11, 2: 104}.get(n, n * 2), n if n <= 3 else -1, 1 if n != 5 else -1],
    ),
    "f-strings and strings": (
        """
    @nereid.jit
    def kernel(x_ptr, n, B: tl.constexpr = 4):
        text: tl.constexpr = f"<{B:03d}|{B!r}|{tl.float32}>"
        tl.static_assert(text == "<004|4|fp32>")
        tl.static_assert("a" "b" + "c" == "abc" and len("abc") == 3 if False else True)
        put(x_ptr, 0, B)
        """,
        lambda n: [4],
    ),
    "assertions and prints": (
        """
    @nereid.jit
    def kernel(x_ptr, n):
        \"\"\"A docstring.\"\"\"
        assert n >= 0, "negative"
        tl.static_assert(True)
        tl.static_assert(1 + 1 == 2, "arithmetic")
        pass
        n
        put(x_ptr, 0, n)
        """,
        lambda n: [n],
    ),
    "questions": (
        """
    @nereid.jit
    def kernel(x_ptr, n):
        a = 0
        if isinstance(n, tl.tensor) and hasattr(n, "dtype") and getattr(n, "missing", 3) == 3:
            a += 1
        if n is not None and n.dtype == tl.int32 and x_ptr.dtype.element_ty is tl.float64:
            a += 10
        if tl.arange(0, 8).shape[0] == 8 and n.dtype.is_int():
            a += min(max(n, 2), 4)
        put(x_ptr, 0, a)
        put(x_ptr, 1, float("inf"))
        put(x_ptr, 2, int("12") + int(3.9))
        """,
        # 1 is a constant
        lambda n: [(10 if n == 1 else 11) + min(max(n, 2), 4), float("inf"), 15],
    ),
    "names bound in tests and arms": (
        """
    @nereid.jit
    def kernel(x_ptr, n):
        v = -1
        t = 0
        while (v := t * t) < n:
            t += 1
            if v == 4:
                put(x_ptr, 0, v)
        put(x_ptr, 1, v)
        while (w := t * 3) < n + 20:
            t += 2
            if w > 21:
                break
        a = (v := n + 1) if n > 3 else (u := t) - 1
        put(x_ptr, 2, v)
        put(x_ptr, 3, a)
        if (b := n * 2) > 5 and (c := b + 1) > 0:
            t += b
        put(x_ptr, 4, t + b + c)
        """,
        lambda n: bound(n),
    ),
    "nested loops that hand several values on": (
        """
    @nereid.jit
    def kernel(x_ptr, n):
        a, b, c = 0, 1, tl.zeros((4,), tl.int32)
        for i in range(n):
            for j in range(i, n, 2):
                a, b = b, (a + b) % 97
                if (i + j) % 3 == 0:
                    c += tl.arange(0, 4) * j
                elif j > 4:
                    c = c * 2 % 1009
            k = 0
            while k < i:
                k += 1
                b += k
        put(x_ptr, 0, a)
        put(x_ptr, 1, b)
        put(x_ptr, 2, tl.sum(c, 0))
        """,
        lambda n: nested(n),
    ),
}


def named_tuples(n):
    first, (a, b) = n, (2, n + 1)
    if n > 3:
        first = b
    for i in range(n):
        first, a = first + i, a * 2
    while first > 9:
        first -= 4
    return [first, a, b] if n % 2 == 0 else [a, first, b]


def bound(n):
    t, first = 0, -1
    while (v := t * t) < n:
        t += 1
        if v == 4:
            first = v
    second = v
    while (w := t * 3) < n + 20:
        t += 2
        if w > 21:
            break
    if n > 3:
        a = v = n + 1
    else:
        a = t - 1
    b = n * 2
    if b > 5:
        t += b
    return [first, second, v, a, t + b + b + 1]


def nested(n):
    a, b, c = 0, 1, np.zeros(4, int)
    for i in range(n):
        for j in range(i, n, 2):
            a, b = b, (a + b) % 97
            if (i + j) % 3 == 0:
                c = c + np.arange(4) * j
            elif j > 4:
                c = c * 2 % 1009
        b += sum(range(1, i + 1))
    return [a, b, c.sum()]


@pytest.mark.parametrize("name", CASES)
def test_construct(name, tmp_path):
    body, expected = CASES[name]
    module, _, _ = load(tmp_path, STORE + body)
    for n in (0, 1, 2, 3, 4, 5, 9):
        out = np.full(16, -1.0)
        module.kernel[(1,)](out, n)
        wanted = expected(n)
        assert list(out[: len(wanted)]) == wanted, n


def test_noinline_and_decorators_between(tmp_path):
    body = """
    def mark(f):
        f.marked = True
        return f

    @mark
    @nereid.jit(noinline=True)
    def helper(a, b=3):  # type: ignore
        return a + b

    @nereid.jit
    @mark
    def kernel(x_ptr, n):
        tl.store(x_ptr, helper(n) * 1.0)
    """
    assert run(tmp_path, body, 4)[0] == 7


def test_kernel_with_any_number_of_arguments_at_launch(tmp_path):
    module, _, _ = load(tmp_path, "@nereid.jit\ndef kernel(x_ptr, *rest):\n    pass\n")
    for args in [(), (1,), (1, 2)]:
        with pytest.raises(nereid.ArgumentError, match=r"'\*rest' takes any number of arguments, which a kernel cannot"):
            module.kernel[(1,)](np.zeros(1), *args)


@pytest.mark.parametrize("value, later", [(3, 5), ((1, 2), (4, 2))])
def test_globals_follow_their_value(value, later, tmp_path, monkeypatch):
    body = "SIZE = tl.constexpr(0)\n\n@nereid.jit\ndef kernel(x_ptr):\n    tl.store(x_ptr, {} * 1.0)\n"
    index = "SIZE[0]" if isinstance(value, tuple) else "SIZE"
    module, _, _ = load(tmp_path, body.format(index))
    out = np.zeros(1)
    for now in (value, later, value):
        module.SIZE = nereid.constexpr(now)
        module.kernel[(1,)](out)
        assert out[0] == (now[0] if isinstance(now, tuple) else now)
    if index == "SIZE":  # equal in Python, but not the same constant
        module, _, _ = load(tmp_path, "SIZE = tl.constexpr(0)\n\n@nereid.jit\ndef kernel(x_ptr):\n    tl.store(x_ptr, SIZE / 2 if isinstance(SIZE, float) else SIZE // 2 * 1.0)\n")
        for now in (3, 3.0, True):
            module.SIZE = nereid.constexpr(now)
            module.kernel[(1,)](out)
            assert out[0] == (now / 2 if isinstance(now, float) else now // 2)
    # Plain values by permission.
    module, _, _ = load(tmp_path, body.format(index))
    module.SIZE = value
    with pytest.raises(nereid.CompilationError, match="which a kernel cannot use"):
        module.kernel[(1,)](out)
    monkeypatch.setenv("NEREID_ALLOW_NON_CONSTEXPR_GLOBALS", "1")
    for now in (later, value):
        module.SIZE = now
        module.kernel[(1,)](out)
        assert out[0] == (now[0] if isinstance(now, tuple) else now)
