// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses to the user's memory: masks, contiguous and scattered lanes.
//
// Lanes whose mask is false never touch memory. A vector whose lanes are all
// off is skipped by a branch, too: the hardware suppresses the faults of
// masked-off lanes on unmapped pages, but slowly.
//
// A mask is taken apart into its terms (analyseMask). Along the lanes each is
//
//   a bound      start + i < limit: lanes below (limit - start) / step take part. All bounds of
//                an access become one number, which only shortens the fast loop
//   all or none  the same for the whole row: a bound of 0 or "no end"
//   generic      anything else: a vector of i1
//
// From these comes the predicate of the access: a guard, whether any lane takes
// part, and the lanes that do. How the lanes are reached depends on their
// addresses (TileStrides):
//
//   stride along the lanes         load                       store
//   1                              vector                     vector
//   0                              scalar, broadcast          scatter (all to one place)
//   2 to 4                         vectors, shuffled          scatter
//   constant                       gather                     scatter
//   known at run time (linear)     asked whether it is 1      asked whether it is 1
//   unknown                        asked whether the lanes    scatter
//                                  are consecutive
#include "TileEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::tiles {

// What would make an access faster.
static constexpr char besideEachOther[] =
    "data of which neighbouring elements lie side by side is read and written "
    "in vectors",
                      knownStep[] = "a step of 1 that is known at compile time (no argument, or an "
                                    "argument equal to 1) leaves the vectors alone",
                      evenly[] = "addresses made of one base, tl.arange and steps are vectors";

