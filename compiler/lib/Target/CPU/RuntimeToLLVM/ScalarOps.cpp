// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tt operations on scalars.
//
// Tiles are gone by now, so that each is an instruction or a few. Where memory
// is accessed under a mask there is a branch around the access, not a select
// behind it: the address may lie anywhere when the mask is false. Ordinary
// loads and stores are not atomic; volatile loads are (monotonic), since loops
// poll flags by them, and accesses of single threads have the order that the
// front end has given them.
#include "Lowering.h"
#include "nereid/Support/AttributeNames.h"

#include "Target/CPU/Atomics.h"
#include "Target/CPU/DeviceMath.h"
#include "Target/CPU/Observed.h"
#include "Target/CPU/RuntimeABI.h"
#include "nereid/Support/PassDiagnostics.h"
#include "nereid/abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

//===----------------------------------------------------------------------===//
// Pointers and casts
//===----------------------------------------------------------------------===//

static LogicalResult lower(Lowering &l, tt::AddPtrOp op) {
  Type element = cast<tt::PointerType>(op.getPtr().getType()).getPointeeType();
  Value offset = l.toInteger(op.getOffset(), 64);
  Value address =
      LLVM::GEPOp::create(l.builder, op.getLoc(), l.pointerType, l.getMemoryType(element),
                          l.toLLVM(op.getPtr()), ArrayRef<LLVM::GEPArg>{offset});
  l.replace(l.fromLLVM(address, op.getType()));
  return success();
}

static LogicalResult lower(Lowering &l, tt::BitcastOp op) {
  Value source = op.getSrc();
  Type type = op.getType();
  if (isa<tt::PointerType>(type) && isa<tt::PointerType>(source.getType()))
    l.replace(l.fromLLVM(l.toLLVM(source), type));
  else if (isa<tt::PointerType>(type) || isa<tt::PointerType>(source.getType()))
    l.replace(l.fromBits64(l.toBits64(source), type));
  else
    l.replace(arith::BitcastOp::create(l.builder, op.getLoc(), type, source).getResult());
  return success();
}

static LogicalResult lower(Lowering &l, tt::FpToFpOp op) {
  Value value = op.getSrc();
  unsigned from = value.getType().getIntOrFloatBitWidth(),
           to = op.getType().getIntOrFloatBitWidth();
  if (value.getType() == op.getType()) {
    l.replace(value);
    return success();
  }
  // Formats of one width have no direct conversion; fp32 holds both exactly.
  if (from == to) {
    value = arith::ExtFOp::create(l.builder, op.getLoc(), l.builder.getF32Type(), value);
    from = 32;
  }
  if (from < to) {
    l.replace(arith::ExtFOp::create(l.builder, op.getLoc(), op.getType(), value).getResult());
    return success();
  }
  auto truncate = arith::TruncFOp::create(l.builder, op.getLoc(), op.getType(), value);
  if (op.getRounding() == tt::RoundingMode::RTZ)
    truncate.setRoundingmode(arith::RoundingMode::toward_zero);
  l.replace(truncate.getResult());
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Emits `body` only when `mask` (may be null) holds. Yields the body's value,
/// or `otherwise` (in LLVM types) when it does not.
static Value emitMasked(Lowering &l, Location loc, Value mask, Type type,
                        llvm::function_ref<Value()> body, llvm::function_ref<Value()> otherwise) {
  if (!mask)
    return body();
  OpBuilder &builder = l.builder;
  OpBuilder::InsertionGuard guard(builder);
  auto branch = scf::IfOp::create(builder, loc, type ? TypeRange{type} : TypeRange{}, mask,
                                  /*withElse=*/bool(type));
  builder.setInsertionPointToStart(branch.thenBlock());
  Value value = body();
  if (!type)
    return {};
  scf::YieldOp::create(builder, loc, value);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, otherwise());
  return branch.getResult(0);
}

static Value zeroOf(Lowering &l, Location loc, Type type) {
  if (type == l.pointerType)
    return LLVM::ZeroOp::create(l.builder, loc, type);
  return arith::ConstantOp::create(l.builder, loc, l.builder.getZeroAttr(type));
}

/// Accesses of single threads say in which order they stand.
static LLVM::AtomicOrdering orderOf(Operation *op, LLVM::AtomicOrdering otherwise) {
  auto order = op->getAttrOfType<StringAttr>(attr::order);
  if (!order)
    return otherwise;
  return llvm::StringSwitch<LLVM::AtomicOrdering>(order.getValue())
      .Case("acquire", LLVM::AtomicOrdering::acquire)
      .Case("release", LLVM::AtomicOrdering::release)
      .Default(LLVM::AtomicOrdering::monotonic);
}

