// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Devices.h - The devices of this build ---------------------*- C++ -*-===//
#ifndef NEREID_RUNTIME_DEVICES_H
#define NEREID_RUNTIME_DEVICES_H

#include "nereid/runtime/Device.h"

namespace nereid::runtime {

/// All devices of this build.
const std::vector<Device *> &devices();
/// Errors: InvalidArgument, listing the known ones.
Expected<Device *> findDevice(std::string_view name);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICES_H
