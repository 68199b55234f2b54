// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JobWatch.h - Notices that a wait cannot end ------------------------===//
//
// Whoever waits for long calls tick() now and then. It looks for
//
//   - ranks whose process has ended, or that left while they are needed;
//   - deadlock: every rank is in a launch with all its programs blocked, in a
//     barrier of the hosts of the job or of a team, in a wait of the host for a
//     signal, or gone; and between two looks no worker and no host has moved
//     while each of them re-checked all its waits in vain;
//   - a whole job in which nothing has moved for the time-out.
//
// What it finds becomes the failure of the job.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_SYMMETRIC_JOBWATCH_H
#define NEREID_RUNTIME_SYMMETRIC_JOBWATCH_H

#include "symmetric/JobImpl.h"

#include <atomic>
#include <mutex>

namespace nereid::runtime {

/// What a thread of this rank waits for. A rank may leave as soon as it has done
/// its part, so whoever sees one gone asks afterwards, never before, whether it
/// is still needed.
class Awaited {
public:
  virtual ~Awaited() = default;
  /// For messages: "kernel 'name'", "the host collective barrier()".
  virtual std::string what() const = 0;
  /// Looks; true when it has come.
  virtual bool isOver() = 0;
  /// Whether it cannot come without something that `rank` has yet to do, as far
  /// as can be known: nobody knows who sends a signal.
  virtual bool needs(int32_t rank) = 0;
};

class JobWatch {
public:
  explicit JobWatch(Job::Impl &job);

  /// Cheap when called too often: looks at most every 10 ms.
  void tick(Awaited &wait, double timeoutSeconds);

private:
  /// Everything that must stand still in a deadlock.
  struct Snapshot {
    std::vector<uint64_t> steady;
    std::vector<uint64_t> idlePasses;
    /// Workers with spin loops of their own, which may be computing instead.
    struct Poller {
      int32_t pid, thread;
      uint64_t passes, cpuTicks;
    };
    std::vector<Poller> pollers;
    bool certain = false;   ///< nobody runs, polls or is in host code
    int32_t computing = -1; ///< a rank with a worker that runs a program
    bool gone = false;      ///< some rank has left
    bool programs = false;  ///< programs of launches are among those that wait
  };
  Snapshot look() const;
  bool checkRanks(Awaited &wait);
  std::string howItLeft(int32_t rank, RankState state) const;
  std::string deadlockText(const Snapshot &now) const;
  std::string goneText() const;
  bool pollersMoved(Snapshot &current) const;
  bool hostsWorked(uint64_t now);
  void failWith(StatusCode code, std::string message, int32_t rank);

  Job::Impl &job;
  std::mutex lock;
  std::atomic<uint64_t> nextLook{0};
  Snapshot last;
  /// Processor time of each rank in host code, as it was at some moment.
  struct HostWork {
    uint64_t cpuTicks = 0, since = 0;
    bool wantedCore = false;
  };
  std::vector<HostWork> hostWork;
  uint64_t lastPeers = 0;
  uint64_t steadySince = 0;
  uint64_t certainSince = 0;
  std::vector<uint64_t> certainPasses;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_SYMMETRIC_JOBWATCH_H
