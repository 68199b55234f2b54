// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The target for NVIDIA's GPUs as the registry knows it. Operations between ranks
// become operations of Triton; what Triton reads, the package triton compiles in a
// process of its own, the target's tool.
//
// A request is an object with `arch` (90), the options of the same names, `name` of
// the kernel and `text`; the answer one with `error`, or with the texts `ttgir` and
// `ptx`, `cubin` in base 64, and `metadata`, what Triton says that a launch must know.
#include "Target/CUDA/Info.h"
#include "Target/CUDA/Passes.h"
#include "nereid/Dialect/Ascend/IR/Ascend.h"
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Pipelines/Common.h"
#include "nereid/Target/Target.h"
#include "nereid/Transforms/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace nereid;

namespace nereid {
std::unique_ptr<Target> createCUDA();
} // namespace nereid

namespace {

/// What the phases depend on.
struct Plan {
  int arch;
  CheckChoices checks;
  SimplifyChoices simplify;
  NereidLowerDistributedToTTOptions lowering;
};

Plan makePlan(const TargetSettings &settings) {
  const TargetInfo &info = infoOfCUDA();
  Plan plan;
  plan.arch = cuda::archOf(settings.options);
  plan.checks.unusedToken = optionValue<std::string>(info, "unused_token", settings.options);
  plan.checks.vectorCores = unsigned(settings.profile->subVecNum);
  plan.lowering.arch = plan.arch;
  plan.lowering.waitStride = int(settings.profile->waitStride);
  plan.lowering.oneProgram = settings.profile->oneProgramPerRank;
  plan.lowering.checked = optionValue<bool>(info, "debug", settings.options);
  return plan;
}

void buildCheck(OpPassManager &pm, const Plan &plan) {
  buildCheckPhase(pm, plan.checks);
  // The inliner takes every function.
  pm.addPass(createNereidCUDAInlineAll());
}

void buildLowering(OpPassManager &pm, const Plan &plan) {
  // No block pointers; no descriptors where the GPU has none.
  NereidRewriteBlockPointersOptions pointers;
  pointers.keepDescriptors = plan.arch >= cuda::hopper;
  pm.addPass(createNereidRewriteBlockPointers(pointers));
  pm.addPass(createNereidCanonicalize());
  pm.addPass(createCSEPass());
  // No loop has a hint with which Triton would lose waits.
  pm.addPass(createNereidCUDARestrictLoops());
  // No operation of distributed and ascend is left.
  pm.addPass(createNereidLowerDistributedToTT(plan.lowering));
  pm.addPass(createNereidCanonicalize());
  pm.addPass(createCSEPass());
  // Accesses to one place keep their order.
  NereidSeparateAccessesOptions accesses;
  accesses.arch = plan.arch;
  pm.addPass(createNereidSeparateAccesses(accesses));
}

void buildExport(OpPassManager &pm) {
  // Nothing that Triton does not read.
  pm.addPass(createNereidExportTTIR());
}

Operation *verifyLowering(ModuleOp module) {
  Operation *bad = nullptr;
  module.walk([&](Operation *op) {
    bool isOwn = isa<distributed::DistributedDialect, ascend::AscendDialect>(op->getDialect());
    if (!isOwn || isa<distributed::YieldOp>(op))
      return WalkResult::advance();
    bad = op;
    return WalkResult::interrupt();
  });
  return bad;
}

class CUDATarget : public Target {
public:
  CUDATarget() : Target(infoOfCUDA()) {}

  void registerDialects(DialectRegistry &registry) const override {
    registerTTIRDialects(registry);
  }
  void registerPasses() const override { registerNereidCUDAPasses(); }

  std::vector<Phase> phases(const TargetSettings &settings) const override {
    Plan plan = makePlan(settings);
    return {
        {"check", checkPromise, [=](OpPassManager &pm) { buildCheck(pm, plan); }, verifyCheckPhase},
        {"simplify", simplifyPromise,
         [=](OpPassManager &pm) { buildSimplifyPhase(pm, plan.simplify); },
         [=](ModuleOp module) { return verifySimplifyPhase(module, plan.simplify); }},
        {"separation", "no operation between ranks is left, and accesses to one place are in order",
         [=](OpPassManager &pm) { buildLowering(pm, plan); }, verifyLowering},
        {"lowering", "Triton reads the text", buildExport, nullptr},
    };
  }

  FailureOr<std::string> emit(ModuleOp module, const TargetStage &stage,
                              const TargetSettings &settings,
                              KernelMetadata &metadata) const override;
};

} // namespace

