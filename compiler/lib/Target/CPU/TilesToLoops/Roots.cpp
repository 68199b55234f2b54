// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loop nests that fill buffers and write memory.
//
// Each function here is one kind of root: it opens the loops over the tile's
// shape, lets the emitter compute the elements, and stores them in a buffer or
// in memory. The dimension of the lanes is chosen for what is read
// (chooseVectorDim); where that is another one than the buffer's innermost,
// squares of registers are transposed on the way (Transpose.h).
#include "TileEmitter.h"
#include "Transpose.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::tiles {

//===----------------------------------------------------------------------===//
// Filling buffers
//===----------------------------------------------------------------------===//

static int innermostDim(ArrayRef<int64_t> shape) {
  for (int d = shape.size(); d-- > 0;)
    if (shape[d] != 1)
      return d;
  return int(shape.size()) - 1;
}

void FunctionLowering::storeTile(OpBuilder &builder, Operation *anchor, Value value, Buffer *buffer,
                                 bool throughSelf) {
  RankedTensorType type = getTile(value);
  Location loc = value.getDefiningOp() ? value.getLoc() : anchor->getLoc();
  TileEmitter emitter(*this, builder, loc, anchor);
  if (throughSelf)
    emitter.computeDirectly(value);
  unsigned maxLanes = chooseLanes(*this, type.getElementType());
  if (auto load = value.getDefiningOp<tt::LoadOp>(); load && throughSelf && load.getIsVolatile())
    maxLanes = 1; // one access per element
  unsigned inner = innermostDim(type.getShape());
  unsigned dim = chooseVectorDim(*this, type, value, throughSelf);
  if (dim != inner &&
      transposedNest(
          emitter, type.getShape(), dim, inner, maxLanes,
          [&](ArrayRef<Index> at) { return emitter.emitVector(value, at); },
          [&](Value lanes, ArrayRef<Index> at) { emitter.storeToBuffer(buffer, lanes, at); }))
    return;
  emitter.nest(type.getShape(), dim, maxLanes, [&](ArrayRef<Index> at) {
    emitter.storeToBuffer(buffer, emitter.emit(value, at), at);
  });
  buffer->touches.push_back(anchor);
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

void FunctionLowering::emitStoreNest(OpBuilder &builder, tt::StoreOp store) {
  auto type = getTile(store.getValue());
  TileEmitter emitter(*this, builder, store.getLoc(), store);
  unsigned dim =
      chooseVectorDim(*this, type, store->getOperands(), /*throughSelf=*/false, store.getPtr());
  emitter.nest(type.getShape(), dim, chooseLanes(*this, type.getElementType()),
               [&](ArrayRef<Index> at) {
                 Value value = emitter.emit(store.getValue(), at);
                 emitter.emitMemoryStore(store, value, at);
               });
}

/// Tiles of pointers to elements of one size, all of whose steps are known and equal.
static bool haveSameStrides(TilePlan &plan, Value a, Value b) {
  RankedTensorType type = getTile(a);
  auto bytes = [](Value pointers) {
    Type element = getTile(pointers).getElementType();
    return getStorageBytes(cast<tt::PointerType>(element).getPointeeType());
  };
  if (getTile(b).getShape() != type.getShape() || bytes(a) != bytes(b))
    return false;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    TileStride x = plan.getStrides().get(a, d), y = plan.getStrides().get(b, d);
    if (type.getDimSize(d) > 1 && !(x.isConstant() && y.isConstant() && x.value == y.value))
      return false;
  }
  return true;
}

