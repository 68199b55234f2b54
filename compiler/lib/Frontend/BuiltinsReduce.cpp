// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: reductions and scans. The combining region holds scalar operations,
// either ours or those of a jit function that the walker inlines there.
//
// Every reduction is one operation with a region that combines two elements;
// which operations stand in the region is all that differs between tl.sum,
// tl.argmax and a reduction by a user's function. The region may be applied in
// any order and any grouping, so what it computes must not depend on them:
//
// - floats are summed as they are, or in fp32 where the target keeps partial
//   results so;
// - positions of a maximum travel with the values, and ties go to the smaller
//   position, by the positions themselves and not by who came first
//   (withIndices);
// - NaN loses or wins on either side alike: a comparison with it is false,
//   which would keep whichever stood on the right.
//
// Integers of less than 32 bits are summed in 32: their own sum would overflow
// at once.
#include "Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLFunctionalExtras.h"

using namespace nereid;
using namespace nereid::frontend;
namespace arith = mlir::arith;

namespace {
using Tensors = llvm::SmallVector<Tensor, 2>;
/// Combines the left and the right values of one step.
using Combine = llvm::function_ref<Tensors(llvm::ArrayRef<Tensor>, llvm::ArrayRef<Tensor>)>;
} // namespace

/// Fills `region` with a block that combines scalars of the inputs' types.
template <typename ReturnOp>
static void buildCombine(Semantic &s, mlir::Region &region, llvm::ArrayRef<Tensor> inputs,
                         Combine combine, const SourceRange &range) {
  mlir::OpBuilder::InsertionGuard guard(s.builder);
  mlir::Block *block = &region.emplaceBlock();
  Tensors left, right;
  for (Tensors *side : {&left, &right})
    for (const Tensor &input : inputs) {
      Type element = input.type.element();
      side->push_back(s.wrap(
          block->addArgument(element.lower(s.builder.getContext()), s.loc(range)), element, range));
    }
  s.builder.setInsertionPointToStart(block);
  Tensors results = combine(left, right);
  llvm::SmallVector<mlir::Value> values;
  for (const Tensor &result : results)
    values.push_back(result.handle);
  s.emit<ReturnOp>(range, values);
}

static Tensors reduceWith(Semantic &s, llvm::ArrayRef<Tensor> inputs, std::optional<int64_t> axis,
                          bool keepDims, Combine combine, const SourceRange &range) {
  Tensors sources(inputs.begin(), inputs.end());
  std::vector<int64_t> shape(sources[0].type.shape());
  if (!axis)
    for (Tensor &source : sources)
      source = s.reshape(source, {source.type.numElements()}, true, range);
  int64_t dim = axis.value_or(0);
  llvm::SmallVector<mlir::Value> values;
  for (const Tensor &source : sources)
    values.push_back(source.handle);
  auto op = s.emit<tt::ReduceOp>(range, mlir::ValueRange(values), int(dim));
  buildCombine<tt::ReduceReturnOp>(s, op.getCombineOp(), sources, combine, range);

  Tensors results;
  for (auto [source, value] : llvm::zip(sources, op.getResult())) {
    std::vector<int64_t> rest(source.type.shape());
    rest.erase(rest.begin() + dim);
    Type element = source.type.element();
    Tensor result = s.wrap(value, rest.empty() ? element : Type::block(rest, element), range);
    if (keepDims) {
      if (axis)
        result = s.expandDims(result, dim, range);
      else
        result = s.splat(result, std::vector<int64_t>(shape.size(), 1), range);
    }
    results.push_back(result);
  }
  return results;
}

static Tensors scanWith(Semantic &s, llvm::ArrayRef<Tensor> inputs, int64_t axis, bool reverse,
                        Combine combine, const SourceRange &range) {
  llvm::SmallVector<mlir::Value> values;
  for (const Tensor &input : inputs)
    values.push_back(input.handle);
  auto op = s.emit<tt::ScanOp>(range, mlir::ValueRange(values), int(axis), reverse);
  buildCombine<tt::ScanReturnOp>(s, op.getCombineOp(), inputs, combine, range);
  Tensors results;
  for (auto [input, value] : llvm::zip(inputs, op.getResult()))
    results.push_back(s.wrap(value, input.type, range));
  return results;
}

