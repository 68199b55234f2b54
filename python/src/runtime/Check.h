// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Check.h - The verdict on a checked run, for Python -------*- C++ -*-===//
#ifndef NEREID_PYTHON_CHECK_H
#define NEREID_PYTHON_CHECK_H

#include <nanobind/nanobind.h>

namespace nereid::python {

void bindCheck(nanobind::module_ &m);

} // namespace nereid::python

#endif // NEREID_PYTHON_CHECK_H
