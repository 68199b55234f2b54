// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Teams.h - Barriers and collectives of teams inside a launch --------===//
//
//   programs of a rank                     ranks of the team
//
//   p0 p1 p2 ── LaunchTeam::arrived ──▶ JobControl::arrive ────▶ epoch + 1
//                                                                   │
//   p0 p1 p2 ◀─ LaunchTeam::generation ◀────────────────────────────┘
//
// Under a profile with one program per rank the left column is one program.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_DEVICE_CPU_TEAMS_H
#define NEREID_RUNTIME_DEVICE_CPU_TEAMS_H

#include "control/interface/Teams.h"
#include "device/cpu/Program.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

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
  /// Barriers that this rank has been at; only touched by the last program to
  /// arrive.
  uint64_t index = 0;
  LaunchTeam *next = nullptr; ///< of LaunchTeams

  /// Whether the barrier that a program of this `generation` waits in is over.
  bool isComplete(uint64_t joined) {
    if (generation.load(std::memory_order_acquire) != joined)
      return true;
    uint64_t number = target.load(std::memory_order_acquire);
    if (number == 0 || team.barriers() < number)
      return false;
    // The first to see it lets this rank's programs go.
    target.compare_exchange_strong(number, 0, std::memory_order_acq_rel);
    generation.compare_exchange_strong(joined, joined + 1, std::memory_order_acq_rel);
    return true;
  }
};

/// The teams that a launch has met in; addresses stay.
class LaunchTeams {
public:
  /// `world` is the first of them.
  explicit LaunchTeams(LaunchTeam &world) : first(&world) {}

  LaunchTeam &of(const Team &team) {
    // Several handles may name the same ranks; they share their barriers.
    for (LaunchTeam *t = first.load(std::memory_order_seq_cst); t; t = t->next)
      if (t->team.key == team.key)
        return *t;
    return add(team);
  }
  /// Calls `visit` for each team.
  template <typename Visit> void each(Visit visit) const {
    for (LaunchTeam *t = first.load(std::memory_order_seq_cst); t; t = t->next)
      visit(*t);
  }
  /// Programs of this rank wait for others of it at a barrier.
  bool anyArrived() const {
    for (LaunchTeam *t = first.load(std::memory_order_seq_cst); t; t = t->next)
      if (t->arrived.load(std::memory_order_seq_cst))
        return true;
    return false;
  }

private:
  LaunchTeam &add(const Team &team) {
    std::lock_guard<std::mutex> guard(lock);
    for (std::unique_ptr<LaunchTeam> &t : made)
      if (t->team.key == team.key)
        return *t;
    made.push_back(std::make_unique<LaunchTeam>(team));
    made.back()->next = first.load(std::memory_order_relaxed);
    first.store(made.back().get(), std::memory_order_seq_cst);
    return *made.back();
  }

  std::atomic<LaunchTeam *> first;
  std::mutex lock;
  std::vector<std::unique_ptr<LaunchTeam>> made;
};

/// Values on their way from vector core 0 of a program to vector core 1.
struct alignas(64) LaneBox {
  static constexpr uint64_t kSlots = 8;
  std::atomic<uint64_t> written{0};
  std::atomic<uint64_t> taken{0};
  uint64_t values[kSlots];
};

/// Who is missing, for the account of a program that waits.
std::string describeBarrierWait(const LaunchState &launch, const LaunchTeam &team);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_TEAMS_H
