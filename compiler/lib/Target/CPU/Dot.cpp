// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Register-blocked dot: panels of B outermost, rows of A inside, a loop over k
// that holds a tileM x tileN block of C in vector registers.
#include "Target/CPU/Dot.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid::cpu;

namespace {

/// Type in which products of elements of type `element` are formed.
Type getComputeType(Type element, Type accumulator) {
  MLIRContext *context = element.getContext();
  if (isa<FloatType>(accumulator))
    return element.isF64() || accumulator.isF64() ? Type(Float64Type::get(context))
                                                  : Type(Float32Type::get(context));
  return IntegerType::get(context, std::max(32u, accumulator.getIntOrFloatBitWidth()));
}

/// Shape of the block of C that stays in registers.
struct RegisterTile {
  int64_t rows, columns;
};

/// Most columns of a register tile: four vectors where there are 32 registers,
/// two where there are 16.
int64_t maxTileColumns(const DotLayout &layout) {
  int64_t lanes = layout.target.lanes(layout.compute.getIntOrFloatBitWidth());
  return lanes * (layout.target.vectorRegisters >= 32 ? 4 : 2);
}

/// Rows for a block of `columns` columns: enough independent multiply-adds to
/// hide their latency, few enough that C, one row of B and a broadcast fit.
RegisterTile chooseRegisterTile(const DotLayout &layout, int64_t columns) {
  int64_t lanes = layout.target.lanes(layout.compute.getIntOrFloatBitWidth());
  int64_t vectors = llvm::divideCeil(columns, lanes);
  int64_t rows;
  if (layout.target.vectorRegisters >= 32)
    rows = vectors >= 4 ? 4 : vectors == 3 ? 8 : vectors == 2 ? 8 : 16;
  else
    rows = vectors >= 2 ? 6 : 8;
  return {std::min(rows, layout.m), columns};
}

/// Emits the loops of one dot.
class DotEmitter {
public:
  DotEmitter(OpBuilder &builder, Location loc, const DotLayout &layout, const DotOperands &operands)
      : builder(builder), loc(loc), layout(layout), operands(operands), i64(builder.getI64Type()),
        pointer(LLVM::LLVMPointerType::get(builder.getContext())),
        lanes(layout.target.lanes(layout.compute.getIntOrFloatBitWidth())) {}

  void emit(Value c) {
    Value a = operands.a, b = operands.b;
    int64_t full = layout.n / layout.panelWidth;
    forEach(full, operands.n, layout.panelWidth, [&](Value panel) {
      firstColumn = scaled(panel, layout.panelWidth);
      emitPanel(a, strided(b, panel, operands.bPanel, layout.panelStride, layout.packedB),
                offset(c, panel, layout.panelWidth, layout.accumulator), layout.panelWidth);
    });
    if (int64_t rest = layout.n % layout.panelWidth) {
      firstColumn = constant(full * layout.panelWidth);
      emitPanel(a, strided(b, constant(full), operands.bPanel, layout.panelStride, layout.packedB),
                offset(c, full * layout.panelWidth, layout.accumulator), rest);
    }
  }

private:
  Value constant(int64_t value) { return arith::ConstantIntOp::create(builder, loc, i64, value); }

  Value offset(Value base, int64_t elements, Type element) {
    if (elements == 0)
      return base;
    return LLVM::GEPOp::create(builder, loc, pointer, element, base,
                               ArrayRef<LLVM::GEPArg>{int32_t(elements)});
  }
  Value offset(Value base, Value index, int64_t scale, Type element) {
    if (scale != 1)
      index = arith::MulIOp::create(builder, loc, index, constant(scale));
    return LLVM::GEPOp::create(builder, loc, pointer, element, base, ArrayRef<LLVM::GEPArg>{index});
  }

  Value add(Value x, Value y) { return builder.createOrFold<arith::AddIOp>(loc, x, y); }
  Value mul(Value x, Value y) { return builder.createOrFold<arith::MulIOp>(loc, x, y); }
  Value scaled(Value index, int64_t scale) { return mul(index, constant(scale)); }
  /// `base` + `index` times `stride` elements, or `packed` where that is null.
  Value strided(Value base, Value index, Value stride, int64_t packed, Type element) {
    if (!stride)
      return offset(base, index, packed, element);
    return offset(base, mul(index, stride), 1, element);
  }

