// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Turns.h - One program of the whole job at a time -------------------===//
//
// Under a random schedule the ranks of a job take turns: one rank runs one
// program up to its next call of the runtime, or delivers one pending
// operation, or its host code goes on from a call of the runtime; then the seed
// says which rank is next. The generator lies in memory that all ranks share, so that the
// order belongs to the job and not to the system.
//
//   rank 0   ██░░░░██░░░░░░░░██      █ runs   ░ waits for its turn
//   rank 1   ░░██░░░░░░████░░░░
//   rank 2   ░░░░██░░██░░░░██░░
//
// Host code between two calls of the runtime runs beside that of other ranks,
// but never beside a program: for the order not to depend on how long it takes,
// nobody gets a turn before every rank is in a launch, in another call that
// waits for a turn, in a host collective, or has left. A rank whose host code
// sleeps (it may wait for another rank by means that Nereid knows nothing of)
// is left out after half a second, one that computes after ten; from then on the
// order may differ from run to run, a line on standard error says so, and hosts
// no longer wait for turns.
//
// How the next rank is drawn changes every so many turns (a phase): all alike,
// in short or long runs of one rank; or by priorities, of which each phase draws
// new ones: the highest rank that has something to do is next, and now and then
// the one that had the last turn becomes the lowest. RandomSchedule.cpp draws
// inside a rank in the same two ways.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_SYMMETRIC_TURNS_H
#define NEREID_RUNTIME_SYMMETRIC_TURNS_H

#include "control/interface/ControlPlane.h"

#include <cstdint>
#include <mutex>
#include <vector>

namespace nereid::runtime {

class Turns {
public:
  /// What a rank wants turns for; flags.
  enum Wants : uint32_t {
    /// A launch or a call of the host: its host code does not run.
    Thread = 1,
    /// Transfers that a launch has left pending.
    Transfers = 2,
  };

  Turns(const JobControl &control, NodeControl &node, int32_t rank, int32_t worldSize,
        uint64_t seed);

  /// The rank wants turns from now on, until leave(). Waits while another thread
  /// of it does; tryEnter() returns false then, and when hosts need no turns.
  /// `pause` is for sitOut().
  void enter();
  bool tryEnter(uint64_t pause);
  /// Only by who has the turn, which ends it, or when the job has failed.
  void leave();
  /// Waits up to a few milliseconds; true when this rank has the turn.
  bool take();
  /// Ends the turn. Without `progressed` the rank is asked again only after
  /// some other rank has done something, or when no rank has.
  void pass(bool progressed);
  /// The rank gets no turn before this many others have been used, unless nobody
  /// else has anything to do.
  void sitOut(uint64_t turns);
  /// Number of turns with progress, job-wide.
  uint64_t work() const { return state().work.load(std::memory_order_relaxed); }
  /// Number of the phase; who draws inside a rank does it anew for each.
  uint64_t phase() const { return state().phase.load(std::memory_order_relaxed); }
  /// Number of turns without progress since the last one with it, job-wide.
  uint64_t fruitless() const { return state().fruitless.load(std::memory_order_relaxed); }
  /// Calls of the host wait for a turn before they return.
  bool hostsGiveWay() const { return !state().hostsFree.load(std::memory_order_relaxed); }

  /// The rank wants turns for transfers, whatever its threads do.
  void wantTransfers();
  bool wantsTransfers() const {
    return (own().wantsTurns.load(std::memory_order_relaxed) & Transfers) != 0;
  }
  /// As take(), when no thread of the rank is there to use the turn.
  bool takeForTransfers();
  /// Ends such a turn; with `last` the rank wants no more of them.
  void passForTransfers(bool last);
  /// Nothing is left to transfer: the host has completed all, or the job has
  /// failed.
  void forgetTransfers();

  /// The rank waits in its `number`-th host collective; the turns of others do
  /// not have to wait for it.
  void enterCollective(uint64_t number);
  void leaveCollective();
  /// Called by who completes a collective of a team, before the others can see
  /// it: from here on `member` runs host code.
  void endCollectiveOf(int32_t member);

  /// The rank's host code waits for a signal: the turns of others do not wait
  /// for it meanwhile. When it comes back is not part of the order.
  void stepAside();
  void comeBack();

  /// While it lives, no thread of this rank uses a turn.
  [[nodiscard]] std::unique_lock<std::mutex> keepStill() { return std::unique_lock(seat); }
  /// Starts the order anew; called while no rank is in a launch.
  void reset(uint64_t generation);

private:
  TurnState &state() const { return words; }
  TurnSlot &own() const { return slot(rank); }
  TurnSlot &slot(int32_t r) const { return *slots[size_t(r)]; }
  bool holdsTurn() const {
    return state().holder.load(std::memory_order_seq_cst) == uint32_t(rank) + 1;
  }
  bool wants(int32_t r) const;
  bool runsHostCode(int32_t r, uint64_t epoch) const;
  /// Of host collectives of all ranks.
  uint64_t hostEpoch() const { return hostBarriers.load(std::memory_order_seq_cst); }
  bool everybodyParked() const;
  /// Gives the turn to somebody if nobody has it and all are parked.
  void decide();
  /// The next rank, -1 when none wants a turn. Only for who holds the turn.
  int32_t choose();
  void beginPhase(uint64_t work);
  int32_t chooseAlike(int32_t last, int32_t eligible, uint64_t work);
  int32_t chooseByPriority(int32_t last, uint64_t work);
  bool isEligible(int32_t r, uint64_t work) const;
  void give(int32_t to);
  uint64_t draw();
  void noteProgress();
  void lookAtHosts();

  const JobControl &control;
  const NodeControl &node;
  TurnState &words;
  std::vector<TurnSlot *> slots; // of all ranks
  const std::atomic<uint64_t> &hostBarriers;
  const int32_t rank;
  const int32_t worldSize;
  const uint64_t seed;

  /// Held by the thread of this rank that uses the rank's turns.
  std::mutex seat;

  /// The rank in host code that holds up the others, watched by lookAtHosts().
  std::mutex hostsLock; ///< guards what follows
  int32_t watched = -1;
  uint64_t watchedAt = 0; ///< the count of work then
  uint64_t watchedSince = 0, asleepSince = 0, cpuAtSleep = 0;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_SYMMETRIC_TURNS_H
