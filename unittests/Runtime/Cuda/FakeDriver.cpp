// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FakeDriver.cpp - A library that looks like NVIDIA's driver ---------===//
//
// Enough of libcuda.so.1 to run the runtime's device cuda without a GPU: memory of the
// device is memory of the host in files without a name, a stream is a thread, and a
// cubin is the text "fake cubin", whose kernels are functions of this file, one thread
// for each program. Kernels of a real cubin do nothing. Environment variables make it
// small, old or broken; with NEREID_FAKE_CUDA_HIDDEN=1 heaps are closed to all but the
// calls of the driver, as those of a GPU are to the host.
//
//===----------------------------------------------------------------------===//
#include "device/cuda/DriverTypes.h"
#include "nereid/cuda_kernel.h"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <set>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <vector>

using namespace nereid::runtime::cuda;
using nereid::cuda::ControlHead;
using nereid::cuda::ControlReport;

namespace {

constexpr int kMultiprocessors = 4, kPerMultiprocessor = 8;

int numberOf(const char *variable, int otherwise) {
  const char *text = std::getenv(variable);
  return text && *text ? std::atoi(text) : otherwise;
}

/// An error after which a context is of no more use.
std::atomic<Result> broken{0};
/// How often the fake was repaired: what was asked for before is never carried out after.
std::atomic<unsigned> repairs{0};
thread_local std::vector<Context> contexts;

/// Of devices whose context somebody has.
std::set<Ordinal> retained;
/// Where memory is mapped, and by how many devices it can be used there.
std::map<Address, size_t> users;
/// The device of memory that was simply allocated, and its size.
std::map<Address, std::pair<Ordinal, size_t>> owners;
std::mutex usersLock;
/// Whether it is such memory.
bool isOfGPU(Address at) {
  std::lock_guard<std::mutex> guard(usersLock);
  auto next = owners.upper_bound(at);
  return next != owners.begin() && at - std::prev(next)->first < std::prev(next)->second.second;
}
/// Mapped memory that is closed to the host: where the driver itself has it, and its size.
std::map<Address, std::pair<char *, size_t>> hidden;
/// What an address stands for in calls of the driver.
template <typename T> T *reach(Address at) {
  std::lock_guard<std::mutex> guard(usersLock);
  auto next = hidden.upper_bound(at);
  if (next != hidden.begin())
    if (const auto &[start, mapping] = *std::prev(next); at - start < mapping.second)
      return reinterpret_cast<T *>(mapping.first + (at - start));
  return reinterpret_cast<T *>(at);
}
Ordinal ordinalOf(Context context) { return Ordinal(reinterpret_cast<uintptr_t>(context)) - 1; }

//===--- kernels ------------------------------------------------------------===//

struct Program {
  int linear, programs;
  const std::vector<uint64_t> &args;
  std::atomic<Result> &fault;
  uint64_t control() const { return args[args.size() - 3]; }
  int32_t rank() const { return int32_t(args[args.size() - 7]); }
  int32_t numRanks() const { return int32_t(args[args.size() - 6]); }
  int64_t stride() const { return int64_t(args[args.size() - 5]) * 16; }
  uint32_t *state() const { return reinterpret_cast<uint32_t *>(args[args.size() - 4]); }
  template <typename T> T *at(T *own, int32_t peer) const {
    return reinterpret_cast<T *>(reinterpret_cast<char *>(own) + (peer - rank()) * stride());
  }
};

/// As compiled waits do: false when the host has given the launch up.
template <typename T>
bool waitFor(const Program &p, const T *word, T value, uint32_t site, bool atLeast = false) {
  for (;;) {
    T seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    if (atLeast ? std::make_signed_t<T>(seen - value) >= 0 : seen == value)
      return true;
    auto *head = reinterpret_cast<ControlHead *>(p.control());
    if (__atomic_load_n(&head->givenUp, __ATOMIC_ACQUIRE)) {
      ControlReport &row = reinterpret_cast<ControlReport *>(head + 1)[p.linear];
      row.comparison = atLeast ? 5 : 0;
      row.awaited = int64_t(value);
      row.seen = int64_t(seen);
      row.address = reinterpret_cast<uint64_t>(word);
      row.site = site + 1;
      return false;
    }
    std::this_thread::yield();
  }
}

/// The barrier of all programs of all ranks.
bool barrierAll(const Program &p, uint32_t site) {
  uint32_t *state = p.state();
  uint32_t after = __atomic_load_n(&state[2], __ATOMIC_ACQUIRE) + 1;
  if (int(__atomic_fetch_add(&state[0], 1, __ATOMIC_ACQ_REL)) != p.programs - 1)
    return waitFor(p, &state[2], after, site);
  __atomic_store_n(&state[0], 0, __ATOMIC_RELAXED);
  for (int r = 0; r < p.numRanks(); ++r)
    __atomic_fetch_add(p.at(&state[1], r), 1, __ATOMIC_ACQ_REL);
  if (!waitFor(p, &state[1], after * uint32_t(p.numRanks()), site, /*atLeast=*/true))
    return false;
  __atomic_store_n(&state[2], after, __ATOMIC_RELEASE);
  return true;
}

/// adds(word): each program adds 1.
void adds(Program &p) {
  __atomic_fetch_add(reinterpret_cast<int64_t *>(p.args[0]), 1, __ATOMIC_ACQ_REL);
}

/// ring(x, signal, rounds): program i of each rank sends x[i] to the right, adds what
/// came from the left to it, and signals; x[programs + i] takes what is sent.
void ring(Program &p) {
  auto *x = reinterpret_cast<int64_t *>(p.args[0]) + p.linear;
  auto *signal = reinterpret_cast<int64_t *>(p.args[1]) + p.linear;
  const int64_t rounds = int64_t(p.args[2]);
  const int32_t right = (p.rank() + 1) % p.numRanks();
  for (int64_t round = 1; round <= rounds; ++round) {
    *p.at(x + p.programs, right) = *x;
    __atomic_fetch_add(p.at(signal, right), 1, __ATOMIC_ACQ_REL);
    if (!waitFor(p, signal, round, 0) || !barrierAll(p, 1))
      return;
    *x += x[p.programs];
    if (!barrierAll(p, 2))
      return;
  }
}

/// waits(signal, value): every program waits for it.
void waits(Program &p) {
  waitFor(p, reinterpret_cast<int64_t *>(p.args[0]), int64_t(p.args[1]), 0);
}

/// meets(): the barrier of all, once.
void meets(Program &p) { barrierAll(p, 0); }

/// crashes(): as a program that reads what is not there.
void crashes(Program &p) { p.fault = result::illegalAddress; }

/// computes(flag): until the host says that it is enough; never looks at the control words.
void computes(Program &p) {
  while (!__atomic_load_n(reinterpret_cast<int64_t *>(p.args[0]), __ATOMIC_ACQUIRE))
    std::this_thread::yield();
}

struct Kernel {
  const char *name;
  int own; ///< arguments of its own, 8 bytes each
  bool usesRuntime;
  void (*run)(Program &);
};
const Kernel kKernels[] = {{"adds", 1, false, adds},       {"ring", 3, true, ring},
                           {"waits", 2, true, waits},      {"meets", 0, true, meets},
                           {"crashes", 0, false, crashes}, {"computes", 1, true, computes}};

//===--- streams ------------------------------------------------------------===//

struct Stream {
  std::mutex lock;
  std::condition_variable changed;
  std::queue<std::function<void()>> work;
  bool busy = false;

