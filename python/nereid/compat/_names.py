# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which names of triton and triton_dist stand for what.

``modules()`` is a table from the names of modules to their contents; ``_finder`` makes modules of
it when a file imports them. There are four sorts of contents: what Nereid has under the same name;
functions written for this purpose (``_dist_utils``, ``_threads``, ``_orders``); stand-ins without an
effect, for settings and profilers of another compiler; and functions that refuse, and say what to
write instead, where being without effect would be a wrong result."""

from __future__ import annotations

import contextlib
import inspect
import types
from typing import Any

import nereid
import nereid.extension.buffer.language as buffer_language
import nereid.language as tl
from nereid import compiler, distributed, libshmem_device, runtime, testing
from nereid._launch import jit as _jit
from nereid._launch import tensors as _tensors
from nereid.language import extra
from nereid.compat import _dist_utils, _orders, _threads
from nereid.language import _types
from nereid.language.core import extern
from nereid.language._constexpr import _unwrap, constexpr, constexpr_function

#: The version of the language that files are told.
VERSION = "3.5.0"


def _public(module: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items() if not name.startswith("_")}


def must_use_result(value: Any, is_method: bool = True) -> Any:
    """Marks a function whose result must be used; here without effect."""
    if callable(value):
        return value
    return lambda function: function


@contextlib.contextmanager
def _profiler_scope(*_args: Any, **_kwargs: Any):
    yield


def _profiler(*_args: Any, **_kwargs: Any) -> int:
    """Start and end of the other compiler's profiler: nothing is recorded."""
    return 0


def libentry(**_options: Any) -> Any:
    """Decorator that other targets launch faster with; launches need no help here."""
    return lambda fn: fn