  /// Calls `body` for 0 .. count-1: straight code for one round, else a loop, which
  /// ends where `needed` is reached (null: nowhere) at `size` for each round.
  void forEach(int64_t count, Value needed, int64_t size, llvm::function_ref<void(Value)> body) {
    if (count == 0)
      return;
    if (count == 1)
      return body(constant(0));
    Value rounds = constant(count);
    if (needed) {
      rounds =
          arith::DivUIOp::create(builder, loc, add(needed, constant(size - 1)), constant(size));
      rounds = arith::MinUIOp::create(builder, loc, rounds, constant(count));
    }
    auto loop = scf::ForOp::create(builder, loc, constant(0), rounds, constant(1));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }

  /// Columns 0 .. columns-1 of one panel.
  void emitPanel(Value a, Value b, Value c, int64_t columns) {
    int64_t width = blockWidth();
    int64_t full = columns / width;
    Value panelStart = firstColumn;
    forEach(full, Value(), width, [&](Value block) {
      firstColumn = add(panelStart, scaled(block, width));
      emitColumns(a, offset(b, block, width, layout.packedB),
                  offset(c, block, width, layout.accumulator), width);
    });
    firstColumn = add(panelStart, constant(full * width));
    if (int64_t rest = columns % width)
      emitColumns(a, offset(b, full * width, layout.packedB),
                  offset(c, full * width, layout.accumulator), rest);
  }

  /// One block of columns, all rows.
  void emitColumns(Value a, Value b, Value c, int64_t columns) {
    RegisterTile tile = chooseRegisterTile(layout, columns);
    int64_t full = layout.m / tile.rows, rest = layout.m % tile.rows;
    // A few rows alone are too few sums at a time: they share with the block before.
    SmallVector<int64_t> last;
    if (rest && full && 2 * rest < tile.rows) {
      int64_t together = tile.rows + rest;
      last = {together - together / 2, together / 2};
      --full;
    } else if (rest) {
      last = {rest};
    }
    forEach(full, operands.m, tile.rows, [&](Value block) {
      choosePrefetch(block);
      emitTile(strided(a, scaled(block, tile.rows), operands.aRow, layout.lda, layout.packedA), b,
               offset(c, block, tile.rows * layout.ldc, layout.accumulator), tile);
    });
    int64_t row = full * tile.rows;
    for (int64_t rows : last) {
      choosePrefetch(constant(full));
      emitTile(strided(a, constant(row), operands.aRow, layout.lda, layout.packedA), b,
               offset(c, row * layout.ldc, layout.accumulator), {rows, columns});
      row += rows;
    }
  }

