// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LaunchState.h - One launch on one rank -----------------------------===//
#ifndef NEREID_RUNTIME_DEVICE_CPU_LAUNCHSTATE_H
#define NEREID_RUNTIME_DEVICE_CPU_LAUNCHSTATE_H

#include "device/cpu/Program.h"
#include "device/cpu/Teams.h"
#include "nereid/runtime/Device.h"
#include "nereid/runtime/KernelCode.h"
#include "symmetric/JobImpl.h"

#include <array>
#include <memory>
#include <mutex>
#include <span>
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
  const CPUKernel &kernel;
  uint64_t total; ///< programs times vector cores
  nrd_program prototype{};
  uint64_t number = 0; ///< of the rank's launches
  /// Who watches it (Events.h); null = nobody.
  Observer *const observer;
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
  std::span<Share> shares;
  /// Random schedules: the order in which programs start.
  std::vector<uint32_t> order;
  /// Blocking launches: what has become of each program.
  enum Fate : uint8_t { Unstarted, Started, Finished, Left };
  std::span<uint8_t> fate;

  uint32_t kernelHash = 0;
  LaunchTeam world; ///< all ranks: barrier_all
  LaunchTeams teams{world};
  /// Launches with several vector cores per program: one for each program.
  std::unique_ptr<LaneBox[]> lanes;

  std::mutex lock; ///< guards what follows
  std::optional<FailureDetail> error;
  struct Waiting {
    uint64_t linear;
    ProgramState state;
    uint32_t site;
    const char *name;
    WaitCondition condition;
    /// What it waits for has come, but it has not had the core since.
    bool over = false;
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
  /// Makes the launch fail as interrupted when the user wants to stop.
  void checkInterrupt();
  /// The launch fails since programs that have ended are missing at a barrier;
  /// `ended` is the one that made it certain, if any.
  void reportMissing(const Program *ended);
  /// Whether the condition of a blocked program holds.
  static bool isReady(Program &program) {
    WaitCondition &c = program.condition;
    if (c.kind == WaitCondition::Signal)
      return c.signal.holds();
    return c.kind == WaitCondition::Barrier ? c.team->isComplete(c.generation)
                                            : transferReady(*program.transport, c);
  }
  SourceSite site(uint32_t index) const;
  /// When all workers have left it: whether something went wrong, and what.
  bool failed() const { return error || (fibers ? finished.load() != total : stop.load()); }
  std::unique_ptr<LaunchFailure> failure() const;
  /// What the programs of this rank were doing when the launch stopped.
  std::vector<BlockedGroup> groups() const;
  std::array<int32_t, 3> programId(uint64_t linear) const;
  /// Sets the fields of `abi` that differ between programs.
  void fillPosition(nrd_program &abi, uint64_t linear) const;

private:
  // What `shares` and `fate` are views of: few need no allocation.
  std::array<Share, 4> fewShares;
  std::vector<Share> manyShares;
  std::array<uint8_t, 64> fewFates;
  std::vector<uint8_t> manyFates;
};

/// When a thread asks next whether the user wants to stop.
class InterruptPoll {
public:
  void restart() { next.store(0, std::memory_order_relaxed); }
  /// Asks if it is time to.
  void look(LaunchState &launch, uint64_t now) {
    if (now < nextLook())
      return;
    next.store(now + kEveryNs, std::memory_order_relaxed);
    launch.checkInterrupt();
  }
  uint64_t nextLook() const { return next.load(std::memory_order_relaxed); }

  static constexpr uint64_t kEveryNs = 30000000;

private:
  std::atomic<uint64_t> next{0};
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_LAUNCHSTATE_H
