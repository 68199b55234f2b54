// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryJob.cpp - Protocols over the control block -----------------===//
//
// Nothing here is locked, since a rank may be killed at any instruction. Each
// piece of plain data has one writer at a time and a word that says when it may
// be read:
//
//   the failure     cell.state 0 ─▶ 1 by the rank that wins the exchange, which writes,
//                   ─▶ 2. Readers wait while it is 1, but not for ever: its writer may be
//                   dead
//   an account      a rank's own records, then `reported` = the number of the failure
//   an address      a rank's own, once, then its length + 1
//   a request       text of a rank for a collective, then its arrival. The world has two
//                   places, by parity: who arrives at barrier n + 2 has seen n + 1
//                   complete, at which all had read the texts of n
//   a split team    used 0 ─▶ 1 being made ─▶ 2 a team ─▶ 3 being left ─▶ 0; the generation
//                   goes up when the last member has left
//
// A barrier is a count of arrivals and an epoch. The last one to arrive sets
// the count back to 0 *before* it raises the epoch, by which the others go on:
// whoever arrives at the next barrier has seen the epoch, and so counts from 0.
// Only a failure can leave a count behind; the last rank that comes to
// recover() resets all (resetTeams).
//
// A barrier of programs also checks that all are at the same one, within that
// one atomic addition: see arrive().
//
//===----------------------------------------------------------------------===//
#include "control/machine/MemoryJob.h"

#include "base/Clock.h"
#include "base/Process.h"

#include <cstring>
#include <unistd.h>

