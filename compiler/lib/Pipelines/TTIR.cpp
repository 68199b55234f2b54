// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Pipelines/TTIR.h"

#include "nereid/Conversion/TilesToLoops/Passes.h"
#include "nereid/Transforms/Passes.h"

#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void nereid::buildImportTTIRPipeline(OpPassManager &pm) {
  // Only operations of tt and the standard dialects.
  pm.addPass(createNereidImportTTIR());
  // One function; code after a return is gone.
  pm.addPass(createInlinerPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createSymbolDCEPass());
}

void nereid::buildExportTTIRPipeline(OpPassManager &pm, const ExportTTIROptions &options) {
  // One function: Triton inlines in a stage before the one that reads the text.
  pm.addPass(createInlinerPass());
  pm.addPass(createCanonicalizerPass());
  // No block pointers: tiles of pointers and masks instead.
  NereidRewriteBlockPointersOptions blockPointers;
  blockPointers.keepDescriptors = true;
  pm.addPass(createNereidRewriteBlockPointers(blockPointers));
  pm.addPass(createCanonicalizerPass());
  // Sums of products are products with an accumulator.
  pm.addPass(createNereidFoldDotAccumulator());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createSymbolDCEPass());
  // Nothing that upstream does not read.
  NereidExportTTIROptions exportOptions;
  exportOptions.version = options.version;
  pm.addPass(createNereidExportTTIR(exportOptions));
}

namespace {
struct CommandLineOptions : PassPipelineOptions<CommandLineOptions> {
  Option<std::string> version{*this, "version", llvm::cl::desc("version of Triton: 3.6 or 3.9"),
                              llvm::cl::init("3.6")};
};
} // namespace

void nereid::registerTTIRPipelines() {
  PassPipelineRegistration<>("nereid-import-ttir-pipeline", "From the TTIR of upstream's front end",
                             [](OpPassManager &pm) { buildImportTTIRPipeline(pm); });
  PassPipelineRegistration<CommandLineOptions>(
      "nereid-export-ttir-pipeline", "To the TTIR that upstream Triton reads",
      [](OpPassManager &pm, const CommandLineOptions &options) {
        buildExportTTIRPipeline(pm, ExportTTIROptions{options.version});
      });
}
