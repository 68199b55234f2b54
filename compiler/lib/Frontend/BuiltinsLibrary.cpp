// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: names of tl.extra.libdevice that are calls of library functions
// (nereid/device_math.def): special functions, arithmetic and conversions with a
// rounding mode. In the IR they are tt.extern_elementwise under the names of
// CUDA's libdevice.
#include "Rules.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace nereid;
using namespace nereid::frontend;

/// A call of `symbol` on operands of one shape.
Tensor nereid::frontend::libraryCall(Semantic &s, llvm::StringRef library, llvm::StringRef path,
                                     llvm::StringRef symbol, llvm::ArrayRef<Tensor> operands,
                                     Type element, bool isPure, const SourceRange &range) {
  Type type = operands[0].type.withElement(element);
  llvm::SmallVector<mlir::Value> handles;
  for (const Tensor &operand : operands)
    handles.push_back(operand.handle);
  auto op = s.emit<tt::ExternElementwiseOp>(range, type.lower(s.builder.getContext()), handles,
                                            library, path, symbol, isPure);
  return s.wrap(op.getResult(), type, range);
}

/// All operands in their common shape.
void nereid::frontend::broadcastAll(Semantic &s, std::vector<Tensor> &operands, const char *what,
                                    const SourceRange &range) {
  // The first round finds the shape, the second brings the early ones to it.
  for (int round = 0; round < 2; ++round)
    for (size_t i = 1; i < operands.size(); ++i)
      std::tie(operands[0], operands[i]) = s.broadcast(operands[0], operands[i], what, range);
}

namespace {
struct LibraryFunction {
  const char *name;   // in tl.extra.libdevice
  const char *symbol; // without __nv_ and f
  /// Operands: F floating, i integer; result: F the operands' dtype, else of
  /// the letters i (int32) and l (int64).
  const char *signature;
};
} // namespace

static const LibraryFunction functions[] = {
    {"lgamma", "lgamma", "FF"},
    {"tgamma", "tgamma", "FF"},
    {"gamma", "tgamma", "FF"},
    {"erfinv", "erfinv", "FF"},
    {"erfcinv", "erfcinv", "FF"},
    {"erfcx", "erfcx", "FF"},
    {"normcdf", "normcdf", "FF"},
    {"normcdfinv", "normcdfinv", "FF"},
    {"cyl_bessel_i0", "cyl_bessel_i0", "FF"},
    {"cyl_bessel_i1", "cyl_bessel_i1", "FF"},
    {"j0", "j0", "FF"},
    {"j1", "j1", "FF"},
    {"y0", "y0", "FF"},
    {"y1", "y1", "FF"},
    {"rcbrt", "rcbrt", "FF"},
    {"logb", "logb", "FF"},
    {"sinpi", "sinpi", "FF"},
    {"cospi", "cospi", "FF"},
    {"exp10", "exp10", "FF"},
    {"fast_exp10f", "exp10", "FF"},
    {"hypot", "hypot", "FFF"},
    {"rhypot", "rhypot", "FFF"},
    {"remainder", "remainder", "FFF"},
    {"fdim", "fdim", "FFF"},
    {"nextafter", "nextafter", "FFF"},
    {"norm3d", "norm3d", "FFFF"},
    {"rnorm3d", "rnorm3d", "FFFF"},
    {"norm4d", "norm4d", "FFFFF"},
    {"rnorm4d", "rnorm4d", "FFFFF"},
    {"jn", "jn", "FiF"},
    {"yn", "yn", "FiF"},
    {"ldexp", "ldexp", "FFi"},
    {"scalbn", "ldexp", "FFi"},
    {"ilogb", "ilogb", "iF"},
    {"llrint", "llrint", "lF"},
    {"llround", "llround", "lF"},
};

