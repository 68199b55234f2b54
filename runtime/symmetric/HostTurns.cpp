// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "symmetric/HostTurns.h"

#include "base/Clock.h"
#include "base/Random.h"
#include "symmetric/JobWatch.h"
#include "symmetric/Turns.h"

#include <csignal>
#include <pthread.h>
#include <unistd.h>

namespace nereid::runtime {

//===----------------------------------------------------------------------===//
// Host code
//===----------------------------------------------------------------------===//

/// One call in so many waits for a turn. The others go on at once, so that
/// hosts that compute for long after a barrier mostly do so side by side.
static constexpr uint64_t kWaitEvery = 2;

namespace {
class TurnWait : public Awaited {
public:
  explicit TurnWait(Turns &turns) : turns(turns) {}
  std::string what() const override { return "host code, for its turn of the random schedule"; }
  bool isOver() override { return turns.take(); }
  bool needs(int32_t) override { return false; }

private:
  Turns &turns;
};
} // namespace

void Job::Impl::waitForTurn() {
  if (worldSize == 1 || jobFailed() || isCopy())
    return;
  uint64_t drawn;
  {
    std::lock_guard<std::mutex> guard(stateLock);
    drawn = hostRandom.next();
  }
  if (drawn % kWaitEvery != 0 || !turns->tryEnter(hostPause(drawn / kWaitEvery)))
    return;
  // Programs of other ranks may wait for this host, so it counts as one that
  // runs, not as one that waits.
  TurnWait wait(*turns);
  uint64_t nextInterrupt = 0;
  while (!wait.isOver() && !jobFailed()) {
    watch->tick(wait, settings.timeoutSeconds);
    uint64_t now = nowNs();
    if (now < nextInterrupt)
      continue;
    nextInterrupt = now + 20000000;
    if (interruptRequested()) {
      FailureDetail detail;
      detail.code = StatusCode::Interrupted;
      detail.message = "interrupted";
      detail.rank = rank;
      publishFailure(detail);
    }
  }
  turns->leave();
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

LateTransfers::LateTransfers(Job::Impl &job) : job(job) {}

LateTransfers::~LateTransfers() { stop(); }

void LateTransfers::launchEnded() {
  if (job.transport->held() == 0)
    return;
  std::lock_guard<std::mutex> guard(lock);
  if (stopping)
    return;
  job.turns->wantTransfers();
  if (!thread.joinable()) {
    // Signals are for the threads of the program, but for faults.
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV); // touches() gets them back
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread = std::thread(&LateTransfers::threadMain, this);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    owner = int32_t(getpid());
  }
  wake.notify_one();
}

void LateTransfers::stop() {
  {
    std::lock_guard<std::mutex> guard(lock);
    stopping = true;
  }
  wake.notify_all();
  if (!thread.joinable())
    return;
  // A forked child has no such thread.
  if (owner == int32_t(getpid()))
    thread.join();
  else
    thread.detach();
}

void LateTransfers::threadMain() {
  Random random(job.settings.seed, uint64_t(job.rank));
  std::unique_lock<std::mutex> guard(lock);
  for (;;) {
    wake.wait(guard, [&] { return stopping || job.turns->wantsTransfers(); });
    if (stopping)
      return;
    if (job.jobFailed()) {
      job.turns->forgetTransfers();
      continue;
    }
    guard.unlock();
    if (job.turns->takeForTransfers()) {
      job.transport->deliver(random.next());
      job.turns->passForTransfers(/*last=*/job.transport->held() == 0);
    }
    guard.lock();
  }
}

} // namespace nereid::runtime
