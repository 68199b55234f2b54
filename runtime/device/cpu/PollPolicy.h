// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PollPolicy.h - Programs that poll in loops of their own ------------===//
//
// A loop whose exit depends on memory may wait for another program or may just
// compute; both call nrd_yield in each round. What waits wants to give way at
// once, what computes never. This class decides, from nothing but times:
//
//   - for a program, whether it goes on or gives way. Long turns while it has
//     the core to itself or no loop of the launch has ever lasted that long;
//     among others a part of the time that it has polled already: what waits for
//     a moment learns of it soon, what computes goes on;
//   - for a pass over the programs of a worker, whether their polls are work. A
//     round that takes long did more than look at memory. One long round may be
//     the system running somebody else meanwhile; three in a row are work;
//   - when to start one more program beside those that poll. Some of these may
//     compute: the more are alive, the less their stacks and tiles fit into the
//     caches.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_DEVICE_CPU_POLLPOLICY_H
#define NEREID_RUNTIME_DEVICE_CPU_POLLPOLICY_H

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace nereid::runtime {

/// One worker's. Ticks are those of cheapTicks(), near a nanosecond.
class PollPolicy {
public:
  /// Whether a program that came around at `now` goes on. `live` programs are on
  /// its worker; `patient` while nothing tells that it should make room.
  static bool goesOn(uint64_t now, uint64_t resumedAt, uint64_t pollsSince, size_t live,
                     bool patient) {
    uint64_t limit = kLongPollTicks;
    if (!patient)
      limit = std::max(kShortPollTicks,
                       std::min((now - pollsSince) / kPollShare, kLongPollTicks / live));
    return now - resumedAt < limit;
  }

  void beginPass() {
    longPoll = false;
    shortest = ~uint64_t(0);
  }
  /// A program that was resumed and entered its loop at these times has come
  /// around once more and seen nothing new.
  void notePoll(uint64_t now, uint64_t resumedAt, uint64_t pollsSince) {
    longPoll = longPoll || now - resumedAt > kLongRunTicks;
    shortest = std::min(shortest, now - pollsSince);
  }
  /// Ends a pass; true when the polls were work.
  bool endPass() {
    longPasses = longPoll ? longPasses + 1 : 0;
    return longPasses >= 3;
  }
  /// How long, in nanoseconds, polling may go on before others get the core.
  uint64_t patience() const { return shortest / kPollShare; }

  /// Whether it is time to start one more program beside `live` others.
  bool startIsDue(uint64_t nowNs, size_t live) const {
    uint64_t pause = std::min(kStartPauseNs * (1 + live / 16), kMaxStartPauseNs);
    return nowNs - lastStart >= pause;
  }
  uint64_t sinceStart(uint64_t nowNs) const { return nowNs - lastStart; }
  void noteStart(uint64_t nowNs) { lastStart = nowNs; }

private:
  /// How long a program may poll before it gives way.
  static constexpr uint64_t kLongPollTicks = 12000, kShortPollTicks = 800;
  static constexpr uint64_t kPollShare = 16;
  /// About 20 us: a round that takes this long was more than a look at memory.
  static constexpr uint64_t kLongRunTicks = 50000;
  static constexpr uint64_t kStartPauseNs = 2000, kMaxStartPauseNs = 20000;

  uint64_t shortest = 0;   ///< the shortest time of those that poll
  bool longPoll = false;   ///< some round of this pass took long
  uint32_t longPasses = 0; ///< passes in a row with one
  uint64_t lastStart = 0;  ///< when a program was started beside pollers, ns
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_POLLPOLICY_H
