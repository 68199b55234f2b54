// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/IR/CPU.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

#include "Target/CPU/IR/CPUDialect.cpp.inc"

#define GET_OP_CLASSES
#include "Target/CPU/IR/CPUOps.cpp.inc"

using namespace mlir;

void nereid::cpu::CPUDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "Target/CPU/IR/CPUOps.cpp.inc"
      >();
}

void nereid::cpu::ProgramOp::build(OpBuilder &builder, OperationState &state) {
  state.addTypes(LLVM::LLVMPointerType::get(builder.getContext()));
}

void nereid::cpu::ScratchOp::build(OpBuilder &builder, OperationState &state, int64_t offset) {
  build(builder, state, LLVM::LLVMPointerType::get(builder.getContext()),
        builder.getI64IntegerAttr(offset));
}
