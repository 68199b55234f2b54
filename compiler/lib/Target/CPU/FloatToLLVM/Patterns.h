// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_TARGET_CPU_FLOATTOLLVM_PATTERNS_H
#define NEREID_TARGET_CPU_FLOATTOLLVM_PATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace nereid::cpu {

/// arith.extf and arith.truncf of bf16 and fp8, arith.truncf towards zero, and
/// arith.truncf of fp64 to 16 bits and less.
void populateNarrowFloatPatterns(mlir::RewritePatternSet &patterns);

/// Scales arguments of logarithms below `root` into the range of the expansion.
void prepareMathFunctions(mlir::Operation *root);

/// math operations on fp16 and fp32, where an expansion is accurate.
void populateMathFunctionPatterns(mlir::RewritePatternSet &patterns);

} // namespace nereid::cpu

#endif // NEREID_TARGET_CPU_FLOATTOLLVM_PATTERNS_H
