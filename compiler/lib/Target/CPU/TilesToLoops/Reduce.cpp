// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions and scans.
//
// A reduction along the vector dimension keeps several vectors of partial
// results and combines their lanes at the end of each row; along another
// dimension each lane is a result of its own.
//
// Sums of floats narrower than fp32 are kept in fp32 (see Combiner). Where
// roundings happen on the way, long sums are sums of sums, so that no number is
// added to one that thousands were added to before:
//
//     for each chunk          total  = combine(total, partial)
//       for each run            partial = combine(partial, run)      ...
//         for runLength vectors   run = combine(run, elements)
//
// The error grows with runLength * log(n), not with n. A scan has two levels:
// the prefixes within a chunk, combined with the total of the chunks before. Along
// the lanes a step takes a vector: its lanes' prefixes, then the sum before it.
#include "Combine.h"
#include "TileEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;

namespace nereid::tiles {

static constexpr char oneByOneWhy[] =
    "a combining function of arithmetic alone, without branches and calls, works on vectors";

static Value splat(OpBuilder &builder, Location loc, TypedAttr attr, unsigned lanes) {
  if (lanes == 1)
    return arith::ConstantOp::create(builder, loc, attr);
  auto type = VectorType::get({int64_t(lanes)}, attr.getType());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, Attribute(attr)));
}

/// Vectors that are combined one after the other, at most, before their result
/// counts as one of the next level.
static constexpr int64_t runLengthAlongRows = 64, runLengthOfColumns = 16;

/// Elements from or for a tile of `element`s whose partial results have another type.
static Value toPartial(TileEmitter &emitter, Value value, Type element, Type partial) {
  return isa<FloatType>(element) ? emitter.emitFloatCast(value, element, partial, false) : value;
}
static Value fromPartial(TileEmitter &emitter, Value value, Type partial, Type element) {
  return isa<FloatType>(element) ? emitter.emitFloatCast(value, partial, element, false) : value;
}

namespace {
class ReduceLowering {
public:
  ReduceLowering(FunctionLowering &lowering, tt::ReduceOp reduce)
      : lowering(lowering), reduce(reduce), builder(reduce), loc(reduce.getLoc()),
        emitter(lowering, builder, loc, reduce), combiner(reduce.getCombineOp()),
        region(combiner.getRegion()), axis(reduce.getAxis()), type(getTile(reduce.getSrcs()[0])),
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
      lowering.explain(reduce, "reduction: one element after the other", oneByOneWhy);
      acrossRows();
    } else if (dim == axis) {
      lowering.explain(reduce, "reduction: vectors along the axis, several sums at a time");
      alongRows(maxLanes);
    } else {
      lowering.explain(reduce, "reduction: each element of a vector is a result of its own");
      columns(dim, maxLanes);
    }
    for (auto [value, buffer] : filled)
      lowering.bind(value, buffer);
    for (auto [result, buffer] : llvm::zip(reduce.getResult(), results))
      if (buffer)
        lowering.bind(result, buffer);
  }

