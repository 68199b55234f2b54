// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/runtime/Launch.h"

#include "device/cpu/WorkerPool.h"

#include <algorithm>
#include <unistd.h>

namespace nereid::runtime {

static Status invalid(std::string message) {
  return Status::error(StatusCode::InvalidArgument, std::move(message));
}

static Status check(const LaunchSpec &spec) {
  if (!spec.kernel)
    return invalid("launch: no kernel");
  uint64_t total = 1;
  for (int32_t g : spec.grid) {
    if (g < 1)
      return invalid("launch of '" + std::string(spec.kernelName) +
                     "': every grid dimension must be at least 1, got (" +
                     std::to_string(spec.grid[0]) + ", " + std::to_string(spec.grid[1]) + ", " +
                     std::to_string(spec.grid[2]) + ")");
    total *= uint64_t(g);
    if (total >= uint64_t(1) << 31)
      return invalid("launch of '" + std::string(spec.kernelName) +
                     "': the grid has 2^31 programs or more");
  }
  if (spec.subVecNum < 1 || total * uint64_t(spec.subVecNum) >= uint64_t(1) << 31)
    return invalid("launch of '" + std::string(spec.kernelName) +
                   "': bad number of vector cores per program");
  return {};
}

/// The context of launches outside any job: rank 0 of 1, no heap. One per
/// process; a forked child makes its own since threads do not survive a fork.
static Expected<Job::Impl *> defaultContext() {
  static std::mutex lock;
  static Job::Impl *instance = nullptr;
  static pid_t owner = 0;
  std::lock_guard<std::mutex> guard(lock);
  if (instance && owner == getpid())
    return instance;
  Expected<Settings> settings = resolveSettings({});
  if (!settings.ok())
    return settings.status();
  Expected<std::shared_ptr<Segment>> segment = Segment::createPrivate();
  if (!segment.ok())
    return segment.status();
  // Never freed: programs may run while static objects are destroyed.
  instance = new Job::Impl(*segment, 0, *settings, 1);
  owner = getpid();
  return instance;
}

/// Waits for the launch that is going on, which may want to tell who waits.
static void waitForTurn(Job::Impl &job, std::unique_lock<std::mutex> &guard,
                        std::string_view kernel) {
  {
    std::lock_guard<std::mutex> state(job.stateLock);
    job.queuedLaunches.emplace_back(kernel);
  }
  job.countInside(1);
  guard.lock();
  job.countInside(-1);
  std::lock_guard<std::mutex> state(job.stateLock);
  auto at = std::find(job.queuedLaunches.begin(), job.queuedLaunches.end(), kernel);
  if (at != job.queuedLaunches.end())
    job.queuedLaunches.erase(at);
}

Status launch(Job *job, const LaunchSpec &spec) {
  if (Status st = check(spec); !st.ok())
    return st;
  Job::Impl *impl = nullptr;
  if (job) {
    impl = &job->impl();
    if (impl->isCopy()) [[unlikely]]
      return impl->refuseCopy("launch of '" + std::string(spec.kernelName) + "'");
  } else {
    Expected<Job::Impl *> context = defaultContext();
    if (!context.ok())
      return context.status();
    impl = *context;
  }
  std::unique_lock<std::mutex> guard(impl->launchLock, std::try_to_lock);
  if (!guard.owns_lock())
    waitForTurn(*impl, guard, spec.kernelName);
  if (impl->finalized.load(std::memory_order_acquire))
    return invalid("launch of '" + std::string(spec.kernelName) +
                   "' after this rank has finalized its job");
  if (impl->jobFailed()) {
    if (impl->worldSize > 1)
      return impl->failureStatus();
    // An interrupt that came when its launch had just ended.
    impl->resetFailure();
  }
  RankSlot &slot = impl->slot();
  slot.launches.store(slot.launches.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  LaunchState state(*impl, spec);
  impl->enter(RankState::Launch);
  WorkerPool::of(*impl).run(state);

  Status result = impl->letGoOfArguments();
  bool complete = state.fibers ? state.finished.load() == state.total : !state.stop.load();
  if (!complete || state.hasError) {
    FailureDetail first = impl->readFailure();
    impl->publishBlocked(state.groups());
    // Two programs of different ranks may fail at once: each rank reports its
    // own mistake rather than the other's.
    bool ownMistake =
        state.hasError && first.rank != impl->rank && state.error.code != StatusCode::Interrupted;
    (void)impl->abandonTransfers();
    result = impl->failureStatus(ownMistake ? &state.error : nullptr);
    if (impl->worldSize == 1)
      impl->resetFailure();
  }
  impl->leave(RankState::Launch);
  return result;
}

static Job::Impl *implOf(Job *job) {
  if (job)
    return &job->impl();
  Expected<Job::Impl *> context = defaultContext();
  return context.ok() ? *context : nullptr;
}

void setHostBusy(Job *job, bool busy, int32_t streamsAtWork) {
  if (Job::Impl *impl = implOf(job)) {
    RankSlot &slot = impl->slot();
    slot.streamsAtWork.store(uint32_t(streamsAtWork), std::memory_order_release);
    slot.hostBusy.store(busy, std::memory_order_release);
  }
}

void beStreamThread() { isStreamThread = true; }

void interruptLaunches(Job *job) {
  Job::Impl *impl = implOf(job);
  if (!impl)
    return;
  {
    std::lock_guard<std::mutex> guard(impl->stateLock);
    if (impl->launching == 0)
      return;
  }
  FailureDetail detail;
  detail.code = StatusCode::Interrupted;
  detail.message = "interrupted";
  detail.rank = impl->rank;
  impl->publishFailure(detail);
}

} // namespace nereid::runtime
