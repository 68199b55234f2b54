// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomic operations on one element. Integers, pointers, and sums of fp32 and
// fp64 are LLVM's own; exchanges and comparisons of floats are those of their
// bits. What is left (max and min of floats, sums of 16 bits) is a loop:
//
//   old = load(p)
//   do  next = f(old, value)
//       seen = compare_and_swap(p, old, next)      old = seen when another was faster
//   while it failed
//
// Memory is compared by its bits, never as numbers: -0 equals +0 and NaN equals
// nothing, so that a comparison of numbers could take a change for none, or
// never end.
#include "Target/CPU/Atomics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace nereid;

LLVM::AtomicOrdering cpu::getAtomicOrdering(tt::MemSemantic semantic) {
  switch (semantic) {
  case tt::MemSemantic::RELAXED:
    return LLVM::AtomicOrdering::monotonic;
  case tt::MemSemantic::ACQUIRE:
    return LLVM::AtomicOrdering::acquire;
  case tt::MemSemantic::RELEASE:
    return LLVM::AtomicOrdering::release;
  case tt::MemSemantic::ACQUIRE_RELEASE:
    return LLVM::AtomicOrdering::acq_rel;
  }
  llvm_unreachable("unknown memory semantic");
}

/// What a failed compare-and-swap still orders.
static LLVM::AtomicOrdering getFailureOrdering(tt::MemSemantic semantic) {
  bool acquires =
      semantic == tt::MemSemantic::ACQUIRE || semantic == tt::MemSemantic::ACQUIRE_RELEASE;
  return acquires ? LLVM::AtomicOrdering::acquire : LLVM::AtomicOrdering::monotonic;
}

static LLVM::AtomicBinOp getBinOp(tt::RMWOp kind, bool isFloat) {
  switch (kind) {
  case tt::RMWOp::AND:
    return LLVM::AtomicBinOp::_and;
  case tt::RMWOp::OR:
    return LLVM::AtomicBinOp::_or;
  case tt::RMWOp::XOR:
    return LLVM::AtomicBinOp::_xor;
  case tt::RMWOp::ADD:
  case tt::RMWOp::FADD:
    return isFloat ? LLVM::AtomicBinOp::fadd : LLVM::AtomicBinOp::add;
  case tt::RMWOp::MAX:
    return LLVM::AtomicBinOp::max;
  case tt::RMWOp::MIN:
    return LLVM::AtomicBinOp::min;
  case tt::RMWOp::UMAX:
    return LLVM::AtomicBinOp::umax;
  case tt::RMWOp::UMIN:
    return LLVM::AtomicBinOp::umin;
  case tt::RMWOp::XCHG:
    return LLVM::AtomicBinOp::xchg;
  }
  llvm_unreachable("unknown atomic operation");
}

/// One compare-and-swap of integers or pointers; returns {old, succeeded}.
static std::pair<Value, Value> emitExchange(OpBuilder &builder, Location loc, Value pointer,
                                            Value compare, Value value, tt::MemSemantic semantic) {
  Value pair =
      LLVM::AtomicCmpXchgOp::create(builder, loc, pointer, compare, value,
                                    cpu::getAtomicOrdering(semantic), getFailureOrdering(semantic));
  return {LLVM::ExtractValueOp::create(builder, loc, pair, ArrayRef<int64_t>{0}),
          LLVM::ExtractValueOp::create(builder, loc, pair, ArrayRef<int64_t>{1})};
}

/// What memory becomes by max or min of two numbers given as bits: numbers win
/// against NaN, and -0 is less than +0.
static Value emitExtremum(OpBuilder &builder, Location loc, bool isMax, FloatType type, Value old,
                          Value value) {
  auto wide = [&](Value bits) -> Value {
    Value number = arith::BitcastOp::create(builder, loc, type, bits);
    return type.getWidth() < 32 ? arith::ExtFOp::create(builder, loc, builder.getF32Type(), number)
                                : number;
  };
  auto compare = [&](arith::CmpFPredicate predicate, Value a, Value b) -> Value {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  };
  Value x = wide(old), y = wide(value);
  // True where y wins or x is NaN; where y is NaN, x stays.
  Value wins = compare(isMax ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT, y, x);
  Value isNumber = compare(arith::CmpFPredicate::ORD, y, y);
  Value equal = compare(arith::CmpFPredicate::OEQ, y, x);
  // Only zeros are equal and differ in their bits; as signed integers -0 is less.
  Value above = arith::CmpIOp::create(
      builder, loc, isMax ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt, value, old);
  wins = arith::AndIOp::create(builder, loc, wins, isNumber);
  Value zero = arith::AndIOp::create(builder, loc, equal, above);
  Value taken = arith::OrIOp::create(builder, loc, wins, zero);
  return arith::SelectOp::create(builder, loc, taken, value, old);
}

