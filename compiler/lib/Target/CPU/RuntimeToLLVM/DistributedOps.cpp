// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks, symmetric memory, signals.
//
// symm_at is inline: the heaps lie side by side in one range of addresses, so
// it is two comparisons and an addition. A wait and a signal are calls: a
// program that waits gives way to others, and a signal may leave the node.
//
// A loop that may wait for others calls the runtime now and then (YieldOp,
// which nereid-mark-spin-loops has put there); see docs/runtime.md, "Loops that
// poll".
#include "Lowering.h"

#include "Target/CPU/RuntimeABI.h"
#include "nereid/Dialect/Ascend/IR/Ascend.h"
#include "nereid/Support/AttributeNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// Bytes of a signal (1, 2, 4 or 8), or an error.
static FailureOr<int> getSignalBytes(Operation *op, Value pointer) {
  Type pointee = cast<tt::PointerType>(pointer.getType()).getPointeeType();
  if (auto integer = dyn_cast<IntegerType>(pointee); integer && integer.getWidth() >= 8)
    return int(getElementBytes(pointee));
  return op->emitError() << "'" << op->getName()
                         << "' needs signals of integers of 8 to 64 bits, not of " << pointee;
}

/// Calls `name` when `condition` holds; the callee does not return.
static void emitFailure(Lowering &l, Location loc, Value condition, StringRef name,
                        ValueRange operands) {
  auto branch = scf::IfOp::create(l.builder, loc, TypeRange{}, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(l.builder);
  l.builder.setInsertionPointToStart(branch.thenBlock());
  callRuntime(l.builder, loc, name, operands);
}

/// The rank's and the pointer's range are checked, then the address moves by
/// the distance of the two ranks' heaps.
static LogicalResult lower(Lowering &l, distributed::SymmAtOp op) {
  OpBuilder &b = l.builder;
  Location loc = op.getLoc();
  if (!isa<tt::PointerType>(op.getPtr().getType()))
    return op.emitError()
           << "symm_at of a value of type " << op.getPtr().getType()
           << "; take symm_at of the scalar base pointer and add offsets to the result";
  l.distributed = true;
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Value program = l.program(), site = l.site(), rank = op.getRank();
  auto field = [&](int32_t offset, Type type) {
    return loadProgramField(b, loc, program, offset, type);
  };
  auto outside = [&](Value value, Value bound) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, value, bound);
  };

  emitFailure(l, loc, outside(rank, field(program_offset::numRanks, i32)), "nrd_fail_rank",
              {program, rank, site});

  Value heapBytes = field(program_offset::heapBytes, i64);
  Value myRank = arith::ExtSIOp::create(b, loc, i64, field(program_offset::rank, i32));
  Value heapBase =
      LLVM::PtrToIntOp::create(b, loc, i64, field(program_offset::heapBase, l.pointerType));
  Value myHeap =
      arith::AddIOp::create(b, loc, heapBase, arith::MulIOp::create(b, loc, myRank, heapBytes));
  Value pointer = l.toLLVM(op.getPtr());
  Value address = LLVM::PtrToIntOp::create(b, loc, i64, pointer);
  Value inHeap = arith::SubIOp::create(b, loc, address, myHeap);
  emitFailure(l, loc, outside(inHeap, heapBytes), "nrd_fail_not_symmetric",
              {program, pointer, site});

  Value distance = arith::SubIOp::create(b, loc, arith::ExtSIOp::create(b, loc, i64, rank), myRank);
  Value bytes = arith::MulIOp::create(b, loc, distance, heapBytes);
  Value result = LLVM::GEPOp::create(b, loc, l.pointerType, b.getI8Type(), pointer,
                                     ArrayRef<LLVM::GEPArg>{bytes});
  l.replace(l.fromLLVM(result, op.getType()));
  return success();
}

static LogicalResult lower(Lowering &l, distributed::WaitOp op) {
  auto bytes = getSignalBytes(op, op.getSlots());
  if (failed(bytes))
    return failure();
  l.distributed = l.blocking = true;
  int64_t width = *bytes;
  if (auto slot = op->getAttrOfType<IntegerAttr>(attr::slot))
    width |= (slot.getInt() + 1) << 8;
  Value token = callRuntime(l.builder, op.getLoc(), "nrd_wait",
                            {l.program(), l.toLLVM(op.getSlots()), l.toInteger(op.getCount(), 32),
                             l.toInteger(op.getValue(), 64), l.constant(width, 32), l.site()})
                    .getResult();
  l.replace(l.toInteger(token, op.getType().getIntOrFloatBitWidth()));
  return success();
}