static Value zeroOf(OpBuilder &builder, Location loc, Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// `lhs < rhs` (or another order) where the left side grows along the lanes and
/// the right side does not, or the other way round: true for the lanes below
/// `bound`.
bool TileEmitter::boundOf(arith::CmpIOp compare, ArrayRef<Index> indices, Value &bound) {
  using P = arith::CmpIPredicate;
  unsigned dim = *linearDim(indices);
  Value low = compare.getLhs(), high = compare.getRhs();
  P order = compare.getPredicate();
  if (order == P::sgt || order == P::sge || order == P::ugt || order == P::uge) {
    std::swap(low, high);
    order = order == P::sgt ? P::slt : order == P::sge ? P::sle : order == P::ugt ? P::ult : P::ule;
  }
  if (order != P::slt && order != P::sle && order != P::ult && order != P::ule)
    return false;
  bool isUnsigned = order == P::ult || order == P::ule;
  TileStride grows = strides.get(low, dim), stays = strides.get(high, dim);
  if (!grows.isConstant() || grows.value <= 0 || !stays.isUniform())
    return false;
  unsigned bits = getElementTypeOrSelf(low.getType()).getIntOrFloatBitWidth();
  if (bits < 32)
    return false;
  if (isUnsigned && (bits != 32 || !strides.isNonNegative(low)))
    return false;
  Indices first(indices);
  first[dim] = {Index::Scalar, constant(0)};
  Value from = emit(low, first), to = emit(high, first);
  unsigned depth = std::max(depthOf(from), depthOf(to));
  AtDepth at(*this, depth);
  Type i64 = builder.getI64Type();
  if (bits == 32) {
    from = builder.createOrFold<arith::ExtSIOp>(loc, i64, from);
    to = isUnsigned ? builder.createOrFold<arith::ExtUIOp>(loc, i64, to)
                    : builder.createOrFold<arith::ExtSIOp>(loc, i64, to);
  }
  bound = builder.createOrFold<arith::SubIOp>(loc, to, from);
  int64_t extra = (order == P::sle || order == P::ule ? 1 : 0) + grows.value - 1;
  if (extra)
    bound = builder.createOrFold<arith::AddIOp>(loc, bound, constant(extra));
  if (grows.value != 1)
    bound = arith::DivSIOp::create(builder, loc, bound,
                                   constant(grows.value)); // rounding of negatives is no matter
  recordDepth(bound, depth);
  return true;
}

bool TileEmitter::isLowerLimit(arith::CmpIOp compare, unsigned dim) {
  using P = arith::CmpIPredicate;
  P order = compare.getPredicate();
  bool flipped = order == P::slt || order == P::sle;
  if (!flipped && order != P::sgt && order != P::sge)
    return false;
  Value grows = flipped ? compare.getRhs() : compare.getLhs(),
        stays = flipped ? compare.getLhs() : compare.getRhs();
  TileStride stride = strides.get(grows, dim);
  return stride.isConstant() && stride.value > 0 && strides.get(stays, dim).isUniform() &&
         getElementTypeOrSelf(grows.getType()).getIntOrFloatBitWidth() >= 32;
}

TileEmitter::Mask TileEmitter::analyseMask(Value mask, ArrayRef<Index> indices) {
  Mask result;
  if (!mask)
    return result;
  auto require = [&](Value &slot, Value condition, bool isBound) {
    if (!slot) {
      slot = condition;
      return;
    }
    unsigned depth = std::max(depthOf(slot), depthOf(condition));
    AtDepth at(*this, depth);
    if (isBound)
      slot = arith::MinSIOp::create(builder, loc, slot, condition);
    else if (isa<VectorType>(slot.getType()) == isa<VectorType>(condition.getType()))
      slot = arith::AndIOp::create(builder, loc, slot, condition);
    else
      slot = arith::AndIOp::create(builder, loc, toVector(slot), toVector(condition));
    recordDepth(slot, depth);
  };
  SmallVector<std::pair<Value, Indices>> work = {{mask, Indices(indices)}};
  while (!work.empty()) {
    auto [value, at] = work.pop_back_val();
    auto type = getTile(value);
    if (auto known = TileStrides::getConstant(value); known && *known != 0)
      continue;
    if (type)
      for (int64_t d = 0; d < type.getRank(); ++d)
        if (type.getDimSize(d) == 1 || strides.get(value, d).isUniform())
          at[d] = {Index::Scalar, constant(0)};
    Operation *op = type && !lowering.getPlan().isStored(value) ? value.getDefiningOp() : nullptr;
    auto dim = type ? linearDim(at) : std::nullopt;
    if (auto both = dyn_cast_or_null<arith::AndIOp>(op)) {
      work.emplace_back(both.getLhs(), at);
      work.emplace_back(both.getRhs(), at);
      continue;
    }
    if (auto expand = dyn_cast_or_null<tt::ExpandDimsOp>(op)) {
      at.erase(at.begin() + expand.getAxis());
      work.emplace_back(expand.getSrc(), at);
      continue;
    }
    if (auto broadcast = dyn_cast_or_null<tt::BroadcastOp>(op)) {
      for (auto [d, size] : llvm::enumerate(getTile(broadcast.getSrc()).getShape()))
        if (size == 1)
          at[d] = {Index::Scalar, constant(0)};
      work.emplace_back(broadcast.getSrc(), at);
      continue;
    }
    Value bound;
    if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
        compare && dim && boundOf(compare, at, bound)) {
      require(result.bound, bound, /*isBound=*/true);
      continue;
    }
    // A lower limit holds for all lanes if it holds for the first.
    if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
        compare && dim && fast && isLowerLimit(compare, *dim)) {
      Indices first(at);
      first[*dim] = {Index::Scalar, constant(0)};
      Value holds = emit(value, first);
      if (unsigned depth = depthOf(holds); depth <= fastLevel) {
        AtDepth place(*this, depth);
        bound = arith::SelectOp::create(builder, loc, holds, constant(INT32_MAX), constant(0));
        recordDepth(bound, depth);
        bounds.push_back(bound);
        continue;
      }
    }
    Value condition = emit(value, at);
    if (!isa<VectorType>(condition.getType()) && lanes > 1) {
      // Holds for the whole row or not at all.
      unsigned depth = depthOf(condition);
      AtDepth place(*this, depth);
      bound = arith::SelectOp::create(builder, loc, condition, constant(INT32_MAX), constant(0));
      recordDepth(bound, depth);
      require(result.bound, bound, /*isBound=*/true);
      continue;
    }
    require(result.generic, condition, /*isBound=*/false);
  }
  return result;
}

/// A comparison that grows along some dimensions and shrinks along others holds
/// for all elements if it holds at the corner where it is tightest.
std::optional<Value> TileEmitter::emitCorner(arith::CmpIOp compare) {
  using P = arith::CmpIPredicate;
  P order = compare.getPredicate();
  bool isUnsigned = order == P::ult || order == P::ule || order == P::ugt || order == P::uge;
  if (order == P::eq || order == P::ne)
    return std::nullopt;
  bool flipped = order == P::sgt || order == P::sge || order == P::ugt || order == P::uge;
  Value low = flipped ? compare.getRhs() : compare.getLhs(),
        high = flipped ? compare.getLhs() : compare.getRhs();
  RankedTensorType type = getTile(low);
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  if (bits < 32 || (isUnsigned && (bits != 32 || !strides.isNonNegative(low))))
    return std::nullopt;
  Indices corner(type.getRank());
  for (int64_t d = 0; d < type.getRank(); ++d) {
    TileStride grows = strides.get(low, d), limit = strides.get(high, d);
    if (!grows.isConstant() || !limit.isConstant() || (isUnsigned && !limit.isUniform()))
      return std::nullopt;
    bool last = grows.value > limit.value;
    corner[d] = {Index::Scalar, constant(last ? type.getDimSize(d) - 1 : 0)};
  }
  return emit(compare.getResult(), corner);
}

