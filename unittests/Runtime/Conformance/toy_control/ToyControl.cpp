// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ToyControl.cpp - A control plane from outside of the runtime -------===//
//
// Shows that a control plane is one folder and one row: this file is what the folder
// holds, Main.cpp adds the row, and the suite of control planes and that of transports
// run on it. Its ranks are threads of one process, so everything is an ordinary object
// behind one lock; only the words that ranks look at without a call are atomic.
//
// As "toy_machines" it claims that each rank runs on a machine of its own: who then
// asks for words that only ranks of one machine share ends the process.
//
//===----------------------------------------------------------------------===//
#include "base/Process.h"
#include "control/interface/ControlPlane.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

using namespace nereid::runtime;

namespace {

struct Group {
  bool used = false;
  uint32_t generation = 0;
  TeamShape shape;
  int32_t hostsHere = 0, programsHere = 0, leaving = 0;
  uint64_t firstId = 0;
  bool unlike = false;
  std::atomic<uint64_t> hostEpoch{0}, epoch{0};
  TeamCall calls[2];
};

struct Member {
  RankFacts facts{};
  TurnSlot turns{};
  HostWaitSlot hostWaits[kMaxHostWaits]{};
  alignas(4096) std::byte deviceArea[kDeviceAreaBytes]{};
  int32_t process = 0;
  std::optional<int> waitStatus;
  std::optional<std::string> address;
  std::map<std::pair<TeamKey, uint64_t>, std::string> requests, places;
  std::map<TeamKey, BarrierPoint> barriers;
  std::array<int32_t, 2> posted{};
  uint64_t accountOf = 0, recoveryHash = 0;
  std::vector<BlockedGroup> account;
};

struct State {
  State(int32_t worldSize, uint64_t heapBytes, bool machines)
      : worldSize(worldSize), heapBytes(heapBytes), machines(machines), members(size_t(worldSize)) {
  }
  ~State() {
    if (heaps)
      munmap(heaps, uint64_t(worldSize) * heapBytes);
  }

  const int32_t worldSize;
  const uint64_t heapBytes;
  const bool machines;
  uint8_t *heaps = nullptr;
  std::function<uint64_t(const std::byte *)> moves;
  const uint64_t identity = nextIdentity++;
  std::atomic<uint32_t> hasFailed{0};
  std::atomic<uint64_t> recoveries{0};
  TurnState turns{};

  std::mutex lock; // guards what follows
  std::vector<Member> members;
  std::map<TeamKey, Group> groups; // never erased: ranks keep addresses of epochs
  FailureDetail failure;
  uint64_t failures = 0;
  int32_t recovering = 0;
  std::map<int, uint64_t> settings;
  std::map<uint64_t, int32_t> texts;

  static inline std::atomic<uint64_t> nextIdentity{1};
};

class ToyJob final : public JobControl {
public:
  ToyJob(std::shared_ptr<State> state, int32_t rank)
      : JobControl(state->members[size_t(rank)].facts, state->hasFailed), s(std::move(state)),
        rank(rank) {}

  int32_t join(int32_t process) override {
    std::lock_guard<std::mutex> guard(s->lock);
    int32_t before = own().process;
    if (!before)
      own().process = process;
    return before;
  }
  void publishAddress(std::string_view address) override {
    std::lock_guard<std::mutex> guard(s->lock);
    own().address = address;
  }
  std::optional<std::string> addressOf(int32_t r) const override {
    std::lock_guard<std::mutex> guard(s->lock);
    return of(r).address;
  }
  uint64_t settle(JobSetting setting, uint64_t value) override {
    std::lock_guard<std::mutex> guard(s->lock);
    return s->settings.emplace(int(setting), value).first->second;
  }
  RankState stateOf(int32_t r) const override {
    return RankState(of(r).facts.state.load(std::memory_order_acquire));
  }
  RankReport report(int32_t r) const override {
    const RankFacts &f = of(r).facts;
    RankReport report{RankState(f.state.load()),
                      f.launches,
                      f.collectives,
                      f.barriers,
                      f.hostMoves,
                      f.inFlight,
                      f.hostBusy != 0,
                      f.streamsInside,
                      f.streamsAtWork,
                      f.hostWaiting,
                      f.launching};
    if (s->machines && r != rank) {
      char state = 0;
      report.cpuTicks = processCpuTicks(getpid(), state);
      std::lock_guard<std::mutex> guard(s->lock);
      report.moves = s->moves ? s->moves(of(r).deviceArea) : 0;
    }
    return report;
  }
  void findLost() override {} // threads end with their process
  bool hasEnded(int32_t) const override { return false; }
  Departure departureOf(int32_t r) const override {
    std::lock_guard<std::mutex> guard(s->lock);
    return {of(r).process, of(r).waitStatus};
  }

