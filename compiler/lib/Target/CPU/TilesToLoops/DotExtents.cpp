// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much of a dot is needed where masks cut its tiles.
//
//        k                      n
//    +-------+--+          +-------+--+      Rows and columns of C that every store
//    |       |  |          |       |  |      masks off are not computed: nobody can
//  m |   A   |0 |        m |   C   |..|      tell. Steps of k in which the masks of A
//    |       |  |          +-------+--+      and of B leave nothing but zeros add
//    +-------+--+          |.......|..|      0 * 0 and are left out.
//
#include "TileEmitter.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace nereid::tiles {

/// Whether elements of `value` can be computed at `op`: all scalars that they are
/// made of are known there.
static bool isKnownAt(Operation *op, Value value, llvm::DenseSet<Value> &seen) {
  if (!seen.insert(value).second)
    return true;
  Operation *definition = value.getDefiningOp();
  if (definition && getTile(value)) {
    if (!isInline(definition) || isa<tt::LoadOp>(definition))
      return false;
    return llvm::all_of(definition->getOperands(),
                        [&](Value operand) { return isKnownAt(op, operand, seen); });
  }
  Operation *ancestor = value.getParentBlock()->findAncestorOpInBlock(*op);
  return ancestor && (!definition || definition->isBeforeInBlock(ancestor));
}

static bool isZero(Value other) {
  return !other || matchPattern(other, m_Zero()) || matchPattern(other, m_PosZeroFloat());
}

/// Positions along `dim` (i64) beyond which the mask holds nowhere, at most `size`;
/// null: that is not known at `dot`, or is no fewer.
static Value emitExtent(TileEmitter &emitter, tt::DotOp dot, Value mask, unsigned dim,
                        int64_t size) {
  llvm::DenseSet<Value> seen;
  if (!mask || !isKnownAt(dot, mask, seen))
    return {};
  Value extent = emitter.emitExtent(mask, dim);
  if (!extent)
    return {};
  OpBuilder &builder = emitter.builder;
  extent = arith::MinSIOp::create(builder, emitter.loc, extent, emitter.constant(size));
  return arith::MaxSIOp::create(builder, emitter.loc, extent, emitter.constant(0));
}

/// The stores that see `value`, element for element; nullopt: something else does.
static std::optional<SmallVector<tt::StoreOp>> storesOf(const TilePlan &plan, Value value) {
  SmallVector<tt::StoreOp> stores;
  for (Operation *root : plan.getRoots(value)) {
    auto store = dyn_cast<tt::StoreOp>(root);
    if (!store)
      return std::nullopt;
    bool isPlain = true;
    for (Value operand : store->getOperands())
      plan.visitTree(operand, /*throughSelf=*/false, [&](const TreeAccess &access) {
        if (access.value != value)
          return;
        isPlain &= operand == store.getValue();
        for (auto [d, from] : llvm::enumerate(access.dims))
          isPlain &= from == int(d);
      });
    if (!isPlain)
      return std::nullopt;
    stores.push_back(store);
  }
  return stores;
}

void FunctionLowering::findExtents(OpBuilder &builder, tt::DotOp dot, scf::ForOp loop,
                                   const cpu::DotLayout &layout, cpu::DotOperands &operands) {
  if (getTile(dot.getResult()).getRank() != 2)
    return;
  TileEmitter emitter(*this, builder, dot.getLoc(), dot);

  // k
  auto a = dot.getA().getDefiningOp<tt::LoadOp>(), b = dot.getB().getDefiningOp<tt::LoadOp>();
  if (a && b && isZero(a.getOther()) && isZero(b.getOther())) {
    Value ofA = emitExtent(emitter, dot, a.getMask(), 1, layout.k),
          ofB = ofA ? emitExtent(emitter, dot, b.getMask(), 0, layout.k) : Value();
    if (ofB)
      operands.k = builder.createOrFold<arith::MaxSIOp>(dot.getLoc(), ofA, ofB);
  }

  // Of C, where it goes from this loop to stores.
  if (!loop)
    return;
  auto sum = cast<BlockArgument>(dot.getC());
  Value result = loop.getTiedLoopResult(sum);
  auto stores = storesOf(plan, result);
  if (!stores || stores->empty())
    return;
  for (auto [dim, size, extent] :
       {std::tuple(0u, layout.m, &operands.m), std::tuple(1u, layout.n, &operands.n)}) {
    Value largest;
    for (tt::StoreOp store : *stores) {
      Value mine = emitExtent(emitter, dot, store.getMask(), dim, size);
      if (!mine) {
        largest = {};
        break;
      }
      largest = largest ? builder.createOrFold<arith::MaxSIOp>(dot.getLoc(), largest, mine) : mine;
    }
    *extent = largest;
  }
}

} // namespace nereid::tiles
