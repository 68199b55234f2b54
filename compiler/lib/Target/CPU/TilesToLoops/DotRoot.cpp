// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tl.dot: operands are packed on their way from memory, the accumulator is
// updated in place, the micro-kernel does the rest.
#include "TileEmitter.h"
#include "Transpose.h"

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

void FunctionLowering::packOperand(OpBuilder &builder, Operation *anchor, Value operand, bool isB,
                                   const cpu::DotLayout &layout, Buffer *packed) {
  RankedTensorType type = getTile(operand);
  Location loc = operand.getDefiningOp() ? operand.getLoc() : anchor->getLoc();
  TileEmitter emitter(*this, builder, loc, anchor);
  unsigned rank = type.getRank(), row = rank - 2, column = rank - 1;
  Type element = type.getElementType(), target = packed->element;
  int64_t matrix = isB ? layout.bElements() : layout.aElements();
  packed->touches.push_back(anchor);

  auto place = [&](ArrayRef<Index> at) -> Value {
    Value offset;
    if (isB)
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
    emitter.storeAt(packed->pointer, target, place(at), value);
  };
  // A run of up to 16 columns is contiguous in either operand.
  unsigned lanes = std::min(16u, chooseLanes(*this, target));
  unsigned dim = chooseVectorDim(*this, type, operand, /*throughSelf=*/false);
  if (dim == row && transposedNest(emitter, type.getShape(), row, column, lanes, read, write))
    return;
  emitter.nest(type.getShape(), column, lanes, [&](ArrayRef<Index> at) { write(read(at), at); });
}

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

  // The operands. One that does not change with the loop is packed before it.
  Value pointers[2];
  for (bool isB : {false, true}) {
    Value operand = isB ? dot.getB() : dot.getA();
    Type packedType = isB ? layout.packedB : layout.packedA;
    Buffer *stored = lookup(operand);
    bool plain = isB ? layout.numPanels == 1 && layout.panelWidth == n : layout.lda == k;
    if (stored && plain && stored->element == packedType) {
      stored->touches.push_back(dot);
      pointers[isB] = stored->pointer;
      continue;
    }
    Operation *anchor = dot;
    Block *home = operand.getParentBlock();
    if (Operation *ancestor = home->findAncestorOpInBlock(*dot); ancestor && ancestor != dot)
      anchor = ancestor;
    PackKey key{operand, {packedType, isB ? layout.panelWidth : -layout.lda}};
    Buffer *&packed = packs[key];
    Operation *&packedAt = packAnchors[key];
    bool reusable = packed && packedAt->getBlock()->findAncestorOpInBlock(*dot) &&
                    (packedAt == anchor ||
                     packedAt->isBeforeInBlock(packedAt->getBlock()->findAncestorOpInBlock(*dot)));
    if (!reusable) {
      int64_t elements = batch * (isB ? layout.bElements() : layout.aElements());
      packed = createBuffer(packedType, elements, anchor->getBlock());
      packedAt = anchor;
      OpBuilder before(anchor);
      packOperand(before, anchor, operand, isB, layout, packed);
    }
    packed->touches.push_back(dot);
    pointers[isB] = packed->pointer;
  }

  Value c = result->pointer;
  if (batch == 1) {
    cpu::emitDot(builder, loc, layout, pointers[0], pointers[1], c);
    return success();
  }
  TileEmitter emitter(*this, builder, loc, dot);
  Value i = emitter.openLoop(batch);
  auto at = [&](Value base, Type element, int64_t stride) -> Value {
    Value offset = emitter.mul(i, stride);
    return LLVM::GEPOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
                               getStorageType(element), base, ValueRange{offset});
  };
  Value a = at(pointers[0], layout.packedA, layout.aElements());
  Value b = at(pointers[1], layout.packedB, layout.bElements());
  c = at(c, layout.accumulator, layout.cElements());
  cpu::emitDot(builder, loc, layout, a, b, c);
  emitter.closeLoop();
  return success();
}

} // namespace nereid::tiles
