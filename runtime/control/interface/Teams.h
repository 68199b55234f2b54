// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Teams.h - Teams of ranks -------------------------------------------===//
//
// A team is an arithmetic sequence of ranks: splitting one by a stride gives
// another. Its key is its number in the control plane:
//
//   0                 all ranks
//   1 .. kMaxTeams    made by splitting
//   above             two for each rank r: the node whose first rank is r, and
//                     the ranks that have the number of r on other nodes
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_CONTROL_INTERFACE_TEAMS_H
#define NEREID_RUNTIME_CONTROL_INTERFACE_TEAMS_H

#include <atomic>
#include <cstdint>

namespace nereid::runtime {

/// Split teams that may exist at once.
inline constexpr int32_t kMaxTeams = 256;
/// After so many teams of one key the first generation comes again.
inline constexpr uint32_t kGenerations = 1u << 18;
/// Teams that one rank may belong to: all ranks, split ones, its node, its peers
/// on other nodes.
inline constexpr int32_t kBarrierPlaces = kMaxTeams + 3;

using TeamKey = int32_t;
inline constexpr TeamKey kNoTeam = -1, kWorldTeam = 0;
/// The node whose first rank is `rank`; the peers on other nodes of `rank`, which
/// is on the first.
constexpr TeamKey nodeTeam(int32_t rank) { return kMaxTeams + 1 + 2 * rank; }
constexpr TeamKey peersTeam(int32_t rank) { return kMaxTeams + 2 + 2 * rank; }
constexpr TeamKey splitTeam(int32_t index) { return index + 1; }
/// Of the team among those of a rank, below kBarrierPlaces.
constexpr int32_t placeOf(TeamKey key) {
  return key <= kMaxTeams ? key : kMaxTeams + 1 + (key - kMaxTeams - 1) % 2;
}

/// Members of a team, in ranks.
struct TeamShape {
  int32_t start = 0, stride = 1, size = 0;

  int32_t rankOf(int32_t member) const { return start + member * stride; }
  /// Number of `rank` in the team, or -1.
  int32_t memberOf(int32_t rank) const {
    int32_t distance = rank - start;
    if (distance < 0 || distance % stride || distance / stride >= size)
      return -1;
    return distance / stride;
  }
};

/// A team as one rank sees it.
struct Team : TeamShape {
  TeamKey key = kNoTeam;
  int32_t handle = -1;
  /// How many barriers of its programs are complete: memory of this machine, which
  /// lives as long as the control plane. Nobody can arrive at the next barrier
  /// before it has seen the current one complete, so 1 more is the number of the
  /// barrier that a member joins.
  const std::atomic<uint64_t> *epoch = nullptr;

  explicit operator bool() const { return key != kNoTeam; }
  uint64_t barriers() const { return epoch->load(std::memory_order_acquire); }
};

/// Where a rank has last arrived in the barriers of programs of one team.
struct BarrierPoint {
  uint64_t number = 0; ///< of the team's barrier
  /// Which barrier of which kernel: hash << 32 | position in the launch.
  uint64_t id = 0;
};

/// What became of a rank's arrival at a barrier of programs.
struct BarrierArrival {
  enum Outcome : uint8_t {
    Waits,    ///< others have yet to come
    Complete, ///< this was the last one
    /// This was the last one, but not all have come with the same id. Nothing is
    /// complete before completeBarrier().
    Unlike,
  };
  Outcome outcome;
  uint64_t number; ///< of the barrier
};

/// What a member's programs pass to a collective; all must pass the same.
struct TeamCall {
  uint64_t bytes = 0;
  uint64_t root = 0;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_CONTROL_INTERFACE_TEAMS_H
