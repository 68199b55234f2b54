// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types of the dialect and their text. Blocks of descriptors are written as
// dimensions or as a whole tensor type; both are read, and the older form is
// written when the text is for Triton 3.6.
#include "nereid/Dialect/Triton/IR/Triton.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "nereid/Dialect/Triton/IR/TritonEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "nereid/Dialect/Triton/IR/TritonAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "nereid/Dialect/Triton/IR/TritonTypes.cpp.inc"

namespace nereid::tt {

void TritonDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "nereid/Dialect/Triton/IR/TritonTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "nereid/Dialect/Triton/IR/TritonAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Text: !tt.ptr<f32>, !tt.ptr<f32, 3>, !tt.tensordesc<128x64xf16>
//===----------------------------------------------------------------------===//

Type PointerType::parse(AsmParser &parser) {
  Type pointee;
  int addressSpace = 1;
  if (parser.parseLess() || parser.parseType(pointee))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseInteger(addressSpace))
    return {};
  if (parser.parseGreater())
    return {};
  return PointerType::get(pointee, addressSpace);
}

void PointerType::print(AsmPrinter &printer) const {
  printer << "<" << getPointeeType();
  if (getAddressSpace() != 1)
    printer << ", " << getAddressSpace();
  printer << ">";
}

Type TensorDescType::parse(AsmParser &parser) {
  if (parser.parseLess())
    return {};
  Type type;
  OptionalParseResult full = parser.parseOptionalType(type);
  if (full.has_value()) {
    if (failed(*full) || parser.parseGreater())
      return {};
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor) {
      parser.emitError(parser.getNameLoc(), "a descriptor's block is a ranked tensor, got ")
          << type;
      return {};
    }
    return TensorDescType::get(tensor);
  }
  SmallVector<int64_t> shape;
  Type element;
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) ||
      parser.parseGreater())
    return {};
  return TensorDescType::get(RankedTensorType::get(shape, element));
}

void TensorDescType::print(AsmPrinter &printer) const {
  if (cast<TritonDialect>(getDialect()).getTextForm() == TritonDialect::TextForm::Triton36) {
    printer << "<" << getBlockType() << ">";
    return;
  }
  printer << "<";
  for (int64_t dim : getBlockType().getShape())
    printer << dim << "x";
  printer << getBlockType().getElementType() << ">";
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

Type getTypeLike(Type type, Type element) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return RankedTensorType::get(tensor.getShape(), element, tensor.getEncoding());
  return element;
}

Type getPointeeType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    if (auto pointer = dyn_cast<PointerType>(tensor.getElementType()))
      return getTypeLike(tensor, pointer.getPointeeType());
  if (auto pointer = dyn_cast<PointerType>(type))
    return pointer.getPointeeType();
  return type;
}

Type getI1Like(Type type) {
  if (auto pointer = dyn_cast<PointerType>(type))
    if (auto tile = dyn_cast<RankedTensorType>(pointer.getPointeeType()))
      return getI1Like(tile);
  return getTypeLike(type, IntegerType::get(type.getContext(), 1));
}

bool isPointerLike(Type type) { return isa<PointerType>(getElementTypeOrSelf(type)); }

unsigned getElementBits(Type element) {
  return isa<PointerType>(element) ? 64 : element.getIntOrFloatBitWidth();
}

} // namespace nereid::tt
