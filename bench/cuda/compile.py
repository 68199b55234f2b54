# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the kernels of configs.py to objects; needs no GPU.

    python bench/cuda/compile.py FOLDER [--arch sm_90] [--only WORD]

Objects that are there are kept: a folder is for one version of the tree.
"""

import argparse
import importlib
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "examples")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--only", default="")
    parser.add_argument("--part", default="0/1", metavar="I/N", help="every Nth kernel, from the Ith on")
    args = parser.parse_args()
    os.environ.update(NEREID_TARGET="cuda", NEREID_CUDA_ARCH=args.arch, NEREID_CACHE="0", NEREID_PROFILE="host")  # as run.sh launches

    from configs import KERNELS, object_name
    from nereid.compiler import ASTSource, compile

    args.folder.mkdir(parents=True, exist_ok=True)
    index, count = map(int, args.part.split("/"))
    failed = 0
    for module, name, types, constants, options in KERNELS[index::count]:
        path = args.folder / object_name(name, constants, options)
        if path.exists() or args.only not in path.name:
            continue
        start = time.time()
        try:
            function = getattr(importlib.import_module(module), name)
            listed = dict(part.strip().split("=") for part in types.split(","))
            kernel = compile(ASTSource(function, listed, constants), options=options)
            code = kernel.asm["obj"]
            path.write_bytes(code)
            print(f"{path.name}  {len(code)} bytes, {kernel.n_regs} registers, {kernel.n_spills} spills, "
                  f"{kernel.metadata.shared} bytes shared, {time.time() - start:.1f} s", flush=True)
        except Exception as error:
            failed += 1
            print(f"{path.name}: FAILED {type(error).__name__}: {str(error)[:1500]}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
