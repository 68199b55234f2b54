// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FiberScheduler.h - Programs that wait, on one thread ---------------===//
//
//      start one more program   <---- nobody can go on, some are not started
//              |
//              v
//   +--> look at every live program's condition --- nobody --> Backoff::step,
//   |          | holds                                         JobWatch::tick
//   |          v                        (start one more beside those that poll)
//   |    switch to it; it runs until it waits, polls or ends
//   +----------+
//
// Conditions are looked at from here, without switching to the program. New
// programs start only when all live ones wait: so a launch whose programs
// never wait for each other uses one stack and one warm scratch arena, and one
// whose programs do ends up with all of them alive.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_DEVICE_CPU_FIBERSCHEDULER_H
#define NEREID_RUNTIME_DEVICE_CPU_FIBERSCHEDULER_H

#include "base/Backoff.h"
#include "device/cpu/Faults.h"
#include "device/cpu/FiberSwitch.h"
#include "device/cpu/LaunchState.h"
#include "device/cpu/PollPolicy.h"
#include "device/cpu/Pulse.h"
#include "symmetric/JobWatch.h"

#include <memory>
#include <vector>

namespace nereid::runtime {

/// The programs of launches with fibers that belong to one worker.
class FiberScheduler : private Awaited {
public:
  explicit FiberScheduler(Worker &worker) : worker(worker) {}

  /// Runs programs of `launch` until there is nothing left for this worker.
  void run(LaunchState &launch);

  //===--- called on the program's stack ----------------------------------===//

  /// As the functions of Worker with these names.
  bool spinFor(Program &program);
  void poll(Program &program, bool first);
  void yieldFrom(Program &program, ProgramState state);
  [[noreturn]] void leave(Program &program);

  //===--- steps, for schedulers ------------------------------------------===//

  void begin();
  /// Starts the next program of share `shareIndex` and runs it until it gives
  /// way; false when there is none.
  bool startNext(LaunchState &launch, uint64_t shareIndex);
  /// Switches to the program until it gives way. True when that was progress.
  bool resume(LaunchState &launch, Program &program);
  /// Looks at the state of the job and whether the user wants to stop; for waits
  /// that take long.
  void lookAround(LaunchState &launch);
  /// Forgets programs that have ended.
  void retireDone();
  /// Tells the launch what the programs that are left wait for, and makes them
  /// leave.
  void finish(LaunchState &launch);
  const std::vector<Program *> &alive() const { return live; }

private:
  bool startOwn(LaunchState &launch);
  /// While programs poll: starts another one now and then.
  bool startBesidePollers(LaunchState &launch);
  bool steal(LaunchState &launch);
  void waitStep(LaunchState &launch, Backoff &backoff);
  void recordWaiting(LaunchState &launch);
  void cancelAll(LaunchState &launch);
  /// Gives back programs that are more than a worker keeps between launches.
  void dropSpare(const LaunchState &launch);
  Program *obtain(LaunchState &launch);
  // What the live programs wait for, all of them in vain.
  std::string what() const override { return "kernel '" + current->kernel.name + "'"; }
  bool isOver() override;
  bool needs(int32_t rank) override;
  static void programMain(boost::context::detail::transfer_t from);

  Worker &worker;
  FiberSwitch fibers;
  PollPolicy polls;
  LaunchState *current = nullptr; ///< of lookAround()
  std::vector<Program *> live;
  size_t cursor = 0;                              ///< where in `live` the next pass begins
  std::vector<std::unique_ptr<Program>> programs; ///< owns all, live or free
  std::vector<Program *> freePrograms;
  bool cancelling = false; ///< programs that come back must leave
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_FIBERSCHEDULER_H
