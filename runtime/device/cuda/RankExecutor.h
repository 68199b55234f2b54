// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RankExecutor.h - The launches of one rank on its GPU ---------------===//
//
// Every launch of a kernel that waits has a place for control words in memory of the
// GPU. A wait that cannot end shows there:
//
//     the job fails (a rank died, nothing moved, Ctrl-C)
//       ▶ the first word of every launch of the rank is set
//       ▶ programs that wait see it, write what they wait for, and end
//       ▶ the launches end as others do, and the reports are read
//
// so that the GPU can be used afterwards. Somebody always looks whether the job has
// failed: the thread that waits for the launch, or one of this file's, the watcher,
// while launches of streams go on that no thread waits for.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_DEVICE_CUDA_RANKEXECUTOR_H
#define NEREID_RUNTIME_DEVICE_CUDA_RANKEXECUTOR_H

#include "device/cuda/CUDAKernel.h"
#include "symmetric/JobImpl.h"

#include <condition_variable>
#include <thread>

namespace nereid::runtime::cuda {

class RankExecutor;

/// A lane of the rank's GPU and the launches in it that have not been found to have
/// ended.
class LaneQueue final : public DeviceQueue {
public:
  LaneQueue(RankExecutor &executor, Lane &lane, StreamRef stream)
      : executor(executor), lane(lane), stream(stream) {}
  ~LaneQueue() override;
  Status put(const QueuedPut &put) override;
  bool isIdle() override;

  /// One launch that may wait for others.
  struct Flight {
    std::shared_ptr<const KernelDescription> kernel;
    std::array<int32_t, 3> grid;
    uint64_t programs;
    size_t control;    ///< where in the lane's control memory
    bool told = false; ///< that it has been given up
  };

  RankExecutor &executor;
  Lane &lane;
  const StreamRef stream; ///< the lane's, or one that others made
  std::mutex lock;        ///< guards what follows
  std::vector<Flight> flights;
  size_t controlUsed = 0;
  uint64_t launches = 0; ///< since the lane was last found empty
  std::string last;      ///< name of the last kernel, or "put_async"
  bool lastIsPut = false;
  bool blocking = false; ///< some of them wait for others
  bool givenUp = false;
  std::unique_ptr<LaunchFailure> failure;
  EventRef before = nullptr; ///< what others put into their stream, for puts after it
};

class RankExecutor final : public Executor {
public:
  RankExecutor(Job::Impl &job, Expected<GPU *> gpu, int32_t sharers);
  ~RankExecutor() override;

  std::unique_ptr<DeviceQueue> makeQueue(std::optional<uintptr_t> native) override;
  std::unique_ptr<LaunchFailure> run(const LaunchSpec &launch, DeviceQueue *queue) override;
  std::unique_ptr<LaunchFailure> synchronize(DeviceQueue *queue) override;

private:
  friend class LaneQueue;

  /// Something has gone into a queue that nobody waits for.
  void wakeWatcher();

  Expected<std::unique_ptr<LaneQueue>> openLane(std::optional<uintptr_t> native = {});
  Status start(const LaunchSpec &launch, LaneQueue &queue);
  Status checkFits(const LaunchSpec &launch, const CUDAKernel &kernel,
                   const LoadedCode &code) const;
  /// Waits until all in the lane has ended.
  std::unique_ptr<LaunchFailure> finish(LaneQueue &queue);
  void giveUp(LaneQueue &queue);
  std::unique_ptr<LaunchFailure> fault(LaneQueue &queue, Result result) const;
  Expected<std::vector<BlockedGroup>> takeReports(LaneQueue &queue) const;
  std::vector<BlockedGroup> reports(const LaneQueue &queue, const std::byte *control) const;
  std::unique_ptr<LaunchFailure> failed(Status status, const std::string &kernel) const;

  void add(LaneQueue &queue);
  void remove(LaneQueue &queue);
  void watch();

  Job::Impl &job;
  const Expected<GPU *> gpu;
  /// Ranks of this process on the GPU.
  const int32_t sharers;
  std::unique_ptr<LaneQueue> own;

  std::mutex lock; ///< guards what follows
  std::condition_variable changed;
  std::vector<LaneQueue *> queues;
  uint64_t started = 0;  ///< launches that nobody waits for
  bool watching = false; ///< the watcher looks now and then, without being told
  bool stopping = false;
  std::thread watcher;
};

} // namespace nereid::runtime::cuda

#endif // NEREID_RUNTIME_DEVICE_CUDA_RANKEXECUTOR_H
