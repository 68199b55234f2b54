// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels call functions of vendors' device libraries by name (`__nv_expf`,
// `__ocml_exp_f32`, tl.extra.libdevice). A name is
//
//   prefix of a vendor, or none + function + suffix of a type, or none
//   __nv_f or __nv_d + function + mode of rounding
//
// and the function is looked up in this order, by the types of the operands and
// the result:
//
//   unaryRows, binaryRows, fma     an operation of math or arith, which later passes turn
//                                  into vector code or calls
//   device_math.def                a function of the runtime, called for each lane
//   DeviceBits.cpp                 integers and bits
//
// Operands of 16 bits are widened to fp32 and the result is rounded once. A
// name or a combination of types that is in no table gives a null value, and
// its user reports it.
#include "Target/CPU/DeviceMath.h"

#include "DeviceBits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace {

struct Function {
  const char *name;
  const char *signature; // see nereid/device_math.def
};
const Function functions[] = {
#define NRD_MATH(NAME, SIGNATURE) {#NAME, SIGNATURE},
#define NRD_MATH_TYPED(NAME, SIGNATURE) {#NAME, SIGNATURE},
#include "nereid/device_math.def"
};

/// How vendors' libraries mark their functions.
constexpr StringLiteral prefixes[] = {"__nv_", "__hmf_", "__ocml_", "nv_", "__imf_", ""};
/// What may stand behind a function's name: the type that it says the operands have.
struct Suffix {
  StringLiteral text;
  enum { Any, F16, F32, F64 } type;
};
constexpr Suffix suffixes[] = {{"", Suffix::Any},      {"f", Suffix::F32},
                               {"_f32", Suffix::F32},  {"_f64", Suffix::F64},
                               {"_fp32", Suffix::F32}, {"_fp16", Suffix::F16}};

/// Functions that have a rounding mode in their name and a letter for the type in front.
struct Directed {
  StringLiteral symbol, name;
  bool isF32;
};
#define ONE(BASE, MODE)                                                                            \
  {"__nv_f" BASE "_" MODE, BASE "_" MODE, true}, { "__nv_d" BASE "_" MODE, BASE "_" MODE, false }
#define MODES(BASE) ONE(BASE, "rn"), ONE(BASE, "rz"), ONE(BASE, "rd"), ONE(BASE, "ru")
#define FMA(MODE)                                                                                  \
  {"__nv_fmaf_" MODE, "fma_" MODE, true}, { "__nv_fma_" MODE, "fma_" MODE, false }
constexpr Directed directed[] = {MODES("add"),  MODES("sub"), MODES("mul"),      MODES("div"),
                                 MODES("sqrt"), MODES("rcp"), FMA("rn"),         FMA("rz"),
                                 FMA("rd"),     FMA("ru"),    ONE("rsqrt", "rn")};
#undef ONE
#undef MODES
#undef FMA

/// Is `symbol` a name of the function `name` for floating operands of type `type`
/// (`wasHalf`: widened from 16 bits)?
bool isNameOf(StringRef symbol, StringRef name, bool isF32, bool wasHalf) {
  for (const Directed &row : directed)
    if (row.symbol == symbol)
      return row.name == name && row.isF32 == isF32;
  return llvm::any_of(prefixes, [&](StringRef prefix) {
    StringRef rest = symbol;
    if (!rest.consume_front(prefix) || !rest.consume_front(name))
      return false;
    return llvm::any_of(suffixes, [&](const Suffix &suffix) {
      return rest == suffix.text &&
             (suffix.type == Suffix::Any || (suffix.type == Suffix::F16 && wasHalf) ||
              (suffix.type == Suffix::F32 ? isF32 : suffix.type == Suffix::F64 && !isF32));
    });
  });
}

using UnaryEmitter = Value (*)(OpBuilder &, Location, Value);
template <typename Op> Value unary(OpBuilder &builder, Location loc, Value x) {
  return Op::create(builder, loc, x);
}

using BinaryEmitter = Value (*)(OpBuilder &, Location, Value, Value);
template <typename Op> Value binary(OpBuilder &builder, Location loc, Value x, Value y) {
  return Op::create(builder, loc, x, y);
}
Value relu(OpBuilder &builder, Location loc, Value x) {
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(x.getType()));
  return arith::MaximumFOp::create(builder, loc, x, zero);
}

