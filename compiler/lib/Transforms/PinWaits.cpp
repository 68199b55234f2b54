// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Transforms/Passes.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDPINWAITS
#include "nereid/Transforms/Passes.h.inc"

namespace {
struct PinWaits : impl::NereidPinWaitsBase<PinWaits> {
  void runOnOperation() override {
    getOperation()->walk([](mlir::Operation *op) {
      if (auto wait = mlir::dyn_cast<distributed::WaitOp>(op)) {
        wait.setBarrier(true);
      } else if (auto consume = mlir::dyn_cast<distributed::ConsumeTokenOp>(op)) {
        consume.replaceAllUsesWith(consume.getValue());
        consume.erase();
      }
    });
  }
};
} // namespace
} // namespace nereid
