// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostWait.h - How host code waits -----------------------------------===//
#ifndef NEREID_RUNTIME_SYMMETRIC_HOSTWAIT_H
#define NEREID_RUNTIME_SYMMETRIC_HOSTWAIT_H

#include "symmetric/JobWatch.h"

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

/// The wait for barrier `number` of the hosts of a team, of which `epoch` are
/// complete.
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

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_SYMMETRIC_HOSTWAIT_H
