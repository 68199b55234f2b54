// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel reduces with is a region on two scalars, its own or the user's
// function. It is copied into the loops, on vectors when every operation
// applies to them lane by lane.
//
// Long sums of bf16 or fp16 that were rounded after each addition would lose
// most of their digits, and the result would depend on the order, which is
// free. So the region is rewritten once (widenFloats) to compute with fp32, and
// a result is rounded when it is done. Every value of the region changes its
// type, and what cannot take that is put right:
//
//   a cast between the two widths       vanishes, or becomes the rounding at the end
//   a cast that the user rounds with    stays a rounding, to the narrow type and back
//   a call, a reinterpretation of bits  sees the narrow number: rounded before, widened behind
//
// A region that rounds nothing (maximum, or a choice between its arguments)
// stays as it is.
#include "Combine.h"

#include "TileEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nereid::tiles {

//===----------------------------------------------------------------------===//
// Partial results
//===----------------------------------------------------------------------===//

static bool isNarrowFloat(Type type) {
  auto element = dyn_cast<FloatType>(type);
  return element && element.getWidth() < 32;
}

static bool isFloatCast(Operation *op) {
  return isa<arith::ExtFOp, arith::TruncFOp, tt::FpToFpOp>(op);
}

/// Whether the result of `op` may be a float that is not among its operands.
static bool roundsResult(Operation &op) {
  if (llvm::none_of(op.getResultTypes(), llvm::IsaPred<FloatType>) || op.getNumRegions())
    return false;
  if (isFloatCast(&op))
    return op.getResult(0).getType().getIntOrFloatBitWidth() <=
           op.getOperand(0).getType().getIntOrFloatBitWidth();
  return !isa<arith::ConstantOp, arith::SelectOp, arith::NegFOp, arith::MaxNumFOp, arith::MinNumFOp,
              arith::MaximumFOp, arith::MinimumFOp, math::AbsFOp, math::CopySignOp,
              arith::BitcastOp, tt::BitcastOp>(op);
}

/// Rewrites operations so that every value of a narrow float type is fp32.
static void widenFloats(Region &region, MLIRContext *context) {
  SmallVector<Operation *> ops;
  region.walk([&](Operation *op) { ops.push_back(op); });
  Type f32 = Float32Type::get(context);
  llvm::DenseMap<Value, Type> narrow; // what they were
  auto widen = [&](Value value) {
    if (isNarrowFloat(value.getType())) {
      narrow[value] = value.getType();
      value.setType(f32);
    }
  };
  for (Block &block : region)
    llvm::for_each(block.getArguments(), widen);
  for (Operation *op : ops) {
    llvm::for_each(op->getResults(), widen);
    for (Region &inner : op->getRegions())
      for (Block &block : inner)
        llvm::for_each(block.getArguments(), widen);
  }
  for (Operation *op : ops) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    auto round = [&](Value value, Type type) -> Value {
      return arith::TruncFOp::create(builder, loc, type, value);
    };
    auto extend = [&](Value value) -> Value {
      return arith::ExtFOp::create(builder, loc, f32, value);
    };
    for (OpOperand &operand : op->getOpOperands())
      if (isNarrowFloat(operand.get().getType())) // from outside
        operand.set(extend(operand.get()));

    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (auto number = dyn_cast<FloatAttr>(constant.getValue());
          number && narrow.count(constant)) {
        APFloat value = number.getValue();
        bool losesInfo;
        value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &losesInfo);
        constant.setValueAttr(builder.getFloatAttr(f32, value));
      }
    } else if (isFloatCast(op)) {
      Value source = op->getOperand(0), result = op->getResult(0);
      Type from = narrow.lookup(source), to = narrow.lookup(result);
      Value replacement;
      if (!to) {
        if (source.getType() == result.getType())
          replacement = source; // widens what is wide now
        else if (from)          // to fp64
          replacement = arith::ExtFOp::create(builder, loc, result.getType(), source);
        else
          continue;
      } else {
        // A rounding of the region's result is that of the partial result and
        // happens at the end; others are the user's.
        auto cast = dyn_cast<tt::FpToFpOp>(op);
        bool nearest = !cast || cast.getRounding() != tt::RoundingMode::RTZ;
        bool isResult = llvm::all_of(result.getUsers(), [&](Operation *user) {
          return user == region.front().getTerminator();
        });
        if (nearest && isResult)
          replacement = source.getType() == f32 ? source : round(source, f32);
        else if (nearest)
          replacement = extend(round(source, to));
        else
          replacement = extend(tt::FpToFpOp::create(
              builder, loc, to, source,
              tt::RoundingModeAttr::get(builder.getContext(), tt::RoundingMode::RTZ)));
      }
      result.replaceAllUsesWith(replacement);
      op->erase();
    } else if ((!isa<arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                     cf::ControlFlowDialect>(op->getDialect()) &&
                !op->hasTrait<OpTrait::IsTerminator>()) ||
               isa<arith::BitcastOp>(op)) {
      // Calls and reinterpreted bits see the narrow numbers.
      for (OpOperand &operand : op->getOpOperands())
        if (Type type = narrow.lookup(operand.get()))
          operand.set(round(operand.get(), type));
      builder.setInsertionPointAfter(op);
      for (Value result : op->getResults())
        if (Type type = narrow.lookup(result)) {
          result.setType(type);
          Value extended = extend(result);
          result.replaceAllUsesExcept(extended, extended.getDefiningOp());
        }
    }
  }
}

