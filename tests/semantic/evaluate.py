# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Evaluates an expression of the language on arrays: a kernel is written around it,
compiled, launched as one program, and its results come back as arrays."""

import importlib.util
import itertools
import tempfile
import textwrap
from pathlib import Path

import ml_dtypes
import numpy as np

import nereid

counter = itertools.count()
folder = Path(tempfile.mkdtemp(prefix="nereid-evaluate-"))

#: dtypes of the language and of numpy.
DTYPES = {
    "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
    "uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64,
    "float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64,
    "float8e5": ml_dtypes.float8_e5m2, "float8e4nv": ml_dtypes.float8_e4m3fn,
}  # fmt: skip
#: Half the distance of neighbouring numbers at 1.
EPSILON = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}


def offsets(shape) -> str:
    """Row-major offsets of a block of `shape` as an expression."""
    terms = []
    stride = 1
    for dim in reversed(range(len(shape))):
        index = ", ".join(":" if i == dim else "None" for i in range(len(shape)))
        terms.append(f"tl.arange(0, {shape[dim]})[{index}] * {stride}")
        stride *= shape[dim]
    return " + ".join(terms) or "0"


def load_kernel(lines):
    """The jit function `kernel` of a source that is given as a list of lines."""
    lines = ["import nereid", "import nereid.language as tl", "from nereid.language.extra import libdevice",
             "import nereid.language.extra.cann.extension as al", *lines]  # fmt: skip
    name = f"evaluated_{next(counter)}"
    path = folder / f"{name}.py"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def run(body: str, *arrays, grid=(1,), **constants):
    """Runs statements on arrays, which they see as the pointers p0, p1, ...; constants are tl.constexpr."""
    params = [f"p{i}" for i in range(len(arrays))] + [f"{name}: tl.constexpr" for name in constants]
    lines = ["", "@nereid.jit", f"def kernel({', '.join(params)}):"]
    lines += ["    " + line for line in textwrap.dedent(body).strip().splitlines()]
    load_kernel(lines)[grid](*arrays, **constants)


def evaluate(expression: str, inputs: dict, outputs, prelude: str = "", **scalars):
    """The values of `expression` (one, or a tuple) with `inputs` bound as blocks.

    inputs: name -> array; 0-d arrays become scalars. outputs: (shape, numpy dtype), or a
    list of them for a tuple. prelude: jit functions the expression calls. scalars: run-time
    scalar arguments by name.
    """
    several = isinstance(outputs, list)
    results = [np.zeros(shape, dtype) for shape, dtype in (outputs if several else [outputs])]
    lines = [prelude, ""]
    names = [f"{name}_ptr" for name in inputs] + [f"out{i}_ptr" for i in range(len(results))] + list(scalars)
    lines += ["@nereid.jit", f"def kernel({', '.join(names)}):"]
    for name, array in inputs.items():
        lines.append(f"    {name} = tl.load({name}_ptr + ({offsets(array.shape)}))")
    lines.append(f"    result = {expression}")
    for i, array in enumerate(results):
        item = f"result[{i}]" if several else "result"
        lines.append(f"    tl.store(out{i}_ptr + ({offsets(array.shape)}), {item})")
    kernel = load_kernel(lines)
    arrays = [np.ascontiguousarray(array).reshape(array.shape or (1,)) for array in inputs.values()]
    flat = [result.reshape(result.shape or (1,)) for result in results]
    kernel[(1,)](*arrays, *flat, *scalars.values())
    return results if several else results[0]


def random_array(rng, shape, dtype: str, low=None, high=None):
    """Random numbers of a dtype; floats from a normal distribution unless bounded."""
    numpy_dtype = np.dtype(DTYPES[dtype])
    if numpy_dtype.kind in "iu":
        info = np.iinfo(numpy_dtype)
        return rng.integers(info.min if low is None else low, info.max if high is None else high, shape, numpy_dtype,
                            endpoint=True)  # fmt: skip
    values = rng.standard_normal(shape) if low is None else rng.uniform(low, high, shape)
    return np.asarray(values).astype(numpy_dtype)


def assert_close(actual, expected, relative, absolute=0.0):
    """Against float64, with NaNs in the same places."""
    np.testing.assert_allclose(np.asarray(actual).astype(np.float64), np.asarray(expected).astype(np.float64),
                               rtol=relative, atol=absolute)  # fmt: skip
