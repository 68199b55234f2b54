// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Dialect/Ascend/IR/Ascend.h"
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Support/AttributeNames.h"
#include "nereid/Transforms/Passes.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDINFERLAUNCHMODE
#include "nereid/Transforms/Passes.h.inc"

namespace {
struct InferLaunchMode : impl::NereidInferLaunchModeBase<InferLaunchMode> {
  using NereidInferLaunchModeBase::NereidInferLaunchModeBase;

  void runOnOperation() override {
    bool mixed = false;
    getOperation().walk([&](mlir::Operation *op) {
      if (mlir::isa<tt::DotOp, tt::DotScaledOp>(op))
        mixed = true;
      else if (auto call = mlir::dyn_cast<distributed::ExternCallOp>(op))
        mixed |= call.getFunction().cores == distributed::LibraryCores::TogetherWithCube;
      else
        mixed |= op->hasAttr(attr::cubeScope);
    });
    // What depends on the vector core is only seen in one function.
    if (mixed && lanes > 1)
      for (auto function : getOperation().getOps<tt::FuncOp>())
        if (function->hasAttr("noinline"))
          function->setAttr("noinline", mlir::BoolAttr::get(&getContext(), false));
    getOperation()->setAttr(attr::launchMode,
                            mlir::StringAttr::get(&getContext(), mixed ? "cv1:2" : "cv0:1"));
  }
};
} // namespace
} // namespace nereid
