// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlPlane.h - What ranks know of each other ---------------------===//
//
// Beside the bytes that a transport moves, the ranks of a job share facts about
// themselves. They do so on two levels:
//
//   JobControl    of all ranks, wherever they run: who is there, the one failure
//                 and the accounts of it, barriers of teams, teams, settings
//                 that must agree
//   NodeControl   of the ranks of one machine: words that they all map, which
//                 processes they are, what the search for deadlocks looks at
//
//     ControlPlane (one for each job in a process: memory, launcher)
//        └─ open(rank) ─▶ RankControl { JobControl, NodeControl }
//
// What is looked at often is a word in memory of this machine: whether the job
// has failed, how many barriers of a team are complete, a rank's own facts. All
// else is a call, for events that are rare: none of them blocks for other ranks,
// but for the few whose comments say so.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_CONTROL_INTERFACE_CONTROLPLANE_H
#define NEREID_RUNTIME_CONTROL_INTERFACE_CONTROLPLANE_H

#include "control/interface/Ranks.h"
#include "control/interface/Teams.h"
#include "control/interface/TurnWords.h"
#include "nereid/runtime/Status.h"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::runtime {

/// What all ranks of a job must have set alike.
enum class JobSetting : uint8_t { RanksPerNode, Schedule, Profile, Transport };
inline constexpr int kJobSettings = 4;

/// The job as one of its ranks sees it. All calls may come from any thread.
class JobControl {
public:
  /// `failure` is 0 as long as the job has not failed; both words outlive this.
  JobControl(RankFacts &own, const std::atomic<uint32_t> &failure)
      : ownFacts(own), failureWord(failure) {}
  virtual ~JobControl() = default;
  JobControl(const JobControl &) = delete;
  JobControl &operator=(const JobControl &) = delete;

  //===--- ranks ----------------------------------------------------------===//

  /// Takes the rank's place for this process: 0, or the process that has it.
  virtual int32_t join(int32_t process) = 0;
  /// Settles `setting` unless another rank has; never 0. Returns what is settled.
  virtual uint64_t settle(JobSetting setting, uint64_t own) = 0;
  /// Where this rank's transport is found, up to kMaxAddressBytes; after join().
  virtual void publishAddress(std::string_view address) = 0;
  /// What `rank` has published; nothing if it has not, yet.
  virtual std::optional<std::string> addressOf(int32_t rank) const = 0;
  /// What this rank says of itself.
  RankFacts &own() const { return ownFacts; }
  virtual RankState stateOf(int32_t rank) const = 0;
  virtual RankReport report(int32_t rank) const = 0;
  /// Marks ranks whose process has ended, without their having said so, as dead.
  virtual void findLost() = 0;
  /// Whether the process of `rank` has ended. Dearer than stateOf().
  virtual bool hasEnded(int32_t rank) const = 0;
  /// Of a rank that is gone. Waits a moment for a launcher that has yet to tell.
  virtual Departure departureOf(int32_t rank) const = 0;

  //===--- the failure ----------------------------------------------------===//

  /// Whether any rank has reported a failure.
  bool failed() const { return failureWord.load(std::memory_order_relaxed) != 0; }
  /// Makes `detail` the failure of the job unless there is one already. Texts are
  /// cut to some kilobytes.
  virtual void publishFailure(const FailureDetail &detail) = 0;
  /// The failure of the job, without accounts; code Internal when there is none.
  /// Waits for a rank that is writing it.
  virtual FailureDetail readFailure() const = 0;
  /// How many failures the job has had.
  virtual uint64_t failureNumber() const = 0;
  /// Who waits for what on this rank, for failure number `failure`.
  virtual void publishAccount(uint64_t failure, const std::vector<BlockedGroup> &groups) = 0;
  /// What `rank` has published for that failure; nothing if it has not, yet.
  virtual std::optional<std::vector<BlockedGroup>> accountOf(int32_t rank,
                                                             uint64_t failure) const = 0;
  /// Forgets the failure of a world of one.
  virtual void forgetFailure() = 0;

  //===--- barriers of hosts ----------------------------------------------===//
  //
  // Each barrier of a team has a number, one more than the last. Every member
  // leaves a text that says what it wants; when the barrier is complete, all can
  // compare all texts. Those of the world stay until their rank arrives at the
  // next but one, those of other teams until it arrives anywhere else: members of
  // such a team meet once more before they go on.

