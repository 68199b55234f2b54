// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlPlanes.h - The table of control planes ----------------------===//
#ifndef NEREID_RUNTIME_CONTROL_CONTROLPLANES_H
#define NEREID_RUNTIME_CONTROL_CONTROLPLANES_H

#include "control/interface/ControlPlane.h"

#include <string_view>
#include <vector>

namespace nereid::runtime {

/// The rows of planes.def and those that were added, in their order.
const std::vector<ControlPlaneRow> &controlPlaneTable();

/// Adds a row from outside of the runtime; before any job is made. A row of the same
/// name is replaced.
void addControlPlane(const ControlPlaneRow &row);

/// The one for jobs whose ranks all run on this machine: the first of the table, or
/// what useControlPlane() has named.
const ControlPlaneRow &localControlPlane();

/// Jobs that are made from now on use that row; alike in all their processes. Unknown
/// names: InvalidArgument, listing the known ones.
Status useControlPlane(std::string_view name);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_CONTROL_CONTROLPLANES_H
