// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Backoff.h - How a thread waits for memory to change ----------------===//
//
// Signals are plain words in shared memory that any rank may write, so nobody
// can be relied on to wake a sleeper: waiting is polling that gets cheaper.
//
//   spin (pause)  ->  sched_yield  ->  short sleeps
//
// Spinning makes sense only while every waiting thread of the machine has a
// core of its own; otherwise the thread that is waited for needs this core and
// each spin costs a scheduler slice. A yield hands over in 1-2 us. After a
// millisecond the wait is long: sleeping stops taking turns from workers, and
// its wake-up delay is small against what was already waited.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_BASE_BACKOFF_H
#define NEREID_RUNTIME_BASE_BACKOFF_H

#include "base/Clock.h"

#include <sched.h>

namespace nereid::runtime {

class Backoff {
public:
  explicit Backoff(bool maySpin) : maySpin(maySpin) {}

  /// Something happened: the next wait starts from the cheap end again.
  void reset() {
    steps = 0;
    allSteps = 0;
    phaseSince = 0;
    waitSince = 0;
  }

  /// Something may have happened: look often again, but keep in mind for how
  /// long nothing has happened for certain.
  void soften() {
    steps = allSteps < kMaxSpinSteps ? 0 : kSpinSteps;
    phaseSince = 0;
  }

  /// One step of waiting.
  void step() {
    ++steps;
    ++allSteps;
    if (maySpin && steps <= kSpinSteps) {
      cpuPause();
      if (allSteps % kSpinSteps == 0 && waitSince == 0)
        waitSince = nowNs();
      return;
    }
    uint64_t now = nowNs();
    if (waitSince == 0)
      waitSince = now;
    if (phaseSince == 0)
      phaseSince = now;
    uint64_t idle = now - phaseSince;
    if (idle < kYieldNs) {
      sched_yield();
      return;
    }
    sleepNs(idle < 10 * kYieldNs ? kShortSleepNs : kLongSleepNs);
  }

  /// Nanoseconds that this wait has taken; 0 while it is a short one.
  uint64_t idleNs() const { return waitSince ? nowNs() - waitSince : 0; }
  /// True when the wait is long enough to look at the state of the job.
  bool isSlow() const { return waitSince != 0; }

private:
  static constexpr uint32_t kSpinSteps = 2000;
  static constexpr uint32_t kMaxSpinSteps = 100 * kSpinSteps;
  static constexpr uint64_t kYieldNs = 1000000;
  static constexpr uint64_t kShortSleepNs = 50000;
  static constexpr uint64_t kLongSleepNs = 500000;

  bool maySpin;
  uint32_t steps = 0;    ///< in this phase of the wait
  uint32_t allSteps = 0; ///< since something certainly happened
  uint64_t phaseSince = 0; ///< spinning ended
  uint64_t waitSince = 0;  ///< the wait became a long one
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_BASE_BACKOFF_H
