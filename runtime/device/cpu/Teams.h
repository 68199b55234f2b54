// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Teams.h - Barriers and collectives of teams inside a launch --------===//
//
//   programs of a rank                     ranks of the team
//
//   p0 p1 p2 ── LaunchTeam::arrived ──▶ TeamCounter::arrived ──▶ epoch + 1
//                                                                   │
//   p0 p1 p2 ◀─ LaunchTeam::generation ◀────────────────────────────┘
//
// Under a profile with one program per rank the left column is one program.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_DEVICE_CPU_TEAMS_H
#define NEREID_RUNTIME_DEVICE_CPU_TEAMS_H

#include "device/cpu/Program.h"
#include "symmetric/TeamTable.h"

#include <map>
#include <memory>
#include <mutex>

namespace nereid::runtime {

/// A team in one launch of one rank.
struct LaunchTeam {
  explicit LaunchTeam(const Team &team) : team(team) {}

  Team team;
  /// Programs of this rank at the current barrier, in vector cores.
  alignas(64) std::atomic<uint64_t> arrived{0};
  std::atomic<uint64_t> generation{0};
  /// The barrier of the ranks that this rank waits for; 0 = none.
  std::atomic<uint64_t> target{0};
  /// One program per rank: 1 + number of the program that is in a barrier.
  std::atomic<uint64_t> inside{0};

  /// Whether the barrier that a program of this `generation` waits in is over.
  bool isComplete(uint64_t joined) {
    if (generation.load(std::memory_order_acquire) != joined)
      return true;
    uint64_t number = target.load(std::memory_order_acquire);
    if (number == 0 || team.slot->device.epoch.load(std::memory_order_acquire) < number)
      return false;
    // The first to see it lets this rank's programs go.
    target.compare_exchange_strong(number, 0, std::memory_order_acq_rel);
    generation.compare_exchange_strong(joined, joined + 1, std::memory_order_acq_rel);
    return true;
  }
};

/// What the launch keeps for teams and vector cores; addresses stay.
class LaunchTeams {
public:
  LaunchTeam &of(const Team &team) {
    std::lock_guard<std::mutex> guard(lock);
    std::unique_ptr<LaunchTeam> &entry = byHandle[team.handle];
    if (!entry)
      entry = std::make_unique<LaunchTeam>(team);
    return *entry;
  }
  /// Calls `visit` for each team.
  template <typename Visit> void each(Visit visit) {
    std::lock_guard<std::mutex> guard(lock);
    for (auto &entry : byHandle)
      visit(*entry.second);
  }
  /// Vector cores of this rank that wait for others of it at a team's barrier.
  std::atomic<uint64_t> waiting{0};

private:
  std::mutex lock;
  std::map<int32_t, std::unique_ptr<LaunchTeam>> byHandle;
};

/// Values on their way from vector core 0 of a program to vector core 1.
struct alignas(64) LaneBox {
  static constexpr uint64_t kSlots = 8;
  std::atomic<uint64_t> written{0};
  std::atomic<uint64_t> taken{0};
  uint64_t values[kSlots];
};

/// The launch fails since programs that have ended are missing at a barrier of
/// a team; `ended` is the one that made it certain, if any.
void reportMissingAtTeam(LaunchState &launch, const Program *ended);
/// Who is missing, for the account of a program that waits.
std::string describeTeamWait(const LaunchState &launch, const LaunchTeam &team);

/// barrier_all and sync_all under a profile with one program per rank.
void barrierOfOneProgram(Program &p, const char *what, uint32_t site);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_TEAMS_H
