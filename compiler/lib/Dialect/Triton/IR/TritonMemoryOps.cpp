// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads, stores, atomics, block pointers and descriptors: builders, text,
// verifiers.
//
// The text is that of upstream, in more than one version: hints on caches are
// keywords behind the operands in older text and one attribute #tt.cache_policy
// in newer; types of block pointers and descriptors are written out or stripped
// of their name. Parsers take every form. Printers write the older one, with
// the hints in one attribute where the dialect's text form says 3.9 (ExportTTIR
// sets it).
#include "nereid/Dialect/Triton/IR/Triton.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

namespace nereid::tt {

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

void LoadOp::build(OpBuilder &builder, OperationState &state, Value ptr, Value mask, Value other,
                   bool isVolatile, CacheModifier cache, EvictionPolicy evict) {
  build(builder, state, getPointeeType(ptr.getType()), ptr, mask, other, ArrayRef<int32_t>(),
        PaddingOptionAttr(), cache, evict, isVolatile);
}

void LoadOp::build(OpBuilder &builder, OperationState &state, Value ptr,
                   ArrayRef<int32_t> boundaryCheck, std::optional<PaddingOption> padding,
                   bool isVolatile, CacheModifier cache, EvictionPolicy evict) {
  PaddingOptionAttr attr =
      padding ? PaddingOptionAttr::get(builder.getContext(), *padding) : PaddingOptionAttr();
  build(builder, state, getPointeeType(ptr.getType()), ptr, Value(), Value(), boundaryCheck, attr,
        cache, evict, isVolatile);
}

void StoreOp::build(OpBuilder &builder, OperationState &state, Value ptr, Value value, Value mask,
                    CacheModifier cache, EvictionPolicy evict) {
  build(builder, state, ptr, value, mask, ArrayRef<int32_t>(), cache, evict, /*ignore_cta=*/false);
}

void StoreOp::build(OpBuilder &builder, OperationState &state, Value ptr, Value value,
                    ArrayRef<int32_t> boundaryCheck, CacheModifier cache, EvictionPolicy evict) {
  build(builder, state, ptr, value, Value(), boundaryCheck, cache, evict, /*ignore_cta=*/false);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Parses `cacheModifier = ca` and `evictionPolicy = evict_first`, in any order.
static ParseResult parseHints(OpAsmParser &parser, OperationState &state) {
  MLIRContext *context = parser.getContext();
  while (true) {
    StringRef keyword;
    if (succeeded(parser.parseOptionalKeyword("cacheModifier"))) {
      SMLoc loc = parser.getCurrentLocation();
      if (parser.parseEqual() || parser.parseKeyword(&keyword))
        return failure();
      auto value = symbolizeCacheModifier(keyword);
      if (!value)
        return parser.emitError(loc, "unknown cache modifier '") << keyword << "'";
      state.addAttribute("cache", CacheModifierAttr::get(context, *value));
    } else if (succeeded(parser.parseOptionalKeyword("evictionPolicy"))) {
      SMLoc loc = parser.getCurrentLocation();
      if (parser.parseEqual() || parser.parseKeyword(&keyword))
        return failure();
      auto value = symbolizeEvictionPolicy(keyword);
      if (!value)
        return parser.emitError(loc, "unknown eviction policy '") << keyword << "'";
      state.addAttribute("evict", EvictionPolicyAttr::get(context, *value));
    } else {
      return success();
    }
  }
}

/// Newer text has both hints in one attribute of the dictionary.
static ParseResult takeCachePolicy(OpAsmParser &parser, OperationState &state) {
  Attribute attr = state.attributes.get("cachePolicy");
  if (!attr)
    return success();
  auto policy = dyn_cast<CachePolicyAttr>(attr);
  if (!policy)
    return parser.emitError(parser.getNameLoc(), "cachePolicy is a #tt.cache_policy, got ") << attr;
  if (state.attributes.get("cache") || state.attributes.get("evict"))
    return parser.emitError(parser.getNameLoc(),
                            "takes cachePolicy or the two hints by name, not both");
  state.attributes.erase("cachePolicy");
  state.addAttribute("cache",
                     CacheModifierAttr::get(parser.getContext(), policy.getCacheModifier()));
  state.addAttribute("evict",
                     EvictionPolicyAttr::get(parser.getContext(), policy.getEvictionPolicy()));
  return success();
}

static bool printsCachePolicy(Operation *op) {
  return cast<TritonDialect>(op->getDialect())->getTextForm() == TritonDialect::TextForm::Triton39;
}

static void printHints(OpAsmPrinter &printer, Operation *op, CacheModifier cache,
                       EvictionPolicy evict) {
  if (printsCachePolicy(op))
    return;
  if (cache != CacheModifier::NONE)
    printer << " cacheModifier = " << stringifyCacheModifier(cache);
  if (evict != EvictionPolicy::NORMAL)
    printer << " evictionPolicy = " << stringifyEvictionPolicy(evict);
}

/// Attributes left for the dictionary: not the ones printed by name, not those
/// that have their default value.
static void printRest(OpAsmPrinter &printer, Operation *op, CacheModifier cache,
                      EvictionPolicy evict) {
  SmallVector<StringRef> elided = {"cache", "evict", "operandSegmentSizes"};
  auto boundaryCheck = op->getAttrOfType<DenseI32ArrayAttr>("boundaryCheck");
  if (boundaryCheck && boundaryCheck.empty())
    elided.push_back("boundaryCheck");
  auto isVolatile = op->getAttrOfType<BoolAttr>("isVolatile");
  if (isVolatile && !isVolatile.getValue())
    elided.push_back("isVolatile");
  SmallVector<NamedAttribute> attrs(op->getAttrs());
  if (printsCachePolicy(op) && (cache != CacheModifier::NONE || evict != EvictionPolicy::NORMAL))
    attrs.emplace_back("cachePolicy", CachePolicyAttr::get(op->getContext(), cache, evict));
  printer.printOptionalAttrDict(attrs, elided);
}

ParseResult LoadOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  Type type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(operands) || parseHints(parser, state) ||
      parser.parseOptionalAttrDict(state.attributes) || takeCachePolicy(parser, state) ||
      parser.parseColonType(type))
    return failure();
  if (operands.empty() || operands.size() > 3)
    return parser.emitError(loc,
                            "a load takes a pointer, an optional mask and an optional other value");
  // The older text repeats the result type; it is implied.
  Type value = getPointeeType(type);
  SmallVector<Type> types = {type, getI1Like(type), value};
  if (parser.resolveOperands(operands, ArrayRef<Type>(types).take_front(operands.size()), loc,
                             state.operands))
    return failure();
  state.addTypes(value);
  state.getOrAddProperties<LoadOp::Properties>().setOperandSegmentSizes(
      {1, operands.size() > 1 ? 1 : 0, operands.size() > 2 ? 1 : 0});
  return success();
}

