// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A wait orders only what its token reaches. This pass follows tokens, and says
// so when one reaches nothing.
//
// Two walks do the work. follow() goes forwards from a token to everything that
// is computed from it, through control flow and calls: an access of memory, or
// a branch that decides about one, is what the wait orders. getBases() goes
// backwards from a pointer to the arguments that it is made of, for the report:
// accesses of memory that other ranks write, below the wait, are probably the
// ones that should have consumed the token, and the message names up to three.
//
// With `pin`, every wait that is left becomes a barrier afterwards: the check
// is about what the user has written, while later passes should not have to
// follow tokens.
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Support/AttributeNames.h"
#include "nereid/Support/PassDiagnostics.h"
#include "nereid/Transforms/Passes.h"
#include "nereid/Transforms/ValueFlow.h"

#include "llvm/ADT/SetVector.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDCHECKTOKENS
#include "nereid/Transforms/Passes.h.inc"

using namespace mlir;
using distributed::ConsumeTokenOp;
using distributed::WaitOp;

namespace {

/// What a token, or a pointer that consumed one, ends in.
struct Reach {
  /// An access to memory, or the decision whether one happens.
  bool access = false;
  /// The consume_token ops on the way.
  SmallVector<ConsumeTokenOp> consumers;
};

Reach follow(Value start, const CallGraph &calls) {
  Reach reach;
  llvm::SetVector<Value> worklist;
  worklist.insert(start);
  for (size_t i = 0; i < worklist.size(); ++i) {
    for (OpOperand &use : worklist[i].getUses()) {
      Operation *op = use.getOwner();
      SmallVector<Value> targets;
      switch (getForwardedValues(use, calls, targets)) {
      case UseKind::Forwarded:
        worklist.insert(targets.begin(), targets.end());
        continue;
      case UseKind::Control:
        // The token decides about the code of a region, or of a successor.
        reach.access |=
            op->getNumSuccessors() > 0 || !isMemoryEffectFree(op) || isa<scf::ConditionOp>(op);
        worklist.insert(op->result_begin(), op->result_end());
        continue;
      case UseKind::Other:
        break;
      }
      if (auto consume = dyn_cast<ConsumeTokenOp>(op)) {
        if (!llvm::is_contained(reach.consumers, consume))
          reach.consumers.push_back(consume);
        worklist.insert(consume.getResult());
      } else if (!isMemoryEffectFree(op)) {
        reach.access = true;
      } else {
        worklist.insert(op->result_begin(), op->result_end());
      }
    }
  }
  return reach;
}

/// Where a pointer comes from: function arguments, or what it was loaded or
/// computed from.
llvm::SetVector<Value> getBases(Value pointer, const CallGraph &calls) {
  llvm::SetVector<Value> worklist, bases;
  worklist.insert(pointer);
  for (size_t i = 0; i < worklist.size(); ++i) {
    Value value = worklist[i];
    SmallVector<Value> sources;
    Operation *op = value.getDefiningOp();
    if (getSourceValues(value, calls, sources))
      worklist.insert(sources.begin(), sources.end());
    else if (op && op->getNumOperands() > 0 && isMemoryEffectFree(op))
      worklist.insert(op->getOperand(0));
    else
      bases.insert(value);
  }
  return bases;
}

/// The pointer or descriptor that `op` reads data through; null for other ops.
Value getReadPointer(Operation *op) {
  if (isa<tt::LoadOp, tt::DescriptorLoadOp, tt::DescriptorGatherOp>(op))
    return op->getOperand(0);
  return {};
}

/// The same for data that `op` writes.
Value getWrittenPointer(Operation *op) {
  if (isa<tt::StoreOp, tt::DescriptorStoreOp, tt::DescriptorReduceOp>(op))
    return op->getOperand(0);
  if (auto scatter = dyn_cast<tt::DescriptorScatterOp>(op))
    return scatter.getDesc();
  return {};
}

bool touches(const llvm::SetVector<Value> &bases, const llvm::DenseSet<Value> &set) {
  return llvm::any_of(bases, [&](Value base) { return set.contains(base); });
}

struct CheckTokens : impl::NereidCheckTokensBase<CheckTokens> {
  using NereidCheckTokensBase::NereidCheckTokensBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (unusedToken != "error" && unusedToken != "warn" && unusedToken != "keep") {
      emitError(module.getLoc(), "unused-token is \"error\", \"warn\" or \"keep\", got \"")
          << unusedToken << "\"";
      return signalPassFailure();
    }
    CallGraph calls(module);
    findSharedBases(module, calls);

