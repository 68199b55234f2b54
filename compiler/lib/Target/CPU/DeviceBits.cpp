// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of device libraries that are not mathematics: on integers, on bits,
// tests and conversions.
#include "DeviceBits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace {

/// Builds on scalars and vectors: constants are splats.
class Functions {
public:
  Functions(OpBuilder &builder, Location loc, ValueRange operands, Type element)
      : b(builder), loc(loc), in(operands), result(like(operands[0], element)) {}

  Value test(StringRef name);
  Value conversion(StringRef name);
  Value integer(StringRef name);

private:
  OpBuilder &b;
  Location loc;
  ValueRange in;
  Type result;

  template <typename Op, typename... Args> Value make(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...).getResult();
  }
  static Type element(Value value) { return getElementTypeOrSelf(value.getType()); }
  static bool isFloat(Value value) { return isa<FloatType>(element(value)); }
  static unsigned width(Value value) { return element(value).getIntOrFloatBitWidth(); }
  static Type like(Value value, Type type) {
    if (auto shaped = dyn_cast<ShapedType>(value.getType()))
      return shaped.clone(type);
    return type;
  }

  Value constant(Type type, TypedAttr scalar) {
    if (auto shaped = dyn_cast<ShapedType>(type))
      return make<arith::ConstantOp>(DenseElementsAttr::get(shaped, Attribute(scalar)));
    return make<arith::ConstantOp>(scalar);
  }
  Value number(Value like, double value) {
    return constant(like.getType(), b.getFloatAttr(element(like), value));
  }
  Value integerConstant(Value like, uint64_t value) {
    return constant(like.getType(),
                    b.getIntegerAttr(element(like), APInt(64, value).trunc(width(like))));
  }
  Value less(Value x, Value y) { return make<arith::CmpIOp>(arith::CmpIPredicate::slt, x, y); }
  Value select(Value condition, Value x, Value y) { return make<arith::SelectOp>(condition, x, y); }
  /// A test's int1 as the int32 that the library returns.
  Value asResult(Value test) {
    return getElementTypeOrSelf(result).isInteger(1) ? test : make<arith::ExtUIOp>(result, test);
  }
  Value toResultWidth(Value value) {
    unsigned to = getElementTypeOrSelf(result).getIntOrFloatBitWidth(), from = width(value);
    if (to == from)
      return value;
    return to < from ? make<arith::TruncIOp>(result, value) : make<arith::ExtUIOp>(result, value);
  }
  Value shiftRight(Value x, unsigned count, bool isSigned) {
    Value amount = integerConstant(x, count);
    return isSigned ? make<arith::ShRSIOp>(x, amount) : make<arith::ShRUIOp>(x, amount);
  }
  Value reverseBits(Value x);
  Value mulHigh(Value x, Value y, bool isSigned);
};

Value Functions::reverseBits(Value x) {
  unsigned bits = width(x);
  static constexpr uint64_t masks[] = {0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f,
                                       0x00ff00ff00ff00ff, 0x0000ffff0000ffff, 0x00000000ffffffff};
  for (unsigned step = 0; (1u << step) < bits; ++step) {
    Value mask = integerConstant(x, masks[step]), amount = integerConstant(x, 1u << step);
    Value high = make<arith::AndIOp>(make<arith::ShRUIOp>(x, amount), mask);
    Value low = make<arith::ShLIOp>(make<arith::AndIOp>(x, mask), amount);
    x = make<arith::OrIOp>(high, low);
  }
  return x;
}

Value Functions::mulHigh(Value x, Value y, bool isSigned) {
  Value high = arith::MulUIExtendedOp::create(b, loc, x, y).getHigh();
  if (!isSigned)
    return high;
  // A negative operand counts 2**bits too much.
  Value zero = integerConstant(x, 0);
  high = make<arith::SubIOp>(high, select(less(x, zero), y, zero));
  return make<arith::SubIOp>(high, select(less(y, zero), x, zero));
}

Value Functions::test(StringRef name) {
  Value x = in[0];
  if (!isFloat(x))
    return {};
  if (name == "isnan")
    return asResult(make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x));
  if (name == "isinf" || name == "finite" || name == "isfinite") {
    Value size = make<math::AbsFOp>(x), inf = number(x, std::numeric_limits<double>::infinity());
    return asResult(make<arith::CmpFOp>(
        name == "isinf" ? arith::CmpFPredicate::OEQ : arith::CmpFPredicate::OLT, size, inf));
  }
  if (name == "signbit") {
    Value bits = make<arith::BitcastOp>(like(x, b.getIntegerType(width(x))), x);
    return asResult(less(bits, integerConstant(bits, 0)));
  }
  if (result != x.getType())
    return {};
  if (name == "saturate")
    return make<arith::MinNumFOp>(make<arith::MaxNumFOp>(x, number(x, 0.0)), number(x, 1.0));
  if (name == "frcp_rn" || name == "drcp_rn")
    return make<arith::DivFOp>(number(x, 1.0), x);
  return {};
}

