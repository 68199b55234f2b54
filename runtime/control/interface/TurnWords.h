// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TurnWords.h - The words of random schedules ------------------------===//
//
// Ranks of one machine that take turns (symmetric/Turns.h) do so by these words,
// which all of them map. All zero at first.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_CONTROL_INTERFACE_TURNWORDS_H
#define NEREID_RUNTIME_CONTROL_INTERFACE_TURNWORDS_H

#include <atomic>
#include <cstdint>

namespace nereid::runtime {

/// Whose turn it is. Only who holds the turn changes the rest.
struct alignas(64) TurnState {
  std::atomic<uint32_t> holder;    // 1 + rank; 0 nobody
  std::atomic<uint32_t> burst;     // turns that `last` gets before the next draw
  std::atomic<uint32_t> last;      // had the last turn
  std::atomic<uint64_t> random;    // state of the generator; 0 = not seeded
  std::atomic<uint64_t> work;      // turns with progress
  std::atomic<uint64_t> fruitless; // turns without, since the last one with
  // How the next rank is drawn, and up to which count of work.
  std::atomic<uint64_t> phase;
  std::atomic<uint64_t> phaseEnds;
  std::atomic<uint32_t> byPriority;
  std::atomic<uint64_t> changeEvery; // turns between two changes; 0: never
  std::atomic<int64_t> lowest;       // the lowest priority so far
  /// A rank's host code was left out: the order is not the seed's any more, and
  /// waiting for hosts would only cost time.
  std::atomic<uint32_t> hostsFree;
};

/// One rank's part.
struct alignas(64) TurnSlot {
  std::atomic<uint32_t> turn;       // bumped when it gets the turn; a futex
  std::atomic<uint32_t> wantsTurns; // what for: Turns::Wants
  std::atomic<uint64_t> waitsIn;    // the host collective that it waits in, or 0
  std::atomic<uint64_t> idleAt;     // had nothing to do at this count of work, plus 1
  std::atomic<uint64_t> sitsOut;    // the count of work up to which it sits out
  std::atomic<uint32_t> leftOut;    // the others do not wait for its host code
  std::atomic<int64_t> priority;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_CONTROL_INTERFACE_TURNWORDS_H
