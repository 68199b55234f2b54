// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between fp32 and narrower formats in integer arithmetic, on
// scalars and vectors alike.
//
// One description (Format) stands for all of them: bits of the mantissa, the
// bias, and what the top of the range means, where formats differ most:
//
//               infinity   NaN                     too large becomes
//   bf16, f16   yes        above infinity's bits   infinity (towards zero: the largest number)
//   e5m2        yes        above infinity's bits   the largest number: 8 bits saturate
//   e4m3fn      no         all ones                the largest number
//   *fnuz       no         only 0x80 (no -0)       the largest number
//
// Rounding to nearest even is an addition: half a unit of the last place that
// stays, less the smallest step, plus that place's own bit; the carry runs into
// the exponent by itself, and past the largest number into what overflow looks
// like. From fp64 two roundings would differ from one, so the first rounds to
// odd: an inexact result keeps a last bit of 1, which the second cannot mistake
// for a tie.
#include "Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace {

/// Layout of a narrow format.
struct Format {
  int mantissa = 0; // stored bits
  int bias = 0;     // of the exponent
  int bits = 0;     // in all
  bool hasInfinity = false;
  bool noNegativeZero = false; // 0x80 is NaN
  bool saturates = false;
  uint32_t largest = 0; // bits of the largest finite number
  uint32_t nan = 0;

  uint32_t infinity() const { return ((1u << (bits - 1 - mantissa)) - 1) << mantissa; }
};

Format getFormat(FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  Format format;
  format.bits = type.getWidth();
  format.mantissa = type.getFPMantissaWidth() - 1;
  format.bias = 1 - llvm::APFloat::semanticsMinExponent(semantics);
  format.hasInfinity = llvm::APFloat::semanticsHasInf(semantics);
  format.noNegativeZero = isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(type);
  format.saturates = format.bits == 8;
  format.largest = llvm::APFloat::getLargest(semantics).bitcastToAPInt().getZExtValue();
  format.nan = llvm::APFloat::getNaN(semantics).bitcastToAPInt().getZExtValue();
  return format;
}

bool isNarrow(Type element) {
  return element.isBF16() || (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8);
}

/// Short spellings of the operations below.
struct Emitter {
  PatternRewriter &rewriter;
  Location loc;
  Type shape; // scalar or vector type whose shape all values have

  Type like(Type element) const {
    if (auto vector = dyn_cast<VectorType>(shape))
      return vector.clone(element);
    return element;
  }
  Type i(unsigned bits) const { return like(rewriter.getIntegerType(bits)); }
  Type f32() const { return like(rewriter.getF32Type()); }

