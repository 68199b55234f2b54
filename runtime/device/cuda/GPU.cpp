// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GPU.cpp - One GPU of this process ----------------------------------===//
//
// A GPU is opened once and kept for good: jobs come and go, its primary context
// and streams stay, since launches may outlive even static objects. A process
// that was forked from one that had opened it gets an error instead of CUDA's
// undefined behaviour.
//
// Streams, and who may use them:
//
//       lane      one per rank or user's stream: the launches, in order, and their scratch.
//                 Launches into a stream of another library's have a lane too, for its words
//       copies    copies and updates that the host asks for meanwhile
//       notices   words that tell launches to end. Alone, because it may wait for nothing
//
// Lanes are made sixteen at a time and never destroyed: their control words and
// state words are one allocation, zeroed once. Control words are zero again
// whenever no launch of the lane has been given up.
//
//===----------------------------------------------------------------------===//
#include "device/cuda/GPU.h"

#include "base/Fork.h"

namespace nereid::runtime::cuda {

/// Ranks of one process on one GPU and their streams; more are made when needed.
static constexpr size_t kLanes = 16;

/// What a stream cannot do by itself: adding to a word atomically. The driver
/// compiles it.
static constexpr const char *kUpdates = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry nrd_add4(.param .u64 word, .param .u64 value) {
  .reg .b64 %a, %v; .reg .b32 %w;
  ld.param.u64 %a, [word]; ld.param.u64 %v, [value]; cvt.u32.u64 %w, %v;
  red.release.sys.global.add.u32 [%a], %w;
  ret;
}
.visible .entry nrd_add8(.param .u64 word, .param .u64 value) {
  .reg .b64 %a, %v;
  ld.param.u64 %a, [word]; ld.param.u64 %v, [value];
  red.release.sys.global.add.u64 [%a], %v;
  ret;
}
)";

namespace {
struct All {
  std::mutex lock;
  std::vector<std::pair<Ordinal, GPU *>> gpus; // never freed: launches may outlive static objects
  uint64_t madeAt = forkDepth();

  static All &get() {
    static All &instance = *new All;
    return instance;
  }
};
} // namespace

Expected<GPU *> GPU::open(Ordinal ordinal) {
  Expected<const Driver *> driver = Driver::get();
  if (!driver.ok())
    return driver.status();
  if (ordinal < 0 || ordinal >= (*driver)->devices)
    return Status::error(StatusCode::Environment, "there is no GPU " + std::to_string(ordinal) +
                                                      ": the driver finds " +
                                                      std::to_string((*driver)->devices) +
                                                      " (CUDA_VISIBLE_DEVICES chooses among them)");
  All &all = All::get();
  std::lock_guard<std::mutex> guard(all.lock);
  if (!all.gpus.empty() && all.madeAt != forkDepth())
    return Status::error(StatusCode::Environment,
                         "this process was forked from one that has used a GPU, which CUDA does "
                         "not allow: fork before, or start another program");
  all.madeAt = forkDepth();
  for (auto [number, gpu] : all.gpus)
    if (number == ordinal)
      return gpu;
  std::unique_ptr<GPU> gpu(new GPU(**driver, ordinal));
  if (Status st = gpu->start(); !st.ok())
    return st;
  all.gpus.emplace_back(ordinal, gpu.release());
  return all.gpus.back().second;
}

std::vector<GPU *> GPU::opened() {
  All &all = All::get();
  std::lock_guard<std::mutex> guard(all.lock);
  std::vector<GPU *> found;
  if (all.madeAt != forkDepth())
    return found;
  for (auto [number, gpu] : all.gpus)
    found.push_back(gpu);
  return found;
}

