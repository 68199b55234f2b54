// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: sorting along the last dimension by networks of compare-exchange steps,
// each a gather of every element's partner and a select. All steps of sort put
// the lesser element first, with mirrored partners at the start of a merge: so a
// partner beyond the end counts as greatest, and any length can be sorted.
#include "Rules.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace nereid;
using namespace nereid::frontend;

namespace {
class Network {
public:
  Network(Semantic &s, Tensor values, bool descending, const SourceRange &range)
      : values(std::move(values)), s(s), descending(descending), range(range) {
    size = this->values.type.shape().back();
    position = s.arange(0, size, range);
  }

  /// One step: every element with that at (its position ^ mask).
  void step(const Value &mask) {
    Tensor partner = op(BinaryOp::BitXor, position, mask);
    Tensor isFirst = s.compare(CompareOp::Lt, position, partner, range).as<Tensor>();
    if (!isPowerOfTwo(size)) {
      Tensor inside = s.compare(CompareOp::Lt, partner, Int(size), range).as<Tensor>();
      partner = s.select(inside, partner, position, range);
    }
    Tensor other = pick(values, partner);
    // The first of a pair takes the partner when that is less, the second when
    // it is greater (descending: the other way round); equal ones stay.
    Tensor less =
        s.compare(descending ? CompareOp::Gt : CompareOp::Lt, other, values, range).as<Tensor>();
    Tensor greater =
        s.compare(descending ? CompareOp::Lt : CompareOp::Gt, other, values, range).as<Tensor>();
    Tensor first = alongLast(isFirst);
    Tensor swap = s.select(first, less, greater, range);
    values = s.select(swap, other, values, range);
  }

  void sort() {
    if (size <= kUnrolledSize) {
      for (int64_t run = 2; run / 2 < size; run *= 2) {
        step(Int(run - 1));
        for (int64_t distance = run / 4; distance > 0; distance /= 2)
          step(Int(distance));
      }
      return;
    }
    // As loops: the number of steps grows with the square of the size's logarithm.
    Tensor merges =
        s.constant(Int(int64_t(llvm::Log2_64_Ceil(uint64_t(size)))), Scalar::Int32, range);
    loop(merges, [&](const Tensor &merge) {
      Tensor run = op(BinaryOp::LShift, Int(2), merge);
      step(op(BinaryOp::Sub, run, Int(1)));
      Tensor quarter = op(BinaryOp::RShift, run, Int(2));
      loop(merge, [&](const Tensor &i) { step(op(BinaryOp::RShift, quarter, i)); });
    });
  }

  void merge() {
    for (int64_t distance = size / 2; distance > 0; distance /= 2)
      step(Int(distance));
  }

  /// The first `count` elements.
  Tensor leading(int64_t count) { return pick(values, s.arange(0, count, range)); }

  Tensor values;

private:
  /// Longest dimension that is sorted without loops.
  static constexpr int64_t kUnrolledSize = 16;

  /// `body` with 0, 1, ... count - 1; the values are carried.
  void loop(const Tensor &count, llvm::function_ref<void(const Tensor &)> body) {
    mlir::Location loc = s.loc(range);
    mlir::Value zero = s.constant(Int(0), Scalar::Int32, range).handle;
    mlir::Value one = s.constant(Int(1), Scalar::Int32, range).handle;
    auto loop = mlir::scf::ForOp::create(s.builder, loc, zero, count.handle, one,
                                         mlir::ValueRange{values.handle});
    mlir::OpBuilder::InsertionGuard guard(s.builder);
    s.builder.setInsertionPointToStart(loop.getBody());
    values.handle = loop.getRegionIterArg(0);
    body(s.wrap(loop.getInductionVar(), Scalar::Int32, range));
    mlir::scf::YieldOp::create(s.builder, loc, values.handle);
    values.handle = loop.getResult(0);
  }

  Tensor op(BinaryOp kind, const Value &a, const Value &b) {
    return s.binary(kind, a, b, range).as<Tensor>();
  }

  /// A 1-D block repeated over the leading dimensions.
  Tensor alongLast(Tensor row) {
    std::vector<int64_t> shape(values.type.shape());
    shape.back() = row.type.shape()[0];
    while (row.type.shape().size() < shape.size())
      row = s.expandDims(row, 0, range);
    return s.broadcastTo(row, shape, range);
  }

  Tensor pick(const Tensor &source, const Tensor &row) {
    Tensor indices = alongLast(row);
    Type type = Type::block(indices.type.shape(), source.type.element());
    uint32_t axis = uint32_t(type.shape().size() - 1);
    return s.wrap(s.emit<tt::GatherOp>(range, type.lower(s.builder.getContext()), source.handle,
                                       indices.handle, axis, false)
                      .getResult(),
                  type, range);
  }

  Semantic &s;
  bool descending;
  const SourceRange &range;
  int64_t size;
  Tensor position;
};
} // namespace