  Value constant(Type type, uint64_t value) {
    TypedAttr element = rewriter.getIntegerAttr(getElementTypeOrSelf(type), int64_t(value));
    if (auto vector = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(rewriter, loc,
                                       DenseElementsAttr::get(vector, Attribute(element)));
    return arith::ConstantOp::create(rewriter, loc, element);
  }
  Value c(uint32_t value) { return constant(i(32), value); }
  Value f(double value) {
    FloatAttr element = rewriter.getF32FloatAttr(float(value));
    if (auto vector = dyn_cast<VectorType>(f32()))
      return arith::ConstantOp::create(rewriter, loc,
                                       DenseElementsAttr::get(vector, Attribute(element)));
    return arith::ConstantOp::create(rewriter, loc, element);
  }
  Value bitcast(Type type, Value value) {
    return arith::BitcastOp::create(rewriter, loc, type, value);
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(rewriter, loc, condition, yes, no);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(rewriter, loc, predicate, x, y);
  }
  Value gt(Value x, Value y) { return compare(arith::CmpIPredicate::ugt, x, y); }
  Value ge(Value x, Value y) { return compare(arith::CmpIPredicate::uge, x, y); }
  Value lt(Value x, Value y) { return compare(arith::CmpIPredicate::ult, x, y); }
  Value eq(Value x, Value y) { return compare(arith::CmpIPredicate::eq, x, y); }
  Value add(Value x, Value y) { return arith::AddIOp::create(rewriter, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(rewriter, loc, x, y); }
  Value bitAnd(Value x, Value y) { return arith::AndIOp::create(rewriter, loc, x, y); }
  Value bitOr(Value x, Value y) { return arith::OrIOp::create(rewriter, loc, x, y); }
  Value shl(Value x, Value y) { return arith::ShLIOp::create(rewriter, loc, x, y); }
  Value shr(Value x, Value y) { return arith::ShRUIOp::create(rewriter, loc, x, y); }
  Value max(Value x, Value y) { return arith::MaxUIOp::create(rewriter, loc, x, y); }
  Value min(Value x, Value y) { return arith::MinUIOp::create(rewriter, loc, x, y); }

  /// bf16 or fp8 to fp32, exactly.
  Value widen(Value value, FloatType type);
  /// fp32 to a narrow format, to nearest even or towards zero.
  Value narrow(Value value, FloatType type, bool towardsZero);
  /// fp64 to fp32 so that rounding the result again gives what rounding once
  /// would: an inexact result gets an odd last bit.
  Value toOdd(Value value);
  /// fp64 to fp32 towards zero.
  Value truncate(Value value);

private:
  /// Bits of fp64 rounded to fp32 towards zero, and whether that lost something.
  std::pair<Value, Value> truncatedBits(Value value);
};

} // namespace

Value Emitter::widen(Value value, FloatType type) {
  Format format = getFormat(type);
  Value bits = arith::ExtUIOp::create(rewriter, loc, i(32), bitcast(i(format.bits), value));
  if (type.isBF16())
    return bitcast(f32(), shl(bits, c(16)));

  Value magnitude = bitAnd(bits, c((1u << (format.bits - 1)) - 1));
  Value sign = shl(bitAnd(bits, c(1u << (format.bits - 1))), c(32 - format.bits));
  Value normal = add(shl(magnitude, c(23 - format.mantissa)), c(uint32_t(127 - format.bias) << 23));
  // Subnormal: an integer times the smallest step, exact in fp32.
  Value integer = arith::UIToFPOp::create(rewriter, loc, f32(), magnitude);
  Value scaled = arith::MulFOp::create(rewriter, loc, integer,
                                       f(std::ldexp(1.0, 1 - format.bias - format.mantissa)));
  Value result = select(lt(magnitude, c(1u << format.mantissa)), bitcast(i(32), scaled), normal);
  if (format.hasInfinity) {
    Value special = bitOr(shl(magnitude, c(23 - format.mantissa)), c(0x7f800000));
    result = select(ge(magnitude, c(format.infinity())), special, result);
  } else if (format.noNegativeZero) {
    Value isNaN = eq(bits, c(0x80));
    result = select(isNaN, c(0x7fc00000), result);
  } else {
    result = select(eq(magnitude, c(format.nan & 0x7f)), c(0x7fc00000), result);
  }
  return bitcast(f32(), bitOr(result, sign));
}

Value Emitter::narrow(Value value, FloatType type, bool towardsZero) {
  Format format = getFormat(type);
  Value bits = bitcast(i(32), value);
  Value magnitude = bitAnd(bits, c(0x7fffffff));
  Value sign = shl(shr(bits, c(31)), c(format.bits - 1));
  Value result;
  int shift = 23 - format.mantissa;
  if (format.bias == 127) {
    // The exponent ranges agree: drop bits, with a carry from rounding.
    Value rounded = magnitude;
    if (!towardsZero) {
      Value last = bitAnd(shr(magnitude, c(shift)), c(1));
      rounded = add(add(magnitude, c((1u << (shift - 1)) - 1)), last);
    }
    result = shr(rounded, c(shift));
  } else {
    // Mantissa with its leading one, shifted right by the bits that go; below
    // the smallest normal number by more.
    uint32_t smallest = 127 - format.bias + 1; // fp32 exponent field of the smallest normal number
    Value field = shr(magnitude, c(23));
    Value exponent = max(field, c(1));
    Value leading = select(eq(field, c(0)), c(0), c(0x800000));
    Value mantissa = bitOr(bitAnd(magnitude, c(0x7fffff)), leading);
    Value atLeast = max(exponent, c(smallest));
    Value distance = min(add(sub(atLeast, exponent), c(shift)), c(25));
    if (!towardsZero) {
      Value last = bitAnd(shr(mantissa, distance), c(1));
      Value half = sub(shl(c(1), sub(distance, c(1))), c(1));
      mantissa = add(add(mantissa, half), last);
    }
    Value rounded = shr(mantissa, distance);
    result = add(shl(sub(atLeast, c(smallest)), c(format.mantissa)), rounded);
  }
  Value isNaN = gt(magnitude, c(0x7f800000));
  Value isInfinite = eq(magnitude, c(0x7f800000));
  Value overflows = gt(result, c(format.largest));
  if (format.saturates || towardsZero) {
    result = select(overflows, c(format.largest), result);
    if (!format.saturates)
      result = select(isInfinite, c(format.infinity()), result);
  } else {
    result = select(overflows, c(format.infinity()), result);
  }
  if (format.noNegativeZero)
    sign = select(eq(result, c(0)), c(0), sign);
  result = bitOr(result, sign);
  Value nan = c(format.nan);
  if (!format.noNegativeZero)
    nan = bitOr(nan, sign);
  result = select(isNaN, nan, result);
  return bitcast(like(type), arith::TruncIOp::create(rewriter, loc, i(format.bits), result));
}

std::pair<Value, Value> Emitter::truncatedBits(Value value) {
  Type f64 = like(rewriter.getF64Type());
  Value rounded = arith::TruncFOp::create(rewriter, loc, f32(), value);
  Value back = arith::ExtFOp::create(rewriter, loc, f64, rounded);
  Value bits = bitcast(i(32), rounded);
  // Rounded away from zero: one step back, except from zero, which cannot be.
  Value mask = constant(i(64), 0x7fffffffffffffffull);
  Value larger = compare(arith::CmpIPredicate::ugt, bitAnd(bitcast(i(64), back), mask),
                         bitAnd(bitcast(i(64), value), mask));
  Value truncated = select(larger, sub(bits, c(1)), bits);
  Value inexact = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::ONE, back, value);
  return {truncated, inexact};
}

