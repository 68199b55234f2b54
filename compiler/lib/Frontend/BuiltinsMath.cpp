// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: element-wise mathematics.
//
// fp16, bf16 and fp8 are computed in fp32 and rounded once (mathUnary), so a
// function is as exact in them as the format allows, and targets need the
// functions for fp32 and fp64 only. tl.maximum, tl.cdiv and what mirrors an
// operator give a constant for constants.
//
// tl.maximum and the like take operands as the operators do, with two
// differences: bf16 gives fp32, and a number has its own dtype, as a variable
// would have.
#include "Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace nereid;
using namespace nereid::frontend;
namespace arith = mlir::arith;
namespace math = mlir::math;

//===----------------------------------------------------------------------===//
// Functions of one float
//===----------------------------------------------------------------------===//

using UnaryEmitter = mlir::Value (*)(Semantic &, const Tensor &, const SourceRange &);
template <typename Op>
static mlir::Value emitUnary(Semantic &s, const Tensor &x, const SourceRange &range) {
  return s.emit<Op>(range, x.handle).getResult();
}

static UnaryEmitter unaryEmitter(llvm::StringRef name) {
  return llvm::StringSwitch<UnaryEmitter>(name)
      .Case("exp", emitUnary<math::ExpOp>)
      .Case("exp2", emitUnary<math::Exp2Op>)
      .Case("expm1", emitUnary<math::ExpM1Op>)
      .Case("log", emitUnary<math::LogOp>)
      .Case("log2", emitUnary<math::Log2Op>)
      .Case("log10", emitUnary<math::Log10Op>)
      .Case("log1p", emitUnary<math::Log1pOp>)
      .Case("sin", emitUnary<math::SinOp>)
      .Case("cos", emitUnary<math::CosOp>)
      .Case("tan", emitUnary<math::TanOp>)
      .Case("asin", emitUnary<math::AsinOp>)
      .Case("acos", emitUnary<math::AcosOp>)
      .Case("atan", emitUnary<math::AtanOp>)
      .Case("sinh", emitUnary<math::SinhOp>)
      .Case("cosh", emitUnary<math::CoshOp>)
      .Case("tanh", emitUnary<math::TanhOp>)
      .Case("asinh", emitUnary<math::AsinhOp>)
      .Case("acosh", emitUnary<math::AcoshOp>)
      .Case("atanh", emitUnary<math::AtanhOp>)
      .Case("sqrt", emitUnary<math::SqrtOp>)
      .Case("rsqrt", emitUnary<math::RsqrtOp>)
      .Case("cbrt", emitUnary<math::CbrtOp>)
      .Case("erf", emitUnary<math::ErfOp>)
      .Case("erfc", emitUnary<math::ErfcOp>)
      .Case("floor", emitUnary<math::FloorOp>)
      .Case("ceil", emitUnary<math::CeilOp>)
      .Case("trunc", emitUnary<math::TruncOp>)
      .Case("round", emitUnary<math::RoundOp>)
      .Case("rint", emitUnary<math::RoundEvenOp>)
      .Case("sqrt_rn", emitUnary<tt::PreciseSqrtOp>)
      .Default(nullptr);
}

/// fp16, bf16 and fp8 are computed in fp32 and rounded back once.
Tensor nereid::frontend::mathUnary(Semantic &s, llvm::StringRef name, const Tensor &x,
                                   const SourceRange &range) {
  UnaryEmitter emitter = unaryEmitter(name);
  bool narrow = x.type.bits() < 32;
  Tensor wide = narrow ? s.cast(x, Scalar::Fp32, range) : x;
  Tensor result = s.wrap(emitter(s, wide, range), wide.type, range);
  return narrow ? s.cast(result, x.type.element(), range) : result;
}

/// A floating operand; integers are an error unless the function keeps them.
static Tensor floatArg(Semantic &s, const BoundArgs &args, unsigned i) {
  Tensor x = tensorArg(s, args, i);
  if (!x.type.isFloating())
    fail(Diag::unsupported_dtype, args.ranges[i], x.type.element().str(), functionName(args.info),
         "cast the operand first: x.to(tl.float32)");
  return x;
}