/// The combining operation of a named reduction on two scalars.
static Tensor combineNamed(Semantic &s, llvm::StringRef kind, const Tensor &a, const Tensor &b,
                           const SourceRange &range) {
  bool isFloat = a.type.isFloating(), isSigned = a.type.isSigned();
  auto emit = [&]<typename Op>() {
    return s.wrap(s.emit<Op>(range, a.handle, b.handle).getResult(), a.type, range);
  };
  if (kind == "sum")
    return isFloat ? emit.operator()<arith::AddFOp>() : emit.operator()<arith::AddIOp>();
  if (kind == "prod")
    return isFloat ? emit.operator()<arith::MulFOp>() : emit.operator()<arith::MulIOp>();
  if (kind == "max")
    return isFloat    ? emit.operator()<arith::MaxNumFOp>()
           : isSigned ? emit.operator()<arith::MaxSIOp>()
                      : emit.operator()<arith::MaxUIOp>();
  if (kind == "max_nan")
    return emit.operator()<arith::MaximumFOp>();
  if (kind == "min_nan")
    return emit.operator()<arith::MinimumFOp>();
  if (kind == "min")
    return isFloat    ? emit.operator()<arith::MinNumFOp>()
           : isSigned ? emit.operator()<arith::MinSIOp>()
                      : emit.operator()<arith::MinUIOp>();
  if (kind == "xor")
    return emit.operator()<arith::XOrIOp>();
  return emit.operator()<arith::OrIOp>();
}

