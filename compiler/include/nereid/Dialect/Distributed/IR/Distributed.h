// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `distributed` dialect: ranks, symmetric memory, signals.
#ifndef NEREID_DIALECT_DISTRIBUTED_IR_DISTRIBUTED_H
#define NEREID_DIALECT_DISTRIBUTED_IR_DISTRIBUTED_H

#include "nereid/Dialect/Distributed/LibraryFunctions.h"
#include "nereid/Dialect/Triton/IR/Triton.h"

#include "nereid/Dialect/Distributed/IR/DistributedDialect.h.inc"
#include "nereid/Dialect/Distributed/IR/DistributedEnums.h.inc"

#define GET_OP_CLASSES
#include "nereid/Dialect/Distributed/IR/DistributedOps.h.inc"

#endif // NEREID_DIALECT_DISTRIBUTED_IR_DISTRIBUTED_H
