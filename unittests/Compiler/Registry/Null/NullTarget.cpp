// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Pipelines/Common.h"
#include "nereid/Target/Target.h"

using namespace mlir;
using namespace nereid;

namespace nereid {
const TargetInfo &infoOfNull();
std::unique_ptr<Target> createNull();
} // namespace nereid

namespace {
class NullTarget : public Target {
public:
  NullTarget() : Target(infoOfNull()) {}
  void registerDialects(DialectRegistry &) const override {}
  void registerPasses() const override {}

  std::vector<Phase> phases(const TargetSettings &settings) const override {
    CheckChoices checks;
    checks.unusedToken = optionValue<std::string>(info, "unused_token", settings.options);
    SimplifyChoices choices; // it does everything itself
    return {{"check", checkPromise, [=](OpPassManager &pm) { buildCheckPhase(pm, checks); },
             verifyCheckPhase},
            {"simplify", simplifyPromise,
             [=](OpPassManager &pm) { buildSimplifyPhase(pm, choices); },
             [=](ModuleOp module) { return verifySimplifyPhase(module, choices); }}};
  }

  FailureOr<std::string> emit(ModuleOp module, const TargetStage &stage,
                              const TargetSettings &settings,
                              KernelMetadata &metadata) const override {
    describe(module, metadata);
    return stage.name == "kernel" ? kernelText(metadata) : operationsText(module, settings);
  }

private:
  /// What a launcher must know.
  static void describe(ModuleOp module, KernelMetadata &metadata) {
    metadata.scratchBytes = 24;
    auto blocking = module->getAttrOfType<BoolAttr>("nereid.blocking");
    metadata.blocking = blocking && blocking.getValue();
    for (auto function : module.getOps<tt::FuncOp>()) {
      if (!function.isPublic())
        continue;
      for (auto [number, type] : llvm::enumerate(function.getArgumentTypes())) {
        metadata.arguments[number].type = typeText(type);
        metadata.arguments[number].symmetric =
            bool(function.getArgAttr(number, "nereid.symmetric"));
      }
    }
    module.walk([&](Operation *op) {
      metadata.distributed |= op->getName().getDialectNamespace() == "distributed";
    });
  }

  /// "*fp32", "bf16", "i32".
  static std::string typeText(Type type) {
    if (auto pointer = dyn_cast<tt::PointerType>(type))
      return "*" + typeText(pointer.getPointeeType());
    const std::string width = std::to_string(type.getIntOrFloatBitWidth());
    return (type.isBF16() ? "bf" : isa<FloatType>(type) ? "fp" : "i") + width;
  }

  static std::string kernelText(const KernelMetadata &metadata) {
    std::string text =
        "null kernel " + metadata.name + "\nlanes " + std::to_string(metadata.lanes) + "\n";
    for (auto [number, argument] : llvm::enumerate(metadata.arguments))
      text += "arg " + argument.name + " " + argument.type + "\n" +
              (argument.symmetric ? "symmetric " + std::to_string(number) + "\n" : "");
    return text + (metadata.blocking ? "blocking\n" : "") +
           (metadata.distributed ? "distributed\n" : "");
  }

  std::string operationsText(ModuleOp module, const TargetSettings &settings) const {
    std::string text;
    int64_t depth = optionValue<int64_t>(info, "depth", settings.options);
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      int64_t level = -1;
      for (Operation *at = op; at != module; at = at->getParentOp())
        ++level;
      if (level >= 0 && level <= depth)
        text += op->getName().getStringRef().str() + "\n";
    });
    return text;
  }
};
} // namespace

std::unique_ptr<Target> nereid::createNull() { return std::make_unique<NullTarget>(); }
