// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Support/AttributeNames.h"
#include "nereid/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDINSTRUMENTACCESSES
#include "nereid/Transforms/Passes.h.inc"

using namespace mlir;
using distributed::AccessKind;
using distributed::AccessOp;

namespace {
struct InstrumentAccesses : impl::NereidInstrumentAccessesBase<InstrumentAccesses> {
  void runOnOperation() override {
    SmallVector<Operation *> accesses;
    getOperation()->walk([&](Operation *op) {
      if (isa<tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp, tt::AtomicPollOp>(op))
        accesses.push_back(op);
    });
    for (Operation *op : accesses)
      instrument(op);
  }

private:
  static void instrument(Operation *op) {
    OpBuilder builder(op);
    // Threads of a program order their memory by accesses of single words.
    bool orders =
        isa<tt::AtomicRMWOp, tt::AtomicCASOp, tt::AtomicPollOp>(op) || op->hasAttr(attr::order);
    if (orders)
      return op->setAttr(attr::observed, builder.getUnitAttr());
    if (auto load = dyn_cast<tt::LoadOp>(op)) {
      bool isVolatile = load.getIsVolatile() || (load.getCache() == tt::CacheModifier::CV &&
                                                 !isa<RankedTensorType>(load.getType()));
      auto access = AccessOp::create(builder, op->getLoc(), AccessKind::READ, load.getPtr(),
                                     load.getMask(), isVolatile);
      if (Attribute tokens = load->getAttr(attr::tokens))
        access->setAttr(attr::tokens, tokens);
    } else {
      auto store = cast<tt::StoreOp>(op);
      AccessOp::create(builder, op->getLoc(), AccessKind::WRITE, store.getPtr(), store.getMask(),
                       /*isVolatile=*/false);
    }
  }
};
} // namespace
} // namespace nereid
