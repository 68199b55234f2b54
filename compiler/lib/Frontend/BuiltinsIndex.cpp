// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: indexed reads and writes of global memory (Ascend extension). They
// become ordinary loads and stores with masks; a strided tensor is given by its
// first element and a stride for each dimension.
//
//   pointer + at * stride[dim] + sum over d != dim of (start[d] + i[d]) * stride[d]
//   where 0 <= index < boundary, and start[d] + i[d] < end[d] for every d
//
// `at` is the index, of index_put, or the index plus start[dim], of gather and
// scatter. index_select is simpler: its source is dense, so that strides follow
// from the sizes, and its indices are not tested.
#include "Rules.h"

using namespace nereid;
using namespace nereid::frontend;

namespace {
struct Emit {
  Semantic &s;
  const SourceRange &range;
  Tensor op(BinaryOp kind, const Value &a, const Value &b) const {
    return s.binary(kind, a, b, range).as<Tensor>();
  }
  Tensor compare(CompareOp kind, const Value &a, const Value &b) const {
    return s.compare(kind, a, b, range).as<Tensor>();
  }
  Tensor both(const Value &a, const Value &b) const {
    return s.logical(true, a, b, range).as<Tensor>();
  }
  /// 0, 1, ... along dimension `dim` of a block of rank `rank`, as int64.
  Tensor along(int64_t size, int64_t dim, int64_t rank) const {
    Tensor x = s.cast(s.arange(0, size, range), Scalar::Int64, range);
    return spread(x, dim, rank);
  }
  Tensor spread(Tensor x, int64_t dim, int64_t rank) const {
    for (int64_t i = 0; i < rank; ++i)
      if (i != dim)
        x = s.expandDims(x, i, range);
    return x;
  }
};
} // namespace

static Tensor globalPointer(Semantic &s, const BoundArgs &args, bool written) {
  Tensor pointer = tensorArg(s, args, 0);
  if (!pointer.type.isPointer() || pointer.type.pointee().isVoid())
    fail(Diag::not_a_pointer, args.ranges[0], functionName(args.info), args[0].describe(),
         "pass the single pointer to the first element");
  if (written && pointer.type.element().isConstPointer())
    fail(Diag::store_const, args.ranges[0]);
  return pointer;
}

static Tensor indexArg(Semantic &s, const BoundArgs &args, unsigned i) {
  Tensor index = blockArg(s, args, i);
  if (!index.type.isInteger() || index.type.isBool())
    fail(Diag::argument_kind, args.ranges[i], parameterName(args, i), functionName(args.info),
         "a block of integers", args[i].describe(), "");
  return s.cast(index, Scalar::Int64, args.range);
}

/// One integer for each of `rank` dimensions.
static std::vector<Value> numbersArg(Semantic &s, const BoundArgs &args, unsigned i, int64_t rank) {
  std::vector<Value> numbers = itemsArg(args, i);
  if (int64_t(numbers.size()) != rank)
    fail(Diag::block_pointer_rank, args.ranges[i], parameterName(args, i), numbers.size(), rank);
  for (Value &number : numbers) {
    const Tensor *tensor = number.getIf<Tensor>();
    if (!(number.is<Int>() || (tensor && tensor->type.isScalar() && tensor->type.isInteger())))
      fail(Diag::argument_kind, args.ranges[i], parameterName(args, i), functionName(args.info),
           "a tuple of integers", number.describe(), "");
    if (tensor)
      number = s.cast(*tensor, Scalar::Int64, args.ranges[i]);
  }
  return numbers;
}

static Value integerArg(Semantic &s, const BoundArgs &args, unsigned i) {
  if (args[i].is<Int>())
    return args[i];
  return intScalarArg(s, args, i, Scalar::Int64);
}

static int64_t dimArg(Semantic &s, const BoundArgs &args, unsigned i, int64_t rank, int64_t limit) {
  Int dim = s.constexprInt(args, i);
  if (dim < 0 || dim >= limit)
    fail(Diag::argument_out_of_range, args.ranges[i], toString(dim), "dim", "0",
         std::to_string(limit - 1));
  return int64_t(dim);
}