  /// What the tile in this block of rows asks for: the first blocks take one line
  /// of each of the next rows of one operand, the following those of the other,
  /// and go on with the rounds after.
  void choosePrefetch(Value block) {
    ahead = {};
    if (countTiles() >= manyTiles)
      return prefetchShare(block);
    SmallVector<std::pair<Value, Value>> lines; // and the condition that it is this one's turn
    for (const DotPrefetch &next : operands.next) {
      Value start = scaled(block, 64);
      if (next.perColumn)
        start = add(start, mul(firstColumn, next.perColumn));
      Value base =
          LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), next.base, start);
      Value mine = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, block,
                                         constant(next.lines));
      lines.push_back({base, mine});
      block = arith::SubIOp::create(builder, loc, block, constant(next.lines));
    }
    for (auto [next, line] : llvm::reverse(llvm::zip_equal(operands.next, lines))) {
      auto [base, mine] = line;
      bool last = !ahead.base;
      ahead.base = last ? base : arith::SelectOp::create(builder, loc, mine, base, ahead.base);
      ahead.stride = last ? next.stride
                          : arith::SelectOp::create(builder, loc, mine, next.stride, ahead.stride);
    }
  }

  /// With many tiles each asks, before its loop, for its share of all lines: no
  /// faster than they can come.
  void prefetchShare(Value block) {
    const int64_t tiles = countTiles(), width = blockWidth();
    Value number = arith::DivUIOp::create(builder, loc, firstColumn, constant(width));
    number = add(scaled(number, countRowBlocks()), block);
    for (const DotPrefetch &next : operands.next) {
      // Whole rows for each tile, or several tiles for each row.
      int64_t rows = llvm::divideCeil(next.rows, tiles), tilesOfRow = tiles / next.rows;
      Value first = scaled(number, rows), line = constant(0);
      int64_t lines = next.lines;
      if (tilesOfRow > 1) {
        lines = llvm::divideCeil(lines, tilesOfRow);
        first = arith::DivUIOp::create(builder, loc, number, constant(tilesOfRow));
        line = arith::RemUIOp::create(builder, loc, number, constant(tilesOfRow));
        line = scaled(line, lines * 64);
      }
      // Tiles with very long rows: the start of each, which tells the hardware.
      lines = std::min<int64_t>(lines, 16);
      rows = std::min<int64_t>(rows, 8);
      Value row = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), next.base,
                                      ValueRange{add(mul(first, next.stride), line)});
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < lines; ++j)
          LLVM::Prefetch::create(builder, loc, offset(row, j * 64, builder.getI8Type()),
                                 /*rw=*/0, /*hint=*/2, /*cache=*/1);
        if (i + 1 < rows)
          row = offset(row, next.stride, 1, builder.getI8Type());
      }
    }
  }

  /// Of k that are needed, a multiple of `multiple`.
  Value steps(int64_t multiple) {
    if (!operands.k)
      return constant(layout.k);
    Value up = add(operands.k, constant(multiple - 1));
    return scaled(builder.createOrFold<arith::DivUIOp>(loc, up, constant(multiple)), multiple);
  }

  int64_t blockWidth() const { return std::min(maxTileColumns(layout), layout.panelWidth); }
  int64_t countRowBlocks() const {
    return llvm::divideCeil(layout.m, chooseRegisterTile(layout, blockWidth()).rows);
  }
  int64_t countTiles() const { return countRowBlocks() * llvm::divideCeil(layout.n, blockWidth()); }
  static constexpr int64_t manyTiles = 16;

  void emitPrefetch(Value k) {
    if (!ahead.base)
      return;
    Value at = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), ahead.base,
                                   ValueRange{mul(k, ahead.stride)});
    LLVM::Prefetch::create(builder, loc, at, /*rw=*/0, /*hint=*/2, /*cache=*/1);
  }

  /// Elements between row 0 and rows 0 .. `rows` - 1 of A; empty where `lda` says it.
  SmallVector<Value> rowOffsets(int64_t rows) {
    SmallVector<Value> result;
    for (int64_t row = 0; operands.aRow && row < rows; ++row)
      result.push_back(scaled(operands.aRow, row));
    return result;
  }
  Value rowOfA(Value column, int64_t row, ArrayRef<Value> offsets) {
    return offsets.empty() ? offset(column, row * layout.lda, layout.packedA)
                           : offset(column, offsets[row], 1, layout.packedA);
  }

  /// Sums of products of pairs of 16-bit numbers: one instruction for two steps
  /// of k. Rows k and k + 1 of B are interleaved in registers.
  void emitTileOfPairs(Value a, Value b, Value c, RegisterTile tile) {
    const int64_t vectors = llvm::divideCeil(tile.columns, lanes);
    const bool isFloat = isa<FloatType>(layout.compute);
    Type i32 = builder.getI32Type(), i16 = builder.getI16Type();
    auto type = VectorType::get(lanes, layout.compute), words = VectorType::get(lanes, i32);
    auto halves = VectorType::get(2 * lanes, layout.packedB);
    auto place = [&](int64_t row, int64_t v) {
      return offset(c, row * layout.ldc + v * lanes, layout.accumulator);
    };
    auto columns = [&](int64_t v) { return std::min(lanes, tile.columns - v * lanes); };
    SmallVector<Value> sums;
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t v = 0; v < vectors; ++v)
        sums.push_back(loadC(place(row, v), type, columns(v)));

    SmallVector<Value> rows = rowOffsets(tile.rows);
    Value nextRow = operands.bStep ? operands.bStep : constant(layout.panelWidth);
    auto loop = scf::ForOp::create(builder, loc, constant(0), steps(2), constant(2), sums);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      Value k = loop.getInductionVar();
      emitPrefetch(k);
      Value bRows = strided(b, k, operands.bStep, layout.panelWidth, i16);
      auto narrow = VectorType::get(lanes, i16);
      Value sixteen = arith::ConstantOp::create(
          builder, loc, DenseElementsAttr::get(words, builder.getI32IntegerAttr(16)));
      SmallVector<Value> pairs;
      for (int64_t v = 0; v < vectors; ++v) {
        auto row = [&](int64_t i) -> Value {
          Value at = offset(i ? offset(bRows, nextRow, 1, i16) : bRows, v * lanes, i16);
          Value halfWords = LLVM::LoadOp::create(builder, loc, narrow, at,
                                                 operands.bStep ? 2u : unsigned(2 * lanes));
          return arith::ExtUIOp::create(builder, loc, words, halfWords);
        };
        Value low = row(0), high = arith::ShLIOp::create(builder, loc, row(1), sixteen);
        pairs.push_back(vector::BitCastOp::create(builder, loc, halves,
                                                  arith::OrIOp::create(builder, loc, low, high)));
      }
      Value aColumn = offset(a, k, 1, i16);
      const char *multiply = isFloat                           ? "llvm.x86.avx512bf16.dpbf16ps.512"
                             : layout.target.vectorBits >= 512 ? "llvm.x86.avx512.pmaddw.d.512"
                             : layout.target.vectorBits >= 256 ? "llvm.x86.avx2.pmadd.wd"
                                                               : "llvm.x86.sse2.pmadd.wd";
      SmallVector<Value> next;
      for (int64_t row = 0; row < tile.rows; ++row) {
        Value pair =
            LLVM::LoadOp::create(builder, loc, i32, rowOfA(aColumn, row, rows), /*alignment=*/2);
        Value aRow = vector::BitCastOp::create(
            builder, loc, halves, vector::BroadcastOp::create(builder, loc, words, pair));
        for (int64_t v = 0; v < vectors; ++v) {
          Value sum = loop.getRegionIterArg(row * vectors + v);
          SmallVector<Value> operands{aRow, pairs[v]};
          if (isFloat)
            operands.insert(operands.begin(), sum);
          auto call = LLVM::CallIntrinsicOp::create(builder, loc, type,
                                                    builder.getStringAttr(multiply), operands);
          Value result = call->getResult(0);
          next.push_back(isFloat ? result
                                 : arith::AddIOp::create(builder, loc, sum, result).getResult());
        }
      }
      scf::YieldOp::create(builder, loc, next);
    }
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t v = 0; v < vectors; ++v)
        storeC(loop.getResult(row * vectors + v), place(row, v), columns(v));
  }

  void emitTile(Value a, Value b, Value c, RegisterTile tile) {
    if (layout.pairs)
      return emitTileOfPairs(a, b, c, tile);
    // A whole number of vectors; the surplus columns read padding of B.
    int64_t width = llvm::alignTo(tile.columns, lanes);
    auto type = VectorType::get(width, layout.compute);
    SmallVector<Value> sums;
    for (int64_t row = 0; row < tile.rows; ++row)
      sums.push_back(loadC(offset(c, row * layout.ldc, layout.accumulator), type, tile.columns));

    SmallVector<Value> rows = rowOffsets(tile.rows);
    auto loop = scf::ForOp::create(builder, loc, constant(0), steps(1), constant(1), sums);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      Value k = loop.getInductionVar();
      emitPrefetch(k);
      Value bRow = LLVM::LoadOp::create(
          builder, loc, type, strided(b, k, operands.bStep, layout.panelWidth, layout.packedB),
          panelAlignment());
      Value aColumn = strided(a, k, operands.aStep, 1, layout.packedA);
      SmallVector<Value> next;
      for (int64_t row = 0; row < tile.rows; ++row) {
        Value element =
            LLVM::LoadOp::create(builder, loc, layout.packedA, rowOfA(aColumn, row, rows));
        Value aRow = vector::BroadcastOp::create(builder, loc, type, element);
        next.push_back(multiplyAdd(aRow, bRow, loop.getRegionIterArg(row)));
      }
      scf::YieldOp::create(builder, loc, next);
    }
    for (int64_t row = 0; row < tile.rows; ++row)
      storeC(loop.getResult(row), offset(c, row * layout.ldc, layout.accumulator), tile.columns);
  }

  Value multiplyAdd(Value x, Value y, Value sum) {
    if (isa<IntegerType>(layout.compute))
      return arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, x, y), sum);
    if (layout.target.hasFMA)
      return vector::FMAOp::create(builder, loc, x, y, sum);
    return arith::AddFOp::create(builder, loc, arith::MulFOp::create(builder, loc, x, y), sum);
  }

  /// Alignment of the start of a register tile's row of B.
  unsigned panelAlignment() {
    int64_t bytes = layout.compute.getIntOrFloatBitWidth() / 8;
    if (operands.bStep)
      return bytes;
    return llvm::MinAlign(llvm::MinAlign(DotLayout::alignment, layout.panelWidth * bytes),
                          maxTileColumns(layout) * bytes);
  }
  unsigned rowAlignment() {
    int64_t bytes = layout.accumulator.getIntOrFloatBitWidth() / 8;
    return llvm::MinAlign(llvm::MinAlign(DotLayout::alignment, layout.ldc * bytes), lanes * bytes);
  }

  /// The first `columns` lanes of a `width`-lane mask.
  Value firstLanes(int64_t width, int64_t columns) {
    SmallVector<bool> bits(width, false);
    std::fill_n(bits.begin(), columns, true);
    auto type = VectorType::get(width, builder.getI1Type());
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, bits));
  }

  Value loadC(Value address, VectorType type, int64_t columns) {
    auto stored = VectorType::get(type.getShape(), layout.accumulator);
    Value row;
    if (columns == type.getNumElements()) {
      row = LLVM::LoadOp::create(builder, loc, stored, address, rowAlignment());
    } else {
      Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(stored));
      row = LLVM::MaskedLoadOp::create(builder, loc, stored, address,
                                       firstLanes(type.getNumElements(), columns), zero,
                                       rowAlignment());
    }
    if (stored == type)
      return row;
    if (isa<FloatType>(layout.compute))
      return arith::ExtFOp::create(builder, loc, type, row);
    return arith::ExtSIOp::create(builder, loc, type, row);
  }

  void storeC(Value row, Value address, int64_t columns) {
    auto type = cast<VectorType>(row.getType());
    auto stored = VectorType::get(type.getShape(), layout.accumulator);
    if (stored != type) {
      if (isa<FloatType>(layout.compute))
        row = arith::TruncFOp::create(builder, loc, stored, row);
      else
        row = arith::TruncIOp::create(builder, loc, stored, row);
    }
    if (columns == type.getNumElements())
      LLVM::StoreOp::create(builder, loc, row, address, rowAlignment());
    else
      LLVM::MaskedStoreOp::create(builder, loc, row, address,
                                  firstLanes(type.getNumElements(), columns), rowAlignment());
  }

  OpBuilder &builder;
  Location loc;
  const DotLayout &layout;
  const DotOperands &operands;
  Type i64, pointer;
  int64_t lanes;
  Value firstColumn; ///< of the current block of columns
  /// Of the current tile: in step k of it, base + k * stride.
  struct {
    Value base, stride;
  } ahead;
};

} // namespace

