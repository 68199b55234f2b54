// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: tensor descriptors.
//
// What is asked of a descriptor (innermost stride 1, blocks of at least 16
// bytes in the innermost dimension, blocks of one row for gather and scatter)
// is what the copying hardware of GPUs asks. It is asked on every target, so
// that a kernel does not work on one alone.
//
// Coordinates are 32 bits in the IR. Wider ones are saturated, not cut: what is
// out of the range of int32 is outside of every tensor, and must stay there.
#include "Rules.h"
#include "nereid/Support/AttributeNames.h"

using namespace nereid;
using namespace nereid::frontend;

static Tensor descriptorArg(Semantic &s, const BoundArgs &args) {
  Tensor desc = tensorArg(s, args, 0);
  if (!desc.type.isDescriptor())
    fail(Diag::argument_kind, args.ranges[0], parameterName(args, 0), functionName(args.info),
         "a tensor descriptor", args[0].describe(), "make one with tl.make_tensor_descriptor");
  return desc;
}

static Tensor integerItem(Semantic &s, const BoundArgs &args, unsigned i, const Value &item,
                          Type type) {
  const Tensor *tensor = item.getIf<Tensor>();
  bool valid = tensor ? tensor->type.isScalar() && tensor->type.isInteger()
                      : item.is<Int>() || item.is<bool>();
  if (!valid)
    fail(Diag::argument_kind, args.ranges[i], parameterName(args, i), functionName(args.info),
         "a list of integers", item.describe(), "");
  return numberAs(s, item, type, args.ranges[i]);
}

/// A coordinate as int32. One that is outside of it lies outside of every tensor, as
/// the nearest one inside does.
static Tensor coordinate(Semantic &s, const Tensor &tensor, const SourceRange &range) {
  return s.castSaturating(tensor, Scalar::Int32, range);
}
static Tensor coordinate(Semantic &s, const BoundArgs &args, unsigned i, const Value &item) {
  const Tensor *tensor = item.getIf<Tensor>();
  if (tensor && tensor->type.isScalar() && tensor->type.isInteger())
    return coordinate(s, *tensor, args.ranges[i]);
  return integerItem(s, args, i, item, Scalar::Int32);
}

static llvm::SmallVector<mlir::Value> offsetsArg(Semantic &s, const BoundArgs &args, unsigned i,
                                                 const Tensor &desc) {
  llvm::SmallVector<mlir::Value> values;
  for (const Value &item : itemsArg(args, i))
    values.push_back(coordinate(s, args, i, item).handle);
  if (values.size() != desc.type.shape().size())
    fail(Diag::descriptor_rank, args.ranges[i], "offsets", values.size(), desc.type.shape().size());
  return values;
}

static Value makeDescriptor(Semantic &s, const BoundArgs &args) {
  Tensor base = tensorArg(s, args, 0);
  if (!base.type.isPointer() || base.type.pointee().isVoid())
    fail(Diag::not_a_pointer, args.ranges[0], "tl.make_tensor_descriptor", args[0].describe(),
         "pass the single pointer to the first element");
  Type element = base.type.pointee();
  std::vector<int64_t> blockShape = s.constexprShape(args, 3);
  s.checkShape(blockShape, args.ranges[3]);
  size_t rank = blockShape.size();
  if (rank < 1 || rank > 5)
    fail(Diag::descriptor_invalid, args.ranges[3], "block_shape has rank " + std::to_string(rank),
         "ranks 1 to 5 work");
  llvm::SmallVector<mlir::Value> shape, strides;
  for (const Value &item : itemsArg(args, 1))
    shape.push_back(integerItem(s, args, 1, item, Scalar::Int32).handle);
  std::vector<Value> strideItems = itemsArg(args, 2);
  for (const Value &item : strideItems)
    strides.push_back(integerItem(s, args, 2, item, Scalar::Int64).handle);
  if (shape.size() != rank)
    fail(Diag::descriptor_rank, args.ranges[1], "shape", shape.size(), rank);
  if (strides.size() != rank)
    fail(Diag::descriptor_rank, args.ranges[2], "strides", strides.size(), rank);
  const Int *last = strideItems.back().getIf<Int>();
  if (!last || *last != 1)
    fail(Diag::descriptor_invalid, args.ranges[2],
         "the last stride is " + strideItems.back().describe(),
         "it must be the constant 1: the innermost dimension is contiguous");
  if (blockShape.back() * element.bits() < 16 * 8)
    fail(Diag::descriptor_invalid, args.ranges[3],
         llvm::formatv("the innermost dimension of a block has {0} bytes",
                       blockShape.back() * element.bits() / 8)
             .str(),
         "it needs at least 16");
  std::string padding = args[4].isNone() ? "zero" : choiceArg(s, args, 4, {"zero", "nan"});
  if (padding == "nan" && (!element.isFloating() || element.scalar() == Scalar::Fp8E4B15))
    fail(Diag::padding_nan_integer, args.ranges[4], element.str());
  Type type = Type::descriptor(blockShape, element);
  auto op = s.emit<tt::MakeTensorDescOp>(
      args.range, type.lower(s.builder.getContext()), base.handle, shape, strides,
      padding == "nan" ? tt::PaddingOption::PAD_NAN : tt::PaddingOption::PAD_ZERO);
  return s.wrap(op.getResult(), type, args.range);
}

