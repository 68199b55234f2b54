# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What every operator must stand: run by `python -m nereid.ops.selftest` and by tests/ops.

A `Case` is one way of making an operator, with the shapes of its calls; `reference.py` of each
operator lists its cases. Results are compared with numpy in float64 under a bound that
follows from the roundings, or bit by bit where nothing is rounded. Beside that
every run sees: workspaces filled with NaNs, inputs that change once the call has returned, new data and another shape in every call, ranks that are late
at random, and the same bits again for the same data.
"""

from __future__ import annotations

import random
import time
from typing import Any, Callable, NamedTuple, Sequence

import numpy as np

import nereid
import nereid.language as tl
from nereid.ops.core import arrays
from nereid.ops.core.group import Group

#: Relative error of one rounding.
ROUNDING = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}
#: Absolute error of a rounding among the smallest numbers.
SMALLEST = {"float16": 2.0**-25, "bfloat16": 2.0**-134, "float32": 2.0**-150, "float64": 0.0}


class Expected(NamedTuple):
    """A value and how far a result may be from it, element by element; 0: the same bits."""

    value: np.ndarray
    bound: Any = 0.0


class Case(NamedTuple):
    name: str
    #: make(group) -> the operator
    make: Callable[[Group], Any]
    #: What differs from call to call, such as shapes.
    variants: Sequence[Any]
    #: inputs(variant, rng, member, ranks) -> the arguments of one member's call
    inputs: Callable[[Any, np.random.Generator, int, int], tuple]
    #: expected(variant, all members' arguments, member) -> what the results are, one or a tuple
    expected: Callable[[Any, list[tuple], int], Any]
    #: call(operator, arguments) -> results, one or a tuple
    call: Callable[[Any, tuple], Any] = lambda op, args: op(*args)


def numbers(rng: np.random.Generator, shape: Any, dtype: str) -> np.ndarray:
    """Data for tests: numbers of one magnitude, integers with both signs."""
    if dtype.startswith(("int", "uint")):
        low = 0 if dtype.startswith("u") else -100
        return rng.integers(low, 101, shape).astype(dtype)
    return rng.uniform(-1, 1, shape).astype(arrays.host_dtype(dtype))


def exact(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64)


def reduction(parts: list[np.ndarray], op: str, dtype: str, wire: str | None = None) -> Expected:
    """The reduction of `parts`, arrays of `dtype`, in the order of the ranks."""
    if dtype not in arrays.FLOATS:
        function = {"sum": np.add, "max": np.maximum, "min": np.minimum}[op]
        total = parts[0]
        for part in parts[1:]:
            total = function(total, part)
        return Expected(total)
    values = [exact(part) for part in parts]
    if op in ("max", "min") and wire in (None, dtype):
        return Expected((np.maximum if op == "max" else np.minimum).reduce(values).astype(parts[0].dtype))
    n, magnitude = len(values), sum(np.abs(value) for value in values)
    carried = 0.0 if wire in (None, dtype) else ROUNDING[wire] * magnitude + n * SMALLEST[wire]
    if op in ("max", "min"):
        return Expected((np.maximum if op == "max" else np.minimum).reduce(values), carried + ROUNDING[dtype] * magnitude)
    total = sum(values)
    sums = n * ROUNDING[arrays.ACCUMULATORS[dtype]] * magnitude
    if op == "avg":
        total, sums, carried = total / n, 2 * sums / n, carried / n
    return Expected(total, (sums + carried) * 1.01 + ROUNDING[dtype] * np.abs(total) * 1.01 + SMALLEST[dtype])


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b without BLAS, whose threads, those of every rank, spin against each other for small matrices."""
    return np.einsum("ik,jk->ij", a, np.ascontiguousarray(b.T))


def matmul(pairs: list[tuple[np.ndarray, np.ndarray]], dtype: str, out_dtype: str, wire: str | None = None) -> Expected:
    """The sum of a @ b over `pairs`, which have elements of `dtype`: k products and k sums each, a
    rounding of each part for the wire, a sum over the parts, a rounding of the result, whatever the order."""
    acc = arrays.ACCUMULATORS[dtype]
    value, bound, magnitude = 0.0, 0.0, 0.0
    for a, b in pairs:
        a, b = exact(a), exact(b)
        size = product(np.abs(a), np.abs(b))
        value, magnitude = value + product(a, b), magnitude + size
        bound = bound + (a.shape[1] + 1) * ROUNDING[acc] * size
        if wire not in (None, acc):
            bound = bound + ROUNDING[wire] * size + SMALLEST[wire]
    bound = bound + len(pairs) * ROUNDING[acc] * magnitude
    # numpy's own float64 sums are no better than ours for fp64.
    return Expected(value, (2 if dtype == "float64" else 1.01) * bound + 1.01 * ROUNDING[out_dtype] * np.abs(value)
                    + SMALLEST[out_dtype] + 1e-30)


