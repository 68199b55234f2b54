// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Support/AttributeNames.h"
#include "nereid/Transforms/Passes.h"
#include "nereid/Transforms/ValueFlow.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDNUMBERWAITS
#include "nereid/Transforms/Passes.h.inc"

using namespace mlir;
using distributed::ConsumeTokenOp;
using distributed::WaitOp;

namespace {
struct NumberWaits : impl::NereidNumberWaitsBase<NumberWaits> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Builder builder(&getContext());
    int32_t next = 0;
    module.walk([&](WaitOp wait) {
      if (!wait.getBarrier())
        wait->setAttr(attr::slot,
                      builder.getI32IntegerAttr(std::min<int32_t>(next++, attr::waitSlots - 1)));
    });
    if (next == 0)
      return;
    CallGraph calls(module);
    module.walk([&](ConsumeTokenOp consume) {
      if (!isKnown(consume.getToken(), calls))
        return;
      int32_t tokens = 0;
      walkSources(consume.getToken(), calls, [&](Value value) {
        auto wait = value.getDefiningOp<WaitOp>();
        if (wait && wait->hasAttr(attr::slot))
          tokens |= 1 << wait->getAttrOfType<IntegerAttr>(attr::slot).getInt();
        return !wait;
      });
      consume->setAttr(attr::tokens, builder.getI32IntegerAttr(tokens));
    });
  }

private:
  /// Whether nothing but waits and arithmetic has a part in the token: no argument of the
  /// kernel, nothing that memory or a library's function has given.
  static bool isKnown(Value token, const CallGraph &calls) {
    llvm::SetVector<Value> work;
    work.insert(token);
    for (size_t i = 0; i < work.size(); ++i) {
      Value value = work[i];
      SmallVector<Value> sources;
      if (getSourceValues(value, calls, sources)) {
        work.insert_range(sources);
        continue;
      }
      Operation *op = value.getDefiningOp();
      if (isa_and_nonnull<WaitOp>(op))
        continue;
      if (op ? !isMemoryEffectFree(op) : isa<tt::FuncOp>(value.getParentBlock()->getParentOp()))
        return false;
      if (op)
        work.insert_range(op->getOperands());
    }
    return true;
  }
};
} // namespace
} // namespace nereid
