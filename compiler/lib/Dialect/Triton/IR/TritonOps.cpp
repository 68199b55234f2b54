// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers, folds, effects and the few builders of the dialect's operations
// but those of memory, which are in TritonMemoryOps.cpp.
//
// What verifiers check is what passes rely on without asking again: that shapes
// and element types of operands fit each other, beyond what TritonOps.td can
// say. Text is also read from files of upstream's and of users', so that an
// error here says what was expected and what was found. Folds are those that
// need no pattern: shape operations of a constant, operations that change
// nothing. The rest is in TritonCanonicalize.cpp.
#include "nereid/Dialect/Triton/IR/Triton.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "nereid/Dialect/Triton/IR/TritonOps.cpp.inc"

namespace nereid::tt {

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void addRead(Effects &effects) { effects.emplace_back(MemoryEffects::Read::get()); }
static void addWrite(Effects &effects) { effects.emplace_back(MemoryEffects::Write::get()); }
static void addReadWrite(Effects &effects) {
  addRead(effects);
  addWrite(effects);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name, FunctionType type,
                   ArrayRef<NamedAttribute> attrs, ArrayRef<DictionaryAttr> argAttrs) {
  state.addAttribute(SymbolTable::getSymbolAttrName(), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.attributes.append(attrs.begin(), attrs.end());
  state.addRegion();
  if (argAttrs.empty())
    return;
  call_interface_impl::addArgAndResultAttrs(builder, state, argAttrs, /*resultAttrs=*/{},
                                            getArgAttrsAttrName(state.name),
                                            getResAttrsAttrName(state.name));
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto build = [](Builder &builder, ArrayRef<Type> args, ArrayRef<Type> results,
                  function_interface_impl::VariadicFlag,
                  std::string &) { return builder.getFunctionType(args, results); };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), build,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false,
                                           getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<FuncOp>(*this, getCalleeAttr());
  if (!callee)
    return emitOpError("calls '") << getCallee() << "', which is not a function of this module";
  FunctionType type = callee.getFunctionType();
  if (type.getInputs() != getOperandTypes() || type.getResults() != getResultTypes())
    return emitOpError("does not match the type of '") << getCallee() << "': " << type;
  return success();
}

LogicalResult ReturnOp::verify() {
  auto function = cast<FuncOp>((*this)->getParentOp());
  if (function.getResultTypes() != getOperandTypes())
    return emitOpError("returns other types than @") << function.getName() << " declares";
  return success();
}

//===----------------------------------------------------------------------===//
// Creation and shape
//===----------------------------------------------------------------------===//

LogicalResult MakeRangeOp::verify() {
  // The attributes are signed, though their accessors are not.
  int64_t start = getStartAttr().getInt(), end = getEndAttr().getInt(), size = end - start;
  auto type = getType();
  if (size <= 0)
    return emitOpError("needs end > start, got start = ") << start << ", end = " << end;
  if (type.getRank() != 1 || type.getDimSize(0) != size)
    return emitOpError("of ") << size << " elements cannot have type " << type;
  return success();
}

LogicalResult SplatOp::verify() {
  if (getSrc().getType() != getElementTypeOrSelf(getType()))
    return emitOpError("of ") << getSrc().getType() << " cannot give " << getType();
  return success();
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  auto value = adaptor.getSrc();
  if (!value || !isa<FloatAttr, IntegerAttr>(value))
    return {};
  return SplatElementsAttr::get(cast<ShapedType>(getType()), value);
}

LogicalResult UnsplatOp::verify() {
  auto type = cast<RankedTensorType>(getSrc().getType());
  if (type.getNumElements() != 1)
    return emitOpError("takes a tensor of one element, got ") << type;
  if (getType() != type.getElementType())
    return emitOpError("of ") << type << " cannot give " << getType();
  return success();
}

OpFoldResult UnsplatOp::fold(FoldAdaptor adaptor) {
  if (auto splat = getSrc().getDefiningOp<SplatOp>())
    return splat.getSrc();
  if (auto value = dyn_cast_or_null<SplatElementsAttr>(adaptor.getSrc()))
    return value.getSplatValue<Attribute>();
  return {};
}

LogicalResult ExpandDimsOp::verify() {
  auto src = cast<RankedTensorType>(getSrc().getType()), dst = cast<RankedTensorType>(getType());
  int64_t axis = getAxis();
  if (axis < 0 || axis > src.getRank())
    return emitOpError("axis ") << axis << " is out of range for " << src;
  SmallVector<int64_t> shape(src.getShape());
  shape.insert(shape.begin() + axis, 1);
  if (dst.getShape() != ArrayRef<int64_t>(shape))
    return emitOpError("of ") << src << " at axis " << axis << " cannot give " << dst;
  return success();
}

/// Shape operations of a constant splat are a constant splat.
static OpFoldResult foldSplat(Attribute src, Type result) {
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(src))
    return SplatElementsAttr::get(cast<ShapedType>(result), splat.getSplatValue<Attribute>());
  return {};
}

