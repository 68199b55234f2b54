// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlBlock.h - What the ranks of a job share ---------------------===//
//
// The first pages of a job's memory segment. Everything in it is either a
// lock-free atomic or plain data that one rank writes and then publishes
// through an atomic; a rank that is killed at any instruction leaves nothing
// locked.
//
//   +-----------+------------+-----+--------------+--------+--------+-----
//   | JobHeader | RankSlot 0 | ... | DeviceArea 0 | ...    | heap 0 | ...
//   +-----------+------------+-----+--------------+--------+--------+-----
//
// What stands in a DeviceArea is the business of the device alone (Device.h).
//
// The segment is a fresh memfd, so everything starts as zero; zero is a valid
// first state of every field.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_SYMMETRIC_CONTROLBLOCK_H
#define NEREID_RUNTIME_SYMMETRIC_CONTROLBLOCK_H

#include "nereid/runtime/Device.h"
#include "symmetric/TeamTable.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace nereid::runtime {

inline constexpr uint64_t kSegmentMagic = 0x314449455245'4e21; // "!NEREID1"
inline constexpr uint32_t kSegmentVersion = 7;
inline constexpr int32_t kMaxHostWaits = 16;
inline constexpr int32_t kMaxRecords = 48;
inline constexpr int32_t kMaxRanks = 4096;

static_assert(std::atomic<uint64_t>::is_always_lock_free &&
              std::atomic<uint32_t>::is_always_lock_free);

/// Text in shared memory: cut to fit, always zero-terminated.
template <size_t N> struct SharedText {
  char bytes[N];

  void set(std::string_view text) {
    size_t n = text.size() < N - 1 ? text.size() : N - 1;
    std::memcpy(bytes, text.data(), n);
    bytes[n] = 0;
    if (n < text.size() && N > 4)
      std::memcpy(bytes + N - 4, "...", 3);
  }
  std::string str() const { return std::string(bytes, strnlen(bytes, N)); }
};

struct SharedSite {
  int32_t line;
  int32_t column;
  SharedText<240> file;
  SharedText<80> function;
  SharedText<200> text;
};

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

/// One wait of the rank's host code: for a signal, or in a host collective.
struct HostWaitSlot {
  std::atomic<uint32_t> active;
  /// Looks that have found it not to be over. Never goes back.
  std::atomic<uint64_t> passes;
};

/// Where a rank has last arrived in the barriers of programs of one team.
struct BarrierPlace {
  std::atomic<uint64_t> number; ///< of the team's barrier
  /// Which barrier of which kernel: hash << 32 | position in the launch.
  std::atomic<uint64_t> id;
};

/// One line of a rank's account of who waits for what.
struct BlockedRecord {
  SharedText<24> kind;
  SharedText<160> programs;
  int64_t programCount;
  SharedText<200> address;
  int32_t hasValues;
  int64_t currentValue;
  int64_t awaitedValue;
  SharedText<4> comparison;
  SharedText<160> note;
  SharedSite site;
};

/// A host collective as its rank asked for it.
struct CollectiveRequest {
  SharedText<400> text;
  /// Where its program asked, once `placed` is the collective's number: written only
  /// when the requests differ.
  SharedText<240> where;
  std::atomic<uint64_t> placed;
};

struct alignas(64) RankSlot {
  std::atomic<int32_t> pid;
  std::atomic<uint32_t> state;       // RankState
  std::atomic<uint64_t> startTime;   // of the process, clock ticks since boot
  std::atomic<uint64_t> collectives; // host collectives entered
  std::atomic<uint64_t> launches;    // launches entered
  /// Host code runs beside the launch: it may still write signals.
  std::atomic<uint32_t> hostBusy;
  /// Threads of streams that have something to do, and how many of them are
  /// inside a launch, a host collective or a wait for a signal.
  std::atomic<uint32_t> streamsAtWork;
  std::atomic<uint32_t> streamsInside;
  /// Threads inside a launch, and inside a host collective or a wait for a
  /// signal; hostMoves is bumped whenever a thread enters or leaves one of these.
  std::atomic<uint32_t> launching;
  std::atomic<uint32_t> hostWaiting;
  std::atomic<uint64_t> hostMoves;
  /// How its process ended, when the launcher knows: 1 + wait status.
  std::atomic<uint32_t> exitStatus;
  /// Barriers of programs that it has arrived at since the start.
  std::atomic<uint64_t> barriers;
  /// Number of the failure that `records` are about.
  std::atomic<uint64_t> reported;
  std::atomic<uint64_t> recoveryHash;
  /// Random schedules (Turns.h): bumped when it gets the turn (a futex); what it
  /// wants turns for (Turns::Wants); the host collective that it waits in, or 0;
  /// it had nothing to do at this count of work, plus 1; the count of work up to
  /// which it sits out; the others do not wait for its host code; its priority.
  std::atomic<uint32_t> turn;
  std::atomic<uint32_t> wantsTurns;
  std::atomic<uint64_t> waitsIn;
  std::atomic<uint64_t> idleAt;
  std::atomic<uint64_t> sitsOut;
  std::atomic<uint32_t> leftOut;
  std::atomic<int64_t> priority;
  /// Operations of this rank that are still under way.
  std::atomic<uint64_t> inFlight;
  /// Its last arrival in each team, by Team::place.
  BarrierPlace barrierAt[kBarrierPlaces];
  /// What it asked for in a host collective of a team.
  SharedText<400> teamRequest;
  /// Teams of this rank's node when it is the first there, and of the ranks
  /// with its number on other nodes when it is on the first node.
  TeamSlot nodeTeam;
  TeamSlot peersTeam;
  int32_t recordCount;
  CollectiveRequest requests[2]; // by parity of the collective's number
  BlockedRecord records[kMaxRecords];
  HostWaitSlot hostWaits[kMaxHostWaits];
};

