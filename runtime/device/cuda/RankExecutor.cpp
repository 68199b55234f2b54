// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RankExecutor.cpp - Launching, waiting, giving up -------------------===//
//
// Locks: `lock` guards the list of queues and is taken before a queue's, never
// after; a queue's guards its flights, which the thread that waits for it and
// the watcher both look at.
//
// The launches of a queue share control memory, one piece behind the other,
// until it is used up or somebody has waited for the queue: then all have
// ended, and the next begins at its start (finish). Reports are read there too,
// and only when the queue has been given up; in any other case the memory is
// still zero, and reading it would cost a copy from the GPU at each
// synchronisation.
//
// An error of the GPU is final: CUDA refuses the context from then on. It comes
// without the launch that made it, so that the report names the last one, and
// says where several were under way.
//
//===----------------------------------------------------------------------===//
#include "device/cuda/RankExecutor.h"

#include "base/Backoff.h"
#include "symmetric/JobWatch.h"
#include "symmetric/Programs.h"

#include <algorithm>
#include <map>

namespace nereid::runtime::cuda {

/// How long a launch that has been given up may compute before the rank says so.
static constexpr uint64_t kGraceNs = 10000000000u;
static constexpr uint64_t kInterruptEveryNs = 20000000;
static constexpr uint64_t kWatchEveryNs = 3000000;

namespace {
/// The wait for the launches of a lane, for the watch over the job.
class LaneWait : public Awaited {
public:
  explicit LaneWait(LaneQueue &queue) : queue(queue) {
    std::lock_guard<std::mutex> guard(queue.lock);
    text = queue.lastIsPut ? queue.last : "kernel '" + queue.last + "'";
  }
  std::string what() const override { return text; }
  bool isOver() override {
    const GPU &gpu = queue.lane.gpu;
    GPU::Scope scope(gpu);
    GPU::OutsideOfCaptures outside(gpu.driver);
    return gpu.driver.queryStream(queue.stream) == result::success;
  }
  /// Nobody knows who sends a signal; a barrier needs all.
  bool needs(int32_t) override { return false; }

private:
  LaneQueue &queue;
  std::string text;
};
} // namespace

LaneQueue::~LaneQueue() {
  executor.remove(*this);
  // What it was given must have ended before others use the lane.
  (void)executor.finish(*this);
  if (before) {
    GPU::Scope scope(lane.gpu);
    lane.gpu.driver.destroyEvent(before);
  }
  lane.gpu.giveBack(&lane);
}

Status LaneQueue::put(const QueuedPut &put) {
  const Driver &driver = lane.gpu.driver;
  GPU::Scope scope(lane.gpu);
  if (failure)
    return {}; // as a launch behind a failure
  auto address = [](const void *at) { return Address(reinterpret_cast<uintptr_t>(at)); };
  auto checked = [&](Result result, const char *what) { return driver.check(result, what); };
  Status st;
  for (StreamRef each : {stream, reinterpret_cast<StreamRef>(put.after.value_or(0))})
    if (int state = 0; each && each != lane.stream &&
                       (driver.streamIsCapturing(each, &state) != result::success || state != 0))
      return Status::error(StatusCode::InvalidArgument,
                           "put_async: the stream is being captured into a CUDA graph, which "
                           "copies of put_async cannot be part of; call it outside of the capture",
                           executor.job.rank);
  if (put.after) {
    if (!before)
      st = checked(driver.createEvent(&before, eventWithoutTiming), "cuEventCreate");
    if (st.ok())
      st = checked(driver.recordEvent(before, reinterpret_cast<StreamRef>(*put.after)),
                   "cuEventRecord");
    if (st.ok())
      st = checked(driver.streamWaitsFor(stream, before, 0), "cuStreamWaitEvent");
  }
  if (st.ok() && put.bytes)
    st = checked(driver.copy(address(put.to), address(put.from), put.bytes, stream),
                 "cuMemcpyAsync");
  if (st.ok() && put.word)
    st = put.wordBytes == 4
             ? checked(driver.streamWritesWord(stream, address(put.word), uint32_t(put.value), 0),
                       "cuStreamWriteValue32")
             : checked(driver.streamWritesLong(stream, address(put.word), put.value, 0),
                       "cuStreamWriteValue64");
  {
    // Also what could be made of it goes on.
    std::lock_guard<std::mutex> guard(lock);
    ++launches;
    last = "put_async";
    lastIsPut = true;
  }
  executor.wakeWatcher();
  return st;
}

bool LaneQueue::isIdle() {
  GPU::Scope scope(lane.gpu);
  GPU::OutsideOfCaptures outside(lane.gpu.driver);
  return lane.gpu.driver.queryStream(stream) != result::notReady;
}

RankExecutor::RankExecutor(Job::Impl &job, Expected<GPU *> gpu, int32_t sharers)
    : job(job), gpu(std::move(gpu)), sharers(sharers) {}

RankExecutor::~RankExecutor() {
  own.reset();
  {
    std::lock_guard<std::mutex> guard(lock);
    stopping = true;
  }
  changed.notify_all();
  if (watcher.joinable())
    watcher.join();
}

Expected<std::unique_ptr<LaneQueue>> RankExecutor::openLane(std::optional<uintptr_t> native) {
  if (!gpu.ok())
    return gpu.status();
  Expected<Lane *> lane = (*gpu)->takeLane();
  if (!lane.ok())
    return lane.status();
  auto queue = std::make_unique<LaneQueue>(
      *this, **lane, native ? reinterpret_cast<StreamRef>(*native) : (*lane)->stream);
  add(*queue);
  return queue;
}

std::unique_ptr<DeviceQueue> RankExecutor::makeQueue(std::optional<uintptr_t> native) {
  Expected<std::unique_ptr<LaneQueue>> queue = openLane(native);
  // Without one, launches are made one by one, and say what is wrong.
  return queue.ok() ? std::move(*queue) : nullptr;
}

std::unique_ptr<LaunchFailure> RankExecutor::failed(Status status,
                                                    const std::string &kernel) const {
  auto failure = std::make_unique<LaunchFailure>();
  FailureDetail &error = failure->error.emplace(status.failure());
  error.kernel = kernel;
  error.rank = job.rank;
  return failure;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

std::unique_ptr<LaunchFailure> RankExecutor::run(const LaunchSpec &launch, DeviceQueue *given) {
  LaneQueue *queue = static_cast<LaneQueue *>(given);
  if (!queue) {
    if (!own) {
      Expected<std::unique_ptr<LaneQueue>> opened = openLane();
      if (!opened.ok())
        return failed(opened.status(), launch.kernel->name);
      own = std::move(*opened);
    }
    queue = own.get();
  }
  if (queue->failure)
    return nullptr; // what stands behind a failure is not done; synchronize() tells it
  if (Status st = start(launch, *queue); !st.ok())
    return failed(std::move(st), launch.kernel->name);
  if (!given)
    return finish(*queue);
  wakeWatcher();
  return nullptr;
}

void RankExecutor::wakeWatcher() {
  std::lock_guard<std::mutex> guard(lock);
  ++started;
  if (!watcher.joinable())
    watcher = std::thread(&RankExecutor::watch, this);
  if (!watching)
    changed.notify_all();
}

std::unique_ptr<LaunchFailure> RankExecutor::synchronize(DeviceQueue *given) {
  LaneQueue *queue = given ? static_cast<LaneQueue *>(given) : own.get();
  if (!queue)
    return nullptr;
  auto failure = finish(*queue);
  auto earlier = std::exchange(queue->failure, nullptr);
  return earlier ? std::move(earlier) : std::move(failure);
}

/// Programs that wait for each other must all be on the GPU at once.
Status RankExecutor::checkFits(const LaunchSpec &launch, const CUDAKernel &kernel,
                               const LoadedCode &code) const {
  const GPU &g = **gpu;
  auto wrong = [&](std::string text) {
    return Status::error(StatusCode::InvalidArgument,
                         "launch of '" + kernel.name + "': " + std::move(text), job.rank);
  };
  if (launch.grid[1] > g.maxGridY || launch.grid[2] > g.maxGridZ)
    return wrong("the grid (" + std::to_string(launch.grid[0]) + ", " +
                 std::to_string(launch.grid[1]) + ", " + std::to_string(launch.grid[2]) +
                 ") is too large for a GPU, whose second and third axes have at most " +
                 std::to_string(g.maxGridY) + " and " + std::to_string(g.maxGridZ) +
                 " programs; put the long axis first");
  if (uint64_t(launch.grid[0]) * kernel.image.numCTAs > uint64_t(INT32_MAX))
    return wrong("the grid has too many programs for clusters of " +
                 std::to_string(kernel.image.numCTAs));
  if (!kernel.blocking)
    return {};
  const uint64_t programs =
      uint64_t(launch.grid[0]) * uint64_t(launch.grid[1]) * uint64_t(launch.grid[2]);
  const uint64_t all =
      uint64_t(code.perMultiprocessor) * uint64_t(g.multiprocessors) / kernel.image.numCTAs;
  // Ranks of this process that share the GPU may launch at the same time.
  const uint64_t fit = all / uint64_t(sharers);
  if (programs <= fit)
    return {};
  return wrong("its " + std::to_string(programs) + " programs wait for each other, and " +
               std::to_string(fit) + " fit on GPU " + std::to_string(g.ordinal) + " (" + g.name +
               ") at once" +
               (sharers > 1 ? ", which " + std::to_string(sharers) + " ranks share" : "") +
               "; launch at most " + std::to_string(fit) +
               " programs and let each do several tiles, or compile it with fewer warps");
}

Status RankExecutor::start(const LaunchSpec &launch, LaneQueue &queue) {
  CUDAKernel &kernel = const_cast<CUDAKernel &>(static_cast<const CUDAKernel &>(*launch.kernel));
  GPU &g = **gpu;
  Lane &lane = queue.lane;
  const Driver &driver = g.driver;
  GPU::Scope scope(g);
  if (int state = 0;
      queue.stream != lane.stream && (driver.streamIsCapturing(queue.stream, &state) || state != 0))
    return Status::error(StatusCode::InvalidArgument,
                         "launch of '" + kernel.name +
                             "': its stream is being captured into a CUDA graph, which launches "
                             "of kernels cannot be part of; launch it outside of the capture",
                         job.rank);
  Expected<const LoadedCode *> code = kernel.on(g);
  if (!code.ok())
    return code.status();
  if (Status st = checkFits(launch, kernel, **code); !st.ok())
    return st;
  const uint64_t programs =
      uint64_t(launch.grid[0]) * uint64_t(launch.grid[1]) * uint64_t(launch.grid[2]);

  // Scratch of the launches in a lane is the same memory: they run one by one.
  if (const uint64_t bytes = programs * kernel.image.numCTAs * uint64_t(kernel.image.scratchBytes);
      bytes > lane.scratchBytes) {
    if (lane.scratch)
      driver.freeInStream(lane.scratch, queue.stream);
    lane.scratch = lane.scratchBytes = 0;
    if (Status st = driver.check(driver.allocateInStream(&lane.scratch, bytes, queue.stream),
                                 "cuMemAllocAsync");
        !st.ok())
      return st;
    lane.scratchBytes = bytes;
  }

  // Arguments, in the order of the cubin's kernel.
  int32_t rank = job.rank, numRanks = job.worldSize;
  int64_t stride16 = int64_t(job.heapBytes / 16);
  Address state = lane.state, control = 0, scratch = lane.scratch, profile = 0;
  if (uint8_t *heap = job.ownHeap())
    state = Address(reinterpret_cast<uintptr_t>(heap)) + job.deviceOffset;
  void *few[48];
  std::vector<void *> many;
  void **arguments = few, **end = few;
  if (size_t(kernel.numArgs) + 7 > std::size(few)) {
    many.resize(size_t(kernel.numArgs) + 7);
    arguments = end = many.data();
  }
  for (int32_t i = 0; i < kernel.numArgs; ++i)
    *end++ = const_cast<uint64_t *>(&launch.args[i]);
  if (kernel.image.usesRuntime) {
    const size_t bytes = sizeof(ControlHead) + programs * sizeof(ControlReport);
    if (bytes > Lane::controlBytes)
      return Status::error(StatusCode::InvalidArgument,
                           "launch of '" + kernel.name + "': " + std::to_string(programs) +
                               " programs are too many for a kernel that may wait for others");
    if (queue.controlUsed + bytes > Lane::controlBytes) {
      // Its memory is free again when what uses it has ended.
      if (auto failure = finish(queue)) {
        queue.failure = std::move(failure);
        return {};
      }
    }
    std::lock_guard<std::mutex> guard(queue.lock);
    control = lane.control + queue.controlUsed;
    queue.flights.push_back({kernel.description, launch.grid, programs, queue.controlUsed});
    queue.controlUsed += bytes;
    for (void *argument :
         std::initializer_list<void *>{&rank, &numRanks, &stride16, &state, &control})
      *end++ = argument;
  }
  *end++ = &scratch;
  *end++ = &profile;

  LaunchAttribute attributes[2];
  LaunchConfiguration configuration;
  configuration.gridX = unsigned(launch.grid[0]) * kernel.image.numCTAs;
  configuration.gridY = unsigned(launch.grid[1]);
  configuration.gridZ = unsigned(launch.grid[2]);
  configuration.blockX = kernel.threads();
  configuration.sharedBytes = kernel.image.sharedBytes;
  configuration.stream = queue.stream;
  configuration.attributes = attributes;
  if (kernel.blocking) {
    LaunchAttribute &together = attributes[configuration.numAttributes++];
    together.id = launch_attribute::cooperative;
    together.cooperative = 1;
  }
  if (kernel.image.numCTAs > 1) {
    LaunchAttribute &cluster = attributes[configuration.numAttributes++];
    cluster.id = launch_attribute::clusterDimension;
    cluster.cluster = {kernel.image.numCTAs, 1, 1};
  }
  Status st = driver.check(driver.launch(&configuration, (*code)->function, arguments, nullptr),
                           "cuLaunchKernelEx");
  std::lock_guard<std::mutex> guard(queue.lock);
  if (!st.ok()) {
    if (kernel.image.usesRuntime)
      queue.flights.pop_back();
    return Status::error(st.code(), "launch of '" + kernel.name + "': " + st.message(), job.rank);
  }
  ++queue.launches;
  queue.last = kernel.name;
  queue.lastIsPut = false;
  queue.blocking = queue.blocking || kernel.blocking;
  return {};
}

//===----------------------------------------------------------------------===//
// Their end
//===----------------------------------------------------------------------===//

void RankExecutor::giveUp(LaneQueue &queue) {
  const GPU &g = queue.lane.gpu;
  GPU::Scope scope(g);
  std::lock_guard<std::mutex> guard(queue.lock);
  queue.givenUp = true;
  for (LaneQueue::Flight &flight : queue.flights)
    if (!flight.told)
      flight.told = g.driver.streamWritesWord(g.notices, queue.lane.control + flight.control, 1u,
                                              0) == result::success;
}

std::unique_ptr<LaunchFailure> RankExecutor::finish(LaneQueue &queue) {
  if (queue.launches == 0 && !queue.givenUp)
    return nullptr;
  const Driver &driver = queue.lane.gpu.driver;
  GPU::Scope scope(queue.lane.gpu);
  GPU::OutsideOfCaptures outside(driver);
  LaneWait wait(queue);
  Backoff backoff(job.maySpin);
  uint64_t nextInterrupt = 0, givenUpAt = 0;
  for (;;) {
    Result state = driver.queryStream(queue.stream);
    if (state == result::success)
      break;
    if (state != result::notReady)
      return fault(queue, state);
    if (job.jobFailed()) [[unlikely]] {
      const uint64_t now = nowNs();
      giveUp(queue);
      givenUpAt = givenUpAt ? givenUpAt : now;
      if (now - givenUpAt > kGraceNs)
        return failed(Status::error(StatusCode::Timeout,
                                    "a program of " + wait.what() +
                                        " goes on computing although the job has failed; the GPU "
                                        "is free again when this process has ended"),
                      queue.last);
    } else if (backoff.isSlow()) {
      job.watch->tick(wait, queue.blocking ? job.settings.timeoutSeconds : 0);
      if (const uint64_t now = nowNs(); now >= nextInterrupt) {
        nextInterrupt = now + kInterruptEveryNs;
        if (interruptRequested()) {
          FailureDetail detail;
          detail.code = StatusCode::Interrupted;
          detail.message = "interrupted";
          detail.rank = job.rank;
          detail.kernel = queue.last;
          job.publishFailure(detail);
        }
      }
    }
    backoff.step();
  }
  std::lock_guard<std::mutex> guard(queue.lock);
  std::unique_ptr<LaunchFailure> failure;
  if (queue.givenUp) {
    Expected<std::vector<BlockedGroup>> groups = takeReports(queue);
    if (!groups.ok())
      failure = failed(groups.status(), queue.last);
    else if (!groups->empty()) {
      failure = std::make_unique<LaunchFailure>();
      failure->programs = std::move(*groups);
    }
  }
  queue.flights.clear();
  queue.controlUsed = 0;
  queue.launches = 0;
  queue.blocking = queue.givenUp = false;
  return failure;
}

std::unique_ptr<LaunchFailure> RankExecutor::fault(LaneQueue &queue, Result result) const {
  std::string text = "a program ended abnormally";
  StatusCode code = StatusCode::KernelFault;
  switch (result) {
  case result::illegalAddress:
    text = "a program read or wrote memory that it has no access to (memory of the host and of "
           "other GPUs, but for their symmetric heaps, is such)";
    code = StatusCode::BadAccess;
    break;
  case result::misalignedAddress:
    text = "a program read or wrote a word at an address that is no multiple of its size";
    code = StatusCode::BadAccess;
    break;
  case result::assertFailed:
    text = "an assertion of a program failed; its text stands on standard error";
    code = StatusCode::AssertFailed;
    break;
  case result::launchFailed:
  case result::illegalInstruction:
    text +=
        "; in a kernel with products (tl.dot) the check of a loop's range may have failed, which "
        "a kernel compiled with debug=True or NEREID_DEBUG=1 says";
    break;
  default:
    text = "the GPU reports an error";
  }
  std::lock_guard<std::mutex> guard(queue.lock);
  if (queue.launches > 1)
    text += ", of this kernel or of one that was launched before it";
  text += ": " + queue.lane.gpu.driver.describe(result) +
          "; CUDA lets this process use the GPU no more: start it again";
  const std::string kernel = queue.last;
  queue.flights.clear();
  queue.launches = 0;
  return failed(Status::error(code, text), kernel);
}

/// The reports of launches that have ended. Afterwards the lane is as new.
Expected<std::vector<BlockedGroup>> RankExecutor::takeReports(LaneQueue &queue) const {
  Lane &lane = queue.lane;
  const Driver &driver = lane.gpu.driver;
  std::vector<std::byte> control(queue.controlUsed);
  auto done = [&](StreamRef stream) {
    return driver.check(driver.synchronizeStream(stream), "cuStreamSynchronize");
  };
  // No word is under way any more when they are cleared.
  Status st = done(lane.gpu.notices);
  if (st.ok() && !control.empty())
    st = driver.check(driver.copy(Address(reinterpret_cast<uintptr_t>(control.data())),
                                  lane.control, control.size(), queue.stream),
                      "cuMemcpyAsync");
  if (st.ok() && !control.empty())
    st =
        driver.check(driver.fill(lane.control, 0, control.size(), queue.stream), "cuMemsetD8Async");
  if (st.ok()) // counts of a barrier that some have not come to
    st = driver.check(driver.fill(lane.state, 0, state_word::count * 4, queue.stream),
                      "cuMemsetD8Async");
  if (st.ok())
    st = done(queue.stream);
  if (!st.ok())
    return st;
  return reports(queue, control.data());
}

/// What the programs of the launches in the queue waited for, in few lines.
std::vector<BlockedGroup> RankExecutor::reports(const LaneQueue &queue,
                                                const std::byte *control) const {
  std::vector<BlockedGroup> out;
  for (const LaneQueue::Flight &flight : queue.flights) {
    const std::byte *at = control + flight.control;
    const auto *rows = reinterpret_cast<const ControlReport *>(at + sizeof(ControlHead));
    struct Entry {
      BlockedGroup group;
      std::vector<uint64_t> programs;
      std::vector<uint64_t> addresses;
    };
    std::map<std::string, Entry> found;
    std::vector<std::string> order;
    std::vector<uint64_t> ended;
    for (uint64_t i = 0; i < flight.programs; ++i) {
      const ControlReport &row = rows[i];
      if (row.site == 0) {
        ended.push_back(i);
        continue;
      }
      std::string key = std::to_string(row.site) + "|" + std::to_string(row.comparison) + "|" +
                        std::to_string(row.awaited) + "|" + std::to_string(row.seen);
      auto [place, isNew] = found.try_emplace(key);
      Entry &entry = place->second;
      entry.programs.push_back(i);
      if (std::find(entry.addresses.begin(), entry.addresses.end(), row.address) ==
          entry.addresses.end())
        entry.addresses.push_back(row.address);
      if (!isNew)
        continue;
      order.push_back(key);
      BlockedGroup &g = entry.group;
      g.rank = job.rank;
      if (row.site - 1 < flight.kernel->sites.size())
        g.site = flight.kernel->sites[row.site - 1];
      if (row.comparison < 0) {
        g.kind = "spin loop";
        continue;
      }
      const uint64_t heap = uint64_t(reinterpret_cast<uintptr_t>(job.ownHeap()));
      if (const uint64_t state = heap ? heap + job.deviceOffset : queue.lane.state;
          row.address - state < uint64_t(state_word::count) * 4) {
        g.kind = "barrier_all";
        g.note = (row.address - state) / 4 == uint64_t(state_word::ranks)
                     ? "programs of other ranks have yet to come"
                     : "programs of this rank or of others have yet to come";
        continue;
      }
      g.kind = "wait";
      g.address = job.describe(reinterpret_cast<const void *>(uintptr_t(row.address)));
      g.hasValues = true;
      g.currentValue = row.seen;
      g.awaitedValue = row.awaited;
      g.comparison = comparisonText(row.comparison);
      if (row.comparison == NRD_CMP_EQ && row.seen > row.awaited)
        g.note = "the signal has passed the awaited value: waits compare for equality";
    }
    // A launch behind one that was given up, or without a program that waited.
    if (found.empty())
      continue;
    for (const std::string &key : order) {
      Entry &entry = found[key];
      BlockedGroup &g = entry.group;
      g.programCount = int64_t(entry.programs.size());
      g.programs = programsText(flight.grid, 1, std::move(entry.programs));
      if (!g.address.empty() && entry.addresses.size() > 1)
        g.address += " and " + std::to_string(entry.addresses.size() - 1) +
                     (entry.addresses.size() == 2 ? " other place" : " other places");
      out.push_back(std::move(g));
    }
    if (!ended.empty()) {
      BlockedGroup g;
      g.rank = job.rank;
      g.kind = "ended";
      g.programCount = int64_t(ended.size());
      g.programs = programsText(flight.grid, 1, std::move(ended));
      out.push_back(std::move(g));
    }
  }
  return out;
}

//===----------------------------------------------------------------------===//
// The watcher
//===----------------------------------------------------------------------===//

void RankExecutor::add(LaneQueue &queue) {
  std::lock_guard<std::mutex> guard(lock);
  queues.push_back(&queue);
}

void RankExecutor::remove(LaneQueue &queue) {
  std::lock_guard<std::mutex> guard(lock);
  queues.erase(std::find(queues.begin(), queues.end(), &queue));
}

void RankExecutor::watch() {
  uint64_t seen = 0;
  std::unique_lock<std::mutex> guard(lock);
  for (;;) {
    changed.wait(guard, [&] { return stopping || started != seen; });
    if (stopping)
      return;
    watching = true;
    // Until everything that was started has ended.
    for (bool busy = true; busy && !stopping;) {
      seen = started;
      busy = false;
      for (LaneQueue *queue : queues) {
        LaneWait wait(*queue);
        if (wait.isOver())
          continue;
        busy = true;
        if (job.jobFailed()) {
          giveUp(*queue);
          continue;
        }
        bool blocking;
        {
          std::lock_guard<std::mutex> state(queue->lock);
          blocking = queue->blocking;
        }
        job.watch->tick(wait, blocking ? job.settings.timeoutSeconds : 0);
      }
      changed.wait_for(guard, std::chrono::nanoseconds(kWatchEveryNs), [&] { return stopping; });
    }
    watching = false;
  }
}

} // namespace nereid::runtime::cuda
