// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Canonical forms: what is the same in every lane is computed once as a scalar
// and splatted as late as possible; masks that decide nothing disappear.
#include "nereid/Dialect/Triton/IR/Triton.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace nereid::tt {

namespace {

//===----------------------------------------------------------------------===//
// Shape operations
//===----------------------------------------------------------------------===//

/// A shape operation of a splat is a splat.
template <typename Op> struct ShapeOfSplat : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const final {
    auto splat = op.getSrc().template getDefiningOp<SplatOp>();
    if (!splat)
      return failure();
    rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), splat.getSrc());
    return success();
  }
};

struct BroadcastOfBroadcast : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const final {
    auto inner = op.getSrc().getDefiningOp<BroadcastOp>();
    if (!inner)
      return failure();
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getSrc());
    return success();
  }
};

struct ReshapeOfReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const final {
    auto inner = op.getSrc().getDefiningOp<ReshapeOp>();
    // An order left open by one of them is left open by both together only when
    // the inner one keeps it.
    if (!inner || inner.getAllowReorder())
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getSrcMutable().assign(inner.getSrc()); });
    return success();
  }
};

struct TransOfTrans : OpRewritePattern<TransOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransOp op, PatternRewriter &rewriter) const final {
    auto inner = op.getSrc().getDefiningOp<TransOp>();
    if (!inner)
      return failure();
    SmallVector<int32_t> order;
    for (int32_t dim : op.getOrder())
      order.push_back(inner.getOrder()[dim]);
    rewriter.replaceOpWithNewOp<TransOp>(op, op.getType(), inner.getSrc(),
                                         rewriter.getDenseI32ArrayAttr(order));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Pointer arithmetic. Offsets are sign-extended and added modulo 2^64, so the
// order of the additions does not matter; the offsets themselves are not added,
// since that could overflow in their own width.
//===----------------------------------------------------------------------===//

/// The scalar of which every lane of `tile` is a copy, made at the rewriter's
/// insertion point when it was a constant; null when there is none.
Value getSplatted(Value tile, PatternRewriter &rewriter, Location loc) {
  if (auto splat = tile.getDefiningOp<SplatOp>())
    return splat.getSrc();
  SplatElementsAttr constant;
  if (matchPattern(tile, m_Constant(&constant)))
    return arith::ConstantOp::create(rewriter, loc,
                                     cast<TypedAttr>(constant.getSplatValue<Attribute>()));
  return {};
}

bool isSplatted(Value tile) {
  return tile.getDefiningOp<SplatOp>() ||
         matchPattern(tile, m_Constant<SplatElementsAttr>(nullptr));
}

/// addptr(splat(p), splat(o)) -> splat(addptr(p, o))
struct AddPtrOfSplats : OpRewritePattern<AddPtrOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AddPtrOp op, PatternRewriter &rewriter) const final {
    auto pointer = op.getPtr().getDefiningOp<SplatOp>();
    if (!pointer || !isSplatted(op.getOffset()))
      return failure();
    Value offset = getSplatted(op.getOffset(), rewriter, op.getLoc());
    Value moved = AddPtrOp::create(rewriter, op.getLoc(), pointer.getSrc().getType(),
                                   pointer.getSrc(), offset);
    rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), moved);
    return success();
  }
};

/// addptr(addptr(p, splat(a)), splat(b)) -> addptr(p, splat(a + b)), the sum in
/// 64 bits.
struct UniformOffsetsAdd : OpRewritePattern<AddPtrOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AddPtrOp op, PatternRewriter &rewriter) const final {
    auto inner = op.getPtr().getDefiningOp<AddPtrOp>();
    if (!inner || !isSplatted(op.getOffset()) || !isSplatted(inner.getOffset()))
      return failure();
    auto widen = [&](Value tile) {
      Value scalar = getSplatted(tile, rewriter, op.getLoc());
      if (scalar.getType().isInteger(64))
        return scalar;
      return arith::ExtSIOp::create(rewriter, op.getLoc(), rewriter.getI64Type(), scalar)
          .getResult();
    };
    Value a = widen(inner.getOffset()), b = widen(op.getOffset());
    Value sum = arith::AddIOp::create(rewriter, op.getLoc(), a, b);
    Value offset =
        SplatOp::create(rewriter, op.getLoc(), getTypeLike(op.getType(), sum.getType()), sum);
    rewriter.replaceOpWithNewOp<AddPtrOp>(op, op.getType(), inner.getPtr(), offset);
    return success();
  }
};

