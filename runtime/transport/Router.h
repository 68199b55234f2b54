// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Router.h - Which way an operation goes -----------------------------===//
//
// What programs and host code know of transports:
//
//   put, get, signal ──┬─ direct: the rank's heap is mapped ──────────▶ peer's heap
//                      │  here; a copy or an atomic instruction of
//                      │  the caller, complete when the call returns
//                      └─ the engine: other nodes, and all ranks ─────▶ ...
//                         under a random schedule or while somebody
//                         watches (Events.h)
//
// Direct ranks cost a test and no virtual call: the caller writes
//
//   if (router.isDirect(pe)) [[likely]]
//     copyPush(router.address(pe, offset), source, bytes);
//   else
//     // submit an Operation to router.engine(), and wait if it has to
//
// Fence and quiet are about all operations of this rank, whichever of its
// programs asked for them.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_TRANSPORT_ROUTER_H
#define NEREID_RUNTIME_TRANSPORT_ROUTER_H

#include "base/Sanitizer.h"
#include "transport/interface/Transport.h"
#include "transport/interface/Update.h"
#include "transport/shared_memory/Copy.h"

namespace nereid::runtime {

class Delayed;

class Router {
public:
  struct Shape {
    TransportShape transport;
    /// 0 = all ranks are on one node.
    int32_t ranksPerNode = 0;
    /// What carries bytes between nodes: a name of the table of transports, also
    /// after "delayed:".
    std::string between;
    /// Every operation is held back and deliver() is called from outside.
    bool random = false;
  };
  explicit Router(const Shape &shape);
  ~Router();
  Router(const Router &) = delete;
  Router &operator=(const Router &) = delete;

  /// While `on`, everything goes through an engine, which tells the observer. Called
  /// while nothing is under way.
  void watch(bool on);
  /// Why there is no engine, although there should be one.
  const Status &status() const { return error; }

  //===--- where ranks are ------------------------------------------------===//

  int32_t nodeOf(int32_t pe) const { return perNode ? pe / perNode : 0; }
  /// Whether programs of this rank can load and store in `pe`'s heap.
  bool reachable(int32_t pe) const { return !severalNodes || nodeOf(pe) == ownNode; }
  /// Byte `offset` of the heap of a rank that is reachable.
  uint8_t *address(int32_t pe, uint64_t offset) const {
    return heaps + uint64_t(pe) * heapBytes + offset;
  }
  /// Whether operations on `pe` are loads and stores of the caller, complete when
  /// they have been made.
  bool isDirect(int32_t pe) const { return !used || (!allByEngine && reachable(pe)); }
  /// What carries out operations on other ranks than these; null when all are
  /// direct.
  Transport *engine() const { return used.get(); }
  /// Where peers find the engine: what TransportShape::addressOf is to tell them.
  const std::string &engineAddress() const { return ownAddress; }

  //===--- operations -----------------------------------------------------===//

  void fence(int32_t pe = -1) {
    fullFence();
    if (used) [[unlikely]]
      used->fence(pe);
  }
  /// Starts a quiet of all operations of this rank (to `pe`, unless it is -1);
  /// true when there is nothing to wait for.
  bool quiet(int32_t pe, Completion &done) {
    if (used) [[unlikely]]
      return startQuiet(pe, done);
    fullFence();
    return true;
  }
  bool finished(const Completion &done) const { return !used || used->finished(done); }
  bool hasRoom(int32_t pe) const { return !used || used->hasRoom(pe); }
  /// Lets the engine work for a moment; for those who would only wait.
  void help() {
    if (used) [[unlikely]]
      used->progress();
  }

  //===--- random schedules -----------------------------------------------===//

  /// Number of operations that wait for deliver().
  uint64_t held() const;
  bool deliver(uint64_t choice);

  static void fullFence() {
#if !defined(NEREID_TSAN)
    // TSan does not model stand-alone fences; all ordering that the runtime
    // promises also goes through acquire and release operations on signals.
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  }

private:
  bool startQuiet(int32_t pe, Completion &done);
  Expected<std::unique_ptr<Transport>> makeEngine(const Shape &shape);

  const int32_t perNode;
  const bool severalNodes;
  const int32_t ownNode;
  uint8_t *const heaps;
  const uint64_t heapBytes;
  const TransportShape shape;
  bool allByEngine;
  /// Null when all ranks are reached directly.
  std::shared_ptr<Transport> used;
  /// `used` while nobody watches.
  std::shared_ptr<Transport> unwatched;
  std::string ownAddress;
  Delayed *scheduled = nullptr; ///< `used`, under a random schedule
  Status error;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_TRANSPORT_ROUTER_H
