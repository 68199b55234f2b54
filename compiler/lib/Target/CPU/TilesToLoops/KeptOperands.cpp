// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KeptOperands.h"

#include "TileEmitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace nereid::tiles {

/// Rounds of a loop that have an entry; later ones keep nothing.
static constexpr int64_t maxRounds = 256;
/// Of the slots of one operand: about what a second cache holds. Programs that can
/// wait for each other are all alive at once.
static constexpr int64_t maxBytesAlone = 2 << 20, maxBytesTogether = 512 << 10;

// Words at the start, which the runtime clears: whether the entries have been cleared
// since, the generation, and the range of memory, [~notLow, high), that kept tiles
// were packed from. All zero: nothing is kept.
static constexpr int64_t readyWord = 0, generationWord = 1, notLowWord = 2, highWord = 3,
                         headWords = 8;
// Words of an entry.
static constexpr int64_t addressWord = 0, strideWord = 1, validWord = 2, stateWord = 3,
                         entryWords = 4;
// Bits of an entry's state. Zero is that of a slot which has served.
static constexpr int64_t isFull = 1, isUnused = 2;

/// Whether the operation itself orders memory, not what lies in its regions.
static bool ordersMemory(Operation *op) {
  return !isa<tt::StoreOp>(op) && op->getNumRegions() == 0 &&
         !op->hasTrait<OpTrait::IsTerminator>() && TilePlan::ordersMemory(op);
}

KeptOperands::KeptOperands(FunctionLowering &lowering, FunctionOpInterface function, bool alone)
    : lowering(lowering), maxBytes(maxBytesAlone) {
  if (!alone || !function.getFunctionBody().hasOneBlock())
    return;
  SmallVector<tt::DotOp> dots;
  bool mayPoll = false;
  function.getFunctionBody().walk([&](Operation *op) {
    if (auto dot = dyn_cast<tt::DotOp>(op); dot && isa<scf::ForOp>(op->getParentOp()))
      dots.push_back(dot);
    mayPoll |=
        isa<scf::WhileOp>(op) ||
        (op->getNumRegions() != 0 && !isa<scf::ForOp, scf::IfOp>(op) && TilePlan::ordersMemory(op));
    if (ordersMemory(op))
      orders.insert(op);
  });
  if (mayPoll)
    return;
  if (!orders.empty())
    maxBytes = maxBytesTogether;
  TilePlan &plan = lowering.getPlan();
  for (tt::DotOp dot : dots)
    for (bool isB : {true, false}) {
      Value operand = isB ? dot.getB() : dot.getA();
      auto load = operand.getDefiningOp<tt::LoadOp>();
      if (!load || load->getBlock() != dot->getBlock() || plan.isStored(operand) ||
          getTile(operand).getRank() != 2)
        continue;
      bool isDense = false, isKnown = true;
      for (unsigned d : {0u, 1u}) {
        TileStride stride = plan.getUnwrappedStrides().get(load.getPtr(), d);
        isDense |= stride.isConstant(1);
        isKnown &= stride.kind != TileStride::Unknown;
      }
      if (isDense && isKnown)
        numbers.insert({{dot, unsigned(isB)}, int64_t(numbers.size())});
    }
  if (numbers.empty())
    return;
  int64_t words = headWords + numEntries() * entryWords;
  Block &entry = function.getFunctionBody().front();
  state = lowering.createBuffer(IntegerType::get(function.getContext(), 64), words, &entry);
  state->atStart = true;
  state->touches.push_back(function);
  emitReady(entry);
}

/// The first program of a launch on this thread clears the entries.
void KeptOperands::emitReady(Block &entry) {
  Operation *first = &entry.front();
  while (isa<cpu::ScratchOp>(first))
    first = first->getNextNode();
  OpBuilder builder(first);
  Location loc = entry.getParentOp()->getLoc();
  Type i64 = builder.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, i64, value);
  };
  Value flag = word(builder, loc, readyWord);
  Value isNew =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                            LLVM::LoadOp::create(builder, loc, i64, flag, 8), constant(0));
  auto branch = scf::IfOp::create(builder, loc, isNew, /*withElseRegion=*/false);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  LLVM::StoreOp::create(builder, loc, constant(1), flag, 8);
  auto loop = scf::ForOp::create(builder, loc, constant(headWords),
                                 constant(headWords + numEntries() * entryWords), constant(8));
  builder.setInsertionPointToStart(loop.getBody());
  Value place = LLVM::GEPOp::create(builder, loc, state->pointer.getType(), i64, state->pointer,
                                    ValueRange{loop.getInductionVar()});
  auto line = VectorType::get(8, i64);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(line));
  LLVM::StoreOp::create(builder, loc, zero, place, 64);
}

