// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Grid.h"
#include "ArrayView.h"
#include "Errors.h"

#include <limits>

using namespace nereid::python;

static bool fail(const std::string &kernel, const std::string &text) {
  setArgumentError(kernel + ": " + text);
  return false;
}

bool nereid::python::parseGrid(const std::string &kernel, PyObject *object, bool called,
                               Grid &grid) {
  const auto subject = [called] {
    return std::string(called ? "the grid function must return" : "the grid must be");
  };
  const bool sequence = PyTuple_Check(object) || PyList_Check(object);
  if (!sequence) {
    std::string text =
        subject() + " a tuple of one to three integers, not " + describeObject(object);
    if (PyIndex_Check(object))
      text += called ? "; write lambda meta: (n,)" : "; write " + kernel + "[(n,)](...)";
    return fail(kernel, text);
  }
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
  if (count < 1 || count > 3)
    return fail(kernel,
                subject() + " a tuple of one to three integers, not of " + std::to_string(count));
  int64_t programs = 1;
  for (Py_ssize_t axis = 0; axis < count; ++axis) {
    PyObject *item = PySequence_Fast_GET_ITEM(object, axis);
    if (PyBool_Check(item) || !PyIndex_Check(item)) {
      std::string hint =
          PyFloat_Check(item) ? "; use nereid.cdiv(n, BLOCK) or // for a whole number" : "";
      return fail(kernel, subject() + " a tuple of integers, but axis " + std::to_string(axis) +
                              " is " + describeObject(item) + hint);
    }
    PyObject *number = PyNumber_Index(item);
    if (!number)
      return false;
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
    Py_DECREF(number);
    if (overflow || value < 0 || value > std::numeric_limits<int32_t>::max())
      return fail(kernel, "axis " + std::to_string(axis) + " of the grid is " +
                              describeObject(item).substr(4) +
                              "; it must be between 0 and 2147483647");
    grid.dims[axis] = static_cast<int32_t>(value);
    programs = programs * value; // below 2^31 * 2^31 before the check
    if (programs > std::numeric_limits<int32_t>::max())
      return fail(kernel, "the grid has more than 2147483647 programs");
  }
  return true;
}
