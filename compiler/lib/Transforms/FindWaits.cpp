// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops that do nothing but read one word until a comparison holds are waits. As
// waits, programs that run them sleep until the word changes, and a job that hangs in
// one is known to hang: its report names the word, the value and what it waits for.
// Only words of symmetric memory are taken. Others may be written by anything in the
// process, of which the search for deadlocks knows nothing.
//
// Two forms are taken, which are what the front end makes of the two usual ways
// of writing such a loop:
//
//   while read(w) != v: pass            x = ...
//                                       while x != v: x = read(w)
//
// In the second, x is compared once before anything is read, so that the wait
// stands in a branch. `read` is a load without a mask, or an atomic operation
// that leaves the word as it is and releases nothing: a wait acquires, but what
// a release of each round told others would be lost. The word and the value
// must come from outside the loop: a loop that changes either is no wait for
// one word. Its body must be empty otherwise: whatever else it did each round
// (count, print, back off) the program would miss.
#include "nereid/Analysis/Comparisons.h"
#include "nereid/Dialect/Distributed/Comparisons.h"
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Support/AttributeNames.h"
#include "nereid/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDFINDWAITS
#include "nereid/Transforms/Passes.h.inc"

using namespace mlir;

namespace {

/// What a loop waits for.
struct Awaited {
  Value word, value;
  distributed::Comparison comparison;
  bool isUnsigned;
};

/// The comparison that ends a loop which goes on while `predicate` holds.
distributed::Comparison opposite(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return distributed::Comparison::NE;
  case arith::CmpIPredicate::ne:
    return distributed::Comparison::EQ;
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return distributed::Comparison::GE;
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return distributed::Comparison::GT;
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return distributed::Comparison::LE;
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return distributed::Comparison::LT;
  }
  llvm_unreachable("unknown comparison");
}

bool isUnsigned(arith::CmpIPredicate predicate) { return predicate >= arith::CmpIPredicate::ult; }

/// Does the update leave the word as it is? It then reads, as a load does.
bool changesNothing(tt::AtomicRMWOp update) {
  switch (update.getAtomicRmwOp()) {
  case tt::RMWOp::ADD:
  case tt::RMWOp::OR:
  case tt::RMWOp::XOR:
    return matchPattern(update.getVal(), m_Zero());
  default:
    return false;
  }
}

/// A wait acquires; it releases nothing.
bool releases(tt::MemSemantic semantic) {
  return semantic == tt::MemSemantic::RELEASE || semantic == tt::MemSemantic::ACQUIRE_RELEASE;
}

/// The word that `op` only reads; null when it does something else.
Value readWord(Operation *op) {
  Value word;
  if (auto load = dyn_cast<tt::LoadOp>(op)) {
    if (!load.getMask())
      word = load.getPtr();
  } else if (auto update = dyn_cast<tt::AtomicRMWOp>(op)) {
    bool masked = update.getMask() && !matchPattern(update.getMask(), m_One());
    if (!masked && !releases(update.getSem()) && changesNothing(update))
      word = update.getPtr();
  } else if (auto swap = dyn_cast<tt::AtomicCASOp>(op)) {
    Attribute from, to;
    bool same = swap.getCmp() == swap.getVal() ||
                (matchPattern(swap.getCmp(), m_Constant(&from)) &&
                 matchPattern(swap.getVal(), m_Constant(&to)) && from == to);
    if (same && !releases(swap.getSem()))
      word = swap.getPtr();
  }
  auto pointer = word ? dyn_cast<tt::PointerType>(word.getType()) : tt::PointerType();
  auto integer = pointer ? dyn_cast<IntegerType>(pointer.getPointeeType()) : IntegerType();
  return integer && integer.getWidth() >= 8 ? word : Value();
}

/// Does the pointer come from a kernel's argument that must be symmetric?
bool isSymmetric(Value pointer) {
  while (Operation *op = pointer.getDefiningOp()) {
    if (!isa<tt::AddPtrOp, distributed::ConsumeTokenOp>(op))
      return false;
    pointer = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(pointer);
  auto function = dyn_cast<tt::FuncOp>(argument.getOwner()->getParentOp());
  return function && argument.getOwner()->isEntryBlock() &&
         function.getArgAttr(argument.getArgNumber(), attr::symmetric);
}

/// What is read and compared by `compare`, whose one operand is `seen`.
std::optional<Awaited> awaitedBy(scf::WhileOp loop, Value condition, Value seen, Operation *read) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  Value word = readWord(read);
  if (!compare || !word || (compare.getLhs() == seen) == (compare.getRhs() == seen))
    return std::nullopt;
  bool first = compare.getLhs() == seen;
  Value other = first ? compare.getRhs() : compare.getLhs();
  if (!loop.isDefinedOutsideOfLoop(other) || !loop.isDefinedOutsideOfLoop(word) ||
      !isSymmetric(word))
    return std::nullopt;
  arith::CmpIPredicate predicate = first ? compare.getPredicate() : swapped(compare.getPredicate());
  return Awaited{word, other, opposite(predicate), isUnsigned(predicate)};
}

