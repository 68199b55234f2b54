// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlPlanes.h - The table of control planes ----------------------===//
#ifndef NEREID_RUNTIME_CONTROL_CONTROLPLANES_H
#define NEREID_RUNTIME_CONTROL_CONTROLPLANES_H

#include "control/interface/ControlPlane.h"

#include <vector>

namespace nereid::runtime {

/// The rows of planes.def, in their order.
const std::vector<const ControlPlaneRow *> &controlPlaneTable();

/// The one for jobs whose ranks all run on this machine.
const ControlPlaneRow &localControlPlane();

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_CONTROL_CONTROLPLANES_H
