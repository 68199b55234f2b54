// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assembly, where Triton has no operation for it: an acquiring load in a loop,
// a release to a word of another GPU, a fence of the system. Three rules hold
// for every piece.
//
// Nobody uses the result of a piece, so that nothing but its being marked as
// having effects keeps an optimiser from dropping it. Waits, releases and
// fences therefore carry a number in a comment (markText): the text that Triton
// makes is searched for all of them, and one that is missing fails the
// compilation.
//
// A thread that waits may leave its program for good. Every 1024 rounds (in
// loops of the user's: now and then, by the clock) it reads the launch's
// control word; when that is not zero, it writes its report and exits:
//
//   control + 0                 the word that the host sets when the launch is given up
//   control + 64 + 32 * program +0 site + 1, +4 comparison, +8 awaited, +16 seen, +24 address
//
// All threads of a program write the same place; whichever comes last stands
// there. The layout is nereid/cuda_kernel.h's.
//
// A release is what one thread does for the program. It is guarded by
// firstThread(), of the first block where a cluster runs the program; before it
// stands a barrier, since it covers only what its own thread has done or knows
// of.
#include "Target/CUDA/DeviceCode.h"

#include "Target/CUDA/Passes.h"
#include "nereid/abi.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using llvm::formatv;
using namespace nereid;
using namespace nereid::cuda;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value DeviceCode::i32(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value)));
}
Value DeviceCode::i64(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
}

Value DeviceCode::resize(Value value, unsigned bits, bool isSigned) {
  unsigned given = value.getType().getIntOrFloatBitWidth();
  Type type = b.getIntegerType(bits);
  if (given == bits)
    return value;
  if (given > bits)
    return arith::TruncIOp::create(b, loc, type, value);
  if (isSigned && given > 1)
    return arith::ExtSIOp::create(b, loc, type, value);
  return arith::ExtUIOp::create(b, loc, type, value);
}

Value DeviceCode::narrow(Value value, unsigned bits, bool isWord) {
  unsigned given = value.getType().getIntOrFloatBitWidth();
  Value cut = resize(value, bits);
  if (given <= bits)
    return cut;
  if (APInt known; matchPattern(value, m_ConstantInt(&known)) &&
                   (known.isSignedIntN(bits) || (isWord && known.isIntN(bits))))
    return cut;
  auto same = [&](bool isSigned) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, value,
                                 resize(cut, given, isSigned));
  };
  Value fits = same(/*isSigned=*/true);
  if (isWord)
    fits = arith::OrIOp::create(b, loc, fits, same(/*isSigned=*/false));
  assertThat(fits, "the value does not fit the " + std::to_string(bits) +
                       " bits of what it is written to");
  return cut;
}

Value DeviceCode::toBits(Value value) {
  if (isa<tt::PointerType>(value.getType()))
    return tt::PtrToIntOp::create(b, loc, b.getI64Type(), value);
  if (!isa<FloatType>(value.getType()))
    return value;
  return tt::BitcastOp::create(b, loc, b.getIntegerType(tt::getElementBits(value.getType())),
                               value);
}

Value DeviceCode::fromBits(Value bits, Type type) {
  if (isa<tt::PointerType>(type))
    return tt::IntToPtrOp::create(b, loc, type, resize(bits, 64, /*isSigned=*/false));
  bits = resize(bits, tt::getElementBits(type), /*isSigned=*/false);
  return isa<FloatType>(type) ? tt::BitcastOp::create(b, loc, type, bits).getResult() : bits;
}

Value DeviceCode::program() {
  auto id = [&](tt::ProgramIDDim axis) -> Value {
    return tt::GetProgramIdOp::create(b, loc, b.getI32Type(), axis);
  };
  auto count = [&](tt::ProgramIDDim axis) -> Value {
    return tt::GetNumProgramsOp::create(b, loc, b.getI32Type(), axis);
  };
  Value plane = arith::AddIOp::create(
      b, loc, id(tt::ProgramIDDim::Y),
      arith::MulIOp::create(b, loc, id(tt::ProgramIDDim::Z), count(tt::ProgramIDDim::Y)));
  return arith::AddIOp::create(b, loc, id(tt::ProgramIDDim::X),
                               arith::MulIOp::create(b, loc, plane, count(tt::ProgramIDDim::X)));
}

