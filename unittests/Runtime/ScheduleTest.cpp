// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScheduleTest.cpp - Random schedules repeat, and find mistakes ------===//
#include "Harness.h"

#include <atomic>
#include <csignal>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

using namespace nereid::test;

namespace {

constexpr int32_t kRanks = 4;
constexpr int32_t kPrograms = 3;
constexpr int32_t kSteps = 20;
constexpr size_t kEntries = size_t(kRanks) * kPrograms * kSteps;

/// args: counter, log, flags[programs]. Every program of every rank draws
/// tickets from rank 0 and writes down who had which: the log is the order of
/// what happened in the whole job.
void drawTickets(nrd_program *p, const uint64_t *args) {
  int64_t *counter = symmAt(p, pointerArg<int64_t>(args, 0), 0);
  int64_t *log = symmAt(p, pointerArg<int64_t>(args, 1), 0);
  uint64_t *flag = pointerArg<uint64_t>(args, 2) + p->pid[0];
  int32_t next = (p->rank + 1) % p->num_ranks;
  for (int64_t i = 0; i < kSteps; ++i) {
    int64_t ticket = std::atomic_ref<int64_t>(*counter).fetch_add(1);
    log[ticket] = (p->rank * 100 + p->pid[0]) * 1000 + i;
    switch (i % 4) {
    case 0:
      nrd_yield(p, 0);
      break;
    case 1:
      nrd_shmem_signal_op(p, flag, 1, NRD_SIG_ADD, next, 8, 0);
      break;
    case 2:
      if (i % 8 == 2)
        nrd_shmem_wait_until(p, flag, NRD_CMP_GE, uint64_t(i / 4 + 1), 8, 0, 0);
      break;
    case 3:
      if (i == 11)
        nrd_barrier_all(p, 0);
      else
        nrd_shmem_quiet(p, 0);
      break;
    }
  }
}

/// The order of one run. `delays` makes host code of the ranks take different
/// times.
std::vector<int64_t> order(int seed, bool processes, bool delays) {
  auto *shared = static_cast<int64_t *>(
      mmap(nullptr, 2 * kEntries * 8, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  JobOptions options = testOptions();
  options.schedule = "random:" + std::to_string(seed);
  auto body = [&](Job &job) {
    for (int launch = 0; launch < 2; ++launch) {
      int64_t *counter = symmetric<int64_t>(job, 1, "counter");
      int64_t *log = symmetric<int64_t>(job, kEntries, "log");
      uint64_t *flags = symmetric<uint64_t>(job, kPrograms, "flags");
      if (delays)
        usleep(useconds_t((job.rank() * 7 + launch * 3) % 5 * 4000));
      Status st = launchBlocking(job, drawTickets, {arg(counter), arg(log), arg(flags)}, kPrograms);
      EXPECT_TRUE(st.ok()) << st.report();
      if (delays && job.rank() == 1)
        usleep(3000);
      EXPECT_TRUE(job.barrier().ok());
      if (job.rank() == 0)
        std::copy(log, log + kEntries, shared + size_t(launch) * kEntries);
      EXPECT_TRUE(job.barrier().ok());
    }
  };
  if (processes) {
    std::vector<int> codes = runForked(kRanks, options, [&](Job &job) {
      body(job);
      return 0;
    });
    EXPECT_EQ(codes, std::vector<int>(size_t(kRanks), 0));
  } else {
    runThreads(kRanks, options, body);
  }
  std::vector<int64_t> out(shared, shared + 2 * kEntries);
  munmap(shared, 2 * kEntries * 8);
  return out;
}

TEST(Schedule, TheSameSeedGivesTheSameOrder) {
  for (int seed : {1, 2, 77}) {
    std::vector<int64_t> first = order(seed, true, false);
    EXPECT_EQ(first, order(seed, true, false)) << "seed " << seed;
    EXPECT_EQ(first, order(seed, true, true)) << "seed " << seed << ", delays";
    EXPECT_EQ(first, order(seed, false, true)) << "seed " << seed << ", threads";
  }
}

TEST(Schedule, DifferentSeedsGiveDifferentOrders) {
  std::set<std::vector<int64_t>> orders;
  for (int seed = 0; seed < 8; ++seed)
    orders.insert(order(seed, false, false));
  EXPECT_EQ(orders.size(), 8u);
}

//===--- mistakes ---------------------------------------------------------------

struct Data {
  int64_t *send, *recv; ///< kLength each
  uint64_t *flag;
  std::atomic<int64_t> *wrong;
};
constexpr int64_t kLength = 100;
constexpr int64_t kIterations = 6;

int64_t item(int32_t rank, int64_t iteration, int64_t i) {
  return (rank * 1000 + iteration) * 1000 + i;
}

enum class Slip { None, NoFence, NoQuiet, SourceReused, NoBarrier, GetNoQuiet };

/// args: data, slip. Each rank sends to the next one, in some rounds.
void exchange(nrd_program *p, const uint64_t *args) {
  const Data &d = *pointerArg<const Data>(args, 0);
  Slip slip = Slip(args[1]);
  int32_t next = (p->rank + 1) % p->num_ranks;
  int32_t previous = (p->rank + p->num_ranks - 1) % p->num_ranks;
  auto fill = [&](int64_t iteration) {
    for (int64_t i = 0; i < kLength; ++i)
      d.send[i] = item(p->rank, iteration, i);
  };
  auto check = [&](const int64_t *data, int32_t rank, int64_t iteration) {
    for (int64_t i = 0; i < kLength; ++i)
      if (data[i] != item(rank, iteration, i)) {
        d.wrong->fetch_add(1);
        return;
      }
  };
  for (int64_t k = 1; k <= kIterations; ++k) {
    fill(k);
    nrd_shmem_put(p, d.recv, d.send, kLength * 8, next, 1, 0);
    if (slip == Slip::SourceReused)
      fill(-k);
    if (slip != Slip::NoFence)
      nrd_shmem_fence(p, 0);
    nrd_shmem_signal_op(p, d.flag, uint64_t(k), NRD_SIG_SET, next, 8, 0);
    nrd_wait(p, d.flag, 1, k, 8, 0);
    check(d.recv, previous, k);
    nrd_barrier_all(p, 0);
    // The other way around, by gets.
    fill(100 + k);
    nrd_barrier_all(p, 0);
    nrd_shmem_get(p, d.recv, d.send, kLength * 8, previous, 1, 0);
    if (slip != Slip::GetNoQuiet)
      nrd_shmem_quiet(p, 0);
    check(d.recv, previous, 100 + k);
    // Nobody may change what its neighbour still reads.
    if (slip != Slip::NoBarrier)
      nrd_barrier_all(p, 0);
    // A result that only a quiet makes safe to announce by a plain store.
    fill(200 + k);
    nrd_shmem_put(p, d.recv, d.send, kLength * 8, next, 0, 0);
    if (slip != Slip::NoQuiet)
      nrd_shmem_quiet(p, 0);
    __atomic_store_n(symmAt(p, d.flag, next) + 8, uint64_t(k), __ATOMIC_RELEASE);
    nrd_wait(p, d.flag + 8, 1, k, 8, 0);
    check(d.recv, previous, 200 + k);
    nrd_barrier_all(p, 0);
  }
}

/// Ranks that saw wrong data, or a wait that could not end, for one seed.
bool fails(Slip slip, int seed) {
  JobOptions options = testOptions();
  options.schedule = "random:" + std::to_string(seed);
  options.timeoutSeconds = 5;
  std::atomic<int64_t> wrong{0};
  runThreads(3, options, [&](Job &job) {
    Data d{symmetric<int64_t>(job, kLength, "send"), symmetric<int64_t>(job, kLength, "recv"),
           symmetric<uint64_t>(job, 16, "flag"), &wrong};
    Status st = launchBlocking(job, exchange, {arg(&d), uint64_t(slip)}, 1, "exchange");
    if (!st.ok())
      wrong.fetch_add(1);
    (void)job.barrier();
  });
  return wrong != 0;
}

int failures(Slip slip, int seeds) {
  int count = 0;
  for (int seed = 1; seed <= seeds; ++seed)
    count += fails(slip, seed);
  return count;
}

TEST(Schedule, MistakesShowForSomeSeed) {
  EXPECT_EQ(failures(Slip::None, 100), 0);
  EXPECT_GT(failures(Slip::NoFence, 10), 0) << "missing fence";
  EXPECT_GT(failures(Slip::NoQuiet, 10), 0) << "missing quiet";
  EXPECT_GT(failures(Slip::SourceReused, 10), 0) << "source reused";
  EXPECT_GT(failures(Slip::NoBarrier, 10), 0) << "missing barrier";
  EXPECT_GT(failures(Slip::GetNoQuiet, 10), 0) << "get without quiet";
}

//===--- mistakes that only show between launches, or after a long delay --------

/// args: to, from, count. Sends to the other rank and ends.
void sendNumbers(nrd_program *p, const uint64_t *args) {
  nrd_shmem_put(p, pointerArg<int64_t>(args, 0), pointerArg<int64_t>(args, 1), args[2] * 8,
                1 - p->rank, 1, 0);
}
/// args: to, count, value
void fillNumbers(nrd_program *, const uint64_t *args) {
  std::fill_n(pointerArg<int64_t>(args, 0), args[1], int64_t(args[2]));
}

/// The source of a transfer changes after its launch.
enum class Refill { AfterBarrier, ByHost, ByLaunch, AfterPut };

bool refillFails(Refill how, int seed) {
  JobOptions options = testOptions();
  options.schedule = "random:" + std::to_string(seed);
  std::atomic<int64_t> wrong{0};
  runThreads(2, options, [&](Job &job) {
    constexpr int64_t kCount = 8;
    int64_t *source = symmetric<int64_t>(job, kCount, "source");
    int64_t *target = symmetric<int64_t>(job, kCount, "target");
    int64_t *other = symmetric<int64_t>(job, 1, "other");
    std::fill_n(source, kCount, 1);
    EXPECT_TRUE(job.barrier().ok());
    EXPECT_TRUE(launchBlocking(job, sendNumbers, {arg(target), arg(source), kCount}, 1).ok());
    int64_t one = 1;
    if (how == Refill::AfterBarrier)
      EXPECT_TRUE(job.barrier().ok());
    if (how == Refill::AfterPut) // completes what finished launches have asked for
      EXPECT_TRUE(job.put(other, &one, 8, job.rank()).ok());
    if (how == Refill::ByLaunch)
      EXPECT_TRUE(launchBlocking(job, fillNumbers, {arg(source), kCount, 2}, 1).ok());
    else
      std::fill_n(source, kCount, 2);
    EXPECT_TRUE(job.barrier().ok());
    for (int64_t i = 0; i < kCount; ++i)
      wrong += target[i] != 1;
  });
  return wrong != 0;
}

/// args: x, flag, out, call. The store comes after the signal that announces it.
void storeLate(nrd_program *p, const uint64_t *args) {
  int64_t *x = pointerArg<int64_t>(args, 0);
  uint64_t *flag = pointerArg<uint64_t>(args, 1);
  if (p->rank == 1) {
    nrd_wait(p, flag, 1, 1, 8, 0);
    *pointerArg<int64_t>(args, 2) = __atomic_load_n(x, __ATOMIC_RELAXED);
    return;
  }
  const bool right = args[3] == 4;
  if (right)
    __atomic_store_n(symmAt(p, x, 1), 1, __ATOMIC_RELAXED);
  nrd_notify(p, flag, 1, 1, NRD_SIG_SET, NRD_COMM_INTRA_NODE, 8, 0);
  if (args[3] == 1)
    nrd_shmem_quiet(p, 0);
  if (args[3] == 2)
    nrd_notify(p, flag + 1, 1, 1, NRD_SIG_SET, NRD_COMM_INTRA_NODE, 8, 0);
  for (int i = 0; args[3] == 3 && i < 20; ++i)
    nrd_notify(p, flag + 1, 1, 1, NRD_SIG_SET, NRD_COMM_INTRA_NODE, 8, 0);
  if (!right)
    __atomic_store_n(symmAt(p, x, 1), 1, __ATOMIC_RELAXED);
}

bool lateStoreFails(int call, int seed) {
  JobOptions options = testOptions();
  options.schedule = "random:" + std::to_string(seed);
  std::atomic<int64_t> wrong{0};
  runThreads(2, options, [&](Job &job) {
    int64_t *x = symmetric<int64_t>(job, 1, "x");
    uint64_t *flag = symmetric<uint64_t>(job, 2, "flag");
    int64_t out = 1;
    EXPECT_TRUE(launchBlocking(job, storeLate, {arg(x), arg(flag), arg(&out), arg(call)}, 1).ok());
    wrong += out != 1;
    EXPECT_TRUE(job.barrier().ok());
  });
  return wrong != 0;
}

/// args: flag. Tells the next rank and waits for the previous one.
void meetNeighbours(nrd_program *p, const uint64_t *args) {
  uint64_t *flag = pointerArg<uint64_t>(args, 0);
  nrd_shmem_signal_op(p, flag, 1, NRD_SIG_ADD, (p->rank + 1) % p->num_ranks, 8, 0);
  nrd_shmem_wait_until(p, flag, NRD_CMP_GE, 1, 8, 0, 0);
}

/// A host resets the signal of its rank when the kernel has seen it, with a
/// barrier between this and the next round, or without.
enum class Reset { Barrier, NoBarrier, BarrierBefore };

bool resetFails(Reset how, int seed) {
  JobOptions options = testOptions();
  options.schedule = "random:" + std::to_string(seed);
  std::atomic<int64_t> wrong{0};
  runThreads(3, options, [&](Job &job) {
    uint64_t *flag = symmetric<uint64_t>(job, 1, "flag");
    for (int round = 0; round < 3; ++round) {
      Status st = launchBlocking(job, meetNeighbours, {arg(flag)}, 1);
      if (!st.ok()) {
        ++wrong; // the signal that it waits for has been wiped out
        return;
      }
      if (how == Reset::BarrierBefore && !job.barrier().ok())
        return;
      __atomic_store_n(flag, 0, __ATOMIC_RELAXED);
      if (how == Reset::Barrier && !job.barrier().ok())
        return;
    }
  });
  return wrong != 0;
}

/// args: slots, flag, wrong, right. Rank 0 fills a ring of slots for rank 1, which
/// tells when it has read one; the wrong kernel does not wait for that.
void fillRing(nrd_program *p, const uint64_t *args) {
  constexpr uint64_t kSlots = 8, kRounds = 40;
  uint64_t *slots = pointerArg<uint64_t>(args, 0), *flag = pointerArg<uint64_t>(args, 1);
  uint64_t *read = flag + 1;
  for (uint64_t k = 1; p->rank == 0 && k <= kRounds; ++k) {
    if (args[3] && k > kSlots)
      nrd_shmem_wait_until(p, read, NRD_CMP_GE, k - kSlots, 8, 0, 0);
    nrd_shmem_p(p, slots + k % kSlots, k, 8, 1, 0);
    nrd_shmem_fence(p, 0);
    nrd_shmem_signal_op(p, flag, k, NRD_SIG_SET, 1, 8, 0);
  }
  for (uint64_t k = 1; p->rank == 1 && k <= kRounds; ++k) {
    nrd_shmem_wait_until(p, flag, NRD_CMP_GE, k, 8, 0, 0);
    if (__atomic_load_n(slots + k % kSlots, __ATOMIC_RELAXED) != k)
      pointerArg<std::atomic<int64_t>>(args, 2)->fetch_add(1);
    nrd_shmem_signal_op(p, read, k, NRD_SIG_SET, 0, 8, 0);
  }
}

bool ringFails(bool right, int seed) {
  JobOptions options = testOptions();
  options.schedule = "random:" + std::to_string(seed);
  std::atomic<int64_t> wrong{0};
  runThreads(2, options, [&](Job &job) {
    uint64_t *slots = symmetric<uint64_t>(job, 8, "slots");
    uint64_t *flag = symmetric<uint64_t>(job, 2, "flag");
    Status st = launchBlocking(job, fillRing, {arg(slots), arg(flag), arg(&wrong), right}, 1);
    EXPECT_TRUE(st.ok()) << st.report();
    EXPECT_TRUE(job.barrier().ok());
  });
  return wrong != 0;
}

/// Of the seeds 1 to `seeds`, those for which `fails` holds.
template <typename Fails> int countSeeds(int seeds, Fails fails) {
  int count = 0;
  for (int seed = 1; seed <= seeds; ++seed)
    count += fails(seed);
  return count;
}

TEST(Schedule, SourcesThatHostsReuseShow) {
  auto with = [](Refill how) { return [=](int seed) { return refillFails(how, seed); }; };
  EXPECT_GT(countSeeds(5, with(Refill::ByHost)), 0);
  EXPECT_GT(countSeeds(10, with(Refill::ByLaunch)), 0);
  EXPECT_EQ(countSeeds(100, with(Refill::AfterBarrier)), 0);
  EXPECT_EQ(countSeeds(100, with(Refill::AfterPut)), 0);
}

TEST(Schedule, StoresAfterTheirSignalShow) {
  for (int call = 0; call < 4; ++call)
    EXPECT_GT(countSeeds(10, [=](int seed) { return lateStoreFails(call, seed); }), 0)
        << "call " << call;
  EXPECT_EQ(countSeeds(100, [](int seed) { return lateStoreFails(4, seed); }), 0);
}

TEST(Schedule, HostsRaceWithKernelsOfOtherRanks) {
  auto with = [](Reset how) { return [=](int seed) { return resetFails(how, seed); }; };
  EXPECT_GT(countSeeds(10, with(Reset::NoBarrier)), 0);
  EXPECT_GT(countSeeds(10, with(Reset::BarrierBefore)), 0);
  EXPECT_EQ(countSeeds(100, with(Reset::Barrier)), 0);
}

TEST(Schedule, OneRankMayStandStillForLong) {
  EXPECT_GT(countSeeds(10, [](int seed) { return ringFails(false, seed); }), 0);
  EXPECT_EQ(countSeeds(100, [](int seed) { return ringFails(true, seed); }), 0);
}

//===--- ranks whose host code waits elsewhere ----------------------------------

/// args: flag
void waitForFlag(nrd_program *p, const uint64_t *args) {
  nrd_wait(p, pointerArg<uint64_t>(args, 0), 1, 1, 8, 0);
}
void sendFlag(nrd_program *p, const uint64_t *args) {
  nrd_notify(p, pointerArg<uint64_t>(args, 0), 1, 1, NRD_SIG_SET, NRD_COMM_INTER_NODE, 8, 0);
}

TEST(Schedule, HostCodeMayWaitForAnotherRanksLaunch) {
  JobOptions options = testOptions();
  options.schedule = "random:5";
  std::atomic<bool> sent{false};
  runThreads(3, options, [&](Job &job) {
    uint64_t *flag = symmetric<uint64_t>(job, 1, "flag");
    if (job.rank() == 0) {
      EXPECT_TRUE(launchBlocking(job, sendFlag, {arg(flag)}, 1).ok());
      sent = true;
    } else if (job.rank() == 1) {
      EXPECT_TRUE(launchBlocking(job, waitForFlag, {arg(flag)}, 1).ok());
    } else {
      // By means of its own, as scripts do with other libraries.
      for (int i = 0; i < 2000 && !sent; ++i)
        usleep(5000);
      EXPECT_TRUE(sent);
    }
    EXPECT_TRUE(job.barrier().ok());
  });
}

TEST(Schedule, HostCodeMayWaitForSignals) {
  JobOptions options = testOptions();
  options.schedule = "random:6";
  runBoth(3, options, [](Job &job) {
    uint64_t *flag = symmetric<uint64_t>(job, 1, "flag");
    // 2 -> host of 0 -> program of 1.
    if (job.rank() == 2)
      EXPECT_TRUE(job.signal(flag, 5, NRD_SIG_SET, 8, 0).ok());
    if (job.rank() == 0) {
      EXPECT_TRUE(job.waitUntil(flag, NRD_CMP_GE, 5, 8, false).ok());
      EXPECT_TRUE(launchBlocking(job, sendFlag, {arg(flag)}, 1).ok());
    }
    if (job.rank() == 1) {
      EXPECT_TRUE(launchBlocking(job, waitForFlag, {arg(flag)}, 1).ok());
      // A program of 1 -> host of 0.
      EXPECT_TRUE(job.signal(flag, 6, NRD_SIG_SET, 8, 0).ok());
    }
    if (job.rank() == 0)
      EXPECT_TRUE(job.waitUntil(flag, NRD_CMP_EQ, 6, 8, false).ok());
    EXPECT_TRUE(job.barrier().ok());
  });
}

//===--- failures under a random schedule ---------------------------------------

TEST(Schedule, DeadlocksAreFound) {
  JobOptions options = testOptions();
  for (const char *schedule : {"random:1", "random:2"}) {
    options.schedule = schedule;
    runBoth(3, options, [](Job &job) {
      uint64_t *flag = symmetric<uint64_t>(job, 1, "flag");
      // Rank 0 alone gets there: nobody sends.
      Status st = launchBlocking(job, waitForFlag, {arg(flag)}, 2);
      EXPECT_EQ(st.code(), StatusCode::Deadlock) << st.report();
      EXPECT_TRUE(job.recover().ok());
      // The job goes on, in order.
      EXPECT_TRUE(job.barrier().ok());
      if (job.rank() == 1)
        *flag = 1;
      st = job.rank() == 1 ? launchBlocking(job, waitForFlag, {arg(flag)}, 2) : Status();
      EXPECT_TRUE(st.ok()) << st.report();
      EXPECT_TRUE(job.barrier().ok());
    });
  }
}

TEST(Schedule, DeadRanksAreFound) {
  JobOptions options = testOptions();
  options.schedule = "random:3";
  std::vector<int> codes = runForked(3, options, [](Job &job) {
    uint64_t *flag = symmetric<uint64_t>(job, 1, "flag");
    if (job.rank() == 2)
      kill(getpid(), SIGKILL);
    Status st = launchBlocking(job, waitForFlag, {arg(flag)}, 1);
    EXPECT_EQ(st.code(), StatusCode::RankDied) << st.report();
    return 7;
  });
  EXPECT_EQ(codes, (std::vector<int>{7, 7, 128 + SIGKILL}));
}

/// args: flag. Rank 0 spins until rank 1 has sent; by calls of the runtime.
void spinForFlag(nrd_program *p, const uint64_t *args) {
  uint64_t *flag = pointerArg<uint64_t>(args, 0);
  if (p->rank == 1)
    return nrd_shmem_signal_op(p, flag, 1, NRD_SIG_SET, 0, 8, 0);
  if (p->rank == 0)
    while (nrd_shmem_g(p, flag, 8, 0, 0) == 0)
      nrd_yield(p, 0);
}

TEST(Schedule, SpinLoopsEnd) {
  for (int seed = 1; seed <= 10; ++seed) {
    JobOptions options = testOptions();
    options.schedule = "random:" + std::to_string(seed);
    runThreads(3, options, [](Job &job) {
      uint64_t *flag = symmetric<uint64_t>(job, 1, "flag");
      Status st = launchBlocking(job, spinForFlag, {arg(flag)}, 2);
      EXPECT_TRUE(st.ok()) << st.report();
      EXPECT_TRUE(job.barrier().ok());
    });
  }
}

/// Not blocking: programs run to their ends.
TEST(Schedule, LaunchesThatDoNotWait) {
  JobOptions options = testOptions();
  options.schedule = "random:9";
  runThreads(2, options, [](Job &job) {
    uint64_t *flag = symmetric<uint64_t>(job, 1, "flag");
    std::vector<uint64_t> args{arg(flag)};
    CPUKernel add("add", [](nrd_program *p, const uint64_t *a) {
      nrd_shmem_signal_op(p, pointerArg<uint64_t>(a, 0), 1, NRD_SIG_ADD, 1 - p->rank, 8, 0);
    });
    LaunchSpec spec;
    spec.kernel = &add;
    spec.args = args.data();
    spec.grid = {1000, 2, 1};
    Status st = nereid::runtime::launch(&job, spec);
    EXPECT_TRUE(st.ok()) << st.report();
    EXPECT_TRUE(job.barrier().ok());
    EXPECT_EQ(*flag, 2000u);
    EXPECT_TRUE(job.barrier().ok());
  });
}

TEST(Schedule, RanksMustAgree) {
  JobOptions options = testOptions();
  std::vector<int> codes;
  setenv("NEREID_SCHEDULE", "", 1);
  codes = runForked(1, options, [](Job &) { return 0; });
  EXPECT_EQ(codes, std::vector<int>{0});
  for (const char *bad : {"random", "random:", "random:x", "random:-1", "lifo"}) {
    options.schedule = bad;
    auto jobs = Job::createThreadRanks(1, options);
    EXPECT_FALSE(jobs.ok()) << bad;
  }
  options.schedule = "fifo";
  options.ranksPerNode = -1;
  EXPECT_FALSE(Job::createThreadRanks(1, options).ok());
  unsetenv("NEREID_SCHEDULE");
}

} // namespace
