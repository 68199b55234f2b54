// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/ucx/Ucx.h"

#include "base/FaultGuard.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <pthread.h>
#include <utility>

namespace nereid::runtime {

using ucx::Header;

static constexpr unsigned kMessageId = 1;
/// Data of one message.
static constexpr uint64_t kPieceBytes = 128 * 1024;
/// Bounds of what is under way to one rank; who finds it full waits.
static constexpr uint64_t kMaxOpen = 1024;
static constexpr uint64_t kMaxQueuedBytes = uint64_t(64) << 20;
/// A count is told by a message of its own after so many requests, or so long.
static constexpr uint64_t kTellEvery = 256;
static constexpr int kTellAfterMs = 1;
/// Of a completion's number: the answer is waited for, not what came before it.
static constexpr uint64_t kAnswerAlone = uint64_t(1) << 63;

static constexpr const char *kNoSource =
    "the memory of a put is not there any more; it must stay until a quiet";
static constexpr const char *kNoTarget =
    "the memory of a get is not there any more; it must stay until a quiet";

/// Lives from the call that sends a message until UCX needs it no more.
struct Ucx::Sending {
  Ucx *self;
  int32_t pe;
  Message message;

  static void onSent(void *request, ucs_status_t status, void *argument) {
    std::unique_ptr<Sending> sending(static_cast<Sending *>(argument));
    Ucx &self = *sending->self;
    Peer &peer = self.peers[sending->pe];
    peer.sendingBytes -= sending->message.payload();
    self.publish(peer);
    if (status != UCS_OK && status != UCS_ERR_CANCELED)
      self.lose(sending->pe, self.library.ucs_status_string(status));
    self.library.ucp_request_free(request);
  }
};

Ucx::Ucx(const TransportShape &shape, const ucx::Library &library)
    : shape(shape), library(library), peers(new Peer[size_t(shape.worldSize)]) {}

Ucx::~Ucx() {
  withdraw();
  if (worker)
    library.ucp_worker_destroy(worker);
  if (context)
    library.ucp_cleanup(context);
}

//===----------------------------------------------------------------------===//
// Beginning and end
//===----------------------------------------------------------------------===//

Status Ucx::failed(const std::string &what, ucs_status_t status) const {
  return Status::error(StatusCode::SystemError,
                       "transport ucx: " + what + ": " + library.ucs_status_string(status));
}

Expected<std::string> Ucx::expose() {
  ucp_config_t *config = nullptr;
  if (ucs_status_t s = library.ucp_config_read(nullptr, nullptr, &config); s != UCS_OK)
    return failed("its settings cannot be read", s);
  // Within a machine UCX has ways of its own, but without news of peers that have ended.
  // Of all interfaces it would take some that do not lead to the others: bridges of
  // containers, for one; and the loopback interface only when it is named.
  if (!std::getenv("UCX_TLS"))
    library.ucp_config_modify(config, "TLS", "tcp");
  if (!std::getenv("UCX_NET_DEVICES"))
    library.ucp_config_modify(config, "NET_DEVICES",
                              shape.interface.empty() ? "lo" : shape.interface.c_str());
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  params.estimated_num_eps = size_t(shape.worldSize);
  ucs_status_t s = library.ucp_init_version(1, 12, &params, config, &context);
  library.ucp_config_release(config);
  if (s != UCS_OK) {
    context = nullptr;
    return failed("ucp_init", s);
  }
  ucp_worker_params_t workerParams{};
  workerParams.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  workerParams.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  if (s = library.ucp_worker_create(context, &workerParams, &worker); s != UCS_OK) {
    worker = nullptr;
    return failed("ucp_worker_create (does UCX_TLS or UCX_NET_DEVICES name what is not there?)", s);
  }
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                       UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = kMessageId;
  handler.cb = onMessage;
  handler.arg = this;
  if (s = library.ucp_worker_set_am_recv_handler(worker, &handler); s != UCS_OK)
    return failed("ucp_worker_set_am_recv_handler", s);
  if (s = library.ucp_worker_get_efd(worker, &events); s != UCS_OK)
    return failed("ucp_worker_get_efd", s);

  ucp_address_t *address = nullptr;
  size_t bytes = 0;
  if (s = library.ucp_worker_get_address(worker, &address, &bytes); s != UCS_OK)
    return failed("ucp_worker_get_address", s);
  std::string found(reinterpret_cast<const char *>(&ucx::kProtocol), sizeof(ucx::kProtocol));
  found.append(reinterpret_cast<const char *>(address), bytes);
  library.ucp_worker_release_address(worker, address);

  // Signals are for the threads of the program, but for faults.
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV); // touches() gets them back
  sigdelset(&all, SIGBUS);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread = std::thread(&Ucx::threadMain, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return found;
}

void Ucx::withdraw() {
  if (!thread.joinable())
    return;
  stopping = true;
  library.ucp_worker_signal(worker);
  thread.join();
  std::lock_guard<std::mutex> guard(lock);
  for (int32_t pe = 0; pe < shape.worldSize; ++pe)
    lose(pe, "this rank has left the job");
  closeEndpoints();
  while (!closing.empty()) {
    library.ucp_worker_progress(worker);
    closeEndpoints();
  }
  library.ucp_worker_destroy(std::exchange(worker, nullptr));
}

Status Ucx::connect(int32_t pe) {
  Peer &peer = peers[pe];
  const std::string address = shape.addressOf(pe).value_or("");
  if (address.size() <= sizeof(ucx::kProtocol) ||
      std::memcmp(address.data(), &ucx::kProtocol, sizeof(ucx::kProtocol)) != 0) {
    lose(pe, "it speaks another version of the transport ucx");
    return Status::error(StatusCode::Mismatch, peer.lost, pe);
  }
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t *>(address.data() + sizeof(ucx::kProtocol));
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler = {onError, this};
  if (ucs_status_t s = library.ucp_ep_create(worker, &params, &peer.endpoint); s != UCS_OK) {
    peer.endpoint = nullptr;
    lose(pe, library.ucs_status_string(s));
    return Status::error(StatusCode::RankDied, peer.lost, pe);
  }
  return {};
}

void Ucx::onError(void *self, ucp_ep_h endpoint, ucs_status_t status) {
  Ucx &ucx = *static_cast<Ucx *>(self);
  for (int32_t pe = 0; pe < ucx.shape.worldSize; ++pe)
    if (ucx.peers[pe].endpoint == endpoint)
      ucx.lose(pe, ucx.library.ucs_status_string(status));
}

/// Requests to it stay open: who waits for them learns from the watch over the job how
/// its process ended.
void Ucx::lose(int32_t pe, const std::string &why) {
  Peer &peer = peers[pe];
  if (peer.lost.empty())
    peer.lost = "rank " + std::to_string(pe) + " does not answer any more (" + why +
                "): it has ended, or cannot be reached from here";
  toClose.push_back(pe);
}

/// Not from inside of ucp_worker_progress.
void Ucx::closeEndpoints() {
  for (int32_t pe : std::exchange(toClose, {})) {
    ucp_ep_h endpoint = std::exchange(peers[pe].endpoint, nullptr);
    if (!endpoint)
      continue;
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    params.flags = UCP_EP_CLOSE_FLAG_FORCE;
    void *request = library.ucp_ep_close_nbx(endpoint, &params);
    if (request && !UCS_PTR_IS_ERR(request))
      closing.push_back(request);
  }
  std::erase_if(closing, [&](void *request) {
    if (library.ucp_request_check_status(request) == UCS_INPROGRESS)
      return false;
    library.ucp_request_free(request);
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Asking
//===----------------------------------------------------------------------===//

Status Ucx::send(int32_t pe, Message message) {
  Peer &peer = peers[pe];
  if (!peer.lost.empty())
    return Status::error(StatusCode::RankDied, peer.lost, pe);
  if (!peer.endpoint)
    if (Status st = connect(pe); !st.ok())
      return st;
  message.header.rank = shape.rank;
  message.header.carriedOut = peer.told = peer.carriedOut;
  peer.asked = false;
  auto sending = std::make_unique<Sending>(Sending{this, pe, std::move(message)});
  const Message &kept = sending->message;
  ucp_request_param_t params{};
  params.op_attr_mask =
      UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  params.flags = UCP_AM_SEND_FLAG_EAGER;
  params.cb.send = Sending::onSent;
  params.user_data = sending.get();
  void *request = library.ucp_am_send_nbx(peer.endpoint, kMessageId, &kept.header,
                                          sizeof(kept.header), kept.data, kept.payload(), &params);
  if (UCS_PTR_IS_ERR(request)) {
    lose(pe, library.ucs_status_string(UCS_PTR_STATUS(request)));
    return Status::error(StatusCode::RankDied, peer.lost, pe);
  }
  if (request) {
    peer.sendingBytes += kept.payload();
    (void)sending.release();
  }
  return {};
}

Status Ucx::ask(int32_t pe, Message message) {
  Peer &peer = peers[pe];
  message.header.need = peer.needed;
  const uint64_t number = message.header.number;
  peer.open.push_back(number);
  ++peer.issued;
  shape.inFlight->fetch_add(1, std::memory_order_acq_rel);
  Status status = send(pe, std::move(message));
  if (!status.ok()) {
    peer.open.pop_back();
    --peer.issued;
    shape.inFlight->fetch_sub(1, std::memory_order_acq_rel);
  }
  publish(peer);
  return status;
}

Status Ucx::submit(const Operation &o, Completion &done) {
  const bool moves = o.kind == Operation::Put || o.kind == Operation::Get;
  const uint64_t bytes = moves ? o.bytes : 0;
  if (moves && bytes == 0 && !o.signals)
    return {};
  // What the program may change or take away is copied.
  const bool copies = o.kind == Operation::Put && (!o.nbi || !shape.isSymmetric(o.source, o.bytes));
  std::lock_guard<std::mutex> guard(lock);
  Peer &peer = peers[o.pe];
  uint64_t at = 0;
  do {
    const uint64_t piece = std::min(bytes - at, kPieceBytes);
    const bool last = at + piece == bytes;
    Message message;
    Header &h = message.header;
    h.kind = o.kind == Operation::Put      ? Header::Put
             : o.kind == Operation::Get    ? Header::Get
             : o.kind == Operation::Update ? Header::Update
                                           : Header::Fetch;
    h.op = uint8_t(o.op);
    h.width = o.width;
    h.signals = o.signals && last;
    h.offset = o.offset + at;
    h.at = o.at;
    h.bytes = piece;
    h.value = o.value;
    h.compare = o.compare;
    h.id = o.id;
    h.tag = o.tag;
    h.number = ++lastNumber;
    if (o.kind == Operation::Put && piece) {
      message.data = static_cast<const uint8_t *>(o.source) + at;
      if (copies) {
        message.own.reset(new uint8_t[piece]);
        if (!touches([&] { std::memcpy(message.own.get(), message.data, piece); }))
          return Status::error(StatusCode::BadAccess, kNoSource);
        message.data = message.own.get();
      }
    }
    if (h.signals && at > 0)
      peer.needed = peer.issued; // behind the pieces before it
    const uint64_t number = h.number;
    const bool asks = o.kind == Operation::Get || o.kind == Operation::Fetch;
    if (asks) {
      const uint64_t answer = o.kind == Operation::Get ? piece : sizeof(uint64_t);
      peer.questions[number] = {static_cast<uint8_t *>(o.target) + at, answer};
      shape.inFlight->fetch_add(1, std::memory_order_acq_rel);
    }
    if (Status st = ask(o.pe, std::move(message)); !st.ok()) {
      if (asks && peer.questions.erase(number))
        shape.inFlight->fetch_sub(1, std::memory_order_acq_rel);
      publish(peer);
      return st;
    }
    if (o.isAwaited())
      done = {o.pe, number | kAnswerAlone};
    at += piece;
  } while (at < bytes);
  return {};
}

void Ucx::publish(Peer &peer) {
  peer.oldest.store(peer.open.empty() ? ~uint64_t(0) : peer.open.front(),
                    std::memory_order_release);
  peer.oldestQuestion.store(peer.questions.empty() ? ~uint64_t(0) : peer.questions.begin()->first,
                            std::memory_order_release);
  peer.openCount.store(peer.open.size(), std::memory_order_release);
  peer.queuedBytes.store(peer.sendingBytes, std::memory_order_release);
}

bool Ucx::hasRoom(int32_t pe) const {
  const Peer &peer = peers[pe];
  return peer.openCount.load(std::memory_order_acquire) < kMaxOpen &&
         peer.queuedBytes.load(std::memory_order_acquire) < kMaxQueuedBytes;
}

bool Ucx::finished(const Completion &done) const {
  const uint64_t number = done.number & ~kAnswerAlone;
  auto isDone = [&](const Peer &peer) {
    return peer.oldestQuestion.load(std::memory_order_acquire) > number &&
           ((done.number & kAnswerAlone) || peer.oldest.load(std::memory_order_acquire) > number);
  };
  if (done.pe >= 0)
    return isDone(peers[done.pe]);
  for (int32_t pe = 0; pe < shape.worldSize; ++pe)
    if (!isDone(peers[pe]))
      return false;
  return true;
}

void Ucx::fence(int32_t pe) {
  std::lock_guard<std::mutex> guard(lock);
  for (int32_t r = pe < 0 ? 0 : pe; r < (pe < 0 ? shape.worldSize : pe + 1); ++r)
    peers[r].needed = peers[r].issued;
}

/// Makes all that is open to it come to an end of which this rank hears.
void Ucx::flush(int32_t pe) {
  Peer &peer = peers[pe];
  if (peer.open.empty())
    return;
  peer.needed = peer.issued;
  Message message;
  message.header.kind = Header::Flush;
  message.header.need = peer.needed;
  (void)send(pe, std::move(message)); // lost: the watch over the job knows
}

void Ucx::quiet(int32_t pe, Completion &done) {
  std::lock_guard<std::mutex> guard(lock);
  for (int32_t r = pe < 0 ? 0 : pe; r < (pe < 0 ? shape.worldSize : pe + 1); ++r)
    flush(r);
  done = {pe, lastNumber};
}

void Ucx::letGoOfArguments(Completion &done) {
  std::lock_guard<std::mutex> guard(lock);
  done = {}; // data of puts that can vanish has been taken at once
  for (int32_t pe = 0; pe < shape.worldSize; ++pe)
    for (const auto &[number, question] : peers[pe].questions)
      if (question.target && !shape.isSymmetric(question.target, question.bytes))
        done.number = std::max(done.number, number | kAnswerAlone);
}

void Ucx::abandon(Completion &done) {
  std::lock_guard<std::mutex> guard(lock);
  for (int32_t pe = 0; pe < shape.worldSize; ++pe) {
    for (auto &[number, question] : peers[pe].questions)
      question.target = nullptr;
    flush(pe);
  }
  done = {-1, lastNumber};
}

void Ucx::drop(int32_t pe) {
  std::lock_guard<std::mutex> guard(lock);
  Peer &peer = peers[pe];
  lose(pe, "it has left the job");
  shape.inFlight->fetch_sub(peer.open.size() + peer.questions.size(), std::memory_order_acq_rel);
  peer.open.clear();
  peer.questions.clear();
  peer.aside.clear();
  publish(peer);
}

void Ucx::acknowledge(Peer &peer, uint64_t count) {
  if (count <= peer.acknowledged)
    return;
  const uint64_t now = std::min<uint64_t>(count - peer.acknowledged, peer.open.size());
  peer.acknowledged = count;
  peer.open.erase(peer.open.begin(), peer.open.begin() + ptrdiff_t(now));
  shape.inFlight->fetch_sub(now, std::memory_order_acq_rel);
  publish(peer);
}

void Ucx::answered(const Header &h, const uint8_t *data) {
  Peer &peer = peers[h.rank];
  auto found = peer.questions.find(h.number);
  if (found == peer.questions.end())
    return; // dropped
  uint8_t *target = found->second.target;
  if (target && !touches([&] { std::memcpy(target, data, h.bytes); }))
    shape.fail(Status::error(StatusCode::BadAccess, kNoTarget));
  peer.questions.erase(found);
  shape.inFlight->fetch_sub(1, std::memory_order_acq_rel);
  publish(peer);
}

//===----------------------------------------------------------------------===//
// Answering
//===----------------------------------------------------------------------===//

ucs_status_t Ucx::onMessage(void *self, const void *header, size_t headerBytes, void *data,
                            size_t bytes, const ucp_am_recv_param_t *how) {
  Ucx &ucx = *static_cast<Ucx *>(self);
  Header h;
  const bool whole = headerBytes == sizeof(h) && !(how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV);
  if (whole)
    std::memcpy(&h, header, sizeof(h));
  if (whole && ucx.makesSense(h, bytes)) {
    ucx.arrive(h, static_cast<const uint8_t *>(data));
  } else if (!std::exchange(ucx.nonsense, true)) {
    ucx.shape.fail(Status::error(StatusCode::Internal,
                                 "transport ucx: rank " + std::to_string(ucx.shape.rank) +
                                     " got a message that makes no sense; does another rank run "
                                     "another version of Nereid?"));
  }
  return UCS_OK;
}

bool Ucx::makesSense(const Header &h, uint64_t bytes) const {
  if (h.rank < 0 || h.rank >= shape.worldSize || h.kind > Header::Ack ||
      bytes != (h.hasPayload() ? h.bytes : 0))
    return false;
  const Peer &peer = peers[h.rank];
  if (h.carriedOut > peer.issued)
    return false;
  if (h.kind == Header::Answer) {
    auto found = peer.questions.find(h.number);
    return found == peer.questions.end() || found->second.bytes == h.bytes;
  }
  const bool moves = h.kind == Header::Put || h.kind == Header::Get;
  const bool word = h.signals || h.kind == Header::Update || h.kind == Header::Fetch;
  const bool known = h.width == 1 || h.width == 2 || h.width == 4 || h.width == 8;
  return (!moves || isInHeap(h.offset, h.bytes)) &&
         (!word || (known && h.at % h.width == 0 && isInHeap(h.at, h.width)));
}

void Ucx::arrive(const Header &h, const uint8_t *data) {
  Peer &peer = peers[h.rank];
  acknowledge(peer, h.carriedOut);
  if (h.kind == Header::Ack)
    return;
  if (h.kind == Header::Answer)
    return answered(h, data);
  if (h.need > peer.carriedOut) {
    const uint64_t bytes = h.hasPayload() ? h.bytes : 0;
    peer.aside.push_back({h, std::vector<uint8_t>(data, data + bytes)});
    return;
  }
  carryOut(h, data);
  applyAside(h.rank);
}

void Ucx::applyAside(int32_t pe) {
  Peer &peer = peers[pe];
  for (size_t i = 0; i < peer.aside.size();) {
    if (peer.aside[i].header.need > peer.carriedOut) {
      ++i;
      continue;
    }
    const Early early = std::move(peer.aside[i]);
    peer.aside.erase(peer.aside.begin() + ptrdiff_t(i));
    carryOut(early.header, early.data.data());
    i = 0;
  }
}

void Ucx::carryOut(const Header &h, const uint8_t *data) {
  Peer &peer = peers[h.rank];
  list(h.rank);
  if (h.kind == Header::Flush) {
    peer.asked = true;
    return;
  }
  uint8_t *heap = shape.ownHeap();
  Delivery delivery(shape, h.rank, shape.rank, h.id, h.tag);
  auto update = [&] {
    return delivery.update(heap + h.at, h.at, AtomicOp(h.op), h.value, h.compare, h.width);
  };
  Message answer;
  answer.header.kind = Header::Answer;
  answer.header.number = h.number;
  switch (h.kind) {
  case Header::Put:
    delivery.beginMove(h.offset, h.bytes, EventRecord::kWrites);
    if (h.bytes)
      std::memcpy(heap + h.offset, data, h.bytes);
    delivery.endMove();
    if (h.signals)
      update();
    break;
  case Header::Update:
    update();
    break;
  case Header::Get:
    delivery.beginMove(h.offset, h.bytes, EventRecord::kReads);
    answer.header.bytes = h.bytes;
    answer.data = heap + h.offset;
    answers.emplace_back(h.rank, std::move(answer));
    delivery.endMove();
    break;
  default: { // Fetch
    const uint64_t old = update();
    answer.header.bytes = sizeof(old);
    answer.own.reset(new uint8_t[sizeof(old)]);
    std::memcpy(answer.own.get(), &old, sizeof(old));
    answer.data = answer.own.get();
    answers.emplace_back(h.rank, std::move(answer));
    break;
  }
  }
  ++peer.carriedOut;
}

void Ucx::list(int32_t pe) {
  if (!std::exchange(peers[pe].listed, true))
    toTell.push_back(pe);
}

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

bool Ucx::work(int rounds) {
  bool any = false;
  for (int i = 0; i < rounds && library.ucp_worker_progress(worker); ++i) {
    any = true;
    for (auto &[pe, message] : std::exchange(answers, {}))
      (void)send(pe, std::move(message));
  }
  if (!toClose.empty() || !closing.empty())
    closeEndpoints();
  tell(/*late=*/false);
  return any;
}

void Ucx::tell(bool late) {
  std::erase_if(toTell, [&](int32_t pe) {
    Peer &peer = peers[pe];
    const uint64_t news = peer.carriedOut - peer.told;
    if (!peer.asked && news != 0 && news < kTellEvery && !late)
      return false;
    peer.listed = false;
    if (peer.asked || news) {
      Message message;
      message.header.kind = Header::Ack;
      (void)send(pe, std::move(message)); // lost: nobody is there to hear it
    }
    return true;
  });
}

bool Ucx::progress() {
  std::unique_lock<std::mutex> guard(lock, std::try_to_lock);
  if (!guard.owns_lock() || !worker)
    return false;
  const bool any = work(/*rounds=*/4);
  // The thread is the one that tells what is late.
  if (!toTell.empty() && sleeps.exchange(false))
    library.ucp_worker_signal(worker);
  return any;
}

void Ucx::threadMain() {
  pthread_setname_np(pthread_self(), "nereid-ucx");
  while (!stopping) {
    std::unique_lock<std::mutex> guard(lock);
    if (work(/*rounds=*/64) || library.ucp_worker_arm(worker) == UCS_ERR_BUSY)
      continue;
    const bool idle = toTell.empty();
    sleeps = idle;
    guard.unlock();
    pollfd event{events, POLLIN, 0};
    const int ready = poll(&event, 1, idle ? -1 : kTellAfterMs);
    guard.lock();
    sleeps = false;
    if (ready == 0)
      tell(/*late=*/true);
  }
}

Expected<std::unique_ptr<Transport>> make_ucx(const TransportShape &shape) {
  Expected<const ucx::Library *> library = ucx::Library::get();
  if (!library.ok())
    return library.status();
  return std::unique_ptr<Transport>(std::make_unique<Ucx>(shape, **library));
}

} // namespace nereid::runtime
