// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The target for NVIDIA's GPUs as the registry knows it. Operations between ranks
// become operations of Triton; what Triton reads, the package triton compiles in a
// process of its own, the target's tool.
//
// A request is an object with `arch` (90), the options of the same names, `name` of
// the kernel and `text`; the answer one with `error`, or with the texts `ttgir` and
// `ptx`, `cubin` in base 64, and `metadata`, what Triton says that a launch must know:
// `name`, `num_warps`, `num_ctas`, `shared`, `global_scratch_size`,
// `global_scratch_align`.
#include "Target/CUDA/Info.h"
#include "Target/CUDA/KernelObject.h"
#include "Target/CUDA/Passes.h"
#include "nereid/Dialect/Ascend/IR/Ascend.h"
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Pipelines/Common.h"
#include "nereid/Support/AttributeNames.h"
#include "nereid/Target/Sites.h"
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
  // Plain loads may come from a cache that nobody tells of a change: polling them is no wait.
  plan.simplify.findWaits = true;
  plan.lowering.arch = plan.arch;
  plan.lowering.waitStride = int(settings.profile->waitStride);
  plan.lowering.oneProgram = settings.profile->oneProgramPerRank;
  plan.lowering.checked = optionValue<bool>(info, "debug", settings.options);
  plan.lowering.numCTAs = int(optionValue<int64_t>(info, "num_ctas", settings.options));
  return plan;
}

void buildCheck(OpPassManager &pm, const Plan &plan) {
  buildCheckPhase(pm, plan.checks);
  // The inliner takes every function.
  pm.addPass(createNereidInlineAll());
  // Products stand in no kernel with a call; with the option `debug` the text of what
  // is wrong is worth more.
  if (!plan.lowering.checked)
    pm.addPass(createNereidCUDATrapRanges());
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
  accesses.numCTAs = plan.lowering.numCTAs;
  pm.addPass(createNereidSeparateAccesses(accesses));
}

Operation *verifyLowering(ModuleOp module) {
  Operation *bad = nullptr;
  module.walk([&](Operation *op) {
    if (!isa<distributed::DistributedDialect, ascend::AscendDialect>(op->getDialect()))
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
        {"lowering", "no operation between ranks is left, and accesses to one place are in order",
         [=](OpPassManager &pm) { buildLowering(pm, plan); }, verifyLowering},
    };
  }

  FailureOr<std::string> emit(ModuleOp module, const TargetStage &stage,
                              const TargetSettings &settings,
                              KernelMetadata &metadata) const override;
};

} // namespace

/// Does the kernel have operations between ranks?
static bool isDistributed(ModuleOp module) {
  auto attribute = module->getAttrOfType<BoolAttr>(cuda::distributedAttrName);
  return attribute && attribute.getValue();
}

static tt::FuncOp kernelOf(ModuleOp module) {
  for (auto function : module.getOps<tt::FuncOp>())
    if (function.isPublic())
      return function;
  llvm_unreachable("the driver has seen to it that there is one");
}

/// What the passes left in attributes.
static void describe(ModuleOp module, tt::FuncOp kernel, const TargetSettings &settings,
                     KernelMetadata &metadata) {
  auto blocking = module->getAttrOfType<BoolAttr>(attr::blocking);
  metadata.blocking = blocking && blocking.getValue();
  metadata.distributed = isDistributed(module);
  for (auto [i, argument] : llvm::enumerate(metadata.arguments)) {
    argument.type = signatureName(kernel.getArgumentTypes()[i]);
    argument.symmetric = bool(kernel.getArgAttr(unsigned(i), attr::symmetric));
  }
  if (auto sites = module->getAttrOfType<ArrayAttr>(cuda::sitesAttrName))
    metadata.sites = readSites(sites, settings.lineText);
}

/// The parameters of the function, whose sizes the PTX says, must be the text's in
/// their order and the two addresses of Triton's: so the device passes them.
static LogicalResult checkParameters(tt::FuncOp kernel, StringRef ptx) {
  auto sizes = cuda::parameterBytes(ptx, kernel.getName());
  if (!sizes)
    return kernel.emitError() << llvm::toString(sizes.takeError());
  std::vector<uint32_t> expected;
  for (Type type : kernel.getArgumentTypes())
    expected.push_back(isa<tt::PointerType>(type) ? 8 : std::max(1u, tt::getElementBits(type) / 8));
  expected.insert(expected.end(), {8, 8});
  if (*sizes != expected)
    return kernel.emitError() << "Triton has made a function of other parameters than the kernel "
                                 "has; please report this with the kernel's source";
  return success();
}

