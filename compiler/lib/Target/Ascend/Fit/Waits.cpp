// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops that wait, and launches that cannot end.
#include "Target/Ascend/Fit/Findings.h"
#include "Target/Ascend/Passes.h"
#include "nereid/Support/AttributeNames.h"

#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/ascend_chips.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDFITWAITS
#include "Target/Ascend/Passes.h.inc"

using namespace mlir;
using namespace nereid::fit;

namespace {

bool waits(Operation *op) {
  if (auto call = dyn_cast<distributed::ExternCallOp>(op))
    return call.getFunction().blocks();
  return isa<distributed::WaitOp, distributed::YieldOp, tt::AtomicPollOp>(op);
}

struct FitWaits : impl::NereidFitWaitsBase<FitWaits> {
  using NereidFitWaitsBase::NereidFitWaitsBase;

  void runOnOperation() override {
    getOperation().walk([&](scf::WhileOp loop) { checkSpinLoop(loop); });
    checkGrid();
  }

private:
  /// nereid-mark-spin-loops has marked the loops that wait.
  static void checkSpinLoop(scf::WhileOp loop) {
    if (loop.getAfterBody()->getOps<distributed::YieldOp>().empty())
      return;
    tt::LoadOp polled;
    bool isKept = false;
    loop.walk([&](Operation *op) {
      if (auto load = dyn_cast<tt::LoadOp>(op); load && !polled)
        polled = load;
      if (auto call = dyn_cast<distributed::ExternCallOp>(op))
        isKept |= !call.getPure();
      isKept |= isa<distributed::WaitOp, distributed::NotifyOp, tt::StoreOp, tt::AtomicRMWOp,
                    tt::AtomicCASOp, tt::AtomicPollOp>(op);
    });
    if (polled && !isKept)
      report(polled, checks::spin_loop, polled.getIsVolatile() ? "volatile load" : "plain load");
  }

  void checkGrid() {
    const AscendChip *model = findAscendChip(chip);
    if (grid == 0 || !model)
      return;
    ModuleOp module = getOperation();
    Operation *kernel = nullptr, *waiting = nullptr;
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto function = dyn_cast<tt::FuncOp>(op); function && function.isPublic())
        kernel = op;
      if (!waiting && waits(op))
        waiting = isa<distributed::YieldOp>(op) ? op->getParentOp() : op;
    });
    if (kernel && grid > 65535)
      report(kernel, checks::grid_size, grid.getValue());
    auto mode = module->getAttrOfType<StringAttr>(attr::launchMode);
    bool isMixed = mode && mode.getValue() == "cv1:2";
    int64_t cores = isMixed ? model->aiCores : model->vectorCores;
    if (waiting && grid > cores)
      report(waiting, checks::grid_waits, cores, grid.getValue(), cores,
             isMixed ? "AI cores" : "vector cores", chip.getValue());
  }
};

} // namespace
} // namespace nereid
