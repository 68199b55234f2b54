// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Support/AttributeNames.h"
#include "nereid/Transforms/Passes.h"
#include "nereid/Transforms/ValueFlow.h"

#include "llvm/ADT/SetVector.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDINFERSYMMETRICARGS
#include "nereid/Transforms/Passes.h.inc"

using namespace mlir;

namespace {

struct InferSymmetricArgs : impl::NereidInferSymmetricArgsBase<InferSymmetricArgs> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    CallGraph calls(module);
    llvm::SetVector<Value> worklist;
    module.walk([&](Operation *op) {
      if (auto symmAt = dyn_cast<distributed::SymmAtOp>(op)) {
        worklist.insert(symmAt.getPtr());
      } else if (auto notify = dyn_cast<distributed::NotifyOp>(op)) {
        worklist.insert(notify.getSignal());
      } else if (auto call = dyn_cast<distributed::ExternCallOp>(op)) {
        for (auto [operand, role] : llvm::zip(call.getSrcs(), call.getFunction().operands()))
          if (distributed::isSymmetric(role))
            worklist.insert(operand);
      }
    });
    for (size_t i = 0; i < worklist.size(); ++i) {
      Value value = worklist[i];
      SmallVector<Value> sources;
      if (getSourceValues(value, calls, sources)) {
        worklist.insert(sources.begin(), sources.end());
        continue;
      }
      if (auto argument = dyn_cast<BlockArgument>(value)) {
        if (auto function = dyn_cast<tt::FuncOp>(argument.getOwner()->getParentOp()))
          function.setArgAttr(argument.getArgNumber(), attr::symmetric,
                              UnitAttr::get(&getContext()));
        continue;
      }
      // The base that an address was made from is the first operand; of symm_at
      // it was looked at already.
      if (isa<tt::AddPtrOp, tt::BitcastOp, tt::SplatOp, tt::UnsplatOp, tt::BroadcastOp,
              tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp, tt::MakeTensorPtrOp, tt::AdvanceOp,
              tt::IntToPtrOp, tt::PtrToIntOp, distributed::ConsumeTokenOp>(value.getDefiningOp()))
        worklist.insert(value.getDefiningOp()->getOperand(0));
    }
  }
};

} // namespace
} // namespace nereid
