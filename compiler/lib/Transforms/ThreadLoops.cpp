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
#include "nereid/Analysis/Divergence.h"
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
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

constexpr const char *kEachThread = "nereid.each_thread";
constexpr int32_t kWarp = 32;

bool isBlock(Type type) { return isa<ShapedType>(type); }

bool touchesBlocks(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isBlock) ||
         llvm::any_of(op->getResultTypes(), isBlock);
}

/// Adds or exchanges for each thread: once for every one of them.
bool isEachUpdate(Operation *op) {
  return isa<tt::AtomicRMWOp, tt::AtomicCASOp>(op) && op->hasAttr(kEachThread);
}

/// Belongs to the program, whichever threads reach it: thread 0 does it.
bool isOfProgram(Operation *op) {
  return isa<tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp, distributed::NotifyOp>(op) &&
         !op->hasAttr(kEachThread);
}

/// Which threads call it together: "block", those of the program; "warp".
bool isTogether(Operation *op, StringRef who) {
  auto attribute = op->getAttrOfType<StringAttr>("nereid.together");
  return attribute && attribute.getValue() == who;
}

/// All threads of the program call it together.
bool isOfBlock(Operation *op) {
  return isa<distributed::ThreadBarrierOp>(op) || isTogether(op, "block");
}

class ThreadLoops {
public:
  ThreadLoops(tt::FuncOp function, int32_t threads)
      : function(function), threads(threads), divergence(function, [](Operation *op) {
          return isa<distributed::ThreadIdOp>(op) || isEachUpdate(op);
        }) {}

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
      if (reached && isOfBlock(op)) {
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

  //===--- the spine ------------------------------------------------------===//

  void visitBlock(Block &block) {
    Loop *loop = nullptr;
    auto finish = [&] { loop = nullptr; };
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (op.hasTrait<OpTrait::IsTerminator>())
        break;
      if (isa<distributed::ThreadIdOp>(op) ||
          (divergence.dependsOn(&op) && op.getNumRegions() == 0 && isMemoryEffectFree(&op))) {
        derived.push_back(&op);
        continue;
      }
      if (divergence.decides(&op) || isEachUpdate(&op) ||
          (op.getNumRegions() == 0 && divergence.dependsOn(&op))) {
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

  //===--- loops over the threads -----------------------------------------===//

  Loop *open(OpBuilder builder, Location loc) {
    auto number = [&](int32_t value) -> Value {
      return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
    };
    loops.push_back(std::make_unique<Loop>());
    Value first = number(0), end = number(threads), step = number(1);
    loops.back()->op = scf::ForOp::create(builder, loc, first, end, step);
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
    op->moveBefore(loop.op.getBody()->getTerminator());
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
    OpBuilder builder(loop.op.getBody()->getTerminator());
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
      builder.setInsertionPoint(loop.op.getBody()->getTerminator());
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
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    Location loc = function.getLoc();
    Value count = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                           builder.getI64IntegerAttr(threads));
    Value memory =
        LLVM::AllocaOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
                               builder.getIntegerType(bitsOf(values.front().getType())), count,
                               /*alignment=*/16);
    for (Value value : values)
      slots[value] = memory;
  }

  Value slotAddress(OpBuilder &builder, Loop &loop, Value value) {
    Value memory = slots.lookup(value);
    return LLVM::GEPOp::create(builder, value.getLoc(), memory.getType(),
                               builder.getIntegerType(bitsOf(value.getType())), memory,
                               ArrayRef<LLVM::GEPArg>{loop.op.getInductionVar()});
  }

  void storeSlot(Loop &loop, Value target, Value value) {
    OpBuilder builder(loop.op.getBody()->getTerminator());
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
  llvm::DenseMap<Value, Value> slots;
  SmallVector<Operation *> derived;
  std::vector<std::unique_ptr<Loop>> loops;
};

struct ThreadLoopsPass : impl::NereidThreadLoopsBase<ThreadLoopsPass> {
  void runOnOperation() override {
    auto threads = getOperation()->getAttrOfType<IntegerAttr>("nereid.threads");
    if (!threads)
      return;
    for (auto function : getOperation().getOps<tt::FuncOp>())
      if (!function.isExternal() && failed(ThreadLoops(function, int32_t(threads.getInt())).run()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace nereid