void LoadOp::print(OpAsmPrinter &printer) {
  printer << " " << getPtr();
  if (getMask())
    printer << ", " << getMask();
  if (getOther())
    printer << ", " << getOther();
  printHints(printer, *this, getCache(), getEvict());
  printRest(printer, *this, getCache(), getEvict());
  printer << " : " << getPtr().getType();
}

ParseResult StoreOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  Type type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(operands) || parseHints(parser, state) ||
      parser.parseOptionalAttrDict(state.attributes) || takeCachePolicy(parser, state) ||
      parser.parseColonType(type))
    return failure();
  if (operands.size() < 2 || operands.size() > 3)
    return parser.emitError(loc, "a store takes a pointer, a value and an optional mask");
  SmallVector<Type> types = {type, getPointeeType(type), getI1Like(type)};
  return parser.resolveOperands(operands, ArrayRef<Type>(types).take_front(operands.size()), loc,
                                state.operands);
}

void StoreOp::print(OpAsmPrinter &printer) {
  printer << " " << getPtr() << ", " << getValue();
  if (getMask())
    printer << ", " << getMask();
  printHints(printer, *this, getCache(), getEvict());
  printRest(printer, *this, getCache(), getEvict());
  printer << " : " << getPtr().getType();
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

static LogicalResult verifyAccess(Operation *op, Type pointer, Value mask,
                                  ArrayRef<int32_t> boundaryCheck) {
  auto scalar = dyn_cast<PointerType>(pointer);
  auto tile = scalar ? dyn_cast<RankedTensorType>(scalar.getPointeeType()) : RankedTensorType();
  if (tile && mask)
    return op->emitOpError("through a block pointer takes boundaryCheck, not a mask");
  if (!tile && !boundaryCheck.empty())
    return op->emitOpError("takes boundaryCheck only through a block pointer");
  for (int32_t dim : boundaryCheck)
    if (dim < 0 || dim >= tile.getRank())
      return op->emitOpError("boundaryCheck names dimension ") << dim << " of " << tile;
  if (mask && mask.getType() != getI1Like(pointer))
    return op->emitOpError("mask of ") << mask.getType() << " does not fit " << pointer;
  return success();
}

LogicalResult LoadOp::verify() {
  if (getOther() && !getMask())
    return emitOpError("takes `other` only with a mask");
  if (getOther() && getOther().getType() != getType())
    return emitOpError("`other` of ") << getOther().getType() << " does not fit " << getType();
  return verifyAccess(*this, getPtr().getType(), getMask(), getBoundaryCheck());
}

LogicalResult StoreOp::verify() {
  return verifyAccess(*this, getPtr().getType(), getMask(), getBoundaryCheck());
}

LogicalResult AtomicRMWOp::verify() {
  Type element = getElementTypeOrSelf(getVal().getType());
  RMWOp kind = getAtomicRmwOp();
  bool isFloat = isa<FloatType>(element);
  if (kind == RMWOp::FADD && !isFloat)
    return emitOpError("fadd needs floating-point elements, got ") << element;
  if (isFloat && kind != RMWOp::FADD && kind != RMWOp::MAX && kind != RMWOp::MIN &&
      kind != RMWOp::XCHG)
    return emitOpError(stringifyRMWOp(kind)) << " needs integer elements, got " << element;
  if (getMask() && getMask().getType() != getI1Like(getPtr().getType()))
    return emitOpError("mask of ") << getMask().getType() << " does not fit " << getPtr().getType();
  return success();
}

LogicalResult AtomicCASOp::verify() {
  unsigned bits = getElementBits(getElementTypeOrSelf(getVal().getType()));
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
    return emitOpError("compares elements of 8, 16, 32 or 64 bits, got ") << getVal().getType();
  return success();
}

LogicalResult AtomicPollOp::verify() {
  Type pointee = getPointeeType(getPtr().getType());
  if (pointee != getExpected().getType())
    return emitOpError("expects a value of type ")
           << getExpected().getType() << " at a pointer to " << pointee;
  return success();
}

//===----------------------------------------------------------------------===//
// Block pointers and descriptors
//===----------------------------------------------------------------------===//

using Operands = SmallVector<OpAsmParser::UnresolvedOperand>;

static ParseResult parseList(OpAsmParser &parser, Operands &list) {
  return parser.parseOperandList(list, OpAsmParser::Delimiter::Square);
}

/// A type written out, or stripped of `!tt.ptr`: `<tensor<4xf16>>`.
static ParseResult parseStripped(OpAsmParser &parser, Type &type, bool descriptor) {
  OptionalParseResult full = parser.parseOptionalType(type);
  if (full.has_value())
    return *full;
  type = descriptor ? TensorDescType::parse(parser) : PointerType::parse(parser);
  return type ? success() : failure();
}

ParseResult MakeTensorPtrOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand base;
  Operands shape, strides, offsets;
  Type type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperand(base) || parser.parseComma() || parseList(parser, shape) ||
      parser.parseComma() || parseList(parser, strides) || parser.parseComma() ||
      parseList(parser, offsets) || parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColon() || parseStripped(parser, type, /*descriptor=*/false))
    return failure();
  auto pointer = dyn_cast<PointerType>(type);
  auto tile = pointer ? dyn_cast<RankedTensorType>(pointer.getPointeeType()) : RankedTensorType();
  if (!tile)
    return parser.emitError(loc, "makes a block pointer, got ") << type;
  Builder &builder = parser.getBuilder();
  Type baseType = PointerType::get(tile.getElementType(), pointer.getAddressSpace());
  if (parser.resolveOperand(base, baseType, state.operands) ||
      parser.resolveOperands(shape, builder.getI64Type(), state.operands) ||
      parser.resolveOperands(strides, builder.getI64Type(), state.operands) ||
      parser.resolveOperands(offsets, builder.getI32Type(), state.operands))
    return failure();
  state.addTypes(type);
  return success();
}

