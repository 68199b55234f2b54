// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
    return isFloat ? LLVM::AtomicBinOp::fmax : LLVM::AtomicBinOp::max;
  case tt::RMWOp::MIN:
    return isFloat ? LLVM::AtomicBinOp::fmin : LLVM::AtomicBinOp::min;
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

/// fp16 and bf16: the machine has no such operation, so the sum is formed in
/// fp32 and swapped in as bits until nobody came between.
static Value emitSmallFloatRMW(OpBuilder &builder, Location loc, tt::RMWOp kind, Value pointer,
                               Value value, tt::MemSemantic semantic) {
  auto type = cast<FloatType>(value.getType());
  Type bits = builder.getIntegerType(type.getWidth());
  auto first = LLVM::LoadOp::create(builder, loc, bits, pointer, /*alignment=*/type.getWidth() / 8);
  first.setOrdering(LLVM::AtomicOrdering::monotonic);
  Type i1 = builder.getI1Type();
  auto loop = scf::WhileOp::create(
      builder, loc, TypeRange{bits}, ValueRange{first},
      [&](OpBuilder &b, Location, ValueRange arguments) {
        Value old = arith::BitcastOp::create(b, loc, type, arguments[0]);
        Value wideOld = arith::ExtFOp::create(b, loc, b.getF32Type(), old);
        Value wideValue = arith::ExtFOp::create(b, loc, b.getF32Type(), value);
        Value result;
        switch (kind) {
        case tt::RMWOp::MAX:
          result = arith::MaxNumFOp::create(b, loc, wideOld, wideValue);
          break;
        case tt::RMWOp::MIN:
          result = arith::MinNumFOp::create(b, loc, wideOld, wideValue);
          break;
        default:
          result = arith::AddFOp::create(b, loc, wideOld, wideValue);
        }
        Value narrow = arith::TruncFOp::create(b, loc, type, result);
        Value next = arith::BitcastOp::create(b, loc, bits, narrow);
        auto [seen, done] = emitExchange(b, loc, pointer, arguments[0], next, semantic);
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
  if (floatType && floatType.getWidth() < 32 && kind != tt::RMWOp::XCHG)
    return emitSmallFloatRMW(builder, loc, kind, pointer, value, semantic);
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
