// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AstImport.h - CPython's ast to the compiler's --------------*- C++ -*-===//
#ifndef NEREID_PYTHON_ASTIMPORT_H
#define NEREID_PYTHON_ASTIMPORT_H

#include "nereid/Frontend/AST.h"

#include <nanobind/nanobind.h>

#include <memory>

namespace nereid::python {

/// Builds the compiler's tree from an ast.FunctionDef whose line and column
/// numbers are those of `file`. Parameters get their names and annotations;
/// their defaults are the caller's to fill in. Syntax outside the language
/// becomes Unsupported nodes; parameters that no kernel can have throw
/// CompileError.
std::unique_ptr<frontend::FunctionDef> importFunction(nanobind::handle function,
                                                      std::shared_ptr<const SourceFile> file);

/// A Python int as a compile-time integer; nullopt when it needs more than 128
/// bits.
std::optional<frontend::Int> importInt(nanobind::handle integer);
/// A compile-time integer as a Python int.
nanobind::object exportInt(frontend::Int integer);

} // namespace nereid::python

#endif // NEREID_PYTHON_ASTIMPORT_H
