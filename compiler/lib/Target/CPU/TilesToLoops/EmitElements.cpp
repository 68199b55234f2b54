// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of inline operations.
//
// Each operation says how a place in its result is a place in its operands
// (expand_dims drops an index, broadcast fixes one, trans permutes them, a
// reshape takes the row-major offset apart again), and what it does to the
// elements. An index is a scalar, a run of lanes or a vector; it stays as
// simple as it can, since a run of lanes becomes a vector access in the end and
// a vector of places a gather. So a reshape whose rows hold whole vectors takes
// the offset of the first lane apart, with scalars, and only an uneven one that
// of all lanes.
//
// Elements are in the form that is computed with: fp8 as i8, bf16 and i1 as
// themselves, single pointers as pointers, vectors of pointers as vectors of
// i64. What differs between lanes is a vector, all else a scalar, which is
// widened where the two meet (emitTogether).
#include "TileEmitter.h"

#include "Target/CPU/DeviceMath.h"
#include "nereid/Dialect/Distributed/IR/Distributed.h"

#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nereid::tiles {

static bool isFloat8(Type type) {
  auto element = dyn_cast<FloatType>(type);
  return element && element.getWidth() == 8;
}

static bool isVectorValue(Value value) { return isa<VectorType>(value.getType()); }

static Type withLanes(Type element, Value like) {
  if (auto type = dyn_cast<VectorType>(like.getType()))
    return VectorType::get(type.getShape(), element);
  return element;
}

//===----------------------------------------------------------------------===//
// Constants and ranges
//===----------------------------------------------------------------------===//

Value TileEmitter::emitConstant(arith::ConstantOp constant) {
  auto dense = cast<DenseElementsAttr>(constant.getValue());
  Type element = dense.getElementType();
  if (isFloat8(element)) {
    APInt bits = dense.getSplatValue<APFloat>().bitcastToAPInt();
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(builder.getI8Type(), bits));
  }
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(dense.getSplatValue<Attribute>()));
}

Value TileEmitter::emitRangeElements(tt::MakeRangeOp range, Index index) {
  Type i32 = builder.getI32Type();
  int64_t start = int32_t(range.getStart());
  if (index.kind == Index::Vector) {
    Value narrow =
        arith::TruncIOp::create(builder, loc, VectorType::get({lanes}, i32), index.value);
    Value base = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(start));
    return arith::AddIOp::create(builder, loc, narrow, toVector(base));
  }
  Value first = builder.createOrFold<arith::TruncIOp>(loc, i32, add(index.value, constant(start)));
  if (index.kind == Index::Scalar)
    return first;
  auto iota = llvm::to_vector(llvm::seq<int32_t>(0, lanes));
  Value step = arith::ConstantOp::create(builder, loc, builder.getI32VectorAttr(iota));
  return arith::AddIOp::create(builder, loc, toVector(first), step);
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

/// Takes the innermost coordinate of size `size` off `rest`.
Index TileEmitter::delinearise(Value &rest, bool vector, int64_t size) {
  auto known = getConstantIntValue(rest);
  if (!vector && known) {
    Index index = {Index::Scalar, constant(*known % size)};
    rest = constant(*known / size);
    return index;
  }
  unsigned depth = depthOf(rest);
  AtDepth at(*this, depth);
  Value divisor = constant(size);
  if (vector)
    divisor = toVector(divisor);
  Value index = arith::RemUIOp::create(builder, loc, rest, divisor);
  rest = arith::DivUIOp::create(builder, loc, rest, divisor);
  recordDepth(index, depth);
  recordDepth(rest, depth);
  return {vector ? Index::Vector : Index::Scalar, index};
}

