// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "symmetric/Turns.h"

#include "base/Clock.h"
#include "symmetric/PeerWatch.h"

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

Turns::Turns(ControlBlock control, int32_t rank, int32_t worldSize, uint64_t seed)
    : control(control), rank(rank), worldSize(worldSize), seed(seed) {}

void Turns::enterLaunch() {
  RankSlot &slot = own();
  slot.idleAt.store(0, std::memory_order_relaxed);
  slot.leftOut.store(0, std::memory_order_relaxed);
  slot.wantsTurns.store(1, std::memory_order_seq_cst);
  decide();
}

void Turns::leaveLaunch() {
  TurnState &s = state();
  bool holder = s.holder.load(std::memory_order_acquire) == uint32_t(rank) + 1;
  if (holder) {
    s.work.fetch_add(1, std::memory_order_relaxed);
    s.fruitless.store(0, std::memory_order_relaxed);
  }
  own().wantsTurns.store(0, std::memory_order_seq_cst);
  // Nobody is next before this rank's host code has come to where it waits.
  if (holder)
    s.holder.store(0, std::memory_order_seq_cst);
  decide(); // ... unless another thread of it waits already
}

void Turns::enterCollective(uint64_t number) {
  own().leftOut.store(0, std::memory_order_relaxed);
  own().waitsIn.store(number, std::memory_order_seq_cst);
  decide();
}

void Turns::leaveCollective() { own().waitsIn.store(0, std::memory_order_seq_cst); }

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
  s.fruitless.store(0, std::memory_order_relaxed);
  for (int32_t r = 0; r < worldSize; ++r) {
    RankSlot &slot = control.rank(r);
    slot.idleAt.store(0, std::memory_order_relaxed);
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
    for (int i = 0; i < 8; ++i) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
    }
  }
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  s.random.store(x, std::memory_order_relaxed);
  return x >> 11;
}

bool Turns::everybodyParked() const {
  uint64_t epoch = control.header().hostEpoch.value.load(std::memory_order_seq_cst);
  for (int32_t r = 0; r < worldSize; ++r) {
    const RankSlot &slot = control.rank(r);
    if (slot.wantsTurns.load(std::memory_order_seq_cst))
      continue;
    // In a collective that has not come to its end.
    if (slot.waitsIn.load(std::memory_order_seq_cst) > epoch)
      continue;
    if (isGone(control.stateOf(r)) || slot.leftOut.load(std::memory_order_seq_cst))
      continue;
    return false;
  }
  return true;
}

int32_t Turns::choose() {
  TurnState &s = state();
  uint64_t work = s.work.load(std::memory_order_relaxed);
  int32_t last = int32_t(s.last.load(std::memory_order_relaxed));
  auto wants = [&](int32_t r) {
    return control.rank(r).wantsTurns.load(std::memory_order_relaxed) &&
           !isGone(control.stateOf(r));
  };
  auto eligible = [&](int32_t r) {
    return wants(r) && control.rank(r).idleAt.load(std::memory_order_relaxed) != work + 1;
  };
  uint32_t burst = s.burst.load(std::memory_order_relaxed);
  if (burst && eligible(last)) {
    s.burst.store(burst - 1, std::memory_order_relaxed);
    return last;
  }
  int32_t count = 0;
  for (int32_t r = 0; r < worldSize; ++r)
    count += eligible(r);
  int32_t chosen = -1;
  burst = 0;
  if (count) {
    uint64_t x = draw();
    int32_t skip = int32_t(x % uint64_t(count));
    for (int32_t r = 0; r < worldSize && chosen < 0; ++r)
      if (eligible(r) && skip-- == 0)
        chosen = r;
    // Short and long runs of one rank: some bugs need the one, some the other.
    x = draw();
    static constexpr uint32_t kBursts[] = {1, 1, 8, 64};
    burst = uint32_t((x >> 2) % kBursts[x & 3]);
  } else {
    // All look for something to do in vain; each gets another look.
    for (int32_t i = 1; i <= worldSize && chosen < 0; ++i)
      if (wants((last + i) % worldSize))
        chosen = (last + i) % worldSize;
  }
  s.burst.store(burst, std::memory_order_relaxed);
  if (chosen >= 0)
    s.last.store(uint32_t(chosen), std::memory_order_relaxed);
  return chosen;
}

void Turns::give(int32_t to) {
  state().holder.store(uint32_t(to) + 1, std::memory_order_seq_cst);
  if (to == rank)
    return;
  RankSlot &slot = control.rank(to);
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
      somebody = somebody || control.rank(r).wantsTurns.load() != 0;
    if (!somebody)
      return;
  }
}

bool Turns::take() {
  TurnState &s = state();
  RankSlot &slot = own();
  uint32_t seen = slot.turn.load(std::memory_order_seq_cst);
  if (s.holder.load(std::memory_order_seq_cst) == uint32_t(rank) + 1)
    return true;
  futexWait(slot.turn, seen);
  uint32_t holder = s.holder.load(std::memory_order_seq_cst);
  if (holder == uint32_t(rank) + 1)
    return true;
  if (holder == 0) {
    decide();
    if (s.holder.load(std::memory_order_seq_cst) == uint32_t(rank) + 1)
      return true;
    lookAtHosts();
  }
  return false;
}

void Turns::pass(bool progressed) {
  TurnState &s = state();
  if (progressed) {
    s.work.fetch_add(1, std::memory_order_relaxed);
    s.fruitless.store(0, std::memory_order_relaxed);
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

void Turns::lookAtHosts() {
  int32_t busy = -1;
  uint64_t epoch = control.header().hostEpoch.value.load(std::memory_order_acquire);
  for (int32_t r = 0; r < worldSize && busy < 0; ++r) {
    const RankSlot &slot = control.rank(r);
    if (control.stateOf(r) == RankState::Absent)
      return;
    if (!slot.wantsTurns.load() && slot.waitsIn.load() <= epoch && !isGone(control.stateOf(r)) &&
        !slot.leftOut.load())
      busy = r;
  }
  uint64_t now = nowNs();
  if (busy < 0 || busy != watched) {
    watched = busy;
    watchedSince = asleepSince = now;
    cpuAtSleep = 0;
    return;
  }
  RankSlot &slot = control.rank(busy);
  int32_t pid = slot.pid.load(std::memory_order_relaxed);
  bool sleeps = false;
  uint64_t ticks = processCpuTicks(pid, sleeps);
  if (!sleeps || cpuAtSleep == 0 || ticks > cpuAtSleep + kAsleepTicks) {
    asleepSince = now;
    cpuAtSleep = ticks + 1; // not 0
  }
  if (now - asleepSince < kAsleepNs && now - watchedSince < kBusyNs)
    return;
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
