// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: windows of blocks (Ascend extension). A window is gathered one
// dimension after the other; offsets may be known only at run time, and the
// window must lie inside the block.
#include "Rules.h"

using namespace nereid;
using namespace nereid::frontend;

namespace {
struct Window {
  std::vector<Value> offsets; // integer scalars or constants
  std::vector<int64_t> sizes, strides;
};
} // namespace

static Window windowArg(Semantic &s, const BoundArgs &args, unsigned first,
                        llvm::ArrayRef<int64_t> shape) {
  int64_t rank = shape.size();
  Window window{itemsArg(args, first), s.constexprShape(args, first + 1),
                s.constexprShape(args, first + 2)};
  for (auto [i, count] :
       {std::pair(first, window.offsets.size()), std::pair(first + 1, window.sizes.size()),
        std::pair(first + 2, window.strides.size())})
    if (int64_t(count) != rank)
      fail(Diag::block_pointer_rank, args.ranges[i], parameterName(args, i), count, rank);
  for (const Value &offset : window.offsets) {
    const Tensor *tensor = offset.getIf<Tensor>();
    if (!(offset.is<Int>() || (tensor && tensor->type.isScalar() && tensor->type.isInteger())))
      fail(Diag::argument_kind, args.ranges[first], "offsets", functionName(args.info),
           "a tuple of integers", offset.describe(), "");
  }
  s.checkShape(window.sizes, args.ranges[first + 1]);
  for (int64_t stride : window.strides)
    if (stride < 0)
      fail(Diag::argument_kind, args.ranges[first + 2], "strides", functionName(args.info),
           "non-negative", shapeString(window.strides), "");
  // What is known of where the window ends.
  for (int64_t d = 0; d < rank; ++d) {
    const Int *offset = window.offsets[d].getIf<Int>();
    Int start = offset ? *offset : Int(0),
        end = start + Int(window.sizes[d] - 1) * window.strides[d];
    if (start < 0 || end >= shape[d])
      fail(Diag::argument_kind, args.ranges[first], "offsets", functionName(args.info),
           llvm::formatv("such that the window lies inside the {0} elements of dimension {1}",
                         shape[d], d)
               .str(),
           llvm::formatv("from {0} to {1}", toString(start), toString(end)).str(), "");
  }
  return window;
}

/// Picks `row` (1-D indices) along `axis` of a block.
static Tensor gatherAxis(Semantic &s, const Tensor &source, Tensor row, int64_t axis,
                         const SourceRange &range) {
  std::vector<int64_t> shape(source.type.shape());
  shape[axis] = row.type.shape()[0];
  for (int64_t i = 0; i < int64_t(shape.size()); ++i)
    if (i != axis)
      row = s.expandDims(row, i, range);
  row = s.broadcastTo(row, shape, range);
  Type type = Type::block(shape, source.type.element());
  auto op = s.emit<tt::GatherOp>(range, type.lower(s.builder.getContext()), source.handle,
                                 row.handle, uint32_t(axis), false);
  return s.wrap(op.getResult(), type, range);
}

static Tensor extract(Semantic &s, Tensor block, const Window &window, const SourceRange &range) {
  for (size_t d = 0; d < window.sizes.size(); ++d) {
    Value row = s.arange(0, window.sizes[d], range);
    row = s.binary(BinaryOp::Mult, row, Int(window.strides[d]), range);
    row = s.binary(BinaryOp::Add, row, window.offsets[d], range);
    block = gatherAxis(s, block, row.as<Tensor>(), int64_t(d), range);
  }
  return block;
}

static Value extractSlice(Semantic &s, const BoundArgs &args) {
  Tensor block = blockArg(s, args, 0);
  return extract(s, block, windowArg(s, args, 1, block.type.shape()), args.range);
}

static Value getElement(Semantic &s, const BoundArgs &args) {
  Tensor block = blockArg(s, args, 0);
  size_t rank = block.type.shape().size();
  Window window{itemsArg(args, 1), std::vector<int64_t>(rank, 1), std::vector<int64_t>(rank, 1)};
  if (window.offsets.size() != rank)
    fail(Diag::block_pointer_rank, args.ranges[1], "indice", window.offsets.size(), rank);
  for (size_t d = 0; d < rank; ++d)
    if (const Int *index = window.offsets[d].getIf<Int>();
        index && (*index < 0 || *index >= block.type.shape()[d]))
      fail(Diag::argument_out_of_range, args.ranges[1], toString(*index),
           llvm::formatv("dimension {0}", d).str(), "0", std::to_string(block.type.shape()[d] - 1));
  return s.reshape(extract(s, block, window, args.range), {}, false, args.range);
}

static Value insertSlice(Semantic &s, const BoundArgs &args) {
  Tensor block = blockArg(s, args, 0), part = blockArg(s, args, 1);
  llvm::ArrayRef<int64_t> shape = block.type.shape();
  Window window = windowArg(s, args, 2, shape);
  if (part.type.shape() != llvm::ArrayRef<int64_t>(window.sizes))
    fail(Diag::broadcast_to_mismatch, args.ranges[1], shapeString(part.type.shape()),
         shapeString(window.sizes), "the inserted block has the shape of the window");
  part = s.cast(part, block.type.element(), args.range);
  auto op = [&](BinaryOp kind, const Value &a, const Value &b) {
    return s.binary(kind, a, b, args.range);
  };
  // Where every element of the block would come from, and whether it does.
  Value inside;
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t stride = std::max<int64_t>(window.strides[d], 1);
    Value distance = op(BinaryOp::Sub, s.arange(0, shape[d], args.range), window.offsets[d]);
    Value place = op(BinaryOp::FloorDiv, distance, Int(stride));
    Value hit =
        s.logical(true, s.compare(CompareOp::GtE, distance, Int(0), args.range),
                  s.compare(CompareOp::Lt, place, Int(window.sizes[d]), args.range), args.range);
    if (stride != 1)
      hit = s.logical(
          true, hit,
          s.compare(CompareOp::Eq, op(BinaryOp::Mod, distance, Int(stride)), Int(0), args.range),
          args.range);
    Tensor row = hit.as<Tensor>();
    Tensor zero = s.full({shape[d]}, Int(0), place.as<Tensor>().type.element(), args.range);
    part = gatherAxis(s, part, s.select(row, place.as<Tensor>(), zero, args.range), int64_t(d),
                      args.range);
    for (size_t i = 0; i < shape.size(); ++i)
      if (i != d)
        row = s.expandDims(row, int64_t(i), args.range);
    inside = d == 0 ? Value(row) : s.logical(true, inside, row, args.range);
  }
  Tensor mask = s.broadcastTo(inside.as<Tensor>(), shape, args.range);
  return s.select(mask, part, block, args.range);
}

static const BuiltinInfo rows[] = {
    {"al", "extract_slice", "ful, offsets, sizes, strides", true, extractSlice,
     "The window of a block: element i along a dimension is ful[offset + i * stride].\n\n"
     "offsets: integers, also run-time ones. sizes (at least 1), strides (at least 0): known at "
     "compile time. One entry\n"
     "per dimension; the window must lie inside the block."},
    {"al", "insert_slice", "ful, sub, offsets, sizes, strides", true, insertSlice,
     "A copy of ful whose window is replaced by sub, a block of shape sizes; see extract_slice."},
    {"al", "get_element", "src, indice", true, getElement,
     "One element of a block as a scalar. indice: one integer per dimension, also run-time ones."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::sliceRows() { return rows; }
