// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop nest of one root, and the elements computed inside it.
//
//     level 0     depends on no loop         <- hoisted in front of the nest
//     for i
//       level 1   depends on i               <- hoisted in front of the j loops
//       for j step 16          "fast": masks known to be true
//         level 2
//       for j step 16          the rest: masks evaluated
//         level 2
//       one piece per power of two for what is left of an odd size
//
// A structured mask (`start + j < limit`) costs nothing in the fast loop: its
// limit, computed at level 1, only shortens the loop.
#ifndef NEREID_LIB_CONVERSION_TILESTOLOOPS_TILEEMITTER_H
#define NEREID_LIB_CONVERSION_TILESTOLOOPS_TILEEMITTER_H

#include "Lowering.h"

#include <map>

namespace nereid::tiles {

/// Where an element lies along one dimension.
struct Index {
  enum Kind : uint8_t {
    Scalar, ///< at `value` (i64)
    Linear, ///< lane l at value + l
    Vector, ///< lane l at value[l] (vector of i64)
  };
  Kind kind = Scalar;
  mlir::Value value;
};
using Indices = llvm::SmallVector<Index, 4>;

/// Which lanes of an access take part.
struct Predicate {
  mlir::Value guard; ///< i1: whether any does; null: always
  mlir::Value lanes; ///< vector of i1; null: all do when the guard holds
};

class TileEmitter {
public:
  /// `unwrapped`: emitHasNoWrap holds for all addresses.
  TileEmitter(FunctionLowering &lowering, mlir::OpBuilder &builder, mlir::Location loc,
              mlir::Operation *anchor, bool unwrapped = false);

  //===--- Loops ---------------------------------------------------------===//

  using Body = llvm::function_ref<void(llvm::ArrayRef<Index>)>;

  /// Runs `body` once for each vector (or scalar) of `shape`, innermost along
  /// `vectorDim`, with at most `maxLanes` lanes.
  void nest(llvm::ArrayRef<int64_t> shape, unsigned vectorDim, unsigned maxLanes, Body body);

  /// Loop from 0 to n; returns the counter (i64). n == 1 makes no loop.
  mlir::Value openLoop(int64_t n);
  /// Loop with values carried round it; they are `getCarried()` inside.
  mlir::Value openLoop(int64_t from, int64_t n, int64_t step, mlir::ValueRange init);
  mlir::ValueRange getCarried() const;
  /// Ends the innermost loop; returns the final carried values.
  llvm::SmallVector<mlir::Value> closeLoop(mlir::ValueRange yields = {});

  /// The vector loops along one dimension of size n: fast, rest, pieces.
  void vectorLoops(int64_t n, unsigned maxLanes, llvm::function_ref<void(Index)> body);

  /// Vector loops with values carried round them: `groups` independent sets of
  /// `init.size() / groups` values. Covers the whole vectors of the n elements
  /// that begin at `base`, from the `start`-th on, and returns the final values.
  /// `body` gets an index and the values of one group.
  llvm::SmallVector<mlir::Value>
  reductionLoops(mlir::Value base, int64_t start, int64_t n, unsigned width, unsigned groups,
                 mlir::ValueRange init,
                 llvm::function_ref<llvm::SmallVector<mlir::Value>(Index, mlir::ValueRange)> body);

  /// i1: the mask holds for all elements, as the corners of its comparisons tell;
  /// null: it always does; nullopt: that cannot be told so.
  std::optional<mlir::Value> emitHoldsEverywhere(mlir::Value mask);
  /// Positions along `dim` (i64) beyond which the mask holds nowhere, as comparisons
  /// that depend on `dim` alone tell; null: none does.
  mlir::Value emitExtent(mlir::Value mask, unsigned dim);
  /// i1: no remainder in the addresses begins anew within the tile, so that their
  /// strides are the unwrapped ones; null: there is none that could; nullopt: that
  /// cannot be told.
  std::optional<mlir::Value> emitHasNoWrap(mlir::Value pointers);
  /// The masks of these loads hold for all elements.
  void assumeMaskHolds(tt::LoadOp load) { unmasked.insert(load); }
  /// Vector loops evaluate all masks: no loop of its own for those that hold.
  void evaluateMasks() { alwaysMasked = true; }
  /// Vector loops of at most `n` rounds are written out.
  void unrollUpTo(int64_t n) { unrollLimit = n; }

  /// All masks are evaluated (for loops that the caller opened himself).
  void setLanes(unsigned n) { lanes = n; }
  unsigned getLanes() const { return lanes; }

  //===--- Elements ------------------------------------------------------===//