  Stream() {
    std::thread([this] {
      std::unique_lock<std::mutex> guard(lock);
      for (;;) {
        changed.wait(guard, [&] { return !work.empty(); });
        auto next = std::move(work.front());
        work.pop();
        busy = true;
        guard.unlock();
        if (!broken.load())
          next();
        guard.lock();
        busy = false;
        changed.notify_all();
      }
    }).detach();
  }
  void put(std::function<void()> next) {
    if (broken.load())
      return;
    std::lock_guard<std::mutex> guard(lock);
    work.push([next = std::move(next), asked = repairs.load()] {
      if (asked == repairs.load())
        next();
    });
    changed.notify_all();
  }
  Result query() {
    std::lock_guard<std::mutex> guard(lock);
    if (Result error = broken.load()) // of what has ended, too
      return error;
    return work.empty() && !busy ? result::success : result::notReady;
  }
  Result synchronize() {
    std::unique_lock<std::mutex> guard(lock);
    changed.wait(guard, [&] { return work.empty() && !busy; });
    return broken.load();
  }
};

Stream *streamOf(StreamRef stream) { return reinterpret_cast<Stream *>(stream); }

/// Every call needs a context, as the driver's do.
Result current() {
  if (Result error = broken.load())
    return error;
  return !contexts.empty() ? result::success : 201 /* CUDA_ERROR_INVALID_CONTEXT */;
}

std::mutex memoryLock;
std::map<Allocation, int> memories; // their files
Allocation nextMemory = 1;

} // namespace

