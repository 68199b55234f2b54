// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of libshmem_device on NVIDIA's GPUs. What they mean stands in
// Dialect/Distributed/LibraryFunctions.def; the compiler warns of a row that has no
// case here. Operands have the kinds that the verifier saw to. A function is called
// by the program as one: by all of its threads.
//
// What one thread does for all, and what all do:
//
//   put, get, broadcast, fcollect   a copy by all threads, a barrier before it
//   signals, p                      one thread stores, after a barrier (DeviceCode::release)
//   waits                           each thread polls by itself
//   g, atomics                      one thread, and all get its result
//
// A wait whose value is used needs more: threads may leave it having seen
// different values, and control flow that depends on the value would fall
// apart. So one thread reads the word again for all, until what it reads ends
// the wait too (waitUntil).
#include "Target/CUDA/LowerDistributed.h"
#include "nereid/Support/AttributeNames.h"

#include "nereid/abi.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cuda;

namespace {

struct Call {
  DeviceCode &code;
  distributed::ExternCallOp op;
  Value &result;
  OpBuilder &b = code.b;
  Location loc = op.getLoc();

  Value operand(unsigned i) { return op.getSrcs()[i]; }
  Value i32(unsigned i) { return code.narrow(operand(i), 32); }
  Value i64(unsigned i) { return code.resize(operand(i), 64); }
  Type pointee(unsigned i) { return cast<tt::PointerType>(operand(i).getType()).getPointeeType(); }
  unsigned pointeeBits(unsigned i) { return tt::getElementBits(pointee(i)); }
  /// Operand `i` as the bits of an element of `bits` bits.
  Value elementBits(unsigned i, unsigned bits) {
    Value given = operand(i);
    return isa<IntegerType>(given.getType()) ? code.narrow(given, bits, /*isWord=*/true)
                                             : code.resize(code.toBits(given), bits);
  }
  /// Operand `pointer` on rank `pe`.
  Value at(unsigned pointer, unsigned pe) { return code.symmAt(operand(pointer), i32(pe)); }
  Value address(Value pointer) { return tt::PtrToIntOp::create(b, loc, b.getI64Type(), pointer); }
  std::optional<int64_t> constant(unsigned i) {
    APInt value;
    if (matchPattern(operand(i), m_ConstantInt(&value)))
      return value.getSExtValue();
    return std::nullopt;
  }
  /// Is `value` one of the numbers from `first` to `last`?
  Value isOneOf(Value value, int32_t first, int32_t last) {
    Value distance = arith::SubIOp::create(b, loc, value, code.i32(first));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, distance,
                                 code.i32(last - first));
  }
  InFlightDiagnostic error() {
    return op.emitError() << op.getLibname() << "." << op.getWrittenName();
  }
};

} // namespace

/// The only team that the runtime of this target has.
static LogicalResult requireWorld(Call &c, unsigned i) {
  if (c.constant(i) == NRD_TEAM_WORLD)
    return success();
  return c.error() << ": the target cuda knows no team but the one of all ranks; pass TEAM_WORLD, "
                      "or give the ranks of the team to dl.notify and dl.wait";
}

FailureOr<unsigned> nereid::cuda::signalBits(Operation *op, Value pointer) {
  Type pointee = cast<tt::PointerType>(pointer.getType()).getPointeeType();
  if (pointee.isInteger(32) || pointee.isInteger(64))
    return pointee.getIntOrFloatBitWidth();
  return op->emitError() << "the target cuda has signals of int32 and int64, not of " << pointee
                         << "; allocate them with one of these types";
}

static LogicalResult put(Call &c, unsigned pe) {
  c.code.barrier();
  c.code.copy(c.address(c.at(0, pe)), c.address(c.operand(1)), c.i64(2));
  return success();
}
static LogicalResult get(Call &c) {
  c.code.barrier();
  c.code.copy(c.address(c.operand(0)), c.address(c.at(1, 3)), c.i64(2));
  return success();
}

/// An update of the signal `pointer` on rank `pe`.
static LogicalResult updateSignal(Call &c, unsigned pointer, unsigned value, unsigned op,
                                  unsigned pe) {
  auto bits = signalBits(c.op, c.operand(pointer));
  if (failed(bits))
    return failure();
  Value slot = c.at(pointer, pe), word = c.code.narrow(c.operand(value), *bits, /*isWord=*/true);
  std::optional<int64_t> kind = c.constant(op);
  if (!kind) {
    Value operation = c.i32(op);
    c.code.assertThat(c.isOneOf(operation, NRD_SIG_SET, NRD_SIG_ADD),
                      "the operation of a signal is neither SIGNAL_SET nor SIGNAL_ADD");
    c.code.releaseBy(slot, word, operation);
    return success();
  }
  if (kind != NRD_SIG_SET && kind != NRD_SIG_ADD)
    return c.error() << ": the operation of a signal is SIGNAL_SET or SIGNAL_ADD, not " << *kind;
  c.code.release(slot, word, kind == NRD_SIG_ADD);
  return success();
}

