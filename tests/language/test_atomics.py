# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomics: old values, all dtypes, masks, equal addresses, many programs."""

import numpy as np
import pytest
from sheet import DTYPES, FLOATS, INTS, refuse, run, values

RMW = {
    "add": lambda a, b: a + b, "max": lambda a, b: np.maximum(a, b), "min": lambda a, b: np.minimum(a, b), "and": lambda a, b: a & b,
    "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "xchg": lambda a, b: b,
}  # fmt: skip


@pytest.mark.parametrize("name", [*INTS, *FLOATS])
def test_rmw(rng, name):
    dtype = DTYPES[name]
    kinds = [kind for kind in RMW if name in INTS or kind not in ("and", "or", "xor")]
    n = 23
    memory, olds, before = [], [], []
    lines = ["offs = tl.arange(0, 23)", "v = tl.load(p0 + offs)", "m = tl.load(p1 + offs)"]
    x, mask = values(rng, n, name, special=False), rng.integers(0, 2, n).astype(bool)
    for i, kind in enumerate(kinds):
        memory.append(values(rng, n, name, special=False))
        olds.append(np.zeros(n, dtype))
        before.append(memory[-1].copy())
        p, o = 2 + 2 * i, 3 + 2 * i
        sem = rng.choice(['"acquire"', '"release"', '"acq_rel"', '"relaxed"', "None"])
        scope = rng.choice(['"gpu"', '"cta"', '"sys"', "None"])
        lines.append(f"old = tl.atomic_{kind}(p{p} + offs, v, mask=m, sem={sem}, scope={scope})")
        lines.append(f"tl.store(p{o} + offs, old, m)")
    run("\n".join(lines), x, mask, *(a for pair in zip(memory, olds) for a in pair))
    for i, kind in enumerate(kinds):
        with np.errstate(over="ignore"):
            if name in FLOATS and kind == "add":
                want = (before[i].astype(np.float64) + x.astype(np.float64)).astype(dtype)
            else:
                want = np.asarray(RMW[kind](before[i], x)).astype(dtype)
        np.testing.assert_array_equal(memory[i], np.where(mask, want, before[i]), err_msg=f"atomic_{kind} on {name}")
        np.testing.assert_array_equal(olds[i][mask], before[i][mask], err_msg=f"old of atomic_{kind} on {name}")


@pytest.mark.parametrize("name", [*INTS, "float16", "bfloat16", "float32", "float64"])
def test_many_programs_and_equal_addresses(rng, name):
    """Sums over programs; lanes that hit one place; the extremes of all."""
    total, most, least = (np.zeros(1, DTYPES[name]) for _ in range(3))
    most[0], least[0] = 1, 100
    run("""
offs = tl.arange(0, 5) * 0
pid = tl.program_id(0)
tl.atomic_add(p0 + offs, tl.full((5,), 1, p0.dtype.element_ty))
tl.atomic_max(p1 + offs, (tl.arange(0, 5) + pid).to(p1.dtype.element_ty))
tl.atomic_min(p2, (90 - pid).to(p2.dtype.element_ty))
""", total, most, least, grid=(20,))
    assert total[0] == 100 and most[0] == 23 and least[0] == 71


def test_float_extremes(rng):
    """By the sign of the numbers; NaN and zeros of both signs."""
    for name in FLOATS:
        dtype = DTYPES[name]
        start = np.array([-1.0, -1.0, 2.0, 2.0, -0.0, 0.0, -np.inf, np.inf], dtype)
        value = np.array([3.0, -5.0, -3.0, 7.0, 1.0, -1.0, -2.0, 5.0], dtype)
        high, low = start.copy(), start.copy()
        run("offs = tl.arange(0, 8)\ntl.atomic_max(p0 + offs, tl.load(p2 + offs))\ntl.atomic_min(p1 + offs, tl.load(p2 + offs))", high, low, value)
        np.testing.assert_array_equal(high, np.maximum(start, value), err_msg=name)
        np.testing.assert_array_equal(low, np.minimum(start, value), err_msg=name)


