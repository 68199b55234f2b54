// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Delayed.h - Holds operations back and reorders them ----------------===//
//
// Wraps any transport and adds nothing but lateness: operations are kept here
// and handed on later, in an order that the memory model allows.
//
//   submit ─▶ held ─▶ deliver, any that may come next ─▶ transport below
//                          ▲
//           fence: none overtakes an earlier one to that rank
//           quiet: all of them, now
//
//   - of the operations to one rank those that have a fence between them keep
//     their order; all others, also two to the same place, come in any;
//   - a put with a signal is delivered in two steps, the data first, so that
//     others see the state in between;
//   - the source of a non-blocking put is read when the put is delivered, the
//     target of a non-blocking get written then; blocking puts take their data
//     along at once;
//   - what somebody waits for (a blocking get, a fetch) is never held;
//   - gets are not held back by fences.
//
// Who delivers: a thread of its own, in the background; or, under a random
// schedule, whoever calls deliver() with a choice that the seed has drawn.
//
// Whoever delivers holds the lock while it does: an operation is either held or
// has been handed on, and quiet needs nobody's help.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_TRANSPORT_DELAYED_DELAYED_H
#define NEREID_RUNTIME_TRANSPORT_DELAYED_DELAYED_H

#include "transport/interface/Transport.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace nereid::runtime {

class Delayed final : public Transport {
public:
  Delayed(std::unique_ptr<Transport> below, const TransportShape &shape, bool background);
  ~Delayed() override;

  Expected<std::string> expose() override { return below->expose(); }
  void withdraw() override;
  Status submit(const Operation &operation, Completion &done) override;
  bool hasRoom(int32_t pe) const override { return below->hasRoom(pe); }
  bool finished(const Completion &done) const override { return below->finished(done); }
  void fence(int32_t pe) override;
  void quiet(int32_t pe, Completion &done) override;
  bool progress() override { return below->progress(); }
  void letGoOfArguments(Completion &done) override;
  void abandon(Completion &done) override;
  void drop(int32_t pe) override;

  /// Number of operations that are held.
  uint64_t held() const { return count.load(std::memory_order_acquire); }
  /// Hands on one of the operations that may come next, `choice` modulo their
  /// number; false when none is held.
  bool deliver(uint64_t choice);

private:
  struct Held {
    Operation operation;
    uint64_t fences = 0; ///< to its rank before it
    /// The data itself, when it was taken along; operation.source points to it.
    std::unique_ptr<uint8_t[]> data;
    bool dataIsThere = false; ///< of a put with signal: only the signal is left

    /// False when the source cannot be read any more.
    bool takeData();
  };
  /// Fills `next` with the indices of the operations that may come now.
  void collect(int32_t pe);
  void handOn(size_t index);
  void handOnAll(int32_t pe);
  void forward(const Operation &operation);
  void startThread();
  void stopThread();
  void threadMain();
  void setCount();

  const std::unique_ptr<Transport> below;
  const TransportShape shape;
  const bool background;
  std::atomic<uint64_t> count{0};
  std::mutex lock; ///< guards what follows
  std::vector<Held> pending;
  std::vector<uint64_t> fences;   ///< by rank
  std::vector<uint64_t> passedOn; ///< by rank: fences that the transport below knows of
  std::vector<uint64_t> earliest; ///< scratch of collect(), by rank
  std::vector<size_t> next;       ///< filled by collect()
  uint64_t bytesTaken = 0;
  std::condition_variable wake;
  std::thread thread; ///< started with the first operation
  bool stopping = false;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_TRANSPORT_DELAYED_DELAYED_H