  /// Elements of `value` at `indices`: a vector of `lanes` elements, or a scalar
  /// when they are all equal or no index is a vector. A scalar `value` is
  /// itself.
  mlir::Value emit(mlir::Value value, llvm::ArrayRef<Index> indices);
  mlir::Value emitVector(mlir::Value value, llvm::ArrayRef<Index> indices);
  llvm::SmallVector<mlir::Value> emitTogether(mlir::ValueRange operands,
                                              llvm::ArrayRef<Index> indices);

  /// Element of a gather's source that the indices at `indices` name.
  mlir::Value emitGathered(tt::GatherOp gather, llvm::ArrayRef<Index> indices);

  /// Always computed, even if it has a buffer.
  void computeDirectly(mlir::Value value) { direct.insert(value); }
  /// Computed, and written to the buffer on the way.
  void fillOnTheWay(mlir::Value value, Buffer *buffer) { filled[value] = buffer; }

  void storeToBuffer(Buffer *buffer, mlir::Value element, llvm::ArrayRef<Index> indices);
  /// Writes elements at `base` + `offset` (in elements of the storage type).
  void storeAt(mlir::Value base, mlir::Type element, mlir::Value offset, mlir::Value value);
  mlir::Value loadFromBuffer(Buffer *buffer, llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<Index> indices);

  /// Stores `value` through the tile of pointers under `mask` (may be null).
  void emitMemoryStore(tt::StoreOp store, mlir::Value value, llvm::ArrayRef<Index> indices);

  /// i1 scalar: whether the mask holds at scalar indices; null: yes.
  mlir::Value emitScalarMask(mlir::Value mask, llvm::ArrayRef<Index> indices);

  /// [low, high) in bytes that a tile of pointers with known strides covers.
  std::pair<mlir::Value, mlir::Value> emitRange(mlir::Value pointers);
  /// i1: no two elements of the tile of pointers overlap; null: known to hold.
  mlir::Value emitIsInjective(mlir::Value pointers);

  /// Floating-point cast between any two element types of tl.
  mlir::Value emitFloatCast(mlir::Value value, mlir::Type from, mlir::Type to, bool towardsZero);
  mlir::Value emitExternCall(tt::ExternElementwiseOp call, llvm::ArrayRef<mlir::Value> operands,
                             mlir::Type element);

  //===--- Helpers -------------------------------------------------------===//

  mlir::Value constant(int64_t value);           ///< i64, at level 0
  mlir::Value add(mlir::Value a, mlir::Value b); ///< i64, where both are known
  mlir::Value mul(mlir::Value a, int64_t b);
  mlir::Value lane(int64_t offset, mlir::Value index) { return add(index, constant(offset)); }
  /// The sum of values of which one has an unknown depth, computed here.
  mlir::Value addHere(mlir::Value a, mlir::Value b);
  /// Splits the coordinate of a dimension of size `size` off a row-major offset.
  Index takeInnermost(mlir::Value &rest, int64_t size) { return delinearise(rest, false, size); }
  mlir::Value toVector(mlir::Value scalar);
  mlir::Value toStorage(mlir::Value element, mlir::Type type);
  mlir::Value fromStorage(mlir::Value element, mlir::Type type);
  /// Row-major offset of scalar indices.
  mlir::Value flatten(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Index> indices);

  mlir::OpBuilder &builder;
  mlir::Location loc;

private:
  struct Level {
    mlir::Operation *hoistBefore = nullptr;
    std::map<std::vector<uintptr_t>, mlir::Value> memo;
  };
  /// Sets the insertion point for values of a level, and restores it.
  class AtDepth {
  public:
    AtDepth(TileEmitter &emitter, unsigned depth);

  private:
    mlir::OpBuilder::InsertionGuard guard;
  };

  void vectorLoop(int64_t main, llvm::function_ref<void(Index)> body);
  unsigned depthOf(mlir::Value value) const { return depths.lookup(value); }
  unsigned depthOf(llvm::ArrayRef<Index> indices) const;
  void recordDepth(mlir::Value value, unsigned depth);
  std::optional<unsigned> linearDim(llvm::ArrayRef<Index> indices) const;
  bool isVector(llvm::ArrayRef<Index> indices) const;

