// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: names of tl.extra.libdevice that work on integers and on the bits of
// floats, composed of ordinary operations.
#include "Rules.h"

using namespace nereid;
using namespace nereid::frontend;

namespace {
/// Short spellings for one rule's arithmetic.
struct Emit {
  Semantic &s;
  const SourceRange &range;

  Tensor op(BinaryOp kind, const Value &a, const Value &b) const {
    return s.binary(kind, a, b, range).as<Tensor>();
  }
  Tensor add(const Value &a, const Value &b) const { return op(BinaryOp::Add, a, b); }
  Tensor sub(const Value &a, const Value &b) const { return op(BinaryOp::Sub, a, b); }
  Tensor mul(const Value &a, const Value &b) const { return op(BinaryOp::Mult, a, b); }
  Tensor bitAnd(const Value &a, const Value &b) const { return op(BinaryOp::BitAnd, a, b); }
  Tensor bitOr(const Value &a, const Value &b) const { return op(BinaryOp::BitOr, a, b); }
  Tensor shl(const Value &a, const Value &b) const { return op(BinaryOp::LShift, a, b); }
  Tensor shr(const Value &a, const Value &b) const { return op(BinaryOp::RShift, a, b); }
  Tensor cast(const Tensor &a, Type type) const { return s.cast(a, type, range); }
};

Type asUnsigned(const Type &type) { return type.bits() == 64 ? Scalar::UInt64 : Scalar::UInt32; }
} // namespace

/// Two integers of 32 or 64 bits and of one type; narrower ones become int32.
static std::pair<Tensor, Tensor> integerPair(Semantic &s, const BoundArgs &args) {
  auto [a, b] = s.operands(args[0], args[1], {args.info.name}, args.range);
  if (!a.type.isInteger())
    failOperands(Diag::operands_invalid, args.range, args[0], args[1], functionName(args.info),
                 args[0].describe(), args[1].describe(), "both must be integers");
  if (a.type.bits() < 32) {
    a = s.cast(a, Scalar::Int32, args.range);
    b = s.cast(b, Scalar::Int32, args.range);
  }
  return {a, b};
}

static Tensor integerOf(Semantic &s, const BoundArgs &args, unsigned i, Type type) {
  Tensor x = tensorArg(s, args, i);
  if (!x.type.isInteger())
    fail(Diag::unsupported_dtype, args.ranges[i], x.type.element().str(), functionName(args.info),
         "it works on integers");
  if (x.type.bits() > type.bits())
    fail(Diag::unsupported_dtype, args.ranges[i], x.type.element().str(), functionName(args.info),
         "it works on " + std::to_string(type.bits()) +
             " bits: cast the operand, which drops the "
             "others");
  return s.cast(x, type, args.range);
}

static Value mulhi(Semantic &s, const BoundArgs &args) {
  auto [a, b] = integerPair(s, args);
  Emit e{s, args.range};
  Type type = a.type.element(), bits = asUnsigned(type);
  Tensor x = e.cast(a, bits), y = e.cast(b, bits);
  Tensor high =
      s.wrap(s.emit<tt::MulhiUIOp>(args.range, x.handle, y.handle).getResult(), x.type, args.range);
  if (type.isSigned()) {
    // A negative factor counts 2^width too much.
    Value last = Int(type.bits() - 1);
    high = e.sub(high, e.bitAnd(e.cast(e.shr(a, last), bits), y));
    high = e.sub(high, e.bitAnd(e.cast(e.shr(b, last), bits), x));
  }
  return e.cast(high, type);
}

/// Product of the low 24 bits, signed or unsigned.
static Value mul24(Semantic &s, const BoundArgs &args) {
  auto [a, b] = integerPair(s, args);
  Emit e{s, args.range};
  auto low = [&](const Tensor &x) { return e.shr(e.shl(x, Int(8)), Int(8)); };
  Type type = a.type.isSigned() ? Scalar::Int32 : Scalar::UInt32;
  return e.mul(low(e.cast(a, type)), low(e.cast(b, type)));
}