#define NEREID_FAKE extern "C" __attribute__((visibility("default"))) Result

/// For tests: the next one begins with a GPU that works.
extern "C" __attribute__((visibility("default"))) void nrd_fake_repair() {
  ++repairs;
  broken = 0;
}

/// Places where memory is mapped that not every device of this process can use.
extern "C" __attribute__((visibility("default"))) int nrd_fake_unreachable() {
  std::lock_guard<std::mutex> guard(usersLock);
  int count = 0;
  for (auto [at, devices] : users)
    count += devices < retained.size();
  return count;
}
/// The device of memory that was allocated there; -1 when none was.
extern "C" __attribute__((visibility("default"))) int nrd_fake_owner(Address at) {
  std::lock_guard<std::mutex> guard(usersLock);
  auto found = owners.find(at);
  return found == owners.end() ? -1 : found->second.first;
}

NEREID_FAKE cuInit(unsigned) {
  return numberOf("NEREID_FAKE_CUDA_DEVICES", 1) < 0 ? result::noDevice : result::success;
}
NEREID_FAKE cuDriverGetVersion(int *version) {
  *version = numberOf("NEREID_FAKE_CUDA_VERSION", 13000);
  return result::success;
}
NEREID_FAKE cuGetErrorName(Result error, const char **name) {
  *name = error == result::illegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : error == result::noDevice     ? "CUDA_ERROR_NO_DEVICE"
          : error == result::outOfMemory  ? "CUDA_ERROR_OUT_OF_MEMORY"
                                          : nullptr;
  return result::success;
}
NEREID_FAKE cuGetErrorString(Result error, const char **text) {
  *text = error == result::noDevice ? "no CUDA-capable device is detected" : nullptr;
  return result::success;
}
NEREID_FAKE cuDeviceGetCount(int *count) {
  *count = numberOf("NEREID_FAKE_CUDA_DEVICES", 1);
  return result::success;
}
NEREID_FAKE cuDeviceGet(Ordinal *device, int number) {
  *device = number;
  return result::success;
}
NEREID_FAKE cuDeviceGetName(char *name, int bytes, Ordinal) {
  std::strncpy(name, "Fake", size_t(bytes));
  return result::success;
}
NEREID_FAKE cuDeviceGetAttribute(int *value, int which, Ordinal) {
  switch (which) {
  case attribute::capabilityMajor:
    *value = 9;
    break;
  case attribute::capabilityMinor:
    *value = 0;
    break;
  case attribute::multiprocessors:
    *value = kMultiprocessors;
    break;
  case attribute::maxGridY:
  case attribute::maxGridZ:
    *value = 65535;
    break;
  default:
    *value = 1;
  }
  return result::success;
}
NEREID_FAKE cuDeviceCanAccessPeer(int *can, Ordinal, Ordinal) {
  *can = 1;
  return result::success;
}
NEREID_FAKE cuDeviceGetP2PAttribute(int *value, int, Ordinal, Ordinal) {
  *value = 1;
  return result::success;
}
NEREID_FAKE cuDevicePrimaryCtxRetain(Context *context, Ordinal device) {
  *context = reinterpret_cast<Context>(uintptr_t(device) + 1);
  std::lock_guard<std::mutex> guard(usersLock);
  retained.insert(device);
  return result::success;
}
NEREID_FAKE cuCtxGetCurrent(Context *context) {
  *context = contexts.empty() ? nullptr : contexts.back();
  return result::success;
}
NEREID_FAKE cuCtxPushCurrent_v2(Context context) {
  contexts.push_back(context);
  return result::success;
}
NEREID_FAKE cuCtxPopCurrent_v2(Context *) {
  contexts.pop_back();
  return result::success;
}