/// Does the kernel take the arguments of the runtime?
static bool isDistributed(ModuleOp module) {
  return module
      .walk([](tt::FuncOp function) {
        return llvm::any_of(function.getArguments(), cuda::isRuntimes) ? WalkResult::interrupt()
                                                                       : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Refuses what no kernel can be compiled with.
static LogicalResult checkSettings(ModuleOp module, const TargetSettings &settings, int arch) {
  auto number = [&](std::string_view name) {
    return optionValue<int64_t>(infoOfCUDA(), name, settings.options);
  };
  if (arch == 0)
    return module.emitError() << "there is no NVIDIA GPU in this machine, and the option 'arch' "
                                 "does not say for which to compile: pass arch=\"sm_90\", or set "
                                 "NEREID_CUDA_ARCH";
  if (arch < 80)
    return module.emitError() << "the target cuda needs a GPU of compute capability 8.0 or more; "
                                 "this machine's has "
                              << arch / 10 << "." << arch % 10;
  for (auto [name, least, most] : {std::tuple{"num_warps", 1, 32}, {"num_ctas", 1, 16}})
    if (int64_t value = number(name); value < least || value > most || (value & (value - 1)) != 0)
      return module.emitError() << "the option '" << name << "' takes a power of two from " << least
                                << " to " << most << ", not " << value;
  if (int64_t value = number("num_stages"); value < 1 || value > 16)
    return module.emitError() << "the option 'num_stages' takes a number from 1 to 16, not "
                              << value;
  if (int64_t value = number("maxnreg"); value < 0 || value > 255)
    return module.emitError() << "the option 'maxnreg' takes a number from 1 to 255, or 0, not "
                              << value;
  if (number("num_ctas") > 1 && arch < cuda::hopper)
    return module.emitError() << "clusters (num_ctas) exist from compute capability 9.0 on; this "
                                 "is a compilation for sm_"
                              << arch;
  if (number("num_ctas") > 1 && isDistributed(module))
    return module.emitError() << "operations between ranks cannot be used by programs of several "
                                 "thread blocks: compile with num_ctas=1";
  if (settings.profile->subVecNum != 1)
    return module.emitError() << "the rules of the profile '" << settings.profile->name
                              << "' divide a program among " << settings.profile->subVecNum
                              << " vector cores, which NVIDIA's GPUs do not have; use the profile "
                                 "cuda or host";
  return success();
}

/// Every wait and signal that the module has must be in what Triton made of it, and
/// as many atomics between ranks at least.
static LogicalResult checkKept(ModuleOp module, StringRef ptx) {
  size_t atomics = 0;
  WalkResult result = module.walk([&](Operation *op) {
    if (auto rmw = dyn_cast<tt::AtomicRMWOp>(op))
      atomics += rmw.getScope() == tt::MemSyncScope::SYSTEM;
    else if (auto cas = dyn_cast<tt::AtomicCASOp>(op))
      atomics += cas.getScope() == tt::MemSyncScope::SYSTEM;
    auto assembly = dyn_cast<tt::ElementwiseInlineAsmOp>(op);
    StringRef mark = assembly ? cuda::markOf(assembly) : StringRef();
    if (mark.empty() || ptx.contains(mark))
      return WalkResult::advance();
    op->emitError() << "Triton has left out an operation that waits for other ranks or signals to "
                       "them; please report this with the kernel's source";
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  size_t kept = 0;
  for (auto rest = ptx.split('\n'); !rest.first.empty() || !rest.second.empty();
       rest = rest.second.split('\n')) {
    bool isAtomic = rest.first.contains("atom.") || rest.first.contains("red.");
    kept += isAtomic && rest.first.contains(".sys");
  }
  if (kept < atomics)
    return module.emitError() << "Triton has left out " << atomics - kept
                              << " atomic operations on memory of all ranks; please report this "
                                 "with the kernel's source";
  return success();
}

FailureOr<std::string> CUDATarget::emit(ModuleOp module, const TargetStage &stage,
                                        const TargetSettings &settings,
                                        KernelMetadata &metadata) const {
  int arch = cuda::archOf(settings.options);
  if (failed(checkSettings(module, settings, arch)))
    return failure();
  bool isInput = stage.name == "cuda-ttir";
  std::string text;
  {
    llvm::raw_string_ostream stream(text);
    // Tools of the GPU name the user's lines.
    OpPrintingFlags flags;
    flags.enableDebugInfo(!isInput, /*prettyForm=*/false);
    module->print(stream, flags.printNameLocAsPrefix());
    stream << "\n";
  }
  if (isInput)
    return text;
  auto number = [&](std::string_view name) {
    return optionValue<int64_t>(info, name, settings.options);
  };
  llvm::json::Object request{
      {"text", std::move(text)},
      {"name", metadata.name},
      {"arch", arch},
      {"num_warps", number("num_warps")},
      {"num_stages", number("num_stages")},
      {"num_ctas", number("num_ctas")},
      {"maxnreg", number("maxnreg")},
      {"enable_fp_fusion", optionValue<bool>(info, "enable_fp_fusion", settings.options)},
      {"debug", optionValue<bool>(info, "debug", settings.options)},
  };
  if (!settings.runTool)
    return module.emitError() << "the target cuda compiles with the Python package triton: use "
                                 "`nereid compile --target cuda` or Python";
  std::string answerText;
  llvm::raw_string_ostream(answerText) << llvm::json::Value(std::move(request));
  answerText = settings.runTool(info.tool, answerText);
  auto parsed = llvm::json::parse(answerText);
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return module.emitError() << "the tool " << info.tool << " gave no answer";
  }
  llvm::json::Object *answer = parsed->getAsObject();
  if (auto error = answer ? answer->getString("error") : llvm::StringRef("it gave no answer"))
    return module.emitError() << *error;
  auto ptx = answer->getString("ptx"), code = answer->getString("cubin");
  if (!ptx || !code)
    return module.emitError() << "the tool " << info.tool << " gave no machine code";
  if (failed(checkKept(module, *ptx)))
    return failure();
  if (stage.name != info.stages.back().name)
    return answer->getString(stage.name).value_or("").str();
  std::vector<char> cubin;
  if (llvm::Error error = llvm::decodeBase64(*code, cubin))
    return module.emitError() << llvm::toString(std::move(error));
  return std::string(cubin.begin(), cubin.end());
}

std::unique_ptr<Target> nereid::createCUDA() { return std::make_unique<CUDATarget>(); }