/// Operands of one dtype and shape: floating ones promoted together, integers
/// as int32. Returns the dtype of the floating ones before they were widened.
static std::pair<std::vector<Tensor>, Type> libraryOperands(Semantic &s, const BoundArgs &args,
                                                            llvm::StringRef letters) {
  std::vector<Tensor> operands;
  std::optional<Type> common;
  for (unsigned i = 0; i < letters.size(); ++i) {
    Tensor x = tensorArg(s, args, i);
    bool integer = letters[i] == 'i';
    if (integer ? !x.type.isInteger() : !x.type.isFloating())
      fail(Diag::unsupported_dtype, args.ranges[i], x.type.element().str(), functionName(args.info),
           integer ? "this operand is an integer: x.to(tl.int32)"
                   : "cast the operand first: x.to(tl.float32)");
    if (!integer) {
      OperandRules rules{args.info.name};
      common = common ? s.promote(*common, x.type.element(), rules, args.range) : x.type.element();
    }
    operands.push_back(x);
  }
  Type wide = common && common->bits() < 32 ? Type(Scalar::Fp32) : common.value_or(Scalar::Fp32);
  for (unsigned i = 0; i < letters.size(); ++i)
    // Beyond int32 an order or an exponent gives what the last one inside gives.
    operands[i] = letters[i] == 'i' ? s.castSaturating(operands[i], Scalar::Int32, args.range)
                                    : s.cast(operands[i], wide, args.range);
  broadcastAll(s, operands, args.info.name, args.range);
  return {operands, common.value_or(Scalar::Fp32)};
}

static Value special(Semantic &s, const BoundArgs &args) {
  const auto *function = llvm::find_if(functions, [&](const LibraryFunction &f) {
    return llvm::StringRef(f.name) == args.info.name;
  });
  llvm::StringRef signature = function->signature;
  auto [operands, type] = libraryOperands(s, args, signature.drop_front());
  Type wide = type.bits() < 32 ? Type(Scalar::Fp32) : type;
  std::string symbol = "__nv_" + std::string(function->symbol) + (wide.bits() == 32 ? "f" : "");
  // The neighbour of a narrow number is one of its own format.
  if (llvm::StringRef(args.info.name) == "nextafter" && type.bits() < 32)
    fail(Diag::unsupported_dtype, args.ranges[0], type.str(), functionName(args.info),
         "cast the operands to tl.float32; their neighbours are those of fp32 then");
  Type result = signature[0] == 'i'   ? Type(Scalar::Int32)
                : signature[0] == 'l' ? Type(Scalar::Int64)
                                      : wide;
  Tensor value = libraryCall(s, "libdevice", "", symbol, operands, result, true, args.range);
  return signature[0] == 'F' ? s.cast(value, type, args.range) : value;
}

//===----------------------------------------------------------------------===//
// Rounding modes
//===----------------------------------------------------------------------===//

/// add_rz, sqrt_ru, ...: fp32 and fp64 only, as the mode is that of a format.
template <unsigned count> static Value directed(Semantic &s, const BoundArgs &args) {
  llvm::StringRef name = args.info.name, mode = name.take_back(3), base = name.drop_back(3);
  auto [operands, type] = libraryOperands(s, args, std::string(count, 'F'));
  if (type.bits() < 32)
    fail(Diag::unsupported_dtype, args.ranges[0], type.str(), functionName(args.info),
         "the rounding mode is that of fp32 or fp64: cast the operands first");
  bool single = type.bits() == 32;
  std::string symbol =
      base == "fma" ? std::string(single ? "fmaf" : "fma") : (single ? "f" : "d") + base.str();
  return libraryCall(s, "libdevice", "", "__nv_" + symbol + mode.str(), operands, type, true,
                     args.range);
}

/// Integers to floats with a rounding mode; rn is the ordinary cast.
template <Scalar from, Scalar to> static Value convertRounding(Semantic &s, const BoundArgs &args) {
  Tensor x = tensorArg(s, args, 0);
  bool sameKind = Type(from).isInteger() ? x.type.isInteger() : x.type.isFloating();
  if (!sameKind || x.type.bits() > Type(from).bits())
    fail(Diag::unsupported_dtype, args.ranges[0], x.type.element().str(), functionName(args.info),
         "cast it to tl." + Type(from).str() + " first");
  x = s.cast(x, from, args.range);
  llvm::StringRef name = args.info.name;
  if (name.ends_with("_rn"))
    return s.cast(x, to, args.range);
  return libraryCall(s, "libdevice", "", "__nv_" + name.str(), x, to, true, args.range);
}