// Operations on operands of one floating type. Rounded to nearest (_rn) is the
// ordinary operation.
struct UnaryRow {
  StringLiteral name;
  UnaryEmitter emit;
};
const UnaryRow unaryRows[] = {
    {"exp", unary<math::ExpOp>},
    {"fast_exp", unary<math::ExpOp>},
    {"exp2", unary<math::Exp2Op>},
    {"expm1", unary<math::ExpM1Op>},
    {"log", unary<math::LogOp>},
    {"fast_log", unary<math::LogOp>},
    {"log2", unary<math::Log2Op>},
    {"fast_log2", unary<math::Log2Op>},
    {"log10", unary<math::Log10Op>},
    {"fast_log10", unary<math::Log10Op>},
    {"log1p", unary<math::Log1pOp>},
    {"sin", unary<math::SinOp>},
    {"fast_sin", unary<math::SinOp>},
    {"cos", unary<math::CosOp>},
    {"fast_cos", unary<math::CosOp>},
    {"tan", unary<math::TanOp>},
    {"fast_tan", unary<math::TanOp>},
    {"asin", unary<math::AsinOp>},
    {"acos", unary<math::AcosOp>},
    {"atan", unary<math::AtanOp>},
    {"sinh", unary<math::SinhOp>},
    {"cosh", unary<math::CoshOp>},
    {"tanh", unary<math::TanhOp>},
    {"fast_tanh", unary<math::TanhOp>},
    {"asinh", unary<math::AsinhOp>},
    {"acosh", unary<math::AcoshOp>},
    {"atanh", unary<math::AtanhOp>},
    {"erf", unary<math::ErfOp>},
    {"erfc", unary<math::ErfcOp>},
    {"sqrt", unary<math::SqrtOp>},
    {"sqrt_rn", unary<math::SqrtOp>},
    {"rsqrt", unary<math::RsqrtOp>},
    {"rsqrt_rn", unary<math::RsqrtOp>},
    {"cbrt", unary<math::CbrtOp>},
    {"floor", unary<math::FloorOp>},
    {"ceil", unary<math::CeilOp>},
    {"trunc", unary<math::TruncOp>},
    {"round", unary<math::RoundOp>},
    {"rint", unary<math::RoundEvenOp>},
    {"nearbyint", unary<math::RoundEvenOp>},
    {"fabs", unary<math::AbsFOp>},
    {"abs", unary<math::AbsFOp>},
    {"relu", relu},
};
struct BinaryRow {
  StringLiteral name;
  BinaryEmitter emit;
};
const BinaryRow binaryRows[] = {
    {"pow", binary<math::PowFOp>},          {"fast_pow", binary<math::PowFOp>},
    {"atan2", binary<math::Atan2Op>},       {"fmod", binary<arith::RemFOp>},
    {"copysign", binary<math::CopySignOp>}, {"add", binary<arith::AddFOp>},
    {"add_rn", binary<arith::AddFOp>},      {"sub", binary<arith::SubFOp>},
    {"sub_rn", binary<arith::SubFOp>},      {"mul", binary<arith::MulFOp>},
    {"mul_rn", binary<arith::MulFOp>},      {"div", binary<arith::DivFOp>},
    {"div_rn", binary<arith::DivFOp>},      {"fast_fdivide", binary<arith::DivFOp>},
    {"fdivide", binary<arith::DivFOp>},     {"fmax", binary<arith::MaxNumFOp>},
    {"max", binary<arith::MaxNumFOp>},      {"fmin", binary<arith::MinNumFOp>},
    {"min", binary<arith::MinNumFOp>},
};
constexpr StringLiteral fmaNames[] = {"fma", "fma_rn"};
/// Other names of functions of device_math.def.
struct Alias {
  StringLiteral name, function;
};
constexpr Alias aliases[] = {{"fast_exp10", "exp10"}, {"scalbn", "ldexp"}};

bool isFloatOf(Type type, unsigned low, unsigned high) {
  auto element = dyn_cast<FloatType>(type);
  return element && element.getWidth() >= low && element.getWidth() <= high;
}

bool matches(char letter, Type type) {
  switch (letter) {
  case 'F':
  case 'T':
    return isFloatOf(type, 32, 64);
  case 's':
    return type.isF32();
  case 'd':
    return type.isF64();
  case 'i':
    return type.isInteger(32);
  default:
    return type.isInteger(64);
  }
}

const Function *findFunction(llvm::function_ref<bool(StringRef)> isNamed, TypeRange elements,
                             Type result) {
  for (const Function &function : functions) {
    StringRef signature = function.signature;
    if (signature.size() != elements.size() + 1 || !matches(signature[0], result) ||
        !isNamed(function.name))
      continue;
    bool fits = true;
    Type floating; // all F and T are of one type
    for (auto [letter, type] :
         llvm::zip(signature,
                   llvm::concat<const Type>(ArrayRef<Type>(result), SmallVector<Type>(elements)))) {
      fits = fits && matches(letter, type);
      if (letter == 'F' || letter == 'T') {
        fits = fits && (!floating || floating == type);
        floating = type;
      }
    }
    if (fits)
      return &function;
  }
  return nullptr;
}

Type passedType(MLIRContext *context, char letter, Type type) {
  return letter == 'F' ? Type(Float64Type::get(context)) : type;
}

