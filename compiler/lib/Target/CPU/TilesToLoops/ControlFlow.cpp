// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles that go round loops and out of branches live in buffers; the loops and
// branches themselves keep only their scalars.
//
// A tile that a loop carries has one buffer from the first round to the last:
//
//   for ... iter_args(%t = %init)     copy init -> T               (enter)
//     ... use %t ...                  ... use T ...
//     yield %next                     copy next -> T               (next)
//   %r                                is T
//
// The copies at a yield happen as if all at once, while each is a loop nest of
// its own that may read what another one writes (a, b = b, a + 1). assign()
// orders them: one whose target nobody else still reads goes first; when there
// is none, a tile of the cycle goes to a temporary. A tile that reads its own
// target is fine where each element reads itself, and needs a temporary where
// elements move (a transposition).
//
// The operations with tiles are only erased at the end (eraseTileOps): as long
// as roots are lowered, plan and emitters look at them. Loops and branches are
// then made again without their tiles; placeholders stand for tiles whose
// producer is gone until their users are.
#include "Lowering.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;

namespace nereid::tiles {

using Copies = SmallVector<std::pair<Value, Buffer *>>;

//===----------------------------------------------------------------------===//
// Parallel copies
//===----------------------------------------------------------------------===//

/// Copies as if all at once: a copy whose target another one still reads waits
/// for it; in a cycle, or when elements move, a tile goes through a temporary.
void FunctionLowering::assign(OpBuilder &builder, Operation *anchor,
                              ArrayRef<std::pair<Value, Buffer *>> copies) {
  struct Copy {
    Value value;
    Buffer *target;
    Buffer *temporary = nullptr;
    SmallPtrSet<Buffer *, 4> reads;
    bool moves = false; ///< reads its own target at other places
  };
  SmallVector<Copy> open;
  for (auto [value, target] : copies) {
    target->touches.push_back(anchor);
    if (lookup(value) == target)
      continue;
    Copy copy{value, target};
    plan.visitTree(value, /*throughSelf=*/false, [&](const TreeAccess &access) {
      Buffer *buffer = access.load ? nullptr : lookup(access.value);
      if (!buffer)
        return;
      copy.reads.insert(buffer);
      if (buffer != target)
        return;
      auto shape = getTile(access.value).getShape();
      copy.moves |= shape != ArrayRef<int64_t>(target->shape);
      for (auto [d, from] : llvm::enumerate(access.dims))
        copy.moves |= from != int(d) && shape[d] != 1;
    });
    open.push_back(copy);
  }
  while (!open.empty()) {
    auto ready = llvm::find_if(open, [&](const Copy &copy) {
      bool free = copy.temporary || !copy.moves;
      for (const Copy &other : open)
        free &= &other == &copy || other.temporary || !other.reads.contains(copy.target);
      return free;
    });
    if (ready != open.end()) {
      if (ready->temporary) {
        // The temporary stands in for the value.
        Buffer *previous = lookup(ready->value);
        bind(ready->value, ready->temporary);
        storeTile(builder, anchor, ready->value, ready->target, /*throughSelf=*/false);
        if (previous)
          bind(ready->value, previous);
        else
          unbind(ready->value);
      } else {
        storeTile(builder, anchor, ready->value, ready->target, /*throughSelf=*/false);
      }
      open.erase(ready);
      continue;
    }
    auto blocked = llvm::find_if(open, [](const Copy &copy) { return !copy.temporary; });
    blocked->temporary = createBuffer(getTile(blocked->value), anchor->getBlock());
    storeTile(builder, anchor, blocked->value, blocked->temporary, /*throughSelf=*/false);
  }
}

//===----------------------------------------------------------------------===//
// Structured control flow
//===----------------------------------------------------------------------===//

LogicalResult FunctionLowering::lowerFor(scf::ForOp loop) {
  OpBuilder builder(loop);
  Copies enter, next;
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [i, init] : llvm::enumerate(loop.getInitArgs())) {
    auto type = getTile(init);
    if (!type)
      continue;
    Buffer *buffer = createBuffer(type, loop->getBlock());
    enter.emplace_back(init, buffer);
    next.emplace_back(yield->getOperand(i), buffer);
  }
  if (!enter.empty()) {
    int64_t bytes = 0, inPlace = 0;
    for (auto [init, buffer] : enter)
      bytes += buffer->bytes;
    loop.getBody()->walk([&](tt::DotOp dot) {
      BlockArgument sum = plan.getInPlaceAccumulator(dot);
      inPlace += sum && sum.getOwner() == loop.getBody();
    });
    explain(loop, "loop: carries " + Twine(enter.size()) + " tiles of " + Twine(bytes) +
                      " bytes together from round to round in scratch memory; products update " +
                      Twine(inPlace) + " of them in place");
  }
  assign(builder, loop, enter);
  for (auto [i, init] : llvm::enumerate(loop.getInitArgs()))
    if (getTile(init))
      bind(loop.getRegionIterArg(i),
           enter[llvm::count_if(loop.getInitArgs().take_front(i), getTile)].second);
  if (failed(lowerBlock(*loop.getBody())))
    return failure();
  builder.setInsertionPoint(yield);
  assign(builder, yield, next);
  for (auto [arg, result] : llvm::zip(loop.getRegionIterArgs(), loop.getResults()))
    if (getTile(arg))
      bind(result, lookup(arg));
  return success();
}

