// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Delayed.cpp - Which operation may come next ------------------------===//
//
// What is held stands in `pending` in the order of submission, each with the
// number of fences that its rank had seen by then. What may be handed on next
// (collect):
//
//       every get
//       of each rank, what has the smallest number of fences among its held puts and updates
//
// Two operations with the same number may change places, two with different
// ones may not, and nothing else is ordered. The transport below may reorder
// too; it gets a fence of its own whenever the number changes (handOn,
// passedOn).
//
// A put with a signal is handed on twice: at first its data, without the
// signal; the entry stays, and the signal is one more operation that may come
// at any later time, behind a fence below.
//
// There is a limit to what is held (kMaxHeld, kMaxBytesTaken). Who finds it
// reached hands on the first that may come, and so never waits for another.
//
//===----------------------------------------------------------------------===//
#include "transport/delayed/Delayed.h"

#include "base/FaultGuard.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <pthread.h>

namespace nereid::runtime {

/// More than this many operations, or this much data, does not pile up: the
/// rank that asks for one more hands on some first.
static constexpr size_t kMaxHeld = 1024;
static constexpr uint64_t kMaxBytesTaken = uint64_t(64) << 20;
/// In the background, operations of at most this size overtake larger ones.
static constexpr uint64_t kSmallBytes = 4096;

bool Delayed::Held::takeData() {
  if (data || operation.bytes == 0)
    return true;
  std::unique_ptr<uint8_t[]> copy(new uint8_t[operation.bytes]);
  if (!touches([&] { std::memcpy(copy.get(), operation.source, operation.bytes); }))
    return false;
  data = std::move(copy);
  operation.source = data.get();
  operation.nbi = false;
  return true;
}

static Status vanished() {
  return Status::error(StatusCode::BadAccess, "the memory of a put is not there any more; it must "
                                              "stay until a quiet");
}

Delayed::Delayed(std::unique_ptr<Transport> wrapped, const TransportShape &shape, bool background)
    : below(std::move(wrapped)), shape(shape), background(background),
      fences(size_t(shape.worldSize)), passedOn(size_t(shape.worldSize)),
      earliest(size_t(shape.worldSize)) {}

Delayed::~Delayed() { stopThread(); }

void Delayed::stopThread() {
  {
    std::lock_guard<std::mutex> guard(lock);
    stopping = true;
  }
  wake.notify_all();
  if (thread.joinable())
    thread.join();
}

void Delayed::withdraw() {
  stopThread();
  below->withdraw();
}

void Delayed::setCount() {
  uint64_t before = count.load(std::memory_order_relaxed), now = pending.size();
  // Wraps around when there are fewer.
  shape.inFlight->fetch_add(now - before, std::memory_order_acq_rel);
  count.store(now, std::memory_order_release);
}

Status Delayed::submit(const Operation &operation, Completion &done) {
  if (operation.isAwaited())
    return below->submit(operation, done);
  const bool moves = operation.kind == Operation::Put || operation.kind == Operation::Get;
  if (moves && operation.bytes == 0 && !operation.signals)
    return {};
  Held held;
  held.operation = operation;
  held.dataIsThere = operation.signals && operation.bytes == 0;
  if (operation.kind == Operation::Put && !operation.nbi && !held.takeData())
    return vanished();

  std::lock_guard<std::mutex> guard(lock);
  while (pending.size() >= kMaxHeld || bytesTaken >= kMaxBytesTaken) {
    collect(-1);
    handOn(next.front());
  }
  held.fences = fences[size_t(operation.pe)];
  if (held.data)
    bytesTaken += operation.bytes;
  pending.push_back(std::move(held));
  setCount();
  if (background) {
    startThread();
    wake.notify_one();
  }
  return {};
}

void Delayed::startThread() {
  if (thread.joinable() || stopping)
    return;
  // Signals are for the threads of the program, but for faults.
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV); // touches() gets them back
  sigdelset(&all, SIGBUS);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread = std::thread(&Delayed::threadMain, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Delayed::fence(int32_t pe) {
  std::lock_guard<std::mutex> guard(lock);
  if (pe >= 0) {
    ++fences[size_t(pe)];
    return;
  }
  for (uint64_t &number : fences)
    ++number;
}

void Delayed::collect(int32_t pe) {
  std::fill(earliest.begin(), earliest.end(), ~uint64_t(0));
  for (const Held &h : pending)
    if (h.operation.kind != Operation::Get)
      earliest[size_t(h.operation.pe)] = std::min(earliest[size_t(h.operation.pe)], h.fences);
  next.clear();
  for (size_t i = 0; i < pending.size(); ++i) {
    const Operation &o = pending[i].operation;
    if (pe >= 0 && o.pe != pe)
      continue;
    if (o.kind == Operation::Get || pending[i].fences == earliest[size_t(o.pe)])
      next.push_back(i);
  }
}

void Delayed::forward(const Operation &operation) {
  Completion nobodyWaits;
  if (Status st = below->submit(operation, nobodyWaits); !st.ok())
    shape.fail(st);
}

void Delayed::handOn(size_t index) {
  Held &h = pending[index];
  const size_t pe = size_t(h.operation.pe);
  auto drop = [&] {
    if (h.data)
      bytesTaken -= h.operation.bytes;
    pending.erase(pending.begin() + ptrdiff_t(index));
    setCount();
  };
  // What is below may reorder too.
  if (h.operation.kind != Operation::Get && passedOn[pe] != h.fences) {
    below->fence(h.operation.pe);
    passedOn[pe] = h.fences;
  }
  if (!h.operation.signals) {
    forward(h.operation);
  } else if (!h.dataIsThere) {
    Operation data = h.operation;
    data.signals = false;
    forward(data);
    if (h.data)
      bytesTaken -= h.operation.bytes;
    h.data.reset();
    h.operation.bytes = 0;
    h.dataIsThere = true;
    return;
  } else {
    const Operation &o = h.operation;
    below->fence(o.pe);
    Operation word = Operation::update(o.pe, o.at, o.op, o.value, o.width);
    word.id = o.id;
    word.tag = o.tag;
    forward(word);
  }
  drop();
}

bool Delayed::deliver(uint64_t choice) {
  std::lock_guard<std::mutex> guard(lock);
  if (pending.empty())
    return false;
  collect(-1);
  handOn(next[choice % next.size()]);
  return true;
}

void Delayed::handOnAll(int32_t pe) {
  for (;;) {
    collect(pe);
    if (next.empty())
      return;
    handOn(next.front());
  }
}

void Delayed::quiet(int32_t pe, Completion &done) {
  std::lock_guard<std::mutex> guard(lock);
  handOnAll(pe);
  below->quiet(pe, done);
}

void Delayed::letGoOfArguments(Completion &done) {
  std::lock_guard<std::mutex> guard(lock);
  for (size_t i = 0; i < pending.size();) {
    Held &h = pending[i];
    const Operation &o = h.operation;
    if (o.kind == Operation::Get && !shape.isSymmetric(o.target, o.bytes)) {
      handOn(i);
      continue;
    }
    if (o.kind == Operation::Put && o.bytes && !h.data && !shape.isSymmetric(o.source, o.bytes)) {
      if (h.takeData())
        bytesTaken += o.bytes;
      else
        shape.fail(vanished());
    }
    ++i;
  }
  below->letGoOfArguments(done);
}

void Delayed::abandon(Completion &done) {
  std::lock_guard<std::mutex> guard(lock);
  pending.clear();
  bytesTaken = 0;
  setCount();
  below->abandon(done);
}

void Delayed::drop(int32_t pe) {
  std::lock_guard<std::mutex> guard(lock);
  std::erase_if(pending, [&](const Held &h) {
    if (h.operation.pe != pe)
      return false;
    bytesTaken -= h.data ? h.operation.bytes : 0;
    return true;
  });
  setCount();
  below->drop(pe);
}

void Delayed::threadMain() {
  std::unique_lock<std::mutex> guard(lock);
  for (;;) {
    wake.wait(guard, [&] { return stopping || !pending.empty(); });
    if (stopping)
      return;
    collect(-1);
    size_t index = next.front();
    for (size_t i : next)
      if (pending[i].operation.bytes <= kSmallBytes) {
        index = i;
        break;
      }
    handOn(index);
    // Whoever wants to add or complete operations goes first.
    guard.unlock();
    std::this_thread::yield();
    guard.lock();
  }
}

} // namespace nereid::runtime