void MakeTensorPtrOp::print(OpAsmPrinter &printer) {
  printer << " " << getBase() << ", [" << getShape() << "], [" << getStrides() << "], ["
          << getOffsets() << "]";
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : ";
  printer.printStrippedAttrOrType(cast<PointerType>(getType()));
}

LogicalResult MakeTensorPtrOp::verify() {
  auto tile = cast<RankedTensorType>(getPointeeType(getType()));
  size_t rank = tile.getRank();
  if (getShape().size() != rank || getStrides().size() != rank || getOffsets().size() != rank ||
      getOrder().size() != rank)
    return emitOpError("needs shape, strides, offsets and order of rank ") << rank;
  SmallVector<bool> seen(rank, false);
  for (int32_t dim : getOrder()) {
    if (dim < 0 || size_t(dim) >= rank || seen[dim])
      return emitOpError("order names each of the ") << rank << " dimensions once";
    seen[dim] = true;
  }
  if (tile.getElementType() != getPointeeType(getBase().getType()))
    return emitOpError("of a pointer to ")
           << getPointeeType(getBase().getType()) << " cannot give " << getType();
  return success();
}

ParseResult AdvanceOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand ptr;
  Operands offsets;
  Type type;
  if (parser.parseOperand(ptr) || parser.parseComma() || parseList(parser, offsets) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColon() ||
      parseStripped(parser, type, /*descriptor=*/false) ||
      parser.resolveOperand(ptr, type, state.operands) ||
      parser.resolveOperands(offsets, parser.getBuilder().getI32Type(), state.operands))
    return failure();
  state.addTypes(type);
  return success();
}

