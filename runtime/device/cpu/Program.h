// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Program.h - One running program ------------------------------------===//
//
// In a blocking launch every program is a fiber: a stack of its own, switched
// to and from in a few nanoseconds, pinned to one worker thread. In another
// launch a worker runs one program after the other on its own stack and uses
// one Program for all of them.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_DEVICE_CPU_PROGRAM_H
#define NEREID_RUNTIME_DEVICE_CPU_PROGRAM_H

#include "nereid/abi.h"
#include "symmetric/SignalCondition.h"
#include "transport/Router.h"

#include <atomic>
#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>

namespace nereid::runtime {

class Worker;
struct LaunchState;
struct LaunchTeam;

/// What a blocked program waits for, so that the scheduler can look without
/// switching to it.
struct WaitCondition {
  enum Kind : uint8_t {
    Signal,
    Barrier,
    Transfer, ///< an operation of the transport, or a quiet
    Room,     ///< until the transport takes another operation to transfer.pe
  };
  Kind kind = Signal;
  SignalCondition signal;     ///< Signal
  uint64_t generation = 0;    ///< Barrier: the one it takes part in
  LaunchTeam *team = nullptr; ///< Barrier: whose
  Completion transfer;        ///< Transfer, Room
};

enum class ProgramState : uint8_t {
  Ready,   ///< gave way of its own accord; can go on
  Polling, ///< in a spin loop of the kernel
  Blocked, ///< waits for its WaitCondition
  Done,
};

/// Allocations of the symmetric heap that a program has used last, by offset, so
/// that not every transfer has to ask the heap.
struct KnownAllocations {
  struct Range {
    uint64_t begin = 0, bytes = 0;
  };
  uint64_t version = 0; ///< Job::Impl::heapVersion that they are from
  uint32_t next = 0;    ///< the range that is replaced next
  Range ranges[4];

  bool hold(uint64_t offset, uint64_t bytes) const {
    for (const Range &r : ranges)
      if (offset - r.begin < r.bytes && bytes <= r.bytes - (offset - r.begin))
        return true;
    return false;
  }
};

/// What nrd_program::runtime points to.
struct Program {
  nrd_program abi{};
  LaunchState *launch = nullptr;
  Worker *worker = nullptr;
  Router *transport = nullptr;
  Observer *observer = nullptr; ///< who watches it (Events.h)
  uint64_t linear = 0;          ///< (program * sub_vec_num + sub_vec_id)
  uint32_t site = ~0u;          ///< where it last entered the runtime
  const char *waitName = "";
  ProgramState state = ProgramState::Ready;
  bool fiber = false;
  bool failed = false;     ///< Done, but not by running to its end
  bool drawn = false;      ///< a seed says when it goes on (RandomSchedule.cpp)
  int64_t priority = 0;    ///< random schedules
  uint64_t sitsOut = 0;    ///< random schedules: pauses up to this count of work
  uint64_t resumedAt = 0;  ///< when it got the core, in cheap ticks
  uint64_t pollsSince = 0; ///< its first poll in the loop that it is in
  uint64_t polls = 0;      ///< since it was last told of any, while somebody watches
  uint64_t shares = 0;     ///< values exchanged with its other vector cores
  uint64_t fetched = 0;    ///< what a fetch brings; it may come after the program was left
  WaitCondition condition;
  KnownAllocations known;

  // Fibers only.
  boost::context::detail::fcontext_t context = nullptr;
  uint8_t *stackBase = nullptr; ///< lowest usable byte, above the guard page
  size_t stackBytes = 0;
  uint8_t *scratch = nullptr;
  uint64_t scratchBytes = 0;
  void *sanitizerFiber = nullptr;
  void *fakeStack = nullptr;

  Program() = default;
  ~Program();
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  /// Gets a stack; false when the system has none left.
  bool reserveStack(size_t bytes);
  /// Makes sure of `bytes` of 64-byte aligned scratch, for a new launch: its head is
  /// zero (NRD_SCRATCH_HEAD).
  bool reserveScratch(uint64_t bytes);
};

/// Transfer and Room: whether the program may go on.
inline bool transferReady(const Router &router, const WaitCondition &c) {
  return c.kind == WaitCondition::Room ? router.hasRoom(c.transfer.pe)
                                       : router.finished(c.transfer);
}

/// Transfer and Room: whether the program waits for `rank`.
inline bool transferNeeds(const Router &router, WaitCondition c, int32_t rank) {
  if ((c.kind != WaitCondition::Transfer && c.kind != WaitCondition::Room) ||
      (c.transfer.pe >= 0 && c.transfer.pe != rank))
    return false;
  c.transfer.pe = rank;
  return !transferReady(router, c);
}

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_PROGRAM_H
