// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FiberScheduler.cpp - What a worker does with its programs ----------===//
//
// run() makes passes over the live programs. What it does behind a pass, from
// the cheapest to the dearest:
//
//   1. some program went on, or the polls took so long that they were work: next pass
//   2. nobody polls: start programs of the own share, some at a time
//   3. nothing is live: take a program that another worker has not started, or end
//   4. all have waited for kStealAfterNs: take one nevertheless
//   5. wait a little (Backoff), and look around: failures, deadlock, Ctrl-C
//
// Programs that poll in loops of their own change the order: they may wait for
// a program that has not started, so others start beside them, but one by one
// (startBesidePollers), as they may also just compute.
//
// What others see of this worker is its Pulse. It says Running whenever a
// program may make progress, so it is set and beaten *before* the count goes
// down by which others would think that all have started (`unstarted`), and it
// says Blocked only when all have started and every condition was looked at in
// vain: the search for a deadlock believes it.
//
// A program that must leave, since the launch stops, is entered once more: with
// `cancelling` set, its yieldFrom() does not return to the kernel but goes to
// leave(). A stack that was just dropped would look to sanitizers as if it were
// in use.
//
//===----------------------------------------------------------------------===//
#include "device/cpu/FiberScheduler.h"

#include "device/cpu/Observed.h"
#include "device/cpu/Worker.h"

