// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions and scans.
//
// A reduction along the vector dimension keeps several vectors of partial
// results and combines their lanes at the end of each row; along another
// dimension each lane is a result of its own.
#include "Combine.h"
#include "TileEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::tiles {

static Value splat(OpBuilder &builder, Location loc, TypedAttr attr, unsigned lanes) {
  if (lanes == 1)
    return arith::ConstantOp::create(builder, loc, attr);
  auto type = VectorType::get({int64_t(lanes)}, attr.getType());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, Attribute(attr)));
}

namespace {
class ReduceLowering {
public:
  ReduceLowering(FunctionLowering &lowering, tt::ReduceOp reduce)
      : lowering(lowering), reduce(reduce), builder(reduce), loc(reduce.getLoc()),
        emitter(lowering, builder, loc, reduce), region(reduce.getCombineOp()),
        axis(reduce.getAxis()), type(getTile(reduce.getSrcs()[0])),
        neutral(getNeutralElement(region)) {}

  void run() {
    TilePlan &plan = lowering.getPlan();
    for (Value value : plan.getDeferredTo(reduce)) {
      Buffer *buffer = lowering.createBuffer(getTile(value), reduce->getBlock());
      emitter.fillOnTheWay(value, buffer);
      filled.emplace_back(value, buffer);
    }
    for (Value result : reduce.getResult())
      results.push_back(getTile(result) ? lowering.createBuffer(getTile(result), reduce->getBlock())
                                        : nullptr);

    unsigned maxLanes = 64;
    for (Value src : reduce.getSrcs())
      maxLanes = std::min(maxLanes, chooseLanes(lowering, getTile(src).getElementType()));
    unsigned dim = chooseVectorDim(lowering, type, reduce.getSrcs(), /*throughSelf=*/false);
    if (!isVectorisable(region)) {
      Indices at(type.getRank());
      acrossRows(0, at, 1);
    } else if (dim == axis) {
      Indices at(type.getRank());
      alongRows(0, at, maxLanes);
    } else {
      columns(dim, maxLanes);
    }
    for (auto [value, buffer] : filled)
      lowering.bind(value, buffer);
    for (auto [result, buffer] : llvm::zip(reduce.getResult(), results))
      if (buffer)
        lowering.bind(result, buffer);
  }

private:
  SmallVector<Value> elements(ArrayRef<Index> at, bool vector) {
    SmallVector<Value> values;
    for (Value src : reduce.getSrcs()) {
      Value value = emitter.emit(src, at);
      values.push_back(vector ? emitter.toVector(value) : value);
    }
    return values;
  }

  void finish(ArrayRef<Value> values, ArrayRef<Index> at) {
    Indices outer(at);
    outer.erase(outer.begin() + axis);
    for (auto [i, value] : llvm::enumerate(values)) {
      if (results[i])
        emitter.storeToBuffer(results[i], value, outer);
      else
        FunctionLowering::replaceScalar(builder, reduce.getResult()[i], value);
    }
  }

  /// Opens the loops over all dimensions but the axis, then runs `row`.
  void outerLoops(unsigned dim, Indices &at, llvm::function_ref<void(Indices &)> row) {
    if (dim == type.getRank()) {
      row(at);
      return;
    }
    if (dim == axis)
      return outerLoops(dim + 1, at, row);
    at[dim] = {Index::Scalar, emitter.openLoop(type.getDimSize(dim))};
    outerLoops(dim + 1, at, row);
    emitter.closeLoop();
  }

  /// One element after the other.
  void acrossRows(unsigned, Indices &at, unsigned) {
    outerLoops(0, at, [&](Indices &row) {
      row[axis] = {Index::Scalar, emitter.constant(0)};
      SmallVector<Value> total = elements(row, false);
      if (type.getDimSize(axis) > 1) {
        row[axis].value = emitter.openLoop(1, type.getDimSize(axis), 1, total);
        SmallVector<Value> now(emitter.getCarried());
        total = emitter.closeLoop(combine(builder, region, now, elements(row, false)));
      }
      finish(total, row);
    });
  }

  /// Vectors along the axis.
  void alongRows(unsigned, Indices &at, unsigned maxLanes) {
    int64_t n = type.getDimSize(axis);
    int64_t width = std::min<int64_t>(maxLanes, llvm::bit_floor(uint64_t(n)));
    int64_t whole = n / width;
    unsigned groups = whole >= 4 && reduce.getSrcs().size() == 1 ? 4 : whole >= 2 ? 2 : 1;
    outerLoops(0, at, [&](Indices &row) {
      unsigned before = emitter.getLanes();
      SmallVector<Value> partial;
      int64_t start = 0;
      emitter.setLanes(width);
      if (neutral) {
        for (unsigned g = 0; g < groups; ++g)
          partial.push_back(splat(builder, loc, neutral, width));
      } else {
        for (unsigned g = 0; g < groups; ++g) {
          row[axis] = {width == 1 ? Index::Scalar : Index::Linear, emitter.constant(g * width)};
          llvm::append_range(partial, elements(row, width > 1));
        }
        start = groups * width;
      }
      partial = emitter.reductionLoops(
          start, n, width, groups, partial, [&](Index index, ValueRange now) {
            row[axis] = index;
            return combine(builder, region, now, elements(row, width > 1));
          });
      size_t each = reduce.getSrcs().size();
      SmallVector<Value> total(ValueRange(partial).take_front(each));
      for (unsigned g = 1; g < groups; ++g)
        total = combine(builder, region, total, ValueRange(partial).slice(g * each, each));
      if (width > 1)
        total = combineLanes(builder, loc, region, total);
      int64_t done = whole * width;
      for (int64_t piece = width / 2; piece >= 1; piece /= 2) {
        if (n - done < piece)
          continue;
        emitter.setLanes(piece);
        row[axis] = {piece == 1 ? Index::Scalar : Index::Linear, emitter.constant(done)};
        SmallVector<Value> rest = elements(row, piece > 1);
        if (piece > 1)
          rest = combineLanes(builder, loc, region, rest);
        total = combine(builder, region, total, rest);
        done += piece;
      }
      emitter.setLanes(1);
      finish(total, row);
      emitter.setLanes(before);
    });
  }

