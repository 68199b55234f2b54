// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CompilerModule.h - What nereid._compiler offers to Python -*- C++ -*-===//
//
// The extension module `nereid._compiler` links the compiler (and so LLVM). It
// is imported only when a kernel must be compiled; everything that a
// launch needs is in `nereid._runtime`.
//
// The Python side (python/nereid/_kernels/compile.py) relies on these names:
//
//   builtin_table() -> list of (module, name, params, is_method, doc)
//   constant_table() -> list of (module, name, value)
//   build_ttir(function, args, options) -> str
//       The TTIR text of a kernel before any pass.
//   compile(function, args, options) -> CompiledKernel
//       Front end and the CPU pipeline. Raises nereid.CompilationError with
//       the rendered diagnostics as its text.
//   CompiledKernel: .object (bytes of the kernel's object file, which
//       describes itself: abi/nereid/kernel.h), .ttir, .tiles, .llvm, .asm (str;
//       computed when asked for).
//   compile_ir(text, path, options) -> CompiledKernel
//       The same from IR text.
//   version_info() -> dict of str (LLVM version, host CPU name, features)
//
// `function` is a nereid JITFunction; the front end reads these attributes:
//
//   fn            the Python function (__globals__, __closure__, __code__)
//   ast           ast.FunctionDef whose line and column numbers are those of
//                 the file (lines from 1, columns from 0, UTF-8 bytes)
//   file          path of the file as diagnostics should show it
//   source_lines  list of the file's lines, without newlines
//   params        list of objects with .name, .is_constexpr, .default (or
//                 inspect.Parameter.empty), .annotation (a str or an object)
//   noinline      bool
//
// Names that a kernel uses are Python objects, found in the function's closure,
// its __globals__, then builtins. The front end recognises them so:
//
//   a jit function    isinstance(x, nereid._runtime.Dispatcher), attributes above
//   a builtin         x.__nereid_builtin__ == (module, name), a row of the table
//   a constant        x.__nereid_constant__ == (module, name): findConstant. The
//                     object is an int as well, with the constant's value
//   a dtype           x.__nereid_type__ is a str for frontend::Type::parse
//   a constexpr       isinstance(x, nereid.language.constexpr): x.value
//   the class itself  tl.constexpr is a builtin ("tl", "constexpr") as well
//   constexpr_function  x.__nereid_constexpr_function__ is the Python function
//                     to call with unwrapped compile-time values
//   modules           types.ModuleType; attributes resolve by getattr
//
// `args` has one entry for each parameter, in order:
//
//   ("constexpr", value)        folded: value is None, bool, int, float, str, a
//                               dtype, a jit function, a tuple of such
//   ("*fp16", 16)               run-time argument: the name of its type (see
//                               frontend::Type::parse) and what its value is
//                               known to be divisible by (16, or 0 = nothing),
//                               to become tt.divisibility
//   ("tuple", [entries], names) a tuple argument; run-time leaves take
//                               consecutive argument slots. names: list of str
//                               for a namedtuple, else None
//   ("tensordesc", [entries], block_shape, padding)
//                               a tensor descriptor: entries are its address, its
//                               sizes ("i32") and all strides but the last, which
//                               is 1 ("i64"); padding "zero" or "nan"
//
// Run-time arguments take the kernel's argument slots in the order of the
// parameters, depth first. `options` is a dict:
//
//   profile: str, debug: bool, unused_token: str, num_threads: int ...
//   (names that only other targets know are filtered out before)
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_PYTHON_COMPILERMODULE_H
#define NEREID_PYTHON_COMPILERMODULE_H

#include <nanobind/nanobind.h>

namespace nereid::python {

/// Adds constant_table.
void bindConstantTable(nanobind::module_ &m);
/// Adds what the front end offers: builtin_table, build_ttir.
void bindFrontend(nanobind::module_ &m);
/// Adds what the CPU target offers: compile, CompiledKernel, version_info.
void bindCompile(nanobind::module_ &m);

/// The class nereid.CompilationError (a RuntimeError), made by the module.
nanobind::handle compilationErrorType();
/// Raises CompilationError with `text` (rendered diagnostics).
[[noreturn]] void raiseCompilationError(const std::string &text);

} // namespace nereid::python

#endif // NEREID_PYTHON_COMPILERMODULE_H
