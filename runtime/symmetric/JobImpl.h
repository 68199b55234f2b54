// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JobImpl.h - State of one rank --------------------------------------===//
#ifndef NEREID_RUNTIME_SYMMETRIC_JOBIMPL_H
#define NEREID_RUNTIME_SYMMETRIC_JOBIMPL_H

#include "base/Fork.h"
#include "base/Knobs.h"
#include "base/Random.h"
#include "control/interface/ControlPlane.h"
#include "nereid/runtime/Device.h"
#include "nereid/runtime/Events.h"
#include "nereid/runtime/Job.h"
#include "symmetric/DeviceHeaps.h"
#include "symmetric/HeapAllocator.h"
#include "transport/Router.h"

#include <mutex>
#include <shared_mutex>

namespace nereid::runtime {

class JobWatch;
class LateTransfers;
class Turns;

struct Job::Impl {
  /// `heaps`: of a device that does not have them in memory of the host.
  Impl(std::shared_ptr<ControlPlane> plane, int32_t rank, Settings settings, Device &device,
       std::shared_ptr<DeviceHeaps> heaps = nullptr);
  ~Impl();

  /// What the rank says of itself.
  RankFacts &facts() const { return control.own(); }
  /// Of a rank of this machine.
  DeviceArea &deviceArea(int32_t r) const {
    static_assert(sizeof(DeviceArea) == kDeviceAreaBytes);
    return *reinterpret_cast<DeviceArea *>(node.deviceArea(r));
  }
  void setState(RankState state) {
    facts().state.store(uint32_t(state), std::memory_order_release);
  }
  /// Host code, a launch and a collective can go on side by side, in several
  /// threads: the rank is in a collective, else in a wait for a signal, else in
  /// a launch, else in host code.
  void enter(RankState state) { count(state, 1); }
  void leave(RankState state) { count(state, -1); }
  uint8_t *ownHeap() const { return heapBase ? heapBase + uint64_t(rank) * heapBytes : nullptr; }
  /// Offset of [ptr, ptr + bytes) in this rank's own heap, or nothing.
  bool ownOffset(const void *ptr, uint64_t bytes, uint64_t &offset) const {
    offset = uint64_t(static_cast<const uint8_t *>(ptr) - ownHeap());
    return heapBase && offset < heapBytes && bytes <= heapBytes - offset;
  }

  //===--- failures (Failure.cpp) -----------------------------------------===//

  /// Whether any rank has reported a failure. One relaxed load.
  bool jobFailed() const { return control.failed(); }
  void publishFailure(const FailureDetail &detail) { control.publishFailure(detail); }
  FailureDetail readFailure() const { return control.readFailure(); }
  /// Publishes who waits for what on this rank, for the current failure.
  void publishBlocked(const std::vector<BlockedGroup> &groups);
  /// The failure of the job with the accounts of all ranks that still give one
  /// within half a second, and what is known about the others. `own` is what to
  /// report instead of the job's failure.
  Status failureStatus(const FailureDetail *own = nullptr);
  /// Forgets the failure of a world of one.
  void resetFailure() {
    recoverDevice();
    control.forgetFailure();
  }
  /// The device's part of all heaps is as it was at first.
  void recoverDevice();

  //===--- collectives (Collective.cpp) -----------------------------------===//

  /// A host barrier in which all ranks must present the same `request`.
  Status collective(std::string_view request, double timeoutSeconds = -1);
  /// The same without a turn afterwards; for the one that begins the job.
  Status meet(std::string_view request, double timeoutSeconds);
  Status recover();

  //===--- random schedules (HostTurns.cpp) -------------------------------===//

  /// The host has come to a call of the runtime at which its order relative to
  /// the programs of other ranks may change. Sometimes waits for a turn.
  void giveWay() {
    if (turns) [[unlikely]]
      waitForTurn();
  }
  void waitForTurn();

  //===--- transfers (HostTransfers.cpp) ----------------------------------===//

  /// Waits until operations of this rank (to `pe`, unless it is -1) are complete.
  /// `what` begins the message of an error.
  Status completeTransfers(const char *what, int32_t pe = -1);
  /// Waits for something that the transport has started.
  Status awaitTransfer(const Completion &done, const char *what);
  /// Carries out `operation` on behalf of host code; complete when it returns.
  Status carryOut(const Operation &operation, const char *what);
  /// The same without telling the observer.
  Status perform(const Operation &operation, const char *what);
  /// A launch has ended in order: its arguments may vanish now.
  Status letGoOfArguments();
  /// A launch has failed: forgets what is under way, and waits for nothing.
  void dropTransfers();
  /// The same, and waits until nothing of before can change other ranks' memory.
  Status abandonTransfers();

  //===--- observers (Events.h) -------------------------------------------===//

  /// Who watches this rank; null = nobody.
  std::atomic<Observer *> observer{nullptr};
  /// The number of an operation that the observer is told of.
  uint32_t nextOperation() { return operations.fetch_add(1, std::memory_order_relaxed) + 1; }
  std::atomic<uint32_t> operations{0};
  /// An event of this rank's host code, from now on.
  EventRecord hostEvent(EventKind kind) const;

