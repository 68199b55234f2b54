// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In a mixed launch the vector cores of a program run the same code. What does
// not depend on the number of the vector core must happen once.
//
// Only kernels that ask for their vector core (sub_vec_id) are split; in others
// one vector core does it all, and nothing changes. In a split kernel both run
// everything, and each operation is one of three kinds:
//
//   no effect, or a wait                  both do it
//   a barrier of all vector cores         both do it; gated, when not both may come to it
//   store, atomic, notify, print, ...     depends on the vector core: as the user wrote it
//                                         does not: core 0 does it, the other gets the result
//
// Whether it depends is the question of Divergence: by an operand, or by a
// branch that it stands under. An atomic of core 0 hands its old value to the
// other by ascend.share, which is a meeting of both: such a kernel blocks, and
// is marked so. A result that is a block cannot be shared, and is an error that
// says what to write instead.
#include "nereid/Analysis/Divergence.h"
#include "nereid/Dialect/Ascend/IR/Ascend.h"
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Support/AttributeNames.h"
#include "nereid/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDSPLITVECTORCORES
#include "nereid/Transforms/Passes.h.inc"

using namespace mlir;

namespace {

enum class Treatment {
  Everywhere, ///< every vector core does it: no effect, or a wait
  Barrier,    ///< all vector cores of all programs meet
  Once,       ///< the program does it once
};

Treatment classify(Operation *op) {
  if (auto call = dyn_cast<distributed::ExternCallOp>(op)) {
    switch (call.getFunction().cores) {
    case distributed::LibraryCores::Each:
      return Treatment::Everywhere;
    case distributed::LibraryCores::Once:
      return Treatment::Once;
    case distributed::LibraryCores::Together:
    case distributed::LibraryCores::TogetherWithCube:
      return Treatment::Barrier;
    }
  }
  if (isa<tt::StoreOp, tt::DescriptorStoreOp, tt::DescriptorReduceOp, tt::DescriptorScatterOp,
          tt::AtomicRMWOp, tt::AtomicCASOp, distributed::NotifyOp, tt::PrintOp>(op))
    return Treatment::Once;
  if (isa<tt::ExternElementwiseOp>(op) && !isMemoryEffectFree(op))
    return Treatment::Once;
  return Treatment::Everywhere;
}

struct SplitVectorCores : impl::NereidSplitVectorCoresBase<SplitVectorCores> {
  using NereidSplitVectorCoresBase::NereidSplitVectorCoresBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto mode = module->getAttrOfType<StringAttr>(attr::launchMode);
    if (lanes < 2 || !mode || mode.getValue() != "cv1:2")
      return;
    bool asks = false;
    module.walk([&](ascend::GetSubVecIdOp) { asks = true; });
    if (!asks)
      return; // one vector core does it all
    bool failedAny = false, shares = false;
    for (auto function : module.getOps<tt::FuncOp>())
      if (function.isPublic() && !function.isExternal())
        failedAny |= failed(split(function, shares));
    if (failedAny)
      return signalPassFailure();
    Builder builder(&getContext());
    module->setAttr(attr::vectorCores, builder.getI32IntegerAttr(lanes));
    if (shares)
      module->setAttr(attr::blocking, builder.getBoolAttr(true));
  }

private:
  LogicalResult split(tt::FuncOp function, bool &shares) {
    Divergence divergence(function, [](Operation *op) { return isa<ascend::GetSubVecIdOp>(op); });
    SmallVector<Operation *> once;
    bool failedAny = false;
    function.walk([&](Operation *op) {
      if (isa<tt::CallOp>(op)) {
        op->emitError(
            "a kernel that asks for its vector core cannot call a function that is not inlined");
        failedAny = true;
        return;
      }
      switch (classify(op)) {
      case Treatment::Everywhere:
        return;
      case Treatment::Barrier:
        if (divergence.isDivergent(op))
          op->setAttr(attr::gated, UnitAttr::get(&getContext()));
        return;
      case Treatment::Once:
        if (!divergence.dependsOn(op))
          once.push_back(op);
      }
    });
    for (Operation *op : once)
      failedAny |= failed(gate(op, shares));
    return failure(failedAny);
  }

  /// `op` happens on vector core 0 only; the others get its result.
  static LogicalResult gate(Operation *op, bool &shares) {
    bool used = !op->use_empty();
    if (used && (op->getNumResults() != 1 || !op->getResult(0).getType().isIntOrFloat()))
      return op->emitError()
             << "both vector cores of the program need the block that this returns, but it happens "
                "once "
                "per program; do it under `if sub_vec_id() == 0:`, or make its address depend on "
                "sub_vec_id()";
    OpBuilder builder(op);
    Location loc = op->getLoc();
    Value core = ascend::GetSubVecIdOp::create(builder, loc, builder.getI64Type());
    Value zero = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
    Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, core, zero);
    if (!used) {
      auto branch = scf::IfOp::create(builder, loc, isFirst, /*withElseRegion=*/false);
      op->moveBefore(branch.thenBlock()->getTerminator());
      return success();
    }
    shares = true;
    Type type = op->getResult(0).getType();
    auto branch =
        scf::IfOp::create(builder, loc, TypeRange(type), isFirst, /*withElseRegion=*/true);
    auto share = ascend::ShareOp::create(builder, loc, type, branch.getResult(0));
    op->getResult(0).replaceAllUsesWith(share.getResult());
    builder.setInsertionPointToEnd(branch.thenBlock());
    op->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
    builder.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(builder, loc, op->getResult(0));
    builder.setInsertionPointToEnd(branch.elseBlock());
    Value nothing = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    scf::YieldOp::create(builder, loc, nothing);
    return success();
  }
};

} // namespace
} // namespace nereid
