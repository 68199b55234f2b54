// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Remote.cpp - Requests, answers and their thread --------------------===//
//
// Both roles of a rank are here: as one that asks (Peer: submit, acknowledged)
// and as one that is asked (Caller: begin, carryOut, acknowledge). One lock
// guards all of it but three words of each Peer, which publish() sets and
// hasRoom() and finished() read without it: they are asked again and again by
// programs that wait.
//
//       a request    open    questions        it leaves the list when
//       put, update   x                       the Ack that counts it has come
//       get, fetch    x         x             its Answer has come whole; open: as above
//
// A stream of bytes cannot lose its place. So memory that turns out not to be
// there (the kernel says EFAULT) is reported to the job, but the message goes
// on: zeros are sent in place of the source, what was meant for the target is
// read and dropped.
//
// A request to a rank that has gone stays open. That is meant: who waits for it
// ends with the failure of the job, which says how that rank's process ended,
// and that is the better message. Only drop() closes it, when nobody waits any
// more.
//
//===----------------------------------------------------------------------===//
#include "transport/remote/Remote.h"

#include "transport/interface/Delivery.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace nereid::runtime {

using remote::Channel;
using remote::Header;
using remote::Message;

/// Bounds of what is under way to one rank; who finds it full waits.
static constexpr uint64_t kMaxOpen = 1024;
static constexpr uint64_t kMaxQueuedBytes = uint64_t(64) << 20;
static constexpr uint64_t kAckEvery = 256;
/// Messages of one channel before others have their turn.
static constexpr int kMessagesAtOnce = 64;
static constexpr uint64_t kListenerId = 0, kStopId = 1;

static constexpr const char *kNoSource =
    "the memory of a put is not there any more; it must stay until a quiet";
static constexpr const char *kNoTarget =
    "the memory of a get is not there any more; it must stay until a quiet";

/// Nobody else may read or write this rank's memory, nor answer for another.
static bool isSameUser(int fd) {
  ucred who;
  socklen_t size = sizeof(who);
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == getuid();
}

static Status failed(const std::string &what) {
  return Status::error(StatusCode::SystemError,
                       "transport remote: " + what + ": " + std::strerror(errno));
}

Remote::Remote(const TransportShape &shape)
    : shape(shape), peers(new Peer[size_t(shape.worldSize)]) {}

Remote::~Remote() {
  withdraw();
  for (int fd : {events, listener, stop})
    if (fd >= 0)
      close(fd);
}

//===----------------------------------------------------------------------===//
// Beginning and end
//===----------------------------------------------------------------------===//

Expected<std::string> Remote::expose() {
  events = epoll_create1(EPOLL_CLOEXEC);
  stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (events < 0 || stop < 0 || listener < 0)
    return failed("no descriptors are left");
  // Without a name in it the system picks an abstract one that nobody has: nothing is
  // left in a file system.
  sockaddr_un address;
  std::memset(&address, 0, sizeof(address));
  address.sun_family = AF_UNIX;
  auto *any = reinterpret_cast<sockaddr *>(&address);
  socklen_t length = sizeof(address);
  if (bind(listener, any, sizeof(address.sun_family)) < 0 ||
      getsockname(listener, any, &length) < 0 || listen(listener, shape.worldSize) < 0)
    return failed("cannot listen for other ranks");
  for (auto [fd, id] : {std::pair(listener, kListenerId), std::pair(stop, kStopId)}) {
    epoll_event event{EPOLLIN, {.u64 = id}};
    if (epoll_ctl(events, EPOLL_CTL_ADD, fd, &event) < 0)
      return failed("epoll_ctl");
  }
  // Signals are for the threads of the program, but for faults.
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV); // touches() gets them back
  sigdelset(&all, SIGBUS);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread = std::thread(&Remote::threadMain, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return std::string(address.sun_path, length - offsetof(sockaddr_un, sun_path));
}

