# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Distributed tile kernels: compiled to native code, run on N ranks that share
a symmetric heap.

    import nereid
    import nereid.language as tl
    import nereid.distributed as dl

    @nereid.jit
    def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr): ...

    add_kernel[(nereid.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
"""

from nereid import _runtime
from nereid._base.errors import (
    ArgumentError, CompilationError, InterpreterError, JobError, LaunchError, NereidError, OutOfResources
)
from nereid._kernels.compile import CompiledKernel
from nereid._launch.jit import JITFunction, jit
from nereid._launch.autotune import Config, autotune, heuristics
from nereid._launch.tensors import reinterpret
from nereid._launch.aggregate import aggregate
from nereid._streams.stream import Event, Stream, current_stream, synchronize
from nereid._job.job import barrier, finalize, init, is_initialized, job_info, num_ranks, rank, recover, world_size
from nereid.language._constexpr import cdiv, constexpr, constexpr_function, next_power_of_2
from nereid import compiler, runtime, symm, testing
from nereid.compiler import compile
from nereid.runtime import set_allocator
from nereid.tensor_descriptor import TensorDescriptor

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "CompilationError",
    "CompiledKernel",
    "Config",
    "Event",
    "InterpreterError",
    "JITFunction",
    "JobError",
    "LaunchError",
    "NereidError",
    "OutOfResources",
    "Stream",
    "TensorDescriptor",
    "aggregate",
    "autotune",
    "barrier",
    "cdiv",
    "compile",
    "compiler",
    "constexpr",
    "constexpr_function",
    "current_stream",
    "finalize",
    "heuristics",
    "init",
    "is_initialized",
    "jit",
    "job_info",
    "next_power_of_2",
    "num_ranks",
    "rank",
    "recover",
    "reinterpret",
    "runtime",
    "set_allocator",
    "symm",
    "synchronize",
    "testing",
    "world_size",
]
