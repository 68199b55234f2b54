// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_CONVERSION_FLOATTOLLVM_PASSES_H
#define NEREID_CONVERSION_FLOATTOLLVM_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace nereid {
#define GEN_PASS_DECL
#include "nereid/Conversion/FloatToLLVM/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "nereid/Conversion/FloatToLLVM/Passes.h.inc"
} // namespace nereid

#endif // NEREID_CONVERSION_FLOATTOLLVM_PASSES_H
