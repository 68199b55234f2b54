// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts about comparisons of integers.
#ifndef NEREID_ANALYSIS_COMPARISONS_H
#define NEREID_ANALYSIS_COMPARISONS_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace nereid {

/// The predicate of `b ? a` that says the same as `a predicate b`.
inline mlir::arith::CmpIPredicate swapped(mlir::arith::CmpIPredicate predicate) {
  using P = mlir::arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
  case P::ne:
    return predicate;
  case P::slt:
    return P::sgt;
  case P::sle:
    return P::sge;
  case P::sgt:
    return P::slt;
  case P::sge:
    return P::sle;
  case P::ult:
    return P::ugt;
  case P::ule:
    return P::uge;
  case P::ugt:
    return P::ult;
  case P::uge:
    return P::ule;
  }
  llvm_unreachable("unknown comparison");
}

} // namespace nereid

#endif // NEREID_ANALYSIS_COMPARISONS_H
