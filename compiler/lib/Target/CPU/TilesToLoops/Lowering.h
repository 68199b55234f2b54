// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State of the lowering of one function: its plan, its buffers, its roots.
#ifndef NEREID_LIB_CONVERSION_TILESTOLOOPS_LOWERING_H
#define NEREID_LIB_CONVERSION_TILESTOLOOPS_LOWERING_H

#include "Plan.h"

#include "Target/CPU/Dot.h"
#include "Target/CPU/IR/CPU.h"
#include "Target/CPU/TargetFeatures.h"

#include "nereid/Dialect/Distributed/IR/Distributed.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

#include <memory>

namespace nereid::tiles {

class KeptOperands;

/// A tile in memory, dense and row-major: in the scratch area or, for constant
/// tables, a global.
struct Buffer {
  mlir::Value pointer; ///< !llvm.ptr, defined at the function's start
  mlir::Type element;  ///< the tile's element type
  llvm::SmallVector<int64_t> shape;
  int64_t bytes = 0;
  cpu::ScratchOp scratch; ///< null for a global
  bool atStart = false;   ///< lies before all others in the scratch area
  mlir::Block *owner =
      nullptr; ///< where the tile is defined: it lives at most once round this block
  llvm::SmallVector<mlir::Operation *> touches; ///< roots that read or write it
};

/// How an element lies in memory: i8 for i1 and fp8, i16 for bf16, i64 for
/// pointers.
mlir::Type getStorageType(mlir::Type element);
/// How an element is computed with: as stored, but i1 and bf16 stay themselves. Vectors of
/// pointers are vectors of i64, a single pointer is an !llvm.ptr.
mlir::Type getComputeType(mlir::Type element, bool isVector);
int64_t getStorageBytes(mlir::Type element);

class FunctionLowering {
public:
  /// `alone`: no other function shares its programs.
  FunctionLowering(mlir::FunctionOpInterface function, const cpu::TargetFeatures &target,
                   bool alone);
  ~FunctionLowering();

  /// Replaces all tile operations; errors are reported at their locations. The
  /// buffers lie from `scratchStart` on: functions that call each other must
  /// not share any.
  mlir::LogicalResult run(int64_t scratchStart);

  /// End of the buffers in the scratch area, after run().
  int64_t getScratchEnd() const { return scratchEnd; }

  TilePlan &getPlan() { return plan; }
  const cpu::TargetFeatures &getTarget() const { return target; }

  /// The buffer that holds `value` now, or null.
  Buffer *lookup(mlir::Value value) const { return storage.lookup(value); }
  void bind(mlir::Value value, Buffer *buffer) { storage[value] = buffer; }
  void unbind(mlir::Value value) { storage.erase(value); }

  Buffer *createBuffer(mlir::RankedTensorType type, mlir::Block *owner);
  /// Raw scratch: `count` elements of a storable type.
  Buffer *createBuffer(mlir::Type element, int64_t count, mlir::Block *owner);

  /// A scalar operand as an LLVM value: pointers become !llvm.ptr, fp8 i8.
  mlir::Value getScalar(mlir::OpBuilder &builder, mlir::Value value);

  /// Says once per operation, in a remark, what became of it and what would make that faster
  /// (may be empty). `nereid compile --explain-perf` shows them.
  void explain(mlir::Operation *op, const llvm::Twine &what, llvm::StringRef faster = {});

  /// Replaces a scalar result by the LLVM value that now computes it.
  static void replaceScalar(mlir::OpBuilder &builder, mlir::Value result, mlir::Value element);