DotLayout nereid::cpu::chooseDotLayout(int64_t m, int64_t n, int64_t k, Type aElement,
                                       Type bElement, Type accumulator,
                                       const TargetFeatures &target) {
  assert(m > 0 && n > 0 && k > 0 && "empty dot");
  DotLayout layout;
  layout.m = m;
  layout.n = n;
  layout.k = k;
  layout.target = target;
  layout.accumulator = accumulator;
  Type wider = getComputeType(aElement, accumulator);
  if (getComputeType(bElement, accumulator).getIntOrFloatBitWidth() > wider.getIntOrFloatBitWidth())
    wider = getComputeType(bElement, accumulator);
  layout.packedA = layout.packedB = layout.compute = wider;
  // Wraps around as products and sums of 32 bits do.
  layout.pairs = wider.isInteger(32) && aElement.getIntOrFloatBitWidth() <= 16 &&
                 bElement.getIntOrFloatBitWidth() <= 16 && k % 2 == 0 &&
                 llvm::StringRef(target.triple).starts_with("x86");
  if (layout.pairs)
    layout.packedA = layout.packedB = IntegerType::get(aElement.getContext(), 16);
  // Subnormal numbers count as zero.
  if (aElement.isBF16() && bElement.isBF16() && wider.isF32() && k % 2 == 0 &&
      target.hasAVX512BF16 && target.vectorBits >= 512) {
    layout.pairs = true;
    layout.packedA = layout.packedB = aElement;
  }
  layout.lda = k;
  layout.ldc = n;
  // Panels are as wide as a register tile, but at least 16 columns, so that the
  // tile load can write 16 elements at a time.
  int64_t width = std::max<int64_t>(16, maxTileColumns(layout));
  layout.panelWidth = std::min<int64_t>(width, llvm::alignTo(n, 16));
  layout.panelStride = k * layout.panelWidth;
  layout.numPanels = llvm::divideCeil(n, layout.panelWidth);
  return layout;
}

