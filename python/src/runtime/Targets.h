// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_PYTHON_TARGETS_H
#define NEREID_PYTHON_TARGETS_H

#include <nanobind/nanobind.h>

#include <string>

namespace nereid::python {

/// The device that runs kernels of the target that this process compiles for
/// (NEREID_TARGET); of a target without one, what jobs run on by default.
std::string activeDevice();

/// Whether kernels of the target that this process compiles for (NEREID_TARGET) run
/// on a GPU, and so read its memory.
bool kernelsRunOnGPU();

/// Adds target_names, find_target, foreign_options, parse_option, ...
void bindTargets(nanobind::module_ &m);

} // namespace nereid::python

#endif // NEREID_PYTHON_TARGETS_H