class _Knobs(types.SimpleNamespace):
    """Settings of the other compiler: they can be read and set, without effect."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = _Knobs()
        setattr(self, name, value)
        return value

    def __bool__(self) -> bool:
        return False

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        return None


def _linker() -> dict[str, Any]:
    """triton.tools.link: puts the C sources of compiled kernels together. Tools that do so can be
    imported; what they call is told what there is here."""

    def refuse(name: str) -> Any:
        def call(*_args: Any, **_kwargs: Any) -> Any:
            raise NotImplementedError(
                f"triton.tools.link.{name} writes C sources around another compiler's kernels; Nereid's for C++ are made "
                "by: nereid compile FILE.py:KERNEL --emit=obj --header=FILE.h")

        return call

    words = ("HeaderParser KernelLinkerMeta gen_signature_with_full_args make_algo_decls make_default_algo_kernel "
             "make_func_pointers make_get_num_algos_decl make_get_num_algos_def make_global_decl "
             "make_kernel_hints_dispatcher make_kernel_load_def make_kernel_meta_const_dispatcher")
    return {name: refuse(name) for name in words.split()}


class KernelInterface:
    """Base of what can be launched with ``kernel[grid](...)``."""

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)


@constexpr_function
def _log2(value: int) -> int:
    return value.bit_length() - 1


@constexpr_function
def _builtin(function: Any) -> Any:
    """Functions that make another compiler's IR: modules that have some can be
    imported, kernels that call one are told what to write."""

    def refuse(*_args: Any, **_kwargs: Any) -> Any:
        raise TypeError(
            f"'{function.__name__}' is a @builtin, which builds the IR of another compiler; Nereid has no such "
            "builder: write it in the language, as a @triton.jit function"
        )

    refuse.__name__, refuse.__qualname__, refuse.__doc__ = function.__name__, function.__qualname__, function.__doc__
    return constexpr_function(refuse)


def _is_power_of_two(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0


def _language() -> dict[str, dict[str, Any]]:
    """triton.language and its parts."""
    core = {
        **{name: value for name, value in _public(tl).items() if not inspect.ismodule(value)},
        "_unwrap_if_constexpr": _unwrap,
        "_constexpr_to_value": _unwrap,
        "constexpr_function": constexpr_function,
        "str_to_ty": _string_to_type,
        "get_int_dtype": _get_int_dtype,
        "CONSTEXPR_0": constexpr(0),
    }
    libdevice = _public(extra.libdevice)
    math = {**libdevice, **_public(tl.math)}
    cann = _public(extra.cann)
    extension = _public(extra.cann.extension)
    names = {
        "triton.language": {name: value for name, value in core.items() if not name.startswith("_")},
        "triton.language.core": {**core, "TRITON_MAX_TENSOR_NUMEL": core.get("TRITON_MAX_TENSOR_NUMEL", 1 << 20),
                                 "_aggregate": nereid.aggregate, "builtin": _builtin, "extern": extern},
        "triton.language.standard": {**core, "_log2": _log2, "_is_power_of_two": _is_power_of_two},
        "triton.language.math": math,
        "triton.language.random": core,
        "triton.language.extra": {},
        "triton.language.extra.libdevice": libdevice,
        "triton.language.extra.cann": {n: v for n, v in cann.items() if not inspect.ismodule(v)},
        "triton.language.extra.cann.libdevice": libdevice,
        "triton.language.extra.cann.extension": extension,
        "triton.language.extra.ascend": {},
        "triton.language.extra.ascend.libdevice": libdevice,
        "triton.language.extra.intel": {},
        "triton.language.extra.intel.libdevice": libdevice,
    }
    for vendor in ("cuda", "hip"):
        machine = {name: _threads.names()[name] for name in ("globaltimer", "num_threads", "num_warps", "smid")}
        names[f"triton.language.extra.{vendor}"] = machine
        names[f"triton.language.extra.{vendor}.utils"] = machine
        names[f"triton.language.extra.{vendor}.libdevice"] = libdevice
    if hasattr(tl, "target_info"):
        names["triton.language.target_info"] = _public(tl.target_info)
    return names


def _get_int_dtype(bitwidth: int, signed: bool) -> Any:
    return tl.int1 if bitwidth == 1 else getattr(tl, f"{'' if signed else 'u'}int{bitwidth}")


def _string_to_type(name: str, *_ignored: Any) -> Any:
    found = _types.BY_SIGNATURE.get(name.lstrip("*k"))
    if found is None:
        raise ValueError(f"there is no type '{name}'")
    return tl.pointer_type(found) if name.startswith("*") else found


def _peaks() -> dict[str, Any]:
    """Peak rates of GPUs, from which scripts guess how long a kernel takes to print it beside what they measure: here
    round numbers of one processor."""
    return {
        "get_max_simd_tflops": lambda dtype, clock_rate=None, device=None: 0.1,
        "get_max_tensorcore_tflops": lambda dtype, clock_rate=None, device=None: 0.1,
        "get_dram_gbps": lambda device=None: 10.0,
    }


def _runtime_names() -> dict[str, dict[str, Any]]:
    jit = {
        "JITFunction": _jit.JITFunction,
        "KernelInterface": KernelInterface,
        "MockTensor": _tensors.MockTensor,
        "TensorWrapper": _tensors.TensorWrapper,
        "jit": nereid.jit,
        "reinterpret": nereid.reinterpret,
        "constexpr_function": constexpr_function,
    }
    tuner = {
        name: getattr(runtime, name) for name in ("Autotuner", "Config", "Heuristics", "autotune", "heuristics")
    }
    errors = {
        **{name: getattr(runtime, name) for name in ("InterpreterError", "OutOfResources")},
        # Of the other compiler's assembler; nothing here raises it.
        "PTXASError": type("PTXASError", (nereid.NereidError,), {}),
    }
    cache = {"default_cache_dir": runtime.cache_folder}
    return {
        "triton.runtime": {**_public(runtime), **jit, **tuner, **errors},
        "triton.runtime.jit": jit,
        "triton.runtime.autotuner": {**tuner, **errors, "OutOfResources": runtime.OutOfResources},
        "triton.runtime.errors": errors,
        "triton.runtime.driver": {"driver": runtime.driver, "active": runtime.driver.active},
        "triton.runtime.cache": cache,
        "triton.runtime.libentry": {"libentry": libentry},
        "triton.runtime._allocation": {"set_allocator": runtime.set_allocator},
        "triton.knobs": {
            name: _Knobs()
            for name in ("runtime", "compilation", "autotuning", "cache", "language", "nvidia", "amd", "ascend", "proton")
        },
        "triton.profiler": {
            "scope": _profiler_scope,
            **{name: _profiler for name in ("start", "finalize", "activate", "deactivate", "enter_scope", "exit_scope")},
        },
        "triton.profiler.viewer": {},
        "triton.tools": {},
        "triton.tools.link": _linker(),
        "triton.tools.tensor_descriptor": {"TensorDescriptor": nereid.TensorDescriptor},
        "triton.backends": {"backends": {}},
        "triton.backends.compiler": {"GPUTarget": runtime.GPUTarget, "AttrsDescriptor": compiler.AttrsDescriptor},
        "triton.backends.driver": {},
        "triton.backends.ascend": {},
        "triton.backends.ascend.driver": {"NPUUtils": lambda: runtime.driver.active.utils},
        "triton.backends.ascend.testing": {"do_bench_npu": testing.do_bench_npu},
        "triton.backends.ascend.runtime": tuner,
        "triton.compiler": _public(compiler),
        "triton.compiler.compiler": {**_public(compiler), "triton_key": lambda: f"nereid-{nereid.__version__}"},
        "triton.compiler.errors": {
            "CompilationError": nereid.CompilationError,
            "CompileTimeAssertionFailure": nereid.CompilationError,
            "UnsupportedLanguageConstruct": nereid.CompilationError,
        },
        "triton.testing": {**_public(testing), **_peaks()},
    }


def _root() -> dict[str, Any]:
    names = (
        "CompilationError Config InterpreterError JITFunction OutOfResources autotune cdiv compile constexpr_function "
        "heuristics jit next_power_of_2 reinterpret set_allocator"
    )
    root = {name: getattr(nereid, name) for name in names.split()}
    if hasattr(nereid, "aggregate"):
        root["aggregate"] = nereid.aggregate
    return {
        **root,
        "__version__": VERSION,
        "KernelInterface": KernelInterface,
        "MockTensor": _tensors.MockTensor,
        "TensorWrapper": _tensors.TensorWrapper,
        "TritonError": nereid.NereidError,
        "must_use_result": must_use_result,
    }


class SharedMemoryDesc:
    """Type of what dl.allocate_smem gives on GPUs: modules can name it, and no value has it."""


#: Vendors, by the folder that triton_dist has for each, and their libraries for the device.
_VENDORS = {
    "cuda": ("libnvshmem_device",), "hip": ("librocshmem_device", "libmori_shmem_device"),
    "maca": ("libmxshmem_device",), "ascend": ("libaclshmem_device",),
}


def _distributed() -> dict[str, dict[str, Any]]:
    """triton_dist. Its submodules that are not here come from a source tree on the path."""
    dl = {**_public(distributed), "SharedMemoryDesc": SharedMemoryDesc, "SMEM_GENERIC_POINTER_ADDR_SPACE": constexpr(0)}
    shmem = {**_public(libshmem_device), "remote_mc_ptr": _threads.remote_mc_ptr}
    threads = _threads.names()
    names = {
        "triton_dist": {"jit": nereid.jit, "__version__": VERSION},
        "triton_dist.jit": {"jit": nereid.jit},
        "triton_dist.utils": _dist_utils.names(),
        "triton_dist.nv_utils": _dist_utils.link_speeds(),
        "triton_dist.language": {name: value for name, value in dl.items() if not inspect.ismodule(value)},
        **{f"triton_dist.language.{part}": dl for part in ("distributed_ops", "simt_ops", "smem_ops")},
        "triton_dist.language.extra": {},
        "triton_dist.language.extra.libshmem_device": shmem,
        "triton_dist.language.extra.language_extra": threads,
    }
    for vendor, libraries in _VENDORS.items():
        package = f"triton_dist.language.extra.{vendor}"
        names[package] = {}
        names[f"{package}.language_extra"] = threads
        names.update({f"{package}.{library}": shmem for library in libraries})
    names["triton_dist.language.extra.ascend.algorithm"] = {
        "dist_swizzle2d_Nz": _orders.dist_swizzle2d_Nz, "gemm_swizzle2d_Nz": _orders.gemm_swizzle2d_Nz
    }
    return names


def modules() -> dict[str, dict[str, Any]]:
    """Contents by module name, parents before their children."""
    extension = {
        "triton.extension": {},
        "triton.extension.buffer": {},
        "triton.extension.buffer.language": _public(buffer_language),
    }
    return {"triton": _root(), **_language(), **_runtime_names(), **extension, **_distributed()}
