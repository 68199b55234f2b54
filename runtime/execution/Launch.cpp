// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Launch.cpp - The steps of a launch ---------------------------------===//
//
//   checkLaunch     what is wrong whatever the job does
//   jobOfLaunch     the caller's job, or the process's own job of one rank for that device
//   launchInto      launchLock: launches of a rank run one after the other. Who has to wait
//                   is listed (queuedLaunches), for reports of a launch that waits for it
//     enter         from here on the search for deadlocks looks at the rank's programs
//     run           the device's part
//     endLaunch     arguments that transfers still need are copied or completed, since the
//                   caller may free them; then the rank is in host code again. A launch
//                   that goes into a queue of the device ends in synchronizeQueue
//
// When the launch has gone wrong, this rank's error becomes the job's, unless
// there is one; what its programs waited for is published; transfers that are
// pending are dropped, not awaited. A job of one rank forgets the failure at
// once, as nobody else has to see it.
//
//===----------------------------------------------------------------------===//
#include "nereid/runtime/Launch.h"

#include "base/InvalidArgument.h"
#include "control/ControlPlanes.h"
#include "execution/Launches.h"
#include "nereid/abi.h"
#include "symmetric/HostTurns.h"

#include <algorithm>
#include <atomic>
#include <unistd.h>

namespace nereid::runtime {

Status checkLaunch(const LaunchSpec &spec) {
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
  std::atomic<Job *> last{nullptr}; ///< the one that the last launch found

  static DefaultJobs &get() {
    static DefaultJobs instance;
    return instance;
  }

  Expected<Job *> of(Device &device) {
    if (Job *job = last.load(std::memory_order_acquire);
        job && &job->impl().device == &device && !job->impl().isCopy())
      return job;
    std::lock_guard<std::mutex> guard(lock);
    Expected<Job *> job = findOrMake(device);
    if (job.ok())
      last.store(*job, std::memory_order_release);
    return job;
  }

private:
  Expected<Job *> findOrMake(Device &device) {
    forgetParents();
    for (Job *job : jobs)
      if (&job->impl().device == &device)
        return job;
    Expected<Settings> settings = resolveSettings({});
    if (!settings.ok())
      return settings.status();
    Expected<std::shared_ptr<ControlPlane>> plane = localControlPlane().createAlone();
    if (!plane.ok())
      return plane.status();
    jobs.push_back(
        JobFactory::make(std::make_unique<Job::Impl>(*plane, 0, *settings, device)).release());
    return jobs.back();
  }

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
  job.dropTransfers();
  Status result = job.failureStatus(ownMistake ? &*failure.error : nullptr);
  if (job.worldSize == 1)
    job.resetFailure();
  return result;
}

bool needsJob(const Kernel &kernel) { return kernel.distributed || !kernel.symmetricArgs.empty(); }

std::optional<uint32_t> findNonSymmetric(const Kernel &kernel, const uint64_t *slots,
                                         const Job &job) {
  for (uint32_t slot : kernel.symmetricArgs)
    if (!job.isSymmetric(reinterpret_cast<const void *>(slots[slot])))
      return slot;
  return std::nullopt;
}

Status launch(Job *job, const LaunchSpec &spec) {
  if (Status st = checkLaunch(spec); !st.ok())
    return st;
  Expected<Job *> found = jobOfLaunch(job, spec);
  if (!found.ok())
    return found.status();
  return launchInto(**found, spec, nullptr);
}

Expected<Job *> jobOfLaunch(Job *job, const LaunchSpec &spec) {
  Device &device = spec.kernel->device;
  if (!job)
    return DefaultJobs::get().of(device);
  if (&job->impl().device != &device)
    return invalid("launch of '" + spec.kernel->name + "': the kernel was loaded for the device '" +
                   device.name() + "', the job runs on '" + job->impl().device.name() + "'");
  return job;
}

/// What a launch has come to, or several in a queue of the device.
static Status endLaunch(Job::Impl &job, std::unique_ptr<LaunchFailure> failure) {
  Status result = failure ? endFailed(job, *failure) : job.letGoOfArguments();
  if (!failure && !result.ok()) [[unlikely]]
    job.dropTransfers();
  if (job.late)
    job.late->launchEnded();
  job.leave(RankState::Launch);
  return result;
}

/// The rank's turn to give its device something: a launch of `kernel`, or a put.
static Status takeTurn(Job &job, std::unique_lock<std::mutex> &guard, const std::string *kernel) {
  Job::Impl &impl = job.impl();
  auto text = [&] { return kernel ? "launch of '" + *kernel + "'" : std::string("put_async"); };
  if (impl.isCopy()) [[unlikely]]
    return impl.refuseCopy(text());
  if (!guard.try_lock())
    waitForTurn(impl, guard, kernel ? std::string_view(*kernel) : "put_async");
  if (impl.finalized.load(std::memory_order_acquire))
    return invalid(text() + " after this rank has finalized its job");
  if (impl.jobFailed()) {
    if (impl.worldSize > 1)
      return impl.failureStatus();
    // An interrupt that came when its launch had just ended.
    impl.resetFailure();
  }
  if (!impl.executor)
    impl.executor = impl.device.open(job);
  return {};
}

Status putInto(Job &job, const StreamedPut &put, std::unique_ptr<DeviceQueue> &queue,
               std::optional<uintptr_t> native) {
  Job::Impl &impl = job.impl();
  QueuedPut made{nullptr, put.source, put.bytes, nullptr, put.value, put.signalBytes, put.after};
  Expected<uint64_t> to = transferOffset(impl, "put_async", put.dest, put.bytes, put.rank);
  if (!to.ok())
    return to.status();
  if (Status st = checkAllocation(impl, "put_async", put.source, put.bytes); !st.ok())
    return st;
  uint64_t signal = 0;
  if (put.signal) {
    Expected<uint64_t> at =
        signalOffset(impl, "put_async", put.signal, put.value, put.signalBytes, put.rank);
    if (!at.ok())
      return at.status();
    signal = *at;
  }
  {
    std::unique_lock<std::mutex> guard(impl.launchLock, std::defer_lock);
    if (Status st = takeTurn(job, guard, nullptr); !st.ok())
      return st;
    if (!queue)
      queue = impl.executor->makeQueue(native);
    if (queue) {
      const Router &router = *impl.transport;
      if (!router.isDirect(put.rank))
        return invalid("put_async: rank " + std::to_string(put.rank) +
                       " is on another machine, which the device '" + impl.device.name() +
                       "' cannot copy to");
      made.to = router.address(put.rank, *to);
      made.word = put.signal ? router.address(put.rank, signal) : nullptr;
      return queue->put(made);
    }
  }
  if (native || put.after)
    return invalid("put_async: the device '" + std::string(impl.device.name()) +
                   "' has no streams of its own");
  // The calling thread, one of a stream, makes it.
  if (Status st = job.put(put.dest, put.source, put.bytes, put.rank); !st.ok() || !put.signal)
    return st;
  return job.signal(put.signal, put.value, NRD_SIG_SET, put.signalBytes, put.rank);
}

Status launchInto(Job &job, const LaunchSpec &spec, std::unique_ptr<DeviceQueue> *queue,
                  std::optional<uintptr_t> native) {
  Job::Impl *impl = &job.impl();
  std::unique_lock<std::mutex> guard(impl->launchLock, std::defer_lock);
  if (Status st = takeTurn(job, guard, &spec.kernel->name); !st.ok())
    return st;
  RankFacts &facts = impl->facts();
  facts.launches.store(facts.launches.load(std::memory_order_relaxed) + 1,
                       std::memory_order_relaxed);
  if (queue && !*queue)
    *queue = impl->executor->makeQueue(native);
  if (native && !*queue)
    return invalid("launch of '" + spec.kernel->name + "': the device '" + impl->device.name() +
                   "' has no streams of its own that it could go into");
  DeviceQueue *into = queue ? queue->get() : nullptr;
  if (!into) {
    impl->enter(RankState::Launch);
    return endLaunch(*impl, impl->executor->run(spec, nullptr));
  }
  // This thread goes on by itself: it is no wait for the search for deadlocks.
  impl->count(RankState::Launch, 1, /*waits=*/false);
  std::unique_ptr<LaunchFailure> failure = impl->executor->run(spec, into);
  impl->count(RankState::Launch, -1, /*waits=*/false);
  if (!failure)
    return {}; // it goes on
  impl->enter(RankState::Launch);
  return endLaunch(*impl, std::move(failure));
}

Status synchronizeQueue(Job &job, DeviceQueue &queue) {
  job.impl().enter(RankState::Launch);
  return endLaunch(job.impl(), job.impl().executor->synchronize(&queue));
}

void interruptLaunch(Job::Impl &job) {
  {
    std::lock_guard<std::mutex> guard(job.stateLock);
    if (job.launching == 0)
      return;
  }
  FailureDetail detail;
  detail.code = StatusCode::Interrupted;
  detail.message = "interrupted";
  detail.rank = job.rank;
  job.publishFailure(detail);
}

} // namespace nereid::runtime
