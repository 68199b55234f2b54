# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the kernels of configs.py to objects; needs no GPU.

    python bench/cuda/compile.py FOLDER [--arch sm_90] [--only WORD]

Objects that are there are kept when this build made them of the same source with the same options.
"""

import argparse
import importlib
import json
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
    from nereid._kernels.cache import compiler_build_id
    from nereid.compiler import ASTSource, compile
    from objects import RECORD, differences, record_of

    args.folder.mkdir(parents=True, exist_ok=True)
    index, count = map(int, args.part.split("/"))
    failed = 0
    for module, name, types, constants, options in KERNELS[index::count]:
        path = args.folder / object_name(name, constants, options)
        if args.only not in path.name:
            continue
        start = time.time()
        try:
            function = getattr(importlib.import_module(module), name)
            record, full = path.with_suffix(RECORD), record_of(module, function._options(options))
            known = json.loads(record.read_text()) if path.exists() and record.exists() else {}
            if known.get("compiler") == compiler_build_id() and known["arch"] == args.arch and not differences(known, full):
                continue
            listed = dict(part.strip().split("=") for part in types.split(","))
            kernel = compile(ASTSource(function, listed, constants), options=options)
            code = kernel.asm["obj"]
            record.unlink(missing_ok=True)  # an object without one is refused
            path.write_bytes(code)
            record.write_text(json.dumps({**full, "arch": args.arch, "compiler": compiler_build_id()}))
            print(f"{path.name}  {len(code)} bytes, {kernel.n_regs} registers, {kernel.n_spills} spills, "
                  f"{kernel.metadata.shared} bytes shared, {time.time() - start:.1f} s", flush=True)
        except Exception as error:
            failed += 1
            print(f"{path.name}: FAILED {type(error).__name__}: {str(error)[:1500]}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