void Remote::withdraw() {
  if (!thread.joinable())
    return;
  uint64_t one = 1;
  (void)!write(stop, &one, sizeof(one));
  thread.join();
  std::lock_guard<std::mutex> guard(lock);
  callers.clear();
  for (int32_t pe = 0; pe < shape.worldSize; ++pe) {
    peers[pe].channel.reset();
    if (peers[pe].lost.empty())
      peers[pe].lost = "this rank has left the job";
  }
  places.clear();
}

Status Remote::connectTo(int32_t pe) {
  Peer &peer = peers[pe];
  auto refuse = [&](const char *what) {
    peer.lost = "rank " + std::to_string(pe) + " does not answer (" + what + ": " +
                std::strerror(errno) +
                "): it has ended, or its sockets cannot be reached from here";
    return Status::error(StatusCode::RankDied, peer.lost, pe);
  };
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return failed("no descriptors are left");
  const std::string name = shape.addressOf(pe).value_or("");
  sockaddr_un address;
  std::memset(&address, 0, sizeof(address));
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.data(), std::min(name.size(), sizeof(address.sun_path)));
  const socklen_t length = socklen_t(offsetof(sockaddr_un, sun_path) + name.size());
  int result;
  do
    result = connect(fd, reinterpret_cast<sockaddr *>(&address), length);
  while (result < 0 && errno == EINTR);
  if (result < 0) {
    close(fd);
    return refuse("connect");
  }
  if (!isSameUser(fd)) {
    close(fd);
    errno = EPERM;
    return refuse("its socket belongs to another user");
  }
  peer.channel = std::make_unique<Channel>(fd);
  watch(*peer.channel, {pe, nullptr});
  Message hello;
  hello.header.kind = Header::Hello;
  hello.header.rank = shape.rank;
  hello.header.value = remote::kProtocol;
  peer.channel->push(std::move(hello));
  return {};
}

void Remote::watch(Channel &channel, Place place) {
  channel.id = nextId++;
  places[channel.id] = place;
  epoll_event event{EPOLLIN, {.u64 = channel.id}};
  epoll_ctl(events, EPOLL_CTL_ADD, channel.fd, &event);
}

void Remote::forget(Channel &channel) {
  places.erase(channel.id);
  epoll_ctl(events, EPOLL_CTL_DEL, channel.fd, nullptr);
}

//===----------------------------------------------------------------------===//
// Asking
//===----------------------------------------------------------------------===//

Status Remote::submit(const Operation &o, Completion &done) {
  const bool moves = o.kind == Operation::Put || o.kind == Operation::Get;
  if (moves && o.bytes == 0 && !o.signals)
    return {};
  Message message;
  Header &h = message.header;
  h.kind = o.kind == Operation::Put      ? Header::Put
           : o.kind == Operation::Get    ? Header::Get
           : o.kind == Operation::Update ? Header::Update
                                         : Header::Fetch;
  h.op = uint8_t(o.op);
  h.width = o.width;
  h.signals = o.signals;
  h.rank = shape.rank;
  h.offset = o.offset;
  h.at = o.at;
  h.bytes = moves ? o.bytes : 0;
  h.value = o.value;
  h.compare = o.compare;
  h.id = o.id;
  h.tag = o.tag;
  message.data = static_cast<const uint8_t *>(o.source);

  std::lock_guard<std::mutex> guard(lock);
  Peer &peer = peers[o.pe];
  if (!peer.lost.empty())
    return Status::error(StatusCode::RankDied, peer.lost, o.pe);
  if (!peer.channel)
    if (Status st = connectTo(o.pe); !st.ok())
      return st;
  const uint64_t number = issued.load(std::memory_order_relaxed) + 1;
  issued.store(number, std::memory_order_relaxed);
  shape.inFlight->fetch_add(1, std::memory_order_acq_rel);
  peer.open.push_back(number);
  if (o.kind == Operation::Get)
    peer.questions.push_back({number, static_cast<uint8_t *>(o.target), o.bytes});
  else if (o.kind == Operation::Fetch)
    peer.questions.push_back({number, static_cast<uint8_t *>(o.target), sizeof(uint64_t)});
  if (o.isAwaited())
    done = {o.pe, number};

  Channel &channel = *peer.channel;
  channel.push(std::move(message));
  publish(peer);
  send(channel, {o.pe, nullptr});
  if (peer.channel) {
    // What has not left yet must not need the source any more.
    if (!o.nbi && !channel.out.empty() && !channel.out.back().takeData())
      return Status::error(StatusCode::BadAccess, kNoSource);
    publish(peer);
  }
  return {};
}

