// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Turns.cpp - Whose turn it is, without a lock -----------------------===//
//
// The words lie in memory that every rank maps, one TurnState for all and one
// TurnSlot for each rank, and no lock guards them: a rank that is killed would
// keep it. The word `holder` takes its place.
//
//   holder       who may write the rest of TurnState, and the priorities
//   0            nobody; whoever wants a turn may make it kDeciding
//   kDeciding    the rank that did so, while it draws who is next
//   r + 1        rank r, until it passes its turn on
//
// All of that (but for hostsFree) is therefore written with relaxed stores: the
// next writer has read `holder` first. What the draw asks of the ranks is
// written by each rank whenever it likes (wantsTurns, waitsIn, leftOut), and
// that is where a turn could get lost: one rank says that it wants a turn while
// another finds nobody who does. Both sides are sequentially consistent and in
// opposite order,
//
//   a rank that comes       wantsTurns = ...;  then decide(), which looks at holder
//   one that gives up       holder = 0;        then decide(), which looks at wantsTurns
//
// so at least one of the two sees the other.
//
// A draw must not depend on who is early. It is made only when all ranks are
// parked (everybodyParked), among those that want a turn and have not looked in
// vain since the last turn with progress: `idleAt` is the count of `work` at
// such a look, plus one. When nobody is left, each rank that wants turns gets
// one more look, round robin; turns in vain are counted in `fruitless`, by
// which a launch learns that nothing moves.
//
// A rank sleeps on its own word (`turn`), so that a turn wakes one process. It
// sleeps for milliseconds only and then looks itself: the rank that had the
// turn may have ended, and a host that keeps the others waiting may have to be
// left out.
//
//===----------------------------------------------------------------------===//
#include "symmetric/Turns.h"

#include "base/Clock.h"
#include "base/Process.h"
#include "base/Random.h"

#include <climits>
#include <cstdio>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace nereid::runtime {

static constexpr uint32_t kDeciding = ~0u;
static constexpr uint64_t kTakeNs = 5000000;
static constexpr uint64_t kAsleepNs = 500000000;
static constexpr uint64_t kBusyNs = 20 * kAsleepNs;
/// Processor time (10 ms each) within kAsleepNs up to which a rank sleeps.
static constexpr uint64_t kAsleepTicks = 1;