Value TileEmitter::emitReshape(tt::ReshapeOp reshape, ArrayRef<Index> indices) {
  ArrayRef<int64_t> from = getTile(reshape.getSrc()).getShape(), to = reshape.getType().getShape();
  Value src = reshape.getSrc();
  // A buffer keeps its row-major order whatever the shape.
  if (Buffer *buffer = lowering.lookup(src);
      buffer && !direct.contains(src) && !filled.contains(src)) {
    buffer->touches.push_back(anchor);
    return loadFromBuffer(buffer, to, indices);
  }
  auto dim = linearDim(indices);
  int64_t step = 1;
  if (dim)
    for (size_t d = *dim + 1; d < to.size(); ++d)
      step *= to[d];
  bool vector = isVector(indices);
  Indices inner(from.size());
  // A run of lanes that stays in one row of the source.
  int64_t innermost = from.size() - 1;
  while (innermost > 0 && from[innermost] == 1)
    --innermost;
  bool wholeRows = dim && step == 1 && !from.empty() && from[innermost] % lanes == 0 &&
                   (to[*dim] % lanes == 0 || to[*dim] == reshape.getType().getNumElements());
  if (!vector || wholeRows) {
    Value rest = flatten(to, indices);
    for (size_t d = from.size(); d-- > 0;)
      inner[d] =
          from[d] == 1 ? Index{Index::Scalar, constant(0)} : delinearise(rest, false, from[d]);
    if (vector)
      inner[innermost].kind = Index::Linear;
    return emit(src, inner);
  }
  unsigned depth = depthOf(indices);
  Value rest;
  {
    Value offset = flatten(to, indices);
    rest = toVector(offset);
    int64_t product = 1;
    for (size_t d = to.size(); d-- > 0; product *= to[d]) {
      if (indices[d].kind == Index::Scalar)
        continue;
      Value part = indices[d].kind == Index::Vector ? indices[d].value
                                                    : indexVector({Index::Linear, constant(0)});
      part = arith::MulIOp::create(builder, loc, part, toVector(constant(product)));
      rest = arith::AddIOp::create(builder, loc, rest, part);
    }
    recordDepth(rest, depth);
  }
  for (size_t d = from.size(); d-- > 0;)
    inner[d] = from[d] == 1 ? Index{Index::Scalar, constant(0)} : delinearise(rest, true, from[d]);
  return emit(src, inner);
}

Value TileEmitter::emitGathered(tt::GatherOp gather, ArrayRef<Index> indices) {
  Value picked = emit(gather.getIndices(), indices);
  unsigned depth = depthOf(indices);
  Type wide = withLanes(builder.getI64Type(), picked);
  if (picked.getType() != wide) {
    AtDepth place(*this, depth);
    picked = arith::ExtSIOp::create(builder, loc, wide, picked);
  }
  recordDepth(picked, depth);
  Indices inner(indices);
  inner[gather.getAxis()] = {isVectorValue(picked) ? Index::Vector : Index::Scalar, picked};
  return emit(gather.getSrc(), inner);
}

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

Value TileEmitter::emitAddPtr(tt::AddPtrOp op, ArrayRef<Index> indices) {
  Value pointer = emit(op.getPtr(), indices), offset = emit(op.getOffset(), indices);
  Type pointee = cast<tt::PointerType>(getElementTypeOrSelf(op.getType())).getPointeeType();
  Type storage = getStorageType(pointee);
  Type i64 = builder.getI64Type();
  if (!isVectorValue(pointer) && !isVectorValue(offset)) {
    if (offset.getType() != i64)
      offset = builder.createOrFold<arith::ExtSIOp>(loc, i64, offset);
    return advance(pointer, storage, offset);
  }
  offset = toVector(offset);
  Type wide = withLanes(i64, offset);
  if (offset.getType() != wide)
    offset = arith::ExtSIOp::create(builder, loc, wide, offset);
  int64_t bytes = getStorageBytes(pointee);
  if (bytes != 1)
    offset = arith::MulIOp::create(builder, loc, offset, toVector(constant(bytes)));
  return arith::AddIOp::create(builder, loc, toVector(pointer), offset);
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// Floating-point cast between any two types. fp8 values are computed as i8;
/// the conversions themselves are expanded later.
Value TileEmitter::emitFloatCast(Value value, Type from, Type to, bool towardsZero) {
  auto mode = towardsZero ? arith::RoundingModeAttr::get(builder.getContext(),
                                                         arith::RoundingMode::toward_zero)
                          : arith::RoundingModeAttr();
  auto step = [&](Value v, Type element) -> Value {
    unsigned have = getElementTypeOrSelf(v.getType()).getIntOrFloatBitWidth(),
             want = element.getIntOrFloatBitWidth();
    if (want > have)
      return arith::ExtFOp::create(builder, loc, withLanes(element, v), v);
    return arith::TruncFOp::create(builder, loc, withLanes(element, v), v, mode,
                                   arith::FastMathFlagsAttr());
  };
  if (from == to)
    return value;
  if (isFloat8(from))
    value = arith::BitcastOp::create(builder, loc, withLanes(from, value), value);
  // Between formats of which neither holds the other, and to fp8: by fp32.
  bool detour =
      (isFloat8(to) || to.getIntOrFloatBitWidth() == from.getIntOrFloatBitWidth()) && !from.isF32();
  if (detour)
    value = step(value, builder.getF32Type());
  value = step(value, to);
  if (isFloat8(to))
    value = arith::BitcastOp::create(builder, loc, withLanes(builder.getI8Type(), value), value);
  return value;
}

Value TileEmitter::emitCast(Operation *op, ArrayRef<Index> indices) {
  Value value = emit(op->getOperand(0), indices);
  Type from = getElementTypeOrSelf(op->getOperand(0).getType()),
       to = getElementTypeOrSelf(op->getResult(0).getType());
  if (auto cast = dyn_cast<tt::FpToFpOp>(op))
    return emitFloatCast(value, from, to, cast.getRounding() == tt::RoundingMode::RTZ);
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return emitFloatCast(value, from, to, /*towardsZero=*/false);
  if (isa<tt::IntToPtrOp>(op)) {
    if (isVectorValue(value))
      return value;
    return LLVM::IntToPtrOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
                                    value);
  }
  if (isa<tt::PtrToIntOp>(op)) {
    if (isVectorValue(value))
      return value;
    return LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), value);
  }
  // Bit casts: what has the same representation stays.
  Type target = withLanes(getComputeType(to, isVectorValue(value)), value);
  if (value.getType() == target)
    return value;
  if (isa<LLVM::LLVMPointerType>(value.getType()))
    return LLVM::PtrToIntOp::create(builder, loc, target, value);
  if (isa<LLVM::LLVMPointerType>(target))
    return LLVM::IntToPtrOp::create(builder, loc, target, value);
  return arith::BitcastOp::create(builder, loc, target, value);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Functions that the math dialect's expansions know in fp32 and fp64 only.
