// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Pipelines/Common.h"
#include "nereid/Support/AttributeNames.h"

#include "nereid/Dialect/Ascend/IR/Ascend.h"
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

std::string nereid::signatureName(Type type) {
  if (auto pointer = dyn_cast<tt::PointerType>(type))
    return "*" + signatureName(pointer.getPointeeType());
  if (isa<Float8E4M3FNType>(type))
    return "fp8e4nv";
  if (isa<Float8E5M2Type>(type))
    return "fp8e5";
  if (isa<Float8E4M3FNUZType>(type))
    return "fp8e4b8";
  if (isa<Float8E5M2FNUZType>(type))
    return "fp8e5b16";
  if (type.isBF16())
    return "bf16";
  if (isa<FloatType>(type))
    return "fp" + std::to_string(type.getIntOrFloatBitWidth());
  return "i" + std::to_string(type.getIntOrFloatBitWidth());
}

void nereid::buildCheckPhase(OpPassManager &pm, const CheckChoices &choices) {
  // No inline assembly is left.
  if (choices.readPTX)
    pm.addPass(createNereidReadPTX());
  // Waits have numbers, as long as all is there that is computed from their tokens.
  if (choices.instrument)
    pm.addPass(createNereidNumberWaits());
  // Every wait orders something, or is a barrier by itself.
  NereidCheckTokensOptions tokens;
  tokens.unusedToken = choices.unusedToken;
  tokens.pin = true;
  pm.addPass(createNereidCheckTokens(tokens));
  // Loops that wait for other programs yield to them; nereid.blocking says
  // whether the kernel can block.
  pm.addPass(createNereidMarkSpinLoops());
  // Arguments that must be symmetric carry nereid.symmetric.
  pm.addPass(createNereidInferSymmetricArgs());
  // ascend.launch_mode says whether the kernel runs vector-only or mixed.
  NereidInferLaunchModeOptions mode;
  mode.lanes = choices.vectorCores;
  pm.addPass(createNereidInferLaunchMode(mode));
  // Loops that would not end stop their program.
  pm.addPass(createNereidCheckLoops());
}

Operation *nereid::verifyCheckPhase(ModuleOp module) {
  bool holds = module->hasAttr(attr::blocking) && module->hasAttr(attr::launchMode);
  return holds ? nullptr : module.getOperation();
}

void nereid::buildSimplifyPhase(OpPassManager &pm, const SimplifyChoices &choices) {
  // Block-scaled products are products of fp32 tiles.
  if (choices.decomposeScaledDots)
    pm.addPass(createNereidDecomposeScaledDots());
  // One function without calls, except of functions marked noinline.
  pm.addPass(createInlinerPass());
  // No function that nobody calls.
  pm.addPass(createSymbolDCEPass());
  // Constants are folded, equal values merged, dead code is gone.
  pm.addPass(createNereidCanonicalize());
  pm.addPass(createCSEPass());
  // Block pointers and descriptors are gone: bases, sizes and offsets instead.
  if (choices.rewriteBlockPointers) {
    pm.addPass(createNereidRewriteBlockPointers());
    pm.addPass(createNereidCanonicalize());
    pm.addPass(createCSEPass());
  }
  // Loops carry no tiles of addresses that move as a whole, and sums of products
  // are products with an accumulator.
  pm.addPass(createNereidStructureLoopPointers());
  pm.addPass(createNereidFoldDotAccumulator());
  pm.addPass(createNereidCanonicalize());
  pm.addPass(createCSEPass());
  // What does not change in a loop stands before it. Waits and loads stay:
  // they read memory.
  pm.addPass(createLoopInvariantCodeMotionPass());
  // Loops that only look at a signal are waits.
  if (choices.findWaits)
    pm.addPass(createNereidFindWaits());
  // Each load says which waits it depends on.
  if (choices.instrument)
    pm.addPass(createNereidTieLoads());
  // No wait is removed or passed by an access any more; tokens are gone.
  pm.addPass(createNereidPinWaits());
  // What does not depend on the vector core happens once per program;
  // ascend.lanes says how many of them run it.
  if (choices.vectorCores != 0) {
    NereidSplitVectorCoresOptions cores;
    cores.lanes = choices.vectorCores;
    pm.addPass(createNereidSplitVectorCores(cores));
  }
  // What depends on the thread is done in loops over the threads; the program meets
  // at no barrier of threads.
  if (choices.threadLoops)
    pm.addPass(createNereidThreadLoops());
  // Every load and store is told of before it happens.
  if (choices.instrument)
    pm.addPass(createNereidInstrumentAccesses());
}

Operation *nereid::verifySimplifyPhase(ModuleOp module, const SimplifyChoices &choices) {
  Operation *bad = nullptr;
  module.walk([&](Operation *op) {
    auto wait = dyn_cast<distributed::WaitOp>(op);
    if (isa<distributed::ConsumeTokenOp>(op) || (wait && !wait.getBarrier()) ||
        (choices.decomposeScaledDots && isa<tt::DotScaledOp>(op)) ||
        (choices.rewriteBlockPointers &&
         isa<tt::MakeTensorPtrOp, tt::AdvanceOp, tt::MakeTensorDescOp>(op))) {
      bad = op;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return bad;
}

void nereid::registerLanguageDialects(DialectRegistry &registry) {
  registry.insert<tt::TritonDialect, distributed::DistributedDialect, ascend::AscendDialect,
                  arith::ArithDialect, math::MathDialect, scf::SCFDialect, cf::ControlFlowDialect,
                  func::FuncDialect, ub::UBDialect>();
  registerTTIRDialects(registry);
  func::registerInlinerExtension(registry);
}
