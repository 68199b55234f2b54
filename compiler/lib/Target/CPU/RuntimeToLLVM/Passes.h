// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_TARGET_CPU_RUNTIMETOLLVM_PASSES_H
#define NEREID_TARGET_CPU_RUNTIMETOLLVM_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace nereid {
#define GEN_PASS_DECL
#include "Target/CPU/RuntimeToLLVM/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Target/CPU/RuntimeToLLVM/Passes.h.inc"

namespace cpu {
/// Names of the module attributes that nereid-cpu-lower-runtime sets.
inline constexpr llvm::StringLiteral sitesAttrName = "cpu.sites";
inline constexpr llvm::StringLiteral blockingAttrName = "cpu.blocking";
inline constexpr llvm::StringLiteral distributedAttrName = "cpu.distributed";
inline constexpr llvm::StringLiteral argumentsAttrName = "cpu.arguments";
inline constexpr llvm::StringLiteral symmetricArgumentsAttrName = "cpu.symmetric_arguments";
} // namespace cpu
} // namespace nereid

#endif // NEREID_TARGET_CPU_RUNTIMETOLLVM_PASSES_H