  /// Arrives with `request`; true for the last one, who has then completed the
  /// barrier, after `complete`.
  virtual bool arriveHost(const Team &team, uint64_t number, std::string_view request,
                          const std::function<void()> &complete) = 0;
  /// How many barriers of the hosts of the team are complete: memory of this
  /// machine, as Team::epoch.
  virtual const std::atomic<uint64_t> &hostEpoch(TeamKey key) const = 0;
  virtual std::string requestOf(const Team &team, uint64_t number, int32_t rank) const = 0;
  /// When requests of the world differ: where this rank's program asked for its own,
  /// and where `rank` did; nothing if it has not said so, yet.
  virtual void noteRequestPlace(uint64_t number, std::string_view where) = 0;
  virtual std::optional<std::string> requestPlaceOf(uint64_t number, int32_t rank) const = 0;
  /// Two numbers for another rank, which it takes after a barrier with this one.
  virtual void post(int32_t rank, std::array<int32_t, 2> numbers) = 0;
  virtual std::array<int32_t, 2> posted() const = 0;

  /// The barrier that ends a failure; its numbers go on over failures. `hash` must
  /// be alike on all ranks. The last one makes the job as if no collective,
  /// barrier or failure had ever been, then calls `complete`.
  virtual bool arriveRecovery(uint64_t number, uint64_t hash,
                              const std::function<void()> &complete) = 0;
  virtual const std::atomic<uint64_t> &recoveryEpoch() const = 0;
  /// The hash that `rank` came with.
  virtual uint64_t recoveryHashOf(int32_t rank) const = 0;

  //===--- barriers of programs -------------------------------------------===//

  /// All programs of this rank have come to a barrier of `team`, of more than one
  /// member. `id` says which barrier of which kernel it is.
  virtual BarrierArrival arrive(const Team &team, uint64_t id) = 0;
  /// Completes a barrier at which the last arrival was Unlike.
  virtual void completeBarrier(const Team &team, uint64_t number) = 0;
  virtual BarrierPoint lastBarrier(const Team &team, int32_t rank) const = 0;
  /// What member 0's programs pass at barrier `number` of the team, before they
  /// arrive; the others read it when the barrier is complete, before the next.
  virtual void noteCall(const Team &team, uint64_t number, TeamCall call) = 0;
  virtual TeamCall callOf(const Team &team, uint64_t number) const = 0;

  //===--- teams ----------------------------------------------------------===//

  /// A split team of that shape, and how often its key was in use before; nothing
  /// when there are kMaxTeams already. One rank makes it for all its members.
  struct MadeTeam {
    TeamKey key;
    uint32_t generation;
  };
  virtual std::optional<MadeTeam> makeTeam(const TeamShape &shape) = 0;
  /// Takes back a team that nobody has been told of.
  virtual void dropTeam(TeamKey key) = 0;
  /// The split team of that key and generation; nothing when it is no more.
  virtual std::optional<TeamShape> findTeam(TeamKey key, uint32_t generation) const = 0;
  /// A member leaves a team that all members have agreed to destroy: nobody finds
  /// it from now on, and its key is free when all members have called this.
  virtual void leaveTeam(const Team &team) = 0;
  virtual const std::atomic<uint64_t> &barrierEpoch(TeamKey key) const = 0;

  //===--- texts ----------------------------------------------------------===//

  /// The first rank that has claimed the text of this hash, which may be this one.
  virtual int32_t claimText(uint64_t hash) = 0;

private:
  RankFacts &ownFacts;
  const std::atomic<uint32_t> &failureWord;
};

/// The ranks of this machine as one of them sees them. Numbers of others must not be
/// passed (ControlPlane::ranksPerMachine).
class NodeControl {
public:
  virtual ~NodeControl() = default;

  /// Words of random schedules, of the machine and of each of its ranks.
  virtual TurnState &turns() = 0;
  virtual TurnSlot &turnsOf(int32_t rank) = 0;
  /// kDeviceAreaBytes, aligned to pages and zero at first, which the device of `rank`
  /// lays out.
  virtual std::byte *deviceArea(int32_t rank) const = 0;
  /// Waits of this rank's host code: kMaxHostWaits of them.
  virtual HostWaitSlot *hostWaits() = 0;
  /// Passes of the waits that are active on `rank`.
  virtual std::vector<uint64_t> hostWaitsOf(int32_t rank) const = 0;
  /// The process that `rank` is; 0 when it has not joined.
  virtual int32_t processOf(int32_t rank) const = 0;
};