static Value byteReverse(Semantic &s, const BoundArgs &args) {
  Tensor x = tensorArg(s, args, 0);
  if (!x.type.isInteger() || x.type.bits() < 32)
    fail(Diag::unsupported_dtype, args.ranges[0], x.type.element().str(), functionName(args.info),
         "it works on 32- and 64-bit integers");
  Emit e{s, args.range};
  Type type = x.type.element(), bits = asUnsigned(type);
  x = e.cast(x, bits);
  unsigned width = type.bits();
  static const uint64_t masks[] = {0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F,
                                   0x00FF00FF00FF00FF, 0x0000FFFF0000FFFF, 0x00000000FFFFFFFF};
  uint64_t all = width == 64 ? ~uint64_t(0) : 0xFFFFFFFF;
  for (unsigned i = 0; (1u << i) < width; ++i) {
    Value mask = Int(masks[i] & all), distance = Int(1) << i;
    x = e.bitOr(e.shl(e.bitAnd(x, mask), distance), e.bitAnd(e.shr(x, distance), mask));
  }
  return e.cast(x, type);
}

/// Picks four of the eight bytes of x (low) and y (high) by the low three bits of
/// each of s's four lowest nibbles; bit 3 repeats the byte's sign instead.
static Value bytePerm(Semantic &s, const BoundArgs &args) {
  Emit e{s, args.range};
  std::vector<Tensor> in = {integerOf(s, args, 0, Scalar::UInt32),
                            integerOf(s, args, 1, Scalar::UInt32),
                            integerOf(s, args, 2, Scalar::UInt32)};
  broadcastAll(s, in, args.info.name, args.range);
  Tensor both =
      e.bitOr(e.cast(in[0], Scalar::UInt64), e.shl(e.cast(in[1], Scalar::UInt64), Int(32)));
  std::optional<Tensor> result;
  for (int i = 0; i < 4; ++i) {
    Tensor selector = e.shr(in[2], Int(4 * i));
    Tensor place = e.cast(e.shl(e.bitAnd(selector, Int(7)), Int(3)), Scalar::UInt64);
    Tensor byte = e.cast(e.bitAnd(e.shr(both, place), Int(255)), Scalar::UInt32);
    Tensor sign = e.mul(e.shr(byte, Int(7)), Int(255));
    Tensor repeats =
        s.compare(CompareOp::NotEq, e.bitAnd(selector, Int(8)), Int(0), args.range).as<Tensor>();
    byte = e.shl(s.select(repeats, sign, byte, args.range), Int(8 * i));
    result = result ? e.bitOr(*result, byte) : byte;
  }
  return e.cast(*result, Scalar::Int32);
}

/// |x - y| + z; x and y signed or not, z and the result unsigned.
static Value sad(Semantic &s, const BoundArgs &args) {
  auto [a, b] = integerPair(s, args);
  Emit e{s, args.range};
  Tensor less = s.compare(CompareOp::Lt, a, b, args.range).as<Tensor>();
  Type bits = asUnsigned(a.type);
  Tensor distance =
      s.select(less, e.cast(e.sub(b, a), bits), e.cast(e.sub(a, b), bits), args.range);
  return e.add(distance, integerOf(s, args, 2, bits));
}

/// (x + y) / 2 without overflow, rounded down (hadd) or up (rhadd).
template <bool up> static Value average(Semantic &s, const BoundArgs &args) {
  auto [a, b] = integerPair(s, args);
  Emit e{s, args.range};
  Tensor half = e.shr(e.op(BinaryOp::BitXor, a, b), Int(1));
  return up ? e.sub(e.bitOr(a, b), half) : e.add(e.bitAnd(a, b), half);
}

