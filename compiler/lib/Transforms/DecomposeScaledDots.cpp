// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tl.dot_scaled as dots of fp32. Both steps before the product are exact or
// round once: fp32 holds every number of every format, and a scale is a power
// of two, so that the product with it only moves the exponent (it rounds, or
// overflows, only at the ends of fp32's range). Hence the result is that of
// exact operands and an IEEE product in fp32.
//
// For two formats there is no conversion among the operations. They are decoded
// by integer arithmetic on whole tiles:
//
//   e2m1  s e e m    two in a byte, the low half first. Bits e e m, moved to where fp32 has
//                    its exponent's end and its mantissa's begin, plus the difference of the
//                    biases, are the number; 0 and 0.5, which is subnormal, are selected.
//   e8m0  e e e e e e e e    the exponent of fp32 itself: shifted into place. 0 would read
//                    as zero and is 2^-127, a subnormal of fp32; 255 is NaN.
//
// Unpacking is a join of the low and high halves whose new dimension is moved
// behind the packed one and merged with it; a scale is spread over its group of
// elements by a broadcast and a reshape. Both are plain shape operations that
// every target knows.
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Transforms/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDDECOMPOSESCALEDDOTS
#include "nereid/Transforms/Passes.h.inc"

using namespace mlir;

namespace {

/// Tiles of one operation's decomposition.
struct Emitter {
  OpBuilder &builder;
  Location loc;

  static ArrayRef<int64_t> shape(Value x) { return cast<RankedTensorType>(x.getType()).getShape(); }
  static Type element(Value x) { return cast<RankedTensorType>(x.getType()).getElementType(); }
  Type like(Value x, Type element) { return RankedTensorType::get(shape(x), element); }
  Value constant(Value like, int64_t value) {
    auto type = cast<RankedTensorType>(like.getType());
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(type,
                               Attribute(builder.getIntegerAttr(type.getElementType(), value))));
  }
  Value bitcast(Value x, Type to) {
    return element(x) == to ? x : Value(tt::BitcastOp::create(builder, loc, like(x, to), x));
  }
  Value reshape(Value x, ArrayRef<int64_t> to) {
    return tt::ReshapeOp::create(builder, loc, RankedTensorType::get(to, element(x)), x,
                                 /*allow_reorder=*/false,
                                 /*efficient_layout=*/false);
  }
  Value transpose(Value x, ArrayRef<int32_t> order) {
    SmallVector<int64_t> to;
    for (int32_t dim : order)
      to.push_back(shape(x)[dim]);
    return tt::TransOp::create(builder, loc, RankedTensorType::get(to, element(x)), x, order);
  }
  Value equals(Value x, int64_t value) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, x, constant(x, value));
  }
  Value select(Value condition, int64_t yes, Value no) {
    return arith::SelectOp::create(builder, loc, condition, constant(no, yes), no);
  }

  /// Two four-bit numbers of each byte, the low one first, as 32-bit integers;
  /// dimension `dim` doubles.
  Value unpack(Value x, int64_t dim) {
    x = arith::ExtUIOp::create(builder, loc, like(x, builder.getI32Type()),
                               bitcast(x, builder.getI8Type()));
    Value low = arith::AndIOp::create(builder, loc, x, constant(x, 15));
    Value high = arith::ShRUIOp::create(builder, loc, x, constant(x, 4));
    SmallVector<int64_t> to(shape(x));
    int64_t rank = to.size();
    to.push_back(2);
    Value pairs =
        tt::JoinOp::create(builder, loc, RankedTensorType::get(to, element(x)), low, high);
    if (dim != rank - 1) {
      SmallVector<int32_t> order;
      for (int64_t d = 0; d <= rank; ++d)
        order.push_back(d <= dim ? d : d == dim + 1 ? rank : d - 1);
      pairs = transpose(pairs, order);
    }
    to.assign(shape(x).begin(), shape(x).end());
    to[dim] *= 2;
    return reshape(pairs, to);
  }

  /// e2m1 (sign, two bits of exponent, one of mantissa; 0 .5 1 1.5 2 3 4 6).
  Value fromE2M1(Value n) {
    Value magnitude = arith::AndIOp::create(builder, loc, n, constant(n, 7));
    Value sign = arith::ShLIOp::create(
        builder, loc, arith::ShRUIOp::create(builder, loc, n, constant(n, 3)), constant(n, 31));
    Value bits = arith::AddIOp::create(
        builder, loc, arith::ShLIOp::create(builder, loc, magnitude, constant(n, 22)),
        constant(n, 126 << 23));
    bits = select(equals(magnitude, 1), 126 << 23, bits);
    bits = select(equals(magnitude, 0), 0, bits);
    return bitcast(arith::OrIOp::create(builder, loc, bits, sign), builder.getF32Type());
  }

  /// An operand's elements as fp32, which holds all formats exactly.
  Value widen(Value x, tt::ScaleDotElemType format, int64_t packedDim) {
    switch (format) {
    case tt::ScaleDotElemType::E2M1:
      return fromE2M1(unpack(x, packedDim));
    case tt::ScaleDotElemType::E4M3:
      x = bitcast(x, Float8E4M3FNType::get(builder.getContext()));
      break;
    case tt::ScaleDotElemType::E5M2:
      x = bitcast(x, Float8E5M2Type::get(builder.getContext()));
      break;
    case tt::ScaleDotElemType::BF16:
      x = bitcast(x, builder.getBF16Type());
      break;
    case tt::ScaleDotElemType::FP16:
      x = bitcast(x, builder.getF16Type());
      break;
    default:
      return {};
    }
    if (element(x).getIntOrFloatBitWidth() == 8)
      return tt::FpToFpOp::create(builder, loc, like(x, builder.getF32Type()), x,
                                  tt::RoundingModeAttr());
    return arith::ExtFOp::create(builder, loc, like(x, builder.getF32Type()), x);
  }

  /// e8m0 scales [.., rows, groups] as fp32 factors [.., rows, k].
  Value factors(Value scale, int64_t k) {
    Type i32 = builder.getI32Type();
    Value n = arith::ExtUIOp::create(builder, loc, like(scale, i32), scale);
    Value bits = arith::ShLIOp::create(builder, loc, n, constant(n, 23));
    bits = select(equals(n, 0), 1 << 22, bits);      // 2^-127 is subnormal
    bits = select(equals(n, 255), 0x7fc00000, bits); // NaN
    Value factor = bitcast(bits, builder.getF32Type());
    SmallVector<int64_t> to(shape(scale));
    int64_t rank = to.size(), group = k / to.back();
    to.push_back(1);
    Value spread = tt::ExpandDimsOp::create(
        builder, loc, RankedTensorType::get(to, builder.getF32Type()), factor, uint32_t(rank));
    to.back() = group;
    spread = tt::BroadcastOp::create(builder, loc, RankedTensorType::get(to, builder.getF32Type()),
                                     spread);
    to.pop_back();
    to.back() = k;
    return reshape(spread, to);
  }
};

