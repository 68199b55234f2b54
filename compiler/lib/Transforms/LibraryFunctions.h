// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of NVIDIA's device library (__nv_NAME) and the operations that
// compute the same: for reading and for writing TTIR.
#ifndef NEREID_LIB_TRANSFORMS_LIBRARYFUNCTIONS_H
#define NEREID_LIB_TRANSFORMS_LIBRARYFUNCTIONS_H

#include "mlir/IR/Builders.h"

namespace nereid {

/// Operations that compute the library function `symbol` on operands of any
/// shape; null when it is not known, or not for these types.
mlir::Value emitLibraryFunction(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef symbol,
                                mlir::ValueRange operands, mlir::Type result);

/// The library's name for what `op` computes on fp32 or fp64 ("__nv_tanf" for
/// math.tan on fp32), for operations that upstream does not take; empty: none.
std::string findLibraryFunction(mlir::Operation *op, bool isDouble);

} // namespace nereid

#endif // NEREID_LIB_TRANSFORMS_LIBRARYFUNCTIONS_H