static Value unaryMath(Semantic &s, const BoundArgs &args) {
  llvm::StringRef name = args.info.name;
  Tensor x = tensorArg(s, args, 0);
  bool keepsIntegers = name == "ceil" || name == "floor";
  if (keepsIntegers && x.type.isInteger())
    return x;
  return mathUnary(s, name, floatArg(s, args, 0), args.range);
}

static Value absolute(Semantic &s, const BoundArgs &args) {
  Tensor x = tensorArg(s, args, 0);
  if (x.type.isPointerLike())
    fail(Diag::operand_invalid, args.ranges[0], "abs", args[0].describe(), "");
  if (x.type.isFp8())
    return s.cast(
        s.wrap(s.emit<math::AbsFOp>(args.range, s.cast(x, Scalar::Fp16, args.range).handle)
                   .getResult(),
               x.type.withElement(Scalar::Fp16), args.range),
        x.type.element(), args.range);
  if (x.type.isFloating())
    return s.wrap(s.emit<math::AbsFOp>(args.range, x.handle).getResult(), x.type, args.range);
  if (x.type.isSigned())
    return s.wrap(s.emit<math::AbsIOp>(args.range, x.handle).getResult(), x.type, args.range);
  return x;
}

//===----------------------------------------------------------------------===//
// Functions of several operands
//===----------------------------------------------------------------------===//

static Tensor promoteBF16(Semantic &s, const Value &value, const SourceRange &range) {
  Tensor x = s.toTensor(value, range);
  return x.type.scalar() == Scalar::BF16 ? s.cast(x, Scalar::Fp32, range) : x;
}

Value nereid::frontend::minimumMaximum(Semantic &s, bool isMax, const Value &x, const Value &y,
                                       bool propagateNan, const char *what,
                                       const SourceRange &range) {
  if (x.isNumber() && y.isNumber()) {
    auto whole = [](const Value &v) { return v.is<bool>() ? Int(v.as<bool>()) : v.as<Int>(); };
    auto real = [&](const Value &v) { return v.is<double>() ? v.as<double>() : double(whole(v)); };
    if (!x.is<double>() && !y.is<double>())
      return (whole(x) < whole(y)) == isMax ? y : x;
    if (!std::isnan(real(x)) && !std::isnan(real(y)))
      return (real(x) < real(y)) == isMax ? y : x;
  }
  // A number has its own type here, as a variable has: no tile's type wins over it.
  Value left = promoteBF16(s, x, range), right = promoteBF16(s, y, range);
  auto [a, b] = s.operands(left, right, {what}, range);
  if (a.type.isFp8()) {
    a = s.cast(a, Scalar::Fp16, range);
    b = s.cast(b, Scalar::Fp16, range);
  }
  mlir::Value result;
  auto emit = [&]<typename Op>() { result = s.emit<Op>(range, a.handle, b.handle).getResult(); };
  if (a.type.isFloating()) {
    if (propagateNan)
      isMax ? emit.operator()<arith::MaximumFOp>() : emit.operator()<arith::MinimumFOp>();
    else
      isMax ? emit.operator()<arith::MaxNumFOp>() : emit.operator()<arith::MinNumFOp>();
  } else if (a.type.isSigned())
    isMax ? emit.operator()<arith::MaxSIOp>() : emit.operator()<arith::MinSIOp>();
  else
    isMax ? emit.operator()<arith::MaxUIOp>() : emit.operator()<arith::MinUIOp>();
  return s.wrap(result, a.type, range);
}

template <bool isMax> static Value minMax(Semantic &s, const BoundArgs &args) {
  return minimumMaximum(s, isMax, args[0], args[1], propagateNanArg(s, args, 2),
                        isMax ? "tl.maximum" : "tl.minimum", args.range);
}