/// A tile is read whole before any of it is written. Loads may run inside the
/// store's loops when each element is read before it, and only it, is written:
/// the same addresses in the same place, or addresses out of the store's range.
/// Where that is not known, the code asks at run time.
LogicalResult FunctionLowering::lowerStore(tt::StoreOp store) {
  OpBuilder builder(store);
  SmallVector<tt::LoadOp> loads = plan.getFusedLoads(store);
  if (loads.empty()) {
    emitStoreNest(builder, store);
    return success();
  }
  llvm::sort(loads, [](tt::LoadOp a, tt::LoadOp b) { return a->isBeforeInBlock(b); });
  DenseSet<Operation *> displaced;
  for (Value operand : store->getOperands())
    plan.visitTree(operand, /*throughSelf=*/false, [&](const TreeAccess &access) {
      if (!access.load)
        return;
      auto shape = getTile(access.value).getShape();
      if (shape != getTile(store.getPtr()).getShape())
        displaced.insert(access.load);
      for (auto [d, from] : llvm::enumerate(access.dims))
        if (from != int(d) && shape[d] != 1)
          displaced.insert(access.load);
    });

  Value safe;
  auto require = [&](Value condition) {
    if (condition)
      safe =
          safe ? Value(arith::AndIOp::create(builder, store.getLoc(), safe, condition)) : condition;
  };
  {
    TileEmitter ranges(*this, builder, store.getLoc(), store);
    std::optional<std::pair<Value, Value>> target;
    bool injective = false;
    SmallVector<Value> checked;
    for (tt::LoadOp load : loads) {
      if (load.getPtr() == store.getPtr() && !displaced.contains(load)) {
        if (!injective)
          require(ranges.emitIsInjective(store.getPtr()));
        injective = true;
        continue;
      }
      if (llvm::is_contained(checked, load.getPtr()))
        continue;
      checked.push_back(load.getPtr());
      if (!target)
        target = ranges.emitRange(store.getPtr());
      auto [low, high] = ranges.emitRange(load.getPtr());
      Value before = arith::CmpIOp::create(builder, store.getLoc(), arith::CmpIPredicate::ule, high,
                                           target->first);
      Value after = arith::CmpIOp::create(builder, store.getLoc(), arith::CmpIPredicate::ule,
                                          target->second, low);
      Value apart = arith::OrIOp::create(builder, store.getLoc(), before, after);
      if (!displaced.contains(load) && haveSameStrides(plan, store.getPtr(), load.getPtr())) {
        // In place, by another argument.
        if (!injective)
          require(ranges.emitIsInjective(store.getPtr()));
        injective = true;
        Value same = arith::CmpIOp::create(builder, store.getLoc(), arith::CmpIPredicate::eq, low,
                                           target->first);
        apart = arith::OrIOp::create(builder, store.getLoc(), apart, same);
      }
      require(apart);
    }
  }
  if (!safe) {
    emitStoreNest(builder, store);
    return success();
  }
  auto branch = scf::IfOp::create(builder, store.getLoc(), safe, /*withElseRegion=*/true);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  emitStoreNest(builder, store);
  builder.setInsertionPoint(branch.elseBlock()->getTerminator());
  for (tt::LoadOp load : loads) {
    Buffer *buffer = createBuffer(getTile(load.getResult()), store->getBlock());
    buffer->touches.push_back(store);
    storeTile(builder, store, load.getResult(), buffer, /*throughSelf=*/true);
    bind(load.getResult(), buffer);
  }
  emitStoreNest(builder, store);
  for (tt::LoadOp load : loads)
    unbind(load.getResult());
  return success();
}

//===----------------------------------------------------------------------===//
// Shape operations that need a buffer
//===----------------------------------------------------------------------===//

void FunctionLowering::lowerUnsplat(tt::UnsplatOp unsplat) {
  OpBuilder builder(unsplat);
  TileEmitter emitter(*this, builder, unsplat.getLoc(), unsplat);
  Indices first(getTile(unsplat.getSrc()).getRank(), Index{Index::Scalar, emitter.constant(0)});
  Value element = emitter.emit(unsplat.getSrc(), first);
  replaceScalar(builder, unsplat.getResult(), element);
}

void FunctionLowering::replaceScalar(OpBuilder &builder, Value result, Value element) {
  if (element.getType() != result.getType())
    element =
        UnrealizedConversionCastOp::create(builder, result.getLoc(), result.getType(), element)
            .getResult(0);
  result.replaceAllUsesWith(element);
}

void FunctionLowering::lowerJoin(tt::JoinOp join) {
  OpBuilder builder(join);
  RankedTensorType half = getTile(join.getLhs());
  Buffer *buffer = createBuffer(getTile(join.getResult()), join->getBlock());
  TileEmitter emitter(*this, builder, join.getLoc(), join);
  unsigned inner = innermostDim(half.getShape());
  emitter.nest(half.getShape(), inner, chooseLanes(*this, half.getElementType()),
               [&](ArrayRef<Index> at) {
                 Value left = emitter.emitVector(join.getLhs(), at),
                       right = emitter.emitVector(join.getRhs(), at);
                 left = emitter.toStorage(left, half.getElementType());
                 right = emitter.toStorage(right, half.getElementType());
                 Type storage = getStorageType(half.getElementType());
                 Value offset = emitter.mul(emitter.flatten(half.getShape(), at), 2);
                 if (isa<VectorType>(left.getType())) {
                   Value both = vector::InterleaveOp::create(builder, join.getLoc(), left, right);
                   emitter.storeAt(buffer->pointer, storage, offset, both);
                 } else {
                   emitter.storeAt(buffer->pointer, storage, offset, left);
                   emitter.storeAt(buffer->pointer, storage, emitter.lane(1, offset), right);
                 }
               });
  buffer->touches.push_back(join);
  bind(join.getResult(), buffer);
}

