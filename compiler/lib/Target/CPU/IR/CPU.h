// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `cpu` dialect: what tile loops on the CPU need of the running program.
#ifndef NEREID_TARGET_CPU_IR_CPU_H
#define NEREID_TARGET_CPU_IR_CPU_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Target/CPU/IR/CPUDialect.h.inc"

namespace nereid::cpu {

/// Module attribute (i64): bytes of scratch that each program needs.
inline constexpr llvm::StringLiteral scratchBytesAttrName = "cpu.scratch_bytes";

} // namespace nereid::cpu

#define GET_OP_CLASSES
#include "Target/CPU/IR/CPUOps.h.inc"

#endif // NEREID_TARGET_CPU_IR_CPU_H