static Value clamp(Semantic &s, const BoundArgs &args) {
  Tensor x = promoteBF16(s, args[0], args.ranges[0]);
  // Numbers have their own type here, as in tl.minimum.
  Value low = promoteBF16(s, args[1], args.ranges[1]),
        high = promoteBF16(s, args[2], args.ranges[2]);
  if (!x.type.isFloating())
    fail(Diag::unsupported_dtype, args.ranges[0], x.type.element().str(), "tl.clamp",
         "use tl.minimum(tl.maximum(x, low), high) for integers");
  auto [x1, low1] = s.operands(x, low, {"tl.clamp"}, args.range);
  auto [x2, high1] = s.operands(x1, high, {"tl.clamp"}, args.range);
  // The second pairing may have changed dtype or shape once more.
  auto [x3, low2] = s.operands(x2, low1, {"tl.clamp"}, args.range);
  bool nan = propagateNanArg(s, args, 3);
  auto mode = nan ? tt::PropagateNan::ALL : tt::PropagateNan::NONE;
  return s.wrap(
      s.emit<tt::ClampFOp>(args.range, x3.handle, low2.handle, high1.handle, mode).getResult(),
      x3.type, args.range);
}

static Value fdiv(Semantic &s, const BoundArgs &args) {
  auto [a, b] = s.operands(args[0], args[1], {"tl.fdiv"}, args.range);
  if (!a.type.isFloating())
    failOperands(Diag::operands_invalid, args.range, args[0], args[1], "tl.fdiv",
                 args[0].describe(), args[1].describe(),
                 "both must be floating; '/' also divides integers");
  return s.binary(BinaryOp::Div, a, b, args.range);
}

static Value divRn(Semantic &s, const BoundArgs &args) {
  auto [a, b] = s.operands(args[0], args[1], {"tl.div_rn"}, args.range);
  if (!a.type.isFloating())
    failOperands(Diag::operands_invalid, args.range, args[0], args[1], "tl.div_rn",
                 args[0].describe(), args[1].describe(), "both must be floating");
  Type type = a.type;
  if (type.bits() < 32) {
    a = s.cast(a, Scalar::Fp32, args.range);
    b = s.cast(b, Scalar::Fp32, args.range);
  }
  Tensor quotient = s.wrap(s.emit<tt::PreciseDivFOp>(args.range, a.handle, b.handle).getResult(),
                           a.type, args.range);
  return s.cast(quotient, type, args.range);
}

static Value fma(Semantic &s, const BoundArgs &args) {
  auto [x1, y1] = s.operands(args[0], args[1], {"tl.fma"}, args.range);
  auto [x2, z2] = s.operands(x1, args[2], {"tl.fma"}, args.range);
  auto [x3, y3] = s.operands(x2, y1, {"tl.fma"}, args.range);
  auto [x4, z4] = s.operands(x3, z2, {"tl.fma"}, args.range);
  if (!x4.type.isFloating() || x4.type.isFp8())
    return s.binary(BinaryOp::Add, s.binary(BinaryOp::Mult, x4, y3, args.range), z4, args.range);
  return s.wrap(s.emit<math::FmaOp>(args.range, x4.handle, y3.handle, z4.handle).getResult(),
                x4.type, args.range);
}

static Value umulhi(Semantic &s, const BoundArgs &args) {
  auto [a, b] = s.operands(args[0], args[1], {"tl.umulhi"}, args.range);
  if (!a.type.isInteger() || a.type.bits() < 32)
    failOperands(Diag::operands_invalid, args.range, args[0], args[1], "tl.umulhi",
                 args[0].describe(), args[1].describe(), "both must be 32- or 64-bit integers");
  return s.wrap(s.emit<tt::MulhiUIOp>(args.range, a.handle, b.handle).getResult(), a.type,
                args.range);
}

template <BinaryOp op> static Value operatorFunction(Semantic &s, const BoundArgs &args) {
  return arithmetic(s, op, args[0], args[1], args.range);
}

static Value cdiv(Semantic &s, const BoundArgs &args) {
  const Value &x = args[0], &div = args[1];
  auto isFloat = [](const Value &v) {
    const Tensor *t = v.getIf<Tensor>();
    return v.is<double>() || (t && t->type.isFloating());
  };
  if (isFloat(x) || isFloat(div)) {
    Value quotient = arithmetic(s, BinaryOp::Div, x, div, args.range);
    if (const double *q = quotient.getIf<double>())
      return std::ceil(*q);
    return mathUnary(s, "ceil", s.toTensor(quotient, args.range), args.range);
  }
  Value less = arithmetic(s, BinaryOp::Sub, div, Int(1), args.range);
  return arithmetic(s, BinaryOp::FloorDiv, arithmetic(s, BinaryOp::Add, x, less, args.range), div,
                    args.range);
}

