// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the dispatcher's entries of arguments (see CompilerModule.h) to what the
// front end takes. All of it runs with the interpreter's lock: the front end
// asks Python about names and values while it walks.
#include "FrontendBindings.h"
#include "PythonEnvironment.h"

#include "nereid/Frontend/Codegen.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nereid;
using namespace nereid::frontend;

namespace nereid::python {
namespace {

/// Hands warnings to Python, where filters apply.
class PythonWarnings : public DiagnosticSink {
public:
  void report(const Diagnostic &diagnostic) override {
    std::string rendered = render(diagnostic);
    const char *path =
        diagnostic.range.isValid() ? diagnostic.range.file->path.c_str() : "<kernel>";
    if (PyErr_WarnExplicit(PyExc_UserWarning, rendered.c_str(), path, diagnostic.range.line,
                           nullptr, nullptr) < 0)
      throw nb::python_error(); // a filter made it an error
  }
};

KernelArgument importArgument(PythonEnvironment &environment, nb::handle entry) {
  nb::tuple fields = nb::cast<nb::tuple>(entry);
  std::string kind = nb::cast<std::string>(fields[0]);
  KernelArgument argument;
  if (kind == "constexpr") {
    argument.constant = environment.import(fields[1]);
    if (!argument.constant) {
      nb::object value = fields[1];
      throw nb::type_error(
          ("a constexpr argument cannot be " + nb::cast<std::string>(nb::repr(value)) +
           ": constants are None, numbers, strings, dtypes, jit functions and tuples of them")
              .c_str());
    }
  } else if (kind == "tensordesc") {
    argument.items.emplace();
    for (nb::handle item : fields[1])
      argument.items->push_back(importArgument(environment, item));
    argument.blockShape.emplace();
    for (nb::handle size : fields[2])
      argument.blockShape->push_back(nb::cast<int64_t>(size));
    argument.padding = nb::cast<std::string>(fields[3]);
  } else if (kind == "tuple") {
    argument.items.emplace();
    for (nb::handle item : fields[1])
      argument.items->push_back(importArgument(environment, item));
    if (nb::len(fields) > 2 && !fields[2].is_none())
      for (nb::handle name : fields[2])
        argument.itemNames.push_back(nb::cast<std::string>(name));
  } else {
    argument.type = kind;
    argument.divisibility = nb::cast<int>(fields[1]);
  }
  return argument;
}

LanguageOptions importOptions(nb::handle options, bool &allowGlobals) {
  LanguageOptions result;
  allowGlobals = false;
  if (options.is_none())
    return result;
  nb::dict dict = nb::cast<nb::dict>(options);
  auto read = [&](const char *name, auto &field) {
    if (dict.contains(name))
      field = nb::cast<std::remove_reference_t<decltype(field)>>(dict[name]);
  };
  if (dict.contains("sub_vec_num")) // instead of a name, for those who look at IR only
    for (const TargetProfile &profile : targetProfiles)
      if (profile.subVecNum == nb::cast<int>(dict["sub_vec_num"])) {
        result.profile = &profile;
        break;
      }
  if (dict.contains("profile")) {
    std::string name = nb::cast<std::string>(dict["profile"]);
    result.profile = findTargetProfile(name);
    if (!result.profile)
      throw nb::value_error(
          ("unknown profile '" + name + "'; known: " + targetProfileNames()).c_str());
  }
  if (dict.contains("target")) {
    std::string name = nb::cast<std::string>(dict["target"]);
    result.target = findTargetInfo(name);
    if (!result.target)
      throw nb::value_error(unknownTarget(name).c_str());
  }
  read("debug", result.debug);
  read("portable", result.portable);
  read("unused_token", result.unusedToken);
  read("threads", result.threads);
  read("default_dot_input_precision", result.defaultInputPrecision);
  read("allow_non_constexpr_globals", allowGlobals);
  return result;
}

nb::list builtinTable() {
  nb::list rows;
  for (const BuiltinInfo *info : allBuiltins())
    rows.append(nb::make_tuple(info->module, info->name, info->params, info->isMethod, info->doc));
  return rows;
}

std::string buildTtir(nb::handle function, nb::handle args, nb::handle options,
                      bool debugLocations) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module = buildModule(context, function, args, options);
  std::string text;
  llvm::raw_string_ostream os(text);
  mlir::OpPrintingFlags flags;
  if (debugLocations)
    flags.enableDebugInfo(true, false);
  module->print(os, flags);
  os << "\n";
  return text;
}

} // namespace

void raiseDiagnostic(const Diagnostic &diagnostic) {
  std::string rendered = render(diagnostic);
  nb::object error = compilationErrorType()(rendered);
  const SourceRange &range = diagnostic.range;
  error.attr("message") = diagnostic.message;
  error.attr("help") = diagnostic.help;
  error.attr("name") = diagName(diagnostic.id);
  if (range.isValid()) {
    error.attr("file") = range.file->path;
    error.attr("line") = range.line;
    error.attr("column") = range.column;
  }
  PyErr_SetObject(compilationErrorType().ptr(), error.ptr());
  throw nb::python_error();
}

mlir::OwningOpRef<mlir::ModuleOp> buildModule(mlir::MLIRContext &context, nb::handle function,
                                              nb::handle args, nb::handle options) {
  loadDialects(context);
  KernelRequest request;
  bool allowGlobals = false;
  request.language = importOptions(options, allowGlobals);
  // Through Python's stream, which notebooks and tests redirect.
  request.language.print = [](llvm::StringRef text) {
    nb::module_::import_("sys").attr("stdout").attr("write")(text.str());
  };
  PythonEnvironment environment(allowGlobals);
  PythonWarnings warnings;
  try {
    request.function = &environment.function(function);
    for (nb::handle arg : args)
      request.arguments.push_back(importArgument(environment, arg));
    auto module = frontend::buildModule(context, request, environment, warnings);
    if (!module)
      raiseDiagnostic(takeDiagnostic(module.takeError()));
    return std::move(*module);
  } catch (const CompileError &error) {
    raiseDiagnostic(error.diagnostic);
  }
}

void bindFrontend(nb::module_ &m) {
  m.def(
      "diagnostics",
      [] {
        nb::list rows;
        for (size_t i = 0; i < diagCount; ++i)
          rows.append(nb::make_tuple(diagName(Diag(i)), diagFormat(Diag(i)), diagHelp(Diag(i))));
        return rows;
      },
      "The catalogue of diagnostics: a list of (name, message, help), with {0}, {1}, ... for what "
      "varies.");
  m.def("builtin_table", &builtinTable,
        "The functions of the language: a list of (module, name, parameters, is a method, "
        "docstring).");
  m.def("build_ttir", &buildTtir, nb::arg("function"), nb::arg("args"),
        nb::arg("options") = nb::none(), nb::arg("debug_locations") = false,
        "The IR text of a kernel before any pass; with `debug_locations`, each operation's source "
        "location.");
}

} // namespace nereid::python
