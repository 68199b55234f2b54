// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The target for Ascend's NPUs as the registry knows it: text that the vendor's tools
// read. Nothing of the vendor's is linked or included.
#include "Target/Ascend/Fit/Findings.h"
#include "Target/Ascend/Passes.h"
#include "nereid/Pipelines/Common.h"
#include "nereid/Pipelines/TTIR.h"
#include "nereid/Target/Target.h"
#include "nereid/Transforms/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace nereid;

namespace nereid {
const TargetInfo &infoOfAscend();
std::unique_ptr<Target> createAscend();
} // namespace nereid

namespace {

CheckChoices makeChecks(const TargetSettings &settings) {
  CheckChoices choices;
  choices.unusedToken = optionValue<std::string>(infoOfAscend(), "unused_token", settings.options);
  choices.vectorCores = unsigned(settings.profile->subVecNum);
  return choices;
}

void buildExport(OpPassManager &pm) {
  // Its lowering takes one function.
  pm.addPass(createNereidInlineAll());
  // It reads no descriptors.
  buildReadablePipeline(pm, /*keepDescriptors=*/false);
  // Nothing that it does not read, or is known to do wrong.
  pm.addPass(createNereidAscendExportTTIR());
  pm.addPass(createCSEPass());
  // No ranges in locations.
  pm.addPass(createNereidPlainLocations());
}

FailureOr<std::string> exportText(ModuleOp module) {
  PassManager pm(module.getContext());
  buildExport(pm);
  if (failed(pm.run(module)))
    return failure();
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  module->print(stream, flags.printNameLocAsPrefix());
  stream << "\n";
  return text;
}

/// Options of the passes of nereid fit.
struct FitChoices {
  std::string chip;
  int64_t grid;
};

void buildFit(OpPassManager &pm, const FitChoices &choices) {
  // The kernel as it is exported, before the forms of the reader.
  pm.addPass(createNereidInlineAll());
  buildReadablePipeline(pm, /*keepDescriptors=*/false);
  // Addresses that loops carry are a base and offsets that do not change.
  pm.addPass(createNereidStructureLoopPointers());
  pm.addPass(createNereidCanonicalize());
  // Each adds what it finds.
  pm.addPass(createNereidFitAccesses());
  pm.addPass(createNereidFitSignals());
  NereidFitWaitsOptions waits;
  waits.chip = choices.chip;
  waits.grid = choices.grid;
  pm.addPass(createNereidFitWaits(waits));
  pm.addPass(createNereidFitAtomics());
  NereidFitMemoryOptions memory;
  memory.chip = choices.chip;
  pm.addPass(createNereidFitMemory(memory));
  pm.addPass(createNereidFitTypes());
}

FailureOr<std::string> fitText(ModuleOp module, const TargetSettings &settings,
                               const KernelMetadata &metadata) {
  const TargetInfo &info = infoOfAscend();
  FitChoices choices{optionValue<std::string>(info, "fit_chip", settings.options),
                     optionValue<int64_t>(info, "fit_grid", settings.options)};
  PassManager pm(module.getContext());
  buildFit(pm, choices);
  if (failed(pm.run(module)))
    return failure();
  std::string text;
  llvm::raw_string_ostream(text) << fit::findingsJSON(module, settings, metadata.name) << "\n";
  return text;
}

class AscendTarget : public Target {
public:
  AscendTarget() : Target(infoOfAscend()) {}

  void registerDialects(DialectRegistry &registry) const override {
    registerTTIRDialects(registry);
    registry.insert<LLVM::LLVMDialect>(); // hints: llvm.intr.assume
  }
  void registerPasses() const override { registerNereidAscendPasses(); }

  std::vector<Phase> phases(const TargetSettings &settings) const override {
    CheckChoices checks = makeChecks(settings);
    return {{"check", checkPromise, [=](OpPassManager &pm) { buildCheckPhase(pm, checks); },
             verifyCheckPhase}};
  }

  FailureOr<std::string> emit(ModuleOp module, const TargetStage &stage,
                              const TargetSettings &settings,
                              KernelMetadata &metadata) const override {
    OwningOpRef<ModuleOp> copy = module.clone();
    return stage.name == "fit" ? fitText(*copy, settings, metadata) : exportText(*copy);
  }
};

} // namespace

std::unique_ptr<Target> nereid::createAscend() { return std::make_unique<AscendTarget>(); }
