// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tiles get a buffer and which are recomputed where they are used.
//
// The tile operations of a function fall into three kinds:
//
//   inline   element-wise arithmetic, shape operations, ordinary loads: their
//            elements are computed inside the loops of whoever uses them;
//   roots    stores, reductions, dots, atomics, loop boundaries, ...: each
//            becomes a loop nest of its own at its place in the program;
//   stored   inline operations that are worth (or need) a buffer: a root of
//            their own that fills it.
//
// A load may be computed at its root only when nothing between the two can
// write, wait or otherwise order memory. That, the number of uses and where its
// elements lie decide.
#ifndef NEREID_LIB_CONVERSION_TILESTOLOOPS_PLAN_H
#define NEREID_LIB_CONVERSION_TILESTOLOOPS_PLAN_H

#include "nereid/Analysis/TileStrides.h"
#include "nereid/Dialect/Triton/IR/Triton.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace nereid::tiles {

inline mlir::RankedTensorType getTile(mlir::Value value) {
  return llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
}
bool hasTiles(mlir::Operation *op);

/// Computed element by element inside its user's loop.
bool isInline(mlir::Operation *op);

/// Where a dimension of an operand comes from, seen from a root's loops: the
/// root's dimension, or one of the two below.
enum : int { FixedDim = -1, ComplexDim = -2 };

/// What a root's loops read: a buffer or, when `load` is set, memory.
struct TreeAccess {
  mlir::Value value;
  tt::LoadOp load;
  llvm::ArrayRef<int> dims; ///< for each dimension of `value`, the root's
};

class TilePlan {
public:
  explicit TilePlan(mlir::FunctionOpInterface function);

  /// Has a buffer: filled at its definition, or before by whoever owns it.
  bool isStored(mlir::Value value) const { return stored.contains(value) || isAlwaysStored(value); }

  /// The root whose loops fill the buffer of `value` on the way, or null.
  mlir::Operation *getDeferral(mlir::Value value) const { return deferred.lookup(value); }
  llvm::ArrayRef<mlir::Value> getDeferredTo(mlir::Operation *root) const {
    auto it = deferredTo.find(root);
    return it == deferredTo.end() ? llvm::ArrayRef<mlir::Value>()
                                  : llvm::ArrayRef<mlir::Value>(it->second);
  }

  /// Loads of a store's tile that read memory inside the store's own loops.
  llvm::SmallVector<tt::LoadOp> getFusedLoads(tt::StoreOp store);

  /// Whether the dot may accumulate in the buffer of its loop's `value`
  /// (a block argument).
  mlir::BlockArgument getInPlaceAccumulator(tt::DotOp dot) const { return inPlace.lookup(dot); }

  /// Calls `visit` for everything the tree of `value` reads. `dims` maps the
  /// dimensions of `value`; `throughSelf` enters `value` even if it is stored.
  void visitTree(mlir::Value value, llvm::ArrayRef<int> dims, bool throughSelf,
                 llvm::function_ref<void(const TreeAccess &)> visit) const;
  /// The same with the dimensions of `value` itself.
  void visitTree(mlir::Value value, bool throughSelf,
                 llvm::function_ref<void(const TreeAccess &)> visit) const;

  /// Roots that read `value`, directly or through inline operations.
  llvm::ArrayRef<mlir::Operation *> getRoots(mlir::Value value) const;

  /// May not be passed by a load: writes, waits, calls, ...
  static bool ordersMemory(mlir::Operation *op);

  TileStrides &getStrides() { return strides; }
  /// Those where no remainder begins anew: TileEmitter::emitHasNoWrap asks.
  TileStrides &getUnwrappedStrides() { return unwrappedStrides; }

private:
  bool isAlwaysStored(mlir::Value value) const;
  void collectUses(mlir::Operation *op);
  void decide(mlir::Operation *op, mlir::Value value);
  bool canSink(mlir::Operation *load, mlir::Operation *root) const;
  bool isQuickToRead(tt::LoadOp load);
  bool mayReadAgain(tt::LoadOp load, llvm::ArrayRef<mlir::Operation *> users);
  bool storeAllows(tt::StoreOp store, tt::LoadOp load);
  void findInPlaceAccumulators(mlir::FunctionOpInterface function);
  void deferStores(mlir::FunctionOpInterface function);
  bool tryDefer(mlir::Value value);
  unsigned getCost(mlir::Value value);
  bool hasRange(mlir::Value pointers);

  TileStrides strides, unwrappedStrides{/*unwrapped=*/true};
  llvm::DenseMap<mlir::Operation *, unsigned> order;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Operation *, 2>> roots;
  llvm::DenseMap<mlir::Value, unsigned> costs;
  llvm::DenseSet<mlir::Value> stored;
  llvm::DenseMap<mlir::Value, mlir::Operation *> deferred;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> deferredTo;
  llvm::DenseMap<mlir::Operation *, mlir::BlockArgument> inPlace;
};

} // namespace nereid::tiles

#endif // NEREID_LIB_CONVERSION_TILESTOLOOPS_PLAN_H
