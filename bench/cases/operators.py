# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators of nereid.ops and the examples on several ranks, one thread a rank, rank r pinned to core
r modulo the number of cores.

    mpi     Open MPI's collectives by shared memory, called in a loop of C++ (bench/mpi); for products around
            numpy's BLAS. ReduceScatter by MPI_Reduce_scatter, and by MPI_Alltoall and a sum
    numpy   what two programs on one machine can do without this package, over the same shared memory: a
            copy, a sum; for products a copy of the gathered matrix, or a sum of the parts, around numpy's
            BLAS. They meet at host barriers, as programs without signals do
"""

from __future__ import annotations

import ctypes
import importlib
import sys
from typing import Any, Callable

import harness
import numpy as np

import nereid
import nereid.ops
from harness import Case, Side

sys.path.insert(0, str(harness.ROOT / "examples"))


#: What its CMake target needs.
MPI_NEEDS = " (Debian: libopenmpi-dev)"


class Mpi:
    """The functions of bench/mpi/Peer.cpp."""

    it: Mpi | None = None

    @classmethod
    def get(cls) -> Mpi:
        cls.it = cls.it or cls()
        return cls.it

    def __init__(self) -> None:
        self.library = ctypes.CDLL(str(harness.built("nereid-bench-mpi.so", "Open MPI's collectives are", MPI_NEEDS)),
                                   mode=ctypes.RTLD_GLOBAL)
        self.check("peer_init")
        assert self.library.peer_rank() == nereid.rank(), f"rank {nereid.rank()} is rank {self.library.peer_rank()} for MPI"

    def check(self, name: str, *arguments: Any) -> None:
        error = getattr(self.library, name)(*arguments)
        assert not error, f"{name} returns the error {error}"

    def collective(self, name: str, source: np.ndarray, result: np.ndarray, count: int, *scratch: np.ndarray) -> Callable:
        """A function of the number of calls."""
        arrays = (source, result, *scratch)  # alive as long as the function

        def repeat(calls: int) -> np.ndarray:
            self.check("peer_" + name, *[ctypes.c_void_p(array.ctypes.data) for array in arrays], count, calls)
            return result

        return repeat


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


def mpi_side(label: str, repeat: Callable, product: Callable[[], Any] = lambda: None, last: Callable | None = None) -> Side:
    """A collective; a product before it, and one after it."""

    def call():
        product()
        result = repeat(1)
        return last() if last else result

    alone = product.__name__ == "<lambda>" and last is None
    return Side(label, call, many=repeat if alone else None)


def case(ours: Callable[[], Any], exact: np.ndarray, numpy: Callable[[], Any], mpi: Callable[[Mpi], list[Side]],
         work: tuple[float, str] | None = None) -> Case:
    """`exact`: this rank's result in fp64."""
    return Case(Side("nereid", ours), {"numpy": lambda: [Side("numpy", numpy)], "mpi": lambda: mpi(Mpi.get())},
                lambda got, rounding: harness.within(got, exact, 1e-4 * rounding), work, together=True)


def inputs(*shape) -> list[np.ndarray]:
    """Those of all ranks, which every rank can make."""
    return [np.random.default_rng(rank).uniform(-1, 1, shape).astype(np.float32) for rank in range(nereid.world_size())]


