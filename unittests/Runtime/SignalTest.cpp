// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SignalTest.cpp - Protocols between ranks and programs --------------===//
//
// Kernels written by hand against abi.h, as the compiler would write them.
//
//===----------------------------------------------------------------------===//
#include "Harness.h"

#include <atomic>

using namespace nereid::test;

namespace {

struct World {
  int32_t ranks;
  int32_t threads;
  const char *schedule;
};

std::ostream &operator<<(std::ostream &os, const World &c) {
  return os << c.ranks << " ranks, " << c.threads << " threads, " << c.schedule;
}

class Signals : public testing::TestWithParam<World> {
protected:
  JobOptions options() const {
    JobOptions o = testOptions();
    o.numThreads = GetParam().threads;
    o.schedule = GetParam().schedule;
    return o;
  }
  int32_t ranks() const { return GetParam().ranks; }
};

/// Protocols that need two ranks.
class PairSignals : public Signals {};

//===--- ping-pong ----------------------------------------------------------//

/// args: flag, rounds. Rank 0 and 1 bounce an ever-growing number.
void pingPong(nrd_program *p, const uint64_t *args) {
  uint64_t *flag = pointerArg<uint64_t>(args, 0);
  int64_t rounds = int64_t(args[1]);
  if (p->rank > 1)
    return;
  int32_t peer = 1 - p->rank;
  for (int64_t i = 1; i <= rounds; ++i) {
    if (p->rank == 0) {
      nrd_notify(p, flag, i, peer, NRD_SIG_SET, NRD_COMM_INTRA_NODE, 8, 0);
      nrd_wait(p, flag, 1, i, 8, 0);
    } else {
      nrd_wait(p, flag, 1, i, 8, 0);
      nrd_notify(p, flag, i, peer, NRD_SIG_SET, NRD_COMM_INTRA_NODE, 8, 0);
    }
  }
}

TEST_P(PairSignals, PingPong) {
  runBoth(ranks(), options(), [](Job &job) {
    uint64_t *flag = symmetric<uint64_t>(job, 1, "flag");
    Status st = launchBlocking(job, pingPong, {arg(flag), arg(kRounds)}, 1);
    EXPECT_TRUE(st.ok()) << st.report();
    if (job.rank() < 2)
      EXPECT_EQ(*flag, uint64_t(kRounds));
    EXPECT_TRUE(job.barrier().ok());
  });
}

//===--- the same by a spin loop of the kernel ------------------------------//

void spinPingPong(nrd_program *p, const uint64_t *args) {
  std::atomic_ref<uint32_t> mine(*pointerArg<uint32_t>(args, 0));
  int64_t rounds = int64_t(args[1]);
  if (p->rank > 1)
    return;
  std::atomic_ref<uint32_t> other(*symmAt(p, pointerArg<uint32_t>(args, 0), 1 - p->rank));
  for (int64_t i = 1; i <= rounds; ++i) {
    if (p->rank == 0)
      other.store(uint32_t(i), std::memory_order_release);
    while (mine.load(std::memory_order_acquire) != uint32_t(i))
      nrd_yield(p, 0);
    if (p->rank == 1)
      other.store(uint32_t(i), std::memory_order_release);
  }
}

TEST_P(PairSignals, SpinLoopsMakeProgress) {
  runBoth(ranks(), options(), [](Job &job) {
    uint32_t *flag = symmetric<uint32_t>(job, 1, "flag");
    Status st = launchBlocking(job, spinPingPong, {arg(flag), arg(kRounds)}, 1);
    EXPECT_TRUE(st.ok()) << st.report();
    EXPECT_TRUE(job.barrier().ok());
  });
}

//===--- ring ---------------------------------------------------------------//

/// args: data (one per program), flags, programs. Every program passes a value
/// around all ranks, adding one at each.
void ring(nrd_program *p, const uint64_t *args) {
  int64_t *data = pointerArg<int64_t>(args, 0) + p->pid[0];
  uint32_t *flag = pointerArg<uint32_t>(args, 1) + p->pid[0];
  int32_t next = (p->rank + 1) % p->num_ranks;
  if (p->rank != 0) {
    nrd_wait(p, flag, 1, 1, 4, 0);
  } else {
    *data = 100 * p->pid[0];
  }
  int64_t value = *data + 1;
  if (p->rank == 0 && p->num_ranks == 1) {
    *data = value;
    return;
  }
  nrd_shmem_put_signal(p, data, &value, sizeof(value), flag, 1, NRD_SIG_SET, next, 4, 0, 0);
  if (p->rank == 0)
    nrd_wait(p, flag, 1, 1, 4, 0);
}

TEST_P(Signals, RingWithData) {
  runBoth(ranks(), options(), [](Job &job) {
    const int32_t programs = 7;
    int64_t *data = symmetric<int64_t>(job, programs, "data");
    uint32_t *flags = symmetric<uint32_t>(job, programs, "flags");
    Status st = launchBlocking(job, ring, {arg(data), arg(flags)}, programs);
    EXPECT_TRUE(st.ok()) << st.report();
    if (job.rank() == 0)
      for (int32_t i = 0; i < programs; ++i)
        EXPECT_EQ(data[i], 100 * i + job.worldSize());
    EXPECT_TRUE(job.barrier().ok());
  });
}

//===--- all-to-all -----------------------------------------------------------

/// args: send[n*len], recv[n*len], flags[n], len, epoch
void allToAll(nrd_program *p, const uint64_t *args) {
  int32_t *send = pointerArg<int32_t>(args, 0);
  int32_t *recv = pointerArg<int32_t>(args, 1);
  uint64_t *flags = pointerArg<uint64_t>(args, 2);
  int64_t len = int64_t(args[3]), epoch = int64_t(args[4]);
  for (int32_t i = p->pid[0]; i < p->num_ranks; i += p->grid[0]) {
    int32_t peer = (p->rank + i) % p->num_ranks;
    nrd_shmem_put(p, recv + p->rank * len, send + peer * len, uint64_t(len) * 4, peer, 1, 0);
    nrd_shmem_fence(p, 0);
    nrd_shmem_signal_op(p, flags + p->rank, uint64_t(epoch), NRD_SIG_SET, peer, 8, 0);
  }
  if (p->pid[0] == 0)
    nrd_wait(p, flags, p->num_ranks, epoch, 8, 0);
}

TEST_P(Signals, AllToAll) {
  runBoth(ranks(), options(), [](Job &job) {
    const int64_t len = 37;
    int32_t n = job.worldSize();
    int32_t *send = symmetric<int32_t>(job, size_t(n * len), "send");
    int32_t *recv = symmetric<int32_t>(job, size_t(n * len), "recv");
    uint64_t *flags = symmetric<uint64_t>(job, size_t(n), "flags");
    for (int64_t epoch = 1; epoch <= 20; ++epoch) {
      for (int32_t r = 0; r < n; ++r)
        for (int64_t i = 0; i < len; ++i)
          send[r * len + i] = int32_t(epoch * 1000000 + job.rank() * 10000 + r * 100 + i);
      Status st = launchBlocking(job, allToAll,
                                 {arg(send), arg(recv), arg(flags), arg(len), arg(epoch)}, 3);
      ASSERT_TRUE(st.ok()) << st.report();
      for (int32_t r = 0; r < n; ++r)
        for (int64_t i = 0; i < len; ++i)
          ASSERT_EQ(recv[r * len + i], epoch * 1000000 + r * 10000 + job.rank() * 100 + i);
      ASSERT_TRUE(job.barrier().ok());
    }
  });
}

//===--- ticket lock ----------------------------------------------------------

/// args: lock {next, serving}, counter, rounds; all on rank 0. The counter is
/// plain memory: only the lock protects it.
void ticketLock(nrd_program *p, const uint64_t *args) {
  uint32_t *lock = symmAt(p, pointerArg<uint32_t>(args, 0), 0);
  int64_t *counter = symmAt(p, pointerArg<int64_t>(args, 1), 0);
  std::atomic_ref<uint32_t> next(lock[0]), serving(lock[1]);
  for (int64_t i = 0; i < int64_t(args[2]); ++i) {
    uint32_t mine = next.fetch_add(1, std::memory_order_relaxed);
    while (serving.load(std::memory_order_acquire) != mine)
      nrd_yield(p, 0);
    *counter += 1;
    serving.store(mine + 1, std::memory_order_release);
  }
}

TEST_P(Signals, TicketLock) {
  runBoth(ranks(), options(), [](Job &job) {
    uint32_t *lock = symmetric<uint32_t>(job, 2, "lock");
    int64_t *counter = symmetric<int64_t>(job, 1, "counter");
    const int32_t programs = 3, rounds = 25;
    Status st = launchBlocking(job, ticketLock, {arg(lock), arg(counter), arg(rounds)}, programs);
    EXPECT_TRUE(st.ok()) << st.report();
    EXPECT_TRUE(job.barrier().ok());
    if (job.rank() == 0)
      EXPECT_EQ(*counter, int64_t(job.worldSize()) * programs * rounds);
    EXPECT_TRUE(job.barrier().ok());
  });
}

//===--- barriers -------------------------------------------------------------

/// args: slots[2][programs], rounds, errors. Double-buffered: in each round
/// everybody writes, all meet, everybody checks the next rank.
void doubleBuffer(nrd_program *p, const uint64_t *args) {
  int64_t *slots = pointerArg<int64_t>(args, 0);
  int64_t rounds = int64_t(args[1]);
  std::atomic_ref<int64_t> errors(*pointerArg<int64_t>(args, 2));
  int32_t n = p->grid[0];
  for (int64_t i = 0; i < rounds; ++i) {
    int64_t *buffer = slots + (i & 1) * n;
    buffer[p->pid[0]] = i * 1000 + p->rank * 100 + p->pid[0];
    nrd_barrier_all(p, 0);
    int32_t peer = (p->rank + 1) % p->num_ranks;
    int32_t from = (p->pid[0] + 1) % n;
    int64_t got = symmAt(p, buffer, peer)[from];
    if (got != i * 1000 + peer * 100 + from)
      errors.fetch_add(1);
  }
}

TEST_P(Signals, DoubleBufferingWithOneBarrierPerRound) {
  runBoth(ranks(), options(), [](Job &job) {
    const int32_t programs = 9; // more than threads
    int64_t *slots = symmetric<int64_t>(job, 2 * programs, "slots");
    int64_t errors = 0;
    Status st = launchBlocking(job, doubleBuffer, {arg(slots), arg(60), arg(&errors)}, programs);
    EXPECT_TRUE(st.ok()) << st.report();
    EXPECT_EQ(errors, 0);
    EXPECT_TRUE(job.barrier().ok());
  });
}

//===--- counted producers, comparisons ---------------------------------------

/// args: counter, programs of all ranks. All add to rank 0's counter; program
/// 0 of rank 0 waits for >= and then for ==.
void countUp(nrd_program *p, const uint64_t *args) {
  int32_t *counter = pointerArg<int32_t>(args, 0);
  int64_t total = int64_t(args[1]);
  nrd_notify(p, counter, 1, 0, NRD_SIG_ADD, NRD_COMM_INTER_NODE, 4, 0);
  if (p->rank == 0 && p->pid[0] == 0) {
    nrd_shmem_wait_until(p, counter, NRD_CMP_GE, 1, 4, 1, 0);
    nrd_shmem_wait_until(p, counter, NRD_CMP_NE, 0, 4, 0, 0);
    nrd_shmem_wait_until(p, counter, NRD_CMP_GT, uint64_t(int64_t(-1)), 4, 1, 0);
    nrd_wait(p, counter, 1, total, 4, 0);
  }
}

TEST_P(Signals, AddCounter) {
  runBoth(ranks(), options(), [](Job &job) {
    int32_t *counter = symmetric<int32_t>(job, 1, "counter");
    const int32_t programs = 5;
    int64_t total = int64_t(programs) * job.worldSize();
    Status st = launchBlocking(job, countUp, {arg(counter), arg(total)}, programs);
    EXPECT_TRUE(st.ok()) << st.report();
    if (job.rank() == 0)
      EXPECT_EQ(*counter, total);
    EXPECT_TRUE(job.barrier().ok());
  });
}

//===--- programs of one rank -------------------------------------------------

/// args: flags. Program i wakes program i - 1: the last one starts the chain,
/// so all have to be alive at once.
void chain(nrd_program *p, const uint64_t *args) {
  uint32_t *flags = pointerArg<uint32_t>(args, 0);
  int32_t i = p->pid[0];
  if (i != p->grid[0] - 1)
    nrd_wait(p, flags + i, 1, 1, 4, 0);
  if (i > 0)
    nrd_notify(p, flags + i - 1, 1, p->rank, NRD_SIG_SET, NRD_COMM_GPU, 4, 0);
}

TEST_P(Signals, AllProgramsAreAliveAtOnce) {
  runBoth(ranks(), options(), [](Job &job) {
    const int32_t programs = 300;
    uint32_t *flags = symmetric<uint32_t>(job, programs, "flags");
    Status st = launchBlocking(job, chain, {arg(flags)}, programs);
    EXPECT_TRUE(st.ok()) << st.report();
    EXPECT_TRUE(job.barrier().ok());
  });
}

INSTANTIATE_TEST_SUITE_P(One, Signals,
                         testing::Values(World{1, 1, "fifo"}, World{1, 3, "fifo"},
                                         World{1, 2, "random:4"}));

const World kWorlds[] = {{2, 1, "fifo"},     {2, 2, "random:7"}, {3, 1, "random:1"}, {4, 1, "fifo"},
                         {4, 2, "random:2"}, {8, 1, "fifo"},     {8, 1, "random:3"}};
INSTANTIATE_TEST_SUITE_P(Worlds, Signals, testing::ValuesIn(kWorlds));
INSTANTIATE_TEST_SUITE_P(Worlds, PairSignals, testing::ValuesIn(kWorlds));

} // namespace