/// 1 / (1 + e^-x), for negative x as e^x / (1 + e^x): e^-x would overflow where
/// the result is still a number above 0.
static Value sigmoid(Semantic &s, const BoundArgs &args) {
  Tensor x = floatArg(s, args, 0);
  Type type = x.type;
  if (type.bits() < 32)
    x = s.cast(x, Scalar::Fp32, args.range);
  Tensor size = s.wrap(s.emit<math::AbsFOp>(args.range, x.handle).getResult(), x.type, args.range);
  Tensor power =
      mathUnary(s, "exp", s.unary(UnaryOp::USub, size, args.range).as<Tensor>(), args.range);
  Tensor negative = s.compare(CompareOp::Lt, x, 0.0, args.range).as<Tensor>();
  Tensor one = s.full(x.type.shape(), 1.0, x.type.element(), args.range);
  Value sum = s.binary(BinaryOp::Add, power, 1.0, args.range);
  Tensor top = s.select(negative, power, one, args.range);
  return s.cast(s.binary(BinaryOp::Div, top, sum, args.range).as<Tensor>(), type, args.range);
}

static Value softmax(Semantic &s, const BoundArgs &args) {
  Tensor x = floatArg(s, args, 0);
  if (!x.type.isBlock())
    fail(Diag::needs_block, args.ranges[0], "x", "tl.softmax", args[0].describe(), "");
  int64_t dim = args[1].isNone() ? 0
                                 : normalizeAxis(s, s.constexprInt(args, 1), x.type.shape().size(),
                                                 x.type, args.ranges[1]);
  Type type = x.type;
  if (type.bits() < 32)
    x = s.cast(x, Scalar::Fp32, args.range);
  Tensor peak = reduceSimple(s, "max", x, dim, true, args.range);
  Tensor shifted = s.binary(BinaryOp::Sub, x, peak, args.range).as<Tensor>();
  Tensor power = mathUnary(s, "exp", shifted, args.range);
  Tensor sum = reduceSimple(s, "sum", power, dim, true, args.range);
  Tensor result = s.binary(BinaryOp::Div, power, sum, args.range).as<Tensor>();
  return s.cast(result, type, args.range);
}

#define NEREID_UNARY(MODULE, NAME, METHOD, DOC)                                                    \
  {MODULE,    NAME,                                                                                \
   "x",       METHOD,                                                                              \
   unaryMath, DOC " of each element. fp16, bf16 and fp8 are computed in fp32 and rounded once."}

static const char *const maximumDoc = "Greater of x and y, element by element; operands are "
                                      "promoted and broadcast, bf16 gives fp32.\n\n"
                                      "propagate_nan: tl.PropagateNan.NONE (default; the operand "
                                      "that is not NaN wins) or tl.PropagateNan.ALL (NaN wins).";
static const char *const minimumDoc = "Lesser of x and y, element by element; operands are "
                                      "promoted and broadcast, bf16 gives fp32.\n\n"
                                      "propagate_nan: tl.PropagateNan.NONE (default; the operand "
                                      "that is not NaN wins) or tl.PropagateNan.ALL (NaN wins).";
static const char *const cdivDoc = "Quotient rounded up: (x + div - 1) // div for integers, ceil(x "
                                   "/ div) for floats. Folded for constants.";
static const char *const fdivDoc = "Floating division of two floating operands.";
static const char *const divRnDoc =
    "Division rounded to nearest even (IEEE), for floating operands.";
static const char *const fmaDoc =
    "x * y + z with one rounding for floats; operands are promoted and broadcast.";
static const char *const umulhiDoc =
    "High half of the unsigned product of two 32- or 64-bit integers.";
static const char *const absDoc =
    "Absolute value of each element; unsigned integers stay as they are.";

