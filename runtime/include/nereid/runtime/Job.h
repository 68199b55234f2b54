// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Job.h - One rank's membership in a job --------------------*- C++ -*-===//
//
// A job is a set of ranks that share one memory segment: control pages, then
// the symmetric heap of every rank, mapped by every rank as one contiguous
// range of addresses. docs/symmetric-heap.md has the picture.
//
//   rank r's heap = [heapBase() + r * heapBytes(), + heapBytes())
//
// Host calls marked "collective" must be made by all ranks in the same order.
// Ranks that make different ones all get StatusCode::Mismatch, which names two
// ranks and both calls. No host call hangs: a rank that dies, leaves or never
// comes makes the others' calls fail with an error that names it.
//
// After a failure in a program, a dead rank or abort(), the job has failed:
// every later launch and collective call of every rank returns that failure
// until all ranks have called recover() (which cannot bring back a dead rank).
// A job of one rank recovers by itself.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_JOB_H
#define NEREID_RUNTIME_JOB_H

#include "nereid/runtime/Config.h"
#include "nereid/runtime/Status.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::runtime {

/// What is stored with an allocation, for reports and the symmetry check. All
/// ranks must pass the same text. Free-form; e.g. {"a_buf", "float16", "(4, 8)"}.
struct AllocationInfo {
  std::string label;
  std::string dtype;
  std::string shape;
  /// Where in the host program it was allocated, "file:line"; may be empty and
  /// may differ between ranks.
  std::string where{};
};

/// A live symmetric allocation.
struct Allocation {
  uint64_t offset = 0; ///< from the start of every rank's heap
  uint64_t bytes = 0;  ///< as asked for
  AllocationInfo info;
};

class Device;
class Observer;

class Job {
public:
  /// Joins the job that the environment describes: `nereid run` (NEREID_RANK,
  /// NEREID_WORLD_SIZE, NEREID_JOB), torchrun (RANK, WORLD_SIZE, MASTER_ADDR,
  /// MASTER_PORT), Open MPI (OMPI_COMM_WORLD_*), PMI (PMI_*), Slurm (SLURM_*);
  /// a world of one rank when there is none of them. Collective; returns when
  /// all ranks are there. Errors: Environment, Bootstrap, Mismatch (world or
  /// heap size), OutOfMemory, SystemError, Interrupted.
  static Expected<std::unique_ptr<Job>> init(const JobOptions &options = {});

  /// `worldSize` ranks in this process on one mapping, to be used from one
  /// thread each. For tests (it is the only way a thread sanitizer sees races
  /// between ranks) and notebooks. Since the mapping is shared, a program that
  /// dereferences memory of another node is not caught here.
  static Expected<std::vector<std::unique_ptr<Job>>>
  createThreadRanks(int32_t worldSize, const JobOptions &options = {});

  /// Leaves the job. Without finalize() before, the other ranks take it as a
  /// rank that left in the middle: their waits for it fail.
  ~Job();
  Job(const Job &) = delete;
  Job &operator=(const Job &) = delete;

  int32_t rank() const;
  int32_t worldSize() const;
  /// Where rank 0's heap begins in this process.
  uint8_t *heapBase() const;
  /// How far apart the heaps of two ranks lie: the size of one, but for devices that
  /// leave something between them.
  uint64_t heapBytes() const;
  /// Whether the host can load and store in symmetric memory. Where it cannot (memory
  /// of a GPU), put() and get() with the rank itself write and read it.
  bool heapsOnHost() const;
  /// Worker threads of this rank, the launching thread included.
  int32_t numThreads() const;
  const Profile &profile() const;
  /// On which this rank's programs run, and whose memory its heap is.
  Device &device() const;
  double timeoutSeconds() const;
  /// Whether a seed decides the order of programs (NEREID_SCHEDULE).
  bool hasRandomSchedule() const;

  /// Collective. Memory at the same offset of every heap; 64-byte aligned,
  /// 4096-byte aligned from 4096 bytes on. Fresh heap memory is zero, reused
  /// memory holds what was there. Returns this rank's address. Acts as a
  /// barrier. Errors: Mismatch, OutOfMemory (lists the largest allocations).
  Expected<void *> allocate(uint64_t bytes, const AllocationInfo &info = {});
  /// Collective, a barrier: nobody's memory is reused before all ranks have
  /// called it. `ptr` as allocate() returned it.
  Status free(void *ptr);
  /// Collective. Waits for all ranks; all writes before it are visible after.
  /// `what` is what reports call it; all ranks have to say the same.
  Status barrier(std::string_view what = "barrier()");
  /// Leaves the job in good order; not a barrier. Later calls fail. The heap
  /// stays mapped until the object is destroyed.
  Status finalize();
  bool finalized() const;

