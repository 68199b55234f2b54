// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BoundsTest.cpp - Much at once, and programs that are no fibers -----===//
//
// More than a transport keeps under way at once, from programs that wait as
// fibers and from those that run on their worker's stack; peers that die.
//
//===----------------------------------------------------------------------===//
#include "Conformance.h"

#include "symmetric/JobImpl.h"
#include "transport/Transports.h"

#include <csignal>
#include <fstream>
#include <unistd.h>

using namespace nereid::test;

namespace {

constexpr int64_t kSignals = 3000;
constexpr int64_t kPuts = 70;
constexpr uint64_t kPutBytes = uint64_t(1) << 20;

/// args: dest, source, counter. Everything goes to the next rank.
void sendMuch(nrd_program *p, const uint64_t *args) {
  uint64_t *counter = pointerArg<uint64_t>(args, 2);
  int32_t next = (p->rank + 1) % p->num_ranks;
  for (int64_t i = 0; i < kSignals; ++i)
    nrd_shmem_signal_op(p, counter, 1, NRD_SIG_ADD, next, 8, 0);
  for (int64_t i = 0; i < kPuts; ++i)
    nrd_shmem_put(p, pointerArg<uint8_t>(args, 0), pointerArg<uint8_t>(args, 1), kPutBytes, next,
                  int32_t(i & 1), 0);
  nrd_shmem_quiet(p, 0);
}

TEST_P(Conformance, MoreThanIsKeptUnderWay) {
  onRanks(
      [](Job &job) {
        auto *dest = symmetric<uint8_t>(job, kPutBytes, "dest");
        auto *source = symmetric<uint8_t>(job, kPutBytes, "source");
        auto *counter = symmetric<uint64_t>(job, 1, "counter");
        for (uint64_t i = 0; i < kPutBytes; ++i)
          source[i] = patternByte(job.rank(), 0, i);
        Status st = launchBlocking(job, sendMuch, {arg(dest), arg(source), arg(counter)}, 1);
        ASSERT_TRUE(st.ok()) << st.report();
        ASSERT_TRUE(job.barrier().ok());
        EXPECT_EQ(*counter, uint64_t(kSignals));
        int32_t previous = (job.rank() + job.worldSize() - 1) % job.worldSize();
        uint64_t wrong = 0;
        for (uint64_t i = 0; i < kPutBytes; ++i)
          wrong += dest[i] != patternByte(previous, 0, i);
        EXPECT_EQ(wrong, 0u);
        ASSERT_TRUE(job.barrier().ok());
      },
      4 << 20);
}

/// args: words of `programs`, findings. Each program works on its own word of the
/// next rank, and waits for nothing but its transfers.
void roundTrips(nrd_program *p, const uint64_t *args) {
  uint64_t *word = pointerArg<uint64_t>(args, 0) + p->pid[0];
  Findings &findings = *pointerArg<Findings>(args, 1);
  int32_t next = (p->rank + 1) % p->num_ranks;
  for (uint64_t round = 1; round <= 20; ++round) {
    uint64_t value = round * 1000 + uint64_t(p->pid[0]), back = 0;
    nrd_shmem_put(p, word, &value, 8, next, 0, 0);
    nrd_shmem_quiet(p, 0);
    if (nrd_shmem_g(p, word, 8, next, 0) != value)
      findings.note(int64_t(round), p->pid[0], 0);
    if (nrd_shmem_atomic(p, word, 5, 0, NRD_AMO_ADD, 8, next, 0) != value)
      findings.note(int64_t(round), p->pid[0], 1);
    nrd_shmem_get(p, &back, word, 8, next, 0, 0);
    if (back != value + 5)
      findings.note(int64_t(round), p->pid[0], 2);
  }
}

TEST_P(Conformance, ProgramsThatAreNoFibersTransfer) {
  onRanks([](Job &job) {
    constexpr int32_t kPrograms = 7;
    auto *words = symmetric<uint64_t>(job, kPrograms, "words");
    Findings findings;
    std::vector<uint64_t> args{arg(words), arg(&findings)};
    CPUKernel code("roundTrips", roundTrips);
    LaunchSpec spec;
    spec.kernel = &code;
    spec.args = args.data();
    spec.grid = {kPrograms, 1, 1};
    Status st = nereid::runtime::launch(&job, spec);
    ASSERT_TRUE(st.ok()) << st.report();
    EXPECT_EQ(findings.count, 0) << "(round, program, step) " << findings.text();
    ASSERT_TRUE(job.barrier().ok());
  });
}

/// Those of this machine that map nothing, and the same delayed.
std::vector<std::string> transportsByMessages() {
  std::vector<std::string> names;
  for (const nereid::runtime::TransportRow &row : nereid::runtime::transportTable())
    if (!row.needsMapping && row.make({}).ok())
      names.insert(names.end(), {row.name, std::string("delayed:") + row.name});
  return names;
}

/// args: word. Rank 0 asks rank 1, which is dead.
void askTheDead(nrd_program *p, const uint64_t *args) {
  for (;;)
    (void)nrd_shmem_g(p, pointerArg<uint64_t>(args, 0), 8, 1, 0);
}

TEST(Transports, RanksThatDieUnderARequestAreReported) {
  JobOptions options = testOptions();
  for (const std::string &transport : transportsByMessages()) {
    options.transport = transport;
    std::vector<int> codes = runForked(2, options, [](Job &job) {
      auto *word = symmetric<uint64_t>(job, 1, "word");
      if (job.rank() == 1) {
        usleep(100000);
        kill(getpid(), SIGKILL);
      }
      Status st = launchBlocking(job, askTheDead, {arg(word)}, 2);
      EXPECT_EQ(st.code(), StatusCode::RankDied) << st.report();
      EXPECT_NE(st.message().find("rank 1"), std::string::npos) << st.message();
      EXPECT_EQ(job.recover().code(), StatusCode::RankDied);
      EXPECT_EQ(job.impl().facts().inFlight.load(), 0u) << "what it will never answer";
      return 7;
    });
    EXPECT_EQ(codes, (std::vector<int>{7, 128 + SIGKILL})) << transport;
  }
}

/// args: memory, plain memory. Rank 0 asks much of a rank that has stopped, then fails.
void askTheStopped(nrd_program *p, const uint64_t *args) {
  if (p->rank != 0)
    return;
  for (int i = 0; i < 8; ++i)
    nrd_shmem_get(p, pointerArg<void>(args, 1), pointerArg<void>(args, 0), 4096, 1, 1, 0);
  nrd_shmem_signal_op(p, pointerArg<void>(args, 0), 1, NRD_SIG_SET, 99, 8, 0);
}

TEST(Transports, AFailedLaunchWaitsForNoTransfer) {
  JobOptions options = testOptions();
  options.timeoutSeconds = 0; // never
  for (const std::string &transport : transportsByMessages()) {
    options.transport = transport;
    std::vector<int> codes = runForked(2, options, [](Job &job) {
      auto *memory = symmetric<uint8_t>(job, 4096, "memory");
      auto *process = symmetric<uint64_t>(job, 1, "process");
      if (job.rank() == 1) {
        EXPECT_TRUE(job.signal(process, uint64_t(getpid()), NRD_SIG_SET, 8, 0).ok());
        raise(SIGSTOP);
        return int(job.recover().ok());
      }
      alarm(60); // ends this process if the launch waits
      EXPECT_TRUE(job.waitUntil(process, NRD_CMP_NE, 0, 8, false).ok());
      const pid_t other = pid_t(*process);
      auto hasStopped = [&] {
        std::ifstream file("/proc/" + std::to_string(other) + "/stat");
        std::string text;
        std::getline(file, text);
        return text.find(") T ") != std::string::npos;
      };
      while (!hasStopped())
        usleep(1000);
      std::vector<uint8_t> plain(4096);
      Status st = launchBlocking(job, askTheStopped, {arg(memory), arg(plain.data())}, 1);
      EXPECT_EQ(st.code(), StatusCode::BadRank) << st.report();
      kill(other, SIGCONT);
      alarm(0);
      return int(job.recover().ok());
    });
    EXPECT_EQ(codes, (std::vector<int>{1, 1})) << transport;
  }
}

TEST(Transports, UnknownNamesAreErrors) {
  JobOptions options = testOptions();
  for (const char *name : {"carrier_pigeon", "delayed:", "delayed:delayed:remote", "Remote", " "}) {
    options.transport = name;
    auto jobs = Job::createThreadRanks(1, options);
    ASSERT_FALSE(jobs.ok()) << name;
    EXPECT_EQ(jobs.status().code(), StatusCode::Environment);
    for (const char *word : {"NEREID_TRANSPORT", "shared_memory", "remote", "delayed:"})
      EXPECT_NE(jobs.status().message().find(word), std::string::npos) << jobs.status().message();
  }
}

TEST(Transports, WithoutMappingEachRankIsANode) {
  JobOptions options = testOptions();
  options.transport = "remote";
  std::vector<int> codes = runForked(2, options, [](Job &job) {
    auto *word = symmetric<uint64_t>(job, 1, "word");
    EXPECT_EQ(job.nodeOf(1), 1);
    EXPECT_FALSE(job.reachable(1 - job.rank()));
    EXPECT_EQ(job.peerAddress(word, 1 - job.rank()), nullptr);
    EXPECT_TRUE(job.signal(word, 9, NRD_SIG_SET, 8, 1 - job.rank()).ok());
    EXPECT_TRUE(job.waitUntil(word, NRD_CMP_EQ, 9, 8, false).ok());
    EXPECT_TRUE(job.barrier().ok());
    return 0;
  });
  EXPECT_EQ(codes, (std::vector<int>{0, 0}));
}

} // namespace
