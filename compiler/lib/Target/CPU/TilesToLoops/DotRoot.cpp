// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tl.dot: operands are packed on their way from memory or, where they lie dense
// and no mask cuts them, read in place; the accumulator is updated in place, the
// micro-kernel does the rest.
#include "KeptOperands.h"
#include "TileEmitter.h"
#include "Transpose.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace nereid::tiles {

/// Converts an element to the type of the packed operand.
static Value convertForDot(TileEmitter &emitter, Value element, Type from, Type packed) {
  if (from == packed)
    return element;
  if (isa<FloatType>(packed))
    return emitter.emitFloatCast(element, from, packed, /*towardsZero=*/false);
  Type type = packed;
  if (auto vector = dyn_cast<VectorType>(element.getType()))
    type = VectorType::get(vector.getShape(), packed);
  return arith::ExtSIOp::create(emitter.builder, emitter.loc, type, element);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// A load whose elements only this dot reads, where it stands: its mask and its
/// addresses may be looked at as a whole.
static tt::LoadOp loadFor(FunctionLowering &lowering, Value operand) {
  auto load = operand.getDefiningOp<tt::LoadOp>();
  if (!load || lowering.lookup(operand) || load.getIsVolatile() ||
      getTile(operand).getRank() != 2 ||
      getTile(operand).getElementType().getIntOrFloatBitWidth() < 16)
    return {};
  return load;
}

/// Writes the operand to `to` in packed form. Where all masks of its load hold,
/// rows are straight code without any.
void FunctionLowering::packOperand(OpBuilder &builder, const cpu::DotLayout &layout,
                                   const Packing &packing, Value to) {
  const Value operand = packing.operand;
  RankedTensorType type = getTile(operand);
  Location loc = operand.getDefiningOp() ? operand.getLoc() : packing.anchor->getLoc();
  unsigned rank = type.getRank(), row = rank - 2, column = rank - 1;
  Type element = type.getElementType(), target = packing.element;
  int64_t matrix = packing.isB ? layout.bElements() : layout.aElements();
  // A run of up to 16 columns is contiguous in either operand.
  unsigned lanes = std::min(16u, chooseLanes(*this, target));
  unsigned dim =
      packing.byColumns ? row : chooseVectorDim(*this, type, operand, /*throughSelf=*/false);

  auto emitNest = [&](TileEmitter &emitter, unsigned dim) {
    auto place = [&](ArrayRef<Index> at) -> Value {
      Value offset;
      if (packing.byColumns)
        offset = emitter.add(emitter.mul(at[column].value, layout.m), at[row].value);
      else if (packing.isB)
        offset = cpu::emitBOffset(builder, loc, layout, at[row].value, at[column].value);
      else
        offset = emitter.add(emitter.mul(at[row].value, layout.lda), at[column].value);
      if (rank == 3)
        offset = emitter.addHere(offset, emitter.mul(at[0].value, matrix));
      return offset;
    };
    auto read = [&](ArrayRef<Index> at) {
      return convertForDot(emitter, emitter.emitVector(operand, at), element, target);
    };
    auto write = [&](Value value, ArrayRef<Index> at) {
      emitter.storeAt(to, target, place(at), value);
    };
    if (dim == row && !packing.byColumns &&
        transposedNest(emitter, type.getShape(), row, column, lanes, read, write))
      return;
    emitter.nest(type.getShape(), packing.byColumns ? row : column, lanes,
                 [&](ArrayRef<Index> at) { write(read(at), at); });
  };

  auto emitMasked = [&](bool isCut) {
    TileEmitter emitter(*this, builder, loc, packing.anchor);
    // Most rows of a large tile are whole at an edge, too.
    if (isCut && type.getNumElements() <= 4096)
      emitter.evaluateMasks();
    emitNest(emitter, dim);
  };
  auto emitWhole = [&] {
    TileEmitter inside(*this, builder, loc, packing.anchor, packing.unwrapped);
    inside.assumeMaskHolds(operand.getDefiningOp<tt::LoadOp>());
    unsigned dense = packing.dense < 0 ? dim : unsigned(packing.dense);
    inside.unrollUpTo(dense == row && !packing.byColumns ? 1 : 4);
    emitNest(inside, dense);
  };
  if (packing.masks == Packing::Whole)
    return emitWhole();
  if (packing.masks != Packing::Asked)
    return emitMasked(packing.masks == Packing::Cut);
  auto branch = scf::IfOp::create(builder, loc, packing.everywhere, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard restore(builder);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  emitWhole();
  builder.setInsertionPoint(branch.elseBlock()->getTerminator());
  emitMasked(/*isCut=*/true);
}

/// Where the elements of a load lie when its mask holds for all of them: the
/// address of the first and the distance along the dimension that is not dense.
FunctionLowering::Place FunctionLowering::placeOf(OpBuilder &builder, tt::LoadOp load,
                                                  bool unwrapped) {
  TileStrides &strides = unwrapped ? plan.getUnwrappedStrides() : plan.getStrides();
  TileStride stride[2] = {strides.get(load.getPtr(), 0), strides.get(load.getPtr(), 1)};
  Place place;
  place.dense = stride[1].isConstant(1) ? 1 : stride[0].isConstant(1) ? 0 : -1;
  if (place.dense < 0)
    return place;
  TileStride apart = stride[1 - place.dense];
  if (apart.kind == TileStride::Unknown || apart.isUniform()) {
    place.dense = -1;
    return place;
  }
  Location loc = load.getLoc();
  TileEmitter emitter(*this, builder, loc, load, unwrapped);
  int64_t bytes = getStorageBytes(getTile(load.getResult()).getElementType());
  Indices origin(2, Index{Index::Scalar, emitter.constant(0)});
  place.first = emitter.emit(load.getPtr(), origin);
  if (apart.isConstant()) {
    place.elements = emitter.constant(apart.value);
    place.bytes = emitter.constant(apart.value * bytes);
    return place;
  }
  Indices second(origin);
  second[1 - place.dense].value = emitter.constant(1);
  Type i64 = builder.getI64Type();
  Value from = LLVM::PtrToIntOp::create(builder, loc, i64, place.first);
  Value to = LLVM::PtrToIntOp::create(builder, loc, i64, emitter.emit(load.getPtr(), second));
  place.bytes = arith::SubIOp::create(builder, loc, to, from);
  place.elements = arith::ShRSIOp::create(builder, loc, place.bytes,
                                          emitter.constant(llvm::Log2_64(uint64_t(bytes))));
  return place;
}

/// What the next round of the loop will load, if its addresses go on as they did
/// from the round before to this one.
cpu::DotPrefetch FunctionLowering::guessNext(OpBuilder &builder, tt::LoadOp load, scf::ForOp loop,
                                             const Place &place, bool isB) {
  Location loc = load.getLoc();
  Type i64 = builder.getI64Type();
  RankedTensorType type = getTile(load.getResult());
  int64_t bytes = getStorageBytes(type.getElementType());
  // In a cell of its own: where the previous round began.
  Buffer *cell = createBuffer(i64, 1, loop->getBlock());
  cell->touches.push_back(loop);
  Value now = LLVM::PtrToIntOp::create(builder, loc, i64, place.first);
  Value before = LLVM::LoadOp::create(builder, loc, i64, cell->pointer, 8);
  LLVM::StoreOp::create(builder, loc, now, cell->pointer, 8);
  cpu::DotPrefetch next;
  next.base =
      LLVM::GEPOp::create(builder, loc, place.first.getType(), builder.getI8Type(), place.first,
                          ValueRange{arith::SubIOp::create(builder, loc, now, before).getResult()});
  next.stride = place.bytes;
  next.rows = type.getDimSize(1 - place.dense);
  next.lines = std::max<int64_t>(1, type.getDimSize(place.dense) * bytes / 64);
  if (isB)
    next.perColumn = place.dense == 1
                         ? Value(arith::ConstantIntOp::create(builder, loc, i64, bytes))
                         : place.bytes;
  return next;
}

/// Decides where the micro-kernel finds one operand. One that does not change with
/// the loop is packed before it; one that lies dense and whole in memory may be read
/// there; one that programs share may be kept. The others are packed on the spot.
std::string FunctionLowering::placeOperand(OpBuilder &builder, tt::DotOp dot, bool isB,
                                           const cpu::DotLayout &layout, int64_t batch,
                                           cpu::DotOperands &operands) {
  auto became = [&](const Twine &what) { return (Twine(isB ? "B " : "A ") + what).str(); };
  Location loc = dot.getLoc();
  Type i64 = builder.getI64Type();
  Value operand = isB ? dot.getB() : dot.getA();
  Type packedType = isB ? layout.packedB : layout.packedA;
  Value &pointer = isB ? operands.b : operands.a;
  Buffer *stored = lookup(operand);
  bool plain =
      isB ? layout.numPanels == 1 && layout.panelWidth == layout.n : layout.lda == layout.k;
  if (stored && plain && stored->element == packedType) {
    stored->touches.push_back(dot);
    pointer = stored->pointer;
    return became("read from scratch memory, where it was made");
  }
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, i64, value);
  };
  auto setColumns = [&] {
    operands.aRow = constant(1);
    operands.aStep = constant(layout.m);
  };
  Operation *anchor = dot;
  Block *home = operand.getParentBlock();
  if (Operation *ancestor = home->findAncestorOpInBlock(*dot); ancestor && ancestor != dot)
    anchor = ancestor;
  PackKey key{operand, {packedType, isB ? layout.panelWidth : -layout.lda}};
  if (auto it = packs.find(key); it != packs.end()) {
    Pack &pack = it->second;
    Operation *here = pack.anchor->getBlock()->findAncestorOpInBlock(*dot);
    if (here && (pack.anchor == anchor || pack.anchor->isBeforeInBlock(here))) {
      pack.buffer->touches.push_back(dot);
      pointer = pack.buffer->pointer;
      if (pack.byColumns)
        setColumns();
      return became("packed for another product");
    }
  }

  tt::LoadOp load = loadFor(*this, operand);
  OpBuilder before(anchor);
  Packing packing{anchor, operand, isB, /*byColumns=*/false, packedType, Packing::Unknown,
                  {},     false,   -1};
  Place place;
  if (load) {
    TileEmitter masks(*this, before, loc, anchor);
    std::optional<Value> everywhere =
        load.getMask() ? masks.emitHoldsEverywhere(load.getMask()) : Value();
    if (anchor == dot)
      place = placeOf(builder, load, /*unwrapped=*/false);
    if (anchor == dot && place.dense < 0 && everywhere)
      if (auto noWrap = masks.emitHasNoWrap(load.getPtr()); noWrap && *noWrap) {
        place = placeOf(builder, load, /*unwrapped=*/true);
        packing.unwrapped = place.dense >= 0;
        if (packing.unwrapped)
          everywhere = *everywhere
                           ? Value(arith::AndIOp::create(builder, loc, *everywhere, *noWrap))
                           : *noWrap;
      }
    if (everywhere) {
      packing.masks = *everywhere ? Packing::Asked : Packing::Whole;
      packing.everywhere = *everywhere;
    }
  }
  packing.dense = place.dense;
  packing.byColumns = !isB && place.dense == 0 && !layout.pairs;
  const bool isKnown = packing.masks != Packing::Unknown;
  const bool inPlace = isKnown && (place.dense == 1 || packing.byColumns) &&
                       getTile(operand).getElementType() == packedType &&
                       mayReadInPlace(layout, isB, packing.byColumns);
  // Reading rows in place serves A as well as a copy does.
  const bool keep = isKnown && place.dense >= 0 && (isB || !inPlace) && kept->mayKeep(dot, isB);
  const int64_t elements = batch * (isB ? layout.bElements() : layout.aElements());

  KeptOperands::Found found;
  if (keep)
    found = kept->find(builder, dot, isB, packedType, elements, load, place.first, place.bytes,
                       packing.everywhere, packing.unwrapped);
  if (auto loop = dyn_cast<scf::ForOp>(dot->getParentOp()); loop && place.dense >= 0) {
    cpu::DotPrefetch next = guessNext(builder, load, loop, place, isB);
    if (keep) { // in the next slot, then
      auto choose = [&](Value kept, Value guess) -> Value {
        return arith::SelectOp::create(builder, loc, found.hit, kept, guess);
      };
      Value slot = LLVM::GEPOp::create(builder, loc, found.slot.getType(), packedType, found.slot,
                                       ArrayRef<LLVM::GEPArg>{int32_t(elements)});
      next.base = choose(slot, next.base);
      next.stride = choose(constant(next.lines * 64), next.stride);
      if (next.perColumn)
        next.perColumn = choose(constant(layout.k * getStorageBytes(packedType)), next.perColumn);
    }
    operands.next.push_back(next);
  }

  Value there; // i1: it is read in place
  if (inPlace) {
    there = packing.everywhere;
    if (keep) {
      Value yes = arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 1);
      Value no = arith::XOrIOp::create(builder, loc, found.use, yes);
      there = there ? Value(arith::AndIOp::create(builder, loc, there, no)) : no;
    } else if (!there) {
      pointer = place.first;
      if (isB) {
        operands.bStep = place.elements;
        operands.bPanel = constant(layout.panelWidth);
      } else if (packing.byColumns) {
        setColumns();
        operands.aStep = place.elements;
      } else {
        operands.aRow = place.elements;
      }
      return became("read where it lies");
    } else {
      packing.masks = Packing::Cut;
    }
  }

  Buffer *buffer = createBuffer(packedType, elements, anchor->getBlock());
  buffer->touches.append({anchor, dot});
  auto choose = [&](Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  };
  Value to = keep ? choose(found.use, found.slot, buffer->pointer) : buffer->pointer;
  Value isReady = keep ? found.hit : Value(); // i1: there is nothing to pack
  if (there)
    isReady = isReady ? Value(arith::OrIOp::create(builder, loc, isReady, there)) : there;
  if (isReady) {
    auto branch = scf::IfOp::create(builder, loc, isReady, /*withElseRegion=*/true);
    OpBuilder otherwise(branch.elseBlock()->getTerminator());
    packOperand(otherwise, layout, packing, to);
  } else {
    packOperand(before, layout, packing, to);
    packs[key] = {buffer, anchor, packing.byColumns};
  }
  pointer = there ? choose(there, place.first, to) : to;
  auto stride = [&](Value inPlace, int64_t packed) {
    return there ? choose(there, inPlace, constant(packed)) : constant(packed);
  };
  if (isB && there) {
    operands.bStep = stride(place.elements, layout.panelWidth);
    operands.bPanel = stride(constant(layout.panelWidth), layout.panelStride);
  } else if (packing.byColumns) {
    operands.aRow = constant(1);
    operands.aStep = stride(place.elements, layout.m);
  } else if (!isB && there) {
    operands.aRow = stride(place.elements, layout.lda);
  }
  const char *packed = anchor != dot ? "packed once, before the loop"
                       : keep        ? "packed, unless the program before has left it"
                                     : "packed";
  const char *masked =
      !packing.everywhere ? "" : " (its masks are looked at in tiles they cut only)";
  return became(Twine(there ? "read where it lies, at edges " : "") + packed + masked);
}