private:
  using Values = SmallVector<Value>;

  Type getElement(unsigned i) { return getTile(reduce.getSrcs()[i]).getElementType(); }

  /// The operands' elements as partial results.
  Values elements(ArrayRef<Index> at, bool vector) {
    Values values;
    for (auto [i, src] : llvm::enumerate(reduce.getSrcs())) {
      Value value =
          toPartial(emitter, emitter.emit(src, at), getElement(i), combiner.getPartialType(i));
      values.push_back(vector ? emitter.toVector(value) : value);
    }
    return values;
  }

  void finish(ArrayRef<Value> values, ArrayRef<Index> at) {
    Indices outer(at);
    outer.erase(outer.begin() + axis);
    for (auto [i, partial] : llvm::enumerate(values)) {
      Value value = fromPartial(emitter, partial, combiner.getPartialType(i), getElement(i));
      if (results[i])
        emitter.storeToBuffer(results[i], value, outer);
      else
        FunctionLowering::replaceScalar(builder, reduce.getResult()[i], value);
    }
  }

  Values combineGroups(ArrayRef<Value> left, ArrayRef<Value> right) {
    size_t each = reduce.getSrcs().size();
    Values result(left);
    for (size_t g = 0; g < right.size(); g += each)
      llvm::copy(combine(builder, region, left.slice(g, each), right.slice(g, each)),
                 result.begin() + g);
    return result;
  }

  /// Partial results (`groups` sets) of the n places along the axis that begin at
  /// `base`; `run(base, n)` does a few of them, `step` at a time.
  using Run = llvm::function_ref<Values(Value, int64_t)>;
  Values total(Value base, int64_t n, int64_t step, int64_t runLength, ArrayRef<Value> init,
               Run run) {
    int64_t chunk = step * runLength;
    if (!combiner.rounds() || n <= chunk)
      return run(base, n);
    while (chunk * runLength < n)
      chunk *= runLength;
    auto part = [&](Value from, int64_t size) {
      return total(from, size, step, runLength, init, run);
    };
    Values sum = init.empty() ? part(base, chunk) : Values(init);
    int64_t first = init.empty() ? chunk : 0, whole = n / chunk * chunk;
    if (first < whole) {
      Value place = emitter.openLoop(first, whole, chunk, sum);
      Values now(emitter.getCarried());
      sum = emitter.closeLoop(combineGroups(now, part(emitter.add(base, place), chunk)));
    }
    if (whole < n)
      sum = combineGroups(sum, part(emitter.lane(whole, base), n - whole));
    return sum;
  }

  /// One place along the axis after the other.
  Values oneByOne(Indices &at, bool vector, ArrayRef<Value> init, Value base, int64_t n) {
    Values sum(init);
    if (init.empty() || n == 1) {
      at[axis] = {Index::Scalar, base};
      sum = elements(at, vector);
      if (n == 1)
        return sum;
    }
    Value place = emitter.openLoop(init.empty() ? 1 : 0, n, 1, sum);
    at[axis] = {Index::Scalar, emitter.add(base, place)};
    Values now(emitter.getCarried());
    return emitter.closeLoop(combine(builder, region, now, elements(at, vector)));
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
  void acrossRows() {
    Indices at(type.getRank());
    outerLoops(0, at, [&](Indices &row) {
      finish(total(emitter.constant(0), type.getDimSize(axis), 1, runLengthAlongRows, {},
                   [&](Value base, int64_t n) { return oneByOne(row, false, {}, base, n); }),
             row);
    });
  }

  /// Vectors along the axis.
  void alongRows(unsigned maxLanes) {
    Indices at(type.getRank());
    int64_t n = type.getDimSize(axis);
    int64_t width = std::min<int64_t>(maxLanes, llvm::bit_floor(uint64_t(n)));
    size_t each = reduce.getSrcs().size();
    auto groupsFor = [&](int64_t vectors) {
      return vectors >= 4 && each == 1 ? 4 : vectors >= 2 ? 2 : 1;
    };
    int64_t whole = n / width, most = groupsFor(whole);
    outerLoops(0, at, [&](Indices &row) {
      unsigned before = emitter.getLanes();
      emitter.setLanes(width);
      auto run = [&](Value base, int64_t size) {
        unsigned groups = std::min<int64_t>(most, groupsFor(size / width));
        int64_t start = 0;
        Values partial;
        if (neutral) {
          partial.assign(groups, splat(builder, loc, neutral, width));
        } else {
          for (unsigned g = 0; g < groups; ++g) {
            row[axis] = {width == 1 ? Index::Scalar : Index::Linear, emitter.lane(g * width, base)};
            llvm::append_range(partial, elements(row, width > 1));
          }
          start = groups * width;
        }
        return emitter.reductionLoops(
            base, start, size, width, groups, partial, [&](Index index, ValueRange now) {
              row[axis] = index;
              return combine(builder, region, now, elements(row, width > 1));
            });
      };
      Values init;
      if (neutral)
        init.assign(most, splat(builder, loc, neutral, width));
      Values partial =
          total(emitter.constant(0), whole * width, width * most, runLengthAlongRows, init, run);
      Values sum(ArrayRef<Value>(partial).take_front(each));
      for (size_t g = each; g < partial.size(); g += each)
        sum = combine(builder, region, sum, ArrayRef<Value>(partial).slice(g, each));
      if (width > 1)
        sum = combineLanes(builder, loc, region, sum);
      int64_t done = whole * width;
      for (int64_t piece = width / 2; piece >= 1; piece /= 2) {
        if (n - done < piece)
          continue;
        emitter.setLanes(piece);
        row[axis] = {piece == 1 ? Index::Scalar : Index::Linear, emitter.constant(done)};
        Values rest = elements(row, piece > 1);
        if (piece > 1)
          rest = combineLanes(builder, loc, region, rest);
        sum = combine(builder, region, sum, rest);
        done += piece;
      }
      emitter.setLanes(1);
      finish(sum, row);
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
      Values init;
      if (neutral && type.getDimSize(axis) > 1)
        init.push_back(splat(builder, loc, neutral, emitter.getLanes()));
      finish(total(emitter.constant(0), type.getDimSize(axis), 1, runLengthOfColumns, init,
                   [&](Value base, int64_t n) {
                     return oneByOne(at, index.kind != Index::Scalar, init, base, n);
                   }),
             at);
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
  Combiner combiner;
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

/// Each lane of the vectors combined with all lanes before it (behind it in reverse): with the lane
/// next to it, then with what lies two lanes off, four, ...
static SmallVector<Value> scanLanes(OpBuilder &builder, Location loc, Region &region,
                                    SmallVector<Value> values, bool reverse) {
  const int64_t lanes = cast<VectorType>(values[0].getType()).getNumElements();
  for (int64_t apart = 1; apart < lanes; apart *= 2) {
    SmallVector<int64_t> from(lanes);
    SmallVector<bool> has(lanes);
    for (int64_t l = 0; l < lanes; ++l) {
      int64_t source = reverse ? l + apart : l - apart;
      has[l] = source >= 0 && source < lanes;
      from[l] = has[l] ? source : l;
    }
    auto maskType = VectorType::get({lanes}, builder.getI1Type());
    Value mask =
        arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(maskType, ArrayRef(has)));
    SmallVector<Value> shifted;
    for (Value value : values)
      shifted.push_back(vector::ShuffleOp::create(builder, loc, value, value, from));
    SmallVector<Value> next = combine(builder, region, shifted, values);
    for (auto [value, combined] : llvm::zip(values, next))
      value = arith::SelectOp::create(builder, loc, mask, combined, value);
  }
  return values;
}

LogicalResult FunctionLowering::lowerScan(tt::ScanOp scan) {
  OpBuilder builder(scan);
  Location loc = scan.getLoc();
  TileEmitter emitter(*this, builder, loc, scan);
  RankedTensorType type = getTile(scan.getSrcs()[0]);
  Combiner combiner(scan.getCombineOp());
  Region &region = combiner.getRegion();
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
  using Values = SmallVector<Value>;
  auto readAt = [&](bool isVector) {
    Values values;
    for (auto [i, src] : llvm::enumerate(scan.getSrcs())) {
      Value value = toPartial(emitter, emitter.emit(src, at), getTile(src).getElementType(),
                              combiner.getPartialType(i));
      values.push_back(isVector ? emitter.toVector(value) : value);
    }
    return values;
  };
  auto writeAt = [&](ArrayRef<Value> values) {
    for (auto [i, value] : llvm::enumerate(values))
      emitter.storeToBuffer(
          results[i], fromPartial(emitter, value, combiner.getPartialType(i), results[i]->element),
          at);
  };
  // chunk(start, count, total of what stands before) returns the total after it.
  auto inChunks = [&](int64_t size, auto &&chunk) {
    const int64_t whole = n / size * size;
    Values total = chunk(emitter.constant(0), size, Values());
    if (size < whole) {
      Value start = emitter.openLoop(size, whole, size, total);
      Values before(emitter.getCarried());
      total = emitter.closeLoop(chunk(start, size, before));
    }
    if (whole < n)
      chunk(emitter.constant(whole), n - whole, total);
  };
  // Vectors along the axis: prefixes of the lanes, then combined with what stands before.
  const int64_t width = std::min<int64_t>(maxLanes, n);
  const bool alongLanes =
      inner == int(axis) && isVectorisable(region) && width >= 4 && n % width == 0;
  auto inVectors = [&]() {
    const bool reverse = scan.getReverse();
    unsigned before = emitter.getLanes();
    emitter.setLanes(width);
    auto prefixes = [&](Index index) {
      at[axis] = index;
      return scanLanes(builder, loc, region, readAt(true), reverse);
    };
    auto afterwards = [&](ArrayRef<Value> total, ArrayRef<Value> values) {
      Values wide;
      for (Value value : total)
        wide.push_back(emitter.toVector(value));
      return combine(builder, region, wide, values);
    };
    auto lastOf = [&](ArrayRef<Value> values) {
      Values last;
      for (Value value : values)
        last.push_back(vector::ExtractOp::create(builder, loc, value, reverse ? 0 : width - 1));
      return last;
    };
    // As `chunk` below, a vector in each step. From the back the bounds of masks do not end loops.
    auto chunk = [&](Value start, int64_t count, const Values &total) {
      auto place = [&](Value step) -> Index {
        return {Index::Linear,
                reverse ? emitter.lane(n - width, emitter.mul(step, -1)) : Value(step)};
      };
      auto write = [&](const Values &values) {
        writeAt(total.empty() ? values : afterwards(total, values));
      };
      Values values = prefixes(place(start));
      write(values);
      Values sum = lastOf(values);
      auto step = [&](Index index, ValueRange now) {
        Values next = afterwards(Values(now), prefixes(index));
        write(next);
        return lastOf(next);
      };
      if (count > width && !reverse) {
        sum = emitter.reductionLoops(start, width, count, width, 1, sum, step);
      } else if (count > width) {
        Value counter = emitter.openLoop(width, count, width, sum);
        Values now(emitter.getCarried());
        sum = emitter.closeLoop(step(place(emitter.add(start, counter)), now));
      }
      return total.empty() ? sum : combine(builder, region, total, sum);
    };
    int64_t size = n;
    if (combiner.rounds() && n / width > 64)
      size = width * int64_t(llvm::bit_ceil(uint64_t(std::sqrt(double(n / width)))));
    inChunks(size, chunk);
    emitter.setLanes(before);
  };
  auto along = [&](bool isVector) {
    auto place = [&](Value step) -> Index {
      if (!scan.getReverse())
        return {Index::Scalar, step};
      return {Index::Scalar, emitter.lane(n - 1, emitter.mul(step, -1))};
    };
    // Prefixes within the chunk [start, start + count), combined with that total.
    auto chunk = [&](Value start, int64_t count, const Values &before) {
      auto write = [&](const Values &prefix) {
        writeAt(before.empty() ? prefix : combine(builder, region, before, prefix));
      };
      at[axis] = place(start);
      Values prefix = readAt(isVector);
      write(prefix);
      if (count > 1) {
        at[axis] = place(emitter.add(start, emitter.openLoop(1, count, 1, prefix)));
        Values now(emitter.getCarried());
        Values next = combine(builder, region, now, readAt(isVector));
        write(next);
        prefix = emitter.closeLoop(next);
      }
      return before.empty() ? prefix : combine(builder, region, before, prefix);
    };
    // Short scans have one chunk, long ones about as many as a chunk is long.
    int64_t size = n;
    if (combiner.rounds() && n > 64)
      size = std::max<int64_t>(64, llvm::bit_ceil(uint64_t(std::sqrt(double(n)))));
    inChunks(size, chunk);
  };
  unsigned opened = 0;
  for (int d = 0; d < type.getRank(); ++d)
    if (d != int(axis) && !(vector && d == inner)) {
      at[d] = {Index::Scalar, emitter.openLoop(type.getDimSize(d))};
      ++opened;
    }
  if (vector) {
    explain(scan, "scan: each element of a vector is a row of its own");
    emitter.vectorLoops(type.getDimSize(inner), maxLanes, [&](Index index) {
      at[inner] = index;
      along(index.kind != Index::Scalar);
    });
  } else if (alongLanes) {
    explain(scan, "scan: a vector in each step");
    inVectors();
  } else {
    explain(scan, "scan: one element after the other",
            isVectorisable(region) ? StringRef() : oneByOneWhy);
    along(false);
  }
  while (opened--)
    emitter.closeLoop();
  for (auto [result, buffer] : llvm::zip(scan.getResult(), results))
    bind(result, buffer);
  return success();
}

} // namespace nereid::tiles
