# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What AllToAll must give."""

from __future__ import annotations

import numpy as np

from nereid.ops.all_to_all.op import AllToAll
from nereid.ops.core.conformance import Case, Expected, numbers


def cases():
    def case(name, most, columns, dtype, variants, view=False, **options):
        return Case(name, lambda g: AllToAll(most, columns, dtype, group=g, **options), variants,
                    lambda rows, rng, member, n: (numbers(rng, (n, rows, columns), dtype),),
                    lambda rows, everyone, member: Expected(np.stack([x[member] for x, in everyone])),
                    (lambda op, args: np.array(op(*args, view=True))) if view else (lambda op, args: op(*args)))

    def with_splits(name, most, columns, dtype, **options):
        def inputs(variant, rng, member, n):
            splits = rng.integers(0, most + 1, n) if variant == "random" else np.zeros(n, np.int64)
            if variant == "all to the last":
                splits[n - 1] = most
            return numbers(rng, (int(splits.sum()), columns), dtype), splits

        def expected(variant, everyone, member):
            parts = [x[splits[:member].sum():splits[:member + 1].sum()] for x, splits in everyone]
            return Expected(np.concatenate(parts)), Expected(np.array([splits[member] for _, splits in everyone]))

        def call(op, args):
            out, received = op(*args)
            return out[:received.sum()], received

        return Case(name, lambda g: AllToAll(most, columns, dtype, group=g, **options),
                    ("random", "nothing", "all to the last"), inputs, expected, call)

    yield case("one number", 1, 1, "float32", (1, 0))
    yield case("pieces", 131, 257, "float16", (131, 1, 17), programs=2)
    yield case("view", 37, 33, "int32", (37, 1, 5), view=True)
    yield with_splits("splits", 129, 365, "bfloat16", programs=2)
    yield with_splits("splits, one program", 7, 3, "float64", programs=1)