/// FROM2TO_rn and ..._as_...: types by name, rounding by suffix.
Value Functions::conversion(StringRef name) {
  Value x = in[0];
  if (name.contains("_as_"))
    return width(x) == getElementTypeOrSelf(result).getIntOrFloatBitWidth()
               ? make<arith::BitcastOp>(result, x)
               : Value();
  auto [from, rest] = name.split('2');
  auto [to, rounding] = rest.rsplit('_');
  auto isType = [](StringRef text) {
    return llvm::is_contained({"int", "uint", "ll", "ull", "float", "double"}, text);
  };
  if (!isType(from) || !isType(to) || rounding.size() != 2)
    return {};
  bool toUnsigned = to.starts_with("u"), fromUnsigned = from.starts_with("u");
  if (isFloat(x) && isa<IntegerType>(getElementTypeOrSelf(result))) {
    if (rounding == "rn")
      x = make<math::RoundEvenOp>(x);
    else if (rounding == "rd")
      x = make<math::FloorOp>(x);
    else if (rounding == "ru")
      x = make<math::CeilOp>(x);
    return toUnsigned ? make<arith::FPToUIOp>(result, x) : make<arith::FPToSIOp>(result, x);
  }
  // Integers that always fit do not round; the others only to nearest here.
  bool exact = !isFloat(x) && width(x) == 32 && getElementTypeOrSelf(result).isF64();
  if (rounding != "rn" && !exact)
    return {};
  if (isFloat(x))
    return width(x) > getElementTypeOrSelf(result).getIntOrFloatBitWidth()
               ? make<arith::TruncFOp>(result, x)
               : Value();
  return fromUnsigned ? make<arith::UIToFPOp>(result, x) : make<arith::SIToFPOp>(result, x);
}

Value Functions::integer(StringRef name) {
  Value x = in[0];
  if (isFloat(x)) {
    bool power = name == "powi" && in.size() == 2 && !isFloat(in[1]);
    return power ? make<math::PowFOp>(x, make<arith::SIToFPOp>(x.getType(), in[1])) : Value();
  }
  bool isLong = name.starts_with("ll") || name.starts_with("ull") || name.ends_with("ll");
  if (isLong != (width(x) == 64) && !name.contains("64hi"))
    return {};
  if (in.size() == 1) {
    if (name == "abs" || name == "llabs")
      return make<math::AbsIOp>(x);
    if (name == "popc" || name == "popcll")
      return toResultWidth(make<math::CtPopOp>(x));
    if (name == "clz" || name == "clzll")
      return toResultWidth(make<math::CountLeadingZerosOp>(x));
    if (name == "brev" || name == "brevll")
      return reverseBits(x);
    if (name == "ffs" || name == "ffsll") {
      Value zero = integerConstant(x, 0);
      Value position =
          make<arith::AddIOp>(make<math::CountTrailingZerosOp>(x), integerConstant(x, 1));
      Value none = make<arith::CmpIOp>(arith::CmpIPredicate::eq, x, zero);
      return toResultWidth(select(none, zero, position));
    }
    return {};
  }
  Value y = in[1];
  if (x.getType() != y.getType())
    return {};
  if (in.size() == 3 && (name == "sad" || name == "usad")) {
    Value distance =
        name == "sad" ? make<arith::SubIOp>(make<arith::MaxSIOp>(x, y), make<arith::MinSIOp>(x, y))
                      : make<arith::SubIOp>(make<arith::MaxUIOp>(x, y), make<arith::MinUIOp>(x, y));
    return make<arith::AddIOp>(distance, in[2]);
  }
  if (in.size() != 2)
    return {};
  if (name == "max" || name == "llmax")
    return make<arith::MaxSIOp>(x, y);
  if (name == "umax" || name == "ullmax")
    return make<arith::MaxUIOp>(x, y);
  if (name == "min" || name == "llmin")
    return make<arith::MinSIOp>(x, y);
  if (name == "umin" || name == "ullmin")
    return make<arith::MinUIOp>(x, y);
  if (name == "mulhi" || name == "mul64hi")
    return mulHigh(x, y, /*isSigned=*/true);
  if (name == "umulhi" || name == "umul64hi")
    return mulHigh(x, y, /*isSigned=*/false);
  if (name == "mul24" || name == "umul24") {
    bool isSigned = name == "mul24";
    auto low = [&](Value v) {
      return shiftRight(make<arith::ShLIOp>(v, integerConstant(v, 8)), 8, isSigned);
    };
    return make<arith::MulIOp>(low(x), low(y));
  }
  bool isSigned = !name.starts_with("u");
  if (name == "hadd" || name == "uhadd")
    return make<arith::AddIOp>(make<arith::AndIOp>(x, y),
                               shiftRight(make<arith::XOrIOp>(x, y), 1, isSigned));
  if (name == "rhadd" || name == "urhadd")
    return make<arith::SubIOp>(make<arith::OrIOp>(x, y),
                               shiftRight(make<arith::XOrIOp>(x, y), 1, isSigned));
  return {};
}

} // namespace

Value nereid::cpu::emitDeviceBits(OpBuilder &builder, Location loc, StringRef symbol,
                                  ValueRange operands, Type element) {
  if (!symbol.consume_front("__nv_"))
    return {};
  Functions functions(builder, loc, operands, element);
  if (operands.size() == 1 && (symbol.contains("_as_") || symbol.contains('2')))
    if (Value value = functions.conversion(symbol))
      return value;
  StringRef name = symbol;
  Type first = getElementTypeOrSelf(operands[0].getType());
  if (first.isF32())
    name.consume_back("f");
  else if (first.isF64())
    name.consume_back("d");
  Value value;
  if (operands.size() == 1)
    value = functions.test(name);
  if (!value)
    value = functions.integer(name);
  return value && getElementTypeOrSelf(value.getType()) == element ? value : Value();
}
