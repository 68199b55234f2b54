// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Worker.h - Runs programs on one thread -----------------------------===//
#ifndef NEREID_RUNTIME_DEVICE_CPU_WORKER_H
#define NEREID_RUNTIME_DEVICE_CPU_WORKER_H

#include "base/Backoff.h"
#include "device/cpu/Faults.h"
#include "device/cpu/Program.h"
#include "device/cpu/Teams.h"
#include "nereid/runtime/Launch.h"
#include "symmetric/JobWatch.h"

#include <csetjmp>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <vector>

namespace nereid::runtime {

/// The programs that one worker starts first: every `stride`-th from `first`
/// on. Other workers take from it when they have nothing left.
struct alignas(64) Share {
  std::atomic<uint64_t> taken{0};
  uint64_t count = 0;
};

/// One launch on one rank, shared by its workers.
struct LaunchState {
  LaunchState(Job::Impl &job, const LaunchSpec &spec);

  Job::Impl &job;
  const LaunchSpec &spec;
  uint64_t total; ///< programs times vector cores
  nrd_program prototype{};
  uint64_t number = 0; ///< of the rank's launches
  /// Its order comes from a seed; see RandomSchedule.cpp.
  bool random = false;
  /// Programs are fibers, since they wait or the schedule is random.
  bool fibers = false;

  /// Some program failed, or the job did: leave as soon as possible.
  std::atomic<bool> stop{false};
  alignas(64) std::atomic<uint64_t> next{0}; ///< plain launches: next program
  alignas(64) std::atomic<uint64_t> finished{0};
  std::atomic<uint64_t> unstarted{0};
  /// Some program has spun for long: its loops wait for others.
  std::atomic<bool> spins{false};
  std::vector<Share> shares;
  /// Random schedules: the order in which programs start.
  std::vector<uint32_t> order;
  /// Blocking launches: what has become of each program.
  enum Fate : uint8_t { Unstarted, Started, Finished, Left };
  std::vector<uint8_t> fate;

  // In-kernel barrier: programs of this rank, then ranks.
  alignas(64) std::atomic<uint64_t> barrierArrived{0};
  std::atomic<uint64_t> barrierGeneration{0};
  /// Epoch of the job's barrier that this rank waits for; 0 = none.
  std::atomic<uint64_t> barrierTarget{0};
  uint64_t barrierIndex = 0; ///< only touched by the last program to arrive
  uint32_t kernelHash = 0;
  std::string waitText; ///< "kernel 'name'"
  LaunchTeams teams;
  /// Launches with several vector cores per program: one for each program.
  std::unique_ptr<LaneBox[]> lanes;

  std::mutex lock; ///< guards what follows
  bool hasError = false;
  FailureDetail error;
  struct Waiting {
    uint64_t linear;
    ProgramState state;
    uint32_t site;
    const char *name;
    WaitCondition condition;
  };
  /// Programs that had not ended when the launch stopped.
  std::vector<Waiting> waiting;

  bool stopping() const { return stop.load(std::memory_order_relaxed) || job.jobFailed(); }
  /// Adds a program that was left while it computed, at `site`.
  void noteRunning(const Program &program, uint32_t site);
  /// Programs of this rank wait at a barrier, of the job or of a team, to which
  /// `rank` has yet to come.
  bool needs(int32_t rank);
  /// Takes the first error, tells the job, stops the launch.
  void fail(FailureDetail detail);
  SourceSite site(uint32_t index) const;
  /// What the programs of this rank were doing when the launch stopped.
  std::vector<BlockedGroup> groups() const;
  std::array<int32_t, 3> programId(uint64_t linear) const;
  /// Sets the fields of `abi` that differ between programs.
  void fillPosition(nrd_program &abi, uint64_t linear) const;
};

/// Why a signal handler made a program leave its code.
enum class Landing : uint8_t { Fault, Interrupt, Stop };

class Worker : private Awaited {
public:
  Worker(Job::Impl &job, uint32_t index);
  ~Worker() override;

  /// Runs programs of `launch` until there is nothing left for this worker.
  void run(LaunchState &launch);

  //===--- called by the entry points, on the program's stack -------------===//

  /// Looks at what the blocked `program` waits for, without giving way, for a
  /// few microseconds: only where no other program and no other thread could
  /// use the core meanwhile. True when it has come.
  bool spinFor(Program &program);
  /// The program came around in a loop that may wait for others. Gives way
  /// unless that would be too soon: loops that end by themselves and read memory
  /// look the same and should not pay for it.
  void poll(Program &program, bool first);
  /// Gives way to the scheduler; comes back when the program is to go on.
  /// Leaves the program when the launch stops meanwhile.
  void yieldFrom(Program &program, ProgramState state);
  /// Ends the program here and now.
  [[noreturn]] void leave(Program &program);
  /// Random schedules: sometimes gives way.
  void maybeYield(Program &program) {
    if (program.launch->random && program.fiber && nextRandom() % yieldEvery == 0)
      yieldFrom(program, ProgramState::Ready);
  }
  uint64_t nextRandom() {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return random >> 3;
  }

