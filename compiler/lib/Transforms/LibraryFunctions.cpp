// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LibraryFunctions.h"

#include "nereid/Dialect/Triton/IR/Triton.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numbers>

using namespace mlir;

namespace nereid {
namespace {

/// Builds on operands of any shape: constants are splats.
class Functions {
public:
  Functions(OpBuilder &builder, Location loc, ValueRange operands, Type result)
      : b(builder), loc(loc), in(operands), result(result) {}

  Value unary(StringRef name);
  Value binary(StringRef name);
  Value ternary(StringRef name);
  Value quaternary(StringRef name);
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
  Type like(Value value, Type type) { return tt::getTypeLike(value.getType(), type); }
  Type integersLike(Value value) { return like(value, b.getIntegerType(width(value))); }

  Value constant(Type type, TypedAttr scalar) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      return make<arith::ConstantOp>(DenseElementsAttr::get(tensor, Attribute(scalar)));
    return make<arith::ConstantOp>(scalar);
  }
  Value number(Value like, double value) {
    return constant(like.getType(), b.getFloatAttr(element(like), value));
  }
  Value integerConstant(Value like, uint64_t value) {
    unsigned bits = width(like);
    return constant(like.getType(), b.getIntegerAttr(element(like), APInt(64, value).trunc(bits)));
  }
  Value less(Value x, Value y) { return make<arith::CmpIOp>(arith::CmpIPredicate::slt, x, y); }
  Value select(Value condition, Value x, Value y) { return make<arith::SelectOp>(condition, x, y); }
  /// A test's int1 as the int32 that the library returns.
  Value asResult(Value test) {
    return getElementTypeOrSelf(result).isInteger(1) ? test : make<arith::ExtUIOp>(result, test);
  }
  Value toResultWidth(Value value, bool isSigned) {
    unsigned to = getElementTypeOrSelf(result).getIntOrFloatBitWidth(), from = width(value);
    if (to == from)
      return value;
    if (to < from)
      return make<arith::TruncIOp>(result, value);
    return isSigned ? make<arith::ExtSIOp>(result, value) : make<arith::ExtUIOp>(result, value);
  }

  Value square(Value x) { return make<arith::MulFOp>(x, x); }
  Value hypotenuse(ValueRange values);
  Value powerOfTwo(Value x, Value exponent);
  Value timesPi(Value x);
  Value reverseBits(Value x);
  Value mulHigh(Value x, Value y, bool isSigned);
  Value shiftRight(Value x, unsigned count, bool isSigned) {
    Value amount = integerConstant(x, count);
    return isSigned ? make<arith::ShRSIOp>(x, amount) : make<arith::ShRUIOp>(x, amount);
  }
};

/// sqrt of the sum of squares, scaled so that none over- or underflows.
Value Functions::hypotenuse(ValueRange values) {
  Value big = make<math::AbsFOp>(values[0]);
  for (Value value : values.drop_front())
    big = make<arith::MaximumFOp>(big, make<math::AbsFOp>(value));
  Value zero = number(big, 0.0), one = number(big, 1.0);
  Value inf = number(big, std::numeric_limits<double>::infinity());
  Value plain = make<arith::OrIOp>(make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, big, zero),
                                   make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, big, inf));
  Value scale = select(plain, one, big), sum;
  for (Value value : values) {
    Value term = square(make<arith::DivFOp>(value, scale));
    sum = sum ? make<arith::AddFOp>(sum, term) : term;
  }
  return select(plain, big, make<arith::MulFOp>(big, make<math::SqrtOp>(sum)));
}

/// x * 2**exponent in two steps, so that neither factor overflows before the
/// result does.
Value Functions::powerOfTwo(Value x, Value exponent) {
  Value half = shiftRight(exponent, 1, true);
  Value rest = make<arith::SubIOp>(exponent, half);
  auto power = [&](Value n) { return make<math::Exp2Op>(make<arith::SIToFPOp>(x.getType(), n)); };
  return make<arith::MulFOp>(make<arith::MulFOp>(x, power(half)), power(rest));
}

