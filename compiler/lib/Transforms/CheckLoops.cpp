// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace nereid {
#define GEN_PASS_DEF_NEREIDCHECKLOOPS
#include "nereid/Transforms/Passes.h.inc"

namespace {
struct CheckLoops : impl::NereidCheckLoopsBase<CheckLoops> {
  void runOnOperation() override {
    getOperation()->walk([](scf::ForOp loop) { check(loop); });
  }

  static void check(scf::ForOp loop) {
    auto type = dyn_cast<IntegerType>(loop.getStep().getType());
    APInt step, end, begin;
    bool knowsStep = matchPattern(loop.getStep(), m_ConstantInt(&step));
    if (!type || (knowsStep && step.isOne()))
      return;
    bool isUnsigned = loop.getUnsignedCmp();
    unsigned width = type.getWidth();
    APInt most = isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);

    OpBuilder builder(loop);
    Location loc = loop.getLoc();
    auto constant = [&](const APInt &value) -> Value {
      return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
    };
    auto compare = [&](arith::CmpIPredicate isSigned, arith::CmpIPredicate notSigned, Value a,
                       Value b) -> Value {
      return arith::CmpIOp::create(builder, loc, isUnsigned ? notSigned : isSigned, a, b);
    };
    auto assertThat = [&](Value holds, const Twine &message) {
      auto check = tt::AssertOp::create(builder, loc, holds, message.str());
      check->setAttr(rangeCheckAttrName, builder.getUnitAttr());
    };
    if (!knowsStep) {
      Value holds = compare(arith::CmpIPredicate::sgt, arith::CmpIPredicate::ugt, loop.getStep(),
                            constant(APInt::getZero(width)));
      assertThat(
          holds,
          "the step of this range is not positive; a range that counts down needs a constant step");
    } else if (matchPattern(loop.getUpperBound(), m_ConstantInt(&end))) {
      // A constant that fits, as nearly all do.
      APInt room = most - (step - 1);
      if (isUnsigned ? end.ule(room) : end.sle(room))
        return;
    }
    // end <= most - (step - 1), or there is no round at all.
    Value one = constant(APInt(width, 1));
    Value room = arith::SubIOp::create(builder, loc, constant(most),
                                       arith::SubIOp::create(builder, loc, loop.getStep(), one));
    Value fits =
        compare(arith::CmpIPredicate::sle, arith::CmpIPredicate::ule, loop.getUpperBound(), room);
    Value empty = compare(arith::CmpIPredicate::sge, arith::CmpIPredicate::uge,
                          loop.getLowerBound(), loop.getUpperBound());
    assertThat(arith::OrIOp::create(builder, loc, fits, empty),
               Twine("the end of this range and one step do not fit in ") +
                   (isUnsigned ? "u" : "") + "int" + Twine(width) +
                   (width < 64 ? "; make the bounds 64 bits wide: n.to(tl.int64)" : ""));
  }
};
} // namespace
} // namespace nereid