static Value saturate(Semantic &s, const BoundArgs &args) {
  // Into [0, 1]; NaN gives 0.
  Tensor x = tensorArg(s, args, 0);
  if (!x.type.isFloating())
    fail(Diag::unsupported_dtype, args.ranges[0], x.type.element().str(), functionName(args.info),
         "it works on floating values");
  Type type = x.type.element();
  if (type.bits() < 32)
    x = s.cast(x, Scalar::Fp32, args.range);
  Value low = minimumMaximum(s, true, x, 0.0, false, "libdevice.saturatef", args.range);
  return s.cast(
      minimumMaximum(s, false, low, 1.0, false, "libdevice.saturatef", args.range).as<Tensor>(),
      type, args.range);
}

static Value highAndLow(Semantic &s, const BoundArgs &args) {
  Emit e{s, args.range};
  std::vector<Tensor> in = {integerOf(s, args, 0, Scalar::UInt32),
                            integerOf(s, args, 1, Scalar::UInt32)};
  broadcastAll(s, in, args.info.name, args.range);
  Tensor bits =
      e.bitOr(e.shl(e.cast(in[0], Scalar::UInt64), Int(32)), e.cast(in[1], Scalar::UInt64));
  return s.bitcast(bits, Scalar::Fp64, args.range);
}

static Tensor doubleBits(Semantic &s, const BoundArgs &args) {
  Tensor x = tensorArg(s, args, 0);
  if (!x.type.isFloating())
    fail(Diag::unsupported_dtype, args.ranges[0], x.type.element().str(), functionName(args.info),
         "it takes fp64 values");
  return s.bitcast(s.cast(x, Scalar::Fp64, args.range), Scalar::UInt64, args.range);
}

template <int shift> static Value doubleHalf(Semantic &s, const BoundArgs &args) {
  Emit e{s, args.range};
  return e.cast(e.shr(doubleBits(s, args), Int(shift)), Scalar::Int32);
}

/// The high half of 1 / x, rounded towards zero, as a double.
static Value reciprocalHigh(Semantic &s, const BoundArgs &args) {
  Emit e{s, args.range};
  Tensor x = s.cast(tensorArg(s, args, 0), Scalar::Fp64, args.range);
  Tensor bits = s.bitcast(s.binary(BinaryOp::Div, 1.0, x, args.range).as<Tensor>(), Scalar::UInt64,
                          args.range);
  return s.bitcast(e.bitAnd(bits, Int(0xFFFFFFFF00000000)), Scalar::Fp64, args.range);
}

static const BuiltinInfo rows[] = {
    {"libdevice", "mulhi", "x, y", false, mulhi,
     "High half of the product of two 32- or 64-bit integers, by their sign."},
    {"libdevice", "mul24", "x, y", false, mul24,
     "Product of the low 24 bits of two 32-bit integers."},
    {"libdevice", "brev", "x", false, byteReverse,
     "The bits of a 32- or 64-bit integer in reverse order."},
    {"libdevice", "byte_perm", "x, y, s", false, bytePerm,
     "Four of the eight bytes of x (0 to 3) and y (4 to 7), picked by the nibbles of s; bit 3 of a "
     "nibble repeats the\n"
     "byte's sign. int32."},
    {"libdevice", "sad", "x, y, z", false, sad, "abs(x - y) + z, unsigned."},
    {"libdevice", "hadd", "x, y", false, average<false>,
     "(x + y) / 2 rounded down, without overflow."},
    {"libdevice", "rhadd", "x, y", false, average<true>,
     "(x + y) / 2 rounded up, without overflow."},
    {"libdevice", "saturatef", "x", false, saturate, "x limited to [0, 1]; NaN gives 0."},
    {"libdevice", "hiloint2double", "x, y", false, highAndLow,
     "fp64 with the bits x (high half) and y (low half)."},
    {"libdevice", "double2hiint", "x", false, doubleHalf<32>,
     "High half of the bits of fp64, as int32."},
    {"libdevice", "double2loint", "x", false, doubleHalf<0>,
     "Low half of the bits of fp64, as int32."},
    {"libdevice", "rcp64h", "x", false, reciprocalHigh,
     "1 / x in fp64 with the low half of its bits cleared."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::bitRows() { return rows; }
