// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Pipelines/Compile.h"

#include "DiagnosticCollector.h"
#include "Target/CPU/IR/CPU.h"
#include "Target/CPU/ObjectEmitter.h"
#include "Target/CPU/RuntimeToLLVM/LineTable.h"
#include "Target/CPU/RuntimeToLLVM/Passes.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Pipelines/Registration.h"
#include "nereid/Pipelines/TTIR.h"
#include "nereid/abi.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <mutex>

using namespace mlir;

namespace nereid {

std::optional<Stage> parseStage(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<Stage>>(name)
      .Case("ttir", Stage::TTIR)
      .Case("cpu-tiles", Stage::CPUTiles)
      .Case("llvm", Stage::LLVM)
      .Case("asm", Stage::Assembly)
      .Case("obj", Stage::Object)
      .Default(std::nullopt);
}

std::string KernelMetadata::toJSON() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream);
  json.object([&] {
    json.attribute("name", name);
    json.attributeArray("args", [&] {
      for (const std::string &type : argumentTypes)
        json.value(type);
    });
    json.attribute("scratch_bytes", int64_t(scratchBytes));
    json.attribute("blocking", blocking);
    json.attribute("distributed", distributed);
    json.attribute("launch_mode", launchMode);
    json.attribute("lanes", int64_t(lanes));
    json.attributeArray("symmetric_args", [&] {
      for (unsigned index : symmetricArguments)
        json.value(int64_t(index));
    });
    json.attributeArray("sites", [&] {
      for (const Site &site : sites)
        json.array([&] {
          json.value(llvm::json::fixUTF8(site.file));
          json.value(int64_t(site.line));
          json.value(int64_t(site.column));
          json.value(site.function);
          json.value(llvm::json::fixUTF8(site.text));
        });
    });
    json.attribute("abi_version", int64_t(abiVersion));
    json.attribute("target_cpu", targetCPU);
  });
  return text;
}

namespace {

/// Empties a module that nobody wants any more before its next pass.
struct StopWhenCancelled : PassInstrumentation {
  explicit StopWhenCancelled(const std::atomic<bool> &cancelled) : cancelled(cancelled) {}
  void runBeforePass(Pass *, Operation *op) override {
    // Passes on functions are within one on the module, which must not lose them.
    if (!cancelled.load(std::memory_order_relaxed))
      return;
    if (auto module = dyn_cast<ModuleOp>(op))
      module.getBody()->clear();
  }
  const std::atomic<bool> &cancelled;
};

/// The kernel that this thread compiles, for reports of LLVM giving up.
thread_local const SourceRange *compilingRange = nullptr;
thread_local std::string compilingName;

/// LLVM ends the process when it cannot go on; as an exception it ends the
/// compilation.
void onFatalError(void *, const char *reason, bool) {
  if (compilingRange)
    throw CompileError(
        makeDiagnostic(Diag::code_generator_failed, *compilingRange, compilingName, reason));
}

/// One run of the pipeline over one module.
class Driver {
public:
  Driver(ModuleOp module, const CompileOptions &options, DiagnosticSink *warnings)
      : module(module), options(options),
        collector(prepare(module.getContext()), options, warnings) {
    dumpFolder = options.dumpFolder;
    if (const char *folder = std::getenv("NEREID_DUMP"); dumpFolder.empty() && folder)
      dumpFolder = folder;
    findKernel();
    static std::once_flag once;
    std::call_once(once, [] { llvm::install_fatal_error_handler(onFatalError); });
    compilingRange = &collector.kernelRange;
    compilingName = metadata.name;
  }
  ~Driver() { compilingRange = nullptr; }
  Driver(const Driver &) = delete;

  std::string run(Stage stage) {
    dump("0-frontend.mlir", [&] { return printModule(); });
    runPhases("check", [&](OpPassManager &pm) {
      buildCPUCheckPhase(pm, options.pipeline);
      buildCPUSimplifyPhase(pm, options.pipeline);
    });
    dump("1-ttir.mlir", [&] { return printModule(); });
    if (stage == Stage::TTIR)
      return printModule();

    if (auto mode = module->getAttrOfType<StringAttr>("ascend.launch_mode"))
      metadata.launchMode = mode.getValue().str();
    runPhases("tiles", [&](OpPassManager &pm) { buildCPUTilePhase(pm, options.pipeline); });
    dump("2-cpu-tiles.mlir", [&] { return printModule(); });
    if (stage == Stage::CPUTiles)
      return printModule();

    runPhases("lowering", [&](OpPassManager &pm) { buildCPULoweringPhase(pm, options.pipeline); });
    dump("3-llvm-dialect.mlir", [&] { return printModule(); });
    dump("4-llvm.ll", [&] { return emit(cpu::EmitKind::LLVMIR); });
    if (stage == Stage::LLVM)
      return emit(cpu::EmitKind::LLVMIR);
    dump("5-asm.s", [&] { return emit(cpu::EmitKind::Assembly); });
    if (stage == Stage::Assembly)
      return emit(cpu::EmitKind::Assembly);
    // Only the object says which instruction comes from which line: texts are
    // easier to read without.
    cpu::attachLineTable(module);
    fillMetadata();
    std::string object = emit(cpu::EmitKind::Object);
    dump("6-object.o", [&] { return object; });
    dump("7-metadata.json", [&] { return metadata.toJSON(); });
    return object;
  }

