// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of loop ranges without a call. Triton makes a call of an assertion, and where
// a kernel has a call, ptxas runs its matrix instructions one after the other.
#include "Target/CUDA/Passes.h"
#include "nereid/Transforms/Passes.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDCUDATRAPRANGES
#include "Target/CUDA/Passes.h.inc"

using namespace mlir;

namespace {

struct TrapRanges : impl::NereidCUDATrapRangesBase<TrapRanges> {
  void runOnOperation() override {
    bool hasProduct = getOperation()
                          ->walk([](Operation *op) {
                            return isa<tt::DotOp, tt::DotScaledOp>(op) ? WalkResult::interrupt()
                                                                       : WalkResult::advance();
                          })
                          .wasInterrupted();
    if (hasProduct)
      getOperation().walk([](tt::AssertOp check) {
        if (check->hasAttr(rangeCheckAttrName))
          trap(check);
      });
  }

private:
  static void trap(tt::AssertOp check) {
    OpBuilder b(check);
    Location loc = check.getLoc();
    Value holds = arith::ExtUIOp::create(b, loc, b.getI32Type(), check.getCondition());
    tt::ElementwiseInlineAsmOp::create(
        b, loc, TypeRange{b.getI32Type()},
        b.getStringAttr("{ .reg .pred p;\nsetp.eq.u32 p, $1, 0; @p trap;\nmov.u32 $0, 0;\n}"),
        b.getStringAttr("=r,r"), /*pure=*/b.getBoolAttr(false), b.getI32IntegerAttr(1),
        ValueRange{holds});
    check.erase();
  }
};

} // namespace
} // namespace nereid
