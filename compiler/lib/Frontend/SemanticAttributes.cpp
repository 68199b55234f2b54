// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes and methods of values, and the readers of constant arguments.
//
// Rules read their arguments through the functions here, so that every function
// of the language reports a wrong argument in the same words: which parameter
// of which function, what was expected, what came, at the argument and not at
// the call.
#include "Rules.h"
#include "ShmemRules.h"

#include "nereid/abi.h"

#include "llvm/ADT/StringSwitch.h"

using namespace nereid;
using namespace nereid::frontend;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static Value shapeTuple(llvm::ArrayRef<int64_t> shape) {
  Tuple tuple;
  for (int64_t size : shape)
    tuple.items.push_back(Int(size));
  return tuple;
}

static Value method(const Value &self, llvm::StringRef name, const BuiltinInfo *info) {
  BoundMethod bound;
  bound.self = std::make_shared<Value>(self);
  bound.name = name.str();
  bound.info = info;
  return bound;
}

static unsigned mantissaWidth(Scalar scalar) {
  switch (scalar) {
  case Scalar::Fp8E5:
  case Scalar::Fp8E5B16:
    return 2;
  case Scalar::Fp8E4NV:
  case Scalar::Fp8E4B8:
  case Scalar::Fp8E4B15:
    return 3;
  case Scalar::Fp16:
    return 10;
  case Scalar::BF16:
    return 7;
  case Scalar::Fp32:
    return 23;
  case Scalar::Fp64:
    return 52;
  default:
    return 0;
  }
}

static std::optional<Value> typeAttribute(const Type &type, llvm::StringRef name) {
  if (name == "scalar")
    return Value(type.element());
  if (name == "element_ty") {
    if (type.isPointer())
      return Value(type.pointee());
    if (type.shape().empty() && !type.isBlock())
      return std::nullopt;
    return Value(type.element());
  }
  if (name == "shape")
    return shapeTuple(type.shape());
  if (name == "numel")
    return Value(Int(type.numElements()));
  if (name == "primitive_bitwidth")
    return Value(Int(type.bits()));
  if (name == "int_bitwidth" && type.isInteger())
    return Value(Int(type.bits()));
  if (name == "fp_mantissa_width" && type.isFloating())
    return Value(Int(mantissaWidth(type.scalar())));
  if (name == "itemsize")
    return Value(Int((type.bits() + 7) / 8));
  if (name == "name")
    return Value(type.str());
  if (name == "address_space" && type.isPointer())
    return Value(Int(type.addressSpace()));
  if (const BuiltinInfo *info = findBuiltin("dtype", name))
    return method(type, name, info);
  return std::nullopt;
}

/// The operands of a descriptor's maker, when it is known.
static std::optional<Value> descriptorAttribute(Semantic &s, const Tensor &desc,
                                                llvm::StringRef name, const SourceRange &range) {
  if (name == "block_shape")
    return shapeTuple(desc.type.shape());
  if (name == "dtype")
    return Value(desc.type.element());
  if (name == "block_type")
    return Value(Type::block(desc.type.shape(), desc.type.element()));
  if (name == "type")
    return Value(desc.type);
  if (name == "shape" || name == "strides") {
    auto maker = desc.handle.getDefiningOp<tt::MakeTensorDescOp>();
    if (!maker)
      fail(Diag::descriptor_invalid, range,
           "its " + name.str() + " is only known where tl.make_tensor_descriptor made it",
           "pass the sizes to the function as arguments");
    Tuple tuple;
    for (mlir::Value value : name == "shape" ? maker.getShape() : maker.getStrides())
      tuple.items.push_back(s.wrap(value, name == "shape" ? Scalar::Int32 : Scalar::Int64, range));
    return Value(tuple);
  }
  if (const BuiltinInfo *info = findBuiltin("descriptor", name))
    return method(desc, name, info);
  return std::nullopt;
}

