// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Support/AttributeNames.h"
#include "nereid/Transforms/Passes.h"
#include "nereid/Transforms/ValueFlow.h"

#include "mlir/IR/Builders.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDTIELOADS
#include "nereid/Transforms/Passes.h.inc"

using namespace mlir;
using distributed::ConsumeTokenOp;
using distributed::WaitOp;

namespace {

constexpr int32_t allTokens = -1;

struct TieLoads : impl::NereidTieLoadsBase<TieLoads> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool hasSlots = false;
    module.walk([&](WaitOp wait) { hasSlots |= wait->hasAttr(attr::slot); });
    if (!hasSlots)
      return;
    CallGraph calls(module);
    Builder builder(&getContext());
    module.walk([&](tt::FuncOp function) {
      if (!function.isPublic() || !canTell(function))
        return;
      function.walk([&](tt::LoadOp load) {
        if (int32_t tokens = getTokens(load, calls); tokens != allTokens)
          load->setAttr(attr::tokens, builder.getI32IntegerAttr(tokens));
      });
    });
  }

private:
  /// In code of several blocks, a branch before a load may depend on a token; where threads
  /// meet, all of them have what one has waited for.
  static bool canTell(tt::FuncOp function) {
    bool can = true;
    function->walk([&](Operation *op) {
      can &= !isa<tt::BarrierOp>(op);
      for (Region &region : op->getRegions())
        can &= region.empty() || region.hasOneBlock();
    });
    return can;
  }

  static int32_t getTokens(tt::LoadOp load, const CallGraph &calls) {
    int32_t tokens = 0;
    auto take = [&](Operation *op, llvm::StringRef name, bool isSlot) {
      auto number = op->getAttrOfType<IntegerAttr>(name);
      tokens |= !number  ? allTokens
                : isSlot ? 1 << int32_t(number.getInt())
                         : int32_t(number.getInt());
    };
    SmallVector<Value> start(load->getOperands());
    llvm::append_range(start, getControl(load));
    walkSources(start, calls, [&](Value value) {
      Operation *op = value.getDefiningOp();
      if (auto wait = dyn_cast_or_null<WaitOp>(op))
        return take(wait, attr::slot, true), false;
      if (auto consume = dyn_cast_or_null<ConsumeTokenOp>(op))
        take(consume, attr::tokens, false);
      return true;
    });
    return tokens;
  }
};

} // namespace
} // namespace nereid
