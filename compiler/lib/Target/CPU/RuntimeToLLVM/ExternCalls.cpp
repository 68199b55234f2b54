// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Library functions on the CPU: which entry point of the runtime each one is, and
// how its operands are passed. What they mean stands in
// Dialect/Distributed/LibraryFunctions.def; the compiler warns of a row that has
// no case here. Operands have the kinds that the verifier saw to.
#include "Lowering.h"
#include "nereid/Support/AttributeNames.h"

#include "Target/CPU/RuntimeABI.h"
#include "nereid/Dialect/Distributed/Comparisons.h"
#include "nereid/abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

using distributed::Comparison;
static_assert(int(Comparison::EQ) == NRD_CMP_EQ && int(Comparison::NE) == NRD_CMP_NE &&
                  int(Comparison::GT) == NRD_CMP_GT && int(Comparison::LE) == NRD_CMP_LE &&
                  int(Comparison::LT) == NRD_CMP_LT && int(Comparison::GE) == NRD_CMP_GE,
              "comparisons have the numbers of abi.h");

namespace {

/// One call on its way down. Operands are the operation's.
struct Call {
  Lowering &l;
  distributed::ExternCallOp op;
  const distributed::LibraryFunction &function = op.getFunction();

  Value operand(unsigned i) { return op.getSrcs()[i]; }
  Value pointer(unsigned i) { return l.toLLVM(operand(i)); }
  /// Wider ones are checked at run time.
  Value i32(unsigned i) {
    checkWord(i, 32, NRD_WORD_SIGNED | NRD_WORD_NUMBER);
    return l.toInteger(operand(i), 32);
  }
  Value i64(unsigned i) { return l.toInteger(operand(i), 64); }
  /// Of a word that `pointer` points to.
  Value word(unsigned i, unsigned pointer) {
    checkWord(i, 8 * pointeeBytes(pointer), NRD_WORD_SIGNED);
    return i64(i);
  }
  void checkWord(unsigned i, unsigned bits, int32_t flags) {
    if (operand(i).getType().getIntOrFloatBitWidth() > bits)
      call("nrd_check_word", {i64(i), constant(bits), constant(flags)});
  }
  /// Byte counts are unsigned where the type says so only by being 64 bits wide.
  Value bytes(unsigned i) { return l.toInteger(operand(i), 64); }
  Value constant(int64_t value) { return l.constant(value, 32); }
  unsigned pointeeBytes(unsigned i) { return getElementBytes(pointee(i)); }
  Type pointee(unsigned i) { return cast<tt::PointerType>(operand(i).getType()).getPointeeType(); }
  /// Does a transfer only start?
  Value nonBlocking() {
    return constant(function.ordering == distributed::LibraryOrdering::Starts);
  }

  Value call(StringRef name, SmallVector<Value> operands) {
    operands.insert(operands.begin(), l.program());
    operands.push_back(l.site());
    auto result = callRuntime(l.builder, op.getLoc(), name, operands);
    return result.getNumResults() ? result.getResult() : Value();
  }
  LogicalResult done(Value result = {}) {
    l.replace(op.getNumResults() ? ValueRange(result) : ValueRange());
    return success();
  }
  /// The same for a result that the runtime returns as 64 bits.
  LogicalResult doneBits(Value bits) {
    return done(op.getNumResults() ? l.fromBits64(bits, op.getResultTypes()[0]) : Value());
  }
};

} // namespace

