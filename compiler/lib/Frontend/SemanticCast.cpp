// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Casts. fp16 and bf16 reach each other, the integers and fp64 through fp32;
// fp8 types are reached by tt.fp_to_fp only.
//
// Casts of the language are more than operations of the IR: fp8 has casts to
// and from other floats only, half precision goes through fp32, and fp8e4b15
// has no type in the IR at all. So cast() is recursive: it splits one that the
// IR lacks into two that it has, the first of which loses nothing that the
// second would keep. Signedness is a matter of the front end: the IR's integers
// have none, and between int32 and uint32 nothing is emitted.
#include "Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace nereid;
using namespace nereid::frontend;
namespace arith = mlir::arith;

/// x != 0, where 0 is of x's type.
static Tensor notZero(Semantic &s, const Tensor &x, const SourceRange &range) {
  Tensor zero = s.full(x.type.shape(), x.type.isFloating() ? Value(0.0) : Value(Int(0)),
                       x.type.element(), range);
  Type type = x.type.withElement(Scalar::Int1);
  if (x.type.isFloating())
    return s.wrap(
        s.emit<arith::CmpFOp>(range, arith::CmpFPredicate::UNE, x.handle, zero.handle).getResult(),
        type, range);
  return s.wrap(
      s.emit<arith::CmpIOp>(range, arith::CmpIPredicate::ne, x.handle, zero.handle).getResult(),
      type, range);
}

//===----------------------------------------------------------------------===//
// fp8e4b15: sign, four bits of exponent with bias 15, three of mantissa, no
// infinities and no NaN. It has no type in the IR; its values are 8-bit integers.
//===----------------------------------------------------------------------===//

/// Its exponents are those of fp16: the same bits, shifted.
static Tensor fromE4B15(Semantic &s, const Tensor &x, const SourceRange &range) {
  auto op = [&](BinaryOp kind, const Value &a, const Value &b) {
    return s.binary(kind, a, b, range).as<Tensor>();
  };
  Tensor bits = s.wrap(x.handle, x.type.withElement(Scalar::UInt8), range);
  bits = s.cast(bits, Scalar::UInt16, range);
  Tensor magnitude = op(BinaryOp::LShift, op(BinaryOp::BitAnd, bits, Int(0x7f)), Int(7));
  Tensor sign = op(BinaryOp::LShift, op(BinaryOp::BitAnd, bits, Int(0x80)), Int(8));
  return s.bitcast(op(BinaryOp::BitOr, magnitude, sign), Scalar::Fp16, range);
}

/// 256 times a number has the bits of fp8e4nv, but for the greatest magnitude,
/// 1.875, which is a NaN there. Everything greater, and NaN, becomes that.
static Tensor toE4B15(Semantic &s, Tensor x, bool towardsZero, const SourceRange &range) {
  if (x.type.scalar() != Scalar::Fp64)
    x = s.cast(x, Scalar::Fp32, range);
  x = s.binary(BinaryOp::Mult, x, 256.0, range).as<Tensor>();
  Tensor narrow = towardsZero ? s.castRounding(x, Scalar::Fp8E4NV, "rtz", range)
                              : s.cast(x, Scalar::Fp8E4NV, range);
  Tensor bits = s.bitcast(narrow, Scalar::UInt8, range);
  // Above the middle of 448 and 480 it is nearer to the latter.
  Value limit = towardsZero ? 480.0 : 464.0;
  Tensor above =
      s.logical(false, s.compare(towardsZero ? CompareOp::GtE : CompareOp::Gt, x, limit, range),
                s.compare(towardsZero ? CompareOp::LtE : CompareOp::Lt, x,
                          towardsZero ? -480.0 : -464.0, range),
                range)
          .as<Tensor>();
  Tensor greatest = s.binary(BinaryOp::BitOr, bits, Int(0x7f), range).as<Tensor>();
  Tensor result = s.select(above, greatest, bits, range);
  return s.wrap(result.handle, x.type.withElement(Scalar::Fp8E4B15), range);
}