  /// The running program did something for others: a signal, a transfer, an
  /// atomic that changes a word. What only reads is none: it may be a poll. Seen
  /// at once by those who watch the job, since the program may not give way for
  /// long.
  void noteActivity() {
    ++activity;
    bumpProgress();
  }

  /// The launch fails since programs that have ended are missing at a barrier;
  /// `ended` is the one that made it certain, if any.
  void reportMissing(LaunchState &launch, const Program *ended);

  Job::Impl &job;
  WorkerSlot &slot;
  const uint32_t index;

  // For the signal handlers (Faults.cpp), which run on this worker's thread.
  Program *volatile running = nullptr; ///< whose code this thread executes
  volatile bool reporting = false;     ///< the runtime allocates memory for a report
  Landing landing = Landing::Fault;
  uint32_t landingSite = ~0u;
  int faultSignal = 0;
  uintptr_t faultAddress = 0;
  bool faultAddressKnown = true;

  /// Sends the worker's thread the signal that makes its program leave its own
  /// code or ask for interrupts. Does nothing when it runs none. The thread must
  /// be alive.
  void preempt(PreemptRequest request);
  PreemptRequest takePreemption() {
    return PreemptRequest(preemption.exchange(0, std::memory_order_acq_rel));
  }
  /// When the worker asks next whether the user wants to stop.
  std::atomic<uint64_t> nextInterrupt{0};

private:
  void runPlain(LaunchState &launch);
  void runFibers(LaunchState &launch);
  // Random schedules (RandomSchedule.cpp).
  void runRandom(LaunchState &launch);
  bool randomStep(LaunchState &launch, uint64_t laziness);
  /// Looks at the state of the job and whether the user wants to stop; for waits
  /// that take long.
  void lookAround(LaunchState &launch);
  // What the live programs wait for, all of them in vain.
  std::string what() const override;
  bool isOver() override;
  bool needs(int32_t rank) override;
  /// Gives back programs that are more than a worker keeps between launches.
  void dropSpare();
  bool startNext(LaunchState &launch, Share &share, uint64_t shareIndex);
  bool startOwn(LaunchState &launch);
  /// While programs poll: starts another one now and then.
  bool startBesidePollers(LaunchState &launch);
  bool steal(LaunchState &launch);
  /// Switches to the program until it gives way. True when that was progress.
  bool resume(LaunchState &launch, Program &program);
  /// Whether the condition of a blocked program holds.
  bool isReady(LaunchState &launch, Program &program);
  void retireDone();
  void recordWaiting(LaunchState &launch);
  void cancelAll(LaunchState &launch);
  void waitStep(LaunchState &launch, Backoff &backoff);
  Program *obtain(LaunchState &launch);
  void bumpProgress() {
    slot.progress.store(slot.progress.load(std::memory_order_relaxed) + 1,
                        std::memory_order_release);
  }
  void setState(WorkerState state) { slot.state.store(uint32_t(state), std::memory_order_release); }

  static void fiberMain(boost::context::detail::transfer_t from);
  void enterFiber(Program &program);
  void exitFiber(Program &program, bool forGood);

  LaunchState *current = nullptr; ///< of lookAround()
  std::vector<Program *> live;
  std::vector<std::unique_ptr<Program>> programs; ///< owns all, live or free
  std::vector<Program *> freePrograms;
  std::vector<Program *> ready, polling; ///< of one random step
  Program plain;                         ///< for launches without fibers
  std::jmp_buf plainExit;
  boost::context::detail::fcontext_t scheduler = nullptr;
  [[maybe_unused]] void *sanitizerThread = nullptr;
  [[maybe_unused]] void *fakeStack = nullptr;
  [[maybe_unused]] const void *threadStack = nullptr;
  [[maybe_unused]] size_t threadStackBytes = 0;
  uint64_t random = 1;
  uint64_t yieldEvery = 4;             ///< random schedules: calls between two yields
  uint64_t activity = 0;               ///< how often programs did something for others
  bool cancelling = false;             ///< programs that come back must leave
  uint64_t pollTicks = 0;              ///< the shortest of the waits of those that poll
  bool longPoll = false;               ///< a spin loop did more than spin, or the thread
                                       ///< was interrupted
  uint32_t longPasses = 0;             ///< passes in a row with a long poll
  uint64_t lastStart = 0;              ///< when a program was started beside pollers, ns
  std::atomic<uint32_t> preemption{0}; ///< a PreemptRequest
  std::atomic<bool> inRun{false};
  pthread_t threadId{};
};

/// Which barrier a rank stands at, for RankSlot::barrierId.
inline uint64_t packBarrierId(uint32_t kernelHash, uint64_t index) {
  return uint64_t(kernelHash) << 32 | uint32_t(index);
}

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_WORKER_H
