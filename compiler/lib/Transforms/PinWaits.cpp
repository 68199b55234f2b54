// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Transforms/Passes.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDPINWAITS
#include "nereid/Transforms/Passes.h.inc"

namespace {
struct PinWaits : impl::NereidPinWaitsBase<PinWaits> {
  void runOnOperation() override {
    getOperation()->walk([](distributed::WaitOp wait) { wait.setBarrier(true); });
  }
};
} // namespace
} // namespace nereid