static Tensor castPointer(Semantic &s, const Tensor &x, const Type &from, const Type &to,
                          const Type &result, const SourceRange &range) {
  mlir::Type lowered = result.lower(s.builder.getContext());
  if (from.isPointerLike() && to.isPointerLike()) {
    if (lowered == x.handle.getType())
      return s.wrap(x.handle, result, range);
    return s.wrap(s.emit<tt::BitcastOp>(range, lowered, x.handle).getResult(), result, range);
  }
  if (from.isPointerLike()) {
    if (!to.isInteger() || (to.bits() != 64 && !to.isBool()))
      fail(Diag::cast_invalid, range, Value(x).describe(), to.str(),
           "pointers become tl.int64, tl.uint64 or tl.int1");
    Type wide = x.type.withElement(to.isBool() ? Type(Scalar::Int64) : to);
    Tensor integer = s.wrap(
        s.emit<tt::PtrToIntOp>(range, wide.lower(s.builder.getContext()), x.handle).getResult(),
        wide, range);
    return to.isBool() ? notZero(s, integer, range) : integer;
  }
  if (!from.isInteger())
    fail(Diag::cast_invalid, range, Value(x).describe(), to.str(), "only integers become pointers");
  Tensor wide =
      from.bits() == 64 ? x : s.cast(x, from.isSigned() ? Scalar::Int64 : Scalar::UInt64, range);
  return s.wrap(s.emit<tt::IntToPtrOp>(range, lowered, wide.handle).getResult(), result, range);
}

Tensor Semantic::cast(const Tensor &value, Type target, const SourceRange &range) {
  Type from = value.type.element(), to = target.element();
  if (value.type.isBlockPointer() || value.type.isDescriptor() || to.isVoid())
    fail(Diag::cast_invalid, range, Value(value).describe(), target.str(), "");
  if (from == to)
    return value;
  Type result = value.type.withElement(to);
  mlir::Type lowered = result.lower(builder.getContext());
  auto made = [&](mlir::Value handle) { return wrap(handle, result, range); };
  if (from.isPointerLike() || to.isPointerLike())
    return castPointer(*this, value, from, to, result, range);
  if (from.scalar() == Scalar::Fp8E4B15)
    return cast(fromE4B15(*this, value, range), to, range);
  if (to.scalar() == Scalar::Fp8E4B15)
    return toE4B15(*this, value, false, range);

  // fp8: everything but another float goes through fp32, another fp8 through fp16.
  if (from.isFp8() || to.isFp8()) {
    if (!from.isFloating() || !to.isFloating() || from == Type(Scalar::Fp64))
      return from == Type(Scalar::Fp64) && to.isFp8()
                 ? made(emit<tt::FpToFpOp>(
                       range, lowered, value.handle,
                       tt::RoundingModeAttr::get(builder.getContext(), tt::RoundingMode::RTNE)))
                 : cast(cast(value, Scalar::Fp32, range), to, range);
    if (from.isFp8() && (to.isFp8() || to == Type(Scalar::Fp64)))
      return cast(cast(value, to.isFp8() ? Scalar::Fp16 : Scalar::Fp32, range), to, range);
    tt::RoundingModeAttr rounding;
    if (to.isFp8())
      rounding = tt::RoundingModeAttr::get(builder.getContext(), tt::RoundingMode::RTNE);
    return made(emit<tt::FpToFpOp>(range, lowered, value.handle, rounding));
  }

  bool half = from == Type(Scalar::Fp16) || from == Type(Scalar::BF16);
  if (half && to != Type(Scalar::Fp32) && !to.isBool())
    return cast(cast(value, Scalar::Fp32, range), to, range);

  if (to.isBool())
    return notZero(*this, value, range);
  if (from.isFloating() && to.isFloating()) {
    if (from.bits() > to.bits())
      return made(emit<arith::TruncFOp>(range, lowered, value.handle).getResult());
    return made(emit<arith::ExtFOp>(range, lowered, value.handle).getResult());
  }
  if (from.isFloating()) {
    if (to.isSigned())
      return made(emit<arith::FPToSIOp>(range, lowered, value.handle).getResult());
    return made(emit<arith::FPToUIOp>(range, lowered, value.handle).getResult());
  }
  if (to.isFloating()) {
    if (from.isSigned())
      return made(emit<arith::SIToFPOp>(range, lowered, value.handle).getResult());
    return made(emit<arith::UIToFPOp>(range, lowered, value.handle).getResult());
  }
  if (from.bits() == to.bits())
    return made(value.handle); // only the signedness changes
  if (from.bits() > to.bits())
    return made(emit<arith::TruncIOp>(range, lowered, value.handle).getResult());
  if (from.isSigned())
    return made(emit<arith::ExtSIOp>(range, lowered, value.handle).getResult());
  return made(emit<arith::ExtUIOp>(range, lowered, value.handle).getResult());
}