OpFoldResult ExpandDimsOp::fold(FoldAdaptor adaptor) {
  return foldSplat(adaptor.getSrc(), getType());
}

LogicalResult BroadcastOp::verify() {
  auto src = cast<RankedTensorType>(getSrc().getType()), dst = cast<RankedTensorType>(getType());
  if (src.getRank() != dst.getRank())
    return emitOpError("keeps the rank: ") << src << " cannot give " << dst;
  for (auto [i, from, to] : llvm::enumerate(src.getShape(), dst.getShape()))
    if (from != to && from != 1)
      return emitOpError("repeats dimensions of size 1 only: dimension ")
             << i << " is " << from << " in " << src << " and " << to << " in " << dst;
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  return foldSplat(adaptor.getSrc(), getType());
}

LogicalResult ReshapeOp::verify() {
  auto src = cast<RankedTensorType>(getSrc().getType()), dst = cast<RankedTensorType>(getType());
  if (src.getNumElements() != dst.getNumElements())
    return emitOpError("keeps the number of elements: ") << src << " cannot give " << dst;
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType() && !getAllowReorder())
    return getSrc();
  return foldSplat(adaptor.getSrc(), getType());
}

LogicalResult TransOp::verify() {
  auto src = cast<RankedTensorType>(getSrc().getType()), dst = cast<RankedTensorType>(getType());
  ArrayRef<int32_t> order = getOrder();
  SmallVector<bool> seen(src.getRank(), false);
  if (int64_t(order.size()) != src.getRank() || dst.getRank() != src.getRank())
    return emitOpError("order names each of the ") << src.getRank() << " dimensions once";
  for (int32_t dim : order) {
    if (dim < 0 || dim >= src.getRank() || seen[dim])
      return emitOpError("order names each of the ") << src.getRank() << " dimensions once";
    seen[dim] = true;
  }
  for (auto [i, dim] : llvm::enumerate(order))
    if (dst.getDimSize(i) != src.getDimSize(dim))
      return emitOpError("of ") << src << " cannot give " << dst;
  return success();
}

OpFoldResult TransOp::fold(FoldAdaptor adaptor) {
  if (llvm::equal(getOrder(), llvm::seq<int32_t>(0, getOrder().size())))
    return getSrc();
  return foldSplat(adaptor.getSrc(), getType());
}

LogicalResult JoinOp::verify() {
  auto src = cast<RankedTensorType>(getLhs().getType()), dst = cast<RankedTensorType>(getType());
  SmallVector<int64_t> shape(src.getShape());
  shape.push_back(2);
  if (dst.getShape() != ArrayRef<int64_t>(shape) || dst.getElementType() != src.getElementType())
    return emitOpError("of two ") << src << " cannot give " << dst;
  return success();
}

void SplitOp::build(OpBuilder &builder, OperationState &state, Value src) {
  auto type = cast<RankedTensorType>(src.getType());
  Type half = RankedTensorType::get(type.getShape().drop_back(), type.getElementType());
  build(builder, state, TypeRange{half, half}, src);
}

LogicalResult SplitOp::verify() {
  auto src = cast<RankedTensorType>(getSrc().getType());
  if (src.getRank() == 0 || src.getShape().back() != 2)
    return emitOpError("takes a tensor whose last dimension is 2, got ") << src;
  Type half = RankedTensorType::get(src.getShape().drop_back(), src.getElementType());
  if (getOutLHS().getType() != half || getOutRHS().getType() != half)
    return emitOpError("of ") << src << " gives two " << half;
  return success();
}