/// x reduced to a turn around 0, times pi.
Value Functions::timesPi(Value x) {
  Value turns = make<math::RoundEvenOp>(make<arith::MulFOp>(x, number(x, 0.5)));
  Value reduced = make<arith::SubFOp>(x, make<arith::MulFOp>(turns, number(x, 2.0)));
  return make<arith::MulFOp>(reduced, number(x, std::numbers::pi));
}

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
  Value high = tt::MulhiUIOp::create(b, loc, x.getType(), x, y);
  if (!isSigned)
    return high;
  // A negative operand counts 2**bits too much.
  Value zero = integerConstant(x, 0);
  high = make<arith::SubIOp>(high, select(less(x, zero), y, zero));
  return make<arith::SubIOp>(high, select(less(y, zero), x, zero));
}

Value Functions::unary(StringRef name) {
  Value x = in[0];
  if (!isFloat(x))
    return {};
#define NEREID_UNARY(NAME, OP)                                                                                        \
  if (name == NAME)                                                                                                   \
    return make<math::OP>(x);
  NEREID_UNARY("exp", ExpOp)
  NEREID_UNARY("fast_exp", ExpOp)
  NEREID_UNARY("exp2", Exp2Op)
  NEREID_UNARY("expm1", ExpM1Op)
  NEREID_UNARY("log", LogOp)
  NEREID_UNARY("fast_log", LogOp)
  NEREID_UNARY("log2", Log2Op)
  NEREID_UNARY("fast_log2", Log2Op)
  NEREID_UNARY("log10", Log10Op)
  NEREID_UNARY("fast_log10", Log10Op)
  NEREID_UNARY("log1p", Log1pOp)
  NEREID_UNARY("sin", SinOp)
  NEREID_UNARY("fast_sin", SinOp)
  NEREID_UNARY("cos", CosOp)
  NEREID_UNARY("fast_cos", CosOp)
  NEREID_UNARY("tan", TanOp)
  NEREID_UNARY("fast_tan", TanOp)
  NEREID_UNARY("asin", AsinOp)
  NEREID_UNARY("acos", AcosOp)
  NEREID_UNARY("atan", AtanOp)
  NEREID_UNARY("sinh", SinhOp)
  NEREID_UNARY("cosh", CoshOp)
  NEREID_UNARY("tanh", TanhOp)
  NEREID_UNARY("fast_tanh", TanhOp)
  NEREID_UNARY("asinh", AsinhOp)
  NEREID_UNARY("acosh", AcoshOp)
  NEREID_UNARY("atanh", AtanhOp)
  NEREID_UNARY("erf", ErfOp)
  NEREID_UNARY("erfc", ErfcOp)
  NEREID_UNARY("sqrt", SqrtOp)
  NEREID_UNARY("fsqrt_rn", SqrtOp)
  NEREID_UNARY("dsqrt_rn", SqrtOp)
  NEREID_UNARY("rsqrt", RsqrtOp)
  NEREID_UNARY("frsqrt_rn", RsqrtOp)
  NEREID_UNARY("cbrt", CbrtOp)
  NEREID_UNARY("floor", FloorOp)
  NEREID_UNARY("ceil", CeilOp)
  NEREID_UNARY("trunc", TruncOp)
  NEREID_UNARY("round", RoundOp)
  NEREID_UNARY("rint", RoundEvenOp)
  NEREID_UNARY("nearbyint", RoundEvenOp)
  NEREID_UNARY("fabs", AbsFOp)
#undef NEREID_UNARY
  if (name == "frcp_rn" || name == "drcp_rn")
    return make<arith::DivFOp>(number(x, 1.0), x);
  if (name == "rcbrt")
    return make<arith::DivFOp>(number(x, 1.0), make<math::CbrtOp>(x));
  if (name == "exp10" || name == "fast_exp10")
    return make<math::PowFOp>(number(x, 10.0), x);
  if (name == "saturate")
    return make<arith::MinNumFOp>(make<arith::MaxNumFOp>(x, number(x, 0.0)), number(x, 1.0));
  if (name == "sinpi")
    return make<math::SinOp>(timesPi(x));
  if (name == "cospi")
    return make<math::CosOp>(timesPi(x));
  if (name == "normcdf")
    return make<arith::MulFOp>(
        number(x, 0.5), make<math::ErfcOp>(make<arith::MulFOp>(x, number(x, -1.0 / std::numbers::sqrt2))));
  if (name == "isnan")
    return asResult(make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x));
  if (name == "isinf" || name == "finite" || name == "isfinite") {
    Value size = make<math::AbsFOp>(x), inf = number(x, std::numeric_limits<double>::infinity());
    return asResult(make<arith::CmpFOp>(name == "isinf" ? arith::CmpFPredicate::OEQ : arith::CmpFPredicate::OLT, size, inf));
  }
  if (name == "signbit") {
    Value bits = make<arith::BitcastOp>(integersLike(x), x);
    return asResult(less(bits, integerConstant(bits, 0)));
  }
  return {};
}

