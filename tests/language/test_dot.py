# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products and block-scaled ones."""

import ml_dtypes
import numpy as np
import pytest
from sheet import DTYPES, EPS, FP8, Sheet, floats, integers, refuse, values

SIZES = [(1, 1, 1), (16, 16, 16), (5, 7, 3), (1, 33, 2), (32, 1, 8), (17, 40, 9)]


@pytest.mark.parametrize("name", ["int8", "float16", "bfloat16", "float32", "float64", *FP8])
def test_dot(rng, name):
    sheet = Sheet()
    for i, (m, k, n) in enumerate(SIZES):
        for batch in ((), (2,), (2, 3)) if i in (2, 5) else ((),):
            tag = f"{i}_{len(batch)}"
            if name == "int8":
                a, b = integers(rng, (*batch, m, k), name), integers(rng, (*batch, k, n), name)
                c = integers(rng, (*batch, m, n), "int32", -1000, 1000)
                product = a.astype(np.int64) @ b.astype(np.int64)
                exact, bound = True, 0
            else:
                a, b = (floats(rng, shape, name, -2, 2, special=False) for shape in ((*batch, m, k), (*batch, k, n)))
                out = "float64" if name == "float64" else "float32"
                c = floats(rng, (*batch, m, n), out, -1, 1, special=False)
                product = a.astype(np.float64) @ b.astype(np.float64)
                exact = False
                bound = EPS[out] * (k + 2) * ((np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))).max() + 1)
            sheet.input(f"a{tag}", a).input(f"b{tag}", b).input(f"c{tag}", c)
            sheet.add(f"tl.dot(a{tag}, b{tag})", product.astype(np.int32) if exact else product, atol=bound, out=c.dtype)
            want = product + c
            sheet.add(f"tl.dot(a{tag}, b{tag}, c{tag})", want.astype(np.int32) if exact else want, atol=bound, out=c.dtype)
            sheet.add(f"tl.dot(a{tag}, b{tag}, acc=c{tag}, input_precision='ieee')", want.astype(np.int32) if exact else want, atol=bound, out=c.dtype)
            if name == "float16" or name in FP8:
                half = EPS["float16"] * (k + 2) * (np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))).max()
                sheet.add(f"tl.dot(a{tag}, b{tag}, out_dtype=tl.float16)", product, atol=half, out=np.float16)
            if name == "float32":
                for mode in ("tf32", "tf32x3", "hf32", "bf16x3"):
                    sheet.add(f"tl.dot(a{tag}, b{tag}, input_precision='{mode}')", product, atol=bound, out=c.dtype)
                sheet.add(f"tl.dot(a{tag}, b{tag}, allow_tf32=False)", product, atol=bound, out=c.dtype)
    sheet.run()


def test_dot_of_two_fp8_types(rng):
    a, b = floats(rng, (5, 9), "float8e5", -2, 2, special=False), floats(rng, (9, 4), "float8e4nv", -2, 2, special=False)
    Sheet().input("a", a).input("b", b).add("tl.dot(a, b)", a.astype(np.float64) @ b.astype(np.float64), atol=1e-5, out=np.float32).run()


def test_special_values(rng):
    """Infinities and NaN go where they must, and nowhere else."""
    a, b = floats(rng, (6, 5), "float32", -1, 1, special=False), floats(rng, (5, 7), "float32", -1, 1, special=False)
    a[1, 2], a[3, 0], b[4, 4] = np.inf, np.nan, -np.inf
    with np.errstate(invalid="ignore"):
        want = a.astype(np.float64) @ b.astype(np.float64)
    Sheet().input("a", a).input("b", b).add("tl.dot(a, b)", want, atol=1e-5, out=np.float32).run()


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
NUMPY = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "bf16": ml_dtypes.bfloat16, "fp16": np.float16}


def scaled_operand(rng, form, rows, k, packed_along_k, transposed):
    """The stored elements and their values [rows, k]."""
    if form == "e2m1":
        codes = rng.integers(0, 16, (rows, k)).astype(np.uint8)
        if packed_along_k:
            stored = codes[:, 0::2] | (codes[:, 1::2] << 4)
        else:
            stored = codes[0::2] | (codes[1::2] << 4)
        return stored.T if transposed else stored, E2M1[codes]
    x = rng.uniform(-2, 2, (rows, k)).astype(NUMPY[form])
    stored = x.view(np.uint8) if x.itemsize == 1 and rng.random() < 0.5 else x
    return stored.T if transposed else stored, x.astype(np.float64)


