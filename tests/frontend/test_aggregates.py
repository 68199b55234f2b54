# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Aggregates: classes with fields, __init__ and jit methods inside kernels."""

import numpy as np
import pytest
from frontend_kernels import build, load

import nereid

RING = """
    @nereid.jit
    def plus(a, b):
        return a + b

    @nereid.aggregate
    class Ring:
        base: tl.tensor
        stage: tl.tensor
        DEPTH: tl.constexpr
        combine: tl.constexpr

        @nereid.constexpr_function
        def __init__(self, base, depth, combine=plus):
            self.base = base
            self.stage = 0
            self.DEPTH = tl.constexpr(depth)
            self.combine = combine

        @nereid.jit
        def slot(self):
            return self.base + self.stage

        @nereid.jit
        def next(self, by=1):
            moved = Ring(self.base, self.DEPTH)
            moved.stage = (self.stage + by) % self.DEPTH
            return moved

        @nereid.jit
        def total(self, a, b):
            return self.combine(a, b)
"""


def run(tmp_path, body: str, *args):
    module, _, _ = load(tmp_path, body)
    out = np.zeros(8, np.float32)
    module.kernel[(1,)](out, *args)
    return list(out)


def test_methods_fields_and_loops(tmp_path):
    body = RING + """
    @nereid.jit
    def kernel(x_ptr, n):
        ring = Ring(x_ptr, depth=3)
        for i in range(n):
            tl.store(ring.slot(), ring.total(i, 1).to(tl.float32))
            if i != 4:
                ring = ring.next()
            else:
                ring.stage += 2
        tl.store(x_ptr + 7, ring.DEPTH * 1.0)
        tl.store(x_ptr + 6, ring.stage.to(tl.float32))
    """
    slots, stage = [0.0] * 6, 0
    for i in range(8):
        slots[stage] = i + 1.0
        stage = (stage + 1) % 3 if i != 4 else stage + 2
    assert run(tmp_path, body, 8) == [*slots, stage, 3]


def test_instances_are_values(tmp_path):
    body = RING + """
    @nereid.jit
    def change(ring):
        ring.stage = 5
        return ring

    @nereid.jit
    def kernel(x_ptr):
        first = Ring(x_ptr, 3)
        second = change(first)
        pair = (first, second)
        tl.store(x_ptr, pair[0].stage.to(tl.float32))
        tl.store(x_ptr + 1, pair[1].stage.to(tl.float32))
        tl.static_assert(isinstance(first, Ring))
        tl.static_assert(not isinstance(x_ptr, Ring))
        tl.static_assert(hasattr(first, "base") and not hasattr(first, "other"))
    """
    assert run(tmp_path, body)[:2] == [0, 5]


def test_aggregates_through_branches(tmp_path):
    body = RING + """
    @nereid.jit
    def kernel(x_ptr, n):
        ring = Ring(x_ptr, 3)
        if n > 3:
            ring = ring.next(2)
        other = ring if n > 5 else ring.next()
        tl.store(x_ptr, (ring.stage * 10 + other.stage).to(tl.float32))
    """
    for n in (2, 4, 6):
        stage = 2 if n > 3 else 0
        other = stage if n > 5 else (stage + 1) % 3
        assert run(tmp_path, body, n)[0] == stage * 10 + other


def test_two_classes_do_not_mix(tmp_path):
    body = RING + """
    @nereid.aggregate
    class Twin:
        base: tl.tensor
        stage: tl.tensor
        DEPTH: tl.constexpr
        combine: tl.constexpr

        def __init__(self, base):
            self.base = base
            self.stage = 0
            self.DEPTH = 3
            self.combine = plus

    @nereid.jit
    def kernel(x_ptr, n):
        both = Ring(x_ptr, 3)
        if n > 3:
            both = Twin(x_ptr)
    """
    with pytest.raises(nereid.CompilationError, match="'both' is an instance of 'Twin' in one branch"):
        build(tmp_path, body)


def test_inheritance_and_class_constants(tmp_path):
    body = """
    class Shared:
        FACTOR = tl.constexpr(4)

        @nereid.jit
        def scaled(self):
            return self.value * self.FACTOR

    @nereid.aggregate
    class One(Shared):
        value: "tl.tensor"

        def __init__(self, value):
            self.value = value

    @nereid.jit
    def kernel(x_ptr, n):
        tl.store(x_ptr, One(n).scaled().to(tl.float32))
    """
    assert run(tmp_path, body, 5)[0] == 20


def test_changed_method_is_compiled_again(tmp_path):
    module, _, _ = load(tmp_path, RING + """
    @nereid.jit
    def kernel(x_ptr):
        tl.store(x_ptr, Ring(x_ptr, 3).total(1.0, 2.0))
    """)
    other, _, _ = load(tmp_path, RING.replace("self.combine(a, b)", "self.combine(a, b) * 2") + """
    @nereid.jit
    def kernel(x_ptr):
        tl.store(x_ptr, Ring(x_ptr, 3).total(1.0, 2.0))
    """)
    assert module.kernel.cache_key != other.kernel.cache_key


@pytest.mark.parametrize(
    "body, message",
    [
        ("class A: pass", "class 'A' has no annotated fields"),
        ("class A:\n    x: tl.tensor", "class 'A' has no __init__"),
    ],
)
def test_classes_that_are_no_aggregates(body, message, tmp_path):
    with pytest.raises(nereid.CompilationError, match=message):
        load(tmp_path, f"@nereid.aggregate\n{body}\n")


def test_only_classes():
    with pytest.raises(TypeError, match="takes a class"):
        nereid.aggregate(3)
