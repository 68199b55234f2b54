// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Support/AttributeNames.h"
#include "nereid/Transforms/Passes.h"
#include "nereid/Transforms/ValueFlow.h"

#include "mlir/IR/Builders.h"

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
      int32_t tokens = 0;
      walkSources(consume.getToken(), calls, [&](Value value) {
        auto wait = value.getDefiningOp<WaitOp>();
        if (wait && wait->hasAttr(attr::slot))
          tokens |= 1 << wait->getAttrOfType<IntegerAttr>(attr::slot).getInt();
        return !wait;
      });
      if (tokens)
        consume->setAttr(attr::tokens, builder.getI32IntegerAttr(tokens));
    });
  }
};
} // namespace
} // namespace nereid
