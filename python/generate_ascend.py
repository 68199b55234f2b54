# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asks the vendor's compiler for Ascend what it knows, and writes it into tables of the tree:

    common/nereid/ascend_chips.def              cores and on-chip memory of each model
    compiler/lib/Target/Ascend/Fit/Types.def    what it makes of each operation on each type

    python python/generate_ascend.py [chips] [types] [--check]

With --check the files are compared with what the tools say and not written. Needs
scripts/setup.sh --ascend and the built package; the types take some minutes."""

from __future__ import annotations

import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from nereid._tools import ascend

ROOT = Path(__file__).resolve().parents[1]
CHIPS = ROOT / "common/nereid/ascend_chips.def"
TYPES = ROOT / "compiler/lib/Target/Ascend/Fit/Types.def"

#: The compiler's names of the models.
MODELS = ("Ascend910B1", "Ascend910B2", "Ascend910B2C", "Ascend910B3", "Ascend910B4", "Ascend910_9362", "Ascend910_9372",
          "Ascend910_9381", "Ascend910_9382", "Ascend910_9391", "Ascend910_9392", "Ascend950PR_950z", "Ascend950PR_9579",
          "Ascend950PR_9589", "Ascend950PR_9599")

_COPY = """
func.func @copy(%lock: memref<?xi8>, %workspace: memref<?xi8>,
    %from: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32},
    %to: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 1 : i32},
    %gx: i32, %gy: i32, %gz: i32, %x: i32, %y: i32, %z: i32)
  attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local", mix_mode = "aiv",
              parallel_mode = "simd"} {
  %source = memref.reinterpret_cast %from to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
  %buffer = memref.alloc() : memref<64xf32>
  memref.copy %source, %buffer : memref<64xf32, strided<[1]>> to memref<64xf32>
  %tile = bufferization.to_tensor %buffer restrict writable : memref<64xf32>
  %target = memref.reinterpret_cast %to to offset: [0], sizes: [64], strides: [1] : memref<?xf32> to memref<64xf32, strided<[1]>>
  bufferization.materialize_in_destination %tile in writable %target : (tensor<64xf32>, memref<64xf32, strided<[1]>>) -> ()
  return
}
"""


def head(tools: ascend.Tools, text: str) -> str:
    return ("// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n//\n"
            + "".join(f"// {line}".rstrip() + "\n" for line in text.strip().splitlines())
            + f"//\n// Asked of {' and '.join(tools.versions)}; python/generate_ascend.py asks again and\n// writes this file.\n\n")


def chips(tools: ascend.Tools) -> str:
    text = head(tools, "NEREID_ASCEND_CHIP(name, compiler's name, AI cores, vector cores, UB, L1, L0A, L0B, L0C)\n"
                       "Sizes in bytes, of one AI core: the compiler's own table.")
    for model in MODELS:
        answer = tools.compile(_COPY, model)
        if not answer.accepted:
            raise SystemExit(f"{model}: {answer.reason}")
        entries = dict(re.findall(r'"(\w+)", (\d+) : i\d+', answer.text))
        sizes = ", ".join(str(int(entries[f"{name}_SIZE"]) // 8) for name in ("UB", "L1", "L0A", "L0B", "L0C"))
        text += f'NEREID_ASCEND_CHIP("{model.lower()}", "{model}", {entries["AI_CORE_COUNT"]}, {entries["VECTOR_CORE_COUNT"]}, ' \
                f"{sizes})\n"
    return text


# ---- what becomes of each operation on each type

#: The language's names; a block of 1024 elements.
TYPE_NAMES = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64", "i8": "int8", "i16": "int16",
              "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64"}

#: Operation -> expression of the blocks x and y.
EXPRESSIONS = {
    "copy": "x", "add": "x + y", "sub": "x - y", "mul": "x * y", "div": "x / y", "floordiv": "x // y", "rem": "x % y",
    "and": "x & y", "shl": "x << 1", "shr": "x >> 1", "compare": "tl.where(x < y, x, y)", "maximum": "tl.maximum(x, y)",
    "abs": "tl.abs(x)", "exp": "tl.exp(x)", "sqrt": "tl.sqrt(x)", "sin": "tl.sin(x)", "erf": "tl.erf(x)",
    "floor": "tl.floor(x)", "to_fp32": "x.to(tl.float32)", "to_fp16": "x.to(tl.float16)", "to_i8": "x.to(tl.int8)",
    "to_i32": "x.to(tl.int32)", "to_i64": "x.to(tl.int64)", "cumsum": "tl.cumsum(x, 0)", "sort": "tl.sort(x)",
    "umulhi": "tl.umulhi(x, y)", "sum": "x * 0 + tl.sum(x)", "max": "x * 0 + tl.max(x)", "argmax": "x * 0 + tl.argmax(x, 0)",
    "xor_sum": "x ^ tl.xor_sum(x)",
}

_KERNEL = """\
import nereid
import nereid.language as tl


@nereid.jit
def k(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o)
    y = tl.load(y_ptr + o)
    r = {expression}
    tl.store(out_ptr + o, r)
"""
#: Results of another type than the operands'.
_RESULTS = {"to_fp32": "fp32", "to_fp16": "fp16", "to_i8": "i8", "to_i32": "i32", "to_i64": "i64"}


def outcome(tools: ascend.Tools, operation: str, name: str) -> str | None:
    """Vector, Scalar, Refused; None where the language has no such operation."""
    import importlib.util

    from nereid import CompilationError, _compiler

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"ascend_{operation}_{name}.py"
        path.write_text(_KERNEL.format(expression=EXPRESSIONS[operation]))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        pointer = f"*{name}"
        result = f"*{_RESULTS.get(operation, 'fp32' if operation == 'div' and name[0] in 'iu' else name)}"
        specs = [(pointer, 16), (pointer, 16), (result, 16), ("constexpr", 1024)]
        try:
            text = _compiler.emit(module.k, specs, "ttir", {"target": "ascend", "profile": "ascend910b", "unused_token": "error"})
        except CompilationError:
            return None
    answer = tools.lower(text, "Ascend910B3")
    if answer.accepted:
        answer = tools.compile(answer.text, "Ascend910B3")
    if not answer.accepted:
        return "Refused"
    return "Scalar" if is_scalar(answer.text) else "Vector"


def is_scalar(text: str) -> bool:
    """Whether a loop over elements stands in what the code generator is given."""
    return bool(re.search(r"scf\.for(?:(?!scf\.for).)*?memref\.load", text, re.S))


def types(tools: ascend.Tools) -> str:
    text = head(tools, "FIT_TYPE(operation, type, outcome): what the compiler makes of the operation on a block of 1024\n"
                       "elements, for Ascend910B3. Vector: vector instructions. Scalar: a loop over elements stands in\n"
                       "what its code generator is given. Refused: one of the two tools fails. No row: the language has\n"
                       "no such operation.")
    tasks = [(operation, name) for operation in EXPRESSIONS for name in TYPE_NAMES]
    with ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda task: outcome(tools, *task), tasks)
    for (operation, name), result in zip(tasks, results):
        if result:
            text += f"FIT_TYPE({operation}, {name}, {result})\n"
    return text


def main() -> int:
    known = {"chips": (CHIPS, chips), "types": (TYPES, types)}
    names = [name for name in sys.argv[1:] if name != "--check"] or list(known)
    tools = ascend.find()
    wrong = 0
    for name in names:
        path, write = known[name]
        text = write(tools)
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            print(f"{path.relative_to(ROOT)} is not what the tools say: python python/generate_ascend.py {name}")
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
