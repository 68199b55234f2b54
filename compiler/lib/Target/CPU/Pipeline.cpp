// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Four phases, each with a promise: a state of the module that can be said in a
// sentence and checked by a walk (verify...). The driver checks after each, so
// that a pass that breaks one is found there and not by what comes later.
// Inside a phase passes may change places or come and go; between phases
// nothing but the promise counts.
//
//   check      what the user has to be told: of tokens, loops, symmetric arguments
//   simplify   one function; no block pointers, no tokens; what all targets want
//   tiles      tiles become loops, vectors and buffers (TilesToLoops)
//   lowering   calls of the runtime, narrow floats, the LLVM dialect
#include "Target/CPU/Pipeline.h"

#include "Target/CPU/FloatToLLVM/Passes.h"
#include "Target/CPU/RuntimeToLLVM/Passes.h"
#include "Target/CPU/TilesToLoops/Passes.h"
#include "nereid/Pipelines/Common.h"
#include "nereid/Transforms/Passes.h"

#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

static void buildTilePhase(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createTilesToLoopsPass(options.target));
  // Addresses in loops over tiles are simple again.
  pm.addPass(createNereidCanonicalize());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
}

static void buildLoweringPhase(OpPassManager &pm) {
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

/// The first operation below `module` for which `broken` holds; null: none.
static Operation *findFirst(ModuleOp module, llvm::function_ref<bool(Operation *)> broken) {
  Operation *found = nullptr;
  module.walk([&](Operation *op) {
    if (op == module.getOperation() || !broken(op))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

static Operation *verifyTilePhase(ModuleOp module) {
  return findFirst(module, [](Operation *op) {
    auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
    return llvm::any_of(op->getResultTypes(), isTile) ||
           llvm::any_of(op->getOperandTypes(), isTile);
  });
}

static Operation *verifyLoweringPhase(ModuleOp module) {
  return findFirst(module, [](Operation *op) { return !isa<LLVM::LLVMDialect>(op->getDialect()); });
}

std::vector<Phase> nereid::cpu::phases(const PipelineOptions &options) {
  CheckChoices checks;
  checks.unusedToken = options.unusedToken;
  checks.vectorCores = options.vectorCores;
  checks.readPTX = true;
  checks.instrument = options.instrument;
  SimplifyChoices choices;
  choices.decomposeScaledDots = true;
  choices.rewriteBlockPointers = true;
  // A loop that looks at a word acquires what it says; a wait always does.
  choices.findWaits = !options.instrument;
  choices.vectorCores = options.vectorCores;
  choices.threadLoops = true;
  choices.instrument = options.instrument;
  return {
      {"check", checkPromise, [=](OpPassManager &pm) { buildCheckPhase(pm, checks); },
       verifyCheckPhase},
      {"simplify", simplifyPromise, [=](OpPassManager &pm) { buildSimplifyPhase(pm, choices); },
       [=](ModuleOp module) { return verifySimplifyPhase(module, choices); }},
      {"tiles", "no value is a tile; cpu.scratch_bytes says how much scratch they need",
       [=](OpPassManager &pm) { buildTilePhase(pm, options); }, verifyTilePhase},
      {"lowering", "only operations of the LLVM dialect are left", buildLoweringPhase,
       verifyLoweringPhase},
  };
}

PipelineOptions PipelineOptions::of(const TargetSettings &settings) {
  const TargetInfo &info = *findTargetInfo("cpu");
  PipelineOptions options;
  options.target = TargetFeatures::named(optionValue<std::string>(info, "cpu", settings.options));
  options.vectorCores = unsigned(settings.profile->subVecNum);
  options.unusedToken = optionValue<std::string>(info, "unused_token", settings.options);
  options.enableFPFusion = optionValue<bool>(info, "enable_fp_fusion", settings.options);
  options.instrument = optionValue<bool>(info, "instrument", settings.options);
  return options;
}

//===----------------------------------------------------------------------===//
// For nereid-opt
//===----------------------------------------------------------------------===//

namespace {
struct CommandLineOptions : PassPipelineOptions<CommandLineOptions> {
  Option<std::string> cpu{*this, "cpu", llvm::cl::desc("host, x86-64-v2, x86-64-v3 or x86-64-v4"),
                          llvm::cl::init("host")};
  Option<std::string> unusedToken{
      *this, "unused-token", llvm::cl::desc("a wait whose token is unused: error, warn or keep"),
      llvm::cl::init("error")};
  Option<bool> instrument{*this, "instrument",
                          llvm::cl::desc("observers are told of loads, stores and atomics"),
                          llvm::cl::init(false)};

  PipelineOptions get() const {
    PipelineOptions options;
    std::string error;
    options.target = TargetFeatures::named(cpu.getValue(), &error);
    if (!error.empty())
      llvm::reportFatalUsageError(llvm::Twine(error));
    options.unusedToken = unusedToken.getValue();
    options.instrument = instrument;
    return options;
  }
};
} // namespace

void nereid::cpu::registerPipelines() {
  for (const Phase &phase : phases(PipelineOptions())) {
    std::string name = phase.name.str();
    PassPipelineRegistration<CommandLineOptions>(
        "nereid-cpu-" + name, phase.promise,
        [name](OpPassManager &pm, const CommandLineOptions &options) {
          for (const Phase &phase : phases(options.get()))
            if (phase.name == name)
              phase.build(pm);
        });
  }
  PassPipelineRegistration<CommandLineOptions>(
      "nereid-cpu-pipeline", "Everything from TTIR to the LLVM dialect for the CPU",
      [](OpPassManager &pm, const CommandLineOptions &options) {
        for (const Phase &phase : phases(options.get()))
          phase.build(pm);
      });
}
