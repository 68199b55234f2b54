// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomic operations that are none between ranks, or not what is written.
#include "Target/Ascend/Fit/Findings.h"
#include "Target/Ascend/Passes.h"

#include "mlir/IR/Matchers.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDFITATOMICS
#include "Target/Ascend/Passes.h.inc"

using namespace mlir;
using namespace nereid::fit;

namespace {

std::string nameOf(tt::AtomicRMWOp op) {
  std::string kind = tt::stringifyRMWOp(op.getAtomicRmwOp()).str();
  if (kind == "fadd")
    kind = "add";
  if (kind == "umax" || kind == "umin")
    kind = kind.substr(1);
  if (kind == "exch")
    kind = "xchg";
  return "tl.atomic_" + kind;
}

/// Is it done under a lock of the launch?
bool isEmulated(tt::AtomicRMWOp op) {
  using K = tt::RMWOp;
  Type element = getElementTypeOrSelf(op.getVal().getType());
  return !op->use_empty() || tt::getElementBits(element) == 64 ||
         llvm::is_contained({K::AND, K::OR, K::XOR, K::XCHG}, op.getAtomicRmwOp());
}

struct FitAtomics : impl::NereidFitAtomicsBase<FitAtomics> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (auto atomic = dyn_cast<tt::AtomicRMWOp>(op))
        check(atomic);
      else if (auto cas = dyn_cast<tt::AtomicCASOp>(op))
        check(cas);
    });
  }

private:
  static void check(tt::AtomicRMWOp op) {
    std::string what = nameOf(op);
    if (isEmulated(op)) {
      Type element = getElementTypeOrSelf(op.getVal().getType());
      bool isWide = tt::getElementBits(element) == 64;
      std::string which = what + (isWide             ? " on 64-bit elements"
                                  : !op->use_empty() ? " whose result is used"
                                                     : "");
      if (isOfPeer(op.getPtr()))
        report(op, checks::peer_atomic, which);
      else
        report(op, checks::locked_atomic, which);
    }
    if (isa<RankedTensorType>(op.getVal().getType()))
      return;
    Value mask = op.getMask();
    if (!mask || matchPattern(mask, m_One()))
      report(op, checks::scalar_atomic, "crashes on a scalar " + what + " without a mask");
    else
      report(op, checks::scalar_atomic, "takes no notice of the mask of a scalar " + what);
  }

  static void check(tt::AtomicCASOp op) {
    if (!op->use_empty())
      report(op, checks::cas_result);
    if (isOfPeer(op.getPtr()))
      report(op, checks::peer_atomic, "tl.atomic_cas");
    else
      report(op, checks::locked_atomic, "tl.atomic_cas");
  }
};

} // namespace
} // namespace nereid
