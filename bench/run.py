# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the benchmarks of one rank, each in a process of its own; ops.py and runtime.py start jobs of their own.

    python bench/run.py [--json-folder FOLDER]
"""

import argparse
import subprocess
import sys
from pathlib import Path

BENCHMARKS = ("matmul", "rows", "vector_add", "data_loops", "compile_time")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json-folder", type=Path, help="write NAME.json of each benchmark there")
    args = parser.parse_args()
    failed = []
    for name in BENCHMARKS:
        command = [sys.executable, str(Path(__file__).with_name(f"{name}.py"))]
        if args.json_folder:
            args.json_folder.mkdir(parents=True, exist_ok=True)
            command += ["--json", str(args.json_folder / f"{name}.json")]
        if subprocess.run(command).returncode:
            failed.append(name)
        print()
    if failed:
        print(f"run.py: failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
