# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What AllGatherGemm must give."""

from __future__ import annotations

import numpy as np

from nereid.ops.all_gather_gemm.op import AllGatherGemm
from nereid.ops.core.conformance import Case, Expected, add_bias_and_clip, matmul, numbers, with_bias


def uneven(m, n):
    return tuple((m * (r + 2)) % (m + 3) if r != 1 else 0 for r in range(n))


def cases():
    def case(name, dtype, shapes, is_uneven=False, trans_b=False, gathered=False, out_dtype=None, blocks=(32, 32, 32), **options):
        most = [max(shape[i] for shape in shapes) for i in range(3)]

        def make(group):
            return AllGatherGemm(*most, dtype, trans_b=trans_b, gathered=gathered, out_dtype=out_dtype, blocks=blocks, group=group,
                                 rows_of=uneven(most[0], group.size) if is_uneven else None, **options)

        def inputs(shape, rng, member, ranks):
            m, n, k = shape
            rows = uneven(most[0], ranks)[member] if is_uneven else m
            b = numbers(rng, (n, k) if trans_b else (k, n), dtype)
            return numbers(rng, (rows, k), dtype), b

        def expected(shape, everyone, member):
            a, b = np.concatenate([a for a, _ in everyone]), everyone[member][1]
            product = matmul([(a, b.T if trans_b else b)], dtype, out_dtype or dtype)
            return (product, Expected(a)) if gathered else product

        return Case(name, make, shapes, inputs, expected)

    yield case("pulled, one node", "float32", [(37, 65, 129), (1, 1, 1), (33, 31, 32)], form="pull", programs=2)
    yield case("pushed", "float16", [(65, 40, 70), (1, 33, 1)], form="gate", programs=2)
    yield case("one mover, three programs", "bfloat16", [(65, 40, 70)], form="gate", movers=1, programs=3)
    yield case("uneven, one rank has nothing", "float32", [(37, 33, 40), (37, 5, 16)], is_uneven=True, programs=2)
    yield case("uneven, gathered too", "float32", [(37, 33, 40)], is_uneven=True, gathered=True, programs=2)
    yield case("transposed, gathered too", "float64", [(17, 33, 40)], trans_b=True, gathered=True)
    yield case("fp16 to fp32, chosen blocks", "float16", [(64, 64, 64)], out_dtype="float32", blocks=None)
    for form in ("pull", "gate"):
        yield with_bias(case(f"epilogue, {form}" + ", one node" * (form == "pull"), "float32", [(37, 65, 29), (3, 1, 70)], form=form,
                             epilogue=add_bias_and_clip, programs=2), "float32")
