# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What AllGather must give."""

from __future__ import annotations

import numpy as np

import nereid
from nereid.ops.all_gather.op import AllGather
from nereid.ops.core.conformance import Case, Expected, numbers


def with_input(op):
    op.held = nereid.symm.zeros((131, 257), np.float32)
    return op


def call_with_input(op, args):
    op.held.copy_(args[0])
    result = op(op.held)
    op.held.fill_(np.nan)
    return result


def cases():
    def case(name, rows, row_shape, dtype, uneven=False, **options):
        def rows_of(n):
            return tuple((rows * (r + 2)) % (rows + 3) if r != 1 else 0 for r in range(n)) if uneven else (rows,) * n

        def expected(variant, everyone, member):
            return Expected(np.concatenate([x for x, in everyone]))

        yield Case(name, lambda g: AllGather(rows, row_shape, dtype, rows_of=rows_of(g.size) if uneven else None, group=g,
                                             **options),
                   ("",), lambda v, rng, member, n: (numbers(rng, (rows_of(n)[member], *row_shape), dtype),), expected)

    yield from case("one number", 1, (), "float32")
    yield from case("uneven, one rank has nothing", 37, (3, 5), "bfloat16", uneven=True)
    yield from case("pushed, several programs", 131, (257,), "float32", direction="push", programs=3)
    yield from case("pieces", 131, (257,), "float16", programs=2)
    yield from case("large", 911, (61,), "float64", programs=2)
    # A symmetric input that the caller changes as soon as the call has returned.
    for one in case("symmetric input", 131, (257,), "float32", direction="push", programs=2):
        yield one._replace(make=lambda g, make=one.make: with_input(make(g)), call=call_with_input)
    for one in case("view", 37, (65,), "int32"):
        yield one._replace(call=lambda op, args: np.array(op(*args, view=True)))
