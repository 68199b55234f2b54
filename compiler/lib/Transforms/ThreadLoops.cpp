// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels for GPUs on targets whose programs are one thread each.
//
// The program as a whole goes along its spine: blocks of operations that all of
// its threads reach. What it meets there is one of
//
//   uniform      no operand depends on the thread: done once
//   derived      a scalar without an effect that depends on it: made again, for
//                each thread, where it is needed
//   each         an effect, or control flow, that depends on it
//
// Runs of `each` become loops over the threads:
//
//     x = load(p + t)                 for t:  slot[t] = load(p + t)
//     block store                     block store
//     y = x + 1                       for t:  x = slot[t]; y = x + 1
//     store(q + t, y)                         store(q + t, y)
//
// A scalar that one loop makes and another needs has a slot for each thread. So
// have values that loops and branches of the spine carry. Threads run one after
// the other between two ends of loops: a thread may wait for what an earlier one
// does, and for other programs and ranks, but not for a later one.
//
// Threads meet at a barrier, and in an exchange: a shuffle or a ballot of a warp. Control
// flow that depends on the thread and leads to one is of the spine as well, with
// a mask of the threads that are on this way:
//
//     if t < 32:                      for t:  on[t] = t < 32
//         x = shuffle(y)              if any of on:
//         store(q + t, x)                 for t:  if on[t]:  s[t] = y
//                                         for t:  if on[t]:  x[t] = s[lane]
//                                         for t:  if on[t]:  store(q + t, x[t])
#include "nereid/Analysis/Divergence.h"
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Support/AttributeNames.h"
#include "nereid/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDTHREADLOOPS
#include "nereid/Transforms/Passes.h.inc"

using namespace mlir;

namespace {

constexpr int32_t kWarp = 32;

bool isBlock(Type type) { return isa<ShapedType>(type); }

bool touchesBlocks(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isBlock) ||
         llvm::any_of(op->getResultTypes(), isBlock);
}

/// Adds or exchanges for each thread: once for every one of them.
bool isEachUpdate(Operation *op) {
  return isa<tt::AtomicRMWOp, tt::AtomicCASOp>(op) && op->hasAttr(attr::eachThread);
}

/// Belongs to the program, whichever threads reach it: thread 0 does it.
bool isOfProgram(Operation *op) {
  return isa<tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp, distributed::NotifyOp>(op) &&
         !op->hasAttr(attr::eachThread);
}

/// Which threads call it together: "block", those of the program; "warp".
bool isTogether(Operation *op, StringRef who) {
  auto attribute = op->getAttrOfType<StringAttr>(attr::together);
  return attribute && attribute.getValue() == who;
}

/// All threads of the program call it together.
bool isOfBlock(Operation *op) {
  return isa<distributed::ThreadBarrierOp>(op) || isTogether(op, "block");
}

/// "shfl.sync.MODE" or "vote.sync.ballot" for an exchange among the threads of a warp.
StringRef exchangeOf(Operation *op) {
  auto assembly = dyn_cast<tt::ElementwiseInlineAsmOp>(op);
  StringRef text = assembly ? assembly.getAsmString() : StringRef();
  return text.starts_with("shfl.sync.") || text.starts_with("vote.sync.ballot") ? text
                                                                                : StringRef();
}

bool isSource(Operation *op) {
  return isa<distributed::ThreadIdOp>(op) || isEachUpdate(op) || !exchangeOf(op).empty();
}

/// Whether threads meet in it or inside of it.
bool leadsToMeeting(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isOfBlock(inner) || !exchangeOf(inner).empty() ? WalkResult::interrupt()
                                                              : WalkResult::advance();
      })
      .wasInterrupted();
}

