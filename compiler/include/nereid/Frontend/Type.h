// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types of the kernel language. They carry signedness, which the IR does not.
#ifndef NEREID_FRONTEND_TYPE_H
#define NEREID_FRONTEND_TYPE_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nereid::frontend {

/// Element types in the order of tl's names.
enum class Scalar : uint8_t {
  Void,
  Int1,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Fp8E5,
  Fp8E5B16,
  Fp8E4NV,
  Fp8E4B8,
  Fp8E4B15,
  Fp16,
  BF16,
  Fp32,
  Fp64,
};

/// A scalar, a pointer, a block (tensor of scalars or pointers), a block
/// pointer or a tensor descriptor. A small immutable value.
class Type {
public:
  enum class Kind : uint8_t { Scalar, Pointer, Block, BlockPointer, Descriptor };

  Type() = default; // void
  /*implicit*/ Type(Scalar scalar) : scalar_(scalar) {}
  static Type pointer(Type pointee, int addressSpace = 1, bool isConst = false);
  static Type block(llvm::ArrayRef<int64_t> shape, Type element);
  static Type blockPointer(llvm::ArrayRef<int64_t> shape, Type element);
  static Type descriptor(llvm::ArrayRef<int64_t> shape, Type element);

  Kind kind() const { return kind_; }
  bool isVoid() const { return kind_ == Kind::Scalar && scalar_ == Scalar::Void; }
  bool isBlock() const { return kind_ == Kind::Block; }
  bool isBlockPointer() const { return kind_ == Kind::BlockPointer; }
  bool isDescriptor() const { return kind_ == Kind::Descriptor; }
  /// A scalar number (not a pointer, not a block).
  bool isScalar() const { return kind_ == Kind::Scalar; }
  /// A scalar pointer (not a block of pointers).
  bool isPointer() const { return kind_ == Kind::Pointer; }

  /// The element of a block, block pointer or descriptor; the type itself
  /// otherwise (tl's `x.type.scalar`).
  Type element() const;
  /// What a pointer points to; of a block of pointers, what its elements do.
  Type pointee() const;
  /// Shape of a block, block pointer or descriptor; empty otherwise.
  llvm::ArrayRef<int64_t> shape() const { return shape_; }
  int64_t numElements() const;
  /// This type with another element type, same shape.
  Type withElement(Type element) const;
  Type withShape(llvm::ArrayRef<int64_t> shape) const;

  // Questions about the element type.
  Scalar scalar() const; // of the element; meaningless for pointers
  bool isFloating() const;
  bool isInteger() const;  // includes int1
  bool isSigned() const;   // int8..int64
  bool isUnsigned() const; // int1, uint8..uint64
  bool isBool() const;
  bool isFp8() const;
  bool isPointerLike() const; // pointer, or block of pointers
  bool isConstPointer() const { return isConst_; }
  int addressSpace() const { return addressSpace_; }
  /// Bits of the element: 1, 8, ..., 64; pointers 64.
  unsigned bits() const;

  bool operator==(const Type &other) const;
  bool operator!=(const Type &other) const { return !(*this == other); }

  /// tl's spelling: "fp32", "int32", "pointer<fp16>", "<['128', '64'], fp32>"
  /// is printed as "fp32[128, 64]".
  std::string str() const;
  /// The IR type. int1 in memory (behind a pointer) is i8.
  mlir::Type lower(mlir::MLIRContext *context) const;

  /// "fp32", "i32", "u8", "*fp16", "*ki32" (const), "u1"/"i1"; nullopt for
  /// anything else. The names of launch signatures.
  static std::optional<Type> parse(llvm::StringRef name);

private:
  Kind kind_ = Kind::Scalar;
  Scalar scalar_ = Scalar::Void;
  bool isConst_ = false;
  int addressSpace_ = 1;
  std::vector<int64_t> shape_;
  std::shared_ptr<const Type> inner_; // pointee of a pointer, element of a block
};

} // namespace nereid::frontend

#endif // NEREID_FRONTEND_TYPE_H
