// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "control/ControlPlanes.h"

namespace nereid::runtime {

#define NEREID_CONTROL_PLANE(name) const ControlPlaneRow &controlPlane_##name();
#include "control/planes.def"
#undef NEREID_CONTROL_PLANE

const std::vector<const ControlPlaneRow *> &controlPlaneTable() {
  static const std::vector<const ControlPlaneRow *> rows = {
#define NEREID_CONTROL_PLANE(name) &controlPlane_##name(),
#include "control/planes.def"
#undef NEREID_CONTROL_PLANE
  };
  return rows;
}

const ControlPlaneRow &localControlPlane() { return *controlPlaneTable().front(); }

} // namespace nereid::runtime