/// `for` as a `while`, which can go on for some threads.
void makeWhile(scf::ForOp loop) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  SmallVector<Value> inits{loop.getLowerBound()};
  llvm::append_range(inits, loop.getInitArgs());
  SmallVector<Type> types;
  for (Value init : inits)
    types.push_back(init.getType());
  auto whole = scf::WhileOp::create(builder, loc, types, inits);
  SmallVector<Location> locs(types.size(), loc);
  Block *before = builder.createBlock(&whole.getBefore(), {}, types, locs);
  Value goes = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                     before->getArgument(0), loop.getUpperBound());
  scf::ConditionOp::create(builder, loc, goes, before->getArguments());
  Block *after = builder.createBlock(&whole.getAfter(), {}, types, locs);
  for (auto [old, now] : llvm::zip(loop.getBody()->getArguments(), after->getArguments()))
    old.replaceAllUsesWith(now);
  Operation *yield = loop.getBody()->getTerminator();
  SmallVector<Value> next(yield->getOperands());
  yield->erase();
  after->getOperations().splice(after->end(), loop.getBody()->getOperations());
  builder.setInsertionPointToEnd(after);
  next.insert(next.begin(),
              arith::AddIOp::create(builder, loc, after->getArgument(0), loop.getStep()));
  scf::YieldOp::create(builder, loc, next);
  for (auto [old, now] : llvm::zip(loop.getResults(), whole.getResults().drop_front()))
    old.replaceAllUsesWith(now);
  loop.erase();
}

