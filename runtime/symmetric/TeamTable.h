// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TeamTable.h - Teams of ranks in shared memory ----------------------===//
//
// A team is an arithmetic sequence of ranks: splitting one by a stride gives
// another. Everything starts as zero, as the rest of the control block.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_SYMMETRIC_TEAMTABLE_H
#define NEREID_RUNTIME_SYMMETRIC_TEAMTABLE_H

#include <atomic>
#include <cstdint>

namespace nereid::runtime {

/// Split teams that may exist at once.
inline constexpr int32_t kMaxTeams = 256;
/// Teams that one rank may belong to: all ranks, split ones, its node, its peers
/// on other nodes.
inline constexpr int32_t kBarrierPlaces = kMaxTeams + 3;

/// A barrier among the members: arrivals at the current one (device: in the low
/// 16 bits, see device/cpu/Barriers.cpp), and how many are complete. Nobody can arrive at the next
/// one before it has seen the current one complete, so `epoch` + 1 is the number of the one that it
/// joins.
struct alignas(64) TeamCounter {
  std::atomic<uint64_t> arrived;
  alignas(64) std::atomic<uint64_t> epoch;
};

/// What a member passes to a collective; all must pass the same.
struct alignas(64) TeamCall {
  std::atomic<uint64_t> bytes;
  std::atomic<uint64_t> root;
};

struct TeamSlot {
  std::atomic<uint32_t> used; ///< 0 free, 1 being made, 2 a team, 3 destroyed
  /// How often the slot has been given back; part of the handle.
  std::atomic<uint32_t> generation;
  int32_t start;  ///< rank of member 0
  int32_t stride; ///< from one member's rank to the next one's
  int32_t size;
  /// Handles that the last split of this team made.
  std::atomic<int32_t> made[2];
  TeamCounter host;
  TeamCounter device;
  /// The call of member 0, by parity of the barrier's number.
  TeamCall call[2];
};

/// A team as one rank sees it.
struct Team {
  TeamSlot *slot = nullptr; ///< null: no such team
  int32_t handle = -1;
  int32_t place = 0; ///< of the team among those of a rank, below kBarrierPlaces
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

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_SYMMETRIC_TEAMTABLE_H
