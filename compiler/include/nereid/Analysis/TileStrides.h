// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the elements of an integer or pointer tile change along a dimension.
//
// An access is fast when its addresses are known to progress evenly along the
// dimension that becomes the vector dimension. This analysis answers that one
// question, per dimension and without symbolic arithmetic: the address of a
// row's first element is computed by executing the tile's own operations on
// scalars, so remainders, divisions and loaded indices in the other dimensions
// do no harm.
//
//     ptr + (offs_m % M)[:, None] * stride_m + offs_k[None, :]
//
//     dimension 0: unknown      dimension 1: constant 1
//
// Assumption (Triton's own): signed integer arithmetic on indices does not
// overflow between the elements of one row. Zero extension is looked through
// only when the value is known not to be negative.
#ifndef NEREID_ANALYSIS_TILESTRIDES_H
#define NEREID_ANALYSIS_TILESTRIDES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <utility>

namespace nereid {

/// Difference between neighbours along a dimension, in the unit of the element
/// type: 1 for integers, one pointee for pointers.
struct TileStride {
  enum Kind {
    Unknown,  ///< anything
    Linear,   ///< the same for all neighbours of a row, known at run time only
    Constant, ///< `value`
  };
  Kind kind = Unknown;
  int64_t value = 0;

  static TileStride unknown() { return {}; }
  static TileStride linear() { return {Linear, 0}; }
  static TileStride constant(int64_t value) { return {Constant, value}; }
  bool isConstant() const { return kind == Constant; }
  bool isConstant(int64_t v) const { return kind == Constant && value == v; }
  /// All elements along the dimension are equal.
  bool isUniform() const { return isConstant(0); }
  bool operator==(const TileStride &other) const {
    return kind == other.kind && value == other.value;
  }
};

/// Memoised queries; valid as long as the IR does not change.
class TileStrides {
public:
  /// `unwrapped`: no remainder along a dimension begins anew, which somebody else
  /// has to make sure of.
  explicit TileStrides(bool unwrapped = false) : unwrapped(unwrapped) {}

  /// Stride of the tensor `value` along `dim`. Elements of a non-numeric or
  /// opaque tensor are uniform or unknown.
  TileStride get(mlir::Value value, unsigned dim);

  /// No element of `value` (an integer or a tensor of integers) is negative
  /// when read as signed.
  bool isNonNegative(mlir::Value value);

  /// The constant that all elements of `value` equal.
  static std::optional<int64_t> getConstant(mlir::Value value);

private:
  TileStride compute(mlir::Value value, unsigned dim);
  bool computeNonNegative(mlir::Value value);

  bool unwrapped;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, TileStride> strides;
  llvm::DenseMap<mlir::Value, bool> nonNegative;
};

} // namespace nereid

#endif // NEREID_ANALYSIS_TILESTRIDES_H