Tensor nereid::frontend::reduceSimple(Semantic &s, llvm::StringRef kind, Tensor input,
                                      std::optional<int64_t> axis, bool keepDims,
                                      const SourceRange &range) {
  return reduceWith(
      s, input, axis, keepDims,
      [&](llvm::ArrayRef<Tensor> a, llvm::ArrayRef<Tensor> b) -> Tensors {
        return {combineNamed(s, kind, a[0], b[0], range)};
      },
      range)[0];
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static Tensor numericBlock(Semantic &s, const BoundArgs &args) {
  Tensor input = blockArg(s, args, 0, "reductions combine the elements of a block");
  if (input.type.isPointerLike())
    fail(Diag::unsupported_dtype, args.ranges[0], input.type.element().str(),
         functionName(args.info), "");
  if (input.type.isFp8())
    return s.cast(input, Scalar::Fp32, args.range);
  return input;
}

static std::optional<int64_t> axisArg(Semantic &s, const BoundArgs &args, unsigned i,
                                      const Type &type) {
  if (args[i].isNone())
    return std::nullopt;
  return normalizeAxis(s, s.constexprInt(args, i), type.shape().size(), type, args.ranges[i]);
}

/// Integers narrower than 32 bits are summed in int32 or uint32.
static Type sumType(const Type &type) {
  if (type.isSigned() && type.bits() < 32)
    return Scalar::Int32;
  if (type.isUnsigned() && type.bits() < 32)
    return Scalar::UInt32;
  return type.element();
}

static Tensor integersOnly(Semantic &s, const BoundArgs &args) {
  Tensor input = numericBlock(s, args);
  if (!input.type.isInteger())
    fail(Diag::unsupported_dtype, args.ranges[0], input.type.element().str(),
         functionName(args.info), "it works on integers only");
  return input;
}

//===----------------------------------------------------------------------===//
// Named reductions
//===----------------------------------------------------------------------===//

static Value sum(Semantic &s, const BoundArgs &args) {
  Tensor input = numericBlock(s, args);
  Type type = args[3].isNone() ? sumType(input.type) : s.dtype(args, 3);
  input = s.cast(input, type, args.range);
  return reduceSimple(s, "sum", input, axisArg(s, args, 1, input.type), s.constexprBool(args, 2),
                      args.range);
}

static Value xorSum(Semantic &s, const BoundArgs &args) {
  Tensor input = integersOnly(s, args);
  return reduceSimple(s, "xor", input, axisArg(s, args, 1, input.type), s.constexprBool(args, 2),
                      args.range);
}

static Value reduceOr(Semantic &s, const BoundArgs &args) {
  Tensor input = integersOnly(s, args);
  return reduceSimple(s, "or", input, axisArg(s, args, 1, input.type), s.constexprBool(args, 2),
                      args.range);
}

/// Greatest (or least) values with the int32 positions where they stand.
/// NaN loses against numbers, or wins when `nanWins`.
static Tensors withIndices(Semantic &s, bool isMax, Tensor input, std::optional<int64_t> axis,
                           bool tieBreakLeft, bool keepDims, bool nanWins,
                           const SourceRange &range) {
  // All axes: positions count in row-major order, and the result of keep_dims
  // has as many dimensions as the input.
  size_t rank = input.type.shape().size();
  bool flat = !axis;
  if (flat) {
    input = s.reshape(input, {input.type.numElements()}, false, range);
    axis = 0;
  }
  llvm::ArrayRef<int64_t> shape = input.type.shape();
  Tensor indices = s.arange(0, shape[*axis], range);
  for (int64_t i = 0; i < int64_t(shape.size()); ++i)
    if (i != *axis)
      indices = s.expandDims(indices, i, range);
  indices = s.broadcastTo(indices, shape, range);

  auto combine = [&](llvm::ArrayRef<Tensor> a, llvm::ArrayRef<Tensor> b) -> Tensors {
    auto both = [&](bool isAnd, const Value &x, const Value &y) {
      return s.logical(isAnd, x, y, range).as<Tensor>();
    };
    Tensor wins = s.compare(isMax ? CompareOp::Gt : CompareOp::Lt, a[0], b[0], range).as<Tensor>();
    std::optional<Tensor> bothNaN;
    if (a[0].type.isFloating()) {
      // The result must not depend on which pairs meet.
      Tensor left = s.compare(CompareOp::NotEq, a[0], a[0], range).as<Tensor>();
      Tensor right = s.compare(CompareOp::NotEq, b[0], b[0], range).as<Tensor>();
      bothNaN = both(true, left, right);
      const Tensor &winner = nanWins ? left : right, &loser = nanWins ? right : left;
      wins = both(false, wins, both(true, winner, s.unary(UnaryOp::Not, loser, range)));
    }
    if (tieBreakLeft) {
      Tensor equal = s.compare(CompareOp::Eq, a[0], b[0], range).as<Tensor>();
      if (bothNaN)
        equal = both(false, equal, *bothNaN);
      Tensor first = s.compare(CompareOp::Lt, a[1], b[1], range).as<Tensor>();
      wins = s.logical(false, wins, s.logical(true, equal, first, range), range).as<Tensor>();
    }
    return {s.select(wins, a[0], b[0], range), s.select(wins, a[1], b[1], range)};
  };
  Tensor inputs[] = {input, indices};
  Tensors results = reduceWith(s, inputs, axis, keepDims && !flat, combine, range);
  if (keepDims && flat)
    for (Tensor &result : results)
      result = s.splat(result, std::vector<int64_t>(rank, 1), range);
  return results;
}

template <bool isMax> static Value extremum(Semantic &s, const BoundArgs &args) {
  Tensor input = numericBlock(s, args);
  if (input.type.scalar() == Scalar::BF16)
    input = s.cast(input, Scalar::Fp32, args.range);
  std::optional<int64_t> axis = axisArg(s, args, 1, input.type);
  bool keepDims = s.constexprBool(args, 4);
  if (s.constexprBool(args, 2)) {
    Tensors results = withIndices(s, isMax, input, axis, s.constexprBool(args, 3), keepDims,
                                  propagateNanArg(s, args, 5), args.range);
    return Tuple{{results[0], results[1]}, {}};
  }
  if (input.type.bits() < 32)
    input = s.cast(input, input.type.isFloating() ? Scalar::Fp32 : Scalar::Int32, args.range);
  bool nan = propagateNanArg(s, args, 5) && input.type.isFloating();
  const char *kind = isMax ? (nan ? "max_nan" : "max") : (nan ? "min_nan" : "min");
  return reduceSimple(s, kind, input, axis, keepDims, args.range);
}

template <bool isMax> static Value argExtremum(Semantic &s, const BoundArgs &args) {
  Tensor input = numericBlock(s, args);
  if (input.type.scalar() == Scalar::BF16)
    input = s.cast(input, Scalar::Fp32, args.range);
  return withIndices(s, isMax, input, axisArg(s, args, 1, input.type), s.constexprBool(args, 2),
                     s.constexprBool(args, 3), false, args.range)[1];
}

//===----------------------------------------------------------------------===//
// User-defined combinations
//===----------------------------------------------------------------------===//

/// The inputs of reduce and associative_scan; they must agree in shape.
static Tensors combineInputs(Semantic &s, const BoundArgs &args) {
  Tensors inputs;
  for (const Value &item : itemsArg(args, 0)) {
    Tensor input = s.toTensor(item, args.ranges[0]);
    if (!input.type.isBlock())
      fail(Diag::needs_block, args.ranges[0], "input", functionName(args.info), item.describe(),
           "");
    if (!inputs.empty() && input.type.shape() != inputs[0].type.shape())
      fail(Diag::reduce_shapes, args.ranges[0], functionName(args.info),
           shapeString(inputs[0].type.shape()), shapeString(input.type.shape()));
    inputs.push_back(input);
  }
  if (inputs.empty())
    fail(Diag::needs_block, args.ranges[0], "input", functionName(args.info), "an empty tuple", "");
  return inputs;
}

static Tensors callCombine(Semantic &s, const BoundArgs &args, unsigned fn,
                           llvm::ArrayRef<Tensor> a, llvm::ArrayRef<Tensor> b) {
  std::vector<Value> operands;
  for (llvm::ArrayRef<Tensor> side : {a, b})
    operands.insert(operands.end(), side.begin(), side.end());
  Value result = s.call(args[fn], operands, args.ranges[fn]);
  std::vector<Value> items =
      result.is<Tuple>() ? result.as<Tuple>().items : std::vector<Value>{result};
  auto mismatch = [&](llvm::StringRef found, const Type &wanted) {
    fail(Diag::combine_result, args.ranges[fn], functionName(args.info), found,
         llvm::formatv("{0} value(s)", a.size()).str(), wanted.str());
  };
  if (items.size() != a.size())
    mismatch(result.describe(), a[0].type);
  Tensors results;
  for (auto [item, wanted] : llvm::zip(items, a)) {
    bool fits = item.isNumber() || (item.isTensor() && item.as<Tensor>().type.isScalar());
    if (!fits)
      mismatch(item.describe(), wanted.type);
    Tensor value = item.isNumber() ? s.constant(item, wanted.type, args.range) : item.as<Tensor>();
    if (value.type != wanted.type)
      mismatch(item.describe(), wanted.type);
    results.push_back(value);
  }
  return results;
}

static void checkFunction(const BoundArgs &args, unsigned i) {
  if (!args[i].is<Function>() && !args[i].is<Builtin>() && !args[i].is<Host>())
    fail(Diag::combine_not_function, args.ranges[i], functionName(args.info), args[i].describe());
}

static Value packed(const BoundArgs &args, llvm::ArrayRef<Tensor> results) {
  if (!args[0].is<Tuple>())
    return results[0];
  Tuple tuple;
  tuple.items.assign(results.begin(), results.end());
  return tuple;
}

static Value reduce(Semantic &s, const BoundArgs &args) {
  Tensors inputs = combineInputs(s, args);
  checkFunction(args, 2);
  Tensors results = reduceWith(
      s, inputs, axisArg(s, args, 1, inputs[0].type), s.constexprBool(args, 3),
      [&](llvm::ArrayRef<Tensor> a, llvm::ArrayRef<Tensor> b) {
        return callCombine(s, args, 2, a, b);
      },
      args.range);
  return packed(args, results);
}

static Value associativeScan(Semantic &s, const BoundArgs &args) {
  Tensors inputs = combineInputs(s, args);
  checkFunction(args, 2);
  int64_t axis = normalizeAxis(s, s.constexprInt(args, 1), inputs[0].type.shape().size(),
                               inputs[0].type, args.ranges[1]);
  Tensors results = scanWith(
      s, inputs, axis, s.constexprBool(args, 3),
      [&](llvm::ArrayRef<Tensor> a, llvm::ArrayRef<Tensor> b) {
        return callCombine(s, args, 2, a, b);
      },
      args.range);
  return packed(args, results);
}

template <bool isSum> static Value cumulative(Semantic &s, const BoundArgs &args) {
  Tensor input = numericBlock(s, args);
  int64_t axis = normalizeAxis(s, s.constexprInt(args, 1), input.type.shape().size(), input.type,
                               args.ranges[1]);
  bool reverse = s.constexprBool(args, 2);
  if (input.type.scalar() == Scalar::BF16)
    input = s.cast(input, Scalar::Fp32, args.range);
  if (isSum)
    input = s.cast(input, args[3].isNone() ? sumType(input.type) : s.dtype(args, 3), args.range);
  return scanWith(
      s, input, axis, reverse,
      [&](llvm::ArrayRef<Tensor> a, llvm::ArrayRef<Tensor> b) -> Tensors {
        return {combineNamed(s, isSum ? "sum" : "prod", a[0], b[0], args.range)};
      },
      args.range)[0];
}

static Value histogram(Semantic &s, const BoundArgs &args) {
  Tensor input = blockArg(s, args, 0);
  if (input.type.shape().size() != 1)
    fail(Diag::histogram_invalid, args.ranges[0],
         "the input has shape " + shapeString(input.type.shape()), "flatten it first: x.ravel()");
  if (!input.type.isInteger() || input.type.bits() != 32)
    fail(Diag::histogram_invalid, args.ranges[0],
         "the input has dtype " + input.type.element().str(), "cast it to tl.int32");
  Int bins = s.constexprInt(args, 1);
  if (bins <= 0 || bins > (Int(1) << 20))
    fail(Diag::histogram_invalid, args.ranges[1], toString(bins) + " is not a valid number of bins",
         "write a number from 1 to 1048576");
  mlir::Value mask;
  if (!args[2].isNone()) {
    Tensor flags = s.toBool(tensorArg(s, args, 2), args.ranges[2]);
    mask = s.broadcastTo(flags, input.type.shape(), args.ranges[2]).handle;
  }
  Type type = Type::block({int64_t(bins)}, Scalar::Int32);
  return s.wrap(
      s.emit<tt::HistogramOp>(args.range, type.lower(s.builder.getContext()), input.handle, mask)
          .getResult(),
      type, args.range);
}

static const char *const maxDoc =
    "Greatest element along axis; axis None takes all elements and gives a scalar.\n\n"
    "bf16 and fp16 give fp32, integers narrower than 32 bits int32. NaNs lose against numbers "
    "unless propagate_nan.\n"
    "return_indices: also the int32 positions, as a pair; of equal elements the leftmost wins "
    "unless\n"
    "return_indices_tie_break_left is False. keep_dims: the reduced axis stays with size 1.";
static const char *const minDoc =
    "Least element along axis; axis None takes all elements and gives a scalar.\n\n"
    "bf16 and fp16 give fp32, integers narrower than 32 bits int32. NaNs lose against numbers "
    "unless propagate_nan.\n"
    "return_indices: also the int32 positions, as a pair; of equal elements the leftmost wins "
    "unless\n"
    "return_indices_tie_break_left is False. keep_dims: the reduced axis stays with size 1.";

static const BuiltinInfo rows[] = {
    {"tl", "reduce", "input, axis, combine_fn, keep_dims=False", true, reduce,
     "Combines elements along axis with a jit function.\n\n"
     "input: a block, or a tuple of n blocks of one shape. combine_fn takes 2n scalars (n left, n "
     "right) and returns\n"
     "n of the same types; it must be associative and commutative, as elements are combined in any "
     "order. Partial\n"
     "results of floats narrower than fp32 are fp32, rounded once at the end. axis None\n"
     "combines all elements. keep_dims keeps the axis with\n"
     "size 1. Returns a block or scalar, or a tuple of n."},
    {"tl", "sum", "input, axis=None, keep_dims=False, dtype=None", true, sum,
     "Sum along axis; axis None sums everything to a scalar.\n\n"
     "Integers narrower than 32 bits are summed as int32 or uint32; floats keep their dtype, fp16 "
     "and bf16 are summed\n"
     "in fp32 and rounded once. dtype overrides."},
    {"tl", "max",
     "input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False, "
     "propagate_nan=None",
     true, extremum<true>, maxDoc},
    {"tl", "min",
     "input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False, "
     "propagate_nan=None",
     true, extremum<false>, minDoc},
    {"tl", "argmax", "input, axis, tie_break_left=True, keep_dims=False", true, argExtremum<true>,
     "int32 position of the greatest element along axis; of equal ones the leftmost unless "
     "tie_break_left is False."},
    {"tl", "argmin", "input, axis, tie_break_left=True, keep_dims=False", true, argExtremum<false>,
     "int32 position of the least element along axis; of equal ones the leftmost unless "
     "tie_break_left is False."},
    {"tl", "xor_sum", "input, axis=None, keep_dims=False", true, xorSum,
     "Exclusive or of all elements along axis; integers only."},
    {"tl", "reduce_or", "input, axis, keep_dims=False", true, reduceOr,
     "Bitwise or of all elements along axis; integers only."},
    {"tl", "associative_scan", "input, axis, combine_fn, reverse=False", true, associativeScan,
     "Inclusive prefix combination along axis with a jit function; shapes stay.\n\n"
     "input and combine_fn as of tl.reduce. reverse: from the last element to the first."},
    {"tl", "cumsum", "input, axis=0, reverse=False, dtype=None", true, cumulative<true>,
     "Cumulative sum along axis. bf16 gives fp32, integers narrower than 32 bits int32 or uint32; "
     "dtype overrides."},
    {"tl", "cumprod", "input, axis=0, reverse=False", true, cumulative<false>,
     "Cumulative product along axis. bf16 gives fp32."},
    {"tl", "histogram", "input, num_bins, mask=None", true, histogram,
     "Counts of the integers 0 to num_bins - 1 in a 1-D block of 32-bit integers, as int32.\n\n"
     "mask: int1 block of the same shape; elements where it is false are not counted."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::reduceRows() { return rows; }
