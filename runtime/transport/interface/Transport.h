// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Transport.h - What moves bytes between ranks -----------------------===//
//
// One object per rank. Programs and host code reach it through the Router, which
// keeps ranks whose memory is mapped away from it.
//
//   submit ──▶ under way ──▶ carried out at the target ──▶ finished
//                   ▲                                         ▲
//      fence: none overtakes an earlier one to that rank      │
//                                quiet, fetches: start here, awaited there
//
// What every transport promises is what docs/memory-model.md asks for:
//
//   - operations to one rank that have a fence between them are carried out in
//     their order; all others, also two to the same place, in any;
//   - a put updates its signal after its own data;
//   - updates of one word are atomic towards each other and towards everything
//     that programs of the target do to it by atomic instructions;
//   - an operation is under way from submit on, whoever calls the transport next
//     or not: nobody has to ask for progress;
//   - a quiet is finished when all operations before it are carried out, gets
//     too; gets and fetches may be held back by fences, or not;
//   - memory of a put or get that has vanished meanwhile makes submit, or the job
//     (TransportShape::fail), fail; nothing faults (base/FaultGuard.h).
//
// Nothing blocks: what has to wait gives a Completion, at which the scheduler of
// programs looks as it does at signals, and host code in a loop of its own.
// All calls but the constructor may come from any thread.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_TRANSPORT_INTERFACE_TRANSPORT_H
#define NEREID_RUNTIME_TRANSPORT_INTERFACE_TRANSPORT_H

#include "nereid/runtime/Events.h"
#include "nereid/runtime/Status.h"
#include "transport/interface/Operation.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace nereid::runtime {

/// What somebody waits for. The transport keeps no pointer to it: who waits may
/// be gone when it comes.
struct Completion {
  int32_t pe = -1;     ///< of operations to that rank; -1: to any
  uint64_t number = 0; ///< that one and all before it; what the transport counts
};

inline constexpr uint64_t kMaxEngineAddressBytes = 1024;

/// What a transport is told about the job.
struct TransportShape {
  int32_t rank = 0;
  int32_t worldSize = 1;
  uint64_t heapBytes = 0;
  /// Where programs see rank 0's heap; rank r's begins r * heapBytes later. Only
  /// this rank's own is there for certain.
  uint8_t *heaps = nullptr;
  /// Rank 0's heap in a mapping of all heaps; null for transports whose row does not
  /// say that they need it.
  uint8_t *mapped = nullptr;
  /// What `pe` has returned from expose(): there for all ranks when the first
  /// operation is submitted.
  std::function<std::optional<std::string>(int32_t pe)> addressOf;
  /// The network interface by which ranks of other machines are reached, or "all"; empty
  /// when there are none.
  std::string interface;
  /// How many operations are under way, for those who look for deadlocks; a
  /// transport adds its own and takes them away again.
  std::atomic<uint64_t> *inFlight = nullptr;
  /// Makes something that no call can return the failure of the job.
  std::function<void(Status)> fail;
  /// Who watches what is done to memory in this process (Delivery.h); may be null,
  /// and changes only while nothing is under way.
  const std::atomic<Observer *> *observer = nullptr;

  Observer *watching() const {
    return observer ? observer->load(std::memory_order_acquire) : nullptr;
  }
  uint8_t *ownHeap() const { return heaps + uint64_t(rank) * heapBytes; }
  /// Whether `bytes` at `at` lie in heaps, which outlive every launch.
  bool isSymmetric(const void *at, uint64_t bytes) const {
    uint64_t all = heapBytes * uint64_t(worldSize);
    uint64_t offset = uint64_t(static_cast<const uint8_t *>(at) - heaps);
    return heaps && offset < all && bytes <= all - offset;
  }
};

class Transport {
public:
  virtual ~Transport() = default;

  /// Lets peers read and write the whole of this rank's heap, until withdraw().
  /// Called before any rank of the job can have submitted an operation. Returns where
  /// peers find this rank: up to kMaxEngineAddressBytes that they alone understand.
  virtual Expected<std::string> expose() = 0;
  /// After it nothing of the transport touches memory of this rank any more.
  virtual void withdraw() = 0;

  /// Starts `operation`. `done` is set for those that somebody awaits. A blocking
  /// put has taken its data along when this returns. An error says why the rank
  /// cannot be reached.
  virtual Status submit(const Operation &operation, Completion &done) = 0;
  /// Whether another operation to `pe` should be submitted now. Whoever finds
  /// that it should not waits, so that memory for what is under way has a bound.
  virtual bool hasRoom(int32_t pe) const = 0;
  /// One or a few loads of memory.
  virtual bool finished(const Completion &done) const = 0;
  /// Operations to `pe` (-1 = to any rank, each by itself) keep their order
  /// across this call.
  virtual void fence(int32_t pe) = 0;
  /// Sets `done` to what is under way to `pe` (-1 = to any rank) and sees to it
  /// that it ends.
  virtual void quiet(int32_t pe, Completion &done) = 0;
  /// Helps, for a moment: called by workers that have nothing else to do. True
  /// when something was done.
  virtual bool progress() = 0;
  /// A launch has ended: memory outside the heaps may vanish when `done` is
  /// finished. Data of puts that lies there has been taken along when this
  /// returns; `done` stands for gets that write there.
  virtual void letGoOfArguments(Completion &done) = 0;
  /// After a failure: forgets what has not left this rank yet, and everybody who
  /// waits. Nothing writes to targets of gets and fetches any more when this
  /// returns; `done` is finished when nothing of this rank can change memory of
  /// others any more.
  virtual void abandon(Completion &done) = 0;
  /// `pe` has left the job and will never answer; nobody waits for it any more. What
  /// is under way to it counts as finished, and submit is an error from now on.
  virtual void drop(int32_t pe) = 0;
};

/// A row of transports.def.
struct TransportRow {
  const char *name;
  /// Its peers' heaps must be mapped (TransportShape::mapped).
  bool needsMapping;
  /// One line for the list of transports.
  const char *help;
  Expected<std::unique_ptr<Transport>> (*make)(const TransportShape &);
  /// It reaches ranks of other machines.
  bool betweenMachines = false;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_TRANSPORT_INTERFACE_TRANSPORT_H