Combiner::Combiner(Region &region) : region(region) {
  region.walk([&](Operation *op) { isInexact |= roundsResult(*op); });
  if (!isInexact || llvm::none_of(region.front().getArgumentTypes(), isNarrowFloat))
    return;
  isWide = true;
  IRMapping map;
  region.cloneInto(&wide, map);
  widenFloats(wide, region.getContext());
}

//===----------------------------------------------------------------------===//
// Copies of the region
//===----------------------------------------------------------------------===//

bool isVectorisable(Region &region) {
  if (!region.hasOneBlock())
    return false;
  for (Operation &op : region.front().without_terminator()) {
    if (isa<arith::ConstantOp>(op))
      continue;
    if (op.getNumRegions() || !isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) ||
        !OpTrait::hasElementwiseMappableTraits(&op))
      return false;
  }
  auto plain = [](Type type) {
    auto element = dyn_cast<FloatType>(type);
    return element ? element.getWidth() > 8 : isa<IntegerType>(type);
  };
  return llvm::all_of(region.front().getArgumentTypes(), plain);
}

SmallVector<Value> emitRegion(OpBuilder &builder, Region &region, ArrayRef<Value> arguments) {
  Block &block = region.front();
  std::optional<int64_t> lanes;
  for (Value argument : arguments)
    if (auto type = dyn_cast<VectorType>(argument.getType()))
      lanes = type.getNumElements();
  IRMapping map;
  for (auto [parameter, argument] : llvm::zip(block.getArguments(), arguments)) {
    Value value = argument;
    // A region of scalar operations sees the types it was written for.
    if (!lanes && value.getType() != parameter.getType())
      value =
          UnrealizedConversionCastOp::create(builder, value.getLoc(), parameter.getType(), value)
              .getResult(0);
    map.map(parameter, value);
  }
  for (Operation &op : block.without_terminator()) {
    if (!lanes) {
      builder.clone(op, map);
      continue;
    }
    auto widen = [&](Value value) -> Value {
      if (isa<VectorType>(value.getType()))
        return value;
      return vector::BroadcastOp::create(builder, op.getLoc(),
                                         VectorType::get({*lanes}, value.getType()), value);
    };
    if (isa<arith::ConstantOp>(op)) {
      Operation *copy = builder.clone(op);
      map.map(op.getResult(0), copy->getResult(0));
      continue;
    }
    OperationState state(op.getLoc(), op.getName());
    for (Value operand : op.getOperands())
      state.addOperands(widen(map.lookupOrDefault(operand)));
    for (Type type : op.getResultTypes())
      state.addTypes(VectorType::get({*lanes}, type));
    for (NamedAttribute attr : op.getAttrs())
      state.addAttribute(attr.getName(), attr.getValue());
    Operation *copy = builder.create(state);
    for (auto [from, to] : llvm::zip(op.getResults(), copy->getResults()))
      map.map(from, to);
  }
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands()) {
    Value result = map.lookupOrDefault(value);
    Type computed = getComputeType(value.getType(), /*isVector=*/false);
    if (lanes && !isa<VectorType>(result.getType()))
      result = vector::BroadcastOp::create(builder, result.getLoc(),
                                           VectorType::get({*lanes}, result.getType()), result);
    else if (!lanes && result.getType() != computed)
      result = UnrealizedConversionCastOp::create(builder, result.getLoc(), computed, result)
                   .getResult(0);
    results.push_back(result);
  }
  return results;
}