  void publishFailure(const FailureDetail &detail) override {
    std::lock_guard<std::mutex> guard(s->lock);
    if (s->hasFailed.load())
      return;
    s->failure = detail;
    ++s->failures;
    s->hasFailed.store(1);
  }
  FailureDetail readFailure() const override {
    std::lock_guard<std::mutex> guard(s->lock);
    return s->hasFailed.load() ? s->failure : FailureDetail();
  }
  uint64_t failureNumber() const override {
    std::lock_guard<std::mutex> guard(s->lock);
    return s->failures;
  }
  void publishAccount(uint64_t failure, const std::vector<BlockedGroup> &groups) override {
    std::lock_guard<std::mutex> guard(s->lock);
    own().accountOf = failure;
    own().account = groups;
    for (BlockedGroup &group : own().account)
      group.rank = rank;
  }
  std::optional<std::vector<BlockedGroup>> accountOf(int32_t r, uint64_t failure) const override {
    std::lock_guard<std::mutex> guard(s->lock);
    if (of(r).accountOf != failure)
      return std::nullopt;
    return of(r).account;
  }
  void forgetFailure() override { s->hasFailed.store(0); }

  bool arriveHost(const Team &team, uint64_t number, std::string_view request,
                  const std::function<void()> &complete) override {
    std::lock_guard<std::mutex> guard(s->lock);
    own().requests[{team.key, number & 1}] = request;
    Group &group = s->groups[team.key];
    if (++group.hostsHere < team.size)
      return false;
    group.hostsHere = 0;
    if (complete)
      complete();
    group.hostEpoch.store(number);
    return true;
  }
  const std::atomic<uint64_t> &hostEpoch(TeamKey key) const override {
    std::lock_guard<std::mutex> guard(s->lock);
    return s->groups[key].hostEpoch;
  }
  std::string requestOf(const Team &team, uint64_t number, int32_t r) const override {
    std::lock_guard<std::mutex> guard(s->lock);
    return of(r).requests[{team.key, number & 1}];
  }
  void noteRequestPlace(uint64_t number, std::string_view where) override {
    std::lock_guard<std::mutex> guard(s->lock);
    own().places[{kWorldTeam, number}] = where;
  }
  std::optional<std::string> requestPlaceOf(uint64_t number, int32_t r) const override {
    std::lock_guard<std::mutex> guard(s->lock);
    auto found = of(r).places.find({kWorldTeam, number});
    if (found == of(r).places.end())
      return std::nullopt;
    return found->second;
  }
  void post(int32_t r, std::array<int32_t, 2> numbers) override {
    std::lock_guard<std::mutex> guard(s->lock);
    of(r).posted = numbers;
  }
  std::array<int32_t, 2> posted() const override {
    std::lock_guard<std::mutex> guard(s->lock);
    return own().posted;
  }

