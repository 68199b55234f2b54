// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Watch.h - What compiled code has taken from Python -------*- C++ -*-===//
//
// nereid._runtime.Watch remembers what Python objects held when a kernel was
// compiled: variables of modules, closure cells, contents of lists, dicts, sets
// and arrays, classes, attributes of instances, parts of functions.
// `isUnchanged` compares with what they hold now, at each launch. It compares
// identities, not values, and calls no Python code unless an object can be looked
// at in no other way; so "changed" may be a false alarm, "unchanged" never is.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_PYTHON_WATCH_H
#define NEREID_PYTHON_WATCH_H

#include <nanobind/nanobind.h>

namespace nereid::python {

/// Whether `object` is a Watch.
bool isWatch(PyObject *object);

/// Whether everything that `watch` remembers is as it was. Raises nothing; where
/// Python code had to be called and failed, the answer is false.
bool isUnchanged(PyObject *watch);

void bindWatch(nanobind::module_ &m);

} // namespace nereid::python

#endif // NEREID_PYTHON_WATCH_H
