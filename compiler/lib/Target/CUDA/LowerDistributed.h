// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between the files of nereid-lower-distributed-to-tt.
#ifndef NEREID_TARGET_CUDA_LOWERDISTRIBUTED_H
#define NEREID_TARGET_CUDA_LOWERDISTRIBUTED_H

#include "Target/CUDA/DeviceCode.h"
#include "nereid/Dialect/Distributed/IR/Distributed.h"

namespace nereid::cuda {

/// Bits of a signal (32 or 64), or an error: the GPU's waits know no others.
mlir::FailureOr<unsigned> signalBits(mlir::Operation *op, mlir::Value pointer);

/// Emits the call's code before it. Its result, if it has any, stands in `result`.
/// Failure: an error at the call.
mlir::LogicalResult lowerLibraryCall(DeviceCode &code, distributed::ExternCallOp call,
                                     mlir::Value &result);

} // namespace nereid::cuda

#endif // NEREID_TARGET_CUDA_LOWERDISTRIBUTED_H