@nereid.jit
def add_and_clip(value, offs, mask, extra_ptr):
    """An epilogue of AllReduce: no element below 0."""
    return tl.maximum(value + tl.load(extra_ptr + offs, mask=mask, other=0.0).to(value.dtype), 0.0)


@nereid.jit
def add_bias_and_clip(tile, rows, columns, mask_m, mask_n, extra_ptr):
    """An epilogue of products: a bias for each column, plus the number of the row / 8; no element below 0."""
    bias = tl.load(extra_ptr + columns, mask=mask_n, other=0.0).to(tile.dtype)
    return tl.maximum(tile + bias + rows.to(tile.dtype) / 8, 0.0)


def clipped(before: Expected, added: np.ndarray, dtype: str) -> Expected:
    """What these epilogues make of a result, whose sums are made in `dtype`."""
    value = before.value + added
    return Expected(np.maximum(value, 0.0), before.bound + 4 * ROUNDING[dtype] * (np.abs(before.value) + np.abs(added))
                    + SMALLEST[dtype])


def with_bias(case: Case, dtype: str) -> Case:
    """The case of a product of two matrices that gives `dtype`, made with the epilogue add_bias_and_clip."""
    def inputs(*given):
        a, b = case.inputs(*given)
        return a, b, numbers(given[1], max(b.shape), "float32")

    def expected(variant, everyone, member):
        before = case.expected(variant, [args[:2] for args in everyone], member)
        rows, columns = before.value.shape
        return clipped(before, everyone[member][2][:columns].astype(np.float64) + np.arange(rows)[:, None] / 8, dtype)

    return case._replace(inputs=inputs, expected=expected, call=lambda op, args: op(args[0], args[1], extra=args[2]))


def check(what: str, got: Any, want: Expected) -> None:
    """AssertionError with the first element that is off."""
    got = np.asarray(got)
    assert got.shape == want.value.shape, f"{what}: the shape is {got.shape}, wanted {want.value.shape}"
    if np.ndim(want.bound) == 0 and want.bound == 0.0:
        bad = got.view(np.uint8) != np.asarray(want.value, got.dtype).view(np.uint8) if got.ndim else got != want.value
        bad = np.asarray(bad).reshape(*got.shape, -1).any(axis=-1) if got.ndim and got.size else np.zeros(got.shape, bool)
    else:
        bad = ~(np.abs(exact(got) - want.value) <= want.bound)
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        raise AssertionError(
            f"rank {nereid.rank()}: {what}: {int(bad.sum())} of {bad.size} elements are off, the first at {at}: got "
            f"{got[at]}, want {want.value[at]}, allowed error {np.broadcast_to(want.bound, got.shape)[at]:.3g}")


def as_tuple(value: Any) -> tuple:
    return value if type(value) is tuple else (value,)


def poison(op: Any) -> None:
    """Fills the payload with NaNs. Collective over the job."""
    for workspace in op.workspaces:
        workspace.fill_payload(0xFF)
    nereid.barrier()


def run(case: Case, group: Group, calls: int, seed: int, late: float = 0.0) -> None:
    """Makes the operator (all ranks of the job), calls it `calls` times on the members and
    checks each result, then repeats the first call, whose bits must be the same. A third of
    the calls begin up to `late` seconds late."""
    op = case.make(group)
    poison(op)
    if group.me >= 0:
        first = None
        clock = random.Random(f"{seed} {nereid.rank()}")
        for number in [*range(calls), 0]:
            variant = case.variants[number % len(case.variants)]
            everyone = [case.inputs(variant, np.random.default_rng((seed, number, member)), member, group.size)
                        for member in range(group.size)]
            if late and clock.random() < 0.33:
                time.sleep(clock.random() * late)
            given = tuple(np.array(one) for one in everyone[group.me])
            got = tuple(np.array(one) for one in as_tuple(case.call(op, given)))
            for one in given:  # a call that has returned reads them no more
                one.fill(np.nan if arrays.dtype_name(one.dtype) in arrays.FLOATS else 1)
            wanted = case.expected(variant, everyone, group.me)
            wanted = (wanted,) if isinstance(wanted, Expected) else wanted
            assert len(got) == len(wanted), f"{case.name}: {len(got)} results, wanted {len(wanted)}"
            for i, (one, want) in enumerate(zip(got, wanted)):
                check(f"{case.name}, {variant}, call {number}, result {i}", one, want)
            bits = [np.asarray(one).tobytes() for one in got]
            if first is None:
                first = bits
            elif number == 0:
                assert bits == first, f"{case.name}: the same call gave other bits the second time"
    op.close()
