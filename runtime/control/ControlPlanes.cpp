// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "control/ControlPlanes.h"

namespace nereid::runtime {

#define NEREID_CONTROL_PLANE(name) ControlPlaneRow controlPlane_##name();
#include "control/planes.def"
#undef NEREID_CONTROL_PLANE

static std::vector<ControlPlaneRow> &table() {
  static std::vector<ControlPlaneRow> rows = {
#define NEREID_CONTROL_PLANE(name) controlPlane_##name(),
#include "control/planes.def"
#undef NEREID_CONTROL_PLANE
  };
  return rows;
}

static size_t local = 0; // in the table

const std::vector<ControlPlaneRow> &controlPlaneTable() { return table(); }

void addControlPlane(const ControlPlaneRow &row) {
  for (ControlPlaneRow &known : table())
    if (std::string_view(known.name) == row.name) {
      known = row;
      return;
    }
  table().push_back(row);
}

Status useControlPlane(std::string_view name) {
  std::string known;
  for (size_t i = 0; i < table().size(); ++i) {
    if (name == table()[i].name) {
      local = i;
      return {};
    }
    known += (i ? ", " : "") + std::string(table()[i].name);
  }
  return Status::error(StatusCode::InvalidArgument,
                       "'" + std::string(name) + "' is not a control plane; there are: " + known);
}

const ControlPlaneRow &localControlPlane() { return table()[local]; }

} // namespace nereid::runtime
