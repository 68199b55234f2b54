// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of NVIDIA's libdevice that are not mathematics: on integers, on bits,
// tests and conversions. The table at the end has them all; a symbol means what its
// row says, and only with the row's types.
#include "DeviceBits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"

#include <cmath>

using namespace mlir;

namespace {

/// Builds on scalars and vectors: constants are splats.
class Functions {
public:
  Functions(OpBuilder &builder, Location loc, ValueRange operands, Type element)
      : in(operands), b(builder), loc(loc), result(like(operands[0], element)) {}

  ValueRange in;

  template <typename Op, typename... Args> Value make(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...).getResult();
  }
  /// An operation that gives the result's type.
  template <typename Op> Value convert(Value x) { return make<Op>(result, x); }

  Value number(double value) {
    return constant(in[0].getType(), b.getFloatAttr(element(in[0]), value));
  }
  Value integer(Value like, uint64_t value) {
    return constant(like.getType(),
                    b.getIntegerAttr(element(like), APInt(64, value).trunc(width(like))));
  }
  Value less(Value x, Value y) { return make<arith::CmpIOp>(arith::CmpIPredicate::slt, x, y); }
  Value select(Value condition, Value x, Value y) { return make<arith::SelectOp>(condition, x, y); }
  /// A test's int1 as the int32 that the library returns.
  Value truth(Value test) {
    return element(result).isInteger(1) ? test : make<arith::ExtUIOp>(result, test);
  }
  Value compareSize(arith::CmpFPredicate predicate) {
    Value size = make<math::AbsFOp>(in[0]);
    return truth(
        make<arith::CmpFOp>(predicate, size, number(std::numeric_limits<double>::infinity())));
  }
  Value signBit() {
    Value bits = make<arith::BitcastOp>(like(in[0], b.getIntegerType(width(in[0]))), in[0]);
    return truth(less(bits, integer(bits, 0)));
  }
  /// Counts of bits are int32 for int64, too.
  Value count(Value value) {
    return width(value) == 64 ? make<arith::TruncIOp>(result, value) : value;
  }
  Value shiftRight(Value x, unsigned count, bool isSigned) {
    Value amount = integer(x, count);
    return isSigned ? make<arith::ShRSIOp>(x, amount) : make<arith::ShRUIOp>(x, amount);
  }
  Value reverseBits();
  Value findFirstSet();
  Value mulHigh(bool isSigned);
  Value mul24(bool isSigned);
  Value power();
  /// A rounded float as an integer; what lies outside is the nearest one, NaN 0.
  Value toInteger(Value x, bool isSigned);

private:
  OpBuilder &b;
  Location loc;
  Type result;

  static Type element(Value value) { return getElementTypeOrSelf(value.getType()); }
  static Type element(Type type) { return getElementTypeOrSelf(type); }
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
};

Value Functions::reverseBits() {
  Value x = in[0];
  unsigned bits = width(x);
  static constexpr uint64_t masks[] = {0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f,
                                       0x00ff00ff00ff00ff, 0x0000ffff0000ffff, 0x00000000ffffffff};
  for (unsigned step = 0; (1u << step) < bits; ++step) {
    Value mask = integer(x, masks[step]), amount = integer(x, 1u << step);
    Value high = make<arith::AndIOp>(make<arith::ShRUIOp>(x, amount), mask);
    Value low = make<arith::ShLIOp>(make<arith::AndIOp>(x, mask), amount);
    x = make<arith::OrIOp>(high, low);
  }
  return x;
}

Value Functions::findFirstSet() {
  Value x = in[0], zero = integer(x, 0);
  Value position = make<arith::AddIOp>(make<math::CountTrailingZerosOp>(x), integer(x, 1));
  return count(select(make<arith::CmpIOp>(arith::CmpIPredicate::eq, x, zero), zero, position));
}

Value Functions::mulHigh(bool isSigned) {
  Value x = in[0], y = in[1];
  Value high = arith::MulUIExtendedOp::create(b, loc, x, y).getHigh();
  if (!isSigned)
    return high;
  // A negative operand counts 2**bits too much.
  Value zero = integer(x, 0);
  high = make<arith::SubIOp>(high, select(less(x, zero), y, zero));
  return make<arith::SubIOp>(high, select(less(y, zero), x, zero));
}

Value Functions::mul24(bool isSigned) {
  auto low = [&](Value v) {
    return shiftRight(make<arith::ShLIOp>(v, integer(v, 8)), 8, isSigned);
  };
  return make<arith::MulIOp>(low(in[0]), low(in[1]));
}

/// In fp64, which holds every int32: whether the exponent is odd must not be lost.
Value Functions::power() {
  Type wide = like(in[0], b.getF64Type());
  Value x = width(in[0]) == 64 ? in[0] : make<arith::ExtFOp>(wide, in[0]);
  Value y = make<math::PowFOp>(x, make<arith::SIToFPOp>(wide, in[1]));
  return width(in[0]) == 64 ? y : make<arith::TruncFOp>(result, y);
}

