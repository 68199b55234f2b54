// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Device.h - What runs the programs of kernels --------------*- C++ -*-===//
//
// A device is a folder of runtime/device and one line of Devices.def there. What it
// has to offer is in this file; all that is the same on every device (checks of a
// launch, turns, streams, failures) is not its business.
//
//   Device     one of each kind per process: loads kernels, has the memory of heaps
//     Kernel   what it has loaded
//     Executor a rank's part of it: runs the launches of one job
//       DeviceQueue   an order of launches that run while the host goes on
//
// unittests/Runtime/DeviceTest.cpp is the suite that every device passes.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_DEVICE_H
#define NEREID_RUNTIME_DEVICE_H

#include "nereid/runtime/KernelDescription.h"
#include "nereid/runtime/Status.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::runtime {

class Device;
class Job;

/// A kernel that a device has loaded, and what a launch must know of it.
class Kernel {
public:
  /// A kernel of no object: what a launch must know is for the caller to fill in.
  Kernel(Device &device, std::string name) : device(device), name(std::move(name)) {}
  /// The kernel of an object, as that describes it.
  Kernel(Device &device, std::shared_ptr<const KernelDescription> object)
      : device(device), name(object->name), numArgs(int32_t(object->arguments.size())),
        scratchBytes(object->scratchBytes), blocking(object->blocking),
        distributed(object->distributed), lanes(object->lanes), sites(&object->sites),
        description(std::move(object)) {
    for (size_t i = 0; i < description->arguments.size(); ++i)
      if (description->arguments[i].symmetric)
        symmetricArgs.push_back(uint32_t(i));
  }
  virtual ~Kernel() = default;
  Kernel(const Kernel &) = delete;
  Kernel &operator=(const Kernel &) = delete;

  Device &device;
  /// For reports and for matching barriers of different ranks.
  std::string name;
  /// Number of run-time arguments; -1 when the kernel does not say.
  int32_t numArgs = -1;
  /// Bytes of tile buffers per program.
  uint64_t scratchBytes = 0;
  /// The kernel waits, yields or calls barriers: all its programs must be alive at
  /// once. Those of another kernel may run one after the other.
  bool blocking = false;
  /// Uses ranks, signals or symmetric memory: needs a job.
  bool distributed = false;
  /// Arguments that must be addresses in symmetric memory of the rank, ascending.
  std::vector<uint32_t> symmetricArgs;
  /// Vector cores per program: each program runs once for each, with sub_vec_id
  /// 0.. and all of them take part in barriers.
  int32_t lanes = 1;
  /// Source table of the kernel; null = no locations known.
  const SiteTable *sites = nullptr;
  /// What its object says of it; null for a kernel of no object.
  const std::shared_ptr<const KernelDescription> description;
};

/// One launch of one kernel. Holds no ownership: what it points to must live until
/// the launch has ended.
struct LaunchSpec {
  const Kernel *kernel = nullptr;
  /// One slot per run-time argument, encoded as abi.h says.
  const uint64_t *args = nullptr;
  /// Programs along each axis; each at least 1, their product below 2^31.
  std::array<int32_t, 3> grid{1, 1, 1};
};

/// What a launch has come to, some of whose programs have not run to their end.
struct LaunchFailure {
  /// What went wrong first among the programs of this rank, with the program, the
  /// place and the fault in words. Nothing when the launch only stopped since
  /// another rank had failed.
  std::optional<FailureDetail> error;
  /// What the programs of this rank were doing.
  std::vector<BlockedGroup> programs;
};

/// A copy beside the host, and a word that says that it has been made.
struct QueuedPut {
  void *to = nullptr;
  const void *from = nullptr;
  uint64_t bytes = 0;
  /// Set to `value` when all bytes can be seen by whoever sees that; null = none.
  void *word = nullptr;
  uint64_t value = 0;
  int32_t wordBytes = 8; ///< or 4
  /// A stream of the device's own kind, all of which so far has to end before the copy.
  std::optional<uintptr_t> after;
};

/// An order of launches that the device keeps beside the host.
class DeviceQueue {
public:
  virtual ~DeviceQueue() = default;
  /// Puts a copy between heaps, and memory of the device, into the queue. It needs no
  /// processor that programs may occupy.
  virtual Status put(const QueuedPut &put) = 0;
  /// Whether all that run() has put into it has ended, as seen at a look.
  virtual bool isIdle() = 0;
};

/// A rank's part of a device. Lives as long as its job.
class Executor {
public:
  virtual ~Executor() = default;

  /// A queue of its own for each stream; null from a device whose run() returns only
  /// when the launch has ended. `native` is a stream of the device's own kind (of a GPU
  /// a CUstream) that launches go into, whoever made it; it must outlive the queue.
  virtual std::unique_ptr<DeviceQueue> makeQueue(std::optional<uintptr_t> native) {
    (void)native;
    return nullptr;
  }
  /// Runs `launch`, which has been checked, or puts it into `queue`, which may be
  /// null. Null when nothing has gone wrong so far. One call at a time.
  virtual std::unique_ptr<LaunchFailure> run(const LaunchSpec &launch, DeviceQueue *queue) = 0;
  /// Waits until all that run() has put into `queue` has ended; the first of it that
  /// failed, or null. Calls for different queues may come at the same time.
  virtual std::unique_ptr<LaunchFailure> synchronize(DeviceQueue *queue) {
    (void)queue;
    return {};
  }
};

