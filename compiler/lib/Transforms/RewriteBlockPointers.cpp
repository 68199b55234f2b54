// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Block pointers and descriptors are scalars: a base, sizes, strides and, for
// block pointers, offsets. Accesses through them become tiles of pointers and
// masks.
//
//   block pointer   base, shape[r] : i64, strides[r] : i64, offsets[r] : i32
//   descriptor      base, shape[r] : i64, strides[r] : i64, NaN padding : i1
//
// Why not keep them until memory is accessed: as scalars they pass loops and
// branches as any other value does, and every later pass (invariants, strides,
// tiles that a loop moves) sees nothing but pointers and masks, of which it
// knows all it needs. The one-to-many conversion of MLIR carries the parts
// through scf.
//
// Block pointers are masked only in the dimensions of boundary_check, as the
// user asked for; descriptors always, in all dimensions. Elements outside read
// as 0, or as NaN: for a block pointer that is part of the load, for a
// descriptor of its making, so that it travels with the parts.
#include "nereid/Support/AttributeNames.h"
#include "nereid/Transforms/Passes.h"

#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Support/PassDiagnostics.h"

#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDREWRITEBLOCKPOINTERS
#include "nereid/Transforms/Passes.h.inc"
} // namespace nereid

using namespace mlir;

namespace nereid {
namespace {

RankedTensorType getBlock(Type type) {
  if (auto descriptor = dyn_cast<tt::TensorDescType>(type))
    return descriptor.getBlockType();
  if (auto pointer = dyn_cast<tt::PointerType>(type))
    return dyn_cast<RankedTensorType>(pointer.getPointeeType());
  return {};
}

bool isBlockType(Type type) { return bool(getBlock(type)); }

class BlockTypes : public TypeConverter {
public:
  BlockTypes() {
    addConversion([](Type type) { return type; });
    addConversion(
        [](tt::PointerType type, SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
          if (!isBlockType(type))
            return std::nullopt;
          append(type, type.getAddressSpace(), results);
          results.append(getBlock(type).getRank(), IntegerType::get(type.getContext(), 32));
          return success();
        });
    addConversion([](tt::TensorDescType type,
                     SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
      append(type, 1, results);
      results.push_back(IntegerType::get(type.getContext(), 1));
      return success();
    });
  }

private:
  static void append(Type type, int addressSpace, SmallVectorImpl<Type> &results) {
    RankedTensorType block = getBlock(type);
    results.push_back(tt::PointerType::get(block.getElementType(), addressSpace));
    results.append(2 * block.getRank(), IntegerType::get(type.getContext(), 64));
  }
};

/// The parts of a converted block pointer or descriptor.
struct Parts {
  Parts(ValueRange values, unsigned rank)
      : base(values[0]), shape(values.slice(1, rank)), strides(values.slice(1 + rank, rank)),
        rest(values.drop_front(1 + 2 * rank)) {}
  Value base;
  ValueRange shape, strides, rest;
};

/// Builds tiles of pointers and masks of one access.
class Access {
public:
  Access(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape, Value base)
      : builder(builder), loc(loc), shape(shape), base(base) {
    auto type = RankedTensorType::get(shape, base.getType());
    pointers = tt::SplatOp::create(builder, loc, type, base);
  }

  /// start + 0, 1, ... along `dim`, as i64.
  Value run(unsigned dim, Value start) {
    auto narrow = RankedTensorType::get({shape[dim]}, builder.getI32Type());
    auto wide = RankedTensorType::get({shape[dim]}, builder.getI64Type());
    Value range = tt::MakeRangeOp::create(builder, loc, narrow, 0, shape[dim]);
    range = arith::ExtSIOp::create(builder, loc, wide, range);
    Value first = tt::SplatOp::create(builder, loc, wide, toI64(start));
    return arith::AddIOp::create(builder, loc, first, range);
  }

  /// Moves the pointers by `offsets` (i64, one-dimensional) times `stride`
  /// along `dim`.
  void move(unsigned dim, Value offsets, Value stride) {
    Value step = tt::SplatOp::create(builder, loc, offsets.getType(), stride);
    Value scaled = spread(dim, arith::MulIOp::create(builder, loc, offsets, step));
    pointers = tt::AddPtrOp::create(builder, loc, pointers.getType(), pointers, scaled);
  }

  /// Only where 0 <= offsets < size along `dim`.
  void limit(unsigned dim, Value offsets, Value size) {
    using P = arith::CmpIPredicate;
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(offsets.getType()));
    Value high = tt::SplatOp::create(builder, loc, offsets.getType(), size);
    Value in = arith::AndIOp::create(builder, loc,
                                     arith::CmpIOp::create(builder, loc, P::sge, offsets, zero),
                                     arith::CmpIOp::create(builder, loc, P::slt, offsets, high));
    in = spread(dim, in);
    mask = mask ? Value(arith::AndIOp::create(builder, loc, mask, in)) : in;
  }