std::optional<Value> TileEmitter::emitHoldsEverywhere(Value mask) {
  Value result;
  SmallVector<Value> work{mask};
  while (!work.empty()) {
    Value term = work.pop_back_val(), holds;
    if (auto known = TileStrides::getConstant(term)) {
      if (*known == 0)
        return std::nullopt;
      continue;
    }
    Operation *op = getTile(term) ? term.getDefiningOp() : nullptr;
    if (!getTile(term)) {
      holds = lowering.getScalar(builder, term);
    } else if (!op || lowering.getPlan().isStored(term)) {
      return std::nullopt;
    } else if (isa<arith::AndIOp, tt::ExpandDimsOp, tt::BroadcastOp, tt::SplatOp, tt::TransOp>(
                   op)) {
      llvm::append_range(work, op->getOperands());
      continue;
    } else if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
      auto corner = emitCorner(compare);
      if (!corner)
        return std::nullopt;
      holds = *corner;
    } else {
      return std::nullopt;
    }
    result = result ? Value(arith::AndIOp::create(builder, loc, result, holds)) : holds;
  }
  return result;
}

Value TileEmitter::emitExtent(Value mask, unsigned dim) {
  Value result;
  SmallVector<std::pair<Value, unsigned>> work{{mask, dim}};
  while (!work.empty()) {
    auto [value, dim] = work.pop_back_val();
    RankedTensorType type = getTile(value);
    Operation *op = type && !lowering.getPlan().isStored(value) ? value.getDefiningOp() : nullptr;
    if (!op || strides.get(value, dim).isUniform())
      continue;
    if (isa<arith::AndIOp>(op)) {
      for (Value operand : op->getOperands())
        work.emplace_back(operand, dim);
    } else if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
      work.emplace_back(expand.getSrc(), dim < expand.getAxis() ? dim : dim - 1);
    } else if (isa<tt::BroadcastOp>(op)) {
      work.emplace_back(op->getOperand(0), dim);
    } else if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
      Indices at(type.getRank(), Index{Index::Scalar, constant(0)});
      at[dim] = {Index::Linear, constant(0)};
      bool isAlone = true;
      for (int64_t d = 0; d < type.getRank(); ++d)
        isAlone &= d == dim || (strides.get(compare.getLhs(), d).isUniform() &&
                                strides.get(compare.getRhs(), d).isUniform());
      Value bound;
      if (isAlone && boundOf(compare, at, bound))
        result = result ? Value(arith::MinSIOp::create(builder, loc, result, bound)) : bound;
    }
  }
  return result;
}

/// x % n, where x grows evenly along all dimensions and n is the same everywhere,
/// begins anew nowhere if it grows as much as x from the first element to the last:
/// the quotient can only grow, too.
std::optional<Value> TileEmitter::emitHasNoWrap(Value pointers) {
  TileStrides &unwrapped = lowering.getPlan().getUnwrappedStrides();
  Value result;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> work{pointers};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    RankedTensorType type = getTile(value);
    Operation *op = value.getDefiningOp();
    if (!type || !op || isa<tt::LoadOp>(op) || !seen.insert(value).second)
      continue;
    llvm::append_range(work, op->getOperands());
    if (!isa<arith::RemSIOp, arith::RemUIOp>(op))
      continue;
    Value dividend = op->getOperand(0), divisor = op->getOperand(1);
    int64_t growth = 0;
    Indices first, last;
    bool isUniform = true;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      TileStride stride = unwrapped.get(dividend, d);
      if (!unwrapped.get(divisor, d).isUniform() || !stride.isConstant() || stride.value < 0)
        return std::nullopt;
      growth += stride.value * (type.getDimSize(d) - 1);
      isUniform &= stride.isUniform();
      first.push_back({Index::Scalar, constant(0)});
      last.push_back({Index::Scalar, constant(type.getDimSize(d) - 1)});
    }
    if (isUniform)
      continue;
    if (isa<arith::RemUIOp>(op) && !unwrapped.isNonNegative(dividend))
      return std::nullopt;
    Value grows = arith::SubIOp::create(builder, loc, emit(value, last), emit(value, first));
    Value expected = arith::ConstantIntOp::create(builder, loc, grows.getType(), growth);
    Value holds = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, grows, expected);
    result = result ? Value(arith::AndIOp::create(builder, loc, result, holds)) : holds;
  }
  return result;
}