//===----------------------------------------------------------------------===//
// The accumulator
//===----------------------------------------------------------------------===//

/// The loop over k of a dot: nothing else in it sees the accumulator.
static scf::ForOp loopOverK(const TilePlan &plan, tt::DotOp dot) {
  BlockArgument sum = plan.getInPlaceAccumulator(dot);
  auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
  if (!sum || !loop || sum.getOwner() != loop.getBody() || dot->getBlock() != loop.getBody() ||
      dot.getC() != sum || !sum.hasOneUse() || !dot.getResult().hasOneUse())
    return {};
  return loop;
}

/// Copies the accumulator to a place of its own on the stack before the loop and
/// back after it. All accesses to that place have constant offsets, so that LLVM
/// makes values of it: it stays in registers from the first round to the last.
Value FunctionLowering::keepThroughLoop(scf::ForOp loop, const cpu::DotLayout &layout,
                                        Buffer *accumulator) {
  Location loc = loop.getLoc();
  Block &entry = function.getFunctionBody().front();
  OpBuilder builder(&entry, entry.begin());
  Type element = layout.accumulator, pointer = accumulator->pointer.getType();
  Value count =
      arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), layout.cElements());
  Value place =
      LLVM::AllocaOp::create(builder, loc, pointer, element, count, cpu::DotLayout::alignment);
  auto row = VectorType::get(layout.n, element);
  auto copy = [&](Value from, Value to) {
    for (int64_t i = 0; i < layout.m; ++i) {
      auto at = [&](Value base) -> Value {
        return LLVM::GEPOp::create(builder, loc, pointer, element, base,
                                   ArrayRef<LLVM::GEPArg>{int32_t(i * layout.ldc)});
      };
      unsigned bytes = getStorageBytes(element);
      Value values = LLVM::LoadOp::create(builder, loc, row, at(from), bytes);
      LLVM::StoreOp::create(builder, loc, values, at(to), bytes);
    }
  };
  builder.setInsertionPoint(loop);
  copy(accumulator->pointer, place);
  builder.setInsertionPointAfter(loop);
  copy(place, accumulator->pointer);
  accumulator->touches.push_back(loop);
  return place;
}

