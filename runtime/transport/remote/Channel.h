// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Channel.h - Messages over one connected socket ---------------------===//
//
// A message is a header and the bytes that follow it. Nothing here blocks: what
// does not fit into the socket stays in a queue, what has not come whole is
// continued with the next call. The owner's lock guards a channel.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_TRANSPORT_REMOTE_CHANNEL_H
#define NEREID_RUNTIME_TRANSPORT_REMOTE_CHANNEL_H

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace nereid::runtime::remote {

struct Header {
  enum Kind : uint8_t {
    Hello,  ///< the first one: `rank` speaks, `value` is kProtocol
    Put,    ///< `bytes` that follow go to `offset`; `signals`: then update `at`
    Update, ///< the word at `at`
    Get,    ///< asks for `bytes` at `offset`
    Fetch,  ///< asks for the word at `at` from before its update
    Answer, ///< `bytes` that follow, to the oldest question that has none
    Ack,    ///< `value` requests have been carried out
  };
  uint8_t kind = Hello;
  uint8_t op = 0;
  uint8_t width = 0;
  uint8_t signals = 0;
  int32_t rank = 0;
  uint64_t offset = 0;
  uint64_t at = 0;
  uint64_t bytes = 0;
  uint64_t value = 0;
  uint64_t compare = 0;
  uint64_t tag = 0; ///< for observers: Operation::tag
  uint32_t id = 0;  ///< and Operation::id
  uint32_t unused = 0;

  bool hasPayload() const { return kind == Put || kind == Answer; }
  bool isRequest() const { return kind >= Put && kind <= Fetch; }
};
static_assert(sizeof(Header) == 64);

inline constexpr uint64_t kProtocol = 0x4e52'4d54'0002; // changes with Header

struct Message {
  Header header;
  const uint8_t *data = nullptr; ///< header.bytes, for those with a payload
  std::unique_ptr<uint8_t[]> own;

  uint64_t payload() const { return header.hasPayload() ? header.bytes : 0; }
  /// Makes `data` a copy of its own; zeros, and false, when it cannot be read.
  bool takeData();
};

class Channel {
public:
  explicit Channel(int fd) : fd(fd), buffer(kBufferBytes) {}
  ~Channel();
  Channel(const Channel &) = delete;
  Channel &operator=(const Channel &) = delete;

  /// What a call came to; otherwise `errno` says why the channel has ended, 0
  /// that the other side has closed it.
  enum class Result { Done, Later, Ended };

  //===--- sending --------------------------------------------------------===//

  void push(Message message) {
    queuedBytes += message.payload();
    out.push_back(std::move(message));
  }
  /// Sends what fits; Later when something is left.
  Result flush();
  /// Takes back what has not begun to leave, last first, as far as `isOne` says;
  /// what has begun gets its own copy of the data (false: which cannot be read).
  template <typename IsOne> bool takeBack(IsOne isOne) {
    while (!out.empty() && !(out.size() == 1 && sentOfFirst) && isOne(out.back())) {
      queuedBytes -= out.back().payload();
      out.pop_back();
    }
    return out.empty() || out.front().takeData();
  }
  std::deque<Message> out;
  uint64_t queuedBytes = 0; ///< of payloads in `out`

  //===--- receiving ------------------------------------------------------===//

  /// Receives a whole header; Done when `header` is one.
  Result receiveHeader();
  /// Receives the rest of the payload, `left` bytes, to `into` (null: nowhere);
  /// Done when it is there.
  Result receivePayload();
  Header header;
  uint8_t *into = nullptr;
  uint64_t left = 0;
  /// Later when all that has been read is used up.
  bool mayRead = true;
  /// The header is complete, its payload not yet.
  bool inPayload = false;

  const int fd;
  uint64_t id = 0;       ///< in events
  bool wantsOut = false; ///< is told when the socket takes more

private:
  static constexpr uint64_t kBufferBytes = 32 * 1024;
  /// At most `bytes` to `to`, or dropped; sets `got`.
  Result take(uint8_t *to, uint64_t bytes, uint64_t &got);

  uint64_t sentOfFirst = 0; ///< bytes of out.front(), header included
  uint64_t headerGot = 0;
  std::vector<uint8_t> buffer; ///< received, not yet taken: [begin, end)
  uint64_t begin = 0, end = 0;
};

} // namespace nereid::runtime::remote

#endif // NEREID_RUNTIME_TRANSPORT_REMOTE_CHANNEL_H
