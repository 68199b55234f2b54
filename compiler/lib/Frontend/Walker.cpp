// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entry of the front end, and names.
//
// build() makes the module: parameters of the kernel become values (constants,
// or slots that the function's block fills), the body is walked, and the result
// verified. That is not for users' mistakes, which have been found by then:
// what the verifier of the IR refuses is an error of ours, and is reported as
// such.
//
// A name is looked up in this order: local variables; names that had a value
// and lost it, with the reason; names that the function assigns somewhere (used
// before: unbound); the environment.
#include "Walker.h"

#include "nereid/Dialect/Ascend/IR/Ascend.h"
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"

#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

namespace nereid::frontend {

void loadDialects(mlir::MLIRContext &context) {
  context.loadDialect<tt::TritonDialect, distributed::DistributedDialect, ascend::AscendDialect,
                      mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                      mlir::cf::ControlFlowDialect, mlir::ub::UBDialect, mlir::LLVM::LLVMDialect>();
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> buildModule(mlir::MLIRContext &context,
                                                              const KernelRequest &request,
                                                              Environment &environment,
                                                              DiagnosticSink &sink) {
  try {
    return Walker(context, request, environment, sink).build();
  } catch (CompileError &error) {
    return makeError(std::move(error.diagnostic));
  }
}

bool holdsTensor(const Value &value) {
  if (const auto *tuple = value.getIf<Tuple>())
    return llvm::any_of(tuple->items, holdsTensor);
  return value.isTensor();
}

std::string didYouMean(llvm::StringRef name, llvm::ArrayRef<std::string> names) {
  llvm::StringRef best;
  unsigned limit = name.size() <= 3 ? 1 : name.size() <= 6 ? 2 : 3;
  for (const std::string &candidate : names) {
    if (candidate.empty() || candidate == name)
      continue;
    unsigned distance = name.edit_distance(candidate, /*AllowReplacements=*/true, limit);
    if (distance <= limit && (best.empty() || distance < limit || candidate < best)) {
      limit = distance;
      best = candidate;
    }
  }
  return best.empty() ? "" : "did you mean '" + best.str() + "'?";
}

Walker::Walker(mlir::MLIRContext &context, const KernelRequest &request, Environment &environment,
               DiagnosticSink &sink)
    : context(context), request(request), environment(environment), sink(sink), builder(&context),
      semantic(builder, request.language, sink) {
  semantic.call = [this](const Value &callee, llvm::ArrayRef<Value> args,
                         const SourceRange &range) {
    std::vector<Argument> positional;
    for (const Value &arg : args)
      positional.push_back({arg, range});
    return call(callee, std::move(positional), {}, range);
  };
}

/// Value of a parameter; run-time leaves are appended to `slots` without a
/// handle, which the function's block gives them later.
Value Walker::kernelArgument(const KernelArgument &argument, const Param &param,
                             const std::string &name, std::vector<Tensor> &slots,
                             std::vector<int> &divisibility, std::vector<std::string> &names) {
  if (argument.constant)
    return *argument.constant;
  if (argument.items) {
    Tuple tuple;
    tuple.names = argument.itemNames;
    for (size_t i = 0; i < argument.items->size(); ++i) {
      std::string part = i < tuple.names.size() ? tuple.names[i] : std::to_string(i);
      tuple.items.push_back(kernelArgument((*argument.items)[i], param, name + "." + part, slots,
                                           divisibility, names));
    }
    return tuple;
  }
  if (param.isConstexpr)
    fail(Diag::kernel_argument_constexpr, param.range, param.name, request.function->name);
  std::optional<Type> type = Type::parse(argument.type);
  if (!type || type->isVoid())
    fail(Diag::kernel_argument_type, param.range, param.name, request.function->name,
         argument.type);
  Tensor tensor{mlir::Value(), *type, param.range};
  slots.push_back(tensor);
  divisibility.push_back(argument.divisibility);
  names.push_back(name);
  return tensor;
}

/// `value` with the parts of host-made descriptors put together.
Value Walker::withDescriptors(const KernelArgument &argument, Value value,
                              const SourceRange &range) {
  if (!argument.items)
    return value;
  const Tuple &parts = value.as<Tuple>();
  if (!argument.blockShape) {
    Tuple tuple = parts;
    for (size_t i = 0; i < tuple.items.size(); ++i)
      tuple.items[i] = withDescriptors((*argument.items)[i], tuple.items[i], range);
    return tuple;
  }
  size_t rank = argument.blockShape->size();
  semantic.checkShape(*argument.blockShape, range);
  Tensor base = parts.items[0].as<Tensor>();
  if (int64_t bits = argument.blockShape->back() * base.type.pointee().bits(); bits < 128)
    fail(Diag::descriptor_invalid, range,
         "the innermost dimension of its blocks has " + std::to_string(bits / 8) + " bytes",
         "it needs at least 16: make the last size of block_shape larger");
  llvm::SmallVector<mlir::Value> shape, strides;
  for (size_t d = 0; d < rank; ++d)
    shape.push_back(parts.items[1 + d].as<Tensor>().handle);
  for (size_t d = 0; d + 1 < rank; ++d)
    strides.push_back(parts.items[1 + rank + d].as<Tensor>().handle);
  strides.push_back(semantic.constant(Int(1), Scalar::Int64, range).handle);
  Type type = Type::descriptor(*argument.blockShape, base.type.pointee());
  auto op = semantic.emit<tt::MakeTensorDescOp>(
      range, type.lower(&context), base.handle, shape, strides,
      argument.padding == "nan" ? tt::PaddingOption::PAD_NAN : tt::PaddingOption::PAD_ZERO);
  return semantic.wrap(op.getResult(), type, range);
}

mlir::OwningOpRef<mlir::ModuleOp> Walker::build() {
  const FunctionDef &function = *request.function;
  if (request.arguments.size() != function.params.size())
    fail(Diag::kernel_argument_count, function.nameRange, function.name, function.params.size(),
         request.arguments.size());

  for (const Param &param : function.params)
    if (param.isVariadic)
      fail(Diag::unsupported_syntax, param.range,
           "`*" + param.name + "`, which takes any number of arguments,",
           "a kernel has a fixed list of parameters; one of them can be a tuple");

  std::vector<Tensor> slots;
  std::vector<int> divisibility;
  std::vector<std::string> names;
  std::vector<Value> values;
  for (size_t i = 0; i < function.params.size(); ++i)
    values.push_back(kernelArgument(request.arguments[i], function.params[i],
                                    function.params[i].name, slots, divisibility, names));

  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(semantic.loc(function.range));
  std::vector<mlir::Type> types;
  std::vector<mlir::DictionaryAttr> attributes;
  for (size_t i = 0; i < slots.size(); ++i) {
    types.push_back(slots[i].type.lower(&context));
    std::vector<mlir::NamedAttribute> known;
    if (divisibility[i] > 1)
      known.push_back(
          builder.getNamedAttr("tt.divisibility", builder.getI32IntegerAttr(divisibility[i])));
    attributes.push_back(builder.getDictionaryAttr(known));
  }
  builder.setInsertionPointToStart(module->getBody());
  auto op = tt::FuncOp::create(
      builder, semantic.loc(function.range), function.name, builder.getFunctionType(types, {}),
      {builder.getNamedAttr("sym_visibility", builder.getStringAttr("public")),
       builder.getNamedAttr("noinline", builder.getBoolAttr(false))},
      attributes);
  mlir::Block *entry = op.addEntryBlock();
  for (size_t i = 0; i < slots.size(); ++i)
    entry->getArgument(i).setLoc(
        mlir::NameLoc::get(builder.getStringAttr(names[i]), semantic.loc(slots[i].range)));
  builder.setInsertionPointToStart(entry);

  Frame kernel;
  enterFunction(kernel, function);
  unsigned next = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const Param &param = function.params[i];
    Value value =
        withDescriptors(request.arguments[i],
                        fill(values[i], entry->getArguments(), next, param.range), param.range);
    if (value.isNone())
      value = None{"the argument '" + param.name + "' of the kernel"};
    kernel.locals[param.name] =
        Binding{std::move(value), param.range, param.isConstexpr, nextVersion++};
  }
  frame = &kernel;
  Value result = walkFunctionBody(function);
  if (!result.isNone())
    fail(Diag::kernel_returns_value, function.nameRange, function.name, result.describe());
  tt::ReturnOp::create(builder, semantic.loc(function.range));
  frame = nullptr;
  verify(*module);
  return module;
}

void Walker::verify(mlir::ModuleOp module) {
  std::string messages;
  SourceRange range = request.function->nameRange;
  {
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error && messages.empty()) {
        llvm::raw_string_ostream os(messages);
        os << diagnostic << " (" << diagnostic.getLocation() << ")";
      }
      return mlir::success();
    });
    if (mlir::succeeded(mlir::verify(module)))
      return;
  }
  fail(Diag::invalid_ir, range, request.function->name, messages);
}

