// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `ascend` dialect: the execution model of Ascend AI cores.
#ifndef NEREID_DIALECT_ASCEND_IR_ASCEND_H
#define NEREID_DIALECT_ASCEND_IR_ASCEND_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "nereid/Dialect/Ascend/IR/AscendDialect.h.inc"

#define GET_OP_CLASSES
#include "nereid/Dialect/Ascend/IR/AscendOps.h.inc"

#endif // NEREID_DIALECT_ASCEND_IR_ASCEND_H
