// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostTurns.h - Random schedules outside of launches -----------------===//
//
// Two things of a rank go on while it is in no launch:
//
//   - its host code. Calls of the host that end a launch, and some of those that
//     end a collective or change symmetric memory, wait for a turn
//     (Job::Impl::giveWay), so that what the host does next may come late, after
//     much that the programs of other ranks do:
//
//       rank 0   launch ░░░░░░░░░░░░░░ flag.zero_()      ░ waits for its turn
//       rank 1   launch, launch: notify(flag, 0)
//
//   - transfers that the last launch has left pending. A thread takes turns for
//     them while the host is blocked; a barrier, or a launch, needs no help.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_SYMMETRIC_HOSTTURNS_H
#define NEREID_RUNTIME_SYMMETRIC_HOSTTURNS_H

#include "symmetric/JobImpl.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace nereid::runtime {

/// Turns that a host which waits for one sits out, for a number that has been
/// drawn.
inline uint64_t hostPause(uint64_t drawn) {
  constexpr uint64_t kPauses[] = {0, 0, 8, 64};
  return kPauses[drawn % 4];
}

class LateTransfers {
public:
  explicit LateTransfers(Job::Impl &job);
  ~LateTransfers();
  LateTransfers(const LateTransfers &) = delete;
  LateTransfers &operator=(const LateTransfers &) = delete;

  /// A launch has ended; what it has left pending goes on.
  void launchEnded();
  /// Takes no more turns; the rank leaves its job.
  void stop();

private:
  void threadMain();

  Job::Impl &job;
  std::mutex lock; ///< guards what follows
  std::condition_variable wake;
  std::thread thread; ///< started when it is needed first
  int32_t owner = 0;  ///< the process that started it
  bool stopping = false;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_SYMMETRIC_HOSTTURNS_H
