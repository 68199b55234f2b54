# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels of tests/differential, CPU against GPU. The two halves may run on two machines:

    python -m tests.targets.gpu.random_kernels make FILE --seeds 0:100    # needs the compiler and triton, no GPU
    python -m tests.targets.gpu.random_kernels run FILE                   # needs a GPU, no compiler

`make` runs each kernel on the CPU and compiles it for the GPU; `run` launches it there with the same
arguments and compares by the bounds of the generator.
"""

from __future__ import annotations

import argparse
import collections
import os
import pickle
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from tests.differential.generate import generate
from tests.differential.harness import Worker, differences
from tests.differential.program import Program
from tests.differential.worker import fresh_arguments, load_source, outputs


#: `a / b` of two fp32 numbers is not rounded correctly on a GPU (tl.div_rn is), as everywhere in Triton.
DIVISION = 2.0**-22


def bound(argument: Any, want: np.ndarray) -> Any:
    if want.dtype.kind in "iub":
        return argument.tolerance
    return argument.tolerance + DIVISION * np.abs(np.nan_to_num(want.astype(np.float64), posinf=0.0, neginf=0.0))


def specs_of(program: Program, function: Any) -> list:
    types = {argument.name: (argument.signature, 16 if argument.is_pointer else 0) for argument in program.arguments}
    return [("constexpr", program.constants[parameter.name]) if parameter.is_constexpr else types[parameter.name]
            for parameter in function.params]


def make(file: Path, seeds: range, arch: str) -> int:
    os.environ.update(NEREID_CACHE="0")
    cpu = Worker("native")
    os.environ.update(NEREID_TARGET="cuda", NEREID_CUDA_ARCH=arch)
    from nereid import _compiler

    made, refused = [], collections.Counter()
    for seed in seeds:
        program = generate(seed)
        # The worker takes its target from the environment when it starts.
        target = os.environ.pop("NEREID_TARGET")
        status, expected = cpu.ask("nereid", program)
        os.environ["NEREID_TARGET"] = target
        if status != "ok":
            refused[f"on the CPU: {str(expected).splitlines()[0][:150]}"] += 1
            continue
        function = getattr(load_source(program.text("nereid")), program.kernel)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                code = _compiler.compile(function, specs_of(program, function), function._options({}), "").object
        except Exception as error:
            lines = [line for line in str(error).splitlines() if "error:" in line] or [str(error)]
            refused[lines[0].split("error:")[-1][:150]] += 1
            continue
        made.append((program, expected, code))
        print(f"seed {seed}: {len(code)} bytes", flush=True)
    cpu.close()
    file.write_bytes(pickle.dumps(made))
    print(f"{len(made)} kernels")
    for text, count in refused.most_common():
        print(f"  {count} not compiled: {text}")
    return 0


def run(file: Path) -> int:
    os.environ.update(NEREID_TARGET="cuda", NEREID_CACHE="0")
    from nereid._kernels import compile as compilation

    bad = collections.Counter()
    made = pickle.loads(file.read_bytes())
    for program, expected, code in made:
        function = getattr(load_source(program.text("nereid")), program.kernel)
        compilation._compile_or_load = lambda f, specs, options, constants, code=code: compilation.CompiledKernel(
            f, specs, options, code, from_cache=True)
        values = fresh_arguments(program)
        try:
            function[program.grid](*values, **program.constants)
        except Exception:
            bad["failed"] += 1
            print(f"seed {program.seed}: {traceback.format_exc(limit=-2)[:1500]}\n{program.source}", flush=True)
            continue
        arguments = [argument for argument in program.arguments if argument.output]
        for argument, want, got in zip(arguments, expected, outputs(program, values)):
            different = differences(want, got, bound(argument, want))
            if different.any():
                bad["different"] += 1
                place = int(np.flatnonzero(different)[0])
                print(f"seed {program.seed}: {argument.name} ({argument.dtype}, tolerance {argument.tolerance:.3g}): CPU and GPU differ in "
                      f"{int(different.sum())} elements, first [{place}]: {want[place]} and {got[place]}\n{program.source}", flush=True)
                break
    print(f"{len(made)} random kernels on the GPU: {bad['different']} differ from the CPU, {bad['failed']} failed", flush=True)
    return int(bool(bad))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=("make", "run"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--seeds", default="0:100", metavar="FIRST:LAST")
    parser.add_argument("--arch", default="sm_90")
    args = parser.parse_args()
    first, last = map(int, args.seeds.split(":"))
    return make(args.file, range(first, last), args.arch) if args.step == "make" else run(args.file)


if __name__ == "__main__":
    sys.exit(main())
