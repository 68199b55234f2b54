// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceHeaps.cpp - Heaps of GPUs that all ranks map -----------------===//
//
// Memory of a GPU has no name that another process could open; its driver gives
// a file descriptor for it. So each rank binds a datagram socket with a name
// made of the job and its rank, sends its descriptor to every other, and maps
// what it gets at its owner's place in the reserved range:
//
//       at                at + stride        at + 2 * stride
//       [ heap of rank 0 ][ heap of rank 1 ][ heap of rank 2 ]   in every process
//
// A rank that sent first and received afterwards could stand still with all
// others, each before a full socket. Nothing blocks here therefore: each round
// tries one send and one receive, and only a round without either waits for a
// moment. Sockets are in the abstract namespace, where anybody on the machine
// may write: a message counts only if its sender is of the same user, which the
// kernel attests.
//
//===----------------------------------------------------------------------===//
#include "symmetric/DeviceHeaps.h"

#include "base/Clock.h"
#include "base/Knobs.h"
#include "base/Process.h"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace nereid::runtime {

Expected<std::shared_ptr<DeviceHeaps>> DeviceHeaps::create(Device &device, int32_t worldSize,
                                                           uint64_t bytes) {
  Expected<HeapShape> shape = device.heapShape(bytes);
  if (!shape.ok())
    return shape.status();
  std::shared_ptr<DeviceHeaps> heaps(new DeviceHeaps(device, worldSize, *shape));
  Expected<uint8_t *> at = device.reserveHeaps(uint64_t(worldSize) * shape->stride);
  if (!at.ok())
    return at.status();
  heaps->at = *at;
  return heaps;
}

DeviceHeaps::~DeviceHeaps() {
  for (size_t r = 0; r < handles.size(); ++r) {
    if (mapped[r])
      device.unmapHeap(at + r * shape.stride, shape.bytes);
    if (handles[r].descriptor >= 0)
      close(handles[r].descriptor);
  }
  if (at)
    device.releaseHeaps(at, handles.size() * shape.stride);
  if (socket >= 0)
    close(socket);
}

Status DeviceHeaps::map(int32_t rank) {
  Status st = device.mapHeap(handles[size_t(rank)], at + uint64_t(rank) * shape.stride);
  mapped[size_t(rank)] = st.ok();
  return st;
}

Status DeviceHeaps::allocate(int32_t rank) {
  Expected<HeapHandle> heap = device.allocateHeap(shape.bytes, rank);
  if (!heap.ok())
    return heap.status();
  handles[size_t(rank)] = *heap;
  return map(rank);
}

/// The socket of `rank`, with a name that vanishes with it.
static socklen_t addressOf(sockaddr_un &address, uint64_t job, int32_t rank) {
  address = {};
  address.sun_family = AF_UNIX;
  int n =
      std::snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "nereid.%u.heap.%llx.%d",
                    unsigned(getuid()), static_cast<unsigned long long>(job), rank);
  return socklen_t(offsetof(sockaddr_un, sun_path) + 1 + size_t(n));
}

Status DeviceHeaps::listen(uint64_t job, int32_t rank) {
  socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0)
    return systemError("cannot make a socket for the heaps of peers", errno);
  int on = 1;
  setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
  sockaddr_un address;
  socklen_t bytes = addressOf(address, job, rank);
  if (bind(socket, reinterpret_cast<sockaddr *>(&address), bytes) != 0)
    return systemError("cannot name the socket for the heaps of peers", errno);
  return {};
}

namespace {
struct Message {
  int32_t rank;
  uint64_t bytes;
};
/// Room for a descriptor and the sender's credentials.
union Attached {
  cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(ucred))];
};
} // namespace

