// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/runtime/Devices.h"

namespace nereid::runtime {

#define NEREID_DEVICE(NAME) Device &NAME##Device();
#include "device/Devices.def"
#undef NEREID_DEVICE

const std::vector<Device *> &devices() {
  static const std::vector<Device *> all = {
#define NEREID_DEVICE(NAME) &NAME##Device(),
#include "device/Devices.def"
#undef NEREID_DEVICE
  };
  return all;
}

Expected<Device *> findDevice(std::string_view name) {
  std::string known;
  for (Device *device : devices()) {
    if (name == device->name())
      return device;
    known += (known.empty() ? "" : ", ") + std::string(device->name());
  }
  return Status::error(StatusCode::InvalidArgument,
                       "there is no device '" + std::string(name) + "'; known: " + known);
}

} // namespace nereid::runtime
