// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: loads and stores through pointers, blocks of pointers and block
// pointers. A load whose mask is false in places reads 0 there, also without
// `other`.
//
// Three kinds of pointers come here, and they exclude each other's options: a
// block pointer has boundary_check and padding_option, the others have mask and
// other. A scalar pointer takes scalars only. In a load, a block of pointers,
// the mask and `other` are brought to their common shape; in a store the
// pointers say the shape, since one element cannot take several values. Bools
// are bytes in memory (toMemory, fromMemory).
#include "Rules.h"

using namespace nereid;
using namespace nereid::frontend;

//===----------------------------------------------------------------------===//
// Hints
//===----------------------------------------------------------------------===//

static tt::CacheModifier cacheArg(Semantic &s, const BoundArgs &args, unsigned i, bool isLoad) {
  if (args[i].isNone())
    return tt::CacheModifier::NONE;
  std::string name = isLoad ? choiceArg(s, args, i, {"", ".ca", ".cg", ".cs", ".cv"})
                            : choiceArg(s, args, i, {"", ".wb", ".cg", ".cs", ".wt"});
  return name.empty() ? tt::CacheModifier::NONE
                      : *tt::symbolizeCacheModifier(llvm::StringRef(name).drop_front());
}

static tt::EvictionPolicy evictionArg(Semantic &s, const BoundArgs &args, unsigned i) {
  if (args[i].isNone())
    return tt::EvictionPolicy::NORMAL;
  std::string name = choiceArg(s, args, i, {"", "evict_last", "evict_first", "evict_normal"});
  return name.empty() ? tt::EvictionPolicy::NORMAL : *tt::symbolizeEvictionPolicy(name);
}

//===----------------------------------------------------------------------===//
// Block pointers
//===----------------------------------------------------------------------===//

/// The dimensions to test, sorted.
static std::vector<int32_t> boundaryArg(Semantic &s, const BoundArgs &args, unsigned i,
                                        int64_t rank) {
  std::vector<int32_t> dims;
  if (args[i].isNone())
    return dims;
  for (int64_t dim : s.constexprShape(args, i)) {
    if (dim < -rank || dim >= rank)
      fail(Diag::boundary_check_invalid, args.ranges[i], dim,
           "of a block pointer of rank " + std::to_string(rank));
    int32_t normal = int32_t(dim < 0 ? dim + rank : dim);
    if (llvm::is_contained(dims, normal))
      fail(Diag::boundary_check_invalid, args.ranges[i], dim, "twice");
    dims.push_back(normal);
  }
  llvm::sort(dims);
  return dims;
}

static void refuseWithBlockPointer(const BoundArgs &args, std::initializer_list<unsigned> indices) {
  for (unsigned i : indices)
    if (!args[i].isNone())
      fail(Diag::block_pointer_mask, args.ranges[i], parameterName(args, i));
}

/// Text in the place of boundary_check is meant for one of the options behind it.
static void refusePositionalOption(const BoundArgs &args, const char *options) {
  if (args[3].is<std::string>())
    fail(Diag::argument_kind, args.ranges[3], parameterName(args, 3), functionName(args.info),
         "a tuple of dimensions of a block pointer", args[3].describe(),
         std::string("the fourth parameter is boundary_check: pass ") + options + " by name");
}

static void refuseWithoutBlockPointer(const BoundArgs &args,
                                      std::initializer_list<unsigned> indices) {
  for (unsigned i : indices) {
    const Tuple *tuple = args[i].getIf<Tuple>();
    const std::string *text = args[i].getIf<std::string>();
    bool given = !args[i].isNone() && !(tuple && tuple->items.empty()) && !(text && text->empty());
    if (given)
      fail(Diag::boundary_without_block_pointer, args.ranges[i], parameterName(args, i));
  }
}

/// A loaded int1 comes out of memory as int8.
static Tensor fromMemory(Semantic &s, mlir::Value value, const Type &type,
                         const SourceRange &range) {
  if (!type.isBool())
    return s.wrap(value, type, range);
  return s.cast(s.wrap(value, type.withElement(Scalar::Int8), range), Scalar::Int1, range);
}

/// `value` as it stands behind a pointer to `pointee`.
static Tensor toMemory(Semantic &s, const Tensor &value, const Type &pointee,
                       const SourceRange &range) {
  Tensor converted = s.cast(value, pointee, range);
  return pointee.isBool() ? s.cast(converted, Scalar::Int8, range) : converted;
}