Value Functions::toInteger(Value x, bool isSigned) {
  unsigned bits = element(result).getIntOrFloatBitWidth();
  // In fp64 both ends of 32 bits are exact; those of 64 bits are powers of two.
  double least = isSigned ? -std::ldexp(1.0, bits - 1) : 0.0;
  double beyond = std::ldexp(1.0, isSigned ? bits - 1 : bits);
  auto bound = [&](double value) {
    return constant(x.getType(), b.getFloatAttr(element(x), value));
  };
  auto is = [&](arith::CmpFPredicate predicate, double value) {
    return make<arith::CmpFOp>(predicate, x, bound(value));
  };
  Value tooSmall = is(arith::CmpFPredicate::OLE, least),
        tooLarge = is(arith::CmpFPredicate::OGE, beyond);
  Value isNaN = make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x);
  Value inside = make<arith::AndIOp>(is(arith::CmpFPredicate::OGT, least),
                                     is(arith::CmpFPredicate::OLT, beyond));
  Value safe = select(inside, x, bound(0.0));
  Value value =
      isSigned ? make<arith::FPToSIOp>(result, safe) : make<arith::FPToUIOp>(result, safe);
  APInt low = isSigned ? APInt::getSignedMinValue(bits) : APInt::getZero(bits);
  APInt high = isSigned ? APInt::getSignedMaxValue(bits) : APInt::getMaxValue(bits);
  auto limit = [&](const APInt &number) {
    return constant(result, b.getIntegerAttr(element(result), number));
  };
  value = select(tooSmall, limit(low), value);
  value = select(tooLarge, limit(high), value);
  return select(isNaN, limit(APInt::getZero(bits)), value);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

using F = Functions;

Value isNaN(F &f) {
  return f.truth(f.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, f.in[0], f.in[0]));
}
Value isInfinite(F &f) { return f.compareSize(arith::CmpFPredicate::OEQ); }
Value isFinite(F &f) { return f.compareSize(arith::CmpFPredicate::OLT); }
Value signBit(F &f) { return f.signBit(); }
Value saturate(F &f) {
  Value positive = f.make<arith::MaxNumFOp>(f.in[0], f.number(0.0));
  return f.make<arith::MinNumFOp>(positive, f.number(1.0));
}
Value reciprocal(F &f) { return f.make<arith::DivFOp>(f.number(1.0), f.in[0]); }
Value power(F &f) { return f.power(); }

template <typename Op> Value convert(F &f) { return f.convert<Op>(f.in[0]); }
template <bool isSigned> Value toZero(F &f) { return f.toInteger(f.in[0], isSigned); }
template <typename Round, bool isSigned> Value toInteger(F &f) {
  return f.toInteger(f.make<Round>(f.in[0]), isSigned);
}

template <typename Op> Value unary(F &f) { return f.make<Op>(f.in[0]); }
template <typename Op> Value countBits(F &f) { return f.count(f.make<Op>(f.in[0])); }
template <typename Op> Value binary(F &f) { return f.make<Op>(f.in[0], f.in[1]); }
Value reverseBits(F &f) { return f.reverseBits(); }
Value findFirstSet(F &f) { return f.findFirstSet(); }
template <bool isSigned> Value mulHigh(F &f) { return f.mulHigh(isSigned); }
template <bool isSigned> Value mul24(F &f) { return f.mul24(isSigned); }
template <typename Max, typename Min> Value distance(F &f) {
  Value distance = f.make<arith::SubIOp>(binary<Max>(f), binary<Min>(f));
  return f.make<arith::AddIOp>(distance, f.in[2]);
}
/// Without the carry that a sum would lose.
template <bool isSigned> Value average(F &f) {
  return f.make<arith::AddIOp>(binary<arith::AndIOp>(f),
                               f.shiftRight(binary<arith::XOrIOp>(f), 1, isSigned));
}
template <bool isSigned> Value averageUp(F &f) {
  return f.make<arith::SubIOp>(binary<arith::OrIOp>(f),
                               f.shiftRight(binary<arith::XOrIOp>(f), 1, isSigned));
}

struct Row {
  StringLiteral symbol;
  /// The result and then the operands: s fp32, d fp64, i and l integers of 32 and
  /// 64 bits, t a truth value, which is an int32 or an int1.
  StringLiteral signature;
  Value (*emit)(Functions &);
};

#define BOTH(NAME32, NAME64, SIGNATURE32, SIGNATURE64, EMIT)                                       \
  {"__nv_" NAME32, SIGNATURE32, EMIT}, { "__nv_" NAME64, SIGNATURE64, EMIT }
/// Floats to integers: to nearest, towards zero, down, up.
#define TO_INTEGER(FROM, TO, SIGNATURE, SIGNED)                                                    \
  {"__nv_" FROM "2" TO "_rn", SIGNATURE, toInteger<math::RoundEvenOp, SIGNED>},                    \
      {"__nv_" FROM "2" TO "_rz", SIGNATURE, toZero<SIGNED>},                                      \
      {"__nv_" FROM "2" TO "_rd", SIGNATURE, toInteger<math::FloorOp, SIGNED>}, {                  \
    "__nv_" FROM "2" TO "_ru", SIGNATURE, toInteger<math::CeilOp, SIGNED>                          \
  }
