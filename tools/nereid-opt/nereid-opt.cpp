// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nereid-opt: reads IR, runs passes and pipelines by name, prints IR.
#include "nereid/Dialect/Ascend/IR/Ascend.h"
#include "nereid/Dialect/CPU/IR/CPU.h"
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<nereid::tt::TritonDialect, nereid::distributed::DistributedDialect, nereid::ascend::AscendDialect,
                  nereid::cpu::CPUDialect,
                  mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                  mlir::cf::ControlFlowDialect, mlir::func::FuncDialect, mlir::vector::VectorDialect,
                  mlir::LLVM::LLVMDialect, mlir::ub::UBDialect>();
  mlir::registerTransformsPasses();
  nereid::registerNereidTransformsPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Nereid optimizer driver\n", registry));
}
