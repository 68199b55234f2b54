// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What keeps Triton from losing waits: no warp specialisation, no flattened loop
// around them.
#include "Target/CUDA/Passes.h"

#include "nereid/Dialect/Distributed/IR/Distributed.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDCUDARESTRICTLOOPS
#include "Target/CUDA/Passes.h.inc"

using namespace mlir;

namespace {

struct RestrictLoops : impl::NereidCUDARestrictLoopsBase<RestrictLoops> {
  void runOnOperation() override {
    auto isBetweenRanks = [](Operation *op) {
      return isa<distributed::DistributedDialect>(op->getDialect());
    };
    auto contains = [&](Operation *op) {
      return op
          ->walk([&](Operation *inner) {
            return isBetweenRanks(inner) ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
    };
    if (!contains(getOperation()))
      return;
    getOperation().walk([&](scf::ForOp loop) {
      if (loop->removeAttr("tt.warp_specialize"))
        emitWarning(loop.getLoc())
            << "warp_specialize has no effect in a kernel with operations between ranks: Triton "
               "would lose them";
      if (contains(loop))
        loop->removeAttr("tt.flatten");
    });
  }
};

} // namespace
} // namespace nereid