/// What is told of `op`, if anything is.
static ObservedAtomic observe(Lowering &l, Operation *op, int32_t kind, Value pointer,
                              tt::MemSemantic sem, tt::MemSyncScope scope) {
  ObservedAtomic atomic;
  if (!op->hasAttr(attr::observed))
    return atomic;
  atomic.program = l.program();
  atomic.site = l.site();
  atomic.op = kind;
  atomic.sem = int32_t(sem);
  atomic.scope = int32_t(scope);
  atomic.pointer = pointer;
  return atomic;
}

static tt::MemSemantic semOf(LLVM::AtomicOrdering ordering) {
  return ordering == LLVM::AtomicOrdering::acquire   ? tt::MemSemantic::ACQUIRE
         : ordering == LLVM::AtomicOrdering::release ? tt::MemSemantic::RELEASE
                                                     : tt::MemSemantic::RELAXED;
}

static LogicalResult lower(Lowering &l, distributed::AccessOp op) {
  ObservedTile tile;
  tile.base = l.toLLVM(op.getPtrs());
  Type element = cast<tt::PointerType>(op.getPtrs().getType()).getPointeeType();
  Value program = l.program(), site = l.site();
  emitMasked(
      l, op.getLoc(), op.getMask(), Type(),
      [&]() -> Value {
        emitAccess(l.builder, op.getLoc(), program, site, tile, accessKindOf(op),
                   getElementBytes(element));
        return {};
      },
      [] { return Value(); });
  l.replace({});
  return success();
}

static LogicalResult lower(Lowering &l, tt::LoadOp op) {
  Location loc = op.getLoc();
  Type element = op.getType(), memory = l.getMemoryType(element);
  Value pointer = l.toLLVM(op.getPtr());
  Value other = op.getOther() ? l.toMemory(op.getOther()) : Value();
  bool isVolatile = op.getIsVolatile() || op.getCache() == tt::CacheModifier::CV;
  LLVM::AtomicOrdering ordering = orderOf(op, LLVM::AtomicOrdering::monotonic);
  ObservedAtomic seen =
      observe(l, op, NRD_AMO_FETCH, pointer, semOf(ordering), tt::MemSyncScope::SYSTEM);
  Value value = emitMasked(
      l, loc, op.getMask(), memory,
      [&]() -> Value {
        auto load = LLVM::LoadOp::create(l.builder, loc, memory, pointer, getElementBytes(element),
                                         isVolatile);
        // A polled flag must be read in one piece.
        if (isVolatile)
          load.setOrdering(ordering);
        seen.value = load;
        emitSeen(l.builder, loc, seen);
        return load;
      },
      [&] { return other ? other : zeroOf(l, loc, memory); });
  l.replace(l.fromMemory(value, element));
  return success();
}

static LogicalResult lower(Lowering &l, tt::StoreOp op) {
  Value pointer = l.toLLVM(op.getPtr()), value = l.toMemory(op.getValue());
  LLVM::AtomicOrdering ordering = orderOf(op, LLVM::AtomicOrdering::not_atomic);
  ObservedAtomic told =
      observe(l, op, NRD_AMO_SET, pointer, semOf(ordering), tt::MemSyncScope::SYSTEM);
  told.value = value;
  emitMasked(
      l, op.getLoc(), op.getMask(), Type(),
      [&] {
        return emitObserved(l.builder, op.getLoc(), told, [&]() -> Value {
          auto store = LLVM::StoreOp::create(l.builder, op.getLoc(), value, pointer,
                                             getElementBytes(op.getValue().getType()));
          store.setOrdering(ordering);
          return {};
        });
      },
      [] { return Value(); });
  l.replace({});
  return success();
}

static LogicalResult lower(Lowering &l, tt::AtomicRMWOp op) {
  Location loc = op.getLoc();
  Type type = op.getType();
  bool isPointer = isa<tt::PointerType>(type);
  if (isPointer && op.getAtomicRmwOp() != tt::RMWOp::XCHG)
    return reportError(op.getLoc(), Diag::atomic_pointer);
  if (type.isIntOrFloat() &&
      (type.isInteger(1) || (isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8)))
    return reportError(op.getLoc(), Diag::atomic_element, "'" + printed(type) + "'");
  Value pointer = l.toLLVM(op.getPtr());
  Type memory = isPointer ? Type(l.builder.getI64Type()) : type;
  Value value = isPointer ? l.toBits64(op.getVal()) : op.getVal();
  ObservedAtomic told = observe(l, op, observedOp(op.getAtomicRmwOp(), value.getType()), pointer,
                                op.getSem(), op.getScope());
  told.value = value;
  Value old = emitMasked(
      l, loc, op.getMask(), memory,
      [&] {
        return emitObserved(l.builder, loc, told, [&] {
          return emitAtomicRMW(l.builder, loc, op.getAtomicRmwOp(), pointer, value, op.getSem());
        });
      },
      [&] { return zeroOf(l, loc, memory); });
  l.replace(isPointer ? l.fromBits64(old, type) : old);
  return success();
}

