# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What GemmAllReduce must give."""

from __future__ import annotations

from nereid.ops.core.conformance import Case, add_bias_and_clip, matmul, numbers, with_bias
from nereid.ops.gemm_all_reduce.op import GemmAllReduce


def cases():
    def case(name, dtype, shapes, trans_b=False, out_dtype=None, blocks=(32, 32, 32), **options):
        most = [max(shape[i] for shape in shapes) for i in range(3)]

        def inputs(shape, rng, member, ranks):
            m, n, k = shape
            k = max(1, k - 3 * member)  # ranks may have different numbers of columns
            return numbers(rng, (m, k), dtype), numbers(rng, (n, k) if trans_b else (k, n), dtype)

        return Case(name, lambda group: GemmAllReduce(*most, dtype, trans_b=trans_b, out_dtype=out_dtype, blocks=blocks,
                                                      group=group, **options),
                    shapes, inputs, lambda shape, everyone, member: matmul(
                        [(a, b.T if trans_b else b) for a, b in everyone], dtype, out_dtype or dtype))

    yield case("one-shot", "float32", [(37, 65, 129), (1, 1, 1), (33, 31, 32)], algorithm="one_shot", programs=2)
    yield case("two-shot", "float16", [(97, 70, 50), (2, 33, 5), (33, 70, 9)], algorithm="two_shot", programs=2)
    yield case("two-shot, transposed", "bfloat16", [(65, 40, 33)], trans_b=True, algorithm="two_shot", out_dtype="float32")
    yield case("two-shot, three programs", "float32", [(97, 70, 50), (33, 70, 9)], algorithm="two_shot", programs=3)
    yield case("algorithms in turn", "float32", [(97, 70, 50), (2, 3, 5), (90, 65, 9), (1, 1, 1), (3, 4, 5)], programs=2)
    yield case("chosen", "float64", [(20, 33, 40)], blocks=None)
    for algorithm in ("one_shot", "two_shot"):
        yield with_bias(case(f"epilogue, {algorithm}", "bfloat16", [(37, 65, 29), (3, 1, 70)], algorithm=algorithm,
                             out_dtype="float32", epilogue=add_bias_and_clip, programs=2), "float32")