/// Floats to integers with a rounding mode. Out of range: the nearest integer;
/// NaN: 0.
template <Scalar to> static Value roundToInteger(Semantic &s, const BoundArgs &args) {
  Tensor x = tensorArg(s, args, 0);
  if (!x.type.isFloating())
    fail(Diag::unsupported_dtype, args.ranges[0], x.type.element().str(), functionName(args.info),
         "it converts floating values");
  llvm::StringRef mode = llvm::StringRef(args.info.name).take_back(2);
  const char *operation = mode == "rn"   ? "rint"
                          : mode == "rz" ? "trunc"
                          : mode == "rd" ? "floor"
                                         : "ceil";
  return s.castSaturating(mathUnary(s, operation, x, args.range), to, args.range);
}

static Value divRn(Semantic &s, const BoundArgs &args) {
  return findBuiltin("tl", "div_rn")->rule(s, args);
}

/// add_rn and its like: the ordinary operation.
template <BinaryOp op> static Value nearest(Semantic &s, const BoundArgs &args) {
  auto [operands, type] = libraryOperands(s, args, "FF");
  return s.cast(s.binary(op, operands[0], operands[1], args.range).as<Tensor>(), type, args.range);
}
static Value fmaRn(Semantic &s, const BoundArgs &args) {
  return findBuiltin("tl", "fma")->rule(s, args);
}
static Value rcpRn(Semantic &s, const BoundArgs &args) {
  return findBuiltin("libdevice", "reciprocal")->rule(s, args);
}
static Value rsqrtRn(Semantic &s, const BoundArgs &args) {
  Tensor x = tensorArg(s, args, 0);
  if (!x.type.isFloating())
    fail(Diag::unsupported_dtype, args.ranges[0], x.type.element().str(), functionName(args.info),
         "cast the operand first: x.to(tl.float32)");
  // Through fp64, so that fp32 is rounded correctly but for rare ties.
  Type type = x.type.element();
  return s.cast(mathUnary(s, "rsqrt", s.cast(x, Scalar::Fp64, args.range), args.range), type,
                args.range);
}

#define NEREID_ONE(NAME, DOC)                                                                      \
  {"libdevice", NAME, "x", false, special, DOC ", in x's dtype; floating x."}
#define NEREID_TWO(NAME, DOC)                                                                      \
  {"libdevice", NAME, "x, y", false, special, DOC ", for floating operands."}
#define NEREID_MODE(MODE, HOW)                                                                     \
  {"libdevice", "add_" MODE, "x, y", false, directed<2>, "x + y rounded " HOW "; fp32 or fp64."},  \
      {"libdevice", "sub_" MODE, "x, y",                                                           \
       false,       directed<2>, "x - y rounded " HOW "; fp32 or fp64."},                          \
      {"libdevice", "mul_" MODE, "x, y",                                                           \
       false,       directed<2>, "x * y rounded " HOW "; fp32 or fp64."},                          \
      {"libdevice", "div_" MODE, "x, y",                                                           \
       false,       directed<2>, "x / y rounded " HOW "; fp32 or fp64."},                          \
      {"libdevice", "sqrt_" MODE, "x",                                                             \
       false,       directed<1>,  "Square root rounded " HOW "; fp32 or fp64."},                   \
      {"libdevice", "rcp_" MODE, "x", false, directed<1>, "1 / x rounded " HOW "; fp32 or fp64."}, \
      {"libdevice", "fma_" MODE, "x, y, z",                                                        \
       false,       directed<3>, "x * y + z rounded once, " HOW "; fp32 or fp64."}