static LogicalResult lower(Lowering &l, distributed::NotifyOp op) {
  auto bytes = getSignalBytes(op, op.getSignal());
  if (failed(bytes))
    return failure();
  l.distributed = true;
  callRuntime(l.builder, op.getLoc(), "nrd_notify",
              {l.program(), l.toLLVM(op.getSignal()), l.toInteger(op.getValue(), 64), op.getRank(),
               l.constant(int64_t(op.getSigOp()), 32), l.constant(int64_t(op.getCommScope()), 32),
               l.constant(*bytes, 32), l.site()});
  l.replace({});
  return success();
}

/// Rounds of a small loop for each call of the runtime.
static constexpr int64_t kRoundsPerYield = 128;

/// A loop that may wait for others gives way. Many loops that read memory in
/// their condition compute all the same, and a call in each round would cost
/// them more than what they do: small ones call now and then. The first call of
/// a loop says so. The rounds are counted in 64 bits: a count that wraps around,
/// as one of 32 bits does within seconds, would make an endless loop look as if
/// it was entered again and again.
static LogicalResult lower(Lowering &l, distributed::YieldOp op) {
  OpBuilder &b = l.builder;
  Location loc = op.getLoc();
  l.blocking = true;
  auto loop = op->getParentOfType<scf::WhileOp>();
  if (!loop) {
    callRuntime(b, loc, "nrd_yield", {l.program(), l.site()});
    l.replace({});
    return success();
  }
  bool large =
      loop->walk([&](Operation *inner) {
            return inner != loop &&
                           isa<LoopLikeOpInterface, CallOpInterface, tt::AtomicRMWOp,
                               tt::AtomicCASOp, LLVM::AtomicRMWOp, LLVM::AtomicCmpXchgOp>(inner)
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          })
          .wasInterrupted();
  Value counter = getStackSlot(b, loc, b.getI64Type()), one = l.constant(1, 64);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop);
    LLVM::StoreOp::create(b, loc, l.constant(0, 64), counter);
  }
  Value round =
      arith::AddIOp::create(b, loc, LLVM::LoadOp::create(b, loc, b.getI64Type(), counter), one);
  LLVM::StoreOp::create(b, loc, round, counter);
  int64_t every = large ? 1 : kRoundsPerYield;
  OpBuilder::InsertionGuard guard(b);
  if (every > 1) {
    Value rest = arith::AndIOp::create(b, loc, round, l.constant(every - 1, 64));
    Value due = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest, l.constant(0, 64));
    auto branch = scf::IfOp::create(b, loc, TypeRange{}, due, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  Value isFirst =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, round, l.constant(every, 64));
  Value flag = arith::SelectOp::create(
      b, loc, isFirst, l.constant(int64_t(int32_t(firstYield)), 32), l.constant(0, 32));
  callRuntime(b, loc, "nrd_yield", {l.program(), arith::OrIOp::create(b, loc, l.site(), flag)});
  l.replace({});
  return success();
}

std::optional<LogicalResult> nereid::cpu::lowerDistributedOp(Lowering &l, Operation *op) {
  Location loc = op->getLoc();
  auto field = [&](int32_t offset) {
    l.distributed = true;
    return loadProgramField(l.builder, loc, l.program(), offset, l.builder.getI32Type());
  };
  auto replace = [&](Value value) {
    l.replace(value);
    return success();
  };
  return llvm::TypeSwitch<Operation *, std::optional<LogicalResult>>(op)
      .Case<distributed::SymmAtOp, distributed::WaitOp, distributed::NotifyOp,
            distributed::YieldOp>([&](auto typed) { return lower(l, typed); })
      .Case([&](distributed::ExternCallOp call) { return lowerExternCall(l, call); })
      .Case([&](distributed::GetRankOp) { return replace(field(program_offset::rank)); })
      .Case([&](distributed::GetNumRanksOp) { return replace(field(program_offset::numRanks)); })
      // The order that it stands for is the order of the calls by now.
      .Case([&](distributed::ConsumeTokenOp token) { return replace(token.getValue()); })
      .Case([&](ascend::ShareOp share) {
        l.blocking = true;
        Value bits = callRuntime(l.builder, loc, "nrd_lane_share",
                                 {l.program(), l.toBits64(share.getValue()), l.site()})
                         .getResult();
        return replace(l.fromBits64(bits, share.getType()));
      })
      .Case([&](ascend::GetSubVecIdOp id) {
        Value value = loadProgramField(l.builder, loc, l.program(), program_offset::subVecId,
                                       l.builder.getI32Type());
        return replace(l.toInteger(value, id.getType().getIntOrFloatBitWidth()));
      })
      .Default([](Operation *) { return std::nullopt; });
}
