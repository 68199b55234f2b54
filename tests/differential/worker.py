# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes that run kernels, one request at a time:

    native        our front end, or TTIR from elsewhere, on the CPU
    stock         the stock front end: source to TTIR
    interpreter   the stock package with TRITON_INTERPRET=1

They are apart because the stock package chooses between compiler and interpreter
when it is imported, and so that a crash ends no more than one of them.

    python -m tests.differential.worker KIND     (requests and answers are pickles)
"""

from __future__ import annotations

import ast
import importlib.util
import math
import os
import pickle
import struct
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from .program import HEADERS, Program

_folder = tempfile.TemporaryDirectory(prefix="nereid-differential-")
_count = 0


def load_source(text: str) -> Any:
    """A module made of a file, since both front ends read the source of functions."""
    global _count
    _count += 1
    path = Path(_folder.name) / f"k{_count}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(f"nereid_differential_{_count}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def aligned(array: np.ndarray) -> np.ndarray:
    """A copy at an address that is a multiple of 64."""
    room = np.empty(array.nbytes + 64, np.uint8)
    start = -room.ctypes.data % 64
    copy = room[start: start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def fresh_arguments(program: Program) -> list[Any]:
    return [aligned(argument.value) if argument.is_pointer else argument.value for argument in program.arguments]


def outputs(program: Program, values: list[Any]) -> list[np.ndarray]:
    return [value for argument, value in zip(program.arguments, values) if argument.output]


# ---- our compiler


def run_nereid(program: Program) -> list[np.ndarray]:
    module = load_source(program.text("nereid"))
    values = fresh_arguments(program)
    getattr(module, program.kernel)[program.grid](*values, **program.constants)
    return outputs(program, values)


def run_ttir(program: Program, text: str) -> list[np.ndarray]:
    from nereid._kernels import ir as _ir

    values = fresh_arguments(program)
    _ir.compile_text(text, "kernel.ttir")[program.grid](*values)
    return outputs(program, values)


def export(program: Program) -> str:
    """The kernel as our front end writes it for the stock package."""
    from nereid import _compiler

    function = getattr(load_source(program.text("nereid")), program.kernel)
    types = {argument.name: (argument.signature, 16 if argument.is_pointer else 0) for argument in program.arguments}
    specs = [("constexpr", program.constants[parameter.name]) if parameter.is_constexpr else types[parameter.name]
             for parameter in function.params]
    return _compiler.export_ttir(function, specs, function._options({}), "3.6")


# ---- the stock front end


def stock_ttir(program: Program, simplified: bool, capability: int = 90) -> str:
    """What the stock front end writes; `simplified`: after its own first passes."""
    kernel = getattr(load_source(program.text("stock")), program.kernel)
    signature = {argument.name: argument.signature for argument in program.arguments}
    signature.update({name: "constexpr" for name in program.constants})
    attributes = {i: 16 for i, argument in enumerate(program.arguments) if argument.is_pointer}
    return make_ttir(kernel, signature, dict(program.constants), attributes, simplified, capability)


def stock_text(source: str, name: str, signature: dict[str, str], constants: dict[str, str], attributes: dict[int, int],
               simplified: bool) -> str:
    """The same for a source whose constants are texts."""
    module = load_source(HEADERS["stock"] + source)
    values = {key: eval(text, vars(module)) for key, text in constants.items()}
    return make_ttir(getattr(module, name), signature, values, attributes, simplified, 90)


def make_ttir(kernel: Any, signature: dict[str, str], constants: dict[str, Any], divisible: dict[int, int],
              simplified: bool, capability: int) -> str:
    import inspect

    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend

    target = GPUTarget("cuda", capability, 32)
    attributes = {(i,): [["tt.divisibility", number]] for i, number in divisible.items()}
    source = ASTSource(kernel, signature, constexprs=constants, attrs=attributes)
    backend = make_backend(target)
    options = backend.parse_options({})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    arguments = [options, backend.get_codegen_implementation(options), backend.get_module_map(), context]
    if len(inspect.signature(source.make_ir).parameters) == 5:
        arguments.insert(0, target)
    module = source.make_ir(*arguments)
    if simplified:
        module = backend.make_ttir(module, {}, options, capability)
    return str(module)


def accept(text: str) -> str:
    """Takes TTIR through the stock compiler as far as PTX."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget, Language
    from triton.compiler.compiler import make_backend

    backend = make_backend(GPUTarget("cuda", 90, 32))
    options = backend.parse_options({})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    path = Path(_folder.name) / "exported.ttir"
    path.write_text(text)
    module = ir.parse_mlir_module(str(path), context)
    module.context = context
    stages: dict[str, Any] = {}
    backend.add_stages(stages, options, Language.TRITON)
    metadata = {"target": GPUTarget("cuda", 90, 32), **vars(options)}
    for name in ("ttir", "ttgir", "llir", "ptx"):
        module = stages[name](module, metadata)
    return str(module)


# ---- the stock interpreter


def prepare_interpreter() -> None:
    """Lets the interpreter have tiles of any size, as we do."""
    import triton.language as tl
    from triton.language import core
    from triton.language.semantic import TritonSemantic

    core.validate_block_shape = lambda shape: math.prod(int(size) for size in shape)

    def arange(self, start, end, *, ret_ty=None):
        ret_ty = ret_ty or tl.block_type(tl.int32, [end - start])
        return self.tensor(self.builder.create_make_range(ret_ty.to_ir(self.builder), start, end), ret_ty)

    TritonSemantic.arange = arange
    mend_interpreter()