static Value loadBlockPointer(Semantic &s, const BoundArgs &args, const Tensor &pointer) {
  refuseWithBlockPointer(args, {1, 2});
  Type element = pointer.type.element();
  std::vector<int32_t> dims = boundaryArg(s, args, 3, pointer.type.shape().size());
  std::string padding = args[4].isNone() ? "" : choiceArg(s, args, 4, {"", "zero", "nan"});
  if (padding == "nan" && (!element.isFloating() || element.scalar() == Scalar::Fp8E4B15))
    fail(Diag::padding_nan_integer, args.ranges[4], element.str());
  std::optional<tt::PaddingOption> option;
  if (!dims.empty())
    option = padding == "nan" ? tt::PaddingOption::PAD_NAN : tt::PaddingOption::PAD_ZERO;
  auto op = s.emit<tt::LoadOp>(args.range, pointer.handle, dims, option, s.constexprBool(args, 7),
                               cacheArg(s, args, 5, true), evictionArg(s, args, 6));
  return fromMemory(s, op.getResult(), Type::block(pointer.type.shape(), element), args.range);
}

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

static Tensor pointerArg(Semantic &s, const BoundArgs &args, unsigned i) {
  Tensor pointer = tensorArg(s, args, i);
  if (!pointer.type.isPointerLike() && !pointer.type.isBlockPointer())
    fail(Diag::not_a_pointer, args.ranges[i], functionName(args.info), args[i].describe(),
         pointer.type.isDescriptor()
             ? "use desc.load([...]) and desc.store([...], value)"
             : "only pointers are read and written; add offsets to a pointer argument");
  return pointer;
}

/// Argument `i` as an int1 scalar or block.
static Tensor maskArg(Semantic &s, const BoundArgs &args, unsigned i) {
  Tensor mask = tensorArg(s, args, i);
  if (mask.type.isInteger() && !mask.type.isBool())
    mask = s.toBool(mask, args.ranges[i]);
  if (!mask.type.isBool())
    fail(Diag::mask_not_bool, args.ranges[i], args[i].describe());
  return mask;
}

static void scalarWithScalarPointer(const BoundArgs &args, unsigned i, const Tensor &pointer,
                                    const Tensor &value) {
  if (!pointer.type.isBlock() && value.type.isBlock())
    fail(Diag::scalar_pointer_block, args.ranges[i], parameterName(args, i),
         functionName(args.info), args[i].describe());
}

Value nereid::frontend::load(Semantic &s, const BoundArgs &args) {
  Tensor pointer = pointerArg(s, args, 0);
  refusePositionalOption(args, "padding_option=, cache_modifier= and eviction_policy=");
  if (pointer.type.isBlockPointer())
    return loadBlockPointer(s, args, pointer);
  refuseWithoutBlockPointer(args, {3, 4});
  if (args[1].isNone() && !args[2].isNone())
    fail(Diag::other_without_mask, args.ranges[2]);
  Type pointee = pointer.type.pointee();
  if (pointee.isVoid() || pointee.isBlock())
    fail(Diag::not_a_pointer, args.ranges[0], "tl.load", args[0].describe(),
         "cast the pointer to a typed one first");

  mlir::Value mask, other;
  if (!args[1].isNone()) {
    Tensor flags = maskArg(s, args, 1);
    scalarWithScalarPointer(args, 1, pointer, flags);
    std::tie(pointer, flags) = s.broadcast(pointer, flags, "mask of tl.load", args.range);
    Tensor fill;
    if (args[2].isNone()) {
      if (s.constexprBool(args, 8))
        fill = s.full(pointer.type.shape(), Int(0),
                      pointee.isPointer() ? Type(Scalar::Int64) : pointee, args.range);
    } else if (args[2].isNumber() && !(args[2].is<double>() && pointee.isInteger()) &&
               !pointee.isPointer()) {
      fill = s.full(pointer.type.shape(), args[2], pointee, args.ranges[2]);
    } else {
      fill = tensorArg(s, args, 2);
      scalarWithScalarPointer(args, 2, pointer, fill);
      std::tie(pointer, fill) = s.broadcast(pointer, fill, "other of tl.load", args.range);
      flags = s.broadcastTo(flags, pointer.type.shape(), args.range);
    }
    mask = flags.handle;
    if (fill.handle)
      other = toMemory(s, fill, pointee, args.range).handle;
  }
  auto op = s.emit<tt::LoadOp>(args.range, pointer.handle, mask, other, s.constexprBool(args, 7),
                               cacheArg(s, args, 5, true), evictionArg(s, args, 6));
  return fromMemory(s, op.getResult(), pointer.type.withElement(pointee), args.range);
}

