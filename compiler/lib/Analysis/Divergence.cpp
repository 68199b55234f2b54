// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fixed point over three sets that only grow: values that may differ,
// operations whose regions may run differently, and blocks that not all may
// come to. Each round visits every operation; it ends when a round adds
// nothing.
//
// Values come to differ in two ways. By data: an operand does. By control:
// where ways join again after a decision that differs, what was chosen on the
// way differs even if every candidate is the same for all: results of scf.if,
// of loops whose number of rounds differs, and arguments of the blocks that
// come after both sides of a branch. A loop's arguments inside its body are an
// exception: all who are in the same round hold the same.
//
// Memory is not followed: a value loaded from where a differing one was stored
// does not differ by this analysis. Its users ask who does an operation, not
// what it computes.
#include "nereid/Analysis/Divergence.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace nereid;

Divergence::Divergence(tt::FuncOp function, std::function<bool(Operation *)> isSource)
    : isSource(std::move(isSource)), postDominance(function) {
  do {
    changed = false;
    function.walk([&](Operation *op) { visit(op); });
  } while (changed);
}

bool Divergence::isDivergent(Operation *op) const {
  for (; op && !isa<tt::FuncOp>(op); op = op->getParentOp())
    if (blocks.contains(op->getBlock()) || regions.contains(op->getParentOp()))
      return true;
  return false;
}

bool Divergence::dependsOn(Operation *op) const {
  return isDivergent(op) ||
         llvm::any_of(op->getOperands(), [&](Value v) { return isDivergent(v); });
}

void Divergence::flow(ValueRange from, ValueRange to, bool all) {
  for (auto [source, target] : llvm::zip(from, to))
    if (all || isDivergent(source))
      taint(target);
}

void Divergence::visit(Operation *op) {
  if (isSource(op)) {
    for (Value result : op->getResults())
      taint(result);
    return;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    bool divergent = isDivergent(branch.getCondition());
    markRegion(op, divergent);
    for (Region &region : op->getRegions())
      if (!region.empty() && op->getNumResults())
        flow(region.front().getTerminator()->getOperands(), op->getResults(), divergent);
    return;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    bool divergent = isDivergent(loop.getLowerBound()) || isDivergent(loop.getUpperBound()) ||
                     isDivergent(loop.getStep());
    markRegion(op, divergent);
    if (divergent)
      taint(loop.getInductionVar());
    for (ValueRange from : {ValueRange(loop.getInitArgs()), ValueRange(loop.getYieldedValues())}) {
      flow(from, loop.getRegionIterArgs(), false);
      flow(from, loop.getResults(), divergent);
    }
    return;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    bool divergent = isDivergent(loop.getConditionOp().getCondition());
    markRegion(op, divergent);
    flow(loop.getInits(), loop.getBeforeArguments(), false);
    flow(loop.getYieldOp().getOperands(), loop.getBeforeArguments(), false);
    flow(loop.getConditionOp().getArgs(), loop.getAfterArguments(), false);
    flow(loop.getConditionOp().getArgs(), loop.getResults(), divergent);
    return;
  }
  if (auto choice = dyn_cast<scf::IndexSwitchOp>(op)) {
    bool divergent = isDivergent(choice.getArg());
    markRegion(op, divergent);
    for (Region &region : op->getRegions())
      flow(region.front().getTerminator()->getOperands(), op->getResults(), divergent);
    return;
  }
  if (op->getNumSuccessors() > 0)
    return visitBranch(op);
  if (llvm::any_of(op->getOperands(), [&](Value v) { return isDivergent(v); }))
    for (Value result : op->getResults())
      taint(result);
}

static bool reaches(Operation *from, Block *to) {
  SmallVector<Block *> worklist(from->getSuccessors());
  SmallPtrSet<Block *, 16> seen(worklist.begin(), worklist.end());
  while (!worklist.empty()) {
    Block *block = worklist.pop_back_val();
    if (block == to)
      return true;
    for (Block *next : block->getSuccessors())
      if (seen.insert(next).second)
        worklist.push_back(next);
  }
  return false;
}

void Divergence::visitBranch(Operation *op) {
  auto branch = dyn_cast<BranchOpInterface>(op);
  for (unsigned i = 0; branch && i < op->getNumSuccessors(); ++i)
    for (auto [n, argument] : llvm::enumerate(op->getSuccessor(i)->getArguments()))
      if (Value source = branch.getSuccessorOperands(i)[n]; source && isDivergent(source))
        taint(argument);
  // An operand that is not handed to a successor decides between them; it is the first.
  unsigned forwarded = 0;
  for (unsigned i = 0; branch && i < op->getNumSuccessors(); ++i)
    forwarded += branch.getSuccessorOperands(i).size();
  bool chooses = op->getNumOperands() > forwarded && op->getNumSuccessors() > 1 &&
                 isDivergent(op->getOperand(0));
  if (!chooses)
    return;
  // All that does not come after both ways anyway.
  for (Block &block : *op->getBlock()->getParent())
    if (&block != op->getBlock() && !postDominance.postDominates(&block, op->getBlock()) &&
        reaches(op, &block))
      changed |= blocks.insert(&block).second;
  for (Block &block : *op->getBlock()->getParent())
    // Here the ways have joined again: what a block is given may depend on the way.
    if (postDominance.postDominates(&block, op->getBlock()) && &block != op->getBlock())
      for (BlockArgument argument : block.getArguments())
        taint(argument);
}
