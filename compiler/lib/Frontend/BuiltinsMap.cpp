// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: functions that apply foreign code to elements: a jit function, or a
// function of a device library. And changed copies of named tuples.
//
// map_elementwise has its results from what the user's function returns, which
// is known only when its body has been walked. So the region is made first,
// with arguments of the elements' types, and the operation afterwards around
// it.
#include "Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace nereid;
using namespace nereid::frontend;

//===----------------------------------------------------------------------===//
// map_elementwise
//===----------------------------------------------------------------------===//

/// The results of the function: scalars, `pack` of each kind side by side.
static std::vector<Tensor> mappedResults(Semantic &s, const BoundArgs &args, const Value &result,
                                         int64_t pack) {
  std::vector<Value> items =
      result.is<Tuple>() ? result.as<Tuple>().items : std::vector<Value>{result};
  std::vector<Tensor> scalars;
  auto refuse = [&](llvm::StringRef found, const std::string &wanted) {
    fail(Diag::argument_kind, args.ranges[0], "scalar_fn", "tl.map_elementwise", wanted, found, "");
  };
  for (const Value &item : items) {
    if (!item.isNumber() && !(item.isTensor() && item.as<Tensor>().type.isScalar()))
      refuse("a function that returns " + item.describe(), "a function that returns scalars");
    scalars.push_back(s.toTensor(item, args.ranges[0]));
  }
  if (scalars.empty() || scalars.size() % pack)
    refuse(llvm::formatv("a function that returns {0} values", scalars.size()).str(),
           llvm::formatv("a function that returns a multiple of pack={0} values", pack).str());
  for (size_t i = 0; i < scalars.size(); ++i)
    if (scalars[i].type != scalars[i - i % pack].type)
      refuse(
          llvm::formatv("{0} and {1}", scalars[i - i % pack].type.str(), scalars[i].type.str())
              .str(),
          llvm::formatv("a function whose results come in groups of {0} of one dtype", pack).str());
  return scalars;
}

static Value mapElementwise(Semantic &s, const BoundArgs &args) {
  if (!args[0].is<Function>() && !args[0].is<Builtin>())
    fail(Diag::combine_not_function, args.ranges[0], functionName(args.info), args[0].describe());
  Int pack = s.constexprInt(args, 2);
  std::vector<Tensor> operands;
  for (const Value &item : args[1].as<Tuple>().items) {
    Tensor operand = s.toTensor(item, args.ranges[1]);
    if (!operand.type.isBlock() && !operand.type.isScalar() && !operand.type.isPointer())
      fail(Diag::argument_kind, args.ranges[1], "args", functionName(args.info),
           "blocks and scalars", item.describe(), "");
    operands.push_back(operand);
  }
  if (operands.empty())
    fail(Diag::missing_argument, args.range, functionName(args.info), "args", args.info.params);
  broadcastAll(s, operands, "tl.map_elementwise", args.range);
  int64_t count = operands[0].type.numElements();
  if (pack < 1 || pack > count || count % int64_t(pack))
    fail(Diag::argument_kind, args.ranges[2], "pack", functionName(args.info),
         llvm::formatv("a divisor of the {0} elements", count).str(), toString(pack), "");
  if (!operands[0].type.isBlock()) {
    std::vector<Value> scalars(operands.begin(), operands.end());
    return s.call(args[0], scalars, args.range);
  }

  // The region first: its results say what the operation's are.
  auto region = std::make_unique<mlir::Region>();
  mlir::Block *block = &region->emplaceBlock();
  std::vector<Value> elements;
  llvm::SmallVector<mlir::Value> handles;
  for (const Tensor &operand : operands) {
    handles.push_back(operand.handle);
    Type element = operand.type.element();
    for (Int i = 0; i < pack; ++i)
      elements.push_back(
          s.wrap(block->addArgument(element.lower(s.builder.getContext()), s.loc(args.range)),
                 element, args.range));
  }
  std::vector<Type> types;
  llvm::SmallVector<mlir::Type> lowered;
  {
    mlir::OpBuilder::InsertionGuard guard(s.builder);
    s.builder.setInsertionPointToStart(block);
    Value result = s.call(args[0], elements, args.range);
    std::vector<Tensor> scalars = mappedResults(s, args, result, int64_t(pack));
    llvm::SmallVector<mlir::Value> values;
    for (const Tensor &scalar : scalars)
      values.push_back(scalar.handle);
    for (size_t i = 0; i < scalars.size(); i += size_t(pack)) {
      types.push_back(Type::block(operands[0].type.shape(), scalars[i].type));
      lowered.push_back(types.back().lower(s.builder.getContext()));
    }
    s.emit<tt::MapElementwiseReturnOp>(args.range, values);
  }
  auto op = s.emit<tt::MapElementwiseOp>(args.range, lowered, handles, uint32_t(pack));
  op.getScalarOp().takeBody(*region);
  Tuple tuple;
  for (auto [value, type] : llvm::zip(op.getResult(), types))
    tuple.items.push_back(s.wrap(value, type, args.range));
  return tuple.items.size() == 1 ? tuple.items[0] : Value(tuple);
}