/// Addresses of all elements of a block and whether they are meant: the
/// coordinate along `dim` comes from `index`, the others start at `start` and
/// end before `end`.
static std::pair<Tensor, Tensor> addresses(Semantic &s, const SourceRange &range,
                                           const Tensor &pointer, llvm::ArrayRef<int64_t> shape,
                                           int64_t dim, const Tensor &index, bool addStart,
                                           const Value &boundary, llvm::ArrayRef<Value> strides,
                                           llvm::ArrayRef<Value> ends,
                                           llvm::ArrayRef<Value> starts) {
  Emit e{s, range};
  int64_t rank = shape.size();
  Tensor mask =
      e.both(e.compare(CompareOp::GtE, index, Int(0)), e.compare(CompareOp::Lt, index, boundary));
  Tensor along = addStart ? e.op(BinaryOp::Add, index, starts[dim]) : index;
  Tensor offset = e.op(BinaryOp::Mult, along, strides[dim]);
  for (int64_t d = 0; d < rank; ++d) {
    Tensor place = e.op(BinaryOp::Add, e.along(shape[d], d, rank), starts[d]);
    mask = e.both(mask, e.compare(CompareOp::Lt, place, ends[d]));
    if (d != dim)
      offset = e.op(BinaryOp::Add, offset, e.op(BinaryOp::Mult, place, strides[d]));
  }
  Tensor pointers =
      s.binary(BinaryOp::Add, pointer, s.broadcastTo(offset, shape, range), range).as<Tensor>();
  return {pointers, s.broadcastTo(mask, shape, range)};
}

static Value loadMasked(Semantic &s, const SourceRange &range, const Tensor &pointers,
                        const Tensor &mask, const Value &other) {
  const BuiltinInfo *info = findBuiltin("tl", "load");
  BoundArgs call{
      *info,
      {pointers, mask, other, Tuple{}, std::string(), std::string(), std::string(), false, true},
      std::vector<SourceRange>(9, range),
      range};
  return load(s, call);
}

static Value storeMasked(Semantic &s, const SourceRange &range, const Tensor &pointers,
                         const Value &value, const Tensor &mask) {
  const BuiltinInfo *info = findBuiltin("tl", "store");
  BoundArgs call{*info,
                 {pointers, value, mask, Tuple{}, std::string(), std::string()},
                 std::vector<SourceRange>(6, range),
                 range};
  return info->rule(s, call);
}

static Value indexPut(Semantic &s, const BoundArgs &args) {
  Tensor pointer = globalPointer(s, args, true), index = indexArg(s, args, 1),
         value = blockArg(s, args, 2);
  llvm::ArrayRef<int64_t> shape = value.type.shape();
  int64_t rank = shape.size();
  if (rank < 2 || rank > 5)
    fail(Diag::argument_kind, args.ranges[2], "value", functionName(args.info),
         "a block of rank 2 to 5", args[2].describe(), "");
  int64_t dim = dimArg(s, args, 3, rank, rank - 1);
  if (index.type.numElements() != shape[dim])
    failOperands(Diag::gather_shape, args.range, args[2], args[1], args[2].describe(),
                 args[1].describe(), dim);
  index = Emit{s, args.range}.spread(s.reshape(index, {shape[dim]}, false, args.range), dim, rank);
  auto [pointers, mask] = addresses(s, args.range, pointer, shape, dim, index, false,
                                    integerArg(s, args, 4), numbersArg(s, args, 7, rank),
                                    numbersArg(s, args, 5, rank), numbersArg(s, args, 6, rank));
  return storeMasked(s, args.range, pointers, value, mask);
}

static Value gatherOutToUb(Semantic &s, const BoundArgs &args) {
  Tensor pointer = globalPointer(s, args, false), index = indexArg(s, args, 1);
  llvm::ArrayRef<int64_t> shape = index.type.shape();
  int64_t rank = shape.size();
  int64_t dim = dimArg(s, args, 3, rank, rank);
  auto [pointers, mask] = addresses(s, args.range, pointer, shape, dim, index, true,
                                    integerArg(s, args, 2), numbersArg(s, args, 4, rank),
                                    numbersArg(s, args, 5, rank), numbersArg(s, args, 6, rank));
  return loadMasked(s, args.range, pointers, mask, args[7]);
}

static Value scatterUbToOut(Semantic &s, const BoundArgs &args) {
  Tensor pointer = globalPointer(s, args, true), index = indexArg(s, args, 2);
  llvm::ArrayRef<int64_t> shape = index.type.shape();
  int64_t rank = shape.size();
  int64_t dim = dimArg(s, args, 4, rank, rank);
  auto [pointers, mask] = addresses(s, args.range, pointer, shape, dim, index, true,
                                    integerArg(s, args, 3), numbersArg(s, args, 5, rank),
                                    numbersArg(s, args, 6, rank), numbersArg(s, args, 7, rank));
  return storeMasked(s, args.range, pointers, args[1], mask);
}

