// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_LIB_TARGET_CPU_DEVICEBITS_H
#define NEREID_LIB_TARGET_CPU_DEVICEBITS_H

#include "mlir/IR/Builders.h"

namespace nereid::cpu {

/// The function `symbol` of NVIDIA's device library ("__nv_popc") on scalars or
/// vectors, for functions on integers and bits, tests and conversions; null when
/// it is none of them.
mlir::Value emitDeviceBits(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef symbol,
                           mlir::ValueRange operands, mlir::Type element);

} // namespace nereid::cpu

#endif // NEREID_LIB_TARGET_CPU_DEVICEBITS_H
