// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signals that may overtake the data before them, are sent more than once, or share
// a line.
#include "Target/Ascend/Fit/Findings.h"
#include "Target/Ascend/Passes.h"

#include "nereid/Analysis/TileStrides.h"
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Transforms/ExportForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDFITSIGNALS
#include "Target/Ascend/Passes.h.inc"

using namespace mlir;
using namespace nereid::fit;

namespace {

using distributed::LibraryCores;
using distributed::LibraryFunctionId;
using distributed::LibraryOperand;
using distributed::LibraryOrdering;

/// Bytes that are written together with a signal, and from one slot of a wait to the next.
constexpr int64_t lineBytes = 64;

/// The address that an operation signals to; null when it signals to none.
Value signalOf(Operation *op) {
  if (auto notify = dyn_cast<distributed::NotifyOp>(op))
    return notify.getSignal();
  auto call = dyn_cast<distributed::ExternCallOp>(op);
  if (!call)
    return {};
  const auto &function = call.getFunction();
  for (auto [operand, role] : llvm::zip(call.getSrcs(), function.operands()))
    if (role == LibraryOperand::PeerSignal ||
        (function.id == LibraryFunctionId::p && role == LibraryOperand::PeerDest))
      return operand;
  return {};
}

bool isBarrier(Operation *op) {
  if (isa<tt::BarrierOp>(op))
    return true;
  auto call = dyn_cast<distributed::ExternCallOp>(op);
  return call && (call.getFunction().meets() ||
                  llvm::is_contained({LibraryOrdering::Fences, LibraryOrdering::Completes},
                                     call.getFunction().ordering));
}

struct FitSignals : impl::NereidFitSignalsBase<FitSignals> {
  void runOnOperation() override {
    bool hasDot = false;
    getOperation().walk([&](tt::DotOp) { hasDot = true; });
    getOperation().walk([&](Operation *op) {
      if (auto call = dyn_cast<distributed::ExternCallOp>(op);
          call && !hasDot && call.getFunction().cores == LibraryCores::TogetherWithCube)
        report(op, checks::cube_barrier);
      if (Value signal = signalOf(op)) {
        if (hasDot && !isSentOnce(op))
          report(op, checks::signal_repeated, nameOf(op));
        checkLine(op, signal);
      }
    });
    for (auto function : getOperation().getOps<tt::FuncOp>()) {
      Operation *pending = nullptr;
      for (Block &block : function.getBody())
        checkOrder(block, pending);
    }
  }

private:
  static std::string nameOf(Operation *op) { return userNameOf(op); }

  /// aclshmem_intN_p, which the compiler knows by name.
  static bool isSentOnce(Operation *op) {
    if (auto notify = dyn_cast<distributed::NotifyOp>(op))
      return notify.getSigOp() == distributed::SignalOp::SET;
    return cast<distributed::ExternCallOp>(op).getFunction().id == LibraryFunctionId::p;
  }

  /// `pending`: the last store of a block that no barrier stands behind.
  void checkOrder(Block &block, Operation *&pending) {
    for (Operation &op : block) {
      if (auto store = dyn_cast<tt::StoreOp>(op)) {
        if (isa<RankedTensorType>(store.getValue().getType()))
          pending = &op;
      } else if (isBarrier(&op)) {
        pending = nullptr;
      } else if (pending && signalOf(&op)) {
        report(&op, checks::signal_order, nameOf(&op), lineOf(pending->getLoc()));
      } else if (isa<LoopLikeOpInterface>(op)) {
        // The second round begins with what the first has left.
        for (unsigned round = 0; round < 2; ++round)
          for (Region &region : op.getRegions())
            for (Block &inner : region)
              checkOrder(inner, pending);
      } else if (op.getNumRegions()) {
        Operation *before = pending, *after = nullptr;
        bool mayBeSkipped = true;
        for (Region &region : op.getRegions()) {
          mayBeSkipped &= region.empty();
          for (Block &inner : region) {
            Operation *branch = before;
            checkOrder(inner, branch);
            after = after ? after : branch;
          }
          mayBeSkipped |= region.empty();
        }
        pending = after ? after : mayBeSkipped ? before : nullptr;
      }
    }
  }

  //===--------------------------------------------------------------------===//
  // Lines
  //===--------------------------------------------------------------------===//

  /// What `value` grows by when this program's number (of the rank, of the program)
  /// grows by one; nullopt when that is not constant.
  static std::optional<int64_t> growth(Value value, bool ofRank) {
    if (TileStrides::getConstant(value))
      return 0;
    Operation *op = value.getDefiningOp();
    if (!op)
      return 0; // an argument, a loop's number
    if (isa<distributed::GetRankOp>(op))
      return ofRank;
    if (auto call = dyn_cast<distributed::ExternCallOp>(op))
      return ofRank && call.getFunction().id == LibraryFunctionId::my_pe;
    if (isa<tt::GetProgramIdOp>(op))
      return !ofRank;
    auto of = [&](unsigned i) { return growth(op->getOperand(i), ofRank); };
    if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp>(op))
      return of(0);
    if (isa<arith::AddIOp, arith::SubIOp>(op)) {
      auto a = of(0), b = of(1);
      if (!a || !b)
        return std::nullopt;
      return isa<arith::AddIOp>(op) ? *a + *b : *a - *b;
    }
    if (isa<arith::MulIOp>(op)) {
      auto a = of(0), b = of(1);
      if (a == 0 && b == 0)
        return 0;
      if (auto factor = TileStrides::getConstant(op->getOperand(1)); factor && a)
        return *a * *factor;
      return std::nullopt;
    }
    for (Value operand : op->getOperands())
      if (growth(operand, ofRank) != 0)
        return std::nullopt;
    return 0;
  }

  static void checkLine(Operation *op, Value signal) {
    auto type = dyn_cast<tt::PointerType>(signal.getType());
    if (!type)
      return;
    int64_t bytes = std::max(8u, tt::getElementBits(type.getPointeeType())) / 8;
    for (bool ofRank : {true, false}) {
      std::optional<int64_t> distance = 0;
      for (Value pointer = signal; Operation *made = pointer.getDefiningOp();) {
        if (auto add = dyn_cast<tt::AddPtrOp>(made)) {
          auto step = growth(add.getOffset(), ofRank);
          distance = distance && step ? std::optional(*distance + *step * bytes) : std::nullopt;
          pointer = add.getPtr();
        } else if (isa<distributed::SymmAtOp, distributed::ConsumeTokenOp>(made)) {
          pointer = made->getOperand(0);
        } else {
          break;
        }
      }
      if (distance && *distance != 0 && std::abs(*distance) < lineBytes)
        report(op, checks::signals_share_line, ofRank ? "ranks" : "programs", std::abs(*distance),
               lineBytes / bytes);
    }
  }
};

} // namespace
} // namespace nereid