Predicate TileEmitter::predicate(const Mask &mask, Index linear) {
  Predicate result;
  if (mask.bound) {
    if (fast && depthOf(mask.bound) <= fastLevel) {
      bounds.push_back(mask.bound);
    } else {
      Value left = arith::SubIOp::create(builder, loc, mask.bound, linear.value);
      result.guard =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, left, constant(0));
      Value clamped = arith::MinSIOp::create(builder, loc, left, constant(lanes));
      clamped = arith::MaxSIOp::create(builder, loc, clamped, constant(0));
      Value narrow = arith::TruncIOp::create(builder, loc, builder.getI32Type(), clamped);
      auto iota = llvm::to_vector(llvm::seq<int32_t>(0, lanes));
      Value lane = arith::ConstantOp::create(builder, loc, builder.getI32VectorAttr(iota));
      result.lanes =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, lane, toVector(narrow));
    }
  }
  if (mask.generic) {
    Value on = toVector(mask.generic);
    result.lanes = result.lanes ? Value(arith::AndIOp::create(builder, loc, result.lanes, on)) : on;
    result.guard =
        vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR, result.lanes);
  }
  return result;
}

/// Whether all lanes of the fast loop fulfil a choice's condition, whose bound then
/// ends that loop.
bool TileEmitter::isTrueInFastLoop(Value condition, ArrayRef<Index> indices) {
  auto dim = linearDim(indices);
  RankedTensorType type = getTile(condition);
  if (!fast || !dim || !type || strides.get(condition, *dim).isUniform())
    return false;
  Mask mask = analyseMask(condition, indices);
  if (mask.generic || (mask.bound && depthOf(mask.bound) > fastLevel))
    return false;
  if (mask.bound)
    bounds.push_back(mask.bound);
  return true;
}

