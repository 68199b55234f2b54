// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An estimate of the on-chip memory that a program needs.
//
// Blocks that are data (Blocks.h) lie in the unified buffer from the operation that
// makes them to the last that reads them; what a loop reads stays for all of the loop.
// An element-wise operation writes over an operand that nobody reads later. Constants
// and values that are the same for all lanes are scalars of the instructions. Operands
// of products lie in L1, their results in L0C: they come into the unified buffer when
// something but a store reads them, where two vector cores share the rows. Buffers that
// the compiler doubles to overlap transfers with work are not counted twice, since it
// gives that up before it gives up.
//
// The compiler plans with buffers that the IR does not show (of reductions, casts,
// padded rows), so that this is less than it needs, not more.
#include "Target/Ascend/Fit/Blocks.h"
#include "Target/Ascend/Fit/Findings.h"
#include "Target/Ascend/Passes.h"

#include "nereid/ascend_chips.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/MapVector.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDFITMEMORY
#include "Target/Ascend/Passes.h.inc"

using namespace mlir;
using namespace nereid::fit;

namespace {

enum class Place { None, UB, L1, L0C };

/// What must be there at once, and where that is.
struct Peak {
  int64_t bytes = 0;
  Operation *op = nullptr;
  void see(int64_t now, Operation *at) {
    if (now <= bytes)
      return;
    bytes = now;
    op = at;
  }
};

class Planner {
public:
  explicit Planner(ModuleOp module) : data(dataBlocks(module)) {
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      starts[op] = unsigned(order.size());
      order.push_back(op);
    });
    for (Operation *op : order) {
      unsigned end = starts[op];
      op->walk([&](Operation *inner) { end = std::max(end, starts[inner]); });
      ends[op] = end;
    }
  }

  void plan() {
    for (auto [at, op] : llvm::enumerate(order)) {
      for (Value product : readBack.lookup(unsigned(at)))
        allocate(Place::UB, product, unsigned(at), op);
      for (Value value : valuesOf(op)) {
        Place place = placeOf(value);
        if (place == Place::None || blockBytes(value.getType()) == 0 ||
            takesOver(op, value, place, unsigned(at)))
          continue;
        allocate(place, value, unsigned(at), op);
        // A product is made in L0C, wherever it goes.
        if (isa<tt::DotOp>(op) && place == Place::UB)
          peaks[Place::L0C].see(live[Place::L0C] + blockBytes(value.getType()), op);
      }
      planReadBack(op);
      for (auto [place, bytes] : frees.lookup(unsigned(at)))
        live[place] -= bytes;
    }
  }

  std::map<Place, Peak> peaks;

