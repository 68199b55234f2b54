// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Collective.cpp - Barriers among the hosts --------------------------===//
//
// Each rank leaves a line of text saying what it wants; afterwards everybody
// compares all lines, so that a mismatch is found by every rank at the same call.
//
//===----------------------------------------------------------------------===//
#include "base/Clock.h"
#include "base/Knobs.h"
#include "nereid/abi.h"
#include "symmetric/HostWait.h"
#include "symmetric/Turns.h"

namespace nereid::runtime {

static Status finalizedError() {
  return Status::error(StatusCode::InvalidArgument, "this rank has already finalized its job");
}

/// How long a rank waits for another to say where it asked for something else.
static constexpr uint64_t kPlaceWaitNs = 500000000;

/// " at job.py:12" of a rank that has found, as this one has, that requests differ.
static std::string placeOf(const Job::Impl &job, int32_t rank, uint64_t number) {
  const uint64_t deadline = nowNs() + kPlaceWaitNs;
  std::optional<std::string> where;
  while (!(where = job.control.requestPlaceOf(number, rank))) {
    if (isGone(job.control.stateOf(rank)) || nowNs() > deadline)
      return "";
    sleepNs(50000);
  }
  return where->empty() ? "" : " at " + *where;
}

/// The first two ranks whose lines differ, as an error.
static Status compareRequests(const Job::Impl &job, uint64_t number) {
  auto text = [&](int32_t r) { return job.control.requestOf(job.worldTeam, number, r); };
  std::string first = text(0);
  for (int32_t r = 1; r < job.worldSize; ++r) {
    std::string other = text(r);
    if (other == first)
      continue;
    job.control.noteRequestPlace(number, callSite());
    return Status::error(StatusCode::Mismatch,
                         "ranks made different collective calls: rank 0 called " + first +
                             placeOf(job, 0, number) + ", rank " + std::to_string(r) + " called " +
                             other + placeOf(job, r, number),
                         r);
  }
  return {};
}

Status Job::Impl::collective(std::string_view request, double timeoutSeconds) {
  Observer *watching = observer.load(std::memory_order_acquire);
  EventRecord event = hostEvent(EventKind::Barrier);
  event.flags = EventRecord::kCompletes;
  event.offset = reinterpret_cast<uint64_t>(request.data());
  event.bytes = request.size();
  event.value = control.hostEpoch(kWorldTeam).load(std::memory_order_acquire) + 1;
  const uint64_t tag = watching ? watching->before(event, 0) : 0;
  Status result = meet(request, timeoutSeconds);
  if (watching && result.ok()) {
    event.end = cheapTicks();
    watching->after(event, tag);
  }
  if (result.ok())
    giveWay();
  return result;
}

Status Job::Impl::meet(std::string_view request, double timeoutSeconds) {
  if (Status st = refuseCopy(request); !st.ok())
    return st;
  std::lock_guard<std::mutex> guard(hostLock);
  if (finalized.load(std::memory_order_acquire))
    return finalizedError();
  if (jobFailed())
    return failureStatus();
  if (Status st = completeTransfers("a host barrier"); !st.ok())
    return st;
  if (worldSize == 1)
    return {};
  if (timeoutSeconds < 0)
    timeoutSeconds = settings.timeoutSeconds;

  if (turns)
    turns->forgetTransfers();
  const uint64_t number = control.hostEpoch(kWorldTeam).load(std::memory_order_acquire) + 1;
  facts().collectives.store(number, std::memory_order_release);
  enter(RankState::Collective);
  if (turns)
    turns->enterCollective(number);

  Status result;
  if (!control.arriveHost(worldTeam, number, request, {}))
    result = HostBarrierWait(*this, request, control.hostEpoch(kWorldTeam), number, worldTeam)
                 .run(timeoutSeconds);
  if (turns)
    turns->leaveCollective();
  leave(RankState::Collective);
  if (!result.ok())
    return result;
  return compareRequests(*this, number);
}

namespace {
/// The wait of a job that has failed, for all of its ranks to say that they have
/// seen it.
class RecoveryWait : public HostBarrierWait {
public:
  RecoveryWait(Job::Impl &job, uint64_t number)
      : HostBarrierWait(job, "recover()", job.control.recoveryEpoch(), number, job.worldTeam) {}

protected:
  Status look(bool slow, double timeoutSeconds) override {
    if (!slow)
      return {};
    if (interruptRequested())
      return Status::error(StatusCode::Interrupted, "interrupted while recovering the job");
    // A dead rank cannot come; its state says so once it has been noticed.
    for (int32_t r = 0; r < job.worldSize; ++r) {
      bool gone = isGone(job.control.stateOf(r)) || job.control.hasEnded(r);
      if (gone && needs(r))
        return Status::error(StatusCode::RankDied,
                             "the job cannot recover: rank " + std::to_string(r) + " has left it",
                             r);
    }
    if (timeoutSeconds > 0 && double(nowNs() - begin) * 1e-9 > timeoutSeconds)
      return Status::error(StatusCode::Timeout, "not all ranks have called recover()");
    return {};
  }

private:
  const uint64_t begin = nowNs();
};
} // namespace

Status Job::Impl::recover() {
  if (Status st = refuseCopy("recover()"); !st.ok())
    return st;
  std::lock_guard<std::mutex> guard(hostLock);
  std::lock_guard<std::mutex> launches(launchLock);
  if (finalized.load(std::memory_order_acquire))
    return finalizedError();
  if (worldSize == 1) {
    resetFailure();
    return {};
  }
  if (Status st = abandonTransfers(); !st.ok())
    return st;
  std::unique_lock<std::mutex> still;
  if (turns) {
    still = turns->keepStill();
    turns->forgetTransfers();
  }
  uint64_t hash;
  {
    std::shared_lock<std::shared_mutex> heapGuard(heapLock);
    hash = heap.hash();
  }
  uint64_t number = control.recoveryEpoch().load(std::memory_order_acquire) + 1;
  if (turns)
    turns->enterCollective(~uint64_t(0));
  auto complete = [&] {
    recoverDevice();
    if (turns)
      turns->reset(number);
  };
  if (!control.arriveRecovery(number, hash, complete))
    if (Status st = RecoveryWait(*this, number).run(settings.timeoutSeconds); !st.ok()) {
      if (turns)
        turns->leaveCollective();
      return st;
    }
  for (int32_t r = 0; r < worldSize; ++r)
    if (control.recoveryHashOf(r) != hash)
      return Status::error(StatusCode::Mismatch,
                           "the job cannot recover: rank " + std::to_string(rank) + " and rank " +
                               std::to_string(r) + " hold different symmetric allocations",
                           r);
  return {};
}

} // namespace nereid::runtime
