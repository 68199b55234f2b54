// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PeerWatch.h - Notices that the process of a rank has ended ---------===//
#ifndef NEREID_RUNTIME_SYMMETRIC_PEERWATCH_H
#define NEREID_RUNTIME_SYMMETRIC_PEERWATCH_H

#include "symmetric/ControlBlock.h"

#include <vector>

namespace nereid::runtime {

/// Watches the other ranks' processes, through process descriptors where the
/// kernel has them, else by process id and start time. Needs no launcher.
class PeerWatch {
public:
  PeerWatch(ControlBlock control, int32_t rank, int32_t worldSize);
  ~PeerWatch();
  PeerWatch(const PeerWatch &) = delete;
  PeerWatch &operator=(const PeerWatch &) = delete;

  /// Ranks whose process has ended although the control block does not say so
  /// yet. Each is reported once.
  std::vector<int32_t> newlyDead();

private:
  struct Peer {
    int32_t rank;
    int32_t pid = 0;
    uint64_t startTime = 0;
    int fd = -1;
    bool opened = false;
    bool done = false; ///< reported, or not to be watched
  };
  void open(Peer &peer);

  ControlBlock control;
  std::vector<Peer> peers;
};

/// Start time of a process in clock ticks since boot; 0 when it does not run
/// (a zombie does not run either).
uint64_t processStartTime(int32_t pid);

/// User and system time that a thread has used, in clock ticks (10 ms); 0 when
/// it does not run.
uint64_t threadCpuTicks(int32_t pid, int32_t thread);

/// The same for a whole process; `sleeps` says whether its first thread waits
/// for something.
uint64_t processCpuTicks(int32_t pid, bool &sleeps);

/// "was killed by signal 9 (Killed)" / "exited with code 3" from a wait status.
std::string exitText(int waitStatus);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_SYMMETRIC_PEERWATCH_H
