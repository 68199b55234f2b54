// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RandomSchedule.h - A launch whose order a seed decides -------------===//
#ifndef NEREID_RUNTIME_DEVICE_CPU_RANDOMSCHEDULE_H
#define NEREID_RUNTIME_DEVICE_CPU_RANDOMSCHEDULE_H

#include "base/Random.h"
#include "device/cpu/LaunchState.h"

#include <vector>

namespace nereid::runtime {

/// One worker's generator, and the steps that it draws.
class RandomSchedule {
public:
  explicit RandomSchedule(Worker &worker) : worker(worker) {}

  /// Runs all programs of `launch`.
  void run(LaunchState &launch);
  uint64_t next() {
    state = nextRandomState(state);
    return state >> 3;
  }
  /// On the program's stack: gives way or does not.
  void yieldSometimes(Program &program);

private:
  /// How a launch goes, for a phase (Turns.h).
  struct Manner {
    uint64_t laziness = 8;    ///< turns between two deliveries
    uint64_t yieldEvery = 4;  ///< chances to give way between two that are taken
    uint64_t pause = 0;       ///< turns for which every other one lasts
    bool priorities = false;  ///< the program with the highest one goes on
    uint64_t changeEvery = 0; ///< turns between two that lower one; 0: never
  };

  /// Begins the numbers of a launch.
  void seed(const LaunchState &launch);
  void drawManner();
  bool step(LaunchState &launch);
  bool runSome(LaunchState &launch);
  void runByPriority(LaunchState &launch, bool canStart);
  bool deliverLazily();

  Worker &worker;
  uint64_t state = 1;
  Manner manner;
  int64_t lowest = 0;                    ///< the lowest priority so far
  std::vector<Program *> ready, polling; ///< of one step
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_RANDOMSCHEDULE_H