static LogicalResult programField(Call &c, int offset) {
  return c.done(loadProgramField(c.l.builder, c.op.getLoc(), c.l.program(), offset,
                                 c.l.builder.getI32Type()));
}
/// NRD_BARRIER_*: whether transfers stay outstanding, and whether one vector core
/// calls for its program.
static int32_t syncFlag(Call &c) {
  return c.function.ordering == distributed::LibraryOrdering::Completes ? 0 : NRD_BARRIER_SYNC;
}
static Value barrierFlags(Call &c) {
  return c.constant(syncFlag(c) | (c.op->hasAttr(attr::gated) ? NRD_BARRIER_GATED : 0));
}
static LogicalResult barrierAll(Call &c) {
  // With several vector cores it matters who calls.
  if (c.op->getParentOfType<ModuleOp>()->hasAttr(attr::vectorCores))
    c.call("nrd_team_barrier", {c.constant(NRD_TEAM_WORLD), barrierFlags(c)});
  else
    c.call(syncFlag(c) ? "nrd_shmem_sync_all" : "nrd_barrier_all", {});
  return c.done();
}
static LogicalResult teamBarrier(Call &c) {
  c.call("nrd_team_barrier", {c.i32(0), barrierFlags(c)});
  return c.done();
}
static LogicalResult broadcast(Call &c) {
  c.call("nrd_team_broadcast",
         {c.i32(0), c.pointer(1), c.pointer(2), c.bytes(3), c.i32(4), barrierFlags(c)});
  return c.done();
}
static LogicalResult fcollect(Call &c) {
  c.call("nrd_team_fcollect", {c.i32(0), c.pointer(1), c.pointer(2), c.bytes(3), barrierFlags(c)});
  return c.done();
}
static LogicalResult teamMyPE(Call &c) { return c.done(c.call("nrd_team_my_pe", {c.i32(0)})); }
static LogicalResult teamNPEs(Call &c) { return c.done(c.call("nrd_team_n_pes", {c.i32(0)})); }
static LogicalResult teamTranslate(Call &c) {
  return c.done(c.call("nrd_team_translate_pe", {c.i32(0), c.i32(1), c.i32(2)}));
}
static LogicalResult fence(Call &c) {
  c.call("nrd_shmem_fence", {});
  return c.done();
}
static LogicalResult fencePE(Call &c) {
  c.call("nrd_shmem_fence_pe", {c.i32(0)});
  return c.done();
}
static LogicalResult quietPE(Call &c) {
  c.call("nrd_shmem_quiet_pe", {c.i32(0)});
  return c.done();
}
static LogicalResult quiet(Call &c) {
  c.call("nrd_shmem_quiet", {});
  return c.done();
}
static LogicalResult remotePtr(Call &c) {
  Value address = c.call("nrd_shmem_ptr", {c.pointer(0), c.i32(1)});
  if (!c.op.getNumResults())
    return c.done();
  Type type = c.op.getResultTypes()[0];
  return c.done(isa<tt::PointerType>(type) ? c.l.fromLLVM(address, type) : c.l.toBits64(address));
}
static LogicalResult put(Call &c) {
  c.call("nrd_shmem_put", {c.pointer(0), c.pointer(1), c.bytes(2), c.i32(3), c.nonBlocking()});
  return c.done();
}
static LogicalResult get(Call &c) {
  c.call("nrd_shmem_get", {c.pointer(0), c.pointer(1), c.bytes(2), c.i32(3), c.nonBlocking()});
  return c.done();
}
static LogicalResult putSignal(Call &c) {
  c.call("nrd_shmem_put_signal",
         {c.pointer(0), c.pointer(1), c.bytes(2), c.pointer(3), c.word(4, 3), c.i32(5), c.i32(6),
          c.constant(c.pointeeBytes(3)), c.nonBlocking()});
  return c.done();
}
static LogicalResult signalOp(Call &c) {
  c.call("nrd_shmem_signal_op",
         {c.pointer(0), c.word(1, 0), c.i32(2), c.i32(3), c.constant(c.pointeeBytes(0))});
  return c.done();
}
/// Operand `i` as bits of the element that operand 0 points to.
static Value elementBits(Call &c, unsigned i) {
  return isa<IntegerType>(c.pointee(0)) ? c.word(i, 0) : c.l.toBits64(c.operand(i));
}
static LogicalResult putElement(Call &c) {
  c.call("nrd_shmem_p", {c.pointer(0), elementBits(c, 1), c.constant(c.pointeeBytes(0)), c.i32(2)});
  return c.done();
}
/// Operands: pointer, value, compare (when the old value is returned), NRD_AMO_*,
/// rank.
static LogicalResult atomic(Call &c, bool fetches) {
  Value value = elementBits(c, 1);
  Value compare = fetches ? elementBits(c, 2) : c.l.constant(0, 64);
  Value code = c.i32(fetches ? 3 : 2), pe = c.i32(fetches ? 4 : 3);
  if (!fetches)
    code = arith::OrIOp::create(c.l.builder, c.op.getLoc(), code, c.constant(NRD_AMO_NO_RESULT));
  Value old = c.call("nrd_shmem_atomic",
                     {c.pointer(0), value, compare, code, c.constant(c.pointeeBytes(0)), pe});
  return fetches ? c.doneBits(old) : c.done();
}
static LogicalResult getElement(Call &c) {
  return c.doneBits(c.call("nrd_shmem_g", {c.pointer(0), c.constant(c.pointeeBytes(0)), c.i32(1)}));
}
/// Signals compare as signed numbers unless their dtype is unsigned.
static LogicalResult waitUntil(Call &c) {
  bool isSigned = !c.op->hasAttr(attr::isUnsigned);
  c.checkWord(2, 8 * c.pointeeBytes(0), isSigned ? NRD_WORD_SIGNED : 0);
  Value seen = c.call("nrd_shmem_wait_until",
                      {c.pointer(0), c.i32(1), c.l.toInteger(c.operand(2), 64, isSigned),
                       c.constant(c.pointeeBytes(0)), c.constant(isSigned)});
  return c.doneBits(seen);
}

