// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TcpJob.h - A rank of a job on several machines ---------------------===//
#ifndef NEREID_RUNTIME_CONTROL_TCP_TCPJOB_H
#define NEREID_RUNTIME_CONTROL_TCP_TCPJOB_H

#include "control/machine/MemoryJob.h"
#include "control/tcp/Message.h"

#include <sys/socket.h>
#include <sys/un.h>

namespace nereid::runtime::tcp {

/// Reads its machine's copy; what changes something is a call of the speaker. When that
/// has ended, a rank can say what went wrong to its own machine, and no more.
class TcpJob final : public JobControl {
public:
  /// The ranks of this machine are those from `first` up to `end`.
  TcpJob(ControlBlock block, uint64_t identity, int32_t rank, int32_t machine, int32_t first,
         int32_t end);
  ~TcpJob() override;

  int32_t join(int32_t process) override;
  void publishAddress(std::string_view address) override;
  std::optional<std::string> addressOf(int32_t r) const override { return local.addressOf(r); }
  uint64_t settle(JobSetting setting, uint64_t own) override;
  RankState stateOf(int32_t r) const override { return local.stateOf(r); }
  RankReport report(int32_t r) const override { return local.report(r); }
  void findLost() override { local.findLost(); }
  bool hasEnded(int32_t r) const override {
    return isHere(r) ? local.hasEnded(r) : isGone(stateOf(r));
  }
  Departure departureOf(int32_t r) const override { return local.departureOf(r); }

  void publishFailure(const FailureDetail &detail) override;
  FailureDetail readFailure() const override { return local.readFailure(); }
  uint64_t failureNumber() const override { return local.failureNumber(); }
  void publishAccount(uint64_t failure, const std::vector<BlockedGroup> &groups) override;
  std::optional<std::vector<BlockedGroup>> accountOf(int32_t r, uint64_t failure) const override {
    return local.accountOf(r, failure);
  }
  void forgetFailure() override { local.forgetFailure(); }

  bool arriveHost(const Team &team, uint64_t number, std::string_view request,
                  const std::function<void()> &complete) override;
  const std::atomic<uint64_t> &hostEpoch(TeamKey key) const override {
    return local.hostEpoch(key);
  }
  std::string requestOf(const Team &team, uint64_t number, int32_t r) const override {
    return local.requestOf(team, number, r);
  }
  void noteRequestPlace(uint64_t number, std::string_view where) override;
  std::optional<std::string> requestPlaceOf(uint64_t number, int32_t r) const override {
    return local.requestPlaceOf(number, r);
  }
  void post(int32_t r, std::array<int32_t, 2> numbers) override;
  std::array<int32_t, 2> posted() const override { return local.posted(); }

  bool arriveRecovery(uint64_t number, uint64_t hash,
                      const std::function<void()> &complete) override;
  const std::atomic<uint64_t> &recoveryEpoch() const override { return local.recoveryEpoch(); }
  uint64_t recoveryHashOf(int32_t r) const override { return local.recoveryHashOf(r); }

  BarrierArrival arrive(const Team &team, uint64_t id) override;
  void completeBarrier(const Team &team, uint64_t number) override;
  BarrierPoint lastBarrier(const Team &team, int32_t r) const override {
    return local.lastBarrier(team, r);
  }
  void noteCall(const Team &team, uint64_t number, TeamCall call) override;
  TeamCall callOf(const Team &team, uint64_t number) const override {
    return local.callOf(team, number);
  }

  std::optional<MadeTeam> makeTeam(const TeamShape &shape) override;
  void dropTeam(TeamKey key) override;
  std::optional<TeamShape> findTeam(TeamKey key, uint32_t generation) const override {
    return local.findTeam(key, generation);
  }
  void leaveTeam(const Team &team) override;
  const std::atomic<uint64_t> &barrierEpoch(TeamKey key) const override {
    return local.barrierEpoch(key);
  }

  int32_t claimText(uint64_t hash) override;

private:
  struct Outcome {
    uint64_t words[2] = {0, 0};
  };
  /// Has the speaker carry it out; when `waits`, returns what came of it. Nothing when
  /// there is no speaker any more.
  std::optional<Outcome> call(Kind kind, const Writer &what, bool waits);
  bool tell(const std::string &message);
  bool isHere(int32_t r) const { return r >= first && r < end; }
  bool isLocal(const Team &team) const {
    return isHere(team.rankOf(0)) && isHere(team.rankOf(team.size - 1));
  }

  MemoryJob local;
  const ControlBlock block;
  const int32_t rank, first, end;
  sockaddr_un speaker;
  socklen_t speakerBytes;
  std::mutex calling; ///< guards what follows: one call at a time
  int socket = -1;
  uint32_t lastNumber = 0;
};

} // namespace nereid::runtime::tcp

#endif // NEREID_RUNTIME_CONTROL_TCP_TCPJOB_H
