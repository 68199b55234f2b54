// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Collective.cpp - Barriers among the hosts --------------------------===//
//
// One central counter: with more ranks than cores it beats every cleverer
// barrier, and a rank that waits can see at once who has not come. Each rank
// leaves a line of text saying what it wants; afterwards everybody compares
// all lines, so that a mismatch is found by every rank at the same call. The
// lines are double-buffered: a rank can be at most one collective ahead.
//
//===----------------------------------------------------------------------===//
#include "base/Backoff.h"
#include "symmetric/JobImpl.h"
#include "symmetric/JobWatch.h"
#include "symmetric/Turns.h"

namespace nereid::runtime {

static Status finalizedError() {
  return Status::error(StatusCode::InvalidArgument, "this rank has already finalized its job");
}

/// The first two ranks whose lines differ, as an error.
static Status compareRequests(const Job::Impl &job, uint64_t number) {
  auto text = [&](int32_t r) { return job.control.rank(r).requests[number & 1].text.str(); };
  std::string first = text(0);
  for (int32_t r = 1; r < job.worldSize; ++r) {
    std::string other = text(r);
    if (other == first)
      continue;
    return Status::error(StatusCode::Mismatch,
                         "ranks made different collective calls: rank 0 called " + first +
                             ", rank " + std::to_string(r) + " called " + other,
                         r);
  }
  return {};
}

Status Job::Impl::collective(std::string_view request, double timeoutSeconds) {
  std::lock_guard<std::mutex> guard(hostLock);
  if (finalized.load(std::memory_order_acquire))
    return finalizedError();
  if (jobFailed())
    return failureStatus();
  transport->quiet();
  if (worldSize == 1)
    return {};
  if (timeoutSeconds < 0)
    timeoutSeconds = settings.timeoutSeconds;

  JobHeader &h = header();
  RankSlot &own = slot();
  uint64_t number = ++collectives;
  own.requests[number & 1].text.set(request);
  own.collectives.store(number, std::memory_order_release);
  enter(RankState::Collective);
  if (turns)
    turns->enterCollective(number);

  Status result;
  uint64_t arrived = h.hostArrived.value.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (arrived == uint64_t(worldSize)) {
    h.hostArrived.value.store(0, std::memory_order_relaxed);
    h.hostEpoch.value.store(number, std::memory_order_release);
  } else {
    Backoff backoff(maySpin);
    std::string what = "the host collective " + std::string(request);
    JobWatch::Wait wait{what, true, number};
    uint64_t nextInterrupt = 0;
    while (h.hostEpoch.value.load(std::memory_order_acquire) < number) {
      if (jobFailed()) {
        // The barrier may have been completed first.
        if (h.hostEpoch.value.load(std::memory_order_acquire) >= number)
          break;
        BlockedGroup group;
        group.kind = "host barrier";
        group.note = std::string(request);
        publishBlocked({group});
        result = failureStatus();
        break;
      }
      if (backoff.isSlow()) {
        watch->tick(wait, timeoutSeconds);
        uint64_t now = nowNs();
        if (now >= nextInterrupt) {
          nextInterrupt = now + 20000000;
          if (interruptRequested()) {
            FailureDetail detail;
            detail.code = StatusCode::Interrupted;
            detail.message =
                "interrupted while rank " + std::to_string(rank) + " waited in " + what;
            detail.rank = rank;
            publishFailure(detail);
          }
        }
      }
      backoff.step();
    }
  }
  if (turns)
    turns->leaveCollective();
  leave(RankState::Collective);
  if (!result.ok())
    return result;
  return compareRequests(*this, number);
}

Status Job::Impl::recover() {
  std::lock_guard<std::mutex> guard(hostLock);
  std::lock_guard<std::mutex> launches(launchLock);
  if (finalized.load(std::memory_order_acquire))
    return finalizedError();
  if (worldSize == 1) {
    resetFailure();
    return {};
  }
  JobHeader &h = header();
  {
    std::shared_lock<std::shared_mutex> heapGuard(heapLock);
    slot().recoveryHash.store(heap.hash(), std::memory_order_release);
  }
  uint64_t epoch = h.recoverEpoch.value.load(std::memory_order_acquire);
  uint64_t arrived = h.recoverArrived.value.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (arrived == uint64_t(worldSize)) {
    h.recoverArrived.value.store(0, std::memory_order_relaxed);
    h.hostArrived.value.store(0, std::memory_order_relaxed);
    h.hostEpoch.value.store(0, std::memory_order_relaxed);
    h.deviceArrived.value.store(0, std::memory_order_relaxed);
    h.deviceEpoch.value.store(0, std::memory_order_relaxed);
    resetTeams();
    h.failure.state.store(0, std::memory_order_relaxed);
    if (turns)
      turns->reset(epoch + 1);
    h.recoverEpoch.value.store(epoch + 1, std::memory_order_release);
  } else {
    Backoff backoff(maySpin);
    uint64_t begin = nowNs();
    double limit = settings.timeoutSeconds;
    while (h.recoverEpoch.value.load(std::memory_order_acquire) == epoch) {
      backoff.step();
      if (!backoff.isSlow())
        continue;
      if (interruptRequested())
        return Status::error(StatusCode::Interrupted, "interrupted while recovering the job");
      // A dead rank cannot come; its state says so once it has been noticed.
      for (int32_t r = 0; r < worldSize; ++r) {
        int32_t pid = control.rank(r).pid.load(std::memory_order_relaxed);
        bool gone = isGone(control.stateOf(r)) ||
                    (r != rank && processStartTime(pid) != control.rank(r).startTime.load());
        // It may have left after all had come.
        if (gone && h.recoverEpoch.value.load(std::memory_order_acquire) == epoch)
          return Status::error(StatusCode::RankDied,
                               "the job cannot recover: rank " + std::to_string(r) + " has left it",
                               r);
      }
      if (limit > 0 && double(nowNs() - begin) * 1e-9 > limit)
        return Status::error(StatusCode::Timeout, "not all ranks have called recover()");
    }
  }
  transport->drop();
  collectives = 0;
  deviceBarriers = 0;
  slot().collectives.store(0, std::memory_order_relaxed);
  slot().barriers.store(0, std::memory_order_relaxed);
  for (int32_t r = 0; r < worldSize; ++r)
    if (control.rank(r).recoveryHash.load(std::memory_order_acquire) !=
        slot().recoveryHash.load(std::memory_order_relaxed))
      return Status::error(StatusCode::Mismatch,
                           "the job cannot recover: rank " + std::to_string(rank) + " and rank " +
                               std::to_string(r) + " hold different symmetric allocations",
                           r);
  return {};
}

} // namespace nereid::runtime
