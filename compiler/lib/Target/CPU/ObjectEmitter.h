// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM dialect to machine code.
#ifndef NEREID_TARGET_CPU_OBJECTEMITTER_H
#define NEREID_TARGET_CPU_OBJECTEMITTER_H

#include "Target/CPU/TargetFeatures.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace nereid::cpu {

enum class EmitKind {
  LLVMIR,   ///< text of the optimised LLVM IR
  Assembly, ///< text
  Object    ///< bytes of a relocatable object file
};

struct EmitOptions {
  TargetFeatures target = TargetFeatures::host();
  /// Contract a * b + c to one rounding wherever the source has both.
  bool enableFPFusion = true;
};

/// Translates a module of the LLVM dialect, optimises it and emits code. Fails
/// after an error at the module. Safe to call from several threads with
/// modules of different contexts.
mlir::FailureOr<std::string> emitCode(mlir::ModuleOp module, const EmitOptions &options,
                                      EmitKind kind);

} // namespace nereid::cpu

#endif // NEREID_TARGET_CPU_OBJECTEMITTER_H
