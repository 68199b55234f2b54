// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RandomSchedule.h - A launch whose order a seed decides -------------===//
#ifndef NEREID_RUNTIME_DEVICE_CPU_RANDOMSCHEDULE_H
#define NEREID_RUNTIME_DEVICE_CPU_RANDOMSCHEDULE_H

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
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 3;
  }
  /// Whether a program gives way at its next call.
  bool drawYield() { return next() % yieldEvery == 0; }

private:
  /// Begins the numbers of a launch.
  void seed(const LaunchState &launch);
  bool step(LaunchState &launch, uint64_t laziness);

  Worker &worker;
  uint64_t state = 1;
  uint64_t yieldEvery = 4;               ///< calls between two yields
  std::vector<Program *> ready, polling; ///< of one step
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_RANDOMSCHEDULE_H