void Remote::publish(Peer &peer) {
  peer.oldest.store(peer.open.empty() ? ~uint64_t(0) : peer.open.front(),
                    std::memory_order_release);
  peer.openCount.store(peer.open.size(), std::memory_order_release);
  peer.queuedBytes.store(peer.channel ? peer.channel->queuedBytes : 0, std::memory_order_release);
}

bool Remote::hasRoom(int32_t pe) const {
  const Peer &peer = peers[pe];
  return peer.openCount.load(std::memory_order_acquire) < kMaxOpen &&
         peer.queuedBytes.load(std::memory_order_acquire) < kMaxQueuedBytes;
}

bool Remote::finished(const Completion &done) const {
  auto isDone = [&](int32_t pe) {
    return peers[pe].oldest.load(std::memory_order_acquire) > done.number;
  };
  if (done.pe >= 0)
    return isDone(done.pe);
  for (int32_t pe = 0; pe < shape.worldSize; ++pe)
    if (!isDone(pe))
      return false;
  return true;
}

void Remote::quiet(int32_t pe, Completion &done) {
  std::lock_guard<std::mutex> guard(lock);
  done = {pe, issued.load(std::memory_order_relaxed)};
}

void Remote::letGoOfArguments(Completion &done) {
  std::lock_guard<std::mutex> guard(lock);
  done = {};
  for (int32_t pe = 0; pe < shape.worldSize; ++pe) {
    Peer &peer = peers[pe];
    for (const Question &q : peer.questions)
      if (q.target && !shape.isSymmetric(q.target, q.bytes))
        done.number = std::max(done.number, q.number);
    if (!peer.channel)
      continue;
    for (Message &m : peer.channel->out)
      if (!shape.isSymmetric(m.data, m.payload()) && !m.takeData())
        shape.fail(Status::error(StatusCode::BadAccess, kNoSource));
  }
}

void Remote::abandon(Completion &done) {
  std::lock_guard<std::mutex> guard(lock);
  for (int32_t pe = 0; pe < shape.worldSize; ++pe) {
    Peer &peer = peers[pe];
    if (peer.channel) {
      (void)peer.channel->takeBack([&](const Message &m) {
        if (!m.header.isRequest())
          return false;
        if (m.header.kind == Header::Get || m.header.kind == Header::Fetch)
          peer.questions.pop_back();
        peer.open.pop_back();
        shape.inFlight->fetch_sub(1, std::memory_order_acq_rel);
        return true;
      });
      if (peer.channel->inPayload)
        peer.channel->into = nullptr;
    }
    for (Question &q : peer.questions)
      q.target = nullptr;
    publish(peer);
  }
  done = {-1, issued.load(std::memory_order_relaxed)};
}

void Remote::drop(int32_t pe) {
  std::lock_guard<std::mutex> guard(lock);
  Peer &peer = peers[pe];
  if (peer.channel) {
    forget(*peer.channel);
    peer.channel.reset();
  }
  if (peer.lost.empty())
    peer.lost = "rank " + std::to_string(pe) + " has left the job";
  shape.inFlight->fetch_sub(peer.open.size(), std::memory_order_acq_rel);
  peer.open.clear();
  peer.questions.clear();
  publish(peer);
}

void Remote::acknowledged(Peer &peer, uint64_t count) {
  uint64_t now = std::min<uint64_t>(count - peer.acknowledged, peer.open.size());
  peer.acknowledged += now;
  peer.open.erase(peer.open.begin(), peer.open.begin() + ptrdiff_t(now));
  publish(peer);
  shape.inFlight->fetch_sub(now, std::memory_order_acq_rel);
}

//===----------------------------------------------------------------------===//
// Answering
//===----------------------------------------------------------------------===//

