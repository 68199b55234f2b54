// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: tl.extra.libdevice. Names that have an operation in the math dialect
// map to it; the others are composed here.
#include "Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace nereid;
using namespace nereid::frontend;
namespace arith = mlir::arith;
namespace math = mlir::math;

static Tensor floatArg(Semantic &s, const BoundArgs &args, unsigned i) {
  Tensor x = tensorArg(s, args, i);
  if (!x.type.isFloating())
    fail(Diag::unsupported_dtype, args.ranges[i], x.type.element().str(), functionName(args.info),
         "cast the operand first: x.to(tl.float32)");
  return x;
}

/// The math dialect's operation of a libdevice name.
static llvm::StringRef operationName(llvm::StringRef name) {
  if (name == "fast_expf")
    return "exp";
  if (name == "fast_logf")
    return "log";
  if (name == "fast_sinf")
    return "sin";
  if (name == "fast_cosf")
    return "cos";
  if (name == "fast_log2f" || name == "fast_log10f")
    return name == "fast_log2f" ? "log2" : "log10";
  if (name == "fast_tanf" || name == "fast_tanhf")
    return name == "fast_tanf" ? "tan" : "tanh";
  if (name == "nearbyint")
    return "rint";
  return name;
}

static Value unary(Semantic &s, const BoundArgs &args) {
  return mathUnary(s, operationName(args.info.name), floatArg(s, args, 0), args.range);
}

/// Two floating operands of one dtype of at least 32 bits, and their own dtype.
static std::tuple<Tensor, Tensor, Type> floatPair(Semantic &s, const BoundArgs &args) {
  auto [a, b] = s.operands(args[0], args[1], {args.info.name}, args.range);
  if (!a.type.isFloating())
    failOperands(Diag::operands_invalid, args.range, args[0], args[1], functionName(args.info),
                 args[0].describe(), args[1].describe(), "both must be floating");
  Type type = a.type;
  if (type.bits() < 32) {
    a = s.cast(a, Scalar::Fp32, args.range);
    b = s.cast(b, Scalar::Fp32, args.range);
  }
  return {a, b, type};
}

template <typename Op> static Value binary(Semantic &s, const BoundArgs &args) {
  auto [a, b, type] = floatPair(s, args);
  return s.cast(s.wrap(s.emit<Op>(args.range, a.handle, b.handle).getResult(), a.type, args.range),
                type, args.range);
}

static Value absolute(Semantic &s, const BoundArgs &args) {
  return findBuiltin("tl", "abs")->rule(s, args);
}

enum class Test { Nan, Inf, Finite };
template <Test test> static Value classify(Semantic &s, const BoundArgs &args) {
  Tensor x = floatArg(s, args, 0);
  if (x.type.bits() < 32)
    x = s.cast(x, Scalar::Fp32, args.range);
  if (test == Test::Nan)
    return s.compare(CompareOp::NotEq, x, x, args.range);
  Tensor size = s.wrap(s.emit<math::AbsFOp>(args.range, x.handle).getResult(), x.type, args.range);
  return s.compare(test == Test::Inf ? CompareOp::Eq : CompareOp::Lt, size,
                   std::numeric_limits<double>::infinity(), args.range);
}

static Value signbit(Semantic &s, const BoundArgs &args) {
  Tensor x = floatArg(s, args, 0);
  unsigned bits = x.type.bits();
  Type integer = bits == 64   ? Scalar::Int64
                 : bits == 32 ? Scalar::Int32
                 : bits == 16 ? Scalar::Int16
                              : Scalar::Int8;
  Value negative = s.compare(CompareOp::Lt, s.bitcast(x, integer, args.range), Int(0), args.range);
  return s.cast(negative.as<Tensor>(), Scalar::Int32, args.range);
}

template <Scalar from, Scalar to> static Value reinterpret(Semantic &s, const BoundArgs &args) {
  Tensor x = tensorArg(s, args, 0);
  if (x.type.isBlockPointer() || x.type.isPointerLike() || x.type.bits() > Type(from).bits() ||
      x.type.isFloating() != Type(from).isFloating())
    fail(Diag::unsupported_dtype, args.ranges[0], x.type.element().str(), functionName(args.info),
         "cast it to tl." + Type(from).str() + " first");
  return s.bitcast(s.cast(x, from, args.range), to, args.range);
}