  // Roots; each emits code before `anchor`.
  void storeTile(mlir::OpBuilder &builder, mlir::Operation *anchor, mlir::Value value,
                 Buffer *buffer, bool throughSelf);
  mlir::LogicalResult lowerStore(tt::StoreOp store);
  mlir::LogicalResult lowerReduce(tt::ReduceOp reduce);
  mlir::LogicalResult lowerScan(tt::ScanOp scan);
  mlir::LogicalResult lowerDot(tt::DotOp dot);
  void lowerAccess(distributed::AccessOp access);
  mlir::LogicalResult lowerAtomicRMW(tt::AtomicRMWOp atomic);
  mlir::LogicalResult lowerAtomicCAS(tt::AtomicCASOp atomic);
  mlir::LogicalResult lowerMapElementwise(tt::MapElementwiseOp map);
  mlir::LogicalResult lowerExternElementwise(tt::ExternElementwiseOp call);
  mlir::LogicalResult lowerPrint(tt::PrintOp print);
  mlir::LogicalResult lowerAssert(tt::AssertOp assertion);
  void lowerUnsplat(tt::UnsplatOp unsplat);
  void lowerJoin(tt::JoinOp join);
  void lowerCat(tt::CatOp cat);
  void lowerGather(tt::GatherOp gather);
  void lowerHistogram(tt::HistogramOp histogram);

private:
  mlir::LogicalResult checkSupported();
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  mlir::LogicalResult lowerFor(mlir::scf::ForOp loop);
  mlir::LogicalResult lowerWhile(mlir::scf::WhileOp loop);
  mlir::LogicalResult lowerIf(mlir::scf::IfOp branch);
  mlir::LogicalResult lowerBranch(mlir::BranchOpInterface branch);
  /// Copies values to buffers as if all at once.
  void assign(mlir::OpBuilder &builder, mlir::Operation *anchor,
              llvm::ArrayRef<std::pair<mlir::Value, Buffer *>> copies);
  void materialise(mlir::Operation *op, mlir::Value value);
  /// How an operand of a dot is packed.
  struct Packing {
    mlir::Operation *anchor; ///< before it
    mlir::Value operand;
    bool isB;
    bool byColumns;     ///< A with k outermost, as it lies in memory
    mlir::Type element; ///< of the packed form
    enum {
      Unknown, ///< the masks of its load are evaluated
      Cut,     ///< the same, and one of them is known not to hold somewhere
      Asked,   ///< `everywhere` (i1) tells whether they all hold
      Whole,   ///< they hold
    } masks;
    mlir::Value everywhere;
    bool unwrapped; ///< only where no remainder in the addresses begins anew, as it says, too
    int dense;      ///< the dimension along which elements lie side by side then; -1: not known
  };
  void packOperand(mlir::OpBuilder &builder, const cpu::DotLayout &layout, const Packing &packing,
                   mlir::Value to);
  /// Returns what became of it, in words.
  std::string placeOperand(mlir::OpBuilder &builder, tt::DotOp dot, bool isB,
                           const cpu::DotLayout &layout, int64_t batch, cpu::DotOperands &operands);
  /// A tile of rank 2 in the user's memory.
  struct Place {
    int dense = -1;    ///< the dimension along which elements lie side by side; -1: none does
    mlir::Value first; ///< !llvm.ptr of its first element
    mlir::Value elements, bytes; ///< i64, from one to the next along the other dimension
  };
  Place placeOf(mlir::OpBuilder &builder, tt::LoadOp load, bool unwrapped);
  mlir::Value keepThroughLoop(mlir::scf::ForOp loop, const cpu::DotLayout &layout,
                              Buffer *accumulator);
  /// Sets the extents in `operands`; `loop`: over k, or null.
  void findExtents(mlir::OpBuilder &builder, tt::DotOp dot, mlir::scf::ForOp loop,
                   const cpu::DotLayout &layout, cpu::DotOperands &operands);
  cpu::DotPrefetch guessNext(mlir::OpBuilder &builder, tt::LoadOp load, mlir::scf::ForOp loop,
                             const Place &place, bool isB);
  void emitStoreNest(mlir::OpBuilder &builder, tt::StoreOp store);
  void eraseTileOps();
  void layOutScratch(int64_t start);

  mlir::FunctionOpInterface function;
  cpu::TargetFeatures target;
  TilePlan plan;
  std::unique_ptr<KeptOperands> kept;
  bool isAlone;
  std::vector<std::unique_ptr<Buffer>> buffers;
  llvm::DenseMap<mlir::Value, Buffer *> storage;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseSet<mlir::Operation *> explained;
  llvm::SmallVector<mlir::Operation *> tileOps;
  int64_t scratchEnd = 0;

  /// Packed operands of dots: tile, element, leading dimension (negative for A).
  using PackKey = std::pair<mlir::Value, std::pair<mlir::Type, int64_t>>;
  struct Pack {
    Buffer *buffer;
    mlir::Operation *anchor;
    bool byColumns;
  };
  llvm::DenseMap<PackKey, Pack> packs;
};

} // namespace nereid::tiles

#endif // NEREID_LIB_CONVERSION_TILESTOLOOPS_LOWERING_H
