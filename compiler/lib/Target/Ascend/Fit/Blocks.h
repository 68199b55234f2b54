// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the vendor's lowering can tell of blocks of addresses and masks, and which
// blocks become data in on-chip memory.
#ifndef NEREID_TARGET_ASCEND_FIT_BLOCKS_H
#define NEREID_TARGET_ASCEND_FIT_BLOCKS_H

#include "nereid/Analysis/TileStrides.h"
#include "nereid/Dialect/Triton/IR/Triton.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

#include <string>

namespace nereid::fit {

enum class MaskKind {
  Range,   ///< all lanes, none, or those from one number to another in each dimension
  Carried, ///< handed from round to round of a loop
  Lanes,   ///< any lanes
};

/// Memoised queries; valid as long as the IR does not change.
class Blocks {
public:
  /// Null: no mask.
  MaskKind maskOf(mlir::Value mask);
  /// "" when the addresses progress evenly along the dimension in a way that the
  /// lowering sees, else why not.
  std::string whyDiscrete(mlir::Value pointer, unsigned dim);

  TileStrides strides;

private:
  bool isUniform(mlir::Value value);
  bool isRangeComparison(mlir::Operation *compare);
};

/// The blocks that are data: what is loaded, computed, stored. Offsets and masks that are
/// folded into transfers are none.
llvm::DenseSet<mlir::Value> dataBlocks(mlir::ModuleOp module);

/// Bytes of a block in on-chip memory; 0 for scalars and pointers.
int64_t blockBytes(mlir::Type type);

} // namespace nereid::fit

#endif // NEREID_TARGET_ASCEND_FIT_BLOCKS_H
