// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceTest.cpp - What every device must do -------------------------===//
//
// Runs over all rows of kDevices. A new device adds a row: how to make a kernel of it
// that adds 1 to the word its only argument points to, if the device runs anything.
//
//===----------------------------------------------------------------------===//
#include "Cuda/Objects.h"
#include "Harness.h"

#include "nereid/runtime/Devices.h"
#include "nereid/runtime/Stream.h"

#include <atomic>
#include <random>
#include <unistd.h>

using namespace nereid::test;
using nereid::runtime::Device;
using nereid::runtime::DeviceQueue;
using nereid::runtime::devices;
using nereid::runtime::Expected;
using nereid::runtime::findDevice;
using nereid::runtime::HeapHandle;
using nereid::runtime::Kernel;
using nereid::runtime::Stream;

namespace {

struct Tested {
  const char *name;
  bool runs; ///< programs do what they say
  std::function<std::shared_ptr<Kernel>(const char *name)> adder;
};

std::ostream &operator<<(std::ostream &os, const Tested &tested) { return os << tested.name; }

void addOne(nrd_program *, const uint64_t *args) {
  pointerArg<std::atomic<int64_t>>(args, 0)->fetch_add(1);
}

const std::vector<Tested> kDevices = {
    {"cpu", true,
     [](const char *name) {
       auto kernel = std::make_shared<CPUKernel>(name, addOne);
       kernel->numArgs = 1;
       return kernel;
     }},
    {"cuda", true,
     [](const char *name) {
       setenv("NEREID_CUDA_DRIVER", NEREID_FAKE_CUDA, 1);
       // The driver of the tests takes the code by the beginning of its name.
       auto kernel = (*findDevice("cuda"))->load(CUDAObject().bytes());
       EXPECT_TRUE(kernel.ok()) << kernel.status().report();
       if (kernel.ok())
         (*kernel)->name = name;
       return kernel.ok() ? *kernel : nullptr;
     }},
    {"null", false,
     [](const char *name) {
       auto kernel = (*findDevice("null"))->load("null kernel " + std::string(name) + "\nargs 1\n");
       EXPECT_TRUE(kernel.ok()) << kernel.status().report();
       return kernel.ok() ? *kernel : nullptr;
     }},
};

class DeviceConformance : public testing::TestWithParam<Tested> {
protected:
  Device &device() const { return **findDevice(GetParam().name); }
  JobOptions options() const {
    JobOptions options = testOptions();
    options.device = GetParam().name;
    return options;
  }
};

INSTANTIATE_TEST_SUITE_P(All, DeviceConformance, testing::ValuesIn(kDevices),
                         [](const auto &row) { return std::string(row.param.name); });

TEST(Devices, AllAreTestedAndNamed) {
  std::vector<std::string> built, tested;
  for (Device *device : devices())
    built.push_back(device->name());
  for (const Tested &row : kDevices)
    tested.push_back(row.name);
  EXPECT_EQ(built, tested);
  auto unknown = findDevice("abacus");
  EXPECT_EQ(unknown.status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(unknown.status().message(), "there is no device 'abacus'; known: cpu, cuda, null");
  JobOptions options = testOptions();
  options.device = "abacus";
  EXPECT_EQ(Job::createThreadRanks(1, options).status().code(), StatusCode::InvalidArgument);
}

TEST_P(DeviceConformance, RefusesWhatIsNoObject) {
  for (std::string object : {"", "no object of any device",
                             "\x7f"
                             "ELF but nothing after it"}) {
    auto kernel = device().load(object);
    ASSERT_FALSE(kernel.ok());
    EXPECT_EQ(kernel.status().code(), StatusCode::InvalidArgument);
    EXPECT_FALSE(kernel.status().message().empty());
    auto described = device().describe(object);
    EXPECT_EQ(described.status().message(), kernel.status().message());
  }
}

TEST_P(DeviceConformance, AreasSayNothingBeforeTheFirstLaunch) {
  auto area = std::make_unique<nereid::runtime::DeviceArea>();
  nereid::runtime::DeviceActivity activity;
  device().look(*area, activity);
  EXPECT_FALSE(activity.running);
  EXPECT_TRUE(activity.looks.empty() && activity.spinners.empty());
}

TEST_P(DeviceConformance, AreasOfOthersAreReadWhateverStandsInThem) {
  auto area = std::make_unique<nereid::runtime::DeviceArea>();
  std::mt19937 random(77);
  for (std::byte &byte : area->bytes)
    byte = std::byte(random());
  nereid::runtime::DeviceActivity activity;
  device().look(*area, activity);
  EXPECT_LE(activity.looks.size(), activity.steps.size());
}

TEST_P(DeviceConformance, LaunchesInAndOutsideJobs) {
  std::shared_ptr<Kernel> kernel = GetParam().adder("adds");
  std::mt19937 random(1234);
  runThreads(3, options(), [&](Job &job) {
    std::atomic<int64_t> sum{0};
    uint64_t args[] = {arg(&sum)};
    LaunchSpec spec;
    spec.kernel = kernel.get();
    spec.args = args;
    spec.grid = {3, 5, 7};
    for (int i = 0; i < 4; ++i) {
      auto st = launch(&job, spec);
      ASSERT_TRUE(st.ok()) << st.report();
    }
    EXPECT_EQ(sum.load(), GetParam().runs ? 4 * 105 : 0);
    EXPECT_TRUE(job.barrier().ok());
  });
  for (int i = 0; i < 5; ++i) {
    std::atomic<int64_t> sum{0};
    uint64_t args[] = {arg(&sum)};
    LaunchSpec spec;
    spec.kernel = kernel.get();
    spec.args = args;
    spec.grid = {int32_t(random() % 40 + 1), int32_t(random() % 5 + 1), 1};
    auto st = launch(nullptr, spec);
    ASSERT_TRUE(st.ok()) << st.report();
    EXPECT_EQ(sum.load(), GetParam().runs ? spec.grid[0] * spec.grid[1] : 0);
  }
}

TEST_P(DeviceConformance, LaunchesInStreams) {
  std::shared_ptr<Kernel> kernel = GetParam().adder("adds");
  runThreads(2, options(), [&](Job &job) {
    std::atomic<int64_t> sum{0};
    int64_t seen = -1;
    uint64_t args[] = {arg(&sum)};
    LaunchSpec spec;
    spec.kernel = kernel.get();
    spec.args = args;
    spec.grid = {3, 5, 7};
    Stream stream(&job), others(nullptr);
    for (int i = 0; i < 4; ++i) {
      EXPECT_TRUE(stream.launch(spec, kernel).ok());
      EXPECT_TRUE(others.launch(spec, kernel).ok()); // outside the job
    }
    // A function sees what the launches before it have done.
    EXPECT_TRUE(others.synchronize().ok());
    EXPECT_TRUE(stream
                    .call([&] {
                      seen = sum.load();
                      return Status();
                    })
                    .ok());
    EXPECT_TRUE(stream.launch(spec).ok());
    auto st = stream.synchronize();
    EXPECT_TRUE(st.ok()) << st.report();
    EXPECT_EQ(seen, GetParam().runs ? 8 * 105 : 0);
    EXPECT_EQ(sum.load(), GetParam().runs ? 9 * 105 : 0);
    EXPECT_TRUE(job.barrier().ok());
  });
}

TEST_P(DeviceConformance, ChecksOfLaunchesAreTheSame) {
  std::shared_ptr<Kernel> kernel = GetParam().adder("checked");
  int64_t word = 0;
  uint64_t args[] = {arg(&word)};
  auto message = [&](std::array<int32_t, 3> grid, const uint64_t *slots) {
    LaunchSpec spec;
    spec.kernel = kernel.get();
    spec.args = slots;
    spec.grid = grid;
    auto st = launch(nullptr, spec);
    EXPECT_EQ(st.code(), StatusCode::InvalidArgument);
    return st.message();
  };
  EXPECT_EQ(message({4, 0, 1}, args),
            "launch of 'checked': every grid dimension must be at least 1, got (4, 0, 1)");
  EXPECT_EQ(message({1 << 20, 1 << 11, 1}, args),
            "launch of 'checked': the grid has 2^31 programs or more");
  EXPECT_EQ(message({1, 1, 1}, nullptr),
            "launch of 'checked': the kernel has 1 argument, the launch has none");
  kernel->lanes = 2;
  EXPECT_EQ(message({1 << 20, 1 << 10, 1}, args),
            "launch of 'checked': bad number of vector cores per program");
  EXPECT_EQ(word, 0);
}

TEST_P(DeviceConformance, KernelsOfOtherDevicesAreRefused) {
  for (const Tested &other : kDevices) {
    if (other.name == std::string(GetParam().name))
      continue;
    std::shared_ptr<Kernel> foreign = other.adder("foreign");
    runThreads(1, options(), [&](Job &job) {
      int64_t word = 0;
      uint64_t args[] = {arg(&word)};
      LaunchSpec spec;
      spec.kernel = foreign.get();
      spec.args = args;
      auto st = launch(&job, spec);
      EXPECT_EQ(st.code(), StatusCode::InvalidArgument);
      EXPECT_EQ(st.message(), "launch of 'foreign': the kernel was loaded for the device '" +
                                  std::string(other.name) + "', the job runs on '" +
                                  GetParam().name + "'");
      EXPECT_EQ(word, 0);
    });
  }
}

TEST_P(DeviceConformance, NoLaunchAfterTheEnd) {
  std::shared_ptr<Kernel> kernel = GetParam().adder("late");
  runThreads(1, options(), [&](Job &job) {
    int64_t word = 0;
    uint64_t args[] = {arg(&word)};
    LaunchSpec spec;
    spec.kernel = kernel.get();
    spec.args = args;
    EXPECT_TRUE(job.finalize().ok());
    EXPECT_EQ(launch(&job, spec).code(), StatusCode::InvalidArgument);
    EXPECT_EQ(word, 0);
  });
}

TEST_P(DeviceConformance, FailedJobsLaunchNothing) {
  std::shared_ptr<Kernel> kernel = GetParam().adder("stopped");
  runThreads(2, options(), [&](Job &job) {
    if (job.rank() == 0)
      job.abort("the test says so");
    while (job.health().ok())
      std::this_thread::yield();
    int64_t word = 0;
    uint64_t args[] = {arg(&word)};
    LaunchSpec spec;
    spec.kernel = kernel.get();
    spec.args = args;
    EXPECT_EQ(launch(&job, spec).code(), StatusCode::RankRaised);
    EXPECT_EQ(word, 0);
    EXPECT_TRUE(job.recover().ok());
    EXPECT_TRUE(launch(&job, spec).ok());
  });
}

TEST_P(DeviceConformance, HeapsAreZeroSharedAndCopied) {
  const uint64_t own = 1 << 16;
  auto shape = device().heapShape(own);
  ASSERT_TRUE(shape.ok()) << shape.status().report();
  const uint64_t bytes = shape->bytes, stride = shape->stride;
  EXPECT_GE(bytes, own);
  EXPECT_GE(stride, bytes);
  auto heap = device().allocateHeap(bytes, 0);
  ASSERT_TRUE(heap.ok()) << heap.status().report();
  EXPECT_EQ(heap->bytes, bytes);
  auto space = device().reserveHeaps(2 * stride);
  ASSERT_TRUE(space.ok()) << space.status().report();
  uint8_t *first = *space, *second = *space + stride;
  // Twice, as a rank and its peer would, side by side.
  ASSERT_TRUE(device().mapHeap(*heap, first).ok());
  ASSERT_TRUE(device().mapHeap(*heap, second).ok());
  close(heap->descriptor);
  std::vector<uint8_t> data(bytes), back(bytes, 1);
  ASSERT_TRUE(device().copy(back.data(), first, bytes).ok());
  EXPECT_EQ(back, std::vector<uint8_t>(bytes, 0));
  std::mt19937 random(99);
  for (uint8_t &byte : data)
    byte = uint8_t(random());
  ASSERT_TRUE(device().copy(first + 3, data.data(), bytes - 3).ok());
  ASSERT_TRUE(device().copy(back.data(), second + 3, bytes - 3).ok());
  EXPECT_TRUE(std::equal(data.begin(), data.end() - 3, back.begin()));
  for (int32_t width : {4, 8}) {
    ASSERT_TRUE(device().update(first + 64, NRD_SIG_SET, 40, width).ok());
    ASSERT_TRUE(device().update(second + 64, NRD_SIG_ADD, 2, width).ok());
    auto word = device().read(first + 64, width);
    ASSERT_TRUE(word.ok());
    EXPECT_EQ(*word, 42u);
  }
  device().unmapHeap(first, bytes);
  device().unmapHeap(second, bytes);
  device().releaseHeaps(first, 2 * stride);
}

TEST(NullDevice, ObjectsSayWhatTheyNeed) {
  Device &device = **findDevice("null");
  auto kernel = device.load("null kernel k\nargs 3\nlanes 2\nblocking\n");
  ASSERT_TRUE(kernel.ok());
  EXPECT_EQ((*kernel)->name, "k");
  EXPECT_EQ((*kernel)->numArgs, 3);
  EXPECT_EQ((*kernel)->lanes, 2);
  EXPECT_TRUE((*kernel)->blocking);
  EXPECT_FALSE((*kernel)->distributed);
  EXPECT_TRUE((*kernel)->symmetricArgs.empty());
  kernel = device.load(
      "null kernel of many\ndistributed\narg x *fp32\nargs 3\nsymmetric 3\nsymmetric 1\n");
  ASSERT_TRUE(kernel.ok());
  EXPECT_EQ((*kernel)->name, "of many");
  EXPECT_TRUE((*kernel)->distributed);
  EXPECT_EQ((*kernel)->symmetricArgs, (std::vector<uint32_t>{1, 3}));
  ASSERT_EQ((*kernel)->description->arguments.size(), 4u);
  EXPECT_EQ((*kernel)->description->arguments[0].name, "x");
  EXPECT_EQ((*kernel)->description->arguments[0].type, "*fp32");
  for (const char *object :
       {"null kernel \n", "null kernel k\nargs x\n", "null kernel k\nargs\n",
        "null kernel k\nargs -1\n", "null kernel k\nother\n", "null kernel k\nsymmetric 0\n",
        "null kernel k\narg x\n", "null kernel k\narg  i32\n"})
    EXPECT_EQ(device.load(object).status().code(), StatusCode::InvalidArgument) << object;
}

TEST(NullDevice, FaultsInItsQueueAreToldByTheStream) {
  Device &device = **findDevice("null");
  auto broken = device.load("null kernel broken\nargs 0\nfault it is broken\n");
  auto right = device.load("null kernel right\nargs 0\n");
  ASSERT_TRUE(broken.ok() && right.ok());
  JobOptions options = testOptions();
  options.device = "null";
  runThreads(1, options, [&](Job &job) {
    Stream stream(&job);
    bool called = false;
    auto launchIt = [&](const Kernel &kernel) {
      LaunchSpec spec;
      spec.kernel = &kernel;
      EXPECT_TRUE(stream.launch(spec).ok());
    };
    launchIt(**right);
    launchIt(**broken);
    launchIt(**right);
    EXPECT_TRUE(stream
                    .call([&] {
                      called = true;
                      return Status();
                    })
                    .ok());
    auto st = stream.synchronize();
    EXPECT_EQ(st.code(), StatusCode::KernelFault) << st.report();
    EXPECT_EQ(st.failure().kernel, "broken");
    EXPECT_FALSE(called);
    launchIt(**right);
    EXPECT_TRUE(stream.synchronize().ok());
  });
}

TEST(NullDevice, FaultsAreFailuresOfTheJob) {
  auto kernel = (*findDevice("null"))->load("null kernel broken\nfault it is broken\n");
  ASSERT_TRUE(kernel.ok());
  LaunchSpec spec;
  spec.kernel = kernel->get();
  JobOptions options = testOptions();
  options.device = "null";
  runThreads(2, options, [&](Job &job) {
    if (job.rank() == 1) {
      auto st = launch(&job, spec);
      EXPECT_EQ(st.code(), StatusCode::KernelFault);
      EXPECT_EQ(st.message(), "it is broken");
      EXPECT_EQ(st.failure().rank, 1);
      EXPECT_EQ(st.failure().kernel, "broken");
    }
    auto st = job.barrier();
    EXPECT_EQ(st.code(), StatusCode::KernelFault) << st.report();
    EXPECT_TRUE(job.recover().ok());
  });
}

} // namespace