LogicalResult CatOp::verify() {
  auto src = cast<RankedTensorType>(getLhs().getType()), dst = cast<RankedTensorType>(getType());
  SmallVector<int64_t> shape(src.getShape());
  if (shape.empty())
    return emitOpError("takes tensors of rank 1 or more");
  shape[0] *= 2;
  if (dst.getShape() != ArrayRef<int64_t>(shape))
    return emitOpError("of two ") << src << " cannot give " << dst;
  return success();
}

//===----------------------------------------------------------------------===//
// Pointers and casts
//===----------------------------------------------------------------------===//

OpFoldResult AddPtrOp::fold(FoldAdaptor adaptor) {
  if (matchPattern(adaptor.getOffset(), m_Zero()))
    return getPtr();
  return {};
}

OpFoldResult BitcastOp::fold(FoldAdaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  return {};
}

LogicalResult BitcastOp::verify() {
  Type from = getElementTypeOrSelf(getSrc().getType()), to = getElementTypeOrSelf(getType());
  if (isa<PointerType>(from) != isa<PointerType>(to))
    return emitOpError("between pointers and numbers is int_to_ptr or ptr_to_int");
  if (getElementBits(from) != getElementBits(to))
    return emitOpError("needs equal widths, got ") << from << " and " << to;
  return success();
}

LogicalResult FpToFpOp::verify() {
  unsigned from = getElementBits(getElementTypeOrSelf(getSrc().getType()));
  unsigned to = getElementBits(getElementTypeOrSelf(getType()));
  if (getRounding() && to >= from)
    return emitOpError("takes a rounding mode only when it narrows");
  return success();
}

void ExternElementwiseOp::getEffects(Effects &effects) {
  if (!getPure())
    addReadWrite(effects);
}

void ElementwiseInlineAsmOp::getEffects(Effects &effects) {
  if (!getPure())
    addReadWrite(effects);
}

//===----------------------------------------------------------------------===//
// Linear algebra
//===----------------------------------------------------------------------===//

LogicalResult DotOp::verify() {
  auto a = cast<RankedTensorType>(getA().getType()), b = cast<RankedTensorType>(getB().getType());
  auto d = cast<RankedTensorType>(getD().getType());
  int64_t rank = a.getRank();
  if (rank < 2 || b.getRank() != rank || d.getRank() != rank)
    return emitOpError("takes operands of equal rank 2 or 3, got ") << a << " and " << b;
  for (int64_t i = 0; i + 2 < rank; ++i)
    if (a.getDimSize(i) != b.getDimSize(i) || a.getDimSize(i) != d.getDimSize(i))
      return emitOpError("batch dimensions differ: ") << a << " and " << b << " -> " << d;
  if (a.getDimSize(rank - 1) != b.getDimSize(rank - 2))
    return emitOpError("inner dimensions differ: ") << a << " and " << b;
  if (d.getDimSize(rank - 2) != a.getDimSize(rank - 2) ||
      d.getDimSize(rank - 1) != b.getDimSize(rank - 1))
    return emitOpError("of ") << a << " and " << b << " cannot give " << d;
  if (getElementBits(a.getElementType()) != getElementBits(b.getElementType()))
    return emitOpError("element widths differ: ") << a << " and " << b;
  return success();
}

/// How many elements one stored element of the format holds.
static int64_t getPackFactor(ScaleDotElemType type, bool packed) {
  return type == ScaleDotElemType::E2M1 && packed ? 2 : 1;
}

