// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WorkerArea.h - What a rank's workers show to the job ---------------===//
#ifndef NEREID_RUNTIME_DEVICE_CPU_WORKERAREA_H
#define NEREID_RUNTIME_DEVICE_CPU_WORKERAREA_H

#include "base/Knobs.h"
#include "nereid/runtime/Device.h"

#include <atomic>
#include <cstdint>

namespace nereid::runtime {

/// What a worker thread is doing inside a launch.
enum class WorkerState : uint32_t {
  None = 0, ///< takes no part
  Running,  ///< runs a program, or found one that can run
  Blocked,  ///< every program of it waits, none is left to start
  Polling,  ///< like Blocked, but some are in spin loops of their own
};

/// Written by one worker only, read by whoever looks for deadlocks.
struct alignas(64) WorkerSlot {
  /// Bumped before a blocked program goes on and before a new one starts.
  std::atomic<uint64_t> progress;
  /// Passes over all waiting programs that found no one ready.
  std::atomic<uint64_t> idlePasses;
  std::atomic<uint32_t> state; // WorkerState
  std::atomic<int32_t> thread; // its kernel thread id
};

/// How the CPU lays out the DeviceArea of a rank.
struct WorkerArea {
  /// How many of `slots` are in use; 0 before the first launch.
  std::atomic<uint32_t> workers;
  WorkerSlot slots[kMaxThreadsPerRank];

  static WorkerArea &of(DeviceArea &area) { return reinterpret_cast<WorkerArea &>(area); }
  static const WorkerArea &of(const DeviceArea &area) {
    return reinterpret_cast<const WorkerArea &>(area);
  }
};
static_assert(sizeof(WorkerArea) <= sizeof(DeviceArea) &&
              alignof(WorkerArea) <= alignof(DeviceArea));

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_WORKERAREA_H
