// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What instrumented kernels tell observers: calls of nrd_access and nrd_atomic_*.
#ifndef NEREID_TARGET_CPU_OBSERVED_H
#define NEREID_TARGET_CPU_OBSERVED_H

#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"

#include "mlir/IR/Builders.h"

namespace nereid::cpu {

/// An nrd_tile: addresses and masks are of type !llvm.ptr, strides i64 in bytes.
/// Null: does not apply. At most kTileDims dimensions.
struct ObservedTile {
  mlir::Value base, addresses, mask;
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<mlir::Value> strides, masks;
};
extern const unsigned kTileDims;

/// NRD_ACCESS_*, with the waits on whose tokens `access` does not depend.
int32_t accessKindOf(distributed::AccessOp access);
/// `how`: of accessKindOf.
void emitAccess(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value program, mlir::Value site,
                const ObservedTile &tile, int32_t how, unsigned elementBytes);

/// An atomic operation as observers hear of it.
struct ObservedAtomic {
  mlir::Value program, site;  ///< null: nobody is told
  int32_t op = 0;             ///< NRD_AMO_*
  int32_t sem = 0, scope = 0; ///< NRD_SEM_*, NRD_SCOPE_*
  mlir::Value pointer;        ///< !llvm.ptr
  mlir::Value value, compare; ///< compare may be null
};
/// NRD_AMO_* of `kind` on elements of `type`.
int32_t observedOp(tt::RMWOp kind, mlir::Type type);

/// Emits `operation` between the calls that tell of it.
mlir::Value emitObserved(mlir::OpBuilder &builder, mlir::Location loc, const ObservedAtomic &atomic,
                         llvm::function_ref<mlir::Value()> operation);
/// Tells of a read of the whole word, whose value was `atomic.value`.
void emitSeen(mlir::OpBuilder &builder, mlir::Location loc, const ObservedAtomic &atomic);

} // namespace nereid::cpu

#endif // NEREID_TARGET_CPU_OBSERVED_H
