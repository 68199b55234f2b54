// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "symmetric/PeerWatch.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nereid::runtime {

/// Reads fields `first`.. of a stat file, counting from 1 as proc(5) does.
static bool readStat(const char *path, int first, int count, uint64_t *out) {
  FILE *file = std::fopen(path, "re");
  if (!file)
    return false;
  char text[1024];
  size_t n = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  text[n] = 0;
  // The command name is in parentheses and may hold anything.
  char *at = std::strrchr(text, ')');
  if (!at || at[1] == 0 || at[2] == 'Z' || at[2] == 'X')
    return false;
  ++at;
  for (int field = 3; field < first && at; ++field)
    at = std::strchr(at + 1, ' ');
  for (int i = 0; i < count; ++i) {
    if (!at)
      return false;
    out[i] = std::strtoull(at + 1, &at, 10);
  }
  return true;
}

uint64_t processStartTime(int32_t pid) {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%d/stat", int(pid));
  uint64_t start = 0;
  return readStat(path, 22, 1, &start) ? start : 0;
}

uint64_t threadCpuTicks(int32_t pid, int32_t thread) {
  char path[96];
  std::snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", int(pid), int(thread));
  uint64_t times[2] = {0, 0};
  return readStat(path, 14, 2, times) ? times[0] + times[1] : 0;
}

uint64_t processCpuTicks(int32_t pid, bool &sleeps) {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%d/stat", int(pid));
  sleeps = false;
  if (FILE *file = std::fopen(path, "re")) {
    char text[256];
    size_t n = std::fread(text, 1, sizeof(text) - 1, file);
    std::fclose(file);
    text[n] = 0;
    const char *at = std::strrchr(text, ')');
    sleeps = at && at[1] && at[2] == 'S';
  }
  uint64_t times[2] = {0, 0};
  return readStat(path, 14, 2, times) ? times[0] + times[1] : 0;
}

std::string exitText(int waitStatus) {
  if (WIFSIGNALED(waitStatus)) {
    int sig = WTERMSIG(waitStatus);
    return "was killed by signal " + std::to_string(sig) + " (" + strsignal(sig) + ")";
  }
  return "exited with code " + std::to_string(WEXITSTATUS(waitStatus));
}

PeerWatch::PeerWatch(ControlBlock control, int32_t rank, int32_t worldSize) : control(control) {
  for (int32_t r = 0; r < worldSize; ++r)
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
