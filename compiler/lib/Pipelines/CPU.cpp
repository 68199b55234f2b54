// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Pipelines/CPU.h"

#include "Target/CPU/FloatToLLVM/Passes.h"
#include "Target/CPU/RuntimeToLLVM/Passes.h"
#include "Target/CPU/TilesToLoops/Passes.h"
#include "nereid/Transforms/Passes.h"

#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void nereid::buildCPUCheckPhase(OpPassManager &pm, const CPUPipelineOptions &options) {
  // Every wait orders something, or is a barrier by itself.
  NereidCheckTokensOptions tokens;
  tokens.unusedToken = options.unusedToken;
  tokens.pin = true;
  pm.addPass(createNereidCheckTokens(tokens));
  // Loops that wait for other programs yield to them; nereid.blocking says
  // whether the kernel can block.
  pm.addPass(createNereidMarkSpinLoops());
  // Arguments that must be symmetric carry nereid.symmetric.
  pm.addPass(createNereidInferSymmetricArgs());
  // ascend.launch_mode says whether the kernel runs vector-only or mixed.
  NereidInferLaunchModeOptions mode;
  mode.lanes = unsigned(options.profile->subVecNum);
  pm.addPass(createNereidInferLaunchMode(mode));
  // Loops that would not end stop their program.
  pm.addPass(createNereidCheckLoops());
}

void nereid::buildCPUSimplifyPhase(OpPassManager &pm, const CPUPipelineOptions &options) {
  // Block-scaled products are products of fp32 tiles.
  pm.addPass(createNereidDecomposeScaledDots());
  // One function without calls, except of functions marked noinline.
  pm.addPass(createInlinerPass());
  // No function that nobody calls.
  pm.addPass(createSymbolDCEPass());
  // Constants are folded, equal values merged, dead code is gone.
  pm.addPass(createNereidCanonicalize());
  pm.addPass(createCSEPass());
  // Block pointers and descriptors are gone: bases, sizes and offsets instead.
  pm.addPass(createNereidRewriteBlockPointers());
  pm.addPass(createNereidCanonicalize());
  pm.addPass(createCSEPass());
  // Loops carry no tiles of addresses that move as a whole, and sums of products
  // are products with an accumulator.
  pm.addPass(createNereidStructureLoopPointers());
  pm.addPass(createNereidFoldDotAccumulator());
  pm.addPass(createNereidCanonicalize());
  pm.addPass(createCSEPass());
  // What does not change in a loop stands before it. Waits and loads stay:
  // they read memory.
  pm.addPass(createLoopInvariantCodeMotionPass());
  // No wait is removed or passed by an access any more; tokens are gone.
  pm.addPass(createNereidPinWaits());
  // What does not depend on the vector core happens once per program;
  // ascend.lanes says how many of them run it.
  NereidSplitVectorCoresOptions cores;
  cores.lanes = unsigned(options.profile->subVecNum);
  pm.addPass(createNereidSplitVectorCores(cores));
}

void nereid::buildCPUTilePhase(OpPassManager &pm, const CPUPipelineOptions &options) {
  // No value is a tile any more; cpu.scratch_bytes says how much scratch they
  // need.
  pm.addPass(createTilesToLoopsPass(options.target));
  // Addresses in loops over tiles are simple again.
  pm.addPass(createNereidCanonicalize());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
}

void nereid::buildCPULoweringPhase(OpPassManager &pm, const CPUPipelineOptions &options) {
  // llvm.func with the kernel ABI; no operation or type of tt, distributed,
  // ascend and cpu is left.
  pm.addPass(createNereidCPULowerRuntime());
  // No integer division traps, no shift is undefined.
  pm.addPass(createNereidCPUGuardDivisions());
  // No arithmetic on bf16 and fp8, no conversion that the CPU may lack; common
  // mathematical functions on fp32 are polynomials.
  pm.addPass(createNereidCPUExpandFloats());
  pm.addPass(createNereidCanonicalize());
  pm.addPass(createCSEPass());
  // Only branches.
  pm.addPass(createSCFToControlFlowPass());
  // Only operations that have a counterpart in LLVM.
  ConvertVectorToLLVMPassOptions vectors;
  vectors.reassociateFPReductions = true;
  pm.addPass(createConvertVectorToLLVMPass(vectors));
  pm.addPass(createConvertToLLVMPass());
  // No casts between type systems are left.
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void nereid::buildCPUPipeline(OpPassManager &pm, const CPUPipelineOptions &options) {
  buildCPUCheckPhase(pm, options);
  buildCPUSimplifyPhase(pm, options);
  buildCPUTilePhase(pm, options);
  buildCPULoweringPhase(pm, options);
}

namespace {
struct CommandLineOptions : PassPipelineOptions<CommandLineOptions> {
  Option<std::string> cpu{*this, "cpu", llvm::cl::desc("host, x86-64-v2, x86-64-v3 or x86-64-v4"),
                          llvm::cl::init("host")};
  Option<std::string> unusedToken{
      *this, "unused-token", llvm::cl::desc("a wait whose token is unused: error, warn or keep"),
      llvm::cl::init("error")};

  nereid::CPUPipelineOptions get() const {
    nereid::CPUPipelineOptions options;
    std::string error;
    options.target = nereid::cpu::TargetFeatures::named(cpu.getValue(), &error);
    if (!error.empty())
      llvm::reportFatalUsageError(llvm::Twine(error));
    options.unusedToken = unusedToken.getValue();
    return options;
  }
};

using Build = void (*)(OpPassManager &, const nereid::CPUPipelineOptions &);
void registerPhase(StringRef name, StringRef description, Build build) {
  PassPipelineRegistration<CommandLineOptions>(
      name, description,
      [build](OpPassManager &pm, const CommandLineOptions &options) { build(pm, options.get()); });
}
} // namespace

void nereid::registerCPUPipelines() {
  registerPhase("nereid-cpu-check", "Checks before any simplification", buildCPUCheckPhase);
  registerPhase("nereid-cpu-simplify", "Target-independent simplification for the CPU",
                buildCPUSimplifyPhase);
  registerPhase("nereid-cpu-tiles", "Tensors to loops over vectors and buffers", buildCPUTilePhase);
  registerPhase("nereid-cpu-lowering", "Loops and runtime operations to the LLVM dialect",
                buildCPULoweringPhase);
  registerPhase("nereid-cpu-pipeline", "Everything from TTIR to the LLVM dialect for the CPU",
                buildCPUPipeline);
}
