// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of device math libraries by name: operations of the math dialect
// where there is one, calls of the runtime's functions otherwise.
#ifndef NEREID_TARGET_CPU_DEVICEMATH_H
#define NEREID_TARGET_CPU_DEVICEMATH_H

#include "mlir/IR/Builders.h"

namespace nereid::cpu {

/// The value of `symbol` (a name such as "__nv_erfinvf" or "erfinv") on operands
/// that are all scalars or all vectors of one length, with elements of type
/// `element`. fp16 and bf16 are computed in fp32. Null when there is no such
/// function of these types.
mlir::Value emitDeviceMath(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef symbol,
                           mlir::ValueRange operands, mlir::Type element);

} // namespace nereid::cpu

#endif // NEREID_TARGET_CPU_DEVICEMATH_H