void makeMeetingLoopsWhiles(tt::FuncOp function) {
  Divergence divergence(function, isSource);
  SmallVector<scf::ForOp> loops;
  function.walk([&](scf::ForOp loop) {
    if (divergence.decides(loop) && leadsToMeeting(loop))
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops)
    makeWhile(loop);
}

class ThreadLoops {
public:
  ThreadLoops(tt::FuncOp function, int32_t threads)
      : function(function), threads(threads), divergence(function, isSource) {}

  LogicalResult run() {
    if (failed(check()))
      return failure();
    for (Block &block : function.getBody())
      visitBlock(block);
    // What was derived from the thread is made in the loops by now.
    for (Operation *op : llvm::reverse(derived)) {
      if (!op->use_empty())
        return op->emitError() << "this depends on the number of a thread in a way that is not "
                                  "supported";
      op->erase();
    }
    SmallVector<Operation *> barriers;
    function.walk([&](distributed::ThreadBarrierOp op) { barriers.push_back(op); });
    for (Operation *op : barriers)
      op->erase();
    return success();
  }

private:
  /// A loop over the threads that is being filled.
  struct Loop {
    scf::ForOp op;
    Block *body;    ///< where a thread's work goes
    IRMapping made; ///< derived values and slots, as this loop has them
    llvm::SmallPtrSet<Operation *, 16> own;
  };

  //===--- what cannot be done --------------------------------------------===//

  LogicalResult check() {
    bool bad = false;
    function.walk([&](Operation *op) {
      if (op == function.getOperation() || bad)
        return;
      bool reached = divergence.isDivergent(op);
      bool operand =
          llvm::any_of(op->getOperands(), [&](Value v) { return divergence.isDivergent(v); });
      if (reached && isa<distributed::ThreadBarrierOp>(op) && canSplit(op)) {
        op->emitWarning() << "only some threads of the program reach this barrier, which GPUs "
                             "leave undefined: here the others do not wait, and are not waited for";
      } else if (reached && !exchangeOf(op).empty() && !canSplit(op)) {
        op->emitError() << "the threads of a warp cannot exchange values here: this depends on the "
                           "thread in a way that is not supported";
        bad = true;
      } else if (reached && isOfBlock(op)) {
        op->emitError() << "only some threads of the program reach this, but all of them have to "
                           "call it together: move it out of the condition or loop that depends on "
                           "the thread";
        bad = true;
      } else if ((reached || operand) && touchesBlocks(op)) {
        op->emitError() << (operand ? "a block cannot depend on the number of a thread, since it "
                                      "belongs to the whole program: use tl.arange for the "
                                      "elements, or ld and st for what each thread does"
                                    : "only some threads of the program reach this, but blocks "
                                      "belong to all of them: move it out of the condition or loop "
                                      "that depends on the thread");
        bad = true;
      } else if (operand && (op->getNumSuccessors() > 0 || isa<tt::CallOp>(op))) {
        op->emitError() << (isa<tt::CallOp>(op)
                                ? "a function that is not inlined cannot take what depends on the "
                                  "number of a thread: leave out noinline"
                                : "a return, break or continue under a condition that depends on "
                                  "the thread is not supported: put what follows into the "
                                  "condition");
        bad = true;
      }
    });
    return failure(bad);
  }

  /// Whether all control flow around it that depends on the thread is branches and loops that
  /// the spine goes along with a mask.
  bool canSplit(Operation *op) const {
    for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
      if (divergence.decides(parent) && !isa<scf::IfOp, scf::WhileOp>(parent))
        return false;
    return true;
  }

  /// Whether `op` is done differently by each thread. What a mask says does not count.
  bool depends(Operation *op) const {
    for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
      if (divergence.decides(parent) && !split.contains(parent))
        return true;
    return llvm::any_of(op->getOperands(), [&](Value v) { return divergence.isDivergent(v); });
  }

  //===--- the spine ------------------------------------------------------===//

  void visitBlock(Block &block) { visitUntil(block, block.getTerminator()); }

  void visitUntil(Block &block, Operation *end) {
    Loop *loop = nullptr;
    auto finish = [&] { loop = nullptr; };
    SmallVector<Operation *> all;
    for (Operation &op : llvm::make_range(block.begin(), end->getIterator()))
      all.push_back(&op);
    for (Operation *each : all) {
      Operation &op = *each;
      if (isa<distributed::ThreadIdOp>(op) ||
          (depends(&op) && op.getNumRegions() == 0 && isMemoryEffectFree(&op))) {
        derived.push_back(&op);
        continue;
      }
      if (!exchangeOf(&op).empty()) {
        finish();
        exchange(&op);
        continue;
      }
      if (divergence.decides(&op) && leadsToMeeting(&op)) {
        finish();
        split.insert(&op);
        if (auto branch = dyn_cast<scf::IfOp>(op))
          visitSplit(branch);
        else
          visitSplit(cast<scf::WhileOp>(op));
        continue;
      }
      if (divergence.decides(&op) || isEachUpdate(&op) ||
          (op.getNumRegions() == 0 &&
           (depends(&op) || (on && (isOfProgram(&op) || isTogether(&op, "warp")))))) {
        if (!loop)
          loop = open(OpBuilder(&op), op.getLoc());
        else
          loop->op->moveBefore(&op); // uniform values that it needs stand between
        move(&op, *loop);
        continue;
      }
      if (op.getNumRegions() == 0 && isMemoryEffectFree(&op))
        continue;
      finish();
      visitOnSpine(&op);
    }
  }

  /// An operation that all threads reach together; its regions are of the spine too.
  void visitOnSpine(Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [init, argument, result] :
           llvm::zip(loop.getInitArgsMutable(), loop.getRegionIterArgs(), loop.getResults()))
        if (divergence.isDivergent(argument) || divergence.isDivergent(result))
          share({argument, result});
      carry(op, loop.getInitArgsMutable(), loop.getRegionIterArgs());
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      for (Value argument : loop.getBeforeArguments())
        if (divergence.isDivergent(argument))
          share({argument});
      for (auto [argument, result] : llvm::zip(loop.getAfterArguments(), loop.getResults()))
        if (divergence.isDivergent(argument) || divergence.isDivergent(result))
          share({argument, result});
      carry(op, loop.getInitsMutable(), loop.getBeforeArguments());
    } else {
      for (Value result : op->getResults())
        if (divergence.isDivergent(result))
          share({result});
    }
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        visitBlock(block);
        visitTerminator(op, block.getTerminator());
      }
  }

  void visitTerminator(Operation *parent, Operation *terminator) {
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      carry(terminator, terminator->getOpOperands(), loop.getRegionIterArgs());
    else if (auto loop = dyn_cast<scf::WhileOp>(parent))
      if (auto condition = dyn_cast<scf::ConditionOp>(terminator))
        carry(terminator, condition.getArgsMutable(), loop.getAfterArguments());
      else
        carry(terminator, terminator->getOpOperands(), loop.getBeforeArguments());
    else if (terminator->getNumOperands() == parent->getNumResults())
      carry(terminator, terminator->getOpOperands(), parent->getResults());
  }

  /// Operands of `op` go to the slots of `targets` that have one; the operation is
  /// left with zeros in their place.
  template <typename Operands> void carry(Operation *op, Operands &&operands, ValueRange targets) {
    SmallVector<std::pair<OpOperand *, Value>> moved;
    for (auto [operand, target] : llvm::zip(operands, targets))
      if (slots.contains(target))
        moved.push_back({&operand, target});
    if (moved.empty())
      return;
    Loop *loop = open(OpBuilder(op), op->getLoc());
    SmallVector<Value> values; // all are read before any is written
    for (auto [operand, target] : moved)
      values.push_back(make(operand->get(), *loop));
    for (auto [value, entry] : llvm::zip(values, moved))
      storeSlot(*loop, entry.second, value);
    OpBuilder builder(op);
    for (auto [operand, target] : moved)
      operand->set(zero(builder, op->getLoc(), operand->get().getType()));
  }

  //===--- some of the threads --------------------------------------------===//

  /// Memory of `count` integers.
  Value memory(unsigned bits, int64_t count) {
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    Location loc = function.getLoc();
    Value number = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                            builder.getI64IntegerAttr(count));
    return LLVM::AllocaOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
                                  builder.getIntegerType(bits), number, /*alignment=*/16);
  }
  Value element(OpBuilder &builder, Location loc, Value memory, unsigned bits, Value index) {
    return LLVM::GEPOp::create(builder, loc, memory.getType(), builder.getIntegerType(bits), memory,
                               ArrayRef<LLVM::GEPArg>{index});
  }
  static Value constant(OpBuilder &builder, Location loc, int64_t value, unsigned bits) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(builder.getIntegerType(bits), value));
  }

  /// Which threads go on: of those that are on, whose `condition` is `wanted`.
  struct Mask {
    Value threads; ///< memory of one byte for each
    Value any;     ///< memory of a byte: whether there are any
  };
  Mask newMask() { return {memory(8, threads), memory(8, 1)}; }

  void clear(Mask mask, Operation *before) {
    OpBuilder builder(before);
    Location loc = before->getLoc();
    Value outer = std::exchange(on, Value());
    Loop *loop = open(builder, loc);
    on = outer;
    OpBuilder inside(loop->body->getTerminator());
    LLVM::StoreOp::create(inside, loc, constant(inside, loc, 0, 8),
                          element(inside, loc, mask.threads, 8, loop->op.getInductionVar()));
  }

  /// Notes in `loop` whether its thread goes on.
  void note(Loop &loop, Location loc, Mask mask, Value condition) {
    OpBuilder inside(loop.body->getTerminator());
    Value byte = arith::ExtUIOp::create(inside, loc, inside.getI8Type(), condition);
    LLVM::StoreOp::create(inside, loc, byte,
                          element(inside, loc, mask.threads, 8, loop.op.getInductionVar()));
    Value before = LLVM::LoadOp::create(inside, loc, inside.getI8Type(), mask.any);
    LLVM::StoreOp::create(inside, loc, arith::OrIOp::create(inside, loc, before, byte), mask.any);
  }

  void setNone(Mask mask, OpBuilder &builder, Location loc) {
    LLVM::StoreOp::create(builder, loc, constant(builder, loc, 0, 8), mask.any);
  }
  Value isAny(Mask mask, OpBuilder &builder, Location loc) {
    Value byte = LLVM::LoadOp::create(builder, loc, builder.getI8Type(), mask.any);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, byte,
                                 constant(builder, loc, 0, 8));
  }

  /// A branch whose ways threads part on, and meet in.
  void visitSplit(scf::IfOp branch) {
    Location loc = branch.getLoc();
    for (Value result : branch.getResults())
      share({result});
    SmallVector<std::pair<Block *, Mask>> ways;
    for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()}) {
      if (region->empty())
        continue;
      Mask mask = newMask();
      clear(mask, branch);
      OpBuilder builder(branch);
      setNone(mask, builder, loc);
      Loop *loop = open(OpBuilder(branch), loc);
      Value condition = make(branch.getCondition(), *loop);
      if (region == &branch.getElseRegion()) {
        OpBuilder inside(loop->body->getTerminator());
        condition = arith::XOrIOp::create(inside, loc, condition, constant(inside, loc, 1, 1));
      }
      note(*loop, loc, mask, condition);
      ways.push_back({&region->front(), mask});
    }
    for (auto [way, mask] : ways) {
      OpBuilder builder(branch);
      auto any = scf::IfOp::create(builder, loc, TypeRange{}, isAny(mask, builder, loc),
                                   /*withElseRegion=*/false);
      Operation *yield = way->getTerminator();
      any.thenBlock()->getOperations().splice(any.thenBlock()->begin(), way->getOperations());
      Value outer = std::exchange(on, mask.threads);
      yield->moveBefore(any.thenBlock()->getTerminator());
      visitUntil(*any.thenBlock(), yield);
      carry(yield, yield->getOpOperands(), branch.getResults());
      yield->erase();
      on = outer;
    }
    derived.push_back(branch);
  }

  /// A loop that threads leave one after the other.
  void visitSplit(scf::WhileOp loop) {
    Location loc = loop.getLoc();
    for (Value argument : loop.getBeforeArguments())
      if (divergence.isDivergent(argument))
        share({argument});
    for (auto [argument, result] : llvm::zip(loop.getAfterArguments(), loop.getResults())) {
      if (divergence.isDivergent(argument))
        share({argument});
      share({result});
    }
    carry(loop, loop.getInitsMutable(), loop.getBeforeArguments());
    Mask mask = newMask();
    clear(mask, loop);
    Loop *first = open(OpBuilder(loop), loc);
    OpBuilder inside(first->body->getTerminator());
    note(*first, loc, mask, constant(inside, loc, 1, 1));
    Value outer = std::exchange(on, mask.threads);

    visitBlock(*loop.getBeforeBody());
    scf::ConditionOp condition = loop.getConditionOp();
    {
      OpBuilder builder(condition);
      setNone(mask, builder, loc);
      Loop *all = open(builder, loc);
      SmallVector<Value> values;
      for (Value value : condition.getArgs())
        values.push_back(make(value, *all));
      Value goes = make(condition.getCondition(), *all);
      for (auto [value, argument, result] :
           llvm::zip(values, loop.getAfterArguments(), loop.getResults())) {
        if (slots.contains(argument))
          storeSlot(*all, argument, value);
        storeSlot(*all, result, value);
      }
      note(*all, loc, mask, goes);
      builder.setInsertionPoint(condition);
      condition.getConditionMutable().set(isAny(mask, builder, loc));
      for (auto [operand, argument] :
           llvm::zip(condition.getArgsMutable(), loop.getAfterArguments()))
        if (slots.contains(argument))
          operand.set(zero(builder, loc, operand.get().getType()));
    }
    visitBlock(*loop.getAfterBody());
    visitTerminator(loop, loop.getAfterBody()->getTerminator());
    on = outer;
  }

  //===--- exchanges ------------------------------------------------------===//

  /// A value of another thread of the warp, or one bit of each of them.
  void exchange(Operation *op) {
    StringRef what = exchangeOf(op);
    Location loc = op->getLoc();
    Value result = op->getResult(0);
    share({result});
    Value shared = memory(32, threads);
    auto lane = [&](OpBuilder &b, Value thread) -> Value {
      return arith::AndIOp::create(b, loc, thread, constant(b, loc, kWarp - 1, 32));
    };
    auto firstOf = [&](OpBuilder &b, Value thread) -> Value {
      return arith::AndIOp::create(b, loc, thread, constant(b, loc, ~int64_t(kWarp - 1), 32));
    };
    const bool votes = what.starts_with("vote");
    if (votes) {
      Value outer = std::exchange(on, Value());
      Loop *none = open(OpBuilder(op), loc);
      on = outer;
      OpBuilder b(none->body->getTerminator());
      LLVM::StoreOp::create(b, loc, constant(b, loc, 0, 32),
                            element(b, loc, shared, 32, none->op.getInductionVar()));
    }
    Loop *give = open(OpBuilder(op), loc);
    {
      Value mine = make(op->getOperand(0), *give), thread = give->op.getInductionVar();
      OpBuilder b(give->body->getTerminator());
      if (votes) {
        Value bit = arith::ShLIOp::create(
            b, loc, arith::ExtUIOp::create(b, loc, b.getI32Type(), mine), lane(b, thread));
        Value place = element(b, loc, shared, 32, firstOf(b, thread));
        Value before = LLVM::LoadOp::create(b, loc, b.getI32Type(), place);
        LLVM::StoreOp::create(b, loc, arith::OrIOp::create(b, loc, before, bit), place);
      } else {
        LLVM::StoreOp::create(b, loc, mine, element(b, loc, shared, 32, thread));
      }
    }
    Loop *take = open(OpBuilder(op), loc);
    {
      Value thread = take->op.getInductionVar();
      Value by = votes ? Value() : make(op->getOperand(1), *take);
      OpBuilder b(take->body->getTerminator());
      Value from = firstOf(b, thread);
      if (!votes)
        from = arith::OrIOp::create(b, loc, from, laneOf(b, loc, what, lane(b, thread), by));
      Value theirs =
          LLVM::LoadOp::create(b, loc, b.getI32Type(), element(b, loc, shared, 32, from));
      storeSlot(*take, result, theirs);
    }
    derived.push_back(op);
  }

  /// Whose value a shuffle gives to the thread of number `mine` in its warp: its own where
  /// there is no other.
  static Value laneOf(OpBuilder &b, Location loc, StringRef what, Value mine, Value by) {
    Value last = constant(b, loc, kWarp - 1, 32), other;
    if (what.contains(".idx"))
      return arith::AndIOp::create(b, loc, by, last);
    if (what.contains(".bfly"))
      other = arith::XOrIOp::create(b, loc, mine, by);
    else if (what.contains(".up"))
      other = arith::SubIOp::create(b, loc, mine, by);
    else
      other = arith::AddIOp::create(b, loc, mine, by);
    Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, other, last);
    return arith::SelectOp::create(b, loc, inside, other, mine);
  }

  //===--- loops over the threads -----------------------------------------===//

  /// Of the threads that are on.
  Loop *open(OpBuilder builder, Location loc) {
    auto number = [&](int32_t value) -> Value {
      return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
    };
    loops.push_back(std::make_unique<Loop>());
    Value first = number(0), end = number(threads), step = number(1);
    loops.back()->op = scf::ForOp::create(builder, loc, first, end, step);
    loops.back()->body = loops.back()->op.getBody();
    if (on) {
      OpBuilder inside(loops.back()->body->getTerminator());
      Value byte =
          LLVM::LoadOp::create(inside, loc, inside.getI8Type(),
                               element(inside, loc, on, 8, loops.back()->op.getInductionVar()));
      Value isOn = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::ne, byte,
                                         constant(inside, loc, 0, 8));
      loops.back()->body =
          scf::IfOp::create(inside, loc, TypeRange{}, isOn, /*withElseRegion=*/false).thenBlock();
    }
    return loops.back().get();
  }

  /// Makes `op`, which stands behind the loop, its last operation.
  void move(Operation *op, Loop &loop) {
    llvm::SetVector<Value> used;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (divergence.isDivergent(operand) && !isInside(operand, op))
          used.insert(operand);
    });
    IRMapping mapping;
    for (Value value : used)
      mapping.map(value, make(value, loop));
    op->walk([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands())
        if (Value made = mapping.lookupOrNull(operand.get()))
          operand.set(made);
      loop.own.insert(inner);
    });
    SmallVector<Operation *> ofProgram, ofWarp, ids;
    op->walk([&](Operation *inner) {
      if (isOfProgram(inner))
        ofProgram.push_back(inner);
      else if (isTogether(inner, "warp"))
        ofWarp.push_back(inner);
      else if (isa<distributed::ThreadIdOp>(inner))
        ids.push_back(inner);
    });
    op->moveBefore(loop.body->getTerminator());
    for (Operation *id : ids) {
      id->getResult(0).replaceAllUsesWith(loop.op.getInductionVar());
      id->erase();
    }
    // Before they may be wrapped: who else wants the results.
    for (Value result : op->getResults())
      keep(result, loop);
    for (Operation *inner : ofProgram)
      gate(inner, loop, 0);
    for (Operation *inner : ofWarp)
      gate(inner, loop, kWarp);
  }

  static bool isInside(Value value, Operation *op) {
    Operation *owner = value.getDefiningOp();
    if (!owner)
      owner = cast<BlockArgument>(value).getOwner()->getParentOp();
    return op->isAncestor(owner);
  }

  /// A result of an operation of `loop` that others than this loop use gets a slot.
  void keep(Value result, Loop &loop) {
    if (result.use_empty())
      return;
    share({result});
    storeSlot(loop, result, result);
    loop.made.map(result, result);
  }

  /// `value`, which depends on the thread, as the loop has it.
  Value make(Value value, Loop &loop) {
    if (!divergence.isDivergent(value))
      return value;
    if (Value made = loop.made.lookupOrNull(value))
      return made;
    OpBuilder builder(loop.body->getTerminator());
    Value made;
    Operation *op = value.getDefiningOp();
    if (op && isa<distributed::ThreadIdOp>(op)) {
      made = loop.op.getInductionVar();
    } else if (slots.contains(value)) {
      made = loadSlot(builder, loop, value);
    } else {
      assert(op && "an argument of the spine has a slot");
      IRMapping mapping;
      for (Value operand : op->getOperands())
        mapping.map(operand, make(operand, loop));
      builder.setInsertionPoint(loop.body->getTerminator());
      Operation *copy = builder.clone(*op, mapping);
      for (auto [old, fresh] : llvm::zip(op->getResults(), copy->getResults()))
        loop.made.map(old, fresh);
      return loop.made.lookup(value);
    }
    loop.made.map(value, made);
    return made;
  }

  /// `op`, inside of `loop`, happens for thread 0 alone, or for the first of each
  /// `group`; the others get zeros.
  void gate(Operation *op, Loop &loop, int32_t group) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    Value number = loop.op.getInductionVar();
    auto constant = [&](int32_t value) -> Value {
      return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
    };
    if (group)
      number = arith::RemSIOp::create(builder, loc, number, constant(group));
    Value isFirst =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, number, constant(0));
    bool used = !op->use_empty();
    auto branch = scf::IfOp::create(builder, loc,
                                    used ? TypeRange(op->getResultTypes()) : TypeRange(), isFirst,
                                    /*withElseRegion=*/used);
    if (!used) {
      op->moveBefore(branch.thenBlock()->getTerminator());
      return;
    }
    op->replaceAllUsesWith(branch.getResults());
    op->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
    builder.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(builder, loc, op->getResults());
    builder.setInsertionPointToEnd(branch.elseBlock());
    SmallVector<Value> nothing;
    for (Type type : op->getResultTypes())
      nothing.push_back(zero(builder, loc, type));
    scf::YieldOp::create(builder, loc, nothing);
  }

  //===--- slots ----------------------------------------------------------===//

  static Value zero(OpBuilder &builder, Location loc, Type type) {
    if (!isa<tt::PointerType>(type))
      return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    Value bits = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
    return tt::IntToPtrOp::create(builder, loc, type, bits);
  }

  static unsigned bitsOf(Type type) {
    if (isa<tt::PointerType>(type))
      return 64;
    return isa<IndexType>(type) ? 64 : std::max(8u, type.getIntOrFloatBitWidth());
  }

  /// `values`, of one type, have one slot for each thread.
  void share(ArrayRef<Value> values) {
    Value room = memory(bitsOf(values.front().getType()), threads);
    for (Value value : values)
      slots[value] = room;
  }

  Value slotAddress(OpBuilder &builder, Loop &loop, Value value) {
    Value memory = slots.lookup(value);
    return LLVM::GEPOp::create(builder, value.getLoc(), memory.getType(),
                               builder.getIntegerType(bitsOf(value.getType())), memory,
                               ArrayRef<LLVM::GEPArg>{loop.op.getInductionVar()});
  }

  void storeSlot(Loop &loop, Value target, Value value) {
    OpBuilder builder(loop.body->getTerminator());
    Location loc = value.getLoc();
    Type type = value.getType(), bits = builder.getIntegerType(bitsOf(type));
    if (isa<tt::PointerType>(type))
      value = tt::PtrToIntOp::create(builder, loc, bits, value);
    else if (isa<IndexType>(type))
      value = arith::IndexCastOp::create(builder, loc, bits, value);
    else if (isa<FloatType>(type))
      value = arith::BitcastOp::create(builder, loc, bits, value);
    else if (type != bits)
      value = arith::ExtUIOp::create(builder, loc, bits, value);
    Value address = slotAddress(builder, loop, target);
    LLVM::StoreOp::create(builder, loc, value, address);
  }

  Value loadSlot(OpBuilder &builder, Loop &loop, Value value) {
    Location loc = value.getLoc();
    Type type = value.getType(), bits = builder.getIntegerType(bitsOf(type));
    Value address = slotAddress(builder, loop, value);
    Value loaded = LLVM::LoadOp::create(builder, loc, bits, address);
    if (isa<tt::PointerType>(type))
      return tt::IntToPtrOp::create(builder, loc, type, loaded);
    if (isa<IndexType>(type))
      return arith::IndexCastOp::create(builder, loc, type, loaded);
    if (isa<FloatType>(type))
      return arith::BitcastOp::create(builder, loc, type, loaded);
    return type == bits ? loaded : Value(arith::TruncIOp::create(builder, loc, type, loaded));
  }

  tt::FuncOp function;
  int32_t threads;
  Divergence divergence;
  Value on; ///< which threads are on this way, a byte for each; null: all
  llvm::DenseMap<Value, Value> slots;
  llvm::DenseSet<Operation *> split; ///< go along with a mask
  SmallVector<Operation *> derived;
  std::vector<std::unique_ptr<Loop>> loops;
};

struct ThreadLoopsPass : impl::NereidThreadLoopsBase<ThreadLoopsPass> {
  void runOnOperation() override {
    auto threads = getOperation()->getAttrOfType<IntegerAttr>(attr::threads);
    if (!threads)
      return;
    for (auto function : getOperation().getOps<tt::FuncOp>()) {
      if (function.isExternal())
        continue;
      makeMeetingLoopsWhiles(function);
      if (failed(ThreadLoops(function, int32_t(threads.getInt())).run()))
        return signalPassFailure();
    }
  }
};

} // namespace
} // namespace nereid