#define NEREID_CONVERT(MODE, HOW)                                                                  \
  {"libdevice",                                                                                    \
   "double2float_" MODE,                                                                           \
   "x",                                                                                            \
   false,                                                                                          \
   convertRounding<Scalar::Fp64, Scalar::Fp32>,                                                    \
   "fp64 to fp32, " HOW "."},                                                                      \
      {"libdevice",                                                                                \
       "int2float_" MODE,                                                                          \
       "x",                                                                                        \
       false,                                                                                      \
       convertRounding<Scalar::Int32, Scalar::Fp32>,                                               \
       "int32 to fp32, " HOW "."},                                                                 \
      {"libdevice",                                                                                \
       "uint2float_" MODE,                                                                         \
       "x",                                                                                        \
       false,                                                                                      \
       convertRounding<Scalar::UInt32, Scalar::Fp32>,                                              \
       "uint32 to fp32, " HOW "."},                                                                \
      {"libdevice",                                                                                \
       "ll2float_" MODE,                                                                           \
       "x",                                                                                        \
       false,                                                                                      \
       convertRounding<Scalar::Int64, Scalar::Fp32>,                                               \
       "int64 to fp32, " HOW "."},                                                                 \
      {"libdevice",                                                                                \
       "ull2float_" MODE,                                                                          \
       "x",                                                                                        \
       false,                                                                                      \
       convertRounding<Scalar::UInt64, Scalar::Fp32>,                                              \
       "uint64 to fp32, " HOW "."},                                                                \
      {"libdevice",                                                                                \
       "ll2double_" MODE,                                                                          \
       "x",                                                                                        \
       false,                                                                                      \
       convertRounding<Scalar::Int64, Scalar::Fp64>,                                               \
       "int64 to fp64, " HOW "."},                                                                 \
      {"libdevice",                                                                                \
       "ull2double_" MODE,                                                                         \
       "x",                                                                                        \
       false,                                                                                      \
       convertRounding<Scalar::UInt64, Scalar::Fp64>,                                              \
       "uint64 to fp64, " HOW "."},                                                                \
      {"libdevice",                                                                                \
       "float2int_" MODE,                                                                          \
       "x",                                                                                        \
       false,                                                                                      \
       roundToInteger<Scalar::Int32>,                                                              \
       "To int32, " HOW "; saturates, NaN gives 0."},                                              \
      {"libdevice",                                                                                \
       "float2uint_" MODE,                                                                         \
       "x",                                                                                        \
       false,                                                                                      \
       roundToInteger<Scalar::UInt32>,                                                             \
       "To uint32, " HOW "; saturates, NaN gives 0."},                                             \
      {"libdevice",                                                                                \
       "float2ll_" MODE,                                                                           \
       "x",                                                                                        \
       false,                                                                                      \
       roundToInteger<Scalar::Int64>,                                                              \
       "To int64, " HOW "; saturates, NaN gives 0."},                                              \
      {"libdevice",                                                                                \
       "float2ull_" MODE,                                                                          \
       "x",                                                                                        \
       false,                                                                                      \
       roundToInteger<Scalar::UInt64>,                                                             \
       "To uint64, " HOW "; saturates, NaN gives 0."},                                             \
      {"libdevice",                                                                                \
       "double2int_" MODE,                                                                         \
       "x",                                                                                        \
       false,                                                                                      \
       roundToInteger<Scalar::Int32>,                                                              \
       "To int32, " HOW "; saturates, NaN gives 0."},                                              \
      {"libdevice",                                                                                \
       "double2uint_" MODE,                                                                        \
       "x",                                                                                        \
       false,                                                                                      \
       roundToInteger<Scalar::UInt32>,                                                             \
       "To uint32, " HOW "; saturates, NaN gives 0."},                                             \
      {"libdevice",                                                                                \
       "double2ll_" MODE,                                                                          \
       "x",                                                                                        \
       false,                                                                                      \
       roundToInteger<Scalar::Int64>,                                                              \
       "To int64, " HOW "; saturates, NaN gives 0."},                                              \
      {"libdevice",                                                                                \
       "double2ull_" MODE,                                                                         \
       "x",                                                                                        \
       false,                                                                                      \
       roundToInteger<Scalar::UInt64>,                                                             \
       "To uint64, " HOW "; saturates, NaN gives 0."}