//===----------------------------------------------------------------------===//
// Functions of libraries
//===----------------------------------------------------------------------===//

/// `{(dtype, ...): (symbol, dtype)}`: the entry for the operands' dtypes.
static Value externElementwise(Semantic &s, const BoundArgs &args) {
  std::string library = s.constexprString(args, 0), path = s.constexprString(args, 1);
  std::vector<Tensor> operands;
  for (const Value &item : itemsArg(args, 2))
    operands.push_back(s.toTensor(item, args.ranges[2]));
  if (operands.empty())
    fail(Diag::missing_argument, args.range, functionName(args.info), "args", args.info.params);
  const Tuple *entries = args[3].getIf<Tuple>();
  if (!entries)
    fail(Diag::argument_kind, args.ranges[3], "arg_type_symbol_dict", functionName(args.info),
         "a dict of (dtypes): (symbol, dtype of the result)", args[3].describe(), "");
  std::string known;
  auto find = [&]() -> const Tuple * {
    known.clear();
    for (const Value &entry : entries->items) {
      const Tuple *pair = entry.getIf<Tuple>();
      const Tuple *key = pair && pair->items.size() == 2 ? pair->items[0].getIf<Tuple>() : nullptr;
      const Tuple *target = key ? pair->items[1].getIf<Tuple>() : nullptr;
      if (!target || target->items.size() != 2 || !target->items[0].is<std::string>() ||
          !target->items[1].is<Type>())
        fail(Diag::argument_kind, args.ranges[3], "arg_type_symbol_dict", functionName(args.info),
             "a dict of (dtypes): (symbol, dtype of the result)", entry.describe(), "");
      bool match = key->items.size() == operands.size();
      std::string spelled;
      for (size_t i = 0; i < key->items.size(); ++i) {
        const Type *type = key->items[i].getIf<Type>();
        spelled += (i ? ", " : "") + (type ? type->str() : std::string("?"));
        match = match && type && operands[i].type.element() == *type;
      }
      known += (known.empty() ? "(" : "; (") + spelled + ")";
      if (match)
        return target;
    }
    return nullptr;
  };
  std::string wanted;
  for (const Tensor &operand : operands)
    wanted += (wanted.empty() ? "" : ", ") + operand.type.element().str();
  const Tuple *target = find();
  if (!target) {
    // Once more with all operands promoted to one dtype.
    Type common = operands[0].type.element();
    bool numbers = !common.isPointerLike();
    for (const Tensor &operand : operands)
      numbers = numbers && !operand.type.isPointerLike();
    if (numbers) {
      for (const Tensor &operand : operands)
        common = s.promote(common, operand.type.element(), {"tl.extern_elementwise"}, args.range);
      for (Tensor &operand : operands)
        operand = s.cast(operand, common, args.range);
      target = find();
    }
    if (!target)
      fail(Diag::extern_overload, args.range, wanted, known);
  }
  broadcastAll(s, operands, "tl.extern_elementwise", args.range);
  return libraryCall(s, library, path, target->items[0].as<std::string>(), operands,
                     target->items[1].as<Type>(), s.constexprBool(args, 4), args.range);
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

static Value expectZero(Semantic &s, const BoundArgs &args) {
  if (s.options.debug) {
    Tensor zero = s.compare(CompareOp::Eq, args[0], Int(0), args.range).as<Tensor>();
    Tensor mask = s.toBool(s.toTensor(args[1], args.ranges[1]), args.ranges[1]);
    Tensor holds =
        s.logical(false, zero, s.unary(UnaryOp::Not, mask, args.range), args.range).as<Tensor>();
    s.emit<tt::AssertOp>(args.range, holds.handle, "tl.expect_zero: not zero where mask holds");
  }
  return args[0];
}

static Value aggregateReplace(Semantic &s, const BoundArgs &args) {
  const Tuple *instance = args[0].getIf<Tuple>();
  if (!instance || instance->names.empty())
    fail(Diag::argument_kind, args.ranges[0], "instance", functionName(args.info), "a named tuple",
         args[0].describe(), "");
  Tuple result = *instance;
  const Tuple &changes = args[1].as<Tuple>();
  for (auto [name, value] : llvm::zip(changes.names, changes.items)) {
    auto field = llvm::find(result.names, name);
    if (field == result.names.end())
      fail(Diag::unknown_keyword, args.ranges[1], functionName(args.info), name,
           llvm::join(result.names, ", "));
    result.items[field - result.names.begin()] = value;
  }
  return result;
}

static Value dtypeOf(Semantic &s, const BoundArgs &args) {
  if (args[0].is<Type>())
    return args[0];
  std::string name = s.constexprString(args, 0);
  std::optional<Type> type = Type::parse(name);
  if (!type)
    fail(Diag::argument_kind, args.ranges[0], "name", functionName(args.info),
         "the name of a dtype, such as \"fp32\"", "\"" + name + "\"", "");
  return *type;
}

static const BuiltinInfo rows[] = {
    {"tl", "map_elementwise", "scalar_fn, *args, pack=1", false, mapElementwise,
     "Applies a jit function of scalars to each element of blocks, which are broadcast "
     "together.\n\n"
     "scalar_fn may use control flow. pack: the number of elements in row-major order that one "
     "call gets of each\n"
     "block, which must divide the number of elements: it takes pack scalars for each block and "
     "returns pack scalars\n"
     "for each result. Returns a block, or a tuple for several results."},
    {"tl", "extern_elementwise", "lib_name, lib_path, args, arg_type_symbol_dict, is_pure", false,
     externElementwise,
     "Element-wise call of a function of a device library.\n\n"
     "args are broadcast together; arg_type_symbol_dict maps tuples of their dtypes to (symbol, "
     "dtype of the result);\n"
     "when no entry has exactly their dtypes, they are promoted to one dtype first. Functions of "
     "CUDA's libdevice\n"
     "(__nv_*) and the same names of other vendors are known; libraries at lib_path are not "
     "linked."},
    {"tl", "expect_zero", "x, mask", false, expectZero,
     "Promises that x is 0 where mask holds and returns x. In debug mode it is checked."},
    {"tl", "aggregate_replace", "instance, **changes", false, aggregateReplace,
     "A copy of a named tuple with the named fields changed."},
    {"tl", "dtype", "name", false, dtypeOf,
     "The dtype of a name such as \"fp32\", \"int32\" or \"fp8e4nv\"."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::mapRows() { return rows; }
