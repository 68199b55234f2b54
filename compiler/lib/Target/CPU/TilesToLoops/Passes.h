// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles to loops over vectors, for CPUs.
#ifndef NEREID_TARGET_CPU_TILESTOLOOPS_PASSES_H
#define NEREID_TARGET_CPU_TILESTOLOOPS_PASSES_H

#include "Target/CPU/TargetFeatures.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace nereid {
#define GEN_PASS_DECL
#include "Target/CPU/TilesToLoops/Passes.h.inc"

/// Lowers all tiles of `module` for `target`. Errors are reported at the
/// operations' locations.
mlir::LogicalResult lowerTilesToLoops(mlir::ModuleOp module, const cpu::TargetFeatures &target);

/// The pass for a given target.
std::unique_ptr<mlir::Pass> createTilesToLoopsPass(const cpu::TargetFeatures &target);

#define GEN_PASS_REGISTRATION
#include "Target/CPU/TilesToLoops/Passes.h.inc"
} // namespace nereid

#endif // NEREID_TARGET_CPU_TILESTOLOOPS_PASSES_H
