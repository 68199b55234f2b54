# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that are shown to the vendor's tools: those of examples/, and random ones."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from tests.differential.generate import generate
from tests.differential.worker import load_source

ROOT = Path(__file__).resolve().parents[2]

_MATMUL = "a_ptr=*fp16:16, b_ptr=*fp16:16, c_ptr=*fp16:16"

#: File and kernel of each example, with types as its script launches it.
EXAMPLES = {
    "01_vector_add.py:add_kernel": "x_ptr=*fp32:16, y_ptr=*fp32:16, out_ptr=*fp32:16, n_elements=i32, BLOCK=1024",
    "02_softmax.py:softmax_kernel": "out_ptr=*fp32:16, in_ptr=*fp32:16, in_row_stride=i32, out_row_stride=i32, n_rows=i32, "
                                    "n_cols=i32, BLOCK=1024",
    "03_matmul.py:matmul_kernel": f"{_MATMUL}, M=i32, N=i32, K=i32, stride_am=i32, stride_ak=1, stride_bk=i32, stride_bn=1, "
                                  "stride_cm=i32, stride_cn=1, BLOCK_M=64, BLOCK_N=64, BLOCK_K=32, GROUP_M=4",
    "05_all_gather.py:all_gather_kernel": "src_ptr=*fp32:16, gathered_ptr=*fp32:16, n_elements=i32, BLOCK=1024",
    "06_all_to_all.py:all_to_all_kernel": "src_ptr=*fp32:16, received_ptr=*fp32:16, S=i32, H=i32, D=i32, BLOCK_S=16, BLOCK_D=32",
}

#: Seeds of the random ones. Every fourth has tiles whose sizes are no powers of two.
SEEDS = range(300)


def example(name: str) -> tuple[Any, list]:
    """A kernel of examples/ and what types it is compiled with."""
    from nereid._kernels import signature as _signature

    file, _, kernel = name.partition(":")
    folder = str(ROOT / "examples")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(f"nereid_example_{file[:2]}", ROOT / "examples" / file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    function = getattr(module, kernel)
    return function, _signature.parse_signature(function, EXAMPLES[name])


def random_kernel(seed: int) -> tuple[Any, list]:
    program = generate(seed, odd=seed % 4 == 3)
    function = getattr(load_source(program.text("nereid")), program.kernel)
    types = {argument.name: (argument.signature, 16 if argument.is_pointer else 0) for argument in program.arguments}
    return function, [("constexpr", program.constants[parameter.name]) if parameter.is_constexpr else types[parameter.name]
                      for parameter in function.params]


def names() -> list[str]:
    return [*EXAMPLES, *(f"random-{seed}" for seed in SEEDS)]


def kernel(name: str) -> tuple[Any, list]:
    return random_kernel(int(name.partition("-")[2])) if name.startswith("random-") else example(name)


def export(name: str) -> str:
    """The kernel as triton-ascend reads it."""
    from nereid import _compiler

    function, specs = kernel(name)
    return _compiler.emit(function, specs, "ttir", {**function._options({}), "target": "ascend", "profile": "ascend910b"})
