// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of builtins: rows of all families, parameter lists, matching of
// arguments, and the modules' constants.
//
// A row says everything about a function as text: module, name, Python
// parameter list, docstring. The parameter list is parsed once per process
// (parseParameters), and calls are matched to it by Python's rules
// (bindArguments), so a rule never counts arguments: args[i] is parameter i,
// given or default. The same rows make the Python modules and the tables of
// docs/ (python/generate_language.py), so that what is documented is what is
// accepted.
#include "nereid/Frontend/Builtins.h"

#include "Rules.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

using namespace nereid;
using namespace nereid::frontend;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
struct Table {
  std::vector<const BuiltinInfo *> rows;
  llvm::StringMap<const BuiltinInfo *> byName; // "module.name"
  llvm::StringMap<const BuiltinInfo *> methods;
  llvm::DenseMap<const BuiltinInfo *, std::vector<Parameter>> parameters;
};
} // namespace

static Value parseDefault(llvm::StringRef text) {
  text = text.trim();
  if (text == "None")
    return None{};
  if (text == "True" || text == "False")
    return text == "True";
  if (text == "()")
    return Tuple{};
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'')) {
    std::string value;
    for (size_t i = 1; i + 1 < text.size(); ++i) {
      if (text[i] == '\\' && i + 2 < text.size() && text[i + 1] == 'n') {
        value += '\n';
        ++i;
      } else
        value += text[i];
    }
    return value;
  }
  long long integer = 0;
  if (!text.getAsInteger(0, integer))
    return Int(integer);
  double real = 0;
  if (!text.getAsDouble(real))
    return real;
  llvm_unreachable("default of a builtin's parameter is not a literal");
}

static std::vector<Parameter> parseParameters(llvm::StringRef text) {
  std::vector<Parameter> result;
  bool keywordOnly = false;
  // Commas inside quotes and brackets do not separate.
  int depth = 0;
  bool quoted = false;
  size_t start = 0;
  auto add = [&](llvm::StringRef piece) {
    piece = piece.trim();
    if (piece.empty())
      return;
    if (piece == "*") {
      keywordOnly = true;
      return;
    }
    Parameter parameter;
    parameter.isKeywordOnly = keywordOnly;
    if (piece.consume_front("**")) {
      parameter.isKeywords = parameter.isKeywordOnly = true;
      parameter.hasDefault = true;
      parameter.defaultValue = Tuple{};
    } else if (piece.consume_front("*")) {
      parameter.isVariadic = true;
      parameter.hasDefault = true;
      parameter.defaultValue = Tuple{};
      keywordOnly = true;
    }
    auto [name, value] = piece.split('=');
    parameter.name = name.trim().str();
    if (!value.empty()) {
      parameter.hasDefault = true;
      parameter.defaultValue = parseDefault(value);
    }
    result.push_back(std::move(parameter));
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"')
      quoted = !quoted;
    else if (!quoted && text[i] == '(')
      ++depth;
    else if (!quoted && text[i] == ')')
      --depth;
    else if (!quoted && depth == 0 && text[i] == ',') {
      add(text.slice(start, i));
      start = i + 1;
    }
  }
  add(text.substr(start));
  return result;
}

static const Table &table() {
  static const Table instance = [] {
    Table t;
    for (llvm::ArrayRef<BuiltinInfo> family :
         {programRows(),   shapeRows(),  dotRows(),         memoryRows(),  descriptorRows(),
          atomicRows(),    selectRows(), mathRows(),        reduceRows(),  sortRows(),
          randomRows(),    debugRows(),  libdeviceRows(),   libraryRows(), bitRows(),
          mapRows(),       indexRows(),  distributedRows(), shmemRows(),   ascendRows(),
          extensionRows(), threadRows(), sliceRows(),       dtypeRows(),   pythonRows()})
      for (const BuiltinInfo &info : family) {
        t.rows.push_back(&info);
        t.byName.try_emplace(std::string(info.module) + "." + info.name, &info);
        if (info.isMethod)
          t.methods.try_emplace(info.name, &info);
        t.parameters[&info] = parseParameters(info.params);
      }
    llvm::sort(t.rows, [](const BuiltinInfo *a, const BuiltinInfo *b) {
      return std::pair(llvm::StringRef(a->module), llvm::StringRef(a->name)) <
             std::pair(llvm::StringRef(b->module), llvm::StringRef(b->name));
    });
    return t;
  }();
  return instance;
}

llvm::ArrayRef<const BuiltinInfo *> nereid::frontend::allBuiltins() { return table().rows; }

const BuiltinInfo *nereid::frontend::findBuiltin(llvm::StringRef module, llvm::StringRef name) {
  return table().byName.lookup((module + "." + name).str());
}

const BuiltinInfo *nereid::frontend::findMethod(llvm::StringRef name) {
  return table().methods.lookup(name);
}