/// The first failure of the job. state: 0 none, 1 being written, 2 readable.
struct alignas(64) FailureCell {
  std::atomic<uint32_t> state;
  std::atomic<uint64_t> number;
  uint32_t code;
  int32_t rank;
  int32_t program[3];
  SharedText<128> kernel;
  SharedText<2048> message;
  SharedSite site;
};

/// A counter that many write, alone on its line.
struct alignas(64) PaddedCounter {
  std::atomic<uint64_t> value;
};

/// Whose turn it is under a random schedule (Turns.h). Only who holds the turn
/// changes the rest.
struct alignas(64) TurnState {
  std::atomic<uint32_t> holder;    // 1 + rank; 0 nobody
  std::atomic<uint32_t> burst;     // turns that `last` gets before the next draw
  std::atomic<uint32_t> last;      // had the last turn
  std::atomic<uint64_t> random;    // state of the generator; 0 = not seeded
  std::atomic<uint64_t> work;      // turns with progress
  std::atomic<uint64_t> fruitless; // turns without, since the last one with
  // How the next rank is drawn, and up to which count of work.
  std::atomic<uint64_t> phase;
  std::atomic<uint64_t> phaseEnds;
  std::atomic<uint32_t> byPriority;
  std::atomic<uint64_t> changeEvery; // turns between two changes; 0: never
  std::atomic<int64_t> lowest;       // the lowest priority so far
  /// A rank's host code was left out: the order is not the seed's any more, and
  /// waiting for hosts would only cost time.
  std::atomic<uint32_t> hostsFree;
};

struct JobHeader {
  uint64_t magic;
  uint32_t version;
  int32_t worldSize;
  uint64_t heapBytes;
  uint64_t controlBytes;
  /// 1 when a launcher watches the processes and fills in exitStatus.
  std::atomic<uint32_t> hasLauncher;
  /// What all ranks must agree on, set by whoever comes first; 0 = nobody has.
  std::atomic<uint64_t> ranksPerNode; // 1 + the setting
  std::atomic<uint64_t> schedule;     // 1 = fifo, 2 + seed
  std::atomic<uint64_t> profile;      // 1 + its row of targetProfiles
  std::atomic<uint64_t> transport;    // hash of its name

  /// Barrier of the hosts.
  PaddedCounter hostArrived;
  PaddedCounter hostEpoch;
  /// Barrier that ends a failure.
  PaddedCounter recoverArrived;
  PaddedCounter recoverEpoch;
  TurnState turns;
  TeamSlot worldTeam;
  TeamSlot teams[kMaxTeams];
  FailureCell failure;
  /// Texts that ranks have printed, so that the same one is not printed by each:
  /// 48 bits of a hash, then 1 + the rank. 0 = free.
  std::atomic<uint64_t> printed[16];
};

/// Addresses inside a mapped segment.
class ControlBlock {
public:
  ControlBlock() = default;
  explicit ControlBlock(uint8_t *base) : base(base) {}

  static constexpr uint64_t headerBytes() { return (sizeof(JobHeader) + 4095) / 4096 * 4096; }
  static constexpr uint64_t slotsBytes(int32_t worldSize) {
    return (uint64_t(worldSize) * sizeof(RankSlot) + 4095) / 4096 * 4096;
  }
  static constexpr uint64_t bytesFor(int32_t worldSize) {
    return headerBytes() + slotsBytes(worldSize) + uint64_t(worldSize) * sizeof(DeviceArea);
  }

  JobHeader &header() const { return *reinterpret_cast<JobHeader *>(base); }
  RankSlot &rank(int32_t r) const { return reinterpret_cast<RankSlot *>(base + headerBytes())[r]; }
  DeviceArea &deviceArea(int32_t r) const {
    uint8_t *areas = base + headerBytes() + slotsBytes(header().worldSize);
    return reinterpret_cast<DeviceArea *>(areas)[r];
  }
  RankState stateOf(int32_t r) const {
    return RankState(rank(r).state.load(std::memory_order_acquire));
  }
  explicit operator bool() const { return base != nullptr; }

private:
  uint8_t *base = nullptr;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_SYMMETRIC_CONTROLBLOCK_H