//===----------------------------------------------------------------------===//
// The dot
//===----------------------------------------------------------------------===//

LogicalResult FunctionLowering::lowerDot(tt::DotOp dot) {
  OpBuilder builder(dot);
  Location loc = dot.getLoc();
  RankedTensorType aType = getTile(dot.getA()), bType = getTile(dot.getB()),
                   type = getTile(dot.getResult());
  unsigned rank = type.getRank();
  int64_t batch = rank == 3 ? type.getDimSize(0) : 1;
  int64_t m = type.getDimSize(rank - 2), n = type.getDimSize(rank - 1),
          k = aType.getDimSize(rank - 1);
  cpu::DotLayout layout = cpu::chooseDotLayout(
      m, n, k, aType.getElementType(), bType.getElementType(), type.getElementType(), target);

  // The accumulator.
  Buffer *result = nullptr;
  if (BlockArgument arg = plan.getInPlaceAccumulator(dot))
    result = lookup(arg);
  if (!result)
    result = createBuffer(type, dot->getBlock());
  result->touches.push_back(dot);
  if (lookup(dot.getC()) != result)
    storeTile(builder, dot, dot.getC(), result, /*throughSelf=*/false);
  bind(dot.getResult(), result);

  cpu::DotOperands operands;
  std::string b = placeOperand(builder, dot, /*isB=*/true, layout, batch, operands);
  std::string a = placeOperand(builder, dot, /*isB=*/false, layout, batch, operands);

  Value c = result->pointer;
  scf::ForOp over = loopOverK(plan, dot);
  findExtents(builder, dot, over, layout, operands);
  const bool inRegisters =
      over && rank == 2 && layout.accumulator == layout.compute && cpu::fitsRegisters(layout);
  if (inRegisters)
    c = keepThroughLoop(over, layout, result);
  explain(dot,
          "dot: " + Twine(m) + "x" + Twine(n) + "x" + Twine(k) + "; " + a + "; " + b + "; sums " +
              (inRegisters ? "in registers from the first round to the last"
               : over      ? "in scratch memory between rounds of the loop"
                           : "in scratch memory"),
          m * n < 64 * 64 && over && !inRegisters
              ? "a larger tile uses each number that is read more often"
              : "");
  if (batch == 1) {
    cpu::emitDot(builder, loc, layout, operands, c);
    return success();
  }
  TileEmitter emitter(*this, builder, loc, dot);
  Value i = emitter.openLoop(batch);
  auto at = [&](Value base, Type element, int64_t stride) -> Value {
    Value offset = emitter.mul(i, stride);
    return LLVM::GEPOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
                               getStorageType(element), base, ValueRange{offset});
  };
  operands.a = at(operands.a, layout.packedA, layout.aElements());
  operands.b = at(operands.b, layout.packedB, layout.bElements());
  c = at(c, layout.accumulator, layout.cElements());
  cpu::emitDot(builder, loc, layout, operands, c);
  emitter.closeLoop();
  return success();
}

} // namespace nereid::tiles
