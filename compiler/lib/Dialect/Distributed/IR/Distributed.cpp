// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Dialect/Distributed/IR/Distributed.h"

#include "nereid/Dialect/Distributed/LibraryFunctions.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#include "nereid/Dialect/Distributed/IR/DistributedDialect.cpp.inc"
#include "nereid/Dialect/Distributed/IR/DistributedEnums.cpp.inc"

#define GET_OP_CLASSES
#include "nereid/Dialect/Distributed/IR/DistributedOps.cpp.inc"

namespace nereid::distributed {

void DistributedDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "nereid/Dialect/Distributed/IR/DistributedOps.cpp.inc"
      >();
}

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void addReadWrite(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

//===----------------------------------------------------------------------===//
// SymmAtOp
//===----------------------------------------------------------------------===//

LogicalResult SymmAtOp::verify() {
  Type type = getPtr().getType();
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return emitOpError("takes a scalar pointer, got a block of pointers ")
           << type << "; take the peer's base pointer first, then add the offsets";
  auto pointer = dyn_cast<tt::PointerType>(type);
  if (!pointer)
    return emitOpError("takes a scalar pointer, got ") << type;
  if (isa<RankedTensorType>(pointer.getPointeeType()))
    return emitOpError("takes a scalar pointer, got a block pointer ")
           << type << "; take the peer's base pointer first, then make the block pointer from it";
  return success();
}

OpFoldResult SymmAtOp::fold(FoldAdaptor) {
  // The own rank's heap is where the pointer already points.
  if (getRank().getDefiningOp<GetRankOp>())
    return getPtr();
  return {};
}

//===----------------------------------------------------------------------===//
// WaitOp
//===----------------------------------------------------------------------===//

void WaitOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  if (getBarrier())
    effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult WaitOp::verify() {
  if (isa<RankedTensorType>(tt::getPointeeType(getElementTypeOrSelf(getSlots().getType()))))
    return emitOpError("waits on signals, got a block pointer ") << getSlots().getType();
  Type pointee = getElementTypeOrSelf(tt::getPointeeType(getSlots().getType()));
  auto signal = dyn_cast<IntegerType>(pointee);
  if (!signal || signal.getWidth() < 8)
    return emitOpError("waits on integer signals of 8 to 64 bits, got a pointer to ") << pointee;
  if (getValue().getType() != pointee)
    return emitOpError("awaited value has type ")
           << getValue().getType() << ", the signal has type " << pointee;
  return success();
}

//===----------------------------------------------------------------------===//
// NotifyOp
//===----------------------------------------------------------------------===//

void NotifyOp::getEffects(Effects &effects) { addReadWrite(effects); }

LogicalResult NotifyOp::verify() {
  Type pointee = tt::getPointeeType(getSignal().getType());
  auto signal = dyn_cast<IntegerType>(pointee);
  if (!signal || signal.getWidth() < 8)
    return emitOpError("updates integer signals of 8 to 64 bits, got a pointer to ") << pointee;
  if (getValue().getType() != pointee)
    return emitOpError("value has type ")
           << getValue().getType() << ", the signal has type " << pointee;
  return success();
}

//===----------------------------------------------------------------------===//
// AccessOp
//===----------------------------------------------------------------------===//

LogicalResult AccessOp::verify() {
  if (getIsVolatile() && getKind() != AccessKind::READ)
    return emitOpError("is volatile, which only reads can be");
  if (!getMask())
    return success();
  auto ptrs = dyn_cast<RankedTensorType>(getPtrs().getType()),
       mask = dyn_cast<RankedTensorType>(getMask().getType());
  if (bool(ptrs) != bool(mask) || (ptrs && ptrs.getShape() != mask.getShape()))
    return emitOpError("has a mask of another shape: ")
           << getMask().getType() << " for " << getPtrs().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// ExternCallOp
//===----------------------------------------------------------------------===//

/// What the columns of the row say. A call that is not pure stays, even of a function
/// that touches no memory: it may fail.
void ExternCallOp::getEffects(Effects &effects) {
  if (getPure())
    return;
  const LibraryFunction *function = findLibraryFunction(getLibname(), getSymbol());
  if (!function)
    return addReadWrite(effects);
  // One that neither waits nor orders does what its operands say; one without
  // pointers may do anything.
  bool orders = function->ordering == LibraryOrdering::Fences ||
                function->ordering == LibraryOrdering::Completes;
  bool reads = function->blocks() || orders, writes = reads;
  for (LibraryOperand role : function->operands()) {
    LibraryAccess access = accessOf(role);
    reads |= access == LibraryAccess::Reads || access == LibraryAccess::Updates;
    writes |= access == LibraryAccess::Writes || access == LibraryAccess::Updates;
    // Others change it: two reads are not the same.
    writes |= access == LibraryAccess::Reads && isSymmetric(role);
  }
  if (!reads && !writes)
    return addReadWrite(effects);
  if (reads)
    effects.emplace_back(MemoryEffects::Read::get());
  if (writes)
    effects.emplace_back(MemoryEffects::Write::get());
}

Speculation::Speculatability ExternCallOp::getSpeculatability() {
  return getPure() ? Speculation::Speculatable : Speculation::NotSpeculatable;
}

} // namespace nereid::distributed
