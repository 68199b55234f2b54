// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Transport.h - What moves bytes between ranks -----------------------===//
//
// Two ways to another rank:
//
//   direct    its heap is mapped here: the calling program copies or updates,
//             and the operation is complete when the call returns;
//   queued    the operation becomes pending and is carried out later, by the
//             rank that asked for it: in the background (another node), or at
//             seeded points of a random schedule (any rank).
//
//   put, get, signal ──┬─ direct ──────────────────────────────▶ peer's heap
//                      └─ queued ─▶ pending ─▶ deliver, any order ─▶
//                                      ▲
//                       fence: none overtakes an earlier one to that rank
//                       quiet: all of them, now
//
// Order of pending operations, which is what docs/memory-model.md allows:
//
//   - operations to one rank that have a fence between them keep their order;
//     all others, also two to the same place, may be carried out in any order;
//   - put_signal updates its signal after its own data;
//   - the source of a non-blocking put is read when the put is carried out, the
//     target of a non-blocking get written when the get is; blocking puts and
//     single elements take their data along at once;
//   - a blocking get, and whatever returns a value, is carried out at once;
//   - gets are not held back by fences.
//
// Fence and quiet are about all operations of this rank, whichever of its
// programs asked for them.
//
// Addresses of peers are those of at(), which also reaches the heaps of other
// nodes; programs cannot dereference these.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_TRANSPORT_TRANSPORT_H
#define NEREID_RUNTIME_TRANSPORT_TRANSPORT_H

#include "base/Sanitizer.h"
#include "transport/shared_memory/Copy.h"
#include "transport/shared_memory/Update.h"

#include <atomic>
#include <cstdint>
#include <memory>

namespace nereid::runtime {

class Network;

/// An atomic update of one element of `bytes` bytes: `at` op= `value`. For
/// operations that return nothing.
using UpdateFunction = void (*)(uint8_t *at, uint64_t value, int32_t bytes);

class Transport {
public:
  struct Shape {
    int32_t rank = 0;
    int32_t worldSize = 1;
    /// 0 = all ranks are on one node.
    int32_t ranksPerNode = 0;
    /// Where programs see rank 0's heap, and where the transport does; they
    /// differ when programs must not reach other nodes.
    uint8_t *heaps = nullptr;
    uint8_t *reach = nullptr;
    uint64_t heapBytes = 0;
    /// Every operation is queued and deliver() is called from outside.
    bool random = false;
    /// Where the number of pending operations is kept for others to see.
    std::atomic<uint64_t> *inFlight = nullptr;
  };
  explicit Transport(const Shape &shape);
  ~Transport();
  Transport(const Transport &) = delete;
  Transport &operator=(const Transport &) = delete;

  //===--- where ranks are ------------------------------------------------===//

  int32_t nodeOf(int32_t pe) const { return shape.ranksPerNode ? pe / shape.ranksPerNode : 0; }
  /// Whether programs of this rank can load and store in `pe`'s heap.
  bool reachable(int32_t pe) const { return !severalNodes || nodeOf(pe) == ownNode; }
  /// Byte `offset` of `pe`'s heap, for the calls below.
  uint8_t *at(int32_t pe, uint64_t offset) const {
    uint8_t *base = severalNodes && nodeOf(pe) != ownNode ? shape.reach : shape.heaps;
    return base + uint64_t(pe) * shape.heapBytes + offset;
  }
  /// Whether operations on `pe` are complete when their call returns.
  bool isDirect(int32_t pe) const { return !network || (!shape.random && reachable(pe)); }

  //===--- operations -----------------------------------------------------===//
  // `to`, `from` and `at` on the peer's side come from at().

  void put(int32_t pe, uint8_t *to, const void *source, uint64_t bytes, bool nbi) {
    if (isDirect(pe)) [[likely]]
      copyPush(to, source, bytes);
    else
      queuePut(pe, to, source, bytes, nbi);
  }
  void get(int32_t pe, void *dest, const uint8_t *from, uint64_t bytes, bool nbi) {
    if (!nbi || isDirect(pe)) [[likely]]
      copyPull(dest, from, bytes);
    else
      queueGet(pe, dest, from, bytes);
  }
  void signal(int32_t pe, uint8_t *at, uint64_t value, int32_t op, int32_t bytes) {
    if (isDirect(pe)) [[likely]]
      updateSignal(at, value, op, bytes);
    else
      queueSignal(pe, at, value, op, bytes);
  }
  /// Data and then the signal; `direct` callers may do the two by themselves.
  void putSignal(int32_t pe, uint8_t *to, const void *source, uint64_t bytes, uint8_t *at,
                 uint64_t value, int32_t op, int32_t sigBytes, bool nbi) {
    if (isDirect(pe)) [[likely]] {
      copyPush(to, source, bytes);
      updateSignal(at, value, op, sigBytes);
    } else {
      queuePutSignal(pe, to, source, bytes, at, value, op, sigBytes, nbi);
    }
  }
  /// Atomics without a result. Those with one are carried out at once, by the
  /// caller, at at().
  void update(int32_t pe, uint8_t *at, UpdateFunction apply, uint64_t value, int32_t bytes) {
    if (isDirect(pe)) [[likely]]
      apply(at, value, bytes);
    else
      queueUpdate(pe, at, apply, value, bytes);
  }

  /// Operations to `pe` (-1 = to any rank, each by itself) keep their order
  /// across this call.
  void fence(int32_t pe = -1) {
    fullFence();
    if (network) [[unlikely]]
      queueFence(pe);
  }
  /// All operations of this rank (to `pe`, unless it is -1) are complete when
  /// it returns.
  void quiet(int32_t pe = -1) {
    if (network) [[unlikely]]
      deliverAll(pe);
    fullFence();
  }

  //===--- pending operations ---------------------------------------------===//

  bool hasQueue() const { return network != nullptr; }
  /// Number of pending operations.
  uint64_t pending() const { return shape.inFlight->load(std::memory_order_acquire); }
  /// Carries out one of the operations that may come next, `choice` modulo
  /// their number; false when nothing is pending.
  bool deliver(uint64_t choice);
  void deliverAll(int32_t pe = -1);
  /// The launch has ended: its arguments outside the symmetric heaps may
  /// vanish now. Reads their data, completes what would write to them.
  void letGoOfArguments();
  /// Forgets what is pending; after a failure.
  void drop();

private:
  static void fullFence() {
#if !defined(NEREID_TSAN)
    // TSan does not model stand-alone fences; all ordering that the runtime
    // promises also goes through acquire and release operations on signals.
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  }
  void queuePut(int32_t pe, uint8_t *to, const void *source, uint64_t bytes, bool nbi);
  void queueGet(int32_t pe, void *dest, const uint8_t *from, uint64_t bytes);
  void queueSignal(int32_t pe, uint8_t *at, uint64_t value, int32_t op, int32_t bytes);
  void queuePutSignal(int32_t pe, uint8_t *to, const void *source, uint64_t bytes, uint8_t *at,
                      uint64_t value, int32_t op, int32_t sigBytes, bool nbi);
  void queueUpdate(int32_t pe, uint8_t *at, UpdateFunction apply, uint64_t value, int32_t bytes);
  void queueFence(int32_t pe);

  const Shape shape;
  const bool severalNodes;
  const int32_t ownNode;
  /// Null when all ranks are reached directly.
  std::unique_ptr<Network> network;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_TRANSPORT_TRANSPORT_H