  bool arriveRecovery(uint64_t number, uint64_t hash,
                      const std::function<void()> &complete) override {
    std::lock_guard<std::mutex> guard(s->lock);
    own().recoveryHash = hash;
    own().barriers.clear();
    if (++s->recovering < s->worldSize)
      return false;
    s->recovering = 0;
    for (auto &[key, group] : s->groups)
      group.hostsHere = group.programsHere = 0;
    s->hasFailed.store(0);
    if (complete)
      complete();
    s->recoveries.store(number);
    return true;
  }
  const std::atomic<uint64_t> &recoveryEpoch() const override { return s->recoveries; }
  uint64_t recoveryHashOf(int32_t r) const override {
    std::lock_guard<std::mutex> guard(s->lock);
    return of(r).recoveryHash;
  }

  BarrierArrival arrive(const Team &team, uint64_t id) override {
    std::lock_guard<std::mutex> guard(s->lock);
    Group &group = s->groups[team.key];
    const uint64_t number = group.epoch.load() + 1;
    own().barriers[team.key] = {number, id};
    own().facts.barriers.fetch_add(1);
    if (group.programsHere == 0) {
      group.firstId = id;
      group.unlike = false;
    }
    group.unlike |= id != group.firstId;
    if (++group.programsHere < team.size)
      return {BarrierArrival::Waits, number};
    if (group.unlike)
      return {BarrierArrival::Unlike, number};
    group.programsHere = 0;
    group.epoch.store(number);
    return {BarrierArrival::Complete, number};
  }
  void completeBarrier(const Team &team, uint64_t number) override {
    std::lock_guard<std::mutex> guard(s->lock);
    s->groups[team.key].programsHere = 0;
    s->groups[team.key].epoch.store(number);
  }
  BarrierPoint lastBarrier(const Team &team, int32_t r) const override {
    std::lock_guard<std::mutex> guard(s->lock);
    return of(r).barriers[team.key];
  }
  void noteCall(const Team &team, uint64_t number, TeamCall call) override {
    std::lock_guard<std::mutex> guard(s->lock);
    s->groups[team.key].calls[number & 1] = call;
  }
  TeamCall callOf(const Team &team, uint64_t number) const override {
    std::lock_guard<std::mutex> guard(s->lock);
    return s->groups[team.key].calls[number & 1];
  }

  std::optional<MadeTeam> makeTeam(const TeamShape &shape) override {
    std::lock_guard<std::mutex> guard(s->lock);
    for (int32_t index = 0; index < kMaxTeams; ++index) {
      Group &group = s->groups[splitTeam(index)];
      if (group.used)
        continue;
      group.used = true;
      group.shape = shape;
      group.hostsHere = group.programsHere = group.leaving = 0;
      return MadeTeam{splitTeam(index), group.generation};
    }
    return std::nullopt;
  }
  void dropTeam(TeamKey key) override {
    std::lock_guard<std::mutex> guard(s->lock);
    s->groups[key].used = false;
  }
  std::optional<TeamShape> findTeam(TeamKey key, uint32_t generation) const override {
    std::lock_guard<std::mutex> guard(s->lock);
    const Group &group = s->groups[key];
    if (!group.used || group.leaving || group.generation != generation)
      return std::nullopt;
    return group.shape;
  }
  void leaveTeam(const Team &team) override {
    std::lock_guard<std::mutex> guard(s->lock);
    Group &group = s->groups[team.key];
    if (++group.leaving < team.size)
      return;
    group.leaving = 0;
    group.generation = (group.generation + 1) % kGenerations;
    group.used = false;
  }
  const std::atomic<uint64_t> &barrierEpoch(TeamKey key) const override {
    std::lock_guard<std::mutex> guard(s->lock);
    return s->groups[key].epoch;
  }

  int32_t claimText(uint64_t hash) override {
    std::lock_guard<std::mutex> guard(s->lock);
    return s->texts.emplace(hash, rank).first->second;
  }

private:
  Member &of(int32_t r) const { return s->members[size_t(r)]; }
  Member &own() const { return of(rank); }

  const std::shared_ptr<State> s;
  const int32_t rank;
};

class ToyNode final : public NodeControl {
public:
  ToyNode(std::shared_ptr<State> state, int32_t rank) : s(std::move(state)), rank(rank) {}