  std::string exportTTIR(llvm::StringRef version) {
    ExportTTIROptions exportOptions;
    exportOptions.version = version.str();
    runPhases("export", [&](OpPassManager &pm) { buildExportTTIRPipeline(pm, exportOptions); });
    return printModule(/*locations=*/true);
  }

  KernelMetadata metadata;

private:
  static MLIRContext *prepare(MLIRContext *context) {
    // A kernel is one function: threads only cost time.
    context->disableMultithreading();
    DialectRegistry registry;
    registerAllDialects(registry);
    context->appendDialectRegistry(registry);
    context->loadDialect<LLVM::LLVMDialect, cpu::CPUDialect>();
    return context;
  }

  void findKernel() {
    unsigned count = 0;
    for (auto function : module.getOps<tt::FuncOp>())
      if (function.isPublic()) {
        metadata.name = function.getName().str();
        collector.kernelRange = collector.place(function.getLoc());
        ++count;
      }
    if (count != 1)
      throw CompileError(makeDiagnostic(Diag::no_kernel, SourceRange(), count));
  }

  void runPhases(llvm::StringRef name, llvm::function_ref<void(OpPassManager &)> build) {
    PassManager pm(module.getContext());
    build(pm);
    if (!options.crashReproducer.empty())
      pm.enableCrashReproducerGeneration(options.crashReproducer);
    if (options.cancelled)
      pm.addInstrumentation(std::make_unique<StopWhenCancelled>(*options.cancelled));
    LogicalResult result = pm.run(module);
    checkCancelled();
    if (failed(result))
      collector.fail(name);
  }

  void checkCancelled() const {
    if (options.cancelled && *options.cancelled)
      throw CompilationCancelled();
  }

  std::string emit(cpu::EmitKind kind) {
    checkCancelled();
    cpu::EmitOptions emitOptions;
    emitOptions.target = options.pipeline.target;
    emitOptions.enableFPFusion = options.enableFPFusion;
    auto result = cpu::emitCode(module, emitOptions, kind);
    if (failed(result))
      collector.fail("code generation");
    return std::move(*result);
  }

  std::string printModule(bool locations = false) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    OpPrintingFlags flags;
    flags.enableDebugInfo(locations, /*prettyForm=*/false);
    flags.printNameLocAsPrefix(); // arguments go by the names that the user gave them
    module->print(stream, flags);
    stream << "\n";
    return text;
  }

  /// Names sort in the order of the stages.
  void dump(llvm::StringRef suffix, llvm::function_ref<std::string()> text) {
    if (dumpFolder.empty())
      return;
    llvm::SmallString<128> path(dumpFolder);
    if (llvm::sys::fs::create_directories(path))
      return;
    llvm::sys::path::append(path, metadata.name + "." + suffix);
    std::error_code error;
    llvm::raw_fd_ostream stream(path, error);
    if (!error)
      stream << text();
  }

  void fillMetadata() {
    auto flag = [&](llvm::StringRef name) {
      auto attribute = module->getAttrOfType<BoolAttr>(name);
      return attribute && attribute.getValue();
    };
    if (auto bytes = module->getAttrOfType<IntegerAttr>(cpu::scratchBytesAttrName))
      metadata.scratchBytes = bytes.getValue().getZExtValue();
    metadata.blocking = flag(cpu::blockingAttrName) || flag("nereid.blocking");
    metadata.distributed = flag(cpu::distributedAttrName);
    if (auto lanes = module->getAttrOfType<IntegerAttr>("ascend.lanes"))
      metadata.lanes = unsigned(lanes.getInt());
    if (auto types = module->getAttrOfType<ArrayAttr>(cpu::argumentsAttrName))
      for (auto type : types.getAsRange<StringAttr>())
        metadata.argumentTypes.push_back(type.str());
    if (auto indices = module->getAttrOfType<DenseI32ArrayAttr>(cpu::symmetricArgumentsAttrName))
      metadata.symmetricArguments.assign(indices.asArrayRef().begin(), indices.asArrayRef().end());
    if (auto sites = module->getAttrOfType<ArrayAttr>(cpu::sitesAttrName))
      for (auto row : sites.getAsRange<ArrayAttr>()) {
        Site site;
        site.file = cast<StringAttr>(row[0]).str();
        site.line = cast<IntegerAttr>(row[1]).getInt();
        site.column = cast<IntegerAttr>(row[2]).getInt();
        site.function = cast<StringAttr>(row[3]).str();
        if (!site.file.empty())
          site.text = collector.sources.get(site.file)->line(site.line);
        metadata.sites.push_back(std::move(site));
      }
    metadata.abiVersion = NRD_ABI_VERSION;
    metadata.targetCPU = options.pipeline.target.cpu;
  }

  ModuleOp module;
  const CompileOptions &options;
  DiagnosticCollector collector;
  std::string dumpFolder;
};

} // namespace

CompiledKernel compileKernel(ModuleOp module, const CompileOptions &options,
                             DiagnosticSink *warnings) {
  Driver driver(module, options, warnings);
  CompiledKernel kernel;
  kernel.object = driver.run(Stage::Object);
  kernel.metadata = std::move(driver.metadata);
  return kernel;
}

std::string emitStage(ModuleOp module, Stage stage, const CompileOptions &options,
                      DiagnosticSink *warnings) {
  return Driver(module, options, warnings).run(stage);
}

std::string exportTTIR(ModuleOp module, llvm::StringRef version, const CompileOptions &options,
                       DiagnosticSink *warnings) {
  return Driver(module, options, warnings).exportTTIR(version);
}

} // namespace nereid
