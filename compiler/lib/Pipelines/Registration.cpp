// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Pipelines/Registration.h"

#include "Target/CPU/FloatToLLVM/Passes.h"
#include "Target/CPU/IR/CPU.h"
#include "Target/CPU/RuntimeToLLVM/Passes.h"
#include "Target/CPU/TilesToLoops/Passes.h"
#include "nereid/Dialect/Ascend/IR/Ascend.h"
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Pipelines/CPU.h"
#include "nereid/Pipelines/TTIR.h"
#include "nereid/Transforms/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void nereid::registerAllDialects(DialectRegistry &registry) {
  registry.insert<tt::TritonDialect, distributed::DistributedDialect, ascend::AscendDialect,
                  cpu::CPUDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                  cf::ControlFlowDialect, func::FuncDialect, vector::VectorDialect,
                  LLVM::LLVMDialect, ub::UBDialect>();
  registerTTIRDialects(registry);
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  index::registerConvertIndexToLLVMInterface(registry);
  ub::registerConvertUBToLLVMInterface(registry);
  vector::registerConvertVectorToLLVMInterface(registry);
  func::registerInlinerExtension(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

void nereid::registerAllPasses() {
  registerTransformsPasses();
  registerConvertVectorToLLVMPass();
  registerConvertToLLVMPass();
  registerSCFToControlFlowPass();
  registerReconcileUnrealizedCastsPass();
  registerNereidTransformsPasses();
  registerNereidFloatToLLVMPasses();
  registerNereidRuntimeToLLVMPasses();
  registerNereidTilesToLoopsPasses();
  registerCPUPipelines();
  registerTTIRPipelines();
}