static const BuiltinInfo rows[] = {
    NEREID_ONE("lgamma", "Logarithm of the absolute value of the gamma function"),
    NEREID_ONE("tgamma", "Gamma function"),
    NEREID_ONE("gamma", "Gamma function"),
    NEREID_ONE("erfinv", "Inverse of erf"),
    NEREID_ONE("erfcinv", "Inverse of erfc"),
    NEREID_ONE("erfcx", "exp(x*x) * erfc(x)"),
    NEREID_ONE("normcdf", "Distribution function of the normal distribution"),
    NEREID_ONE("normcdfinv", "Inverse of normcdf"),
    NEREID_ONE("cyl_bessel_i0", "Modified Bessel function of order 0"),
    NEREID_ONE("cyl_bessel_i1", "Modified Bessel function of order 1"),
    NEREID_ONE("j0", "Bessel function of the first kind of order 0"),
    NEREID_ONE("j1", "Bessel function of the first kind of order 1"),
    NEREID_ONE("y0", "Bessel function of the second kind of order 0"),
    NEREID_ONE("y1", "Bessel function of the second kind of order 1"),
    NEREID_ONE("rcbrt", "1 / cbrt(x)"),
    NEREID_ONE("logb", "Exponent of x as a float"),
    NEREID_ONE("sinpi", "sin(pi * x)"),
    NEREID_ONE("cospi", "cos(pi * x)"),
    NEREID_ONE("exp10", "10**x"),
    NEREID_ONE("fast_exp10f", "10**x"),
    NEREID_TWO("hypot", "sqrt(x*x + y*y) without overflow on the way"),
    NEREID_TWO("rhypot", "1 / sqrt(x*x + y*y) without overflow on the way"),
    NEREID_TWO("remainder", "x - n * y with the integer n nearest to x / y"),
    NEREID_TWO("fdim", "x - y where it is positive, 0 elsewhere"),
    NEREID_TWO("nextafter", "The neighbour of x towards y, for fp32 and fp64"),
    {"libdevice", "norm3d", "a, b, c", false, special,
     "Square root of the sum of three squares, for floating operands."},
    {"libdevice", "rnorm3d", "a, b, c", false, special,
     "1 / norm3d(a, b, c), for floating operands."},
    {"libdevice", "norm4d", "a, b, c, d", false, special,
     "Square root of the sum of four squares, for floating operands."},
    {"libdevice", "rnorm4d", "a, b, c, d", false, special,
     "1 / norm4d(a, b, c, d), for floating operands."},
    {"libdevice", "jn", "n, x", false, special,
     "Bessel function of the first kind of integer order n."},
    {"libdevice", "yn", "n, x", false, special,
     "Bessel function of the second kind of integer order n."},
    {"libdevice", "ldexp", "x, y", false, special, "x * 2**y for integer y, rounded once."},
    {"libdevice", "scalbn", "x, y", false, special, "x * 2**y for integer y, rounded once."},
    {"libdevice", "ilogb", "x", false, special, "Exponent of x as int32."},
    {"libdevice", "llrint", "x", false, special,
     "Nearest integer, halves to even, as int64; saturates, NaN gives 0."},
    {"libdevice", "llround", "x", false, special,
     "Nearest integer, halves away from zero, as int64; saturates, NaN gives 0."},
    NEREID_MODE("rz", "towards zero"),
    NEREID_MODE("rd", "downwards"),
    NEREID_MODE("ru", "upwards"),
    NEREID_CONVERT("rn", "to nearest even"),
    NEREID_CONVERT("rz", "towards zero"),
    NEREID_CONVERT("rd", "downwards"),
    NEREID_CONVERT("ru", "upwards"),
    {"libdevice", "int2double_rn", "x", false, convertRounding<Scalar::Int32, Scalar::Fp64>,
     "int32 to fp64, exact."},
    {"libdevice", "uint2double_rn", "x", false, convertRounding<Scalar::UInt32, Scalar::Fp64>,
     "uint32 to fp64, exact."},
    {"libdevice", "add_rn", "x, y", false, nearest<BinaryOp::Add>,
     "x + y rounded to nearest even."},
    {"libdevice", "sub_rn", "x, y", false, nearest<BinaryOp::Sub>,
     "x - y rounded to nearest even."},
    {"libdevice", "mul_rn", "x, y", false, nearest<BinaryOp::Mult>,
     "x * y rounded to nearest even."},
    {"libdevice", "div_rn", "x, y", false, divRn, "x / y rounded to nearest even."},
    {"libdevice", "fma_rn", "x, y, z", false, fmaRn, "x * y + z rounded once to nearest even."},
    {"libdevice", "rcp_rn", "x", false, rcpRn, "1 / x rounded to nearest even."},
    {"libdevice", "rsqrt_rn", "x", false, rsqrtRn, "1 / sqrt(x) rounded to nearest even."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::libraryRows() { return rows; }
