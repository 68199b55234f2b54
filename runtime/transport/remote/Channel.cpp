// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/remote/Channel.h"

#include "base/FaultGuard.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

namespace nereid::runtime::remote {

/// At least so much is received without a detour through the buffer.
static constexpr uint64_t kDirectBytes = 4096;
/// At most so much at once, so that others get the lock in between.
static constexpr uint64_t kPieceBytes = 256 * 1024;

bool Message::takeData() {
  if (own || payload() == 0)
    return true;
  own.reset(new uint8_t[header.bytes]());
  const bool readable = touches([&] { std::memcpy(own.get(), data, header.bytes); });
  data = own.get();
  return readable;
}

Channel::~Channel() { close(fd); }

static bool isLater(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

Channel::Result Channel::flush() {
  while (!out.empty()) {
    const Message &m = out.front();
    const uint64_t all = sizeof(Header) + m.payload();
    iovec parts[2];
    size_t count = 0;
    if (sentOfFirst < sizeof(Header))
      parts[count++] = {reinterpret_cast<uint8_t *>(const_cast<Header *>(&m.header)) + sentOfFirst,
                        sizeof(Header) - sentOfFirst};
    uint64_t ofData = sentOfFirst > sizeof(Header) ? sentOfFirst - sizeof(Header) : 0;
    if (ofData < m.payload())
      parts[count++] = {const_cast<uint8_t *>(m.data) + ofData,
                        std::min(m.payload() - ofData, kPieceBytes)};
    msghdr message;
    std::memset(&message, 0, sizeof(message));
    message.msg_iov = parts;
    message.msg_iovlen = count;
    ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0) {
      if (errno == EINTR)
        continue;
      return isLater(errno) ? Result::Later : Result::Ended;
    }
    sentOfFirst += uint64_t(n);
    if (sentOfFirst < all)
      continue;
    queuedBytes -= m.payload();
    out.pop_front();
    sentOfFirst = 0;
  }
  return Result::Done;
}

Channel::Result Channel::take(uint8_t *to, uint64_t bytes, uint64_t &got) {
  got = 0;
  while (begin == end) {
    if (!mayRead)
      return Result::Later;
    const bool direct = to && bytes >= kDirectBytes;
    ssize_t n = direct ? recv(fd, to, std::min(bytes, kPieceBytes), MSG_DONTWAIT)
                       : recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return isLater(errno) ? Result::Later : Result::Ended;
    if (n == 0) {
      errno = 0;
      return Result::Ended;
    }
    if (direct) {
      got = uint64_t(n);
      return Result::Done;
    }
    begin = 0;
    end = uint64_t(n);
  }
  got = std::min(bytes, end - begin);
  if (to && !touches([&] { std::memcpy(to, buffer.data() + begin, got); })) {
    errno = EFAULT;
    return Result::Ended;
  }
  begin += got;
  return Result::Done;
}

Channel::Result Channel::receiveHeader() {
  while (headerGot < sizeof(Header)) {
    uint64_t got;
    Result result =
        take(reinterpret_cast<uint8_t *>(&header) + headerGot, sizeof(Header) - headerGot, got);
    if (result != Result::Done)
      return result;
    headerGot += got;
  }
  headerGot = 0;
  return Result::Done;
}

Channel::Result Channel::receivePayload() {
  while (left) {
    uint64_t got;
    Result result = take(into, left, got);
    if (result != Result::Done)
      return result;
    left -= got;
    if (into)
      into += got;
  }
  return Result::Done;
}

} // namespace nereid::runtime::remote