static Value indexSelect(Semantic &s, const BoundArgs &args) {
  Tensor pointer = globalPointer(s, args, false), index = indexArg(s, args, 2);
  Emit e{s, args.range};
  if (index.type.shape().size() != 1)
    fail(Diag::argument_kind, args.ranges[2], "index", functionName(args.info),
         "a 1-D block of integers", args[2].describe(), "");
  std::vector<int64_t> shape = s.constexprShape(args, 5);
  int64_t rank = shape.size();
  int64_t dim = dimArg(s, args, 1, rank, std::max<int64_t>(rank - 1, 1));
  if (shape[dim] != -1)
    fail(Diag::argument_kind, args.ranges[5], "read_shape", functionName(args.info),
         "a tuple with -1 at dim " + std::to_string(dim), shapeString(shape), "");
  shape[dim] = index.type.shape()[0];
  s.checkShape(shape, args.ranges[5]);
  std::vector<Value> sizes = numbersArg(s, args, 3, rank), starts = numbersArg(s, args, 4, rank);
  // The source is dense: strides from its sizes, innermost first. What lies
  // behind its ends is not read; indices are not tested.
  std::vector<Value> strides(rank);
  Value stride = Int(1);
  for (int64_t d = rank; d-- > 0;) {
    strides[d] = stride;
    stride = arithmetic(s, BinaryOp::Mult, stride, sizes[d], args.range);
  }
  Tensor along = e.spread(index, dim, rank);
  Tensor offset = e.op(BinaryOp::Mult, along, strides[dim]);
  Tensor mask = s.full(std::vector<int64_t>(rank, 1), true, Scalar::Int1, args.range);
  for (int64_t d = 0; d < rank; ++d) {
    if (d == dim)
      continue;
    Tensor place = e.op(BinaryOp::Add, e.along(shape[d], d, rank), starts[d]);
    mask = e.both(mask, e.compare(CompareOp::Lt, place, sizes[d]));
    offset = e.op(BinaryOp::Add, offset, e.op(BinaryOp::Mult, place, strides[d]));
  }
  Tensor pointers =
      s.binary(BinaryOp::Add, pointer, s.broadcastTo(offset, shape, args.range), args.range)
          .as<Tensor>();
  return loadMasked(s, args.range, pointers, s.broadcastTo(mask, shape, args.range), None{});
}

static const BuiltinInfo rows[] = {
    {"al", "index_put",
     "ptr, index, value, dim, index_boundary, end_offset, start_offset, dst_stride", false,
     indexPut,
     "Writes the slices of value along dim to the places that index says: dst[.., index[i], .., "
     "start + j] =\n"
     "value[.., i, .., j]. Indices outside 0 .. index_boundary - 1 and places from end_offset on "
     "are skipped.\n\n"
     "value: rank 2 to 5; dim: not the last one; index: as many integers as value.shape[dim]. The "
     "offsets and\n"
     "dst_stride (in elements) have one entry for each dimension."},
    {"al", "gather_out_to_ub",
     "src, index, index_boundary, dim, src_stride, end_offset, start_offset, other=None", false,
     gatherOutToUb,
     "Reads src at index along dim and at start_offset + j along the others; the result has "
     "index's shape.\n\n"
     "Indices outside 0 .. index_boundary - 1 and places from end_offset on read as other, or 0. "
     "The offsets and\n"
     "src_stride (in elements) have one entry for each dimension."},
    {"al", "scatter_ub_to_out",
     "ptr, value, index, index_boundary, dim, dst_stride, end_offset, start_offset", false,
     scatterUbToOut,
     "Writes value (of index's shape, or a number) where gather_out_to_ub would read; what it "
     "would not read is\n"
     "skipped."},
    {"al", "index_select_simd", "src, dim, index, src_shape, src_offset, read_shape", false,
     indexSelect,
     "Reads whole slices of a dense tensor: result[.., i, .., j] = src[.., index[i], .., "
     "src_offset + j].\n\n"
     "dim: not the last one; read_shape[dim] is -1, src_offset[dim] is ignored. Elements outside "
     "src_shape in the\n"
     "other dimensions read as 0; indices must lie inside."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::indexRows() { return rows; }
