// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's canonicalizer in two steps. Whatever it changes puts the operations
// around the change on its list again, and an operation with a body is looked at
// by walking over the body: in a loop of n operations that take n changes, n * n
// steps. So the operations without a body come first, by themselves; when the
// others' turn comes, little is left to change in them.
#include "nereid/Transforms/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDCANONICALIZE
#include "nereid/Transforms/Passes.h.inc"

using namespace mlir;

namespace {

struct Canonicalize : impl::NereidCanonicalizeBase<Canonicalize> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet all(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(all);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      op.getCanonicalizationPatterns(all, context);
    patterns = FrozenRewritePatternSet(std::move(all));
    return success();
  }

  void runOnOperation() override {
    SmallVector<Operation *> leaves;
    getOperation()->walk([&](Operation *op) {
      if (!op->getNumRegions() && !op->hasTrait<OpTrait::IsTerminator>())
        leaves.push_back(op);
    });
    if (leaves.empty())
      return;
    GreedyRewriteConfig onlyLeaves;
    onlyLeaves.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    (void)applyOpPatternsGreedily(leaves, patterns, onlyLeaves);
    // No fixed point after the usual number of rounds is no error.
    (void)applyPatternsGreedily(getOperation(), patterns);
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
} // namespace nereid
