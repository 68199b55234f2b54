# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators of nereid.ops against what one would use otherwise, in one job, in turns.

    python bench/ops.py --ranks 2 4                # prints the table
    python bench/ops.py --ranks 2 4 --write-docs   # and writes it into docs/operators.md

The peers are what two programs on one machine can do without this package: numpy over the same shared memory
(`copy`, `sum`), and for products a copy of the gathered matrix, or a sum of the parts, around numpy's own BLAS with
one thread a rank. They meet at host barriers, as a program without signals does. A round runs both sides; a side's time is
that of the slowest rank; the figure is the median of the ratios of the rounds, peer / ours.
Results are checked before a time counts.
"""

from __future__ import annotations

import re
import statistics
import sys
import time
from pathlib import Path

import harness

harness.enter_single_thread_environment()

import numpy as np  # noqa: E402

import nereid  # noqa: E402
import nereid.ops  # noqa: E402

PAGE = harness.ROOT / "docs/operators.md"
BEGIN, END = "<!-- figures: bench/ops.py --write-docs -->", "<!-- end of figures -->"


class Peer:
    """Shared memory of all ranks and barriers between writing and reading it."""

    def __init__(self, shape, dtype):
        self.memory = nereid.symm.zeros(shape, dtype)
        self.parts = [self.memory.peer(rank) for rank in range(nereid.world_size())]
        self.mine = self.memory.numpy()

    def show(self, x):
        np.copyto(self.mine, x)
        nereid.barrier()

    def done(self):
        nereid.barrier()


def collectives(nbytes: int):
    """(name, ours, peer) with `nbytes` from each rank; both return their result."""
    me, n = nereid.rank(), nereid.world_size()
    count = max(nbytes // 4 // n, 1) * n
    x = np.random.default_rng(me).standard_normal(count).astype(np.float32)
    gather, reduce = nereid.ops.AllGather(count), nereid.ops.AllReduce(count)
    scatter, exchange = nereid.ops.ReduceScatter(count // n), nereid.ops.AllToAll(1, count // n)
    out, whole, part = np.empty_like(x), np.empty(n * count, np.float32), np.empty(count // n, np.float32)
    blocks, exchanged = x.reshape(n, 1, count // n), np.empty((n, 1, count // n), np.float32)
    peer = Peer((count,), np.float32)
    own = slice(me * (count // n), (me + 1) * (count // n))

    def peer_gather():
        peer.show(x)
        np.concatenate(peer.parts, out=whole)
        peer.done()
        return whole

    def total(result, where):
        peer.show(x)
        np.copyto(result, peer.parts[0][where])
        for other in peer.parts[1:]:
            np.add(result, other[where], out=result)
        peer.done()
        return result

    def peer_exchange():
        peer.show(x)
        for rank, other in enumerate(peer.parts):
            exchanged[rank, 0] = other[own]
        peer.done()
        return exchanged

    yield "AllGather", lambda: gather(x, out=whole), peer_gather
    yield "AllReduce", lambda: reduce(x, out=out), lambda: total(out, slice(None))
    yield "ReduceScatter", lambda: scatter(x, out=part), lambda: total(part, own)
    yield "AllToAll", lambda: exchange(blocks, out=exchanged), peer_exchange


def products(size: int, dtype: str):
    """(name, ours, peer): the whole product has size^3 multiplications on each rank."""
    me, n = nereid.rank(), nereid.world_size()
    rng = np.random.default_rng(me)
    rows = size // n
    a, b = rng.uniform(-1, 1, (rows, size)).astype(dtype), rng.uniform(-1, 1, (size, size)).astype(dtype)
    gather_gemm = nereid.ops.AllGatherGemm(rows, size, size, dtype)
    c, gathered = np.empty((n * rows, size), dtype), np.empty((n * rows, size), dtype)
    shards = Peer((rows, size), dtype)

    def peer_gather_gemm():
        shards.show(a)
        np.concatenate(shards.parts, out=gathered)
        shards.done()
        return np.matmul(gathered, b, out=c)

    wide = rng.uniform(-1, 1, (n * rows, size // n)).astype(dtype)
    tall = rng.uniform(-1, 1, (size // n, size)).astype(dtype)
    scatter, reduce = (kind(m, size, size // n, dtype) for kind, m in (
        (nereid.ops.GemmReduceScatter, rows), (nereid.ops.GemmAllReduce, n * rows)))
    part, whole = np.empty((rows, size), dtype), np.empty((n * rows, size), dtype)
    sums = Peer((n * rows, size), dtype)
    own = slice(me * rows, (me + 1) * rows)

    def total(result, where):
        np.matmul(wide, tall, out=sums.mine)
        nereid.barrier()
        np.copyto(result, sums.parts[0][where])
        for other in sums.parts[1:]:
            np.add(result, other[where], out=result)
        sums.done()
        return result

    yield "AllGatherGemm", lambda: gather_gemm(a, b, out=c), peer_gather_gemm
    yield "GemmReduceScatter", lambda: scatter(wide, tall, out=part), lambda: total(part, own)
    yield "GemmAllReduce", lambda: reduce(wide, tall, out=whole), lambda: total(whole, slice(None))


def measure(cases, what: str, rounds: int, calls: int) -> list[tuple]:
    """Rows of the table; on all ranks, whose slowest counts. Collective."""
    rows = []
    for name, ours, peer in cases:
        got, want = np.array(ours(), np.float64), np.array(peer(), np.float64)
        scale = np.abs(want).max()
        if not (np.abs(got - want) <= 1e-4 * scale).all():
            sys.exit(f"ops.py: {name}, {what}: results differ by {np.abs(got - want).max():.3g}")
        times: dict[str, list[float]] = {"ours": [], "peer": []}
        for number in range(rounds):
            for key, call in (("ours", ours), ("peer", peer))[:: 1 if number % 2 else -1]:
                nereid.barrier()
                start = time.perf_counter()
                for _ in range(calls):
                    call()
                elapsed = (time.perf_counter() - start) / calls
                times[key].append(float(nereid.symm.all_reduce(np.array([elapsed]), "max")[0]))
        ratios = [p / o for p, o in zip(times["peer"], times["ours"])]
        rows.append((name, nereid.world_size(), what, statistics.median(times["ours"]), statistics.median(times["peer"]),
                     statistics.median(ratios)))
    return rows


def work(sizes: list[int], matrices: list[int], rounds: int) -> list[tuple]:
    rows = []
    for nbytes in sizes:
        rows += measure(collectives(nbytes), f"{nbytes} bytes", rounds, max(1, min(50, (1 << 22) // nbytes)))
    for size in matrices:
        rows += measure(products(size, "float32"), f"{size}³ fp32", rounds, 1)
    return rows


def lines(rows: list[tuple]) -> list[str]:
    found = ["| operator | ranks | from each rank | time | peer | peer / ours |", "| --- | --- | --- | --- | --- | --- |"]
    for name, ranks, what, ours, peer, ratio in rows:
        found.append(f"| {name} | {ranks} | {what} | {1e6 * ours:.1f} us | {1e6 * peer:.1f} us | {ratio:.2f} |")
    return found


def write_page(text: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    if BEGIN not in page or END not in page:
        sys.exit(f"ops.py: {PAGE} has no lines '{BEGIN}' and '{END}' to write between")
    made = re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: f"{BEGIN}\n{text}\n{END}", page, flags=re.S)
    PAGE.write_text(made, encoding="utf-8")


def main() -> None:
    parser = harness.arguments(__doc__.splitlines()[0], 21)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--bytes", type=int, nargs="*", default=[1 << 12, 1 << 20, 1 << 24], metavar="N")
    parser.add_argument("--size", type=int, nargs="*", default=[1024], metavar="N", help="products of N x N x N")
    parser.add_argument("--write-docs", action="store_true", help="write the table into docs/operators.md")
    args = parser.parse_args()
    rows = []
    for ranks in args.ranks:
        rows += nereid.testing.spawn(work, ranks, (args.bytes, args.size, args.rounds), timeout=1800.0)[0]
    machine = harness.machine()
    text = "\n".join([f"{machine['processor']}, {machine['cores']} cores, one thread a rank, medians of {args.rounds} rounds:", "",
                      *lines(rows)])
    print(text)
    if args.write_docs:
        write_page(text)
    if args.json:
        keys = ("operator", "ranks", "what", "seconds", "peer_seconds", "ratio")
        Path(args.json).write_text(harness.json.dumps(
            {"machine": machine, "measurements": [dict(zip(keys, row)) for row in rows]}, indent=1) + "\n")


if __name__ == "__main__":
    main()