int64_t KeptOperands::numEntries() const { return int64_t(numbers.size()) * maxRounds; }

/// Address of one of the state's words.
Value KeptOperands::word(OpBuilder &builder, Location loc, int64_t number) {
  return LLVM::GEPOp::create(builder, loc, state->pointer.getType(), builder.getI64Type(),
                             state->pointer, ArrayRef<LLVM::GEPArg>{int32_t(number)});
}

/// How often the loop has gone round (i64).
static Value emitRound(OpBuilder &builder, scf::ForOp loop) {
  Location loc = loop.getLoc();
  Type i64 = builder.getI64Type();
  auto wide = [&](Value value) -> Value {
    if (value.getType().isIndex())
      return builder.createOrFold<arith::IndexCastOp>(loc, i64, value);
    if (value.getType() == i64)
      return value;
    return loop.getUnsignedCmp() ? builder.createOrFold<arith::ExtUIOp>(loc, i64, value)
                                 : builder.createOrFold<arith::ExtSIOp>(loc, i64, value);
  };
  Value passed = builder.createOrFold<arith::SubIOp>(loc, wide(loop.getInductionVar()),
                                                     wide(loop.getLowerBound()));
  return builder.createOrFold<arith::DivUIOp>(loc, passed, wide(loop.getStep()));
}

KeptOperands::Found KeptOperands::find(OpBuilder &builder, tt::DotOp dot, bool isB, Type packed,
                                       int64_t elements, tt::LoadOp load, Value first, Value bytes,
                                       Value everywhere, bool unwrapped) {
  Location loc = load.getLoc();
  Type i64 = builder.getI64Type(), i1 = builder.getI1Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, i64, value);
  };
  int64_t slotBytes = int64_t(llvm::alignTo(elements * getStorageBytes(packed), 64));
  int64_t rounds = std::min(maxRounds, std::max<int64_t>(1, maxBytes / slotBytes));
  Block &entry = *state->owner;
  Buffer *slots = lowering.createBuffer(builder.getI8Type(), rounds * slotBytes, &entry);
  slots->touches.push_back(entry.getParentOp());

  Value round = emitRound(builder, cast<scf::ForOp>(dot->getParentOp()));
  Value mayUse =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, round, constant(rounds));
  if (everywhere)
    mayUse = arith::AndIOp::create(builder, loc, mayUse, everywhere);
  auto branch = scf::IfOp::create(builder, loc, TypeRange{i1, i1}, mayUse, /*withElseRegion=*/true);
  Found found;
  found.use = branch.getResult(0);
  found.hit = branch.getResult(1);
  found.slot = LLVM::GEPOp::create(
      builder, loc, slots->pointer.getType(), builder.getI8Type(), slots->pointer,
      ValueRange{arith::MulIOp::create(builder, loc, round, constant(slotBytes)).getResult()});

  OpBuilder::InsertionGuard restore(builder);
  builder.setInsertionPointToEnd(branch.elseBlock());
  Value no = arith::ConstantIntOp::create(builder, loc, i1, 0);
  scf::YieldOp::create(builder, loc, ValueRange{no, no});

  builder.setInsertionPointToEnd(branch.thenBlock());
  int64_t firstEntry = headWords + numbers.lookup({dot, unsigned(isB)}) * maxRounds * entryWords;
  Value at = LLVM::GEPOp::create(
      builder, loc, state->pointer.getType(), i64, word(builder, loc, firstEntry),
      ValueRange{arith::MulIOp::create(builder, loc, round, constant(entryWords)).getResult()});
  auto field = [&](int64_t number) -> Value {
    return LLVM::GEPOp::create(builder, loc, at.getType(), i64, at,
                               ArrayRef<LLVM::GEPArg>{int32_t(number)});
  };
  auto read = [&](Value from) -> Value { return LLVM::LoadOp::create(builder, loc, i64, from, 8); };
  auto write = [&](Value value, Value to) { LLVM::StoreOp::create(builder, loc, value, to, 8); };
  auto isEqual = [&](Value a, Value b) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a, b);
  };
  auto isSet = [&](Value bits, int64_t bit) -> Value {
    Value masked = arith::AndIOp::create(builder, loc, bits, constant(bit));
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, masked, constant(0));
  };
  auto both = [&](Value a, Value b) -> Value { return arith::AndIOp::create(builder, loc, a, b); };
  auto select = [&](Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  };

  Value address = LLVM::PtrToIntOp::create(builder, loc, i64, first);
  // Entries hold the generation plus one: those of a cleared area are never valid.
  Value valid =
      arith::AddIOp::create(builder, loc, read(word(builder, loc, generationWord)), constant(1));
  Value state = read(field(stateWord));
  Value same = both(
      both(isEqual(read(field(addressWord)), address), isEqual(read(field(strideWord)), bytes)),
      isEqual(read(field(validWord)), valid));
  Value hit = both(same, isSet(state, isFull));
  Value yes = arith::ConstantIntOp::create(builder, loc, i1, 1);
  Value served = arith::XOrIOp::create(builder, loc, isSet(state, isUnused), yes);
  Value use = arith::OrIOp::create(builder, loc, same, served);
  write(address, field(addressWord));
  write(bytes, field(strideWord));
  write(valid, field(validWord));
  write(select(same, constant(isFull),
               select(served, constant(isFull | isUnused), constant(isUnused))),
        field(stateWord));
  // What is packed into the slot now belongs to the range.
  Value fills = both(use, arith::XOrIOp::create(builder, loc, hit, yes));
  auto filling = scf::IfOp::create(builder, loc, fills, /*withElseRegion=*/false);
  scf::YieldOp::create(builder, loc, ValueRange{use, hit});
  builder.setInsertionPoint(filling.thenBlock()->getTerminator());
  TileEmitter emitter(lowering, builder, loc, dot, unwrapped);
  auto [low, high] = emitter.emitRange(load.getPtr());
  Value notLow = arith::XOrIOp::create(builder, loc, low, constant(-1));
  for (auto [value, number] : {std::pair(notLow, notLowWord), std::pair(high, highWord)}) {
    Value place = word(builder, loc, number);
    write(arith::MaxUIOp::create(builder, loc, read(place), value), place);
  }
  return found;
}

