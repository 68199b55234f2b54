// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Transforms/Passes.h"
#include "nereid/Transforms/ValueFlow.h"

#include "llvm/ADT/SetVector.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDINFERSYMMETRICARGS
#include "nereid/Transforms/Passes.h.inc"

using namespace mlir;

namespace {

/// Operands of a library function that have to lie in the symmetric heap: what
/// is accessed on another rank, and signals.
SmallVector<unsigned, 2> getSymmetricOperands(StringRef symbol) {
  if (symbol.starts_with("putmem_signal"))
    return {0, 3};
  if (symbol.starts_with("putmem"))
    return {0};
  if (symbol.starts_with("getmem"))
    return {1};
  if (symbol.starts_with("remote_mc_ptr"))
    return {1};
  if (symbol.starts_with("broadcast") || symbol.starts_with("fcollect"))
    return {2};
  if (symbol.starts_with("remote_ptr") || symbol.starts_with("signal") ||
      symbol.contains("wait_until") || symbol.contains("atomic") || symbol == "p" ||
      symbol == "g" || symbol.ends_with("_p") || symbol.ends_with("_g"))
    return {0};
  return {};
}

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
        for (unsigned index : getSymmetricOperands(call.getSymbol()))
          if (index < call.getSrcs().size() && tt::isPointerLike(call.getSrcs()[index].getType()))
            worklist.insert(call.getSrcs()[index]);
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
          function.setArgAttr(argument.getArgNumber(), "nereid.symmetric",
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
