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
//
// Where one vector core runs each program, its number is 0: code that divides
// its work by the number does a part of it, and is warned about.
#include "nereid/Analysis/Divergence.h"
#include "nereid/Dialect/Ascend/IR/Ascend.h"
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Support/AttributeNames.h"
#include "nereid/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
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

/// Whether `region` does something that can be seen.
bool hasEffects(Region &region) {
  return llvm::any_of(region.getOps(), [](Operation &op) {
    return !op.hasTrait<OpTrait::IsTerminator>() && !isMemoryEffectFree(&op);
  });
}

/// Whether work is lost by a use of the number of a vector core, `number`, where it is always 0.
bool losesWork(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp>(user))
    return llvm::any_of(user->getResult(0).getUses(), losesWork);
  auto compare = dyn_cast<arith::CmpIOp>(user);
  IntegerAttr constant;
  if (!compare ||
      !matchPattern(compare->getOperand(1 - use.getOperandNumber()), m_Constant(&constant)))
    return true;
  APInt zero = APInt::getZero(constant.getValue().getBitWidth());
  bool first = use.getOperandNumber() == 0;
  bool holds = arith::applyCmpPredicate(compare.getPredicate(), first ? zero : constant.getValue(),
                                        first ? constant.getValue() : zero);
  return llvm::any_of(compare->getUsers(), [&](Operation *chooser) {
    if (auto branch = dyn_cast<scf::IfOp>(chooser)) // what stands on the other side is not done
      return hasEffects(holds ? branch.getElseRegion() : branch.getThenRegion());
    return !holds && !constant.getValue().isZero();
  });
}

struct SplitVectorCores : impl::NereidSplitVectorCoresBase<SplitVectorCores> {
  using NereidSplitVectorCoresBase::NereidSplitVectorCoresBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto mode = module->getAttrOfType<StringAttr>(attr::launchMode);
    if (!mode)
      return;
    bool mixed = mode.getValue() == "cv1:2";
    if (lanes < 2 || !mixed)
      return warnOfLostWork(module, mixed);
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
  /// One vector core runs each program: tells of code that counts on others.
  void warnOfLostWork(ModuleOp module, bool mixed) {
    if (lanes < 2 && module->hasAttr(attr::asksVectorCores))
      return; // divided by 1
    module.walk([&](ascend::GetSubVecIdOp id) {
      if (llvm::none_of(id->getUses(), losesWork))
        return;
      InFlightDiagnostic warning = id.emitWarning(
          "sub_vec_id() is always 0 here, and the kernel counts on other vector cores: their "
          "part of the work is not done; ");
      if (mixed)
        warning << "the profile has one vector core for each program: divide by sub_vec_num(), or "
                   "choose a profile that has more of them (--profile ascend910b)";
      else
        warning << "one vector core runs each program of a kernel without tl.dot, "
                   "al.scope(core_mode=\"cube\") and barrier_all: divide the work by "
                   "tl.program_id() alone";
    });
  }

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
