// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StreamTest.cpp - Queues of launches and host functions -------------===//
#include "Harness.h"

#include "nereid/abi.h"
#include "nereid/runtime/Config.h"
#include "nereid/runtime/Stream.h"

#include <atomic>
#include <chrono>
#include <random>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

using namespace nereid::test;
using nereid::runtime::Event;
using nereid::runtime::setInterruptCheck;
using nereid::runtime::Stream;

namespace {

using Clock = std::chrono::steady_clock;

/// x[0] = x[0] * factor + term
void scaleAdd(nrd_program *, const uint64_t *args) {
  int64_t *x = pointerArg<int64_t>(args, 0);
  *x = *x * int64_t(args[1]) + int64_t(args[2]);
}

/// Waits until the word is args[1], then adds 1 to args[2].
void waitThenAdd(nrd_program *program, const uint64_t *args) {
  nrd_wait(program, pointerArg<int64_t>(args, 0), 1, int64_t(args[1]), 8, 0);
  ++*pointerArg<int64_t>(args, 2);
}

struct TestKernel {
  TestKernel(const char *name, nrd_kernel_fn function, bool blocking = false)
      : kernel(name, function) {
    kernel.numArgs = 3;
    kernel.blocking = blocking;
  }
  Status launch(Stream &stream, const std::vector<uint64_t> &args, std::string place = "") const {
    LaunchSpec spec;
    spec.kernel = &kernel;
    spec.args = args.data();
    return stream.launch(spec, nullptr, nullptr, std::move(place));
  }
  CPUKernel kernel;
};

bool waitFor(const std::function<bool()> &condition) {
  for (auto end = Clock::now() + std::chrono::seconds(10); Clock::now() < end;) {
    if (condition())
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

TEST(Streams, CarryOutInOrderWhatTheyAreGiven) {
  TestKernel kernel("scale_add", scaleAdd);
  runThreads(2, testOptions(), [&](Job &job) {
    std::mt19937 random(uint32_t(17 + job.rank()));
    int64_t x = 1, expected = 1;
    std::vector<int64_t> seen, expectedSeen;
    Stream stream(&job, "work");
    for (int i = 0; i < 200; ++i) {
      const int64_t factor = int64_t(random() % 5), term = int64_t(random() % 100);
      ASSERT_TRUE(kernel.launch(stream, {arg(&x), arg(factor), arg(term)}).ok());
      expected = expected * factor + term;
      if (random() % 3)
        continue;
      ASSERT_TRUE(stream
                      .call([&] {
                        seen.push_back(x);
                        return Status();
                      })
                      .ok());
      expectedSeen.push_back(expected);
    }
    ASSERT_TRUE(stream.call([&] { return job.barrier(); }).ok());
    EXPECT_TRUE(stream.synchronize().ok());
    EXPECT_TRUE(stream.query());
    EXPECT_EQ(x, expected);
    EXPECT_EQ(seen, expectedSeen);
  });
}

TEST(Streams, TheFirstErrorSticksAndDropsTheRest) {
  TestKernel kernel("scale_add", scaleAdd);
  int64_t x = 1;
  Stream stream(nullptr, "faulty");
  Event before, after;
  EXPECT_TRUE(stream.record(before).ok());
  EXPECT_TRUE(
      stream.call([] { return Status::error(StatusCode::BadAccess, "the first"); }, "a place")
          .ok());
  EXPECT_TRUE(kernel.launch(stream, {arg(&x), arg(0), arg(9)}).ok());
  EXPECT_TRUE(stream.call([] { return Status::error(StatusCode::BadRank, "the second"); }).ok());
  EXPECT_TRUE(stream.record(after).ok());
  EXPECT_TRUE(after.synchronize().ok());
  std::string place;
  Status status = stream.synchronize(&place);
  EXPECT_EQ(status.code(), StatusCode::BadAccess);
  EXPECT_EQ(status.message(), "the first");
  EXPECT_EQ(place, "a place");
  EXPECT_EQ(x, 1);
  EXPECT_TRUE(before.query() && after.query());
  EXPECT_LE(before.nanoseconds(), after.nanoseconds());
  // It can be used again.
  EXPECT_TRUE(kernel.launch(stream, {arg(&x), arg(0), arg(9)}).ok());
  EXPECT_TRUE(stream.synchronize().ok());
  EXPECT_EQ(x, 9);
}

TEST(Streams, ExceptionsOfFunctionsAreErrors) {
  Stream stream(nullptr, "thrown");
  EXPECT_TRUE(stream.call([]() -> Status { throw std::runtime_error("too bad"); }).ok());
  Status status = stream.synchronize();
  EXPECT_EQ(status.code(), StatusCode::Internal);
  EXPECT_EQ(status.message(), "a function in thrown threw an exception: too bad");
}

TEST(Streams, WrongLaunchesAreErrorsAtOnce) {
  TestKernel kernel("checked", scaleAdd);
  Stream stream(nullptr, "s");
  LaunchSpec spec;
  EXPECT_EQ(stream.launch(spec).message(), "launch: no kernel");
  spec.kernel = &kernel.kernel;
  EXPECT_EQ(stream.launch(spec).message(),
            "launch of 'checked': the kernel has 3 arguments, the launch has none");
  uint64_t args[3] = {};
  spec.args = args;
  kernel.kernel.numArgs = -1;
  EXPECT_EQ(stream.launch(spec).message(),
            "launch of 'checked' in s: the kernel does not say how many arguments it has");
  EXPECT_TRUE(stream.query());
}

TEST(Streams, OnlyDevicesWithStreamsOfTheirOwnTakeOne) {
  TestKernel kernel("native", scaleAdd);
  Stream stream(nullptr, "s", 7);
  uint64_t args[3] = {};
  EXPECT_TRUE(kernel.launch(stream, {args, args + 3}, "here").ok());
  std::string place;
  EXPECT_EQ(stream.synchronize(&place).message(),
            "launch of 'native': the device 'cpu' has no streams of its own that it could go into");
  EXPECT_EQ(place, "here");
}

TEST(Streams, EventsOrderTwoStreams) {
  Stream first(nullptr, "first"), second(nullptr, "second");
  Event done;
  EXPECT_EQ(second.wait(done).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(done.synchronize().code(), StatusCode::InvalidArgument);
  EXPECT_FALSE(done.recorded() || done.query());
  std::atomic<bool> gate{false};
  std::vector<int> log;
  EXPECT_TRUE(first
                  .call([&] {
                    EXPECT_TRUE(waitFor([&] { return gate.load(); }));
                    log.push_back(1);
                    return Status();
                  })
                  .ok());
  EXPECT_TRUE(first.record(done).ok());
  EXPECT_TRUE(second.wait(done).ok());
  EXPECT_TRUE(second
                  .call([&] {
                    log.push_back(2);
                    return Status();
                  })
                  .ok());
  EXPECT_TRUE(done.recorded() && !done.query() && !second.query());
  gate.store(true);
  EXPECT_TRUE(second.synchronize().ok());
  EXPECT_EQ(log, (std::vector<int>{1, 2}));
  EXPECT_TRUE(done.query());
}

TEST(Streams, TheDestructorWaits) {
  std::atomic<bool> done{false};
  {
    Stream stream(nullptr, "ends");
    EXPECT_TRUE(stream
                    .call([&] {
                      std::this_thread::sleep_for(std::chrono::milliseconds(100));
                      done.store(true);
                      return Status();
                    })
                    .ok());
  }
  EXPECT_TRUE(done.load());
  auto late = std::make_shared<std::atomic<bool>>(false);
  std::atomic<bool> gate{false};
  {
    Stream stream(nullptr, "goes on");
    EXPECT_TRUE(stream
                    .call([late, &gate] {
                      EXPECT_TRUE(waitFor([&] { return gate.load(); }));
                      late->store(true);
                      return Status();
                    })
                    .ok());
    stream.detach();
  }
  EXPECT_FALSE(late->load());
  gate.store(true);
  EXPECT_TRUE(waitFor([&] { return late->load(); }));
}

TEST(Streams, MisuseIsAnError) {
  Stream stream(nullptr, "own");
  EXPECT_TRUE(stream.call([&] { return stream.synchronize(); }).ok());
  EXPECT_EQ(stream.synchronize().message(), "own cannot wait for itself");
  const pid_t child = fork();
  if (child == 0) {
    Status status = stream.call([] { return Status(); });
    Stream other(nullptr, "of the child");
    const bool right = status.message() ==
                           "own belongs to the parent of this process; make a stream of your own" &&
                       stream.query() && stream.synchronize().ok() &&
                       other.call([] { return Status(); }).ok() && other.synchronize().ok();
    _exit(right ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Streams, TheHostMaySignalAKernelThatWaitsInAStream) {
  TestKernel kernel("waits", waitThenAdd, true);
  runThreads(2, testOptions(), [&](Job &job) {
    int64_t *flag = symmetric<int64_t>(job, 1, "flag");
    int64_t x = 6;
    Stream stream(&job);
    EXPECT_TRUE(kernel.launch(stream, {arg(flag), arg(3), arg(&x)}).ok());
    // Long enough to be called a deadlock, if the host did not count.
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    EXPECT_TRUE(job.signal(flag, 3, NRD_SIG_SET, 8, 1 - job.rank()).ok());
    Status status = stream.synchronize();
    EXPECT_TRUE(status.ok()) << status.report();
    EXPECT_EQ(x, 7);
    EXPECT_TRUE(job.barrier().ok());
  });
}

TEST(Streams, ADeadlockIsFoundWhenTheHostsWait) {
  TestKernel kernel("waits", waitThenAdd, true);
  runThreads(2, testOptions(), [&](Job &job) {
    int64_t *flag = symmetric<int64_t>(job, 2, "flag");
    int64_t x = 6;
    Stream stream(&job), other(&job);
    EXPECT_TRUE(kernel.launch(stream, {arg(flag), arg(3), arg(&x)}, "here").ok());
    Event never;
    EXPECT_TRUE(stream.record(never).ok());
    EXPECT_TRUE(other.wait(never).ok()); // waits, too
    const auto begin = Clock::now();
    std::string place;
    Status status = stream.synchronize(&place);
    EXPECT_EQ(status.code(), StatusCode::Deadlock) << status.report();
    EXPECT_NE(status.report().find("'flag'"), std::string::npos) << status.report();
    EXPECT_EQ(place, "here");
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
    EXPECT_TRUE(other.synchronize().ok());
    EXPECT_EQ(x, 6);
    EXPECT_TRUE(job.recover().ok());
  });
}

TEST(Streams, AHostInsideALaunchOfItsOwnWaits) {
  // The host cannot write the signal of the kernel in the stream either.
  TestKernel kernel("waits", waitThenAdd, true);
  runThreads(1, testOptions(), [&](Job &job) {
    int64_t *flag = symmetric<int64_t>(job, 1, "flag");
    int64_t x = 0;
    Stream stream(&job);
    std::atomic<bool> begun{false};
    EXPECT_TRUE(stream
                    .call([&] {
                      begun.store(true);
                      return Status();
                    })
                    .ok());
    EXPECT_TRUE(kernel.launch(stream, {arg(flag), arg(3), arg(&x)}).ok());
    ASSERT_TRUE(waitFor([&] { return begun.load(); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    LaunchSpec spec;
    spec.kernel = &kernel.kernel;
    uint64_t args[] = {arg(flag), arg(4), arg(&x)};
    spec.args = args;
    const auto begin = Clock::now();
    // One of the two launches tells of it, the other comes after it.
    Status own = nereid::runtime::launch(&job, spec), queued = stream.synchronize();
    EXPECT_TRUE(own.code() == StatusCode::Deadlock || queued.code() == StatusCode::Deadlock)
        << own.report() << queued.report();
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
  });
}

TEST(Streams, AnInterruptDropsTheQueueAndStopsTheLaunch) {
  TestKernel kernel("waits", waitThenAdd, true);
  runThreads(1, testOptions(), [&](Job &job) {
    int64_t *flag = symmetric<int64_t>(job, 1, "flag");
    int64_t x = 0;
    std::atomic<bool> dropped{true};
    Stream stream(&job);
    EXPECT_TRUE(kernel.launch(stream, {arg(flag), arg(3), arg(&x)}).ok());
    EXPECT_TRUE(stream
                    .call([&] {
                      dropped.store(false);
                      return Status();
                    })
                    .ok());
    const auto me = std::this_thread::get_id();
    std::atomic<int> asked{0};
    setInterruptCheck([&] { return std::this_thread::get_id() == me && ++asked == 1; });
    EXPECT_EQ(stream.synchronize().code(), StatusCode::Interrupted);
    setInterruptCheck({});
    EXPECT_TRUE(stream.query());
    EXPECT_TRUE(dropped.load());
    EXPECT_TRUE(stream.synchronize().ok());
    *flag = 3;
    EXPECT_TRUE(kernel.launch(stream, {arg(flag), arg(3), arg(&x)}).ok());
    EXPECT_TRUE(stream.synchronize().ok());
    EXPECT_EQ(x, 1);
  });
}

TEST(Streams, WithoutAThreadNothingIsQueued) {
  const pid_t child = fork();
  if (child == 0) {
    Stream stream(nullptr, "own");
    const rlimit none{1 << 20, 1 << 20}; // no stack of a thread fits any more
    setrlimit(RLIMIT_AS, &none);
    try {
      for (;;) // stacks of threads that have ended are kept for the next
        std::thread([] { pause(); }).detach();
    } catch (const std::system_error &) {
    }
    Status st = stream.call([] { return Status(); });
    // Would wait for ever if the call counted as pending.
    const bool right = st.code() == StatusCode::SystemError && stream.synchronize().ok() &&
                       st.message().find("the system gives no thread for own: ") == 0;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

} // namespace
