# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels around expressions of the language, many to one compilation.

``Sheet`` collects expressions of input blocks, writes one kernel that computes all
of them, launches it once and checks each result. Compiling is what such tests cost,
so what belongs together shares a kernel."""

import contextlib
import importlib.util
import itertools
import os
import tempfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import nereid

FULL = bool(os.environ.get("NEREID_TEST_FULL"))
counter = itertools.count()
folder = Path(tempfile.mkdtemp(prefix="nereid-language-"))

INTS = {name: np.dtype(name) for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")}
FLOATS = {"float16": np.dtype("float16"), "bfloat16": np.dtype(ml_dtypes.bfloat16), "float32": np.dtype("float32"),
          "float64": np.dtype("float64")}  # fmt: skip
FP8 = {"float8e5": np.dtype(ml_dtypes.float8_e5m2), "float8e4nv": np.dtype(ml_dtypes.float8_e4m3fn),
       "float8e5b16": np.dtype(ml_dtypes.float8_e5m2fnuz), "float8e4b8": np.dtype(ml_dtypes.float8_e4m3fnuz)}  # fmt: skip
DTYPES = {"int1": np.dtype(bool), **INTS, **FLOATS, **FP8}
NAME_OF = {dtype: name for name, dtype in DTYPES.items()}
#: Half the distance of neighbours at 1.
EPS = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}
#: Special values of floats: each stands in every test of floats.
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 6e-8, 1e-40, 65504.0, 3.4e38, -3.4e38]
SHAPES = [(1,), (2,), (7,), (16,), (33,), (1, 1), (3, 5), (8, 4), (1, 9), (2, 3, 5)]


def offsets(shape) -> str:
    """Row-major offsets of a block of `shape` as an expression."""
    terms, stride = [], 1
    for dim in reversed(range(len(shape))):
        index = ", ".join(":" if i == dim else "None" for i in range(len(shape)))
        terms.append(f"tl.arange(0, {shape[dim]})[{index}] * {stride}")
        stride *= shape[dim]
    return " + ".join(terms) or "0"


def load_kernel(lines, name="kernel"):
    """The function `name` of a module with these lines."""
    lines = ["import nereid", "import nereid.language as tl", "import nereid.distributed as dl",
             "import nereid.language.extra.cann.extension as al", "import nereid.extension.buffer.language as bl",
             "from nereid.language.extra import libdevice", *lines]  # fmt: skip
    module_name = f"language_{next(counter)}"
    path = folder / f"{module_name}.py"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location(module_name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def run(body: str, *arrays, grid=(1,), prelude="", options=None, **constants):
    """Statements on arrays, which they see as p0, p1, ...; constants are tl.constexpr."""
    params = [f"p{i}" for i in range(len(arrays))] + [f"{name}: tl.constexpr" for name in constants]
    lines = prelude.splitlines() + ["", "@nereid.jit", f"def kernel({', '.join(params)}):"]
    lines += ["    " + line for line in body.strip("\n").splitlines()]
    load_kernel(lines)[grid](*arrays, **constants, **(options or {}))


class Sheet:
    """Expressions of named input blocks, compiled into one kernel."""

    def __init__(self, prelude=""):
        self.prelude, self.inputs, self.rows = prelude, {}, []

    def input(self, name, array, shape=None):
        """A block `name` with the array's elements; 0-d arrays are scalars."""
        self.inputs[name] = np.asarray(array)
        return self

    def add(self, expression, want, *, exact=None, rtol=0.0, atol=0.0, out=None, check=None):
        """`expression` (an array, or a list of them for a tuple) against `want`. exact: bit for bit (default
        for integers), otherwise float64 within rtol and atol, with NaN in the same places. out: dtype of the
        result (that of `want`). check: called with the results instead."""
        wants = want if isinstance(want, list) else [want]
        wants = [np.asarray(w) for w in wants]
        outs = out if isinstance(out, list) else [out] * len(wants)
        self.rows.append((expression, isinstance(want, list), wants, [np.dtype(o or w.dtype) for o, w in zip(outs, wants)],
                          exact, rtol, atol, check))  # fmt: skip
        return self

    def run(self, **options):
        lines = [*self.prelude.splitlines(), "", "@nereid.jit"]
        arrays, names, body = [], [], []
        for name, array in self.inputs.items():
            names.append(f"{name}_ptr")
            arrays.append(np.ascontiguousarray(array).reshape(array.shape or (1,)))
            body.append(f"{name} = tl.load({name}_ptr + ({offsets(array.shape)}))")
        results = []
        for i, (expression, several, wants, outs, *_) in enumerate(self.rows):
            body.append(f"r{i} = {expression}")
            results.append([])
            for j, (want, out) in enumerate(zip(wants, outs)):
                names.append(f"o{i}_{j}_ptr")
                array = np.zeros(want.shape or (1,), out)
                arrays.append(array)
                results[-1].append(array.reshape(want.shape))
                item = f"r{i}[{j}]" if several else f"r{i}"
                body.append(f"tl.store(o{i}_{j}_ptr + ({offsets(want.shape)}), {item})")
        lines += [f"def kernel({', '.join(names)}):", *("    " + line for line in body)]
        load_kernel(lines)[(1,)](*arrays, **options)
        for row, got in zip(self.rows, results):
            expression, several, wants, _, exact, rtol, atol, check = row
            if check is not None:
                check(*got)
                continue
            for g, w in zip(got, wants):
                compare(g, w, exact, rtol, atol, f"{expression} on " + ", ".join(
                    f"{n}: {NAME_OF.get(a.dtype, a.dtype)}{list(a.shape)}" for n, a in self.inputs.items()))  # fmt: skip


