# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops that end by what they read from memory, against the same in C++.

Such a loop may be one that waits for another program, so it counts its rounds and gives way
now and then. These ones compute: that must not cost them anything. Loops that LLVM may
vectorise or unroll when nothing else stands in them are compared as they are written.
"""

from __future__ import annotations

import ctypes

import harness
import numpy as np

import nereid
import nereid.language as tl


@nereid.jit
def search(sorted_ptr, keys_ptr, places_ptr, n, queries):
    for q in range(tl.program_id(0), queries, tl.num_programs(0)):
        low, high = 0, n
        key = tl.load(keys_ptr + q)
        while low < high:
            middle = (low + high) // 2
            if tl.load(sorted_ptr + middle) < key:
                low = middle + 1
            else:
                high = middle
        tl.store(places_ptr + q, low)


@nereid.jit
def walk(next_ptr, starts_ptr, lengths_ptr, n, queries):
    for q in range(tl.program_id(0), queries, tl.num_programs(0)):
        length = 0
        at = tl.load(starts_ptr + q)
        while at >= 0:
            at = tl.load(next_ptr + at)
            length += 1
        tl.store(lengths_ptr + q, length)


@nereid.jit
def length(text_ptr, starts_ptr, lengths_ptr, n, queries):
    for q in range(tl.program_id(0), queries, tl.num_programs(0)):
        start = tl.load(starts_ptr + q)
        i = start
        while tl.load(text_ptr + i) != 0:
            i += 1
        tl.store(lengths_ptr + q, i - start)


def inputs(name: str, rng: np.random.Generator):
    """Kernel (its name is that of the C++ function), table and queries."""
    n = 20_000
    if name == "binary search":
        table = np.sort(rng.integers(0, 1 << 30, n)).astype(np.int32)
        return search, table, rng.integers(0, 1 << 30, 2000).astype(np.int32)
    if name == "linked lists":  # of 1 to 60 elements through memory in random order
        order = rng.permutation(n).astype(np.int32)
        links = np.full(n, -1, np.int32)
        starts, at = [], 0
        while at < n:
            end = min(n, at + int(rng.integers(1, 60)))
            links[order[at:end - 1]] = order[at + 1:end]
            starts.append(order[at])
            at = end
        return walk, links, np.array(starts, np.int32)
    if name == "search for a zero":
        text = (rng.random(n) > 0.02).astype(np.int32)
        text[-1] = 0
        return length, text, rng.integers(0, n, 2000).astype(np.int32)
    text = np.ones(200_000, np.int32)
    text[-1] = 0
    return length, text, np.zeros(1, np.int32)


def loop(name: str, alone: bool) -> harness.Case:
    """In one program, or in one for each query: each of them also pays for its start, which C++ has none of."""
    kernel, table, queries = inputs(name, np.random.default_rng(0))
    grid = (1 if alone else len(queries),)
    ours, theirs = np.zeros_like(queries), np.zeros_like(queries)

    def call():
        kernel[grid](table, queries, ours, len(table), len(queries))
        return ours

    def peer():
        function = getattr(harness.loops(), kernel.__name__)
        plain = [ctypes.c_void_p(x.ctypes.data) for x in (table, queries, theirs)]
        sizes = [ctypes.c_long(len(table)), ctypes.c_long(len(queries))]

        def call():
            function(*plain, *sizes)
            return theirs

        want[:] = call()
        return [harness.Side(harness.LOOPS_LABEL, call)]

    want = np.zeros_like(queries)

    def check(result, _):
        assert np.array_equal(result, want), "other places"

    return harness.Case(harness.Side("nereid", call), {"cpp": peer}, check)