LLVM::LLVMFuncOp declare(OpBuilder &builder, const Function &function, ArrayRef<Type> elements,
                         Type result) {
  Operation *at = builder.getInsertionBlock()->getParentOp();
  auto module = isa<ModuleOp>(at) ? cast<ModuleOp>(at) : at->getParentOfType<ModuleOp>();
  StringRef signature = function.signature;
  std::string name = "nrd_math_" + std::string(function.name);
  if (size_t typed = signature.find('T'); typed != StringRef::npos)
    name += (typed ? elements[typed - 1] : result).isF32() ? "_f32" : "_f64";
  if (auto declared = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return declared;
  MLIRContext *context = builder.getContext();
  SmallVector<Type> parameters;
  for (auto [letter, type] : llvm::zip(signature.drop_front(), elements))
    parameters.push_back(passedType(context, letter, type));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  auto declared = LLVM::LLVMFuncOp::create(
      builder, module.getLoc(), name,
      LLVM::LLVMFunctionType::get(passedType(context, signature[0], result), parameters));
  declared.setPassthroughAttr(builder.getStrArrayAttr({"nounwind", "willreturn"}));
  declared.setMemoryEffectsAttr(LLVM::MemoryEffectsAttr::get(
      context, SmallVector<LLVM::ModRefInfo>(6, LLVM::ModRefInfo::NoModRef)));
  return declared;
}

Value callFunction(OpBuilder &builder, Location loc, const Function &function, ValueRange operands,
                   Type element) {
  SmallVector<Type> elements =
      llvm::map_to_vector(operands, [](Value v) { return getElementTypeOrSelf(v.getType()); });
  LLVM::LLVMFuncOp callee = declare(builder, function, elements, element);
  Type f64 = builder.getF64Type();
  auto one = [&](ArrayRef<Value> arguments) -> Value {
    SmallVector<Value> passed;
    for (auto [letter, value] : llvm::zip(StringRef(function.signature).drop_front(), arguments))
      passed.push_back(letter == 'F' && !value.getType().isF64()
                           ? arith::ExtFOp::create(builder, loc, f64, value)
                           : value);
    Value result = LLVM::CallOp::create(builder, loc, callee, passed).getResult();
    if (result.getType() != element)
      result = arith::TruncFOp::create(builder, loc, element, result);
    return result;
  };
  auto vector = dyn_cast<VectorType>(operands[0].getType());
  if (!vector)
    return one(SmallVector<Value>(operands));
  VectorType type = vector.clone(element);
  Value result = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  for (int64_t lane = 0; lane < vector.getNumElements(); ++lane) {
    SmallVector<Value> arguments;
    for (Value operand : operands)
      arguments.push_back(vector::ExtractOp::create(builder, loc, operand, lane));
    result = vector::InsertOp::create(builder, loc, one(arguments), result, lane);
  }
  return result;
}

/// Operations on operands of 32 or 64 bits; null when there is none. `wasHalf`:
/// operands have been widened from 16 bits.
Value emitPlain(OpBuilder &builder, Location loc, StringRef symbol, ValueRange operands,
                Type element, bool wasHalf) {
  SmallVector<Type> elements =
      llvm::map_to_vector(operands, [](Value v) { return getElementTypeOrSelf(v.getType()); });
  bool isF32 = llvm::any_of(elements, [](Type type) { return type.isF32(); });
  auto isNamed = [&](StringRef name) { return isNameOf(symbol, name, isF32, wasHalf); };
  auto isRow = [&](const auto &row) { return isNamed(row.name); };
  bool floating = llvm::all_equal(elements) && elements[0] == element && isFloatOf(element, 32, 64);
  if (floating && operands.size() == 1)
    if (const auto *row = llvm::find_if(unaryRows, isRow); row != std::end(unaryRows))
      return row->emit(builder, loc, operands[0]);
  if (floating && operands.size() == 2)
    if (const auto *row = llvm::find_if(binaryRows, isRow); row != std::end(binaryRows))
      return row->emit(builder, loc, operands[0], operands[1]);
  if (floating && operands.size() == 3 && llvm::any_of(fmaNames, isNamed))
    return math::FmaOp::create(builder, loc, operands[0], operands[1], operands[2]);
  auto isFunction = [&](StringRef name) {
    return isNamed(name) || llvm::any_of(aliases, [&](const Alias &alias) {
             return alias.function == name && isNamed(alias.name);
           });
  };
  if (const Function *function = findFunction(isFunction, elements, element))
    return callFunction(builder, loc, *function, operands, element);
  return nereid::cpu::emitDeviceBits(builder, loc, symbol, operands, element);
}

bool isHalf(Type type) { return isFloatOf(getElementTypeOrSelf(type), 16, 16); }

} // namespace

Value nereid::cpu::emitDeviceMath(OpBuilder &builder, Location loc, StringRef symbol,
                                  ValueRange operands, Type element) {
  if (operands.empty())
    return {};
  if (llvm::none_of(operands.getTypes(), isHalf))
    return emitPlain(builder, loc, symbol, operands, element, /*wasHalf=*/false);
  auto like = [&](Value value, Type to) -> Type {
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      return vector.clone(to);
    return to;
  };
  SmallVector<Value> wide;
  for (Value operand : operands)
    wide.push_back(
        isHalf(operand.getType())
            ? arith::ExtFOp::create(builder, loc, like(operand, builder.getF32Type()), operand)
            : operand);
  Value result =
      emitPlain(builder, loc, symbol, wide, isHalf(element) ? Type(builder.getF32Type()) : element,
                /*wasHalf=*/true);
  if (result && isHalf(element))
    result = arith::TruncFOp::create(builder, loc, like(result, element), result);
  return result;
}