@pytest.mark.parametrize("name", [*INTS, *FLOATS])
def test_lanes_take_turns(rng, name):
    """Lanes of one address find what the lanes before left, masked ones leave nothing; blocks in row-major order."""
    dtype = DTYPES[name]
    shape = (3, 7)
    kinds = [kind for kind in RMW if name in INTS or kind not in ("and", "or", "xor")]
    x = rng.integers(0, 40, shape).astype(dtype)  # sums are exact in each dtype
    if x.dtype.kind != "u":
        x = (x.astype(np.int64) - 20).astype(dtype)
    where = rng.integers(0, 4, shape).astype(np.int32)
    mask = rng.integers(0, 3, shape) > 0
    offs = "tl.arange(0, 3)[:, None] * 7 + tl.arange(0, 7)[None, :]"
    lines, memory, olds = [f"offs = {offs}", "v = tl.load(p0 + offs)", "w = tl.load(p1 + offs)", "m = tl.load(p2 + offs)"], [], []
    for i, kind in enumerate(kinds):
        memory.append(np.arange(4).astype(dtype))
        olds.append(np.zeros(shape, dtype))
        lines.append(f"tl.store(p{4 + 2 * i} + offs, tl.atomic_{kind}(p{3 + 2 * i} + w, v, mask=m), m)")
    counter, swapped = np.zeros(1, dtype), np.zeros(shape, dtype)
    p = 3 + 2 * len(kinds)
    lines.append(f"tl.store(p{p + 1} + offs, tl.atomic_cas(p{p} + w * 0, (offs % 5).to(v.dtype), (offs % 5 + 1).to(v.dtype)))")
    run("\n".join(lines), x, where, mask, *(a for pair in zip(memory, olds) for a in pair), counter, swapped)
    for kind, got, old in zip(kinds, memory, olds):
        want, wanted = np.arange(4).astype(dtype), np.zeros(shape, dtype)
        for at in np.ndindex(shape):
            if mask[at]:
                wanted[at] = want[where[at]]
                with np.errstate(over="ignore"):
                    want[where[at]] = RMW[kind](want[where[at]], x[at])
        np.testing.assert_array_equal(got, want, err_msg=f"atomic_{kind} on {name}")
        np.testing.assert_array_equal(old, wanted, err_msg=f"old of atomic_{kind} on {name}")
    np.testing.assert_array_equal(swapped.ravel(), np.minimum(np.arange(21), 5).astype(dtype))
    assert counter[0] == 5


def test_float_extremes_of_nan_and_zeros():
    """Numbers win against NaN, +0 is greater than -0: one rule for all floats, on blocks and on single pointers."""
    for name in FLOATS:
        dtype = DTYPES[name]
        nan = np.array([np.nan, -np.nan], dtype)
        start = np.array([1, -1, *nan, *nan, -0.0, 0.0, nan[0], np.inf, -np.inf], dtype)
        value = np.array([*nan, 2, -2, *nan[::-1], 0.0, -0.0, -np.inf, nan[0], nan[1]], dtype)
        high = np.array([1, -1, 2, -2, np.nan, np.nan, 0.0, 0.0, -np.inf, np.inf, -np.inf])
        low = np.array([1, -1, 2, -2, np.nan, np.nan, -0.0, -0.0, -np.inf, np.inf, -np.inf])
        n = len(start)
        up, down, old = start.copy(), start.copy(), np.zeros(n, dtype)
        single_up, single_down = start.copy(), start.copy()
        run("""
offs = tl.arange(0, N)
v = tl.load(p2 + offs)
tl.store(p5 + offs, tl.atomic_max(p0 + offs, v))
tl.atomic_min(p1 + offs, v)
for i in range(N):
    tl.atomic_max(p3 + i, tl.load(p2 + i))
    tl.atomic_min(p4 + i, tl.load(p2 + i))
""", up, down, value, single_up, single_down, old, N=n)
        np.testing.assert_array_equal(old.astype(np.float64), start.astype(np.float64), err_msg=name)
        for got, want in ((up, high), (single_up, high), (down, low), (single_down, low)):
            got = got.astype(np.float64)
            np.testing.assert_array_equal(got, want, err_msg=name)
            number = ~np.isnan(want)
            np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(want[number]), err_msg=name)