static Value store(Semantic &s, const BoundArgs &args) {
  Tensor pointer = pointerArg(s, args, 0);
  auto cache = cacheArg(s, args, 4, false);
  auto eviction = evictionArg(s, args, 5);
  refusePositionalOption(args, "cache_modifier= and eviction_policy=");
  if (pointer.type.isBlockPointer()) {
    refuseWithBlockPointer(args, {2});
    Type element = pointer.type.element();
    Tensor value = tensorArg(s, args, 1);
    value = s.broadcastTo(value, pointer.type.shape(), args.ranges[1]);
    std::vector<int32_t> dims = boundaryArg(s, args, 3, pointer.type.shape().size());
    s.emit<tt::StoreOp>(args.range, pointer.handle, toMemory(s, value, element, args.range).handle,
                        dims, cache, eviction);
    return None{};
  }
  refuseWithoutBlockPointer(args, {3});
  if (pointer.type.element().isConstPointer())
    fail(Diag::store_const, args.ranges[0]);
  Type pointee = pointer.type.pointee();
  if (pointee.isVoid() || pointee.isBlock())
    fail(Diag::not_a_pointer, args.ranges[0], "tl.store", args[0].describe(),
         "cast the pointer to a typed one first");

  llvm::ArrayRef<int64_t> shape = pointer.type.shape();
  auto fit = [&](Tensor operand, unsigned i, const char *what) {
    scalarWithScalarPointer(args, i, pointer, operand);
    auto [grown, fitted] = s.broadcast(pointer, operand, what, args.range);
    if (grown.type.shape() != shape) {
      Diagnostic diagnostic = makeDiagnostic(Diag::store_shape, args.ranges[i],
                                             shapeString(operand.type.shape()), shapeString(shape));
      noteValue(diagnostic, args[0], "the block of pointers");
      throw CompileError(std::move(diagnostic));
    }
    return fitted;
  };
  bool plainNumber =
      args[1].isNumber() && !pointee.isPointer() && !(args[1].is<double>() && pointee.isInteger());
  Tensor value = plainNumber ? s.full(shape, args[1], pointee, args.ranges[1])
                             : fit(tensorArg(s, args, 1), 1, "value of tl.store");
  value = toMemory(s, value, pointee, args.range);
  mlir::Value mask;
  if (!args[2].isNone())
    mask = fit(maskArg(s, args, 2), 2, "mask of tl.store").handle;
  s.emit<tt::StoreOp>(args.range, pointer.handle, value.handle, mask, cache, eviction);
  return None{};
}

//===----------------------------------------------------------------------===//
// Making and moving block pointers
//===----------------------------------------------------------------------===//

/// Argument `i` as a tuple of integer scalars of one type.
static llvm::SmallVector<mlir::Value> integersArg(Semantic &s, const BoundArgs &args, unsigned i,
                                                  Type type) {
  llvm::SmallVector<mlir::Value> values;
  for (const Value &item : itemsArg(args, i)) {
    const Tensor *tensor = item.getIf<Tensor>();
    bool valid = tensor ? tensor->type.isScalar() && tensor->type.isInteger()
                        : item.is<Int>() || item.is<bool>();
    if (!valid)
      fail(Diag::argument_kind, args.ranges[i], parameterName(args, i), functionName(args.info),
           "a tuple of integers", item.describe(), "");
    values.push_back(numberAs(s, item, type, args.ranges[i]).handle);
  }
  return values;
}

