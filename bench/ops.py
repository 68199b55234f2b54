# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators of nereid.ops against what one would use otherwise, in one job, in turns.

    python bench/ops.py --ranks 2 4                      # prints the table
    python bench/ops.py --ranks 2 4 --mpi                # MPI is a peer too
    python bench/ops.py --ranks 2 4 --mpi --write-docs   # and writes it into docs/operators.md

Peers are what two programs on one machine can do without this package:

    numpy   over the same shared memory (`copy`, `sum`), and for products a copy of the gathered matrix, or a sum of the
            parts, around numpy's own BLAS with one thread a rank. They meet at host barriers, as a program
            without signals does
    MPI     Open MPI's collectives by shared memory, called in a loop of C++ (bench/mpi/Peer.cpp, which is compiled when
            --mpi asks for it; Debian: openmpi-bin, libopenmpi-dev); for products with the same BLAS. ReduceScatter by
            MPI_Reduce_scatter, and by MPI_Alltoall and a sum

A round runs all sides one after the other, in the order of the round; a side's time is that of the slowest rank; the figure
is the median over the rounds of the fastest peer's time / ours, the fastest being that with the smallest median.
Results are checked before a time counts. `call` is what a call of an operator on one rank costs beside a launch of its
kernel by hand.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, NamedTuple

import harness

harness.enter_single_thread_environment()

import numpy as np  # noqa: E402

import nereid  # noqa: E402
import nereid.ops  # noqa: E402

PAGE = harness.ROOT / "docs/operators.md"
BEGIN, END = "<!-- figures: bench/ops.py --write-docs -->", "<!-- end of figures -->"
JOB = "NEREID_BENCH_OPS_JOB"  # in the environment of ranks that mpirun has started: the work, as JSON


class Side(NamedTuple):
    """One way of getting a result."""

    once: Callable[[], Any]
    repeat: Callable[[int], None]

    @staticmethod
    def of(call: Callable[[], Any]) -> "Side":
        def repeat(calls: int) -> None:
            for _ in range(calls):
                call()

        return Side(call, repeat)


class Mpi:
    """The functions of bench/mpi/Peer.cpp, compiled into `library`."""

    def __init__(self, library: str) -> None:
        self.library = ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
        self.check("peer_init")
        if self.library.peer_rank() != nereid.rank():
            sys.exit(f"ops.py: rank {nereid.rank()} is rank {self.library.peer_rank()} for MPI")

    @staticmethod
    def compiled(folder: Path) -> str:
        """The library, made in `folder`."""
        for program in ("mpicxx", "mpirun"):
            if shutil.which(program) is None:
                sys.exit(f"ops.py: --mpi needs the program {program} (Debian: openmpi-bin, libopenmpi-dev)")
        library = folder / "peer.so"
        compiler = {name: path for name in ("OMPI_CXX",) if (path := shutil.which("clang++-22"))}
        subprocess.run(["mpicxx", "-std=c++20", "-O3", "-march=native", "-fPIC", "-shared", str(harness.ROOT / "bench/mpi/Peer.cpp"),
                        "-o", str(library)], check=True, env={**compiler, **os.environ})
        return str(library)

    def check(self, name: str, *arguments: Any) -> None:
        error = getattr(self.library, name)(*arguments)
        if error:
            sys.exit(f"ops.py: {name} returns the error {error}")

    def side(self, name: str, source: np.ndarray, result: np.ndarray, count: int, *scratch: np.ndarray) -> Side:
        arrays = (source, result, *scratch)  # alive as long as the side

        def repeat(calls: int) -> None:
            self.check("peer_" + name, *[ctypes.c_void_p(array.ctypes.data) for array in arrays], count, calls)

        def once() -> np.ndarray:
            repeat(1)
            return result

        return Side(once, repeat)


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


