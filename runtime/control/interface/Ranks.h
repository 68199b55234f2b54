// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Ranks.h - What a rank says of itself -------------------------------===//
//
// A rank writes its RankFacts as it goes, by stores to memory of its own; the
// control plane shows them to the other ranks, which get a copy (RankReport).
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_CONTROL_INTERFACE_RANKS_H
#define NEREID_RUNTIME_CONTROL_INTERFACE_RANKS_H

#include <atomic>
#include <cstdint>
#include <optional>

namespace nereid::runtime {

inline constexpr int32_t kMaxRanks = 4096;
inline constexpr int32_t kMaxHostWaits = 16;
inline constexpr uint64_t kMaxAddressBytes = 1024;
/// Of what a device shares with those of other ranks.
inline constexpr uint64_t kDeviceAreaBytes = 9 * 4096;

static_assert(std::atomic<uint64_t>::is_always_lock_free &&
              std::atomic<uint32_t>::is_always_lock_free);

/// What a rank is doing, as far as the others need to know.
enum class RankState : uint32_t {
  Absent = 0, ///< has not joined yet
  Host,       ///< runs host code
  Launch,     ///< inside launch()
  Collective, ///< waits inside a host collective
  HostWait,   ///< host code waits for a signal
  Finalized,  ///< left in good order
  Left,       ///< left without finalizing
  Dead,       ///< its process is gone
};
inline bool isGone(RankState state) { return state >= RankState::Finalized; }

/// All zero at first. Only `state` is written by others than the rank itself:
/// whoever finds it dead says so.
struct alignas(64) RankFacts {
  std::atomic<uint32_t> state; // RankState
  /// Host code runs beside the launch: it may still write signals.
  std::atomic<uint32_t> hostBusy;
  std::atomic<uint64_t> collectives; ///< host collectives entered
  std::atomic<uint64_t> launches;    ///< launches entered
  /// Barriers of programs that it has arrived at since the start.
  std::atomic<uint64_t> barriers;
  /// Threads inside a launch, and inside a host collective or a wait for a
  /// signal; hostMoves is bumped whenever a thread enters or leaves one of these.
  std::atomic<uint32_t> launching;
  std::atomic<uint32_t> hostWaiting;
  std::atomic<uint64_t> hostMoves;
  /// Threads of streams that have something to do, and how many of them are
  /// inside a launch, a host collective or a wait for a signal.
  std::atomic<uint32_t> streamsAtWork;
  std::atomic<uint32_t> streamsInside;
  /// Operations of this rank that are still under way.
  std::atomic<uint64_t> inFlight;
};

/// A copy of another rank's facts. Each was read after those before it.
struct RankReport {
  RankState state = RankState::Absent;
  uint64_t launches = 0, collectives = 0, barriers = 0, hostMoves = 0, inFlight = 0;
  bool hostBusy = false;
  uint32_t streamsInside = 0, streamsAtWork = 0;
  uint32_t hostWaiting = 0, launching = 0;
  /// Only of ranks of other machines: processor time of the process in ticks of 10 ms,
  /// and what tells that its programs have moved (ControlPlane::readAreasBy).
  uint64_t cpuTicks = 0, moves = 0;
};

/// How a rank's process ended, as far as is known.
struct Departure {
  int32_t process = 0;
  /// As from waitpid(); only where a launcher watches the processes.
  std::optional<int> waitStatus;
};

/// One wait of the rank's host code: for a signal, or in a host collective.
struct HostWaitSlot {
  std::atomic<uint32_t> active;
  /// Looks that have found it not to be over. Never goes back.
  std::atomic<uint64_t> passes;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_CONTROL_INTERFACE_RANKS_H