Value Emitter::toOdd(Value value) {
  auto [truncated, inexact] = truncatedBits(value);
  return bitcast(f32(), select(inexact, bitOr(truncated, c(1)), truncated));
}

Value Emitter::truncate(Value value) { return bitcast(f32(), truncatedBits(value).first); }

namespace {

struct ExpandExt : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    auto from = cast<FloatType>(getElementTypeOrSelf(op.getIn().getType()));
    auto to = cast<FloatType>(getElementTypeOrSelf(op.getType()));
    if (!isNarrow(from))
      return failure();
    Emitter emitter{rewriter, op.getLoc(), op.getType()};
    Value value = emitter.widen(op.getIn(), from);
    if (to.getWidth() == 64)
      value = arith::ExtFOp::create(rewriter, op.getLoc(), op.getType(), value);
    else if (isNarrow(to))
      value = emitter.narrow(value, to, /*towardsZero=*/false);
    else if (to.isF16())
      value = arith::TruncFOp::create(rewriter, op.getLoc(), op.getType(), value);
    rewriter.replaceOp(op, value);
    return success();
  }
};

struct ExpandTrunc : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    auto from = cast<FloatType>(getElementTypeOrSelf(op.getIn().getType()));
    auto to = cast<FloatType>(getElementTypeOrSelf(op.getType()));
    bool towardsZero = op.getRoundingmode() == arith::RoundingMode::toward_zero;
    bool fromDouble = from.getWidth() == 64 && to.getWidth() < 32;
    if (to.getWidth() >= 32) {
      if (!towardsZero)
        return failure();
      Emitter emitter{rewriter, op.getLoc(), op.getType()};
      rewriter.replaceOp(op, emitter.truncate(op.getIn()));
      return success();
    }
    if (!isNarrow(to) && !isNarrow(from) && !towardsZero && !fromDouble)
      return failure();
    Emitter emitter{rewriter, op.getLoc(), op.getType()};
    Value value = op.getIn();
    if (fromDouble)
      value = emitter.toOdd(value);
    else if (isNarrow(from))
      value = emitter.widen(value, from);
    else if (from.isF16())
      value = arith::ExtFOp::create(rewriter, op.getLoc(), emitter.f32(), value);
    if (isNarrow(to) || towardsZero)
      value = emitter.narrow(value, to, towardsZero);
    else
      value = arith::TruncFOp::create(rewriter, op.getLoc(), op.getType(), value);
    rewriter.replaceOp(op, value);
    return success();
  }
};

} // namespace

void nereid::cpu::populateNarrowFloatPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandExt, ExpandTrunc>(patterns.getContext());
}
