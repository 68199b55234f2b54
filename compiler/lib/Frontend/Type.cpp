// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types of the kernel language: construction, questions, names, lowering.
//
// The order of Scalar matters: what is an integer, signed or a float is asked
// by ranges of it, and the table below is indexed by it.
//
// Lowering forgets what the IR has no word for: signedness, const, and
// fp8e4b15, which lies in integers of 8 bits. Bools are i1 as values and i8 in
// memory, so that pointers to them, block pointers and descriptors point to i8;
// loads and stores convert.
#include "nereid/Frontend/Type.h"

#include "nereid/Dialect/Triton/IR/Triton.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace nereid;
using namespace nereid::frontend;

namespace {

struct ScalarInfo {
  Scalar scalar;
  const char *name; // in signatures and mangled names; tl's dtype.name
  const char *shortName;
  unsigned bits;
};

constexpr ScalarInfo scalars[] = {
    {Scalar::Void, "void", "void", 0},
    {Scalar::Int1, "int1", "i1", 1},
    {Scalar::Int8, "int8", "i8", 8},
    {Scalar::Int16, "int16", "i16", 16},
    {Scalar::Int32, "int32", "i32", 32},
    {Scalar::Int64, "int64", "i64", 64},
    {Scalar::UInt8, "uint8", "u8", 8},
    {Scalar::UInt16, "uint16", "u16", 16},
    {Scalar::UInt32, "uint32", "u32", 32},
    {Scalar::UInt64, "uint64", "u64", 64},
    {Scalar::Fp8E5, "fp8e5", "fp8e5", 8},
    {Scalar::Fp8E5B16, "fp8e5b16", "fp8e5b16", 8},
    {Scalar::Fp8E4NV, "fp8e4nv", "fp8e4nv", 8},
    {Scalar::Fp8E4B8, "fp8e4b8", "fp8e4b8", 8},
    {Scalar::Fp8E4B15, "fp8e4b15", "fp8e4b15", 8},
    {Scalar::Fp16, "fp16", "fp16", 16},
    {Scalar::BF16, "bf16", "bf16", 16},
    {Scalar::Fp32, "fp32", "fp32", 32},
    {Scalar::Fp64, "fp64", "fp64", 64},
};

const ScalarInfo &info(Scalar scalar) { return scalars[size_t(scalar)]; }

mlir::Type lowerScalar(Scalar scalar, mlir::MLIRContext *context) {
  switch (scalar) {
  case Scalar::Void:
    return mlir::NoneType::get(context);
  case Scalar::Fp8E5:
    return mlir::Float8E5M2Type::get(context);
  case Scalar::Fp8E5B16:
    return mlir::Float8E5M2FNUZType::get(context);
  case Scalar::Fp8E4NV:
    return mlir::Float8E4M3FNType::get(context);
  case Scalar::Fp8E4B8:
    return mlir::Float8E4M3FNUZType::get(context);
  case Scalar::Fp16:
    return mlir::Float16Type::get(context);
  case Scalar::BF16:
    return mlir::BFloat16Type::get(context);
  case Scalar::Fp32:
    return mlir::Float32Type::get(context);
  case Scalar::Fp64:
    return mlir::Float64Type::get(context);
  default: // integers, and fp8e4b15, which has no IR type of its own
    return mlir::IntegerType::get(context, info(scalar).bits);
  }
}

} // namespace

Type Type::pointer(Type pointee, int addressSpace, bool isConst) {
  Type type;
  type.kind_ = Kind::Pointer;
  type.addressSpace_ = addressSpace;
  type.isConst_ = isConst;
  type.inner_ = std::make_shared<const Type>(std::move(pointee));
  return type;
}

static Type shaped(Type type, llvm::ArrayRef<int64_t> shape) { return type.withShape(shape); }

Type Type::block(llvm::ArrayRef<int64_t> shape, Type element) {
  Type type;
  type.kind_ = Kind::Block;
  type.inner_ = std::make_shared<const Type>(std::move(element));
  return shaped(std::move(type), shape);
}

Type Type::blockPointer(llvm::ArrayRef<int64_t> shape, Type element) {
  Type type = block(shape, std::move(element));
  type.kind_ = Kind::BlockPointer;
  return type;
}

Type Type::descriptor(llvm::ArrayRef<int64_t> shape, Type element) {
  Type type = block(shape, std::move(element));
  type.kind_ = Kind::Descriptor;
  return type;
}

Type Type::element() const {
  if (kind_ == Kind::Block || kind_ == Kind::BlockPointer || kind_ == Kind::Descriptor)
    return *inner_;
  return *this;
}

Type Type::pointee() const {
  Type pointer = element();
  return pointer.kind_ == Kind::Pointer ? *pointer.inner_ : Type();
}

int64_t Type::numElements() const {
  int64_t count = 1;
  for (int64_t size : shape_)
    count *= size;
  return count;
}

