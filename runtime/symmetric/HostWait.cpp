// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostWait.cpp - How host code waits ---------------------------------===//
#include "symmetric/HostWait.h"

#include "base/Backoff.h"

namespace nereid::runtime {

static constexpr uint64_t kInterruptEveryNs = 20000000;

namespace {
/// The place of a wait in the list that the search for deadlocks reads.
class Listed {
public:
  explicit Listed(Job::Impl &job) {
    std::lock_guard<std::mutex> guard(job.stateLock);
    HostWaitSlot *const places = job.node.hostWaits();
    for (HostWaitSlot *place = places; place != places + kMaxHostWaits; ++place)
      if (!place->active.load(std::memory_order_relaxed)) {
        place->active.store(1, std::memory_order_release);
        slot = place;
        return;
      }
  }
  ~Listed() {
    if (slot)
      slot->active.store(0, std::memory_order_release);
  }
  Listed(const Listed &) = delete;
  Listed &operator=(const Listed &) = delete;

  /// What is waited for has been looked at in vain.
  void pass() {
    if (slot)
      slot->passes.fetch_add(1, std::memory_order_acq_rel);
  }

private:
  HostWaitSlot *slot = nullptr;
};
} // namespace

Status HostWait::run(double timeoutSeconds) {
  Listed listed(job);
  Backoff backoff(job.maySpin);
  while (!isOver()) {
    Status ended = look(backoff.isSlow(), timeoutSeconds);
    if (!ended.ok())
      return ended;
    listed.pass();
    backoff.step();
  }
  return {};
}

Status HostWait::look(bool slow, double timeoutSeconds) {
  if (job.jobFailed()) {
    // What is waited for may have come before the failure.
    if (isOver())
      return {};
    job.publishBlocked({account()});
    return job.failureStatus();
  }
  if (!slow)
    return {};
  job.watch->tick(*this, timeoutSeconds);
  uint64_t now = nowNs();
  if (now < nextInterrupt)
    return {};
  nextInterrupt = now + kInterruptEveryNs;
  if (interruptRequested()) {
    FailureDetail detail;
    detail.code = StatusCode::Interrupted;
    detail.message = "interrupted while rank " + std::to_string(job.rank) + " waited in " + what();
    detail.rank = job.rank;
    job.publishFailure(detail);
  }
  return {};
}

BlockedGroup HostBarrierWait::account() const {
  BlockedGroup group;
  group.kind = "host barrier";
  group.note = std::string(request);
  return group;
}

} // namespace nereid::runtime
