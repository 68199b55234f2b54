// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Dialect/TritonGPU/IR/TritonGPU.h"
#include "nereid/Transforms/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDIMPORTTTIR
#include "nereid/Transforms/Passes.h.inc"

using namespace mlir;

namespace {
struct ImportTTIR : impl::NereidImportTTIRBase<ImportTTIR> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (!isa<ttg::BarrierOp, gpu::BarrierOp>(op))
        return;
      OpBuilder builder(op);
      tt::BarrierOp::create(builder, op->getLoc());
      op->erase();
    });
  }
};
} // namespace

void registerTTIRDialects(DialectRegistry &registry) { registry.insert<gpu::GPUDialect, ttg::TritonGPUDialect>(); }
} // namespace nereid