NEREID_FAKE cuModuleLoadData(Module *module, const void *image) {
  const char *text = static_cast<const char *>(image);
  const bool isReal = std::strncmp(text,
                                   "\x7f"
                                   "ELF",
                                   4) == 0;
  if (!isReal && std::strncmp(text, "fake cubin", 10) != 0 &&
      std::strncmp(text, ".version", 8) != 0)
    return result::invalidImage;
  *module = reinterpret_cast<Module>(new int(isReal));
  return current();
}
NEREID_FAKE cuModuleUnload(Module module) {
  delete reinterpret_cast<int *>(module);
  return result::success;
}
NEREID_FAKE cuModuleGetFunction(Function *function, Module module, const char *name) {
  static const Kernel nothing{"nrd_nothing", 0, false, [](Program &) {}};
  if (*reinterpret_cast<int *>(module)) {
    *function = reinterpret_cast<Function>(const_cast<Kernel *>(&nothing));
    return current();
  }
  static const Kernel add4{"nrd_add4", 2, false, [](Program &p) {
                             __atomic_fetch_add(reach<uint32_t>(p.args[0]), uint32_t(p.args[1]),
                                                __ATOMIC_ACQ_REL);
                           }};
  static const Kernel add8{"nrd_add8", 2, false, [](Program &p) {
                             __atomic_fetch_add(reach<uint64_t>(p.args[0]), p.args[1],
                                                __ATOMIC_ACQ_REL);
                           }};
  for (const Kernel *kernel : {&add4, &add8})
    if (!std::strcmp(kernel->name, name)) {
      *function = reinterpret_cast<Function>(const_cast<Kernel *>(kernel));
      return current();
    }
  for (const Kernel &kernel : kKernels)
    // "waits_2" is another kernel of the same code.
    if (!std::strncmp(kernel.name, name, std::strlen(kernel.name))) {
      *function = reinterpret_cast<Function>(const_cast<Kernel *>(&kernel));
      return current();
    }
  return 500; // CUDA_ERROR_NOT_FOUND
}
NEREID_FAKE cuFuncGetAttribute(int *value, int, Function) {
  *value = 0;
  return current();
}
NEREID_FAKE cuFuncSetAttribute(Function, int, int) { return current(); }
NEREID_FAKE cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Function, int, size_t) {
  *blocks = kPerMultiprocessor;
  return current();
}
NEREID_FAKE cuLaunchKernelEx(const LaunchConfiguration *c, Function function, void **arguments,
                             void **) {
  if (Result error = current())
    return error;
  const Kernel &kernel = *reinterpret_cast<Kernel *>(function);
  const int programs = int(c->gridX * c->gridY * c->gridZ);
  for (unsigned i = 0; i < c->numAttributes; ++i)
    if (c->attributes[i].id == launch_attribute::cooperative &&
        programs > kMultiprocessors * kPerMultiprocessor)
      return result::cooperativeTooLarge;
  std::vector<uint64_t> args;
  auto take = [&](size_t bytes) {
    uint64_t value = 0;
    std::memcpy(&value, arguments[args.size()], bytes);
    args.push_back(value);
  };
  for (int i = 0; i < kernel.own; ++i)
    take(8);
  if (kernel.usesRuntime)
    for (size_t bytes : {4, 4, 8, 8, 8})
      take(bytes);
  // Programs that ask for a word of the host's, many at once, wait for each other.
  if (kernel.usesRuntime && !isOfGPU(args.back()))
    return result::invalidValue;
  if (std::strncmp(kernel.name, "nrd_", 4) != 0)
    for (int i = 0; i < 2; ++i)
      take(8);
  streamOf(c->stream)->put([&kernel, programs, args = std::move(args)] {
    std::atomic<Result> fault{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < programs; ++i)
      threads.emplace_back([&, i] {
        Program program{i, programs, args, fault};
        kernel.run(program);
      });
    for (std::thread &thread : threads)
      thread.join();
    if (fault.load())
      broken = fault.load();
  });
  return result::success;
}