LogicalResult AdvanceOp::verify() {
  auto tile = cast<RankedTensorType>(getPointeeType(getPtr().getType()));
  if (int64_t(getOffsets().size()) != tile.getRank())
    return emitOpError("needs ") << tile.getRank() << " offsets, got " << getOffsets().size();
  return success();
}

void AdvanceOp::print(OpAsmPrinter &printer) {
  printer << " " << getPtr() << ", [" << getOffsets() << "]";
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : ";
  printer.printStrippedAttrOrType(cast<PointerType>(getType()));
}

ParseResult MakeTensorDescOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand base;
  Operands shape, strides;
  Type baseType, type;
  if (parser.parseOperand(base) || parser.parseComma() || parseList(parser, shape) ||
      parser.parseComma() || parseList(parser, strides) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColon() ||
      parseStripped(parser, baseType, /*descriptor=*/false) || parser.parseComma() ||
      parseStripped(parser, type, /*descriptor=*/true))
    return failure();
  Builder &builder = parser.getBuilder();
  if (parser.resolveOperand(base, baseType, state.operands) ||
      parser.resolveOperands(shape, builder.getI32Type(), state.operands) ||
      parser.resolveOperands(strides, builder.getI64Type(), state.operands))
    return failure();
  state.addTypes(type);
  return success();
}

void MakeTensorDescOp::print(OpAsmPrinter &printer) {
  printer << " " << getBase() << ", [" << getShape() << "], [" << getStrides() << "]";
  SmallVector<StringRef> elided;
  if (getPadding() == PaddingOption::PAD_ZERO)
    elided.push_back("padding");
  printer.printOptionalAttrDict((*this)->getAttrs(), elided);
  printer << " : ";
  printer.printStrippedAttrOrType(cast<PointerType>(getBase().getType()));
  printer << ", ";
  printer.printStrippedAttrOrType(getType());
}

/// Whether elements of type `described`, which may be si32 or ui32, are `element`.
static bool describes(Type described, Type element) {
  if (auto integer = dyn_cast<IntegerType>(described))
    described = IntegerType::get(integer.getContext(), integer.getWidth());
  return described == element;
}