Value Functions::binary(StringRef name) {
  Value x = in[0], y = in[1];
  if (!isFloat(x))
    return {};
  if (name == "ldexp" || name == "scalbn")
    return isFloat(y) ? Value() : powerOfTwo(x, y);
  if (name == "powi")
    return isFloat(y) ? Value() : make<math::PowFOp>(x, make<arith::SIToFPOp>(x.getType(), y));
  if (x.getType() != y.getType())
    return {};
  if (name == "pow" || name == "fast_pow")
    return make<math::PowFOp>(x, y);
  if (name == "atan2")
    return make<math::Atan2Op>(x, y);
  if (name == "fmod")
    return make<arith::RemFOp>(x, y);
  if (name == "copysign")
    return make<math::CopySignOp>(x, y);
  if (name == "fmax")
    return make<arith::MaxNumFOp>(x, y);
  if (name == "fmin")
    return make<arith::MinNumFOp>(x, y);
  if (name == "fast_fdivide" || name == "fdiv_rn" || name == "ddiv_rn")
    return make<arith::DivFOp>(x, y);
  if (name == "fadd_rn" || name == "dadd_rn")
    return make<arith::AddFOp>(x, y);
  if (name == "fsub_rn" || name == "dsub_rn")
    return make<arith::SubFOp>(x, y);
  if (name == "fmul_rn" || name == "dmul_rn")
    return make<arith::MulFOp>(x, y);
  if (name == "hypot")
    return hypotenuse(in);
  if (name == "rhypot")
    return make<arith::DivFOp>(number(x, 1.0), hypotenuse(in));
  if (name == "fdim") {
    Value positive = make<arith::CmpFOp>(arith::CmpFPredicate::UGT, x, y); // NaN stays
    return select(positive, make<arith::SubFOp>(x, y), number(x, 0.0));
  }
  return {};
}

Value Functions::ternary(StringRef name) {
  if (isFloat(in[0])) {
    if (name == "fma" || name == "fma_rn" || name == "fmaf_rn")
      return make<math::FmaOp>(in[0], in[1], in[2]);
    if (name == "norm3d")
      return hypotenuse(in);
    if (name == "rnorm3d")
      return make<arith::DivFOp>(number(in[0], 1.0), hypotenuse(in));
    return {};
  }
  if (name == "sad")
    return make<arith::AddIOp>(
        make<arith::SubIOp>(make<arith::MaxSIOp>(in[0], in[1]), make<arith::MinSIOp>(in[0], in[1])), in[2]);
  if (name == "usad")
    return make<arith::AddIOp>(
        make<arith::SubIOp>(make<arith::MaxUIOp>(in[0], in[1]), make<arith::MinUIOp>(in[0], in[1])), in[2]);
  return {};
}

Value Functions::quaternary(StringRef name) {
  if (isFloat(in[0]) && name == "norm4d")
    return hypotenuse(in);
  if (isFloat(in[0]) && name == "rnorm4d")
    return make<arith::DivFOp>(number(in[0], 1.0), hypotenuse(in));
  return {};
}

/// FROM2TO_rn and ..._as_...: types by name, rounding by suffix.
Value Functions::conversion(StringRef name) {
  Value x = in[0];
  if (name.contains("_as_"))
    return width(x) == getElementTypeOrSelf(result).getIntOrFloatBitWidth() ? make<arith::BitcastOp>(result, x) : Value();
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
    return width(x) > getElementTypeOrSelf(result).getIntOrFloatBitWidth() ? make<arith::TruncFOp>(result, x) : Value();
  return fromUnsigned ? make<arith::UIToFPOp>(result, x) : make<arith::SIToFPOp>(result, x);
}