def collectives(nbytes: int, mpi: Mpi | None):
    """(name, ours, peers) with `nbytes` from each rank; all return their result."""
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

    def peers(numpy: Callable[[], Any], **others: Callable[[], Side]) -> dict[str, Side]:
        return {"numpy": Side.of(numpy), **{name: make() for name, make in others.items() if mpi is not None}}

    yield "AllGather", Side.of(lambda: gather(x, out=whole)), peers(
        peer_gather, MPI=lambda: mpi.side("all_gather", x, np.empty_like(whole), count))
    yield "AllReduce", Side.of(lambda: reduce(x, out=out)), peers(
        lambda: total(out, slice(None)), MPI=lambda: mpi.side("all_reduce", x, np.empty_like(x), count))
    yield "ReduceScatter", Side.of(lambda: scatter(x, out=part)), peers(
        lambda: total(part, own), MPI=lambda: mpi.side("reduce_scatter", x, np.empty_like(part), count // n),
        MPI_by_parts=lambda: mpi.side("reduce_scatter_by_parts", x, np.empty_like(part), count // n, np.empty_like(x)))
    yield "AllToAll", Side.of(lambda: exchange(blocks, out=exchanged)), peers(
        peer_exchange, MPI=lambda: mpi.side("all_to_all", blocks, np.empty_like(exchanged), count // n))


def products(size: int, dtype: str, mpi: Mpi | None):
    """(name, ours, peers): the whole product has size^3 multiplications on each rank."""
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

    def peers(numpy: Callable[[], Any], **others: Callable[[], Any]) -> dict[str, Side]:
        return {"numpy": Side.of(numpy), **{name: Side.of(make()) for name, make in others.items() if mpi is not None}}

    def mpi_gather_gemm():
        gather = mpi.side("all_gather", a, gathered, a.size)
        return lambda: np.matmul(gather.once(), b, out=c)

    def mpi_reduced(name: str, result: np.ndarray, count: int, *scratch: np.ndarray):
        product = np.empty((n * rows, size), dtype)
        reduction = mpi.side(name, product, result, count, *scratch)

        def call():
            np.matmul(wide, tall, out=product)
            return reduction.once()

        return call

    yield "AllGatherGemm", Side.of(lambda: gather_gemm(a, b, out=c)), peers(peer_gather_gemm, MPI=mpi_gather_gemm)
    yield "GemmReduceScatter", Side.of(lambda: scatter(wide, tall, out=part)), peers(
        lambda: total(part, own), MPI=lambda: mpi_reduced("reduce_scatter", np.empty_like(part), part.size),
        MPI_by_parts=lambda: mpi_reduced("reduce_scatter_by_parts", np.empty_like(part), part.size, np.empty_like(whole)))
    yield "GemmAllReduce", Side.of(lambda: reduce(wide, tall, out=whole)), peers(
        lambda: total(whole, slice(None)), MPI=lambda: mpi_reduced("all_reduce", np.empty_like(whole), whole.size))


def measure(cases, what: str, rounds: int, calls: int) -> list[dict]:
    """Rows of the table; on all ranks, whose slowest counts. Collective."""
    rows = []
    for name, ours, peers in cases:
        sides = {"ours": ours, **peers}
        got = np.array(ours.once(), np.float64)
        for peer, side in peers.items():
            want = np.array(side.once(), np.float64).reshape(got.shape)
            if not (np.abs(got - want) <= 1e-4 * np.abs(want).max()).all():
                sys.exit(f"ops.py: {name}, {what}: ours and {peer} differ by {np.abs(got - want).max():.3g}")
        times: dict[str, list[float]] = {key: [] for key in sides}
        for number in range(rounds):
            for key in list(sides)[:: 1 if number % 2 else -1]:
                nereid.barrier()
                start = time.perf_counter()
                sides[key].repeat(calls)
                elapsed = (time.perf_counter() - start) / calls
                times[key].append(float(nereid.symm.all_reduce(np.array([elapsed]), "max")[0]))
        fastest = min(peers, key=lambda key: statistics.median(times[key]))
        rows.append(dict(
            operator=name, ranks=nereid.world_size(), what=what, seconds=statistics.median(times["ours"]),
            peer=fastest.replace("_", " "), peer_seconds=statistics.median(times[fastest]),
            ratio=statistics.median(p / o for p, o in zip(times[fastest], times["ours"]))))
    return rows


def work(sizes: list[int], matrices: list[int], rounds: int, library: str | None) -> list[dict]:
    """All rows for the ranks of this job; `library`: that of Mpi, None without MPI."""
    mpi = Mpi(library) if library else None
    rows = []
    for nbytes in sizes:
        rows += measure(collectives(nbytes, mpi), f"{nbytes} bytes", rounds, max(1, min(50, (1 << 22) // nbytes)))
    for size in matrices:
        rows += measure(products(size, "float32", mpi), f"{size}³ fp32", rounds, 1)
    if mpi is not None:
        mpi.check("peer_finalize")
    return rows


def cost_of_a_call(rounds: int) -> dict:
    """A call of AllReduce on one rank beside a launch of its kernel by hand, both into an array that is there."""
    from nereid.ops.all_reduce.kernel import one_shot_kernel

    op, x, out = nereid.ops.AllReduce(1024, programs=1, algorithm="one_shot"), np.ones(64, np.float32), np.empty(64, np.float32)
    plan, space = op.plan(64), op._workspace
    arguments = (x, out, None, op._payload, space.signals, space.state, op.group.members)
    (row,) = measure([("call", Side.of(lambda: op(x, out=out)),
                       {"launch by hand": Side.of(lambda: (one_shot_kernel[(1,)](*arguments, **plan.sizes, **plan.constants), out)[1])})],
                     "64 numbers", rounds, 300)
    return row


def run_under_mpi(ranks: int, work_of: dict) -> list[dict]:
    """work() on ranks that mpirun starts, by shared memory alone."""
    with tempfile.TemporaryDirectory() as folder:
        result, library = Path(folder) / "rows.json", Mpi.compiled(Path(folder))
        command = ["mpirun", "-n", str(ranks), "--oversubscribe", "--allow-run-as-root", "--mca", "btl", "self,vader",
                   "--mca", "oob_tcp_if_include", "lo", sys.executable, __file__]
        done = subprocess.run(command, env={**os.environ, JOB: json.dumps({**work_of, "library": library, "result": str(result)})}, timeout=1800)
        if done.returncode or not result.is_file():
            sys.exit(f"ops.py: the job under mpirun has failed ({done.returncode})")
        return json.loads(result.read_text())


def worker() -> None:
    """What a rank under mpirun does."""
    given = json.loads(os.environ[JOB])
    result = given.pop("result")
    nereid.init()
    rows = work(**given)
    if nereid.rank() == 0:
        Path(result).write_text(json.dumps(rows))


def lines(rows: list[dict]) -> list[str]:
    found = ["| operator | ranks | from each rank | time | fastest peer | its time | peer / ours |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    for row in rows:
        found.append(f"| {row['operator']} | {row['ranks']} | {row['what']} | {1e6 * row['seconds']:.1f} us | {row['peer']} | "
                     f"{1e6 * row['peer_seconds']:.1f} us | {row['ratio']:.2f} |")
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
    parser.add_argument("--bytes", type=int, nargs="*", default=[1 << 10, 1 << 12, 1 << 20, 1 << 24], metavar="N")
    parser.add_argument("--size", type=int, nargs="*", default=[256, 1024], metavar="N", help="products of N x N x N")
    parser.add_argument("--mpi", action="store_true", help="with MPI as a peer; mpirun starts the ranks")
    parser.add_argument("--write-docs", action="store_true", help="write the table into docs/operators.md")
    args = parser.parse_args()
    rows = nereid.testing.spawn(cost_of_a_call, 1, (args.rounds,), timeout=600.0)
    for ranks in args.ranks:
        of = dict(sizes=args.bytes, matrices=args.size, rounds=args.rounds)
        rows += run_under_mpi(ranks, of) if args.mpi else nereid.testing.spawn(work, ranks, (*of.values(), None), timeout=1800.0)[0]
    machine = harness.machine()
    text = "\n".join([f"{machine['processor']}, {machine['cores']} cores, one thread a rank, medians of {args.rounds} rounds, "
                      f"{'MPI and numpy' if args.mpi else 'numpy'} as peers:", "", *lines(rows)])
    print(text)
    if args.write_docs:
        write_page(text)
    if args.json:
        Path(args.json).write_text(json.dumps({"machine": machine, "measurements": rows}, indent=1) + "\n")


if __name__ == "__main__":
    worker() if JOB in os.environ else main()
