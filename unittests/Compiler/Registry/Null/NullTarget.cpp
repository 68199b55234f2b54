// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

  FailureOr<std::string> emit(ModuleOp module, const TargetStage &, const TargetSettings &settings,
                              KernelMetadata &metadata) const override {
    std::string text;
    int64_t depth = optionValue<int64_t>(info, "depth", settings.options);
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      int64_t level = -1;
      for (Operation *at = op; at != module; at = at->getParentOp())
        ++level;
      if (level >= 0 && level <= depth)
        text += op->getName().getStringRef().str() + "\n";
    });
    metadata.scratchBytes = 24;
    return text;
  }
};
} // namespace

std::unique_ptr<Target> nereid::createNull() { return std::make_unique<NullTarget>(); }