def collective(name: str, nbytes: int) -> Case:
    """With `nbytes` from each rank."""
    me, n = nereid.rank(), nereid.world_size()
    count = max(nbytes // 4 // n, 1) * n
    share = count // n
    everyone = inputs(count)
    x, own = everyone[me], slice(me * share, (me + 1) * share)
    peer = Peer((count,), np.float32)
    sums = np.sum(everyone, axis=0, dtype=np.float64)

    def total(result, where):
        peer.show(x)
        np.copyto(result, peer.parts[0][where])
        for other in peer.parts[1:]:
            np.add(result, other[where], out=result)
        peer.done()
        return result

    if name == "AllGather":
        op, out, theirs = nereid.ops.AllGather(count), np.empty(n * count, np.float32), np.empty(n * count, np.float32)

        def numpy():
            peer.show(x)
            np.concatenate(peer.parts, out=theirs)
            peer.done()
            return theirs

        return case(lambda: op(x, out=out), np.concatenate(everyone).astype(np.float64), numpy,
                    lambda mpi: [mpi_side("MPI_Allgather", mpi.collective("all_gather", x, np.empty_like(out), count))])
    if name == "AllReduce":
        op, out, theirs = nereid.ops.AllReduce(count), np.empty_like(x), np.empty_like(x)
        return case(lambda: op(x, out=out), sums, lambda: total(theirs, slice(None)),
                    lambda mpi: [mpi_side("MPI_Allreduce", mpi.collective("all_reduce", x, np.empty_like(x), count))])
    if name == "ReduceScatter":
        op, out, theirs = nereid.ops.ReduceScatter(share), np.empty(share, np.float32), np.empty(share, np.float32)
        return case(lambda: op(x, out=out), sums[own], lambda: total(theirs, own), lambda mpi: scatters(mpi, x, share))
    op, blocks, out = nereid.ops.AllToAll(1, share), x.reshape(n, 1, share), np.empty((n, 1, share), np.float32)
    theirs = np.empty_like(out)

    def exchange():
        peer.show(x)
        for rank, other in enumerate(peer.parts):
            theirs[rank, 0] = other[own]
        peer.done()
        return theirs

    return case(lambda: op(blocks, out=out), np.stack([other[own] for other in everyone]).reshape(n, 1, share).astype(np.float64),
                exchange, lambda mpi: [mpi_side("MPI_Alltoall", mpi.collective("all_to_all", blocks, np.empty_like(out), share))])


def scatters(mpi: Mpi, x: np.ndarray, share: int, product: Callable[[], Any] = lambda: None) -> list[Side]:
    return [mpi_side("MPI_Reduce_scatter", mpi.collective("reduce_scatter", x, np.empty(share, np.float32), share), product),
            mpi_side("MPI_Alltoall and a sum", mpi.collective("reduce_scatter_by_parts", x, np.empty(share, np.float32), share,
                                                              np.empty(x.size, np.float32)), product)]


def _gathering(shape: tuple[int, int, int], ours: Callable) -> Case:
    """`ours(a, b, c)` with this rank's rows of A and all of its own B."""
    (m, n, k), ranks = shape, nereid.world_size()
    shards = inputs(m // ranks, k)
    a = shards[nereid.rank()]
    b = np.random.default_rng(1000 + nereid.rank()).uniform(-1, 1, (k, n)).astype(np.float32)
    exact = np.concatenate(shards).astype(np.float64) @ b.astype(np.float64)
    c, gathered, theirs = np.empty((m, n), np.float32), np.empty((m, k), np.float32), np.empty((m, n), np.float32)
    peer = Peer(a.shape, np.float32)

    def numpy():
        peer.show(a)
        np.concatenate(peer.parts, out=gathered)
        peer.done()
        return np.matmul(gathered, b, out=theirs)

    return case(lambda: ours(a, b, c), exact, numpy, lambda mpi: [
        mpi_side("MPI_Allgather and BLAS", mpi.collective("all_gather", a, gathered, a.size),
                 last=lambda: np.matmul(gathered, b, out=theirs))], (2.0 * m * n * k, "FLOP/s of a rank"))


def gather_product(shape: tuple[int, int, int]) -> Case:
    """A whole product of `shape` on each rank, of rows of A that all ranks have a share of."""
    m, n, k = shape
    op = nereid.ops.AllGatherGemm(m // nereid.world_size(), n, k, "float32")
    return _gathering(shape, lambda a, b, c: op(a, b, out=c))


def _reducing(shape: tuple[int, int, int], scattered: bool, ours: Callable) -> Case:
    """`ours(a, b, c)` with this rank's columns of A and rows of B."""
    (m, n, k), ranks, me = shape, nereid.world_size(), nereid.rank()
    parts_a, parts_b = inputs(m, k // ranks), inputs(k // ranks, n)
    a, b = parts_a[me], parts_b[me]
    own = slice(me * (m // ranks), (me + 1) * (m // ranks)) if scattered else slice(None)
    exact = sum(x[own].astype(np.float64) @ y.astype(np.float64) for x, y in zip(parts_a, parts_b))
    c, theirs, product = np.empty(exact.shape, np.float32), np.empty(exact.shape, np.float32), np.empty((m, n), np.float32)
    sums = Peer((m, n), np.float32)

    def numpy():
        np.matmul(a, b, out=sums.mine)
        nereid.barrier()
        np.copyto(theirs, sums.parts[0][own])
        for other in sums.parts[1:]:
            np.add(theirs, other[own], out=theirs)
        sums.done()
        return theirs

    def multiply():
        np.matmul(a, b, out=product)

    def mpi_sides(mpi: Mpi) -> list[Side]:
        if scattered:
            return scatters(mpi, product, c.size, multiply)
        return [mpi_side("BLAS and MPI_Allreduce", mpi.collective("all_reduce", product, np.empty_like(product), product.size),
                         multiply)]

    return case(lambda: ours(a, b, c), exact, numpy, mpi_sides, (2.0 * m * n * k / ranks, "FLOP/s of a rank"))


def product_scatter(shape: tuple[int, int, int]) -> Case:
    m, n, k = shape
    ranks = nereid.world_size()
    op = nereid.ops.GemmReduceScatter(m // ranks, n, k // ranks, "float32")
    return _reducing(shape, True, lambda a, b, c: op(a, b, out=c))


def product_reduce(shape: tuple[int, int, int]) -> Case:
    m, n, k = shape
    op = nereid.ops.GemmAllReduce(m, n, k // nereid.world_size(), "float32")
    return _reducing(shape, False, lambda a, b, c: op(a, b, out=c))


def example(number: int, shape: tuple[int, int, int], tile: tuple[int, int, int]) -> Case:
    """Examples 07 to 09 with the tile given; one program on each rank."""
    m, n, k = shape
    names = {7: ("07_allgather_gemm", "AllGatherGemm"), 8: ("08_gemm_reduce_scatter", "GemmReduceScatter"),
             9: ("09_allgather_gemm_signals", "AllGatherGemmSignals")}
    module, name = names[number]
    kind = getattr(importlib.import_module(module), name)
    blocks = dict(programs=1, block_m=tile[0], block_n=tile[1], block_k=tile[2])

    def into(op: Callable) -> Callable:
        return lambda a, b, c: (op(a, b, c), c)[1]

    if number == 8:
        return _reducing(shape, True, into(kind(**blocks)))
    return _gathering(shape, into(kind(m // nereid.world_size(), k, np.float32, **blocks)))


def call() -> Case:
    """A call of AllReduce on one rank beside a launch of its kernel by hand, both into an array that is there."""
    from nereid.ops.all_reduce.kernel import one_shot_kernel

    op, x, out = nereid.ops.AllReduce(1024, programs=1, algorithm="one_shot"), np.ones(64, np.float32), np.empty(64, np.float32)
    plan, space = op.plan(64), op._workspace
    arguments = (x, out, None, op._payload, space.signals, space.state, op.group.members)

    def by_hand():
        one_shot_kernel[(1,)](*arguments, **plan.sizes, **plan.constants)
        return out

    return Case(Side("nereid", lambda: op(x, out=out)), {"itself": lambda: [Side("a launch by hand", by_hand)]},
                lambda got, _: harness.within(got, np.ones(64), 0))
