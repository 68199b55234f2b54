// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlBlock.h - What the ranks of a job share ---------------------===//
//
// The first pages of a job's memory segment. Everything in it is either a
// lock-free atomic or plain data that one rank writes and then publishes
// through an atomic; a rank that is killed at any instruction leaves nothing
// locked.
//
//   +-----------+------------+-----+---------------+--------+--------+-----
//   | JobHeader | RankSlot 0 | ... | device area 0 | ...    | heap 0 | ...
//   +-----------+------------+-----+---------------+--------+--------+-----
//
// A rank of another machine has a slot, too, which the plane of several machines
// (control/tcp) keeps up to date; its heap stays untouched. What stands in a device area is the
// business of the device alone (Device.h).
//
// The segment is a fresh memfd, so everything starts as zero; zero is a valid
// first state of every field.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_CONTROL_MACHINE_CONTROLBLOCK_H
#define NEREID_RUNTIME_CONTROL_MACHINE_CONTROLBLOCK_H

#include "control/interface/ControlPlane.h"

#include <cstring>
#include <string>
#include <string_view>

namespace nereid::runtime {

inline constexpr uint64_t kSegmentMagic = 0x314449455245'4e21; // "!NEREID1"
inline constexpr uint32_t kSegmentVersion = 11;
/// Of an account.
inline constexpr int32_t kMaxRecords = 48;

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

/// A barrier among the members of a team. `arrived`: at the current one; device: in
/// the low 16 bits, above them the sum of what mixed() makes of their ids.
struct alignas(64) TeamCounter {
  std::atomic<uint64_t> arrived;
  alignas(64) std::atomic<uint64_t> epoch; ///< how many are complete
};

struct TeamSlot {
  std::atomic<uint32_t> used; ///< 0 free, 1 being made, 2 a team, 3 destroyed
  /// How often the slot has been given back.
  std::atomic<uint32_t> generation;
  TeamShape shape;
  TeamCounter host;
  TeamCounter device;
  /// The call of member 0, by parity of the barrier's number.
  struct alignas(64) {
    std::atomic<uint64_t> bytes;
    std::atomic<uint64_t> root;
  } call[2];
};

/// A BarrierPoint that others read while it changes.
struct BarrierPlace {
  std::atomic<uint64_t> number;
  /// By the lowest bit of the number: who reads the last one may be one barrier behind.
  std::atomic<uint64_t> ids[2];
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
  RankFacts facts;
  std::atomic<int32_t> pid;
  std::atomic<uint64_t> startTime; // of the process, clock ticks since boot
  /// How its process ended, when the launcher knows: 1 + wait status.
  std::atomic<uint32_t> exitStatus;
  /// Number of the failure that `records` are about.
  std::atomic<uint64_t> reported;
  std::atomic<uint64_t> recoveryHash;
  TurnSlot turns;
  /// Its last arrival in each team, by placeOf().
  BarrierPlace barrierAt[kBarrierPlaces];
  /// What it asked for at a host barrier of a team, by the lowest bit of the
  /// barrier's number: others may still read it when this rank is at the next one.
  SharedText<400> teamRequests[2];
  /// Where its transport is found; the length plus 1, 0 as long as there is none.
  char address[kMaxAddressBytes];
  std::atomic<uint32_t> addressBytes;
  /// Numbers that another rank has left for it.
  std::atomic<int32_t> posted[2];
  /// Teams of this rank's node when it is the first there, and of the ranks
  /// with its number on other nodes when it is on the first node.
  TeamSlot nodeTeam;
  TeamSlot peersTeam;
  // Of a rank of another machine, as last heard: RankReport.
  std::atomic<uint64_t> cpuTicks;
  std::atomic<uint64_t> moves;
  /// The last call of this rank that the plane of several machines has carried out, a
  /// futex, and what came of it.
  std::atomic<uint32_t> called;
  std::atomic<uint64_t> outcome[2];
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

struct JobHeader {
  uint64_t magic;
  uint32_t version;
  int32_t worldSize;
  uint64_t heapBytes;
  uint64_t controlBytes;
  /// Control blocks of this segment: one, but where a process plays several machines.
  int32_t blocks;
  /// The process that speaks for this machine to others, and its start time; 0 when it
  /// has not begun, or there are no others.
  std::atomic<int32_t> speaker;
  std::atomic<uint64_t> speakerStart;
  /// 1 when a launcher watches the processes and fills in exitStatus.
  std::atomic<uint32_t> hasLauncher;
  /// What all ranks must agree on, set by whoever comes first; 0 = nobody has.
  std::atomic<uint64_t> settings[kJobSettings];

  /// Barrier that ends a failure.
  TeamCounter recovery;
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
    return headerBytes() + slotsBytes(worldSize) + uint64_t(worldSize) * kDeviceAreaBytes;
  }

  JobHeader &header() const { return *reinterpret_cast<JobHeader *>(base); }
  RankSlot &rank(int32_t r) const { return reinterpret_cast<RankSlot *>(base + headerBytes())[r]; }
  std::byte *deviceArea(int32_t r) const {
    uint8_t *areas = base + headerBytes() + slotsBytes(header().worldSize);
    return reinterpret_cast<std::byte *>(areas + uint64_t(r) * kDeviceAreaBytes);
  }
  RankState stateOf(int32_t r) const {
    return RankState(rank(r).facts.state.load(std::memory_order_acquire));
  }
  /// ControlPlane::rankEnded and blamedRank.
  void rankEnded(int32_t r, int waitStatus) const;
  int32_t blamedRank() const;
  explicit operator bool() const { return base != nullptr; }

private:
  uint8_t *base = nullptr;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_CONTROL_MACHINE_CONTROLBLOCK_H