  Value pointers, mask;

private:
  Value toI64(Value value) {
    if (value.getType().isInteger(64))
      return value;
    return arith::ExtSIOp::create(builder, loc, builder.getI64Type(), value);
  }

  /// A one-dimensional tile along `dim`, repeated along the others.
  Value spread(unsigned dim, Value line) {
    Type element = getElementTypeOrSelf(line.getType());
    for (unsigned d = 0; d < shape.size(); ++d) {
      if (d == dim)
        continue;
      SmallVector<int64_t> sizes(cast<RankedTensorType>(line.getType()).getShape());
      sizes.insert(sizes.begin() + d, 1);
      line = tt::ExpandDimsOp::create(builder, loc, RankedTensorType::get(sizes, element), line, d);
    }
    auto type = RankedTensorType::get(shape, element);
    return line.getType() == type ? line : Value(tt::BroadcastOp::create(builder, loc, type, line));
  }

  OpBuilder &builder;
  Location loc;
  SmallVector<int64_t> shape;
  Value base;
};

/// A tile of the value that fills elements outside: 0, or NaN where `isNaN`.
Value emitPadding(OpBuilder &builder, Location loc, RankedTensorType type, Value isNaN) {
  Type element = type.getElementType();
  auto floating = dyn_cast<FloatType>(element);
  if (!isNaN || !floating)
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  Value nan = arith::ConstantOp::create(
      builder, loc, builder.getFloatAttr(element, APFloat::getNaN(floating.getFloatSemantics())));
  return tt::SplatOp::create(builder, loc, type,
                             arith::SelectOp::create(builder, loc, isNaN, nan, zero));
}

//===----------------------------------------------------------------------===//
// Block pointers
//===----------------------------------------------------------------------===//

struct ConvertMakeTensorPtr : OpConversionPattern<tt::MakeTensorPtrOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::MakeTensorPtrOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> parts = {adaptor.getBase()};
    llvm::append_range(parts, adaptor.getShape());
    llvm::append_range(parts, adaptor.getStrides());
    llvm::append_range(parts, adaptor.getOffsets());
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

struct ConvertAdvance : OpConversionPattern<tt::AdvanceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::AdvanceOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    unsigned rank = getBlock(op.getType()).getRank();
    SmallVector<Value> parts(adaptor.getPtr());
    for (auto [d, offset] : llvm::enumerate(adaptor.getOffsets())) {
      Value &slot = parts[1 + 2 * rank + d];
      slot = arith::AddIOp::create(rewriter, op.getLoc(), slot, offset.front());
    }
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

Access accessBlock(OpBuilder &builder, Location loc, RankedTensorType block, ValueRange values,
                   ArrayRef<int32_t> boundaryCheck) {
  unsigned rank = block.getRank();
  Parts parts(values, rank);
  Access access(builder, loc, block.getShape(), parts.base);
  for (unsigned d = 0; d < rank; ++d) {
    Value offsets = access.run(d, parts.rest[d]);
    access.move(d, offsets, parts.strides[d]);
    if (llvm::is_contained(boundaryCheck, int32_t(d)))
      access.limit(d, offsets, parts.shape[d]);
  }
  return access;
}

struct ConvertLoad : OpConversionPattern<tt::LoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::LoadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RankedTensorType block = getBlock(op.getPtr().getType());
    if (!block)
      return failure();
    Access access =
        accessBlock(rewriter, op.getLoc(), block, adaptor.getPtr(), op.getBoundaryCheck());
    Value other;
    if (access.mask) {
      Value isNaN;
      if (op.getPadding() == tt::PaddingOption::PAD_NAN)
        isNaN = arith::ConstantOp::create(rewriter, op.getLoc(), rewriter.getBoolAttr(true));
      other = emitPadding(rewriter, op.getLoc(), block, isNaN);
    }
    rewriter.replaceOpWithNewOp<tt::LoadOp>(op, access.pointers, access.mask, other,
                                            op.getIsVolatile(), op.getCache(), op.getEvict());
    return success();
  }
};

struct ConvertStore : OpConversionPattern<tt::StoreOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::StoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RankedTensorType block = getBlock(op.getPtr().getType());
    if (!block)
      return failure();
    Access access =
        accessBlock(rewriter, op.getLoc(), block, adaptor.getPtr(), op.getBoundaryCheck());
    rewriter.replaceOpWithNewOp<tt::StoreOp>(op, access.pointers, adaptor.getValue().front(),
                                             access.mask, op.getCache(), op.getEvict());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