static LogicalResult lower(Lowering &l, tt::AtomicCASOp op) {
  Value pointer = l.toLLVM(op.getPtr());
  ObservedAtomic told = observe(l, op, NRD_AMO_COMPARE_SWAP, pointer, op.getSem(), op.getScope());
  told.value = l.toLLVM(op.getVal());
  told.compare = l.toLLVM(op.getCmp());
  Value old = emitObserved(l.builder, op.getLoc(), told, [&] {
    return emitAtomicCAS(l.builder, op.getLoc(), pointer, told.compare, told.value, op.getSem());
  });
  l.replace(l.fromLLVM(old, op.getType()));
  return success();
}

/// Spins, letting other programs run between two looks, until the value is
/// there or the time is up.
static LogicalResult lower(Lowering &l, tt::AtomicPollOp op) {
  Location loc = op.getLoc();
  Value pointer = l.toLLVM(op.getPtr()), program = l.program(), site = l.site();
  Type type = op.getExpected().getType(), i1 = l.builder.getI1Type();
  l.blocking = true;
  OpBuilder &b = l.builder;
  auto now = [&] { return callRuntime(b, loc, "nrd_clock_ns", program).getResult(); };
  Value end;
  if (op.getTimeout())
    end = arith::AddIOp::create(b, loc, now(), op.getTimeout());
  auto loop = scf::WhileOp::create(b, loc, TypeRange{i1}, ValueRange{});
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  auto load = LLVM::LoadOp::create(b, loc, type, pointer, getElementBytes(type));
  load.setOrdering(op.getSem() == tt::MemSemantic::RELAXED ? LLVM::AtomicOrdering::monotonic
                                                           : LLVM::AtomicOrdering::acquire);
  Value found = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, load, op.getExpected());
  Value again = arith::XOrIOp::create(b, loc, found, arith::ConstantIntOp::create(b, loc, i1, 1));
  if (end) {
    Value early = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, now(), end);
    again = arith::AndIOp::create(b, loc, again, early);
  }
  scf::ConditionOp::create(b, loc, again, ValueRange{found});
  b.createBlock(&loop.getAfter(), {}, TypeRange{i1}, {loc});
  callRuntime(b, loc, "nrd_yield", {program, site});
  scf::YieldOp::create(b, loc);
  b.setInsertionPointAfter(loop);
  if (ObservedAtomic seen = observe(l, op, NRD_AMO_FETCH, pointer, op.getSem(), op.getScope());
      seen.program) {
    auto found = scf::IfOp::create(b, loc, loop.getResult(0), /*withElseRegion=*/false);
    b.setInsertionPoint(found.thenBlock()->getTerminator());
    seen.value = op.getExpected();
    emitSeen(b, loc, seen);
  }
  l.replace(loop.getResult(0));
  return success();
}

//===----------------------------------------------------------------------===//
// Debugging
//===----------------------------------------------------------------------===//

static LogicalResult lower(Lowering &l, tt::AssertOp op) {
  Location loc = op.getLoc();
  Value message = getStringConstant(l.builder, loc, op.getMessage());
  Value program = l.program(), site = l.site();
  Value failed = arith::XOrIOp::create(l.builder, loc, op.getCondition(), l.constant(1, 1));
  emitMasked(
      l, loc, failed, Type(),
      [&]() -> Value {
        callRuntime(l.builder, loc, "nrd_fail_assert", {program, message, site});
        return {};
      },
      [] { return Value(); });
  l.replace({});
  return success();
}

/// A function of a device math library. Others would have to be linked in.
static LogicalResult lower(Lowering &l, tt::ExternElementwiseOp op) {
  if (Value value =
          emitDeviceMath(l.builder, op.getLoc(), op.getSymbol(), op.getSrcs(), op.getType())) {
    l.replace(value);
    return success();
  }
  InFlightDiagnostic error = op.emitError()
                             << "the CPU target has no function '" << op.getSymbol() << "' of ";
  llvm::interleaveComma(op.getSrcs().getTypes(), error);
  if (!op.getLibpath().empty())
    error.attachNote()
        << "device libraries such as '" << op.getLibpath()
        << "' are not linked; write the function as a jit function, or use tl.extra.libdevice";
  else
    error.attachNote() << "use a function of tl.extra.libdevice, or write it as a jit function";
  return error;
}