void Remote::carryOut(Caller &caller) {
  const Header &h = caller.channel->header;
  uint8_t *heap = shape.ownHeap();
  Delivery &delivery = *caller.delivery;
  auto update = [&] {
    return delivery.update(heap + h.at, h.at, AtomicOp(h.op), h.value, h.compare, h.width);
  };
  switch (h.kind) {
  case Header::Put: // the data is there
    delivery.endMove();
    if (h.signals)
      update();
    break;
  case Header::Update:
    update();
    break;
  case Header::Get: {
    Message answer;
    answer.header.kind = Header::Answer;
    answer.header.bytes = h.bytes;
    answer.data = heap + h.offset;
    caller.channel->push(std::move(answer));
    delivery.endMove();
    break;
  }
  default: { // Fetch
    Message answer;
    answer.header.kind = Header::Answer;
    answer.header.bytes = sizeof(uint64_t);
    answer.own.reset(new uint8_t[sizeof(uint64_t)]);
    uint64_t old = update();
    std::memcpy(answer.own.get(), &old, sizeof(old));
    answer.data = answer.own.get();
    caller.channel->push(std::move(answer));
    break;
  }
  }
  if (++caller.carriedOut - caller.acknowledged >= kAckEvery)
    acknowledge(caller);
}

void Remote::acknowledge(Caller &caller) {
  if (caller.acknowledged == caller.carriedOut)
    return;
  Message ack;
  ack.header.kind = Header::Ack;
  ack.header.value = caller.acknowledged = caller.carriedOut;
  caller.channel->push(std::move(ack));
}

bool Remote::begin(Channel &channel, Place place) {
  const Header &h = channel.header;
  channel.into = nullptr;
  channel.left = h.hasPayload() ? h.bytes : 0;
  if (place.caller) {
    Caller &caller = *place.caller;
    if (h.kind == Header::Hello) {
      caller.rank = h.rank;
      return h.value == remote::kProtocol && h.rank >= 0 && h.rank < shape.worldSize;
    }
    const bool moves = h.kind == Header::Put || h.kind == Header::Get;
    const bool word = h.signals || h.kind == Header::Update || h.kind == Header::Fetch;
    const bool known = h.width == 1 || h.width == 2 || h.width == 4 || h.width == 8;
    if (caller.rank < 0 || !h.isRequest() || (moves && !isInHeap(h.offset, h.bytes)) ||
        (word && (!known || h.at % h.width || !isInHeap(h.at, h.width))))
      return false;
    caller.delivery.emplace(shape, caller.rank, shape.rank, h.id, h.tag);
    if (moves)
      caller.delivery->beginMove(
          h.offset, h.bytes, h.kind == Header::Put ? EventRecord::kWrites : EventRecord::kReads);
    if (h.kind == Header::Put)
      channel.into = shape.ownHeap() + h.offset;
    return true;
  }
  Peer &peer = peers[place.peer];
  if (h.kind == Header::Ack)
    return h.value - peer.acknowledged <= peer.open.size();
  if (h.kind != Header::Answer || peer.questions.empty() || peer.questions.front().bytes != h.bytes)
    return false;
  channel.into = peer.questions.front().target;
  return true;
}

void Remote::receive(Channel &channel, Place place) {
  for (int i = 0;; ++i) {
    // What lies in the channel's buffer is no event any more: it has to be used up.
    channel.mayRead = i < kMessagesAtOnce;
    Channel::Result result = Channel::Result::Done;
    if (!channel.inPayload) {
      result = channel.receiveHeader();
      if (result == Channel::Result::Done && !begin(channel, place)) {
        shape.fail(Status::error(StatusCode::Internal,
                                 "transport remote: rank " + std::to_string(shape.rank) +
                                     " got a message that makes no sense from " +
                                     (place.caller ? "rank " + std::to_string(place.caller->rank)
                                                   : "rank " + std::to_string(place.peer)) +
                                     "; does it run another version of Nereid?"));
        return end(channel, place);
      }
      channel.inPayload = result == Channel::Result::Done;
    }
    if (channel.inPayload)
      result = channel.receivePayload();
    if (result == Channel::Result::Ended && errno == EFAULT && channel.into) {
      shape.fail(Status::error(StatusCode::BadAccess, kNoTarget));
      channel.into = nullptr; // the rest is dropped
      result = channel.receivePayload();
    }
    if (result == Channel::Result::Ended)
      return end(channel, place);
    if (result == Channel::Result::Later)
      break;
    channel.inPayload = false;
    const Header &h = channel.header;
    if (!place.caller) {
      Peer &peer = peers[place.peer];
      if (h.kind == Header::Ack)
        acknowledged(peer, h.value);
      else
        peer.questions.pop_front();
    } else if (h.isRequest()) {
      carryOut(*place.caller);
    }
  }
  if (place.caller) {
    acknowledge(*place.caller);
    send(channel, place);
  }
}

