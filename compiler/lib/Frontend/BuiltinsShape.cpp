// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: shapes of blocks.
//
// The IR has few operations of shape. What it lacks is composed of them: join
// adds an innermost dimension of size 2; interleave merges it with the last
// one, cat moves it before the dimension that grows and merges it there; flip
// is a gather with descending indices.
#include "Rules.h"

#include <numeric>

using namespace nereid;
using namespace nereid::frontend;

static Value broadcast(Semantic &s, const BoundArgs &args) {
  auto [a, b] =
      s.broadcast(tensorArg(s, args, 0), tensorArg(s, args, 1), "tl.broadcast", args.range);
  return Tuple{{a, b}, {}};
}

static Value broadcastTo(Semantic &s, const BoundArgs &args) {
  return s.broadcastTo(tensorArg(s, args, 0), s.constexprShape(args, 1), args.range);
}

static Value expandDims(Semantic &s, const BoundArgs &args) {
  Tensor input = tensorArg(s, args, 0);
  std::vector<int64_t> axes = s.constexprShape(args, 1);
  int64_t rank = input.type.shape().size() + axes.size();
  for (int64_t &axis : axes)
    axis = normalizeAxis(s, axis, rank, input.type, args.ranges[1]);
  llvm::sort(axes);
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    fail(Diag::permute_invalid, args.ranges[1], shapeString(axes), rank, args[0].describe());
  for (int64_t axis : axes)
    input = s.expandDims(input, axis, args.range);
  return input;
}

static Value unsqueeze(Semantic &s, const BoundArgs &args) {
  Tensor input = tensorArg(s, args, 0);
  int64_t rank = input.type.shape().size() + 1;
  return s.expandDims(input,
                      normalizeAxis(s, s.constexprInt(args, 1), rank, input.type, args.ranges[1]),
                      args.range);
}

static Value squeeze(Semantic &s, const BoundArgs &args) {
  Tensor input = blockArg(s, args, 0);
  std::vector<int64_t> shape(input.type.shape());
  int64_t dim = normalizeAxis(s, s.constexprInt(args, 1), shape.size(), input.type, args.ranges[1]);
  if (shape[dim] != 1)
    fail(Diag::reshape_mismatch, args.range, args[0].describe(), "a shape without that dimension",
         shape[dim], 1);
  shape.erase(shape.begin() + dim);
  return s.reshape(input, shape, false, args.range);
}

static Value reshape(Semantic &s, const BoundArgs &args) {
  return s.reshape(tensorArg(s, args, 0), s.constexprShape(args, 1), s.constexprBool(args, 2),
                   args.range);
}

static Value view(Semantic &s, const BoundArgs &args) {
  return s.reshape(tensorArg(s, args, 0), s.constexprShape(args, 1), false, args.range);
}

static Value ravel(Semantic &s, const BoundArgs &args) {
  Tensor input = tensorArg(s, args, 0);
  return s.reshape(input, {input.type.numElements()}, s.constexprBool(args, 1), args.range);
}

static Value permute(Semantic &s, const BoundArgs &args) {
  Tensor input = blockArg(s, args, 0);
  std::vector<int64_t> dims = s.constexprShape(args, 1);
  for (int64_t &dim : dims)
    dim = normalizeAxis(s, dim, input.type.shape().size(), input.type, args.ranges[1]);
  return s.permute(input, dims, args.range);
}

static Value trans(Semantic &s, const BoundArgs &args) {
  Tensor input = blockArg(s, args, 0);
  if (!s.constexprShape(args, 1).empty())
    return permute(s, args);
  int64_t rank = input.type.shape().size();
  if (rank < 2)
    fail(Diag::permute_invalid, args.range, "(1, 0)", rank, args[0].describe());
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[rank - 1], order[rank - 2]);
  return s.permute(input, order, args.range);
}

/// Two blocks of equal shape and dtype as one with a new innermost dimension.
Tensor nereid::frontend::joinBlocks(Semantic &s, const Tensor &a, const Tensor &b,
                                    const SourceRange &range) {
  std::vector<int64_t> shape(a.type.shape());
  shape.push_back(2);
  Type type = Type::block(shape, a.type.element());
  s.checkShape(shape, range);
  return s.wrap(
      s.emit<tt::JoinOp>(range, type.lower(s.builder.getContext()), a.handle, b.handle).getResult(),
      type, range);
}

