// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `ttg` dialect: the one operation of upstream's GPU dialect found in TTIR.
#ifndef NEREID_DIALECT_TRITONGPU_IR_TRITONGPU_H
#define NEREID_DIALECT_TRITONGPU_IR_TRITONGPU_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "nereid/Dialect/TritonGPU/IR/TritonGPUDialect.h.inc"

#define GET_OP_CLASSES
#include "nereid/Dialect/TritonGPU/IR/TritonGPUOps.h.inc"

#endif // NEREID_DIALECT_TRITONGPU_IR_TRITONGPU_H
