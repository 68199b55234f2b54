// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomic accesses to single elements, for scalar operations and for the loops
// that atomics on tiles become.
#ifndef NEREID_TARGET_CPU_ATOMICS_H
#define NEREID_TARGET_CPU_ATOMICS_H

#include "nereid/Dialect/Triton/IR/Triton.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace nereid::cpu {

/// relaxed -> monotonic, acquire, release, acq_rel.
mlir::LLVM::AtomicOrdering getAtomicOrdering(tt::MemSemantic semantic);

/// Read-modify-write of the element at `pointer` (!llvm.ptr, naturally
/// aligned) with `value`, an integer of 8 to 64 bits or fp16, bf16, fp32, fp64.
/// Returns the old value.
mlir::Value emitAtomicRMW(mlir::OpBuilder &builder, mlir::Location loc, tt::RMWOp kind,
                          mlir::Value pointer, mlir::Value value, tt::MemSemantic semantic);

/// Stores `value` if the element's bits equal those of `compare`; returns the
/// old value. Element types as above, and pointers.
mlir::Value emitAtomicCAS(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer,
                          mlir::Value compare, mlir::Value value, tt::MemSemantic semantic);

} // namespace nereid::cpu

#endif // NEREID_TARGET_CPU_ATOMICS_H
