// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StressTest.cpp - Protocols made of loops that poll -----------------===//
//
// The waits are loops over ordinary atomics with nrd_yield on their back edge,
// as the compiler writes them: the runtime learns of nothing else. In thread
// ranks a thread sanitizer sees whether the protocols order their data.
// NEREID_STRESS_ROUNDS asks for another number of rounds.
//
//===----------------------------------------------------------------------===//
#include "Harness.h"

#include <atomic>
#include <cstdlib>

using namespace nereid::test;

namespace {

int64_t rounds() {
  const char *wanted = std::getenv("NEREID_STRESS_ROUNDS");
  int64_t number = wanted ? std::atoll(wanted) : 0;
  return number > 0 ? number : kRounds / 4;
}

/// A spin loop of generated code: `done` is its condition.
template <typename Done> void spinUntil(nrd_program *p, Done &&done) {
  for (uint32_t first = NRD_FIRST_YIELD; !done(); first = 0)
    nrd_yield(p, first);
}

template <typename T> std::atomic_ref<T> shared(T *at) { return std::atomic_ref<T>(*at); }

struct Case {
  int32_t ranks;
  int32_t threads;
  const char *schedule;
};

std::ostream &operator<<(std::ostream &os, const Case &c) {
  return os << c.ranks << " ranks, " << c.threads << " threads, " << c.schedule;
}

class Stress : public testing::TestWithParam<Case> {
protected:
  JobOptions options() const {
    JobOptions o = testOptions();
    o.numThreads = GetParam().threads;
    o.schedule = GetParam().schedule;
    return o;
  }
  int32_t ranks() const { return GetParam().ranks; }
  /// Rounds by `divisor`, fewer under random schedules.
  int64_t few(int64_t divisor = 1) const {
    bool random = GetParam().schedule[0] == 'r';
    return std::max<int64_t>(rounds() / divisor / (random ? 8 : 1), 4);
  }
};

//===--- data and flag in one word ------------------------------------------//

/// args: words[2][ranks], rounds, errors.
void packedWords(nrd_program *p, const uint64_t *args) {
  uint64_t *words = pointerArg<uint64_t>(args, 0);
  const int32_t n = p->num_ranks;
  for (uint64_t i = 0; i < args[1]; ++i) {
    uint64_t *half = words + (i & 1) * uint64_t(n);
    for (int32_t peer = 0; peer < n; ++peer)
      shared(symmAt(p, half, peer) + p->rank)
          .store((i + 1) << 32 | (uint64_t(p->rank) * 1000 + i), std::memory_order_release);
    for (int32_t source = 0; source < n; ++source) {
      uint64_t word = 0;
      spinUntil(p, [&] {
        word = shared(half + source).load(std::memory_order_acquire);
        return word >> 32 == i + 1;
      });
      if (uint32_t(word) != uint32_t(source) * 1000 + i)
        shared(pointerArg<int64_t>(args, 2)).fetch_add(1);
    }
  }
}

TEST_P(Stress, DataAndFlagInOneWord) {
  runBoth(ranks(), options(), [this](Job &job) {
    auto *words = symmetric<uint64_t>(job, size_t(2 * job.worldSize()));
    int64_t errors = 0;
    Status st = launchBlocking(job, packedWords, {arg(words), arg(few()), arg(&errors)}, 1);
    EXPECT_TRUE(st.ok()) << st.report();
    EXPECT_EQ(errors, 0);
    EXPECT_TRUE(job.barrier().ok());
  });
}

//===--- a queue by compare and swap ----------------------------------------//

/// args: states[4], slots[4], rounds, errors. Program 0 sends to the next rank,
/// program 1 receives. The slots are plain memory.
void swapQueue(nrd_program *p, const uint64_t *args) {
  const int32_t next = (p->rank + 1) % p->num_ranks;
  const int32_t previous = (p->rank + p->num_ranks - 1) % p->num_ranks;
  for (int64_t i = 0; i < int64_t(args[2]); ++i) {
    uint32_t *state = pointerArg<uint32_t>(args, 0) + i % 4;
    int64_t *slot = pointerArg<int64_t>(args, 1) + i % 4;
    auto swap = [](uint32_t *at, uint32_t from, uint32_t to) {
      return shared(at).compare_exchange_strong(from, to);
    };
    if (p->pid[0] == 0) {
      uint32_t *theirs = symmAt(p, state, next);
      spinUntil(p, [&] { return swap(theirs, 0, 2); });
      *symmAt(p, slot, next) = i * 100 + p->rank;
      shared(theirs).store(1, std::memory_order_release);
    } else {
      spinUntil(p, [&] { return shared(state).load(std::memory_order_acquire) == 1; });
      if (*slot != i * 100 + previous || !swap(state, 1, 0))
        shared(pointerArg<int64_t>(args, 3)).fetch_add(1);
    }
  }
}

TEST_P(Stress, QueueByCompareAndSwap) {
  runBoth(ranks(), options(), [this](Job &job) {
    auto *states = symmetric<uint32_t>(job, 4);
    auto *slots = symmetric<int64_t>(job, 4);
    int64_t errors = 0;
    Status st =
        launchBlocking(job, swapQueue, {arg(states), arg(slots), arg(few()), arg(&errors)}, 2);
    EXPECT_TRUE(st.ok()) << st.report();
    EXPECT_EQ(errors, 0);
    EXPECT_TRUE(job.barrier().ok());
  });
}

//===--- epochs over many launches ------------------------------------------//

/// args: flags[ranks], data, epoch, errors. Flags are set to the number of the
/// launch and never reset.
void epoch(nrd_program *p, const uint64_t *args) {
  uint32_t *flags = pointerArg<uint32_t>(args, 0);
  int64_t *data = pointerArg<int64_t>(args, 1);
  const int64_t now = int64_t(args[2]);
  const int32_t next = (p->rank + 1) % p->num_ranks;
  const int32_t previous = (p->rank + p->num_ranks - 1) % p->num_ranks;
  int64_t *slot = data + now % 2;
  *symmAt(p, slot, next) = now * 100 + p->rank;
  nrd_notify(p, flags + p->rank, now, next, NRD_SIG_SET, NRD_COMM_INTRA_NODE, 4, 0);
  nrd_wait(p, flags + previous, 1, now, 4, 0);
  if (*slot != now * 100 + previous)
    shared(pointerArg<int64_t>(args, 3)).fetch_add(1);
  // The answer: the slot may be written again.
  nrd_notify(p, flags + p->num_ranks, now, previous, NRD_SIG_SET, NRD_COMM_INTRA_NODE, 4, 0);
  nrd_wait(p, flags + p->num_ranks, 1, now, 4, 0);
}

TEST_P(Stress, EpochsOverLaunches) {
  runBoth(ranks(), options(), [this](Job &job) {
    auto *flags = symmetric<uint32_t>(job, size_t(job.worldSize() + 1));
    auto *data = symmetric<int64_t>(job, 2);
    int64_t errors = 0;
    for (int64_t now = 1; now <= few(2); ++now) {
      Status st = launchBlocking(job, epoch, {arg(flags), arg(data), arg(now), arg(&errors)}, 1);
      ASSERT_TRUE(st.ok()) << st.report();
    }
    EXPECT_EQ(errors, 0);
    EXPECT_TRUE(job.barrier().ok());
  });
}

//===--- many programs that poll --------------------------------------------//

/// args: flags. Program i waits for program i + 1: all have to be started.
void pollingChain(nrd_program *p, const uint64_t *args) {
  uint32_t *flags = pointerArg<uint32_t>(args, 0);
  const int32_t i = p->pid[0];
  if (i + 1 < p->grid[0])
    spinUntil(p, [&] { return shared(flags + i + 1).load(std::memory_order_acquire) != 0; });
  shared(flags + i).store(1, std::memory_order_release);
}

TEST_P(Stress, ProgramsStartBesidePollers) {
  runBoth(ranks(), options(), [](Job &job) {
    const int32_t programs = 400;
    auto *flags = symmetric<uint32_t>(job, programs);
    Status st = launchBlocking(job, pollingChain, {arg(flags)}, programs);
    EXPECT_TRUE(st.ok()) << st.report();
    EXPECT_TRUE(job.barrier().ok());
  });
}

/// args: flags, other. The same, and every round does something for others:
/// that must not keep programs from starting.
void busyChain(nrd_program *p, const uint64_t *args) {
  uint32_t *flags = pointerArg<uint32_t>(args, 0);
  const int32_t i = p->pid[0];
  if (i + 1 < p->grid[0])
    spinUntil(p, [&] {
      uint32_t value = 0;
      nrd_shmem_get(p, &value, flags + i + 1, 4, p->rank, 0, 0);
      nrd_shmem_p(p, pointerArg<uint32_t>(args, 1) + i, value, 4, p->rank, 0);
      return shared(flags + i + 1).load(std::memory_order_acquire) != 0;
    });
  shared(flags + i).store(1, std::memory_order_release);
}

TEST(Polling, RoundsWithTransfersLetOthersStart) {
  JobOptions options = testOptions();
  runThreads(1, options, [](Job &job) {
    auto *flags = symmetric<uint32_t>(job, 60);
    auto *other = symmetric<uint32_t>(job, 60);
    Status st = launchBlocking(job, busyChain, {arg(flags), arg(other)}, 60);
    EXPECT_TRUE(st.ok()) << st.report();
  });
}

/// args: turn, stop. Programs take turns by ordinary stores until told to stop.
void turns(nrd_program *p, const uint64_t *args) {
  const uint64_t n = uint64_t(p->num_ranks) * uint64_t(p->grid[0]);
  const uint64_t me = uint64_t(p->rank * p->grid[0] + p->pid[0]);
  auto turn = shared(symmAt(p, pointerArg<uint64_t>(args, 0), 0));
  const uint64_t until = nrd_clock_ns(p) + args[1];
  for (uint64_t value = 0; value < ~uint64_t(0);) {
    spinUntil(p, [&] {
      value = turn.load(std::memory_order_acquire);
      return value == ~uint64_t(0) || value % n == me;
    });
    if (value == ~uint64_t(0))
      return;
    bool last = me == 0 && nrd_clock_ns(p) > until;
    turn.store(last ? ~uint64_t(0) : value + 1, std::memory_order_release);
  }
}

TEST(Polling, TurnsByOrdinaryStoresAreNoHang) {
  JobOptions options = testOptions();
  options.timeoutSeconds = 1;
  runBoth(4, options, [](Job &job) {
    auto *turn = symmetric<uint64_t>(job, 1);
    Status st = launchBlocking(job, turns, {arg(turn), arg(int64_t(2500000000))}, 2);
    EXPECT_TRUE(st.ok()) << st.report();
    EXPECT_TRUE(job.barrier().ok());
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, Stress,
                         testing::Values(Case{2, 1, "fifo"}, Case{2, 2, "fifo"}, Case{4, 1, "fifo"},
                                         Case{4, 2, "random:5"}, Case{8, 1, "fifo"}));

} // namespace
