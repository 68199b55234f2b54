// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
  std::lock_guard<std::mutex> guard(lock);
  current = &launch;
  ++number;
  if (!thread.joinable()) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread = std::thread(&Monitor::threadMain, this);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  } else if (asleep) {
    wake.notify_all();
  }
}

void Monitor::end() {
  std::lock_guard<std::mutex> guard(lock);
  current = nullptr;
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
    if (!current && ++idle > kIdleLooks) {
      asleep = true;
      wake.wait(guard, [&] { return stopping || current; });
      asleep = false;
    } else {
      wake.wait_for(guard, std::chrono::milliseconds(wait));
    }
    wait = kLookEveryMs;
    if (!current)
      continue;
    idle = 0;
    // A launch that was there at the last look takes long.
    if (number == seen)
      wait = look(*current);
    seen = number;
  }
}

} // namespace nereid::runtime
