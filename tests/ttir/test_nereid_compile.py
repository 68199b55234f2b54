# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `nereid compile --emit=ttir` writes is accepted by the stock triton wheel, which makes a cubin of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

triton = pytest.importorskip("triton")

from triton.backends.compiler import GPUTarget  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

HERE = Path(__file__).resolve().parent
VERSION = "3.6" if tuple(int(part) for part in triton.__version__.split(".")[:2]) < (3, 9) else "3.9"

SIGNATURES = {
    "matmul": "a_ptr=*fp16, b_ptr=*fp16, c_ptr=*fp16, M=i32, N=i32, K=i32, stride_am=i32, stride_bk=i32, "
              "stride_cm=i32, BLOCK_M=64, BLOCK_N=64, BLOCK_K=32",
    "softmax": "out_ptr=*fp32, in_ptr=*fp32, stride=i32, columns=i32, BLOCK=512",
    "lock_and_barrier": "x_ptr=*fp32, lock_ptr=*i32, BLOCK=128",
    "odd_sizes": "x_ptr=*fp32",
    "with_ranks": "x_ptr=*fp32",
}


def nereid_compile(name: str, *options: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "nereid.cli", "compile", f"{HERE / 'nereid_kernels.py'}:{name}",
                           "--signature", SIGNATURES[name], "--emit=ttir", *options],
                          capture_output=True, text=True, env=os.environ)


def make_cubin(text: str, folder: Path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(folder / "triton"))
    path = folder / "k.ttir"
    path.write_text(text)
    kernel = triton.compile(str(path), target=GPUTarget("cuda", 90, 32))
    assert kernel.asm["cubin"][:4] == b"\x7fELF"
    return kernel


@pytest.mark.parametrize("name", ["matmul", "softmax"])
@pytest.mark.parametrize("options", [[], [f"--triton={VERSION}"]], ids=["plain", "for-this-version"])
def test_ttir_makes_a_cubin(name, options, tmp_path, monkeypatch):
    done = nereid_compile(name, *options)
    assert done.returncode == 0, done.stderr
    kernel = make_cubin(done.stdout, tmp_path, monkeypatch)
    assert kernel.metadata.name == name
    if name == "matmul":
        assert "mma" in kernel.asm["ptx"]


def test_what_differs_is_written_for_the_version(tmp_path, monkeypatch):
    done = nereid_compile("lock_and_barrier", f"--triton={VERSION}")
    assert done.returncode == 0, done.stderr
    # What the kernel prints while it is compiled is no part of the output.
    assert "block of 128" in done.stderr and "block of" not in done.stdout
    make_cubin(done.stdout, tmp_path, monkeypatch)


@pytest.mark.parametrize("name, line, message", [
    ("odd_sizes", "c = tl.arange(0, 20)", "a tensor of shape [20] cannot be expressed in the TTIR of Triton 3.6"),
    ("with_ranks", "peer = dl.symm_at(x_ptr, 0)", "dl.symm_at cannot be expressed in the TTIR of Triton 3.6"),
])
def test_what_has_no_form_is_an_error_at_its_line(name, line, message):
    done = nereid_compile(name, "--triton=3.6")
    assert done.returncode == 1
    number = 1 + next(i for i, text in enumerate((HERE / "nereid_kernels.py").read_text().splitlines()) if line in text)
    assert f"nereid_kernels.py:{number}:" in done.stderr and message in done.stderr
    assert line in done.stderr and "^" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_flag_goes_with_ttir():
    done = subprocess.run([sys.executable, "-m", "nereid.cli", "compile", f"{HERE / 'nereid_kernels.py'}:softmax",
                           "--signature", SIGNATURES["softmax"], "--emit=asm", "--triton=3.6"],
                          capture_output=True, text=True)
    assert done.returncode != 0 and "--triton goes with --emit=ttir, not --emit=asm" in done.stderr