  TurnState &turns() override { return s->turns; }
  TurnSlot &turnsOf(int32_t r) override { return of(r).turns; }
  std::byte *deviceArea(int32_t r) const override { return of(r).deviceArea; }
  HostWaitSlot *hostWaits() override { return s->members[size_t(rank)].hostWaits; }
  std::vector<uint64_t> hostWaitsOf(int32_t r) const override {
    std::vector<uint64_t> out;
    for (const HostWaitSlot &wait : of(r).hostWaits)
      if (wait.active.load())
        out.push_back(wait.passes.load());
    return out;
  }
  int32_t processOf(int32_t r) const override {
    std::lock_guard<std::mutex> guard(s->lock);
    return of(r).process;
  }

private:
  Member &of(int32_t r) const {
    if (s->machines && r != rank) {
      std::fprintf(stderr, "rank %d looks at rank %d of another machine\n", rank, r);
      std::abort();
    }
    return s->members[size_t(r)];
  }

  const std::shared_ptr<State> s;
  const int32_t rank;
};

class ToyPlane final : public ControlPlane {
public:
  explicit ToyPlane(std::shared_ptr<State> state) : s(std::move(state)) {}

  template <bool machines>
  static Expected<std::shared_ptr<ControlPlane>> create(int32_t worldSize, uint64_t heapBytes) {
    auto state = std::make_shared<State>(worldSize, heapBytes, machines);
    if (heapBytes) {
      void *at = mmap(nullptr, uint64_t(worldSize) * heapBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (at == MAP_FAILED)
        return systemError("mmap", errno);
      state->heaps = static_cast<uint8_t *>(at);
    }
    return std::shared_ptr<ControlPlane>(std::make_shared<ToyPlane>(std::move(state)));
  }
  static Expected<std::shared_ptr<ControlPlane>> createAlone() { return create<false>(1, 0); }

  int32_t worldSize() const override { return s->worldSize; }
  uint64_t heapBytes() const override { return s->heapBytes; }
  int32_t ranksPerMachine() const override { return s->machines ? 1 : s->worldSize; }
  RankControl open(int32_t rank) override {
    RankControl out;
    out.node = std::make_unique<ToyNode>(s, rank);
    out.job = std::make_unique<ToyJob>(s, rank);
    return out;
  }
  uint8_t *heapBase() const override { return s->heaps; }
  uint8_t *reachBase() const override { return s->heaps; }
  Status isolate(int32_t, int32_t, bool) override {
    return Status::error(StatusCode::Environment, "toy: threads cannot be kept apart");
  }
  uint64_t identity() const override { return s->identity; }
  void readAreasBy(std::function<uint64_t(const std::byte *)> moves) override {
    std::lock_guard<std::mutex> guard(s->lock);
    s->moves = std::move(moves);
  }
  int descriptor() const override { return -1; }
  void announceLauncher() override {}
  void rankEnded(int32_t rank, int waitStatus) override {
    std::lock_guard<std::mutex> guard(s->lock);
    Member &member = s->members[size_t(rank)];
    member.waitStatus = waitStatus;
    if (!isGone(RankState(member.facts.state.load())))
      member.facts.state.store(uint32_t(RankState::Dead));
  }
  int32_t blamedRank() const override {
    std::lock_guard<std::mutex> guard(s->lock);
    return s->hasFailed.load() ? s->failure.rank : -1;
  }

private:
  const std::shared_ptr<State> s;
};

} // namespace

namespace nereid::runtime {
ControlPlaneRow controlPlane_toy() {
  return {"toy",
          /*severalMachines=*/false,
          /*version=*/1,
          ToyPlane::create<false>,
          /*attach=*/nullptr,
          ToyPlane::createAlone};
}
ControlPlaneRow controlPlane_toy_machines() {
  return {"toy_machines",     /*severalMachines=*/true, /*version=*/1, ToyPlane::create<true>,
          /*attach=*/nullptr, ToyPlane::createAlone};
}
} // namespace nereid::runtime