def compare(got, want, exact, rtol, atol, what):
    floating = got.dtype.kind not in "iub"
    if exact is None:
        exact = not floating
    if not floating:
        np.testing.assert_array_equal(got, want.astype(got.dtype) if exact else want, err_msg=what)
        return
    g, w = got.astype(np.float64), want.astype(np.float64)
    if exact:
        np.testing.assert_array_equal(g, w, err_msg=what)
        number = ~np.isnan(w)
        np.testing.assert_array_equal(np.signbit(g[number]), np.signbit(w[number]), err_msg=f"signs of {what}")
        return
    # Beyond the format's range the reference becomes what the format has there.
    with np.errstate(all="ignore"):
        w = np.where(np.isfinite(w) & ~np.isfinite(want.astype(got.dtype).astype(np.float64)),
                     want.astype(got.dtype).astype(np.float64), w)  # fmt: skip
    # The last step of subnormal numbers is always allowed.
    atol = max(atol, float(ml_dtypes.finfo(got.dtype).smallest_subnormal))
    np.testing.assert_allclose(g, w, rtol=rtol, atol=atol, err_msg=what)


def shape_of(rng, rank=None):
    """A shape of 1 to 3 dimensions, often with ones and odd sizes."""
    rank = rank or int(rng.integers(1, 4))
    limit = {1: 200, 2: 24, 3: 9}.get(rank, 5)
    return tuple(int(n) for n in np.where(rng.random(rank) < 0.2, 1, rng.integers(1, limit, rank)))


def integers(rng, shape, name, low=None, high=None):
    """Over the whole range, with its ends, 0, 1 and -1 among them."""
    info = np.iinfo(DTYPES[name])
    low, high = info.min if low is None else low, info.max if high is None else high
    array = rng.integers(low, high, shape, DTYPES[name], endpoint=True)
    ends = [v for v in (info.min, info.max, 0, 1, -1, 2) if low <= v <= high]
    flat = array.reshape(-1)
    for i, value in enumerate(ends[: flat.size // 2]):
        flat[int(rng.integers(flat.size))] = value
    return array


def floats(rng, shape, name, low=-10.0, high=10.0, special=True):
    array = rng.uniform(low, high, shape).astype(DTYPES[name])
    if special:
        flat = array.reshape(-1)
        with np.errstate(all="ignore"):
            for value in SPECIAL[: max(0, flat.size - 2)]:
                flat[int(rng.integers(flat.size))] = np.array(value).astype(DTYPES[name])
    return array


def values(rng, shape, name, low=None, high=None, special=True):
    if name == "int1":
        return rng.integers(0, 2, shape).astype(bool)
    if name in INTS:
        return integers(rng, shape, name, low, high)
    return floats(rng, shape, name, -10.0 if low is None else low, 10.0 if high is None else high, special)


@contextlib.contextmanager
def refused(*texts):
    """The kernel is refused with a message that has these texts."""
    with pytest.raises(nereid.CompilationError) as error:
        yield
    text = str(error.value)
    for part in texts:
        assert part in text, text
    assert "Traceback" not in text and "mlir" not in text.lower(), text
    assert "error:" in text and "^" in text, text


def refuse(expression, *texts, prelude="", arguments=("float32",), options=None):
    """`expression` of the pointers p0, p1, ... and of blocks x, y of them is refused."""
    arrays = [np.zeros(64, DTYPES[name]) for name in arguments]
    body = [f"{v} = tl.load(p{i} + tl.arange(0, 16))" for i, v in zip(range(len(arrays)), "xyz")]
    body.append(f"result = {expression}" if "\n" not in expression else expression)
    with refused(*texts):
        run("\n".join(body), *arrays, prelude=prelude, options=options)
