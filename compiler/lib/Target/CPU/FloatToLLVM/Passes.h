// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_TARGET_CPU_FLOATTOLLVM_PASSES_H
#define NEREID_TARGET_CPU_FLOATTOLLVM_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace nereid {
#define GEN_PASS_DECL
#include "Target/CPU/FloatToLLVM/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Target/CPU/FloatToLLVM/Passes.h.inc"
} // namespace nereid

#endif // NEREID_TARGET_CPU_FLOATTOLLVM_PASSES_H
