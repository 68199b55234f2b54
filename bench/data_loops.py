# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops that end by what they read from memory, against the same in C++; one thread.

    python bench/data_loops.py

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

BAR = 0.7
SOURCE = """
extern "C" {
void search(const int *sorted, const int *keys, int *places, long n, long queries) {
  for (long q = 0; q < queries; ++q) {
    int low = 0, high = int(n), key = keys[q];
    while (low < high) {
      int middle = (low + high) / 2;
      if (sorted[middle] < key)
        low = middle + 1;
      else
        high = middle;
    }
    places[q] = low;
  }
}
void walk(const int *next, const int *starts, int *lengths, long, long queries) {
  for (long q = 0; q < queries; ++q) {
    int length = 0;
    for (int at = starts[q]; at >= 0; at = next[at])
      ++length;
    lengths[q] = length;
  }
}
void length(const int *text, const int *starts, int *lengths, long, long queries) {
  for (long q = 0; q < queries; ++q) {
    int i = starts[q];
    while (text[i] != 0)
      ++i;
    lengths[q] = i - starts[q];
  }
}
}
"""


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


def cases(rng: np.random.Generator):
    """Name, kernel, C++ function, the two inputs."""
    n = 20_000
    table = np.sort(rng.integers(0, 1 << 30, n)).astype(np.int32)
    yield "binary search", search, table, rng.integers(0, 1 << 30, 2000).astype(np.int32)
    # Lists of 1 to 60 elements through memory in random order.
    order = rng.permutation(n).astype(np.int32)
    links = np.full(n, -1, np.int32)
    starts, at = [], 0
    while at < n:
        end = min(n, at + int(rng.integers(1, 60)))
        links[order[at:end - 1]] = order[at + 1:end]
        starts.append(order[at])
        at = end
    yield "linked lists", walk, links, np.array(starts, np.int32)
    text = (rng.random(n) > 0.02).astype(np.int32)
    text[-1] = 0
    yield "search for a zero", length, text, rng.integers(0, n, 2000).astype(np.int32)
    long_text = np.ones(200_000, np.int32)
    long_text[-1] = 0
    yield "search for a zero, far", length, long_text, np.zeros(1, np.int32)


def measure(rounds: int) -> list[harness.Measurement]:
    measurements = []
    library, label = harness.compile_cpp(SOURCE, "-fno-vectorize", "-fno-unroll-loops", "-fno-builtin")
    for name, kernel, table, queries in cases(np.random.default_rng(0)):
        loop = getattr(library, kernel.__name__)
        loop.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_long] * 2
        ours, theirs = np.zeros_like(queries), np.zeros_like(queries)
        for programs in sorted({1, len(queries)}):

            def run_kernel():
                kernel[(programs,)](table, queries, ours, len(table), len(queries))

            def run_loop():
                loop(table.ctypes.data, queries.ctypes.data, theirs.ctypes.data, len(table), len(queries))

            times = harness.interleave({"nereid": run_kernel, label: run_loop}, rounds)
            assert np.array_equal(ours, theirs), name
            # A program for each query also pays for its start, which C++ has none of.
            measurements.append(harness.compare(f"{name}, {programs} program{'s'[:programs > 1]}", times, "nereid",
                                                label, bar=BAR if programs == 1 else None))
    return measurements


def main() -> None:
    args = harness.arguments(__doc__.splitlines()[0], rounds=101).parse_args()
    harness.enter_single_thread_environment()
    harness.report(measure(args.rounds), args.json)


if __name__ == "__main__":
    main()