struct Decompose : OpRewritePattern<tt::DotScaledOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tt::DotScaledOp op, PatternRewriter &rewriter) const final {
    Emitter e{rewriter, op.getLoc()};
    int64_t rank = Emitter::shape(op.getA()).size();
    Value a = e.widen(op.getA(), op.getAElemType(), op.getLhsKPack() ? rank - 1 : rank - 2);
    Value b = e.widen(op.getB(), op.getBElemType(), op.getRhsKPack() ? rank - 2 : rank - 1);
    if (!a || !b)
      return op.emitError("has an element format that is not known");
    int64_t k = Emitter::shape(a).back();
    if (Value scale = op.getAScale())
      a = arith::MulFOp::create(rewriter, op.getLoc(), a, e.factors(scale, k));
    if (Value scale = op.getBScale()) {
      // Scales of the right operand lie by its columns.
      SmallVector<int32_t> order;
      for (int64_t d = 0; d < rank; ++d)
        order.push_back(d < rank - 2 ? d : d == rank - 2 ? rank - 1 : rank - 2);
      b = arith::MulFOp::create(rewriter, op.getLoc(), b, e.transpose(e.factors(scale, k), order));
    }
    rewriter.replaceOpWithNewOp<tt::DotOp>(op, op.getC().getType(), a, b, op.getC(),
                                           tt::InputPrecision::IEEE, uint32_t(0));
    return success();
  }
};

struct DecomposeScaledDots : impl::NereidDecomposeScaledDotsBase<DecomposeScaledDots> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<Decompose>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace nereid