SmallVector<Value> combine(OpBuilder &builder, Region &region, ValueRange left, ValueRange right) {
  SmallVector<Value> arguments(left);
  llvm::append_range(arguments, right);
  return emitRegion(builder, region, arguments);
}

TypedAttr getNeutralElement(Region &region) {
  if (!region.hasOneBlock() || region.front().getNumArguments() != 2)
    return {};
  Block &block = region.front();
  if (!llvm::hasNItems(block, 2))
    return {};
  Operation *op = &block.front();
  if (op->getNumOperands() != 2 || op->getNumResults() != 1 ||
      block.getTerminator()->getOperand(0) != op->getResult(0))
    return {};
  bool both =
      (op->getOperand(0) == block.getArgument(0) && op->getOperand(1) == block.getArgument(1)) ||
      (op->getOperand(0) == block.getArgument(1) && op->getOperand(1) == block.getArgument(0));
  if (!both)
    return {};
  Type type = op->getResult(0).getType();
  Builder builder(type.getContext());
  auto integer = [&](APInt value) -> TypedAttr { return builder.getIntegerAttr(type, value); };
  unsigned bits = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
  auto semantics = [&]() -> const llvm::fltSemantics & {
    return cast<FloatType>(type).getFloatSemantics();
  };
  return TypeSwitch<Operation *, TypedAttr>(op)
      .Case<arith::AddFOp>(
          [&](auto) { return builder.getFloatAttr(type, APFloat::getZero(semantics(), true)); })
      .Case<arith::MulFOp>([&](auto) { return builder.getFloatAttr(type, 1.0); })
      .Case<arith::MaximumFOp>(
          [&](auto) { return builder.getFloatAttr(type, APFloat::getInf(semantics(), true)); })
      .Case<arith::MinimumFOp>(
          [&](auto) { return builder.getFloatAttr(type, APFloat::getInf(semantics())); })
      // The other operand wins against a NaN.
      .Case<arith::MaxNumFOp, arith::MinNumFOp>(
          [&](auto) { return builder.getFloatAttr(type, APFloat::getQNaN(semantics())); })
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [&](auto) { return integer(APInt::getZero(bits)); })
      .Case<arith::MulIOp>([&](auto) { return integer(APInt(bits, 1)); })
      .Case<arith::AndIOp, arith::MinUIOp>([&](auto) { return integer(APInt::getAllOnes(bits)); })
      .Case<arith::MaxSIOp>([&](auto) { return integer(APInt::getSignedMinValue(bits)); })
      .Case<arith::MinSIOp>([&](auto) { return integer(APInt::getSignedMaxValue(bits)); })
      .Default([](Operation *) { return TypedAttr(); });
}

SmallVector<Value> combineLanes(OpBuilder &builder, Location loc, Region &region,
                                ValueRange vectors) {
  SmallVector<Value> values(vectors);
  int64_t lanes = cast<VectorType>(values[0].getType()).getNumElements();
  assert(llvm::isPowerOf2_64(lanes));
  for (; lanes > 1; lanes /= 2) {
    SmallVector<Value> low, high;
    for (Value value : values) {
      auto first = llvm::to_vector(llvm::seq<int64_t>(0, lanes / 2));
      auto second = llvm::to_vector(llvm::seq<int64_t>(lanes / 2, lanes));
      low.push_back(vector::ShuffleOp::create(builder, loc, value, value, first));
      high.push_back(vector::ShuffleOp::create(builder, loc, value, value, second));
    }
    values = combine(builder, region, low, high);
  }
  for (Value &value : values)
    value = vector::ExtractOp::create(builder, loc, value, ArrayRef<int64_t>{0});
  return values;
}

} // namespace nereid::tiles