  //===--- teams (Team.cpp) -----------------------------------------------===//

  /// Ranks of one node, but for the last node.
  int32_t nodeSize() const { return settings.ranksPerNode > 0 ? settings.ranksPerNode : worldSize; }
  /// The team of that handle; it is false when there is none.
  Team findTeam(int32_t handle) const;
  /// "team 8 (ranks 0, 2, 4)".
  std::string describeTeam(const Team &team) const;

  std::string describe(const void *ptr) const;
  std::string describeOffset(uint64_t offset) const;

  /// This process is a child that was forked from the rank: it has the rank's
  /// memory, but neither its threads nor its place in the job.
  bool isCopy() const { return forkDepth() != madeAt; }
  /// The error of calls of `what` in such a child, or success.
  Status refuseCopy(std::string_view what) const;
  const uint64_t madeAt = forkDepth();

  std::shared_ptr<ControlPlane> plane;
  /// Null when the heaps lie in the plane's memory.
  std::shared_ptr<DeviceHeaps> heaps;
  RankControl place;
  /// Two levels of what the ranks know of each other: all of them, and those of
  /// this machine.
  JobControl &control;
  NodeControl &node;
  int32_t rank;
  int32_t worldSize;
  /// ControlPlane::ranksPerMachine.
  const int32_t machineSize;
  bool isOnThisMachine(int32_t r) const { return r / machineSize == rank / machineSize; }
  /// As NRD_TEAM_WORLD.
  const Team worldTeam;
  Settings settings;
  int32_t numThreads;
  /// Every worker of every rank on this machine can have a core of its own.
  bool maySpin;
  uint8_t *heapBase;
  /// How far apart heaps lie, and how much of each is for allocations: the device's
  /// part of it comes next.
  uint64_t heapBytes;
  uint64_t deviceOffset;

  /// The allocation of this rank that [offset, offset + bytes) of the heap lies
  /// in; null when it lies in none, or not whole. Needs heapLock.
  const Allocation *allocationAround(uint64_t offset, uint64_t bytes) const {
    const Allocation *a = heap.find(offset);
    return a && bytes <= a->bytes - (offset - a->offset) ? a : nullptr;
  }
  /// "putmem: 1024 bytes from 'x' float32 (128,) on reach 512 bytes past its end",
  /// of a range in some rank's heap that lies in no allocation.
  std::string outsideText(std::string_view what, const void *ptr, uint64_t bytes) const;
  /// Changes whenever allocations do.
  std::atomic<uint64_t> heapVersion{1};
  mutable std::shared_mutex heapLock;
  HeapAllocator heap;

  std::mutex hostLock;   ///< one host collective at a time
  std::mutex launchLock; ///< one launch at a time
  std::mutex stateLock;  ///< guards what follows
  Random hostRandom;     ///< random schedules: what giveWay() draws from
  int32_t launching = 0, collecting = 0, hostWaiting = 0;
  /// Kernels whose launch waits for another one to end.
  std::vector<std::string> queuedLaunches;
  /// What this rank's threads have told of themselves for failure `accountOf`.
  std::vector<BlockedGroup> accounts;
  uint64_t accountOf = 0;
  std::atomic<bool> finalized{false};

  /// The observer of a run that is checked (NEREID_CHECK); lives longer than the transport.
  std::unique_ptr<Observer> recorder;
  std::unique_ptr<Router> transport;
  /// Only under a random schedule.
  std::unique_ptr<Turns> turns;
  std::unique_ptr<LateTransfers> late;
  /// `waits`: its thread cannot go on by itself until it leaves.
  void count(RankState state, int32_t by, bool waits = true);
  /// The calling thread begins (1) or ends (-1) to be blocked in the runtime.
  void countInside(int32_t by);
  /// For the search for deadlocks (StreamAccount.h): streams that are not waiting for
  /// an event and have something to do; whether a thread that gave them work goes on.
  void showStreams(uint32_t atWork, bool hostBusy);

  std::unique_ptr<JobWatch> watch;
  /// What its kernels run on, and this rank's part of it, made by the first launch.
  Device &device;
  std::unique_ptr<Executor> executor;
};

/// Place of `ptr` in the heap of `rank`; an error when there is none. `what`
/// begins the message.
Expected<uint64_t> transferOffset(const Job::Impl &job, const char *what, const void *ptr,
                                  uint64_t bytes, int32_t rank);

/// Place of a signal in the heap of `rank`, which can take `value`.
Expected<uint64_t> signalOffset(const Job::Impl &job, const char *what, const void *signal,
                                uint64_t value, int32_t bytes, int32_t rank);

/// An error when the range begins in this rank's heap and does not lie in one
/// allocation.
Status checkAllocation(const Job::Impl &job, const char *what, const void *ptr, uint64_t bytes);

/// The team of that key as ranks see it.
Team teamOf(const JobControl &control, TeamKey key, int32_t handle, const TeamShape &shape);

/// Makes Job objects; the constructor is private.
struct JobFactory {
  static std::unique_ptr<Job> make(std::unique_ptr<Job::Impl> impl) {
    return std::unique_ptr<Job>(new Job(std::move(impl)));
  }
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_SYMMETRIC_JOBIMPL_H
