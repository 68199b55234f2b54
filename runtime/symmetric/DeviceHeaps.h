// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceHeaps.h - Heaps in memory of a device ------------------------===//
//
// The heaps of a job whose device does not have them in memory of the host. A process
// reserves one range of addresses for all ranks, allocates the heaps of its own ranks,
// and maps those of others by descriptors, which the ranks send each other over
// sockets of the machine: their names are in no file system.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_SYMMETRIC_DEVICEHEAPS_H
#define NEREID_RUNTIME_SYMMETRIC_DEVICEHEAPS_H

#include "nereid/runtime/Device.h"

namespace nereid::runtime {

class DeviceHeaps {
public:
  /// Reserves the addresses. `bytes`: what each rank has for its allocations.
  static Expected<std::shared_ptr<DeviceHeaps>> create(Device &device, int32_t worldSize,
                                                       uint64_t bytes);
  ~DeviceHeaps();
  DeviceHeaps(const DeviceHeaps &) = delete;
  DeviceHeaps &operator=(const DeviceHeaps &) = delete;

  /// Where rank 0's heap begins here, and how far apart they lie.
  uint8_t *base() const { return at; }
  uint64_t stride() const { return shape.stride; }

  /// Makes the heap of `rank`, one of this process.
  Status allocate(int32_t rank);
  /// Gets ready to be sent the heaps of others; `job` is the number of the job's
  /// segment. Before the ranks have met.
  Status listen(uint64_t job, int32_t rank);
  /// Sends `rank`'s heap to all others and maps theirs. After they have met.
  Status exchange(uint64_t job, int32_t rank, double timeoutSeconds);

private:
  DeviceHeaps(Device &device, int32_t worldSize, HeapShape shape)
      : device(device), shape(shape), handles(size_t(worldSize)) {}
  Status map(int32_t rank);

  Device &device;
  const HeapShape shape;
  uint8_t *at = nullptr;
  /// Of the heaps that are mapped; the descriptors of this process's own are kept
  /// until they have been sent.
  std::vector<HeapHandle> handles;
  std::vector<bool> mapped = std::vector<bool>(handles.size());
  int socket = -1;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_SYMMETRIC_DEVICEHEAPS_H