llvm::ArrayRef<Parameter> nereid::frontend::parameters(const BuiltinInfo &info) {
  auto it = table().parameters.find(&info);
  return it == table().parameters.end() ? llvm::ArrayRef<Parameter>()
                                        : llvm::ArrayRef<Parameter>(it->second);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

BoundArgs nereid::frontend::bindArguments(const BuiltinInfo &info,
                                          llvm::ArrayRef<Argument> positional,
                                          llvm::ArrayRef<KeywordArgument> keywords,
                                          const SourceRange &range) {
  llvm::ArrayRef<Parameter> params = parameters(info);
  std::string name = functionName(info);
  BoundArgs bound{info, {}, {}, range};
  bound.values.resize(params.size());
  bound.ranges.assign(params.size(), range);
  llvm::SmallVector<bool> given(params.size(), false);

  size_t next = 0, limit = 0;
  for (const Parameter &parameter : params)
    limit += !parameter.isKeywordOnly && !parameter.isVariadic;
  for (const Argument &argument : positional) {
    if (next < params.size() && params[next].isVariadic) {
      Tuple rest = given[next] ? bound.values[next].as<Tuple>() : Tuple{};
      rest.items.push_back(argument.value);
      bound.values[next] = std::move(rest);
      if (!given[next])
        bound.ranges[next] = argument.range;
      given[next] = true;
      continue;
    }
    if (next >= params.size() || params[next].isKeywordOnly)
      fail(Diag::surplus_argument, argument.range, name, limit, positional.size(), info.params);
    bound.values[next] = argument.value;
    bound.ranges[next] = argument.range;
    given[next++] = true;
  }
  for (const KeywordArgument &keyword : keywords) {
    // What code written for upstream hands through to the compiler.
    if (keyword.name == "_semantic" || keyword.name == "_builder" || keyword.name == "_generator")
      continue;
    const Parameter *parameter = llvm::find_if(
        params, [&](const Parameter &p) { return p.name == keyword.name && !p.isKeywords; });
    if (parameter == params.end() && !params.empty() && params.back().isKeywords) {
      size_t last = params.size() - 1;
      Tuple rest = given[last] ? bound.values[last].as<Tuple>() : Tuple{};
      if (llvm::is_contained(rest.names, keyword.name))
        fail(Diag::doubled_argument, keyword.nameRange, name, keyword.name, info.params);
      rest.items.push_back(keyword.value);
      rest.names.push_back(keyword.name);
      bound.values[last] = std::move(rest);
      bound.ranges[last] = keyword.range;
      given[last] = true;
      continue;
    }
    if (parameter == params.end())
      fail(Diag::unknown_keyword, keyword.nameRange, name, keyword.name, info.params);
    size_t i = parameter - params.begin();
    if (given[i])
      fail(Diag::doubled_argument, keyword.nameRange, name, keyword.name, info.params);
    bound.values[i] = keyword.value;
    bound.ranges[i] = keyword.range;
    given[i] = true;
  }
  for (auto [i, parameter] : llvm::enumerate(params)) {
    if (given[i])
      continue;
    if (!parameter.hasDefault)
      fail(Diag::missing_argument, range, name, parameter.name, info.params);
    bound.values[i] = parameter.defaultValue;
  }
  return bound;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static const std::pair<const char *, Scalar> dtypeNames[] = {
    {"void", Scalar::Void},
    {"int1", Scalar::Int1},
    {"int8", Scalar::Int8},
    {"int16", Scalar::Int16},
    {"int32", Scalar::Int32},
    {"int64", Scalar::Int64},
    {"uint8", Scalar::UInt8},
    {"uint16", Scalar::UInt16},
    {"uint32", Scalar::UInt32},
    {"uint64", Scalar::UInt64},
    {"float8e5", Scalar::Fp8E5},
    {"float8e5b16", Scalar::Fp8E5B16},
    {"float8e4nv", Scalar::Fp8E4NV},
    {"float8e4b8", Scalar::Fp8E4B8},
    {"float8e4b15", Scalar::Fp8E4B15},
    {"float16", Scalar::Fp16},
    {"bfloat16", Scalar::BF16},
    {"float32", Scalar::Fp32},
    {"float64", Scalar::Fp64},
};

std::optional<Value> nereid::frontend::findConstant(llvm::StringRef module, llvm::StringRef name) {
  if (module == "tl") {
    for (auto [spelling, scalar] : dtypeNames)
      if (name == spelling)
        return Value(Type(scalar));
    if (name == "pi32_t")
      return Value(Type::pointer(Scalar::Int32));
    if (name == "TRITON_MAX_TENSOR_NUMEL")
      return Value(Int(1) << 20);
  }
  if (module == "tl.PropagateNan") {
    if (name == "NONE")
      return Value(Int(0));
    if (name == "ALL")
      return Value(Int(0xFFFF));
  }
  std::vector<std::string> members = extensionMembers(module);
  if (auto member = llvm::find(members, name); member != members.end())
    return Value(Int(member - members.begin()));
  if (module == "libshmem_device")
    if (std::optional<ShmemConstant> constant = ShmemConstant::find(name))
      return Value(constant->encode());
  return std::nullopt;
}

std::vector<std::string> nereid::frontend::constantModules() {
  std::vector<std::string> modules = {"tl", "tl.PropagateNan", "libshmem_device"};
  for (std::string &name : extensionEnumerations())
    modules.push_back(std::move(name));
  return modules;
}

std::vector<std::string> nereid::frontend::constantNames(llvm::StringRef module) {
  std::vector<std::string> names;
  if (module == "tl") {
    for (auto [spelling, scalar] : dtypeNames)
      names.push_back(spelling);
    names.push_back("pi32_t");
    names.push_back("TRITON_MAX_TENSOR_NUMEL");
  }
  if (module == "tl.PropagateNan")
    names = {"NONE", "ALL"};
  if (module.starts_with("al."))
    names = extensionMembers(module);
  if (module == "libshmem_device")
    names = ShmemConstant::allNames();
  return names;
}