  /// Vectors along another dimension than the axis.
  void columns(unsigned dim, unsigned maxLanes) {
    Indices at(type.getRank());
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (d != axis && d != dim)
        at[d] = {Index::Scalar, emitter.openLoop(type.getDimSize(d))};
    emitter.vectorLoops(type.getDimSize(dim), maxLanes, [&](Index index) {
      at[dim] = index;
      bool vector = index.kind != Index::Scalar;
      SmallVector<Value> total;
      int64_t start = 0;
      if (neutral && type.getDimSize(axis) > 1) {
        total.push_back(splat(builder, loc, neutral, emitter.getLanes()));
      } else {
        at[axis] = {Index::Scalar, emitter.constant(0)};
        total = elements(at, vector);
        start = 1;
      }
      if (start < type.getDimSize(axis)) {
        at[axis] = {Index::Scalar, emitter.openLoop(start, type.getDimSize(axis), 1, total)};
        SmallVector<Value> now(emitter.getCarried());
        total = emitter.closeLoop(combine(builder, region, now, elements(at, vector)));
      }
      finish(total, at);
    });
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (d != axis && d != dim)
        emitter.closeLoop();
  }

  FunctionLowering &lowering;
  tt::ReduceOp reduce;
  OpBuilder builder;
  Location loc;
  TileEmitter emitter;
  Region &region;
  unsigned axis;
  RankedTensorType type;
  TypedAttr neutral;
  SmallVector<Buffer *> results;
  SmallVector<std::pair<Value, Buffer *>> filled;
};
} // namespace

LogicalResult FunctionLowering::lowerReduce(tt::ReduceOp reduce) {
  ReduceLowering(*this, reduce).run();
  return success();
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

LogicalResult FunctionLowering::lowerScan(tt::ScanOp scan) {
  OpBuilder builder(scan);
  Location loc = scan.getLoc();
  TileEmitter emitter(*this, builder, loc, scan);
  RankedTensorType type = getTile(scan.getSrcs()[0]);
  Region &region = scan.getCombineOp();
  unsigned axis = scan.getAxis();
  int64_t n = type.getDimSize(axis);
  SmallVector<Buffer *> results;
  unsigned maxLanes = 64;
  for (auto [src, result] : llvm::zip(scan.getSrcs(), scan.getResult())) {
    results.push_back(createBuffer(getTile(result), scan->getBlock()));
    maxLanes = std::min(maxLanes, chooseLanes(*this, getTile(src).getElementType()));
  }
  // Lanes run along the innermost dimension, unless that is the axis.
  int inner = type.getRank() - 1;
  while (inner > 0 && type.getDimSize(inner) == 1)
    --inner;
  bool vector = inner != int(axis) && isVectorisable(region);

  Indices at(type.getRank());
  auto along = [&](bool isVector) {
    auto place = [&](Value step) -> Index {
      if (!scan.getReverse())
        return {Index::Scalar, step};
      return {Index::Scalar, emitter.lane(n - 1, emitter.mul(step, -1))};
    };
    auto read = [&]() {
      SmallVector<Value> values;
      for (Value src : scan.getSrcs()) {
        Value value = emitter.emit(src, at);
        values.push_back(isVector ? emitter.toVector(value) : value);
      }
      return values;
    };
    auto write = [&](ArrayRef<Value> values) {
      for (auto [buffer, value] : llvm::zip(results, values))
        emitter.storeToBuffer(buffer, value, at);
    };
    at[axis] = place(emitter.constant(0));
    SmallVector<Value> first = read();
    write(first);
    if (n == 1)
      return;
    at[axis] = place(emitter.openLoop(1, n, 1, first));
    SmallVector<Value> now(emitter.getCarried());
    SmallVector<Value> next = combine(builder, region, now, read());
    write(next);
    emitter.closeLoop(next);
  };
  unsigned opened = 0;
  for (int d = 0; d < type.getRank(); ++d)
    if (d != int(axis) && !(vector && d == inner)) {
      at[d] = {Index::Scalar, emitter.openLoop(type.getDimSize(d))};
      ++opened;
    }
  if (vector)
    emitter.vectorLoops(type.getDimSize(inner), maxLanes, [&](Index index) {
      at[inner] = index;
      along(index.kind != Index::Scalar);
    });
  else
    along(false);
  while (opened--)
    emitter.closeLoop();
  for (auto [result, buffer] : llvm::zip(scan.getResult(), results))
    bind(result, buffer);
  return success();
}

} // namespace nereid::tiles
