// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver knows no target. A target is a list of phases (passes, and what
// must hold after them) and of stages (names for what a phase leaves, or what
// is emitted from the last module). For each kernel: find it, run the phases in
// order, check after each what it promises, stop at the stage that was asked
// for.
//
// A broken promise is an error of ours with the operation's line, found in the
// phase that broke it and not where it hurts. Errors of passes come out as
// diagnostics with the user's line (DiagnosticCollector). What LLVM does when
// it gives up, ending the process, is caught for the time of one run
// (runGuarded).
//
// Cancelling empties the module instead of failing a pass: what remains runs
// over nothing, and no pass has to know that it can be interrupted.
#include "nereid/Pipelines/Compile.h"
#include "nereid/Support/AttributeNames.h"

#include "DiagnosticCollector.h"
#include "FatalErrors.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Pipelines/Common.h"
#include "nereid/Pipelines/TTIR.h"

#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace nereid {
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

/// One run over one module.
class Driver {
public:
  Driver(ModuleOp module, const CompileOptions &options, DiagnosticSink *warnings)
      : module(module), options(options),
        collector(prepare(module.getContext(), options.target), options, warnings) {
    settings.profile = options.profile;
    settings.options = options.options;
    settings.runTool = options.runTool;
    settings.lineText = [this](llvm::StringRef file, unsigned line) {
      return collector.sources.get(file)->line(line);
    };
  }
  Driver(const Driver &) = delete;

  /// The module goes through all phases of the target up to the one that makes
  /// `wanted`; a stage that is no module is emitted after the last.
  llvm::Expected<std::string> run(const TargetStage &wanted) {
    const Target &target = *options.target;
    if (llvm::Error error = begin())
      return error;
    if (llvm::Error error = dump("ttir", "mlir", [&] { return printModule(); }))
      return error;
    for (const Phase &phase : target.phases(settings)) {
      if (llvm::Error error = runPhase(phase))
        return error;
      for (const TargetStage &stage : target.info.stages) {
        if (stage.phase != std::string_view(phase.name))
          continue;
        if (llvm::Error error = dump(stage.name, stage.extension, [&] { return printModule(); }))
          return error;
        if (stage.name == wanted.name)
          return printModule();
      }
    }
    for (const TargetStage &stage : target.info.stages) {
      bool isWanted = stage.name == wanted.name;
      if (!stage.phase.empty() || (!isWanted && options.dumpFolder.empty()))
        continue;
      if (llvm::Error error = checkCancelled())
        return error;
      auto content = target.emit(module, stage, settings, metadata);
      if (failed(content))
        return collector.takeError("emitting the stage '" + std::string(stage.name) + "'");
      if (llvm::Error error = dump(stage.name, stage.extension, [&] { return *content; }))
        return error;
      if (isWanted)
        return std::move(*content);
    }
    llvm_unreachable("a stage is made by a phase or emitted");
  }

  /// The module as it comes, when the checks that all targets share pass.
  llvm::Expected<std::string> runChecks() {
    if (llvm::Error error = begin())
      return error;
    std::string text = printModule();
    CheckChoices choices;
    choices.vectorCores = unsigned(options.profile->subVecNum);
    if (auto found = options.options.find("unused_token"); found != options.options.end())
      choices.unusedToken = std::get<std::string>(found->second);
    if (llvm::Error error =
            runPhase({"check", checkPromise,
                      [&](OpPassManager &pm) { buildCheckPhase(pm, choices); }, verifyCheckPhase}))
      return error;
    return text;
  }

  llvm::Expected<std::string> exportTTIR(llvm::StringRef version) {
    if (llvm::Error error = begin())
      return error;
    ExportTTIROptions exportOptions;
    exportOptions.version = version.str();
    if (llvm::Error error = runPhase(
            {"export", "upstream reads the text",
             [&](OpPassManager &pm) { buildExportTTIRPipeline(pm, exportOptions); }, nullptr}))
      return error;
    return printModule(/*locations=*/true);
  }

  /// For what LLVM could not compile.
  llvm::Error gaveUp(const std::string &reason) {
    return makeError(
        makeDiagnostic(Diag::code_generator_failed, collector.kernelRange, metadata.name, reason));
  }

  KernelMetadata metadata;

private:
  static MLIRContext *prepare(MLIRContext *context, const Target *target) {
    // A kernel is one function: threads only cost time.
    context->disableMultithreading();
    DialectRegistry registry;
    registerLanguageDialects(registry);
    if (target)
      target->registerDialects(registry);
    context->appendDialectRegistry(registry);
    return context;
  }

  /// Finds the kernel.
  llvm::Error begin() {
    unsigned count = 0;
    for (auto function : module.getOps<tt::FuncOp>())
      if (function.isPublic()) {
        metadata.name = function.getName().str();
        nameArguments(function);
        collector.kernelRange = collector.place(function.getLoc());
        ++count;
      }
    if (count != 1)
      return makeError(makeDiagnostic(Diag::no_kernel, SourceRange(), count));
    return llvm::Error::success();
  }

  /// What only the front end's form of the kernel says of its arguments.
  void nameArguments(tt::FuncOp function) {
    metadata.arguments.clear();
    if (function.isExternal())
      return;
    for (auto [i, argument] : llvm::enumerate(function.getBody().front().getArguments())) {
      KernelArgument &row = metadata.arguments.emplace_back();
      auto name = dyn_cast<NameLoc>(argument.getLoc());
      row.name = name ? name.getName().str() : "arg" + std::to_string(i);
      if (auto divisibility = function.getArgAttrOfType<IntegerAttr>(i, "tt.divisibility"))
        row.divisibility = divisibility.getInt();
    }
  }

