// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceMemory.cpp - Small arrays that stay on a device --------------===//
//
// Tables that many launches read are copied to the device once. What is given
// back is kept for the next one of its size and never returned to the device:
// CUDA gives memory back only when all launches of the process have ended,
// which one that waits for this very thread would never do. Launches hold the
// objects that they were given, so that memory which is used again is read by
// none that is under way.
//
//===----------------------------------------------------------------------===//
#include "DeviceMemory.h"
#include "Errors.h"
#include "JobState.h"

#include "nereid/runtime/Device.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nereid;
using namespace nereid::python;

namespace {

/// What has been given back, by device and size.
struct Spares {
  std::mutex lock;
  std::map<std::pair<runtime::Device *, uint64_t>, std::vector<void *>> memory;

  static Spares &get() {
    static Spares &instance = *new Spares; // objects of Python may outlive static ones
    return instance;
  }
};

class DeviceMemory {
public:
  DeviceMemory(uintptr_t source, uint64_t bytes) : size(std::bit_ceil(std::max(bytes, kSmallest))) {
    if (!jobState().active())
      throw nb::value_error("memory of the device: this process is no rank of a job");
    device = &jobState().job->device();
    runtime::Status status;
    {
      nb::gil_scoped_release release;
      status = fill(reinterpret_cast<const void *>(source), bytes);
    }
    if (!status.ok())
      giveBack();
    checkJob(status);
  }
  ~DeviceMemory() { giveBack(); }
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  uintptr_t address() const { return reinterpret_cast<uintptr_t>(memory); }

private:
  static constexpr uint64_t kSmallest = 256;

  runtime::Status fill(const void *source, uint64_t bytes) {
    Spares &spares = Spares::get();
    {
      std::lock_guard<std::mutex> guard(spares.lock);
      if (std::vector<void *> &found = spares.memory[{device, size}]; !found.empty()) {
        memory = found.back();
        found.pop_back();
      }
    }
    if (!memory) {
      runtime::Expected<void *> made = device->allocate(size);
      if (!made.ok())
        return made.status();
      memory = *made;
    }
    return bytes ? device->copy(memory, source, bytes) : runtime::Status();
  }

  void giveBack() {
    if (!memory)
      return;
    Spares &spares = Spares::get();
    std::lock_guard<std::mutex> guard(spares.lock);
    spares.memory[{device, size}].push_back(std::exchange(memory, nullptr));
  }

  runtime::Device *device = nullptr;
  const uint64_t size;
  void *memory = nullptr;
};

} // namespace

void nereid::python::bindDeviceMemory(nb::module_ &m) {
  nb::class_<DeviceMemory>(m, "DeviceMemory",
                           "A copy of memory of the host in memory of the device that kernels of "
                           "this rank run on.")
      .def(nb::init<uintptr_t, uint64_t>(), nb::arg("source"), nb::arg("bytes"))
      .def_prop_ro("address", &DeviceMemory::address);
}