def mend_interpreter() -> None:
    """Faults of the stock interpreter (3.6) that would hide everything else."""
    from triton.runtime import interpreter as stock

    patch = stock._patch_lang_tensor

    def patch_tensor(tensor, scope):
        patch(tensor, scope)
        # numpy 2.4 converts no array of one element to a number.
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.reshape(-1)[0]))
        scope.set_attr(tensor, "__bool__", lambda self: bool(self.handle.data.reshape(-1)[0])
                       if self.handle.data.size == 1 else True)

    stock._patch_lang_tensor = patch_tensor
    ones = stock.InterpreterBuilder.get_all_ones_value

    def all_ones(self, type):
        dtype = stock._get_np_dtype(type)
        if dtype.kind == "u":  # -1 is no number of it
            return stock.TensorHandle(np.full(1, np.iinfo(dtype).max, dtype), type.scalar)
        return ones(self, type)

    stock.InterpreterBuilder.get_all_ones_value = all_ones

    def splat(self, ret_ty, arg):
        # The result of a comparison goes by the type of its operands.
        return stock.TensorHandle(np.full(ret_ty.shape, arg.data.reshape(-1)[0], arg.data.dtype), arg.dtype.scalar)

    stock.InterpreterBuilder.create_splat = splat

    def broadcast(self, arg, shape):
        # Atomics take their operands' memory as if it were contiguous.
        return stock.TensorHandle(np.ascontiguousarray(np.broadcast_to(arg.data, shape)), arg.dtype.scalar)

    stock.InterpreterBuilder.create_broadcast = broadcast

    def arithmetic_shift(self, lhs, rhs):
        # It leaves its operands, and an unsigned result, with elements of signed types.
        dtype = stock._get_signed_np_dtype(lhs.data.dtype)
        data = np.right_shift(lhs.data.astype(dtype), rhs.data.astype(dtype))
        return stock.TensorHandle(data.astype(stock._get_np_dtype(lhs.dtype)), lhs.dtype.scalar)

    stock.InterpreterBuilder.create_ashr = arithmetic_shift
    to_tensor = stock.ReduceScanOpInterface.to_tensor

    def wrapped_to_tensor(self, value, dtype):
        numpy_dtype = stock._get_np_dtype(dtype)
        # numpy sums integers in 64 bits.
        return to_tensor(self, np.asarray(value).astype(numpy_dtype)[()] if numpy_dtype.kind in "iu" else value, dtype)

    stock.ReduceScanOpInterface.to_tensor = wrapped_to_tensor


class _Logic(ast.NodeTransformer):
    """`and`, `or` and `not` on tiles: the interpreter leaves them to Python, which
    asks a whole tile whether it is true."""

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        operator = ast.BitAnd() if isinstance(node.op, ast.And) else ast.BitOr()
        result = node.values[0]
        for value in node.values[1:]:
            result = ast.BinOp(result, operator, value)
        return result

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return ast.UnaryOp(ast.Invert(), node.operand) if isinstance(node.op, ast.Not) else node


def without_logic(source: str) -> str:
    return ast.unparse(ast.fix_missing_locations(_Logic().visit(ast.parse(source))))


def run_interpreter(program: Program) -> list[np.ndarray]:
    import triton.language as tl
    from triton.runtime import interpreter as stock

    kernel = getattr(load_source(without_logic(program.text("stock"))), program.kernel)
    function = kernel.rewrite()
    values = fresh_arguments(program)
    arguments: dict[str, Any] = dict(program.constants)
    for argument, value in zip(program.arguments, values):
        dtype = getattr(tl, argument.dtype)
        if argument.is_pointer:
            dtype = tl.pointer_type(dtype)
            data = np.array([value.ctypes.data], np.uint64)
        else:
            data = np.array([value], argument.dtype)
        arguments[argument.name] = tl.tensor(stock.TensorHandle(data, dtype), dtype)
    grid = tuple(program.grid) + (1,) * (3 - len(program.grid))
    scope = stock._patch_lang(function)
    try:
        stock.interpreter_builder.set_grid_dim(*grid)
        for x in range(grid[0]):
            for y in range(grid[1]):
                for z in range(grid[2]):
                    stock.interpreter_builder.set_grid_idx(x, y, z)
                    function(**arguments)
    finally:
        scope.restore()
    return outputs(program, values)


# ---- the process


FUNCTIONS = {
    "nereid": run_nereid, "ttir": run_ttir, "stock": stock_ttir, "stock_text": stock_text,
    "export": export, "accept": accept, "interpreter": run_interpreter,
}


def answer(request: tuple) -> tuple[str, Any]:
    name, *arguments = request
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return "ok", FUNCTIONS[name](*arguments)
    except BaseException as error:  # the interpreter raises whatever numpy does
        if isinstance(error, KeyboardInterrupt):
            raise
        causes = []
        while error is not None:
            causes.append(f"{type(error).__name__}: {error}")
            error = error.__cause__
        return "error", causes[0] + "".join(f"\n  caused by {cause}" for cause in causes[1:]) + "\n" + \
            traceback.format_exc(limit=-3)


def serve() -> None:
    # What kernels print is no answer.
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        head = requests.read(8)
        if len(head) < 8:
            return
        request = pickle.loads(requests.read(struct.unpack("<q", head)[0]))
        data = pickle.dumps(answer(request))
        answers.write(struct.pack("<q", len(data)) + data)
        answers.flush()


if __name__ == "__main__":
    if sys.argv[1] == "interpreter":
        prepare_interpreter()
    serve()
