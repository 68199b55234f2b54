// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls: functions of the language, methods, jit functions (compiled in place of
// the call), compile-time functions of the host.
//
// What is called decides what happens to the arguments:
//
//   function of the language   bound by its row of the table, then its rule emits
//   jit function               walked in place, in a Frame of its own; no call is emitted
//   aggregate                  its __init__ is walked on a `self` whose fields have no value yet;
//                              what `self` is at the end is the instance
//   named tuple                a tuple with names
//   host function              called now, by Python; takes and gives constants only
//
// Walking in place makes every call as cheap as none and lets constants
// through; it is why recursion is an error, found by the chain of frames. While
// a function is walked, semantic.callStack has the places of the calls around
// it: locations become callsite locations, and an error lists the calls it came
// through.
#include "Walker.h"

namespace nereid::frontend {
namespace {

/// "x, y=3, *rest": the parameters of a function as they were written.
std::string parameterList(const FunctionDef &function) {
  std::string text;
  for (const Param &param : function.params) {
    if (!text.empty())
      text += ", ";
    text += (param.isVariadic ? "*" : "") + param.name;
    if (param.hasDefault)
      text += "=" + pythonText(param.defaultValue, /*repr=*/true);
  }
  return text;
}

/// int.bit_length(): bits of the magnitude.
Int bitLength(Int value) {
  auto bits = static_cast<unsigned __int128>(value);
  if (value < 0)
    bits = -bits;
  Int length = 0;
  for (; bits != 0; bits >>= 1)
    ++length;
  return length;
}

/// Stands in a field of an aggregate until __init__ assigns it.
constexpr int64_t unsetField = -2;

} // namespace

Value Walker::evalCall(const CallExpr &expr) { return evalCall(expr, eval(*expr.callee)); }

Value Walker::evalCall(const CallExpr &expr, const Value &callee) {
  std::vector<Argument> positional;
  std::vector<KeywordArgument> keywords;
  evalArguments(expr, positional, keywords);
  return call(callee, std::move(positional), std::move(keywords), expr.range);
}

void Walker::evalArguments(const CallExpr &expr, std::vector<Argument> &positional,
                           std::vector<KeywordArgument> &keywords) {
  for (const ExprPtr &arg : expr.args) {
    const auto *starred = llvm::dyn_cast<StarredExpr>(arg.get());
    if (!starred) {
      positional.push_back({eval(*arg), arg->range});
      continue;
    }
    Value sequence = eval(*starred->value);
    const auto *tuple = sequence.getIf<Tuple>();
    if (!tuple || tuple->aggregate >= 0)
      fail(Diag::unpack_kind, starred->range, sequence.describe());
    for (const Value &item : tuple->items)
      positional.push_back({item, starred->range});
  }
  for (const Keyword &keyword : expr.keywords) {
    if (keyword.name.empty())
      fail(Diag::unsupported_syntax, keyword.range, "`**` in a call",
           "write the keyword arguments out");
    keywords.push_back({keyword.name, eval(*keyword.value), keyword.value->range, keyword.range});
  }
}

Value Walker::call(const Value &callee, std::vector<Argument> positional,
                   std::vector<KeywordArgument> keywords, const SourceRange &range) {
  if (const auto *builtin = callee.getIf<Builtin>())
    return callBuiltin(*builtin->info, positional, keywords, range);
  if (const auto *function = callee.getIf<Function>())
    return callFunction(*function->def, std::move(positional), std::move(keywords), range);
  if (const auto *method = callee.getIf<BoundMethod>()) {
    if (!method->info && !method->function.def) { // bit_length(), Python's own method
      if (!positional.empty() || !keywords.empty())
        fail(Diag::surplus_argument, range, method->name, 0, positional.size() + keywords.size(),
             "");
      const bool *flag = method->self->getIf<bool>();
      return bitLength(flag ? Int(*flag) : method->self->as<Int>());
    }
    positional.insert(positional.begin(), Argument{*method->self, range});
    if (method->info)
      return callBuiltin(*method->info, positional, keywords, range);
    return callFunction(*method->function.def, std::move(positional), std::move(keywords), range);
  }
  if (const auto *host = callee.getIf<Host>()) {
    if (environment.aggregateFields(*host))
      return construct(*host, std::move(positional), std::move(keywords), range);
    return callHost(*host, positional, keywords, range);
  }
  fail(Diag::not_callable, range, callee.describe(),
       callee.is<Type>() ? "convert a value with `x.to(dtype)` or `tl.cast(x, dtype)`" : "");
}

Value Walker::callBuiltin(const BuiltinInfo &info, llvm::ArrayRef<Argument> positional,
                          llvm::ArrayRef<KeywordArgument> keywords, const SourceRange &range) {
  BoundArgs args = bindArguments(info, positional, keywords, range);
  llvm::StringRef name = info.name;
  if (llvm::StringRef(info.module) == "python" &&
      (name == "isinstance" || name == "hasattr" || name == "getattr"))
    return callPython(args);
  return info.rule(semantic, args);
}

bool Walker::isInstance(const Value &value, const Value &type, const SourceRange &range) {
  if (const auto *types = type.getIf<Tuple>())
    return llvm::any_of(types->items,
                        [&](const Value &one) { return isInstance(value, one, range); });
  std::string name;
  if (const auto *builtin = type.getIf<Builtin>())
    name = builtin->info->name;
  else if (const auto *host = type.getIf<Host>()) {
    if (environment.aggregateFields(*host))
      return value.is<Tuple>() && value.as<Tuple>().aggregate == host->id;
    name = environment.className(*host).value_or("");
  }
  const auto *tensor = value.getIf<Tensor>();
  if (name == "tensor")
    return tensor && !tensor->type.isDescriptor();
  if (name == "tensor_descriptor" || name == "tensor_descriptor_base")
    return tensor && tensor->type.isDescriptor();
  if (name == "constexpr")
    return value.isConstexpr();
  if (name == "tuple" || name == "list")
    return value.is<Tuple>();
  if (name == "dtype")
    return value.is<Type>();
  if (name == "pointer_type")
    return value.is<Type>() && value.as<Type>().isPointer();
  if (name == "block_type")
    return value.is<Type>() && value.as<Type>().isBlock();
  if (name == "int")
    return value.is<Int>() || value.is<bool>();
  if (name == "float")
    return value.is<double>();
  if (name == "bool")
    return value.is<bool>();
  if (name == "str")
    return value.is<std::string>();
  fail(Diag::isinstance_class, range, type.describe());
}

Value Walker::callPython(const BoundArgs &args) {
  llvm::StringRef name = args.info.name;
  if (name == "isinstance")
    return isInstance(args[0], args[1], args.ranges[1]);
  std::string key = semantic.constexprString(args, 1);
  std::vector<std::string> names;
  std::optional<Value> found = findAttribute(args[0], key, args.range, names);
  if (name == "hasattr")
    return found.has_value();
  const auto *fallback = args[2].getIf<Tuple>();
  if (found || !fallback || fallback->items.empty())
    return found ? *found : attribute(args[0], key, args.range);
  return fallback->items.front();
}

Value Walker::callHost(const Host &host, llvm::ArrayRef<Argument> positional,
                       llvm::ArrayRef<KeywordArgument> keywords, const SourceRange &range) {
  if (std::optional<std::vector<std::string>> fields = environment.namedTupleFields(host)) {
    Tuple tuple;
    tuple.names = *fields;
    std::vector<std::optional<Value>> values(fields->size());
    std::string parameters = llvm::join(*fields, ", ");
    if (positional.size() > fields->size())
      fail(Diag::surplus_argument, range, host.description, fields->size(), positional.size(),
           parameters);
    for (size_t i = 0; i < positional.size(); ++i)
      values[i] = positional[i].value;
    for (const KeywordArgument &keyword : keywords) {
      auto field = llvm::find(*fields, keyword.name);
      if (field == fields->end())
        fail(Diag::unknown_keyword, keyword.nameRange, host.description, keyword.name, parameters);
      std::optional<Value> &value = values[field - fields->begin()];
      if (value)
        fail(Diag::doubled_argument, keyword.nameRange, host.description, keyword.name, parameters);
      value = keyword.value;
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (!values[i])
        fail(Diag::missing_argument, range, host.description, (*fields)[i], parameters);
      tuple.items.push_back(*values[i]);
    }
    return tuple;
  }
  std::vector<Value> args;
  std::vector<std::pair<std::string, Value>> named;
  for (const Argument &arg : positional) {
    if (holdsTensor(arg.value))
      fail(Diag::host_call_runtime_argument, arg.range, host.description, arg.value.describe());
    args.push_back(arg.value);
  }
  for (const KeywordArgument &keyword : keywords) {
    if (holdsTensor(keyword.value))
      fail(Diag::host_call_runtime_argument, keyword.range, host.description,
           keyword.value.describe());
    named.emplace_back(keyword.name, keyword.value);
  }
  return environment.call(host, args, named, range);
}

void Walker::bindParameters(const FunctionDef &function, std::vector<Argument> positional,
                            std::vector<KeywordArgument> keywords, const SourceRange &range,
                            Locals &locals) {
  const std::vector<Param> &params = function.params;
  std::vector<std::optional<Argument>> values(params.size());
  size_t next = 0;
  bool isVariadic = false;
  for (size_t i = 0; i < params.size() && !params[i].isKeywordOnly; ++i) {
    if (params[i].isVariadic) {
      Tuple rest;
      for (; next < positional.size(); ++next)
        rest.items.push_back(positional[next].value);
      values[i] = Argument{Value(std::move(rest)), range};
      isVariadic = true;
    } else if (next < positional.size()) {
      values[i] = positional[next++];
    }
  }
  if (next < positional.size() && !isVariadic)
    fail(Diag::surplus_argument, positional[next].range, function.name, next, positional.size(),
         parameterList(function));
  for (KeywordArgument &keyword : keywords) {
    auto param = llvm::find_if(
        params, [&](const Param &p) { return p.name == keyword.name && !p.isVariadic; });
    if (param == params.end())
      fail(Diag::unknown_keyword, keyword.nameRange, function.name, keyword.name,
           parameterList(function));
    std::optional<Argument> &value = values[param - params.begin()];
    if (value)
      fail(Diag::doubled_argument, keyword.nameRange, function.name, keyword.name,
           parameterList(function));
    value = Argument{std::move(keyword.value), keyword.range};
  }
  for (size_t i = 0; i < params.size(); ++i) {
    const Param &param = params[i];
    if (!values[i]) {
      if (!param.hasDefault)
        fail(Diag::missing_argument, range, function.name, param.name, parameterList(function));
      values[i] = Argument{param.defaultValue, range};
    }
    // A run-time value is let through, as kernels in use annotate more than they
    // need; where a constant is needed, its use says so.
    bool isConstexpr = param.isConstexpr && !holdsTensor(values[i]->value);
    locals[param.name] =
        Binding{std::move(values[i]->value), param.range, isConstexpr, nextVersion++};
  }
}

Value Walker::walkFunctionBody(const FunctionDef &function) {
  Flow flow = walkBlock(function.body, /*isTail=*/true);
  if (flow.kind == Flow::Kind::MayLeave && !flow.value.isNone())
    fail(Diag::return_missing, flow.range, function.name);
  return flow.falls() ? Value() : flow.value;
}

template <typename Walk>
auto Walker::inFunction(Frame &callee, const FunctionDef &function, const SourceRange &range,
                        Walk walk) {
  for (const Frame *outer = frame; outer; outer = outer->caller)
    if (outer->function == &function) {
      Diagnostic diagnostic = makeDiagnostic(Diag::recursive_call, range, function.name);
      diagnostic.notes.push_back({function.nameRange, "'" + function.name + "' is defined here"});
      throw CompileError(diagnostic);
    }
  enterFunction(callee, function);
  semantic.callStack.push_back(range);
  frame = &callee;
  try {
    auto result = walk();
    frame = callee.caller;
    semantic.callStack.pop_back();
    return result;
  } catch (const CompileError &error) {
    Diagnostic diagnostic = error.diagnostic;
    diagnostic.notes.push_back({range, "in '" + function.name + "', called from here"});
    throw CompileError(diagnostic);
  }
}

// What `self` is at the end of the body is the instance, so a `return` that only some paths reach
// at run time is an error.
Value Walker::construct(const Host &type, std::vector<Argument> positional,
                        std::vector<KeywordArgument> keywords, const SourceRange &range) {
  std::vector<AggregateField> fields = *environment.aggregateFields(type);
  Tuple self;
  self.aggregate = type.id;
  for (const AggregateField &field : fields) {
    self.names.push_back(field.name);
    self.items.push_back(Host{unsetField, "a field without a value"});
  }
  const FunctionDef *init = environment.aggregateInit(type);
  if (!init)
    fail(Diag::not_callable, range, type.description,
         "give the aggregate an __init__ that assigns its fields");
  positional.insert(positional.begin(), Argument{Value(std::move(self)), range});
  Frame callee;
  bindParameters(*init, std::move(positional), std::move(keywords), range, callee.locals);
  callee.isInit = true;
  return inFunction(callee, *init, range, [&]() -> Value {
    Flow flow = walkBlock(init->body);
    if (flow.kind == Flow::Kind::MayLeave || (flow.leaves() && !flow.value.isNone()))
      fail(Diag::unsupported_syntax, flow.range, "this `return` in the __init__ of an aggregate",
           "assign the fields on every path");
    Value made = frame->locals.at(init->params.front().name).value;
    const auto *tuple = made.getIf<Tuple>();
    if (!tuple || tuple->aggregate != type.id)
      fail(Diag::unsupported_syntax, init->nameRange, "an assignment to `self`",
           "assign its fields");
    for (size_t i = 0; i < tuple->items.size(); ++i)
      if (const auto *host = tuple->items[i].getIf<Host>(); host && host->id == unsetField)
        fail(Diag::field_unset, init->nameRange, tuple->names[i]);
    return made;
  });
}

Value Walker::callFunction(const FunctionDef &function, std::vector<Argument> positional,
                           std::vector<KeywordArgument> keywords, const SourceRange &range) {
  Frame callee;
  bindParameters(function, std::move(positional), std::move(keywords), range, callee.locals);
  Value value = inFunction(callee, function, range, [&] { return walkFunctionBody(function); });
  if (value.isNone() && value.as<None>().origin.empty())
    return None{"function '" + function.name + "' returns nothing"};
  return value;
}

} // namespace nereid::frontend
