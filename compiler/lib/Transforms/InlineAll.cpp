// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Transforms/Passes.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDINLINEALL
#include "nereid/Transforms/Passes.h.inc"

namespace {
struct InlineAll : impl::NereidInlineAllBase<InlineAll> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<tt::FuncOp>())
      if (function->hasAttr("noinline"))
        function->setAttr("noinline", mlir::BoolAttr::get(&getContext(), false));
  }
};
} // namespace
} // namespace nereid
