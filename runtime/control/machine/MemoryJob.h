// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryJob.h - Control by memory that ranks of a machine map --------===//
//
// Everything lies in the first pages of a memory segment (ControlBlock.h). Both
// levels write and read there.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_CONTROL_MACHINE_MEMORYJOB_H
#define NEREID_RUNTIME_CONTROL_MACHINE_MEMORYJOB_H

#include "control/machine/PeerWatch.h"

#include <mutex>

namespace nereid::runtime {

/// As many groups as an account has room for; the last one says how many more there are.
std::vector<BlockedGroup> shortAccount(const std::vector<BlockedGroup> &groups);

class MemoryJob final : public JobControl {
public:
  /// Finds processes that have ended among the ranks from `first` up to `end`, which
  /// are those of this machine.
  MemoryJob(ControlBlock block, int32_t rank, int32_t first, int32_t end);

  int32_t join(int32_t process) override;
  void publishAddress(std::string_view address) override;
  std::optional<std::string> addressOf(int32_t r) const override;
  uint64_t settle(JobSetting setting, uint64_t own) override;
  RankState stateOf(int32_t r) const override { return block.stateOf(r); }
  RankReport report(int32_t r) const override;
  void findLost() override;
  bool hasEnded(int32_t r) const override;
  Departure departureOf(int32_t r) const override;

  void publishFailure(const FailureDetail &detail) override;
  FailureDetail readFailure() const override;
  uint64_t failureNumber() const override;
  void publishAccount(uint64_t failure, const std::vector<BlockedGroup> &groups) override;
  std::optional<std::vector<BlockedGroup>> accountOf(int32_t r, uint64_t failure) const override;
  void forgetFailure() override;

  bool arriveHost(const Team &team, uint64_t number, std::string_view request,
                  const std::function<void()> &complete) override;
  /// arriveHost() in two parts: the arrival, and what its last one does.
  bool countHost(const Team &team, uint64_t number, std::string_view request);
  void completeHost(const Team &team, uint64_t number);
  const std::atomic<uint64_t> &hostEpoch(TeamKey key) const override;
  std::string requestOf(const Team &team, uint64_t number, int32_t r) const override;
  void noteRequestPlace(uint64_t number, std::string_view where) override;
  std::optional<std::string> requestPlaceOf(uint64_t number, int32_t r) const override;
  void post(int32_t r, std::array<int32_t, 2> numbers) override;
  std::array<int32_t, 2> posted() const override;

  bool arriveRecovery(uint64_t number, uint64_t hash,
                      const std::function<void()> &complete) override;
  /// arriveRecovery() in two parts; the job is as at first after the last arrival.
  bool countRecovery(uint64_t hash);
  void completeRecovery(uint64_t number);
  const std::atomic<uint64_t> &recoveryEpoch() const override;
  uint64_t recoveryHashOf(int32_t r) const override;

  BarrierArrival arrive(const Team &team, uint64_t id) override;
  void completeBarrier(const Team &team, uint64_t number) override;
  BarrierPoint lastBarrier(const Team &team, int32_t r) const override;
  void noteCall(const Team &team, uint64_t number, TeamCall call) override;
  TeamCall callOf(const Team &team, uint64_t number) const override;

  std::optional<MadeTeam> makeTeam(const TeamShape &shape) override;
  void dropTeam(TeamKey key) override;
  std::optional<TeamShape> findTeam(TeamKey key, uint32_t generation) const override;
  void leaveTeam(const Team &team) override;
  const std::atomic<uint64_t> &barrierEpoch(TeamKey key) const override;

  int32_t claimText(uint64_t hash) override;

private:
  RankSlot &slot() const { return block.rank(rank); }
  TeamSlot &teamSlot(TeamKey key) const;
  /// Forgets arrivals that a failure has stopped.
  void resetTeams();

  const ControlBlock block;
  const int32_t rank;
  const int32_t worldSize;
  std::mutex watching; ///< guards what follows
  PeerWatch peers;
};

class MemoryNode final : public NodeControl {
public:
  MemoryNode(ControlBlock block, int32_t rank) : block(block), rank(rank) {}

  TurnState &turns() override { return block.header().turns; }
  TurnSlot &turnsOf(int32_t r) override { return block.rank(r).turns; }
  std::byte *deviceArea(int32_t r) const override { return block.deviceArea(r); }
  HostWaitSlot *hostWaits() override { return block.rank(rank).hostWaits; }
  std::vector<uint64_t> hostWaitsOf(int32_t r) const override;
  int32_t processOf(int32_t r) const override {
    return block.rank(r).pid.load(std::memory_order_relaxed);
  }

private:
  const ControlBlock block;
  const int32_t rank;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_CONTROL_MACHINE_MEMORYJOB_H