/// The bits of floats, as integers in the order of the numbers, with positive
/// NaN above all; its own inverse.
static Tensor orderBits(Semantic &s, const Tensor &key, const SourceRange &range) {
  unsigned bits = key.type.bits();
  // Negative numbers, whose magnitude counts the other way, lose to all others.
  Int magnitude = (Int(1) << (bits - 1)) - 1;
  Value negative = s.binary(BinaryOp::RShift, key, Int(bits - 1), range);
  Value flips = s.binary(BinaryOp::BitAnd, negative, magnitude, range);
  return s.binary(BinaryOp::BitXor, key, flips, range).as<Tensor>();
}

/// NaNs of either sign and any payload as one positive NaN.
static Tensor oneNaN(Semantic &s, const Tensor &x, const SourceRange &range) {
  if (!x.type.isFloating() || x.type.scalar() == Scalar::Fp8E4B15)
    return x;
  Tensor isNaN = s.compare(CompareOp::NotEq, x, x, range).as<Tensor>();
  Tensor nan =
      s.full(x.type.shape(), std::numeric_limits<double>::quiet_NaN(), x.type.element(), range);
  return s.select(isNaN, nan, x, range);
}

static Tensor sortingKeys(Semantic &s, const Tensor &x, const SourceRange &range) {
  if (!x.type.isFloating())
    return x;
  unsigned bits = x.type.bits();
  Scalar scalar = bits == 8    ? Scalar::Int8
                  : bits == 16 ? Scalar::Int16
                  : bits == 32 ? Scalar::Int32
                               : Scalar::Int64;
  return orderBits(s, s.bitcast(oneNaN(s, x, range), scalar, range), range);
}

static Tensor fromKeys(Semantic &s, const Tensor &keys, Type type, const SourceRange &range) {
  return type.isFloating() ? s.bitcast(orderBits(s, keys, range), type.element(), range) : keys;
}

/// The block to sort; `dim` must be its last dimension.
static Tensor sortable(Semantic &s, const BoundArgs &args, unsigned dimIndex) {
  Tensor x = blockArg(s, args, 0);
  if (x.type.isPointerLike())
    fail(Diag::unsupported_dtype, args.ranges[0], x.type.element().str(), functionName(args.info),
         "");
  int64_t rank = x.type.shape().size();
  if (!args[dimIndex].isNone() && normalizeAxis(s, s.constexprInt(args, dimIndex), rank, x.type,
                                                args.ranges[dimIndex]) != rank - 1)
    fail(Diag::not_supported_yet, args.ranges[dimIndex],
         functionName(args.info) + " along another dimension", "",
         "permute so that the dimension is the last one, and back afterwards");
  return x;
}

static Value sort(Semantic &s, const BoundArgs &args) {
  Tensor x = sortable(s, args, 1);
  Network network(s, sortingKeys(s, x, args.range), s.constexprBool(args, 2), args.range);
  network.sort();
  return fromKeys(s, network.values, x.type, args.range);
}

static Value topk(Semantic &s, const BoundArgs &args) {
  Tensor x = sortable(s, args, 2);
  Int count = s.constexprInt(args, 1);
  if (count < 1 || count > x.type.shape().back())
    fail(Diag::argument_out_of_range, args.ranges[1], toString(count), "k", "1",
         std::to_string(x.type.shape().back()));
  Network network(s, sortingKeys(s, x, args.range), s.constexprBool(args, 3), args.range);
  network.sort();
  return fromKeys(s, network.leading(int64_t(count)), x.type, args.range);
}

static Value bitonicMerge(Semantic &s, const BoundArgs &args) {
  Tensor x = sortable(s, args, 1);
  int64_t size = x.type.shape().back();
  if (!isPowerOfTwo(size))
    fail(Diag::power_of_two, args.range, "tl.bitonic_merge", x.type.shape().size() - 1,
         args[0].describe(), size, "use tl.sort");
  Network network(s, sortingKeys(s, x, args.range), s.constexprBool(args, 2), args.range);
  network.merge();
  return fromKeys(s, network.values, x.type, args.range);
}

static const BuiltinInfo rows[] = {
    {"tl", "sort", "x, dim=None, descending=False", true, sort,
     "Sorts along dim, which must be the last dimension; any length. NaN counts as greater than "
     "all numbers\n"
     "and comes out as one positive NaN; -0 stands below 0."},
    {"tl", "topk", "x, k, dim=None, descending=True", true, topk,
     "The k greatest elements along the last dimension, greatest first (descending=False: the k "
     "least, least first)."},
    {"tl", "bitonic_merge", "x, dim=None, descending=False", false, bitonicMerge,
     "Sorts along the last dimension, of a power-of-two size, what first rises and then falls (or "
     "the reverse)."},
    {"al", "sort", "ptr, dim=-1, descending=False", false, sort,
     "Sorts along dim, which must be the last dimension; any length."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::sortRows() { return rows; }