/// The operations of a block but those that say nothing here.
SmallVector<Operation *> operationsOf(Block *block) {
  SmallVector<Operation *> found;
  for (Operation &op : block->without_terminator())
    if (!isa<distributed::YieldOp>(op))
      found.push_back(&op);
  return found;
}

Value emitWait(OpBuilder &builder, Location loc, const Awaited &awaited) {
  Type type = cast<tt::PointerType>(awaited.word.getType()).getPointeeType();
  Value comparison = arith::ConstantOp::create(
      builder, loc, builder.getI32IntegerAttr(int32_t(awaited.comparison)));
  auto wait = distributed::ExternCallOp::create(
      builder, loc, TypeRange(type), ValueRange{awaited.word, comparison, awaited.value},
      builder.getStringAttr(distributed::libraryName), builder.getStringAttr(""),
      builder.getStringAttr("signal_wait_until"), builder.getBoolAttr(false), StringAttr());
  if (awaited.isUnsigned)
    wait->setAttr(attr::isUnsigned, builder.getUnitAttr());
  return wait.getResult()[0];
}

/// while (read(word) != value) {}
bool replaceReadInCondition(scf::WhileOp loop) {
  SmallVector<Operation *> before = operationsOf(loop.getBeforeBody());
  if (loop.getNumOperands() || loop.getNumResults() || before.size() != 2 ||
      !operationsOf(loop.getAfterBody()).empty() || before[0]->getNumResults() != 1)
    return false;
  auto awaited =
      awaitedBy(loop, loop.getConditionOp().getCondition(), before[0]->getResult(0), before[0]);
  if (!awaited || loop.getConditionOp().getCondition().getDefiningOp() != before[1])
    return false;
  OpBuilder builder(loop);
  emitWait(builder, loop.getLoc(), *awaited);
  loop.erase();
  return true;
}

/// while (x != value) x = read(word): x is compared before the first read, too.
bool replaceReadInBody(scf::WhileOp loop) {
  SmallVector<Operation *> before = operationsOf(loop.getBeforeBody()),
                           after = operationsOf(loop.getAfterBody());
  if (loop.getNumOperands() != 1 || loop.getNumResults() > 1 || before.size() != 1 ||
      after.size() != 1 || after[0]->getNumResults() != 1 ||
      loop.getYieldOp().getOperand(0) != after[0]->getResult(0))
    return false;
  BlockArgument carried = loop.getBeforeBody()->getArgument(0);
  scf::ConditionOp condition = loop.getConditionOp();
  if (condition.getCondition().getDefiningOp() != before[0] ||
      (loop.getNumResults() && condition.getArgs()[0] != carried))
    return false;
  auto awaited = awaitedBy(loop, condition.getCondition(), carried, after[0]);
  if (!awaited)
    return false;
  OpBuilder builder(loop);
  IRMapping map;
  map.map(carried, loop.getOperand(0));
  Value goesOn = builder.clone(*before[0], map)->getResult(0);
  auto branch = scf::IfOp::create(builder, loop.getLoc(), loop.getResultTypes(), goesOn,
                                  /*withElseRegion=*/loop.getNumResults() != 0);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value seen = emitWait(builder, loop.getLoc(), *awaited);
  if (loop.getNumResults()) {
    scf::YieldOp::create(builder, loop.getLoc(), seen);
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loop.getLoc(), loop.getOperand(0));
  }
  loop.replaceAllUsesWith(branch.getResults());
  loop.erase();
  return true;
}

struct FindWaits : impl::NereidFindWaitsBase<FindWaits> {
  void runOnOperation() override {
    SmallVector<scf::WhileOp> loops;
    getOperation()->walk([&](scf::WhileOp loop) { loops.push_back(loop); });
    for (scf::WhileOp loop : loops)
      if (!replaceReadInCondition(loop))
        replaceReadInBody(loop);
  }
};

} // namespace
} // namespace nereid
