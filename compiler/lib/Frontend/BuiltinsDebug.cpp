// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: hints to the compiler, assertions, printing, inline assembly.
#include "Rules.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/raw_ostream.h"

using namespace nereid;
using namespace nereid::frontend;

//===----------------------------------------------------------------------===//
// Hints
//===----------------------------------------------------------------------===//

static Value hint(Semantic &s, const BoundArgs &args, llvm::StringRef attribute) {
  Tensor input = tensorArg(s, args, 0);
  std::vector<int64_t> values = s.constexprShape(args, 1);
  size_t rank = input.type.isBlock() ? input.type.shape().size() : 1;
  if (values.size() != rank)
    fail(Diag::hint_values, args.range, functionName(args.info), values.size(), args[0].describe());
  llvm::SmallVector<int32_t> numbers(values.begin(), values.end());
  auto type = mlir::RankedTensorType::get({int64_t(numbers.size())}, s.builder.getI32Type());
  auto dense = mlir::DenseIntElementsAttr::get(type, numbers);
  if (mlir::Operation *op = input.handle.getDefiningOp()) {
    op->setDiscardableAttr(attribute, dense);
  } else {
    auto argument = mlir::cast<mlir::BlockArgument>(input.handle);
    if (auto function =
            mlir::dyn_cast<mlir::FunctionOpInterface>(argument.getOwner()->getParentOp());
        function && argument.getOwner()->isEntryBlock())
      function.setArgAttr(argument.getArgNumber(), attribute,
                          attribute == "tt.divisibility"
                              ? mlir::Attribute(s.builder.getI32IntegerAttr(numbers[0]))
                              : mlir::Attribute(dense));
  }
  return input;
}

static Value multipleOf(Semantic &s, const BoundArgs &args) {
  return hint(s, args, "tt.divisibility");
}
static Value maxContiguous(Semantic &s, const BoundArgs &args) {
  return hint(s, args, "tt.contiguity");
}
static Value maxConstancy(Semantic &s, const BoundArgs &args) {
  return hint(s, args, "tt.constancy");
}

static Value assume(Semantic &s, const BoundArgs &args) {
  Tensor condition = s.toCondition(args[0], args.ranges[0]);
  s.emit<mlir::LLVM::AssumeOp>(args.range, condition.handle);
  return None{};
}

static Value debugBarrier(Semantic &s, const BoundArgs &args) {
  s.emit<tt::BarrierOp>(args.range);
  return None{};
}

//===----------------------------------------------------------------------===//
// Compile time
//===----------------------------------------------------------------------===//

static Value staticPrint(Semantic &s, const BoundArgs &args) {
  std::string text;
  std::string separator = args[1].isNone() ? " " : s.constexprString(args, 1);
  for (auto [i, value] : llvm::enumerate(args[0].as<Tuple>().items))
    text += (i ? separator : "") + pythonText(value);
  text += args[2].isNone() ? "\n" : s.constexprString(args, 2);
  if (s.options.print)
    s.options.print(text);
  else
    (llvm::outs() << text).flush();
  return None{};
}

static Value staticAssert(Semantic &, const BoundArgs &args) {
  const Value &condition = args[0];
  if (!condition.isNumber())
    fail(Diag::static_assert_kind, args.ranges[0], condition.describe());
  bool holds = condition.is<bool>()  ? condition.as<bool>()
               : condition.is<Int>() ? condition.as<Int>() != 0
                                     : condition.as<double>() != 0;
  if (!holds) {
    std::string message = pythonText(args[1]);
    fail(Diag::static_assert_failed, args.range, message.empty() ? message : ": " + message);
  }
  return None{};
}

//===----------------------------------------------------------------------===//
// Run time
//===----------------------------------------------------------------------===//

static Value devicePrint(Semantic &s, const BoundArgs &args) {
  std::string prefix = s.constexprString(args, 0);
  for (char c : prefix)
    if (c < 32 || c > 126)
      fail(Diag::print_prefix, args.ranges[0]);
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<int32_t> isSigned;
  for (const Value &item : args[1].as<Tuple>().items) {
    Tensor value = s.toTensor(item, args.ranges[1]);
    if (value.type.isBlockPointer() || value.type.isDescriptor())
      fail(Diag::not_a_runtime_value, args.ranges[1], item.describe());
    if (value.type.scalar() == Scalar::Fp8E4B15)
      value = s.cast(value, Scalar::Fp16, args.range); // it is an integer in the IR
    values.push_back(value.handle);
    isSigned.push_back(value.type.isSigned());
  }
  bool hex = s.constexprBool(args, 2);
  std::string text = (llvm::StringRef(prefix).starts_with(" ") ? "" : " ") + prefix;
  if (!values.empty() && !llvm::StringRef(text).rtrim().ends_with(":"))
    text += ": ";
  s.emit<tt::PrintOp>(args.range, text, hex, values, isSigned);
  return None{};
}

