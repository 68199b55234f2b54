# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ReduceScatter must give."""

from __future__ import annotations

from nereid.ops.core.conformance import Case, numbers, reduction
from nereid.ops.reduce_scatter.op import ReduceScatter


def cases():
    def case(name, rows, row_shape, dtype, uneven=False, op="sum", wire=None, **options):
        def rows_of(n):
            return tuple((rows * (r + 2)) % (rows + 3) if r != 1 else 0 for r in range(n)) if uneven else (rows,) * n

        def expected(variant, everyone, member):
            rows = rows_of(len(everyone))
            first = sum(rows[:member])
            return reduction([x[first:first + rows[member]] for x, in everyone], op, dtype, wire)

        return Case(name, lambda g: ReduceScatter(rows, row_shape, dtype, op=op, wire=wire, group=g,
                                                  rows_of=rows_of(g.size) if uneven else None, **options),
                    ("",), lambda v, rng, member, n: (numbers(rng, (sum(rows_of(n)), *row_shape), dtype),), expected)

    yield case("one number", 1, (), "float32")
    yield case("uneven, one rank gets nothing", 37, (3, 5), "bfloat16", uneven=True)
    yield case("pieces", 131, (257,), "float32", programs=2)
    yield case("average", 33, (65,), "float16", op="avg")
    yield case("greatest", 33, (65,), "int32", op="max")
    yield case("wire, one node", 64, (65,), "float32", wire="bfloat16")
    yield case("fp64", 129, (129,), "float64", programs=3)