struct ConvertMakeTensorDesc : OpConversionPattern<tt::MakeTensorDescOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::MakeTensorDescOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> parts = {adaptor.getBase()};
    for (Value size : adaptor.getShape())
      parts.push_back(arith::ExtSIOp::create(rewriter, op.getLoc(), rewriter.getI64Type(), size));
    llvm::append_range(parts, adaptor.getStrides());
    bool isNaN = op.getPadding() == tt::PaddingOption::PAD_NAN;
    parts.push_back(arith::ConstantOp::create(rewriter, op.getLoc(), rewriter.getBoolAttr(isNaN)));
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

/// The tile at `indices`; everything outside the tensor is masked off.
Access accessDescriptor(OpBuilder &builder, Location loc, RankedTensorType block, ValueRange values,
                        ArrayRef<Value> indices) {
  unsigned rank = block.getRank();
  Parts parts(values, rank);
  Access access(builder, loc, block.getShape(), parts.base);
  for (unsigned d = 0; d < rank; ++d) {
    Value offsets = access.run(d, indices[d]);
    access.move(d, offsets, parts.strides[d]);
    access.limit(d, offsets, parts.shape[d]);
  }
  return access;
}

/// Rows named by a tile of indices, columns from one on.
Access accessRows(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape, ValueRange values,
                  Value rows, Value column) {
  Parts parts(values, 2);
  Access access(builder, loc, shape, parts.base);
  auto wide = RankedTensorType::get({shape[0]}, builder.getI64Type());
  Value offsets = arith::ExtSIOp::create(builder, loc, wide, rows);
  access.move(0, offsets, parts.strides[0]);
  access.limit(0, offsets, parts.shape[0]);
  Value columns = access.run(1, column);
  access.move(1, columns, parts.strides[1]);
  access.limit(1, columns, parts.shape[1]);
  return access;
}

SmallVector<Value> firsts(ArrayRef<ValueRange> ranges) {
  SmallVector<Value> values;
  for (ValueRange range : ranges)
    values.push_back(range.front());
  return values;
}

/// Descriptors may have dimensions of size 1 that the tile lacks.
Value reshaped(OpBuilder &builder, Location loc, Type type, Value value) {
  if (value.getType() == type)
    return value;
  return tt::ReshapeOp::create(builder, loc, type, value, UnitAttr(), UnitAttr());
}

struct ConvertDescriptorLoad : OpConversionPattern<tt::DescriptorLoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::DescriptorLoadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RankedTensorType block = getBlock(op.getDesc().getType());
    Access access = accessDescriptor(rewriter, op.getLoc(), block, adaptor.getDesc(),
                                     firsts(adaptor.getIndices()));
    Value other = emitPadding(rewriter, op.getLoc(), block, adaptor.getDesc().back());
    Value load = tt::LoadOp::create(rewriter, op.getLoc(), access.pointers, access.mask, other,
                                    false, op.getCache(), op.getEvict());
    rewriter.replaceOp(op, reshaped(rewriter, op.getLoc(), op.getType(), load));
    return success();
  }
};

struct ConvertDescriptorStore : OpConversionPattern<tt::DescriptorStoreOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::DescriptorStoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RankedTensorType block = getBlock(op.getDesc().getType());
    Access access = accessDescriptor(rewriter, op.getLoc(), block, adaptor.getDesc(),
                                     firsts(adaptor.getIndices()));
    Value value = reshaped(rewriter, op.getLoc(), block, adaptor.getSrc().front());
    rewriter.replaceOpWithNewOp<tt::StoreOp>(op, access.pointers, value, access.mask,
                                             tt::CacheModifier::NONE, tt::EvictionPolicy::NORMAL);
    return success();
  }
};

