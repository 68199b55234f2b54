// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The combining regions of reductions, scans and maps, on scalars or vectors.
#ifndef NEREID_LIB_CONVERSION_TILESTOLOOPS_COMBINE_H
#define NEREID_LIB_CONVERSION_TILESTOLOOPS_COMBINE_H

#include "Lowering.h"

namespace nereid::tiles {

/// How the elements of a reduction or scan are combined: by the operation's
/// region or, where that forms sums, products or the like of floats narrower
/// than fp32, by a copy of it that computes with fp32 in their place. Partial
/// results are then fp32 as well and are rounded once, at the end: the order in
/// which elements meet is free, so no rounding between is promised.
class Combiner {
public:
  explicit Combiner(mlir::Region &region);
  Combiner(const Combiner &) = delete;

  mlir::Region &getRegion() { return isWide ? wide : region; }

  /// Whether the result depends on the order, as roundings happen on the way.
  bool rounds() const { return isInexact; }

  /// The type of the partial results of operand `i`: that of the region's argument.
  mlir::Type getPartialType(unsigned i) { return getRegion().front().getArgument(i).getType(); }

private:
  mlir::Region &region;
  mlir::Region wide;
  bool isInexact = false, isWide = false;
};

/// Whether every operation of the region applies to vectors as to scalars.
bool isVectorisable(mlir::Region &region);

/// Copies of the region's operations on `arguments` (computed values; all
/// scalars, or all vectors of one length). Returns the terminator's operands.
llvm::SmallVector<mlir::Value> emitRegion(mlir::OpBuilder &builder, mlir::Region &region,
                                          llvm::ArrayRef<mlir::Value> arguments);

/// emitRegion with the left and then the right values.
llvm::SmallVector<mlir::Value> combine(mlir::OpBuilder &builder, mlir::Region &region,
                                       mlir::ValueRange left, mlir::ValueRange right);

/// The neutral element of a region that is one associative operation on its
/// two arguments, as a scalar attribute; null for any other region.
mlir::TypedAttr getNeutralElement(mlir::Region &region);

/// Combines the lanes of vectors to scalars.
llvm::SmallVector<mlir::Value> combineLanes(mlir::OpBuilder &builder, mlir::Location loc,
                                            mlir::Region &region, mlir::ValueRange vectors);

} // namespace nereid::tiles

#endif // NEREID_LIB_CONVERSION_TILESTOLOOPS_COMBINE_H