@pytest.mark.parametrize("left", ["e2m1", "e4m3", "e5m2", "bf16", "fp16"])
def test_dot_scaled(rng, left):
    sheet = Sheet()
    cases = [(16, 64, 16, 32), (2, 32, 6, 32), (10, 96, 4, 32), (4, 6, 2, 2), (8, 20, 12, 5)]
    for i, right in enumerate(["e2m1", "e4m3", "e5m2", "bf16", "fp16"]):
        m, k, n, group = cases[i]
        lhs_pack, rhs_pack = bool(rng.integers(2)), bool(rng.integers(2))
        a, a_value = scaled_operand(rng, left, m, k, lhs_pack, False)
        b, b_value = scaled_operand(rng, right, n, k, rhs_pack, True)
        scale_a, scale_b = (rng.integers(120, 134, (rows, k // group)).astype(np.uint8) for rows in (m, n))
        if i == 2:
            scale_a[0, 0] = 255  # NaN
        c = rng.uniform(-1, 1, (m, n)).astype(np.float32)
        factor = lambda scale: np.repeat(np.where(scale == 255, np.nan, 2.0 ** (scale.astype(np.float64) - 127)), group, 1)
        use_a, use_b = i != 3, i != 4
        x = a_value * (factor(scale_a) if use_a else 1)
        y = b_value * (factor(scale_b) if use_b else 1)
        want = x @ y.T + c
        bound = 2.0**-24 * (k + 4) * (np.nan_to_num(np.abs(x)) @ np.abs(y).T).max()
        for variable, value in (("a", a), ("b", np.ascontiguousarray(b)), ("c", c), ("s", scale_a), ("t", scale_b)):
            sheet.input(f"{variable}{i}", value)
        sheet.add(f"tl.dot_scaled(a{i}, {f's{i}' if use_a else None}, '{left}', b{i}, {f't{i}' if use_b else None}, '{right}', "
                  f"acc=c{i}, lhs_k_pack={lhs_pack}, rhs_k_pack={rhs_pack})", want, atol=bound, out=np.float32)
        if i == 0:
            sheet.add(f"tl.dot_scaled(a{i}, s{i}, '{left}', b{i}, t{i}, '{right}', lhs_k_pack={lhs_pack}, rhs_k_pack={rhs_pack}, fast_math=True, "
                      "out_dtype=tl.float32)", want - c, atol=bound, out=np.float32)
    sheet.run()


def test_all_scales():
    scale = np.arange(256, dtype=np.uint8)[:, None]
    with np.errstate(all="ignore"):
        want = np.where(scale == 255, np.nan, 2.0 ** (scale.astype(np.float64) - 127))
    a, b = np.ones((256, 1), ml_dtypes.bfloat16), np.ones((1, 1), ml_dtypes.bfloat16)
    Sheet().input("a", a).input("b", b).input("s", scale).add(
        "tl.dot_scaled(a, s, 'bf16', b, None, 'bf16')", want, out=np.float32).run()


def test_refused():
    refuse("tl.dot(x, x)", "rank")
    refuse("tl.dot(x[None, :], x[None, :])", "inner dimensions")
    refuse("tl.dot(x[None, :], y[:, None])", "cast", arguments=("float32", "float16"))
    refuse("tl.dot(x[None, :], x[:, None])", "multiplied", arguments=("int32",))
    refuse("tl.dot(x[None, :], x[:, None], input_precision='fast')", "ieee")
    refuse("tl.dot(x[None, :], x[:, None], out_dtype=tl.bfloat16)", "bfloat16")
    refuse("tl.dot(x[None, :], x[:, None], x[None, :])", "acc")
    refuse("tl.dot_scaled(x[None, :], None, 'e3m4', x[:, None], None, 'bf16')", "e2m1")
    refuse("tl.dot_scaled(x[None, :], None, 'e5m2', x[:, None], None, 'e5m2')", "fp8e5")
    refuse("tl.dot_scaled(x[None, :], x[None, :], 'bf16', x[:, None], None, 'bf16')", "8-bit", arguments=("bfloat16",))
