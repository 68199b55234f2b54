# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rows of `nereid bench`: what is measured, against whom, and what is to be reached.

A row names a function of bench/cases, which makes the case from `arguments`, and the bar of each
peer. A bar is the least speed, peer's time / our time, or with `at_most` the greatest cost, our time
/ peer's; None is information without a bar. The peer "itself" stands for figures that are not compared:
the bar then is in the row's unit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

#: What --against takes: what the peer is.
PEERS = {
    "openblas": "the fastest of numpy's and the system's OpenBLAS; what it lacks is C++ beside it",
    "mpi": "Open MPI's collectives over shared memory, around the same BLAS for products",
    "cpp": "C++ loops with -O3, for this processor, with a vectorised exp",
    "torch": "torch on the CPU, which has oneDNN",
    "numpy": "numpy over the same shared memory with host barriers, around its BLAS",
    "triton": "stock Triton: its compiler to a cubin, its interpreter",
    "ctypes": "a call of an empty C function with the same arguments",
    "memory": "loads, stores and flags of bare C++ in the same processes",
    "itself": "no peer: what the figure is",
}


@dataclass(frozen=True)
class Bar:
    value: float | None = None
    at_most: bool = False
    unit: str = ""

    def reached(self, value: float) -> bool | None:
        return None if self.value is None else value <= self.value if self.at_most else value >= self.value

    def __str__(self) -> str:
        return "" if self.value is None else f"{'<=' if self.at_most else '>='} {self.value:g}{self.unit}"


def at_most(value: float | None, unit: str = "") -> Bar:
    return Bar(value, True, unit)


@dataclass(frozen=True)
class Row:
    name: str
    #: MODULE:FUNCTION of bench/cases.
    case: str
    arguments: dict[str, Any]
    bars: dict[str, Bar]
    threads: tuple[int, ...] = (1,)
    ranks: int = 1
    #: Whether the function measures by itself and returns figures.
    measures: bool = False


BOTH = (1, 2)
SIZES = (512, 1024, 2048, 4096)


def _text(value) -> str:
    if isinstance(value, tuple):
        return "x".join(map(str, value))
    return str(value)


# ---- products

#: Bars of one tile, by OpenBLAS.
TILES = {"tuned": 0.97, (128, 256, 64): 0.95, (128, 128, 64): 0.95, (64, 64, 32): 0.88, (32, 32, 32): 0.75,
         (16, 16, 16): 0.6}
ODD = ((128, 128, 64), (64, 64, 32))


def _product(size: int, tile, threads=BOTH, layout="nn", dtype="float32", kernel="masked", **bars: float) -> Row:
    words = ["matmul", str(size), _text(tile), {"float32": "", "float16": "fp16", "bfloat16": "bf16"}[dtype],
             {"nn": "", "nt": "B transposed", "tn": "A transposed"}[layout], "" if kernel == "masked" else kernel]
    return Row(" ".join(word for word in words if word), "matmul:product",
               dict(size=size, block=tile, layout=layout, dtype=dtype, kernel=kernel),
               {peer: Bar(value) for peer, value in bars.items()}, threads)


MATMUL = [
    *(_product(size, tile, openblas=bar) for tile, bar in TILES.items() for size in SIZES),
    *(_product(size, tile, openblas=0.9) for tile in ODD for size in (500, 1000, 2000)),
    *(_product(size, tile, kernel="wrapped", openblas=TILES[tile] if size % 16 == 0 else 0.9) for tile in ODD
      for size in (512, 1000, 1024)),
    *(_product(size, tile, layout=layout, openblas=0.9) for layout in ("nt", "tn") for tile in ODD for size in SIZES),
    *(_product(size, tile, dtype="float16", openblas=1.0) for tile in ("tuned", (128, 256, 64), (64, 64, 32))
      for size in (512, 1024, 2048)),
    *(_product(size, tile, dtype="bfloat16", openblas=1.8, torch=0.95) for tile in ("tuned", (128, 256, 64))
      for size in (512, 1024, 2048)),
]

ATTENTION = [
    Row(f"attention {name} head {head}", "attention:causal", dict(dtype=dtype, head=head),
        {"openblas": Bar(1.2), "torch": Bar(1.0)}, BOTH)
    for dtype, name in (("float32", "fp32"), ("float16", "fp16")) for head in (64, 128)
]

# ---- memory and mathematics

VECTORS = [
    *(Row(f"{kernel} {n // 1024} Ki", f"elementwise:{kernel}", dict(n=n), {"cpp": Bar(0.95)}, BOTH)
      for kernel in ("copy", "add", "masked", "strided", "gather") for n in (1 << 17, 1 << 22)),
    *(Row(f"transpose {n}x{n}", "elementwise:transpose", dict(n=n), {"cpp": Bar(0.95)}, BOTH) for n in (512, 2048)),
]
#: Kernels over rows, their bars and sizes.
OVER_ROWS = {
    "softmax": 0.9, "layer_norm": 0.9, "rms_norm": 0.9, "row_sum": 0.9, "row_argmax": 0.9, "row_cumsum": 0.7,
    "row_sort": 0.9,
}
ROWS_OF = [
    Row(f"{kernel.removeprefix('row_').replace('_', ' ')} rows of {n}", f"elementwise:{kernel}", dict(n=n), {"cpp": Bar(bar)})
    for kernel, bar in OVER_ROWS.items() for n in ((1024, 4096) if kernel == "row_sort" else (1000, 1024, 4096, 32768))
]
DATA_LOOPS = [
    Row(f"{name}, {programs}", "data_loops:loop", dict(name=name, alone=programs == "one program"),
        {"cpp": Bar(0.7 if programs == "one program" else None)})
    for name in ("binary search", "linked lists", "search for a zero", "search for a far zero")
    for programs in ("one program", "a program a query") if name != "search for a far zero" or programs == "one program"
]

