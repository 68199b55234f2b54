# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What AllReduce must give."""

from __future__ import annotations

import numpy as np

from nereid.ops.all_reduce.op import AllReduce
from nereid.ops.core.conformance import Case, add_and_clip, clipped, exact, numbers, reduction


def cases():
    def case(name, largest, dtype, sizes, op="sum", in_place=False, epilogue=None, **options):
        def call(operator, args):
            if not in_place:
                return operator(*args)
            x = np.array(args[0])
            return operator(x, out=x)

        if epilogue is not None:
            return Case(name, lambda g: AllReduce(largest, dtype, op=op, group=g, epilogue=epilogue, **options), sizes,
                        lambda size, rng, member, n: (numbers(rng, size, dtype), numbers(rng, size, "float32")),
                        lambda size, everyone, member: clipped(reduction([x for x, _ in everyone], op, dtype),
                                                               exact(everyone[member][1]), dtype),
                        lambda operator, args: operator(args[0], extra=args[1]))
        return Case(name, lambda g: AllReduce(largest, dtype, op=op, group=g, **options), sizes,
                    lambda size, rng, member, n: (numbers(rng, size, dtype),),
                    lambda size, everyone, member: reduction([x for x, in everyone], op, dtype), call)

    sizes = [(1,), (255,), (256,), (257,), (0,), (2047, 3), (9001,), (20011,)]
    yield case("one-shot", 9001, "float32", sizes, algorithm="one_shot", programs=2)
    yield case("one-shot, pulled, one node", 9001, "bfloat16", sizes, algorithm="one_shot_pull", programs=2)
    yield case("two-shot", 40001, "float16", [*sizes, (40001,)], algorithm="two_shot", programs=3)
    yield case("chosen, in place, one node", 9001, "float32", sizes, in_place=True)
    yield case("algorithms in turn", 9001, "float32", [(9001,), (50,), (8000,), (100,), (3,)], programs=2)
    yield case("two-shot, in place", 30000, "int64", sizes, algorithm="two_shot", in_place=True, programs=2)
    yield case("ring", 40001, "float32", [*sizes, (40001,)], algorithm="ring", programs=3)
    yield case("ring, unrounded, in place", 9001, "bfloat16", sizes, algorithm="ring", in_place=True)
    yield case("ring, sizes in turn", 9001, "float32", [(9001,), (3,), (8000,), (700,), (9000,)], algorithm="ring", programs=2)
    yield case("ring, greatest", 300, "int32", sizes[:4], op="max", algorithm="ring")
    for algorithm in ("one_shot", "two_shot", "ring"):
        yield case(f"epilogue, {algorithm}", 9001, "float16", sizes[:-1], algorithm=algorithm, epilogue=add_and_clip, programs=2)
    yield case("greatest", 300, "float64", sizes[:4], op="max")
    yield case("average", 9001, "float32", sizes, op="avg")
    yield case("least", 300, "int32", sizes[:4], op="min")