Value DeviceCode::programs() {
  Value product;
  for (auto axis : {tt::ProgramIDDim::X, tt::ProgramIDDim::Y, tt::ProgramIDDim::Z}) {
    Value count = tt::GetNumProgramsOp::create(b, loc, b.getI32Type(), axis);
    product = product ? arith::MulIOp::create(b, loc, product, count).getResult() : count;
  }
  return product;
}

Value DeviceCode::pointerTo(Type element, Value pointer) {
  Type type =
      tt::PointerType::get(element, cast<tt::PointerType>(pointer.getType()).getAddressSpace());
  return type == pointer.getType() ? pointer
                                   : tt::BitcastOp::create(b, loc, type, pointer).getResult();
}

void DeviceCode::assertThat(Value condition, StringRef message) {
  tt::AssertOp::create(b, loc, condition, message);
}

/// A digit of the number for each of NRD_CMP_*, beginning with the lowest.
Value DeviceCode::outcomesOf(Value code) {
  static_assert(NRD_CMP_EQ == 0 && NRD_CMP_NE == 1 && NRD_CMP_GT == 2 && NRD_CMP_LE == 3 &&
                NRD_CMP_LT == 4 && NRD_CMP_GE == 5);
  constexpr int64_t digits = 0x613452;
  Value shift = arith::MulIOp::create(b, loc, code, i32(4));
  Value shifted = arith::ShRUIOp::create(b, loc, i32(digits), shift);
  return arith::AndIOp::create(b, loc, shifted, i32(7));
}

/// The constant factor shows Triton that 16-byte alignment survives.
Value DeviceCode::symmAt(Value pointer, Value rank) {
  if (choices.checked)
    assertThat(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, rank, parameters.numRanks),
               "there is no such rank in the job");
  Type element = cast<tt::PointerType>(pointer.getType()).getPointeeType();
  int64_t bytes = std::max(1u, tt::getElementBits(element) / 8);
  Value distance = resize(arith::SubIOp::create(b, loc, rank, parameters.rank), 64);
  Value pieces = arith::MulIOp::create(b, loc, distance, parameters.stride16);
  Value elements = arith::MulIOp::create(b, loc, pieces, i64(16 / bytes));
  return tt::AddPtrOp::create(b, loc, pointer.getType(), pointer, elements);
}

