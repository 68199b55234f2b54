// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Worker.h - Runs programs on one thread -----------------------------===//
#ifndef NEREID_RUNTIME_DEVICE_CPU_WORKER_H
#define NEREID_RUNTIME_DEVICE_CPU_WORKER_H

#include "device/cpu/Faults.h"
#include "device/cpu/FiberScheduler.h"
#include "device/cpu/LaunchState.h"
#include "device/cpu/PlainRunner.h"
#include "device/cpu/Pulse.h"
#include "device/cpu/RandomSchedule.h"

namespace nereid::runtime {

/// One thread's part in launches, put together from classes that each do one
/// thing. What entry points need of it are functions here.
class Worker {
public:
  Worker(Job::Impl &job, uint32_t index);

  /// Runs programs of `launch` until there is nothing left for this worker.
  void run(LaunchState &launch);

  //===--- called by the entry points, on the program's stack -------------===//

  /// Looks at what the blocked `program` waits for, without giving way, for a
  /// few microseconds: only where no other program and no other thread could
  /// use the core meanwhile. True when it has come.
  bool spinFor(Program &program) { return scheduler.spinFor(program); }
  /// The program came around in a loop that may wait for others. Gives way
  /// unless that would be too soon: loops that end by themselves and read memory
  /// look the same and should not pay for it.
  void poll(Program &program, bool first) { scheduler.poll(program, first); }
  /// Waits for the condition of a program that is no fiber, on its stack. Leaves
  /// the program when the launch stops meanwhile.
  void waitInPlace() { plain.wait(); }
  /// Gives way to the scheduler; comes back when the program is to go on.
  /// Leaves the program when the launch stops meanwhile.
  void yieldFrom(Program &program, ProgramState state) { scheduler.yieldFrom(program, state); }
  /// Ends the program here and now.
  [[noreturn]] void leave(Program &program);
  /// Random schedules: sometimes gives way. Called before each operation that
  /// another program can observe, and after it, so that what the program does
  /// next is not one step with it.
  void maybeYield(Program &program) {
    if (program.drawn) [[unlikely]]
      random.yieldSometimes(program);
  }
  uint64_t nextRandom() { return random.next(); }
  /// The running program did something for others; see Pulse::act.
  void noteActivity() { pulse.act(); }

  Job::Impl &job;
  const uint32_t index;
  Pulse pulse;
  FaultLanding landing;
  InterruptPoll interrupts;
  FiberScheduler scheduler{*this};
  RandomSchedule random{*this};

private:
  PlainRunner plain;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_WORKER_H