/// Dynamic shared memory that a thread block can have, by compute capability.
static uint32_t sharedLimit(int arch) {
  switch (arch) {
  case 80:
  case 87:
    return 163 * 1024;
  case 86:
  case 89:
  case 120:
    return 99 * 1024;
  default:
    return 227 * 1024;
  }
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

/// The module as Triton reads it; with places in the source, which tools of the GPU
/// then name.
static FailureOr<std::string> printForTriton(ModuleOp module, bool locations) {
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager pm(module.getContext());
  // Nothing that Triton does not read.
  pm.addPass(createNereidExportTTIR());
  if (failed(pm.run(*copy)))
    return failure();
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo(locations, /*prettyForm=*/false);
  (*copy)->print(stream, flags.printNameLocAsPrefix());
  stream << "\n";
  return text;
}

/// The tool's answer, without an error.
static FailureOr<llvm::json::Object> askTool(ModuleOp module, const TargetSettings &settings,
                                             const KernelMetadata &metadata, std::string text) {
  const TargetInfo &info = infoOfCUDA();
  auto number = [&](std::string_view name) {
    return optionValue<int64_t>(info, name, settings.options);
  };
  llvm::json::Object request{
      {"text", std::move(text)},
      {"name", metadata.name},
      {"arch", cuda::archOf(settings.options)},
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
  auto answer = llvm::json::parse(settings.runTool(info.tool, answerText));
  if (!answer || !answer->getAsObject()) {
    if (!answer)
      llvm::consumeError(answer.takeError());
    return module.emitError() << "the tool " << info.tool << " gave no answer";
  }
  if (auto error = answer->getAsObject()->getString("error"))
    return module.emitError() << *error;
  return std::move(*answer->getAsObject());
}

FailureOr<std::string> CUDATarget::emit(ModuleOp module, const TargetStage &stage,
                                        const TargetSettings &settings,
                                        KernelMetadata &metadata) const {
  int arch = cuda::archOf(settings.options);
  if (failed(checkSettings(module, settings, arch)))
    return failure();
  bool isInput = stage.name == "cuda-ttir";
  FailureOr<std::string> text = printForTriton(module, /*locations=*/!isInput);
  if (failed(text) || isInput)
    return text;
  auto answer = askTool(module, settings, metadata, std::move(*text));
  if (failed(answer))
    return failure();
  StringRef ptx = answer->getString("ptx").value_or("");
  if (failed(checkKept(module, ptx)))
    return failure();
  if (stage.isText)
    return answer->getString(stage.name).value_or("").str();
  std::vector<char> cubin;
  if (llvm::Error error = llvm::decodeBase64(answer->getString("cubin").value_or(""), cubin))
    return module.emitError() << llvm::toString(std::move(error));
  if (stage.name == "cubin")
    return std::string(cubin.begin(), cubin.end());

  const llvm::json::Object *said = answer->getObject("metadata");
  auto number = [&](StringRef name) { return said ? said->getInteger(name).value_or(0) : 0; };
  tt::FuncOp kernel = kernelOf(module);
  cuda::CUDAImage image;
  image.numWarps = uint32_t(number("num_warps"));
  image.numCTAs = uint32_t(number("num_ctas"));
  image.sharedBytes = uint32_t(number("shared"));
  image.scratchBytes = uint32_t(number("global_scratch_size"));
  image.scratchAlign = uint32_t(std::max<int64_t>(1, number("global_scratch_align")));
  image.usesRuntime = kernel.getNumArguments() != metadata.arguments.size();
  if (!image.numWarps || !image.numCTAs)
    return module.emitError() << "the tool " << info.tool << " does not say how to launch";
  if (image.sharedBytes > sharedLimit(arch))
    return kernel.emitError() << "the kernel needs " << image.sharedBytes
                              << " bytes of shared memory, and a thread block of sm_" << arch
                              << " has " << sharedLimit(arch)
                              << " at most; take smaller blocks, or fewer stages (num_stages)";
  if (failed(checkParameters(kernel, ptx)))
    return failure();
  describe(module, kernel, settings, metadata);
  return cuda::makeKernelObject({cubin.data(), cubin.size()}, metadata, arch, image);
}

std::unique_ptr<Target> nereid::createCUDA() { return std::make_unique<CUDATarget>(); }