private:
  DenseSet<Value> data;
  std::map<Place, int64_t> live;
  /// What ends after the operation of that number.
  DenseMap<unsigned, SmallVector<std::pair<Place, int64_t>>> frees;
  /// Products of a loop, by the operation that reads them first.
  DenseMap<unsigned, SmallVector<Value>> readBack;
  DenseSet<Value> handedOn;
  SmallVector<Operation *> order;
  DenseMap<Operation *, unsigned> starts, ends;

  /// Results that are made here; a loop's carried values stand for its operands and results.
  SmallVector<Value> valuesOf(Operation *op) {
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
      SmallVector<Value> carried;
      llvm::append_range(carried, loop.getRegionIterArgs());
      return carried;
    }
    return SmallVector<Value>(op->getResults());
  }

  static bool isScalarOperand(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    if (isa<tt::SplatOp>(op))
      return true;
    if (isa<tt::BroadcastOp, tt::ExpandDimsOp>(op))
      return isScalarOperand(op->getOperand(0));
    auto constant = dyn_cast<arith::ConstantOp>(op);
    auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
    return dense && dense.isSplat();
  }

  Place placeOf(Value value) {
    if (!isa<RankedTensorType>(value.getType()) || !data.contains(value) || isScalarOperand(value))
      return Place::None;
    bool isProduct = isProductOrCarries(value);
    bool onlyDots = !value.use_empty(), onlyStores = true;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      bool isOperand = isa<tt::DotOp>(user) && use.getOperandNumber() < 2;
      onlyDots &= isOperand || (isa<tt::TransOp>(user) && feedsOnlyDots(user->getResult(0)));
      bool narrows = isa<arith::TruncFOp, tt::FpToFpOp>(user) && onlyStored(user->getResult(0));
      onlyStores &= isa<tt::StoreOp, scf::YieldOp>(user) || narrows ||
                    (isa<tt::DotOp>(user) && use.getOperandNumber() == 2);
    }
    if (isProduct)
      return onlyStores ? Place::L0C : Place::UB;
    if (onlyDots)
      return Place::L1;
    // What only narrows a product on its way to memory.
    if (Operation *op = value.getDefiningOp(); op && isa<arith::TruncFOp, tt::FpToFpOp>(op) &&
                                               onlyStored(value) &&
                                               isProductOrCarries(op->getOperand(0)))
      return Place::None;
    return Place::UB;
  }

  static bool feedsOnlyDots(Value value) {
    return llvm::all_of(value.getUses(), [](OpOperand &use) {
      return isa<tt::DotOp>(use.getOwner()) && use.getOperandNumber() < 2;
    });
  }
  static bool onlyStored(Value value) {
    return llvm::all_of(value.getUsers(), [](Operation *user) { return isa<tt::StoreOp>(user); });
  }

  /// The result of a product, or a loop's value that is one in every round.
  static bool isProductOrCarries(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast_or_null<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
      OpOperand *yielded = loop ? loop.getTiedLoopYieldedValue(argument) : nullptr;
      return yielded && yielded->get().getDefiningOp<tt::DotOp>();
    }
    Operation *op = value.getDefiningOp();
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
      unsigned number = cast<OpResult>(value).getResultNumber();
      return number < loop.getRegionIterArgs().size() &&
             isProductOrCarries(loop.getRegionIterArgs()[number]);
    }
    return isa<tt::DotOp>(op);
  }

  unsigned lastUse(Value value) {
    Block *home = value.getParentBlock();
    unsigned last = 0;
    SmallVector<Value> names{value};
    // A loop's value lives on as its result.
    if (auto argument = dyn_cast<BlockArgument>(value))
      if (auto loop = dyn_cast_or_null<LoopLikeOpInterface>(home->getParentOp())) {
        last = ends[loop];
        if (Value result = loop.getTiedLoopResult(argument)) {
          names.push_back(result);
          home = loop->getBlock();
        }
      }
    for (Value name : names)
      for (Operation *user : name.getUsers()) {
        unsigned at = starts[user];
        // Read in a loop that the value stands before: all rounds read it.
        for (Operation *outer = user; outer && outer->getBlock() != name.getParentBlock();
             outer = outer->getParentOp())
          if (Operation *parent = outer->getParentOp();
              isa_and_nonnull<LoopLikeOpInterface>(parent))
            at = std::max(at, ends[parent]);
        last = std::max(last, at);
      }
    return last;
  }

  void allocate(Place place, Value value, unsigned at, Operation *op) {
    int64_t bytes = blockBytes(value.getType());
    live[place] += bytes;
    peaks[place].see(live[place], op);
    frees[std::max(lastUse(value), at)].push_back({place, bytes});
  }

  /// Whether the value lies where an operand did that nobody reads later.
  bool takesOver(Operation *op, Value value, Place place, unsigned at) {
    SmallVector<Value> candidates;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (OpOperand *init = cast<LoopLikeOpInterface>(op).getTiedLoopInit(argument))
        candidates.push_back(init->get());
    } else if (auto dot = dyn_cast<tt::DotOp>(op)) {
      candidates.push_back(dot.getC());
    } else if (OpTrait::hasElementwiseMappableTraits(op) || isa<tt::FpToFpOp>(op)) {
      llvm::append_range(candidates, op->getOperands());
    }
    int64_t bytes = blockBytes(value.getType());
    for (Value operand : candidates) {
      if (handedOn.contains(operand) || placeOf(operand) != place ||
          blockBytes(operand.getType()) != bytes)
        continue;
      if (isNextRound(operand, value, at)) {
        handedOn.insert(operand);
        return true; // the loop's buffer stays
      }
      if (lastUse(operand) != at)
        continue;
      handedOn.insert(operand);
      auto &due = frees[at];
      if (auto *entry = llvm::find(due, std::pair(place, bytes)); entry != due.end())
        due.erase(entry);
      frees[std::max(lastUse(value), at)].push_back({place, bytes});
      return true;
    }
    return false;
  }

  /// Is `value` what the loop hands on for its value `carried`, which nobody reads later?
  bool isNextRound(Value carried, Value value, unsigned at) {
    auto argument = dyn_cast<BlockArgument>(carried);
    auto loop = argument ? dyn_cast_or_null<LoopLikeOpInterface>(argument.getOwner()->getParentOp())
                         : nullptr;
    OpOperand *yielded = loop ? loop.getTiedLoopYieldedValue(argument) : nullptr;
    return yielded && yielded->get() == value &&
           llvm::all_of(carried.getUsers(), [&](Operation *user) { return starts[user] <= at; });
  }

  /// Products that a loop sums up lie in L0C; one that vector code reads afterwards is
  /// brought into the unified buffer there.
  void planReadBack(Operation *op) {
    if (!isa<LoopLikeOpInterface>(op))
      return;
    for (Value result : op->getResults()) {
      if (!isProductOrCarries(result) || result.use_empty() || placeOf(result) != Place::UB)
        continue;
      unsigned first = ~0u;
      for (Operation *user : result.getUsers())
        first = std::min(first, starts[user]);
      if (!llvm::is_contained(readBack[first], result))
        readBack[first].push_back(result);
    }
  }
};

