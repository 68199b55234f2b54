// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Symmetric.h - Base class of symmetric tensors ------------*- C++ -*-===//
#ifndef NEREID_PYTHON_SYMMETRIC_H
#define NEREID_PYTHON_SYMMETRIC_H

#include "Dtype.h"

#include <nanobind/nanobind.h>

namespace nereid::python {

/// What the launcher needs of a symmetric tensor, laid out so that it is read
/// without a Python call. nereid.symm.SymmetricTensor derives from it.
struct SymmetricBuffer {
  PyObject_HEAD char *data; ///< null once freed
  uint64_t bytes;
  Dtype dtype;
};

/// nereid._runtime.SymmetricBuffer(address, bytes, dtype_name).
PyTypeObject *symmetricBufferType();

void bindSymmetric(nanobind::module_ &m);

} // namespace nereid::python

#endif // NEREID_PYTHON_SYMMETRIC_H