LogicalResult DotScaledOp::verify() {
  auto a = cast<RankedTensorType>(getA().getType()), b = cast<RankedTensorType>(getB().getType());
  auto d = cast<RankedTensorType>(getD().getType());
  int64_t rank = a.getRank();
  if (rank < 2 || b.getRank() != rank || d.getRank() != rank)
    return emitOpError("takes operands of equal rank 2 or 3, got ") << a << " and " << b;
  // Four-bit elements lie two in a byte, along k or along the other dimension.
  int64_t aPack = getPackFactor(getAElemType(), true), bPack = getPackFactor(getBElemType(), true);
  int64_t m = a.getDimSize(rank - 2) * (getLhsKPack() ? 1 : aPack);
  int64_t ka = a.getDimSize(rank - 1) * (getLhsKPack() ? aPack : 1);
  int64_t kb = b.getDimSize(rank - 2) * (getRhsKPack() ? bPack : 1);
  int64_t n = b.getDimSize(rank - 1) * (getRhsKPack() ? 1 : bPack);
  if (ka != kb)
    return emitOpError("inner dimensions differ: ")
           << a << " holds " << ka << ", " << b << " holds " << kb;
  if (d.getDimSize(rank - 2) != m || d.getDimSize(rank - 1) != n)
    return emitOpError("of ") << a << " and " << b << " cannot give " << d;
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions, scans, selections
//===----------------------------------------------------------------------===//

void ReduceOp::build(OpBuilder &builder, OperationState &state, ValueRange srcs, int axis) {
  SmallVector<Type> results;
  for (Value src : srcs) {
    auto type = cast<RankedTensorType>(src.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + axis);
    results.push_back(shape.empty() ? type.getElementType()
                                    : Type(RankedTensorType::get(shape, type.getElementType())));
  }
  build(builder, state, results, srcs, builder.getI32IntegerAttr(axis));
}

void ScanOp::build(OpBuilder &builder, OperationState &state, ValueRange srcs, int axis,
                   bool reverse) {
  SmallVector<Type> results(srcs.getTypes());
  build(builder, state, results, srcs, builder.getI32IntegerAttr(axis),
        builder.getBoolAttr(reverse));
}

template <typename Op> static LogicalResult verifyAxis(Op op) {
  if (op.getSrcs().empty())
    return op.emitOpError("needs at least one operand");
  auto type = cast<RankedTensorType>(op.getSrcs().front().getType());
  if (int64_t(op.getAxis()) < 0 || int64_t(op.getAxis()) >= type.getRank())
    return op.emitOpError("axis ") << op.getAxis() << " is out of range for " << type;
  return success();
}

/// The region takes n left and n right elements and returns n.
template <typename Return, typename Op> static LogicalResult verifyCombine(Op op) {
  Block &block = op.getCombineOp().front();
  unsigned n = op.getSrcs().size();
  if (block.getNumArguments() != 2 * n)
    return op.emitOpError("combining region takes ")
           << 2 * n << " scalars, got " << block.getNumArguments();
  auto ret = dyn_cast<Return>(block.getTerminator());
  if (!ret || ret.getNumOperands() != n)
    return op.emitOpError("combining region returns ") << n << " scalars";
  for (unsigned i = 0; i < n; ++i) {
    Type element = getElementTypeOrSelf(op.getSrcs()[i].getType());
    if (block.getArgument(i).getType() != element ||
        block.getArgument(i + n).getType() != element || ret.getOperand(i).getType() != element)
      return op.emitOpError("combining region must work on ") << element << " for operand " << i;
  }
  return success();
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyAxis(*this)))
    return failure();
  if (getResult().size() != getSrcs().size())
    return emitOpError("of ") << getSrcs().size() << " operands gives as many results, got "
                              << getResult().size();
  for (auto [src, result] : llvm::zip_equal(getSrcs(), getResult())) {
    auto type = cast<RankedTensorType>(src.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + getAxis());
    Type expected = shape.empty() ? type.getElementType()
                                  : Type(RankedTensorType::get(shape, type.getElementType()));
    if (result.getType() != expected)
      return emitOpError("of ") << type << " along axis " << getAxis() << " gives " << expected
                                << ", not " << result.getType();
  }
  return success();
}
LogicalResult ReduceOp::verifyRegions() { return verifyCombine<ReduceReturnOp>(*this); }
LogicalResult ScanOp::verify() {
  if (failed(verifyAxis(*this)))
    return failure();
  if (getSrcs().getTypes() != getResult().getTypes())
    return emitOpError("gives a result of each operand's type");
  return success();
}
LogicalResult ScanOp::verifyRegions() { return verifyCombine<ScanReturnOp>(*this); }

