// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CudaTest.cpp - The device cuda on a driver that is none ------------===//
#include "Cuda/Objects.h"
#include "Harness.h"

#include "nereid/abi.h"
#include "nereid/runtime/Devices.h"
#include "nereid/runtime/Stream.h"

#include <atomic>
#include <dlfcn.h>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

using namespace nereid::test;
using nereid::runtime::Device;
using nereid::runtime::findDevice;
using nereid::runtime::Kernel;
using nereid::runtime::Stream;
using nereid::runtime::StreamedLaunch;
using nereid::runtime::StreamedPut;

namespace {

/// Every test has the driver of the tests, before anything asks for one.
const bool kFake = [] {
  setenv("NEREID_CUDA_DRIVER", NEREID_FAKE_CUDA, 1);
  return true;
}();

Device &device() { return **findDevice("cuda"); }

JobOptions cudaOptions(double timeout = 20) {
  JobOptions options = testOptions();
  options.device = "cuda";
  options.timeoutSeconds = timeout;
  return options;
}

/// A function that the driver of the tests has beside NVIDIA's.
template <typename F> F *ofDriver(const char *name) {
  return reinterpret_cast<F *>(dlsym(dlopen(NEREID_FAKE_CUDA, RTLD_NOW), name));
}

std::shared_ptr<Kernel> load(const CUDAObject &object) {
  auto kernel = device().load(object.bytes());
  EXPECT_TRUE(kernel.ok()) << kernel.status().report();
  return kernel.ok() ? *kernel : nullptr;
}

std::shared_ptr<Kernel> ringKernel() {
  return load({.name = "ring",
               .types = {"*i64", "*i64", "i64"},
               .blocking = true,
               .usesRuntime = true,
               .sites = 3});
}
std::shared_ptr<Kernel> waitsKernel(const char *name = "waits") {
  return load(
      {.name = name, .types = {"*i64", "i64"}, .blocking = true, .usesRuntime = true, .sites = 1});
}
std::shared_ptr<Kernel> meetsKernel() {
  return load({.name = "meets", .types = {}, .blocking = true, .usesRuntime = true, .sites = 1});
}

LaunchSpec specOf(const Kernel &kernel, const uint64_t *args, int32_t programs) {
  LaunchSpec spec;
  spec.kernel = &kernel;
  spec.args = args;
  spec.grid = {programs, 1, 1};
  return spec;
}

/// Symmetric memory that the host does not touch by itself.
int64_t *words(Job &job, size_t count) {
  auto memory = job.allocate(count * 8, {"words", "int64", ""});
  EXPECT_TRUE(memory.ok()) << memory.status().report();
  std::vector<int64_t> zeros(count);
  EXPECT_TRUE(job.put(*memory, zeros.data(), count * 8, job.rank()).ok());
  EXPECT_TRUE(job.barrier().ok());
  return static_cast<int64_t *>(*memory);
}

/// Each rank sends its words round the ring; after `rounds` of adding what came from
/// the left they are what the host computes.
void runRing(Job &job, Kernel &kernel, int32_t programs, int64_t rounds, unsigned seed) {
  int64_t *x = words(job, size_t(programs) * 2), *signal = words(job, size_t(programs));
  const int n = job.worldSize();
  std::vector<std::vector<int64_t>> all(static_cast<size_t>(n));
  for (int r = 0; r < n; ++r) {
    std::mt19937 random(seed + unsigned(r));
    for (int i = 0; i < programs; ++i)
      all[size_t(r)].push_back(int64_t(random() % 1000));
  }
  auto &own = all[size_t(job.rank())];
  ASSERT_TRUE(job.put(x, own.data(), own.size() * 8, job.rank()).ok());
  ASSERT_TRUE(job.barrier().ok());
  uint64_t args[] = {arg(x), arg(signal), arg(rounds)};
  auto st = launch(&job, specOf(kernel, args, programs));
  ASSERT_TRUE(st.ok()) << st.report();
  for (int64_t round = 0; round < rounds; ++round) {
    auto before = all;
    for (int r = 0; r < n; ++r)
      for (int i = 0; i < programs; ++i)
        all[size_t(r)][size_t(i)] += before[size_t((r + n - 1) % n)][size_t(i)];
  }
  std::vector<int64_t> got(own.size());
  ASSERT_TRUE(job.get(got.data(), x, got.size() * 8, job.rank()).ok());
  EXPECT_EQ(got, all[size_t(job.rank())]) << "seed " << seed;
  ASSERT_TRUE(job.barrier().ok());
}

TEST(Cuda, RanksExchangeByKernels) {
  auto kernel = ringKernel();
  for (int ranks : {1, 2, 3})
    runThreads(ranks, cudaOptions(), [&](Job &job) {
      runRing(job, *kernel, 4, 10, 7);
      runRing(job, *kernel, 1, 3, 8);
    });
}

TEST(Cuda, HostCallsReachHeaps) {
  runThreads(2, cudaOptions(), [&](Job &job) {
    int64_t *a = words(job, 8);
    const int other = 1 - job.rank();
    int64_t value = 40 + job.rank(), back = 0;
    ASSERT_TRUE(job.put(a, &value, 8, other).ok());
    ASSERT_TRUE(job.signal(a + 1, 5, NRD_SIG_SET, 8, other).ok());
    ASSERT_TRUE(job.signal(a + 1, 2, NRD_SIG_ADD, 8, other).ok());
    ASSERT_TRUE(job.signal(a + 2, 3, NRD_SIG_SET, 4, other).ok());
    ASSERT_TRUE(job.signal(a + 2, uint64_t(-1), NRD_SIG_ADD, 4, other).ok());
    ASSERT_TRUE(job.waitUntil(a + 1, NRD_CMP_EQ, 7, 8, true).ok());
    ASSERT_TRUE(job.waitUntil(a + 2, NRD_CMP_EQ, 2, 4, true).ok());
    ASSERT_TRUE(job.get(&back, a, 8, job.rank()).ok());
    EXPECT_EQ(back, 40 + other);
    ASSERT_TRUE(job.barrier().ok());
    ASSERT_TRUE(job.get(&back, a, 8, other).ok());
    EXPECT_EQ(back, 40 + job.rank());
    ASSERT_TRUE(job.barrier().ok());
  });
}

TEST(Cuda, LaunchesInStreamsGoOnBesideTheHost) {
  auto ring = ringKernel(), adds = load({});
  runThreads(2, cudaOptions(), [&](Job &job) {
    int64_t *x = words(job, 4), *signal = words(job, 2), *count = words(job, 1);
    Stream stream(&job);
    uint64_t ringArgs[] = {arg(x), arg(signal), arg(int64_t(20))}, addArgs[] = {arg(count)};
    EXPECT_TRUE(stream.launch(specOf(*ring, ringArgs, 2), ring).ok());
    for (int i = 0; i < 50; ++i)
      EXPECT_TRUE(stream.launch(specOf(*adds, addArgs, 3), adds).ok());
    auto st = stream.synchronize();
    EXPECT_TRUE(st.ok()) << st.report();
    int64_t got = 0;
    EXPECT_TRUE(job.get(&got, count, 8, job.rank()).ok());
    EXPECT_EQ(got, 150);
    EXPECT_TRUE(job.barrier().ok());
  });
}

/// A launch that counts what a stream asks of it.
struct CountedLaunch : StreamedLaunch {
  struct Counts {
    std::atomic<int> found{0}, placed{0}, released{0}, gone{0};
    std::atomic<bool> refuses{false};
  };
  CountedLaunch(Counts &counts, const Kernel &kernel, const uint64_t *args) : counts(counts) {
    spec = specOf(kernel, args, 3);
  }
  ~CountedLaunch() override { ++counts.gone; }
  nereid::runtime::Expected<Job *> findJob() override {
    ++counts.found;
    if (counts.refuses)
      return Status::error(StatusCode::InvalidArgument, "no job");
    return nullptr;
  }
  std::string place() override { return "here " + std::to_string(++counts.placed); }
  void release(std::vector<std::shared_ptr<StreamedLaunch>> &ended) override {
    counts.released += int(ended.size());
    ended.clear();
  }
  Counts &counts;
};

TEST(Cuda, ALaunchIsTriedWithoutWaitingForAnybody) {
  auto adds = load({});
  runThreads(1, cudaOptions(), [&](Job &job) {
    int64_t *word = words(job, 1), got = 0;
    uint64_t args[] = {arg(word)};
    CountedLaunch::Counts counts;
    auto make = [&] { return std::make_shared<CountedLaunch>(counts, *adds, args); };
    Status status;
    Stream stream(&job);
    // The first one makes the device's queue, in the stream's thread.
    EXPECT_FALSE(stream.tryLaunch(make(), status));
    EXPECT_TRUE(status.ok()) << status.report();
    EXPECT_EQ(counts.found, 0);
    EXPECT_EQ(counts.gone, 1);
    ASSERT_TRUE(stream.launch(make()).ok());
    EXPECT_EQ(counts.placed, 1);
    ASSERT_TRUE(stream.synchronize().ok());
    for (int i = 0; i < 5; ++i)
      EXPECT_TRUE(stream.tryLaunch(make(), status)) << i;
    EXPECT_TRUE(status.ok()) << status.report();
    EXPECT_EQ(counts.placed, 1); // nothing has gone wrong
    ASSERT_TRUE(stream.synchronize().ok());
    EXPECT_EQ(counts.found, 6);
    EXPECT_EQ(counts.released, 6);
    EXPECT_EQ(counts.gone, 7);
    // Behind a function of the host it has no turn.
    std::atomic<bool> goOn{false};
    ASSERT_TRUE(stream
                    .call([&] {
                      while (!goOn)
                        std::this_thread::yield();
                      return Status();
                    })
                    .ok());
    EXPECT_FALSE(stream.tryLaunch(make(), status));
    goOn = true;
    ASSERT_TRUE(stream.synchronize().ok());
    // What goes wrong says where.
    counts.refuses = true;
    EXPECT_TRUE(stream.tryLaunch(make(), status));
    EXPECT_TRUE(status.ok()) << status.report();
    std::string place;
    EXPECT_EQ(stream.synchronize(&place).message(), "no job");
    EXPECT_EQ(place, "here 2");
    auto wrong = make();
    wrong->spec.grid = {0, 1, 1};
    EXPECT_TRUE(stream.tryLaunch(wrong, status));
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_TRUE(job.get(&got, word, 8, 0).ok());
    EXPECT_EQ(got, 18);
  });
}

TEST(Cuda, MoreLaunchesThanControlMemoryHolds) {
  auto kernel = meetsKernel();
  runThreads(1, cudaOptions(200), [&](Job &job) {
    Stream stream(&job);
    for (int i = 0; i < 3000; ++i) // 96 + 32 * 16 bytes each
      ASSERT_TRUE(stream.launch(specOf(*kernel, nullptr, 1 + i % 2), kernel).ok());
    auto st = stream.synchronize();
    EXPECT_TRUE(st.ok()) << st.report();
  });
}

TEST(Cuda, EndlessWaitsAreReportedAndTheDeviceCanBeUsedAfterwards) {
  auto waits = waitsKernel(), ring = ringKernel();
  runThreads(2, cudaOptions(0.3), [&](Job &job) {
    int64_t *signal = words(job, 2);
    for (int round = 0; round < 2; ++round) {
      uint64_t args[] = {arg(signal + 1), 7};
      auto st = launch(&job, specOf(*waits, args, 5));
      EXPECT_EQ(st.code(), StatusCode::Timeout) << st.report();
      ASSERT_EQ(st.failure().blocked.size(), 2u) << st.report();
      for (const auto &group : st.failure().blocked) {
        EXPECT_EQ(group.kind, "wait");
        EXPECT_EQ(group.programs, "0-4");
        EXPECT_EQ(group.programCount, 5);
        EXPECT_EQ(group.currentValue, 0);
        EXPECT_EQ(group.awaitedValue, 7);
        EXPECT_EQ(group.comparison, "==");
        EXPECT_EQ(group.site.line, 10);
        EXPECT_EQ(group.site.file, "kernel.py");
        EXPECT_NE(group.address.find("'words' int64 + 8"), std::string::npos) << group.address;
      }
      EXPECT_TRUE(job.recover().ok());
      runRing(job, *ring, 3, 4, 11);
    }
  });
}

TEST(Cuda, SignalsThatHavePassedTheAwaitedValueAreNamed) {
  auto waits = waitsKernel();
  runThreads(1, cudaOptions(0.2), [&](Job &job) {
    int64_t *signal = words(job, 1), nine = 9;
    ASSERT_TRUE(job.put(signal, &nine, 8, 0).ok());
    uint64_t args[] = {arg(signal), 7};
    auto st = launch(&job, specOf(*waits, args, 1));
    ASSERT_EQ(st.failure().blocked.size(), 1u) << st.report();
    EXPECT_EQ(st.failure().blocked[0].currentValue, 9);
    EXPECT_NE(st.failure().blocked[0].note.find("has passed"), std::string::npos);
  });
}

TEST(Cuda, BarriersThatNotAllComeToAreReportedAndForgotten) {
  auto meets = meetsKernel();
  runThreads(2, cudaOptions(0.3), [&](Job &job) {
    // Rank 1 waits in a barrier of the host instead.
    auto st = job.rank() == 0 ? launch(&job, specOf(*meets, nullptr, 3)) : job.barrier();
    EXPECT_EQ(st.code(), StatusCode::Timeout) << st.report();
    bool found = false;
    for (const auto &group : st.failure().blocked)
      found = found || group.kind == "barrier_all";
    EXPECT_TRUE(found) << st.report();
    EXPECT_TRUE(job.recover().ok());
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(launch(&job, specOf(*meets, nullptr, 3)).ok());
    EXPECT_TRUE(job.barrier().ok());
  });
}

TEST(Cuda, RanksOutsideAJobMeetThemselves) {
  auto meets = meetsKernel();
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(launch(nullptr, specOf(*meets, nullptr, 4)).ok());
}

TEST(Cuda, WaitsInStreamsEndWhenTheJobFails) {
  auto waits = waitsKernel("waits_in_stream");
  runThreads(2, cudaOptions(0.3), [&](Job &job) {
    int64_t *signal = words(job, 1);
    Stream stream(&job);
    uint64_t args[] = {arg(signal), 1};
    EXPECT_TRUE(stream.launch(specOf(*waits, args, 2), waits).ok());
    // Nobody waits for the launch; it ends all the same.
    while (job.health().ok())
      usleep(1000);
    auto st = stream.synchronize();
    EXPECT_EQ(st.code(), StatusCode::Timeout) << st.report();
    EXPECT_NE(st.report().find("kernel.py:10"), std::string::npos) << st.report();
    EXPECT_TRUE(job.recover().ok());
  });
}

/// A stream that another library made.
struct OthersStream {
  OthersStream() {
    push(reinterpret_cast<void *>(uintptr_t(1)));
    create(&stream, 1);
  }
  ~OthersStream() {
    synchronize(stream);
    pop(nullptr);
  }
  void write(int64_t *at, int64_t value) { put(stream, arg(at), uint64_t(value), 0); }
  uintptr_t handle() const { return uintptr_t(stream); }