Value TileEmitter::emitScalarMask(Value mask, ArrayRef<Index> indices) {
  if (!mask)
    return {};
  if (auto known = TileStrides::getConstant(mask); known && *known != 0)
    return {};
  return emit(mask, indices);
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

Value TileEmitter::guarded(Value guard, Value otherwise, llvm::function_ref<Value()> then) {
  if (!guard)
    return then();
  if (!otherwise) {
    auto branch = scf::IfOp::create(builder, loc, guard, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard restore(builder);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    then();
    return {};
  }
  auto branch = scf::IfOp::create(builder, loc, TypeRange(otherwise.getType()), guard,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard restore(builder);
  builder.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(builder, loc, then());
  builder.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(builder, loc, otherwise);
  return branch.getResult(0);
}

Value TileEmitter::loadContiguous(Type storage, Value pointer, const Predicate &predicate,
                                  Value other, bool isVolatile) {
  auto type = VectorType::get({lanes}, storage);
  unsigned bytes = storage.getIntOrFloatBitWidth() / 8;
  if (!predicate.guard && !predicate.lanes)
    return LLVM::LoadOp::create(builder, loc, type, pointer, bytes, isVolatile);
  if (!other)
    other = zeroOf(builder, loc, type);
  return guarded(predicate.guard, other, [&]() -> Value {
    if (!predicate.lanes)
      return LLVM::LoadOp::create(builder, loc, type, pointer, bytes, isVolatile);
    return LLVM::MaskedLoadOp::create(builder, loc, type, pointer, predicate.lanes, other, bytes);
  });
}

static Value allLanes(OpBuilder &builder, Location loc, int64_t lanes) {
  auto type = VectorType::get({lanes}, builder.getI1Type());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, true));
}

static Value toPointers(OpBuilder &builder, Location loc, Value addresses) {
  if (isa<LLVM::LLVMPointerType>(getElementTypeOrSelf(addresses.getType())))
    return addresses;
  int64_t lanes = cast<VectorType>(addresses.getType()).getNumElements();
  auto type = VectorType::get({lanes}, LLVM::LLVMPointerType::get(builder.getContext()));
  return LLVM::IntToPtrOp::create(builder, loc, type, addresses);
}

Value TileEmitter::loadGather(Type storage, Value addresses, const Predicate &predicate,
                              Value other) {
  auto type = VectorType::get({lanes}, storage);
  if (!other)
    other = zeroOf(builder, loc, type);
  Value pointers = toPointers(builder, loc, addresses);
  Value on = predicate.lanes ? predicate.lanes : allLanes(builder, loc, lanes);
  return guarded(predicate.guard, other, [&]() -> Value {
    return LLVM::masked_gather::create(builder, loc, type, pointers, on, ValueRange{other},
                                       storage.getIntOrFloatBitWidth() / 8);
  });
}

void TileEmitter::storeContiguous(Value value, Value pointer, const Predicate &predicate) {
  unsigned bytes = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() / 8;
  guarded(predicate.guard, {}, [&]() -> Value {
    if (predicate.lanes)
      LLVM::MaskedStoreOp::create(builder, loc, value, pointer, predicate.lanes, bytes);
    else
      LLVM::StoreOp::create(builder, loc, value, pointer, bytes);
    return {};
  });
}

void TileEmitter::storeScatter(Value value, Value addresses, const Predicate &predicate) {
  unsigned bytes = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() / 8;
  Value pointers = toPointers(builder, loc, addresses);
  Value on = predicate.lanes ? predicate.lanes : allLanes(builder, loc, lanes);
  guarded(predicate.guard, {}, [&]() -> Value {
    LLVM::masked_scatter::create(builder, loc, value, pointers, on, bytes);
    return {};
  });
}

/// The scalar pointer of the row at element `at` of the lanes' dimension.
Value TileEmitter::rowPointer(Value pointers, ArrayRef<Index> indices, unsigned dim, int64_t at) {
  Indices first(indices);
  first[dim] = {Index::Scalar, constant(at)};
  return emit(pointers, first);
}

/// Bytes from one lane to the next of a row whose stride is known at run time.
Value TileEmitter::byteStride(Value pointers, ArrayRef<Index> indices, unsigned dim) {
  Value first = rowPointer(pointers, indices, dim, 0),
        second = rowPointer(pointers, indices, dim, 1);
  unsigned depth = std::max(depthOf(first), depthOf(second));
  AtDepth at(*this, depth);
  Type i64 = builder.getI64Type();
  Value a = LLVM::PtrToIntOp::create(builder, loc, i64, first),
        b = LLVM::PtrToIntOp::create(builder, loc, i64, second);
  Value stride = arith::SubIOp::create(builder, loc, b, a);
  recordDepth(stride, depth);
  return stride;
}

Value TileEmitter::addressVector(Value first, Value strideBytes) {
  Value lane = indexVector({Index::Linear, constant(0)});
  Value apart = arith::MulIOp::create(builder, loc, lane, toVector(strideBytes));
  return arith::AddIOp::create(builder, loc, toVector(first), apart);
}

/// i1: lane l has l * `apart` more than lane 0. Signed numbers of 32 bits do not overflow.
Value TileEmitter::areConsecutive(Value numbers, int64_t apart) {
  Value first = vector::ExtractOp::create(builder, loc, numbers, 0);
  auto type = cast<VectorType>(numbers.getType());
  Type element = type.getElementType();
  SmallVector<Attribute> steps;
  for (unsigned l = 0; l < lanes; ++l)
    steps.push_back(builder.getIntegerAttr(element, int64_t(l) * apart));
  Value expected = arith::AddIOp::create(
      builder, loc, toVector(first),
      arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, steps)));
  Value equal = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, numbers, expected);
  Value all = vector::ReductionOp::create(builder, loc, vector::CombiningKind::AND, equal);
  if (!element.isInteger(32))
    return all;
  Value most = arith::ConstantIntOp::create(builder, loc, element, INT32_MAX - lanes * apart);
  Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, first, most);
  return arith::AndIOp::create(builder, loc, all, fits);
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

Value TileEmitter::emitScalarLoad(tt::LoadOp load, ArrayRef<Index> indices) {
  Type element = getElementTypeOrSelf(load.getType()), storage = getStorageType(element);
  unsigned bytes = getStorageBytes(element);
  Value pointer = emit(load.getPtr(), indices);
  Value mask = emitScalarMask(maskOf(load), indices);
  auto read = [&]() -> Value {
    return LLVM::LoadOp::create(builder, loc, storage, pointer, bytes, load.getIsVolatile());
  };
  Value result;
  if (mask) {
    Value other = load.getOther() ? toStorage(emit(load.getOther(), indices), element)
                                  : zeroOf(builder, loc, storage);
    result = guarded(mask, other, read);
  } else {
    result = read();
  }
  return fromStorage(result, element);
}