static Value relu(Semantic &s, const BoundArgs &args) {
  Tensor x = floatArg(s, args, 0);
  Value positive = s.compare(CompareOp::Gt, x, 0.0, args.range);
  Tensor zero = s.full(x.type.shape(), 0.0, x.type.element(), args.range);
  // NaN stays NaN.
  Value nan = s.compare(CompareOp::NotEq, x, x, args.range);
  Tensor keep = s.logical(false, positive, nan, args.range).as<Tensor>();
  return s.select(keep, x, zero, args.range);
}

static Value reciprocal(Semantic &s, const BoundArgs &args) {
  Tensor x = floatArg(s, args, 0);
  return s.cast(s.binary(BinaryOp::Div, 1.0, x, args.range).as<Tensor>(), x.type.element(),
                args.range);
}

static Value flip(Semantic &s, const BoundArgs &args) {
  return findBuiltin("al", "flip")->rule(s, args);
}

template <typename Op> static Value integerUnary(Semantic &s, const BoundArgs &args) {
  Tensor x = tensorArg(s, args, 0);
  if (!x.type.isInteger() || x.type.isBool())
    fail(Diag::unsupported_dtype, args.ranges[0], x.type.element().str(), functionName(args.info),
         "it works on integers");
  Tensor count = s.wrap(s.emit<Op>(args.range, x.handle).getResult(), x.type, args.range);
  return s.cast(count, Scalar::Int32, args.range);
}

static Value findFirstSet(Semantic &s, const BoundArgs &args) {
  // 1 + the lowest set bit's position, 0 for 0.
  Tensor x = tensorArg(s, args, 0);
  Tensor zeros = integerUnary<math::CountTrailingZerosOp>(s, args).as<Tensor>();
  Tensor position = s.binary(BinaryOp::Add, zeros, Int(1), args.range).as<Tensor>();
  Tensor none = s.full(position.type.shape(), Int(0), Scalar::Int32, args.range);
  Tensor isZero = s.compare(CompareOp::Eq, x, Int(0), args.range).as<Tensor>();
  return s.select(isZero, none, position, args.range);
}

static Value delegate(Semantic &s, const BoundArgs &args) {
  return findBuiltin("tl", args.info.name)->rule(s, args);
}

#define NEREID_UNARY(NAME, DOC)                                                                    \
  {"libdevice", NAME, "x", false, unary, DOC " of each element, in x's dtype."}

