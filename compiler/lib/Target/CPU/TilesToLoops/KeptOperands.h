// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packed operands of dots that stay in scratch for the next program.
//
// Programs that follow each other on a thread often multiply with the same tiles:
// in grouped order eight of them share their columns of B. A packed tile is kept
// in a slot with what it was packed from, and a round of the loop over k looks at
// its slot before it packs:
//
//     round 0   round 1   ...                                    scratch
//     [ entry | entry | ... ]  address, row stride, generation, state
//     [ slot  | slot  | ... ]  the packed tile
//
// Whether that is right:
//   - The address of the first element, the distance of the rows and the static
//     shape say which elements a tile has: only tiles whose mask holds everywhere
//     and whose elements are dense along one dimension are kept.
//   - Nothing outlives the launch: the runtime clears the first words of the scratch
//     area before the first program of each, on every thread; that program then
//     clears the entries.
//   - A store of a program of this thread that may touch what is kept empties all
//     slots (`noteStore`): the generation in the entries no longer holds.
//   - What other threads, ranks or the host write meanwhile races with the loads
//     unless the program has acquired it: an operation that orders memory (a wait,
//     an atomic, a barrier, a call, a volatile load) empties all slots, too
//     (`noteOrder`), and a kernel with a loop that may poll keeps nothing.
//
// A tile that took the place of one that nobody asked for again is not kept at
// once, only when the same one comes a second time: in an order that reuses
// nothing, operands are packed or read in place as if there were no slots.
#ifndef NEREID_TARGET_CPU_TILESTOLOOPS_KEPTOPERANDS_H
#define NEREID_TARGET_CPU_TILESTOLOOPS_KEPTOPERANDS_H

#include "Lowering.h"

namespace nereid::tiles {

class KeptOperands {
public:
  /// Looks at what the function may keep. `alone`: no other function shares its
  /// program.
  KeptOperands(FunctionLowering &lowering, mlir::FunctionOpInterface function, bool alone);

  /// Whether the packed `operand` of `dot` may be kept; then in slots of its own.
  bool mayKeep(tt::DotOp dot, bool isB) const { return numbers.count({dot, unsigned(isB)}); }

  /// What a round finds in its slot.
  struct Found {
    mlir::Value slot; ///< !llvm.ptr
    mlir::Value use;  ///< i1: the operand is to be read in the slot,
    mlir::Value hit;  ///< i1: and it is already there
  };
  /// For a tile of `elements` elements, packed from `load`, whose rows begin at
  /// `first` and lie `bytes` apart. `everywhere` (i1 or null): its mask holds for
  /// all elements; `unwrapped`: and that no remainder in its addresses begins anew.
  Found find(mlir::OpBuilder &builder, tt::DotOp dot, bool isB, mlir::Type packed, int64_t elements,
             tt::LoadOp load, mlir::Value first, mlir::Value bytes, mlir::Value everywhere,
             bool unwrapped);

  /// Empties the slots if the store, which comes after the insertion point, may
  /// write something that they were packed from.
  void noteStore(mlir::OpBuilder &builder, tt::StoreOp store);
  /// Empties the slots if `op`, which comes before the insertion point, orders memory.
  void noteOrder(mlir::OpBuilder &builder, mlir::Operation *op);

private:
  int64_t numEntries() const;
  void emitReady(mlir::Block &entry);
  mlir::Value word(mlir::OpBuilder &builder, mlir::Location loc, int64_t number);
  void empty(mlir::OpBuilder &builder, mlir::Location loc);

  FunctionLowering &lowering;
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, int64_t> numbers;
  llvm::DenseSet<mlir::Operation *> orders; ///< operations that order memory
  Buffer *state = nullptr;                  ///< three words for all, then the entries
  int64_t maxBytes;                         ///< of the slots of one operand
};

} // namespace nereid::tiles

#endif // NEREID_TARGET_CPU_TILESTOLOOPS_KEPTOPERANDS_H