  mlir::Value emitOp(mlir::Value value, llvm::ArrayRef<Index> indices);
  mlir::Value emitConstant(mlir::arith::ConstantOp constant);
  mlir::Value emitRangeElements(tt::MakeRangeOp range, Index index);
  mlir::Value emitElementwise(mlir::Operation *op, llvm::ArrayRef<Index> indices);
  mlir::Value emitReshape(tt::ReshapeOp reshape, llvm::ArrayRef<Index> indices);
  mlir::Value emitAddPtr(tt::AddPtrOp op, llvm::ArrayRef<Index> indices);
  mlir::Value emitCast(mlir::Operation *op, llvm::ArrayRef<Index> indices);
  mlir::Value emitExtern(tt::ExternElementwiseOp call, llvm::ArrayRef<Index> indices);
  mlir::Value indexVector(Index index); ///< i64 lanes
  Index delinearise(mlir::Value &rest, bool isVector, int64_t size);

  // Memory.
  struct Mask {
    mlir::Value bound;   ///< lanes below it (i64, from the dimension's start) take part; null: all
    mlir::Value generic; ///< i1, scalar or vector; null: all
  };
  mlir::Value maskOf(tt::LoadOp load) const {
    return unmasked.contains(load) ? mlir::Value() : load.getMask();
  }
  std::optional<mlir::Value> emitCorner(mlir::arith::CmpIOp compare);
  Mask analyseMask(mlir::Value mask, llvm::ArrayRef<Index> indices);
  bool boundOf(mlir::arith::CmpIOp compare, llvm::ArrayRef<Index> indices, mlir::Value &bound);
  bool isLowerLimit(mlir::arith::CmpIOp compare, unsigned dim);
  Predicate predicate(const Mask &mask, Index linear);
  bool isTrueInFastLoop(mlir::Value condition, llvm::ArrayRef<Index> indices);
  mlir::Value emitLoad(tt::LoadOp load, llvm::ArrayRef<Index> indices);
  mlir::Value loadStrided(mlir::Type storage, mlir::Value pointer, int64_t stride);
  mlir::Value loadUnrelated(tt::LoadOp load, llvm::ArrayRef<Index> indices, unsigned dim,
                            const Predicate &predicate, mlir::Value other);
  mlir::Value emitScalarLoad(tt::LoadOp load, llvm::ArrayRef<Index> indices);
  mlir::Value guarded(mlir::Value guard, mlir::Value otherwise,
                      llvm::function_ref<mlir::Value()> then);
  mlir::Value loadContiguous(mlir::Type storage, mlir::Value pointer, const Predicate &predicate,
                             mlir::Value other, bool isVolatile);
  /// `addresses`: vector of i64, or of pointers.
  mlir::Value loadGather(mlir::Type storage, mlir::Value addresses, const Predicate &predicate,
                         mlir::Value other);
  void storeContiguous(mlir::Value value, mlir::Value pointer, const Predicate &predicate);
  void storeScatter(mlir::Value value, mlir::Value addresses, const Predicate &predicate);
  mlir::Value rowPointer(mlir::Value pointers, llvm::ArrayRef<Index> indices, unsigned dim,
                         int64_t at);
  mlir::Value advance(mlir::Value pointer, mlir::Type storage, mlir::Value offset);
  mlir::Value addressVector(mlir::Value first, mlir::Value strideBytes);
  mlir::Value byteStride(mlir::Value pointers, llvm::ArrayRef<Index> indices, unsigned dim);
  mlir::Value areConsecutive(mlir::Value numbers, int64_t apart);

  FunctionLowering &lowering;
  TileStrides &strides;
  mlir::Operation *anchor;
  llvm::SmallVector<Level> levels;
  llvm::SmallVector<mlir::scf::ForOp> loops;
  llvm::DenseMap<mlir::Value, unsigned> depths;
  std::map<int64_t, mlir::Value> constants;
  llvm::DenseSet<mlir::Value> direct;
  llvm::DenseMap<mlir::Value, Buffer *> filled;
  llvm::DenseSet<mlir::Operation *> unmasked;
  int64_t unrollLimit = 0;
  bool alwaysMasked = false;
  Indices current; ///< of the nest's body

  unsigned lanes = 1;
  bool fast = false;
  unsigned fastLevel = 0;                ///< the level that holds the fast loop
  llvm::SmallVector<mlir::Value> bounds; ///< of the masks taken for true in the fast loop
  mlir::Value storeBound;                ///< beyond it nothing is stored
};

/// Lanes that suit a tree of elements: as many as fill a register with the
/// widest element type computed with.
unsigned chooseLanes(FunctionLowering &lowering, mlir::Type element);

/// The dimension of `type` to vectorise: where memory is contiguous.
unsigned chooseVectorDim(FunctionLowering &lowering, mlir::RankedTensorType type,
                         mlir::ValueRange trees, bool throughSelf, mlir::Value storedThrough = {});

} // namespace nereid::tiles

#endif // NEREID_LIB_CONVERSION_TILESTOLOOPS_TILEEMITTER_H