NEREID_FAKE cuStreamCreate(StreamRef *stream, unsigned) {
  *stream = reinterpret_cast<StreamRef>(new Stream);
  return current();
}
NEREID_FAKE cuStreamDestroy_v2(StreamRef) { return result::success; }
/// For tests: streams are being captured into a graph.
std::atomic<int> capturing{0};
/// What a thread may not do meanwhile unless it has said that it is outside of it.
thread_local int captureMode = 0;
Result allowed() { return capturing && captureMode != relaxedCapture ? 900 : result::success; }
NEREID_FAKE cuThreadExchangeStreamCaptureMode(int *mode) {
  std::swap(*mode, captureMode);
  return result::success;
}
NEREID_FAKE cuStreamQuery(StreamRef stream) {
  Result error = allowed();
  return error ? error : streamOf(stream)->query();
}
NEREID_FAKE cuStreamSynchronize(StreamRef stream) {
  Result error = allowed();
  return error ? error : streamOf(stream)->synchronize();
}
extern "C" __attribute__((visibility("default"))) void nrd_fake_capture(int state) {
  capturing = state;
}
NEREID_FAKE cuStreamIsCapturing(StreamRef, int *state) {
  *state = capturing;
  return result::success;
}
/// How often an event was recorded, and how many of these have happened.
struct Event {
  std::mutex lock;
  std::condition_variable changed;
  uint64_t recorded = 0, happened = 0;
};
using SharedEvent = std::shared_ptr<Event>;
SharedEvent eventOf(EventRef event) { return *reinterpret_cast<SharedEvent *>(event); }
NEREID_FAKE cuEventCreate(EventRef *event, unsigned) {
  *event = reinterpret_cast<EventRef>(new SharedEvent(new Event));
  return current();
}
NEREID_FAKE cuEventDestroy_v2(EventRef event) {
  delete reinterpret_cast<SharedEvent *>(event);
  return result::success;
}
NEREID_FAKE cuEventRecord(EventRef event, StreamRef stream) {
  SharedEvent shared = eventOf(event);
  std::lock_guard<std::mutex> guard(shared->lock);
  streamOf(stream)->put([shared, number = ++shared->recorded] {
    std::lock_guard<std::mutex> inner(shared->lock);
    shared->happened = number;
    shared->changed.notify_all();
  });
  return current();
}
NEREID_FAKE cuEventQuery(EventRef event) {
  SharedEvent shared = eventOf(event);
  std::lock_guard<std::mutex> guard(shared->lock);
  return shared->happened == shared->recorded ? result::success : result::notReady;
}
NEREID_FAKE cuStreamWaitEvent(StreamRef stream, EventRef event, unsigned) {
  SharedEvent shared = eventOf(event);
  std::lock_guard<std::mutex> guard(shared->lock);
  streamOf(stream)->put([shared, number = shared->recorded] {
    std::unique_lock<std::mutex> inner(shared->lock);
    shared->changed.wait(inner, [&] { return shared->happened >= number; });
  });
  return current();
}
NEREID_FAKE cuStreamWriteValue32_v2(StreamRef stream, Address at, uint32_t value, unsigned) {
  streamOf(stream)->put([=] { __atomic_store_n(reach<uint32_t>(at), value, __ATOMIC_RELEASE); });
  return current();
}
NEREID_FAKE cuStreamWriteValue64_v2(StreamRef stream, Address at, uint64_t value, unsigned) {
  streamOf(stream)->put([=] { __atomic_store_n(reach<uint64_t>(at), value, __ATOMIC_RELEASE); });
  return current();
}

