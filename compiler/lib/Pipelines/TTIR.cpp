// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Pipelines/TTIR.h"

#include "DiagnosticCollector.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Pipelines/Common.h"
#include "nereid/Transforms/Passes.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

void nereid::buildImportTTIRPipeline(OpPassManager &pm) {
  // Only operations of tt and the standard dialects.
  pm.addPass(createNereidImportTTIR());
  // One function; code after a return is gone.
  pm.addPass(createInlinerPass());
  pm.addPass(createNereidCanonicalize());
  pm.addPass(createSymbolDCEPass());
}

void nereid::buildReadablePipeline(OpPassManager &pm, bool keepDescriptors) {
  // One function: Triton inlines in a stage before the one that reads the text.
  pm.addPass(createInlinerPass());
  pm.addPass(createNereidCanonicalize());
  // No block pointers: tiles of pointers and masks instead.
  NereidRewriteBlockPointersOptions blockPointers;
  blockPointers.keepDescriptors = keepDescriptors;
  pm.addPass(createNereidRewriteBlockPointers(blockPointers));
  pm.addPass(createNereidCanonicalize());
  // Sums of products are products with an accumulator.
  pm.addPass(createNereidFoldDotAccumulator());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createNereidCanonicalize());
  pm.addPass(createSymbolDCEPass());
}

void nereid::buildExportTTIRPipeline(OpPassManager &pm, const ExportTTIROptions &options) {
  buildReadablePipeline(pm, /*keepDescriptors=*/true);
  // Nothing that upstream does not read.
  NereidExportTTIROptions exportOptions;
  exportOptions.version = options.version;
  pm.addPass(createNereidExportTTIR(exportOptions));
}

//===----------------------------------------------------------------------===//
// Reading text
//===----------------------------------------------------------------------===//

/// Names of the kernel's arguments, as locations: those that the text gives its
/// values, where locations say nothing better.
static void nameArguments(nereid::tt::FuncOp kernel, const AsmParserState &state) {
  Block &entry = kernel.getBody().front();
  const AsmParserState::BlockDefinition *block = state.getBlockDef(&entry);
  for (auto [i, argument] : llvm::enumerate(entry.getArguments())) {
    if (isa<NameLoc>(argument.getLoc()))
      continue;
    StringRef name;
    if (block && i < block->arguments.size()) {
      SMRange range = block->arguments[i].loc;
      name = StringRef(range.Start.getPointer(), range.End.getPointer() - range.Start.getPointer());
      name.consume_front("%");
    }
    if (name.empty() || llvm::isDigit(name.front()))
      continue;
    argument.setLoc(NameLoc::get(StringAttr::get(kernel.getContext(), name), argument.getLoc()));
  }
}

llvm::Expected<nereid::TTIRKernel> nereid::readTTIR(MLIRContext &context, StringRef text,
                                                    StringRef path, const CompileOptions &options,
                                                    DiagnosticSink *warnings) {
  DialectRegistry registry;
  registerLanguageDialects(registry);
  if (options.target)
    options.target->registerDialects(registry);
  context.appendDialectRegistry(registry);
  DiagnosticCollector collector(&context, options, warnings);

  TTIRKernel kernel;
  {
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, path), SMLoc());
    Block top;
    AsmParserState state;
    ParserConfig config(&context);
    if (failed(parseAsmSourceFile(sources, &top, config, &state)))
      return collector.takeError("reading the text");
    auto whole = FileLineColLoc::get(&context, path, 1, 1);
    kernel.module =
        detail::constructContainerOpForParserIfNecessary<ModuleOp>(&top, &context, whole);
    if (!kernel.module)
      return collector.takeError("reading the text");
    SmallVector<tt::FuncOp> kernels;
    for (auto function : kernel.module->getOps<tt::FuncOp>())
      if (function.isPublic() && !function.isExternal())
        kernels.push_back(function);
    if (kernels.size() != 1) {
      SourceRange range;
      if (auto source = options.findSource ? options.findSource(path) : nullptr;
          source && !source->lines.empty())
        range = {source, 1, 1, 1, 1};
      return makeError(makeDiagnostic(Diag::no_kernel, range, kernels.size()));
    }
    kernel.name = kernels.front().getName().str();
    nameArguments(kernels.front(), state);
  }

  PassManager pm(&context);
  pm.addPass(createNereidImportTTIR());
  if (failed(pm.run(*kernel.module)))
    return collector.takeError("import");
  return kernel;
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
