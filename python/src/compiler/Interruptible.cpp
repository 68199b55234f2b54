// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Interruptible.cpp - A thread for work that cannot be stopped -------===//
//
//   caller (Python's lock held)           thread of the work
//   starts it, lets the lock go           passes, LLVM: look at `cancelled` now and then
//   every 50 ms: lock, signals?
//   raised: cancel, leave                 withPython: takes `python`, then Python's lock
//   done: rethrow what it threw
//
// After cancel() the caller is gone, and Python may end at any time: the work
// must not touch it any more. `python` makes that exact. It is held by the work
// while it uses Python and by the caller while it sets `cancelled`, so the
// caller leaves either before a use, which then does not happen, or behind it.
// The caller lets Python's lock go before it takes `python`; the other order
// would be a deadlock with a work that waits for Python's lock.
//
// A process may end while work is still running, and its static objects must
// not be destroyed under it: then it ends by _exit(), with output flushed
// (endProcess).
//
//===----------------------------------------------------------------------===//
#include "Interruptible.h"

#include "llvm/Support/thread.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <pthread.h>
#include <unistd.h>

namespace nb = nanobind;

namespace nereid::python {
namespace {

/// Deep expressions recurse in the passes.
constexpr unsigned stackBytes = 64 << 20;

/// Threads that run work now. A process that ends meanwhile ends without the
/// destructors of what they use.
std::atomic<int> running{0};

void endProcess(int status, void *) {
  if (running == 0)
    return;
  std::fflush(nullptr);
  _exit(status);
}

void prepareEnd() {
  static std::once_flag once;
  std::call_once(once, [] {
    on_exit(endProcess, nullptr);
    pthread_atfork(nullptr, nullptr, [] { running = 0; }); // a child has no such threads
  });
}

struct Completion {
  std::mutex mutex;
  std::condition_variable changed;
  bool isDone = false;
  std::exception_ptr failure;
};

} // namespace

void Interruptible::withPython(llvm::function_ref<void()> use) {
  std::lock_guard guard(python);
  if (cancelled)
    return;
  nb::gil_scoped_acquire gil;
  use();
}

void Interruptible::cancel() {
  nb::gil_scoped_release unlocked; // the work may wait for it
  std::lock_guard guard(python);
  cancelled = true;
}

void Interruptible::run(std::function<void(Interruptible &)> work) {
  prepareEnd();
  auto self = std::make_shared<Interruptible>();
  auto completion = std::make_shared<Completion>();
  ++running;
  llvm::thread thread(
      std::optional<unsigned>(stackBytes), [self, completion, work = std::move(work)]() mutable {
        std::exception_ptr failure;
        try {
          work(*self);
        } catch (...) {
          failure = std::current_exception();
        }
        work = nullptr; // what only this thread still owns goes before the process may
        self.reset();
        --running;
        {
          std::lock_guard guard(completion->mutex);
          completion->failure = std::move(failure);
          completion->isDone = true;
          completion->changed.notify_all();
        }
      });
  thread.detach();

  auto wait = [&] {
    nb::gil_scoped_release unlocked;
    std::unique_lock lock(completion->mutex);
    return completion->changed.wait_for(lock, std::chrono::milliseconds(50),
                                        [&] { return completion->isDone; });
  };
  while (!wait())
    if (PyErr_CheckSignals() != 0) {
      nb::python_error raised;
      self->cancel();
      throw raised;
    }
  if (completion->failure)
    std::rethrow_exception(completion->failure);
}

} // namespace nereid::python
