// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the syntax tree of a kernel to a module of tt IR with one public tt.func.
#ifndef NEREID_FRONTEND_CODEGEN_H
#define NEREID_FRONTEND_CODEGEN_H

#include "nereid/Frontend/Environment.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>
#include <vector>

namespace nereid::frontend {

/// What is known of one argument of a kernel when it is compiled.
struct KernelArgument {
  /// A compile-time constant, which takes no argument slot. Launchers pass
  /// tl.constexpr parameters, None and integers equal to 1 so.
  std::optional<Value> constant;
  /// Or a run-time argument: name of its type ("*fp16", "i32"; Type::parse).
  std::string type;
  /// The number that the argument's value is known to be divisible by, for the
  /// attribute tt.divisibility; 0 says nothing.
  int divisibility = 0;
  /// Or a tuple; its run-time leaves take consecutive slots.
  std::optional<std::vector<KernelArgument>> items;
  std::vector<std::string> itemNames; // of a named tuple
  /// Or a tensor descriptor with blocks of this shape: `items` are its address,
  /// its sizes (i32) and all strides but the last, which is 1 (i64).
  std::optional<std::vector<int64_t>> blockShape;
  std::string padding; // "zero" or "nan"
};

struct KernelRequest {
  const FunctionDef *function = nullptr;
  std::vector<KernelArgument> arguments; // one for each parameter
  LanguageOptions language;
};

/// Compiles `request.function`: nested jit functions inlined, constants folded,
/// every operation with the user's source location, verified. Run-time arguments
/// become the arguments of the function in the order of the parameters, depth
/// first, each with its name as a NameLoc. The error is a DiagnosticError; warnings go
/// to `sink`. What `environment` throws beside CompileError passes through. The
/// dialects must be loaded in `context` (loadDialects).
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> buildModule(mlir::MLIRContext &context,
                                                              const KernelRequest &request,
                                                              Environment &environment,
                                                              DiagnosticSink &sink);

/// Loads the dialects that buildModule emits.
void loadDialects(mlir::MLIRContext &context);

} // namespace nereid::frontend

#endif // NEREID_FRONTEND_CODEGEN_H
