// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM may not return from a fatal error, and nothing may be thrown or jump through
// its frames: they are compiled without exceptions. So the work runs on a thread of
// its own. When LLVM gives up there, the thread says so and then sleeps for ever,
// with its stack as it is; the caller goes on with an error. Such a thread costs its
// stack, which is little beside the bug in LLVM that it stands for.
#include "FatalErrors.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/thread.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <unistd.h>

using namespace nereid;

/// Deep expressions recurse in the passes.
static constexpr unsigned stackBytes = 64 << 20;

namespace {
struct Guard {
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  std::optional<std::string> reason;

  void end(std::optional<std::string> why) {
    std::lock_guard<std::mutex> lock(mutex);
    ended = true;
    reason = std::move(why);
    changed.notify_all();
  }
};
} // namespace

/// The guard of this thread's work; null on threads that are not guarded.
static thread_local Guard *current = nullptr;

static void onFatalError(void *, const char *reason, bool) {
  if (!current)
    return; // LLVM ends the process
  current->end(reason);
  for (;;)
    pause();
}

std::optional<std::string> nereid::runGuarded(llvm::function_ref<void()> work) {
  static std::once_flag once;
  std::call_once(once, [] { llvm::install_fatal_error_handler(onFatalError); });

  // Shared: a thread that sleeps for ever still holds it.
  auto guard = std::make_shared<Guard>();
  llvm::thread thread(std::optional<unsigned>(stackBytes), [guard, work] {
    current = guard.get();
    work();
    current = nullptr;
    guard->end(std::nullopt);
  });
  {
    std::unique_lock<std::mutex> lock(guard->mutex);
    guard->changed.wait(lock, [&] { return guard->ended; });
  }
  if (guard->reason)
    thread.detach();
  else
    thread.join();
  return guard->reason;
}
