# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime's words for NVIDIA's driver are those of cuda.h."""

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUNTIME = ROOT / "runtime"


def cuda_include():
    spec = importlib.util.find_spec("triton")
    if spec is None:
        return None
    folder = Path(spec.origin).parent / "backends" / "nvidia" / "include"
    return folder if (folder / "cuda.h").exists() else None


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a compiler")
def test_types_and_functions_are_those_of_cuda_h(tmp_path):
    include = cuda_include()
    if include is None:
        pytest.skip("no cuda.h here; the package triton has one")
    checks = []
    for symbol, parameters in re.findall(
        r'NEREID_CUDA_FUNCTION\(\w+, "(\w+)", (\(.*\))\)', (RUNTIME / "device/cuda/Driver.def").read_text(encoding="utf-8")
    ):
        # cuda.h gives the newest version the name without one.
        checks.append(f"CHECK({symbol}, {symbol.removesuffix('_v2')}, {parameters})")
    assert len(checks) > 40
    source = (ROOT / "tests/targets/cuda_driver_types.cpp").read_text(encoding="utf-8") + "\n".join(checks) + "\n"
    # No version of a function but the one that the table names.
    for symbol in re.findall(r'"(cu\w+?)_v2"', (RUNTIME / "device/cuda/Driver.def").read_text(encoding="utf-8")):
        source += f'\nstatic_assert(__builtin_strcmp(TEXT({symbol}), "{symbol}_v2") == 0);'
    source = "#define TEXT_OF(X) #X\n#define TEXT(X) TEXT_OF(X)\n" + source
    (tmp_path / "check.cpp").write_text(source)
    done = subprocess.run(["g++", "-std=c++20", "-fsyntax-only", f"-I{include}", f"-I{RUNTIME}", "check.cpp"],
                          cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
