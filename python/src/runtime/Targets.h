// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_PYTHON_TARGETS_H
#define NEREID_PYTHON_TARGETS_H

#include <nanobind/nanobind.h>

namespace nereid::python {

/// Adds target_names, find_target, foreign_options, parse_option, ...
void bindTargets(nanobind::module_ &m);

} // namespace nereid::python

#endif // NEREID_PYTHON_TARGETS_H