static std::pair<Tensor, Tensor> sameOperands(Semantic &s, const BoundArgs &args,
                                              const char *what) {
  auto [a, b] = s.operands(args[0], args[1], {what, true, true}, args.range);
  if (a.type.element() != b.type.element())
    failOperands(Diag::operands_invalid, args.range, args[0], args[1], what, args[0].describe(),
                 args[1].describe(), "");
  return {a, b};
}

static Value join(Semantic &s, const BoundArgs &args) {
  auto [a, b] = sameOperands(s, args, "tl.join");
  if (a.type.isBlock())
    return joinBlocks(s, a, b, args.range);
  Tensor joined =
      joinBlocks(s, s.splat(a, {1}, args.range), s.splat(b, {1}, args.range), args.range);
  return s.reshape(joined, {2}, false, args.range);
}

static Value split(Semantic &s, const BoundArgs &args) {
  Tensor input = blockArg(s, args, 0);
  std::vector<int64_t> shape(input.type.shape());
  if (shape.back() != 2)
    fail(Diag::split_shape, args.range, shapeString(shape));
  bool vector = shape.size() == 1;
  if (vector)
    input = s.reshape(input, {1, 2}, false, args.range);
  auto op = s.emit<tt::SplitOp>(args.range, input.handle);
  shape = input.type.shape().drop_back().vec();
  Type half = Type::block(shape, input.type.element());
  Tensor a = s.wrap(op.getOutLHS(), half, args.range), b = s.wrap(op.getOutRHS(), half, args.range);
  if (vector) {
    a = s.reshape(a, {}, false, args.range);
    b = s.reshape(b, {}, false, args.range);
  }
  return Tuple{{a, b}, {}};
}

static Value interleave(Semantic &s, const BoundArgs &args) {
  auto [a, b] = sameOperands(s, args, "tl.interleave");
  if (!a.type.isBlock()) {
    a = s.splat(a, {1}, args.range);
    b = s.splat(b, {1}, args.range);
  }
  std::vector<int64_t> shape(a.type.shape());
  shape.back() *= 2;
  return s.reshape(joinBlocks(s, a, b, args.range), shape, false, args.range);
}

static Value cat(Semantic &s, const BoundArgs &args) {
  Tensor a = blockArg(s, args, 0), b = blockArg(s, args, 1);
  auto mismatch = [&](llvm::StringRef help) {
    failOperands(Diag::cat_shape, args.range, args[0], args[1], args[0].describe(),
                 args[1].describe(), help);
  };
  if (a.type.element() != b.type.element())
    mismatch("both must have the same dtype");
  if (a.type.shape() != b.type.shape())
    mismatch("both must have the same shape");
  std::vector<int64_t> shape(a.type.shape());
  int64_t rank = shape.size();
  int64_t dim = normalizeAxis(s, s.constexprInt(args, 3), rank, a.type, args.ranges[3]);
  // join makes [..., 2]; the 2 goes before `dim` and is merged with it.
  std::vector<int64_t> order(rank + 1);
  for (int64_t i = 0; i <= rank; ++i)
    order[i] = i < dim ? i : i == dim ? rank : i - 1;
  shape[dim] *= 2;
  Tensor joined = s.permute(joinBlocks(s, a, b, args.range), order, args.range);
  return s.reshape(joined, shape, false, args.range);
}

static Value flip(Semantic &s, const BoundArgs &args) {
  Tensor input = blockArg(s, args, 0);
  llvm::ArrayRef<int64_t> shape = input.type.shape();
  int64_t rank = shape.size();
  int64_t dim = args[1].isNone()
                    ? rank - 1
                    : normalizeAxis(s, s.constexprInt(args, 1), rank, input.type, args.ranges[1]);
  // Gather with descending indices.
  Tensor last = s.full({shape[dim]}, Int(shape[dim] - 1), Scalar::Int32, args.range);
  Tensor indices =
      s.binary(BinaryOp::Sub, last, s.arange(0, shape[dim], args.range), args.range).as<Tensor>();
  for (int64_t i = 0; i < rank; ++i)
    if (i != dim)
      indices = s.expandDims(indices, i, args.range);
  indices = s.broadcastTo(indices, shape, args.range);
  mlir::Type lowered = input.type.lower(s.builder.getContext());
  return s.wrap(
      s.emit<tt::GatherOp>(args.range, lowered, input.handle, indices.handle, uint32_t(dim), false)
          .getResult(),
      input.type, args.range);
}

