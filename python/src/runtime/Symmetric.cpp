// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Symmetric.h"

#include <cstddef>
#include <structmember.h>

namespace nb = nanobind;
using namespace nereid::python;

static int initBuffer(PyObject *self, PyObject *args, PyObject *kwargs) {
  unsigned long long address = 0, bytes = 0;
  const char *name = nullptr;
  static const char *keywords[] = {"address", "bytes", "dtype_name", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "KKs", const_cast<char **>(keywords), &address,
                                   &bytes, &name))
    return -1;
  auto *buffer = reinterpret_cast<SymmetricBuffer *>(self);
  buffer->dtype = findDtype(name);
  if (buffer->dtype == Dtype::None) {
    PyErr_Format(PyExc_TypeError, "symmetric memory cannot hold elements of type '%s'", name);
    return -1;
  }
  buffer->data = reinterpret_cast<char *>(address);
  buffer->bytes = bytes;
  return 0;
}

static PyObject *dataPointer(PyObject *self, PyObject *) {
  return PyLong_FromVoidPtr(reinterpret_cast<SymmetricBuffer *>(self)->data);
}

static PyObject *forgetMemory(PyObject *self, PyObject *) {
  reinterpret_cast<SymmetricBuffer *>(self)->data = nullptr;
  Py_RETURN_NONE;
}

static PyObject *typeName(PyObject *self, void *) {
  return PyUnicode_FromString(dtypeInfo(reinterpret_cast<SymmetricBuffer *>(self)->dtype).name);
}

static PyMethodDef methods[] = {
    {"data_ptr", dataPointer, METH_NOARGS,
     "Address of the first element on this rank; 0 once freed."},
    {"_forget", forgetMemory, METH_NOARGS, "Marks the memory as freed."},
    {nullptr, nullptr, 0, nullptr},
};
static PyGetSetDef properties[] = {
    {"type_name", typeName, nullptr, "Name of the element type in launch signatures.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
static PyMemberDef members[] = {
    {"nbytes", T_ULONGLONG, offsetof(SymmetricBuffer, bytes), READONLY, "Bytes of the tensor."},
    {nullptr, 0, 0, 0, nullptr},
};

PyTypeObject *nereid::python::symmetricBufferType() {
  static PyTypeObject *type = [] {
    static PyType_Slot slots[] = {
        {Py_tp_doc, const_cast<char *>("Symmetric memory of this rank, as launches see it.")},
        {Py_tp_init, reinterpret_cast<void *>(initBuffer)},
        {Py_tp_new, reinterpret_cast<void *>(PyType_GenericNew)},
        {Py_tp_methods, methods},
        {Py_tp_getset, properties},
        {Py_tp_members, members},
        {0, nullptr},
    };
    static PyType_Spec spec = {"nereid._runtime.SymmetricBuffer", sizeof(SymmetricBuffer), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    return reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
  }();
  return type;
}

void nereid::python::bindSymmetric(nb::module_ &m) {
  PyTypeObject *type = symmetricBufferType();
  if (!type)
    throw nb::python_error();
  m.attr("SymmetricBuffer") = nb::borrow(reinterpret_cast<PyObject *>(type));
}
