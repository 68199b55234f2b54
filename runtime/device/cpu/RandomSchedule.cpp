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
#include "device/cpu/RandomSchedule.h"

#include "device/cpu/Worker.h"
#include "symmetric/Turns.h"
#include "transport/Router.h"

#include <algorithm>

namespace nereid::runtime {

/// Turns in vain, of each rank in a row, after which ranks sleep in between.
static constexpr uint64_t kPatience = 4;
static constexpr uint64_t kSleepNs = 50000;

void RandomSchedule::seed(const LaunchState &launch) {
  const Job::Impl &job = launch.job;
  state = job.settings.seed * 0x9e3779b97f4a7c15u + uint64_t(job.rank) * 0xd1b54a32d192ed03u +
          (uint64_t(worker.index) << 20) + launch.number + 1;
  if (state == 0)
    state = 1;
  for (int i = 0; i < 4; ++i)
    next();
}

/// One turn; false when there was nothing to do in it.
bool RandomSchedule::step(LaunchState &launch, uint64_t laziness) {
  Router &transport = *worker.job.transport;
  if (transport.held() && next() % laziness == 0)
    return transport.deliver(next());

  ready.clear();
  polling.clear();
  for (Program *p : worker.scheduler.alive()) {
    if (p->state == ProgramState::Polling)
      polling.push_back(p);
    else if (p->state != ProgramState::Blocked || launch.isReady(*p))
      ready.push_back(p);
  }
  bool canStart = launch.unstarted.load(std::memory_order_relaxed) != 0;
  uint64_t choices = ready.size() + (canStart ? 1 : 0);
  if (choices) {
    // Spin loops are asked now and then, whatever else there is.
    uint64_t choice = next() % (choices + polling.size());
    if (choice < ready.size())
      worker.scheduler.resume(launch, *ready[choice]);
    else if (choice < choices)
      worker.scheduler.startNext(launch, 0);
    else
      worker.scheduler.resume(launch, *polling[choice - choices]);
    worker.scheduler.retireDone();
    return true;
  }
  // Only spin loops are left: all of them look once, up to the first that goes
  // on.
  while (!polling.empty()) {
    size_t at = next() % polling.size();
    std::swap(polling[at], polling.back());
    Program *p = polling.back();
    polling.pop_back();
    if (worker.scheduler.resume(launch, *p)) {
      worker.scheduler.retireDone();
      return true;
    }
    if (launch.stopping())
      return true;
  }
  // What is under way comes when nobody can go on without it.
  return worker.job.turns->fruitless() >= uint64_t(worker.job.worldSize) &&
         transport.deliver(next());
}

void RandomSchedule::run(LaunchState &launch) {
  seed(launch);
  worker.scheduler.begin();
  const std::vector<Program *> &live = worker.scheduler.alive();
  Turns &turns = *worker.job.turns;
  turns.enterLaunch();
  static constexpr uint64_t kLaziness[] = {2, 8, 32, 128};
  static constexpr uint64_t kYieldEvery[] = {1, 2, 4, 16};
  // Some bugs need eager schedules, others lazy ones.
  const uint64_t laziness = kLaziness[next() % 4];
  yieldEvery = kYieldEvery[next() % 4];
  while (!launch.stopping()) {
    if (!turns.take()) {
      worker.scheduler.lookAround(launch);
      continue;
    }
    if (step(launch, laziness)) {
      worker.pulse.set(WorkerState::Running);
      worker.pulse.beat();
      if (live.empty() && launch.unstarted.load(std::memory_order_relaxed) == 0 &&
          worker.job.transport->held() == 0)
        break;
      turns.pass(true);
      continue;
    }
    bool spins = std::any_of(live.begin(), live.end(),
                             [](const Program *p) { return p->state == ProgramState::Polling; });
    worker.pulse.set(spins ? WorkerState::Polling : WorkerState::Blocked);
    worker.pulse.pass();
    if (turns.fruitless() > kPatience * uint64_t(worker.job.worldSize)) {
      worker.scheduler.lookAround(launch);
      sleepNs(kSleepNs);
    }
    turns.pass(false);
  }
  worker.scheduler.finish(launch);
  turns.leaveLaunch();
}

} // namespace nereid::runtime
