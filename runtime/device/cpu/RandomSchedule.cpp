// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RandomSchedule.cpp - A launch whose order a seed decides -----------===//
//
// The rank waits for its turn, takes one step and passes the turn on. A step is
// one of
//
//   - start a program that has not been started;
//   - go on with one that gave way or whose condition holds;
//   - let one in a spin loop look once more;
//   - deliver one pending operation, any that may come next.
//
// Which one is drawn from a generator of the rank, so that the whole job does
// the same for the same seed. Pending operations are delivered seldom, as long
// as any rank has something else to do: that is what makes them late.
//
//===----------------------------------------------------------------------===//
#include "device/cpu/Worker.h"

#include "base/Sanitizer.h"
#include "symmetric/JobWatch.h"
#include "symmetric/Turns.h"
#include "transport/Transport.h"

#include <algorithm>

namespace nereid::runtime {

/// Turns in vain, of each rank in a row, after which ranks sleep in between.
static constexpr uint64_t kPatience = 4;
static constexpr uint64_t kSleepNs = 50000;

/// One turn; false when there was nothing to do in it.
bool Worker::randomStep(LaunchState &launch, uint64_t laziness) {
  Transport &transport = *job.transport;
  if (transport.pending() && nextRandom() % laziness == 0)
    return transport.deliver(nextRandom());

  ready.clear();
  polling.clear();
  for (Program *p : live) {
    if (p->state == ProgramState::Polling)
      polling.push_back(p);
    else if (p->state != ProgramState::Blocked || isReady(launch, *p))
      ready.push_back(p);
  }
  bool canStart = launch.unstarted.load(std::memory_order_relaxed) != 0;
  uint64_t choices = ready.size() + (canStart ? 1 : 0);
  if (choices) {
    // Spin loops are asked now and then, whatever else there is.
    uint64_t choice = nextRandom() % (choices + polling.size());
    if (choice < ready.size())
      resume(launch, *ready[choice]);
    else if (choice < choices)
      startNext(launch, launch.shares[0], 0);
    else
      resume(launch, *polling[choice - choices]);
    retireDone();
    return true;
  }
  // Only spin loops are left: all of them look once, up to the first that goes
  // on.
  while (!polling.empty()) {
    size_t at = nextRandom() % polling.size();
    std::swap(polling[at], polling.back());
    Program *p = polling.back();
    polling.pop_back();
    if (resume(launch, *p)) {
      retireDone();
      return true;
    }
    if (launch.stopping())
      return true;
  }
  // What is under way comes when nobody can go on without it.
  return job.turns->fruitless() >= uint64_t(job.worldSize) && transport.deliver(nextRandom());
}

void Worker::runRandom(LaunchState &launch) {
#if defined(NEREID_TSAN)
  sanitizerThread = __tsan_get_current_fiber();
#endif
  cancelling = false;
  Turns &turns = *job.turns;
  turns.enterLaunch();
  static constexpr uint64_t kLaziness[] = {2, 8, 32, 128};
  static constexpr uint64_t kYieldEvery[] = {1, 2, 4, 16};
  // Some bugs need eager schedules, others lazy ones.
  const uint64_t laziness = kLaziness[nextRandom() % 4];
  yieldEvery = kYieldEvery[nextRandom() % 4];
  while (!launch.stopping()) {
    if (!turns.take()) {
      lookAround(launch);
      continue;
    }
    if (randomStep(launch, laziness)) {
      setState(WorkerState::Running);
      bumpProgress();
      if (live.empty() && launch.unstarted.load(std::memory_order_relaxed) == 0 &&
          job.transport->pending() == 0)
        break;
      turns.pass(true);
      continue;
    }
    bool spins = std::any_of(live.begin(), live.end(),
                             [](const Program *p) { return p->state == ProgramState::Polling; });
    setState(spins ? WorkerState::Polling : WorkerState::Blocked);
    slot.idlePasses.store(slot.idlePasses.load(std::memory_order_relaxed) + 1,
                          std::memory_order_release);
    if (turns.fruitless() > kPatience * uint64_t(job.worldSize)) {
      lookAround(launch);
      sleepNs(kSleepNs);
    }
    turns.pass(false);
  }
  if (!live.empty()) {
    recordWaiting(launch);
    cancelAll(launch);
  }
  turns.leaveLaunch();
  dropSpare();
}

} // namespace nereid::runtime
