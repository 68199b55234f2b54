// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceMemory.h - Small arrays that stay on a device ------*- C++ -*-===//
#ifndef NEREID_PYTHON_DEVICEMEMORY_H
#define NEREID_PYTHON_DEVICEMEMORY_H

#include <nanobind/nanobind.h>

namespace nereid::python {

/// nereid._runtime.DeviceMemory.
void bindDeviceMemory(nanobind::module_ &m);

} // namespace nereid::python

#endif // NEREID_PYTHON_DEVICEMEMORY_H