void Remote::send(Channel &channel, Place place) {
  Channel::Result result = channel.flush();
  if (result == Channel::Result::Ended && errno == EFAULT) {
    shape.fail(Status::error(StatusCode::BadAccess, kNoSource));
    (void)channel.out.front().takeData(); // zeros, where there is nothing
    result = channel.flush();
  }
  if (result == Channel::Result::Ended)
    return end(channel, place);
  const bool wants = result == Channel::Result::Later;
  if (wants == channel.wantsOut)
    return;
  channel.wantsOut = wants;
  epoll_event event{uint32_t(EPOLLIN) | (wants ? uint32_t(EPOLLOUT) : 0u), {.u64 = channel.id}};
  epoll_ctl(events, EPOLL_CTL_MOD, channel.fd, &event);
}

/// The other side is gone. Requests to it stay open: who waits for them learns
/// from the watch over the job how its process ended.
void Remote::end(Channel &channel, Place place) {
  forget(channel);
  if (!place.caller) {
    Peer &peer = peers[place.peer];
    peer.lost = "rank " + std::to_string(place.peer) + " does not answer any more: it has ended";
    peer.channel.reset();
    publish(peer);
    return;
  }
  for (size_t i = 0; i < callers.size(); ++i)
    if (callers[i].get() == place.caller) {
      callers.erase(callers.begin() + ptrdiff_t(i));
      return;
    }
}

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

void Remote::acceptCallers() {
  for (;;) {
    int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
      return;
    if (!isSameUser(fd)) {
      close(fd);
      continue;
    }
    callers.push_back(std::make_unique<Caller>());
    Caller &caller = *callers.back();
    caller.channel = std::make_unique<Channel>(fd);
    watch(*caller.channel, {-1, &caller});
  }
}

bool Remote::turn(int timeoutMs) {
  epoll_event ready[16];
  int n = epoll_wait(events, ready, 16, timeoutMs);
  if (n <= 0)
    return false;
  std::lock_guard<std::mutex> guard(lock);
  for (int i = 0; i < n; ++i) {
    uint64_t id = ready[i].data.u64; // a copy: the record is packed
    if (id == kListenerId) {
      acceptCallers();
      continue;
    }
    // A channel may have ended since the event.
    auto channelOf = [&]() -> Channel * {
      auto found = places.find(id);
      if (found == places.end())
        return nullptr;
      return found->second.caller ? found->second.caller->channel.get()
                                  : peers[found->second.peer].channel.get();
    };
    if (ready[i].events & EPOLLOUT)
      if (Channel *channel = channelOf()) {
        Place place = places[channel->id];
        send(*channel, place);
        if (!place.caller)
          publish(peers[place.peer]);
      }
    if (ready[i].events & ~uint32_t(EPOLLOUT))
      if (Channel *channel = channelOf())
        receive(*channel, places[channel->id]);
  }
  return true;
}

bool Remote::progress() { return events >= 0 && turn(0); }

void Remote::threadMain() {
  pthread_setname_np(pthread_self(), "nereid-remote");
  for (;;) {
    turn(-1);
    uint64_t count;
    if (read(stop, &count, sizeof(count)) == sizeof(count))
      return;
  }
}

Expected<std::unique_ptr<Transport>> make_remote(const TransportShape &shape) {
  return std::unique_ptr<Transport>(std::make_unique<Remote>(shape));
}

} // namespace nereid::runtime