static bool needsWidening(Operation *op, Type element) {
  return isa<math::MathDialect>(op->getDialect()) && isa<FloatType>(element) &&
         element.getIntOrFloatBitWidth() < 32 && !isa<math::AbsFOp>(op);
}

/// Operands of one operation: all scalars, or all vectors.
SmallVector<Value> TileEmitter::emitTogether(ValueRange operands, ArrayRef<Index> indices) {
  SmallVector<Value> values;
  for (Value operand : operands)
    values.push_back(emit(operand, indices));
  if (llvm::any_of(values, isVectorValue))
    for (Value &value : values)
      value = toVector(value);
  return values;
}

Value TileEmitter::emitElementwise(Operation *op, ArrayRef<Index> indices) {
  SmallVector<Value> operands;
  bool vector = false;
  for (Value operand : op->getOperands()) {
    operands.push_back(emit(operand, indices));
    vector |= isVectorValue(operands.back());
  }
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  bool widen = needsWidening(op, element);
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (vector && !(isa<arith::SelectOp>(op) && i == 0))
      operand = toVector(operand);
    if (widen && isa<FloatType>(getElementTypeOrSelf(operand.getType())))
      operand = emitFloatCast(operand, element, builder.getF32Type(), false);
  }
  Type type = widen ? Type(builder.getF32Type()) : getComputeType(element, vector);
  if (vector)
    type = VectorType::get({lanes}, type);
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(type);
  for (NamedAttribute attr : op->getAttrs())
    if (!attr.getName().getValue().contains('.'))
      state.addAttribute(attr.getName(), attr.getValue());
  Value result = builder.create(state)->getResult(0);
  if (widen)
    result = emitFloatCast(result, builder.getF32Type(), element, false);
  return result;
}

static Value emitClamp(OpBuilder &builder, Location loc, tt::ClampFOp op, Value x, Value low,
                       Value high) {
  if (op.getPropagateNan() == tt::PropagateNan::ALL) {
    Value raised = arith::MaximumFOp::create(builder, loc, x, low);
    return arith::MinimumFOp::create(builder, loc, raised, high);
  }
  Value raised = arith::MaxNumFOp::create(builder, loc, x, low);
  return arith::MinNumFOp::create(builder, loc, raised, high);
}

static Value emitMulHigh(OpBuilder &builder, Location loc, Value x, Value y) {
  return arith::MulUIExtendedOp::create(builder, loc, x, y).getHigh();
}

Value TileEmitter::emitExtern(tt::ExternElementwiseOp call, ArrayRef<Index> indices) {
  return emitExternCall(call, emitTogether(call.getSrcs(), indices),
                        getElementTypeOrSelf(call.getType()));
}

Value TileEmitter::emitExternCall(tt::ExternElementwiseOp call, ArrayRef<Value> operands,
                                  Type element) {
  if (Value value =
          cpu::emitDeviceMath(builder, call.getLoc(), call.getSymbol(), operands, element))
    return value;
  // The lowering of scalar operations says what is wrong with it.
  SmallVector<Value> arguments;
  for (Value operand : operands)
    arguments.push_back(isVectorValue(operand)
                            ? vector::ExtractOp::create(builder, call.getLoc(), operand, 0)
                            : operand);
  OperationState state(call.getLoc(), call->getName());
  state.addOperands(arguments);
  state.addTypes(element);
  state.addAttributes(call->getAttrs());
  Value one = builder.create(state)->getResult(0);
  return llvm::any_of(operands, isVectorValue) ? toVector(one) : one;
}

