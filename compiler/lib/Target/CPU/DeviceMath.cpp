// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/DeviceMath.h"

#include "DeviceBits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSwitch.h"

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

/// Names of the device libraries without their vendors' prefixes (__nv_,
/// __hmf_, ...) and the letters that tell types apart.
std::string plainName(StringRef symbol, bool isF32) {
  bool vendor = false;
  for (StringRef prefix : {"__nv_", "__hmf_", "__ocml_", "nv_", "__imf_"})
    if (symbol.consume_front(prefix)) {
      vendor = true;
      break;
    }
  for (StringRef suffix : {"_f32", "_f64", "_fp32", "_fp16"})
    if (symbol.consume_back(suffix))
      return symbol.str();
  if (vendor && symbol.size() > 3 && symbol.drop_back().ends_with("_r")) {
    // dadd_rz, fadd_rz, fmaf_rz: arithmetic with a rounding mode.
    StringRef mode = symbol.take_back(3), base = symbol.drop_back(3);
    if (base == "fmaf" || base == "fma")
      return ("fma" + mode).str();
    for (StringRef name : {"add", "sub", "mul", "div", "sqrt", "rcp", "rsqrt"})
      if (base.size() == name.size() + 1 && (base[0] == 'f' || base[0] == 'd') &&
          base.drop_front() == name)
        return (name + mode).str();
    return symbol.str();
  }
  if (isF32)
    symbol.consume_back("f");
  return symbol.str();
}

/// Rounded to nearest is the ordinary operation.
StringRef withoutNearest(StringRef name) { return name.consume_back("_rn"), name; }

using UnaryEmitter = Value (*)(OpBuilder &, Location, Value);
template <typename Op> Value unary(OpBuilder &builder, Location loc, Value x) {
  return Op::create(builder, loc, x);
}

UnaryEmitter unaryOperation(StringRef name) {
  return llvm::StringSwitch<UnaryEmitter>(name)
      .Cases({"exp", "fast_exp"}, unary<math::ExpOp>)
      .Case("exp2", unary<math::Exp2Op>)
      .Case("expm1", unary<math::ExpM1Op>)
      .Cases({"log", "fast_log"}, unary<math::LogOp>)
      .Cases({"log2", "fast_log2"}, unary<math::Log2Op>)
      .Cases({"log10", "fast_log10"}, unary<math::Log10Op>)
      .Case("log1p", unary<math::Log1pOp>)
      .Cases({"sin", "fast_sin"}, unary<math::SinOp>)
      .Cases({"cos", "fast_cos"}, unary<math::CosOp>)
      .Cases({"tan", "fast_tan"}, unary<math::TanOp>)
      .Case("asin", unary<math::AsinOp>)
      .Case("acos", unary<math::AcosOp>)
      .Case("atan", unary<math::AtanOp>)
      .Case("sinh", unary<math::SinhOp>)
      .Case("cosh", unary<math::CoshOp>)
      .Cases({"tanh", "fast_tanh"}, unary<math::TanhOp>)
      .Case("asinh", unary<math::AsinhOp>)
      .Case("acosh", unary<math::AcoshOp>)
      .Case("atanh", unary<math::AtanhOp>)
      .Case("erf", unary<math::ErfOp>)
      .Case("erfc", unary<math::ErfcOp>)
      .Case("sqrt", unary<math::SqrtOp>)
      .Case("rsqrt", unary<math::RsqrtOp>)
      .Case("cbrt", unary<math::CbrtOp>)
      .Case("floor", unary<math::FloorOp>)
      .Case("ceil", unary<math::CeilOp>)
      .Case("trunc", unary<math::TruncOp>)
      .Case("round", unary<math::RoundOp>)
      .Cases({"rint", "nearbyint"}, unary<math::RoundEvenOp>)
      .Cases({"fabs", "abs"}, unary<math::AbsFOp>)
      .Default(nullptr);
}

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

const Function *findFunction(StringRef name, TypeRange elements, Type result) {
  for (const Function &function : functions) {
    StringRef signature = function.signature;
    if (name != function.name || signature.size() != elements.size() + 1 ||
        !matches(signature[0], result))
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

/// Operations on operands of 32 or 64 bits; null when there is none.
Value emitPlain(OpBuilder &builder, Location loc, StringRef symbol, ValueRange operands,
                Type element) {
  SmallVector<Type> elements =
      llvm::map_to_vector(operands, [](Value v) { return getElementTypeOrSelf(v.getType()); });
  bool sameType = llvm::all_of(elements, [&](Type type) { return type == element; });
  std::string name =
      plainName(symbol, llvm::any_of(elements, [](Type type) { return type.isF32(); }));
  bool floating = sameType && isFloatOf(element, 32, 64);
  StringRef base = withoutNearest(name);
  if (floating && operands.size() == 1) {
    if (UnaryEmitter emit = unaryOperation(base))
      return emit(builder, loc, operands[0]);
    Type type = operands[0].getType();
    if (base == "relu")
      return arith::MaximumFOp::create(
          builder, loc, operands[0],
          arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type)));
  }
  if (floating && operands.size() == 2) {
    Value x = operands[0], y = operands[1];
    if (base == "pow" || base == "fast_pow")
      return math::PowFOp::create(builder, loc, x, y);
    if (base == "atan2")
      return math::Atan2Op::create(builder, loc, x, y);
    if (base == "fmod")
      return arith::RemFOp::create(builder, loc, x, y);
    if (base == "copysign")
      return math::CopySignOp::create(builder, loc, x, y);
    if (base == "add")
      return arith::AddFOp::create(builder, loc, x, y);
    if (base == "sub")
      return arith::SubFOp::create(builder, loc, x, y);
    if (base == "mul")
      return arith::MulFOp::create(builder, loc, x, y);
    if (base == "div" || base == "fast_fdivide" || base == "fdivide")
      return arith::DivFOp::create(builder, loc, x, y);
    if (base == "fmax" || base == "max")
      return arith::MaxNumFOp::create(builder, loc, x, y);
    if (base == "fmin" || base == "min")
      return arith::MinNumFOp::create(builder, loc, x, y);
  }
  if (floating && operands.size() == 3 && base == "fma")
    return math::FmaOp::create(builder, loc, operands[0], operands[1], operands[2]);
  if (name == "fast_exp10")
    name = "exp10";
  else if (name == "scalbn")
    name = "ldexp";
  if (const Function *function = findFunction(name, elements, element))
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
    return emitPlain(builder, loc, symbol, operands, element);
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
      emitPlain(builder, loc, symbol, wide, isHalf(element) ? Type(builder.getF32Type()) : element);
  if (result && isHalf(element))
    result = arith::TruncFOp::create(builder, loc, like(result, element), result);
  return result;
}