std::optional<Value> Semantic::attribute(const Value &value, llvm::StringRef name,
                                         const SourceRange &range) {
  if (const Type *type = value.getIf<Type>())
    return typeAttribute(*type, name);
  if (const Tensor *tensor = value.getIf<Tensor>()) {
    if (tensor->type.isDescriptor())
      return descriptorAttribute(*this, *tensor, name, range);
    if (name == "dtype")
      return tensor->type.isBlockPointer()
                 ? Value(Type::pointer(Type::block(tensor->type.shape(), tensor->type.element())))
                 : Value(tensor->type.element());
    if (name == "type")
      return Value(tensor->type);
    if (name == "shape")
      return shapeTuple(tensor->type.shape());
    if (name == "numel")
      return Value(Int(tensor->type.numElements()));
    if (name == "T") {
      if (tensor->type.shape().size() != 2)
        fail(Diag::permute_invalid, range, "(1, 0)", tensor->type.shape().size(), value.describe());
      return Value(permute(*tensor, {1, 0}, range));
    }
    if (const BuiltinInfo *info = findMethod(name))
      return method(value, name, info);
    return std::nullopt;
  }
  if (value.isNumber()) {
    if (name == "value")
      return value;
    if (name == "dtype" || name == "type")
      return Value(naturalType(value, range));
    // A kernel argument that is folded because it equals 1 keeps its methods.
    if (const BuiltinInfo *info = findMethod(name))
      return method(value, name, info);
  }
  if (name == "value" && value.isConstexpr())
    return value;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

std::string nereid::frontend::parameterName(const BoundArgs &args, unsigned i) {
  llvm::ArrayRef<Parameter> params = parameters(args.info);
  return i < params.size() ? params[i].name : std::string();
}

static std::string described(const BoundArgs &args, unsigned i) { return args[i].describe(); }

[[noreturn]] static void wrongKind(const BoundArgs &args, unsigned i, llvm::StringRef wanted) {
  const Value &value = args[i];
  if (value.isTensor())
    fail(Diag::not_constexpr, args.ranges[i], parameterName(args, i), functionName(args.info),
         described(args, i));
  fail(Diag::constexpr_kind, args.ranges[i], parameterName(args, i), functionName(args.info),
       wanted, described(args, i));
}

Int Semantic::constexprInt(const BoundArgs &args, unsigned i) {
  if (const Int *value = args[i].getIf<Int>())
    if (!ShmemConstant::decode(*value))
      return *value;
  if (const bool *value = args[i].getIf<bool>())
    return *value;
  wrongKind(args, i, "an integer");
}

bool Semantic::constexprBool(const BoundArgs &args, unsigned i) {
  if (const bool *value = args[i].getIf<bool>())
    return *value;
  if (const Int *value = args[i].getIf<Int>())
    return *value != 0;
  if (args[i].isNone())
    return false;
  wrongKind(args, i, "True or False");
}

std::string Semantic::constexprString(const BoundArgs &args, unsigned i) {
  if (const std::string *value = args[i].getIf<std::string>())
    return *value;
  wrongKind(args, i, "a string");
}

/// A list of items, however it is passed: x.permute(1, 0), x.permute((1, 0)), and a single item in
/// place of a list of one.
std::vector<Value> nereid::frontend::itemsArg(const BoundArgs &args, unsigned i) {
  const Tuple *tuple = args[i].getIf<Tuple>();
  if (!tuple)
    return {args[i]};
  llvm::ArrayRef<Parameter> params = parameters(args.info);
  bool variadic = i < params.size() && params[i].isVariadic;
  if (variadic && tuple->items.size() == 1 && tuple->items[0].is<Tuple>())
    return tuple->items[0].as<Tuple>().items;
  return tuple->items;
}

std::vector<int64_t> Semantic::constexprShape(const BoundArgs &args, unsigned i) {
  std::vector<int64_t> shape;
  for (const Value &item : itemsArg(args, i)) {
    const Int *size = item.getIf<Int>();
    if (!size) {
      if (item.isTensor())
        fail(Diag::not_constexpr, args.ranges[i], parameterName(args, i), functionName(args.info),
             item.describe());
      fail(Diag::constexpr_kind, args.ranges[i], parameterName(args, i), functionName(args.info),
           "a tuple of integers", item.describe());
    }
    if (*size > (Int(1) << 31) || *size < -(Int(1) << 31))
      fail(Diag::argument_out_of_range, args.ranges[i], toString(*size), "a dimension", "0",
           "2147483647");
    shape.push_back(int64_t(*size));
  }
  return shape;
}

Type Semantic::dtype(const BoundArgs &args, unsigned i) {
  if (const Type *type = args[i].getIf<Type>())
    return *type;
  if (const std::string *name = args[i].getIf<std::string>())
    if (std::optional<Type> type = Type::parse(*name))
      return *type;
  fail(Diag::constexpr_kind, args.ranges[i], parameterName(args, i), functionName(args.info),
       "a dtype such as tl.float32", described(args, i));
}

Tensor nereid::frontend::blockArg(Semantic &s, const BoundArgs &args, unsigned i,
                                  llvm::StringRef help) {
  Tensor tensor = tensorArg(s, args, i);
  if (!tensor.type.isBlock())
    fail(Diag::needs_block, args.ranges[i], parameterName(args, i), functionName(args.info),
         args[i].describe(), help);
  return tensor;
}

Tensor nereid::frontend::intScalarArg(Semantic &s, const BoundArgs &args, unsigned i, Type type) {
  const Tensor *tensor = args[i].getIf<Tensor>();
  bool valid = tensor ? tensor->type.isScalar() && tensor->type.isInteger()
                      : args[i].is<Int>() || args[i].is<bool>();
  if (!valid)
    fail(Diag::argument_kind, args.ranges[i], parameterName(args, i), functionName(args.info),
         "an integer scalar", args[i].describe(), "");
  return numberAs(s, args[i], type, args.ranges[i]);
}

/// A number that is known must fit; one that is known at run time only is checked there, where the
/// types leave room for doubt.
Tensor nereid::frontend::numberAs(Semantic &s, const Value &value, Type type,
                                  const SourceRange &range) {
  const Tensor *tensor = value.getIf<Tensor>();
  if (!tensor)
    return s.constant(value, type, range);
  Type from = tensor->type;
  assert(from.isScalar() && from.isInteger() && type.isInteger() && "not an integer scalar");
  bool mayNotFit = from.bits() > type.bits() || (from.bits() == type.bits() && type.bits() < 64 &&
                                                 from.isUnsigned() && type.isSigned());
  if (mayNotFit)
    checkWord(s, *tensor, type, type.isSigned() ? int32_t(NRD_WORD_NUMBER) : 0, range);
  return s.cast(*tensor, type, range);
}

int64_t nereid::frontend::normalizeAxis(Semantic &, Int axis, int64_t rank, const Type &type,
                                        const SourceRange &range) {
  if (axis < -rank || axis >= rank)
    fail(Diag::axis_out_of_range, range, toString(axis), type.str(), rank, -rank, rank - 1);
  return int64_t(axis < 0 ? axis + rank : axis);
}

std::string nereid::frontend::choiceArg(Semantic &s, const BoundArgs &args, unsigned i,
                                        llvm::ArrayRef<llvm::StringRef> accepted) {
  std::string value = s.constexprString(args, i);
  if (!llvm::is_contained(accepted, llvm::StringRef(value))) {
    std::string list;
    for (llvm::StringRef name : accepted)
      list += (list.empty() ? "'" : ", '") + name.str() + "'";
    fail(Diag::bad_string, args.ranges[i], parameterName(args, i), value, functionName(args.info),
         list);
  }
  return value;
}

bool nereid::frontend::propagateNanArg(Semantic &s, const BoundArgs &args, unsigned i) {
  if (args[i].isNone())
    return false;
  return s.constexprInt(args, i) != 0;
}

tt::MemSemantic nereid::frontend::semArg(Semantic &s, const BoundArgs &args, unsigned i) {
  if (args[i].isNone())
    return tt::MemSemantic::ACQUIRE_RELEASE;
  std::string name = choiceArg(s, args, i, {"acquire", "release", "acq_rel", "relaxed"});
  return *tt::symbolizeMemSemantic(name);
}

tt::MemSyncScope nereid::frontend::scopeArg(Semantic &s, const BoundArgs &args, unsigned i) {
  if (args[i].isNone())
    return tt::MemSyncScope::GPU;
  std::string name = choiceArg(s, args, i, {"gpu", "npu", "cta", "sys"});
  return name == "npu" ? tt::MemSyncScope::GPU : *tt::symbolizeMemSyncScope(name);
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Where a value comes from, unless that is where the error is.
void nereid::frontend::noteValue(Diagnostic &diagnostic, const Value &value, llvm::StringRef what) {
  const Tensor *tensor = value.getIf<Tensor>();
  if (!tensor || !tensor->range.isValid())
    return;
  const SourceRange &a = tensor->range, &b = diagnostic.range;
  if (a.file == b.file && a.line == b.line && a.column == b.column && a.endColumn == b.endColumn)
    return;
  diagnostic.notes.push_back(
      {tensor->range, (what + " (" + value.describe() + ") comes from here").str()});
}

std::string nereid::frontend::shapeString(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (int64_t size : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

bool nereid::frontend::isPowerOfTwo(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

//===----------------------------------------------------------------------===//
// Rows: methods of dtypes
//===----------------------------------------------------------------------===//

using Question = bool (Type::*)() const;
template <Question question> static Value askType(Semantic &, const BoundArgs &args) {
  return (args[0].as<Type>().*question)();
}
template <Scalar scalar> static Value isScalarType(Semantic &, const BoundArgs &args) {
  return args[0].as<Type>().element() == Type(scalar);
}
static Value isPointerType(Semantic &, const BoundArgs &args) {
  return args[0].as<Type>().isPointer();
}
static Value isIntUnsigned(Semantic &, const BoundArgs &args) {
  return args[0].as<Type>().isUnsigned();
}
static Value isStandardFloating(Semantic &, const BoundArgs &args) {
  const Type &type = args[0].as<Type>();
  return type.isFloating() && !type.isFp8();
}

static const BuiltinInfo rows[] = {
    {"dtype", "is_floating", "self", false, askType<&Type::isFloating>,
     "True for fp8, fp16, bf16, fp32 and fp64."},
    {"dtype", "is_standard_floating", "self", false, isStandardFloating,
     "True for fp16, bf16, fp32 and fp64."},
    {"dtype", "is_int", "self", false, askType<&Type::isInteger>,
     "True for integers, int1 included."},
    {"dtype", "is_int_signed", "self", false, askType<&Type::isSigned>, "True for int8 to int64."},
    {"dtype", "is_int_unsigned", "self", false, isIntUnsigned,
     "True for int1 and uint8 to uint64."},
    {"dtype", "is_bool", "self", false, askType<&Type::isBool>, "True for int1."},
    {"dtype", "is_fp8", "self", false, askType<&Type::isFp8>, "True for the fp8 types."},
    {"dtype", "is_fp8e4nv", "self", false, isScalarType<Scalar::Fp8E4NV>, "True for float8e4nv."},
    {"dtype", "is_fp8e4b8", "self", false, isScalarType<Scalar::Fp8E4B8>, "True for float8e4b8."},
    {"dtype", "is_fp8e4b15", "self", false, isScalarType<Scalar::Fp8E4B15>,
     "True for float8e4b15."},
    {"dtype", "is_fp8e5", "self", false, isScalarType<Scalar::Fp8E5>, "True for float8e5."},
    {"dtype", "is_fp8e5b16", "self", false, isScalarType<Scalar::Fp8E5B16>,
     "True for float8e5b16."},
    {"dtype", "is_fp16", "self", false, isScalarType<Scalar::Fp16>, "True for float16."},
    {"dtype", "is_bf16", "self", false, isScalarType<Scalar::BF16>, "True for bfloat16."},
    {"dtype", "is_fp32", "self", false, isScalarType<Scalar::Fp32>, "True for float32."},
    {"dtype", "is_fp64", "self", false, isScalarType<Scalar::Fp64>, "True for float64."},
    {"dtype", "is_int1", "self", false, isScalarType<Scalar::Int1>, "True for int1."},
    {"dtype", "is_int8", "self", false, isScalarType<Scalar::Int8>, "True for int8."},
    {"dtype", "is_int16", "self", false, isScalarType<Scalar::Int16>, "True for int16."},
    {"dtype", "is_int32", "self", false, isScalarType<Scalar::Int32>, "True for int32."},
    {"dtype", "is_int64", "self", false, isScalarType<Scalar::Int64>, "True for int64."},
    {"dtype", "is_uint8", "self", false, isScalarType<Scalar::UInt8>, "True for uint8."},
    {"dtype", "is_uint16", "self", false, isScalarType<Scalar::UInt16>, "True for uint16."},
    {"dtype", "is_uint32", "self", false, isScalarType<Scalar::UInt32>, "True for uint32."},
    {"dtype", "is_uint64", "self", false, isScalarType<Scalar::UInt64>, "True for uint64."},
    {"dtype", "is_ptr", "self", false, isPointerType, "True for pointer types."},
    {"dtype", "is_block", "self", false, askType<&Type::isBlock>, "True for types of blocks."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::dtypeRows() { return rows; }
