// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostWait.h - How host code waits -----------------------------------===//
#ifndef NEREID_RUNTIME_SYMMETRIC_HOSTWAIT_H
#define NEREID_RUNTIME_SYMMETRIC_HOSTWAIT_H

#include "symmetric/JobWatch.h"

#include <functional>

namespace nereid::runtime {

/// One wait of host code: a barrier among hosts, a signal, a recovery. While it
/// lasts it is listed among those that the search for deadlocks looks at.
class HostWait : public Awaited {
public:
  explicit HostWait(Job::Impl &job) : job(job) {}

  /// Waits until isOver(). Otherwise the failure of the job, whether it came
  /// from outside, from the watch over the job or from the user (Ctrl-C).
  Status run(double timeoutSeconds);

protected:
  /// What this wait adds to the report of a failure.
  virtual BlockedGroup account() const = 0;
  /// Looks whether the wait has to end without what it waits for: the job has
  /// failed. `slow`: it takes long enough for a look at the other ranks and at
  /// whether the user wants to stop.
  virtual Status look(bool slow, double timeoutSeconds);

  Job::Impl &job;

private:
  uint64_t nextInterrupt = 0;
};

/// A barrier counter of which `arrived` counts up to a number of members and
/// `epoch` the barriers that are complete; this is the wait for barrier `number`.
class HostBarrierWait : public HostWait {
public:
  HostBarrierWait(Job::Impl &job, std::string_view request, const std::atomic<uint64_t> &epoch,
                  uint64_t number, const Team &members)
      : HostWait(job), request(request), epoch(epoch), number(number), members(members) {}

  std::string what() const override { return "the host collective " + std::string(request); }
  bool isOver() override { return epoch.load(std::memory_order_acquire) >= number; }
  bool needs(int32_t rank) override { return !isOver() && members.memberOf(rank) >= 0; }

protected:
  BlockedGroup account() const override;

private:
  std::string_view request;
  const std::atomic<uint64_t> &epoch;
  const uint64_t number;
  const Team members;
};

/// Arrives at the barrier whose number is `number`; true for the last one, who
/// has then completed it. `epoch` says so to the others, after `complete`.
bool arriveAt(std::atomic<uint64_t> &arrived, std::atomic<uint64_t> &epoch, uint64_t members,
              uint64_t number, const std::function<void()> &complete = {});

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_SYMMETRIC_HOSTWAIT_H
