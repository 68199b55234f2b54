// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Micro-kernels of tl.dot: C += A * B, with C in a scratch buffer.
//
//   A  m x k, row-major, lda = k. Loads of single elements, broadcast.
//   B  k x n in panels of `panelWidth` columns; a panel is k x panelWidth,
//      row-major. With n <= panelWidth that is plain row-major with a padded
//      leading dimension.
//   C  m x n, row-major, ldc = n, updated in place.
//
//        panel 0          panel 1           last panel
//      +------------+  +------------+  +-------+----+
//   k  |            |  |            |  |       | ## |   ##: padding, any bits
//      +------------+  +------------+  +-------+----+
//       panelWidth
//
// The tile load writes operands in this form directly, converting elements to
// `packedA` / `packedB` on the way. Nothing has to be padded with zeros: the
// padding of B only meets lanes that are never stored. An operand of the right
// element type may also be read where the user has it: `DotOperands` says how
// far apart its elements lie.
#ifndef NEREID_TARGET_CPU_DOT_H
#define NEREID_TARGET_CPU_DOT_H

#include "Target/CPU/TargetFeatures.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Types.h"
#include "mlir/IR/Value.h"

namespace nereid::cpu {

/// How the operands of one dot lie in memory, and the register tile.
struct DotLayout {
  int64_t m = 0, n = 0, k = 0;

  /// Element types in the buffers of A and B (f32 for fp8, fp16, bf16 and
  /// fp32, bf16 where the processor multiplies it; f64; i16 or i32 for integers,
  /// sign-extended), and of the accumulator: the
  /// type given to chooseDotLayout. Sums are formed in `compute`; an fp16 or
  /// bf16 accumulator is widened when a register tile is read and rounded when
  /// it is written.
  mlir::Type packedA, packedB, accumulator, compute;

  int64_t lda = 0;         ///< elements between rows of A
  int64_t panelWidth = 0;  ///< columns of a panel of B; a multiple of 16
  int64_t panelStride = 0; ///< elements between panels of B: k * panelWidth
  int64_t numPanels = 0;
  int64_t ldc = 0; ///< elements between rows of C

  /// Two steps of k at a time: products of 16-bit integers or of bf16, summed in
  /// pairs. Subnormal bf16 numbers then count as zero.
  bool pairs = false;

  TargetFeatures target;

  /// Sizes of the buffers in elements (of packedA, packedB, accumulator). Each
  /// buffer starts at a multiple of `alignment` bytes.
  int64_t aElements() const { return m * lda; }
  int64_t bElements() const { return numPanels * panelStride; }
  int64_t cElements() const { return m * ldc; }
  static constexpr int64_t alignment = 64;

  /// Element offset of A[row][column], B[row][column].
  int64_t aOffset(int64_t row, int64_t column) const { return row * lda + column; }
  int64_t bOffset(int64_t row, int64_t column) const {
    return column / panelWidth * panelStride + row * panelWidth + column % panelWidth;
  }
};

/// Layout of C[m x n] += A[m x k] * B[k x n] for the given element types. All
/// element types of tl.dot are accepted: fp8, fp16, bf16, fp32, fp64 with a
/// floating-point accumulator; i8, i16, i32 with i32 (i64 with i64).
DotLayout chooseDotLayout(int64_t m, int64_t n, int64_t k, mlir::Type aElement, mlir::Type bElement,
                          mlir::Type accumulator, const TargetFeatures &target);

/// Element offset (i64) of B[row][column] for values of type i64 or index. A
/// run of columns that starts at a multiple of 16 and is at most 16 long is
/// contiguous.
mlir::Value emitBOffset(mlir::OpBuilder &builder, mlir::Location loc, const DotLayout &layout,
                        mlir::Value row, mlir::Value column);

/// Memory that will be read soon. The micro-kernels ask for its lines bit by bit,
/// so that the next operands come while this dot is computed; an address that is
/// wrong costs time and nothing else.
struct DotPrefetch {
  mlir::Value base;      ///< !llvm.ptr
  mlir::Value stride;    ///< bytes (i64) between the rows of memory
  int64_t rows = 1;      ///< of memory
  int64_t lines = 1;     ///< of 64 bytes, in each row
  mlir::Value perColumn; ///< bytes (i64) from what belongs to one column of C to the next; or null
};

/// Where the operands of one dot are. Strides are numbers of elements (i64); null
/// where they are those of the packed form.
struct DotOperands {
  mlir::Value a, b;          ///< !llvm.ptr
  mlir::Value aRow, aStep;   ///< between rows of A, between steps of k
  mlir::Value bStep, bPanel; ///< between steps of k, between panels
  llvm::SmallVector<DotPrefetch, 2> next;
  mlir::Value m, n, k; ///< i64: rows and columns of C and steps of k from the first that are
                       ///< needed, at most those of the layout; null: all. More may be done
};

/// Whether the micro-kernel may read A (B) with elements in `packedA` (`packedB`)
/// from the user's memory, and it is worth no copy: each element is used by few
/// of the blocks of C that stay in registers, and each line of memory by one.
/// `byColumns`: the elements of a column of A lie side by side.
bool mayReadInPlace(const DotLayout &layout, bool isB, bool byColumns);

/// Whether all of C fits the registers at once, so that a loop over k need not
/// write it back in between.
bool fitsRegisters(const DotLayout &layout);

/// Emits loops (scf, vector, llvm) that compute C += A * B. C and packed operands
/// are `DotLayout::alignment`-aligned, others as their elements.
void emitDot(mlir::OpBuilder &builder, mlir::Location loc, const DotLayout &layout,
             const DotOperands &operands, mlir::Value c);

} // namespace nereid::cpu

#endif // NEREID_TARGET_CPU_DOT_H