const Row rows[] = {
    BOTH("isnanf", "isnand", "ts", "td", isNaN),
    BOTH("isinff", "isinfd", "ts", "td", isInfinite),
    BOTH("finitef", "isfinited", "ts", "td", isFinite),
    BOTH("isfinitef", "finited", "ts", "td", isFinite),
    BOTH("signbitf", "signbitd", "ts", "td", signBit),
    BOTH("saturatef", "saturated", "ss", "dd", saturate),
    BOTH("frcp_rn", "drcp_rn", "ss", "dd", reciprocal),
    BOTH("powif", "powi", "ssi", "ddi", power),

    {"__nv_float_as_int", "is", convert<arith::BitcastOp>},
    {"__nv_float_as_uint", "is", convert<arith::BitcastOp>},
    {"__nv_int_as_float", "si", convert<arith::BitcastOp>},
    {"__nv_uint_as_float", "si", convert<arith::BitcastOp>},
    {"__nv_double_as_longlong", "ld", convert<arith::BitcastOp>},
    {"__nv_longlong_as_double", "dl", convert<arith::BitcastOp>},

    TO_INTEGER("float", "int", "is", true),
    TO_INTEGER("float", "uint", "is", false),
    TO_INTEGER("float", "ll", "ls", true),
    TO_INTEGER("float", "ull", "ls", false),
    TO_INTEGER("double", "int", "id", true),
    TO_INTEGER("double", "uint", "id", false),
    TO_INTEGER("double", "ll", "ld", true),
    TO_INTEGER("double", "ull", "ld", false),
    // The other modes of what has to round are functions of device_math.def.
    {"__nv_double2float_rn", "sd", convert<arith::TruncFOp>},
    {"__nv_int2float_rn", "si", convert<arith::SIToFPOp>},
    {"__nv_uint2float_rn", "si", convert<arith::UIToFPOp>},
    {"__nv_ll2float_rn", "sl", convert<arith::SIToFPOp>},
    {"__nv_ull2float_rn", "sl", convert<arith::UIToFPOp>},
    {"__nv_int2double_rn", "di", convert<arith::SIToFPOp>},
    {"__nv_uint2double_rn", "di", convert<arith::UIToFPOp>},
    {"__nv_ll2double_rn", "dl", convert<arith::SIToFPOp>},
    {"__nv_ull2double_rn", "dl", convert<arith::UIToFPOp>},

    BOTH("abs", "llabs", "ii", "ll", unary<math::AbsIOp>),
    BOTH("popc", "popcll", "ii", "il", countBits<math::CtPopOp>),
    BOTH("clz", "clzll", "ii", "il", countBits<math::CountLeadingZerosOp>),
    BOTH("ffs", "ffsll", "ii", "il", findFirstSet),
    BOTH("brev", "brevll", "ii", "ll", reverseBits),
    BOTH("max", "llmax", "iii", "lll", binary<arith::MaxSIOp>),
    BOTH("umax", "ullmax", "iii", "lll", binary<arith::MaxUIOp>),
    BOTH("min", "llmin", "iii", "lll", binary<arith::MinSIOp>),
    BOTH("umin", "ullmin", "iii", "lll", binary<arith::MinUIOp>),
    BOTH("mulhi", "mul64hi", "iii", "lll", mulHigh<true>),
    BOTH("umulhi", "umul64hi", "iii", "lll", mulHigh<false>),
    {"__nv_mul24", "iii", mul24<true>},
    {"__nv_umul24", "iii", mul24<false>},
    {"__nv_sad", "iiii", distance<arith::MaxSIOp, arith::MinSIOp>},
    {"__nv_usad", "iiii", distance<arith::MaxUIOp, arith::MinUIOp>},
    {"__nv_hadd", "iii", average<true>},
    {"__nv_uhadd", "iii", average<false>},
    {"__nv_rhadd", "iii", averageUp<true>},
    {"__nv_urhadd", "iii", averageUp<false>},
};
#undef BOTH
#undef TO_INTEGER

bool matches(char letter, Type type) {
  switch (letter) {
  case 's':
    return type.isF32();
  case 'd':
    return type.isF64();
  case 'i':
    return type.isInteger(32);
  case 't':
    return type.isInteger(32) || type.isInteger(1);
  default:
    return type.isInteger(64);
  }
}

bool matches(StringRef signature, ValueRange operands, Type element) {
  return signature.size() == operands.size() + 1 && matches(signature[0], element) &&
         llvm::all_of(llvm::zip(signature.drop_front(), operands), [](auto pair) {
           return matches(std::get<0>(pair), getElementTypeOrSelf(std::get<1>(pair).getType()));
         });
}

} // namespace

Value nereid::cpu::emitDeviceBits(OpBuilder &builder, Location loc, StringRef symbol,
                                  ValueRange operands, Type element) {
  const Row *row = llvm::find_if(rows, [&](const Row &row) { return row.symbol == symbol; });
  if (row == std::end(rows) || !matches(row->signature, operands, element))
    return {};
  Functions functions(builder, loc, operands, element);
  return row->emit(functions);
}