static const BuiltinInfo rows[] = {
    NEREID_UNARY("exp", "e**x"),
    NEREID_UNARY("fast_expf", "e**x"),
    NEREID_UNARY("exp2", "2**x"),
    NEREID_UNARY("expm1", "e**x - 1"),
    NEREID_UNARY("log", "Natural logarithm"),
    NEREID_UNARY("fast_logf", "Natural logarithm"),
    NEREID_UNARY("log2", "Logarithm to base 2"),
    NEREID_UNARY("log10", "Logarithm to base 10"),
    NEREID_UNARY("log1p", "log(1 + x)"),
    NEREID_UNARY("sin", "Sine"),
    NEREID_UNARY("fast_sinf", "Sine"),
    NEREID_UNARY("cos", "Cosine"),
    NEREID_UNARY("fast_cosf", "Cosine"),
    NEREID_UNARY("tan", "Tangent"),
    NEREID_UNARY("fast_tanf", "Tangent"),
    NEREID_UNARY("asin", "Arc sine"),
    NEREID_UNARY("acos", "Arc cosine"),
    NEREID_UNARY("atan", "Arc tangent"),
    NEREID_UNARY("sinh", "Hyperbolic sine"),
    NEREID_UNARY("cosh", "Hyperbolic cosine"),
    NEREID_UNARY("tanh", "Hyperbolic tangent"),
    NEREID_UNARY("fast_tanhf", "Hyperbolic tangent"),
    NEREID_UNARY("asinh", "Inverse hyperbolic sine"),
    NEREID_UNARY("acosh", "Inverse hyperbolic cosine"),
    NEREID_UNARY("atanh", "Inverse hyperbolic tangent"),
    NEREID_UNARY("sqrt", "Square root"),
    NEREID_UNARY("sqrt_rn", "Square root rounded to nearest even"),
    NEREID_UNARY("rsqrt", "1 / sqrt(x)"),
    NEREID_UNARY("cbrt", "Cube root"),
    NEREID_UNARY("erf", "Error function"),
    NEREID_UNARY("erfc", "1 - erf(x)"),
    NEREID_UNARY("floor", "Greatest integer not above x"),
    NEREID_UNARY("ceil", "Least integer not below x"),
    NEREID_UNARY("trunc", "Integer part"),
    NEREID_UNARY("round", "Nearest integer, halves away from zero"),
    NEREID_UNARY("rint", "Nearest integer, halves to even"),
    NEREID_UNARY("nearbyint", "Nearest integer, halves to even"),
    NEREID_UNARY("fast_log2f", "Logarithm to base 2"),
    NEREID_UNARY("fast_log10f", "Logarithm to base 10"),
    {"libdevice", "abs", "x", false, absolute, "Absolute value."},
    {"libdevice", "flip", "ptr, dim=-1", false, flip, "Reverses the order of elements along dim."},
    {"libdevice", "pow", "x, y", false, binary<math::PowFOp>, "x**y for floating operands."},
    {"libdevice", "fast_powf", "x, y", false, binary<math::PowFOp>, "x**y for floating operands."},
    {"libdevice", "atan2", "x, y", false, binary<math::Atan2Op>,
     "Angle of the point (y, x): atan(x / y) by quadrant."},
    {"libdevice", "copysign", "x, y", false, binary<math::CopySignOp>,
     "Magnitude of x with the sign of y."},
    {"libdevice", "fmod", "x, y", false, binary<arith::RemFOp>,
     "Remainder of x / y with the sign of x."},
    {"libdevice", "fast_dividef", "x, y", false, binary<arith::DivFOp>,
     "x / y for floating operands."},
    {"libdevice", "fdiv", "x, y, ieee_rounding=False", false, delegate,
     "x / y for floating operands."},
    {"libdevice", "fma", "x, y, z", false, delegate, "x * y + z with one rounding."},
    {"libdevice", "umulhi", "x, y", false, delegate, "High half of the unsigned product."},
    {"libdevice", "reciprocal", "x", false, reciprocal, "1 / x in x's dtype."},
    {"libdevice", "relu", "x", false, relu, "x where it is positive (or NaN), 0 elsewhere."},
    {"libdevice", "isnan", "x", false, classify<Test::Nan>, "int1: is it NaN?"},
    {"libdevice", "isinf", "x", false, classify<Test::Inf>, "int1: is it infinite?"},
    {"libdevice", "isfinited", "x", false, classify<Test::Finite>, "int1: is it finite?"},
    {"libdevice", "finitef", "x", false, classify<Test::Finite>, "int1: is it finite?"},
    {"libdevice", "signbit", "x", false, signbit, "int32: 1 where the sign bit is set."},
    {"libdevice", "float_as_int", "x", false, reinterpret<Scalar::Fp32, Scalar::Int32>,
     "Bits of fp32 as int32."},
    {"libdevice", "int_as_float", "x", false, reinterpret<Scalar::Int32, Scalar::Fp32>,
     "int32 bits as fp32."},
    {"libdevice", "float_as_uint", "x", false, reinterpret<Scalar::Fp32, Scalar::UInt32>,
     "Bits of fp32 as uint32."},
    {"libdevice", "uint_as_float", "x", false, reinterpret<Scalar::UInt32, Scalar::Fp32>,
     "uint32 bits as fp32."},
    {"libdevice", "double_as_longlong", "x", false, reinterpret<Scalar::Fp64, Scalar::Int64>,
     "Bits of fp64 as int64."},
    {"libdevice", "longlong_as_double", "x", false, reinterpret<Scalar::Int64, Scalar::Fp64>,
     "int64 bits as fp64."},
    {"libdevice", "popc", "x", false, integerUnary<math::CtPopOp>, "Number of set bits, int32."},
    {"libdevice", "clz", "x", false, integerUnary<math::CountLeadingZerosOp>,
     "Number of leading zero bits, int32."},
    {"libdevice", "ffs", "x", false, findFirstSet,
     "1 + position of the lowest set bit, 0 for 0; int32."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::libdeviceRows() { return rows; }
