# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every kernel of the examples and of nereid.ops compiles for the target cuda, and Triton keeps every
operation between ranks that it has. No GPU is needed."""

import importlib
import importlib.util
import inspect
import re
import subprocess
from pathlib import Path

import pytest

triton = pytest.importorskip("triton")

import nereid  # noqa: E402
import nereid.language as tl  # noqa: E402
from nereid.runtime import JITFunction  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


def marks(text: str) -> set[str]:
    return set(re.findall(r"// nereid \d+;", text))


def check(kernel, types: dict, constants: dict, arch: int, monkeypatch, **options):
    monkeypatch.setenv("NEREID_TARGET", "cuda")
    monkeypatch.setenv("NEREID_CUDA_ARCH", f"sm_{arch}")
    compiled = nereid.compile(nereid.compiler.ASTSource(kernel, types, constants), options=options)
    assert compiled.asm["cubin"][:4] == b"\x7fELF"
    assert marks(compiled.asm["cuda-ttir"]) == marks(compiled.asm["ptx"])
    return compiled


#: Kernels of the examples, and what is no "*fp16" pointer, i32 or tile size of 64.
EXAMPLES = {
    "01_vector_add": ("add_kernel", {}),
    "02_softmax": ("softmax_kernel", {}),
    "03_matmul": ("matmul_kernel", {"GROUP_M": 8}),
    "04_producer_consumer": ("ring_kernel", {"full_ptr": "*i64", "empty_ptr": "*i64", "SLOTS": 2}),
    "05_all_gather": ("all_gather_kernel", {}),
    "06_all_to_all": ("all_to_all_kernel", {}),
    "07_allgather_gemm": ("allgather_gemm_kernel", {"GROUP_M": 8}),
    "08_gemm_reduce_scatter": ("gemm_reduce_scatter_kernel", {"GROUP_M": 8, "TILES": 4, "peer_mem_ptr": "*fp32"}),
    "09_allgather_gemm_signals": ("allgather_gemm_signals_kernel", {"GROUP_M": 8, "ready_ptr": "*i64"}),
    "10_all_gather_over_nodes": ("all_gather_kernel", {"flags_ptr": "*i64", "FENCE": True}),
    "11_allgather_gemm_roles": ("allgather_gemm_roles_kernel", {"ready_ptr": "*i64", "free_ptr": "*i64", "GROUP_M": 8}),
    "12_gemm_reduce_scatter_roles": ("gemm_reduce_scatter_roles_kernel", {
        "ready_ptr": "*i64", "free_ptr": "*i64", "done_ptr": "*i64", "c_ptr": "*fp32", "GROUP_M": 8, "CARRY": 8}),
}
#: The tiles with which they are fast on a GPU.
LARGE = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "BLOCK": 4096}


def example(name: str, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    spec = importlib.util.spec_from_file_location(f"example_{name}", ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, EXAMPLES[name][0])


def entries(kernel, given: dict) -> tuple[dict, dict]:
    """Types of the arguments and values of the constants."""
    types, constants = {}, {}
    for parameter in kernel.params:
        name = parameter.name
        if parameter.is_constexpr:
            constants[name] = given.get(name, 64)
        else:
            types[name] = given.get(name) or parameter.annotation_type or ("*fp16" if name.endswith("_ptr") else "i32")
    return types, constants


def test_no_example_is_left_out():
    """Those without a kernel of their own call nereid.ops, whose kernels have tests of their own."""
    with_kernels = {path.stem for path in (ROOT / "examples").glob("[0-9]*.py") if "@nereid.jit" in path.read_text()}
    assert with_kernels == set(EXAMPLES)


@pytest.mark.parametrize("arch", [80, 90, 100])
@pytest.mark.parametrize("name", EXAMPLES)
def test_example_compiles(name, arch, monkeypatch):
    check(kernel := example(name, monkeypatch), *entries(kernel, EXAMPLES[name][1]), arch, monkeypatch)


@pytest.mark.parametrize("name", ["11_allgather_gemm_roles", "12_gemm_reduce_scatter_roles"])
def test_large_tiles_compile(name, monkeypatch, tmp_path):
    kernel = example(name, monkeypatch)
    types, constants = entries(kernel, {**EXAMPLES[name][1], **LARGE, "N": "i32:16", "K": "i32:16", "m_per_rank": "i32:16"})
    types = {name: f"{text}:16" if text in ("*fp16", "*fp32") else text for name, text in types.items()}
    kernel = check(kernel, types, constants, 90, monkeypatch, num_warps=8, num_stages=3)
    # Matrix units fed by descriptors three stages ahead, nothing in local memory.
    assert kernel.asm["ptx"].count("wgmma.mma_async") and 128 < kernel.n_regs <= 255 and kernel.n_spills == 0
    assert re.search(r"ttg.local_alloc : \(\) -> !ttg.memdesc<3x128x64xf16", kernel.asm["ttgir"])
    assert "C7510" not in notes_of_ptxas(kernel.asm["ptx"], tmp_path)


def notes_of_ptxas(ptx: str, folder: Path) -> str:
    """What it says of a kernel for sm_90; C7510 is that it waits after each matrix instruction."""
    (folder / "k.ptx").write_text(ptx)
    ptxas = Path(triton.__file__).parent / "backends/nvidia/bin/ptxas"
    done = subprocess.run([ptxas, "-arch=sm_90a", "k.ptx", "-o", "k.cubin"], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stderr + done.stdout


@nereid.jit
def product(a_ptr, b_ptr, c_ptr, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    i, j = tl.arange(0, BLOCK_M)[:, None], tl.arange(0, BLOCK_N)[None, :]
    k = tl.arange(0, BLOCK_K)
    sums = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for begin in range(0, K, BLOCK_K):
        sums = tl.dot(tl.load(a_ptr + i * K + begin + k[None, :]), tl.load(b_ptr + (begin + k)[:, None] * BLOCK_N + j), sums)
    tl.store(c_ptr + i * BLOCK_N + j, sums)


@pytest.mark.parametrize("debug", [False, True])
def test_matrix_instructions_are_not_run_one_after_the_other(debug, monkeypatch, tmp_path):
    """The check of the range is a trap, not a call; with debug=True it is a call, and the note is there."""
    types = {"a_ptr": "*fp16:16", "b_ptr": "*fp16:16", "c_ptr": "*fp32:16", "K": "i32:16"}
    tiles = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64}
    ptx = check(product, types, tiles, 90, monkeypatch, num_warps=8, debug=debug).asm["ptx"]
    assert "wgmma" in ptx and ("__assertfail" in ptx) == debug and "trap;" in ptx
    assert ("C7510" in notes_of_ptxas(ptx, tmp_path)) == debug


#: What is no "*fp16" pointer, i32 or constant 64 in the kernels of nereid.ops.
OPS_TYPES = {
    **{name: "*i64" for name in ("words_ptr", "state_ptr", "arrived_ptr", "free_ptr", "starts_ptr", "splits_ptr", "received_ptr")},
    **{name: "*i32" for name in ("members_ptr", "lengths_ptr", "table_ptr")},
}
OPS_CONSTANTS = {"OP": "sum", "EPILOGUE": None, "ACC": tl.float32, "VIEW": False, "GATHERED": True, "GROUP_M": 4, "GROUP": 4, "BLOCK_G": 16, "PAGE": 16}
#: Values of constants that choose an algorithm, each of which is compiled.
CHOICES = {
    "all_gather_kernel": [{"DIRECTION": "push"}, {"DIRECTION": "pull"}],
    "one_shot_kernel": [{"DIRECTION": "push"}, {"DIRECTION": "pull"}],
    "all_gather_gemm_kernel": [{"FORM": "pull", "MOVERS": 0}, {"FORM": "gate", "MOVERS": 0}, {"FORM": "gate", "MOVERS": 2}],
}


def ops_cases() -> list:
    cases = []
    for path in sorted((ROOT / "python/nereid/ops").glob("*/kernel.py")):
        module = importlib.import_module(f"nereid.ops.{path.parent.name}.kernel")
        for name, kernel in vars(module).items():
            if not isinstance(kernel, JITFunction) or kernel.__module__ != module.__name__ or not name.endswith("_kernel"):
                continue
            wanted = CHOICES.get(name, [{}])
            wanted = [choice for choice in wanted if set(choice) <= {parameter.name for parameter in kernel.params}] or [{}]
            for number, choice in enumerate(wanted):
                # What other GPUs make different is the same in all kernels.
                all_archs = number == 0 and name in ("all_gather_kernel", "all_gather_gemm_kernel", "flash_decode_kernel")
                for reach, archs in (("direct", [80, 90, 100] if all_archs else [90]), ("put", [90])):
                    if reach == "put" and "pull" in choice.values():
                        continue
                    for arch in archs:
                        words = "-".join(map(str, (path.parent.name, name, *choice.values(), reach, arch)))
                        cases.append(pytest.param(kernel, {**choice, "REACH": reach}, arch, id=words))
    return cases


@pytest.mark.parametrize("kernel, choice, arch", ops_cases())
def test_operator_compiles(kernel, choice, arch, monkeypatch):
    types, constants = entries(kernel, {**OPS_TYPES, **OPS_CONSTANTS, **choice})
    check(kernel, types, constants, arch, monkeypatch)


def test_every_kernel_of_the_operators_is_compiled():
    known = {case.values[0] for case in ops_cases()}
    for path in sorted((ROOT / "python/nereid/ops").glob("*/kernel.py")):
        module = importlib.import_module(f"nereid.ops.{path.parent.name}.kernel")
        launched = [value for value in vars(module).values() if isinstance(value, JITFunction)
                    and value.__module__ == module.__name__ and any(p.name == "state_ptr" for p in value.params)]
        assert launched and set(launched) <= known, inspect.getfile(module)
