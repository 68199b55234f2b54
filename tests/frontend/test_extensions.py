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
    "a `while` condition that is no comparison": ("while ⟦n⟧:\n    n -= 1", "x != 0"),
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