static Value swizzle2d(Semantic &s, const BoundArgs &args) {
  auto op = [&](BinaryOp kind, const Value &a, const Value &b) {
    return arithmetic(s, kind, a, b, args.range);
  };
  const Value &i = args[0], &j = args[1], &sizeI = args[2], &sizeJ = args[3], &sizeG = args[4];
  Value linear = op(BinaryOp::Add, op(BinaryOp::Mult, i, sizeJ), j);
  Value perGroup = op(BinaryOp::Mult, sizeG, sizeJ);
  Value group = op(BinaryOp::FloorDiv, linear, perGroup);
  Value first = op(BinaryOp::Mult, group, sizeG);
  Value rest = op(BinaryOp::Sub, sizeI, first);
  Value rows = minimumMaximum(s, false, rest, sizeG, false, "tl.swizzle2d", args.range);
  Value inside = op(BinaryOp::Mod, linear, perGroup);
  Value newI = op(BinaryOp::Add, first, op(BinaryOp::Mod, inside, rows));
  Value newJ = op(BinaryOp::FloorDiv, inside, rows);
  return Tuple{{newI, newJ}, {}};
}

static const BuiltinInfo rows[] = {
    {"tl", "broadcast", "input, other", true, broadcast,
     "Brings two values to their common shape and returns both.\n\n"
     "Missing dimensions are added on the left; sizes must be equal or 1."},
    {"tl", "broadcast_to", "input, *shape", true, broadcastTo,
     "Repeats dimensions of size 1 until input has the given shape, which must be of the same "
     "rank. A scalar is\n"
     "repeated everywhere."},
    {"tl", "expand_dims", "input, axis", true, expandDims,
     "Inserts dimensions of size 1.\n\naxis: an integer or a tuple of them, counted in the result; "
     "negative from the end."},
    {"tl", "unsqueeze", "x, dim", false, unsqueeze,
     "Inserts one dimension of size 1 at dim of the result."},
    {"tl", "squeeze", "x, dim", false, squeeze, "Removes dimension dim, which must be of size 1."},
    {"tl", "reshape", "input, *shape, can_reorder=False", true, reshape,
     "Same elements in row-major order in another shape; the number of elements must be equal.\n\n"
     "can_reorder: allows the compiler any order of the elements. An empty shape gives a scalar."},
    {"tl", "view", "input, *shape", true, view,
     "Old name of reshape; keeps the order of elements."},
    {"tl", "ravel", "x, can_reorder=False", true, ravel,
     "All elements in row-major order as a 1-D block."},
    {"tl", "permute", "input, *dims", true, permute,
     "Reorders dimensions: dimension i of the result is dimension dims[i] of input. Names each "
     "dimension once."},
    {"tl", "trans", "input, *dims", true, trans,
     "Like permute; without dims the last two dimensions are swapped."},
    {"tl", "join", "a, b", false, join,
     "Interleaves two values along a new innermost dimension of size 2. Operands are promoted and "
     "broadcast; two\n"
     "scalars give a block of shape [2]."},
    {"tl", "split", "a", true, split,
     "Inverse of join: the two halves of the last dimension, which must be of size 2."},
    {"tl", "interleave", "a, b", false, interleave,
     "Alternates the elements of a and b along the last dimension, which doubles."},
    {"tl", "cat", "input, other, can_reorder=False, dim=0", false, cat,
     "Concatenates two blocks of equal shape and dtype along dim, keeping the order of elements."},
    {"tl", "flip", "x, dim=None", true, flip,
     "Reverses the order of elements along dim (default: the last one)."},
    {"tl", "swizzle2d", "i, j, size_i, size_j, size_g", false, swizzle2d,
     "Maps tile indices of a row-major size_i x size_j grid to an order in which groups of size_g "
     "rows are walked\n"
     "column by column. Returns (new_i, new_j). All integers."},
    {"al", "flip", "ptr, dim=-1", false, flip, "Reverses the order of elements along dim."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::shapeRows() { return rows; }
