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
  /// "tl", "tl.math", "dl", "libshmem_device", "al" (the Ascend extension) or
  /// "python" (range, len, print, ...).
  const char *module;
  const char *name;
  /// Python parameter list with defaults: "pointer, mask=None, other=None".
  /// A last parameter "*shape" collects the rest in a tuple.
  const char *params;
  /// Also a method of tensors (the first parameter is self)?
  bool isMethod;
  BuiltinRule rule;
  /// Docstring: what it does, shapes, dtypes, errors.
  const char *doc;
};

/// All rows, in the order of modules.
llvm::ArrayRef<const BuiltinInfo *> allBuiltins();
/// The row of `module`.`name`, or null.
const BuiltinInfo *findBuiltin(llvm::StringRef module, llvm::StringRef name);
/// The row of a tensor method, or null.
const BuiltinInfo *findMethod(llvm::StringRef name);

} // namespace nereid::frontend

#endif // NEREID_FRONTEND_BUILTINS_H