void Walker::enterFunction(Frame &next, const FunctionDef &function) {
  next.function = &function;
  next.caller = frame;
  for (AssignedName &assigned : assignedNames(function.body))
    next.localNames.insert(std::move(assigned.name));
}

Value Walker::lookup(const NameExpr &name) {
  auto local = frame->locals.find(name.id);
  if (local != frame->locals.end())
    return local->second.value;
  auto dropped = frame->dropped.find(name.id);
  if (dropped != frame->dropped.end()) {
    Diagnostic diagnostic = dropped->second;
    diagnostic.range = name.range;
    throw CompileError(diagnostic);
  }
  if (frame->localNames.count(name.id))
    fail(Diag::unbound_name, name.range, name.id);
  if (std::optional<Value> value = environment.lookup(*frame->function, name.id, name.range))
    return *value;
  unknownName(name.id, name.range);
}

void Walker::unknownName(llvm::StringRef name, const SourceRange &range) {
  std::vector<std::string> names = environment.visibleNames(*frame->function);
  for (const auto &[local, binding] : frame->locals)
    names.push_back(local);
  fail(Diag::unknown_name, range, name, didYouMean(name, names));
}

void Walker::bind(llvm::StringRef name, Value value, const SourceRange &range, bool isConstexpr) {
  Binding &binding = frame->locals[name.str()];
  // The same statement may come again when tl.static_range repeats it.
  bool again = binding.range.line == range.line && binding.range.column == range.column;
  // A plain assignment makes another variable of the name, but not in a loop, which
  // would have to hand a value to its next round.
  bool carried = frame->beforeLoop && frame->beforeLoop->count(name.str());
  if (binding.version != 0 && binding.isConstexpr && !again && (isConstexpr || carried)) {
    Diagnostic diagnostic = makeDiagnostic(Diag::constexpr_reassigned, range, name);
    diagnostic.notes.push_back({binding.range, "it was defined here"});
    throw CompileError(diagnostic);
  }
  if (auto *tensor = std::get_if<Tensor>(&value.storage))
    tensor->range = range;
  binding = Binding{std::move(value), range, isConstexpr, nextVersion++};
}

void Walker::drop(llvm::StringRef name, Diagnostic why) {
  frame->locals.erase(name.str());
  frame->dropped.insert_or_assign(name.str(), std::move(why));
}

} // namespace nereid::frontend