LogicalResult FunctionLowering::lowerWhile(scf::WhileOp loop) {
  OpBuilder builder(loop);
  Copies enter, forward, next;
  Block *before = loop.getBeforeBody(), *after = loop.getAfterBody();
  for (auto [init, arg] : llvm::zip(loop.getInits(), before->getArguments()))
    if (auto type = getTile(init))
      enter.emplace_back(init, createBuffer(type, loop->getBlock()));
  assign(builder, loop, enter);
  unsigned tile = 0;
  for (BlockArgument arg : before->getArguments())
    if (getTile(arg))
      bind(arg, enter[tile++].second);
  if (failed(lowerBlock(*before)))
    return failure();
  scf::ConditionOp condition = loop.getConditionOp();
  for (auto [i, value] : llvm::enumerate(condition.getArgs())) {
    auto type = getTile(value);
    if (!type)
      continue;
    // A value handed through unchanged keeps its buffer.
    auto arg = dyn_cast<BlockArgument>(value);
    Buffer *buffer =
        arg && arg.getOwner() == before ? lookup(value) : createBuffer(type, loop->getBlock());
    buffer->touches.push_back(loop);
    forward.emplace_back(value, buffer);
    bind(after->getArgument(i), buffer);
    bind(loop.getResult(i), buffer);
  }
  builder.setInsertionPoint(condition);
  assign(builder, condition, forward);
  if (failed(lowerBlock(*after)))
    return failure();
  Operation *yield = after->getTerminator();
  for (auto [value, arg] : llvm::zip(yield->getOperands(), before->getArguments()))
    if (getTile(value))
      next.emplace_back(value, lookup(arg));
  builder.setInsertionPoint(yield);
  assign(builder, yield, next);
  return success();
}

LogicalResult FunctionLowering::lowerIf(scf::IfOp branch) {
  SmallVector<Buffer *> results(branch->getNumResults());
  for (auto [i, result] : llvm::enumerate(branch.getResults()))
    if (auto type = getTile(result)) {
      results[i] = createBuffer(type, branch->getBlock());
      results[i]->touches.push_back(branch);
    }
  for (Region &region : branch->getRegions()) {
    if (region.empty())
      continue;
    if (failed(lowerBlock(region.front())))
      return failure();
    Operation *yield = region.front().getTerminator();
    Copies copies;
    for (auto [i, value] : llvm::enumerate(yield->getOperands()))
      if (results[i])
        copies.emplace_back(value, results[i]);
    OpBuilder builder(yield);
    assign(builder, yield, copies);
  }
  for (auto [i, result] : llvm::enumerate(branch.getResults()))
    if (results[i])
      bind(result, results[i]);
  return success();
}

