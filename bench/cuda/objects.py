# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels from objects that compile.py has made, on a machine that has no compiler.

`use(folder)` makes launches of this process take them. An object was compiled for arguments whose
pointers and sizes are multiples of 16: a launch with others is refused.
"""

from pathlib import Path

from configs import KERNELS, object_name


def use(folder: Path) -> None:
    from nereid._kernels import compile as compilation
    from nereid._kernels.signature import type_entry

    types = {name: {part.split("=")[0].strip(): part.split("=")[1].strip() for part in listed.split(",")}
             for _, name, listed, _, _ in KERNELS}

    def load(function, specs, options, constants):
        values = {p.name: spec[1] for p, spec in zip(function.params, specs) if spec[0] == "constexpr"}
        path = folder / object_name(function.__name__, values, options)
        if not path.exists():
            raise FileNotFoundError(f"{path.name} is not among the compiled kernels of {folder}")
        for parameter, spec in zip(function.params, specs):
            if spec[0] == "constexpr":
                continue
            compiled = type_entry(types[function.__name__][parameter.name])
            if spec[0] != compiled[0] or compiled[1] and not spec[1]:
                raise TypeError(f"{function.__name__}: {parameter.name} is {spec}, compiled for {compiled}")
        return compilation.CompiledKernel(function, specs, options, path.read_bytes(), from_cache=True)

    compilation._compile_or_load = load
