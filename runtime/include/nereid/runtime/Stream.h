// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Stream.h - Queues of launches and host work ---------------*- C++ -*-===//
//
// A stream carries out what it is given in order, beside the program. Nothing orders
// two streams, or a stream and the rest of the program, but events and synchronize().
// What goes wrong in a stream is told by synchronize(); what stood behind it in the
// queue is dropped, but for events.
//
//   Stream stream(job);
//   kernel->launch(stream, {8}, {argumentSlot(x)});
//   stream.call([&] { return job->barrier(); });
//   Status done = stream.synchronize();
//
// Launches of one rank run one after the other, those of different streams too. The
// search for deadlocks knows streams: while one has something to do and is not inside
// the runtime, or while a thread that has given work to one goes on, any signal may
// still be written.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_STREAM_H
#define NEREID_RUNTIME_STREAM_H

#include "nereid/runtime/Launch.h"
#include "nereid/runtime/Status.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nereid::runtime {

class Job;

/// A point in the queue of a stream. It happens when all that was in the queue before
/// has ended, or was dropped. Copies are the same event.
class Event {
public:
  Event();
  /// Happens now.
  void record();
  /// False before the first record(), here or into a stream.
  bool recorded() const;
  /// Whether it has happened since it was last recorded.
  bool query() const;
  /// Waits until it has happened. Errors: InvalidArgument when it was never recorded,
  /// Interrupted.
  Status synchronize() const;
  /// When it happened, in nanoseconds of the monotonic clock; 0 = it has not.
  uint64_t nanoseconds() const;

  struct State;

private:
  friend class Stream;
  std::shared_ptr<State> state;
};

/// A launch in a stream: what it needs, kept until it has ended.
class StreamedLaunch {
public:
  virtual ~StreamedLaunch() = default;
  /// `spec.args` points to what this object keeps; its kernel says how many they are.
  LaunchSpec spec;
  /// The job to launch in, or an error that takes the launch's place; asked as soon as
  /// the launch has its turn. Null: the stream's.
  virtual Expected<Job *> findJob() { return nullptr; }
  /// Where it was given, for synchronize(). Asked by the thread that gives it, when it
  /// has to wait for its turn or has gone wrong.
  virtual std::string place() { return ""; }
  /// Lets go of launches of one stream, which have ended; one of them is asked.
  virtual void release(std::vector<std::shared_ptr<StreamedLaunch>> &ended) { ended.clear(); }
};

/// A put in a stream, and the signal that follows it.
struct StreamedPut {
  void *dest = nullptr; ///< this rank's address of what is written on `rank`
  const void *source = nullptr;
  uint64_t bytes = 0;
  int32_t rank = 0;
  /// This rank's address of a signal of `signalBytes` (4 or 8) bytes, which becomes
  /// `value` on `rank` when the bytes are there; null = none.
  void *signal = nullptr;
  uint64_t value = 0;
  int32_t signalBytes = 8;
  /// A stream of the device's own kind, all of which so far has to end before it.
  std::optional<uintptr_t> after;
};

class Stream {
public:
  /// A stream of `job`'s rank, which must outlive what it is given. Null: one of the
  /// process, which counts for every job that the process is in.
  /// `native`: launches go into this stream of the device's own kind (of a GPU a
  /// CUstream), among what others put there; it must live until ours is gone.
  explicit Stream(Job *job, std::string name = "stream", std::optional<uintptr_t> native = {});
  /// Waits until the queue is empty. Errors that nobody has asked for are lost.
  ~Stream();
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  // These return at once. Error of all: InvalidArgument in a process that was forked
  // from the stream's. `place` says where the work was given, for synchronize().

  /// A launch in the stream's job, as launch() makes it, with the same checks first.
  /// The arguments are copied, so the kernel must say how many it has. `owner` is
  /// kept until the launch has ended: what keeps the kernel and the memory of its
  /// arguments. `findJob`, when given, is asked as soon as the launch has its turn:
  /// the job to launch in, or an error that takes the launch's place.
  Status launch(const LaunchSpec &spec, std::shared_ptr<const void> owner = nullptr,
                std::function<Expected<Job *>()> findJob = nullptr, std::string place = "");
  Status launch(const std::shared_ptr<StreamedLaunch> &launch);
  /// The same if the launch has its turn at once, and nobody has to be waited for until
  /// findJob(); else false, with nothing done.
  bool tryLaunch(const std::shared_ptr<StreamedLaunch> &launch, Status &status);
  /// Copies to another rank, as Job::put and Job::signal would, one after the other. On a
  /// device with queues of its own neither the host nor programs of kernels make the copy.
  /// `source` is symmetric memory of this rank, or other memory of its device, and must
  /// stay as it is until the copy has been made; `owner` is kept until then.
  Status put(const StreamedPut &put, std::shared_ptr<const void> owner = nullptr,
             std::function<Expected<Job *>()> findJob = nullptr, std::string place = "");
  /// A function of the host. Its error, or an exception that it throws, is an error of
  /// the stream.
  Status call(std::function<Status()> function, std::string place = "");
  /// Puts `event` into the queue. It also happens after a failure.
  Status record(Event &event);
  /// What the stream is given from now on starts when `event`, as it was last
  /// recorded, has happened. InvalidArgument when it was never recorded.
  Status wait(const Event &event);

  /// Waits until the queue is empty. The first error since the last call, and in
  /// `place` where its work was given, if known; the stream can be used again. When
  /// the user interrupts, the queue is dropped, the launch that is running is stopped,
  /// and the result is Interrupted. InvalidArgument from a function in the stream.
  Status synchronize(std::string *place = nullptr);
  /// Whether the queue is empty.
  bool query() const { return pending() == 0; }
  /// Operations in the queue, the running one included.
  uint64_t pending() const;
  /// The job that it was made with.
  Job *job() const;
  const std::string &name() const;
  /// For owners that cannot wait: the destructor will not. What is in the queue is
  /// still done, so the job must live.
  void detach();

  struct State;

private:
  std::shared_ptr<State> state;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_STREAM_H