static Value compareAs(Call &c, Comparison comparison, Value seen, Value wanted) {
  auto [kind, isSigned, wraps, kindValue] = comparison;
  if (kindValue) {
    auto is = [&](arith::CmpIPredicate predicate) -> Value {
      return arith::CmpIOp::create(c.b, c.loc, predicate, seen, wanted);
    };
    Value less = is(isSigned ? arith::CmpIPredicate::slt : arith::CmpIPredicate::ult);
    Value unequal = arith::SelectOp::create(c.b, c.loc, less, c.code.i32(1), c.code.i32(4));
    Value outcome =
        arith::SelectOp::create(c.b, c.loc, is(arith::CmpIPredicate::eq), c.code.i32(2), unequal);
    Value both = arith::AndIOp::create(c.b, c.loc, outcome, c.code.outcomesOf(kindValue));
    return arith::CmpIOp::create(c.b, c.loc, arith::CmpIPredicate::ne, both, c.code.i32(0));
  }
  using P = arith::CmpIPredicate;
  static constexpr P bySign[][2] = {{P::eq, P::eq},   {P::ne, P::ne},   {P::ugt, P::sgt},
                                    {P::ule, P::sle}, {P::ult, P::slt}, {P::uge, P::sge}};
  return arith::CmpIOp::create(c.b, c.loc, bySign[kind][isSigned], seen, wanted);
}

/// Threads may see different values that end the wait. When the value is used, one
/// thread reads it for all, until it is one that ends the wait.
static LogicalResult waitUntil(Call &c) {
  auto bits = signalBits(c.op, c.operand(0));
  if (failed(bits))
    return failure();
  std::optional<int64_t> kind = c.constant(1);
  if (kind && (*kind < NRD_CMP_EQ || *kind > NRD_CMP_GE))
    return c.error() << ": there is no comparison of number " << *kind
                     << "; take CMP_EQ, CMP_NE, "
                        "CMP_GT, CMP_LE, CMP_LT or CMP_GE";
  bool isSigned = !c.op->hasAttr(attr::isUnsigned);
  Value slot = c.operand(0), given = c.operand(2);
  Value wanted = given.getType().getIntOrFloatBitWidth() > *bits
                     ? c.code.narrow(given, *bits, /*isWord=*/true)
                     : c.code.resize(given, *bits, isSigned);
  Comparison comparison{int32_t(kind.value_or(-1)), isSigned};
  if (!kind) {
    comparison.codeValue = c.i32(1);
    c.code.assertThat(c.isOneOf(comparison.codeValue, NRD_CMP_EQ, NRD_CMP_GE),
                      "there is no such comparison");
  }
  if (c.op.use_empty() || kind == NRD_CMP_EQ) {
    c.code.wait(slot, wanted, comparison);
    c.result = wanted;
    return success();
  }
  auto loop = scf::WhileOp::create(c.b, c.loc, TypeRange{wanted.getType()}, ValueRange{});
  OpBuilder::InsertionGuard guard(c.b);
  c.b.createBlock(&loop.getBefore());
  c.code.wait(slot, wanted, comparison);
  Value nothing = arith::ConstantOp::create(c.b, c.loc, c.b.getIntegerAttr(wanted.getType(), 0));
  Value seen = c.code.atomic(tt::RMWOp::OR, slot, nothing);
  Value holds = compareAs(c, comparison, seen, wanted);
  Value always = arith::ConstantOp::create(c.b, c.loc, c.b.getBoolAttr(true));
  scf::ConditionOp::create(c.b, c.loc, arith::XOrIOp::create(c.b, c.loc, holds, always),
                           ValueRange{seen});
  c.b.createBlock(&loop.getAfter(), {}, {wanted.getType()}, {c.loc});
  scf::YieldOp::create(c.b, c.loc);
  c.result = loop.getResult(0);
  return success();
}

