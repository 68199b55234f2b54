// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Failure.cpp - The one failure of a job and its report --------------===//
//
// The first rank that finds something wrong writes it into the failure cell.
// Every wait of every rank looks at that cell. A rank that leaves a launch
// because of it first publishes who waited for what; then all ranks put the
// accounts together, so that each of them shows the whole picture.
//
//===----------------------------------------------------------------------===//
#include "base/Clock.h"
#include "symmetric/JobImpl.h"

#include <algorithm>

namespace nereid::runtime {

static constexpr uint64_t kReportWaitNs = 500000000;

static void store(SharedSite &to, const SourceSite &from) {
  to.line = from.line;
  to.column = from.column;
  to.file.set(from.file);
  to.function.set(from.function);
  to.text.set(from.text);
}

static SourceSite load(const SharedSite &from) {
  SourceSite to;
  to.file = from.file.str();
  to.line = from.line;
  to.column = from.column;
  to.function = from.function.str();
  to.text = from.text.str();
  return to;
}

void Job::Impl::publishFailure(const FailureDetail &detail) {
  FailureCell &cell = header().failure;
  uint32_t expected = 0;
  if (!cell.state.compare_exchange_strong(expected, 1, std::memory_order_acq_rel))
    return;
  cell.number.fetch_add(1, std::memory_order_relaxed);
  cell.code = uint32_t(detail.code);
  cell.rank = detail.rank;
  for (int i = 0; i < 3; ++i)
    cell.program[i] = detail.program[size_t(i)];
  cell.kernel.set(detail.kernel);
  cell.message.set(detail.message);
  store(cell.site, detail.site);
  cell.state.store(2, std::memory_order_release);
}

FailureDetail Job::Impl::readFailure() const {
  const FailureCell &cell = header().failure;
  FailureDetail detail;
  uint64_t begin = nowNs();
  while (cell.state.load(std::memory_order_acquire) == 1) {
    if (nowNs() - begin > 1000000000u) {
      detail.code = StatusCode::RankDied;
      detail.message = "a rank died while it reported a failure";
      return detail;
    }
    sleepNs(50000);
  }
  if (cell.state.load(std::memory_order_acquire) != 2)
    return detail;
  detail.code = StatusCode(cell.code);
  detail.message = cell.message.str();
  detail.rank = cell.rank;
  for (int i = 0; i < 3; ++i)
    detail.program[size_t(i)] = cell.program[i];
  detail.kernel = cell.kernel.str();
  detail.site = load(cell.site);
  return detail;
}

void Job::Impl::publishBlocked(const std::vector<BlockedGroup> &more) {
  RankSlot &own = slot();
  std::lock_guard<std::mutex> guard(stateLock);
  // A launch and a collective of two threads may both have something to tell.
  uint64_t failure = header().failure.number.load(std::memory_order_acquire);
  if (accountOf != failure)
    accounts.clear();
  accountOf = failure;
  accounts.insert(accounts.end(), more.begin(), more.end());
  const std::vector<BlockedGroup> &groups = accounts;
  int32_t count = int32_t(std::min<size_t>(groups.size(), kMaxRecords));
  for (int32_t i = 0; i < count; ++i) {
    const BlockedGroup &g = groups[size_t(i)];
    BlockedRecord &r = own.records[i];
    r.kind.set(g.kind);
    r.programs.set(g.programs);
    r.programCount = g.programCount;
    r.address.set(g.address);
    r.hasValues = g.hasValues;
    r.currentValue = g.currentValue;
    r.awaitedValue = g.awaitedValue;
    r.comparison.set(g.comparison);
    r.note.set(g.note);
    store(r.site, g.site);
  }
  if (groups.size() > size_t(kMaxRecords)) {
    BlockedRecord &r = own.records[kMaxRecords - 1];
    std::memset(static_cast<void *>(&r), 0, sizeof(r));
    r.kind.set("more");
    r.note.set("and " + std::to_string(groups.size() - kMaxRecords + 1) + " more places");
  }
  own.recordCount = count;
  own.reported.store(failure, std::memory_order_release);
}

static BlockedGroup load(const BlockedRecord &r, int32_t rank) {
  BlockedGroup g;
  g.rank = rank;
  g.kind = r.kind.str();
  g.programs = r.programs.str();
  g.programCount = r.programCount;
  g.address = r.address.str();
  g.hasValues = r.hasValues != 0;
  g.currentValue = r.currentValue;
  g.awaitedValue = r.awaitedValue;
  g.comparison = r.comparison.str();
  g.note = r.note.str();
  g.site = load(r.site);
  return g;
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
  uint64_t number = header().failure.number.load(std::memory_order_acquire);
  uint64_t deadline = nowNs() + kReportWaitNs;
  for (int32_t r = 0; r < worldSize; ++r) {
    RankSlot &s = control.rank(r);
    auto has = [&] { return s.reported.load(std::memory_order_acquire) == number; };
    RankState state = control.stateOf(r);
    while (!has() &&
           (state == RankState::Launch || state == RankState::Collective ||
            state == RankState::HostWait) &&
           nowNs() < deadline) {
      sleepNs(200000);
      state = control.stateOf(r);
    }
    if (has()) {
      for (int32_t i = 0; i < s.recordCount; ++i)
        detail.blocked.push_back(load(s.records[i], r));
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

void Job::Impl::resetFailure() {
  // Barriers of a single rank leave nothing behind: it never counts itself.
  header().failure.state.store(0, std::memory_order_release);
}

} // namespace nereid::runtime
