// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FrontendBindings.h - From a jit function to IR --------------*- C++ -*-===//
#ifndef NEREID_PYTHON_FRONTENDBINDINGS_H
#define NEREID_PYTHON_FRONTENDBINDINGS_H

#include "CompilerModule.h"

#include "nereid/Support/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace nereid::python {

/// The front end on a jit function: `function`, `args` and `options` as
/// CompilerModule.h describes them. Loads the dialects it needs. Raises
/// nereid.CompilationError; warnings go to Python's `warnings`.
mlir::OwningOpRef<mlir::ModuleOp> buildModule(mlir::MLIRContext &context, nanobind::handle function,
                                              nanobind::handle args, nanobind::handle options);

/// Raises nereid.CompilationError for a diagnostic: str() is the rendered text;
/// attributes message, help, file, line, column, name (of the catalogue entry).
[[noreturn]] void raiseDiagnostic(const Diagnostic &diagnostic);

} // namespace nereid::python

#endif // NEREID_PYTHON_FRONTENDBINDINGS_H