/// One thread reads for all; what is narrower than an atomic access, from the word
/// around it.
static LogicalResult getElement(Call &c) {
  Type element = c.pointee(0);
  unsigned bits = std::max(8u, tt::getElementBits(element));
  Value place = c.at(0, 1);
  c.code.barrier();
  Value value;
  if (bits >= 32) {
    Type word = c.b.getIntegerType(bits);
    Value zero = arith::ConstantOp::create(c.b, c.loc, c.b.getIntegerAttr(word, 0));
    value = c.code.atomic(tt::RMWOp::OR, c.code.pointerTo(word, place), zero);
  } else {
    Value address = c.address(place);
    Value base = arith::AndIOp::create(c.b, c.loc, address, c.code.i64(~int64_t(3)));
    Value pointer =
        tt::IntToPtrOp::create(c.b, c.loc, tt::PointerType::get(c.b.getI32Type(), 1), base);
    Value word = c.code.atomic(tt::RMWOp::OR, pointer, c.code.i32(0));
    Value byte = c.code.resize(arith::AndIOp::create(c.b, c.loc, address, c.code.i64(3)), 32);
    Value shift = arith::MulIOp::create(c.b, c.loc, byte, c.code.i32(8));
    value = arith::ShRUIOp::create(c.b, c.loc, word, shift);
  }
  c.code.barrier();
  if (c.op.getNumResults())
    c.result = c.code.fromBits(value, c.op.getResultTypes()[0]);
  return success();
}

static LogicalResult putElement(Call &c) {
  unsigned bits = std::max(8u, c.pointeeBits(0));
  c.code.releaseElement(c.at(0, 2), c.elementBits(1, bits));
  return success();
}

/// Operands: pointer, value, compare (when the old value is returned), NRD_AMO_*,
/// rank.
static LogicalResult atomic(Call &c, bool fetches) {
  Type element = c.pointee(0);
  unsigned bits = tt::getElementBits(element);
  std::optional<int64_t> kind = c.constant(fetches ? 3 : 2);
  if (!kind)
    return c.error() << ": on the target cuda the operation of an atomic must be a constant";
  Value place = c.at(0, fetches ? 4 : 3);
  bool addsFloats = kind == NRD_AMO_ADD && isa<FloatType>(element);
  Type word = c.b.getIntegerType(bits);
  Value pointer = addsFloats ? place : c.code.pointerTo(word, place);
  Value value = addsFloats ? c.operand(1) : c.elementBits(1, bits);
  auto update = [&](tt::RMWOp operation) { return c.code.atomic(operation, pointer, value); };
  Value old;
  c.code.barrierAfterStores();
  switch (*kind) {
  case NRD_AMO_SET:
  case NRD_AMO_SWAP:
    old = update(tt::RMWOp::XCHG);
    break;
  case NRD_AMO_ADD:
    old = update(addsFloats ? tt::RMWOp::FADD : tt::RMWOp::ADD);
    break;
  case NRD_AMO_AND:
    old = update(tt::RMWOp::AND);
    break;
  case NRD_AMO_OR:
    old = update(tt::RMWOp::OR);
    break;
  case NRD_AMO_XOR:
    old = update(tt::RMWOp::XOR);
    break;
  case NRD_AMO_FETCH:
    value = arith::ConstantOp::create(c.b, c.loc, c.b.getIntegerAttr(word, 0));
    old = update(tt::RMWOp::OR);
    break;
  case NRD_AMO_COMPARE_SWAP:
    old = c.code.compareAndSwap(pointer, c.elementBits(2, bits), value);
    break;
  default:
    return c.error() << ": the target cuda has no atomic operation of number " << *kind;
  }
  c.code.barrier();
  if (c.op.getNumResults())
    c.result = addsFloats ? old : c.code.fromBits(old, c.op.getResultTypes()[0]);
  return success();
}

/// The part of `bytes` that this program copies: where it begins and how long it is.
static std::pair<Value, Value> share(Call &c, Value bytes) {
  if (c.code.choices.oneProgram)
    return {c.code.i64(0), bytes};
  // In pieces of 16 bytes, as even as they come.
  Value programs = c.code.resize(c.code.programs(), 64);
  Value program = c.code.resize(c.code.program(), 64);
  Value pieces = arith::CeilDivUIOp::create(c.b, c.loc, bytes, c.code.i64(16));
  Value each = arith::MulIOp::create(
      c.b, c.loc, arith::CeilDivUIOp::create(c.b, c.loc, pieces, programs), c.code.i64(16));
  Value begin =
      arith::MinUIOp::create(c.b, c.loc, arith::MulIOp::create(c.b, c.loc, program, each), bytes);
  Value size =
      arith::MinUIOp::create(c.b, c.loc, each, arith::SubIOp::create(c.b, c.loc, bytes, begin));
  return {begin, size};
}

/// Copies this program's share of `bytes` from `from`, on rank `pe`, to `to`.
static void fetchShare(Call &c, Value to, Value from, Value pe, Value bytes) {
  auto [begin, size] = share(c, bytes);
  Value source = c.address(c.code.symmAt(from, pe));
  c.code.copy(arith::AddIOp::create(c.b, c.loc, to, begin),
              arith::AddIOp::create(c.b, c.loc, source, begin), size);
}

