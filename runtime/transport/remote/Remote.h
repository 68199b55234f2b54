// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Remote.h - Ranks that map nothing of each other --------------------===//
//
// Every rank listens on a socket of its own, and whoever wants something of it
// connects there. A request is a message that the target's thread carries out; a
// rank is reached whatever its programs do.
//
//   asking rank                               target
//
//   submit ─▶ queue ─▶ socket ─────────────▶ thread: copies into its heap,
//                                             updates the word, or answers
//   target of a get, fetch ◀───────────────── Answer
//   oldest open request ◀──────────────────── Ack: so many are carried out
//
// A socket keeps the order of messages and the thread that of their execution,
// so requests of one rank to another are carried out in the order in which they
// were submitted: a fence needs nothing. What is out of order on real networks is
// added by `delayed`.
//
// Requests have numbers, in the order of submission to all ranks. Each target
// acknowledges as soon as it has nothing more to read, at the latest every
// kAckEvery requests; answers stand in the stream before the acknowledgement of
// their request. So everything that anybody can wait for is one question: is the
// oldest request to a rank that is not acknowledged younger than this one?
//
// The thread never waits for a socket to take its answers, or two ranks that ask
// each other for much would wait for each other's threads.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_TRANSPORT_REMOTE_REMOTE_H
#define NEREID_RUNTIME_TRANSPORT_REMOTE_REMOTE_H

#include "transport/interface/Delivery.h"
#include "transport/interface/Transport.h"
#include "transport/remote/Channel.h"

#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

namespace nereid::runtime {

class Remote final : public Transport {
public:
  explicit Remote(const TransportShape &shape);
  ~Remote() override;

  Expected<std::string> expose() override;
  void withdraw() override;
  Status submit(const Operation &operation, Completion &done) override;
  bool hasRoom(int32_t pe) const override;
  bool finished(const Completion &done) const override;
  void fence(int32_t) override {} // requests to a rank stay in order
  void quiet(int32_t pe, Completion &done) override;
  bool progress() override;
  void letGoOfArguments(Completion &done) override;
  void abandon(Completion &done) override;
  void drop(int32_t pe) override;

private:
  using Channel = remote::Channel;

  /// Where an answer goes; null: nowhere any more.
  struct Question {
    uint64_t number;
    uint8_t *target;
    uint64_t bytes;
  };
  /// A rank that this one asks.
  struct Peer {
    std::unique_ptr<Channel> channel;
    /// Why it can no longer be asked; empty while it can.
    std::string lost;
    std::deque<uint64_t> open; ///< numbers of requests that are not acknowledged
    uint64_t acknowledged = 0;
    std::deque<Question> questions;
    // For those who look without the lock.
    std::atomic<uint64_t> oldest{~uint64_t(0)};
    std::atomic<uint64_t> openCount{0};
    std::atomic<uint64_t> queuedBytes{0};
  };
  /// A rank that asks this one.
  struct Caller {
    std::unique_ptr<Channel> channel;
    int32_t rank = -1; ///< until its Hello
    uint64_t carriedOut = 0;
    uint64_t acknowledged = 0;
    /// Of the request that is being received.
    std::optional<Delivery> delivery;
  };
  /// What an event is about.
  struct Place {
    int32_t peer = -1;
    Caller *caller = nullptr;
  };

  Status connectTo(int32_t pe);
  void watch(Channel &channel, Place place);
  void forget(Channel &channel);
  void threadMain();
  /// Handles what is there, waiting up to `timeoutMs`; true when there was
  /// anything.
  bool turn(int timeoutMs);
  void acceptCallers();
  void send(Channel &channel, Place place);
  void receive(Channel &channel, Place place);
  /// A header has come: where its payload goes; false when it is none.
  bool begin(Channel &channel, Place place);
  void carryOut(Caller &caller);
  void acknowledge(Caller &caller);
  void acknowledged(Peer &peer, uint64_t count);
  void publish(Peer &peer);
  void end(Channel &channel, Place place);
  bool isInHeap(uint64_t offset, uint64_t bytes) const {
    return offset <= shape.heapBytes && bytes <= shape.heapBytes - offset;
  }

  const TransportShape shape;
  std::atomic<uint64_t> issued{0}; ///< number of the youngest request
  std::unique_ptr<Peer[]> peers;   ///< by rank
  std::mutex lock;                 ///< guards what is not atomic
  std::vector<std::unique_ptr<Caller>> callers;
  std::unordered_map<uint64_t, Place> places; ///< by the id of a channel
  uint64_t nextId = 2;
  int events = -1;   ///< epoll
  int listener = -1; ///< id 0
  int stop = -1;     ///< id 1: an event descriptor that ends the thread
  std::thread thread;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_TRANSPORT_REMOTE_REMOTE_H