/// The sum in the type's own precision (fp16 and bf16: formed in fp32), as bits.
static Value emitSum(OpBuilder &builder, Location loc, FloatType type, Value old, Value value) {
  auto wide = [&](Value bits) -> Value {
    Value number = arith::BitcastOp::create(builder, loc, type, bits);
    return arith::ExtFOp::create(builder, loc, builder.getF32Type(), number);
  };
  Value sum = arith::AddFOp::create(builder, loc, wide(old), wide(value));
  return arith::BitcastOp::create(builder, loc, old.getType(),
                                  arith::TruncFOp::create(builder, loc, type, sum));
}

/// Float operations that the machine lacks: the result is swapped in as bits
/// until nobody came between.
static Value emitFloatRMW(OpBuilder &builder, Location loc, tt::RMWOp kind, Value pointer,
                          Value value, tt::MemSemantic semantic) {
  auto type = cast<FloatType>(value.getType());
  Type bits = builder.getIntegerType(type.getWidth());
  Value operand = arith::BitcastOp::create(builder, loc, bits, value);
  auto first = LLVM::LoadOp::create(builder, loc, bits, pointer, /*alignment=*/type.getWidth() / 8);
  first.setOrdering(LLVM::AtomicOrdering::monotonic);
  Type i1 = builder.getI1Type();
  auto loop = scf::WhileOp::create(
      builder, loc, TypeRange{bits}, ValueRange{first},
      [&](OpBuilder &b, Location, ValueRange arguments) {
        Value old = arguments[0];
        bool isSum = kind == tt::RMWOp::FADD || kind == tt::RMWOp::ADD;
        Value next = isSum ? emitSum(b, loc, type, old, operand)
                           : emitExtremum(b, loc, kind == tt::RMWOp::MAX, type, old, operand);
        auto [seen, done] = emitExchange(b, loc, pointer, old, next, semantic);
        Value again =
            arith::XOrIOp::create(b, loc, done, arith::ConstantIntOp::create(b, loc, i1, 1));
        scf::ConditionOp::create(b, loc, again, ValueRange{seen});
      },
      [&](OpBuilder &b, Location, ValueRange arguments) {
        scf::YieldOp::create(b, loc, arguments);
      });
  return arith::BitcastOp::create(builder, loc, type, loop.getResult(0));
}

Value cpu::emitAtomicRMW(OpBuilder &builder, Location loc, tt::RMWOp kind, Value pointer,
                         Value value, tt::MemSemantic semantic) {
  auto floatType = dyn_cast<FloatType>(value.getType());
  bool orders = kind == tt::RMWOp::MAX || kind == tt::RMWOp::MIN;
  if (floatType && kind != tt::RMWOp::XCHG && (orders || floatType.getWidth() < 32))
    return emitFloatRMW(builder, loc, kind, pointer, value, semantic);
  if (floatType && kind == tt::RMWOp::XCHG) {
    Value bits =
        arith::BitcastOp::create(builder, loc, builder.getIntegerType(floatType.getWidth()), value);
    Value old = LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::xchg, pointer, bits,
                                          getAtomicOrdering(semantic));
    return arith::BitcastOp::create(builder, loc, floatType, old);
  }
  return LLVM::AtomicRMWOp::create(builder, loc, getBinOp(kind, bool(floatType)), pointer, value,
                                   getAtomicOrdering(semantic));
}

Value cpu::emitAtomicCAS(OpBuilder &builder, Location loc, Value pointer, Value compare,
                         Value value, tt::MemSemantic semantic) {
  auto floatType = dyn_cast<FloatType>(value.getType());
  if (floatType) {
    Type bits = builder.getIntegerType(floatType.getWidth());
    compare = arith::BitcastOp::create(builder, loc, bits, compare);
    value = arith::BitcastOp::create(builder, loc, bits, value);
  }
  Value old = emitExchange(builder, loc, pointer, compare, value, semantic).first;
  return floatType ? arith::BitcastOp::create(builder, loc, floatType, old).getResult() : old;
}