namespace nereid::runtime {

/// How long a worker whose programs all wait leaves another worker's unstarted
/// programs alone.
static constexpr uint64_t kStealAfterNs = 2000000;
/// Looks at a condition before its program gives way. Long enough for an answer
/// from another core, short against what the watch over the job takes as work.
static constexpr int kSpinsBeforeYield = 200;
/// Programs that are let poll before the next look whether to start another.
static constexpr size_t kPollsBetweenStarts = 16;
/// Programs (with stack and scratch) that a worker keeps between launches.
static constexpr size_t kKeepPrograms = 512;

//===----------------------------------------------------------------------===//
// Giving way
//===----------------------------------------------------------------------===//

void FiberScheduler::programMain(boost::context::detail::transfer_t from) {
  FiberScheduler &self = static_cast<Program *>(from.data)->worker->scheduler;
  Program &program = self.fibers.arrive(from);
  if (!program.observer) [[likely]]
    program.launch->kernel.function(&program.abi, program.launch->spec.args);
  else
    runObserved(program);
  program.state = ProgramState::Done;
  program.failed = false;
  self.fibers.exit(program, true);
  __builtin_unreachable();
}

void FiberScheduler::yieldFrom(Program &program, ProgramState state) {
  program.state = state;
  fibers.exit(program, false);
  if (cancelling)
    leave(program);
}

void FiberScheduler::leave(Program &program) {
  program.state = ProgramState::Done;
  program.failed = true;
  fibers.exit(program, true);
  __builtin_unreachable();
}

// Alone on its worker, with nothing left to start and a core of its own, a program would come back
// to itself from the scheduler: a look at the condition is cheaper than two switches.
bool FiberScheduler::spinFor(Program &program) {
  LaunchState &launch = *program.launch;
  if (!worker.job.maySpin || launch.random || live.size() > 1 ||
      launch.unstarted.load(std::memory_order_relaxed) != 0)
    return false;
  for (int i = 0; i < kSpinsBeforeYield; ++i) {
    cpuPause();
    if (launch.isReady(program))
      return true;
    if (launch.stopping())
      return false;
  }
  return false;
}

void FiberScheduler::poll(Program &program, bool first) {
  LaunchState &launch = *program.launch;
  uint64_t now = cheapTicks();
  if (program.observer) [[unlikely]]
    tellPoll(program, first);
  if (first) {
    // It has come out of the loop before: that is progress, which nothing else
    // tells of when all its signals are ordinary stores.
    program.pollsSince = now;
    worker.pulse.beat();
  }
  if (!launch.random) {
    const bool alone = worker.job.maySpin && live.size() == 1 &&
                       launch.unstarted.load(std::memory_order_relaxed) == 0;
    const bool patient = alone || !launch.spins.load(std::memory_order_relaxed);
    if (PollPolicy::goesOn(now, program.resumedAt, program.pollsSince, live.size(), patient) &&
        !launch.stopping())
      return;
    if (!alone && patient)
      launch.spins.store(true, std::memory_order_relaxed);
  }
  if (program.observer) [[unlikely]]
    tellPolls(program);
  yieldFrom(program, ProgramState::Polling);
}

// A program that polled before and polls again has made progress only if it did something for
// others meanwhile: otherwise a job whose programs all poll in vain would look busy.
bool FiberScheduler::resume(LaunchState &launch, Program &program) {
  Pulse &pulse = worker.pulse;
  const bool polled = program.state == ProgramState::Polling;
  const uint64_t actionsBefore = pulse.actions();
  if (!polled) {
    pulse.set(WorkerState::Running);
    pulse.beat();
  }
  program.resumedAt = cheapTicks();
  worker.landing.running = &program;
  fibers.enter(program);
  worker.landing.running = nullptr;
  if (program.observer) [[unlikely]]
    tellRun(program);
  if (program.state == ProgramState::Done) {
    fibers.retire(program);
    launch.fate[program.linear] = program.failed ? LaunchState::Left : LaunchState::Finished;
    if (!program.failed) {
      launch.finished.fetch_add(1, std::memory_order_seq_cst);
      if (launch.teams.anyArrived())
        launch.reportMissing(&program);
    }
    return true;
  }
  if (!polled || program.state != ProgramState::Polling || pulse.actions() != actionsBefore)
    return true;
  // A spin loop came around once more.
  polls.notePoll(cheapTicks(), program.resumedAt, program.pollsSince);
  return false;
}

//===----------------------------------------------------------------------===//
// Starting programs
//===----------------------------------------------------------------------===//

/// Takes the next of a share; false when it is used up.
static bool take(Share &share, uint64_t &k) {
  k = share.taken.load(std::memory_order_relaxed);
  while (k < share.count)
    if (share.taken.compare_exchange_weak(k, k + 1, std::memory_order_relaxed))
      return true;
  return false;
}

Program *FiberScheduler::obtain(LaunchState &launch) {
  Program *p;
  if (!freePrograms.empty()) {
    p = freePrograms.back();
    freePrograms.pop_back();
  } else {
    programs.push_back(std::make_unique<Program>());
    p = programs.back().get();
  }
  p->launch = &launch;
  p->worker = &worker;
  p->transport = worker.job.transport.get();
  p->observer = launch.observer;
  p->fiber = true;
  if (p->reserveStack(worker.job.settings.stackBytes) &&
      p->reserveScratch(launch.kernel.scratchBytes))
    return p;
  freePrograms.push_back(p);
  FailureDetail detail;
  detail.code = StatusCode::OutOfMemory;
  detail.message = "no memory for one more program: all " + std::to_string(launch.total) +
                   " programs of a kernel that waits must be alive at once, "
                   "each with a stack of " +
                   sizeText(worker.job.settings.stackBytes) + " and " +
                   sizeText(launch.kernel.scratchBytes) + " of tile buffers; launch a smaller grid";
  launch.fail(std::move(detail));
  return nullptr;
}

bool FiberScheduler::startNext(LaunchState &launch, uint64_t shareIndex) {
  uint64_t k;
  if (!take(launch.shares[shareIndex], k))
    return false;
  uint64_t at = shareIndex + k * launch.shares.size();
  if (!launch.order.empty())
    at = launch.order[at];
  Program *p = obtain(launch);
  if (!p)
    return true;
  p->linear = at;
  p->drawn = launch.random;
  p->priority = -int64_t(k);
  p->sitsOut = 0;
  p->site = ~0u;
  p->pollsSince = cheapTicks();
  p->polls = 0;
  p->waitName = "";
  p->shares = 0;
  p->abi = launch.prototype;
  p->abi.scratch = p->scratch;
  p->abi.runtime = p;
  launch.fillPosition(p->abi, at);
  fibers.prepare(*p, &FiberScheduler::programMain);
  p->state = ProgramState::Ready;
  launch.fate[at] = LaunchState::Started;
  live.push_back(p);
  // Before the count drops, so that a look at the job never sees this worker
  // idle and nothing left to start.
  worker.pulse.set(WorkerState::Running);
  worker.pulse.beat();
  launch.unstarted.fetch_sub(1, std::memory_order_release);
  resume(launch, *p);
  return true;
}

bool FiberScheduler::startOwn(LaunchState &launch) {
  if (worker.index >= launch.shares.size())
    return false;
  // A few at a time, so that many waiting programs are not looked at again
  // after every single start.
  uint64_t batch = 1 + live.size() / 8;
  bool any = false;
  while (batch-- > 0 && !launch.stopping() && startNext(launch, worker.index))
    any = true;
  return any;
}

bool FiberScheduler::startBesidePollers(LaunchState &launch) {
  if (launch.unstarted.load(std::memory_order_acquire) == 0)
    return false;
  uint64_t now = nowNs();
  if (!polls.startIsDue(now, live.size()))
    return false;
  bool own = worker.index < launch.shares.size() && startNext(launch, worker.index);
  if (!own && (polls.sinceStart(now) < kStealAfterNs || !steal(launch)))
    return false;
  polls.noteStart(nowNs());
  return true;
}

bool FiberScheduler::steal(LaunchState &launch) {
  if (launch.unstarted.load(std::memory_order_acquire) == 0)
    return false;
  size_t best = launch.shares.size();
  uint64_t most = 0;
  for (size_t i = 0; i < launch.shares.size(); ++i) {
    Share &share = launch.shares[i];
    uint64_t taken = share.taken.load(std::memory_order_relaxed);
    uint64_t left = taken < share.count ? share.count - taken : 0;
    if (left > most) {
      most = left;
      best = i;
    }
  }
  return most && startNext(launch, best);
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

void FiberScheduler::begin() {
  fibers.adoptThread();
  cancelling = false;
}

void FiberScheduler::run(LaunchState &launch) {
  begin();
  Backoff backoff(worker.job.maySpin);
  while (!launch.stopping()) {
    bool progressed = false, done = false, polling = false;
    polls.beginPass();
    for (size_t i = 0, n = live.size(), polled = 0; i < n; ++i) {
      if (cursor >= n)
        cursor = 0;
      Program &p = *live[cursor++];
      if (p.state == ProgramState::Blocked && !launch.isReady(p))
        continue;
      if (resume(launch, p))
        progressed = true;
      done = done || p.state == ProgramState::Done;
      polling = polling || p.state == ProgramState::Polling;
      if (launch.stop.load(std::memory_order_relaxed))
        break;
      // The one that all poll for may not have started: starting it must not
      // take a pass over thousands of others each time. The next pass goes on
      // with those that this one leaves out.
      if (p.state == ProgramState::Polling && ++polled % kPollsBetweenStarts == 0 &&
          startBesidePollers(launch)) {
        progressed = done = true;
        break;
      }
    }
    if (done)
      retireDone();
    if (polling && !launch.stopping() && startBesidePollers(launch)) {
      retireDone();
      progressed = true;
    }
    const bool worked = polls.endPass();
    if (progressed || worked) {
      worker.pulse.set(WorkerState::Running);
      worker.pulse.beat();
      backoff.reset();
      continue;
    }
    if (launch.stopping())
      break;
    if (!polling && startOwn(launch)) {
      retireDone();
      backoff.reset();
      continue;
    }
    if (live.empty()) {
      if (!steal(launch))
        break;
      retireDone();
      continue;
    }
    if (backoff.idleNs() > kStealAfterNs && steal(launch)) {
      retireDone();
      backoff.reset();
      continue;
    }
    waitStep(launch, backoff);
  }
  finish(launch);
}

void FiberScheduler::retireDone() {
  size_t kept = 0, next = cursor;
  for (size_t i = 0; i < live.size(); ++i) {
    if (i == cursor)
      next = kept;
    if (live[i]->state == ProgramState::Done)
      freePrograms.push_back(live[i]);
    else
      live[kept++] = live[i];
  }
  live.resize(kept);
  cursor = next;
}

void FiberScheduler::waitStep(LaunchState &launch, Backoff &backoff) {
  bool polling = false;
  for (Program *p : live)
    polling = polling || p->state == ProgramState::Polling;
  if (polling)
    worker.pulse.set(WorkerState::Polling);
  else if (launch.unstarted.load(std::memory_order_acquire) == 0)
    worker.pulse.set(WorkerState::Blocked);
  worker.pulse.pass();
  if (backoff.isSlow()) {
    lookAround(launch);
    if (launch.stopping())
      return;
  }
  worker.job.transport->help();
  polling ? backoff.pollStep(polls.patience()) : backoff.step();
}

void FiberScheduler::lookAround(LaunchState &launch) {
  current = &launch;
  worker.job.watch->tick(*this, worker.job.settings.timeoutSeconds);
  // Worker 0 is the thread of the host program, the one that may see Ctrl-C.
  if (worker.index == 0)
    worker.interrupts.look(launch, nowNs());
}

bool FiberScheduler::isOver() {
  for (Program *p : live)
    if (p->state == ProgramState::Blocked && current->isReady(*p))
      return true;
  return false;
}

bool FiberScheduler::needs(int32_t rank) {
  for (Program *p : live)
    if (p->state == ProgramState::Blocked && transferNeeds(*p->transport, p->condition, rank))
      return true;
  return current->needs(rank);
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

void FiberScheduler::finish(LaunchState &launch) {
  if (!live.empty()) {
    recordWaiting(launch);
    cancelAll(launch);
  }
  dropSpare(launch);
}

void FiberScheduler::recordWaiting(LaunchState &launch) {
  std::lock_guard<std::mutex> guard(launch.lock);
  for (Program *p : live)
    if (p->state != ProgramState::Done)
      launch.waiting.push_back({p->linear, p->state, p->site, p->waitName, p->condition,
                                p->state == ProgramState::Blocked && launch.isReady(*p)});
}

void FiberScheduler::cancelAll(LaunchState &launch) {
  // Each program leaves on its own stack, so that nobody, sanitizers included,
  // believes that it is still there.
  cancelling = true;
  for (Program *p : live)
    if (p->state != ProgramState::Done)
      resume(launch, *p);
  retireDone();
  cancelling = false;
}

void FiberScheduler::dropSpare(const LaunchState &launch) {
  // After a failure what programs have fetched may still be on its way to them.
  if (programs.size() > kKeepPrograms && !launch.stopping()) {
    programs.resize(kKeepPrograms);
    freePrograms.clear();
    for (const std::unique_ptr<Program> &p : programs)
      freePrograms.push_back(p.get());
  }
}

} // namespace nereid::runtime
