// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PreparedCall.h - Calls whose checks were made before -----*- C++ -*-===//
//
// nereid._runtime.PreparedLaunch(kernel, grid, given, fixed) is a launch whose
// arguments are bound once: `given` names those that each call passes, by
// position, `fixed` has the values of the others.
//
// nereid._runtime.CallTable finds what was prepared for a call by how its
// arrays look. A key holds everything of the arrays but their addresses (kind,
// dtype, shape, strides, whether they can be written) and which of them share
// memory: whatever is checked of those alone holds for each call with that key.
// Arrays that it doesn't know (subclasses of numpy's, DLPack objects, other
// devices, more than 8 dimensions) are never found.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_PYTHON_PREPAREDCALL_H
#define NEREID_PYTHON_PREPAREDCALL_H

#include <nanobind/nanobind.h>

namespace nereid::python {

void bindPreparedCalls(nanobind::module_ &m);

} // namespace nereid::python

#endif // NEREID_PYTHON_PREPAREDCALL_H
