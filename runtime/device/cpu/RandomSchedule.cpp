// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RandomSchedule.cpp - A launch whose order a seed decides -----------===//
//
// The rank waits for its turn, takes one step and passes the turn on. A step is
// one of
//
//   - start a program that has not been started;
//   - go on with one that gave way or whose condition holds;
//   - let one in a spin loop look once more;
//   - deliver one pending operation, any that may come next;
//   - when all programs have ended: return from the launch.
//
// Which one is drawn from a generator of the rank, so that the whole job does
// the same for the same seed. How it is drawn differs from launch to launch and
// from phase to phase (Turns.h), since mistakes differ in what makes them show:
//
//   - all programs alike, or by priorities: each program has one, the highest
//     that can go on does, and now and then the one that goes on becomes the
//     lowest of all. So one program may stand still while the others do all
//     they can without it, which among equals hardly ever happens. (Burckhardt
//     et al., "A randomized scheduler with probabilistic guarantees of finding
//     bugs", 2010, shows why few such changes are enough.)
//   - pending operations come soon or late; programs give way often or seldom,
//     and for one turn or for many.
//
// A launch does not wait for its pending operations; see HostTurns.h for those
// that are left.
//
//===----------------------------------------------------------------------===//
#include "device/cpu/RandomSchedule.h"

#include "device/cpu/Worker.h"
#include "symmetric/HostTurns.h"
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

void RandomSchedule::drawManner() {
  // 1: transfers come before anything else, as if they were complete at once.
  static constexpr uint64_t kLaziness[] = {1, 2, 8, 64};
  static constexpr uint64_t kYieldEvery[] = {1, 1, 3, 12};
  static constexpr uint64_t kPauses[] = {0, 4, 16, 64};
  static constexpr uint64_t kChangeEvery[] = {0, 8, 32, 128};
  manner.laziness = kLaziness[next() % 4];
  manner.yieldEvery = kYieldEvery[next() % 4];
  manner.pause = kPauses[next() % 4];
  manner.priorities = next() % 2 != 0;
  manner.changeEvery = kChangeEvery[next() % 4];
}

void RandomSchedule::yieldSometimes(Program &program) {
  if (next() % manner.yieldEvery != 0)
    return;
  if (manner.pause && next() % 2)
    program.sitsOut = worker.job.turns->work() + manner.pause;
  worker.yieldFrom(program, ProgramState::Ready);
}

/// Delivers one pending operation now and then.
bool RandomSchedule::deliverLazily() {
  Router &transport = *worker.job.transport;
  return transport.held() && next() % manner.laziness == 0 && transport.deliver(next());
}

void RandomSchedule::runByPriority(LaunchState &launch, bool canStart) {
  // The order of starts is one of falling priorities.
  const int64_t unstarted = -int64_t(launch.shares[0].taken.load(std::memory_order_relaxed));
  auto best = std::max_element(ready.begin(), ready.end(),
                               [](Program *a, Program *b) { return a->priority < b->priority; });
  if (canStart && (best == ready.end() || (*best)->priority < unstarted)) {
    worker.scheduler.startNext(launch, 0);
    return;
  }
  Program &p = **best;
  if (manner.changeEvery && next() % manner.changeEvery == 0)
    p.priority = --lowest;
  worker.scheduler.resume(launch, p);
}

/// Lets one program go on, or starts one; false when none can.
bool RandomSchedule::runSome(LaunchState &launch) {
  const Turns &turns = *worker.job.turns;
  // Pauses end early when nobody else can go on.
  const uint64_t work =
      turns.fruitless() < uint64_t(worker.job.worldSize) ? turns.work() : ~uint64_t(0);
  ready.clear();
  polling.clear();
  for (Program *p : worker.scheduler.alive()) {
    if (p->state == ProgramState::Polling)
      polling.push_back(p);
    else if (p->state == ProgramState::Blocked ? launch.isReady(*p) : p->sitsOut <= work)
      ready.push_back(p);
  }
  const bool canStart = launch.unstarted.load(std::memory_order_relaxed) != 0;
  const uint64_t choices = ready.size() + (canStart ? 1 : 0);
  if (choices) {
    // Spin loops are asked now and then, whatever else there is.
    uint64_t choice = next() % (choices + polling.size());
    if (choice >= choices)
      worker.scheduler.resume(launch, *polling[choice - choices]);
    else if (manner.priorities)
      runByPriority(launch, canStart);
    else if (choice < ready.size())
      worker.scheduler.resume(launch, *ready[choice]);
    else
      worker.scheduler.startNext(launch, 0);
    return true;
  }
  // Only spin loops are left: all of them look once, up to the first that goes
  // on.
  while (!polling.empty()) {
    size_t at = next() % polling.size();
    std::swap(polling[at], polling.back());
    Program *p = polling.back();
    polling.pop_back();
    if (worker.scheduler.resume(launch, *p) || launch.stopping())
      return true;
  }
  return false;
}

/// One turn; false when there was nothing to do in it.
bool RandomSchedule::step(LaunchState &launch) {
  // What is under way comes when nobody can go on without it, mostly before
  // somebody's pause ends.
  Router &transport = *worker.job.transport;
  const bool stuck = worker.job.turns->fruitless() >= uint64_t(worker.job.worldSize);
  if (stuck ? next() % 4 && transport.deliver(next()) : deliverLazily())
    return true;
  if (runSome(launch)) {
    worker.scheduler.retireDone();
    return true;
  }
  return stuck && transport.deliver(next());
}

void RandomSchedule::run(LaunchState &launch) {
  seed(launch);
  worker.scheduler.begin();
  const std::vector<Program *> &live = worker.scheduler.alive();
  Turns &turns = *worker.job.turns;
  drawManner();
  // Nobody has a turn, and phases change in turns only, until this rank enters.
  uint64_t phase = turns.phase();
  turns.enter();
  lowest = -int64_t(launch.total);
  bool ended = false;
  while (!launch.stopping()) {
    if (!turns.take()) {
      worker.scheduler.lookAround(launch);
      continue;
    }
    if (uint64_t now = turns.phase(); now != phase) {
      phase = now;
      drawManner();
    }
    if (ended) {
      // The launch returns now, unless the turn goes to what is still pending.
      if (!deliverLazily())
        break;
      turns.pass(true);
      continue;
    }
    if (step(launch)) {
      worker.pulse.set(WorkerState::Running);
      worker.pulse.beat();
      ended = live.empty() && launch.unstarted.load(std::memory_order_relaxed) == 0;
      if (ended) {
        if (!turns.hostsGiveWay())
          break;
        turns.sitOut(hostPause(next()));
      }
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
  turns.leave();
}

} // namespace nereid::runtime
