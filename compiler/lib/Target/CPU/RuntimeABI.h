// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler's mirror of abi/nereid/abi.h: where the fields of nrd_program
// lie, and calls of the nrd_* entry points. A unit test compares it with the
// header.
#ifndef NEREID_TARGET_CPU_RUNTIMEABI_H
#define NEREID_TARGET_CPU_RUNTIMEABI_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace nereid::cpu {

/// Byte offsets of the fields of nrd_program.
namespace program_offset {
inline constexpr int32_t pid = 0;
inline constexpr int32_t grid = 12;
inline constexpr int32_t rank = 24;
inline constexpr int32_t numRanks = 28;
inline constexpr int32_t subVecId = 32;
inline constexpr int32_t subVecNum = 36;
inline constexpr int32_t heapBase = 40;
inline constexpr int32_t heapBytes = 48;
inline constexpr int32_t scratch = 56;
inline constexpr int32_t waitStride = 64;
inline constexpr int32_t runtime = 72;
} // namespace program_offset

/// NRD_FIRST_YIELD.
inline constexpr uint32_t firstYield = 0x80000000u;

/// One entry point. `signature` is the result and then the parameters, one
/// letter each: v void, p pointer, i 32-bit integer, l 64-bit integer.
struct RuntimeFunction {
  const char *name;
  const char *signature;
  bool returns;
};

/// All entry points that generated code may call.
llvm::ArrayRef<RuntimeFunction> runtimeFunctions();

/// Loads a field of nrd_program that never changes while the program runs.
mlir::Value loadProgramField(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value program,
                             int32_t offset, mlir::Type type);

/// Calls entry point `name` (asserts that it exists and that the operand types
/// agree), declaring it in the module that holds the insertion point.
mlir::LLVM::CallOp callRuntime(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                               mlir::ValueRange operands);

/// Address of a zero-terminated constant string.
mlir::Value getStringConstant(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef text);

/// Room for `count` elements of `type` on the stack, allocated once in the
/// entry block of the function that holds the insertion point.
mlir::Value getStackSlot(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type,
                         int64_t count = 1);

} // namespace nereid::cpu

#endif // NEREID_TARGET_CPU_RUNTIMEABI_H
