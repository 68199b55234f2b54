// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Dialect/Ascend/IR/Ascend.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

#include "nereid/Dialect/Ascend/IR/AscendDialect.cpp.inc"

#define GET_OP_CLASSES
#include "nereid/Dialect/Ascend/IR/AscendOps.cpp.inc"

void nereid::ascend::AscendDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "nereid/Dialect/Ascend/IR/AscendOps.cpp.inc"
      >();
}
