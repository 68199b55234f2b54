// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WaitTest.cpp - Who is to blame for a wait, and who is not ----------===//
#include "Harness.h"

#include "nereid/runtime/Team.h"

#include <atomic>
#include <chrono>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace nereid::test;

namespace {
/// Milliseconds that a look at the other processes takes.
std::atomic<int> lookTakes{0};
} // namespace

/// A rank that loses its core while it looks at its peers. Only the watch over
/// processes calls this function.
extern "C" int poll(pollfd *fds, nfds_t count, int timeout) {
  if (int ms = lookTakes.load(); ms && timeout == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  timespec limit{timeout / 1000, long(timeout % 1000) * 1000000};
  return int(syscall(SYS_ppoll, fds, count, timeout < 0 ? nullptr : &limit, nullptr, 0));
}

namespace {

using Clock = std::chrono::steady_clock;

void sleepMs(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

void barrierAll(nrd_program *p, const uint64_t *) { nrd_barrier_all(p, 0); }
/// args: team
void barrierOfTeam(nrd_program *p, const uint64_t *args) {
  nrd_team_barrier(p, int32_t(args[0]), 0, 0);
}
/// args: flag. Rank 1 signals rank 0.
void waitsForOne(nrd_program *p, const uint64_t *args) {
  if (p->rank == 1)
    nrd_notify(p, pointerArg<uint32_t>(args, 0), 1, 0, NRD_SIG_ADD, NRD_COMM_INTER_NODE, 4, 0);
  else
    nrd_shmem_wait_until(p, pointerArg<uint32_t>(args, 0), NRD_CMP_GE, args[1], 4, 0, 0);
}

enum Meeting { WorldBarrier, TeamBarrier, Signal, HostBarrier, HostTeamBarrier, HostSignal };

/// Rank 1 does its part and leaves at once, while rank 0 looks at its peers and
/// sees only afterwards that it has got what it waited for.
TEST(Waits, RanksThatHaveDoneTheirPartMayLeave) {
  for (Meeting how :
       {WorldBarrier, TeamBarrier, Signal, HostBarrier, HostTeamBarrier, HostSignal}) {
    std::vector<int> codes = runForked(2, testOptions(), [&](Job &job) {
      auto team = nereid::runtime::teamSplitStrided(job, NRD_TEAM_WORLD, 0, 1, 2);
      uint32_t *flag = symmetric<uint32_t>(job, 1, "flag");
      if (!team.ok() || !flag)
        return 1;
      auto meet = [&](uint64_t round) -> Status {
        switch (how) {
        case WorldBarrier:
          return launchBlocking(job, barrierAll, {}, 2);
        case TeamBarrier:
          return launchBlocking(job, barrierOfTeam, {uint64_t(*team)}, 2);
        case Signal:
          return launchBlocking(job, waitsForOne, {arg(flag), round}, 1);
        case HostBarrier:
          return job.barrier();
        case HostTeamBarrier:
          return nereid::runtime::teamBarrier(job, *team);
        case HostSignal:
          return job.rank() == 1 ? job.signal(flag, 1, NRD_SIG_ADD, 4, 0)
                                 : job.waitUntil(flag, NRD_CMP_GE, round, 4, false);
        }
        return {};
      };
      Status st = meet(1);
      if (st.ok())
        st = job.barrier();
      if (st.ok()) {
        if (job.rank() == 1)
          sleepMs(120);
        else
          lookTakes.store(250);
        st = meet(2);
      }
      if (!st.ok())
        fprintf(stderr, "%s", st.report().c_str());
      return st.ok() ? 0 : 2;
    });
    EXPECT_EQ(codes, (std::vector<int>{0, 0})) << "meeting " << how;
  }
}

/// The other side: the same meetings with a rank that leaves before.
TEST(Waits, RanksThatLeaveTooEarlyAreNamed) {
  for (Meeting how : {WorldBarrier, TeamBarrier, HostBarrier, HostTeamBarrier}) {
    std::vector<int> codes = runForked(2, testOptions(), [&](Job &job) {
      auto team = nereid::runtime::teamSplitStrided(job, NRD_TEAM_WORLD, 0, 1, 2);
      if (!team.ok())
        return 1;
      if (job.rank() == 1)
        return 0;
      Status st = how == WorldBarrier  ? launchBlocking(job, barrierAll, {}, 2)
                  : how == TeamBarrier ? launchBlocking(job, barrierOfTeam, {uint64_t(*team)}, 2)
                  : how == HostBarrier ? job.barrier()
                                       : nereid::runtime::teamBarrier(job, *team);
      EXPECT_EQ(st.code(), StatusCode::RankFinalized) << st.report();
      EXPECT_EQ(st.failure().rank, 1) << st.report();
      EXPECT_TRUE(contains(st.message(), "rank 1 has finalized")) << st.report();
      return 0;
    });
    EXPECT_EQ(codes, (std::vector<int>{0, 0})) << "meeting " << how;
  }
}

/// Hosts that wait in barriers of different teams cannot wake each other.
TEST(Waits, HostsInDifferentBarriersAreADeadlock) {
  runThreads(2, testOptions(), [](Job &job) {
    auto team = nereid::runtime::teamSplitStrided(job, NRD_TEAM_WORLD, 0, 1, 2);
    ASSERT_TRUE(team.ok());
    auto begin = Clock::now();
    Status st = job.rank() ? job.barrier() : nereid::runtime::teamBarrier(job, *team);
    EXPECT_EQ(st.code(), StatusCode::Deadlock) << st.report();
    EXPECT_TRUE(contains(st.report(), "team barrier(")) << st.report();
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
  });
}

/// args: flag, rounds. The last program releases the others, which poll by atomics
/// and take a few microseconds for each round.
void pollsForTheLast(nrd_program *p, const uint64_t *args) {
  std::atomic_ref<uint32_t> flag(*pointerArg<uint32_t>(args, 0));
  std::atomic_ref<uint64_t> rounds(*pointerArg<uint64_t>(args, 1));
  if (p->pid[0] == p->grid[0] - 1)
    flag.exchange(1);
  for (bool first = true; flag.fetch_add(0) == 0; first = false) {
    rounds.fetch_add(1, std::memory_order_relaxed);
    uint64_t end = nrd_clock_ns(p) + 3000;
    while (nrd_clock_ns(p) < end) {
    }
    nrd_yield(p, first ? NRD_FIRST_YIELD : 0);
  }
}

/// Each program that is started costs a few polls of others, not one of every
/// other program.
TEST(Waits, ManyPollingProgramsTakeLinearlyManyRounds) {
  for (int32_t programs : {500, 2000}) {
    uint32_t flag = 0;
    uint64_t rounds = 0;
    const uint64_t args[] = {arg(&flag), arg(&rounds)};
    CPUKernel code("kernel", pollsForTheLast);
    code.blocking = true;
    LaunchSpec spec;
    spec.kernel = &code;
    spec.args = args;
    spec.grid = {programs, 1, 1};
    Status st = nereid::runtime::launch(nullptr, spec);
    ASSERT_TRUE(st.ok()) << st.report();
    // Every pass over all of them would make it programs * programs / 2.
    EXPECT_LT(rounds, 64 * uint64_t(programs));
  }
}

/// args: barriers, milliseconds before each, team
void lateBarriers(nrd_program *p, const uint64_t *args) {
  for (uint64_t i = 0; i < args[0]; ++i) {
    sleepMs(int(args[1]));
    if (args[2] == NRD_TEAM_WORLD)
      nrd_barrier_all(p, 0);
    else
      nrd_team_barrier(p, int32_t(args[2]), 0, 0);
  }
}

const SiteTable kBarrierSites = {{"meet.py", 7, 5, "meet", "    shmem.barrier_all()"}};

/// Ranks 0 and 1 meet at barriers 2 and 3 of the same kernel while rank 2 runs
/// another one; or rank 2 runs the same, so that their positions add up to three
/// times that of the last one. It is an error whoever comes last.
TEST(Waits, DifferentBarriersOfOneKernelAreFoundWhoeverComesLast) {
  for (bool sameKernel : {false, true})
    for (bool split : {false, true})
      for (int32_t last = 0; last < 3; ++last)
        runThreads(3, testOptions(), [&](Job &job) {
          auto team = nereid::runtime::teamSplitStrided(job, NRD_TEAM_WORLD, 0, 1, 3);
          ASSERT_TRUE(team.ok());
          const uint64_t handle = split ? uint64_t(*team) : NRD_TEAM_WORLD;
          auto run = [&](const char *kernel, uint64_t barriers, uint64_t ms) {
            return launchBlocking(job, lateBarriers, {barriers, ms, handle}, 1, kernel,
                                  &kBarrierSites);
          };
          // After two barriers of each: positions 0, 2 and 1 of a launch.
          Status st;
          const uint64_t ms = job.rank() == last ? 60 : 0;
          if (job.rank() == 0) {
            st = run("one", 2, 0);
            if (st.ok())
              st = run("one", 1, ms);
          } else if (job.rank() == 1) {
            st = run("one", 3, ms);
          } else {
            st = run("one", 1, 0);
            if (st.ok())
              st = run(sameKernel ? "one" : "two", 2, ms);
          }
          ASSERT_EQ(st.code(), StatusCode::BarrierMismatch)
              << "rank " << job.rank() << ", last " << last << ": " << st.report();
          EXPECT_TRUE(contains(st.message(), "same number of barriers")) << st.report();
          EXPECT_EQ(contains(st.message(), "of team"), split) << st.report();
          // The one that is named runs the kernel.
          EXPECT_TRUE(sameKernel || st.failure().rank != 2) << st.report();
        });
}

/// Different kernels may meet, at any of their barriers.
TEST(Waits, BarriersOfDifferentKernelsMeet) {
  runThreads(3, testOptions(), [](Job &job) {
    const char *names[] = {"one", "two", "three"};
    const uint64_t before[] = {1, 2, 3};
    const size_t r = size_t(job.rank());
    EXPECT_TRUE(
        launchBlocking(job, lateBarriers, {before[r], 0, NRD_TEAM_WORLD}, 2, names[r]).ok());
    EXPECT_TRUE(
        launchBlocking(job, lateBarriers, {4 - before[r], 1, NRD_TEAM_WORLD}, 2, names[r]).ok());
  });
}

/// args: job. The program that completes the barrier of rank 0 stops the job before
/// the others of its rank have got the core again.
void abortsAfterBarrier(nrd_program *p, const uint64_t *args) {
  nrd_barrier_all(p, 0);
  if (p->rank == 0 && p->pid[0] == 2)
    pointerArg<Job>(args, 0)->abort("enough");
  for (;;)
    nrd_yield(p, 0);
}

TEST(Waits, ProgramsPastABarrierAreNotListedAsWaitingAtIt) {
  runThreads(2, testOptions(), [](Job &job) {
    if (job.rank() == 0)
      sleepMs(30); // so that it completes the barrier
    Status st = launchBlocking(job, abortsAfterBarrier, {arg(&job)}, 3, "meet", &kBarrierSites);
    ASSERT_EQ(st.code(), StatusCode::RankRaised) << st.report();
    size_t over = 0;
    for (const auto &group : st.failure().blocked)
      if (group.rank == 0 && contains(group.kind, "barrier_all")) {
        EXPECT_EQ(group.kind, "barrier_all is over");
        over += size_t(group.programCount);
      }
    EXPECT_EQ(over, 2u) << st.report();
  });
}

/// A child that a rank forks has the rank's memory, but no part in the job:
/// nothing that it calls reaches the other ranks.
TEST(Copies, ForkedChildrenHaveNoPartInTheJob) {
  auto jobs = Job::createThreadRanks(1, testOptions());
  ASSERT_TRUE(jobs.ok());
  std::unique_ptr<Job> &job = (*jobs)[0];
  uint32_t *word = symmetric<uint32_t>(*job, 1, "word");
  ASSERT_TRUE(launchBlocking(*job, barrierAll, {}, 2).ok());
  fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    uint32_t value = 7;
    const Status calls[] = {
        job->barrier(),
        job->put(word, &value, 4, 0),
        job->get(&value, word, 4, 0),
        job->signal(word, 1, NRD_SIG_SET, 4, 0),
        job->waitUntil(word, NRD_CMP_EQ, 0, 4, false),
        job->recover(),
        job->allocate(64).status(),
        nereid::runtime::teamSplitStrided(*job, NRD_TEAM_WORLD, 0, 1, 1).status(),
        launchBlocking(*job, barrierAll, {}, 2),
        job->finalize(),
    };
    int wrong = 0;
    for (const Status &st : calls)
      wrong += !contains(st.message(), "forked from rank 0 of a job and has no part in it");
    job->abort("must not reach anybody");
    job.reset();
    _exit(wrong);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(*word, 0u);
  EXPECT_TRUE(job->health().ok());
  EXPECT_TRUE(launchBlocking(*job, barrierAll, {}, 2).ok());
  EXPECT_TRUE(job->barrier().ok());
}

enum Transfer {
  Put,
  PutNbi,
  Get,
  GetNbi,
  PutSignal,
  PutFrom,
  GetTo,
  SignalFar,
  Notify,
  Element,
  Atomic,
  Broadcast,
  kTransfers
};

/// args: which, symmetric memory, a signal, bytes, private memory. To the next rank.
void transfers(nrd_program *p, const uint64_t *args) {
  uint8_t *x = pointerArg<uint8_t>(args, 1), *mine = pointerArg<uint8_t>(args, 4);
  uint64_t bytes = args[3];
  uint32_t *word = reinterpret_cast<uint32_t *>(x + bytes - 4);
  int32_t pe = (p->rank + 1) % p->num_ranks;
  switch (args[0]) {
  case Put:
  case PutNbi:
    return nrd_shmem_put(p, x, mine, bytes, pe, args[0] == PutNbi, 0);
  case Get:
  case GetNbi:
    return nrd_shmem_get(p, mine, x, bytes, pe, args[0] == GetNbi, 0);
  case PutSignal:
    return nrd_shmem_put_signal(p, x, mine, bytes, pointerArg<uint32_t>(args, 2), 1, NRD_SIG_SET,
                                pe, 4, 0, 0);
  case PutFrom: // the local side is symmetric too
    return nrd_shmem_put(p, pointerArg<uint8_t>(args, 2), x, bytes, p->rank, 0, 0);
  case GetTo:
    return nrd_shmem_get(p, x, pointerArg<uint8_t>(args, 2), bytes, p->rank, 0, 0);
  case SignalFar:
    return nrd_shmem_signal_op(p, word, 1, NRD_SIG_SET, pe, 4, 0);
  case Notify:
    return nrd_notify(p, word, 1, pe, NRD_SIG_SET, NRD_COMM_INTER_NODE, 4, 0);
  case Element:
    return nrd_shmem_p(p, word, 1, 4, pe, 0);
  case Atomic:
    (void)nrd_shmem_atomic(p, word, 1, 0, NRD_AMO_ADD, 4, pe, 0);
    return;
  case Broadcast:
    return nrd_team_broadcast(p, NRD_TEAM_WORLD, x, x, bytes, 0, 0, 0);
  }
}

/// Transfers end where the allocation does, not where the heap does.
TEST(Bounds, TransfersStayInTheirAllocation) {
  for (uint64_t which = 0; which < kTransfers; ++which)
    for (uint64_t bytes : {uint64_t(512), uint64_t(516), uint64_t(64) << 10})
      runThreads(2, testOptions(), [&](Job &job) {
        if (bytes > 516 && which >= SignalFar && which <= Atomic)
          return; // a word in the next allocation is as good as any
        uint8_t *x = symmetric<uint8_t>(job, 512, "x");
        uint8_t *large = symmetric<uint8_t>(job, 1 << 20, "large");
        std::vector<uint8_t> mine(1 << 20);
        const SiteTable sites = {{"move.py", 4, 5, "move", "    shmem.putmem(...)"}};
        Status st =
            launchBlocking(job, transfers, {which, arg(x), arg(large), bytes, arg(mine.data())}, 1,
                           "move", &sites);
        if (bytes == 512) {
          EXPECT_TRUE(st.ok()) << which << ": " << st.report();
          return;
        }
        ASSERT_EQ(st.code(), StatusCode::BadAccess) << which << ": " << st.report();
        EXPECT_EQ(st.failure().site.line, 4);
        EXPECT_TRUE(contains(st.message(), "'x'") && contains(st.message(), "past its end"))
            << which << ": " << st.report();
      });
}

TEST(Bounds, HostTransfersStayInTheirAllocation) {
  runThreads(1, testOptions(), [](Job &job) {
    uint8_t *x = symmetric<uint8_t>(job, 512, "x");
    uint8_t *large = symmetric<uint8_t>(job, 4096, "large");
    std::vector<uint8_t> mine(4096);
    EXPECT_TRUE(job.put(x, mine.data(), 512, 0).ok());
    EXPECT_TRUE(job.get(mine.data(), x + 12, 500, 0).ok());
    for (const Status &st : {job.put(x, mine.data(), 513, 0), job.get(mine.data(), x + 13, 500, 0),
                             job.put(large, x, 513, 0), job.get(x, large, 513, 0),
                             job.signal(x + 512, 1, NRD_SIG_SET, 4, 0)}) {
      EXPECT_EQ(st.code(), StatusCode::BadAccess) << st.report();
    }
    // Freed memory belongs to nobody, also where it was known to be good.
    ASSERT_TRUE(
        launchBlocking(job, transfers, {Put, arg(x), arg(large), 512, arg(mine.data())}, 1).ok());
    ASSERT_TRUE(job.free(x).ok());
    Status st = launchBlocking(job, transfers, {Put, arg(x), arg(large), 512, arg(mine.data())}, 1);
    EXPECT_EQ(st.code(), StatusCode::BadAccess) << st.report();
    EXPECT_TRUE(contains(st.message(), "lie in no symmetric allocation")) << st.report();
  });
}

TEST(Values, HostSignalsAreNotCut) {
  runThreads(1, testOptions(), [](Job &job) {
    uint32_t *word = symmetric<uint32_t>(job, 2, "word");
    for (uint64_t good : {uint64_t(5), uint64_t(0xffffffff), uint64_t(-1), uint64_t(INT32_MIN)}) {
      EXPECT_TRUE(job.signal(word, good, NRD_SIG_SET, 4, 0).ok()) << good;
      EXPECT_TRUE(job.waitUntil(word, NRD_CMP_EQ, good, 4, false).ok()) << good;
    }
    *word = 5;
    for (uint64_t bad : {(uint64_t(1) << 32) + 5, uint64_t(INT32_MIN) - 1}) {
      EXPECT_EQ(job.signal(word, bad, NRD_SIG_SET, 4, 0).code(), StatusCode::InvalidArgument);
      EXPECT_EQ(job.waitUntil(word, NRD_CMP_EQ, bad, 4, false).code(), StatusCode::InvalidArgument);
      EXPECT_TRUE(job.signal(word, bad, NRD_SIG_SET, 8, 0).ok());
    }
  });
}

/// args: value, bits, NRD_WORD_*
void checksWord(nrd_program *p, const uint64_t *args) {
  nrd_check_word(p, args[0], int32_t(args[1]), int32_t(args[2]), 0);
}

TEST(Values, WordsOfKernelsAreNotCut) {
  struct Case {
    int64_t value;
    int32_t bits, flags;
    bool fits;
  };
  const int64_t one = 1;
  const int32_t number = NRD_WORD_NUMBER, both = NRD_WORD_NUMBER | NRD_WORD_SIGNED;
  for (Case c : {Case{5, 32, true, true},
                 Case{-1, 32, true, true},
                 Case{-1, 32, false, false},
                 Case{(one << 32) - 1, 32, true, true},
                 Case{one << 32, 32, true, false},
                 Case{-(one << 31), 32, true, true},
                 Case{-(one << 31) - 1, 32, true, false},
                 Case{255, 8, true, true},
                 Case{256, 8, true, false},
                 Case{-128, 8, true, true},
                 Case{-129, 8, true, false},
                 Case{one << 40, 16, false, false},
                 Case{(one << 31) - 1, 32, both, true},
                 Case{one << 31, 32, both, false},
                 Case{(one << 32) - 1, 32, both, false},
                 Case{-(one << 31), 32, both, true},
                 Case{-(one << 31) - 1, 32, both, false},
                 Case{(one << 31) - 1, 32, number, true},
                 Case{one << 31, 32, number, false},
                 Case{-1, 32, number, false}}) {
    const uint64_t args[] = {uint64_t(c.value), uint64_t(c.bits), uint64_t(c.flags)};
    CPUKernel code("checksWord", checksWord);
    LaunchSpec spec;
    spec.kernel = &code;
    spec.args = args;
    Status st = nereid::runtime::launch(nullptr, spec);
    EXPECT_EQ(st.ok(), c.fits) << c.value << " in " << c.bits << ": " << st.report();
    if (!st.ok()) {
      EXPECT_TRUE(contains(st.message(), c.flags & NRD_WORD_NUMBER ? "does not fit int32 ("
                                                                   : "does not fit the word of"))
          << st.report();
    }
  }
}

} // namespace