/// Kinds of elements of nrd_print.
enum PrintKind { PrintSigned = 0, PrintUnsigned = 1, PrintFloat = 2, PrintPointer = 3 };

static LogicalResult lower(Lowering &l, tt::PrintOp op) {
  Location loc = op.getLoc();
  Value prefix = getStringConstant(l.builder, loc, op.getPrefix());
  auto print = [&](Value elements, int64_t count, int kind, unsigned bytes) {
    callRuntime(l.builder, loc, "nrd_print",
                {l.program(), prefix, elements, l.constant(count, 64), l.constant(kind, 32),
                 l.constant(bytes, 32), l.constant(op.getHex(), 32), l.site()});
  };
  if (op.getArgs().empty())
    print(LLVM::ZeroOp::create(l.builder, loc, l.pointerType), 0, PrintSigned, 4);
  for (auto [i, argument] : llvm::enumerate(op.getArgs())) {
    Value value = argument;
    bool isSigned = i < op.getIsSigned().size() && op.getIsSigned()[i] != 0;
    int kind = isSigned ? PrintSigned : PrintUnsigned;
    if (isa<tt::PointerType>(value.getType())) {
      kind = PrintPointer;
      value = l.toLLVM(value);
    } else if (auto type = dyn_cast<FloatType>(value.getType())) {
      kind = PrintFloat;
      if (type.getWidth() < 32)
        value = arith::ExtFOp::create(l.builder, loc, l.builder.getF32Type(), value);
    } else {
      value = l.toMemory(value);
    }
    Value slot = getStackSlot(l.builder, loc, value.getType());
    LLVM::StoreOp::create(l.builder, loc, value, slot);
    print(slot, 1, kind, getElementBytes(value.getType()));
  }
  l.replace({});
  return success();
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

static Value lowerClamp(Lowering &l, tt::ClampFOp op) {
  Location loc = op.getLoc();
  if (op.getPropagateNan() == tt::PropagateNan::ALL) {
    Value low = arith::MaximumFOp::create(l.builder, loc, op.getX(), op.getMin());
    return arith::MinimumFOp::create(l.builder, loc, low, op.getMax());
  }
  Value low = arith::MaxNumFOp::create(l.builder, loc, op.getX(), op.getMin());
  return arith::MinNumFOp::create(l.builder, loc, low, op.getMax());
}

std::optional<LogicalResult> nereid::cpu::lowerScalarOp(Lowering &l, Operation *op) {
  Location loc = op->getLoc();
  auto replace = [&](Value value) {
    l.replace(value);
    return success();
  };
  auto programField = [&](int32_t offset, tt::ProgramIDDim axis) {
    return replace(loadProgramField(l.builder, loc, l.program(), offset + 4 * int32_t(axis),
                                    l.builder.getI32Type()));
  };
  return llvm::TypeSwitch<Operation *, std::optional<LogicalResult>>(op)
      .Case<distributed::AccessOp, tt::AddPtrOp, tt::BitcastOp, tt::FpToFpOp, tt::LoadOp,
            tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp, tt::AtomicPollOp, tt::AssertOp,
            tt::PrintOp, tt::ExternElementwiseOp>([&](auto typed) { return lower(l, typed); })
      .Case([&](tt::GetProgramIdOp id) { return programField(program_offset::pid, id.getAxis()); })
      .Case([&](tt::GetNumProgramsOp size) {
        return programField(program_offset::grid, size.getAxis());
      })
      .Case(
          [&](tt::IntToPtrOp cast) { return replace(l.fromBits64(cast.getSrc(), cast.getType())); })
      .Case([&](tt::PtrToIntOp cast) { return replace(l.toBits64(cast.getSrc())); })
      .Case([&](tt::ClampFOp clamp) { return replace(lowerClamp(l, clamp)); })
      .Case([&](tt::PreciseSqrtOp root) {
        return replace(math::SqrtOp::create(l.builder, loc, root.getX()));
      })
      .Case([&](tt::PreciseDivFOp div) {
        return replace(arith::DivFOp::create(l.builder, loc, div.getX(), div.getY()));
      })
      .Case([&](tt::MulhiUIOp product) {
        auto wide = arith::MulUIExtendedOp::create(l.builder, loc, product.getX(), product.getY());
        return replace(wide.getHigh());
      })
      .Case([&](tt::BarrierOp) {
        // A program is one thread here: its accesses are ordered already.
        l.replace({});
        return success();
      })
      .Default([](Operation *) { return std::nullopt; });
}