LogicalResult MakeTensorDescOp::verify() {
  RankedTensorType block = getType().getBlockType();
  if (int64_t(getShape().size()) != block.getRank())
    return emitOpError("needs shape and strides of rank ")
           << block.getRank() << ", got " << getShape().size();
  if (!describes(block.getElementType(), getPointeeType(getBase().getType())))
    return emitOpError("of a pointer to ")
           << getPointeeType(getBase().getType()) << " cannot give " << getType();
  return success();
}

ParseResult DescriptorLoadOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand desc;
  Operands indices;
  Type descType, type;
  if (parser.parseOperand(desc) || parseList(parser, indices) || parseHints(parser, state) ||
      parser.parseOptionalAttrDict(state.attributes) || takeCachePolicy(parser, state) ||
      parser.parseColonType(descType) || parser.parseArrow() || parser.parseType(type) ||
      parser.resolveOperand(desc, descType, state.operands) ||
      parser.resolveOperands(indices, parser.getBuilder().getI32Type(), state.operands))
    return failure();
  state.addTypes(type);
  return success();
}

void DescriptorLoadOp::print(OpAsmPrinter &printer) {
  printer << " " << getDesc() << "[" << getIndices() << "]";
  printHints(printer, *this, getCache(), getEvict());
  printRest(printer, *this, getCache(), getEvict());
  printer << " : " << getDesc().getType() << " -> " << getType();
}

/// The tile of an access is the descriptor's block, leading dimensions of size
/// 1 left out or not.
static LogicalResult verifyTile(Operation *op, TensorDescType desc, Type tileType,
                                unsigned numIndices) {
  RankedTensorType block = desc.getBlockType();
  auto tile = cast<RankedTensorType>(tileType);
  if (int64_t(numIndices) != block.getRank())
    return op->emitOpError("needs ") << block.getRank() << " indices, got " << numIndices;
  ArrayRef<int64_t> shape = block.getShape();
  while (int64_t(shape.size()) > tile.getRank() && shape.front() == 1)
    shape = shape.drop_front();
  if (shape != tile.getShape() || !describes(block.getElementType(), tile.getElementType()))
    return op->emitOpError("tile of ") << tile << " does not fit a descriptor of blocks " << block;
  return success();
}

LogicalResult DescriptorLoadOp::verify() {
  return verifyTile(*this, cast<TensorDescType>(getDesc().getType()), getType(),
                    getIndices().size());
}
LogicalResult DescriptorStoreOp::verify() {
  return verifyTile(*this, cast<TensorDescType>(getDesc().getType()), getSrc().getType(),
                    getIndices().size());
}
LogicalResult DescriptorReduceOp::verify() {
  return verifyTile(*this, cast<TensorDescType>(getDesc().getType()), getSrc().getType(),
                    getIndices().size());
}

/// Rows by index: blocks of one row, one row of the tile for each offset.
static LogicalResult verifyRows(Operation *op, TensorDescType desc, Type offsetsType,
                                Type tileType) {
  RankedTensorType block = desc.getBlockType();
  auto offsets = cast<RankedTensorType>(offsetsType), tile = cast<RankedTensorType>(tileType);
  if (block.getRank() != 2 || block.getDimSize(0) != 1)
    return op->emitOpError("takes a descriptor of blocks 1xN, got ") << desc;
  if (offsets.getRank() != 1)
    return op->emitOpError("takes a 1-D tensor of row offsets, got ") << offsets;
  if (tile.getRank() != 2 || tile.getDimSize(0) != offsets.getDimSize(0) ||
      tile.getDimSize(1) != block.getDimSize(1) ||
      !describes(block.getElementType(), tile.getElementType()))
    return op->emitOpError("tile of ")
           << tile << " does not fit " << offsets << " and a descriptor of blocks " << block;
  return success();
}

LogicalResult DescriptorGatherOp::verify() {
  return verifyRows(*this, cast<TensorDescType>(getDesc().getType()), getXOffsets().getType(),
                    getType());
}
LogicalResult DescriptorScatterOp::verify() {
  return verifyRows(*this, cast<TensorDescType>(getDesc().getType()), getXOffsets().getType(),
                    getSrc().getType());
}

} // namespace nereid::tt