/// Tiles passed to another block. On an edge of a conditional branch the copies
/// get a block of their own.
LogicalResult FunctionLowering::lowerBranch(BranchOpInterface branch) {
  for (unsigned i = 0; i < branch->getNumSuccessors(); ++i) {
    SuccessorOperands operands = branch.getSuccessorOperands(i);
    Block *target = branch->getSuccessor(i);
    Copies copies;
    for (unsigned k = operands.getProducedOperandCount(); k < operands.size(); ++k)
      if (getTile(operands[k]))
        copies.emplace_back(operands[k], lookup(target->getArgument(k)));
    if (copies.empty())
      continue;
    OpBuilder builder(branch);
    if (branch->getNumSuccessors() > 1) {
      Block *edge = builder.createBlock(target);
      SmallVector<Value> forwarded(operands.getForwardedOperands());
      cf::BranchOp::create(builder, branch.getLoc(), target, forwarded);
      operands.erase(operands.getProducedOperandCount(), operands.size());
      branch->setSuccessor(edge, i);
      builder.setInsertionPointToStart(edge);
      assign(builder, edge->getTerminator(), copies);
      continue;
    }
    assign(builder, branch, copies);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Clean-up
//===----------------------------------------------------------------------===//

static SmallVector<Value> scalarsOf(ValueRange values) {
  SmallVector<Value> result;
  for (Value value : values)
    if (!getTile(value))
      result.push_back(value);
  return result;
}

namespace {
/// Stands in for tiles whose producer is gone until their users are.
class Placeholders {
public:
  explicit Placeholders(FunctionOpInterface function)
      : entry(&function.getFunctionBody().front()) {}

  void replace(Value tile) {
    if (tile.use_empty())
      return;
    OpBuilder builder(entry, entry->begin());
    ops.push_back(
        UnrealizedConversionCastOp::create(builder, tile.getLoc(), tile.getType(), ValueRange()));
    tile.replaceAllUsesWith(ops.back()->getResult(0));
  }

  void erase() {
    for (Operation *op : ops)
      op->erase();
  }

private:
  Block *entry;
  SmallVector<Operation *> ops;
};
} // namespace

static void eraseTileArguments(Block &block, Placeholders &placeholders) {
  for (unsigned i = block.getNumArguments(); i-- > 0;)
    if (getTile(block.getArgument(i))) {
      placeholders.replace(block.getArgument(i));
      block.eraseArgument(i);
    }
}

static void dropTileOperands(Operation *terminator) {
  for (unsigned i = terminator->getNumOperands(); i-- > 0;)
    if (getTile(terminator->getOperand(i)))
      terminator->eraseOperand(i);
}

/// Moves the regions of `from` into `to` and replaces the scalar results.
static void replaceKeepingScalars(Operation *from, Operation *to, Placeholders &placeholders) {
  for (auto [source, target] : llvm::zip(from->getRegions(), to->getRegions())) {
    target.takeBody(source);
    for (Block &block : target) {
      eraseTileArguments(block, placeholders);
      if (isa<scf::YieldOp, scf::ConditionOp>(block.back()))
        dropTileOperands(&block.back());
    }
  }
  unsigned next = 0;
  for (Value result : from->getResults()) {
    if (getTile(result))
      placeholders.replace(result);
    else
      result.replaceAllUsesWith(to->getResult(next++));
  }
  to->setDiscardableAttrs(from->getDiscardableAttrDictionary());
  from->erase();
}

void FunctionLowering::eraseTileOps() {
  Placeholders placeholders(function);
  SmallVector<Operation *> control;
  function->walk<WalkOrder::PostOrder>([&](Operation *op) {
    if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op) && hasTiles(op))
      control.push_back(op);
    else if (auto loop = dyn_cast<scf::WhileOp>(op); loop && hasTiles(loop.getConditionOp()))
      control.push_back(op);
  });
  for (Operation *op : control) {
    OpBuilder builder(op);
    SmallVector<Type> types;
    for (Value result : scalarsOf(op->getResults()))
      types.push_back(result.getType());
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      auto fresh =
          scf::ForOp::create(builder, op->getLoc(), loop.getLowerBound(), loop.getUpperBound(),
                             loop.getStep(), scalarsOf(loop.getInitArgs()));
      fresh->setAttrs(loop->getAttrs());
      replaceKeepingScalars(loop, fresh, placeholders);
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      auto fresh = scf::WhileOp::create(builder, op->getLoc(), types, scalarsOf(loop.getInits()));
      replaceKeepingScalars(loop, fresh, placeholders);
    } else {
      auto branch = cast<scf::IfOp>(op);
      auto fresh = scf::IfOp::create(builder, op->getLoc(), types, branch.getCondition(),
                                     !branch.getElseRegion().empty());
      replaceKeepingScalars(branch, fresh, placeholders);
    }
  }
  for (Block &block : function.getFunctionBody()) {
    if (auto branch = dyn_cast<BranchOpInterface>(block.getTerminator()))
      for (unsigned i = 0; i < branch->getNumSuccessors(); ++i) {
        SuccessorOperands operands = branch.getSuccessorOperands(i);
        for (unsigned k = operands.size(); k-- > operands.getProducedOperandCount();)
          if (getTile(operands[k]))
            operands.erase(k);
      }
  }
  for (Block &block : function.getFunctionBody())
    eraseTileArguments(block, placeholders);
  for (Operation *op : llvm::reverse(tileOps)) {
    op->dropAllUses();
    op->erase();
  }
  placeholders.erase();
}

} // namespace nereid::tiles