/// One rank's place in the job.
struct RankControl {
  std::unique_ptr<NodeControl> node;
  std::unique_ptr<JobControl> job;
};

/// The memory of one job on this machine, with what its ranks share beside.
class ControlPlane {
public:
  virtual ~ControlPlane() = default;

  virtual int32_t worldSize() const = 0;
  virtual uint64_t heapBytes() const = 0;
  /// So many ranks run on each machine, in ascending order, but for the last one. From
  /// 1 to worldSize().
  virtual int32_t ranksPerMachine() const = 0;
  /// The network interface by which this machine reaches the others of the job; empty
  /// when all its ranks are on this machine.
  virtual std::string interface() const { return {}; }
  /// The place of `rank`, which lives no longer than this. For a rank of this
  /// process, once.
  virtual RankControl open(int32_t rank) = 0;

  //===--- heaps ----------------------------------------------------------===//

  /// Rank 0's heap, where programs see it; null when there are none. Rank r's
  /// begins r * heapBytes() later.
  virtual uint8_t *heapBase() const = 0;
  /// Where a transport finds rank 0's heap: another mapping of the same heaps
  /// after isolate(), or none, else heapBase().
  virtual uint8_t *reachBase() const = 0;
  /// Makes the heaps at heapBase() inaccessible except those of `count` ranks
  /// from `first` on. With `keepReach` there is another mapping of all of them.
  virtual Status isolate(int32_t first, int32_t count, bool keepReach) = 0;
  /// A number that no other job of this machine has.
  virtual uint64_t identity() const = 0;
  /// A descriptor by which other processes of this machine come to the same
  /// (ControlPlaneRow::attach); -1 when they cannot.
  virtual int descriptor() const = 0;

  //===--- for other machines ---------------------------------------------===//

  /// What ranks of other machines are to know of a device area, which the device alone
  /// can read: a number that changes whenever one of the rank's programs has moved.
  /// Called before open(), by a rank of this process.
  virtual void readAreasBy(std::function<uint64_t(const std::byte *area)> moves) = 0;

  //===--- for a launcher -------------------------------------------------===//

  /// The caller is going to call rankEnded() for each rank.
  virtual void announceLauncher() = 0;
  /// `waitStatus` as from waitpid(). One that finalized is not called dead.
  virtual void rankEnded(int32_t rank, int waitStatus) = 0;
  /// The rank that the failure of the job is about, -1 when there is none.
  virtual int32_t blamedRank() const = 0;
};

/// One machine of several, whose ranks have met (launch/Meeting.h).
struct MachineLinks {
  int32_t machine = 0;
  /// ControlPlane::ranksPerMachine.
  int32_t ranksPerMachine = 1;
  /// Names of the hosts, by machine: for messages.
  std::vector<std::string> hosts;
  std::string interface;
  /// Connected sockets, for the rank that speaks for its machine: from machine 0 to each
  /// other, in their order, else one to machine 0. Empty for other ranks.
  std::vector<int> sockets;
  /// A machine that has said nothing for so long is lost; 0: never.
  double timeoutSeconds = 3;
};

/// A kind of control plane.
struct ControlPlaneRow {
  const char *name;
  /// Its jobs may have ranks on several machines.
  bool severalMachines;
  /// Changes whenever ranks of two builds could not understand each other.
  uint32_t version;
  Expected<std::shared_ptr<ControlPlane>> (*create)(int32_t worldSize, uint64_t heapBytes);
  /// What another process has made, by its descriptor, which this takes over. Null
  /// when ranks are threads of one process.
  Expected<std::shared_ptr<ControlPlane>> (*attach)(int descriptor);
  /// A world of one without a heap.
  Expected<std::shared_ptr<ControlPlane>> (*createAlone)();
  /// One machine's part of a job on several: what the plane of one machine has made for
  /// all ranks of the job, by its descriptor, and the way to the others; both are taken
  /// over. Null where severalMachines is false.
  Expected<std::shared_ptr<ControlPlane>> (*connect)(int descriptor, MachineLinks links) = nullptr;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_CONTROL_INTERFACE_CONTROLPLANE_H
