// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostSignals.cpp - Signals that host code sends and waits for -------===//
#include "base/Backoff.h"
#include "nereid/abi.h"
#include "symmetric/JobImpl.h"
#include "symmetric/JobWatch.h"
#include "symmetric/Turns.h"
#include "transport/shared_memory/Update.h"

namespace nereid::runtime {

/// The signal's place on `rank`, checked; null and an error otherwise.
static uint8_t *signalAddress(const Job::Impl &job, const char *what, const void *signal,
                              int32_t bytes, int32_t rank, Status &error) {
  if (bytes != 4 && bytes != 8) {
    error = Status::error(StatusCode::InvalidArgument, std::string(what) +
                                                           ": a signal has 4 or 8 bytes, not " +
                                                           std::to_string(bytes));
    return nullptr;
  }
  uint8_t *at = transferAddress(job, what, signal, uint64_t(bytes), rank, error);
  if (at && (uintptr_t(at) & uintptr_t(bytes - 1)) != 0) {
    error = Status::error(StatusCode::BadAccess, std::string(what) + ": " + job.describe(signal) +
                                                     " is not aligned to the signal's " +
                                                     std::to_string(bytes) + " bytes");
    return nullptr;
  }
  return at;
}

Status Job::signal(void *signal, uint64_t value, int32_t op, int32_t bytes, int32_t rank) {
  Status error;
  if (uint8_t *at = signalAddress(*pimpl, "signal_op", signal, bytes, rank, error)) {
    pimpl->transport->quiet(rank);
    updateSignal(at, value, op, bytes);
  }
  return error;
}

static int64_t widen(uint64_t value, int32_t bytes, bool isSigned) {
  if (bytes == 8)
    return int64_t(value);
  return isSigned ? int64_t(int32_t(value)) : int64_t(uint32_t(value));
}

template <typename T> static bool compare(int32_t comparison, T a, T b) {
  switch (comparison) {
  case NRD_CMP_EQ:
    return a == b;
  case NRD_CMP_NE:
    return a != b;
  case NRD_CMP_GT:
    return a > b;
  case NRD_CMP_LE:
    return a <= b;
  case NRD_CMP_LT:
    return a < b;
  default:
    return a >= b;
  }
}

Status Job::waitUntil(const void *signal, int32_t comparison, uint64_t value, int32_t bytes,
                      bool isSigned) {
  static const char *const texts[] = {"==", "!=", ">", "<=", "<", ">="};
  if (comparison < 0 || comparison > NRD_CMP_GE)
    return Status::error(StatusCode::InvalidArgument,
                         "signal_wait_until: unknown comparison " + std::to_string(comparison));
  Status error;
  const uint8_t *at = signalAddress(*pimpl, "signal_wait_until", signal, bytes, rank(), error);
  if (!at)
    return error;
  const int64_t awaited = widen(value, bytes, isSigned);
  int64_t seen = 0;
  auto holds = [&] {
    uint64_t raw = bytes == 4
                       ? __atomic_load_n(reinterpret_cast<const uint32_t *>(at), __ATOMIC_ACQUIRE)
                       : __atomic_load_n(reinterpret_cast<const uint64_t *>(at), __ATOMIC_ACQUIRE);
    seen = widen(raw, bytes, isSigned);
    return isSigned ? compare<int64_t>(comparison, seen, awaited)
                    : compare<uint64_t>(comparison, uint64_t(seen), uint64_t(awaited));
  };
  if (holds())
    return {};
  struct Waiting {
    explicit Waiting(Impl &job) : job(job) {
      job.enter(RankState::HostWait);
      std::lock_guard<std::mutex> guard(job.stateLock);
      for (HostWaitSlot &place : job.slot().hostWaits)
        if (!place.active.load(std::memory_order_relaxed)) {
          place.active.store(1, std::memory_order_release);
          listed = &place;
          break;
        }
    }
    ~Waiting() {
      if (listed)
        listed->active.store(0, std::memory_order_release);
      job.leave(RankState::HostWait);
    }
    /// The signal has been looked at in vain.
    void pass() {
      if (listed)
        listed->passes.fetch_add(1, std::memory_order_acq_rel);
    }
    Impl &job;
    HostWaitSlot *listed = nullptr;
  } waiting(*pimpl);
  Backoff backoff(pimpl->maySpin);
  const std::string what = "signal_wait_until of the host";
  JobWatch::Wait wait{what, false, 0};
  uint64_t nextInterrupt = 0;
  struct Aside {
    Turns *turns;
    explicit Aside(Turns *turns) : turns(turns) {
      if (turns)
        turns->stepAside();
    }
    ~Aside() {
      if (turns)
        turns->comeBack();
    }
  } aside(pimpl->turns.get());
  while (!holds()) {
    if (pimpl->jobFailed() && !holds()) {
      BlockedGroup group;
      group.kind = "host wait";
      group.address = describe(signal);
      group.hasValues = true;
      group.currentValue = seen;
      group.awaitedValue = awaited;
      group.comparison = texts[comparison];
      if (comparison == NRD_CMP_EQ && seen > awaited)
        group.note = "the signal has passed the awaited value";
      pimpl->publishBlocked({group});
      Status status = pimpl->failureStatus();
      if (worldSize() == 1) {
        // Another thread that waits has yet to see the failure.
        std::unique_lock<std::mutex> guard(pimpl->stateLock);
        bool alone = pimpl->launching == 0 && pimpl->hostWaiting == 1;
        guard.unlock();
        if (alone)
          pimpl->resetFailure();
      }
      return status;
    }
    waiting.pass();
    if (backoff.isSlow()) {
      pimpl->watch->tick(wait, pimpl->settings.timeoutSeconds);
      uint64_t now = nowNs();
      if (now >= nextInterrupt) {
        nextInterrupt = now + 20000000;
        if (interruptRequested()) {
          FailureDetail detail;
          detail.code = StatusCode::Interrupted;
          detail.message =
              "interrupted while rank " + std::to_string(rank()) + " waited in " + what;
          detail.rank = rank();
          pimpl->publishFailure(detail);
          Status status = pimpl->failureStatus();
          if (worldSize() == 1)
            pimpl->resetFailure();
          return status;
        }
      }
    }
    backoff.step();
  }
  return {};
}

} // namespace nereid::runtime
