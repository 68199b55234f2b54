// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LanguageObjects.h - The language's Python objects --------*- C++ -*-===//
#ifndef NEREID_PYTHON_LANGUAGEOBJECTS_H
#define NEREID_PYTHON_LANGUAGEOBJECTS_H

#include "Dtype.h"

#include <nanobind/nanobind.h>

namespace nereid::python {

/// What python/nereid/language registers with the launcher.
struct LanguageObjects {
  PyTypeObject *constexprType = nullptr;
  /// str -> dtype object, by the names of launch signatures.
  PyObject *dtypes = nullptr;
  /// Number of the target in force: part of the key of every kernel.
  char target = 0;
  /// set of str: launch keywords that change the code for this target, and those that
  /// only others know and that have no effect.
  PyObject *compileOptions = nullptr, *ignoredOptions = nullptr;
  /// dict of str to str: those of others that would have one, and why they
  /// are refused.
  PyObject *refusedOptions = nullptr;
  /// Called with the kernel's and the option's name when one has no effect; null:
  /// nobody wants to know.
  PyObject *noteOption = nullptr;
};
LanguageObjects &languageObjects();

/// Whether `object` is a tl.constexpr.
bool isConstexpr(PyObject *object);
/// A dtype, builtin, jit function or constexpr_function: an object of the
/// language that can be the value of a constexpr.
bool isLanguageObject(PyObject *object);
/// The dtype object of the language; borrowed, null when there is none.
PyObject *languageDtype(Dtype dtype);

void bindLanguageObjects(nanobind::module_ &m);

} // namespace nereid::python

#endif // NEREID_PYTHON_LANGUAGEOBJECTS_H
