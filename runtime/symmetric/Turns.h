// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Turns.h - One program of the whole job at a time -------------------===//
//
// Under a random schedule the ranks of a job take turns: one rank runs one
// program up to its next call of the runtime, or delivers one pending
// operation; then the seed says which rank is next. The generator lies in the
// control block, so that the order belongs to the job and not to the system.
//
//   rank 0   ██░░░░██░░░░░░░░██      █ runs   ░ waits for its turn
//   rank 1   ░░██░░░░░░████░░░░
//   rank 2   ░░░░██░░██░░░░██░░
//
// Host code runs without turns, all ranks side by side. For the order not to
// depend on how long it takes, nobody gets a turn before every rank is inside a
// launch, waits in a host collective, or has left. A rank whose host code
// sleeps (it may wait for another rank by means that Nereid knows nothing of)
// is left out after half a second, one that computes after ten; from then on the
// order may differ from run to run, and a line on standard error says so.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_SYMMETRIC_TURNS_H
#define NEREID_RUNTIME_SYMMETRIC_TURNS_H

#include "symmetric/ControlBlock.h"

#include <cstdint>

namespace nereid::runtime {

class Turns {
public:
  Turns(ControlBlock control, int32_t rank, int32_t worldSize, uint64_t seed);

  /// The rank wants turns from now on, until leaveLaunch().
  void enterLaunch();
  void leaveLaunch();
  /// Waits up to a few milliseconds; true when this rank has the turn.
  bool take();
  /// Ends the turn. Without `progressed` the rank is asked again only after
  /// some other rank has done something, or when no rank has.
  void pass(bool progressed);
  /// Number of turns without progress since the last one with it, job-wide.
  uint64_t fruitless() const { return state().fruitless.load(std::memory_order_relaxed); }

  /// The rank waits in its `number`-th host collective; the turns of others do
  /// not have to wait for it.
  void enterCollective(uint64_t number);
  void leaveCollective();

  /// The rank's host code waits for a signal: the turns of others do not wait
  /// for it meanwhile. When it comes back is not part of the order.
  void stepAside();
  void comeBack();

  /// Starts the order anew; called while no rank is in a launch.
  void reset(uint64_t generation);

private:
  TurnState &state() const { return control.header().turns; }
  RankSlot &own() const { return control.rank(rank); }
  bool everybodyParked() const;
  /// Gives the turn to somebody if nobody has it and all are parked.
  void decide();
  /// The next rank, -1 when none wants a turn. Only for who holds the turn.
  int32_t choose();
  void give(int32_t to);
  uint64_t draw();
  void lookAtHosts();

  ControlBlock control;
  const int32_t rank;
  const int32_t worldSize;
  const uint64_t seed;

  /// The rank in host code that holds up the others, watched by lookAtHosts().
  int32_t watched = -1;
  uint64_t watchedSince = 0, asleepSince = 0, cpuAtSleep = 0;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_SYMMETRIC_TURNS_H
