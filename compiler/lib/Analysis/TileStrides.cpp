// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both questions (the stride, the sign) walk from a value to what it is made
// of, and remember what they found. The entry is made before the walk, with the
// answer "unknown" or "may be negative", so that a value that depends on itself
// ends there instead of for ever.
//
// The arithmetic of strides, for each dimension alone:
//
//   make_range 1; splat, constant, dimension of size 1: 0
//   x + y, x - y, addptr     the sum or difference of two constants; unknown if either is;
//                            otherwise linear: even, but known at run time only
//   x * c, x << c            times the constant; linear where c is uniform but not a constant
//   shape operations         the stride of the dimension that it came from
//   elementwise otherwise    0 when all operands are uniform, else unknown
#include "nereid/Analysis/TileStrides.h"

#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"

#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nereid {

static RankedTensorType tensorOf(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

std::optional<int64_t> TileStrides::getConstant(Value value) {
  if (auto splat = value.getDefiningOp<tt::SplatOp>())
    return getConstant(splat.getSrc());
  if (auto broadcast = value.getDefiningOp<tt::BroadcastOp>())
    return getConstant(broadcast.getSrc());
  if (auto expand = value.getDefiningOp<tt::ExpandDimsOp>())
    return getConstant(expand.getSrc());
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  if (auto dense = dyn_cast<DenseElementsAttr>(attr)) {
    if (!dense.isSplat() || !dense.getElementType().isInteger())
      return std::nullopt;
    return dense.getSplatValue<APInt>().getSExtValue();
  }
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    return integer.getValue().getSExtValue();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Sign
//===----------------------------------------------------------------------===//

bool TileStrides::isNonNegative(Value value) {
  auto [it, inserted] = nonNegative.try_emplace(value, false);
  if (!inserted)
    return it->second;
  bool result = computeNonNegative(value);
  nonNegative[value] = result;
  return result;
}

bool TileStrides::computeNonNegative(Value value) {
  if (auto constant = getConstant(value))
    return *constant >= 0;
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto range = dyn_cast<tt::MakeRangeOp>(op))
    return int32_t(range.getStart()) >= 0;
  if (isa<tt::GetProgramIdOp, tt::GetNumProgramsOp>(op))
    return true;
  if (isa<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::TransOp, tt::ReshapeOp,
          arith::ExtSIOp>(op))
    return isNonNegative(op->getOperand(0));
  if (isa<arith::ExtUIOp>(op))
    return true;
  if (isa<arith::AddIOp, arith::MulIOp, arith::DivSIOp, arith::RemSIOp, arith::MinSIOp>(op)) {
    // The remainder has the sign of the dividend.
    if (isa<arith::RemSIOp>(op))
      return isNonNegative(op->getOperand(0));
    return isNonNegative(op->getOperand(0)) && isNonNegative(op->getOperand(1));
  }
  if (isa<arith::MaxSIOp, arith::AndIOp>(op))
    return isNonNegative(op->getOperand(0)) || isNonNegative(op->getOperand(1));
  if (auto divisor = dyn_cast<arith::RemUIOp>(op))
    return isNonNegative(divisor.getRhs());
  if (auto shift = dyn_cast<arith::ShRUIOp>(op)) {
    auto amount = getConstant(shift.getRhs());
    return amount && *amount > 0;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Strides
//===----------------------------------------------------------------------===//

static TileStride addStrides(TileStride a, TileStride b, int64_t sign = 1) {
  if (a.isConstant() && b.isConstant())
    return TileStride::constant(a.value + sign * b.value);
  if (a.kind == TileStride::Unknown || b.kind == TileStride::Unknown)
    return TileStride::unknown();
  return TileStride::linear();
}

/// Stride of x * factor where `factor` is uniform along the dimension.
static TileStride scaleStride(TileStride x, std::optional<int64_t> factor) {
  if (x.isUniform() || x.kind == TileStride::Unknown)
    return x;
  if (factor && x.isConstant())
    return TileStride::constant(x.value * *factor);
  return factor && *factor == 0 ? TileStride::constant(0) : TileStride::linear();
}

/// Row-major strides of a shape.
static SmallVector<int64_t> suffixProducts(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result(shape.size(), 1);
  for (int64_t d = int64_t(shape.size()) - 2; d >= 0; --d)
    result[d] = result[d + 1] * shape[d + 1];
  return result;
}

/// A reshape keeps the row-major order, so a dimension of the result is a run
/// of source dimensions, a piece of one, or neither.
static TileStride reshapeStride(TileStrides &strides, Value src, RankedTensorType result,
                                unsigned dim) {
  ArrayRef<int64_t> srcShape = tensorOf(src).getShape();
  int64_t step =
      suffixProducts(result.getShape())[dim]; // source elements from one neighbour to the next
  int64_t span = step * result.getDimSize(dim);
  SmallVector<int64_t> srcSteps = suffixProducts(srcShape);
  std::optional<int64_t> perElement; // stride / step, when constant
  std::optional<TileStride> whole;
  for (size_t e = 0; e < srcShape.size(); ++e) {
    int64_t srcSpan = srcSteps[e] * srcShape[e];
    if (srcShape[e] == 1 || srcSpan <= step || srcSteps[e] >= span)
      continue; // varies faster or slower than this dimension
    TileStride stride = strides.get(src, e);
    // The dimension is cut unevenly.
    if ((srcSteps[e] < step && step % srcSteps[e]) || (srcSteps[e] >= step && srcSteps[e] % step) ||
        (srcSpan < span ? span % srcSpan : srcSpan % span))
      return TileStride::unknown();
    if (srcSteps[e] < step) {
      // Several source neighbours per step.
      stride = scaleStride(stride, step / srcSteps[e]);
    } else if (srcSteps[e] > step) {
      // An outer source dimension: its stride must continue the inner ones'.
      if (!stride.isConstant() || stride.value % (srcSteps[e] / step))
        return TileStride::unknown();
      stride = TileStride::constant(stride.value / (srcSteps[e] / step));
    }
    if (whole && !(stride.isConstant() && *whole == stride))
      return TileStride::unknown();
    whole = stride;
  }
  return whole.value_or(TileStride::constant(0));
}

/// The entry is made before the answer is known: a value that depends on itself finds "unknown".
TileStride TileStrides::get(Value value, unsigned dim) {
  auto [it, inserted] = strides.try_emplace({value, dim}, TileStride::unknown());
  if (!inserted)
    return it->second;
  TileStride result = compute(value, dim);
  strides[{value, dim}] = result;
  return result;
}

/// The user's promise that the values are contiguous along the whole dimension.
static bool isPromisedContiguous(Operation *op, unsigned dim, int64_t size) {
  auto hint = op->getAttrOfType<DenseElementsAttr>("tt.contiguity");
  if (!hint || !hint.getElementType().isInteger())
    return false;
  if (hint.isSplat())
    return hint.getNumElements() > dim && hint.getSplatValue<APInt>().getSExtValue() >= size;
  auto values = hint.getValues<APInt>();
  return int64_t(dim) < hint.getNumElements() && values[dim].getSExtValue() >= size;
}

TileStride TileStrides::compute(Value value, unsigned dim) {
  RankedTensorType type = tensorOf(value);
  if (!type || type.getDimSize(dim) == 1)
    return TileStride::constant(0);
  if (getConstant(value))
    return TileStride::constant(0);
  Operation *op = value.getDefiningOp();
  if (!op)
    return TileStride::unknown();
  if (isPromisedContiguous(op, dim, type.getDimSize(dim)))
    return TileStride::constant(1);

  auto of = [&](unsigned operand) { return get(op->getOperand(operand), dim); };
  auto uniformIfOperandsAre = [&]() {
    for (Value operand : op->getOperands())
      if (tensorOf(operand) && !get(operand, dim).isUniform())
        return TileStride::unknown();
    return TileStride::constant(0);
  };

  return TypeSwitch<Operation *, TileStride>(op)
      .Case<tt::SplatOp, ub::PoisonOp>([](auto) { return TileStride::constant(0); })
      .Case<arith::ConstantOp>([](arith::ConstantOp constant) {
        auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
        return dense && dense.isSplat() ? TileStride::constant(0) : TileStride::unknown();
      })
      .Case<tt::MakeRangeOp>([](auto) { return TileStride::constant(1); })
      .Case<tt::ExpandDimsOp>([&](tt::ExpandDimsOp expand) {
        unsigned axis = expand.getAxis();
        return dim == axis ? TileStride::constant(0)
                           : get(expand.getSrc(), dim < axis ? dim : dim - 1);
      })
      .Case<tt::BroadcastOp>([&](tt::BroadcastOp broadcast) {
        return tensorOf(broadcast.getSrc()).getDimSize(dim) == 1 ? TileStride::constant(0) : of(0);
      })
      .Case<tt::TransOp>(
          [&](tt::TransOp trans) { return get(trans.getSrc(), trans.getOrder()[dim]); })
      .Case<tt::ReshapeOp>(
          [&](tt::ReshapeOp reshape) { return reshapeStride(*this, reshape.getSrc(), type, dim); })
      .Case<arith::AddIOp>([&](auto) { return addStrides(of(0), of(1)); })
      .Case<arith::SubIOp>([&](auto) { return addStrides(of(0), of(1), -1); })
      .Case<tt::AddPtrOp>([&](auto) { return addStrides(of(0), of(1)); })
      .Case<arith::MulIOp>([&](auto) {
        if (of(1).isUniform())
          return scaleStride(of(0), getConstant(op->getOperand(1)));
        if (of(0).isUniform())
          return scaleStride(of(1), getConstant(op->getOperand(0)));
        return TileStride::unknown();
      })
      .Case<arith::ShLIOp>([&](auto) {
        if (!of(1).isUniform())
          return TileStride::unknown();
        auto amount = getConstant(op->getOperand(1));
        if (amount && (*amount < 0 || *amount > 62))
          return TileStride::unknown();
        return scaleStride(of(0),
                           amount ? std::optional<int64_t>(int64_t(1) << *amount) : std::nullopt);
      })
      .Case<arith::RemSIOp, arith::RemUIOp>(
          [&](auto) { return unwrapped && of(1).isUniform() ? of(0) : uniformIfOperandsAre(); })
      .Case<arith::ExtSIOp, arith::TruncIOp>([&](auto cast) {
        // Bits are not numbers: i1 true is -1 when sign-extended.
        if (getElementTypeOrSelf(cast.getIn()).isInteger(1) ||
            getElementTypeOrSelf(cast.getType()).isInteger(1))
          return uniformIfOperandsAre();
        // Narrow index types wrap early: only 32 and 64 bits count as indices.
        if (getElementTypeOrSelf(cast.getIn()).getIntOrFloatBitWidth() < 32 ||
            getElementTypeOrSelf(cast.getType()).getIntOrFloatBitWidth() < 32)
          return uniformIfOperandsAre();
        return of(0);
      })
      .Case<arith::ExtUIOp>([&](arith::ExtUIOp cast) {
        if (getElementTypeOrSelf(cast.getIn()).getIntOrFloatBitWidth() >= 32 &&
            isNonNegative(cast.getIn()))
          return of(0);
        return uniformIfOperandsAre();
      })
      .Case<distributed::ConsumeTokenOp>([&](auto) { return of(0); })
      .Case<tt::BitcastOp>([&](tt::BitcastOp cast) {
        auto from = dyn_cast<tt::PointerType>(getElementTypeOrSelf(cast.getSrc()));
        auto to = dyn_cast<tt::PointerType>(getElementTypeOrSelf(cast.getType()));
        if (!from || !to)
          return uniformIfOperandsAre();
        auto bytes = [](tt::PointerType type) {
          return int64_t(std::max(8u, tt::getElementBits(type.getPointeeType())) / 8);
        };
        TileStride stride = of(0);
        if (bytes(from) == bytes(to) || !stride.isConstant())
          return stride;
        if (stride.value * bytes(from) % bytes(to))
          return uniformIfOperandsAre();
        return TileStride::constant(stride.value * bytes(from) / bytes(to));
      })
      .Case<arith::SelectOp>([&](arith::SelectOp select) {
        bool uniform = !tensorOf(select.getCondition()) || of(0).isUniform();
        if (uniform && of(1).isConstant() && of(1) == of(2))
          return of(1);
        return uniformIfOperandsAre();
      })
      .Case<tt::LoadOp>([&](tt::LoadOp load) {
        return load.getIsVolatile() ? TileStride::unknown() : uniformIfOperandsAre();
      })
      .Case<tt::FpToFpOp, tt::ClampFOp, tt::PreciseSqrtOp, tt::PreciseDivFOp, tt::MulhiUIOp,
            tt::IntToPtrOp, tt::PtrToIntOp>([&](auto) { return uniformIfOperandsAre(); })
      .Default([&](Operation *other) {
        return OpTrait::hasElementwiseMappableTraits(other) ? uniformIfOperandsAre()
                                                            : TileStride::unknown();
      });
}

} // namespace nereid
