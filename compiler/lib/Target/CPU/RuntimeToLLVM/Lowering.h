// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State shared by the files of nereid-cpu-lower-runtime.
//
// Every operation is replaced by hand in one walk. While that goes on,
// pointers keep their tt types, which say what they point to: operands and
// results pass through casts between !tt.ptr and !llvm.ptr. In the end all
// values of type !tt.ptr are retyped and the casts vanish.
#ifndef NEREID_TARGET_CPU_RUNTIMETOLLVM_LOWERING_H
#define NEREID_TARGET_CPU_RUNTIMETOLLVM_LOWERING_H

#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Target/Sites.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace nereid::cpu {

class Lowering {
public:
  explicit Lowering(mlir::MLIRContext *context)
      : builder(context), pointerType(mlir::LLVM::LLVMPointerType::get(context)) {}

  mlir::OpBuilder builder;
  mlir::Type pointerType;
  SiteTable sites;
  bool blocking = false;    ///< a call may wait for another program
  bool distributed = false; ///< uses ranks, signals or symmetric memory

  /// Starts on `op`: new operations go before it and have its location.
  void begin(mlir::Operation *op) {
    current = op;
    builder.setInsertionPoint(op);
  }
  mlir::Location loc() const { return current->getLoc(); }

  /// The kernel's nrd_program.
  mlir::Value program() const;
  /// Number of the current operation's location, an i32 constant.
  mlir::Value site();
  mlir::Value constant(int64_t value, unsigned bits);

  /// `value` as the LLVM type of the same bits: !tt.ptr becomes !llvm.ptr.
  mlir::Value toLLVM(mlir::Value value);
  /// The other way round, to `type`.
  mlir::Value fromLLVM(mlir::Value value, mlir::Type type);
  /// An integer of `bits` bits: sign- or zero-extended or truncated.
  mlir::Value toInteger(mlir::Value value, unsigned bits, bool isSigned = true);
  /// Bits of an integer, float or pointer, zero-extended to i64.
  mlir::Value toBits64(mlir::Value value);
  /// Inverse of toBits64.
  mlir::Value fromBits64(mlir::Value bits, mlir::Type type);

  /// Element type in memory: i8 for i1 and fp8, !llvm.ptr for pointers.
  mlir::Type getMemoryType(mlir::Type element);
  mlir::Value toMemory(mlir::Value value);
  mlir::Value fromMemory(mlir::Value value, mlir::Type element);

  /// Replaces the current operation.
  void replace(mlir::ValueRange results);

private:
  mlir::Operation *current = nullptr;
};

/// Bytes of one element of `type`.
unsigned getElementBytes(mlir::Type type);

/// Each lowers the operation if it belongs to it: success, or failure after an
/// error at the operation, or nothing when the operation is not its own.
std::optional<mlir::LogicalResult> lowerScalarOp(Lowering &lowering, mlir::Operation *op);
std::optional<mlir::LogicalResult> lowerDistributedOp(Lowering &lowering, mlir::Operation *op);
mlir::LogicalResult lowerExternCall(Lowering &lowering, distributed::ExternCallOp op);

/// Converts a function's signature and moves its body to an llvm.func.
mlir::FailureOr<mlir::LLVM::LLVMFuncOp> lowerFunction(Lowering &lowering, tt::FuncOp function);

} // namespace nereid::cpu

#endif // NEREID_TARGET_CPU_RUNTIMETOLLVM_LOWERING_H
