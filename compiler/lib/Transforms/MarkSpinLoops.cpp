// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which loops wait for another program, and whether a kernel can block at all.
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Support/AttributeNames.h"
#include "nereid/Support/SpeedRemarks.h"
#include "nereid/Transforms/Passes.h"

#include "llvm/ADT/SetVector.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDMARKSPINLOOPS
#include "nereid/Transforms/Passes.h.inc"

using namespace mlir;

namespace {

/// May what `op` yields change because of what other programs do? Any load
/// counts, plain ones too: with a loop that polls several flags in turn, not
/// even the address stays the same.
bool readsSharedState(Operation *op) {
  if (auto call = dyn_cast<distributed::ExternCallOp>(op))
    return !call.getPure();
  // What a device function reads is not looked at.
  return isa<tt::LoadOp, tt::DescriptorLoadOp, tt::DescriptorGatherOp, tt::AtomicRMWOp,
             tt::AtomicCASOp, tt::AtomicPollOp, tt::CallOp>(op);
}

/// Walks backwards from the loop's condition through everything computed in it.
bool spins(scf::WhileOp loop) {
  llvm::SetVector<Value> worklist;
  auto enqueue = [&](Value value) {
    if (!loop.isDefinedOutsideOfLoop(value))
      worklist.insert(value);
  };
  enqueue(loop.getConditionOp().getCondition());
  for (size_t i = 0; i < worklist.size(); ++i) {
    Value value = worklist[i];
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *parent = argument.getOwner()->getParentOp();
      unsigned index = argument.getArgNumber();
      if (parent == loop) {
        // Carried: what the previous iteration left.
        enqueue(argument.getOwner() == loop.getBeforeBody()
                    ? loop.getYieldOp().getOperand(index)
                    : loop.getConditionOp().getArgs()[index]);
      } else {
        // Of a loop or a region inside: all that the operation takes and yields.
        parent->walk([&](Operation *inner) {
          if (inner->hasTrait<OpTrait::IsTerminator>())
            for (Value operand : inner->getOperands())
              enqueue(operand);
        });
        for (Value operand : parent->getOperands())
          enqueue(operand);
      }
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (readsSharedState(op))
      return true;
    for (Value operand : op->getOperands())
      enqueue(operand);
    for (Region &region : op->getRegions())
      region.walk([&](Operation *inner) {
        if (inner->hasTrait<OpTrait::IsTerminator>())
          for (Value operand : inner->getOperands())
            enqueue(operand);
      });
  }
  return false;
}

struct MarkSpinLoops : impl::NereidMarkSpinLoopsBase<MarkSpinLoops> {
  void runOnOperation() override {
    bool blocking = false;
    getOperation().walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        if (!spins(loop))
          return;
        blocking = true;
        sayOfSpeed(loop,
                   "loop: its end depends on memory, so it may wait for another program: it counts "
                   "its rounds and gives way now and then",
                   "a loop whose end depends on arguments alone does neither");
        auto yields = loop.getAfterBody()->getOps<distributed::YieldOp>();
        if (yields.empty()) {
          OpBuilder builder(loop.getYieldOp());
          distributed::YieldOp::create(builder, loop.getLoc());
        }
      } else if (auto call = dyn_cast<distributed::ExternCallOp>(op)) {
        blocking |= call.getFunction().blocks();
      } else if (isa<distributed::WaitOp, distributed::YieldOp, tt::AtomicPollOp>(op)) {
        blocking = true;
      }
    });
    getOperation()->setAttr(attr::blocking, BoolAttr::get(&getContext(), blocking));
  }
};

} // namespace
} // namespace nereid