  /// Tells the other ranks that this one cannot go on (its host code raised):
  /// their waits fail with RankRaised and `reason`. Harmless after finalize().
  void abort(std::string_view reason);
  /// The rank that prints a text which several ranks may have: this one when it is
  /// the first to ask.
  int32_t claimText(std::string_view text);
  /// Collective: forgets a failure that every rank has seen.
  Status recover();
  /// The failure that the job is in, or success.
  Status health() const;

  /// Whether [ptr, ptr + bytes) lies inside one live allocation of this rank's
  /// own heap.
  bool isSymmetric(const void *ptr, uint64_t bytes = 1) const;
  /// The rank whose heap `ptr` lies in, or -1.
  int32_t ownerRank(const void *ptr) const;
  /// The node that `rank` is on: all are on node 0 unless NEREID_RANKS_PER_NODE
  /// says otherwise.
  int32_t nodeOf(int32_t rank) const;
  /// Whether `rank`'s heap can be read and written by loads and stores here.
  bool reachable(int32_t rank) const;
  /// Copies `bytes` bytes to (from) `rank`'s copy of symmetric memory, whose
  /// address is given as this rank's own; complete when they return. Not
  /// collective. They also reach other nodes. Errors: BadRank, NotSymmetric.
  Status put(void *dest, const void *source, uint64_t bytes, int32_t rank);
  Status get(void *dest, const void *source, uint64_t bytes, int32_t rank);
  /// Sets or adds (NRD_SIG_*) `value` to the signal of `bytes` (4 or 8) bytes on
  /// `rank` whose address is given as this rank's own; all that this rank wrote
  /// to `rank` before is visible first. Not collective. Errors: BadRank,
  /// NotSymmetric, BadAccess (misaligned).
  Status signal(void *signal, uint64_t value, int32_t op, int32_t bytes, int32_t rank);
  /// Waits until `*signal CMP value` (NRD_CMP_*) holds for this rank's own
  /// signal; acquire. Not collective. Errors: those of signal(), and whatever
  /// ends the waits of the job: dead ranks, Deadlock, NEREID_TIMEOUT, Interrupted.
  Status waitUntil(const void *signal, int32_t comparison, uint64_t value, int32_t bytes,
                   bool isSigned);
  /// Under a random schedule: the programs of other ranks may go on before the
  /// host does. Hosts call it before they change symmetric memory by stores of
  /// their own; the calls above do by themselves.
  void giveWay();
  /// Tells the observer that host code is about to read or write `bytes` bytes at `ptr` of this
  /// rank's heap itself; other memory, and a job that nobody watches, make nothing of it.
  void noteAccess(const void *ptr, uint64_t bytes, bool writes);
  bool isWatched() const;
  /// Lets `observer` (Events.h) hear of everything that this rank does from now on;
  /// null: nobody. Call it while no launch and no call of this rank is under way. It
  /// must live until the job has ended, or until all ranks have met in a barrier after
  /// it was taken away. Errors: the job has failed; InvalidArgument, when programs run on
  /// a device with memory of its own.
  Status observe(Observer *observer);
  /// `ptr`'s place in the heap of `rank`; null when `ptr` lies in no heap, the
  /// rank is outside the job or it is on another node.
  void *peerAddress(const void *ptr, int32_t rank) const;
  /// The live allocation around `ptr` (in any rank's heap), if any.
  std::optional<Allocation> find(const void *ptr) const;
  /// For messages: "'a_buf' float16 (4, 8) + 16 bytes, on rank 2".
  std::string describe(const void *ptr) const;
  /// All live allocations by offset.
  std::vector<Allocation> allocations() const;
  /// Bytes of this rank's heap that are in use.
  uint64_t heapBytesUsed() const;

  /// The implementation; not part of the interface.
  struct Impl;
  Impl &impl() const { return *pimpl; }

private:
  explicit Job(std::unique_ptr<Impl> impl);
  friend struct JobFactory;
  std::unique_ptr<Impl> pimpl;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_JOB_H
