// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WorkerPool.h - Threads that run programs ---------------------------===//
#ifndef NEREID_RUNTIME_DEVICE_CPU_WORKERPOOL_H
#define NEREID_RUNTIME_DEVICE_CPU_WORKERPOOL_H

#include "device/cpu/Monitor.h"
#include "device/cpu/Worker.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace nereid::runtime {

/// The workers of one rank. Worker 0 is whichever thread calls launch(); the
/// others are threads that sleep between launches. They start with the first
/// launch that has work for them.
class WorkerPool : public Executor {
public:
  /// The pool of `job`, which has launched.
  static WorkerPool &of(Job::Impl &job);

  explicit WorkerPool(Job::Impl &job);
  ~WorkerPool() override;
  WorkerPool(const WorkerPool &) = delete;
  WorkerPool &operator=(const WorkerPool &) = delete;

  /// Runs `launch` on the calling thread and on whoever joins, returns when
  /// all have left it.
  std::unique_ptr<LaunchFailure> run(const LaunchSpec &launch, DeviceQueue *queue) override;

  /// Lets the other workers join the launch that is running.
  void invite();
  size_t size() const { return workers.size(); }

private:
  void runPrograms(LaunchState &launch);
  void startThreads();
  void threadMain(size_t index);

  Job::Impl &job;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::thread> threads;
  std::mutex lock;
  LaunchState *current = nullptr; ///< guarded by lock
  std::atomic<uint32_t> joined{0};
  std::atomic<uint32_t> generation{0};
  std::atomic<uint32_t> sleepers{0};
  std::atomic<bool> stopping{false};
  Monitor monitor{workers};
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_WORKERPOOL_H
