// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device/cuda/Driver.h"

#include "base/Knobs.h"

#include <dlfcn.h>

namespace nereid::runtime::cuda {

static Status missing(std::string text) {
  return Status::error(StatusCode::Environment,
                       "the target cuda needs an NVIDIA GPU and its driver: " + std::move(text));
}

/// The oldest version whose functions are those of Driver.def.
static constexpr int kOldest = 12000;

static std::string versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

static Expected<const Driver *> load() {
  const std::string name = knobText("NEREID_CUDA_DRIVER");
  void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    return missing("the library " + name + " cannot be loaded (" + (why ? why : "no reason given") +
                   ")");
  }
  static Driver driver;
  std::string lacks;
#define NEREID_CUDA_FUNCTION(NAME, SYMBOL, PARAMETERS)                                             \
  driver.NAME = reinterpret_cast<Result(*) PARAMETERS>(dlsym(library, SYMBOL));                    \
  if (!driver.NAME)                                                                                \
    lacks += std::string(lacks.empty() ? "" : ", ") + SYMBOL;
#include "device/cuda/Driver.def"
#undef NEREID_CUDA_FUNCTION
  if (driver.driverVersion)
    driver.driverVersion(&driver.version);
  if (driver.version < kOldest || !lacks.empty())
    return missing("the driver in " + name + " is for CUDA " + versionText(driver.version) +
                   (lacks.empty() ? "" : " and lacks " + lacks) + "; CUDA " + versionText(kOldest) +
                   " or later is needed");
  if (Result result = driver.init(0); result != result::success)
    return missing("cuInit says " + driver.describe(result));
  if (Result result = driver.deviceCount(&driver.devices); result != result::success)
    return missing("cuDeviceGetCount says " + driver.describe(result));
  if (driver.devices < 1)
    return missing("the driver finds no GPU; CUDA_VISIBLE_DEVICES may hide it");
  return &driver;
}

Expected<const Driver *> Driver::get() {
  static const Expected<const Driver *> loaded = load();
  return loaded;
}

std::string Driver::describe(Result result) const {
  const char *name = nullptr, *text = nullptr;
  errorName(result, &name);
  errorString(result, &text);
  return (name ? std::string(name) : "error " + std::to_string(result)) +
         (text ? " (" + std::string(text) + ")" : "");
}

Status Driver::check(Result result, const char *what) const {
  if (result == result::success) [[likely]]
    return {};
  return Status::error(result == result::outOfMemory ? StatusCode::OutOfMemory
                                                     : StatusCode::SystemError,
                       std::string(what) + ": " + describe(result));
}

} // namespace nereid::runtime::cuda