static Value descriptorLoad(Semantic &s, const BoundArgs &args) {
  Tensor desc = descriptorArg(s, args);
  auto offsets = offsetsArg(s, args, 1, desc);
  bool isBool = desc.type.element().isBool();
  Type type = Type::block(desc.type.shape(), isBool ? Type(Scalar::Int8) : desc.type.element());
  auto op =
      s.emit<tt::DescriptorLoadOp>(args.range, type.lower(s.builder.getContext()), desc.handle,
                                   offsets, tt::CacheModifier::NONE, tt::EvictionPolicy::NORMAL);
  Tensor result = s.wrap(op.getResult(), type, args.range);
  return isBool ? s.cast(result, Scalar::Int1, args.range) : result;
}

/// The value of a store, in the shape and dtype of the descriptor's blocks.
static Tensor blockValue(Semantic &s, const BoundArgs &args, unsigned i, const Tensor &desc) {
  Tensor value = s.broadcastTo(tensorArg(s, args, i), desc.type.shape(), args.ranges[i]);
  Type element = desc.type.element();
  value = s.cast(value, element, args.ranges[i]);
  return element.isBool() ? s.cast(value, Scalar::Int8, args.ranges[i]) : value;
}

static Value descriptorStore(Semantic &s, const BoundArgs &args) {
  Tensor desc = descriptorArg(s, args);
  auto offsets = offsetsArg(s, args, 1, desc);
  s.emit<tt::DescriptorStoreOp>(args.range, desc.handle, blockValue(s, args, 2, desc).handle,
                                offsets);
  return None{};
}

template <tt::DescriptorReduceKind kind>
static Value descriptorReduce(Semantic &s, const BoundArgs &args) {
  Tensor desc = descriptorArg(s, args);
  auto offsets = offsetsArg(s, args, 1, desc);
  if (desc.type.element().isBool() || desc.type.element().isFp8())
    fail(Diag::atomic_dtype, args.range, std::string("descriptor.") + args.info.name,
         desc.type.element().str(),
         "it works on integers of 8 to 64 bits and on fp16, bf16, fp32 and fp64");
  bool bitwise = kind == tt::DescriptorReduceKind::AND || kind == tt::DescriptorReduceKind::OR ||
                 kind == tt::DescriptorReduceKind::XOR;
  if (bitwise && !desc.type.element().isInteger())
    fail(Diag::atomic_dtype, args.range, std::string("descriptor.") + args.info.name,
         desc.type.element().str(), "it works on integers only");
  auto reduce = s.emit<tt::DescriptorReduceOp>(args.range, kind, desc.handle,
                                               blockValue(s, args, 2, desc).handle, offsets);
  bool order = kind == tt::DescriptorReduceKind::MIN || kind == tt::DescriptorReduceKind::MAX;
  if (order && desc.type.element().isUnsigned())
    reduce->setAttr(attr::isUnsigned, mlir::UnitAttr::get(reduce.getContext()));
  return None{};
}

/// x_offsets of gather and scatter: a 1-D block of int32.
static Tensor rowsArg(Semantic &s, const BoundArgs &args, unsigned i, const Tensor &desc) {
  if (desc.type.shape().size() != 2 || desc.type.shape()[0] != 1)
    fail(Diag::descriptor_invalid, args.range,
         "its blocks have shape " + shapeString(desc.type.shape()),
         "gather and scatter need blocks of one row: block_shape=(1, N)");
  Tensor rows = blockArg(s, args, i);
  if (rows.type.shape().size() != 1 || !rows.type.isInteger())
    fail(Diag::argument_kind, args.ranges[i], parameterName(args, i), functionName(args.info),
         "a 1-D block of integers", args[i].describe(), "");
  return coordinate(s, rows, args.ranges[i]);
}