void FunctionLowering::lowerCat(tt::CatOp cat) {
  OpBuilder builder(cat);
  RankedTensorType half = getTile(cat.getLhs());
  Buffer *buffer = createBuffer(getTile(cat.getResult()), cat->getBlock());
  buffer->touches.push_back(cat);
  for (Value part : {cat.getLhs(), cat.getRhs()}) {
    TileEmitter emitter(*this, builder, cat.getLoc(), cat);
    int64_t start = part == cat.getRhs() && part != cat.getLhs() ? half.getNumElements() : 0;
    auto fill = [&](int64_t from) {
      emitter.nest(half.getShape(), innermostDim(half.getShape()),
                   chooseLanes(*this, half.getElementType()), [&](ArrayRef<Index> at) {
                     Value offset = emitter.lane(from, emitter.flatten(half.getShape(), at));
                     emitter.storeAt(buffer->pointer, half.getElementType(), offset,
                                     emitter.emitVector(part, at));
                   });
    };
    fill(start);
    if (cat.getLhs() == cat.getRhs()) {
      fill(half.getNumElements());
      break;
    }
  }
  bind(cat.getResult(), buffer);
}

void FunctionLowering::lowerGather(tt::GatherOp gather) {
  OpBuilder builder(gather);
  RankedTensorType type = getTile(gather.getResult());
  Buffer *buffer = createBuffer(type, gather->getBlock());
  TileEmitter emitter(*this, builder, gather.getLoc(), gather);
  unsigned dim = chooseVectorDim(*this, type, gather.getIndices(), /*throughSelf=*/false);
  emitter.nest(type.getShape(), dim, chooseLanes(*this, type.getElementType()),
               [&](ArrayRef<Index> at) {
                 emitter.storeToBuffer(buffer, emitter.emitGathered(gather, at), at);
               });
  bind(gather.getResult(), buffer);
}

/// Counts one element after the other: equal elements meet in one bin.
void FunctionLowering::lowerHistogram(tt::HistogramOp histogram) {
  OpBuilder builder(histogram);
  Location loc = histogram.getLoc();
  RankedTensorType source = getTile(histogram.getSrc()), type = getTile(histogram.getResult());
  Buffer *buffer = createBuffer(type, histogram->getBlock());
  Type bin = type.getElementType();
  int64_t bytes = getStorageBytes(bin);
  {
    TileEmitter clear(*this, builder, loc, histogram);
    clear.nest(type.getShape(), 0, chooseLanes(*this, bin), [&](ArrayRef<Index> at) {
      Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(bin));
      clear.storeToBuffer(buffer, zero, at);
    });
  }
  TileEmitter emitter(*this, builder, loc, histogram);
  emitter.nest(source.getShape(), 0, 1, [&](ArrayRef<Index> at) {
    Value element = emitter.emit(histogram.getSrc(), at);
    Value wide = element.getType().isInteger(64)
                     ? element
                     : Value(arith::ExtSIOp::create(builder, loc, builder.getI64Type(), element));
    Value counts = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, wide,
                                         emitter.constant(type.getNumElements()));
    if (Value mask = emitter.emitScalarMask(histogram.getMask(), at))
      counts = arith::AndIOp::create(builder, loc, counts, mask);
    auto branch = scf::IfOp::create(builder, loc, counts, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    Value place =
        LLVM::GEPOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), bin,
                            buffer->pointer, ValueRange{wide});
    Value old = LLVM::LoadOp::create(builder, loc, bin, place, bytes);
    Value one = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(bin, 1));
    LLVM::StoreOp::create(builder, loc, arith::AddIOp::create(builder, loc, old, one), place,
                          bytes);
  });
  bind(histogram.getResult(), buffer);
}

} // namespace nereid::tiles
