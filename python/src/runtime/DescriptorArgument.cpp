// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor descriptors made on the host (nereid.TensorDescriptor) as arguments:
// the address, the sizes (i32) and all strides but the last (i64) take slots;
// the shape of the blocks and the padding are part of the key.
#include "ArgumentReader.h"
#include "Errors.h"

#include <limits>

using namespace nereid::python;

namespace {
/// Owns one reference.
struct Reference {
  explicit Reference(PyObject *object) : object(object) {}
  ~Reference() { Py_XDECREF(object); }
  Reference(const Reference &) = delete;
  PyObject *object;
};

bool readSizes(PyObject *tuple, std::vector<int64_t> &values) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    values.push_back(PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i)));
    if (PyErr_Occurred())
      return false;
  }
  return true;
}

PyObject *listOf(const std::vector<int64_t> &values) {
  PyObject *list = PyList_New(0);
  for (int64_t value : values) {
    Reference item(PyLong_FromLongLong(value));
    if (!list || !item.object || PyList_Append(list, item.object) != 0) {
      Py_XDECREF(list);
      return nullptr;
    }
  }
  return list;
}
} // namespace

PyObject *ArgumentReader::descriptorFields(PyObject *value) {
  static PyObject *name = PyUnicode_InternFromString("__nereid_descriptor__");
  // Without the exception that most arguments would raise: it takes longer than a launch.
  PyObject *fields = nullptr;
#if PY_VERSION_HEX >= 0x030d0000
  const int found = PyObject_GetOptionalAttr(value, name, &fields);
#else
  const int found = _PyObject_LookupAttr(value, name, &fields);
#endif
  if (found < 0)
    PyErr_Clear();
  return fields;
}

bool ArgumentReader::readDescriptor(PyObject *fields, const Parameter &parameter, PyObject **spec) {
  PyObject *base = nullptr, *shapeTuple = nullptr, *strideTuple = nullptr, *blockTuple = nullptr;
  const char *padding = nullptr;
  if (!PyArg_ParseTuple(fields, "OO!O!O!s", &base, &PyTuple_Type, &shapeTuple, &PyTuple_Type,
                        &strideTuple, &PyTuple_Type, &blockTuple, &padding))
    return false;
  std::vector<int64_t> shape, strides, block;
  if (!readSizes(shapeTuple, shape) || !readSizes(strideTuple, strides) ||
      !readSizes(blockTuple, block))
    return false;
  if (shape.empty() || strides.size() != shape.size() || block.size() != shape.size() ||
      strides.back() != 1)
    return fail("the tensor descriptor was changed after it was made: shape, strides and "
                "block_shape have one value per "
                "dimension, and the last stride is 1");

  put('E');
  putRaw(block.size());
  key.append(reinterpret_cast<const char *>(block.data()), block.size() * sizeof(int64_t));
  put(padding[0]);

  Reference items(spec ? PyList_New(0) : nullptr);
  auto addSpec = [&](PyObject *item) {
    Reference owned(item);
    return item && PyList_Append(items.object, item) == 0;
  };

  // The descriptor has the strides; the launch need not pass them.
  PyObject *baseSpec = nullptr;
  bool isArray = false, known = false;
  const size_t checked = strided.size();
  if (dtypesArePointers) {
    known = readPointerDtype(base, parameter, spec ? &baseSpec : nullptr, isArray);
    if (isArray && !known)
      return false;
  }
  if (!isArray && !readArrayArgument(base, parameter, spec ? &baseSpec : nullptr, isArray))
    return isArray || PyErr_Occurred() ? false
                                       : fail("the base of the tensor descriptor, " +
                                              describeObject(base) + ", is not an array");
  strided.resize(checked);
  if (spec && !addSpec(baseSpec))
    return false;

  for (int64_t size : shape) {
    if (size < 0 || size > std::numeric_limits<int32_t>::max())
      return fail("a size of the tensor descriptor is " + std::to_string(size) +
                  "; sizes are 32-bit integers");
    addSlot(static_cast<uint64_t>(size));
    if (spec && !addSpec(Py_BuildValue("(si)", "i32", 0)))
      return false;
  }
  for (size_t i = 0; i + 1 < strides.size(); ++i) {
    const bool divisible =
        strides[i] % 16 == 0 && !parameter.noSpecialize && !parameter.noAlignment;
    put(divisible ? 'D' : 'I');
    addSlot(static_cast<uint64_t>(strides[i]));
    if (spec && !addSpec(Py_BuildValue("(si)", "i64", divisible ? 16 : 0)))
      return false;
  }
  if (spec) {
    Reference blockList(listOf(block));
    *spec = blockList.object
                ? Py_BuildValue("(sOOs)", "tensordesc", items.object, blockList.object, padding)
                : nullptr;
    return *spec != nullptr;
  }
  return true;
}