  void *stream = nullptr;
  int (*push)(void *) = ofDriver<int(void *)>("cuCtxPushCurrent_v2");
  int (*pop)(void **) = ofDriver<int(void **)>("cuCtxPopCurrent_v2");
  int (*create)(void **, unsigned) = ofDriver<int(void **, unsigned)>("cuStreamCreate");
  int (*synchronize)(void *) = ofDriver<int(void *)>("cuStreamSynchronize");
  int (*put)(void *, uint64_t, uint64_t, unsigned) =
      ofDriver<int(void *, uint64_t, uint64_t, unsigned)>("cuStreamWriteValue64_v2");
};

TEST(Cuda, LaunchesGoIntoStreamsOfOthersBetweenTheirWork) {
  auto adds = load({});
  runThreads(2, cudaOptions(), [&](Job &job) {
    int64_t *word = words(job, 1);
    OthersStream others;
    Stream stream(&job, "others'", others.handle());
    uint64_t args[] = {arg(word)};
    int64_t got = 0;
    for (int round = 1; round <= 3; ++round) {
      for (int i = 0; i < 100; ++i) {
        // A launch that comes late adds to the next number, too early: is lost.
        others.write(word, round * i);
        ASSERT_TRUE(stream.launch(specOf(*adds, args, 3), adds).ok());
      }
      auto st = stream.synchronize();
      EXPECT_TRUE(st.ok()) << st.report();
      EXPECT_TRUE(stream.query());
      EXPECT_TRUE(job.get(&got, word, 8, job.rank()).ok());
      EXPECT_EQ(got, round * 99 + 3);
    }
    // Other work of ours waits for all that is there.
    ASSERT_TRUE(stream.launch(specOf(*adds, args, 3), adds).ok());
    EXPECT_TRUE(stream.call([&] { return job.get(&got, word, 8, job.rank()); }).ok());
    ASSERT_TRUE(stream.launch(specOf(*adds, args, 3), adds).ok());
    EXPECT_TRUE(stream.synchronize().ok());
    EXPECT_EQ(got, 3 * 99 + 6);
    EXPECT_TRUE(job.barrier().ok());
  });
}

TEST(Cuda, PutsAreMadeInTheOrderOfTheirStream) {
  auto adds = load({});
  runThreads(2, cudaOptions(), [&](Job &job) {
    // own: 0..3 data, 4 counted by kernels; 8.. from the other rank; 12, 13 signals
    int64_t *w = words(job, 16);
    const int other = 1 - job.rank();
    Stream stream(&job);
    uint64_t args[] = {arg(w + 4)};
    for (int64_t round = 1; round <= 20; ++round) {
      ASSERT_TRUE(stream.launch(specOf(*adds, args, 3), adds).ok());
      ASSERT_TRUE(stream.put({w + 8, w + 4, 8, other, w + 12, uint64_t(round)}).ok());
      ASSERT_TRUE(stream.put({w + 9, w + 4, 8, other}).ok());
      ASSERT_TRUE(
          stream.put({w + 9, w, 0, other, w + 13, uint64_t(round), 4}).ok()); // a signal alone
      ASSERT_TRUE(job.waitUntil(w + 12, NRD_CMP_EQ, uint64_t(round), 8, true).ok());
      int64_t got[2] = {};
      ASSERT_TRUE(job.get(got, w + 8, 8, job.rank()).ok());
      EXPECT_EQ(got[0], 3 * round);
      ASSERT_TRUE(job.waitUntil(w + 13, NRD_CMP_EQ, uint64_t(round), 4, true).ok());
      ASSERT_TRUE(job.get(got, w + 8, 16, job.rank()).ok());
      EXPECT_EQ(got[1], 3 * round);
      ASSERT_TRUE(stream.synchronize().ok());
      ASSERT_TRUE(job.barrier().ok());
    }
    auto wrong = [&](const StreamedPut &put, StatusCode code, const char *text) {
      EXPECT_TRUE(stream.put(put, nullptr, nullptr, "script.py:7").ok());
      std::string place;
      auto st = stream.synchronize(&place);
      EXPECT_EQ(st.code(), code) << st.report();
      EXPECT_NE(st.report().find(text), std::string::npos) << st.report();
      EXPECT_EQ(place, "script.py:7");
    };
    int64_t host = 0;
    wrong({w, w, 8, 7}, StatusCode::BadRank, "rank 7 is outside this job of 2");
    wrong({&host, w, 8, other}, StatusCode::NotSymmetric, "put_async: 8 bytes");
    wrong({w, w + 15, 16, other}, StatusCode::BadAccess, "8 bytes past its end");
    wrong({w, w + 1, 8, other, reinterpret_cast<char *>(w + 3) + 4, 1}, StatusCode::BadAccess,
          "not aligned to the signal's 8 bytes");
    wrong({w, w + 1, 8, other, w + 3, 1, 2}, StatusCode::InvalidArgument, "4 or 8 bytes, not 2");
    wrong({w, w + 1, 8, other, w + 3, uint64_t(1) << 40, 4}, StatusCode::InvalidArgument,
          "does not fit a signal of 4 bytes");
    EXPECT_TRUE(job.barrier().ok());
  });
}

TEST(Cuda, PutsComeAfterWhatAStreamOfOthersHolds) {
  auto waits = waitsKernel("waits_before_puts");
  runThreads(1, cudaOptions(), [&](Job &job) {
    int64_t *w = words(job, 8), got[2] = {};
    OthersStream others;
    Stream launches(&job, "others'", others.handle()), puts(&job);
    uint64_t waitArgs[] = {arg(w), 1};
    ASSERT_TRUE(launches.launch(specOf(*waits, waitArgs, 1), waits).ok());
    others.write(w + 1, 7);
    StreamedPut put{w + 2, w + 1, 8, 0, w + 3, 1};
    put.after = others.handle();
    ASSERT_TRUE(puts.put(put).ok());
    // What the stream holds later is not awaited: it waits for the put itself.
    uint64_t signalArgs[] = {arg(w + 3), 1};
    ASSERT_TRUE(launches.launch(specOf(*waits, signalArgs, 1), waits).ok());
    ASSERT_TRUE(job.get(got, w + 2, 16, 0).ok());
    EXPECT_EQ(got[1], 0);
    ASSERT_TRUE(job.signal(w, 1, NRD_SIG_SET, 8, 0).ok());
    ASSERT_TRUE(puts.synchronize().ok());
    ASSERT_TRUE(job.get(got, w + 2, 16, 0).ok());
    EXPECT_EQ(got[0], 7);
    EXPECT_EQ(got[1], 1);
    ASSERT_TRUE(launches.synchronize().ok());
    // A put into a stream of others' takes its turn there.
    others.write(w + 1, 9);
    ASSERT_TRUE(launches.put({w + 2, w + 1, 8, 0}).ok());
    others.write(w + 1, 11);
    ASSERT_TRUE(launches.synchronize().ok());
    ASSERT_TRUE(job.get(got, w + 1, 16, 0).ok());
    EXPECT_EQ(got[0], 11);
    EXPECT_EQ(got[1], 9);
  });
}

TEST(Cuda, WhatIsOutsideOfACaptureDoesNotEndIt) {
  auto adds = load({}), meets = meetsKernel();
  runThreads(1, cudaOptions(), [&](Job &job) {
    int64_t *word = words(job, 2), got = 0;
    uint64_t args[] = {arg(word)};
    OthersStream others;
    Stream own(&job), inOthers(&job, "others'", others.handle());
    ASSERT_TRUE(own.launch(specOf(*adds, args, 3), adds).ok());
    ASSERT_TRUE(own.synchronize().ok());
    auto capture = ofDriver<void(int)>("nrd_fake_capture");
    capture(1);
    auto late = load({.name = "adds_late"}); // loaded meanwhile
    EXPECT_TRUE(own.launch(specOf(*late, args, 3), late).ok());
    EXPECT_TRUE(own.launch(specOf(*meets, nullptr, 2), meets).ok());
    EXPECT_TRUE(own.put({word + 1, word, 8, 0}).ok());
    EXPECT_TRUE(own.synchronize().ok());
    EXPECT_TRUE(job.get(&got, word + 1, 8, 0).ok());
    EXPECT_EQ(got, 6);
    EXPECT_TRUE(launch(&job, specOf(*adds, args, 3)).ok());
    StreamedPut put{word + 1, word, 8, 0};
    put.after = others.handle();
    EXPECT_TRUE(own.put(put).ok());
    auto st = own.synchronize();
    EXPECT_EQ(st.code(), StatusCode::InvalidArgument) << st.report();
    EXPECT_NE(st.report().find("put_async: the stream is being captured"), std::string::npos);
    capture(0);
    EXPECT_TRUE(job.get(&got, word, 8, 0).ok());
    EXPECT_EQ(got, 9);
  });
}

TEST(Cuda, GraphsAreNotCaptured) {
  auto adds = load({});
  runThreads(1, cudaOptions(), [&](Job &job) {
    uint64_t args[] = {arg(words(job, 1))};
    OthersStream others;
    Stream stream(&job, "others'", others.handle());
    auto capture = ofDriver<void(int)>("nrd_fake_capture");
    capture(1);
    EXPECT_TRUE(stream.launch(specOf(*adds, args, 3), adds).ok());
    auto st = stream.synchronize();
    EXPECT_EQ(st.code(), StatusCode::InvalidArgument) << st.report();
    EXPECT_NE(st.report().find("captured into a CUDA graph"), std::string::npos) << st.report();
    capture(0);
    EXPECT_TRUE(stream.launch(specOf(*adds, args, 3), adds).ok());
    EXPECT_TRUE(stream.synchronize().ok());
  });
}

TEST(Cuda, WaitsInStreamsOfOthersEndWhenTheJobFails) {
  auto waits = waitsKernel("waits_elsewhere"), adds = load({});
  runThreads(1, cudaOptions(0.3), [&](Job &job) {
    int64_t *word = words(job, 2), got = 0;
    OthersStream others;
    Stream stream(&job, "others'", others.handle());
    uint64_t waitArgs[] = {arg(word), 1}, addArgs[] = {arg(word + 1)};
    EXPECT_TRUE(stream.launch(specOf(*waits, waitArgs, 2), waits).ok());
    auto st = stream.synchronize();
    EXPECT_EQ(st.code(), StatusCode::Timeout) << st.report();
    EXPECT_TRUE(stream.launch(specOf(*adds, addArgs, 3), adds).ok());
    EXPECT_TRUE(stream.synchronize().ok());
    EXPECT_TRUE(job.get(&got, word + 1, 8, 0).ok());
    EXPECT_EQ(got, 3);
  });
}

TEST(Cuda, ProgramsThatWaitMustFitTogether) {
  auto meets = meetsKernel();
  runThreads(2, cudaOptions(), [&](Job &job) {
    // 4 multiprocessors hold 8 each, which two ranks share.
    auto st = launch(&job, specOf(*meets, nullptr, 17));
    EXPECT_EQ(st.code(), StatusCode::InvalidArgument) << st.report();
    EXPECT_NE(st.message().find("17 programs wait for each other, and 16 fit on GPU 0 (Fake) at "
                                "once, which 2 ranks share"),
              std::string::npos)
        << st.message();
    EXPECT_TRUE(job.recover().ok());
    EXPECT_TRUE(launch(&job, specOf(*meets, nullptr, 16)).ok());
    EXPECT_TRUE(job.barrier().ok());
  });
}

TEST(Cuda, GridsThatAGPUDoesNotHave) {
  auto adds = load({});
  int64_t word = 0;
  uint64_t args[] = {arg(&word)};
  LaunchSpec spec = specOf(*adds, args, 1);
  spec.grid = {1, 70000, 1};
  auto st = launch(nullptr, spec);
  EXPECT_EQ(st.code(), StatusCode::InvalidArgument);
  EXPECT_NE(st.message().find("put the long axis first"), std::string::npos) << st.message();
}

TEST(Cuda, FaultsSayWhatHappened) {
  auto crashes = load({.name = "crashes", .types = {}});
  runThreads(1, cudaOptions(), [&](Job &job) {
    auto st = launch(&job, specOf(*crashes, nullptr, 1));
    EXPECT_EQ(st.code(), StatusCode::BadAccess) << st.report();
    EXPECT_EQ(st.failure().kernel, "crashes");
    EXPECT_NE(st.message().find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << st.message();
    EXPECT_EQ(launch(&job, specOf(*crashes, nullptr, 1)).code(), StatusCode::SystemError);
  });
  ofDriver<void()>("nrd_fake_repair")();
}

TEST(Cuda, ObjectsAreVerified) {
  auto refused = [](std::string object) {
    auto kernel = device().load(object);
    EXPECT_FALSE(kernel.ok());
    EXPECT_EQ(kernel.status().code(), StatusCode::InvalidArgument);
    return kernel.status().message();
  };
  std::string good = CUDAObject().bytes();
  ASSERT_TRUE(device().load(good).ok());
  auto described = device().describe(good);
  ASSERT_TRUE(described.ok());
  EXPECT_EQ(described->name, "adds");
  EXPECT_EQ(described->architecture, "sm_90");
  EXPECT_EQ(described->arguments.size(), 1u);
  std::mt19937 random(5);
  for (int i = 0; i < 200; ++i) {
    std::string bad = good;
    bad[random() % bad.size()] ^= char(1 + random() % 255);
    refused(bad);
  }
  for (size_t size = 0; size < good.size(); size += 7)
    refused(good.substr(0, size));
  EXPECT_NE(refused(CUDAObject{.architecture = "x86_64"}.bytes()).find("compiled for x86_64"),
            std::string::npos);
  // The driver says no only to what it is asked for: a GPU is in use.
  ASSERT_TRUE(launch(nullptr, specOf(*meetsKernel(), nullptr, 1)).ok());
  EXPECT_NE(refused(CUDAObject{.cubin = "nothing", .architecture = "sm_100"}.bytes())
                .find("on GPU 0 (Fake, sm_90): cuModuleLoadData: error 200; it was compiled for "
                      "sm_100"),
            std::string::npos);
}

TEST(Cuda, HeapsThatDoNotFitSaySo) {
  JobOptions options = cudaOptions();
  options.heapBytes = uint64_t(1) << 41;
  auto jobs = Job::createThreadRanks(2, options);
  ASSERT_FALSE(jobs.ok());
  EXPECT_EQ(jobs.status().code(), StatusCode::OutOfMemory);
  EXPECT_NE(jobs.status().message().find("for the symmetric heap of rank 0"), std::string::npos)
      << jobs.status().message();
}

TEST(Cuda, SettingsOfTheCPUAreRefused) {
  JobOptions options = cudaOptions();
  options.schedule = "random:3";
  auto jobs = Job::createThreadRanks(2, options);
  EXPECT_EQ(jobs.status().code(), StatusCode::Environment);
  EXPECT_NE(jobs.status().message().find("NEREID_SCHEDULE"), std::string::npos);
}

/// What this program says when it runs the disabled tests `filter` in a process of its
/// own: one that has used no GPU yet, since CUDA allows no fork afterwards, and asks
/// for the driver with these variables. `status` is how it ended.
std::string runAlone(const char *filter,
                     const std::vector<std::pair<const char *, const char *>> &variables,
                     int &status) {
  int out[2];
  if (pipe(out) != 0)
    return "no pipe";
  pid_t child = fork();
  if (child == 0) {
    for (auto [name, value] : variables)
      setenv(name, value, 1);
    dup2(out[1], 1);
    close(out[0]);
    const std::string option = std::string("--gtest_filter=") + filter;
    execl("/proc/self/exe", "NereidCudaTests", option.c_str(), "--gtest_also_run_disabled_tests",
          static_cast<char *>(nullptr));
    _exit(9);
  }
  close(out[1]);
  std::string said;
  char buffer[4096];
  for (ssize_t n; (n = ::read(out[0], buffer, sizeof(buffer))) > 0;)
    said.append(buffer, size_t(n));
  close(out[0]);
  waitpid(child, &status, 0);
  return said;
}

TEST(CudaAlone, DISABLED_ProcessesExchangeByKernels) {
  // Each maps the heaps of the others by their descriptors.
  for (int ranks : {2, 3})
    for (int code : runForked(ranks, cudaOptions(), [&](Job &job) {
           runRing(job, *ringKernel(), 4, 5, 9);
           EXPECT_EQ(ofDriver<int()>("nrd_fake_unreachable")(), 0);
           // Memory that is no rank's is on the rank's GPU, of which the process uses no other.
           auto memory = device().allocate(100);
           EXPECT_TRUE(memory.ok());
           const int gpus = std::getenv("NEREID_FAKE_CUDA_DEVICES")[0] - '0';
           EXPECT_EQ(ofDriver<int(void *)>("nrd_fake_owner")(*memory), job.rank() % gpus);
           device().release(*memory);
           EXPECT_TRUE(job.barrier().ok());
           return 0;
         }))
      EXPECT_EQ(code, 0);
}

TEST(CudaAlone, DISABLED_ProcessesThatDieEndTheWaitsOfOthers) {
  auto codes = runForked(2, cudaOptions(), [&](Job &job) {
    auto waits = waitsKernel();
    int64_t *signal = words(job, 1);
    if (job.rank() == 1)
      _exit(3);
    uint64_t args[] = {arg(signal), 1};
    auto st = launch(&job, specOf(*waits, args, 2));
    EXPECT_EQ(st.code(), StatusCode::RankDied) << st.report();
    EXPECT_NE(st.report().find("kernel.py:10"), std::string::npos) << st.report();
    return 0;
  });
  EXPECT_EQ(codes[0], 0);
  EXPECT_EQ(codes[1], 3);
}

TEST(CudaAlone, DISABLED_ThreadsExchangeByKernels) {
  auto kernel = ringKernel();
  runThreads(3, cudaOptions(), [&](Job &job) {
    EXPECT_EQ(ofDriver<int()>("nrd_fake_unreachable")(), 0);
    runRing(job, *kernel, 4, 10, 7);
  });
}

TEST(CudaAlone, DISABLED_SaysWhatIsMissing) {
  if (const char *driver = std::getenv("NEREID_TEST_DRIVER"))
    setenv("NEREID_CUDA_DRIVER", driver, 1);
  std::printf("%s\n", Job::createThreadRanks(1, cudaOptions()).status().message().c_str());
  auto kernel = device().load(CUDAObject().bytes()); // needs no GPU
  EXPECT_TRUE(kernel.ok());
  if (kernel.ok()) {
    int64_t word = 0;
    uint64_t args[] = {arg(&word)};
    std::printf("%s\n", launch(nullptr, specOf(**kernel, args, 1)).message().c_str());
  }
}

TEST(Cuda, MachinesWithoutAGPUSaySo) {
  const std::string needs = "the target cuda needs an NVIDIA GPU and its driver: ";
  auto expect = [&](const char *variable, const char *value, const std::string &text) {
    int status = 0;
    std::string said =
        runAlone("CudaAlone.DISABLED_SaysWhatIsMissing", {{variable, value}}, status);
    size_t first = said.find(text);
    EXPECT_NE(first, std::string::npos) << said;
    EXPECT_NE(said.find(text, first + 1), std::string::npos) << said; // job and launch
  };
  expect("NEREID_TEST_DRIVER", "libnone.so.1", needs + "the library libnone.so.1 cannot be loaded");
  expect("NEREID_FAKE_CUDA_DEVICES", "-1",
         needs + "cuInit says CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)");
  expect("NEREID_FAKE_CUDA_DEVICES", "0", needs + "the driver finds no GPU");
  expect("NEREID_FAKE_CUDA_VERSION", "11040", "is for CUDA 11.4");
}

TEST(Cuda, RanksAreProcessesToo) {
  for (const char *gpus : {"1", "2"}) {
    int status = 0;
    std::string said =
        runAlone("CudaAlone.DISABLED_Processes*", {{"NEREID_FAKE_CUDA_DEVICES", gpus}}, status);
    EXPECT_EQ(status, 0) << said;
  }
}

TEST(Cuda, RanksOfSeveralGPUsOfOneProcess) {
  // The number of GPUs is asked for once, so this is a process of its own too.
  int status = 0;
  std::string said =
      runAlone("CudaAlone.DISABLED_Threads*", {{"NEREID_FAKE_CUDA_DEVICES", "2"}}, status);
  EXPECT_EQ(status, 0) << said;
}

TEST(Cuda, ForkedProcessesAreRefused) {
  ASSERT_TRUE(launch(nullptr, specOf(*meetsKernel(), nullptr, 1)).ok());
  pid_t child = fork();
  if (child == 0) {
    auto jobs = Job::createThreadRanks(1, cudaOptions());
    _exit(jobs.status().message().find("forked from one that has used a GPU") == std::string::npos);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

} // namespace
