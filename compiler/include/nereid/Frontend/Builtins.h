// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of the language's functions. One row gives the Python name, its
// signature and docstring, and the rule that checks the arguments and emits
// IR. To add a function: one row, one rule, a test.
#ifndef NEREID_FRONTEND_BUILTINS_H
#define NEREID_FRONTEND_BUILTINS_H

#include "nereid/Frontend/Value.h"

namespace nereid::frontend {

class Semantic;

/// Arguments of one call, in the order of the row's parameters; missing ones
/// hold their defaults. `ranges[i]` is where argument i was written (the call's
/// own range for a default).
struct BoundArgs {
  const BuiltinInfo &info;
  std::vector<Value> values;
  std::vector<SourceRange> ranges;
  SourceRange range; // the whole call

  const Value &operator[](unsigned i) const { return values[i]; }
};

using BuiltinRule = Value (*)(Semantic &, const BoundArgs &);

struct BuiltinInfo {
  /// "tl", "tl.math", "libdevice" (tl.extra.libdevice and its aliases), "dl",
  /// "libshmem_device", "al" (the Ascend extension), "python" (min, max, print,
  /// ...), or, for what only exists as a method, "dtype" and "descriptor".
  const char *module;
  const char *name;
  /// Python parameter list with defaults: "pointer, mask=None, other=None".
  /// "*shape" collects the remaining positional arguments in a tuple; what
  /// follows it (or a bare "*") is keyword-only. "**changes" collects other
  /// keyword arguments in a tuple with names. Defaults are None, numbers,
  /// strings, True, False or ().
  const char *params;
  /// Also a method of tensors (the first parameter is self)?
  bool isMethod;
  BuiltinRule rule;
  /// Docstring: what it does, shapes, dtypes, errors.
  const char *doc;
};

/// One parameter of a row.
struct Parameter {
  std::string name;
  bool isVariadic = false;
  /// `**changes`: collects other keyword arguments in a tuple with names.
  bool isKeywords = false;
  bool isKeywordOnly = false;
  bool hasDefault = false;
  Value defaultValue;
};

/// The parsed `params` of a row; parsed once per row.
llvm::ArrayRef<Parameter> parameters(const BuiltinInfo &info);

/// An argument as it was written.
struct Argument {
  Value value;
  SourceRange range;
};
struct KeywordArgument {
  std::string name;
  Value value;
  SourceRange range;     // of the value
  SourceRange nameRange; // of `name=value`
};

/// Matches arguments to the row's parameters by Python's rules. Throws a
/// CompileError for a missing, unknown, doubled or surplus argument.
BoundArgs bindArguments(const BuiltinInfo &info, llvm::ArrayRef<Argument> positional,
                        llvm::ArrayRef<KeywordArgument> keywords, const SourceRange &range);

/// A constant of a module: dtypes ("tl", "float32"), PropagateNan members
/// ("tl.PropagateNan", "ALL"), libshmem_device's NVSHMEM_*, ...; nullopt when
/// there is none of that name.
std::optional<Value> findConstant(llvm::StringRef module, llvm::StringRef name);
/// Modules and classes that have constants.
std::vector<std::string> constantModules();
/// Names of a module's constants, for suggestions and for the Python stubs.
std::vector<std::string> constantNames(llvm::StringRef module);

/// All rows, in the order of modules.
llvm::ArrayRef<const BuiltinInfo *> allBuiltins();
/// The row of `module`.`name`, or null.
const BuiltinInfo *findBuiltin(llvm::StringRef module, llvm::StringRef name);
/// The row of a tensor method, or null.
const BuiltinInfo *findMethod(llvm::StringRef name);

} // namespace nereid::frontend

#endif // NEREID_FRONTEND_BUILTINS_H