/// What a heap can be mapped by in another process: memory of `descriptor`, `bytes`
/// bytes from `offset` on.
struct HeapHandle {
  int descriptor = -1;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// What a heap takes: bytes of memory, and how far the next rank's begins behind it.
/// The ranks' own part of it comes first, what the device keeps there behind that.
struct HeapShape {
  uint64_t bytes = 0;
  uint64_t stride = 0;
};

/// A device's own part of what the ranks of a job share: one for each rank, zero at
/// first. The device of that rank lays it out and writes it, as lock-free atomics; the
/// devices of all ranks read it.
struct alignas(4096) DeviceArea {
  std::byte bytes[9 * 4096];
};

/// What the programs of one rank's launches do at one moment, for the search for
/// deadlocks. Programs run on parts of a device that look by turns at what each of
/// their programs waits for: threads, multiprocessors.
struct DeviceActivity {
  /// Some program runs or can run.
  bool running = false;
  /// Counters of which one at least grows whenever a program starts, goes on, or does
  /// something for others.
  std::vector<uint64_t> steps;
  /// Of each part all whose programs wait: how often it has looked at all of them and
  /// found none that can go on.
  std::vector<uint64_t> looks;
  /// Those of `looks` with programs in spin loops of their own: they may be computing
  /// instead, which the processor time of their thread tells.
  struct Spinner {
    int32_t thread; ///< the system's number
    uint64_t looks;
  };
  std::vector<Spinner> spinners;
};

class Device {
public:
  virtual ~Device() = default;

  /// As users write it: "cpu".
  virtual const char *name() const = 0;
  /// What it is on this machine, in one line for people.
  virtual std::string description() const = 0;

  /// Loads the kernel of an object, given as its bytes: what a target of the compiler
  /// has made for this device. Errors: InvalidArgument for what is damaged, or not
  /// for this device and machine; SystemError.
  virtual Expected<std::shared_ptr<Kernel>> load(std::string_view object) = 0;
  /// What an object says of its kernel, verified as load() does; whether this machine
  /// can run it is not looked at. Error: InvalidArgument.
  virtual Expected<KernelDescription> describe(std::string_view object) = 0;
  /// The part of `job`'s rank. Called once for each job, by its first launch.
  virtual std::unique_ptr<Executor> open(Job &job) = 0;

  /// How many programs of a launch of `job`'s rank run side by side, for those who
  /// divide work among programs: multiprocessors of a GPU. Nothing: as many as the rank
  /// has threads. Errors: as prepare().
  virtual Expected<std::optional<int32_t>> programsAtOnce(const Job &job) {
    (void)job;
    return std::optional<int32_t>();
  }

  /// Adds to `activity` what `area` says, the area of any rank of the job. Called at
  /// any time, also while that rank writes it. A device that does not override this
  /// has programs that may run at any time: no wait for them is called a deadlock.
  virtual void look(const DeviceArea &area, DeviceActivity &activity) const {
    (void)area;
    (void)activity;
  }

  /// Whether the host can load and store in heaps. They then lie in the memory that
  /// the ranks of a job share anyway; those of other devices are made by the calls
  /// that follow, and the host reaches them by copy(), update() and read().
  virtual bool hasHostMemory() const { return true; }
  /// These ranks of a job are in this process; called before their heaps are made.
  /// Errors: Environment when there is no such device in this machine.
  virtual Status prepare(const std::vector<int32_t> &ranks) {
    (void)ranks;
    return {};
  }
  /// What is needed so that each rank has `bytes` bytes. Errors: as prepare().
  virtual Expected<HeapShape> heapShape(uint64_t bytes) { return HeapShape{bytes, bytes}; }
  /// Addresses for heaps, with nothing there yet. Errors: OutOfMemory, SystemError.
  virtual Expected<uint8_t *> reserveHeaps(uint64_t bytes) = 0;
  /// Gives the addresses back, where nothing is mapped any more.
  virtual void releaseHeaps(uint8_t *at, uint64_t bytes) = 0;
  /// Zeroed memory for the heap of `rank` that other processes can map; as many bytes
  /// as heapShape says. The descriptor is the caller's. Errors: OutOfMemory,
  /// SystemError.
  virtual Expected<HeapHandle> allocateHeap(uint64_t bytes, int32_t rank) = 0;
  /// Maps a heap, the rank's own or a peer's, to addresses that were reserved, which
  /// are left to it until it is taken away again. Errors: OutOfMemory, SystemError.
  virtual Status mapHeap(const HeapHandle &heap, uint8_t *at) = 0;
  /// Takes it away again; the addresses stay reserved.
  virtual void unmapHeap(uint8_t *at, uint64_t bytes) = 0;
  /// Memory that kernels of this process can use, at a multiple of 256; undefined at
  /// first. Errors: OutOfMemory, SystemError.
  virtual Expected<void *> allocate(uint64_t bytes) = 0;
  virtual void release(void *memory) = 0;
  /// Copies between heaps, host memory and arguments of kernels; complete when it
  /// returns.
  virtual Status copy(void *to, const void *from, uint64_t bytes) = 0;
  /// Sets or adds to (NRD_SIG_*) the word of 4 or 8 bytes at `word` in a heap, after
  /// all that the host has copied before.
  virtual Status update(void *word, int32_t op, uint64_t value, int32_t bytes) = 0;
  /// The word at `word`; what was written before it is seen by copies afterwards.
  virtual Expected<uint64_t> read(const void *word, int32_t bytes) = 0;
  /// A failure of the job is over: the device's own part of the heaps becomes what it
  /// was at first. That of rank r begins at `parts` + r * `stride`. One rank calls it
  /// for all, while none of them launches.
  virtual Status recover(uint8_t *parts, uint64_t stride, int32_t worldSize) {
    (void)parts, (void)stride, (void)worldSize;
    return {};
  }
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_H