Value nereid::cpu::emitBOffset(OpBuilder &builder, Location loc, const DotLayout &layout, Value row,
                               Value column) {
  Type i64 = builder.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, i64, value);
  };
  auto toI64 = [&](Value value) -> Value {
    return value.getType() == i64 ? value : arith::IndexCastOp::create(builder, loc, i64, value);
  };
  row = toI64(row);
  column = toI64(column);
  Value inPanel = arith::MulIOp::create(builder, loc, row, constant(layout.panelWidth));
  if (layout.numPanels == 1)
    return arith::AddIOp::create(builder, loc, inPanel, column);
  Value width = constant(layout.panelWidth);
  Value panel = arith::DivUIOp::create(builder, loc, column, width);
  Value start = arith::MulIOp::create(builder, loc, panel, constant(layout.panelStride));
  Value rest = arith::RemUIOp::create(builder, loc, column, width);
  return arith::AddIOp::create(builder, loc, arith::AddIOp::create(builder, loc, start, inPanel),
                               rest);
}

bool nereid::cpu::mayReadInPlace(const DotLayout &layout, bool isB, bool byColumns) {
  int64_t lanes = layout.target.lanes(layout.compute.getIntOrFloatBitWidth());
  if (isB && layout.n % lanes) // whole vectors are read
    return false;
  int64_t width = std::min(maxTileColumns(layout), layout.panelWidth);
  int64_t rowBlocks = llvm::divideCeil(layout.m, chooseRegisterTile(layout, width).rows);
  if (isB)
    return rowBlocks <= 4;
  return llvm::divideCeil(layout.n, width) <= 2 && (!byColumns || rowBlocks == 1);
}

bool nereid::cpu::fitsRegisters(const DotLayout &layout) {
  int64_t lanes = layout.target.lanes(layout.compute.getIntOrFloatBitWidth());
  return layout.numPanels == 1 && layout.n <= maxTileColumns(layout) && layout.n % lanes == 0 &&
         chooseRegisterTile(layout, layout.n).rows == layout.m;
}

void nereid::cpu::emitDot(OpBuilder &builder, Location loc, const DotLayout &layout,
                          const DotOperands &operands, Value c) {
  DotEmitter(builder, loc, layout, operands).emit(c);
}