void KeptOperands::empty(OpBuilder &builder, Location loc) {
  Type i64 = builder.getI64Type();
  Value zero = arith::ConstantIntOp::create(builder, loc, i64, 0),
        one = arith::ConstantIntOp::create(builder, loc, i64, 1);
  Value generation = word(builder, loc, generationWord);
  Value next = arith::AddIOp::create(builder, loc,
                                     LLVM::LoadOp::create(builder, loc, i64, generation, 8), one);
  LLVM::StoreOp::create(builder, loc, next, generation, 8);
  for (int64_t number : {notLowWord, highWord})
    LLVM::StoreOp::create(builder, loc, zero, word(builder, loc, number), 8);
}

void KeptOperands::noteOrder(OpBuilder &builder, Operation *op) {
  if (state && orders.contains(op))
    empty(builder, op->getLoc());
}

void KeptOperands::noteStore(OpBuilder &builder, tt::StoreOp store) {
  if (!state)
    return;
  Location loc = store.getLoc();
  Type i64 = builder.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, i64, value);
  };
  auto read = [&](int64_t number) -> Value {
    return LLVM::LoadOp::create(builder, loc, i64, word(builder, loc, number), 8);
  };
  auto write = [&](Value value, int64_t number) {
    LLVM::StoreOp::create(builder, loc, value, word(builder, loc, number), 8);
  };
  auto isBelow = [&](Value a, Value b) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
  };
  Value low, high;
  if (RankedTensorType type = getTile(store.getPtr())) {
    TilePlan &plan = lowering.getPlan();
    bool isKnown = true;
    for (int64_t d = 0; d < type.getRank(); ++d)
      isKnown &= plan.getStrides().get(store.getPtr(), d).kind != TileStride::Unknown;
    if (isKnown) {
      TileEmitter emitter(lowering, builder, loc, store);
      std::tie(low, high) = emitter.emitRange(store.getPtr());
    }
  } else {
    Value pointer = lowering.getScalar(builder, store.getPtr());
    low = LLVM::PtrToIntOp::create(builder, loc, i64, pointer);
    int64_t bytes = getStorageBytes(store.getValue().getType());
    high = arith::AddIOp::create(builder, loc, low, constant(bytes));
  }
  if (!low)
    return empty(builder, loc);
  Value generation = read(generationWord), notLow = read(notLowWord), keptHigh = read(highWord);
  Value keptLow = arith::XOrIOp::create(builder, loc, notLow, constant(-1));
  Value meets = arith::AndIOp::create(builder, loc, isBelow(low, keptHigh), isBelow(keptLow, high));
  Value one = arith::ExtUIOp::create(builder, loc, i64, meets);
  write(arith::AddIOp::create(builder, loc, generation, one), generationWord);
  write(arith::SelectOp::create(builder, loc, meets, constant(0), notLow), notLowWord);
  write(arith::SelectOp::create(builder, loc, meets, constant(0), keptHigh), highWord);
}

} // namespace nereid::tiles
