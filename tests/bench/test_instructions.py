# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many instructions kernels take, as compiled for AVX2. Counts, unlike times, are the same on
every machine and on a busy one: a change that makes the code of a kernel dearer fails here. Where it
must be, the limit is raised with it; where it became cheaper, lowered. bench/count runs the programs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OWN = Path(__file__).with_name("counted.py")
#: Rows of nereid bench.
ROWS = ROOT / "bench" / "cases" / "elementwise.py"

#: File, signature, grid, arguments, and how many instructions all programs together may take.
KERNELS = {
    "add_kernel": (ROWS, "x=*fp32:16, y=*fp32:16, out=*fp32:16, n=i32, BLOCK=2048", (3, 1), ["fp32:5000"] * 3 + ["5000"], 4100),
    "strided_kernel": (ROWS, "x=*fp32:16, out=*fp32:16, n=i32, BLOCK=2048", (2, 1), ["fp32:6000", "fp32:3000", "3000"], 2900),
    "softmax_kernel": (ROWS, "x=*fp32:16, out=*fp32:16, n=i32, BLOCK=1024", (4, 1), ["fp32:4000", "fp32:4000", "1000"], 23700),
    "layer_norm_kernel": (ROWS, "x=*fp32:16, w=*fp32:16, b=*fp32:16, out=*fp32:16, n=i32, BLOCK=1024", (4, 1),
                   ["fp32:4000", "fp32:1000", "fp32:1000", "fp32:4000", "1000"], 8600),
    "row_cumsum_kernel": (ROWS, "x=*fp32:16, out=*fp32:16, n=i32, BLOCK=1024", (4, 1), ["fp32:4000", "fp32:4000", "1000"], 14900),
    "product": (OWN, "a=*fp32:16, b=*fp32:16, c=*fp32:16, M=i32, N=i32, K=i32, BLOCK_M=32, BLOCK_N=64, BLOCK_K=32", (2, 2),
                ["fp32:3000"] * 3 + ["40", "72", "40"], 113000),
    "attention": (OWN, "q=*fp32:16, k=*fp32:16, v=*fp32:16, out=*fp32:16, n=i32, HEAD=16, BLOCK=16", (3, 1), ["fp32:768"] * 4 + ["48"], 64500),
}


def counter() -> Path:
    found = sorted((ROOT / "build").glob("*/bench/count/nereid-bench-count"), key=lambda path: path.stat().st_mtime)
    if not found:
        pytest.skip("nereid-bench-count is not built: a build with tests has it")
    return found[-1]


@pytest.mark.parametrize("name", KERNELS)
def test_instructions(name, tmp_path):
    file, signature, grid, arguments, limit = KERNELS[name]
    program, code = counter(), tmp_path / "kernel.o"
    subprocess.run([sys.executable, "-m", "nereid", "compile", f"{file}:{name}", "--emit=obj", "--signature", signature, "-o", code],
                   check=True, timeout=120, env={**os.environ, "NEREID_CPU": "x86-64-v3", "PYTHONPATH": str(ROOT / "bench")})
    done = subprocess.run([program, code, *map(str, grid), *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    count = int(done.stdout)
    print(f"{name}: {count} instructions, {limit} are allowed")
    assert 0 < count <= limit, f"{name}: {count} instructions, {limit} are allowed"
