# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What GemmReduceScatter must give."""

from __future__ import annotations

from nereid.ops.core.conformance import Case, add_bias_and_clip, matmul, numbers, with_bias
from nereid.ops.gemm_reduce_scatter.op import GemmReduceScatter


def cases():
    def case(name, dtype, shapes, uneven=False, trans_b=False, out_dtype=None, wire=None, blocks=(32, 32, 32), **options):
        most = [max(shape[i] for shape in shapes) for i in range(3)]

        def rows_of(ranks, m):
            return tuple((m * (r + 2)) % (m + 3) if r != 1 else 0 for r in range(ranks)) if uneven else (m,) * ranks

        def make(group):
            return GemmReduceScatter(*most, dtype, trans_b=trans_b, out_dtype=out_dtype, wire=wire, blocks=blocks, group=group,
                                     rows_of=rows_of(group.size, most[0]) if uneven else None, **options)

        def inputs(shape, rng, member, ranks):
            m, n, k = shape
            k = max(1, k - 3 * member)  # ranks may have different numbers of columns
            return numbers(rng, (sum(rows_of(ranks, m)), k), dtype), numbers(rng, (n, k) if trans_b else (k, n), dtype)

        def expected(shape, everyone, member):
            rows = rows_of(len(everyone), shape[0])
            part = slice(sum(rows[:member]), sum(rows[:member + 1]))
            return matmul([(a[part], b.T if trans_b else b) for a, b in everyone], dtype, out_dtype or dtype, wire)

        return Case(name, make, shapes, inputs, expected)

    yield case("fp32", "float32", [(37, 65, 129), (1, 1, 1), (33, 31, 32)], programs=2)
    yield case("fp16", "float16", [(65, 40, 70), (2, 33, 5)], programs=3)
    yield case("uneven, one rank gets nothing", "bfloat16", [(37, 33, 40)], uneven=True, out_dtype="float32", programs=2)
    yield case("transposed, wire", "float32", [(33, 33, 40)], trans_b=True, wire="bfloat16")
    yield case("fp64, chosen blocks", "float64", [(20, 33, 40)], blocks=None)
    yield with_bias(case("epilogue", "float16", [(37, 65, 29), (3, 1, 70)], epilogue=add_bias_and_clip, programs=2), "float16")