/// Steps between elements, in elements, up to which vectors that cover them all are loaded.
static constexpr int64_t maxShuffledStride = 4;

/// Every `stride`-th element from `pointer` on: as many vectors as the step is long, of which the
/// last ends with the last element, so that nothing behind it is read. What is read between two
/// elements lies in a page of one of them.
Value TileEmitter::loadStrided(Type storage, Value pointer, int64_t stride) {
  auto type = VectorType::get({lanes}, storage);
  unsigned bytes = storage.getIntOrFloatBitWidth() / 8;
  const int64_t n = lanes, end = stride * (n - 1) + 1;
  Value result;
  SmallVector<int64_t> from(n); // lanes of (result, next) that make the new result
  for (int64_t k = 0, done = 0; k < stride; ++k) {
    int64_t start = std::min(k * n, end - n);
    Value next =
        LLVM::LoadOp::create(builder, loc, type, advance(pointer, storage, constant(start)), bytes);
    const int64_t before = done;
    while (done < n && done * stride < start + n)
      ++done;
    for (int64_t l = 0; l < n; ++l)
      from[l] = l < before || l >= done ? l : n + l * stride - start;
    result = vector::ShuffleOp::create(builder, loc, result ? result : next, next, from);
  }
  return result;
}

/// Lanes of which nothing is known: one vector if they turn out to lie side by side, else gathered.
/// Numbers of elements from one address are half as wide as addresses, where the program has them
/// so.
Value TileEmitter::loadUnrelated(tt::LoadOp load, ArrayRef<Index> indices, unsigned dim,
                                 const Predicate &on, Value other) {
  Type element = getElementTypeOrSelf(load.getType()), storage = getStorageType(element);
  auto type = VectorType::get({lanes}, storage);
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  Value consecutive, addresses, base, offsets;
  auto sum = load.getPtr().getDefiningOp<tt::AddPtrOp>();
  if (sum && !lowering.getPlan().isStored(sum.getResult()) &&
      getElementTypeOrSelf(sum.getOffset().getType()).isInteger(32) && getTile(sum.getPtr()) &&
      strides.get(sum.getPtr(), dim).isUniform()) {
    base = rowPointer(sum.getPtr(), indices, dim, 0);
    offsets = toVector(emit(sum.getOffset(), indices));
    consecutive = areConsecutive(offsets, 1);
  } else {
    addresses = toVector(emit(load.getPtr(), indices));
    consecutive = areConsecutive(addresses, getStorageBytes(element));
  }
  auto branch = scf::IfOp::create(builder, loc, TypeRange(type), consecutive, true);
  OpBuilder::InsertionGuard restore(builder);
  builder.setInsertionPointToEnd(branch.thenBlock());
  Value pointer;
  if (base) {
    Value offset = vector::ExtractOp::create(builder, loc, offsets, 0);
    offset = arith::ExtSIOp::create(builder, loc, i64, offset);
    pointer = LLVM::GEPOp::create(builder, loc, pointerType, storage, base, ValueRange{offset});
  } else {
    Value address = vector::ExtractOp::create(builder, loc, addresses, 0);
    pointer = LLVM::IntToPtrOp::create(builder, loc, pointerType, address);
  }
  scf::YieldOp::create(builder, loc,
                       loadContiguous(storage, pointer, on, other, load.getIsVolatile()));
  builder.setInsertionPointToEnd(branch.elseBlock());
  if (base) {
    Value wide = arith::ExtSIOp::create(builder, loc, VectorType::get({lanes}, i64), offsets);
    Type pointers = VectorType::get({lanes}, pointerType);
    addresses = LLVM::GEPOp::create(builder, loc, pointers, storage, base, ValueRange{wide});
  }
  scf::YieldOp::create(builder, loc, loadGather(storage, addresses, on, other));
  return branch.getResult(0);
}

