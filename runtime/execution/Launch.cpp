// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/runtime/Launch.h"

#include "symmetric/HostTurns.h"
#include "symmetric/JobImpl.h"

#include <algorithm>
#include <unistd.h>

namespace nereid::runtime {

static Status invalid(std::string message) {
  return Status::error(StatusCode::InvalidArgument, std::move(message));
}

static Status check(const LaunchSpec &spec) {
  if (!spec.kernel)
    return invalid("launch: no kernel");
  const Kernel &kernel = *spec.kernel;
  auto wrong = [&](std::string what) {
    return invalid("launch of '" + kernel.name + "': " + std::move(what));
  };
  uint64_t total = 1;
  for (int32_t g : spec.grid) {
    if (g < 1)
      return wrong("every grid dimension must be at least 1, got (" + std::to_string(spec.grid[0]) +
                   ", " + std::to_string(spec.grid[1]) + ", " + std::to_string(spec.grid[2]) + ")");
    total *= uint64_t(g);
    if (total >= uint64_t(1) << 31)
      return wrong("the grid has 2^31 programs or more");
  }
  if (kernel.lanes < 1 || total * uint64_t(kernel.lanes) >= uint64_t(1) << 31)
    return wrong("bad number of vector cores per program");
  if (kernel.numArgs > 0 && !spec.args)
    return wrong("the kernel has " + std::to_string(kernel.numArgs) +
                 (kernel.numArgs == 1 ? " argument" : " arguments") + ", the launch has none");
  return {};
}

namespace {
/// The jobs of launches outside any: rank 0 of 1, no heap. One per process and
/// device; a forked child makes its own since threads do not survive a fork.
struct DefaultJobs {
  std::mutex lock;
  std::vector<Job *> jobs; // never freed: programs may run while static objects are destroyed
  pid_t owner = 0;

  static DefaultJobs &get() {
    static DefaultJobs instance;
    return instance;
  }

  std::vector<Job *> list() {
    std::lock_guard<std::mutex> guard(lock);
    forgetParents();
    return jobs;
  }

  Expected<Job *> of(Device &device) {
    std::lock_guard<std::mutex> guard(lock);
    forgetParents();
    for (Job *job : jobs)
      if (&job->impl().device == &device)
        return job;
    Expected<Settings> settings = resolveSettings({});
    if (!settings.ok())
      return settings.status();
    Expected<std::shared_ptr<Segment>> segment = Segment::createPrivate();
    if (!segment.ok())
      return segment.status();
    jobs.push_back(
        JobFactory::make(std::make_unique<Job::Impl>(*segment, 0, *settings, 1, device)).release());
    return jobs.back();
  }

private:
  void forgetParents() {
    if (owner != getpid())
      jobs.clear();
    owner = getpid();
  }
};
} // namespace

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

/// Ends a launch that did not go well: publishes what is known about it and
/// returns what this rank reports.
static Status endFailed(Job::Impl &job, LaunchFailure &failure) {
  if (failure.error) {
    failure.error->rank = job.rank;
    job.publishFailure(*failure.error);
  }
  FailureDetail first = job.readFailure();
  job.publishBlocked(failure.programs);
  // Two programs of different ranks may fail at once: each rank reports its
  // own mistake rather than the other's.
  bool ownMistake =
      failure.error && first.rank != job.rank && failure.error->code != StatusCode::Interrupted;
  (void)job.abandonTransfers();
  Status result = job.failureStatus(ownMistake ? &*failure.error : nullptr);
  if (job.worldSize == 1)
    job.resetFailure();
  return result;
}

Status launch(Job *job, const LaunchSpec &spec) {
  if (Status st = check(spec); !st.ok())
    return st;
  Device &device = spec.kernel->device;
  if (!job) {
    Expected<Job *> found = DefaultJobs::get().of(device);
    if (!found.ok())
      return found.status();
    job = *found;
  } else if (&job->impl().device != &device) {
    return invalid("launch of '" + spec.kernel->name + "': the kernel was loaded for the device '" +
                   device.name() + "', the job runs on '" + job->impl().device.name() + "'");
  }
  Job::Impl *impl = &job->impl();
  if (impl->isCopy()) [[unlikely]]
    return impl->refuseCopy("launch of '" + spec.kernel->name + "'");
  std::unique_lock<std::mutex> guard(impl->launchLock, std::try_to_lock);
  if (!guard.owns_lock())
    waitForTurn(*impl, guard, spec.kernel->name);
  if (impl->finalized.load(std::memory_order_acquire))
    return invalid("launch of '" + spec.kernel->name + "' after this rank has finalized its job");
  if (impl->jobFailed()) {
    if (impl->worldSize > 1)
      return impl->failureStatus();
    // An interrupt that came when its launch had just ended.
    impl->resetFailure();
  }
  RankSlot &slot = impl->slot();
  slot.launches.store(slot.launches.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (!impl->executor)
    impl->executor = device.open(*job);
  impl->enter(RankState::Launch);
  std::unique_ptr<LaunchFailure> failure = impl->executor->run(spec, nullptr);
  Status result = impl->letGoOfArguments();
  if (impl->late)
    impl->late->launchEnded();
  if (failure) [[unlikely]]
    result = endFailed(*impl, *failure);
  impl->leave(RankState::Launch);
  return result;
}

static std::vector<Job *> jobsOf(Job *job) {
  return job ? std::vector<Job *>{job} : DefaultJobs::get().list();
}

void setHostBusy(Job *job, bool busy, int32_t streamsAtWork) {
  for (Job *each : jobsOf(job)) {
    RankSlot &slot = each->impl().slot();
    slot.streamsAtWork.store(uint32_t(streamsAtWork), std::memory_order_release);
    slot.hostBusy.store(busy, std::memory_order_release);
  }
}

void beStreamThread() { isStreamThread = true; }

void interruptLaunches(Job *job) {
  for (Job *each : jobsOf(job)) {
    Job::Impl &impl = each->impl();
    {
      std::lock_guard<std::mutex> guard(impl.stateLock);
      if (impl.launching == 0)
        continue;
    }
    FailureDetail detail;
    detail.code = StatusCode::Interrupted;
    detail.message = "interrupted";
    detail.rank = impl.rank;
    impl.publishFailure(detail);
  }
}

} // namespace nereid::runtime
