// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels as C++ hosts launch them: what is checked before anything runs.
#include "Kernel.h"

#include "nereid/runtime/LoadedKernel.h"

#include <atomic>
#include <thread>

using namespace nereid;
using namespace nereid::test;
using HostKernelTest = KernelTest;
using runtime::argumentSlot;

static constexpr const char *text = R"(
tt.func public @host(%p: !tt.ptr<i32> {tt.divisibility = 8 : i32, nereid.symmetric}, %n: i32 {tt.divisibility = 3 : i32}) {
  %pid = tt.get_program_id x : i32
  %at = tt.addptr %p, %pid : !tt.ptr<i32>, i32
  tt.store %at, %n : !tt.ptr<i32>
  tt.return
})";

TEST_F(HostKernelTest, ArgumentsAreChecked) {
  auto module = parse(text);
  std::string object = llvm::cantFail(compileKernel(*module, cpuOptions())).object;
  auto kernel = runtime::LoadedKernel::load(object);
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  runtime::JobOptions options;
  options.heapBytes = 1 << 20;
  auto jobs = runtime::Job::createThreadRanks(1, options);
  ASSERT_TRUE(jobs.ok()) << jobs.status().message();
  runtime::Job *job = (*jobs)[0].get();
  auto memory = job->allocate(256, {"x", "int32", "(64)"});
  ASSERT_TRUE(memory.ok());
  int32_t *x = static_cast<int32_t *>(*memory);

  auto launch = [&](runtime::Job *in, std::vector<uint64_t> slots) {
    runtime::Status status = kernel->launch(in, {4}, slots);
    return status.ok() ? "ok" : status.message();
  };
  EXPECT_EQ(launch(job, {argumentSlot(x), argumentSlot(-6)}), "ok");
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(x[i], i < 4 ? -6 : 0);
  EXPECT_EQ(launch(job, {argumentSlot(x)}), "kernel 'host' takes 2 arguments, 1 were given");
  EXPECT_EQ(launch(job, {argumentSlot(x + 1), argumentSlot(3)}),
            "kernel 'host', argument 'arg0': the kernel was compiled for an address that is a "
            "multiple of 8; pass such a one, or compile it without ':8' in its signature");
  EXPECT_NE(launch(job, {argumentSlot(x), argumentSlot(-7)})
                .find("'arg1': the kernel was compiled "
                      "for a value that is a "
                      "multiple of 3"),
            std::string::npos);
  EXPECT_NE(launch(nullptr, {argumentSlot(x), argumentSlot(3)}).find("with the job that Job::init"),
            std::string::npos);
  alignas(8) int32_t plain[64];
  runtime::Status status = kernel->launch(job, {4}, {argumentSlot(plain), argumentSlot(3)});
  EXPECT_EQ(status.code(), runtime::StatusCode::NotSymmetric);
  EXPECT_NE(status.message().find("must be an address in symmetric memory"), std::string::npos);
  EXPECT_NE(kernel->launch(job, {0}, {argumentSlot(x), argumentSlot(3)})
                .message()
                .find("every grid dimension"),
            std::string::npos);
  EXPECT_NE(runtime::LoadedKernel().launch(job, {1}, {}).message().find("no kernel"),
            std::string::npos);

  // In a stream arguments are checked at once; the code lives until the launch has run.
  runtime::Stream stream(job);
  EXPECT_EQ(kernel->launch(stream, {4}, {argumentSlot(x)}).message(),
            "kernel 'host' takes 2 arguments, 1 were given");
  std::atomic<bool> gate{false};
  auto wait = [&] {
    while (!gate)
      std::this_thread::yield();
    return runtime::Status();
  };
  EXPECT_TRUE(stream.call(wait).ok());
  {
    auto copy = runtime::LoadedKernel::load(object);
    ASSERT_TRUE(copy.ok());
    EXPECT_TRUE(copy->launch(stream, {5}, {argumentSlot(x), argumentSlot(9)}).ok());
  }
  EXPECT_EQ(x[4], 0);
  gate = true;
  EXPECT_TRUE(stream.synchronize().ok());
  EXPECT_EQ(x[4], 9);

  EXPECT_TRUE(runtime::LoadedKernel::load(object, "host", {"*i32", "i32"}).ok());
  EXPECT_EQ(runtime::LoadedKernel::load(object, "host", {"*i32", "i64"}).status().message(),
            "the object file holds the kernel host(*i32, i32), not host(*i32, i64); compile it and "
            "its header together, with `nereid compile --header`");
  EXPECT_FALSE(runtime::LoadedKernel::load(object, "other", {"*i32", "i32"}).ok());
}

TEST(ArgumentSlot, Encodings) {
  EXPECT_EQ(argumentSlot(int8_t(-2)), ~uint64_t(1));
  EXPECT_EQ(argumentSlot(uint8_t(254)), 254u);
  EXPECT_EQ(argumentSlot(int32_t(-1)), ~uint64_t(0));
  EXPECT_EQ(argumentSlot(uint32_t(-1)), 0xffffffffu);
  EXPECT_EQ(argumentSlot(true), 1u);
  EXPECT_EQ(argumentSlot(1.0f), 0x3f800000u);
  EXPECT_EQ(argumentSlot(1.0), 0x3ff0000000000000u);
  EXPECT_EQ(argumentSlot(runtime::BFloat16{0xbf80}), 0xbf80u);
  int value = 0;
  EXPECT_EQ(argumentSlot(&value), reinterpret_cast<uint64_t>(&value));
}
