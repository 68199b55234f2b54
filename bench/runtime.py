# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Signals, barriers, transfers: the runtime beside bare C++ in the same processes.

    python bench/runtime.py [--ranks 2] [--only "round trip"] [--seconds 6]

Compiles the kernels of bench/runtime/kernels.py and starts the C++ benchmark with them,
which is built when CMake is configured with -DNEREID_BUILD_BENCH=ON. All other options
go to it.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

import harness

FOLDER = Path(__file__).with_name("runtime")
BINARY = Path("bench/runtime/nereid-bench-runtime")


def compile_kernels(folder: Path) -> None:
    spec = importlib.util.spec_from_file_location("runtime_kernels", FOLDER / "kernels.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for kernel, signature in module.KERNELS.items():
        name = kernel.__name__
        subprocess.run([sys.executable, "-m", "nereid", "compile", f"{FOLDER / 'kernels.py'}:{name}",
                        "--emit", "obj", "--signature", signature, "-o", str(folder / f"{name}.o")], check=True)


def binary(given: str | None) -> Path:
    if given:
        return Path(given)
    found = sorted(harness.ROOT.glob(f"build/*/{BINARY}"), key=lambda path: path.stat().st_mtime)
    if not found:
        sys.exit("runtime.py: the C++ benchmark is not built: cmake -DNEREID_BUILD_BENCH=ON, "
                 "ninja nereid-bench-runtime")
    return found[-1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", metavar="FILE", help="the built benchmark (default: the newest under build/)")
    args, rest = parser.parse_known_args()
    program = binary(args.binary)
    with tempfile.TemporaryDirectory() as folder:
        compile_kernels(Path(folder))
        return subprocess.run([str(program), "--kernels", folder, *rest]).returncode


if __name__ == "__main__":
    sys.exit(main())
