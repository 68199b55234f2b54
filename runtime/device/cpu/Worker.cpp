// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Worker.cpp - The scheduler of one thread ---------------------------===//
//
// A blocking launch on one worker:
//
//      start one more program   <---- nobody can go on, some are not started
//              |
//              v
//   +--> look at every live program's condition --- nobody --> Backoff::step,
//   |          | holds                                         JobWatch::tick
//   |          v
//   |    switch to it; it runs until it waits, polls or ends
//   +----------+
//
// Conditions are looked at from here, without switching to the program. New
// programs start only when all live ones wait: so a launch whose programs
// never wait for each other uses one stack and one warm scratch arena, and one
// whose programs do ends up with all of them alive.
//
//===----------------------------------------------------------------------===//
#include "device/cpu/Worker.h"

#include "base/Sanitizer.h"
#include "device/cpu/Faults.h"
#include "device/cpu/WorkerPool.h"
#include "symmetric/JobWatch.h"

#include <algorithm>
#include <csignal>
#include <sys/syscall.h>
#include <unistd.h>

namespace nereid::runtime {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

/// About 20 us: a round of a spin loop that takes this long was more than a
/// look at memory.
static constexpr uint64_t kLongRunTicks = 50000;
static constexpr uint64_t kInterruptEveryNs = 30000000;
/// How long a worker whose programs all wait leaves another worker's unstarted
/// programs alone.
static constexpr uint64_t kStealAfterNs = 2000000;
/// Looks at a condition before its program gives way. Long enough for an answer
/// from another core, short against what the watch over the job takes as work.
static constexpr int kSpinsBeforeYield = 200;
/// How long (ticks near a nanosecond) a program may poll before it gives way:
/// long while it has the core to itself or nothing tells that the kernel's loops
/// wait for others. Among others a part of the time that it has polled already:
/// what waits for a moment learns of it soon, what computes goes on.
static constexpr uint64_t kLongPollTicks = 12000, kShortPollTicks = 800;
static constexpr uint64_t kPollShare = 16;
/// Pause between starts while all others poll. Some of them may compute: the
/// more are alive, the less their stacks and tiles fit into the caches.
static constexpr uint64_t kStartPauseNs = 2000, kMaxStartPauseNs = 20000;
/// Programs (with stack and scratch) that a worker keeps between launches.
static constexpr size_t kKeepPrograms = 512;

Worker::Worker(Job::Impl &job, uint32_t index)
    : job(job), slot(job.slot().workers[index]), index(index) {
  plain.worker = this;
  plain.transport = job.transport.get();
}

Worker::~Worker() = default;

static int32_t currentThread() {
  static thread_local int32_t id = int32_t(syscall(SYS_gettid));
  return id;
}

void Worker::run(LaunchState &launch) {
  random = job.settings.seed * 0x9e3779b97f4a7c15u + uint64_t(job.rank) * 0xd1b54a32d192ed03u +
           (uint64_t(index) << 20) + launch.number + 1;
  if (random == 0)
    random = 1;
  for (int i = 0; i < 4; ++i)
    nextRandom();
  nextInterrupt.store(0, std::memory_order_relaxed);
  threadId = pthread_self();
  preemption.store(0, std::memory_order_relaxed);
  inRun.store(true, std::memory_order_release);
  if (launch.fibers)
    slot.thread.store(currentThread(), std::memory_order_relaxed);
  setState(WorkerState::Running);
  bumpProgress();
  FaultScope faults(*this);
  if (launch.random)
    runRandom(launch);
  else if (launch.fibers)
    runFibers(launch);
  else
    runPlain(launch);
  inRun.store(false, std::memory_order_release);
  setState(WorkerState::None);
}

void Worker::preempt(PreemptRequest request) {
  if (!inRun.load(std::memory_order_acquire))
    return;
  preemption.store(uint32_t(request), std::memory_order_release);
  pthread_kill(threadId, preemptSignal());
}

//===----------------------------------------------------------------------===//
// Launches without fibers
//===----------------------------------------------------------------------===//

void Worker::runPlain(LaunchState &launch) {
  Program &p = plain;
  p.launch = &launch;
  p.fiber = false;
  if (!p.reserveScratch(launch.spec.scratchBytes)) {
    FailureDetail detail;
    detail.code = StatusCode::OutOfMemory;
    detail.message =
        "no memory for " + std::to_string(launch.spec.scratchBytes) + " bytes of tile buffers";
    launch.fail(std::move(detail));
    return;
  }
  p.abi = launch.prototype;
  p.abi.scratch = p.scratch;
  p.abi.runtime = &p;
  if (_setjmp(plainExit) != 0) {
    running = nullptr;
    return; // a program failed; the launch is over
  }

  const nrd_kernel_fn kernel = launch.spec.kernel;
  const uint64_t *args = launch.spec.args;
  const uint64_t total = launch.total;
  const uint64_t workers = WorkerPool::of(job).size();
  uint64_t begun = index == 0 ? nowNs() : 0;
  bool invited = index != 0 || workers == 1;
  for (;;) {
    if (launch.stop.load(std::memory_order_relaxed))
      return;
    uint64_t seen = launch.next.load(std::memory_order_relaxed);
    if (seen >= total)
      return;
    // Large pieces first, single programs at the end.
    uint64_t chunk = invited ? std::clamp<uint64_t>((total - seen) / (4 * workers), 1, 256) : 1;
    uint64_t begin = launch.next.fetch_add(chunk, std::memory_order_relaxed);
    uint64_t end = std::min(begin + chunk, total);
    running = &p;
    for (uint64_t i = begin; i < end; ++i) {
      p.linear = i;
      p.site = ~0u;
      launch.fillPosition(p.abi, i);
      bumpProgress();
      kernel(&p.abi, args);
    }
    running = nullptr;
    if (index == 0) {
      uint64_t now = nowNs();
      // Waking a thread costs more than a short launch takes.
      if (!invited && end < total && now - begun > 5000) {
        WorkerPool::of(job).invite();
        invited = true;
      }
      if (now - begun > kInterruptEveryNs && now >= nextInterrupt.load(std::memory_order_relaxed)) {
        nextInterrupt.store(now + kInterruptEveryNs, std::memory_order_relaxed);
        if (interruptRequested()) {
          FailureDetail detail;
          detail.code = StatusCode::Interrupted;
          detail.message = "interrupted";
          launch.fail(std::move(detail));
        }
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Switching
//===----------------------------------------------------------------------===//

void Worker::enterFiber(Program &program) {
#if defined(NEREID_ASAN)
  __sanitizer_start_switch_fiber(&fakeStack, program.stackBase, program.stackBytes);
#endif
#if defined(NEREID_TSAN)
  __tsan_switch_to_fiber(program.sanitizerFiber, 0);
#endif
  running = &program;
  transfer_t from = jump_fcontext(program.context, &program);
  running = nullptr;
  program.context = from.fctx;
#if defined(NEREID_ASAN)
  __sanitizer_finish_switch_fiber(fakeStack, nullptr, nullptr);
#endif
}

void Worker::exitFiber(Program &program, bool forGood) {
#if defined(NEREID_ASAN)
  __sanitizer_start_switch_fiber(forGood ? nullptr : &program.fakeStack, threadStack,
                                 threadStackBytes);
#endif
#if defined(NEREID_TSAN)
  __tsan_switch_to_fiber(sanitizerThread, 0);
#endif
  transfer_t from = jump_fcontext(scheduler, nullptr);
  scheduler = from.fctx;
#if defined(NEREID_ASAN)
  __sanitizer_finish_switch_fiber(program.fakeStack, &threadStack, &threadStackBytes);
#endif
}

void Worker::fiberMain(transfer_t from) {
  Program &program = *static_cast<Program *>(from.data);
  Worker &worker = *program.worker;
  worker.scheduler = from.fctx;
#if defined(NEREID_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, &worker.threadStack, &worker.threadStackBytes);
#endif
  program.launch->spec.kernel(&program.abi, program.launch->spec.args);
  program.state = ProgramState::Done;
  program.failed = false;
  worker.exitFiber(program, true);
  __builtin_unreachable();
}

void Worker::yieldFrom(Program &program, ProgramState state) {
  program.state = state;
  exitFiber(program, false);
  if (cancelling)
    leave(program);
}

void Worker::poll(Program &program, bool first) {
  LaunchState &launch = *program.launch;
  uint64_t now = cheapTicks();
  if (first) {
    // It has come out of the loop before: that is progress, which nothing else
    // tells of when all its signals are ordinary stores.
    program.pollsSince = now;
    bumpProgress();
  }
  if (!launch.random) {
    const bool alone =
        job.maySpin && live.size() == 1 && launch.unstarted.load(std::memory_order_relaxed) == 0;
    const bool patient = alone || !launch.spins.load(std::memory_order_relaxed);
    uint64_t limit = kLongPollTicks;
    if (!patient)
      limit = std::max(kShortPollTicks, std::min((now - program.pollsSince) / kPollShare,
                                                 kLongPollTicks / live.size()));
    if (now - program.resumedAt < limit && !launch.stopping())
      return;
    if (!alone && patient)
      launch.spins.store(true, std::memory_order_relaxed);
  }
  yieldFrom(program, ProgramState::Polling);
}

void Worker::leave(Program &program) {
  if (!program.fiber)
    _longjmp(plainExit, 1);
  program.state = ProgramState::Done;
  program.failed = true;
  exitFiber(program, true);
  __builtin_unreachable();
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

Program *Worker::obtain(LaunchState &launch) {
  Program *p;
  if (!freePrograms.empty()) {
    p = freePrograms.back();
    freePrograms.pop_back();
  } else {
    programs.push_back(std::make_unique<Program>());
    p = programs.back().get();
  }
  p->launch = &launch;
  p->worker = this;
  p->transport = job.transport.get();
  p->fiber = true;
  if (p->reserveStack(job.settings.stackBytes) && p->reserveScratch(launch.spec.scratchBytes))
    return p;
  freePrograms.push_back(p);
  FailureDetail detail;
  detail.code = StatusCode::OutOfMemory;
  detail.message = "no memory for one more program: all " + std::to_string(launch.total) +
                   " programs of a kernel that waits must be alive at once, "
                   "each with a stack of " +
                   sizeText(job.settings.stackBytes) + " and " +
                   sizeText(launch.spec.scratchBytes) + " of tile buffers; launch a smaller grid";
  launch.fail(std::move(detail));
  return nullptr;
}

bool Worker::startNext(LaunchState &launch, Share &share, uint64_t shareIndex) {
  uint64_t k;
  if (!take(share, k))
    return false;
  uint64_t at = shareIndex + k * launch.shares.size();
  if (!launch.order.empty())
    at = launch.order[at];
  Program *p = obtain(launch);
  if (!p)
    return true;
  p->linear = at;
  p->site = ~0u;
  p->pollsSince = cheapTicks();
  p->waitName = "";
  p->shares = 0;
  p->abi = launch.prototype;
  p->abi.scratch = p->scratch;
  p->abi.runtime = p;
  launch.fillPosition(p->abi, at);
  p->context = make_fcontext(p->stackBase + p->stackBytes, p->stackBytes, &Worker::fiberMain);
#if defined(NEREID_TSAN)
  p->sanitizerFiber = __tsan_create_fiber(0);
#endif
  p->state = ProgramState::Ready;
  launch.fate[at] = LaunchState::Started;
  live.push_back(p);
  // Before the count drops, so that a look at the job never sees this worker
  // idle and nothing left to start.
  setState(WorkerState::Running);
  bumpProgress();
  launch.unstarted.fetch_sub(1, std::memory_order_release);
  resume(launch, *p);
  return true;
}

bool Worker::startOwn(LaunchState &launch) {
  if (index >= launch.shares.size())
    return false;
  // A few at a time, so that many waiting programs are not looked at again
  // after every single start.
  uint64_t batch = 1 + live.size() / 8;
  bool any = false;
  while (batch-- > 0 && !launch.stopping() && startNext(launch, launch.shares[index], index))
    any = true;
  return any;
}

bool Worker::startBesidePollers(LaunchState &launch) {
  if (launch.unstarted.load(std::memory_order_acquire) == 0)
    return false;
  uint64_t now = nowNs();
  uint64_t pause = std::min(kStartPauseNs * (1 + live.size() / 16), kMaxStartPauseNs);
  if (now - lastStart < pause)
    return false;
  bool own = index < launch.shares.size() && startNext(launch, launch.shares[index], index);
  if (!own && (now - lastStart < kStealAfterNs || !steal(launch)))
    return false;
  lastStart = nowNs();
  return true;
}

bool Worker::steal(LaunchState &launch) {
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
  return most && startNext(launch, launch.shares[best], best);
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

bool Worker::isReady(LaunchState &launch, Program &program) {
  WaitCondition &c = program.condition;
  if (c.kind == WaitCondition::TeamBarrier)
    return c.team->isComplete(c.generation);
  if (c.kind != WaitCondition::Barrier)
    return conditionHolds(c);
  if (launch.barrierGeneration.load(std::memory_order_acquire) != c.generation)
    return true;
  uint64_t target = launch.barrierTarget.load(std::memory_order_acquire);
  if (target == 0 || job.header().deviceEpoch.value.load(std::memory_order_acquire) < target)
    return false;
  // All ranks have come. The first to see it lets this rank's programs go.
  launch.barrierTarget.compare_exchange_strong(target, 0, std::memory_order_acq_rel);
  uint64_t generation = c.generation;
  launch.barrierGeneration.compare_exchange_strong(generation, generation + 1,
                                                   std::memory_order_acq_rel);
  return true;
}

bool Worker::spinFor(Program &program) {
  LaunchState &launch = *program.launch;
  if (!job.maySpin || launch.random || live.size() > 1 ||
      launch.unstarted.load(std::memory_order_relaxed) != 0)
    return false;
  for (int i = 0; i < kSpinsBeforeYield; ++i) {
    cpuPause();
    if (isReady(launch, program))
      return true;
    if (launch.stopping())
      return false;
  }
  return false;
}

bool Worker::resume(LaunchState &launch, Program &program) {
  const bool polled = program.state == ProgramState::Polling;
  const uint64_t activityBefore = activity;
  if (!polled) {
    setState(WorkerState::Running);
    bumpProgress();
  }
  program.resumedAt = cheapTicks();
  enterFiber(program);
  if (program.state == ProgramState::Done) {
#if defined(NEREID_TSAN)
    __tsan_destroy_fiber(program.sanitizerFiber);
    program.sanitizerFiber = nullptr;
#endif
#if defined(NEREID_ASAN)
    ASAN_UNPOISON_MEMORY_REGION(program.stackBase, program.stackBytes);
#endif
    launch.fate[program.linear] = program.failed ? LaunchState::Left : LaunchState::Finished;
    if (!program.failed) {
      launch.finished.fetch_add(1, std::memory_order_seq_cst);
      if (launch.barrierArrived.load(std::memory_order_seq_cst) > 0)
        reportMissing(launch, &program);
      else if (launch.teams.waiting.load(std::memory_order_seq_cst) > 0)
        reportMissingAtTeam(launch, &program);
    }
    return true;
  }
  if (!polled || program.state != ProgramState::Polling || activity != activityBefore)
    return true;
  // A spin loop came around once more. When that took long, it did something
  // else in between.
  uint64_t now = cheapTicks();
  longPoll = longPoll || now - program.resumedAt > kLongRunTicks;
  pollTicks = std::min(pollTicks, now - program.pollsSince);
  return false;
}

void Worker::retireDone() {
  size_t kept = 0;
  for (Program *p : live) {
    if (p->state == ProgramState::Done)
      freePrograms.push_back(p);
    else
      live[kept++] = p;
  }
  live.resize(kept);
}

void Worker::runFibers(LaunchState &launch) {
#if defined(NEREID_TSAN)
  sanitizerThread = __tsan_get_current_fiber();
#endif
  cancelling = false;
  Backoff backoff(job.maySpin);
  while (!launch.stopping()) {
    bool progressed = false, done = false, polling = false;
    longPoll = false;
    pollTicks = ~uint64_t(0);
    for (size_t i = 0, n = live.size(); i < n; ++i) {
      Program &p = *live[i];
      if (p.state == ProgramState::Blocked && !isReady(launch, p))
        continue;
      if (resume(launch, p))
        progressed = true;
      done = done || p.state == ProgramState::Done;
      polling = polling || p.state == ProgramState::Polling;
      if (launch.stop.load(std::memory_order_relaxed))
        break;
    }
    if (done)
      retireDone();
    if (polling && !launch.stopping() && startBesidePollers(launch)) {
      retireDone();
      progressed = true;
    }
    // One long round may be the system running somebody else meanwhile; three
    // in a row are work between polls.
    longPasses = longPoll ? longPasses + 1 : 0;
    if (progressed || longPasses >= 3) {
      setState(WorkerState::Running);
      bumpProgress();
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
  if (!live.empty()) {
    recordWaiting(launch);
    cancelAll(launch);
  }
  dropSpare();
}

void Worker::dropSpare() {
  if (programs.size() > kKeepPrograms) {
    programs.resize(kKeepPrograms);
    freePrograms.clear();
    for (const std::unique_ptr<Program> &p : programs)
      freePrograms.push_back(p.get());
  }
}

void Worker::waitStep(LaunchState &launch, Backoff &backoff) {
  bool polling = false;
  for (Program *p : live)
    polling = polling || p->state == ProgramState::Polling;
  if (polling)
    setState(WorkerState::Polling);
  else if (launch.unstarted.load(std::memory_order_acquire) == 0)
    setState(WorkerState::Blocked);
  slot.idlePasses.store(slot.idlePasses.load(std::memory_order_relaxed) + 1,
                        std::memory_order_release);
  if (backoff.isSlow()) {
    lookAround(launch);
    if (launch.stopping())
      return;
  }
  polling ? backoff.pollStep(pollTicks / kPollShare) : backoff.step();
}

void Worker::lookAround(LaunchState &launch) {
  current = &launch;
  job.watch->tick(*this, job.settings.timeoutSeconds);
  // Worker 0 is the thread of the host program, the one that may see Ctrl-C.
  if (index != 0)
    return;
  uint64_t now = nowNs();
  if (now < nextInterrupt.load(std::memory_order_relaxed))
    return;
  nextInterrupt.store(now + kInterruptEveryNs, std::memory_order_relaxed);
  if (interruptRequested()) {
    FailureDetail detail;
    detail.code = StatusCode::Interrupted;
    detail.message = "interrupted";
    launch.fail(std::move(detail));
  }
}

std::string Worker::what() const { return current->waitText; }

bool Worker::isOver() {
  for (Program *p : live)
    if (p->state == ProgramState::Blocked && isReady(*current, *p))
      return true;
  return false;
}

bool Worker::needs(int32_t rank) { return current->needs(rank); }

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

void Worker::recordWaiting(LaunchState &launch) {
  std::lock_guard<std::mutex> guard(launch.lock);
  for (Program *p : live)
    if (p->state != ProgramState::Done)
      launch.waiting.push_back({p->linear, p->state, p->site, p->waitName, p->condition});
}

void Worker::cancelAll(LaunchState &launch) {
  // Each program leaves on its own stack, so that nobody, sanitizers included,
  // believes that it is still there.
  cancelling = true;
  for (Program *p : live)
    if (p->state != ProgramState::Done)
      resume(launch, *p);
  retireDone();
  cancelling = false;
}

void Worker::reportMissing(LaunchState &launch, const Program *ended) {
  FailureDetail detail;
  detail.code = StatusCode::BarrierMismatch;
  uint64_t arrived = launch.barrierArrived.load();
  detail.message =
      (ended ? std::string("this program has ended without reaching")
             : std::to_string(launch.finished.load()) + " of " + std::to_string(launch.total) +
                   " programs have ended without reaching") +
      " the barrier that " + std::to_string(arrived) + " of " + std::to_string(launch.total) +
      " programs wait at; all programs must reach it, or none";
  if (ended) {
    detail.program = launch.programId(ended->linear);
    detail.site = launch.site(ended->site);
  }
  launch.fail(std::move(detail));
}

} // namespace nereid::runtime
