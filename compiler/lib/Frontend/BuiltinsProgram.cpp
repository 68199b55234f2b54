// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: the programming model, creation of blocks, casts, types, and Python's
// own functions that kernels may call.
#include "Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace nereid;
using namespace nereid::frontend;

//===----------------------------------------------------------------------===//
// Programming model
//===----------------------------------------------------------------------===//

static tt::ProgramIDDim gridAxis(Semantic &s, const BoundArgs &args) {
  Int axis = s.constexprInt(args, 0);
  if (axis < 0 || axis > 2)
    fail(Diag::program_axis, args.ranges[0], toString(axis));
  return tt::ProgramIDDim(int(axis));
}

static Value programId(Semantic &s, const BoundArgs &args) {
  auto axis = gridAxis(s, args);
  return s.wrap(s.emit<tt::GetProgramIdOp>(args.range, s.builder.getI32Type(), axis).getResult(),
                Scalar::Int32, args.range);
}

static Value numPrograms(Semantic &s, const BoundArgs &args) {
  auto axis = gridAxis(s, args);
  return s.wrap(s.emit<tt::GetNumProgramsOp>(args.range, s.builder.getI32Type(), axis).getResult(),
                Scalar::Int32, args.range);
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

static Value arange(Semantic &s, const BoundArgs &args) {
  Int start = s.constexprInt(args, 0), end = s.constexprInt(args, 1);
  for (auto [i, bound] : {std::pair(0u, start), std::pair(1u, end)})
    if (bound < -(Int(1) << 31) || bound >= (Int(1) << 31))
      fail(Diag::arange_range, args.ranges[i], toString(bound));
  if (end <= start)
    fail(Diag::arange_empty, args.range, toString(start), toString(end));
  return s.arange(int64_t(start), int64_t(end), args.range);
}

static Value full(Semantic &s, const BoundArgs &args) {
  std::vector<int64_t> shape = s.constexprShape(args, 0);
  Type dtype = s.dtype(args, 2);
  s.checkShape(shape, args.ranges[0]);
  if (dtype.isVoid() || dtype.isBlock())
    fail(Diag::constexpr_kind, args.ranges[2], "dtype", "tl.full", "the dtype of an element",
         dtype.str());
  if (args[1].isNumber() && !dtype.isPointerLike())
    return s.full(shape, args[1], dtype, args.range);
  Tensor value = tensorArg(s, args, 1);
  if (value.type.isBlock() && value.type.numElements() == 1)
    value = s.reshape(value, {}, false, args.range);
  if (value.type.isBlock())
    fail(Diag::argument_kind, args.ranges[1], "value", "tl.full", "a number or a scalar",
         args[1].describe(), "");
  return s.splat(s.cast(value, dtype, args.range), shape, args.range);
}

static Value zeros(Semantic &s, const BoundArgs &args) {
  std::vector<int64_t> shape = s.constexprShape(args, 0);
  s.checkShape(shape, args.ranges[0]);
  return s.full(shape, Int(0), s.dtype(args, 1), args.range);
}

static Value zerosLike(Semantic &s, const BoundArgs &args) {
  Tensor input = tensorArg(s, args, 0);
  return s.full(input.type.shape(), Int(0), input.type.element(), args.range);
}

static Value cast(Semantic &s, const BoundArgs &args) {
  Type dtype = s.dtype(args, 1);
  bool bitcast = s.constexprBool(args, 3);
  // Constants take the dtype without passing through another one.
  if (args[0].isNumber() && !bitcast && args[2].isNone() && args[4].isNone() &&
      !dtype.isPointerLike() && !(args[0].is<double>() && dtype.isInteger()))
    return s.constant(args[0], dtype, args.range);
  Tensor input = tensorArg(s, args, 0);
  input.range = args.range;
  if (bitcast)
    return s.bitcast(input, dtype, args.range);
  if (!args[2].isNone()) {
    std::string rounding = choiceArg(s, args, 2, {"rtne", "rtz"});
    return s.castRounding(input, dtype, rounding, args.range);
  }
  if (!args[4].isNone() && choiceArg(s, args, 4, {"trunc", "saturate"}) == "saturate")
    return s.castSaturating(input, dtype, args.range);
  return s.cast(input, dtype, args.range);
}

static Value toTensor(Semantic &s, const BoundArgs &args) { return tensorArg(s, args, 0); }

static Value pointerType(Semantic &s, const BoundArgs &args) {
  return Type::pointer(s.dtype(args, 0), int(s.constexprInt(args, 1)), s.constexprBool(args, 2));
}

static Value constexprOf(Semantic &s, const BoundArgs &args) {
  if (!args[0].isConstexpr() && (args[0].isTensor() || args[0].is<Tuple>()))
    fail(Diag::not_constexpr, args.ranges[0], "value", "tl.constexpr", args[0].describe());
  return args[0];
}

static Value item(Semantic &s, const BoundArgs &args) {
  Tensor input = tensorArg(s, args, 0);
  if (input.type.numElements() != 1)
    fail(Diag::argument_kind, args.ranges[0], "self", "item", "a block of one element",
         args[0].describe(), "reduce the block first, e.g. tl.sum(x)");
  return s.reshape(input, {}, false, args.range);
}

//===----------------------------------------------------------------------===//
// Loops, and Python's functions
//===----------------------------------------------------------------------===//

static Value loopOnly(Semantic &s, const BoundArgs &args) {
  fail(Diag::not_supported_yet, args.range, functionName(args.info) + " outside of a for statement",
       "", "write: for i in " + functionName(args.info) + "(...)");
}

static Value condition(Semantic &, const BoundArgs &args) { return args[0]; }

template <bool isMax> static Value pythonMinMax(Semantic &s, const BoundArgs &args) {
  std::vector<Value> items = args[0].as<Tuple>().items;
  if (items.size() == 1 && items[0].is<Tuple>())
    items = items[0].as<Tuple>().items;
  if (items.empty())
    fail(Diag::missing_argument, args.range, isMax ? "max" : "min", "args", "*args");
  Value best = items[0];
  for (const Value &next : llvm::drop_begin(items)) {
    if (best.isNumber() && next.isNumber()) {
      auto real = [](const Value &v) {
        return v.is<bool>()  ? (long double)v.as<bool>()
               : v.is<Int>() ? (long double)v.as<Int>()
                             : (long double)v.as<double>();
      };
      if (isMax ? real(next) > real(best) : real(next) < real(best))
        best = next;
      continue;
    }
    best = minimumMaximum(s, isMax, best, next, false, isMax ? "max" : "min", args.range);
  }
  return best;
}

static Value length(Semantic &s, const BoundArgs &args) {
  if (const Tuple *tuple = args[0].getIf<Tuple>())
    return Int(tuple->items.size());
  if (const std::string *text = args[0].getIf<std::string>())
    return Int(text->size());
  if (const Tensor *tensor = args[0].getIf<Tensor>(); tensor && tensor->type.isBlock())
    return Int(tensor->type.shape()[0]);
  fail(Diag::argument_kind, args.ranges[0], "obj", "len", "a tuple or a block", args[0].describe(),
       "");
}

static Value toFloat(Semantic &s, const BoundArgs &args) {
  const Value &x = args[0];
  if (const bool *b = x.getIf<bool>())
    return double(*b);
  if (const Int *i = x.getIf<Int>())
    return double(*i);
  if (x.is<double>())
    return x;
  if (const std::string *text = x.getIf<std::string>()) {
    std::string lower = llvm::StringRef(*text).trim().lower();
    bool negative = !lower.empty() && lower[0] == '-';
    llvm::StringRef digits = llvm::StringRef(lower).ltrim("+-");
    double value = 0;
    if (digits == "inf" || digits == "infinity")
      value = std::numeric_limits<double>::infinity();
    else if (digits == "nan")
      value = std::numeric_limits<double>::quiet_NaN();
    else if (digits.getAsDouble(value))
      fail(Diag::argument_kind, args.ranges[0], "x", "float", "a number or its text", x.describe(),
           "");
    return negative ? -value : value;
  }
  fail(Diag::argument_kind, args.ranges[0], "x", "float", "known at compile time", x.describe(),
       "convert run-time values with x.to(tl.float32)");
}

static Value toInt(Semantic &s, const BoundArgs &args) {
  const Value &x = args[0];
  if (const bool *b = x.getIf<bool>())
    return Int(*b);
  if (x.is<Int>())
    return x;
  if (const double *d = x.getIf<double>(); d && *d > -0x1p120 && *d < 0x1p120)
    return Int(*d);
  long long parsed = 0;
  if (const std::string *text = x.getIf<std::string>();
      text && !llvm::StringRef(*text).trim().getAsInteger(10, parsed))
    return Int(parsed);
  fail(Diag::argument_kind, args.ranges[0], "x", "int", "known at compile time", x.describe(),
       "convert run-time values with x.to(tl.int32)");
}

template <bool isAnd> static Value logicalMethod(Semantic &s, const BoundArgs &args) {
  return s.logical(isAnd, args[0], args[1], args.range);
}

static const BuiltinInfo rows[] = {
    {"tl", "program_id", "axis", false, programId,
     "Index of this program along an axis of the grid.\n\n"
     "axis: 0, 1 or 2, known at compile time. Returns an int32 scalar."},
    {"tl", "num_programs", "axis", false, numPrograms,
     "Number of programs of the launch along an axis of the grid.\n\n"
     "axis: 0, 1 or 2, known at compile time. Returns an int32 scalar."},
    {"tl", "arange", "start, end", false, arange,
     "The integers start, start + 1, ..., end - 1 as an int32 block of shape [end - start].\n\n"
     "start, end: known at compile time, within int32, end > start, at most 2**20 apart. Any such "
     "length is allowed."},
    {"tl", "full", "shape, value, dtype", false, full,
     "Block of a shape filled with a value.\n\n"
     "shape: tuple of positive integers known at compile time, at most 2**20 elements.\n"
     "value: a number, which must fit the dtype, or a scalar, which is cast.\n"
     "dtype: element type. An empty shape gives a scalar."},
    {"tl", "zeros", "shape, dtype", false, zeros,
     "Block of zeros.\n\nshape: tuple of positive integers known at compile time; dtype: element "
     "type."},
    {"tl", "zeros_like", "input", false, zerosLike,
     "Block of zeros with the shape and dtype of input."},
    {"tl", "cast", "input, dtype, fp_downcast_rounding=None, bitcast=False, overflow_mode=None",
     true, cast,
     "Converts input to another dtype, keeping its shape.\n\n"
     "Floats to integers truncate, anything to int1 is `!= 0`, narrowing floats round to nearest "
     "even.\n"
     "fp_downcast_rounding: \"rtne\" or \"rtz\", only where a floating type is narrowed.\n"
     "bitcast: reinterpret the bits; widths must be equal.\n"
     "overflow_mode: \"trunc\" (default) or \"saturate\" for integer results; NaN saturates to 0."},
    {"tensor", "to", "self, dtype, fp_downcast_rounding=None, bitcast=False, overflow_mode=None",
     true, cast, "x.to(dtype): see tl.cast."},
    {"tensor", "logical_and", "self, other", true, logicalMethod<true>,
     "Whether both are true, element by element; numbers are true unless they are 0."},
    {"tensor", "logical_or", "self, other", true, logicalMethod<false>,
     "Whether one of both is true, element by element; numbers are true unless they are 0."},
    {"tensor", "item", "self", true, item, "The element of a block of one element, as a scalar."},
    {"tl", "to_tensor", "x", false, toTensor,
     "A number as a run-time scalar: int1, int32 (or the next that holds it), fp32 or fp64."},
    {"tl", "pointer_type", "element_ty, address_space=1, const=False", false, pointerType,
     "The type of pointers to element_ty, for casts such as p.to(tl.pointer_type(tl.float16))."},
    {"tl", "constexpr", "value", false, constexprOf,
     "Marks a compile-time constant: as an annotation of a parameter or a variable, or as a call "
     "that checks it."},
    {"tl", "range",
     "arg1, arg2=None, step=None, num_stages=None, loop_unroll_factor=None, "
     "disallow_acc_multi_buffer=False, "
     "flatten=False, warp_specialize=False, disable_licm=False",
     false, loopOnly,
     "Run-time loop range with hints for the compiler: for i in tl.range(start, end, step)."},
    {"tl", "static_range", "arg1, arg2=None, step=None", false, loopOnly,
     "Range of a loop that is unrolled while compiling; the loop variable is a compile-time "
     "constant."},
    {"tl", "condition", "arg1, disable_licm=False", false, condition,
     "Test of a while loop with hints."},
    {"al", "parallel",
     "arg1, arg2=None, step=None, num_stages=None, loop_unroll_factor=None, bind_sub_block=False",
     false, loopOnly, "Range of a loop whose rounds do not depend on each other."},
    {"python", "range", "arg1, arg2=None, step=None", false, loopOnly,
     "Python's range, for run-time loops."},
    {"python", "min", "*args", false, pythonMinMax<false>,
     "Least of its arguments: of numbers at compile time, otherwise tl.minimum."},
    {"python", "max", "*args", false, pythonMinMax<true>,
     "Greatest of its arguments: of numbers at compile time, otherwise tl.maximum."},
    {"python", "len", "obj", false, length,
     "Length of a tuple or string, or first dimension of a block."},
    {"python", "float", "x", false, toFloat,
     "A compile-time float from a number or a text such as \"-inf\"."},
    {"python", "int", "x", false, toInt, "A compile-time integer from a number or a text."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::programRows() { return rows; }
