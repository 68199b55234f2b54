# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What FlashDecode must give."""

from __future__ import annotations

import numpy as np

from nereid.ops.core.conformance import ROUNDING, SMALLEST, Case, Expected, exact, numbers
from nereid.ops.flash_decode.op import FlashDecode


def attention(q, parts, dim, dtype):
    """parts: (k, v) of each rank, (positions, heads_kv, dim), for one batch; q (heads_q, dim)."""
    k, v = (exact(np.concatenate([part[i] for part in parts])) for i in (0, 1))
    if not len(k):
        return Expected(np.zeros(q.shape), 1e-30)
    q, group = exact(q), q.shape[0] // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    scores = np.einsum("hd,nhd->hn", q, k) * dim ** -0.5
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    value = np.einsum("hn,nhd->hd", weights, v)
    # A score is off by its roundings, a weight by that in relation, twice (it is divided by their sum), by some units
    # of exp and log and by a rounding to the dtype; sums over n weights round n times.
    u = ROUNDING["float32"]
    off = (dim + 4) * u * (np.abs(q)[:, None] * np.abs(k).swapaxes(0, 1)).sum(axis=2).max(axis=1) * dim ** -0.5
    relative = 2 * off + (len(k) + 64) * u + (ROUNDING[dtype] if dtype != "float32" else 0.0)
    size = np.einsum("hn,nhd->hd", weights, np.abs(v))
    return Expected(value, 1.05 * relative[:, None] * size + ROUNDING[dtype] * np.abs(value) + SMALLEST[dtype] + 1e-30)


def cases():
    def case(name, batch, heads_q, heads_kv, dim, dtype, room, page=None, **options):
        def inputs(variant, rng, member, ranks):
            lengths = rng.integers(0, room + 1, batch).astype(np.int32)
            if variant == "one rank has nothing" and member == 0:
                lengths[:] = 0
            if variant == "nobody has anything of batch 0":
                lengths[0] = 0
            q = numbers(np.random.default_rng(7), (batch, heads_q, dim), dtype)
            if page is None:
                k, v = (numbers(rng, (batch, room, heads_kv, dim), dtype) for _ in range(2))
                for b in range(batch):
                    k[b, lengths[b]:], v[b, lengths[b]:] = np.nan, np.nan  # never multiplied
                return q, k, v, lengths
            columns = -(-room // page)
            table = rng.permutation(batch * columns + 2)[:batch * columns].reshape(batch, columns).astype(np.int32)
            k, v = (numbers(rng, (batch * columns + 2, page, heads_kv, dim), dtype) for _ in range(2))
            return q, k, v, lengths, table

        def expected(variant, everyone, member):
            results = []
            for b in range(batch):
                parts = []
                for q, k, v, lengths, *table in everyone:
                    if page is not None:
                        k, v = (array[table[0][b]].reshape(-1, heads_kv, dim) for array in (k, v))
                    else:
                        k, v = k[b], v[b]
                    parts.append((k[:lengths[b]], v[:lengths[b]]))
                results.append(attention(everyone[0][0][b], parts, dim, dtype))
            return Expected(np.stack([r.value for r in results]),
                            np.stack([np.broadcast_to(r.bound, r.value.shape) for r in results]))

        return Case(name, lambda g: FlashDecode(batch, heads_q, heads_kv, dim, dtype, page=page, group=g, **options),
                    ("", "one rank has nothing", "nobody has anything of batch 0"), inputs, expected)

    yield case("groups of 4", 2, 8, 2, 32, "float32", 150, programs=2)
    yield case("splits", 1, 4, 2, 40, "float16", 333, splits=3, programs=2)
    yield case("pages", 3, 3, 3, 17, "bfloat16", 100, page=16, splits=2)
