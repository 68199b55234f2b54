// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WorkerPool.cpp - Threads that come to a launch and leave it --------===//
//
//   launching thread                           worker 1, 2, ...
//   current = launch    (lock)                 sleep until generation changes
//   invite: ++generation, wake sleepers ────▶  take current, ++joined    (lock)
//   work as worker 0                           work
//   current = null      (lock)                 --joined, wake
//   wait until joined == 0
//
// `joined` goes up under the lock under which `current` is read: when current
// is null, nobody can join any more, and joined says who still has the launch,
// which lives on the launching thread's stack. A worker that comes too late
// finds null and goes back.
//
// A launch that may wait invites at once, since its programs may need each
// other. One that cannot does so only when its first microseconds were not
// enough (PlainRunner): waking a thread costs more than a short kernel takes.
// Idle workers spin for a moment, where all workers of all ranks have a core
// each (maySpin), before they sleep.
//
//===----------------------------------------------------------------------===//
#include "device/cpu/WorkerPool.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace nereid::runtime {

/// How long an idle worker hopes for the next launch before it sleeps.
static constexpr uint64_t kSpinNs = 50000;

static void futexWait(std::atomic<uint32_t> &word, uint32_t expected, uint64_t ns) {
  timespec ts{time_t(ns / 1000000000u), long(ns % 1000000000u)};
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAIT_PRIVATE, expected,
          ns ? &ts : nullptr, nullptr, 0);
}

static void futexWakeAll(std::atomic<uint32_t> &word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr,
          nullptr, 0);
}

static void pinTo(const Job::Impl &job, size_t index) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return;
  int count = CPU_COUNT(&allowed);
  if (count < 1)
    return;
  int wanted = int((size_t(job.rank) * size_t(job.numThreads) + index) % size_t(count));
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || wanted-- > 0)
      continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    return;
  }
}

WorkerPool &WorkerPool::of(Job::Impl &job) { return static_cast<WorkerPool &>(*job.executor); }

WorkerPool::WorkerPool(Job::Impl &job) : job(job) {
  for (int32_t i = 0; i < job.numThreads; ++i)
    workers.push_back(std::make_unique<Worker>(job, uint32_t(i)));
  WorkerArea::of(job.deviceArea(job.rank))
      .workers.store(uint32_t(job.numThreads), std::memory_order_release);
}

WorkerPool::~WorkerPool() {
  stopping.store(true);
  generation.fetch_add(1);
  futexWakeAll(generation);
  for (std::thread &thread : threads)
    thread.join();
}

void WorkerPool::startThreads() {
  if (!threads.empty() || workers.size() == 1)
    return;
  // Signals are for the threads of the program, not for workers.
  sigset_t all, before;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    sigdelset(&all, fault);
  if (canPreempt())
    sigdelset(&all, preemptSignal());
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (size_t i = 1; i < workers.size(); ++i)
    threads.emplace_back(&WorkerPool::threadMain, this, i);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void WorkerPool::invite() {
  generation.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) > 0)
    futexWakeAll(generation);
}

void WorkerPool::threadMain(size_t index) {
  if (job.settings.pinThreads)
    pinTo(job, index);
  uint32_t seen = 0;
  for (;;) {
    uint64_t begin = job.maySpin ? nowNs() : 0;
    while (generation.load(std::memory_order_acquire) == seen) {
      if (job.maySpin && nowNs() - begin < kSpinNs) {
        cpuPause();
        continue;
      }
      sleepers.fetch_add(1, std::memory_order_seq_cst);
      futexWait(generation, seen, 0);
      sleepers.fetch_sub(1, std::memory_order_seq_cst);
    }
    seen = generation.load(std::memory_order_acquire);
    if (stopping.load())
      return;
    LaunchState *launch;
    {
      std::lock_guard<std::mutex> guard(lock);
      launch = current;
      if (launch)
        joined.fetch_add(1, std::memory_order_relaxed);
    }
    if (!launch)
      continue;
    workers[index]->run(*launch);
    if (joined.fetch_sub(1, std::memory_order_acq_rel) == 1)
      futexWakeAll(joined);
  }
}

std::unique_ptr<LaunchFailure> WorkerPool::run(const LaunchSpec &spec, DeviceQueue *) {
  LaunchState launch(job, spec);
  if (!launch.observer) [[likely]] {
    runPrograms(launch);
  } else {
    EventRecord event;
    event.kind = EventKind::Launch;
    event.begin = event.end = cheapTicks();
    event.launch = uint32_t(launch.number);
    event.rank = int16_t(job.rank);
    event.value = reinterpret_cast<uint64_t>(&spec);
    const uint64_t tag = launch.observer->before(event, 0);
    runPrograms(launch);
    event.end = cheapTicks();
    launch.observer->after(event, tag);
  }
  return launch.failed() ? launch.failure() : nullptr;
}

void WorkerPool::runPrograms(LaunchState &launch) {
  if (job.settings.pinThreads)
    pinTo(job, 0);
  Monitor::Scope watched(monitor, launch);
  if (workers.size() == 1 || launch.total == 1) {
    workers[0]->run(launch);
    return;
  }
  startThreads();
  {
    std::lock_guard<std::mutex> guard(lock);
    current = &launch;
  }
  if (launch.kernel.blocking)
    invite();
  workers[0]->run(launch);
  {
    std::lock_guard<std::mutex> guard(lock);
    current = nullptr;
  }
  // Nobody can join any more; wait for those that have.
  uint64_t begin = nowNs();
  InterruptPoll interrupts;
  while (uint32_t left = joined.load(std::memory_order_acquire)) {
    uint64_t now = nowNs();
    if (job.maySpin && now - begin < kSpinNs) {
      cpuPause();
      continue;
    }
    futexWait(joined, left, InterruptPoll::kEveryNs);
    interrupts.look(launch, now);
  }
}

} // namespace nereid::runtime