/// False when it has to be tried again.
static bool sendHeap(int socket, const HeapHandle &heap, uint64_t job, int32_t from, int32_t to,
                     int &error) {
  Message message{from, heap.bytes};
  iovec part{&message, sizeof(message)};
  sockaddr_un address;
  Attached attached = {};
  msghdr header = {};
  header.msg_name = &address;
  header.msg_namelen = addressOf(address, job, to);
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = attached.bytes;
  header.msg_controllen = CMSG_SPACE(sizeof(int));
  cmsghdr *descriptor = CMSG_FIRSTHDR(&header);
  descriptor->cmsg_level = SOL_SOCKET;
  descriptor->cmsg_type = SCM_RIGHTS;
  descriptor->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(descriptor), &heap.descriptor, sizeof(int));
  error = 0;
  if (sendmsg(socket, &header, MSG_NOSIGNAL) >= 0)
    return true;
  error = errno == EAGAIN || errno == EINTR ? 0 : errno;
  return false;
}

/// The next heap that a peer of this user has sent; the rank is -1 when there is none.
static Message receiveHeap(int socket, int &descriptor) {
  Message message{-1, 0};
  iovec part{&message, sizeof(message)};
  Attached attached = {};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = attached.bytes;
  header.msg_controllen = sizeof(attached.bytes);
  descriptor = -1;
  ssize_t got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  bool ours = false;
  if (got >= 0)
    for (cmsghdr *c = CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c)) {
      if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        std::memcpy(&descriptor, CMSG_DATA(c), sizeof(int));
      if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
        ucred who;
        std::memcpy(&who, CMSG_DATA(c), sizeof(who));
        ours = who.uid == getuid();
      }
    }
  if (got == ssize_t(sizeof(message)) && ours && descriptor >= 0)
    return message;
  if (descriptor >= 0)
    close(descriptor);
  return {-1, 0};
}

Status DeviceHeaps::exchange(uint64_t job, int32_t rank, double timeoutSeconds) {
  const int32_t worldSize = int32_t(handles.size());
  const double limit = timeoutSeconds > 0 ? timeoutSeconds : 3e7; // 0 = no limit, which a year is
  const uint64_t deadline = nowNs() + uint64_t(limit * 1e9);
  int32_t sent = 0, received = 0;
  while (sent < worldSize - 1 || received < worldSize - 1) {
    bool moved = false;
    if (sent < worldSize - 1) {
      int error = 0;
      int32_t to = (rank + 1 + sent) % worldSize;
      moved = sendHeap(socket, handles[size_t(rank)], job, rank, to, error);
      sent += moved;
      if (error)
        return systemError("cannot send the heap to rank " + std::to_string(to), error);
    }
    int descriptor = -1;
    Message message = receiveHeap(socket, descriptor);
    if (message.rank >= 0) {
      moved = true;
      const size_t from = size_t(message.rank);
      if (from >= handles.size() || int32_t(from) == rank || mapped[from] ||
          message.bytes != shape.bytes) {
        close(descriptor);
        return Status::error(StatusCode::Bootstrap, "a peer has sent another heap than expected");
      }
      handles[from] = {descriptor, 0, message.bytes};
      Status st = map(message.rank);
      close(descriptor);
      handles[from].descriptor = -1;
      if (!st.ok())
        return Status::error(st.code(), "the heap of rank " + std::to_string(from) +
                                            " cannot be mapped by rank " + std::to_string(rank) +
                                            ": " + st.message());
      ++received;
    }
    if (moved)
      continue;
    if (interruptRequested())
      return Status::error(StatusCode::Interrupted, "interrupted while ranks exchange their heaps",
                           rank);
    if (nowNs() > deadline)
      return Status::error(StatusCode::Bootstrap,
                           "rank " + std::to_string(rank) + " has got the heaps of " +
                               std::to_string(received) + " of " + std::to_string(worldSize - 1) +
                               " peers within " + std::to_string(int(timeoutSeconds)) + " s");
    pollfd ready{socket, POLLIN, 0};
    poll(&ready, 1, sent < worldSize - 1 ? 1 : 10);
  }
  return {};
}

} // namespace nereid::runtime
