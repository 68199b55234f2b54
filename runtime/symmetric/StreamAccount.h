// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StreamAccount.h - Who beside a launch may still act ----------------===//
//
// A kernel that waits may get its signal from host code that runs beside it: from a
// thread of the program, or from a function in a stream. While one of them is at work
// nobody may call it a deadlock. Two kinds of threads are counted:
//
//   - threads of streams: as many as have something to do, and do not wait for an
//     event, must be inside the runtime (in a launch, a host collective or a wait for
//     a signal) before a deadlock is one;
//   - threads that have given work to streams: while any stream has something to do,
//     all of them must wait: inside the runtime, for a stream or for an event.
//
// Streams belong to a job, or to the process: these count for all its jobs, also for
// one that is joined while they are at work.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_SYMMETRIC_STREAMACCOUNT_H
#define NEREID_RUNTIME_SYMMETRIC_STREAMACCOUNT_H

#include "nereid/runtime/Job.h"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace nereid::runtime {

/// One per process; a forked child begins with an empty one. `owner` is the job that a
/// stream belongs to; null for streams of the process.
class StreamAccount {
public:
  static StreamAccount &get();

  /// The jobs of this process.
  void join(Job::Impl &job);
  void quit(Job::Impl &job);
  /// Calls `function` for `owner`, or for all jobs when it is null.
  void forJobs(Job::Impl *owner, const std::function<void(Job::Impl &)> &function);

  /// A stream has got something to do, from the calling thread; or has nothing left.
  void begin(Job::Impl *owner);
  void end(Job::Impl *owner);
  /// A stream waits for an event (1), or it has happened (-1). From that moment on the
  /// stream is at work, whenever its thread gets a core.
  void park(Job::Impl *owner, int32_t by);

  /// The calling thread, none of a stream, begins to wait (1) or ends to (-1). Nests.
  static void threadWaits(int32_t by) {
    if (by > 0 ? busy.load(std::memory_order_relaxed) != 0 : waits != 0)
      get().countWait(by);
  }

private:
  StreamAccount() = default;
  struct Streams {
    uint32_t busy = 0, parked = 0;
    std::set<std::thread::id> hosts; ///< have given work; while busy
  };
  void countWait(int32_t by);
  /// With the lock held: says to all jobs how things stand.
  void tell();

  static std::atomic<uint32_t> busy; ///< streams with something to do
  static thread_local int32_t waits; ///< of this thread that are counted

  std::mutex lock; ///< guards what follows
  std::map<Job::Impl *, Streams> streams;
  std::set<Job::Impl *> jobs;
  std::map<std::thread::id, int32_t> waiting;
};

/// Whether the calling thread is one of a stream.
extern thread_local bool isStreamThread;

/// While it lives, the calling thread waits for streams.
struct ThreadWaits {
  ThreadWaits() { StreamAccount::threadWaits(1); }
  ~ThreadWaits() { StreamAccount::threadWaits(-1); }
  ThreadWaits(const ThreadWaits &) = delete;
  ThreadWaits &operator=(const ThreadWaits &) = delete;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_SYMMETRIC_STREAMACCOUNT_H