//===----------------------------------------------------------------------===//
// All inline operations
//===----------------------------------------------------------------------===//

Value TileEmitter::emitOp(Value value, ArrayRef<Index> indices) {
  Operation *op = value.getDefiningOp();
  assert(op && isInline(op) && "only inline operations are recomputed");
  Location outer = loc;
  loc = op->getLoc();
  Value result =
      TypeSwitch<Operation *, Value>(op)
          .Case<arith::ConstantOp>([&](auto constant) { return emitConstant(constant); })
          .Case<ub::PoisonOp>([&](ub::PoisonOp poison) -> Value {
            // Any value will do.
            Type type = getComputeType(getElementTypeOrSelf(poison.getType()), /*isVector=*/false);
            if (isa<LLVM::LLVMPointerType>(type))
              return LLVM::ZeroOp::create(builder, loc, type);
            return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
          })
          .Case<tt::SplatOp>(
              [&](tt::SplatOp splat) { return lowering.getScalar(builder, splat.getSrc()); })
          .Case<tt::MakeRangeOp>([&](auto range) { return emitRangeElements(range, indices[0]); })
          .Case<tt::ExpandDimsOp>([&](tt::ExpandDimsOp expand) {
            Indices inner(indices);
            inner.erase(inner.begin() + expand.getAxis());
            return emit(expand.getSrc(), inner);
          })
          .Case<tt::BroadcastOp>([&](tt::BroadcastOp broadcast) {
            Indices inner(indices);
            for (auto [d, size] : llvm::enumerate(getTile(broadcast.getSrc()).getShape()))
              if (size == 1)
                inner[d] = {Index::Scalar, constant(0)};
            return emit(broadcast.getSrc(), inner);
          })
          .Case<tt::TransOp>([&](tt::TransOp trans) {
            Indices inner(indices.size());
            for (auto [d, from] : llvm::enumerate(trans.getOrder()))
              inner[from] = indices[d];
            return emit(trans.getSrc(), inner);
          })
          .Case<tt::ReshapeOp>([&](auto reshape) { return emitReshape(reshape, indices); })
          .Case<tt::SplitOp>([&](tt::SplitOp split) {
            Indices inner(indices);
            inner.push_back({Index::Scalar, constant(value == split.getOutLHS() ? 0 : 1)});
            return emit(split.getSrc(), inner);
          })
          .Case<tt::AddPtrOp>([&](auto addPtr) { return emitAddPtr(addPtr, indices); })
          .Case<tt::LoadOp>([&](auto load) { return emitLoad(load, indices); })
          .Case<distributed::ConsumeTokenOp>(
              [&](auto consume) { return emit(consume.getValue(), indices); })
          .Case<tt::BitcastOp, tt::IntToPtrOp, tt::PtrToIntOp, tt::FpToFpOp, arith::ExtFOp,
                arith::TruncFOp, arith::BitcastOp>(
              [&](auto cast) { return emitCast(cast, indices); })
          .Case<arith::SelectOp>([&](arith::SelectOp select) {
            if (isTrueInFastLoop(select.getCondition(), indices))
              return emit(select.getTrueValue(), indices);
            return emitElementwise(select, indices);
          })
          .Case<tt::ClampFOp>([&](tt::ClampFOp clamp) {
            SmallVector<Value> v = emitTogether(clamp->getOperands(), indices);
            return emitClamp(builder, loc, clamp, v[0], v[1], v[2]);
          })
          .Case<tt::PreciseSqrtOp>([&](tt::PreciseSqrtOp sqrt) -> Value {
            return math::SqrtOp::create(builder, loc, emit(sqrt.getX(), indices));
          })
          .Case<tt::PreciseDivFOp>([&](tt::PreciseDivFOp div) -> Value {
            SmallVector<Value> v = emitTogether(div->getOperands(), indices);
            return arith::DivFOp::create(builder, loc, v[0], v[1]);
          })
          .Case<tt::MulhiUIOp>([&](tt::MulhiUIOp mul) {
            SmallVector<Value> v = emitTogether(mul->getOperands(), indices);
            return emitMulHigh(builder, loc, v[0], v[1]);
          })
          .Case<tt::ExternElementwiseOp>([&](auto call) { return emitExtern(call, indices); })
          .Default([&](Operation *other) { return emitElementwise(other, indices); });
  loc = outer;
  return result;
}

} // namespace nereid::tiles
