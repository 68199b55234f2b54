// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PeerWatch.h - Notices that the process of a rank has ended ---------===//
#ifndef NEREID_RUNTIME_CONTROL_MACHINE_PEERWATCH_H
#define NEREID_RUNTIME_CONTROL_MACHINE_PEERWATCH_H

#include "control/machine/ControlBlock.h"

#include <vector>

namespace nereid::runtime {

/// Watches the other ranks' processes, through process descriptors where the
/// kernel has them, else by process id and start time. Needs no launcher.
class PeerWatch {
public:
  /// Those from `first` up to `end`, without `rank`.
  PeerWatch(ControlBlock control, int32_t rank, int32_t first, int32_t end);
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

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_CONTROL_MACHINE_PEERWATCH_H
