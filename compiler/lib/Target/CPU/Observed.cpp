// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Observed.h"

#include "Target/CPU/RuntimeABI.h"
#include "nereid/Support/AttributeNames.h"
#include "nereid/abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cstddef>

using namespace mlir;
using namespace nereid;

const unsigned cpu::kTileDims = NRD_TILE_DIMS;

static_assert(attr::waitSlots == NRD_WAIT_SLOTS);
static_assert(int(tt::MemSemantic::RELAXED) == NRD_SEM_RELAXED &&
              int(tt::MemSemantic::ACQUIRE) == NRD_SEM_ACQUIRE &&
              int(tt::MemSemantic::RELEASE) == NRD_SEM_RELEASE &&
              int(tt::MemSemantic::ACQUIRE_RELEASE) == NRD_SEM_ACQ_REL);
static_assert(int(tt::MemSyncScope::GPU) == NRD_SCOPE_GPU &&
              int(tt::MemSyncScope::CTA) == NRD_SCOPE_CTA &&
              int(tt::MemSyncScope::SYSTEM) == NRD_SCOPE_SYS);

static Value constant(OpBuilder &builder, Location loc, int64_t value, unsigned bits) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getIntegerAttr(builder.getIntegerType(bits), value));
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

namespace {
/// Fills an nrd_tile on the stack.
class TileWriter {
public:
  TileWriter(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc),
        slot(cpu::getStackSlot(builder, loc, builder.getI64Type(), sizeof(nrd_tile) / 8)) {
    static_assert(sizeof(nrd_tile) % 8 == 0);
  }

  void pointer(size_t offset, Value value) {
    store(offset, value ? value
                        : Value(LLVM::ZeroOp::create(
                              builder, loc, LLVM::LLVMPointerType::get(builder.getContext()))));
  }
  void number(size_t offset, Value value) { store(offset, value); }
  void number(size_t offset, int64_t value) { store(offset, constant(builder, loc, value, 64)); }

  OpBuilder &builder;
  const Location loc;
  const Value slot;

private:
  void store(size_t offset, Value value) {
    Value place = LLVM::GEPOp::create(builder, loc, slot.getType(), builder.getI8Type(), slot,
                                      ArrayRef<LLVM::GEPArg>{int32_t(offset)});
    LLVM::StoreOp::create(builder, loc, value, place, /*alignment=*/8);
  }
};
} // namespace

int32_t cpu::accessKindOf(distributed::AccessOp access) {
  uint32_t how = uint32_t(access.getKind());
  if (access.getIsVolatile())
    how |= NRD_ACCESS_VOLATILE;
  if (auto tokens = access->getAttrOfType<IntegerAttr>(attr::tokens))
    how |= (~uint32_t(tokens.getInt()) & 0xff) << 16;
  return int32_t(how);
}

void cpu::emitAccess(OpBuilder &builder, Location loc, Value program, Value site,
                     const ObservedTile &tile, int32_t how, unsigned elementBytes) {
  assert(tile.shape.size() <= kTileDims && "the tile has more dimensions than nrd_tile");
  TileWriter writer(builder, loc);
  writer.pointer(offsetof(nrd_tile, base), tile.base);
  writer.pointer(offsetof(nrd_tile, addresses), tile.addresses);
  writer.pointer(offsetof(nrd_tile, mask), tile.mask);
  for (auto [d, size] : llvm::enumerate(tile.shape)) {
    writer.pointer(offsetof(nrd_tile, masks) + 8 * d, tile.masks[d]);
    if (tile.strides[d])
      writer.number(offsetof(nrd_tile, stride) + 8 * d, tile.strides[d]);
    writer.number(offsetof(nrd_tile, shape) + 8 * d, size);
  }
  writer.number(offsetof(nrd_tile, rank), int64_t(tile.shape.size()));
  callRuntime(
      builder, loc, "nrd_access",
      {program, writer.slot, constant(builder, loc, how | int32_t(elementBytes) << 8, 32), site});
}

//===----------------------------------------------------------------------===//
// Atomic operations
//===----------------------------------------------------------------------===//

int32_t cpu::observedOp(tt::RMWOp kind, Type type) {
  switch (kind) {
  case tt::RMWOp::AND:
    return NRD_AMO_AND;
  case tt::RMWOp::OR:
    return NRD_AMO_OR;
  case tt::RMWOp::XOR:
    return NRD_AMO_XOR;
  case tt::RMWOp::XCHG:
    return NRD_AMO_SWAP;
  case tt::RMWOp::ADD:
    return isa<FloatType>(type) ? NRD_AMO_CHANGE : NRD_AMO_ADD;
  default:
    return NRD_AMO_CHANGE;
  }
}

/// Bits of an integer, float or pointer, zero-extended.
static Value toBits64(OpBuilder &builder, Location loc, Value value) {
  Type i64 = builder.getI64Type();
  if (!value)
    return constant(builder, loc, 0, 64);
  if (isa<LLVM::LLVMPointerType>(value.getType()))
    return LLVM::PtrToIntOp::create(builder, loc, i64, value);
  unsigned width = value.getType().getIntOrFloatBitWidth();
  if (isa<FloatType>(value.getType()))
    value = arith::BitcastOp::create(builder, loc, builder.getIntegerType(width), value);
  return width == 64 ? value : Value(arith::ExtUIOp::create(builder, loc, i64, value));
}

static int64_t bytesOf(Type type) {
  return isa<LLVM::LLVMPointerType>(type)
             ? 8
             : int64_t(llvm::divideCeil(type.getIntOrFloatBitWidth(), 8));
}

static Value howOf(OpBuilder &builder, Location loc, const cpu::ObservedAtomic &atomic) {
  int64_t how = atomic.op | bytesOf(atomic.value.getType()) << 8 | int64_t(atomic.sem) << 16 |
                int64_t(atomic.scope) << 24;
  return constant(builder, loc, how, 32);
}

Value cpu::emitObserved(OpBuilder &builder, Location loc, const ObservedAtomic &atomic,
                        llvm::function_ref<Value()> operation) {
  if (!atomic.program)
    return operation();
  callRuntime(builder, loc, "nrd_atomic_begin",
              {atomic.program, atomic.pointer, toBits64(builder, loc, atomic.value),
               toBits64(builder, loc, atomic.compare), howOf(builder, loc, atomic), atomic.site});
  Value result = operation();
  callRuntime(builder, loc, "nrd_atomic_end", {atomic.program, atomic.site});
  return result;
}

void cpu::emitSeen(OpBuilder &builder, Location loc, const ObservedAtomic &atomic) {
  if (atomic.program)
    callRuntime(builder, loc, "nrd_atomic_seen",
                {atomic.program, atomic.pointer, toBits64(builder, loc, atomic.value),
                 howOf(builder, loc, atomic), atomic.site});
}