struct FitMemory : impl::NereidFitMemoryBase<FitMemory> {
  using NereidFitMemoryBase::NereidFitMemoryBase;

  void runOnOperation() override {
    const AscendChip *model = findAscendChip(chip);
    if (!model) {
      emitError(getOperation().getLoc()) << "there is no chip '" << chip << "'";
      return signalPassFailure();
    }
    bool isMixed = false;
    getOperation().walk([&](tt::DotOp) { isMixed = true; });
    Planner planner(getOperation());
    planner.plan();
    struct Row {
      Place place;
      const char *kind, *words, *remedy;
      int64_t available;
    };
    const Row rows[] = {
        {Place::UB, "UB", "the unified buffer", "take smaller blocks, or loop over parts of them",
         model->ub},
        {Place::L1, "L1", "L1, where operands of tl.dot lie",
         "take smaller blocks along the dimension that is summed over", model->l1},
        {Place::L0C, "L0C", "L0C, where results of tl.dot lie", "take a smaller BLOCK_M or BLOCK_N",
         model->l0c},
    };
    for (const Row &row : rows) {
      Peak peak = planner.peaks[row.place];
      // Two vector cores share the rows of a mixed kernel.
      if (row.place == Place::UB && isMixed)
        peak.bytes /= 2;
      addMemory(getOperation(), row.kind, peak.bytes, row.available);
      if (peak.bytes > row.available)
        report(peak.op, checks::memory_overflow, bytesText(peak.bytes), row.words, chip.getValue(),
               bytesText(row.available), row.remedy);
    }
    if (isAscend950(*model))
      checkUnrolled(model->ub);
  }

private:
  /// Copies that static_range has made: the same place in the source several times in
  /// one block.
  void checkUnrolled(int64_t available) {
    getOperation().walk([&](Block *block) {
      llvm::MapVector<Location, SmallVector<tt::LoadOp>> copies;
      for (auto load : block->getOps<tt::LoadOp>())
        copies[load.getLoc()].push_back(load);
      for (auto &[loc, loads] : copies) {
        int64_t bytes = blockBytes(loads.front().getType());
        int64_t all = bytes * int64_t(loads.size());
        if (loads.size() > 1 && all > available)
          report(loads.front(), checks::unrolled_blocks, loads.size(), bytesText(bytes),
                 bytesText(all), bytesText(available));
      }
    });
  }
};

} // namespace
} // namespace nereid