Value TileEmitter::emitLoad(tt::LoadOp load, ArrayRef<Index> indices) {
  if (!isVector(indices))
    return emitScalarLoad(load, indices);
  Type element = getElementTypeOrSelf(load.getType()), storage = getStorageType(element);
  int64_t bytes = getStorageBytes(element);
  Value pointers = load.getPtr();
  auto dim = linearDim(indices);
  Value other;
  if (load.getOther())
    other = toStorage(toVector(emit(load.getOther(), indices)), element);

  if (!dim) {
    // Lanes at arbitrary places of the tile.
    Predicate on;
    if (Value mask = maskOf(load)) {
      on.lanes = toVector(emit(mask, indices));
      on.guard = vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR, on.lanes);
    }
    lowering.explain(load, "load: element by element, as its elements are used in another order");
    return fromStorage(loadGather(storage, toVector(emit(pointers, indices)), on, other), element);
  }

  Index linear = indices[*dim];
  TileStride stride = strides.get(pointers, *dim);
  Predicate on = predicate(analyseMask(maskOf(load), indices), linear);
  Value result;
  if (stride.isConstant(1)) {
    lowering.explain(load, "load: vectors of " + Twine(lanes) + " elements, read where they lie");
    Value pointer = advance(rowPointer(pointers, indices, *dim, 0), storage, linear.value);
    result = loadContiguous(storage, pointer, on, other, load.getIsVolatile());
  } else if (stride.isUniform()) {
    // One element for all lanes whose mask holds.
    lowering.explain(load, "load: one element for all of a vector");
    Value pointer = rowPointer(pointers, indices, *dim, 0);
    Value off = other ? other : zeroOf(builder, loc, VectorType::get({lanes}, storage));
    result = guarded(on.guard, off, [&]() -> Value {
      Value one = LLVM::LoadOp::create(builder, loc, storage, pointer, bytes, load.getIsVolatile());
      Value all = toVector(one);
      return on.lanes ? Value(arith::SelectOp::create(builder, loc, on.lanes, all, off)) : all;
    });
  } else if (stride.kind != TileStride::Unknown) {
    Value first = rowPointer(pointers, indices, *dim, 0);
    Value apart =
        stride.isConstant() ? constant(stride.value * bytes) : byteStride(pointers, indices, *dim);
    Value offset = arith::MulIOp::create(builder, loc, linear.value, apart);
    Value pointer = advance(first, builder.getI8Type(), offset);
    auto gather = [&]() { return loadGather(storage, addressVector(pointer, apart), on, other); };
    if (stride.isConstant() && stride.value >= 2 && stride.value <= maxShuffledStride &&
        lanes >= maxShuffledStride && !on.lanes && !on.guard && !load.getIsVolatile()) {
      lowering.explain(load,
                       "load: every element number " + Twine(stride.value) +
                           ", shuffled out of vectors that cover them",
                       besideEachOther);
      result = loadStrided(storage, pointer, stride.value);
    } else if (stride.isConstant()) {
      lowering.explain(load,
                       "load: element by element, as neighbouring elements lie " +
                           Twine(stride.value) + " apart",
                       besideEachOther);
      result = gather();
    } else {
      lowering.explain(load,
                       "load: vectors if the step between elements turns out to be 1 at run time, "
                       "else element by element",
                       knownStep);
      Value isOne;
      {
        AtDepth at(*this, depthOf(apart));
        isOne =
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, apart, constant(bytes));
      }
      auto branch = scf::IfOp::create(builder, loc, TypeRange(VectorType::get({lanes}, storage)),
                                      isOne, true);
      OpBuilder::InsertionGuard restore(builder);
      builder.setInsertionPointToEnd(branch.thenBlock());
      scf::YieldOp::create(builder, loc,
                           loadContiguous(storage, pointer, on, other, load.getIsVolatile()));
      builder.setInsertionPointToEnd(branch.elseBlock());
      scf::YieldOp::create(builder, loc, gather());
      result = branch.getResult(0);
    }
  } else {
    lowering.explain(load,
                     "load: element by element unless a vector's addresses turn out to be "
                     "consecutive, as nothing is known of them",
                     evenly);
    result = loadUnrelated(load, indices, *dim, on, other);
  }
  return fromStorage(result, element);
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