struct ConvertDescriptorReduce : OpConversionPattern<tt::DescriptorReduceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::DescriptorReduceOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RankedTensorType block = getBlock(op.getDesc().getType());
    std::optional<tt::RMWOp> kind;
    bool isFloat = isa<FloatType>(block.getElementType()),
         isUnsigned = op->hasAttr(attr::isUnsigned);
    switch (op.getKind()) {
    case tt::DescriptorReduceKind::ADD:
      kind = isFloat ? tt::RMWOp::FADD : tt::RMWOp::ADD;
      break;
    case tt::DescriptorReduceKind::MIN:
      kind = isUnsigned ? tt::RMWOp::UMIN : tt::RMWOp::MIN;
      break;
    case tt::DescriptorReduceKind::MAX:
      kind = isUnsigned ? tt::RMWOp::UMAX : tt::RMWOp::MAX;
      break;
    case tt::DescriptorReduceKind::AND:
      kind = tt::RMWOp::AND;
      break;
    case tt::DescriptorReduceKind::OR:
      kind = tt::RMWOp::OR;
      break;
    case tt::DescriptorReduceKind::XOR:
      kind = tt::RMWOp::XOR;
      break;
    default:
      break;
    }
    if (!kind)
      return reportError(op.getLoc(), Diag::descriptor_reduction,
                         tt::stringifyDescriptorReduceKind(op.getKind()));
    Access access = accessDescriptor(rewriter, op.getLoc(), block, adaptor.getDesc(),
                                     firsts(adaptor.getIndices()));
    Value value = reshaped(rewriter, op.getLoc(), block, adaptor.getSrc().front());
    tt::AtomicRMWOp::create(rewriter, op.getLoc(), block, *kind, access.pointers, value,
                            access.mask, tt::MemSemantic::RELAXED, tt::MemSyncScope::GPU);
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertDescriptorGather : OpConversionPattern<tt::DescriptorGatherOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::DescriptorGatherOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    if (type.getRank() != 2 || adaptor.getDesc().size() != 6)
      return reportError(op.getLoc(), Diag::descriptor_rows, "gathers");
    Access access = accessRows(rewriter, op.getLoc(), type.getShape(), adaptor.getDesc(),
                               adaptor.getXOffsets().front(), adaptor.getYOffset().front());
    Value other = emitPadding(rewriter, op.getLoc(), type, adaptor.getDesc().back());
    rewriter.replaceOpWithNewOp<tt::LoadOp>(op, access.pointers, access.mask, other);
    return success();
  }
};

struct ConvertDescriptorScatter : OpConversionPattern<tt::DescriptorScatterOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tt::DescriptorScatterOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getSrc().getType());
    if (type.getRank() != 2 || adaptor.getDesc().size() != 6)
      return reportError(op.getLoc(), Diag::descriptor_rows, "scatters");
    Access access = accessRows(rewriter, op.getLoc(), type.getShape(), adaptor.getDesc(),
                               adaptor.getXOffsets().front(), adaptor.getYOffset().front());
    rewriter.replaceOpWithNewOp<tt::StoreOp>(op, access.pointers, adaptor.getSrc().front(),
                                             access.mask, tt::CacheModifier::NONE,
                                             tt::EvictionPolicy::NORMAL);
    return success();
  }
};

/// A choice between two block pointers chooses between their parts.
struct ConvertSelect : OpConversionPattern<arith::SelectOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(arith::SelectOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isBlockType(op.getType()))
      return failure();
    SmallVector<Value> parts;
    for (auto [yes, no] : llvm::zip(adaptor.getTrueValue(), adaptor.getFalseValue()))
      parts.push_back(
          arith::SelectOp::create(rewriter, op.getLoc(), adaptor.getCondition().front(), yes, no));
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

/// The base carries the dependence on the token to every access.
struct ConvertConsumeToken : OpConversionPattern<distributed::ConsumeTokenOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(distributed::ConsumeTokenOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isBlockType(op.getType()))
      return failure();
    SmallVector<Value> parts(adaptor.getValue());
    auto base = distributed::ConsumeTokenOp::create(rewriter, op.getLoc(), parts[0].getType(),
                                                    parts[0], adaptor.getToken().front());
    base->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    parts[0] = base;
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

struct RewriteBlockPointersPass : impl::NereidRewriteBlockPointersBase<RewriteBlockPointersPass> {
  using NereidRewriteBlockPointersBase::NereidRewriteBlockPointersBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool any = false;
    WalkResult args = module.walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        any |= isBlockType(type) && !(keepDescriptors && isa<tt::TensorDescType>(type));
      if (auto function = dyn_cast<tt::FuncOp>(op))
        for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
          if (isBlockType(type)) {
            function.emitError("argument ")
                << i << " is a " << type
                << "; pass the base pointer, sizes and strides, and make it in the kernel";
            return WalkResult::interrupt();
          }
      return WalkResult::advance();
    });
    if (args.wasInterrupted())
      return signalPassFailure();
    if (!any)
      return;
    BlockTypes types;
    ConversionTarget target(getContext());
    RewritePatternSet patterns(&getContext());
    patterns
        .add<ConvertMakeTensorPtr, ConvertAdvance, ConvertLoad, ConvertStore, ConvertMakeTensorDesc,
             ConvertDescriptorLoad, ConvertDescriptorStore, ConvertDescriptorReduce,
             ConvertDescriptorGather, ConvertDescriptorScatter, ConvertSelect, ConvertConsumeToken>(
            types, &getContext());
    scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns, target);
    target.markUnknownOpDynamicallyLegal([](Operation *op) {
      return llvm::none_of(op->getOperandTypes(), isBlockType) &&
             llvm::none_of(op->getResultTypes(), isBlockType);
    });
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      return signalPassFailure();
  }
};

} // namespace
} // namespace nereid