/// Operands: a value of 64 bits, the bits that it is about to be cut to, NRD_WORD_*.
static LogicalResult checkWord(Call &c) {
  c.call("nrd_check_word", {c.i64(0), c.i32(1), c.i32(2)});
  return c.done();
}

static LogicalResult lower(Call &c) {
  using Id = distributed::LibraryFunctionId;
  switch (c.function.id) {
  case Id::my_pe:
    return programField(c, program_offset::rank);
  case Id::n_pes:
    return programField(c, program_offset::numRanks);
  case Id::remote_ptr:
    return remotePtr(c);
  case Id::team_my_pe:
    return teamMyPE(c);
  case Id::team_n_pes:
    return teamNPEs(c);
  case Id::team_translate_pe:
    return teamTranslate(c);
  case Id::barrier_all:
  case Id::barrier_all_vec:
  case Id::sync_all:
    return barrierAll(c);
  case Id::barrier:
  case Id::team_sync:
    return teamBarrier(c);
  case Id::broadcast:
    return broadcast(c);
  case Id::fcollect:
    return fcollect(c);
  case Id::fence:
    return fence(c);
  case Id::quiet:
    return quiet(c);
  case Id::fence_pe:
    return fencePE(c);
  case Id::quiet_pe:
    return quietPE(c);
  case Id::putmem:
  case Id::putmem_nbi:
    return put(c);
  case Id::getmem:
  case Id::getmem_nbi:
    return get(c);
  case Id::putmem_signal:
  case Id::putmem_signal_nbi:
    return putSignal(c);
  case Id::signal_op:
    return signalOp(c);
  case Id::signal_wait_until:
    return waitUntil(c);
  case Id::p:
    return putElement(c);
  case Id::g:
    return getElement(c);
  case Id::fits_word:
    return checkWord(c);
  case Id::atomic_update:
    return atomic(c, /*fetches=*/false);
  case Id::atomic_fetch:
    return atomic(c, /*fetches=*/true);
  }
  llvm_unreachable("a library function without a lowering");
}

static bool isAboutNumbers(const distributed::LibraryFunction &function) {
  return !function.operands().empty() &&
         llvm::all_of(function.operands(), [](distributed::LibraryOperand role) {
           return role == distributed::LibraryOperand::Number;
         });
}

LogicalResult nereid::cpu::lowerExternCall(Lowering &l, distributed::ExternCallOp op) {
  Call call{l, op};
  // What looks at numbers alone needs no ranks.
  l.distributed |= !isAboutNumbers(call.function);
  l.blocking |= call.function.blocks();
  return lower(call);
}
