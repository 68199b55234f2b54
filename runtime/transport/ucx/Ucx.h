// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Ucx.h - Ranks that reach each other over UCX -----------------------===//
//
// Every operation is an active message, which the process of its target carries out:
//
//   rank that asks                                rank that is asked
//   ──────────────                                ──────────────────
//   submit ── Put Update Get Fetch ─────────────▶ arrive: need > carriedOut ?
//     open.push_back(number)                        aside : carryOut
//   answered ◀───────────────────── Answer ─────    (Get, Fetch)
//   acknowledged ◀────────── Ack {carriedOut} ──    in every message, and when asked
//   quiet ──── Flush ───────────────────────────▶   asked once need <= carriedOut
//
// UCX promises no order, and none is needed: `need` says how many messages of its
// sender must have been carried out before this one is. A fence sets it, for all that
// follow, to the number of messages so far. Nothing is sent for a fence, and nothing
// waits for one but at the target.
//
//   - Since `need` only grows, carriedOut comes to a fence's number exactly when the
//     messages before it are done, whichever they were. A quiet is a fence, and the
//     count that comes back tells that it is over.
//   - Data travels in pieces. The signal of a put that has several comes with the last
//     one, behind a fence.
//   - Words are changed by the processor of their owner, with the instructions that its
//     own programs use. UCX's atomics, which may be those of a network adapter, are not
//     used; nor is its fence, which means different things in different versions.
//
// One worker of UCX a rank, whose calls are made with `lock` held. A thread sleeps
// until something comes; those who wait help. What a message asks for is done inside
// ucp_worker_progress, what has to be sent because of it after that.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_TRANSPORT_UCX_UCX_H
#define NEREID_RUNTIME_TRANSPORT_UCX_UCX_H

#include "transport/interface/Delivery.h"
#include "transport/interface/Transport.h"
#include "transport/ucx/Library.h"

#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace nereid::runtime {

namespace ucx {
struct Header {
  enum Kind : uint8_t {
    Put,    ///< `bytes` that follow go to `offset`; `signals`: then update `at`
    Update, ///< the word at `at`
    Get,    ///< asks for `bytes` at `offset`
    Fetch,  ///< asks for the word at `at` from before its update
    Flush,  ///< asks for an Ack when `need` is met
    Answer, ///< `bytes` that follow, to question `number`
    Ack,    ///< nothing but `carriedOut`
  };
  uint8_t kind = Put;
  uint8_t op = 0;
  uint8_t width = 0;
  uint8_t signals = 0;
  int32_t rank = 0;        ///< who sends it
  uint64_t need = 0;       ///< of the sender's messages to be carried out before
  uint64_t carriedOut = 0; ///< of the receiver's messages by the sender
  uint64_t offset = 0;
  uint64_t at = 0;
  uint64_t bytes = 0;
  uint64_t value = 0;
  uint64_t compare = 0;
  uint64_t number = 0; ///< of a question
  uint64_t tag = 0;    ///< for observers: Operation::tag
  uint32_t id = 0;     ///< and Operation::id
  uint32_t unused = 0;

  bool isRequest() const { return kind <= Fetch; }
  bool hasPayload() const { return kind == Put || kind == Answer; }
};
static_assert(sizeof(Header) == 88);

inline constexpr uint64_t kProtocol = 0x4e52'5543'0001; // changes with Header
} // namespace ucx

class Ucx final : public Transport {
public:
  Ucx(const TransportShape &shape, const ucx::Library &library);
  ~Ucx() override;

  Expected<std::string> expose() override;
  void withdraw() override;
  Status submit(const Operation &operation, Completion &done) override;
  bool hasRoom(int32_t pe) const override;
  bool finished(const Completion &done) const override;
  void fence(int32_t pe) override;
  void quiet(int32_t pe, Completion &done) override;
  bool progress() override;
  void letGoOfArguments(Completion &done) override;
  void abandon(Completion &done) override;
  void drop(int32_t pe) override;

private:
  using Header = ucx::Header;

  /// A message with its data, which must stay until UCX has sent it.
  struct Message {
    Header header;
    const uint8_t *data = nullptr;
    std::unique_ptr<uint8_t[]> own;

    uint64_t payload() const { return header.hasPayload() ? header.bytes : 0; }
  };
  struct Sending;
  /// Where an answer goes; null: nowhere any more.
  struct Question {
    uint8_t *target;
    uint64_t bytes;
  };
  /// A request that came before those that it has to follow.
  struct Early {
    Header header;
    std::vector<uint8_t> data;
  };
  struct Peer {
    ucp_ep_h endpoint = nullptr;
    /// Why it cannot be reached any more; empty while it can.
    std::string lost;

    // What this rank asks of it.
    uint64_t issued = 0; ///< messages so far
    uint64_t needed = 0; ///< `issued` at the last fence
    uint64_t acknowledged = 0;
    std::deque<uint64_t> open; ///< numbers of those that are not acknowledged
    std::map<uint64_t, Question> questions;
    uint64_t sendingBytes = 0;
    // For those who look without the lock: the oldest of `open` and of `questions`.
    std::atomic<uint64_t> oldest{~uint64_t(0)}, oldestQuestion{~uint64_t(0)};
    std::atomic<uint64_t> openCount{0}, queuedBytes{0};

    // What it asks of this rank.
    uint64_t carriedOut = 0;
    uint64_t told = 0;   ///< of `carriedOut`, by any message
    bool asked = false;  ///< a Flush waits for an Ack
    bool listed = false; ///< in `toTell`
    std::vector<Early> aside;
  };

  Status failed(const std::string &what, ucs_status_t status) const;
  Status connect(int32_t pe);
  void lose(int32_t pe, const std::string &why);
  Status send(int32_t pe, Message message);
  /// The message is a request: number and need are given to it.
  Status ask(int32_t pe, Message message);
  void publish(Peer &peer);
  void flush(int32_t pe);

  static ucs_status_t onMessage(void *self, const void *header, size_t headerBytes, void *data,
                                size_t bytes, const ucp_am_recv_param_t *how);
  static void onError(void *self, ucp_ep_h endpoint, ucs_status_t status);
  void arrive(const Header &header, const uint8_t *data);
  bool makesSense(const Header &header, uint64_t bytes) const;
  void carryOut(const Header &header, const uint8_t *data);
  void applyAside(int32_t pe);
  void answered(const Header &header, const uint8_t *data);
  void acknowledge(Peer &peer, uint64_t count);
  void list(int32_t pe);

  /// Lets UCX work until there is nothing to do, and sends what comes of it.
  bool work(int rounds);
  /// Sends counts to those who wait for them; `late`, to all.
  void tell(bool late);
  void closeEndpoints();
  void threadMain();
  bool isInHeap(uint64_t offset, uint64_t bytes) const {
    return offset <= shape.heapBytes && bytes <= shape.heapBytes - offset;
  }

  const TransportShape shape;
  const ucx::Library &library;
  ucp_context_h context = nullptr;
  ucp_worker_h worker = nullptr;
  int events = -1;               ///< of the worker
  std::unique_ptr<Peer[]> peers; ///< by rank
  std::mutex lock;               ///< guards what is not atomic, and all calls of UCX
  uint64_t lastNumber = 0;
  std::vector<std::pair<int32_t, Message>> answers; ///< to be sent after progress
  std::vector<int32_t> toTell, toClose;
  std::vector<void *> closing; ///< requests
  bool nonsense = false;       ///< has been reported
  std::atomic<bool> sleeps{false}, stopping{false};
  std::thread thread;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_TRANSPORT_UCX_UCX_H
