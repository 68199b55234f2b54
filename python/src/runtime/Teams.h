// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_PYTHON_TEAMS_H
#define NEREID_PYTHON_TEAMS_H

#include <nanobind/nanobind.h>

namespace nereid::python {

void bindTeams(nanobind::module_ &m);

} // namespace nereid::python

#endif // NEREID_PYTHON_TEAMS_H