static const BuiltinInfo rows[] = {
    NEREID_UNARY("tl", "exp", true, "e**x"),
    NEREID_UNARY("tl", "exp2", true, "2**x"),
    NEREID_UNARY("tl", "log", true, "Natural logarithm"),
    NEREID_UNARY("tl", "log2", true, "Logarithm to base 2"),
    NEREID_UNARY("tl", "sin", true, "Sine"),
    NEREID_UNARY("tl", "cos", true, "Cosine"),
    NEREID_UNARY("tl", "sqrt", true, "Square root"),
    NEREID_UNARY("tl", "sqrt_rn", true, "Square root rounded to nearest even"),
    NEREID_UNARY("tl", "rsqrt", true, "1 / sqrt(x)"),
    NEREID_UNARY("tl", "erf", true, "Error function"),
    NEREID_UNARY("tl", "floor", true, "Greatest integer not above x, as a float (integers stay)"),
    NEREID_UNARY("tl", "ceil", true, "Least integer not below x, as a float (integers stay)"),
    {"tl", "abs", "x", true, absolute, absDoc},
    {"tl", "maximum", "x, y, propagate_nan=None", false, minMax<true>, maximumDoc},
    {"tl", "minimum", "x, y, propagate_nan=None", false, minMax<false>, minimumDoc},
    {"tl", "clamp", "x, min, max, propagate_nan=None", false, clamp,
     "min(max(x, min), max) for floating x; bounds are promoted and broadcast, bf16 gives fp32.\n\n"
     "propagate_nan: as of tl.maximum."},
    {"tl", "fdiv", "x, y, ieee_rounding=False", false, fdiv, fdivDoc},
    {"tl", "div_rn", "x, y", false, divRn, divRnDoc},
    {"tl", "fma", "x, y, z", false, fma, fmaDoc},
    {"tl", "umulhi", "x, y", false, umulhi, umulhiDoc},
    {"tl", "add", "x, y, sanitize_overflow=True", false, operatorFunction<BinaryOp::Add>,
     "x + y, with the promotion and broadcasting of the operator."},
    {"tl", "sub", "x, y, sanitize_overflow=True", false, operatorFunction<BinaryOp::Sub>,
     "x - y, with the promotion and broadcasting of the operator."},
    {"tl", "mul", "x, y, sanitize_overflow=True", false, operatorFunction<BinaryOp::Mult>,
     "x * y, with the promotion and broadcasting of the operator."},
    {"tl", "cdiv", "x, div", true, cdiv, cdivDoc},
    {"tl", "sigmoid", "x", true, sigmoid,
     "1 / (1 + exp(-x)) for floating x, in x's dtype; computed in fp32 or fp64."},
    {"tl", "softmax", "x, dim=None, keep_dims=False, ieee_rounding=False", true, softmax,
     "exp(x - max) / sum(exp(x - max)) along dim (default 0), in x's dtype and shape; computed in "
     "fp32 or fp64."},
    NEREID_UNARY("tl.math", "exp", false, "e**x"),
    NEREID_UNARY("tl.math", "exp2", false, "2**x"),
    NEREID_UNARY("tl.math", "log", false, "Natural logarithm"),
    NEREID_UNARY("tl.math", "log2", false, "Logarithm to base 2"),
    NEREID_UNARY("tl.math", "sin", false, "Sine"),
    NEREID_UNARY("tl.math", "cos", false, "Cosine"),
    NEREID_UNARY("tl.math", "sqrt", false, "Square root"),
    NEREID_UNARY("tl.math", "sqrt_rn", false, "Square root rounded to nearest even"),
    NEREID_UNARY("tl.math", "rsqrt", false, "1 / sqrt(x)"),
    NEREID_UNARY("tl.math", "erf", false, "Error function"),
    NEREID_UNARY("tl.math", "floor", false, "Greatest integer not above x"),
    NEREID_UNARY("tl.math", "ceil", false, "Least integer not below x"),
    NEREID_UNARY("tl.math", "tanh", false, "Hyperbolic tangent"),
    {"tl.math", "abs", "x", false, absolute, absDoc},
    {"tl.math", "max", "x, y, propagate_nan=None", false, minMax<true>, maximumDoc},
    {"tl.math", "min", "x, y, propagate_nan=None", false, minMax<false>, minimumDoc},
    {"tl.math", "fdiv", "x, y, ieee_rounding=False", false, fdiv, fdivDoc},
    {"tl.math", "div_rn", "x, y", false, divRn, divRnDoc},
    {"tl.math", "fma", "x, y, z", false, fma, fmaDoc},
    {"tl.math", "umulhi", "x, y", false, umulhi, umulhiDoc},
    {"tl.math", "cdiv", "x, div", false, cdiv, cdivDoc},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::mathRows() { return rows; }