    SmallVector<WaitOp> waits;
    module.walk([&](WaitOp wait) {
      if (!wait.getBarrier())
        waits.push_back(wait);
    });
    llvm::DenseSet<Operation *> reported;
    for (WaitOp wait : waits) {
      Reach reach = follow(wait.getToken(), calls);
      if (reach.access)
        continue;
      reported.insert(reach.consumers.begin(), reach.consumers.end());
      if (unusedToken == "keep") {
        wait.setBarrier(true);
        wait->removeAttr(attr::slot); // it orders everything, not what has its token
      } else {
        report(wait, reach, calls);
      }
    }
    if (pin)
      module.walk([](WaitOp wait) { wait.setBarrier(true); });
    // A token may reach an access by one pointer and miss by another.
    module.walk([&](ConsumeTokenOp consume) {
      if (!reported.contains(consume) && !follow(consume.getResult(), calls).access)
        reportWarning(consume.getLoc(), Diag::consumed_without_access);
    });
  }

private:
  /// Function arguments and the like that name memory other ranks write to.
  llvm::DenseSet<Value> sharedBases;

  void findSharedBases(ModuleOp module, const CallGraph &calls) {
    module.walk([&](Operation *op) {
      SmallVector<Value> pointers;
      if (isa<distributed::SymmAtOp, ConsumeTokenOp>(op)) {
        pointers.push_back(op->getOperand(0));
      } else if (auto call = dyn_cast<distributed::ExternCallOp>(op)) {
        for (Value operand : call.getSrcs())
          if (tt::isPointerLike(operand.getType()))
            pointers.push_back(operand);
      }
      for (Value pointer : pointers)
        for (Value base : getBases(pointer, calls))
          sharedBases.insert(base);
    });
  }

  /// What runs after `wait` and is probably what it is for, none of it about the
  /// wait's signals; at most `limit`: loads of data that other ranks or programs may
  /// have written, else stores into memory that they see (which a wait for "you may
  /// write again" protects), else any loads.
  SmallVector<Operation *> getAccessesAfter(WaitOp wait, const CallGraph &calls, unsigned limit) {
    auto function = wait->getParentOfType<tt::FuncOp>();
    llvm::SetVector<Value> signals = getBases(wait.getSlots(), calls);
    llvm::DenseSet<Value> signalSet(signals.begin(), signals.end());
    SmallVector<Operation *> loads, stores, others;
    bool passed = false;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      passed |= op == wait;
      Value read = getReadPointer(op), pointer = read ? read : getWrittenPointer(op);
      if (!pointer || !passed || insideMutuallyExclusiveRegions(wait, op))
        return;
      llvm::SetVector<Value> bases = getBases(pointer, calls);
      if (touches(bases, signalSet))
        return;
      if (touches(bases, sharedBases))
        (read ? loads : stores).push_back(op);
      else if (read)
        others.push_back(op);
    });
    SmallVector<Operation *> &found = !loads.empty() ? loads : !stores.empty() ? stores : others;
    if (found.size() > limit)
      found.truncate(limit);
    return found;
  }

  void report(WaitOp wait, const Reach &reach, const CallGraph &calls) {
    bool isError = unusedToken == "error";
    InFlightDiagnostic diag = reportEntry(
        isError ? DiagnosticSeverity::Error : DiagnosticSeverity::Warning, wait.getLoc(),
        reach.consumers.empty() ? Diag::token_not_consumed : Diag::token_without_access,
        isError ? "" : "; the wait is removed");
    for (ConsumeTokenOp consume : reach.consumers)
      diag.attachNote(consume.getLoc())
          << "consumed here; access memory through the pointer that consume_token returns";
    for (Operation *access : getAccessesAfter(wait, calls, /*limit=*/3)) {
      bool isLoad = getReadPointer(access) != nullptr;
      auto &note = diag.attachNote(access->getLoc())
                   << (isLoad ? "this load probably reads what the wait is for"
                              : "this store probably has to come after the wait");
      if (reach.consumers.empty())
        note << ": write `ptr = dl.consume_token(ptr, token)` before it and "
             << (isLoad ? "load" : "store") << " through the new `ptr`";
    }
    if (isError) {
      diag.attachNote(wait.getLoc())
          << "unused_token=\"keep\" makes a wait a barrier for everything after it; "
             "\"warn\" removes it";
      diag.report();
      return signalPassFailure();
    }
    diag.report();
    if (wait.use_empty())
      wait.erase();
  }
};

} // namespace
} // namespace nereid
