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

#include <algorithm>
#include <sched.h>

namespace nereid::runtime {

class Backoff {
public:
  explicit Backoff(bool maySpin) : maySpin(maySpin) {}

  /// Something happened: the next wait starts from the cheap end again.
  void reset() {
    steps = 0;
    waitSince = 0;
    slow = false;
  }

  /// One step of waiting.
  void step() {
    if (maySpin && ++steps <= kSpinSteps) {
      cpuPause();
      return;
    }
    uint64_t now = nowNs();
    slow = true;
    if (waitSince == 0)
      waitSince = now;
    uint64_t idle = now - waitSince;
    if (idle < kYieldNs) {
      sched_yield();
      return;
    }
    sleepNs(idle < 10 * kYieldNs ? kShortSleepNs : kLongSleepNs);
  }

  /// One step while programs poll in loops of their own. These may well be at
  /// work, so they are never put to sleep; the core goes to others about every
  /// `patience` nanoseconds.
  void pollStep(uint64_t patience) {
    uint64_t now = nowNs();
    if (waitSince == 0)
      waitSince = now;
    slow = now - waitSince >= kYieldNs;
    if (now - yieldedAt <
        (maySpin ? std::clamp(patience, kSpinNs, kYieldNs) : std::min(patience, kCrowdedSpinNs)))
      return;
    sched_yield();
    yieldedAt = nowNs();
  }

  /// Nanoseconds that this wait has taken; 0 while it is a short one.
  uint64_t idleNs() const { return waitSince ? nowNs() - waitSince : 0; }
  /// True when the wait is long enough to look at the state of the job.
  bool isSlow() const { return slow; }

private:
  static constexpr uint32_t kSpinSteps = 2000;
  static constexpr uint64_t kYieldNs = 1000000;
  static constexpr uint64_t kShortSleepNs = 50000;
  static constexpr uint64_t kLongSleepNs = 500000;
  static constexpr uint64_t kSpinNs = 20000, kCrowdedSpinNs = 3000;

  bool maySpin;
  bool slow = false;
  uint32_t steps = 0;
  uint64_t waitSince = 0; ///< the wait became a long one
  uint64_t yieldedAt = 0;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_BASE_BACKOFF_H
