// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Transforms/Passes.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDFOLDDOTACCUMULATOR
#include "nereid/Transforms/Passes.h.inc"

using namespace mlir;

namespace {

/// True for a tile of zeros, splatted or constant.
bool isZero(Value value) {
  if (auto splat = value.getDefiningOp<tt::SplatOp>())
    value = splat.getSrc();
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

template <typename Add> struct AddOfDot : OpRewritePattern<Add> {
  using OpRewritePattern<Add>::OpRewritePattern;

  LogicalResult matchAndRewrite(Add add, PatternRewriter &rewriter) const final {
    return success(succeeded(rewrite(add, add.getLhs(), add.getRhs(), rewriter)) ||
                   succeeded(rewrite(add, add.getRhs(), add.getLhs(), rewriter)));
  }

private:
  LogicalResult rewrite(Add add, Value product, Value accumulator,
                        PatternRewriter &rewriter) const {
    auto dot = product.getDefiningOp<tt::DotOp>();
    if (!dot || !dot->hasOneUse() || dot.getMaxNumImpreciseAcc() != 0 || !isZero(dot.getC()))
      return failure();
    // Narrower sums would round after each step instead of once.
    Type element = cast<RankedTensorType>(dot.getType()).getElementType();
    if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
      return failure();
    // The accumulator may be computed after the product.
    rewriter.setInsertionPoint(add);
    auto fused = cast<tt::DotOp>(rewriter.clone(*dot));
    fused.getCMutable().assign(accumulator);
    rewriter.replaceOp(add, fused);
    rewriter.eraseOp(dot);
    return success();
  }
};

struct FoldDotAccumulator : impl::NereidFoldDotAccumulatorBase<FoldDotAccumulator> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<AddOfDot<arith::AddFOp>, AddOfDot<arith::AddIOp>>(&getContext());
    GreedyRewriteConfig config;
    config.enableFolding(false).setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
} // namespace nereid