Status GPU::start() {
  Ordinal device = 0;
  if (Status st = driver.check(driver.deviceGet(&device, ordinal), "cuDeviceGet"); !st.ok())
    return st;
  char text[256] = {};
  driver.deviceName(text, sizeof(text), device);
  name = text;
  auto ask = [&](int which) {
    int value = 0;
    return driver.deviceAttribute(&value, which, device) == result::success ? value : 0;
  };
  capability = ask(attribute::capabilityMajor) * 10 + ask(attribute::capabilityMinor);
  multiprocessors = ask(attribute::multiprocessors);
  maxGridY = ask(attribute::maxGridY);
  maxGridZ = ask(attribute::maxGridZ);
  if (!ask(attribute::virtualMemory) || !ask(attribute::memoryByDescriptor) ||
      !ask(attribute::cooperativeLaunch))
    return Status::error(StatusCode::Environment,
                         "GPU " + std::to_string(ordinal) + " (" + name +
                             ") cannot be used: the target cuda needs one that maps memory of "
                             "other processes and launches programs together");
  if (Status st = driver.check(driver.retainContext(&context, device), "cuDevicePrimaryCtxRetain");
      !st.ok())
    return st;
  Scope scope(*this);
  AllocationProperties properties;
  properties.exportableAs = fileDescriptor;
  properties.location.id = ordinal;
  size_t bytes = 0;
  constexpr int recommended = 1;
  if (Status st = driver.check(driver.granularity(&bytes, &properties, recommended),
                               "cuMemGetAllocationGranularity");
      !st.ok())
    return st;
  granularity = bytes;
  if (Status st = driver.check(driver.createStream(&copies, nonBlockingStream), "cuStreamCreate");
      !st.ok())
    return st;
  if (Status st = driver.check(driver.createStream(&notices, nonBlockingStream), "cuStreamCreate");
      !st.ok())
    return st;
  if (Status st = driver.check(driver.loadModule(&updates, kUpdates), "cuModuleLoadData"); !st.ok())
    return st;
  return addLanes(kLanes);
}

Status GPU::add(Address word, uint64_t value, int32_t bytes) {
  Scope scope(*this);
  OutsideOfCaptures outside(driver);
  std::lock_guard<std::mutex> guard(copiesLock);
  Function function = nullptr;
  if (Status st = driver.check(
          driver.moduleFunction(&function, updates, bytes == 4 ? "nrd_add4" : "nrd_add8"),
          "cuModuleGetFunction");
      !st.ok())
    return st;
  LaunchConfiguration one;
  one.stream = copies;
  void *arguments[] = {&word, &value};
  if (Status st =
          driver.check(driver.launch(&one, function, arguments, nullptr), "cuLaunchKernelEx");
      !st.ok())
    return st;
  return driver.check(driver.synchronizeStream(copies), "cuStreamSynchronize");
}

Status GPU::addLanes(size_t count) {
  constexpr size_t stateBytes = state_word::count * 4;
  const uint64_t bytes = (stateBytes + Lane::controlBytes) * count;
  Address control = 0;
  if (Status st = driver.check(driver.allocate(&control, bytes), "cuMemAlloc"); !st.ok())
    return st;
  if (Status st = driver.check(driver.fill(control, 0, bytes, copies), "cuMemsetD8Async"); !st.ok())
    return st;
  const Address state = control + Lane::controlBytes * count;
  for (size_t i = 0; i < count; ++i) {
    auto lane = std::make_unique<Lane>(Lane{*this});
    Status st =
        driver.check(driver.createStream(&lane->stream, nonBlockingStream), "cuStreamCreate");
    if (!st.ok())
      return st;
    lane->control = control + i * Lane::controlBytes;
    lane->state = state + i * stateBytes;
    free.push_back(lane.get());
    lanes.push_back(std::move(lane));
  }
  return driver.check(driver.synchronizeStream(copies), "cuStreamSynchronize");
}

Expected<Lane *> GPU::takeLane() {
  std::lock_guard<std::mutex> guard(lock);
  if (free.empty()) {
    Scope scope(*this);
    if (Status st = addLanes(kLanes); !st.ok())
      return st;
  }
  Lane *lane = free.back();
  free.pop_back();
  return lane;
}

void GPU::giveBack(Lane *lane) {
  std::lock_guard<std::mutex> guard(lock);
  free.push_back(lane);
}

} // namespace nereid::runtime::cuda