// The words lie in memory that several processes map.
static void futexWait(std::atomic<uint32_t> &word, uint32_t expected) {
  timespec ts{0, long(kTakeNs)};
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAIT, expected, &ts, nullptr, 0);
}
static void futexWake(std::atomic<uint32_t> &word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

Turns::Turns(const JobControl &control, NodeControl &node, int32_t rank, int32_t worldSize,
             uint64_t seed)
    : control(control), node(node), words(node.turns()),
      hostBarriers(control.hostEpoch(kWorldTeam)), rank(rank), worldSize(worldSize), seed(seed) {
  for (int32_t r = 0; r < worldSize; ++r)
    slots.push_back(&node.turnsOf(r));
}

void Turns::enter() {
  seat.lock();
  TurnSlot &slot = own();
  slot.idleAt.store(0, std::memory_order_relaxed);
  slot.sitsOut.store(0, std::memory_order_relaxed);
  slot.leftOut.store(0, std::memory_order_relaxed);
  slot.wantsTurns.fetch_or(Thread, std::memory_order_seq_cst);
  decide();
}

bool Turns::tryEnter(uint64_t pause) {
  if (!hostsGiveWay() || !seat.try_lock())
    return false;
  TurnSlot &slot = own();
  slot.idleAt.store(0, std::memory_order_relaxed);
  sitOut(pause);
  slot.wantsTurns.fetch_or(Thread, std::memory_order_seq_cst);
  decide();
  return true;
}

void Turns::sitOut(uint64_t turns) {
  own().sitsOut.store(state().work.load(std::memory_order_relaxed) + turns,
                      std::memory_order_relaxed);
}

void Turns::noteProgress() {
  TurnState &s = state();
  s.work.fetch_add(1, std::memory_order_relaxed);
  s.fruitless.store(0, std::memory_order_relaxed);
}

void Turns::leave() {
  bool holder = holdsTurn();
  if (holder)
    noteProgress();
  own().wantsTurns.fetch_and(~uint32_t(Thread), std::memory_order_seq_cst);
  // Nobody is next before this rank's host code has come to where it waits.
  uint32_t mine = uint32_t(rank) + 1;
  if (holder)
    state().holder.compare_exchange_strong(mine, 0, std::memory_order_seq_cst);
  seat.unlock();
  decide(); // ... unless another thread of it waits already
}

void Turns::wantTransfers() {
  own().idleAt.store(0, std::memory_order_relaxed);
  own().wantsTurns.fetch_or(Transfers, std::memory_order_seq_cst);
  decide();
}

// The seat is taken together with the turn, and kept until passForTransfers(): between turns it is
// free for the rank's own threads. A turn that finds a thread sitting there is that thread's.
bool Turns::takeForTransfers() {
  if (!take())
    return false;
  // A thread that wants turns itself uses them.
  if (seat.try_lock()) {
    if (holdsTurn())
      return true;
    seat.unlock();
  }
  sleepNs(1000000);
  return false;
}

void Turns::passForTransfers(bool last) {
  if (last) {
    // Nobody takes the turn away from a rank that has no use for it meanwhile.
    state().holder.store(kDeciding, std::memory_order_seq_cst);
    forgetTransfers();
  }
  pass(true);
  seat.unlock();
}

void Turns::forgetTransfers() {
  own().wantsTurns.fetch_and(~uint32_t(Transfers), std::memory_order_seq_cst);
}

void Turns::enterCollective(uint64_t number) {
  own().leftOut.store(0, std::memory_order_relaxed);
  own().waitsIn.store(number, std::memory_order_seq_cst);
  decide();
}

void Turns::leaveCollective() { endCollectiveOf(rank); }

void Turns::endCollectiveOf(int32_t member) {
  slot(member).waitsIn.store(0, std::memory_order_seq_cst);
}

void Turns::stepAside() {
  own().leftOut.store(1, std::memory_order_seq_cst);
  decide();
}

void Turns::comeBack() { own().leftOut.store(0, std::memory_order_seq_cst); }

void Turns::reset(uint64_t generation) {
  TurnState &s = state();
  s.random.store((seed + 1) * 0x9e3779b97f4a7c15u ^ (generation + 1) * 0xd1b54a32d192ed03u,
                 std::memory_order_relaxed);
  s.work.store(0, std::memory_order_relaxed);
  s.burst.store(0, std::memory_order_relaxed);
  s.last.store(0, std::memory_order_relaxed);
  s.phaseEnds.store(0, std::memory_order_relaxed);
  for (int32_t r = 0; r < worldSize; ++r) {
    slot(r).sitsOut.store(0, std::memory_order_relaxed);
    endCollectiveOf(r);
  }
  s.hostsFree.store(0, std::memory_order_relaxed);
  s.fruitless.store(0, std::memory_order_relaxed);
  for (int32_t r = 0; r < worldSize; ++r) {
    TurnSlot &slot = this->slot(r);
    slot.idleAt.store(0, std::memory_order_relaxed);
    slot.sitsOut.store(0, std::memory_order_relaxed);
    slot.leftOut.store(0, std::memory_order_relaxed);
    slot.wantsTurns.store(0, std::memory_order_relaxed);
    slot.waitsIn.store(0, std::memory_order_relaxed);
  }
  s.holder.store(0, std::memory_order_seq_cst);
}

uint64_t Turns::draw() {
  TurnState &s = state();
  uint64_t x = s.random.load(std::memory_order_relaxed);
  if (x == 0) {
    x = (seed + 1) * 0x9e3779b97f4a7c15u ^ 0xd1b54a32d192ed03u;
    for (int i = 0; i < 8; ++i)
      x = nextRandomState(x);
  }
  x = nextRandomState(x);
  s.random.store(x, std::memory_order_relaxed);
  return x >> 11;
}

bool Turns::wants(int32_t r) const {
  return slot(r).wantsTurns.load(std::memory_order_seq_cst) && !isGone(control.stateOf(r));
}

/// `epoch` is that of host collectives.
bool Turns::runsHostCode(int32_t r, uint64_t epoch) const {
  const TurnSlot &slot = this->slot(r);
  if (slot.wantsTurns.load(std::memory_order_seq_cst) & Thread)
    return false;
  // In a collective that has not come to its end.
  if (slot.waitsIn.load(std::memory_order_seq_cst) > epoch)
    return false;
  return !isGone(control.stateOf(r)) && !slot.leftOut.load(std::memory_order_seq_cst);
}

bool Turns::everybodyParked() const {
  uint64_t epoch = hostEpoch();
  for (int32_t r = 0; r < worldSize; ++r)
    if (runsHostCode(r, epoch))
      return false;
  return true;
}

bool Turns::isEligible(int32_t r, uint64_t work) const {
  const TurnSlot &slot = this->slot(r);
  return wants(r) && slot.idleAt.load(std::memory_order_relaxed) != work + 1 &&
         slot.sitsOut.load(std::memory_order_relaxed) <= work;
}

/// Turns in a phase: enough of them for short kernels as for long ones. No phase
/// lasts for ever, since a rank with a high priority may poll for what a lower
/// one has to do.
void Turns::beginPhase(uint64_t work) {
  static constexpr uint64_t kShortest = 16, kLengths = 9;
  static constexpr uint64_t kChanges[] = {0, 1, 2, 4}; // in a phase, on average
  TurnState &s = state();
  uint64_t x = draw();
  uint64_t length = kShortest << (x >> 8) % kLengths;
  uint64_t changes = kChanges[(x >> 4) % 4];
  s.phase.fetch_add(1, std::memory_order_relaxed);
  s.phaseEnds.store(work + length, std::memory_order_relaxed);
  s.byPriority.store(uint32_t(x & 1), std::memory_order_relaxed);
  s.changeEvery.store(changes ? length / changes : 0, std::memory_order_relaxed);
  s.lowest.store(0, std::memory_order_relaxed);
  s.burst.store(0, std::memory_order_relaxed);
  for (int32_t r = 0; (x & 1) && r < worldSize; ++r)
    slot(r).priority.store(int64_t(draw() >> 1), std::memory_order_relaxed);
}

int32_t Turns::chooseByPriority(int32_t last, uint64_t work) {
  TurnState &s = state();
  uint64_t changeEvery = s.changeEvery.load(std::memory_order_relaxed);
  if (changeEvery && draw() % changeEvery == 0)
    slot(last).priority.store(s.lowest.fetch_sub(1, std::memory_order_relaxed) - 1,
                              std::memory_order_relaxed);
  int32_t chosen = -1;
  int64_t highest = 0;
  for (int32_t r = 0; r < worldSize; ++r) {
    int64_t priority = slot(r).priority.load(std::memory_order_relaxed);
    if (isEligible(r, work) && (chosen < 0 || priority > highest)) {
      chosen = r;
      highest = priority;
    }
  }
  return chosen;
}

int32_t Turns::chooseAlike(int32_t last, int32_t eligible, uint64_t work) {
  TurnState &s = state();
  uint32_t burst = s.burst.load(std::memory_order_relaxed);
  if (burst && isEligible(last, work)) {
    s.burst.store(burst - 1, std::memory_order_relaxed);
    return last;
  }
  int32_t chosen = -1;
  int32_t skip = int32_t(draw() % uint64_t(eligible));
  for (int32_t r = 0; r < worldSize && chosen < 0; ++r)
    if (isEligible(r, work) && skip-- == 0)
      chosen = r;
  // Short and long runs of one rank: some bugs need the one, some the other.
  uint64_t x = draw();
  static constexpr uint32_t kBursts[] = {1, 1, 8, 64};
  s.burst.store(uint32_t((x >> 2) % kBursts[x & 3]), std::memory_order_relaxed);
  return chosen;
}

int32_t Turns::choose() {
  TurnState &s = state();
  uint64_t work = s.work.load(std::memory_order_relaxed);
  int32_t last = int32_t(s.last.load(std::memory_order_relaxed));
  int32_t eligible = 0;
  for (int32_t r = 0; r < worldSize; ++r)
    eligible += isEligible(r, work);
  int32_t chosen = -1;
  if (eligible) {
    if (work >= s.phaseEnds.load(std::memory_order_relaxed))
      beginPhase(work);
    chosen = s.byPriority.load(std::memory_order_relaxed) ? chooseByPriority(last, work)
                                                          : chooseAlike(last, eligible, work);
  } else {
    // All look for something to do in vain; each gets another look.
    s.burst.store(0, std::memory_order_relaxed);
    for (int32_t i = 1; i <= worldSize && chosen < 0; ++i)
      if (wants((last + i) % worldSize))
        chosen = (last + i) % worldSize;
  }
  if (chosen >= 0)
    s.last.store(uint32_t(chosen), std::memory_order_relaxed);
  return chosen;
}

void Turns::give(int32_t to) {
  state().holder.store(uint32_t(to) + 1, std::memory_order_seq_cst);
  if (to == rank)
    return;
  TurnSlot &slot = this->slot(to);
  slot.turn.fetch_add(1, std::memory_order_seq_cst);
  futexWake(slot.turn);
}

void Turns::decide() {
  TurnState &s = state();
  for (;;) {
    uint32_t expected = 0;
    if (!everybodyParked() ||
        !s.holder.compare_exchange_strong(expected, kDeciding, std::memory_order_seq_cst))
      return;
    // A collective may have ended meanwhile.
    int32_t next = everybodyParked() ? choose() : -1;
    if (next >= 0)
      return give(next);
    s.holder.store(0, std::memory_order_seq_cst);
    bool somebody = false;
    for (int32_t r = 0; r < worldSize; ++r)
      somebody = somebody || wants(r);
    if (!somebody)
      return;
  }
}

// `turn` is read before `holder`: a turn that is given in between changes the word, and the wait
// returns at once.
bool Turns::take() {
  TurnState &s = state();
  TurnSlot &slot = own();
  uint32_t seen = slot.turn.load(std::memory_order_seq_cst);
  if (holdsTurn())
    return true;
  futexWait(slot.turn, seen);
  uint32_t holder = s.holder.load(std::memory_order_seq_cst);
  if (holder == uint32_t(rank) + 1)
    return true;
  if (holder == 0) {
    decide();
    if (holdsTurn())
      return true;
    lookAtHosts();
  } else if (holder != kDeciding && !wants(int32_t(holder) - 1) &&
             s.holder.compare_exchange_strong(holder, 0, std::memory_order_seq_cst)) {
    // It left, or its host completed its transfers, when it was given the turn.
    decide();
  }
  return false;
}

void Turns::pass(bool progressed) {
  TurnState &s = state();
  if (progressed) {
    noteProgress();
  } else {
    s.fruitless.fetch_add(1, std::memory_order_relaxed);
    own().idleAt.store(s.work.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  if (everybodyParked()) {
    int32_t next = choose();
    if (next >= 0)
      return give(next);
  }
  s.holder.store(0, std::memory_order_seq_cst);
  decide(); // somebody may have come in between
}

// Nobody has the turn, and nobody gets it while some host runs its own code. Finds the first such
// host; when the same one keeps everybody waiting for a whole window, asleep or at work, it is left
// out and the order is no longer the seed's.
void Turns::lookAtHosts() {
  std::unique_lock<std::mutex> guard(hostsLock, std::try_to_lock);
  if (!guard.owns_lock())
    return;
  int32_t busy = -1;
  uint64_t epoch = hostEpoch();
  for (int32_t r = 0; r < worldSize && busy < 0; ++r) {
    if (control.stateOf(r) == RankState::Absent)
      return;
    if (runsHostCode(r, epoch))
      busy = r;
  }
  uint64_t now = nowNs();
  // It has been in its turns, or somebody else's, since the last look.
  uint64_t work = state().work.load(std::memory_order_relaxed);
  if (busy < 0 || busy != watched || work != watchedAt) {
    watched = busy;
    watchedAt = work;
    watchedSince = asleepSince = now;
    cpuAtSleep = 0;
    return;
  }
  TurnSlot &slot = this->slot(busy);
  int32_t pid = node.processOf(busy);
  char doing = 0;
  uint64_t ticks = processCpuTicks(pid, doing);
  if (doing != 'S' || cpuAtSleep == 0 || ticks > cpuAtSleep + kAsleepTicks) {
    asleepSince = now;
    cpuAtSleep = ticks + 1; // not 0
  }
  if (now - asleepSince < kAsleepNs && now - watchedSince < kBusyNs)
    return;
  state().hostsFree.store(1, std::memory_order_relaxed);
  uint32_t expected = 0;
  if (slot.leftOut.compare_exchange_strong(expected, 1))
    std::fprintf(stderr,
                 "nereid: rank %d is in host code and does not come back to a "
                 "launch or barrier; the random schedule goes on without it "
                 "and may differ next time\n",
                 int(busy));
  watched = -1;
  decide();
}

} // namespace nereid::runtime
