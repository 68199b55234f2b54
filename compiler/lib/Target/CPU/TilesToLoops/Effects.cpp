// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomics, library calls, prints and assertions on tiles: one element after the
// other.
//
// Not in vectors, since the order is visible: lanes of one address take their
// turns in row-major order, calls with effects are made in it. A result that
// nobody uses gets no buffer. A lane whose mask is false does nothing and
// yields 0.
#include "Combine.h"
#include "TileEmitter.h"
#include "nereid/Support/AttributeNames.h"

#include "Target/CPU/Atomics.h"
#include "Target/CPU/Observed.h"
#include "Target/CPU/RuntimeABI.h"
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Support/PassDiagnostics.h"
#include "nereid/abi.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::tiles {

static Value zeroOf(OpBuilder &builder, Location loc, Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return LLVM::ZeroOp::create(builder, loc, type);
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

/// Runs `access` where the mask holds; its value, or 0, goes to `result`.
static void emitMasked(TileEmitter &emitter, Value mask, Type element, Buffer *result,
                       ArrayRef<Index> at, llvm::function_ref<Value()> access) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Value old;
  if (!mask) {
    old = access();
  } else if (!result) {
    auto branch = scf::IfOp::create(builder, loc, mask, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    access();
  } else {
    Type type = getComputeType(element, false);
    auto branch = scf::IfOp::create(builder, loc, TypeRange(type), mask, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(builder, loc, access());
    builder.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(builder, loc, zeroOf(builder, loc, type));
    old = branch.getResult(0);
  }
  if (result)
    emitter.storeToBuffer(result, old, at);
}

/// What is told of each element of `op`, if anything is.
static cpu::ObservedAtomic observe(OpBuilder &builder, Operation *op, int32_t kind,
                                   tt::MemSemantic sem, tt::MemSyncScope scope) {
  cpu::ObservedAtomic atomic;
  if (!op->hasAttr(attr::observed))
    return atomic;
  atomic.program = cpu::ProgramOp::create(builder, op->getLoc(),
                                          LLVM::LLVMPointerType::get(builder.getContext()));
  atomic.site = cpu::SiteOp::create(builder, op->getLoc(), builder.getI32Type());
  atomic.op = kind;
  atomic.sem = int32_t(sem);
  atomic.scope = int32_t(scope);
  return atomic;
}

LogicalResult FunctionLowering::lowerAtomicRMW(tt::AtomicRMWOp atomic) {
  OpBuilder builder(atomic);
  RankedTensorType type = getTile(atomic.getVal());
  Buffer *result = nullptr;
  if (!atomic.getResult().use_empty())
    result = createBuffer(type, atomic->getBlock());
  cpu::ObservedAtomic told =
      observe(builder, atomic, cpu::observedOp(atomic.getAtomicRmwOp(), type.getElementType()),
              atomic.getSem(), atomic.getScope());
  TileEmitter emitter(*this, builder, atomic.getLoc(), atomic);
  emitter.nest(type.getShape(), type.getRank() - 1, 1, [&](ArrayRef<Index> at) {
    Value pointer = emitter.emit(atomic.getPtr(), at), value = emitter.emit(atomic.getVal(), at);
    Value mask = emitter.emitScalarMask(atomic.getMask(), at);
    told.pointer = pointer;
    told.value = value;
    emitMasked(emitter, mask, type.getElementType(), result, at, [&]() {
      return cpu::emitObserved(builder, atomic.getLoc(), told, [&] {
        return cpu::emitAtomicRMW(builder, atomic.getLoc(), atomic.getAtomicRmwOp(), pointer, value,
                                  atomic.getSem());
      });
    });
  });
  if (result)
    bind(atomic.getResult(), result);
  return success();
}

LogicalResult FunctionLowering::lowerAtomicCAS(tt::AtomicCASOp atomic) {
  OpBuilder builder(atomic);
  RankedTensorType type = getTile(atomic.getVal());
  Buffer *result = nullptr;
  if (!atomic.getResult().use_empty())
    result = createBuffer(type, atomic->getBlock());
  cpu::ObservedAtomic told =
      observe(builder, atomic, NRD_AMO_COMPARE_SWAP, atomic.getSem(), atomic.getScope());
  TileEmitter emitter(*this, builder, atomic.getLoc(), atomic);
  emitter.nest(type.getShape(), type.getRank() - 1, 1, [&](ArrayRef<Index> at) {
    told.pointer = emitter.emit(atomic.getPtr(), at);
    told.compare = emitter.emit(atomic.getCmp(), at);
    told.value = emitter.emit(atomic.getVal(), at);
    emitMasked(emitter, {}, type.getElementType(), result, at, [&]() {
      return cpu::emitObserved(builder, atomic.getLoc(), told, [&] {
        return cpu::emitAtomicCAS(builder, atomic.getLoc(), told.pointer, told.compare, told.value,
                                  atomic.getSem());
      });
    });
  });
  if (result)
    bind(atomic.getResult(), result);
  return success();
}

//===----------------------------------------------------------------------===//
// Scalar regions and calls
//===----------------------------------------------------------------------===//

LogicalResult FunctionLowering::lowerMapElementwise(tt::MapElementwiseOp map) {
  Region &region = map.getScalarOp();
  if (!region.hasOneBlock())
    return reportError(map.getLoc(), Diag::map_early_return);
  OpBuilder builder(map);
  RankedTensorType type = getTile(map.getSrcs()[0]);
  int64_t pack = map.getPack(), count = type.getNumElements();
  if (pack < 1 || count % pack)
    return reportError(map.getLoc(), Diag::map_pack, count, "'" + printed(type) + "'", pack);
  SmallVector<Buffer *> results;
  for (Value result : map.getResult())
    results.push_back(createBuffer(getTile(result), map->getBlock()));
  TileEmitter emitter(*this, builder, map.getLoc(), map);
  Value group = emitter.openLoop(count / pack);
  // Element `offset` of the group, by the shape's coordinates.
  auto coordinates = [&](int64_t offset) {
    Indices at(type.getRank());
    Value rest = emitter.lane(offset, emitter.mul(group, pack));
    for (int64_t d = type.getRank(); d-- > 0;)
      at[d] = emitter.takeInnermost(rest, type.getDimSize(d));
    return at;
  };
  // For each operand its elements of the pack.
  SmallVector<Value> arguments;
  for (Value src : map.getSrcs())
    for (int64_t offset = 0; offset < pack; ++offset)
      arguments.push_back(emitter.emit(src, coordinates(offset)));
  SmallVector<Value> values = emitRegion(builder, region, arguments);
  for (auto [r, buffer] : llvm::enumerate(results))
    for (int64_t offset = 0; offset < pack; ++offset)
      emitter.storeToBuffer(buffer, values[r * pack + offset], coordinates(offset));
  emitter.closeLoop();
  for (auto [result, buffer] : llvm::zip(map.getResult(), results))
    bind(result, buffer);
  return success();
}

/// A call with effects: once for each element, in order.
LogicalResult FunctionLowering::lowerExternElementwise(tt::ExternElementwiseOp call) {
  OpBuilder builder(call);
  RankedTensorType type = getTile(call.getResult());
  Buffer *buffer = createBuffer(type, call->getBlock());
  TileEmitter emitter(*this, builder, call.getLoc(), call);
  emitter.nest(type.getShape(), type.getRank() - 1, 1, [&](ArrayRef<Index> at) {
    SmallVector<Value> operands = emitter.emitTogether(call.getSrcs(), at);
    emitter.storeToBuffer(buffer, emitter.emitExternCall(call, operands, type.getElementType()),
                          at);
  });
  bind(call.getResult(), buffer);
  return success();
}

//===----------------------------------------------------------------------===//
// Prints and assertions
//===----------------------------------------------------------------------===//

LogicalResult FunctionLowering::lowerPrint(tt::PrintOp print) {
  OpBuilder builder(print);
  Location loc = print.getLoc();
  for (auto [i, operand] : llvm::enumerate(print.getArgs())) {
    RankedTensorType type = getTile(operand);
    bool isSigned = i < print.getIsSigned().size() && print.getIsSigned()[i];
    if (!type) {
      tt::PrintOp::create(builder, loc, print.getPrefixAttr(), print.getHexAttr(),
                          ValueRange{operand}, builder.getDenseI32ArrayAttr({isSigned}));
      continue;
    }
    Type element = type.getElementType();
    bool isFloat = isa<FloatType>(element), widen = isFloat && element.getIntOrFloatBitWidth() < 32;
    Type printed = widen ? Type(builder.getF32Type()) : element;
    Buffer *buffer =
        createBuffer(RankedTensorType::get(type.getShape(), printed), print->getBlock());
    TileEmitter emitter(*this, builder, loc, print);
    emitter.nest(type.getShape(), type.getRank() - 1, chooseLanes(*this, printed),
                 [&](ArrayRef<Index> at) {
                   Value value = emitter.emit(operand, at);
                   if (widen)
                     value = emitter.emitFloatCast(value, element, printed, /*towardsZero=*/false);
                   emitter.storeToBuffer(buffer, value, at);
                 });
    buffer->touches.push_back(print);
    int32_t kind = isa<tt::PointerType>(element) ? 3 : isFloat ? 2 : isSigned ? 0 : 1;
    auto i32 = [&](int32_t value) -> Value {
      return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
    };
    Value program =
        cpu::ProgramOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()));
    Value prefix = cpu::getStringConstant(builder, loc, print.getPrefix());
    Value count =
        arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(type.getNumElements()));
    Value site = cpu::SiteOp::create(builder, loc, builder.getI32Type());
    cpu::callRuntime(builder, loc, "nrd_print",
                     {program, prefix, buffer->pointer, count, i32(kind),
                      i32(getStorageBytes(printed)), i32(print.getHex()), site});
  }
  return success();
}

LogicalResult FunctionLowering::lowerAssert(tt::AssertOp assertion) {
  OpBuilder builder(assertion);
  Location loc = assertion.getLoc();
  RankedTensorType type = getTile(assertion.getCondition());
  TileEmitter emitter(*this, builder, loc, assertion);
  unsigned dim = chooseVectorDim(*this, type, assertion.getCondition(), /*throughSelf=*/false);
  emitter.nest(
      type.getShape(), dim, chooseLanes(*this, builder.getI32Type()), [&](ArrayRef<Index> at) {
        Value holds = emitter.emit(assertion.getCondition(), at);
        if (isa<VectorType>(holds.getType()))
          holds = vector::ReductionOp::create(builder, loc, vector::CombiningKind::AND, holds);
        tt::AssertOp::create(builder, loc, holds, assertion.getMessageAttr());
      });
  return success();
}

} // namespace nereid::tiles
