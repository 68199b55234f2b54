// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "control/machine/PeerWatch.h"

#include "base/Process.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace nereid::runtime {

PeerWatch::PeerWatch(ControlBlock control, int32_t rank, int32_t first, int32_t end)
    : control(control) {
  for (int32_t r = first; r < end; ++r)
    if (r != rank)
      peers.push_back({r});
}

void PeerWatch::open(Peer &peer) {
  // A rank that has joined has filled in its process before.
  if (control.stateOf(peer.rank) == RankState::Absent)
    return;
  peer.pid = control.rank(peer.rank).pid.load(std::memory_order_acquire);
  peer.startTime = control.rank(peer.rank).startTime.load(std::memory_order_acquire);
  peer.opened = true;
  if (peer.pid == int32_t(getpid())) {
    peer.done = true; // ranks of this very process end by their destructors
    return;
  }
#ifdef SYS_pidfd_open
  peer.fd = int(syscall(SYS_pidfd_open, peer.pid, 0));
  if (peer.fd >= 0 && processStartTime(peer.pid) != peer.startTime) {
    // Either it has ended already or the number belongs to someone else.
    close(peer.fd);
    peer.fd = -1;
  }
#endif
}

PeerWatch::~PeerWatch() {
  for (Peer &peer : peers)
    if (peer.fd >= 0)
      close(peer.fd);
}

std::vector<int32_t> PeerWatch::newlyDead() {
  std::vector<int32_t> out;
  for (Peer &peer : peers) {
    if (!peer.opened)
      open(peer);
    if (!peer.opened || peer.done)
      continue;
    bool ended;
    if (peer.fd >= 0) {
      pollfd p{peer.fd, POLLIN, 0};
      ended = poll(&p, 1, 0) > 0;
    } else {
      ended = processStartTime(peer.pid) != peer.startTime;
    }
    if (!ended)
      continue;
    peer.done = true;
    RankState state = control.stateOf(peer.rank);
    if (!isGone(state) || state == RankState::Dead)
      out.push_back(peer.rank);
  }
  return out;
}

} // namespace nereid::runtime