# ---- several ranks

#: Rows, columns and inner size of the whole product of all ranks; the second kind is where
#: communication takes 15 to 40 % of the peer's time.
SQUARE = tuple((n, n, n) for n in SIZES)
SKINNY = ((1024, 128, 1024), (2048, 128, 2048))


def _joint(name: str, of: str, shape, ranks: int, bar: float, **arguments) -> Row:
    return Row(f"{name} {_text(shape)}, {ranks} ranks", f"operators:{of}", dict(shape=shape, **arguments),
               {"mpi": Bar(bar), "numpy": Bar()}, ranks=ranks)


PRODUCTS_OF_RANKS = [
    *(_joint(name, of, shape, ranks, 1.0) for name, of in (
        ("AllGather+GEMM", "gather_product"), ("GEMM+ReduceScatter", "product_scatter"), ("GEMM+AllReduce", "product_reduce"))
      for shape in SQUARE for ranks in (2, 4)),
    *(_joint("AllGather+GEMM, much to move,", "gather_product", shape, ranks, 1.15) for shape in SKINNY for ranks in (2, 4)),
    _joint("AllGather+GEMM, much to move,", "gather_product", (512, 512, 512), 4, 1.15),
    *(_joint("GEMM+ReduceScatter, much to move,", "product_scatter", shape, 4, 1.15)
      for shape in ((512, 512, 512), (1024, 128, 1024))),
    *(_joint(f"example {number:02d} tile {_text(tile)}", "example", shape, ranks, 1.0, number=number, tile=tile)
      for number in (7, 8, 9) for shape in ((1024, 1024, 1024), (2048, 2048, 2048)) for ranks in (2, 4)
      for tile in ((128, 256, 64), (64, 64, 32))),
]
COLLECTIVES = [
    Row(f"{name} {nbytes // 1024} KiB, {ranks} ranks", "operators:collective", dict(name=name, nbytes=nbytes),
        {"mpi": Bar(1.0 if name == "AllGather" and nbytes > 1024 else None), "numpy": Bar()}, ranks=ranks)
    for name in ("AllGather", "AllReduce", "ReduceScatter", "AllToAll") for ranks in (2, 4)
    for nbytes in (1 << 10, 1 << 12, 1 << 20, 1 << 24)
]
RUNTIME = [
    Row(name, "transfers:figures", dict(only=only, ranks=ranks), {"memory": bar}, measures=True)
    for name, only, ranks, bar in (
        ("round trip", "round trip", 2, at_most(2)),
        ("barrier of 2 ranks", "barrier", 2, at_most(2)),
        ("barrier of 4 ranks", "barrier", 4, at_most(2)),
        ("barrier of 8 ranks", "barrier", 8, at_most(2)),
        ("get", "get", 2, Bar(0.9)),
        ("put", "put", 2, Bar(0.9)),
    )
]

# ---- what a launch and a compilation cost

COSTS = [
    Row("launch of 5 arguments", "launch:plain", {}, {"ctypes": at_most(3)}),
    Row("launch of a kernel that waits", "launch:waiting", {}, {"ctypes": at_most(6)}),
    Row("call of an operator", "operators:call", {}, {"itself": at_most(None)}),
    Row("compile AllGather+GEMM", "compiling:example", dict(kernel="AllGather+GEMM"),
        {"triton": at_most(0.25), "itself": at_most(5, " ms from the disk")}, measures=True),
    *(Row(f"compile {kernel}", "compiling:example", dict(kernel=kernel), {"itself": at_most(None, " ms from the disk")},
          measures=True) for kernel in ("softmax", "vector add")),
    Row("compile tutorials", "compiling:tutorials", {}, {"itself": at_most(500, " ms")}, measures=True),
    Row("compile constructs", "compiling:constructs", {}, {"itself": at_most(2, " of a small tile's")}, measures=True),
]
INTERPRETER = [
    Row(f"interpreter, {kernel}", f"interpreter:{kernel}", arguments, {"triton": Bar(300)})
    for kernel, arguments in (("add", dict(n=1 << 20)), ("softmax", dict(n=1024)), ("product", dict(size=256)))
]

ROWS: list[Row] = [*MATMUL, *ATTENTION, *VECTORS, *ROWS_OF, *DATA_LOOPS, *PRODUCTS_OF_RANKS, *COLLECTIVES, *RUNTIME, *COSTS,
                   *INTERPRETER]


def find(patterns: list[str]) -> list[Row]:
    """Rows whose name begins with, or has as words one after the other, one of the patterns; all without any.
    Raises KeyError with a pattern that no row has."""
    if not patterns:
        return ROWS
    for pattern in patterns:
        if not any(_has(row.name, pattern) for row in ROWS):
            raise KeyError(pattern)
    exact = [row for row in ROWS if row.name in patterns]
    loose = [pattern for pattern in patterns if not any(row.name == pattern for row in exact)]
    return [row for row in ROWS if row in exact or any(_has(row.name, pattern) for pattern in loose)]


def _has(name: str, pattern: str) -> bool:
    return f" {pattern} " in f" {name} ".replace(", ", " , ") or name.startswith(pattern) or name == pattern
