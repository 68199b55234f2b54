// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Network.h - Pending operations of one rank -------------------------===//
//
// The queue behind Transport. Whoever delivers holds the lock while it does:
// an operation is either pending or complete, and quiet needs nobody's help.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_TRANSPORT_NETWORK_NETWORK_H
#define NEREID_RUNTIME_TRANSPORT_NETWORK_NETWORK_H

#include "transport/Transport.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace nereid::runtime {

struct PendingOperation {
  enum Kind : uint8_t { Put, PutSignal, Get, Signal, Update };
  Kind kind = Put;
  int32_t pe = 0;
  uint64_t fences = 0; ///< to `pe` before it
  uint8_t *to = nullptr;
  const uint8_t *from = nullptr;
  uint64_t bytes = 0;
  /// The data itself, when it was taken along; `from` points to it.
  std::unique_ptr<uint8_t[]> data;
  uint8_t *signal = nullptr; ///< also the target of updates
  uint64_t value = 0;
  int32_t op = 0;
  int32_t width = 0;
  UpdateFunction apply = nullptr;

  void takeData();
};

class Network {
public:
  Network(const Transport::Shape &shape, bool background);
  ~Network();

  void add(PendingOperation operation);
  void fence(int32_t pe);
  bool deliver(uint64_t choice);
  void deliverAll(int32_t pe);
  void letGoOfArguments();
  void drop();

private:
  /// Fills `next` with the indices of the operations that may come now.
  void collect(int32_t pe);
  void carryOut(size_t index);
  void publishCount();
  void threadMain();
  bool isSymmetric(const void *at, uint64_t bytes) const;

  const Transport::Shape shape;
  const bool background;
  std::mutex lock; ///< guards what follows
  std::vector<PendingOperation> pending;
  std::vector<uint64_t> fences;   ///< by rank
  std::vector<uint64_t> earliest; ///< scratch of collect(), by rank
  std::vector<size_t> next;       ///< filled by collect()
  uint64_t bytesTaken = 0;
  std::condition_variable wake;
  std::thread thread; ///< started with the first operation
  bool stopping = false;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_TRANSPORT_NETWORK_NETWORK_H