namespace nereid::runtime {

MemoryJob::MemoryJob(ControlBlock block, int32_t rank, int32_t first, int32_t end)
    : JobControl(block.rank(rank).facts, block.header().failure.state), block(block), rank(rank),
      worldSize(block.header().worldSize), peers(block, rank, first, end) {}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

int32_t MemoryJob::join(int32_t process) {
  int32_t expected = 0;
  if (!slot().pid.compare_exchange_strong(expected, process))
    return expected;
  slot().startTime.store(processStartTime(process), std::memory_order_release);
  return 0;
}

void MemoryJob::publishAddress(std::string_view address) {
  std::memcpy(slot().address, address.data(), address.size());
  slot().addressBytes.store(uint32_t(address.size()) + 1, std::memory_order_release);
}

std::optional<std::string> MemoryJob::addressOf(int32_t r) const {
  const RankSlot &peer = block.rank(r);
  const uint32_t bytes = peer.addressBytes.load(std::memory_order_acquire);
  if (bytes == 0)
    return std::nullopt;
  return std::string(peer.address, bytes - 1);
}

uint64_t MemoryJob::settle(JobSetting setting, uint64_t own) {
  uint64_t settled = 0;
  return block.header().settings[int(setting)].compare_exchange_strong(settled, own) ? own
                                                                                     : settled;
}

RankReport MemoryJob::report(int32_t r) const {
  const RankFacts &facts = block.rank(r).facts;
  RankReport out;
  out.state = RankState(facts.state.load(std::memory_order_acquire));
  out.launches = facts.launches.load(std::memory_order_acquire);
  out.collectives = facts.collectives.load(std::memory_order_acquire);
  out.barriers = facts.barriers.load(std::memory_order_acquire);
  out.hostMoves = facts.hostMoves.load(std::memory_order_acquire);
  out.inFlight = facts.inFlight.load(std::memory_order_acquire);
  out.hostBusy = facts.hostBusy.load(std::memory_order_acquire) != 0;
  out.streamsInside = facts.streamsInside.load(std::memory_order_acquire);
  out.streamsAtWork = facts.streamsAtWork.load(std::memory_order_acquire);
  out.hostWaiting = facts.hostWaiting.load(std::memory_order_acquire);
  out.launching = facts.launching.load(std::memory_order_acquire);
  out.cpuTicks = block.rank(r).cpuTicks.load(std::memory_order_relaxed);
  out.moves = block.rank(r).moves.load(std::memory_order_relaxed);
  return out;
}

void MemoryJob::findLost() {
  std::lock_guard<std::mutex> guard(watching);
  for (int32_t r : peers.newlyDead())
    block.rank(r).facts.state.store(uint32_t(RankState::Dead), std::memory_order_release);
}

bool MemoryJob::hasEnded(int32_t r) const {
  const RankSlot &peer = block.rank(r);
  return r != rank && processStartTime(peer.pid.load()) != peer.startTime.load();
}

Departure MemoryJob::departureOf(int32_t r) const {
  const RankSlot &peer = block.rank(r);
  bool launcher = block.header().hasLauncher.load() != 0;
  for (int i = 0; launcher && i < 100 && !peer.exitStatus.load(); ++i)
    sleepNs(2000000);
  Departure out;
  out.process = peer.pid.load();
  if (uint32_t status = peer.exitStatus.load())
    out.waitStatus = int(status - 1);
  return out;
}

//===----------------------------------------------------------------------===//
// The failure
//===----------------------------------------------------------------------===//

static void store(SharedSite &to, const SourceSite &from) {
  to.line = from.line;
  to.column = from.column;
  to.file.set(from.file);
  to.function.set(from.function);
  to.text.set(from.text);
}

static SourceSite load(const SharedSite &from) {
  SourceSite to;
  to.file = from.file.str();
  to.line = from.line;
  to.column = from.column;
  to.function = from.function.str();
  to.text = from.text.str();
  return to;
}

void MemoryJob::publishFailure(const FailureDetail &detail) {
  FailureCell &cell = block.header().failure;
  uint32_t expected = 0;
  if (!cell.state.compare_exchange_strong(expected, 1, std::memory_order_acq_rel))
    return;
  cell.number.fetch_add(1, std::memory_order_relaxed);
  cell.code = uint32_t(detail.code);
  cell.rank = detail.rank;
  for (int i = 0; i < 3; ++i)
    cell.program[i] = detail.program[size_t(i)];
  cell.kernel.set(detail.kernel);
  cell.message.set(detail.message);
  store(cell.site, detail.site);
  cell.state.store(2, std::memory_order_release);
}

FailureDetail MemoryJob::readFailure() const {
  const FailureCell &cell = block.header().failure;
  FailureDetail detail;
  uint64_t begin = nowNs();
  while (cell.state.load(std::memory_order_acquire) == 1) {
    if (nowNs() - begin > 1000000000u) {
      detail.code = StatusCode::RankDied;
      detail.message = "a rank died while it reported a failure";
      return detail;
    }
    sleepNs(50000);
  }
  if (cell.state.load(std::memory_order_acquire) != 2)
    return detail;
  detail.code = StatusCode(cell.code);
  detail.message = cell.message.str();
  detail.rank = cell.rank;
  for (int i = 0; i < 3; ++i)
    detail.program[size_t(i)] = cell.program[i];
  detail.kernel = cell.kernel.str();
  detail.site = load(cell.site);
  return detail;
}

uint64_t MemoryJob::failureNumber() const {
  return block.header().failure.number.load(std::memory_order_acquire);
}

std::vector<BlockedGroup> shortAccount(const std::vector<BlockedGroup> &groups) {
  if (groups.size() <= size_t(kMaxRecords))
    return groups;
  std::vector<BlockedGroup> out(groups.begin(), groups.begin() + kMaxRecords - 1);
  BlockedGroup more;
  more.kind = "more";
  more.note = "and " + std::to_string(groups.size() - kMaxRecords + 1) + " more places";
  out.push_back(std::move(more));
  return out;
}

void MemoryJob::publishAccount(uint64_t failure, const std::vector<BlockedGroup> &all) {
  RankSlot &own = slot();
  const std::vector<BlockedGroup> groups = shortAccount(all);
  for (size_t i = 0; i < groups.size(); ++i) {
    const BlockedGroup &g = groups[i];
    BlockedRecord &r = own.records[i];
    r.kind.set(g.kind);
    r.programs.set(g.programs);
    r.programCount = g.programCount;
    r.address.set(g.address);
    r.hasValues = g.hasValues;
    r.currentValue = g.currentValue;
    r.awaitedValue = g.awaitedValue;
    r.comparison.set(g.comparison);
    r.note.set(g.note);
    store(r.site, g.site);
  }
  own.recordCount = int32_t(groups.size());
  own.reported.store(failure, std::memory_order_release);
}

static BlockedGroup load(const BlockedRecord &r, int32_t rank) {
  BlockedGroup g;
  g.rank = rank;
  g.kind = r.kind.str();
  g.programs = r.programs.str();
  g.programCount = r.programCount;
  g.address = r.address.str();
  g.hasValues = r.hasValues != 0;
  g.currentValue = r.currentValue;
  g.awaitedValue = r.awaitedValue;
  g.comparison = r.comparison.str();
  g.note = r.note.str();
  g.site = load(r.site);
  return g;
}

std::optional<std::vector<BlockedGroup>> MemoryJob::accountOf(int32_t r, uint64_t failure) const {
  const RankSlot &peer = block.rank(r);
  if (peer.reported.load(std::memory_order_acquire) != failure)
    return std::nullopt;
  std::vector<BlockedGroup> out;
  for (int32_t i = 0; i < peer.recordCount; ++i)
    out.push_back(load(peer.records[i], r));
  return out;
}

void MemoryJob::forgetFailure() {
  // Barriers of a single rank leave nothing behind: it never counts itself.
  block.header().failure.state.store(0, std::memory_order_release);
}

//===----------------------------------------------------------------------===//
// Barriers of hosts
//===----------------------------------------------------------------------===//
//
// One central counter: with more ranks than cores it beats every cleverer
// barrier, and a rank that waits can see at once who has not come.

/// True for the last one, who completes the barrier for all others.
static bool countAt(TeamCounter &counter, int32_t members) {
  if (counter.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < uint64_t(members))
    return false;
  counter.arrived.store(0, std::memory_order_relaxed);
  return true;
}

bool MemoryJob::countHost(const Team &team, uint64_t number, std::string_view request) {
  if (team.key == kWorldTeam)
    slot().requests[number & 1].text.set(request);
  else
    slot().teamRequests[number & 1].set(request);
  return countAt(teamSlot(team.key).host, team.size);
}

void MemoryJob::completeHost(const Team &team, uint64_t number) {
  teamSlot(team.key).host.epoch.store(number, std::memory_order_release);
}

bool MemoryJob::arriveHost(const Team &team, uint64_t number, std::string_view request,
                           const std::function<void()> &complete) {
  if (!countHost(team, number, request))
    return false;
  if (complete)
    complete();
  completeHost(team, number);
  return true;
}

const std::atomic<uint64_t> &MemoryJob::hostEpoch(TeamKey key) const {
  return teamSlot(key).host.epoch;
}

std::string MemoryJob::requestOf(const Team &team, uint64_t number, int32_t r) const {
  const RankSlot &peer = block.rank(r);
  return team.key == kWorldTeam ? peer.requests[number & 1].text.str()
                                : peer.teamRequests[number & 1].str();
}

void MemoryJob::noteRequestPlace(uint64_t number, std::string_view where) {
  CollectiveRequest &own = slot().requests[number & 1];
  own.where.set(where);
  own.placed.store(number, std::memory_order_release);
}

std::optional<std::string> MemoryJob::requestPlaceOf(uint64_t number, int32_t r) const {
  const CollectiveRequest &request = block.rank(r).requests[number & 1];
  if (request.placed.load(std::memory_order_acquire) != number)
    return std::nullopt;
  return request.where.str();
}

void MemoryJob::post(int32_t r, std::array<int32_t, 2> numbers) {
  for (size_t i = 0; i < 2; ++i)
    block.rank(r).posted[i].store(numbers[i], std::memory_order_relaxed);
}

std::array<int32_t, 2> MemoryJob::posted() const {
  return {slot().posted[0].load(std::memory_order_relaxed),
          slot().posted[1].load(std::memory_order_relaxed)};
}

bool MemoryJob::countRecovery(uint64_t hash) {
  slot().recoveryHash.store(hash, std::memory_order_release);
  // Arrivals at barriers that a failure has stopped do not count.
  for (BarrierPlace &place : slot().barrierAt)
    place.number.store(0, std::memory_order_relaxed);
  if (!countAt(block.header().recovery, worldSize))
    return false;
  resetTeams();
  block.header().failure.state.store(0, std::memory_order_relaxed);
  return true;
}

void MemoryJob::completeRecovery(uint64_t number) {
  block.header().recovery.epoch.store(number, std::memory_order_release);
}

bool MemoryJob::arriveRecovery(uint64_t number, uint64_t hash,
                               const std::function<void()> &complete) {
  if (!countRecovery(hash))
    return false;
  if (complete)
    complete();
  completeRecovery(number);
  return true;
}

const std::atomic<uint64_t> &MemoryJob::recoveryEpoch() const {
  return block.header().recovery.epoch;
}

uint64_t MemoryJob::recoveryHashOf(int32_t r) const {
  return block.rank(r).recoveryHash.load(std::memory_order_acquire);
}

//===----------------------------------------------------------------------===//
// Barriers of programs
//===----------------------------------------------------------------------===//

/// Far apart for barriers that are next to each other, so that no sum of
/// different ones looks like a sum of equal ones; 48 bits.
static uint64_t mixed(uint64_t id) {
  id = (id ^ id >> 33) * 0xff51afd7ed558ccdu;
  id = (id ^ id >> 33) * 0xc4ceb9fe1a85ec53u;
  return (id ^ id >> 33) & 0xffffffffffffu;
}

// One word: the count of arrivals in the low 16 bits, the sum of what mixed() makes of their ids
// above. The last one to arrive so knows without reading anybody else's memory whether all came to
// the same barrier; only if not, it looks at each rank's BarrierPlace for who came to which.
BarrierArrival MemoryJob::arrive(const Team &team, uint64_t id) {
  RankSlot &own = slot();
  TeamCounter &counter = teamSlot(team.key).device;
  const uint64_t members = uint64_t(team.size);
  const uint64_t number = counter.epoch.load(std::memory_order_acquire) + 1;
  BarrierPlace &place = own.barrierAt[placeOf(team.key)];
  place.ids[number & 1].store(id, std::memory_order_relaxed);
  place.number.store(number, std::memory_order_release);
  own.facts.barriers.fetch_add(1, std::memory_order_relaxed);
  // Each adds a number that is mixed from its id: when all are at the same
  // barrier, the sum is one's own number times the members.
  const uint64_t mine = mixed(id) << 16 | 1;
  const uint64_t sum = counter.arrived.fetch_add(mine, std::memory_order_acq_rel) + mine;
  if ((sum & 0xffff) < members)
    return {BarrierArrival::Waits, number};
  if (sum >> 16 != ((mine >> 16) * members & 0xffffffffffffu))
    return {BarrierArrival::Unlike, number};
  counter.arrived.store(0, std::memory_order_relaxed);
  counter.epoch.store(number, std::memory_order_release);
  return {BarrierArrival::Complete, number};
}

void MemoryJob::completeBarrier(const Team &team, uint64_t number) {
  TeamCounter &counter = teamSlot(team.key).device;
  counter.arrived.store(0, std::memory_order_relaxed);
  counter.epoch.store(number, std::memory_order_release);
}

BarrierPoint MemoryJob::lastBarrier(const Team &team, int32_t r) const {
  const BarrierPlace &place = block.rank(r).barrierAt[placeOf(team.key)];
  BarrierPoint out;
  out.number = place.number.load(std::memory_order_acquire);
  out.id = place.ids[out.number & 1].load(std::memory_order_relaxed);
  return out;
}

void MemoryJob::noteCall(const Team &team, uint64_t number, TeamCall call) {
  auto &cell = teamSlot(team.key).call[number & 1];
  cell.bytes.store(call.bytes, std::memory_order_relaxed);
  cell.root.store(call.root, std::memory_order_relaxed);
}

TeamCall MemoryJob::callOf(const Team &team, uint64_t number) const {
  const auto &cell = teamSlot(team.key).call[number & 1];
  return {cell.bytes.load(std::memory_order_relaxed), cell.root.load(std::memory_order_relaxed)};
}

//===----------------------------------------------------------------------===//
// Teams and texts
//===----------------------------------------------------------------------===//

TeamSlot &MemoryJob::teamSlot(TeamKey key) const {
  JobHeader &h = block.header();
  if (key == kWorldTeam)
    return h.worldTeam;
  if (key <= kMaxTeams)
    return h.teams[key - 1];
  const int32_t r = (key - kMaxTeams - 1) / 2;
  return key == nodeTeam(r) ? block.rank(r).nodeTeam : block.rank(r).peersTeam;
}

void MemoryJob::resetTeams() {
  auto reset = [](TeamSlot &slot) {
    slot.host.arrived.store(0, std::memory_order_relaxed);
    slot.device.arrived.store(0, std::memory_order_relaxed);
  };
  JobHeader &h = block.header();
  reset(h.worldTeam);
  for (TeamSlot &slot : h.teams)
    reset(slot);
  for (int32_t r = 0; r < worldSize; ++r) {
    reset(block.rank(r).nodeTeam);
    reset(block.rank(r).peersTeam);
  }
}

std::optional<JobControl::MadeTeam> MemoryJob::makeTeam(const TeamShape &shape) {
  JobHeader &h = block.header();
  for (int32_t index = 0; index < kMaxTeams; ++index) {
    TeamSlot &slot = h.teams[index];
    uint32_t expected = 0;
    if (!slot.used.compare_exchange_strong(expected, 1, std::memory_order_acq_rel))
      continue;
    slot.shape = shape;
    slot.host.arrived.store(0, std::memory_order_relaxed);
    slot.device.arrived.store(0, std::memory_order_relaxed);
    const uint32_t generation = slot.generation.load(std::memory_order_relaxed) % kGenerations;
    slot.generation.store(generation, std::memory_order_relaxed);
    // Barriers begin at a number of this generation: of several machines, only those of the
    // members have counted the ones before it.
    slot.host.epoch.store(uint64_t(generation) << 32, std::memory_order_relaxed);
    slot.device.epoch.store(uint64_t(generation) << 32, std::memory_order_relaxed);
    for (int32_t r = 0; r < worldSize; ++r)
      block.rank(r).barrierAt[placeOf(splitTeam(index))].number.store(0, std::memory_order_relaxed);
    slot.used.store(2, std::memory_order_release);
    return MadeTeam{splitTeam(index), generation};
  }
  return std::nullopt;
}

void MemoryJob::dropTeam(TeamKey key) { teamSlot(key).used.store(0, std::memory_order_release); }

std::optional<TeamShape> MemoryJob::findTeam(TeamKey key, uint32_t generation) const {
  const TeamSlot &slot = teamSlot(key);
  if (slot.used.load(std::memory_order_acquire) != 2 ||
      slot.generation.load(std::memory_order_relaxed) != generation)
    return std::nullopt;
  return slot.shape;
}

void MemoryJob::leaveTeam(const Team &team) {
  TeamSlot &slot = teamSlot(team.key);
  slot.used.store(3, std::memory_order_release);
  if (slot.host.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < uint64_t(team.size))
    return;
  slot.host.arrived.store(0, std::memory_order_relaxed);
  slot.generation.fetch_add(1, std::memory_order_relaxed);
  slot.used.store(0, std::memory_order_release);
}

const std::atomic<uint64_t> &MemoryJob::barrierEpoch(TeamKey key) const {
  return teamSlot(key).device.epoch;
}

int32_t MemoryJob::claimText(uint64_t hash) {
  const uint64_t mine = hash << 16 | uint64_t(uint16_t(rank + 1));
  for (std::atomic<uint64_t> &cell : block.header().printed) {
    uint64_t found = 0;
    if (cell.compare_exchange_strong(found, mine, std::memory_order_acq_rel))
      return rank;
    if (found >> 16 == mine >> 16)
      return int32_t(found & 0xffff) - 1;
  }
  return rank; // more different texts than anybody would want to lose
}

//===----------------------------------------------------------------------===//
// The ranks of the machine, and the memory
//===----------------------------------------------------------------------===//

std::vector<uint64_t> MemoryNode::hostWaitsOf(int32_t r) const {
  std::vector<uint64_t> out;
  for (const HostWaitSlot &wait : block.rank(r).hostWaits)
    if (wait.active.load(std::memory_order_acquire))
      out.push_back(wait.passes.load(std::memory_order_acquire));
  return out;
}

//===----------------------------------------------------------------------===//
// For a launcher
//===----------------------------------------------------------------------===//

void ControlBlock::rankEnded(int32_t r, int waitStatus) const {
  RankSlot &slot = rank(r);
  slot.exitStatus.store(uint32_t(waitStatus) + 1, std::memory_order_release);
  uint32_t state = slot.facts.state.load();
  while (!isGone(RankState(state)) &&
         !slot.facts.state.compare_exchange_weak(state, uint32_t(RankState::Dead))) {
  }
}

int32_t ControlBlock::blamedRank() const {
  const FailureCell &failure = header().failure;
  return failure.state.load(std::memory_order_acquire) == 2 ? failure.rank : -1;
}

} // namespace nereid::runtime
