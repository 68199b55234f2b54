// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CompilerModule.h"

namespace nb = nanobind;
using namespace nereid::python;

nb::handle nereid::python::compilationErrorType() {
  // Defined in Python so that `nereid.CompilationError` exists without loading
  // the compiler.
  static nb::object type = nb::module_::import_("nereid._base.errors").attr("CompilationError");
  return type;
}

void nereid::python::raiseCompilationError(const std::string &text) {
  PyErr_SetString(compilationErrorType().ptr(), text.c_str());
  throw nb::python_error();
}

NB_MODULE(_compiler, m) {
  m.doc() = "The compiler of Nereid: front end, passes, CPU target, loader.";
  nb::set_leak_warnings(false);
  bindConstantTable(m);
  bindFrontend(m);
  bindCompile(m);
}
