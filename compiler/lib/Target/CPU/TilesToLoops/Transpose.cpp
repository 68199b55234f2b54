// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Transpose.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::tiles {

/// Transposes n vectors of n elements: log2(n) rounds that swap the
/// off-diagonal blocks of growing squares.
static void transposeRegisters(OpBuilder &builder, Location loc, MutableArrayRef<Value> rows) {
  int64_t n = rows.size();
  for (int64_t distance = 1; distance < n; distance *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < n; ++lane) {
      bool odd = lane & distance;
      low.push_back(odd ? n + lane - distance : lane);
      high.push_back(odd ? n + lane : lane + distance);
    }
    for (int64_t row = 0; row < n; ++row) {
      if (row & distance)
        continue;
      Value a = rows[row], b = rows[row + distance];
      rows[row] = vector::ShuffleOp::create(builder, loc, a, b, low);
      rows[row + distance] = vector::ShuffleOp::create(builder, loc, a, b, high);
    }
  }
}

bool transposedNest(TileEmitter &emitter, ArrayRef<int64_t> shape, unsigned from, unsigned to,
                    unsigned maxLanes, llvm::function_ref<Value(ArrayRef<Index>)> read,
                    llvm::function_ref<void(Value, ArrayRef<Index>)> write) {
  int64_t lanes = std::min<int64_t>(maxLanes, 16);
  while (lanes > 1 && (shape[from] % lanes || shape[to] % lanes))
    lanes /= 2;
  if (lanes < 4)
    return false;
  Indices at(shape.size());
  for (auto [d, size] : llvm::enumerate(shape))
    if (d != from && d != to)
      at[d] = {Index::Scalar, emitter.openLoop(size)};
  Value block = emitter.openLoop(0, shape[to], lanes, {});
  emitter.vectorLoops(shape[from], lanes, [&](Index run) {
    SmallVector<Value> rows;
    at[from] = run;
    for (int64_t row = 0; row < lanes; ++row) {
      at[to] = {Index::Scalar, emitter.lane(row, block)};
      rows.push_back(read(at));
    }
    transposeRegisters(emitter.builder, emitter.loc, rows);
    at[to] = {Index::Linear, block};
    for (int64_t column = 0; column < lanes; ++column) {
      at[from] = {Index::Scalar, emitter.lane(column, run.value)};
      write(rows[column], at);
    }
  });
  emitter.closeLoop();
  for (size_t d = 0; d + 2 < shape.size(); ++d)
    emitter.closeLoop();
  return true;
}

} // namespace nereid::tiles