void DeviceCode::branch(Value condition, function_ref<void()> then,
                        function_ref<void()> otherwise) {
  auto op = scf::IfOp::create(b, loc, TypeRange{}, condition, /*withElseRegion=*/bool(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  then();
  if (otherwise) {
    b.setInsertionPointToStart(op.elseBlock());
    otherwise();
  }
}

void DeviceCode::forEach(Value from, Value to, function_ref<void(Value)> body) {
  Value one = arith::ConstantOp::create(b, loc, b.getIntegerAttr(from.getType(), 1));
  auto loop = scf::ForOp::create(b, loc, from, to, one);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// One piece of assembly; its result means nothing. `marked`: it must be found in
/// what Triton makes.
Value DeviceCode::assembly(StringRef body, StringRef constraints, ValueRange operands,
                           bool marked) {
  std::string text = "{ ";
  if (marked)
    text += markText(marks++);
  text += "\n" + body.str() + "\nmov.u32 $0, 0;\n}";
  std::string all = "=r";
  if (!constraints.empty())
    all += "," + constraints.str();
  return tt::ElementwiseInlineAsmOp::create(b, loc, TypeRange{b.getI32Type()},
                                            b.getStringAttr(text), b.getStringAttr(all),
                                            b.getBoolAttr(false), b.getI32IntegerAttr(1), operands)
      .getResult()
      .front();
}

/// Copies by descriptors see what others have written by ordinary stores.
std::string DeviceCode::proxyFence() const {
  return choices.arch >= hopper ? "fence.proxy.async.global;\n" : "";
}

/// Sets p for one thread of the program. Uses t.
std::string DeviceCode::firstThread() const {
  std::string text = "mov.u32 t, %tid.x; setp.eq.u32 p, t, 0;\n";
  if (choices.numCTAs > 1)
    text += "mov.u32 t, %cluster_ctarank; setp.eq.and.u32 p, t, 0, p;\n";
  return text;
}

void DeviceCode::barrier() {
  tt::BarrierOp::create(b, loc);
  if (choices.numCTAs == 1)
    return;
  assembly("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;", "", {},
           /*marked=*/false);
  // Triton moves nothing over its own.
  tt::BarrierOp::create(b, loc);
}

void DeviceCode::barrierAfterStores() {
  if (choices.storesByDescriptor && choices.arch >= hopper)
    assembly("cp.async.bulk.wait_group 0;\nfence.proxy.async.global;", "", {}, /*marked=*/true);
  barrier();
}

void DeviceCode::separate() {
  if (choices.storesByDescriptor && choices.arch >= hopper)
    assembly("cp.async.bulk.wait_group 0;\nfence.proxy.async.global;", "", {}, /*marked=*/false);
  barrier();
}

void DeviceCode::fence() {
  barrier();
  std::string body;
  if (choices.storesByDescriptor && choices.arch >= hopper)
    body = "cp.async.bulk.wait_group 0;\nfence.proxy.async.global;\n";
  assembly(body + "fence.acq_rel.sys;", "", {}, /*marked=*/true);
  barrier();
}

static StringRef wordConstraint(unsigned bits) { return bits == 64 ? "l" : "r"; }

/// Reports and ends the thread. Uses the registers a, b, s and x, y.
std::string DeviceCode::giveUp(StringRef control, unsigned bits, StringRef awaited,
                               StringRef address, StringRef comparison) const {
  // Number of the program over all axes. A cluster lies along the first.
  std::string text = "mov.u32 a, %ctaid.z; mov.u32 b, %nctaid.y; mul.lo.u32 a, a, b;\n"
                     "mov.u32 b, %ctaid.y; add.u32 a, a, b;\n"
                     "mov.u32 b, %nctaid.x; mul.lo.u32 a, a, b;\n"
                     "mov.u32 b, %ctaid.x; add.u32 a, a, b;\n";
  if (choices.numCTAs > 1)
    text += formatv("div.u32 a, a, {0};\n", choices.numCTAs).str();
  text += formatv("mad.wide.u32 s, a, 32, {0};\n", control).str();
  if (bits == 64)
    text += formatv("mov.b64 x, {0}; mov.b64 y, v;\n", awaited).str();
  else
    text += formatv("cvt.s64.s32 x, {0}; cvt.s64.s32 y, v;\n", awaited).str();
  text += "st.relaxed.sys.global.b64 [s+72], x; st.relaxed.sys.global.b64 [s+80], y;\n";
  text += formatv("st.relaxed.sys.global.b64 [s+88], {0};\n", address).str();
  text += formatv("mov.u32 a, {0}; st.relaxed.sys.global.b32 [s+68], a;\n", comparison).str();
  text += formatv("mov.u32 a, {0}; st.relaxed.sys.global.b32 [s+64], a;\n", site + 1).str();
  return text + "fence.acq_rel.sys; exit;\n";
}

/// Polls, and now and then looks at the launch's control word: each such look is a load
/// more from memory that all programs read.
static constexpr const char *askHost =
    "add.u32 n, n, 1; and.b32 a, n, 1023; setp.ne.u32 p, a, 0; @p bra SPIN;\n"
    "ld.relaxed.sys.global.b32 a, [{0}]; setp.eq.b32 p, a, 0; @p bra SPIN;\n";

/// Sets p: "setp.ge.s64 p, v, $2;". Uses a.
static std::string compare(Comparison comparison, unsigned bits) {
  if (comparison.codeValue) // $4: outcomesOf
    return formatv("setp.lt.{0}{1} p, v, $2; selp.b32 a, 1, 4, p; setp.eq.b{1} p, v, $2;\n"
                   "@p mov.u32 a, 2; and.b32 a, a, $4; setp.ne.u32 p, a, 0;\n",
                   comparison.isSigned ? "s" : "u", bits);
  if (comparison.wraps)
    return "sub.s32 a, v, $2; setp.ge.s32 p, a, 0;";
  static constexpr const char *names[] = {"eq", "ne", "gt", "le", "lt", "ge"};
  bool isOrder = comparison.code != NRD_CMP_EQ && comparison.code != NRD_CMP_NE;
  const char *kind = !isOrder ? "b" : comparison.isSigned ? "s" : "u";
  return formatv("setp.{0}.{1}{2} p, v, $2;", names[comparison.code], kind, bits).str();
}

void DeviceCode::wait(Value slot, Value value, Comparison comparison) {
  unsigned bits = value.getType().getIntOrFloatBitWidth();
  std::string body = formatv(".reg .pred p; .reg .b32 n, a, b; .reg .b64 s, x, y; "
                             ".reg .b{0} v;\nmov.u32 n, 0;\n"
                             "SPIN: ld.acquire.sys.global.b{0} v, [$1]; {1} @p bra OK;\n",
                             bits, compare(comparison, bits));
  body += formatv(askHost, "$3").str();
  SmallVector<Value> operands = {slot, value, parameters.control};
  std::string constraints = ("l," + wordConstraint(bits) + ",l").str();
  if (comparison.codeValue) {
    operands.append({outcomesOf(comparison.codeValue), comparison.codeValue});
    constraints += ",r,r";
    body += giveUp("$3", bits, "$2", "$1", "$5");
  } else {
    body += giveUp("$3", bits, "$2", "$1", std::to_string(comparison.code));
  }
  body += "OK: " + proxyFence();
  assembly(body, constraints, operands, /*marked=*/true);
  barrier();
}

void DeviceCode::waitForAll(Value slots, Value count, Value value, int64_t stride) {
  unsigned bits = value.getType().getIntOrFloatBitWidth();
  std::string body =
      formatv(".reg .pred p; .reg .b32 n, a, b, i, t; .reg .b64 s, x, y, q; .reg .b{0} v;\n"
              "mov.u32 i, %tid.x; mov.u32 t, %ntid.x;\n"
              "NEXT: setp.ge.s32 p, i, $2; @p bra DONE;\n"
              "mad.wide.s32 q, i, {1}, $1; mov.u32 n, 0;\n"
              "SPIN: ld.acquire.sys.global.b{0} v, [q]; setp.eq.b{0} p, v, $3; @p bra OK;\n",
              bits, stride);
  body += formatv(askHost, "$4").str();
  body += giveUp("$4", bits, "$3", "q", std::to_string(NRD_CMP_EQ));
  body += "OK: add.s32 i, i, t; bra NEXT;\nDONE: " + proxyFence();
  assembly(body, ("l,r," + wordConstraint(bits) + ",l").str(),
           {slots, count, value, parameters.control}, /*marked=*/true);
  barrier();
}

void DeviceCode::release(Value slot, Value value, bool adds, bool ownGPU) {
  barrierAfterStores();
  unsigned bits = value.getType().getIntOrFloatBitWidth();
  StringRef scope = ownGPU ? "gpu" : "sys";
  std::string store = adds ? formatv("red.release.{0}.global.add.u{1} [$1], $2;", scope, bits).str()
                           : formatv("st.release.{0}.global.b{1} [$1], $2;", scope, bits).str();
  assembly(".reg .pred p; .reg .b32 t;\n" + firstThread() + "@p " + store,
           ("l," + wordConstraint(bits)).str(), {slot, value}, /*marked=*/true);
}

void DeviceCode::releaseBy(Value slot, Value value, Value operation) {
  barrierAfterStores();
  unsigned bits = value.getType().getIntOrFloatBitWidth();
  std::string body =
      ".reg .pred p, q; .reg .b32 t;\n" + firstThread() +
      formatv("setp.eq.and.u32 q, $3, {1}, p; @q red.release.sys.global.add.u{0} [$1], $2;\n"
              "setp.eq.and.u32 q, $3, {2}, p; @q st.release.sys.global.b{0} [$1], $2;",
              bits, NRD_SIG_ADD, NRD_SIG_SET)
          .str();
  assembly(body, ("l," + wordConstraint(bits) + ",r").str(), {slot, value, operation},
           /*marked=*/true);
}

void DeviceCode::releaseElement(Value place, Value bits) {
  unsigned width = std::max(8u, bits.getType().getIntOrFloatBitWidth());
  barrierAfterStores();
  // Registers have 32 bits or more.
  Value word = resize(bits, width == 64 ? 64 : 32, /*isSigned=*/false);
  assembly(".reg .pred p; .reg .b32 t;\n" + firstThread() +
               formatv("@p st.release.sys.global.b{0} [$1], $2;", width).str(),
           ("l," + wordConstraint(width)).str(), {place, word}, /*marked=*/true);
}

/// A look now and then: each is one more load. By the clock, because a loop of the user's
/// has no counter for it.
void DeviceCode::checkGivenUp() {
  std::string body =
      formatv(".reg .pred p; .reg .b32 a, b, v; .reg .b64 s, x, y;\n"
              "mov.u32 a, %clock; and.b32 a, a, 0x7f00; setp.ne.u32 p, a, 0; @p bra OK;\n"
              "ld.relaxed.sys.global.b32 a, [$1]; setp.eq.b32 p, a, 0; @p bra OK;\n"
              "mov.u32 v, 0; mov.u64 s, 0;\n")
          .str();
  body += giveUp("$1", 32, "v", "s", "-1") + "OK:";
  assembly(body, "l", {parameters.control}, /*marked=*/true);
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

Value DeviceCode::atomic(tt::RMWOp kind, Value pointer, Value value, tt::MemSyncScope scope,
                         tt::MemSemantic order) {
  needsOneBlock = true;
  Value always = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  return tt::AtomicRMWOp::create(b, loc, value.getType(), kind, pointer, value, always, order,
                                 scope);
}

Value DeviceCode::compareAndSwap(Value pointer, Value compare, Value value) {
  needsOneBlock = true;
  return tt::AtomicCASOp::create(b, loc, value.getType(), pointer, compare, value,
                                 tt::MemSemantic::ACQUIRE_RELEASE, tt::MemSyncScope::SYSTEM);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Elements of one round of a copy: eight pieces of 16 bytes a thread, with four
/// warps and words of 32 bits.
static constexpr int64_t tileElements = 4096;

/// One tile from element `offset` on; the first `left` elements of it when given.
void DeviceCode::copyTile(Type element, Value to, Value from, Value offset, Value left) {
  auto tile = [&](Type type) { return RankedTensorType::get({tileElements}, type); };
  Value lane = tt::MakeRangeOp::create(b, loc, tile(b.getI32Type()), 0, int32_t(tileElements));
  auto pointers = [&](Value base) -> Value {
    Value moved = tt::AddPtrOp::create(b, loc, base.getType(), base, offset);
    Type type = tile(base.getType());
    return tt::AddPtrOp::create(b, loc, type, tt::SplatOp::create(b, loc, type, moved), lane);
  };
  Value mask, zero;
  if (left) {
    Value bound = tt::SplatOp::create(b, loc, tile(b.getI32Type()), left);
    mask = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, lane, bound);
    zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(tile(element)));
  }
  Value values = tt::LoadOp::create(b, loc, pointers(from), mask, zero);
  tt::StoreOp::create(b, loc, pointers(to), values, mask, tt::CacheModifier::NONE,
                      tt::EvictionPolicy::NORMAL);
}

void DeviceCode::copy(Value to, Value from, Value bytes) {
  auto pointer = [&](Type element, Value address, int64_t alignment) -> Value {
    auto op = tt::IntToPtrOp::create(b, loc, tt::PointerType::get(element, 1), address);
    if (alignment > 1)
      op->setAttr("tt.divisibility",
                  DenseIntElementsAttr::get(RankedTensorType::get({1}, b.getI32Type()),
                                            ArrayRef<int32_t>{int32_t(alignment)}));
    return op;
  };
  Value zero = i64(0);
  Value all = arith::OrIOp::create(b, loc, arith::OrIOp::create(b, loc, to, from), bytes);
  Value low = arith::AndIOp::create(b, loc, all, i64(15));
  Value aligned = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, low, zero);
  auto copyAll = [&](Type element, int64_t alignment, int64_t unit) {
    // `unit` elements at a time are whole; Triton sees it by the multiplication.
    int64_t tileUnits = tileElements / unit;
    Value target = pointer(element, to, alignment), source = pointer(element, from, alignment);
    Value units = unit == 1 ? bytes : arith::ShRUIOp::create(b, loc, bytes, i64(4)).getResult();
    Value tiles = arith::DivUIOp::create(b, loc, units, i64(tileUnits));
    forEach(zero, tiles, [&](Value i) {
      copyTile(element, target, source, arith::MulIOp::create(b, loc, i, i64(tileElements)), {});
    });
    Value rest = arith::RemUIOp::create(b, loc, units, i64(tileUnits));
    branch(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, rest, zero), [&] {
      Value left = resize(arith::MulIOp::create(b, loc, rest, i64(unit)), 32);
      copyTile(element, target, source, arith::MulIOp::create(b, loc, tiles, i64(tileElements)),
               left);
    });
  };
  branch(aligned, [&] { copyAll(b.getI32Type(), 16, 4); }, [&] { copyAll(b.getI8Type(), 1, 1); });
}

//===----------------------------------------------------------------------===//
// The barrier of all programs
//===----------------------------------------------------------------------===//

/// Programs of a rank meet at `arrivals`; the last of them adds to `ranks` of every
/// rank, waits until all ranks have, and lets the others go by `generation`. The
/// generation cannot change between its being read and the program's arrival, which
/// comes after the value has: the change takes that arrival. `ranks` only grows, around
/// 2^32 as well.
void DeviceCode::barrierAll() {
  auto word = [&](int32_t index) -> Value {
    return tt::AddPtrOp::create(b, loc, parameters.state.getType(), parameters.state, i32(index));
  };
  Value zero = i32(0), one = i32(1);
  Value arrivals = word(state_word::arrivals), ranks = word(state_word::ranks);
  Value generation = word(state_word::generation);
  // One thread reads, and the others have it from shared memory: it has come when they
  // go on. A load of each thread could come after the end of this very barrier.
  // It orders nothing by itself.
  Value before =
      atomic(tt::RMWOp::OR, generation, zero, tt::MemSyncScope::GPU, tt::MemSemantic::RELAXED);
  Value after = arith::AddIOp::create(b, loc, before, one);
  auto meetRanks = [&] {
    forEach(zero, parameters.numRanks, [&](Value i) {
      // Everyone begins with another.
      Value sum = arith::AddIOp::create(b, loc, parameters.rank, i);
      Value peer = arith::RemUIOp::create(b, loc, sum, parameters.numRanks);
      release(symmAt(ranks, peer), one, /*adds=*/true);
    });
    // A rank that has gone on may have come to the next barrier already.
    wait(ranks, arith::MulIOp::create(b, loc, after, parameters.numRanks),
         {NRD_CMP_GE, /*isSigned=*/true, /*wraps=*/true});
    release(generation, after, /*adds=*/false, /*ownGPU=*/true);
  };
  barrierAfterStores();
  if (choices.oneProgram) {
    meetRanks();
    barrier();
    return;
  }
  Value old = atomic(tt::RMWOp::ADD, arrivals, one, tt::MemSyncScope::GPU);
  Value last = arith::SubIOp::create(b, loc, programs(), one);
  branch(
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, old, last),
      [&] {
        atomic(tt::RMWOp::XCHG, arrivals, zero, tt::MemSyncScope::GPU);
        meetRanks();
      },
      [&] { wait(generation, after, {NRD_CMP_EQ}); });
  barrier();
}
