// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Failure.cpp - The one failure of a job and its report --------------===//
//
// The first rank that finds something wrong publishes it.
// Every wait of every rank looks whether somebody has. A rank that leaves a launch
// because of it first publishes who waited for what; then all ranks put the
// accounts together, so that each of them shows the whole picture.
//
//===----------------------------------------------------------------------===//
#include "base/Clock.h"
#include "symmetric/JobImpl.h"

namespace nereid::runtime {

static constexpr uint64_t kReportWaitNs = 500000000;

void Job::Impl::publishBlocked(const std::vector<BlockedGroup> &more) {
  std::lock_guard<std::mutex> guard(stateLock);
  // A launch and a collective of two threads may both have something to tell.
  const uint64_t failure = control.failureNumber();
  if (accountOf != failure)
    accounts.clear();
  accountOf = failure;
  accounts.insert(accounts.end(), more.begin(), more.end());
  control.publishAccount(failure, accounts);
}

/// Whether the picture of all ranks helps to understand the failure.
static bool wantsPicture(StatusCode code, int32_t worldSize) {
  switch (code) {
  case StatusCode::Deadlock:
  case StatusCode::Timeout:
  case StatusCode::BarrierMismatch:
  case StatusCode::RankDied:
  case StatusCode::RankFinalized:
  case StatusCode::RankRaised:
    return true;
  case StatusCode::Interrupted:
    return worldSize > 1;
  default:
    return false;
  }
}

Status Job::Impl::failureStatus(const FailureDetail *own) {
  FailureDetail detail = own ? *own : readFailure();
  if (!wantsPicture(detail.code, worldSize))
    return Status(std::move(detail));
  const uint64_t number = control.failureNumber();
  uint64_t deadline = nowNs() + kReportWaitNs;
  for (int32_t r = 0; r < worldSize; ++r) {
    std::optional<std::vector<BlockedGroup>> account = control.accountOf(r, number);
    RankState state = control.stateOf(r);
    while (!account &&
           (state == RankState::Launch || state == RankState::Collective ||
            state == RankState::HostWait) &&
           nowNs() < deadline) {
      sleepNs(200000);
      state = control.stateOf(r);
      account = control.accountOf(r, number);
    }
    if (account) {
      for (BlockedGroup &group : *account)
        detail.blocked.push_back(std::move(group));
      continue;
    }
    BlockedGroup g;
    g.rank = r;
    switch (state) {
    case RankState::Absent:
      g.kind = "not started";
      break;
    case RankState::Host:
      g.kind = "host code";
      g.note = "not in a launch or barrier";
      break;
    case RankState::Launch:
      g.kind = "running a kernel";
      break;
    case RankState::Collective:
      g.kind = "host barrier";
      break;
    case RankState::HostWait:
      g.kind = "host wait";
      break;
    case RankState::Finalized:
      g.kind = "finalized";
      break;
    case RankState::Left:
      g.kind = "left without finalizing";
      break;
    case RankState::Dead:
      g.kind = "dead";
      break;
    }
    detail.blocked.push_back(std::move(g));
  }
  return Status(std::move(detail));
}

void Job::Impl::recoverDevice() {
  // A device that fails here makes the next launch fail, with its own words.
  if (heaps)
    (void)device.recover(heapBase + deviceOffset, heapBytes, worldSize);
}

} // namespace nereid::runtime
