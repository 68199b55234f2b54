// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Target-independent passes on tt IR.
#ifndef NEREID_TRANSFORMS_PASSES_H
#define NEREID_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace nereid {
#define GEN_PASS_DECL
#include "nereid/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "nereid/Transforms/Passes.h.inc"

/// On the tt.assert operations of nereid-check-loops: not the user's.
inline constexpr llvm::StringLiteral rangeCheckAttrName = "nereid.range_check";

/// Registers the dialects from which upstream's TTIR takes single operations
/// (gpu, ttg); `nereid-import-ttir` and `nereid-export-ttir` need them.
void registerTTIRDialects(mlir::DialectRegistry &registry);
} // namespace nereid

#endif // NEREID_TRANSFORMS_PASSES_H