static Value printRule(Semantic &s, const BoundArgs &args) {
  // Texts and constants before the first run-time value make the prefix.
  const std::vector<Value> &items = args[0].as<Tuple>().items;
  std::string prefix;
  Tuple rest;
  for (const Value &item : items) {
    if (item.isTensor() || !rest.items.empty())
      rest.items.push_back(item);
    else
      prefix += (prefix.empty() ? "" : " ") + pythonText(item);
  }
  const BuiltinInfo *info = findBuiltin("tl", "device_print");
  BoundArgs call{
      *info, {prefix, rest, args[1]}, {args.ranges[0], args.ranges[0], args.ranges[1]}, args.range};
  return devicePrint(s, call);
}

static Value deviceAssert(Semantic &s, const BoundArgs &args) {
  Tensor condition = s.toBool(tensorArg(s, args, 0), args.ranges[0]);
  std::string message = args[1].isNone() ? "" : s.constexprString(args, 1);
  if (!s.options.debug)
    return None{};
  if (!args[2].isNone()) {
    // Lanes that the mask excludes hold.
    Tensor mask = s.toBool(tensorArg(s, args, 2), args.ranges[2]);
    condition = s.logical(false, condition, s.unary(UnaryOp::Not, mask, args.range), args.range)
                    .as<Tensor>();
  }
  s.emit<tt::AssertOp>(args.range, condition.handle, message);
  return None{};
}

//===----------------------------------------------------------------------===//
// Foreign code
//===----------------------------------------------------------------------===//

static Value inlineAsm(Semantic &s, const BoundArgs &args) {
  std::string text = s.constexprString(args, 0), constraints = s.constexprString(args, 1);
  std::vector<Tensor> operands;
  for (const Value &item : itemsArg(args, 2))
    operands.push_back(s.toTensor(item, args.ranges[2]));
  for (size_t i = 0; i < operands.size(); ++i)
    for (size_t j = 0; j < operands.size(); ++j)
      if (i != j)
        operands[i] =
            s.broadcast(operands[i], operands[j], "tl.inline_asm_elementwise", args.range).first;
  std::vector<int64_t> shape;
  llvm::SmallVector<mlir::Value> handles;
  for (const Tensor &operand : operands) {
    shape = operand.type.shape().vec();
    handles.push_back(operand.handle);
  }
  std::vector<Type> results;
  for (const Value &item : itemsArg(args, 3)) {
    const Type *type = item.getIf<Type>();
    if (!type)
      fail(Diag::constexpr_kind, args.ranges[3], "dtype", functionName(args.info),
           "a dtype or a tuple of them", item.describe());
    results.push_back(shape.empty() ? *type : Type::block(shape, *type));
  }
  llvm::SmallVector<mlir::Type> lowered;
  for (const Type &type : results)
    lowered.push_back(type.lower(s.builder.getContext()));
  Int pack = s.constexprInt(args, 5);
  auto op = s.emit<tt::ElementwiseInlineAsmOp>(args.range, lowered, text, constraints,
                                               s.constexprBool(args, 4), uint32_t(pack), handles);
  Tuple tuple;
  for (auto [value, type] : llvm::zip(op.getResult(), results))
    tuple.items.push_back(s.wrap(value, type, args.range));
  return args[3].is<Tuple>() ? Value(tuple) : tuple.items[0];
}

static const BuiltinInfo rows[] = {
    {"tl", "multiple_of", "input, values", true, multipleOf,
     "Promises that the elements (of a block: the first of each run of contiguous ones) are "
     "multiples of values, one\n"
     "per dimension. Returns input."},
    {"tl", "max_contiguous", "input, values", true, maxContiguous,
     "Promises that the first values elements of each dimension are consecutive numbers. Returns "
     "input."},
    {"tl", "max_constancy", "input, values", true, maxConstancy,
     "Promises that the first values elements of each dimension are equal. Returns input."},
    {"tl", "assume", "cond", false, assume, "Promises that a scalar condition holds."},
    {"tl", "debug_barrier", "", false, debugBarrier,
     "Orders the memory accesses of the program's threads."},
    {"al", "debug_barrier", "sync_mode=None", false, debugBarrier,
     "Orders memory accesses of a vector function."},
    {"tl", "static_print", "*values, sep=\" \", end=\"\\n\", file=None, flush=False", false,
     staticPrint,
     "Prints while compiling: constants as Python does, run-time values by their types."},
    {"tl", "static_assert", "cond, msg=\"\"", false, staticAssert,
     "Stops the compilation with msg unless cond, a compile-time value, holds."},
    {"tl", "device_print", "prefix, *args, hex=False", false, devicePrint,
     "Prints prefix and the elements of the arguments from every program. prefix: printable ASCII, "
     "known at compile\n"
     "time. hex: integers in hexadecimal."},
    {"python", "print", "*args, hex=False", false, printRule,
     "print in a kernel is tl.device_print; leading constants are the prefix."},
    {"tl", "device_assert", "cond, msg=\"\", mask=None", false, deviceAssert,
     "In debug mode, stops the job with msg when an element of cond is false where mask holds."},
    {"tl", "inline_asm_elementwise", "asm, constraints, args, dtype, is_pure, pack", false,
     inlineAsm,
     "Assembly of the target, applied to pack elements at a time; args are broadcast together. "
     "dtype: that of the\n"
     "result, or a tuple for several results. An error on targets that "
     "take no assembly."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::debugRows() { return rows; }