static Tensor columnArg(Semantic &s, const BoundArgs &args, unsigned i) {
  const Tensor *tensor = args[i].getIf<Tensor>();
  if (tensor && tensor->type.isScalar() && tensor->type.isInteger())
    return coordinate(s, *tensor, args.ranges[i]);
  return intScalarArg(s, args, i, Scalar::Int32);
}

static Value descriptorGather(Semantic &s, const BoundArgs &args) {
  Tensor desc = descriptorArg(s, args);
  Tensor rows = rowsArg(s, args, 1, desc), column = columnArg(s, args, 2);
  bool isBool = desc.type.element().isBool();
  Type type = Type::block({rows.type.shape()[0], desc.type.shape()[1]},
                          isBool ? Type(Scalar::Int8) : desc.type.element());
  auto op = s.emit<tt::DescriptorGatherOp>(args.range, type.lower(s.builder.getContext()),
                                           desc.handle, rows.handle, column.handle);
  Tensor result = s.wrap(op.getResult(), type, args.range);
  return isBool ? s.cast(result, Scalar::Int1, args.range) : result;
}

static Value descriptorScatter(Semantic &s, const BoundArgs &args) {
  Tensor desc = descriptorArg(s, args);
  Tensor rows = rowsArg(s, args, 2, desc), column = columnArg(s, args, 3);
  Tensor value = s.broadcastTo(tensorArg(s, args, 1), {rows.type.shape()[0], desc.type.shape()[1]},
                               args.ranges[1]);
  value = s.cast(value, desc.type.element(), args.ranges[1]);
  if (desc.type.element().isBool())
    value = s.cast(value, Scalar::Int8, args.ranges[1]);
  s.emit<tt::DescriptorScatterOp>(args.range, desc.handle, rows.handle, column.handle,
                                  value.handle);
  return None{};
}

static const char *const reduceDoc =
    "Atomically combines value into the block at offsets; elements outside the tensor are dropped.";
static const BuiltinInfo rows[] = {
    {"tl", "make_tensor_descriptor", "base, shape, strides, block_shape, padding_option=\"zero\"",
     false, makeDescriptor,
     "Descriptor of a strided tensor in memory that is read and written in blocks.\n\n"
     "base: pointer to the first element. shape, strides: integers, one per dimension (1 to 5); "
     "the last stride is the\n"
     "constant 1. block_shape: known at compile time, innermost dimension of at least 16 bytes. "
     "padding_option:\n"
     "\"zero\" or \"nan\", what elements outside the tensor read as."},
    {"tl", "load_tensor_descriptor", "desc, offsets", false, descriptorLoad, "desc.load(offsets)."},
    {"tl", "store_tensor_descriptor", "desc, offsets, value", false, descriptorStore,
     "desc.store(offsets, value)."},
    {"descriptor", "load", "self, offsets", false, descriptorLoad,
     "Reads the block at offsets (integers, one per dimension)."},
    {"descriptor", "store", "self, offsets, value", false, descriptorStore,
     "Writes value, broadcast and cast, to the block at offsets; elements outside the tensor are "
     "dropped."},
    {"descriptor", "atomic_add", "self, offsets, value", false,
     descriptorReduce<tt::DescriptorReduceKind::ADD>, reduceDoc},
    {"descriptor", "atomic_min", "self, offsets, value", false,
     descriptorReduce<tt::DescriptorReduceKind::MIN>, reduceDoc},
    {"descriptor", "atomic_max", "self, offsets, value", false,
     descriptorReduce<tt::DescriptorReduceKind::MAX>, reduceDoc},
    {"descriptor", "atomic_and", "self, offsets, value", false,
     descriptorReduce<tt::DescriptorReduceKind::AND>, reduceDoc},
    {"descriptor", "atomic_or", "self, offsets, value", false,
     descriptorReduce<tt::DescriptorReduceKind::OR>, reduceDoc},
    {"descriptor", "atomic_xor", "self, offsets, value", false,
     descriptorReduce<tt::DescriptorReduceKind::XOR>, reduceDoc},
    {"descriptor", "gather", "self, x_offsets, y_offset", false, descriptorGather,
     "Rows x_offsets[i] from column y_offset on, for descriptors with blocks of one row."},
    {"descriptor", "scatter", "self, value, x_offsets, y_offset", false, descriptorScatter,
     "Writes row i of value to row x_offsets[i] from column y_offset on, for descriptors with "
     "blocks of one row."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::descriptorRows() { return rows; }