static LogicalResult broadcast(Call &c) {
  if (failed(requireWorld(c, 0)))
    return failure();
  c.code.barrierAll();
  fetchShare(c, c.address(c.operand(1)), c.operand(2), c.i32(4), c.i64(3));
  c.code.barrierAll();
  return success();
}

static LogicalResult fcollect(Call &c) {
  if (failed(requireWorld(c, 0)))
    return failure();
  c.code.barrierAll();
  Value to = c.address(c.operand(1)), bytes = c.i64(3);
  auto loop =
      scf::ForOp::create(c.b, c.loc, c.code.i32(0), c.code.parameters.numRanks, c.code.i32(1));
  {
    OpBuilder::InsertionGuard guard(c.b);
    c.b.setInsertionPointToStart(loop.getBody());
    Value pe = loop.getInductionVar();
    Value offset = arith::MulIOp::create(c.b, c.loc, c.code.resize(pe, 64), bytes);
    fetchShare(c, arith::AddIOp::create(c.b, c.loc, to, offset), c.operand(2), pe, bytes);
  }
  c.code.barrierAll();
  return success();
}

static LogicalResult barrierOf(Call &c, bool hasTeam) {
  if (hasTeam && failed(requireWorld(c, 0)))
    return failure();
  c.code.barrierAll();
  return success();
}

/// Operands: a value of 64 bits, the bits that it is about to be cut to, whether
/// it is signed.
static LogicalResult checkWord(Call &c) {
  std::optional<int64_t> bits = c.constant(1), isSigned = c.constant(2);
  if (!bits || !isSigned)
    return c.error() << ": the number of bits must be a constant";
  if (*bits >= 64)
    return success();
  Value value = c.i64(0);
  Value cut = c.code.resize(c.code.resize(value, unsigned(*bits)), 64, *isSigned != 0);
  c.code.assertThat(arith::CmpIOp::create(c.b, c.loc, arith::CmpIPredicate::eq, value, cut),
                    "the value does not fit the " + std::to_string(*bits) +
                        " bits of what it is written to");
  return success();
}

static LogicalResult remotePointer(Call &c) {
  Value pointer = c.at(0, 1);
  if (c.op.getNumResults())
    c.result = isa<tt::PointerType>(c.op.getResultTypes()[0])
                   ? c.code.pointerTo(
                         cast<tt::PointerType>(c.op.getResultTypes()[0]).getPointeeType(), pointer)
                   : c.address(pointer);
  return success();
}

LogicalResult nereid::cuda::lowerLibraryCall(DeviceCode &code, distributed::ExternCallOp op,
                                             Value &result) {
  using Id = distributed::LibraryFunctionId;
  Call c{code, op, result};
  auto done = [&](Value value) {
    result = value;
    return success();
  };
  switch (op.getFunction().id) {
  case Id::my_pe:
    return done(code.parameters.rank);
  case Id::n_pes:
    return done(code.parameters.numRanks);
  case Id::team_my_pe:
    return failed(requireWorld(c, 0)) ? failure() : done(code.parameters.rank);
  case Id::team_n_pes:
    return failed(requireWorld(c, 0)) ? failure() : done(code.parameters.numRanks);
  case Id::team_translate_pe:
    if (failed(requireWorld(c, 0)) || failed(requireWorld(c, 2)))
      return failure();
    return done(c.i32(1));
  case Id::remote_ptr:
    return remotePointer(c);
  case Id::barrier_all:
  case Id::barrier_all_vec:
  case Id::sync_all:
    return barrierOf(c, /*hasTeam=*/false);
  case Id::barrier:
  case Id::team_sync:
    return barrierOf(c, /*hasTeam=*/true);
  case Id::broadcast:
    return broadcast(c);
  case Id::fcollect:
    return fcollect(c);
  case Id::fence:
  case Id::fence_pe:
  case Id::quiet:
  case Id::quiet_pe:
    code.fence();
    return success();
  case Id::putmem:
    (void)put(c, 3);
    code.barrier();
    return success();
  case Id::putmem_nbi:
    return put(c, 3);
  case Id::getmem:
    (void)get(c);
    code.barrier();
    return success();
  case Id::getmem_nbi:
    return get(c);
  case Id::putmem_signal:
  case Id::putmem_signal_nbi:
    (void)put(c, 6);
    return updateSignal(c, 3, 4, 5, 6);
  case Id::signal_op:
    return updateSignal(c, 0, 1, 2, 3);
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