Tensor Semantic::castRounding(const Tensor &value, Type target, llvm::StringRef rounding,
                              const SourceRange &range) {
  Type from = value.type.element(), to = target.element();
  if (from == to)
    return value;
  bool narrows = from.isFloating() && to.isFloating() && from.bits() > to.bits();
  if (!narrows)
    fail(Diag::rounding_invalid, range, from.str(), to.str());
  if (rounding == "rtne")
    return cast(value, target, range);
  if (to.scalar() == Scalar::Fp8E4B15)
    return toE4B15(*this, value, true, range);
  Type result = value.type.withElement(to);
  auto mode = tt::RoundingModeAttr::get(builder.getContext(), tt::RoundingMode::RTZ);
  return wrap(emit<tt::FpToFpOp>(range, result.lower(builder.getContext()), value.handle, mode),
              result, range);
}

Tensor Semantic::castSaturating(const Tensor &value, Type target, const SourceRange &range) {
  Type from = value.type.element(), to = target.element();
  if (!to.isInteger() || to.isBool() || from.isPointerLike())
    return cast(value, target, range);
  Int one = 1;
  Int low = to.isUnsigned() ? Int(0) : -(one << (to.bits() - 1));
  Int high = (one << (to.isUnsigned() ? to.bits() : to.bits() - 1)) - 1;
  if (from.isInteger()) {
    // Clamp in 64 bits where the source's own range exceeds the target's.
    Tensor x = value;
    Int sourceLow = from.isUnsigned() ? Int(0) : -(one << (from.bits() - 1));
    Int sourceHigh = (one << (from.isUnsigned() ? from.bits() : from.bits() - 1)) - 1;
    auto clamp = [&](Int bound, CompareOp op) {
      Tensor limit = full(x.type.shape(), bound, from, range);
      Tensor keep = compare(op, x, limit, range).as<Tensor>();
      x = select(keep, x, limit, range);
    };
    if (low > sourceLow)
      clamp(low, CompareOp::GtE);
    if (high < sourceHigh)
      clamp(high, CompareOp::LtE);
    return cast(x, target, range);
  }
  // Floats: 2^bits is exact in every format wide enough, the bounds may not be.
  Tensor x = from == Type(Scalar::Fp64) ? value : cast(value, Scalar::Fp32, range);
  Type wide = x.type.element();
  auto number = [&](double bound) { return full(x.type.shape(), bound, wide, range); };
  Tensor isNan = compare(CompareOp::NotEq, x, x, range).as<Tensor>();
  Tensor tooLarge =
      compare(CompareOp::GtE, x, number(double(high) + (to.bits() < 53 ? 1.0 : 0.0)), range)
          .as<Tensor>();
  Tensor tooSmall = compare(CompareOp::LtE, x, number(double(low)), range).as<Tensor>();
  Tensor outside =
      logical(false, logical(false, isNan, tooLarge, range), tooSmall, range).as<Tensor>();
  Tensor safe = select(outside, number(0), x, range);
  Tensor result = cast(safe, target, range);
  auto integer = [&](Int bound) { return full(x.type.shape(), bound, to, range); };
  result = select(tooLarge, integer(high), result, range);
  return select(tooSmall, integer(low), result, range);
}

Tensor Semantic::bitcast(const Tensor &value, Type target, const SourceRange &range) {
  Type from = value.type.element(), to = target.element();
  if (from == to)
    return value;
  if (value.type.isBlockPointer() || value.type.isDescriptor() || to.isVoid())
    fail(Diag::cast_invalid, range, Value(value).describe(), target.str(), "");
  if (from.isPointerLike() || to.isPointerLike())
    return cast(value, target, range);
  if (from.bits() != to.bits())
    fail(Diag::bitcast_width, range, from.str(), from.bits(), to.str(), to.bits());
  Type result = value.type.withElement(to);
  mlir::Type lowered = result.lower(builder.getContext());
  if (lowered == value.handle.getType())
    return wrap(value.handle, result, range);
  return wrap(emit<tt::BitcastOp>(range, lowered, value.handle).getResult(), result, range);
}
