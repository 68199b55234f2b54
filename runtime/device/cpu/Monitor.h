// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Monitor.h - Reaches programs that never call the runtime -----------===//
//
// A program that computes without end looks neither at the failure of its job
// nor for Ctrl-C. A thread of its own looks at launches that take long and, when
// one of the two has happened, sends the worker's thread a signal whose handler
// (Faults.cpp) makes the program leave at the instruction it has come to.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_DEVICE_CPU_MONITOR_H
#define NEREID_RUNTIME_DEVICE_CPU_MONITOR_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace nereid::runtime {

class Worker;
struct LaunchState;

class Monitor {
public:
  explicit Monitor(const std::vector<std::unique_ptr<Worker>> &workers) : workers(workers) {}
  ~Monitor();
  Monitor(const Monitor &) = delete;
  Monitor &operator=(const Monitor &) = delete;

  /// Watches `launch` while it lives.
  class Scope {
  public:
    Scope(Monitor &monitor, LaunchState &launch) : monitor(monitor) { monitor.begin(launch); }
    ~Scope() { monitor.end(); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    Monitor &monitor;
  };

private:
  void begin(LaunchState &launch);
  void end();
  /// Lets the thread sleep no longer; makes it for the first launch.
  void wakeThread();
  void threadMain();
  /// Time until the next look, in milliseconds.
  int look(LaunchState &launch);

  // A launch begins and ends without the lock, as long as the thread neither sleeps
  // nor looks at it. Each side says what it is about to do before it asks what the
  // other does, so that one of the two sees the other:
  //
  //   launch   current = it;    asleep?  wake it      current = null;  looking?  wait
  //   thread   asleep = true;   current? stay awake   looking = true;  current?  look
  const std::vector<std::unique_ptr<Worker>> &workers;
  std::atomic<LaunchState *> current{nullptr};
  std::atomic<uint64_t> number{0}; ///< of the launches begun
  std::atomic<bool> asleep{true};  ///< nothing to watch for a while, or no thread yet
  std::atomic<bool> looking{false};
  std::mutex lock; ///< held by the thread unless it waits; guards what follows
  std::condition_variable wake;
  bool stopping = false;
  std::thread thread;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_MONITOR_H