LogicalResult GatherOp::verify() {
  auto src = cast<RankedTensorType>(getSrc().getType()),
       indices = cast<RankedTensorType>(getIndices().getType());
  if (src.getRank() != indices.getRank())
    return emitOpError("source and indices have the same rank, got ") << src << " and " << indices;
  if (int64_t(getAxis()) >= src.getRank())
    return emitOpError("axis ") << getAxis() << " is out of range for " << src;
  for (int64_t i = 0; i < src.getRank(); ++i)
    if (i != int64_t(getAxis()) && src.getDimSize(i) != indices.getDimSize(i))
      return emitOpError("source and indices differ in dimension ")
             << i << ": " << src << " and " << indices;
  auto dst = cast<RankedTensorType>(getType());
  if (dst.getShape() != indices.getShape() || dst.getElementType() != src.getElementType())
    return emitOpError("of ") << src << " by " << indices << " cannot give " << dst;
  return success();
}

LogicalResult HistogramOp::verify() {
  auto src = cast<RankedTensorType>(getSrc().getType()), dst = cast<RankedTensorType>(getType());
  if (src.getRank() != 1 || dst.getRank() != 1)
    return emitOpError("counts a 1-D tensor into a 1-D tensor, got ") << src << " and " << dst;
  return success();
}

LogicalResult MapElementwiseOp::verifyRegions() {
  int64_t pack = getPack();
  if (getSrcs().empty() || pack < 1)
    return emitOpError("needs at least one operand and a pack of at least 1");
  auto type = cast<RankedTensorType>(getSrcs().front().getType());
  if (type.getNumElements() % pack != 0)
    return emitOpError("pack of ") << pack << " does not divide the elements of " << type;
  Block &entry = getScalarOp().front();
  if (int64_t(entry.getNumArguments()) != pack * int64_t(getSrcs().size()))
    return emitOpError("region takes ")
           << pack * getSrcs().size() << " scalars, got " << entry.getNumArguments();
  for (auto [i, src] : llvm::enumerate(getSrcs()))
    for (int64_t k = 0; k < pack; ++k)
      if (entry.getArgument(i * pack + k).getType() != getElementTypeOrSelf(src.getType()))
        return emitOpError("region must work on ")
               << getElementTypeOrSelf(src.getType()) << " for operand " << i;
  for (Block &block : getScalarOp()) {
    auto ret = dyn_cast<MapElementwiseReturnOp>(block.getTerminator());
    if (!ret)
      continue;
    if (int64_t(ret.getNumOperands()) != pack * int64_t(getResult().size()))
      return emitOpError("region returns ")
             << pack * getResult().size() << " scalars, got " << ret.getNumOperands();
    for (auto [i, value] : llvm::enumerate(ret.getOperands()))
      if (value.getType() != getElementTypeOrSelf(getResult()[i / pack].getType()))
        return emitOpError("region returns ")
               << value.getType() << " for " << getResult()[i / pack].getType();
  }
  return success();
}

LogicalResult PrintOp::verify() {
  if (getIsSigned().size() != getArgs().size())
    return emitOpError("needs isSigned for each of ")
           << getArgs().size() << " operands, got " << getIsSigned().size();
  return success();
}

//===----------------------------------------------------------------------===//
// Effects of memory operations (their text and verifiers: TritonMemoryOps.cpp)
//===----------------------------------------------------------------------===//

void LoadOp::getEffects(Effects &effects) {
  addRead(effects);
  if (getIsVolatile())
    addWrite(effects);
}
void StoreOp::getEffects(Effects &effects) { addWrite(effects); }
void AtomicRMWOp::getEffects(Effects &effects) { addReadWrite(effects); }
void AtomicCASOp::getEffects(Effects &effects) { addReadWrite(effects); }
void AtomicPollOp::getEffects(Effects &effects) { addReadWrite(effects); }
void DescriptorLoadOp::getEffects(Effects &effects) { addRead(effects); }
void DescriptorStoreOp::getEffects(Effects &effects) { addWrite(effects); }
void DescriptorReduceOp::getEffects(Effects &effects) { addReadWrite(effects); }
void DescriptorGatherOp::getEffects(Effects &effects) { addRead(effects); }
void DescriptorScatterOp::getEffects(Effects &effects) { addWrite(effects); }

} // namespace nereid::tt
