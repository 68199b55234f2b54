// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PythonEnvironment.h - Python names for the compiler --------*- C++ -*-===//
//
// The compiler's Environment over live Python objects: closures, globals and
// built-ins of jit functions, attributes of modules, compile-time functions.
// CompilerModule.h says how the objects of the language are recognised.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_PYTHON_PYTHONENVIRONMENT_H
#define NEREID_PYTHON_PYTHONENVIRONMENT_H

#include "nereid/Frontend/Environment.h"

#include <nanobind/nanobind.h>

#include <deque>
#include <memory>
#include <unordered_map>

namespace nereid::python {

class PythonEnvironment final : public frontend::Environment {
public:
  /// `allowGlobals`: plain numbers and strings of the module may be used, too.
  explicit PythonEnvironment(bool allowGlobals = false) : allowGlobals(allowGlobals) {}

  /// The tree of a jit function; imported once, owned by the environment.
  const frontend::FunctionDef &function(nanobind::handle jitFunction);

  /// A Python value as a compile-time constant: None, numbers, strings, dtypes,
  /// functions, tuples of them; nullopt for anything else.
  std::optional<frontend::Value> import(nanobind::handle object);
  /// A compile-time value as a Python object; a null object when it has none.
  nanobind::object exportValue(const frontend::Value &value);

  void checkInterrupt() override;
  std::optional<frontend::Value> lookup(const frontend::FunctionDef &function, llvm::StringRef name,
                                        const SourceRange &range) override;
  std::optional<frontend::Value> attribute(const frontend::Host &object, llvm::StringRef name,
                                           const SourceRange &range) override;
  frontend::Value call(const frontend::Host &callee, llvm::ArrayRef<frontend::Value> args,
                       llvm::ArrayRef<std::pair<std::string, frontend::Value>> keywords,
                       const SourceRange &range) override;
  std::optional<std::vector<std::string>> namedTupleFields(const frontend::Host &object) override;
  std::optional<std::vector<frontend::AggregateField>>
  aggregateFields(const frontend::Host &object) override;
  const frontend::FunctionDef *aggregateInit(const frontend::Host &object) override;
  std::optional<std::string> className(const frontend::Host &object) override;
  std::optional<std::string> format(const frontend::Value &value, llvm::StringRef spec) override;
  std::vector<std::string> visibleNames(const frontend::FunctionDef &function) override;
  std::vector<std::string> attributeNames(const frontend::Host &object) override;

private:
  /// Objects that need no constexpr around them: modules, classes, functions of
  /// the language, dtypes, constexprs, tuples of them.
  std::optional<frontend::Value> importLanguageObject(nanobind::handle object,
                                                      const SourceRange &range);
  /// Plain Python data.
  std::optional<frontend::Value> importData(nanobind::handle object);
  frontend::Value host(nanobind::handle object, std::string description);
  std::shared_ptr<const SourceFile> file(nanobind::handle jitFunction);
  [[noreturn]] void refuse(nanobind::handle object, llvm::StringRef name, const SourceRange &range);

  bool allowGlobals;
  std::deque<std::unique_ptr<frontend::FunctionDef>> functions;
  std::vector<nanobind::object> functionObjects; // by FunctionDef::id
  std::unordered_map<PyObject *, const frontend::FunctionDef *> functionOf;
  std::vector<nanobind::object> hosts; // by Host::id
  std::unordered_map<PyObject *, int64_t> hostOf;
  std::unordered_map<std::string, std::shared_ptr<const SourceFile>> files;
};

} // namespace nereid::python

#endif // NEREID_PYTHON_PYTHONENVIRONMENT_H