/// addptr(addptr(p, tile), splat(o)) -> addptr(addptr(p, splat(o)), tile): the
/// part common to all lanes goes to the base.
struct UniformOffsetFirst : OpRewritePattern<AddPtrOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AddPtrOp op, PatternRewriter &rewriter) const final {
    auto inner = op.getPtr().getDefiningOp<AddPtrOp>();
    if (!inner || !inner->hasOneUse() || inner->getBlock() != op->getBlock() ||
        !isSplatted(op.getOffset()) || isSplatted(inner.getOffset()))
      return failure();
    Value base =
        AddPtrOp::create(rewriter, op.getLoc(), op.getType(), inner.getPtr(), op.getOffset());
    rewriter.replaceOpWithNewOp<AddPtrOp>(op, op.getType(), base, inner.getOffset());
    return success();
  }
};

/// addptr(broadcast(p), splat(o)) -> broadcast(addptr(p, splat(o))), and the
/// same for expand_dims.
template <typename Shape> struct UniformOffsetThroughShape : OpRewritePattern<AddPtrOp> {
  using OpRewritePattern<AddPtrOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(AddPtrOp op, PatternRewriter &rewriter) const final {
    auto shape = op.getPtr().getDefiningOp<Shape>();
    if (!shape || !shape->hasOneUse() || shape->getBlock() != op->getBlock() ||
        !isSplatted(op.getOffset()))
      return failure();
    Value offset = getSplatted(op.getOffset(), rewriter, op.getLoc());
    Type source = shape.getSrc().getType();
    Value tile =
        SplatOp::create(rewriter, op.getLoc(), getTypeLike(source, offset.getType()), offset);
    Value moved = AddPtrOp::create(rewriter, op.getLoc(), source, shape.getSrc(), tile);
    rewriter.modifyOpInPlace(shape, [&] { shape.getSrcMutable().assign(moved); });
    shape->moveBefore(op);
    rewriter.replaceOp(op, shape.getResult());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// What a mask is in every lane, when that is known.
std::optional<bool> getConstantMask(Value mask) {
  Attribute value;
  if (!mask)
    return std::nullopt;
  if (auto splat = mask.getDefiningOp<SplatOp>())
    mask = splat.getSrc();
  if (!matchPattern(mask, m_Constant(&value)))
    return std::nullopt;
  if (auto splat = dyn_cast<SplatElementsAttr>(value))
    return splat.getSplatValue<bool>();
  if (auto scalar = dyn_cast<IntegerAttr>(value))
    return !scalar.getValue().isZero();
  return std::nullopt;
}

struct LoadOfConstantMask : OpRewritePattern<LoadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LoadOp op, PatternRewriter &rewriter) const final {
    std::optional<bool> mask = getConstantMask(op.getMask());
    if (!mask)
      return failure();
    if (*mask) {
      rewriter.modifyOpInPlace(op, [&] {
        op.getOtherMutable().clear();
        op.getMaskMutable().clear();
      });
      return success();
    }
    // Nothing is read.
    if (op.getOther()) {
      rewriter.replaceOp(op, op.getOther());
      return success();
    }
    TypedAttr zero = rewriter.getZeroAttr(op.getType());
    if (!zero)
      return failure();
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, zero);
    return success();
  }
};

struct StoreOfConstantMask : OpRewritePattern<StoreOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(StoreOp op, PatternRewriter &rewriter) const final {
    std::optional<bool> mask = getConstantMask(op.getMask());
    if (!mask)
      return failure();
    if (*mask)
      rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
    else
      rewriter.eraseOp(op);
    return success();
  }
};

struct AtomicOfTrueMask : OpRewritePattern<AtomicRMWOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AtomicRMWOp op, PatternRewriter &rewriter) const final {
    if (!getConstantMask(op.getMask()).value_or(false))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
    return success();
  }
};

} // namespace

void ExpandDimsOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ShapeOfSplat<ExpandDimsOp>>(context);
}
void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ShapeOfSplat<BroadcastOp>, BroadcastOfBroadcast>(context);
}
void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ShapeOfSplat<ReshapeOp>, ReshapeOfReshape>(context);
}
void TransOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ShapeOfSplat<TransOp>, TransOfTrans>(context);
}
void AddPtrOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<AddPtrOfSplats, UniformOffsetsAdd, UniformOffsetFirst,
               UniformOffsetThroughShape<BroadcastOp>, UniformOffsetThroughShape<ExpandDimsOp>>(
      context);
}
void LoadOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<LoadOfConstantMask>(context);
}
void StoreOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<StoreOfConstantMask>(context);
}
void AtomicRMWOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<AtomicOfTrueMask>(context);
}

} // namespace nereid::tt