void TileEmitter::emitMemoryStore(tt::StoreOp store, Value value, ArrayRef<Index> indices) {
  Value pointers = store.getPtr();
  Type element = getElementTypeOrSelf(store.getValue().getType()),
       storage = getStorageType(element);
  int64_t bytes = getStorageBytes(element);
  auto dim = linearDim(indices);
  if (!dim) {
    Value pointer = emit(pointers, indices);
    Value mask = emitScalarMask(store.getMask(), indices);
    Value stored = toStorage(value, element);
    guarded(mask, {}, [&]() -> Value {
      LLVM::StoreOp::create(builder, loc, stored, pointer, bytes);
      return {};
    });
    return;
  }
  Index linear = indices[*dim];
  Mask mask = analyseMask(store.getMask(), indices);
  if (fast && mask.bound && depthOf(mask.bound) <= fastLevel)
    storeBound = mask.bound;
  Predicate on = predicate(mask, linear);
  Value stored = toStorage(toVector(value), element);
  TileStride stride = strides.get(pointers, *dim);
  if (stride.isConstant(1)) {
    lowering.explain(store, "store: vectors of " + Twine(lanes) + " elements");
    storeContiguous(stored, advance(rowPointer(pointers, indices, *dim, 0), storage, linear.value),
                    on);
    return;
  }
  if (stride.kind == TileStride::Unknown || stride.isUniform()) {
    lowering.explain(store, "store: element by element, as nothing is known of its addresses",
                     evenly);
    storeScatter(stored, toVector(emit(pointers, indices)), on);
    return;
  }
  Value first = rowPointer(pointers, indices, *dim, 0);
  Value apart =
      stride.isConstant() ? constant(stride.value * bytes) : byteStride(pointers, indices, *dim);
  Value offset = arith::MulIOp::create(builder, loc, linear.value, apart);
  Value pointer = advance(first, builder.getI8Type(), offset);
  if (stride.isConstant()) {
    lowering.explain(store,
                     "store: element by element, as neighbouring elements lie " +
                         Twine(stride.value) + " apart",
                     besideEachOther);
    storeScatter(stored, addressVector(pointer, apart), on);
    return;
  }
  lowering.explain(store,
                   "store: vectors if the step between elements turns out to be 1 at run time, "
                   "else element by element",
                   knownStep);
  Value isOne =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, apart, constant(bytes));
  auto branch = scf::IfOp::create(builder, loc, isOne, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard restore(builder);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  storeContiguous(stored, pointer, on);
  builder.setInsertionPoint(branch.elseBlock()->getTerminator());
  storeScatter(stored, addressVector(pointer, apart), on);
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

std::pair<Value, Value> TileEmitter::emitRange(Value pointers) {
  auto type = getTile(pointers);
  Type pointee = cast<tt::PointerType>(type.getElementType()).getPointeeType();
  int64_t bytes = getStorageBytes(pointee);
  Indices origin(type.getRank(), Index{Index::Scalar, constant(0)});
  Value start =
      LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), emit(pointers, origin));
  Value low = start, high = arith::AddIOp::create(builder, loc, start, constant(bytes));
  for (int64_t d = 0; d < type.getRank(); ++d) {
    TileStride stride = strides.get(pointers, d);
    if (stride.isUniform())
      continue;
    Value step =
        stride.isConstant() ? constant(stride.value * bytes) : byteStride(pointers, origin, d);
    Value extent = arith::MulIOp::create(builder, loc, step, constant(type.getDimSize(d) - 1));
    low = arith::AddIOp::create(builder, loc, low,
                                arith::MinSIOp::create(builder, loc, extent, constant(0)));
    high = arith::AddIOp::create(builder, loc, high,
                                 arith::MaxSIOp::create(builder, loc, extent, constant(0)));
  }
  return {low, high};
}

Value TileEmitter::emitIsInjective(Value pointers) {
  auto type = getTile(pointers);
  Type pointee = cast<tt::PointerType>(type.getElementType()).getPointeeType();
  int64_t bytes = getStorageBytes(pointee);
  Indices origin(type.getRank(), Index{Index::Scalar, constant(0)});
  // Each dimension must step over all that the inner ones cover.
  Value covered = constant(0), result;
  for (int64_t d = type.getRank(); d-- > 0;) {
    if (type.getDimSize(d) == 1)
      continue;
    TileStride stride = strides.get(pointers, d);
    Value step = stride.isConstant() ? constant(std::abs(stride.value) * bytes)
                                     : byteStride(pointers, origin, d);
    if (!stride.isConstant()) {
      Value negated = arith::SubIOp::create(builder, loc, constant(0), step);
      step = arith::MaxSIOp::create(builder, loc, step, negated);
    }
    auto known = getConstantIntValue(step), inner = getConstantIntValue(covered);
    if (!(known && inner && *known > *inner)) {
      Value apart = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, step, covered);
      result = result ? Value(arith::AndIOp::create(builder, loc, result, apart)) : apart;
    }
    covered = add(covered, mul(step, type.getDimSize(d) - 1));
  }
  return result;
}

} // namespace nereid::tiles