@pytest.mark.parametrize("name", [*INTS, *FLOATS])
def test_cas(rng, name):
    dtype = DTYPES[name]
    x = values(rng, 17, name, special=False)
    hit = rng.integers(0, 2, 17).astype(bool)
    with np.errstate(over="ignore"):
        compare = np.where(hit, x, (x + np.ones(1, dtype)).astype(dtype))
    compare = np.where(compare == x, np.where(hit, compare, np.array(5).astype(dtype)), compare)
    hit = compare == x
    value = values(rng, 17, name, special=False)
    memory, old = x.copy(), np.zeros(17, dtype)
    single = x[:1].copy()
    run("""
offs = tl.arange(0, 17)
tl.store(p3 + offs, tl.atomic_cas(p0 + offs, tl.load(p1 + offs), tl.load(p2 + offs), sem="acquire", scope="sys"))
tl.atomic_cas(p4, tl.load(p1), tl.load(p2))
""", memory, compare, value, old, single)
    np.testing.assert_array_equal(memory, np.where(hit, value, x))
    np.testing.assert_array_equal(old, x)
    assert single[0] == (value[0] if hit[0] else x[0])


def test_spin_lock():
    lock, count = np.zeros(1, np.int32), np.zeros(1, np.int32)
    run("""
while tl.atomic_cas(p0, 0, 1) == 1:
    pass
tl.store(p1, tl.load(p1, volatile=True) + 1)
tl.atomic_xchg(p0, 0)
""", lock, count, grid=(37,))
    assert count[0] == 37 and lock[0] == 0


@pytest.mark.parametrize("name", ["int32", "int64", "uint32", "uint64"])
def test_poll(name):
    """A program waits for the others; a time limit ends it."""
    flag, out = np.zeros(1, DTYPES[name]), np.full(9, 7, np.int8)
    run("""
pid = tl.program_id(0)
if pid == 0:
    done = tl.atomic_poll(p0, 8, sem="acquire", scope="gpu")
    tl.store(p1, done.to(tl.int8))
    late = tl.atomic_poll(p0, 99, timeout_ns=1000)
    tl.store(p1 + 8, late.to(tl.int8))
else:
    tl.atomic_add(p0, 1)
    tl.store(p1 + pid - 1 + 1 * (pid < 8), 3, mask=pid < 8)
""", flag, out, grid=(9,))
    assert out[0] == 1 and out[8] == 0 and (out[1:8] >= 3).all()


@pytest.mark.parametrize("name", ["int32", "uint64", "int8", "float32", "float64", "float16", "bfloat16"])
def test_descriptor_atomics(rng, name):
    dtype = DTYPES[name]
    block = (3, -(-16 // dtype.itemsize))
    kinds = ["add", "max", "min"] + (["and", "or", "xor"] if name in INTS else [])
    shape = (4, block[1] + 2)
    x = values(rng, block, name, special=False)
    memory = [values(rng, shape, name, special=False) for _ in kinds]
    before = [m.copy() for m in memory]
    lines = [f"v = tl.load(p0 + tl.arange(0, 3)[:, None] * {block[1]} + tl.arange(0, {block[1]})[None, :])"]
    for i, kind in enumerate(kinds):
        lines.append(f"d{i} = tl.make_tensor_descriptor(p{i + 1}, [4, {shape[1]}], [{shape[1]}, 1], [3, {block[1]}])")
        lines.append(f"d{i}.atomic_{kind}([2, 1], v)")
    run("\n".join(lines), x, *memory)
    for i, kind in enumerate(kinds):
        want = before[i].copy()
        with np.errstate(over="ignore"):
            part = (before[i][2:, 1 : 1 + block[1]], x[:2])
            if name in FLOATS and kind == "add":
                want[2:, 1 : 1 + block[1]] = (part[0].astype(np.float64) + part[1].astype(np.float64)).astype(dtype)
            else:
                want[2:, 1 : 1 + block[1]] = RMW[kind](*part)
        np.testing.assert_array_equal(memory[i], want, err_msg=kind)


def test_refused():
    refuse("tl.atomic_and(p0, x)", "integers")
    refuse("tl.atomic_add(x, 1)", "pointer")
    refuse("tl.atomic_add(p0, x)", "the pointer is a single one")
    refuse("tl.atomic_add(p0, 1, sem='strong')", "acq_rel")
    refuse("tl.atomic_add(p0, 1, scope='world')", "gpu")
    refuse("tl.atomic_add(p0, 1)", "fp8e5", arguments=("float8e5",))
    refuse("tl.atomic_cas(p0, 0)", "val", arguments=("int32",))
    refuse("tl.atomic_poll(p0, 1)", "32- or 64-bit", arguments=("int16",))
    refuse("tl.atomic_poll(p0 + tl.arange(0, 4), 1)", "pointer", arguments=("int32",))