Value Functions::integer(StringRef name) {
  Value x = in[0];
  if (isFloat(x)) {
    if (name == "llrint")
      return make<arith::FPToSIOp>(result, make<math::RoundEvenOp>(x));
    if (name == "llround")
      return make<arith::FPToSIOp>(result, make<math::RoundOp>(x));
    return {};
  }
  bool isLong = name.starts_with("ll") || name.starts_with("ull") || name.ends_with("ll");
  if (isLong != (width(x) == 64) && !name.contains("64hi"))
    return {};
  if (in.size() == 1) {
    if (name == "abs" || name == "llabs")
      return make<math::AbsIOp>(x);
    if (name == "popc" || name == "popcll")
      return toResultWidth(make<math::CtPopOp>(x), false);
    if (name == "clz" || name == "clzll")
      return toResultWidth(make<math::CountLeadingZerosOp>(x), false);
    if (name == "brev" || name == "brevll")
      return reverseBits(x);
    if (name == "ffs" || name == "ffsll") {
      Value zero = integerConstant(x, 0);
      Value position = make<arith::AddIOp>(make<math::CountTrailingZerosOp>(x), integerConstant(x, 1));
      Value none = make<arith::CmpIOp>(arith::CmpIPredicate::eq, x, zero);
      return toResultWidth(select(none, zero, position), false);
    }
    return {};
  }
  Value y = in[1];
  if (in.size() != 2 || x.getType() != y.getType())
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
  bool isSigned = !name.starts_with("u") && !name.starts_with("ru") && name != "urhadd";
  if (name == "hadd" || name == "uhadd")
    return make<arith::AddIOp>(make<arith::AndIOp>(x, y), shiftRight(make<arith::XOrIOp>(x, y), 1, isSigned));
  if (name == "rhadd" || name == "urhadd")
    return make<arith::SubIOp>(make<arith::OrIOp>(x, y), shiftRight(make<arith::XOrIOp>(x, y), 1, isSigned));
  return {};
}

} // namespace

Value emitLibraryFunction(OpBuilder &builder, Location loc, StringRef symbol, ValueRange operands, Type result) {
  if (!symbol.consume_front("__nv_") || operands.empty())
    return {};
  Functions functions(builder, loc, operands, result);
  if (symbol.contains("_as_") || symbol.contains('2'))
    if (operands.size() == 1)
      if (Value value = functions.conversion(symbol))
        return value;
  // The names for fp32 end in f, those of some tests in d.
  StringRef name = symbol;
  Type element = getElementTypeOrSelf(operands[0].getType());
  if (element.isF32() && name != "erf")
    name.consume_back("f");
  else if (element.isF64() && (name == "isnand" || name == "isinfd" || name == "isfinited" || name == "signbitd"))
    name.consume_back("d");
  for (StringRef form : {name, symbol}) {
    Value value;
    if (operands.size() == 1)
      value = functions.unary(form);
    else if (operands.size() == 2)
      value = functions.binary(form);
    else if (operands.size() == 3)
      value = functions.ternary(form);
    else if (operands.size() == 4)
      value = functions.quaternary(form);
    if (!value)
      value = functions.integer(form);
    if (value)
      return value.getType() == result ? value : Value();
  }
  return {};
}

std::string findLibraryFunction(Operation *op, bool isDouble) {
  StringRef name = TypeSwitch<Operation *, StringRef>(op)
                       .Case([](math::TanOp) { return "tan"; })
                       .Case([](math::AsinOp) { return "asin"; })
                       .Case([](math::AcosOp) { return "acos"; })
                       .Case([](math::AtanOp) { return "atan"; })
                       .Case([](math::SinhOp) { return "sinh"; })
                       .Case([](math::CoshOp) { return "cosh"; })
                       .Case([](math::TanhOp) { return "tanh"; })
                       .Case([](math::AsinhOp) { return "asinh"; })
                       .Case([](math::AcoshOp) { return "acosh"; })
                       .Case([](math::AtanhOp) { return "atanh"; })
                       .Case([](math::ErfcOp) { return "erfc"; })
                       .Case([](math::CbrtOp) { return "cbrt"; })
                       .Case([](math::ExpM1Op) { return "expm1"; })
                       .Case([](math::Log10Op) { return "log10"; })
                       .Case([](math::Log1pOp) { return "log1p"; })
                       .Case([](math::TruncOp) { return "trunc"; })
                       .Case([](math::RoundOp) { return "round"; })
                       .Case([](math::RoundEvenOp) { return "rint"; })
                       .Case([](math::PowFOp) { return "pow"; })
                       .Case([](math::Atan2Op) { return "atan2"; })
                       .Case([](math::CopySignOp) { return "copysign"; })
                       .Default([](Operation *) { return ""; });
  if (name.empty())
    return {};
  return ("__nv_" + name + (isDouble ? "" : "f")).str();
}

} // namespace nereid
