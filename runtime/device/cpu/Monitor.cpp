// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Monitor.cpp - A thread that looks at long launches -----------------===//
//
// A launch may take microseconds, and looks are far apart: begin() and end()
// are a few loads and stores as long as the thread is awake. Each side
// announces itself before it looks at the other (Monitor.h has the table); a
// launch that finds the thread looking waits for its lock, so what the thread
// looks at lives as long as the look.
//
// Only a launch that was there at the last look is long (`number` is the same),
// and only for it signals are sent. A signal that comes at the wrong moment
// does nothing; while programs are to leave, it is sent again every
// kInsistEveryMs.
//
//===----------------------------------------------------------------------===//
#include "device/cpu/Monitor.h"

#include "base/Clock.h"
#include "device/cpu/Faults.h"
#include "device/cpu/Worker.h"

#include <chrono>
#include <csignal>
#include <pthread.h>

namespace nereid::runtime {

/// How often a launch is looked at, and how old it is at the first look.
static constexpr int kLookEveryMs = 40;
/// The same while programs are to leave: a signal that finds a program in a
/// function outside its own code does nothing.
static constexpr int kInsistEveryMs = 2;
/// Looks without a launch after which the thread sleeps until there is one.
static constexpr int kIdleLooks = 50;
/// A worker that has asked for interrupts in the last so many nanoseconds needs
/// no help.
static constexpr uint64_t kInterruptAgeNs = 100000000;

Monitor::~Monitor() {
  {
    std::lock_guard<std::mutex> guard(lock);
    stopping = true;
  }
  wake.notify_all();
  if (thread.joinable())
    thread.join();
}

void Monitor::begin(LaunchState &launch) {
  if (!canPreempt() || !launch.kernel.code)
    return;
  // Launches of a rank begin one after the other.
  number.store(number.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  current.store(&launch, std::memory_order_seq_cst);
  if (asleep.load(std::memory_order_seq_cst))
    wakeThread();
}

void Monitor::wakeThread() {
  std::lock_guard<std::mutex> guard(lock);
  if (!thread.joinable()) {
    asleep.store(false, std::memory_order_relaxed);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread = std::thread(&Monitor::threadMain, this);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  } else {
    wake.notify_all();
  }
}

void Monitor::end() {
  if (!current.load(std::memory_order_relaxed))
    return; // it was not to be watched
  current.store(nullptr, std::memory_order_seq_cst);
  if (looking.load(std::memory_order_seq_cst))
    std::lock_guard<std::mutex> untilItHasLooked(lock);
}

int Monitor::look(LaunchState &launch) {
  if (launch.stopping()) {
    for (const std::unique_ptr<Worker> &worker : workers)
      worker->landing.preempt(PreemptRequest::Leave);
    return kInsistEveryMs;
  }
  // Worker 0 is the thread of the host program, the one that may see Ctrl-C.
  uint64_t next = workers[0]->interrupts.nextLook();
  if (nowNs() > next + kInterruptAgeNs)
    workers[0]->landing.preempt(PreemptRequest::CheckInterrupt);
  return kLookEveryMs;
}

void Monitor::threadMain() {
  std::unique_lock<std::mutex> guard(lock);
  uint64_t seen = 0;
  int idle = 0, wait = kLookEveryMs;
  while (!stopping) {
    if (!current.load(std::memory_order_seq_cst) && ++idle > kIdleLooks) {
      asleep.store(true, std::memory_order_seq_cst);
      wake.wait(guard, [&] { return stopping || current.load(std::memory_order_seq_cst); });
      asleep.store(false, std::memory_order_seq_cst);
    } else {
      wake.wait_for(guard, std::chrono::milliseconds(wait));
    }
    wait = kLookEveryMs;
    looking.store(true, std::memory_order_seq_cst);
    if (LaunchState *launch = current.load(std::memory_order_seq_cst)) {
      idle = 0;
      // A launch that was there at the last look takes long.
      const uint64_t now = number.load(std::memory_order_relaxed);
      if (now == seen)
        wait = look(*launch);
      seen = now;
    }
    looking.store(false, std::memory_order_release);
  }
}

} // namespace nereid::runtime
