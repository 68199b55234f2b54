// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LaunchTest.cpp - Grids, scratch, printing, copies ------------------===//
#include "Harness.h"

#include "transport/shared_memory/Copy.h"

#include <atomic>
#include <cstring>
#include <fstream>
#include <mutex>
#include <random>
#include <regex>
#include <set>
#include <sstream>

using namespace nereid::test;
using nereid::runtime::launch;

namespace {

/// args: counts (one per program)
void countPrograms(nrd_program *p, const uint64_t *args) {
  int64_t at = p->pid[0] + int64_t(p->grid[0]) * (p->pid[1] + int64_t(p->grid[1]) * p->pid[2]);
  std::atomic_ref<uint8_t>(pointerArg<uint8_t>(args, 0)[at]).fetch_add(1);
  // Scratch is ours alone while we run.
  std::memset(p->scratch, int(at & 255), 1000);
  nrd_yield(p, 0);
  for (int i = 0; i < 1000; ++i)
    if (p->scratch[i] != uint8_t(at & 255) || uintptr_t(p->scratch) % 64)
      nrd_fail_assert(p, "scratch is shared", 0);
}

TEST(Launch, EveryProgramRunsOnce) {
  for (const char *schedule : {"fifo", "random:5"})
    for (int32_t threads : {1, 2, 4})
      for (bool blocking : {false, true})
        for (std::array<int32_t, 3> grid :
             {std::array<int32_t, 3>{1, 1, 1}, {7, 1, 1}, {3, 5, 2}, {1, 1, 33}, {400, 1, 1}}) {
          JobOptions options = testOptions();
          options.numThreads = threads;
          options.schedule = schedule;
          auto jobs = Job::createThreadRanks(1, options);
          ASSERT_TRUE(jobs.ok());
          std::vector<uint8_t> counts(size_t(grid[0]) * size_t(grid[1]) * size_t(grid[2]));
          uint64_t a = arg(counts.data());
          CPUKernel code("count", countPrograms);
          LaunchSpec spec;
          spec.kernel = &code;
          spec.args = &a;
          spec.grid = grid;
          code.scratchBytes = 1000;
          code.blocking = blocking;
          for (uint8_t round = 1; round <= 3; ++round) {
            auto st = launch((*jobs)[0].get(), spec);
            ASSERT_TRUE(st.ok()) << st.report();
            EXPECT_EQ(counts, std::vector<uint8_t>(counts.size(), round));
          }
        }
}

void checkFields(nrd_program *p, const uint64_t *args) {
  std::atomic_ref<int64_t> good(*pointerArg<int64_t>(args, 0));
  bool ok = p->grid[0] == 2 && p->grid[1] == 3 && p->grid[2] == 1 && p->rank == int32_t(args[1]) &&
            p->num_ranks == 2 && p->sub_vec_num == 1 && p->sub_vec_id == 0 && p->heap_base &&
            p->wait_stride == args[2];
  if (ok)
    good.fetch_add(1);
}

TEST(Launch, ProgramFields) {
  for (const char *profile : {"host", "ascend910b"}) {
    JobOptions options = testOptions();
    options.profile = profile;
    runThreads(2, options, [&](Job &job) {
      int64_t good = 0;
      uint64_t args[] = {arg(&good), uint64_t(job.rank()), profile[0] == 'h' ? 0u : 64u};
      CPUKernel code("kernel", checkFields);
      LaunchSpec spec;
      spec.kernel = &code;
      spec.args = args;
      spec.grid = {2, 3, 1};
      EXPECT_TRUE(launch(&job, spec).ok());
      EXPECT_EQ(good, 6);
    });
  }
}

/// args: slots; waits for 4 slots, at the stride of the profile
void waitSlots(nrd_program *p, const uint64_t *args) {
  if (p->pid[0] == 0)
    nrd_wait(p, pointerArg<uint32_t>(args, 0), 4, 9, 4, 0);
  else
    for (uint64_t i = 0; i < 4; ++i)
      nrd_notify(p, pointerArg<uint8_t>(args, 0) + i * (p->wait_stride ? p->wait_stride : 4), 9,
                 p->rank, NRD_SIG_SET, NRD_COMM_GPU, 4, 0);
}

TEST(Launch, WaitStrideFollowsTheProfile) {
  for (const char *profile : {"host", "cuda", "ascend910b"}) {
    JobOptions options = testOptions();
    options.profile = profile;
    runThreads(1, options, [](Job &job) {
      uint32_t *slots = symmetric<uint32_t>(job, 64, "slots");
      EXPECT_TRUE(launchBlocking(job, waitSlots, {arg(slots)}, 2).ok());
    });
  }
}

/// args: sums by sub_vec_id
void vectorCores(nrd_program *p, const uint64_t *args) {
  std::atomic_ref<int64_t>(pointerArg<int64_t>(args, 0)[p->sub_vec_id]).fetch_add(p->pid[0] + 1);
  nrd_barrier_all(p, 0);
}

TEST(Launch, VectorCoresRunEachProgram) {
  auto jobs = Job::createThreadRanks(1, testOptions());
  ASSERT_TRUE(jobs.ok());
  int64_t sums[2] = {0, 0};
  uint64_t a = arg(sums);
  CPUKernel code("kernel", vectorCores);
  LaunchSpec spec;
  spec.kernel = &code;
  spec.args = &a;
  spec.grid = {5, 1, 1};
  code.blocking = true;
  code.lanes = 2;
  auto st = launch((*jobs)[0].get(), spec);
  ASSERT_TRUE(st.ok()) << st.report();
  EXPECT_EQ(sums[0], 15);
  EXPECT_EQ(sums[1], 15);
}

TEST(Launch, BadSpecs) {
  LaunchSpec spec;
  EXPECT_EQ(launch(nullptr, spec).code(), StatusCode::InvalidArgument);
  CPUKernel code("kernel", countPrograms);
  spec.kernel = &code;
  spec.grid = {0, 1, 1};
  EXPECT_EQ(launch(nullptr, spec).code(), StatusCode::InvalidArgument);
  spec.grid = {1 << 20, 1 << 20, 1};
  EXPECT_EQ(launch(nullptr, spec).code(), StatusCode::InvalidArgument);
}

void printThings(nrd_program *p, const uint64_t *) {
  int32_t ints[] = {-1, 2};
  float real = 0.5f;
  uint8_t byte = 255;
  nrd_print(p, "x: ", ints, 2, 0, 4, 0, 0);
  nrd_print(p, "y", &real, 1, 2, 4, 0, 0);
  nrd_print(p, "z", &byte, 1, 1, 1, 1, 0);
}

TEST(Launch, Print) {
  std::mutex lock;
  std::string out;
  nereid::runtime::setPrintSink([&](std::string_view text) {
    std::lock_guard<std::mutex> guard(lock);
    out += text;
  });
  CPUKernel code("kernel", printThings);
  LaunchSpec spec;
  spec.kernel = &code;
  EXPECT_TRUE(launch(nullptr, spec).ok());
  nereid::runtime::setPrintSink({});
  EXPECT_EQ(out, "pid (0, 0, 0) idx (0) x: -1\npid (0, 0, 0) idx (1) x: 2\n"
                 "pid (0, 0, 0) y: 0.5\npid (0, 0, 0) z: 0xff\n");
}

TEST(Launch, SymbolTableHoldsEveryEntryPoint) {
  std::set<std::string> names, declared;
  for (const auto &symbol : nereid::runtime::runtimeSymbols()) {
    EXPECT_NE(symbol.address, nullptr);
    EXPECT_TRUE(names.insert(symbol.name).second);
  }
  std::ifstream file(NEREID_ABI_HEADER);
  std::stringstream text;
  text << file.rdbuf();
  std::string header = text.str();
  std::regex entry("(nrd_[a-z_]+)\\(nrd_program \\*prog[,)]");
  for (std::sregex_iterator it(header.begin(), header.end(), entry), end; it != end; ++it)
    declared.insert((*it)[1]);
  EXPECT_GT(declared.size(), 15u);
  EXPECT_EQ(names, declared);
}

TEST(Copy, AllSizesAndAlignments) {
  std::vector<uint8_t> from(70000), to(70000);
  std::mt19937 random(1);
  for (uint8_t &byte : from)
    byte = uint8_t(random());
  auto check = [&](uint64_t a, uint64_t b, uint64_t n, bool push) {
    std::fill(to.begin(), to.end(), uint8_t(0xee));
    if (push)
      nereid::runtime::copyPush(to.data() + a, from.data() + b, n);
    else
      nereid::runtime::copyPull(to.data() + a, from.data() + b, n);
    ASSERT_EQ(std::memcmp(to.data() + a, from.data() + b, n), 0) << a << " " << b << " " << n;
    ASSERT_EQ(a == 0 || to[a - 1] == 0xee, true);
    ASSERT_EQ(to[a + n], 0xee);
  };
  for (uint64_t n = 0; n < 300; ++n)
    check(random() % 70, random() % 70, n, n & 1);
  for (int i = 0; i < 300; ++i)
    check(random() % 70, random() % 70, random() % 69000, i & 1);
  // Source and destination at the same place in their lines.
  const uint64_t shift = uint64_t(from.data() - to.data()) % 64;
  for (int i = 0; i < 200; ++i) {
    uint64_t b = random() % 64;
    check((b + shift) % 64, b, random() % 69000, i & 1);
  }
}

} // namespace
