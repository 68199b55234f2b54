// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `tt` dialect: types, enums and operations of tile programs.
#ifndef NEREID_DIALECT_TRITON_IR_TRITON_H
#define NEREID_DIALECT_TRITON_IR_TRITON_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "nereid/Dialect/Triton/IR/TritonDialect.h.inc"
#include "nereid/Dialect/Triton/IR/TritonEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "nereid/Dialect/Triton/IR/TritonAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "nereid/Dialect/Triton/IR/TritonTypes.h.inc"

namespace nereid::tt {

/// What a load through `type` yields: the pointee of a pointer, a tensor of
/// pointees for a tensor of pointers, the tile type for a block pointer.
mlir::Type getPointeeType(mlir::Type type);

/// `type` with its element type replaced: the scalar itself or a tensor of the
/// same shape.
mlir::Type getTypeLike(mlir::Type type, mlir::Type element);

/// i1, or a tensor of i1 of `type`'s shape.
mlir::Type getI1Like(mlir::Type type);

/// True for !tt.ptr and tensors of it (not for block pointers' tiles).
bool isPointerLike(mlir::Type type);

/// Bits of a scalar element; pointers count 64.
unsigned getElementBits(mlir::Type element);

} // namespace nereid::tt

#define GET_OP_CLASSES
#include "nereid/Dialect/Triton/IR/TritonOps.h.inc"

#endif // NEREID_DIALECT_TRITON_IR_TRITON_H
