# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random control flow, compiled and run, against the same source run by Python."""

import os
import random
import textwrap

import numpy as np
import pytest
from frontend_kernels import load

SEED = int(os.environ.get("NEREID_TEST_SEED", "0"))


class Program:
    """Source of a function f(a, b, c) over small integers: assignments, `if` chains, loops
    in any nesting, `break` and `continue`, conditional expressions, calls, early returns."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.loops = 0
        self.block(1, ["a", "b", "c"], depth=3, may_return=True)
        self.lines.append("    return a, b - c")

    def leaf(self, names):
        return self.random.choice([*names, *names, str(self.random.randrange(12))])

    def expression(self, names, depth=2):
        if depth == 0 or self.random.random() < 0.2:
            return self.leaf(names)
        kind = self.random.random()
        if kind < 0.1:
            return f"({self.expression(names, depth - 1)} if {self.condition(names)} else {self.leaf(names)} + a)"
        if kind < 0.2:
            return f"least({self.leaf(names)}, {self.expression(names, depth - 1)} + c)"
        operator = self.random.choice(["+", "-", "*", "&", "^", "|"])
        return f"({self.expression(names, depth - 1)} {operator} {self.expression(names, depth - 1)})"

    def condition(self, names):
        one = f"{self.expression(names, 1)} {self.random.choice(['<', '<=', '>', '>=', '==', '!='])} {self.leaf(names)} + a"
        if self.random.random() < 0.3:
            other = f"{self.leaf(names)} + b {self.random.choice(['<', '!='])} {self.leaf(names)}"
            return f"({one}) {self.random.choice(['and', 'or'])} not ({other})"
        return one

    def leave(self, pad, names, kinds):
        """A `break`, `continue` or `return` under a condition, or without one."""
        if self.random.random() < 0.9:
            self.lines.append(f"{pad}if {self.condition(names)}:")
            pad += "    "
            if self.random.random() < 0.5:
                self.lines.append(f"{pad}{self.random.choice('abc')} = {self.expression(names)} & 1023")
        kind = self.random.choice(kinds)
        self.lines.append(pad + (f"return {self.expression(names, 1)} & 255, b" if kind == "return" else kind))

    def block(self, indent, names, depth, may_return, loop=()):
        pad = "    " * indent
        for _ in range(self.random.randint(1, 4)):
            if loop and self.random.random() < 0.15:
                self.leave(pad, names, loop)
                continue
            kind = self.random.random()
            if depth == 0 or kind < 0.4:
                target = self.random.choice("abc")
                if self.random.random() < 0.3:
                    self.lines.append(f"{pad}{target} += {self.expression(names, 1)} & 63")
                else:
                    self.lines.append(f"{pad}{target} = {self.expression(names)} & 1023")
            elif kind < 0.5:
                one, other = self.random.sample("abc", 2)
                self.lines.append(f"{pad}{one}, {other} = {other} & 511, {self.expression(names, 1)} & 511")
            elif kind < 0.75:
                self.lines.append(f"{pad}if {self.condition(names)}:")
                self.block(indent + 1, names, depth - 1, may_return, loop)
                if may_return and self.random.random() < 0.25:
                    self.lines.append(f"{pad}    return {self.expression(names, 1)} & 255, b + {self.leaf(names)}")
                if self.random.random() < 0.3:
                    self.lines.append(f"{pad}elif {self.condition(names)}:")
                    self.block(indent + 1, names, depth - 1, may_return, loop)
                if self.random.random() < 0.5:
                    self.lines.append(f"{pad}else:")
                    self.block(indent + 1, names, depth - 1, may_return, loop)
            elif kind < 0.9:
                self.loops += 1
                # Now and then a variable counts, and has a value behind the loop.
                counter = self.random.choice(["a", "b", *[f"i{self.loops}"] * 6])
                header = self.random.choice(
                    [
                        f"range({self.leaf(names)} & 7)",
                        f"range({self.leaf(names)} & 3, ({self.leaf(names)} & 7) + 1, 2)",
                        f"range(({self.leaf(names)} & 7) + 1, {self.leaf(names)} & 3, -2)",
                        "range(5, -1, -1)",
                        "tl.static_range(3)",
                        f"({self.random.randrange(9)}, {self.random.randrange(9)})",
                    ]
                )
                self.lines.append(f"{pad}for {counter} in {header}:")
                self.block(indent + 1, [*names, counter], depth - 1, may_return, ("break", "continue", "return"))
            else:
                self.loops += 1
                counter = f"w{self.loops}"
                self.lines.append(f"{pad}{counter} = {self.leaf(names)} & 7")
                test = f"({counter} > 0) and ({self.condition(names)})" if self.random.random() < 0.4 else f"{counter} > 0"
                self.lines.append(f"{pad}while {test}:")
                self.lines.append(f"{pad}    {counter} -= 1")
                self.block(indent + 1, [*names, counter], depth - 1, may_return, ("break", "continue", "return"))

    @property
    def source(self) -> str:
        return "def f(a, b, c):\n" + "\n".join(self.lines) + "\n"


LEAST = """
def least(x, y):
    if x < y:
        return x
    return y
"""

KERNEL = """
@nereid.jit
def kernel(out_ptr, a, b, c):
    x, y = f(a, b, c)
    tl.store(out_ptr, x)
    tl.store(out_ptr + 1, y)
"""


class PythonLanguage:
    static_range = range


@pytest.mark.parametrize("number", range(int(os.environ.get("NEREID_CONTROL_FLOWS", "100"))))
def test_random_control_flow(number, tmp_path):
    program = Program(SEED * 1000 + number)
    functions = LEAST + "\n" + program.source
    python = {"tl": PythonLanguage}
    exec(functions, python)
    module, _, _ = load(tmp_path, functions.replace("def ", "@nereid.jit\ndef ") + KERNEL)
    numbers = random.Random(number)
    for arguments in [(0, 0, 0), (1, 16, 1)] + [tuple(numbers.randrange(40) for _ in range(3)) for _ in range(4)]:
        out = np.zeros(2, np.int32)
        module.kernel[(1,)](out, *arguments)
        assert tuple(out) == python["f"](*arguments), f"f{arguments} of\n{textwrap.indent(functions, '  ')}"
