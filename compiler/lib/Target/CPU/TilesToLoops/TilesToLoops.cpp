// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/TilesToLoops/Passes.h"

#include "Lowering.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDCPUTILESTOLOOPS
#include "Target/CPU/TilesToLoops/Passes.h.inc"
} // namespace nereid

using namespace mlir;

namespace nereid {

LogicalResult lowerTilesToLoops(ModuleOp module, const cpu::TargetFeatures &target) {
  int64_t scratch = 0;
  SmallVector<FunctionOpInterface> functions;
  for (auto function : module.getOps<FunctionOpInterface>())
    if (!function.isExternal())
      functions.push_back(function);
  for (FunctionOpInterface function : functions) {
    if (isa<LLVM::LLVMFuncOp>(function))
      continue;
    tiles::FunctionLowering lowering(function, target, /*alone=*/functions.size() == 1);
    if (failed(lowering.run(scratch)))
      return failure();
    scratch = lowering.getScratchEnd();
  }
  module->setAttr(cpu::scratchBytesAttrName,
                  IntegerAttr::get(IntegerType::get(module.getContext(), 64), scratch));
  return success();
}

namespace {
struct TilesToLoopsPass : impl::NereidCPUTilesToLoopsBase<TilesToLoopsPass> {
  using Base = impl::NereidCPUTilesToLoopsBase<TilesToLoopsPass>;
  using Base::Base;
  explicit TilesToLoopsPass(const cpu::TargetFeatures &target) : given(target) {}
  TilesToLoopsPass(const TilesToLoopsPass &other) : Base(other), given(other.given) {}

  void runOnOperation() override {
    std::string error;
    cpu::TargetFeatures target = given ? *given : cpu::TargetFeatures::named(cpu, &error);
    if (!error.empty()) {
      getOperation().emitError(error);
      return signalPassFailure();
    }
    if (failed(lowerTilesToLoops(getOperation(), target)))
      signalPassFailure();
  }

  std::optional<cpu::TargetFeatures> given;
};
} // namespace

std::unique_ptr<Pass> createTilesToLoopsPass(const cpu::TargetFeatures &target) {
  return std::make_unique<TilesToLoopsPass>(target);
}

} // namespace nereid