NEREID_FAKE cuMemGetAllocationGranularity(size_t *bytes, const AllocationProperties *, int) {
  *bytes = 1 << 16;
  return result::success;
}
NEREID_FAKE cuMemAddressReserve(Address *at, size_t bytes, size_t, Address, unsigned long long) {
  void *space = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  *at = Address(uintptr_t(space));
  return space == MAP_FAILED ? result::outOfMemory : current();
}
NEREID_FAKE cuMemAddressFree(Address at, size_t bytes) {
  munmap(reinterpret_cast<void *>(at), bytes);
  return current();
}
NEREID_FAKE cuMemCreate(Allocation *memory, size_t bytes, const AllocationProperties *,
                        unsigned long long) {
  if (bytes >= size_t(1) << 40)
    return result::outOfMemory;
  int file = memfd_create("fake-gpu", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, off_t(bytes)) != 0)
    return result::outOfMemory;
  std::lock_guard<std::mutex> guard(memoryLock);
  memories[ *memory = nextMemory++] = file;
  return current();
}
NEREID_FAKE cuMemRelease(Allocation memory) {
  std::lock_guard<std::mutex> guard(memoryLock);
  close(memories.at(memory));
  memories.erase(memory);
  return current();
}
NEREID_FAKE cuMemExportToShareableHandle(void *handle, Allocation memory, int, unsigned long long) {
  std::lock_guard<std::mutex> guard(memoryLock);
  *static_cast<int *>(handle) = dup(memories.at(memory));
  return current();
}
NEREID_FAKE cuMemImportFromShareableHandle(Allocation *memory, void *handle, int) {
  std::lock_guard<std::mutex> guard(memoryLock);
  memories[ *memory = nextMemory++] = dup(int(reinterpret_cast<intptr_t>(handle)));
  return current();
}
NEREID_FAKE cuMemMap(Address at, size_t bytes, size_t offset, Allocation memory,
                     unsigned long long) {
  std::lock_guard<std::mutex> guard(memoryLock);
  void *space = mmap(reinterpret_cast<void *>(at), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED,
                     memories.at(memory), off_t(offset));
  if (space != MAP_FAILED && numberOf("NEREID_FAKE_CUDA_HIDDEN", 0)) {
    void *own = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memories.at(memory),
                     off_t(offset));
    std::lock_guard<std::mutex> users(usersLock);
    hidden[at] = {static_cast<char *>(own), bytes};
  }
  return space == MAP_FAILED ? result::invalidValue : current();
}
NEREID_FAKE cuMemUnmap(Address at, size_t bytes) {
  {
    std::lock_guard<std::mutex> guard(usersLock);
    users.erase(at);
    if (auto found = hidden.find(at); found != hidden.end()) {
      munmap(found->second.first, found->second.second);
      hidden.erase(found);
    }
  }
  mmap(reinterpret_cast<void *>(at), bytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return current();
}
NEREID_FAKE cuMemSetAccess(Address at, size_t bytes, const AccessDescription *, size_t count) {
  if (count == 0)
    return result::invalidValue;
  if (!numberOf("NEREID_FAKE_CUDA_HIDDEN", 0))
    mprotect(reinterpret_cast<void *>(at), bytes, PROT_READ | PROT_WRITE);
  std::lock_guard<std::mutex> guard(usersLock);
  users[at] = count;
  return current();
}
NEREID_FAKE cuMemAlloc_v2(Address *at, size_t bytes) {
  *at = Address(uintptr_t(std::calloc(1, bytes)));
  if (contexts.empty())
    return current();
  std::lock_guard<std::mutex> guard(usersLock);
  owners[*at] = {ordinalOf(contexts.back()), bytes};
  return current();
}
NEREID_FAKE cuMemFree_v2(Address at) {
  std::free(reinterpret_cast<void *>(at));
  return current();
}
NEREID_FAKE cuMemAllocAsync(Address *at, size_t bytes, StreamRef) {
  return cuMemAlloc_v2(at, bytes);
}
NEREID_FAKE cuMemFreeAsync(Address at, StreamRef stream) {
  streamOf(stream)->put([=] { std::free(reinterpret_cast<void *>(at)); });
  return current();
}
NEREID_FAKE cuMemsetD8Async(Address at, unsigned char value, size_t bytes, StreamRef stream) {
  streamOf(stream)->put([=] { std::memset(reach<void>(at), value, bytes); });
  return current();
}
NEREID_FAKE cuMemcpyAsync(Address to, Address from, size_t bytes, StreamRef stream) {
  streamOf(stream)->put([=] { std::memmove(reach<void>(to), reach<const void>(from), bytes); });
  return current();
}