Type Type::withElement(Type element) const {
  if (kind_ == Kind::Scalar || kind_ == Kind::Pointer)
    return element;
  Type type = *this;
  type.inner_ = std::make_shared<const Type>(std::move(element));
  return type;
}

Type Type::withShape(llvm::ArrayRef<int64_t> shape) const {
  if (kind_ == Kind::Scalar || kind_ == Kind::Pointer)
    return block(shape, *this);
  Type type = *this;
  type.shape_.assign(shape.begin(), shape.end());
  return type;
}

Scalar Type::scalar() const {
  Type e = element();
  return e.kind_ == Kind::Scalar ? e.scalar_ : Scalar::Void;
}

bool Type::isFloating() const { return scalar() >= Scalar::Fp8E5; }
bool Type::isInteger() const { return scalar() >= Scalar::Int1 && scalar() <= Scalar::UInt64; }
bool Type::isSigned() const { return scalar() >= Scalar::Int8 && scalar() <= Scalar::Int64; }
bool Type::isUnsigned() const {
  return isBool() || (scalar() >= Scalar::UInt8 && scalar() <= Scalar::UInt64);
}
bool Type::isBool() const { return scalar() == Scalar::Int1; }
bool Type::isFp8() const { return scalar() >= Scalar::Fp8E5 && scalar() <= Scalar::Fp8E4B15; }
bool Type::isPointerLike() const { return element().kind_ == Kind::Pointer; }

unsigned Type::bits() const { return isPointerLike() ? 64 : info(scalar()).bits; }

bool Type::operator==(const Type &other) const {
  if (kind_ != other.kind_ || scalar_ != other.scalar_ || isConst_ != other.isConst_ ||
      addressSpace_ != other.addressSpace_ || shape_ != other.shape_ ||
      bool(inner_) != bool(other.inner_))
    return false;
  return !inner_ || *inner_ == *other.inner_;
}

static std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [i, size] : llvm::enumerate(shape))
    text += (i ? ", " : "") + std::to_string(size);
  return text + "]";
}

std::string Type::str() const {
  switch (kind_) {
  case Kind::Scalar:
    return info(scalar_).name;
  case Kind::Pointer:
    return std::string(isConst_ ? "const_pointer<" : "pointer<") + inner_->str() +
           (addressSpace_ == 1 ? "" : ", " + std::to_string(addressSpace_)) + ">";
  case Kind::Block:
    return inner_->str() + shapeText(shape_);
  case Kind::BlockPointer:
    return "pointer<" + inner_->str() + shapeText(shape_) + ">";
  case Kind::Descriptor:
    return "tensor_descriptor<" + inner_->str() + shapeText(shape_) + ">";
  }
  return "void";
}

mlir::Type Type::lower(mlir::MLIRContext *context) const {
  switch (kind_) {
  case Kind::Scalar:
    return lowerScalar(scalar_, context);
  case Kind::Pointer: {
    Type pointee = inner_->isBool() ? inner_->withElement(Scalar::Int8) : *inner_;
    mlir::Type lowered =
        pointee.isVoid() ? mlir::Type(mlir::IntegerType::get(context, 8)) : pointee.lower(context);
    return tt::PointerType::get(lowered, addressSpace_);
  }
  case Kind::Block:
    return mlir::RankedTensorType::get(shape_, inner_->lower(context));
  case Kind::BlockPointer: {
    Type element = inner_->isBool() ? Type(Scalar::Int8) : *inner_;
    return tt::PointerType::get(mlir::RankedTensorType::get(shape_, element.lower(context)), 1);
  }
  case Kind::Descriptor: {
    Type element = inner_->isBool() ? Type(Scalar::Int8) : *inner_;
    return tt::TensorDescType::get(mlir::RankedTensorType::get(shape_, element.lower(context)));
  }
  }
  return {};
}

std::optional<Type> Type::parse(llvm::StringRef name) {
  name = name.trim();
  bool isConst = name.consume_front("const ");
  if (name.consume_front("*")) {
    // "*ki32" is a pointer to constant i32; no scalar's name starts with k.
    if (name.consume_front("k"))
      isConst = true;
    std::optional<Type> pointee = parse(name);
    if (!pointee)
      return std::nullopt;
    return pointer(*pointee, 1, isConst);
  }
  if (isConst)
    return std::nullopt;
  if (name == "u1" || name == "bool")
    return Type(Scalar::Int1);
  for (const ScalarInfo &scalar : scalars)
    if (name == scalar.name || name == scalar.shortName)
      return Type(scalar.scalar);
  // tl's own spellings.
  if (name == "float16")
    return Type(Scalar::Fp16);
  if (name == "bfloat16")
    return Type(Scalar::BF16);
  if (name == "float32")
    return Type(Scalar::Fp32);
  if (name == "float64")
    return Type(Scalar::Fp64);
  if (name.consume_front("float8"))
    return parse(("fp8" + name).str());
  return std::nullopt;
}