  llvm::Error checkCancelled() const {
    if (options.cancelled && *options.cancelled)
      return makeError(makeDiagnostic(Diag::compilation_cancelled, SourceRange()));
    return llvm::Error::success();
  }

  llvm::Error runPhase(const Phase &phase) {
    PassManager pm(module.getContext());
    phase.build(pm);
    if (!options.crashReproducer.empty())
      pm.enableCrashReproducerGeneration(options.crashReproducer);
    if (options.cancelled)
      pm.addInstrumentation(std::make_unique<StopWhenCancelled>(*options.cancelled));
    LogicalResult result = pm.run(module);
    if (llvm::Error error = checkCancelled())
      return error;
    if (failed(result))
      return collector.takeError("the phase '" + phase.name.str() + "'");
    if (Operation *broken = phase.verify ? phase.verify(module) : nullptr)
      return makeError(makeDiagnostic(Diag::phase_broke_promise, collector.place(broken->getLoc()),
                                      phase.name.str(), broken->getName().getStringRef().str(),
                                      phase.promise.str()));
    // Later phases need them no longer; launchers do.
    if (auto mode = module->getAttrOfType<StringAttr>(attr::launchMode))
      metadata.launchMode = mode.getValue().str();
    if (auto lanes = module->getAttrOfType<IntegerAttr>(attr::vectorCores))
      metadata.lanes = unsigned(lanes.getInt());
    return llvm::Error::success();
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
  llvm::Error dump(std::string_view stage, std::string_view extension,
                   llvm::function_ref<std::string()> text) {
    if (options.dumpFolder.empty())
      return llvm::Error::success();
    llvm::SmallString<128> path(options.dumpFolder);
    std::error_code error = llvm::sys::fs::create_directories(path);
    llvm::sys::path::append(path, metadata.name + "." + std::to_string(dumped++) + "-" +
                                      std::string(stage) + "." + std::string(extension));
    if (!error) {
      llvm::raw_fd_ostream stream(path, error);
      if (!error) {
        stream << text();
        stream.close();
        error = stream.error();
        stream.clear_error();
      }
    }
    if (error)
      return makeError(makeDiagnostic(Diag::dump_failed, SourceRange(), std::string(stage),
                                      path.str().str(), error.message()));
    return llvm::Error::success();
  }

  ModuleOp module;
  const CompileOptions &options;
  TargetSettings settings;
  DiagnosticCollector collector;
  unsigned dumped = 0;
};

/// `work` on a driver, with fatal errors of LLVM as errors.
template <typename T>
llvm::Expected<T> drive(ModuleOp module, const CompileOptions &options, DiagnosticSink *warnings,
                        llvm::function_ref<llvm::Expected<T>(Driver &)> work) {
  Driver driver(module, options, warnings);
  std::optional<llvm::Expected<T>> result;
  if (std::optional<std::string> reason = runGuarded([&] { result.emplace(work(driver)); }))
    return driver.gaveUp(*reason);
  return std::move(*result);
}

/// What is wrong with the request itself.
llvm::Error checkRequest(const CompileOptions &options, llvm::StringRef stage) {
  auto problem = [](const std::string &text) {
    return makeError(makeDiagnostic(Diag::compile_request, SourceRange(), text));
  };
  if (!options.target)
    return problem("no target was chosen to compile for");
  const TargetInfo &info = options.target->info;
  if (!info.stage(stage))
    return problem("the target " + std::string(info.name) + " has no stage '" + stage.str() +
                   "'; its stages are " + info.stageNames());
  for (const auto &[name, value] : options.options) {
    const TargetOption *row = info.option(name);
    if (!row)
      return problem("the target " + std::string(info.name) + " has no option '" + name + "'");
    if (std::string text = checkOption(*row, value); !text.empty())
      return problem(text);
  }
  auto instrument = options.options.find("instrument");
  if (instrument != options.options.end() && std::get<bool>(instrument->second) &&
      !info.tellsAccesses)
    return problem("the target " + std::string(info.name) +
                   " cannot tell observers of loads and stores: it has no option 'instrument' "
                   "(NEREID_INSTRUMENT, `nereid run --check`)");
  return llvm::Error::success();
}

} // namespace

llvm::Expected<CompiledKernel> compileKernel(ModuleOp module, const CompileOptions &options,
                                             DiagnosticSink *warnings) {
  llvm::StringRef last =
      options.target ? llvm::StringRef(options.target->info.stages.back().name) : "";
  if (llvm::Error error = checkRequest(options, last))
    return error;
  return drive<CompiledKernel>(
      module, options, warnings, [&](Driver &driver) -> llvm::Expected<CompiledKernel> {
        auto object = driver.run(options.target->info.stages.back());
        if (!object)
          return object.takeError();
        return CompiledKernel{std::move(*object), std::move(driver.metadata)};
      });
}

llvm::Expected<std::string> emitStage(ModuleOp module, llvm::StringRef stage,
                                      const CompileOptions &options, DiagnosticSink *warnings) {
  bool isCommon = options.target ? options.target->info.isCommonStage(stage)
                                 : stage == llvm::StringRef(commonStages().front().name);
  if (isCommon)
    return drive<std::string>(module, options, warnings,
                              [](Driver &driver) { return driver.runChecks(); });
  if (llvm::Error error = checkRequest(options, stage))
    return error;
  return drive<std::string>(module, options, warnings, [&](Driver &driver) {
    return driver.run(*options.target->info.stage(stage));
  });
}

llvm::Expected<std::string> exportTTIR(ModuleOp module, llvm::StringRef version,
                                       const CompileOptions &options, DiagnosticSink *warnings) {
  return drive<std::string>(module, options, warnings,
                            [&](Driver &driver) { return driver.exportTTIR(version); });
}

} // namespace nereid
