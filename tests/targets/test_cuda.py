# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The target cuda without a GPU: every operation between ranks is compiled by the stock triton wheel."""

import base64
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")

import nereid  # noqa: E402
from nereid._base import targets, tools  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
NEREID_OPT = ROOT / "build" / "release" / "tools" / "nereid-opt" / "nereid-opt"
ARCHS = [80, 90, 100]
TOOL = targets.find("cuda")["tool"]

KERNELS = '''
import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device as shmem


@nereid.jit
def ring(x, signal, BLOCK: tl.constexpr):
    right = (dl.rank() + 1) % dl.num_ranks()
    i = tl.arange(0, BLOCK)
    tl.store(dl.symm_at(x, right) + BLOCK + i, tl.load(x + i))
    dl.notify(signal, right, signal=1, sig_op="add", comm_scope="intra_node")
    token = dl.wait(signal, 1, "sys", "acquire", waitValue=1)
    y = dl.consume_token(x, token)
    tl.store(x + i, tl.load(y + BLOCK + i) * 2)
    shmem.barrier_all()
'''


def chunks() -> dict[str, str]:
    found = {}
    for file in ("distributed-ops.mlir", "library-calls.mlir"):
        for text in (ROOT / "test/Target/CUDA" / file).read_text(encoding="utf-8").split("// -----"):
            found[re.search(r"func public @(\w+)", text)[1]] = text
    return found


CHUNKS = chunks()


def compile_text(text: str, arch: int, **options) -> dict:
    request = {"text": text, "name": "k", "arch": arch, "num_warps": 4, "num_stages": 3, "num_ctas": 1, "maxnreg": 0,
               "enable_fp_fusion": True, "debug": False, **options}
    return json.loads(tools.run(TOOL, json.dumps(request)))


def marks(text: str) -> set[str]:
    return set(re.findall(r"// nereid \d+;", text))


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("name", CHUNKS)
def test_operation_compiles(name, arch, tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    passes = ["--nereid-rewrite-block-pointers"] if arch < 90 else []
    passes += [f"--nereid-lower-distributed-to-tt=arch={arch}", "--nereid-canonicalize", "--cse",
               f"--nereid-separate-accesses=arch={arch}", "--nereid-export-ttir"]
    done = subprocess.run([NEREID_OPT, "-", *passes], input=CHUNKS[name], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    answer = compile_text(done.stdout, arch)
    assert "error" not in answer, answer
    assert base64.b64decode(answer["cubin"])[:4] == b"\x7fELF"
    assert marks(done.stdout) == marks(answer["ptx"])
    if name in ("putmem", "getmem"):
        assert "st.global.v4" in answer["ptx"] and "ld.global.v4" in answer["ptx"]


def nereid_compile(folder: Path, *options: str, signal: str = "*i64", **environment: str):
    (folder / "k.py").write_text(KERNELS)
    return subprocess.run([sys.executable, "-m", "nereid.cli", "compile", f"{folder / 'k.py'}:ring", "--signature",
                           f"x=*fp32, signal={signal}, BLOCK=256", *options], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "NEREID_TARGET": "cuda", "NEREID_CACHE": "0", **environment})


@pytest.mark.parametrize("stage, has", [("cuda-ttir", "tt.elementwise_inline_asm"), ("ttgir", "ttg.num-warps\" = 8"),
                                        ("ptx", ".target sm_90a")])
def test_stages(stage, has, tmp_path):
    done = nereid_compile(tmp_path, f"--emit={stage}", "--option", "num_warps=8", NEREID_CUDA_ARCH="sm_90")
    assert done.returncode == 0, done.stderr
    assert has in done.stdout


@pytest.mark.parametrize("option, message", [
    ("num_warps=3", "the option 'num_warps' takes a power of two from 1 to 32, not 3"),
    ("num_ctas=2", "compile with num_ctas=1"),
    ("arch=sm_70", "the option 'arch' takes host, sm_80"),
])
def test_wrong_options(option, message, tmp_path):
    done = nereid_compile(tmp_path, "--emit=ptx", "--option", option, NEREID_CUDA_ARCH="sm_90")
    assert done.returncode != 0
    assert message in done.stderr


def test_a_wait_that_triton_leaves_out_is_an_error(tmp_path, monkeypatch):
    (tmp_path / "k.py").write_text(KERNELS)
    spec = importlib.util.spec_from_file_location("k", tmp_path / "k.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    run = tools.run

    def lossy(tool, request):
        answer = json.loads(run(tool, request))
        return json.dumps({**answer, "ptx": answer["ptx"].replace("// nereid 1;", "")})

    monkeypatch.setenv("NEREID_TARGET", "cuda")
    monkeypatch.setenv("NEREID_CUDA_ARCH", "sm_90")
    source = nereid.compiler.ASTSource(module.ring, {"x": "*fp32", "signal": "*i64"}, {"BLOCK": 256})
    assert nereid.compile(source).asm["cubin"][:4] == b"\x7fELF"
    monkeypatch.setattr(tools, "run", lossy)
    with pytest.raises(nereid.CompilationError, match="Triton has left out an operation that waits"):
        nereid.compile(source)


def test_no_gpu_and_no_arch_says_what_to_pass(tmp_path):
    done = nereid_compile(tmp_path, "--emit=cuda-ttir", "--option", "arch=host")
    if "tt.func" not in done.stdout:  # a machine without a GPU
        assert 'pass arch="sm_90", or set NEREID_CUDA_ARCH' in done.stderr


def test_a_compiler_that_dies_is_an_error(monkeypatch):
    """The process of the tool ends; the next request starts another."""
    assert "error" in compile_text("no module", 90)
    tools._last.clear()
    tools._running["triton"].kill()
    tools._running["triton"].wait()
    assert "cubin" in compile_text("module { tt.func public @k() { tt.return } }", 90)


def test_a_tool_that_is_not_installed_is_named(monkeypatch):
    def version(name):
        raise tools.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(tools.importlib.metadata, "version", version)
    error = json.loads(tools.run(TOOL, "{}"))["error"]
    assert error.startswith(f"the code is made by the package {TOOL}, but it is not installed for ")
    assert error.endswith("pip install 'nereid[cuda]'")
