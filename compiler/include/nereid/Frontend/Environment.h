// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How names of the host language reach the compiler: the walker asks an
// Environment for whatever is not a local variable of a kernel. The Python
// package implements it over live objects, unit tests over a table.
#ifndef NEREID_FRONTEND_ENVIRONMENT_H
#define NEREID_FRONTEND_ENVIRONMENT_H

#include "nereid/Frontend/AST.h"
#include "nereid/Frontend/Value.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nereid::frontend {

/// A field of an aggregate class, as its annotation says.
struct AggregateField {
  std::string name;
  bool isConstexpr = false; // tl.constexpr: a compile-time constant
  bool isTensor = false;    // tl.tensor: a run-time value
};

class Environment {
public:
  virtual ~Environment();

  /// Called before each statement: throws when the host wants the compilation to
  /// end (Ctrl-C). Does nothing by default.
  virtual void checkInterrupt();

  /// The value of a closure variable, global or built-in name of `function`;
  /// nullopt when Python does not know it either. Which globals kernels may use
  /// is the environment's rule: modules, jit functions, functions and dtypes of
  /// the language, constexpr objects, functions marked as compile-time ones,
  /// named tuple classes. Others throw CompileError (Diag::global_not_constexpr).
  virtual std::optional<Value> lookup(const FunctionDef &function, llvm::StringRef name,
                                      const SourceRange &range) = 0;

  /// `object.name`; nullopt when there is no such attribute. Throws CompileError
  /// for values that kernels cannot use.
  virtual std::optional<Value> attribute(const Host &object, llvm::StringRef name,
                                         const SourceRange &range) = 0;

  /// Calls a compile-time function of the host. All arguments are constexprs.
  /// What it raises comes out as CompileError (Diag::host_call_failed).
  virtual Value call(const Host &callee, llvm::ArrayRef<Value> args,
                     llvm::ArrayRef<std::pair<std::string, Value>> keywords,
                     const SourceRange &range) = 0;

  /// Field names of a named tuple class; nullopt for any other object.
  virtual std::optional<std::vector<std::string>> namedTupleFields(const Host &object);

  /// Fields of an aggregate class; nullopt for any other object.
  virtual std::optional<std::vector<AggregateField>> aggregateFields(const Host &object);
  /// The __init__ of an aggregate class, or null.
  virtual const FunctionDef *aggregateInit(const Host &object);

  /// Name of a class, e.g. "tensor" of tl.tensor; nullopt for any other object.
  virtual std::optional<std::string> className(const Host &object);

  /// `format(value, spec)` of the host; nullopt when the host cannot.
  virtual std::optional<std::string> format(const Value &value, llvm::StringRef spec);

  /// Names that `function` could have meant, for "did you mean".
  virtual std::vector<std::string> visibleNames(const FunctionDef &function);
  /// Attribute names of `object`, for "did you mean".
  virtual std::vector<std::string> attributeNames(const Host &object);
};

} // namespace nereid::frontend

#endif // NEREID_FRONTEND_ENVIRONMENT_H