static Value makeBlockPtr(Semantic &s, const BoundArgs &args) {
  Tensor base = tensorArg(s, args, 0);
  if (!base.type.isPointer() || base.type.pointee().isVoid())
    fail(Diag::not_a_pointer, args.ranges[0], "tl.make_block_ptr", args[0].describe(),
         "pass the single pointer to the first element");
  std::vector<int64_t> blockShape = s.constexprShape(args, 4), order = s.constexprShape(args, 5);
  s.checkShape(blockShape, args.ranges[4]);
  size_t rank = blockShape.size();
  auto shape = integersArg(s, args, 1, Scalar::Int64),
       strides = integersArg(s, args, 2, Scalar::Int64);
  auto offsets = integersArg(s, args, 3, Scalar::Int32);
  for (auto [i, name, size] :
       {std::tuple(1u, "shape", shape.size()), std::tuple(2u, "strides", strides.size()),
        std::tuple(3u, "offsets", offsets.size()), std::tuple(5u, "order", order.size())})
    if (size != rank)
      fail(Diag::block_pointer_rank, args.ranges[i], name, size, rank);
  llvm::SmallVector<int32_t> order32;
  llvm::SmallVector<bool> seen(rank, false);
  for (int64_t dim : order) {
    if (dim < 0 || dim >= int64_t(rank) || seen[dim])
      fail(Diag::permute_invalid, args.ranges[5], shapeString(order), rank, "order");
    seen[dim] = true;
    order32.push_back(int32_t(dim));
  }
  Type type = Type::blockPointer(blockShape, base.type.pointee());
  auto op = s.emit<tt::MakeTensorPtrOp>(args.range, type.lower(s.builder.getContext()), base.handle,
                                        shape, strides, offsets, order32);
  return s.wrap(op.getResult(), type, args.range);
}

static Value advance(Semantic &s, const BoundArgs &args) {
  Tensor pointer = tensorArg(s, args, 0);
  if (!pointer.type.isBlockPointer())
    fail(Diag::argument_kind, args.ranges[0], "base", "tl.advance", "a block pointer",
         args[0].describe(), "ordinary pointers move by '+'");
  auto offsets = integersArg(s, args, 1, Scalar::Int32);
  if (offsets.size() != pointer.type.shape().size())
    fail(Diag::block_pointer_rank, args.ranges[1], "offsets", offsets.size(),
         pointer.type.shape().size());
  auto op = s.emit<tt::AdvanceOp>(args.range, pointer.handle.getType(), pointer.handle, offsets);
  return s.wrap(op.getResult(), pointer.type, args.range);
}

static const BuiltinInfo rows[] = {
    {"tl", "load",
     "pointer, mask=None, other=None, boundary_check=(), padding_option=\"\", cache_modifier=\"\", "
     "eviction_policy=\"\", volatile=False, care_padding=True",
     true, load,
     "Reads what pointer points to.\n\n"
     "pointer: a single pointer (gives a scalar), a block of pointers (gives a block), or a block "
     "pointer.\n"
     "mask: int1, broadcast with the pointers; lanes where it is false are not read and are "
     "`other`, or 0.\n"
     "other: broadcast and cast to the element type; needs a mask. care_padding=False leaves them "
     "undefined.\n"
     "boundary_check, padding_option (\"\", \"zero\", \"nan\"): only for block pointers, instead "
     "of mask and other;\n"
     "elements outside the tensor in the named dimensions are the padding, 0 by default.\n"
     "cache_modifier: \"\", \".ca\", \".cg\", \".cs\", \".cv\". eviction_policy: \"\", "
     "\"evict_first\", \"evict_last\".\n"
     "volatile: the load is not moved, merged or removed."},
    {"tl", "store",
     "pointer, value, mask=None, boundary_check=(), cache_modifier=\"\", eviction_policy=\"\"",
     true, store,
     "Writes value through pointer.\n\n"
     "pointer: a single pointer, a block of pointers, or a block pointer. value and mask are "
     "broadcast to its shape,\n"
     "value is cast to the element type. Lanes where mask is false are not written. "
     "boundary_check: only for block\n"
     "pointers; elements outside the tensor in the named dimensions are dropped.\n"
     "cache_modifier: \"\", \".wb\", \".cg\", \".cs\", \".wt\". eviction_policy: \"\", "
     "\"evict_first\", \"evict_last\"."},
    {"tl", "make_block_ptr", "base, shape, strides, offsets, block_shape, order", false,
     makeBlockPtr,
     "Pointer to a block inside a strided tensor.\n\n"
     "base: pointer to the tensor's first element. shape, strides (in elements) and offsets of the "
     "block: integers.\n"
     "block_shape, order: known at compile time. All have one entry per dimension."},
    {"tl", "advance", "base, offsets", true, advance,
     "A block pointer moved by offsets, in elements, one per dimension. The result must be used."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::memoryRows() { return rows; }
