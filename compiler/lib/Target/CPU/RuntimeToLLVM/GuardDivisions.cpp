// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile divides in all of its lanes, those that a mask drops included, and x86
// stops the process at x / 0 and at the smallest number / -1. So the divisor is
// 1 in such a lane: the quotient is a number that nobody should look at, as on
// other devices. Shifts by the width or more are undefined in LLVM, and
// processors differ in what they give; here they give what shifting step by
// step gives.
#include "Target/CPU/RuntimeToLLVM/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDCPUGUARDDIVISIONS
#include "Target/CPU/RuntimeToLLVM/Passes.h.inc"
} // namespace nereid

using namespace mlir;

/// A scalar or a splat of `value`.
static Value constant(OpBuilder &builder, Location loc, Type type, const APInt &value) {
  auto element = builder.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto shaped = dyn_cast<ShapedType>(type))
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(shaped, Attribute(element)));
  return arith::ConstantOp::create(builder, loc, element);
}

/// A constant (or splat) that neither is 0 nor can overflow.
static bool isHarmless(Value divisor) {
  APInt value;
  return matchPattern(divisor, m_ConstantInt(&value)) && !value.isZero() && !value.isAllOnes();
}

static void guard(Operation *op, bool isSigned) {
  Value dividend = op->getOperand(0), divisor = op->getOperand(1);
  if (isHarmless(divisor))
    return;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Type type = divisor.getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  auto equals = [&](Value value, const APInt &to) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, value,
                                 constant(builder, loc, type, to));
  };
  Value bad = equals(divisor, APInt::getZero(width));
  if (isSigned) {
    Value overflow = arith::AndIOp::create(builder, loc, equals(divisor, APInt::getAllOnes(width)),
                                           equals(dividend, APInt::getSignedMinValue(width)));
    bad = arith::OrIOp::create(builder, loc, bad, overflow);
  }
  Value one = constant(builder, loc, type, APInt(width, 1));
  op->setOperand(1, arith::SelectOp::create(builder, loc, bad, one, divisor));
}

/// Shifts by the width or more (negative amounts are such) give what shifting
/// step by step gives: zeros, or copies of the sign.
static void guardShift(Operation *op) {
  Value x = op->getOperand(0), amount = op->getOperand(1);
  Type type = amount.getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  APInt known;
  if (matchPattern(amount, m_ConstantInt(&known)) && known.ult(width))
    return;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value last = constant(builder, loc, type, APInt(width, width - 1));
  Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, amount, last);
  op->setOperand(1, arith::SelectOp::create(builder, loc, inside, amount, last));
  if (isa<arith::ShRSIOp>(op))
    return;
  builder.setInsertionPointAfter(op);
  Value zero = constant(builder, loc, x.getType(), APInt::getZero(width));
  auto result = arith::SelectOp::create(builder, loc, inside, op->getResult(0), zero);
  op->getResult(0).replaceAllUsesExcept(result, result);
}

namespace {
struct GuardDivisions : nereid::impl::NereidCPUGuardDivisionsBase<GuardDivisions> {
  void runOnOperation() override {
    SmallVector<Operation *> shifts;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::DivSIOp, arith::RemSIOp>(op))
        guard(op, /*isSigned=*/true);
      else if (isa<arith::DivUIOp, arith::RemUIOp>(op))
        guard(op, /*isSigned=*/false);
      else if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
        shifts.push_back(op);
    });
    llvm::for_each(shifts, guardShift);
  }
};
} // namespace
