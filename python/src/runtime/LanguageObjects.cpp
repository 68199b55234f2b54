// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LanguageObjects.h"
#include "ArrayView.h"
#include "Dispatcher.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nereid::python;

LanguageObjects &nereid::python::languageObjects() {
  static LanguageObjects objects;
  return objects;
}

bool nereid::python::isConstexpr(PyObject *object) {
  PyTypeObject *type = languageObjects().constexprType;
  return type && PyObject_TypeCheck(object, type);
}

bool nereid::python::isLanguageObject(PyObject *object) {
  if (isDispatcher(object))
    return true;
  static PyObject *const tags[] = {
      PyUnicode_InternFromString("__nereid_type__"),
      PyUnicode_InternFromString("__nereid_builtin__"),
      PyUnicode_InternFromString("__nereid_constexpr_function__"),
  };
  for (PyObject *tag : tags)
    if (PyObject_HasAttr(object, tag))
      return true;
  return false;
}

PyObject *nereid::python::languageDtype(Dtype dtype) {
  PyObject *dtypes = languageObjects().dtypes;
  return dtypes && dtype != Dtype::None ? PyDict_GetItemString(dtypes, dtypeInfo(dtype).name)
                                        : nullptr;
}

static void replace(PyObject *&held, const nb::object &object) {
  Py_XDECREF(std::exchange(held, Py_NewRef(object.ptr())));
}

void nereid::python::bindLanguageObjects(nb::module_ &m) {
  m.def(
      "register_language",
      [](nb::object constexprType, nb::dict dtypes, nb::object noteOption) {
        LanguageObjects &objects = languageObjects();
        objects.constexprType = reinterpret_cast<PyTypeObject *>(constexprType.release().ptr());
        objects.dtypes = dtypes.release().ptr();
        objects.noteOption = noteOption.is_none() ? nullptr : noteOption.release().ptr();
      },
      nb::arg("constexpr_type"), nb::arg("dtypes"), nb::arg("note_option").none() = nb::none());
  m.def(
      "register_launch_options",
      [](const std::string &target, nb::set compileOptions, nb::set ignoredOptions,
         nb::dict refusedOptions) {
        static std::vector<std::string> targets;
        auto place = std::find(targets.begin(), targets.end(), target);
        LanguageObjects &objects = languageObjects();
        objects.target = char(place - targets.begin());
        if (place == targets.end())
          targets.push_back(target);
        replace(objects.compileOptions, compileOptions);
        replace(objects.ignoredOptions, ignoredOptions);
        replace(objects.refusedOptions, refusedOptions);
      },
      nb::arg("target"), nb::arg("compile_options"), nb::arg("ignored_options"),
      nb::arg("refused_options"),
      "The target in force from now on, and the launch keywords that change its code, that have "
      "no effect, and that are refused (with the reason).");
  m.def(
      "dtype_name",
      [](nb::object object) -> nb::object {
        Dtype dtype = dtypeOfObject(object.ptr());
        return dtype == Dtype::None ? nb::object(nb::none())
                                    : nb::object(nb::str(dtypeInfo(dtype).name));
      },
      nb::arg("object").none(),
      "Name in launch signatures of anything that names an element type; None if it does not.");
  m.def(
      "array_dtype_name",
      [](const char *name) -> nb::object {
        Dtype dtype = findDtype(name);
        return dtype == Dtype::None ? nb::object(nb::none())
                                    : nb::object(nb::str(dtypeInfo(dtype).arrayName));
      },
      "numpy's (or ml_dtypes') name of an element type.");
  m.def(
      "describe", [](nb::object object) { return describeObject(object.ptr()); },
      nb::arg("object").none());
}
